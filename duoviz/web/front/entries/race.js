// The race on a page. Its values are batches {run, seq, events}, as JSON strings.

import { know } from "../visualizer/methods.js";
import { createReceiver } from "../visualizer/feed.js";
import { PAGE_KEYS } from "../visualizer/help.js";
import { mountRace } from "../race/mount_race.js";
import { recordedEvents } from "../race/race_file.js";
import { page } from "../page.js";

export function start({ element, props, server, trigger, methods }) {
  know(methods);
  const receiver = createReceiver();
  let sides = null;
  page.recordedRace = () => sides;
  const recordings = props.recorded.map((text) => JSON.parse(text)).map((race) => ({
    name: race.lanes[0].name, events: () => recordedEvents(race), methods: race.lanes.map(({ method }) => method),
  }));
  const chosen = ({ methods: both }) => { sides = both; trigger("chosen"); };
  const options = { replayParts: () => server.one_file(), pageKeys: PAGE_KEYS };
  mountRace(element.querySelector(".dv-root"), receiver, { ...options, recordings, chosen });
  return (text) => {
    element.dataset.run = receiver.take(JSON.parse(text));
  };
}
