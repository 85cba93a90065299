// The player's buttons and slider, what is shown, and its sentence.

import { button, el, iconButton, setAttributes, setHidden, setText, textButton } from "./dom.js";
import { meanwhile, sentence, note } from "./sentence.js";
import { explained, setSentence, term } from "./meanings.js";
import { PACES } from "./pace.js";
import { isLive, tokensBefore } from "./state.js";
import { ALL_SPEEDS, isMoving, isPaced, speedsOf, speedWords, writtenUpTo } from "./player.js";

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M10 3 5 8l5 5 1.4-1.4L7.8 8l3.6-3.6z", play: "M4 2v12l10-6z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z", forward: "M6 3l5 5-5 5-1.4-1.4L8.2 8 4.6 4.4z", last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

const ITERATION = "In an iteration the large model (target) checks the small one's guesses in one pass, and the text grows by those that are right and one token more. "
  + "One pass comes before the first iteration: it reads the prompt and writes the first token. Figures and links call it iteration 0.";

// How far what is shown is behind a run that goes on, on the run's own clock.
function behindWords({ iterations, shown, moment }) {
  const behind = Math.round(iterations.at(-1).sync - (moment ?? iterations[shown].sync));
  return behind > 0 ? ` · ${behind} s behind` : "";
}

function paceWords(state) {
  if (isLive(state)) return state.follow ? "" : behindWords(state);
  const pace = isPaced(state) ? `${PACES[state.speed]} s each` : `${state.speed}× real speed`;
  return state.playing && state.speed !== 1 ? ` · ${pace}` : "";
}

// Which iteration is shown. That of the prompt is number 0: all but it are counted.
function createWhere(state) {
  const before = term("", ITERATION);
  const [prompt, after] = [el("span"), el("span")];
  return {
    node: el("p", { class: "dv-where" }, before, prompt, after),
    draw() {
      const last = state.iterations.length - 1;
      setText(prompt, state.shown < 1 || isLive(state) ? "" : " after the prompt");
      prompt.hidden = !prompt.textContent;
      setText(before, last < 0 ? "" : isLive(state) && state.follow ? `Following the run: iteration ${state.shown}`
        : !state.shown ? "The prompt's pass" : `Iteration ${state.shown} of ${last}${isLive(state) ? " so far" : ""}`);
      setText(after, last < 0 ? "" : paceWords(state));
    },
  };
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
  const where = createWhere(state);
  const speeds = ALL_SPEEDS.map((value) => ({ value, option: el("option", { value }, speedWords(value)) }));
  const speed = el("select", { class: "dv-speed", "aria-label": "Replay speed" }, ...speeds.map(({ option }) => option));
  const slowly = button({ class: "dv-button dv-button-text dv-slowly" }, actions.watchSlowly, "Watch it slowly");
  const follow = textButton("Follow live", actions.goLive);
  slider.addEventListener("input", () => choose(Number(slider.value)));
  speed.addEventListener("change", () => actions.setSpeed(isNaN(speed.value) ? speed.value : Number(speed.value)));
  const controls = el("div", { class: "dv-controls" }, buttons.node, slider, where.node, speed, slowly, follow);
  return {
    node: el("section", { class: "dv-section dv-transport", "aria-label": "Player" }, controls, said.node),
    controls,
    draw() {
      slider.max = Math.max(0, state.iterations.length - 1);
      slider.value = Math.max(0, state.shown);
      where.draw();
      const offered = speedsOf(state.header);
      for (const { value, option } of speeds) option.hidden = option.disabled = !offered.includes(value);
      speed.value = String(state.speed);
      const [isOn, isSlow] = [isLive(state), state.playing && isPaced(state)];
      setText(follow, isOn ? "Follow live" : "Skip to the end");
      follow.title = isOn ? "Follow the run (L or End)" : "The last iteration (End)";
      setHidden(follow, isOn ? state.follow : !isSlow || state.file !== null, buttons.play);
      setHidden(slowly, isOn ? !state.follow : isSlow || state.phase === "waiting", buttons.play);
      buttons.draw();
      said.draw();
    },
  };
}
