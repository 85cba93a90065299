// The first screen: one prompt and one text, written by the large model alone and by both, on one clock.

import { el, setAttributes, setText, svg, textButton, watchSize } from "../visualizer/dom.js";
import { createFrames } from "../visualizer/motion.js";
import { aboutOf, TARGET } from "../visualizer/methods.js";
import { coresOf, machineOf } from "../visualizer/origin.js";
import { wordsOf } from "../story/averages.js";
import { wantsNoMotion } from "../visualizer/player.js";
import { sentence } from "../visualizer/sentence.js";
import { count, duration, percent, quote } from "../visualizer/words.js";
import { createKey, createLanes, createText, hide, reveal } from "../story/figure.js";
import { slowerFor } from "../story/stops.js";
import { createKnob } from "./knob.js";
import { areSame, expectedRun, paysFrom, writtenIn } from "./two_runs.js";

// How long it lasts, in seconds, about.
const LASTS = 12;
// In pixels: what stands after a bar's end has this room.
const [LONGEST_FRAME, LINES, ROOM] = [0.1, 3, 56];

// One of both: its name, what its colours mean, its text, its count of tokens, its lanes, which grow with the clock.
function createSide(title, namesOf, ...key) {
  const [clip, past] = [`dv-past-${Math.random().toString(36).slice(2)}`, svg("rect", { width: 0, height: 200 })];
  const [tokens, view] = [el("span", { class: "dv-first-count" }), el("div", { class: "dv-first-view" })];
  const head = el("div", { class: "dv-first-head" }, el("h3", {}, title), ...key, tokens);
  const time = svg("text", { class: "dv-first-time", "dominant-baseline": "central" });
  let [run, spans, shown, lanes, scale] = [null, [], 0, svg("svg"), 0];
  return {
    node: el("section", { class: "dv-first-side", "aria-label": title }, head, view, lanes),
    run: () => run,
    set(next) {
      run = next;
      const text = createText({ isCut: false, tokens: [] }, run.tokens);
      ({ spans } = text);
      view.replaceChildren(text.text);
      shown = 0;
    },
    // longest: the seconds that all but the room for a time stands for.
    draw(longest, width) {
      const end = (longest * width) / (width - ROOM);
      const { node, layer, bars } = createLanes(run, { start: 0, end, names: namesOf(run), width, larger: 1 });
      layer.setAttribute("clip-path", `url(#${clip})`);
      node.prepend(svg("clipPath", { id: clip }, past));
      lanes.replaceWith(node);
      [lanes, scale] = [node, width / end];
      const [y, height] = ["y", "height"].map((name) => Number(bars[0].rect.getAttribute(name)));
      setAttributes(time, { x: scale * run.wall + 6, y: y + height / 2 });
      setText(time, duration(run.wall));
      node.append(time);
    },
    show(clock) {
      const until = run.tokens.findLastIndex(({ sync }) => sync <= clock) + 1;
      if (until < shown) hide(...spans.slice(until, shown));
      else if (until > shown) {
        reveal(...spans.slice(shown, until));
        // The line that is written is the last in sight.
        const line = view.clientHeight / LINES;
        view.scrollTop = line * (Math.floor(spans[until - 1].offsetTop / line) + 1 - LINES);
      }
      shown = until;
      setText(tokens, count(shown, "token"));
      past.setAttribute("width", scale * Math.min(clock, run.wall));
      time.style.visibility = clock >= run.wall ? "visible" : "hidden";
    },
  };
}

// What became of the race, in one sentence.
function ending(alone, both, isComputed) {
  const [ratio, number] = [alone.wall / both.wall, both.tokens.length];
  const [one, other] = [alone, both].map(({ wall }) => duration(wall));
  return `${isComputed ? "Computed: the" : "The"} same ${number} tokens take ${one} alone and ${other} together, ${ratio.toFixed(2)} times as fast.`;
}

// What the last iteration until then did.
function happened({ iterations, wall }, clock, isComputed) {
  if (isComputed) return "Computed from the recorded times and draft steps. (The Lab's map drafts only what pays.)";
  const at = iterations.findLastIndex(({ sync }) => sync <= Math.min(clock, wall));
  return at < 0 ? "The large model reads the prompt." : sentence(iterations[at]);
}

const passesOf = ({ iterations }) => iterations.length;

const ENDS = {
  eos: "The large model ended its answer", length: "The limit on new tokens was reached", context: "The context is full",
};

// Of an own run: why it ended, how good the guesses were, why a lane is hatched, and where each ran.
function aboutOwn({ header, end, iterations }, alone) {
  const sumOf = (name) => iterations.reduce((sum, { verdict }) => sum + verdict[name], 0);
  const [tested, accepted] = ["tested", "accepted"].map(sumOf);
  const right = tested ? ` ${percent(accepted / tested)} of the tested guesses were right.` : "";
  const waits = "Where its lane is hatched, the small model waits: for the check, or because no guess is expected to pay.";
  const hatched = header.draft ? ` ${waits}` : "";
  const cores = [header.target, header.draft].filter(Boolean).map(coresOf);
  const where = `alone on ${coresOf(alone.header.target)}, together on ${[...new Set(cores)].join(" and ")}`;
  return `${ENDS[end?.stopped] ?? "The run is over"}.${right}${hatched} One run of each, ${where}; another may differ.`;
}

function titleOf({ header }) {
  const { title, draft, proposers } = aboutOf(header);
  return `${title}: with ${draft ? "a small model guessing ahead" : `guesses ${proposers[0]?.origin}`}`;
}

// told, alone: runs of one prompt; averages: see `wordsOf`; expected: {recorded, rates,
// tokens} of the first one, null where theory says nothing of it; isRecorded: whether they are not the visitor's own;
// tell: opens the story; look: shows the stage. Null where the runs did not write the same.
export function createFirstScreen({ told, alone, expected, averages, isRecorded, tell, look }) {
  const [measured, other] = [writtenIn(told), writtenIn(alone)];
  if (!areSame(measured, other)) return null;
  const slower = slowerFor(Math.max(measured.wall, other.wall), LASTS);
  const sources = [...aboutOf(told.header).proposers, TARGET].map(({ id }) => id);
  const sides = [
    createSide("Large model alone", (run) => ({ target: `large model (target): ${passesOf(run)} passes, one a token` }),
      el("span", { class: "dv-first-prompt" }, `answers ${quote(told.header.prompt, 60)}`)),
    createSide(titleOf(told), (run) => ({ target: `large model (target): checks guesses in ${passesOf(run)} passes`, draft: "small model (draft): guesses" }), createKey([], { sources, header: told.header })),
  ];
  const [above, below] = sides;
  const [now, end] = [el("p", { class: "dv-first-now" }), el("span")];
  const [tab, more] = isRecorded ? ["lab", "See the Lab"] : ["compare", "Race both in Compare"];
  const last = el("p", { class: "dv-first-end" }, end, " ", el("a", { href: `#tab=${tab}` }, more));
  let [clock, width, isComputed, isHeld] = [0, 0, false, false];
  const lasts = () => Math.max(...sides.map((side) => side.run().wall));
  // One scale, wherever the knob stands.
  const slowest = expected ? expectedRun(measured, Math.min(...expected.tokens)).wall : 0;
  const longest = Math.max(measured.wall, other.wall, slowest);
  const show = () => {
    sides.forEach((side) => side.show(clock));
    const isOver = clock >= lasts();
    setText(now, isOver ? ending(other, below.run(), isComputed) : happened(below.run(), clock, isComputed));
    // What was measured elsewhere says nothing of the visitor's machine.
    setText(end, !isOver || isComputed ? "" : isRecorded ? wordsOf(told.header, averages) : aboutOwn(told, alone));
    last.style.visibility = end.textContent ? "visible" : "hidden";
    node.dataset.over = isOver ? "yes" : "no";
  };
  const layOut = () => {
    if (width) sides.forEach((side) => side.draw(longest, width));
    show();
  };
  const frames = createFrames((seconds) => {
    if (isHeld || !node.checkVisibility()) return false;
    clock = Math.min(lasts(), clock + Math.min(LONGEST_FRAME, seconds) / slower);
    show();
    return clock < lasts();
  });
  const play = () => {
    [clock, isHeld] = [wantsNoMotion() ? lasts() : 0, false];
    show();
    frames.ask();
  };
  // At its end it begins again.
  const toggle = () => {
    if (clock >= lasts()) return play();
    isHeld = !isHeld;
    frames.ask();
  };
  const turn = (rate) => {
    const wasOver = clock >= lasts();
    isComputed = rate !== expected.recorded;
    below.set(isComputed ? expectedRun(measured, expected.tokens[expected.rates.indexOf(rate)]) : measured);
    if (wasOver) clock = lasts();
    layOut();
    frames.ask();
  };
  const again = textButton("Again", play);
  const knob = expected && createKnob(expected.rates, {
    recorded: expected.recorded, pays: paysFrom(measured, other.wall, expected), onChange: turn,
  });
  const { device, precision } = told.header.target;
  const where = `${isRecorded ? "Recorded" : "Your run,"} on ${machineOf(device)} in ${precision}${slower > 1 ? `, shown ${slower} times slower` : ""}.`;
  const node = el("div", { class: "dv-first", tabindex: -1 },
    el("h2", { class: "dv-first-title" }, "A small model guesses. A large one checks. The text stays the same."),
    el("p", {}, `Chat programs write one word, or part of one, at a time.${isRecorded ? " Here the same answer comes sooner." : ""}`),
    el("div", { class: "dv-first-about" }, textButton("See how, in one minute", tell), textButton("Look inside this run", look), again,
      el("a", { class: "dv-button", href: "#tab=learn&draft=9" }, "Guess yourself"),
      el("p", {}, where)),
    above.node, below.node, now, ...(knob ? [knob] : []), last);
  above.set(other);
  below.set(measured);
  watchSize(above.node, (wide) => {
    width = wide;
    layOut();
    frames.ask();
  });
  return { node, play, toggle, stop: frames.stop };
}
