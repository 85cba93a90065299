// A race's files: saving and opening it.

import { MAX_FILE_BYTES } from "../visualizer/check.js";
import { el, menu, section, setText, textButton } from "../visualizer/dom.js";
import { fileName, save } from "../visualizer/export.js";
import { createOpener, json } from "../visualizer/files.js";
import { canReplay, showOwn, sidesOf } from "./model.js";
import { csvOf, eventsOfRace, raceOf, readRace } from "./race_file.js";

const RACING = "A race is running: stop it, or open the file when it has ended.";
const TOO_LARGE = `This race is larger than the ${MAX_FILE_BYTES / 1e6} MB limit: race with fewer rounds or fewer new tokens.`;
const HINT = "A race file (.duorace.json) holds every measured round; you can also drop one here.";

function nameOf(race) {
  const { date } = race.lanes.find(({ state }) => state.header).state.header;
  return fileName({ method: `race-${sidesOf(race).map(({ method }) => method).join("-")}`, date });
}

// isBusy: whether events are still to come; showAll: shows what events tell.
export function createRaceFiles({ view, race, isBusy, showAll, redraw }) {
  const message = el("p", { class: "dv-note dv-files-message", role: "status" });
  const tell = (text) => setText(message, text);
  let epoch = race.epoch;
  const refusal = () => (isBusy() ? RACING : null);
  const show = ({ race: found }, name) => {
    showAll(eventsOfRace(found, { file: name }));
    return "";
  };
  const opener = createOpener("Open race…", { root: view, kind: "race", read: readRace, refusal, show, tell });
  const saved = textButton("Save race", () => {
    const blob = json(raceOf(race));
    tell(blob.size > MAX_FILE_BYTES ? TOO_LARGE : save(blob, `${nameOf(race)}.duorace.json`));
  });
  const table = textButton("Save CSV", () => tell(save(new Blob([csvOf(race)], { type: "text/csv" }), `${nameOf(race)}.csv`)));
  const back = textButton("Back to your race", () => { showOwn(race); redraw(); });
  const tools = el("div", { class: "dv-tools" }, ...opener, saved, table);
  return {
    node: section("files", "Files", message, back, menu("race", "Files", tools, el("p", { class: "dv-note" }, HINT))),
    draw() {
      saved.disabled = table.disabled = !canReplay(race) || !race.result;
      back.hidden = race.own === null || isBusy();
      if (epoch !== race.epoch) tell("");
      epoch = race.epoch;
    },
  };
}
