// The player's buttons and slider, what is shown, and its sentence.

import { button, el, iconButton, setAttributes, setHidden, setText, textButton } from "./dom.js";
import { meanwhile, sentence, note } from "./sentence.js";
import { explained, setSentence } from "./meanings.js";
import { isLive, tokensBefore } from "./state.js";
import { ALL_SPEEDS, isMoving, isPaced, PACES, speedsOf, speedWords, writtenUpTo } from "./player.js";

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M10 3 5 8l5 5 1.4-1.4L7.8 8l3.6-3.6z", play: "M4 2v12l10-6z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z", forward: "M6 3l5 5-5 5-1.4-1.4L8.2 8 4.6 4.4z", last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

function whereWords(state) {
  const last = state.iterations.length - 1;
  if (last < 0) return "";
  if (isLive(state) && state.follow) return `Following the run: iteration ${state.shown}`;
  const pace = isPaced(state) ? `${PACES[state.speed]} s each` : `${state.speed}× real speed`;
  return `Iteration ${state.shown} of ${last}${state.playing && state.speed !== 1 ? ` · ${pace}` : ""}`;
}

const isOver = (state) => writtenUpTo(state) === state.shown;

// Of the iteration shown: what goes on in it, and when it has ended, what came of it.
export function saidOf(state) {
  const iteration = state.iterations[state.shown];
  if (!iteration) return "";
  return isOver(state) ? sentence(iteration) : meanwhile(iteration, state.header, state.moment);
}

function noteOf(state) {
  const { shown, iterations, header, end } = state;
  if (!iterations[shown] || !isOver(state)) return "";
  const last = shown === iterations.length - 1;
  return note(iterations[shown], { header, end, before: tokensBefore(state, shown), last });
}

function createSentence(state) {
  const node = el("p", { class: "dv-sentence" });
  let told = {};
  return {
    node,
    draw() {
      const [said, iteration] = [saidOf(state), state.iterations[state.shown]];
      // A screen reader should not be talked over while iterations stream past.
      node.setAttribute("aria-live", isMoving(state) ? "off" : "polite");
      if (said === told.said && iteration === told.iteration && state.end === told.end) return;
      told = { said, iteration, end: state.end };
      setSentence(node, said);
      explained(node, noteOf(state));
    },
  };
}

export function createSteps({ back, togglePlay, forward }) {
  const play = iconButton("Play", ICONS.play, togglePlay);
  return {
    nodes: [iconButton("Step back", ICONS.back, back), play, iconButton("Step forward", ICONS.forward, forward)],
    play,
    draw(moves) {
      const [name, icon] = moves ? ["Pause", ICONS.pause] : ["Play", ICONS.play];
      setAttributes(play, { "aria-label": name, title: `${name} (space)` });
      play.querySelector("path").setAttribute("d", icon);
    },
  };
}

export function createButtons(state, actions, first, last) {
  const steps = createSteps(actions);
  const node = el("div", { class: "dv-buttons" },
    iconButton(first, ICONS.first, actions.first), ...steps.nodes, iconButton(last, ICONS.last, actions.last));
  return { node, play: steps.play, draw: () => steps.draw(isMoving(state)) };
}

export function createTransport({ state, actions, choose }) {
  const buttons = createButtons(state, actions, "First iteration", "Last iteration");
  const said = createSentence(state);
  const slider = el("input", { type: "range", class: "dv-slider", min: 0, max: 0, step: 1, value: 0, "aria-label": "Iteration shown" });
  const where = el("p", { class: "dv-where" });
  const speeds = ALL_SPEEDS.map((value) => ({ value, option: el("option", { value }, speedWords(value)) }));
  const speed = el("select", { class: "dv-speed", "aria-label": "Replay speed" }, ...speeds.map(({ option }) => option));
  const slowly = button({ class: "dv-button dv-button-text dv-slowly" }, actions.watchSlowly, "Watch it slowly");
  const follow = textButton("Follow live", () => (state.follow ? choose(state.shown) : actions.goLive()));
  follow.title = "Follow the run (L or End)";
  slider.addEventListener("input", () => choose(Number(slider.value)));
  speed.addEventListener("change", () => actions.setSpeed(isNaN(speed.value) ? speed.value : Number(speed.value)));
  const controls = el("div", { class: "dv-controls" }, buttons.node, slider, where, speed, slowly, follow);
  return {
    node: el("section", { class: "dv-section dv-transport", "aria-label": "Player" }, controls, said.node),
    controls,
    draw() {
      slider.max = Math.max(0, state.iterations.length - 1);
      slider.value = Math.max(0, state.shown);
      setText(where, whereWords(state));
      const offered = speedsOf(state.header);
      for (const { value, option } of speeds) option.hidden = option.disabled = !offered.includes(value);
      speed.value = String(state.speed);
      setHidden(follow, !isLive(state), buttons.play);
      setHidden(slowly, isLive(state) || state.phase === "waiting" || (state.playing && isPaced(state)), buttons.play);
      follow.setAttribute("aria-pressed", state.follow);
      buttons.draw();
      said.draw();
    },
  };
}
