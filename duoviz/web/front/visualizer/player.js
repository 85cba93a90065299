// The player: going through the iterations by hand, by the clock, or with the run, its buttons and slider, what is
// shown, and its sentence.

import { button, el, iconButton, setAttributes, setHidden, setText, textButton } from "./dom.js";
import { explained, setSentence, term } from "./meanings.js";
import { meanwhile, note, sentence } from "./sentence.js";
import { beginAt, isLive, isTimed, keepPace, PACES, SLOWLY, spanOf } from "./state.js";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
// A part of a pace is the clock's, for guess and check, and in the rest it stands still: the verdict.
const CLOCKS_PART = 0.55;
// Within the verdict: from when to when tokens set out for the text, and when what is not kept leaves the tree.
const [SENDING_FROM, SENDING_TO, LEAVING_FROM] = [0.15, 0.5, 0.5];
const LEAST_SHOWN = 0.25;
const ALL_SPEEDS = [...Object.keys(PACES), ...SPEEDS];
export const speedsOf = (header) => (isTimed(header) ? ALL_SPEEDS : Object.keys(PACES));
const speedWords = (speed) => (PACES[speed] ? `${PACES[speed]} s per iteration` : `${speed}×`);

export const wantsNoMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const MOST_AT_ONCE = 4;

// The iteration that shows the method best: the first after the prompt's of those with the most sequences, but not too
// many, of which the target took one; where there are no sequences, with the most tokens written.
export function mostTelling(iterations) {
  const worth = ({ index, verdict, sequences, committed }) => {
    const many = sequences === null ? committed.length : verdict.outcome === "hit" ? sequences : 0;
    return index && many <= MOST_AT_ONCE ? many : 0;
  };
  return iterations.reduce((best, each, index) => (worth(each) > worth(iterations[best]) ? index : best), 0);
}

export function createActions(state, redraw, resetView) {
  const lastIndex = () => state.iterations.length - 1;
  // isGuess: as it stands when all guesses are made, and nothing is judged yet.
  const choose = (index, isGuess = false) => {
    if (!state.iterations.length) return;
    const shown = Math.min(lastIndex(), Math.max(0, Math.round(index)));
    const moment = isGuess ? state.iterations[shown].draft.at(-1)?.end ?? null : null;
    Object.assign(state, { follow: false, playing: false, moment, clock: moment ?? state.clock, shown });
    redraw();
  };
  const choosePace = (pace) => {
    state.pace = pace;
    keepPace(pace);
  };
  const setSpeed = (speed) => {
    state.speed = speed;
    if (isLive(state) && isPaced(state)) choosePace(speed);
    redraw();
  };
  const shiftSpeed = (by) => {
    const speeds = speedsOf(state.header);
    setSpeed(speeds[speeds.indexOf(state.speed) + by] ?? state.speed);
  };
  const goLive = () => {
    if (!state.iterations.length) return;
    if (isLive(state)) choosePace(null);
    Object.assign(state, { follow: isLive(state), playing: false, moment: null, shown: lastIndex() });
    resetView();
    redraw();
  };
  const play = () => {
    const atEnd = state.shown >= lastIndex() && state.moment === null;
    if (atEnd && isLive(state) && state.pace === null) return goLive();
    if (state.moment === null) beginAt(state, atEnd && !isLive(state) ? 0 : state.shown);
    Object.assign(state, { playing: true, follow: false });
    redraw();
  };
  const togglePlay = () => {
    if (!state.iterations.length) return;
    if (!isMoving(state)) play();
    else if (state.moment !== null) {
      state.playing = false;
      redraw();
    } else choose(state.shown);
  };
  const watchSlowly = () => {
    choosePace(SLOWLY);
    beginAt(state, isLive(state) ? state.shown : Math.max(0, mostTelling(state.iterations) - 1));
    Object.assign(state, { playing: true, follow: false, speed: SLOWLY });
    resetView();
    redraw();
  };
  return {
    choose, setSpeed, togglePlay, goLive, watchSlowly, first: () => choose(0), last: goLive,
    back: () => choose(state.shown - 1), forward: () => choose(state.shown + 1),
    faster: () => shiftSpeed(1), slower: () => shiftSpeed(-1),
  };
}

export const isMoving = (state) => state.playing || (state.follow && isLive(state));
export const isPaced = (state) => state.speed in PACES;

function advancePaced(state, elapsed) {
  const pace = PACES[state.speed];
  const { begin, end } = spanOf(state.iterations, state.shown);
  if (state.clock < end) state.clock = Math.min(end, state.clock + (elapsed * (end - begin)) / (CLOCKS_PART * pace));
  else state.rest += elapsed;
  state.moment = state.clock;
  if (state.rest < (1 - CLOCKS_PART) * pace) return;
  if (state.shown < state.iterations.length - 1) beginAt(state, state.shown + 1);
  // Of a run that goes on, the next one is waited for.
  else if (!isLive(state)) endPlay(state);
}

const endPlay = (state) => Object.assign(state, { playing: false, moment: null, follow: isLive(state) });

// A long pause (a hidden tab) must not jump the replay ahead.
export function advancePlay(state, elapsed) {
  const passed = Math.min(0.25, elapsed);
  if (isPaced(state)) return advancePaced(state, passed);
  const last = state.iterations.length - 1;
  state.clock += passed * state.speed;
  while (state.shown < last && state.iterations[state.shown].sync <= state.clock) state.shown++;
  const { begin, end } = spanOf(state.iterations, state.shown);
  state.moment = (end - begin) / state.speed < LEAST_SHOWN ? end : state.clock;
  state.rest = 0;
  if (state.clock >= end) endPlay(state);
}

// How much of the verdict's time is over, 0 to 1; null where nothing is to move.
function verdictPart(state) {
  if (!state.playing || !isPaced(state) || wantsNoMotion()) return null;
  const isOver = state.moment >= state.iterations[state.shown].sync;
  return isOver ? state.rest / ((1 - CLOCKS_PART) * PACES[state.speed]) : null;
}

export const isLeaving = (state) => verdictPart(state) > LEAVING_FROM;

// Which part of the tokens should have set out for the text, below 0 while they wait; null where none is to.
export function sendingOf(state) {
  const part = verdictPart(state);
  return part === null ? null : (part - SENDING_FROM) / (SENDING_TO - SENDING_FROM);
}

// An iteration's beat at the moment shown; "" where it is not played.
export function beatOf({ moment, shown, iterations }) {
  if (moment === null) return "";
  const { draft, target, sync } = iterations[shown];
  if (moment >= sync) return "verdict";
  if (moment > (draft.at(-1)?.end ?? 0)) return "check";
  return moment > target.start ? "guess check" : "guess";
}

// How far the text is written: what an iteration adds stands there when it has ended.
export function writtenUpTo({ moment, shown, iterations }) {
  return moment != null && moment < iterations[shown]?.sync ? shown - 1 : shown;
}

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M10 3 5 8l5 5 1.4-1.4L7.8 8l3.6-3.6z", play: "M4 2v12l10-6z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z", forward: "M6 3l5 5-5 5-1.4-1.4L8.2 8 4.6 4.4z", last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

const ITERATION = "In an iteration the large model (target) checks the small one's guesses in one pass, and the text grows by those that are right and one token more. "
  + "One pass comes before the first iteration: it reads the prompt and writes the first token. Figures and links call it iteration 0.";

function paceWords(state) {
  if (isLive(state)) {
    // On the run's own clock.
    const behind = Math.round(state.iterations.at(-1).sync - (state.moment ?? state.iterations[state.shown].sync));
    return behind > 0 && !state.follow ? ` · slowed down, ${behind} s behind` : "";
  }
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
      const [last, isOn] = [state.iterations.length - 1, isLive(state)];
      setText(before, last < 0 ? "" : isOn && state.follow ? `Following the run: iteration ${state.shown}`
        : !state.shown ? "The prompt's pass" : `Iteration ${state.shown} of ${last}${isOn ? " so far" : ""}`);
      setText(prompt, state.shown < 1 || isOn ? "" : " after the prompt");
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

export function createSentence({ state }) {
  const node = el("p", { class: "dv-sentence" });
  let told = {};
  return {
    node,
    draw() {
      const { shown, header, end, totals } = state;
      const [said, iteration] = [saidOf(state), state.iterations[shown]];
      // A screen reader should not be talked over while iterations stream past.
      node.setAttribute("aria-live", isMoving(state) ? "off" : "polite");
      if (said === told.said && iteration === told.iteration && end === told.end) return;
      told = { said, iteration, end };
      setSentence(node, said);
      const about = { header, end, before: totals[shown - 1]?.tokens ?? 0, last: shown === totals.length - 1 };
      explained(node, iteration && isOver(state) ? note(iteration, about) : "");
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
    node: el("section", { class: "dv-section dv-transport", "aria-label": "Player" }, controls),
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
    },
  };
}
