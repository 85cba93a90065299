// The race's message and the replay's buttons.

import { el, iconButton, setText } from "../visualizer/dom.js";
import { SPEEDS } from "../visualizer/player.js";
import { ICONS } from "../visualizer/transport.js";
import { duration } from "../visualizer/words.js";
import { canReplay } from "./clock.js";
import { endOf } from "./model.js";

const NO_RACE = "Nothing has run yet. Start a race: both methods answer the same prompt, one after the other, "
  + "and then you see both side by side on one clock.";
export function createRaceMessage({ race }) {
  const node = el("p", { class: "dv-message", role: "status" });
  return {
    node,
    draw() {
      setText(node, race.message || (race.phase === "empty" ? NO_RACE : "Getting both methods ready."));
      node.dataset.kind = race.phase === "error" ? "error" : "status";
    },
  };
}

export function createControls({ race, actions }) {
  const play = iconButton("Play", ICONS.play, actions.togglePlay);
  const slider = el("input", { type: "range", class: "dv-slider", min: 0, max: 1, step: "any", value: 0, "aria-label": "Clock" });
  const speed = el("select", { class: "dv-speed", "aria-label": "Replay speed" }, ...SPEEDS.map((value) => el("option", { value }, `${value}×`)));
  const clock = el("output", { class: "dv-clock" });
  slider.addEventListener("input", () => actions.setClock(Number(slider.value)));
  speed.addEventListener("change", () => actions.setSpeed(Number(speed.value)));
  const buttons = el("div", { class: "dv-buttons" },
    iconButton("To the start", ICONS.first, actions.first), iconButton("Step back", ICONS.back, actions.back), play,
    iconButton("Step forward", ICONS.forward, actions.forward), iconButton("To the finish", ICONS.last, actions.last));
  const row = el("div", { class: "dv-controls" }, buttons, slider, speed, clock);
  const hint = el("p", { class: "dv-note" }, "Keys: space plays and holds, ← → go to the next token of either side, Home and End jump, + − change the speed.");
  const node = el("section", { class: "dv-section dv-transport", "aria-label": "Replay" }, row, hint);
  return {
    node,
    draw() {
      const [name, shape] = race.playing ? ["Pause", ICONS.pause] : ["Play", ICONS.play];
      play.setAttribute("aria-label", name);
      play.title = `${name} (space)`;
      play.querySelector("path").setAttribute("d", shape);
      node.hidden = !canReplay(race);
      slider.max = endOf(race);
      slider.value = race.clock;
      speed.value = String(race.speed);
      setText(clock, `${duration(race.clock)} of ${duration(endOf(race))}`);
    },
  };
}
