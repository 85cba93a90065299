// The race's message and the replay's buttons.

import { el, setText, textButton } from "../visualizer/dom.js";
import { dateWords, machineOf, modelsWords } from "../visualizer/origin.js";
import { createButtons, SPEEDS } from "../visualizer/player.js";
import { clip, duration, visible } from "../visualizer/words.js";
import { canReplay, endOf } from "./model.js";

const NO_RACE = "Nothing has run yet. Start a race: both methods answer the same prompt, one after the other, "
  + "and then you see both side by side on one clock.";
const RACE_IT = " Press Race to run it here.";

export function createRaceMessage({ race, recordings, choose }) {
  const said = el("span", { class: "dv-message", role: "status" });
  const [made, target] = [el("span"), el("span", { class: "dv-race-target" })];
  const [prompt, raceIt] = [el("q", { class: "dv-isolated" }), el("span", { class: "dv-race-it" }, RACE_IT)];
  const others = recordings.map((each) => [each.name, textButton(`Show ${each.name}`, () => choose(each))]);
  const origin = el("span", {}, el("b", {}, "A recording, not a live run:"), made, target, " Prompt: ", prompt, raceIt, " ", ...others.map(([, button]) => button));
  const node = el("p", { class: "dv-race-message" }, origin, said);
  let told = null;
  return {
    node,
    draw() {
      origin.hidden = !race.recorded || ["waiting", "running"].includes(race.phase);
      const waiting = race.phase === "empty" ? NO_RACE : "Getting both methods ready.";
      setText(said, race.message || (race.recorded && race.phase === "done" ? "" : waiting));
      said.dataset.kind = race.phase === "error" ? "error" : "status";
      const header = race.recorded ? race.lanes.find(({ state }) => state.header)?.state.header : null;
      if (!header || header === told) return;
      told = header;
      for (const [name, button] of others) button.hidden = race.file !== null || race.lanes[0].name === name;
      const rounds = race.repeats > 1 ? ` ${race.repeats} times,` : " once,";
      const from = race.file === null ? " each method ran" : ` the race of the file ${race.file}; each method ran${rounds}`;
      setText(made, `${from} alone,${dateWords(header.date)} on ${clip(visible(machineOf(header.target.device)), 60)}.`);
      setText(target, modelsWords(header));
      raceIt.hidden = race.file !== null;
      setText(prompt, clip(visible(header.prompt.trim()), 200));
    },
  };
}

export function createControls({ race, actions }) {
  const buttons = createButtons(race, actions, "To the start", "To the finish");
  const slider = el("input", { type: "range", class: "dv-slider", min: 0, max: 1, step: "any", value: 0, "aria-label": "Clock" });
  const speed = el("select", { class: "dv-speed", "aria-label": "Replay speed" }, ...SPEEDS.map((value) => el("option", { value }, `${value}×`)));
  const clock = el("output", { class: "dv-clock" });
  slider.addEventListener("input", () => actions.setClock(Number(slider.value)));
  speed.addEventListener("change", () => actions.setSpeed(Number(speed.value)));
  const row = el("div", { class: "dv-controls" }, buttons.node, slider, speed, clock);
  row.title = "Keys: space plays or pauses; ← → step by one token; Home and End jump; + − change the speed; F starts and ends the presentation.";
  const node = el("section", { class: "dv-section dv-race-transport", "aria-label": "Replay" }, row);
  return {
    node,
    draw() {
      buttons.draw();
      const off = !canReplay(race);
      for (const each of [...buttons.node.children, slider]) each.disabled = off;
      slider.max = endOf(race);
      slider.value = race.clock;
      speed.value = String(race.speed);
      setText(clock, off ? "" : `${duration(race.clock)} of ${duration(endOf(race))}`);
    },
  };
}
