// A race's files: saving and opening it, and its film; all of it happens in the browser.

import { MAX_FILE_BYTES } from "../visualizer/check.js";
import { el, menu, section, setText, textButton } from "../visualizer/dom.js";
import { fileName, save } from "../visualizer/export.js";
import { createOpener, json } from "../visualizer/files.js";
import { createFilming } from "../visualizer/film.js";
import { canReplay } from "./clock.js";
import { raceOf, readRace } from "./race_file.js";
import { createRaceSlides, filmSeconds } from "./race_slides.js";
import { sidesOf } from "./model.js";

const RACING = "A race is running: stop it, or open the file when it has ended.";
const STILL_RACING = "Filming would slow the race: film it when it has ended.";
const TOO_LARGE = `This race is larger than the ${MAX_FILE_BYTES / 1e6} MB limit: race with fewer rounds or fewer new tokens.`;
const LONGEST_FILM = 120;

function nameOf({ lanes }) {
  const { date } = lanes.find(({ state }) => state.header).state.header;
  return fileName({ method: `race-${sidesOf({ lanes }).map(({ method }) => method).join("-")}`, date });
}

// isBusy: whether events are still to come; showRace(race, file) and showOwn() show a file's race, and the one before.
export function createRaceFiles({ view, race, isBusy, hasOwn, showRace, showOwn }) {
  const message = el("p", { class: "dv-note dv-files-message", role: "status" });
  const tell = (text) => setText(message, text);
  const filming = createFilming(tell);
  let epoch = race.epoch;
  const refusal = () => (isBusy() ? RACING : null);
  const show = ({ race: found }, name) => {
    showRace(found, name);
    return "";
  };
  const opener = createOpener("Open race…", { root: view, kind: "race", read: readRace, refusal, show, tell });
  const filmed = textButton("Save as film", () => {
    if (isBusy()) return tell(STILL_RACING);
    const seconds = Math.ceil(filmSeconds(race));
    if (seconds > LONGEST_FILM) return tell(`At ${race.speed}× this race plays for ${seconds} seconds; a film has at most ${LONGEST_FILM}. Choose a higher speed.`);
    filmed.closest("details").open = false;
    return filming.film(() => createRaceSlides(view, race), `${nameOf(race)}.webm`, `Filming for ${seconds} seconds. Keep this page visible.`);
  });
  const saved = textButton("Save race", () => {
    const [blob, name] = [json(raceOf(race)), `${nameOf(race)}.duorace.json`];
    if (blob.size > MAX_FILE_BYTES) return tell(TOO_LARGE);
    save(blob, name);
    tell(`Saved as ${name}.`);
  });
  const back = textButton("Back to your race", showOwn);
  const tools = el("div", { class: "dv-tools" }, ...opener, saved, filmed);
  const hint = el("p", { class: "dv-note" }, "A race file (.duorace.json) holds every measured round; you can also drop one here. "
    + "A film (WebM) shows the race at the chosen speed, for slides, and takes that long to make.");
  return {
    node: section("files", "Files", message, filming.node, back, menu("race", "Files", tools, hint)),
    draw() {
      // Whatever runs now is not to be slowed.
      if (isBusy()) filming.stop();
      for (const button of [saved, filmed]) button.disabled = !canReplay(race) || !race.result;
      back.hidden = race.file === null || !hasOwn() || isBusy();
      if (epoch !== race.epoch) tell("");
      epoch = race.epoch;
    },
  };
}
