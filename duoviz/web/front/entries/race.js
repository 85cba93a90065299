// The race on a page. Its values are batches {run, seq, events}, as JSON strings.

import { know } from "../visualizer/methods.js";
import { createReceiver } from "../visualizer/feed.js";
import { PAGE_KEYS } from "../visualizer/help.js";
import { mountRace } from "../race/mount_race.js";
import { eventsOfLeft, leftOf, recordedEvents } from "../race/race_file.js";
import { leave, takeLeft } from "../visualizer/remembered.js";
import { foldMethods, onChange, swapFocus, tellAtFields } from "../share/form.js";
import { imported, page } from "../page.js";

export function start({ element, props, trigger, methods }) {
  know(methods);
  const receiver = createReceiver();
  let sides = null;
  page.recordedRace = () => sides;
  const recordings = props.recorded.map((text) => JSON.parse(text)).map((race) => ({
    name: race.lanes[0].name, events: () => recordedEvents(race), methods: race.lanes.map(({ method }) => method),
  }));
  const chosen = ({ methods: both }) => { sides = both; trigger("chosen"); };
  foldMethods(document.querySelectorAll("#ask-race .methods"));
  const key = `duoviz ${element.parentElement.closest("[id]")?.id}`;
  const restored = eventsOfLeft(takeLeft(key), recordings).then((events) => (receiver.isOpen() ? [] : events));
  const options = { replayParts: () => imported(props.replay), pageKeys: PAGE_KEYS, measured: props.measured };
  const race = mountRace(element.querySelector(".dv-root"), receiver, { ...options, recordings, restored, chosen });
  const isOn = ({ state }) => state === "waiting" || state === "running";
  onChange(element, () => receiver.send({ type: "changed" }));
  swapFocus(element.querySelector(".dv-race"), ["race", "stop-race"], isOn);
  tellAtFields(element.querySelector(".dv-race-message .dv-message"), element.closest("[id^=tab-]") ?? element);
  leave(key, () => leftOf(race, receiver.isOpen()), () => ({}));
  return (text) => {
    element.dataset.run = receiver.take(JSON.parse(text));
  };
}
