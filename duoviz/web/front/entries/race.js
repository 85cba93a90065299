// The race on a page. Its values are batches {run, seq, events}, as JSON strings.

import { know } from "../visualizer/methods.js";
import { createReceiver } from "../visualizer/feed.js";
import { PAGE_KEYS } from "../visualizer/help.js";
import { mountRace } from "../race/mount_race.js";
import { recordedEvents } from "../race/race_file.js";

export function start({ element, props, server, methods }) {
  know(methods);
  const receiver = createReceiver();
  const opening = props.recorded ? () => recordedEvents(JSON.parse(props.recorded)) : null;
  mountRace(element.querySelector(".dv-root"), receiver, { replayParts: () => server.one_file(), pageKeys: PAGE_KEYS, opening });
  return (text) => {
    element.dataset.run = receiver.take(JSON.parse(text));
  };
}
