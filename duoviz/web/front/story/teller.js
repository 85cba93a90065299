// Tells the stops one after another: each is shown, played, and left after a moment.

import { button, el, isPresented, listen, setText, textButton, watchSize } from "../visualizer/dom.js";
import { createFrames, createMotion } from "../visualizer/motion.js";
import { createSteps, wantsNoMotion } from "../visualizer/player.js";
import { cheap, guess, one, right, wrong, race, several } from "./acts.js";

const LONGEST_FRAME = 0.1;

export function createScript() {
  const steps = [];
  let at = 0;
  return {
    length: () => at,
    inOrder: () => steps.toSorted((before, after) => before.at - after.at),
    wait(seconds) { at += seconds; },
    act(run, seconds = 0) {
      steps.push({ at, run });
      at += seconds;
    },
    later(seconds, run) { steps.push({ at: at + seconds, run }); },
  };
}

// root: whatever moves is inside of it; onChange: called when the clock starts to go or stands still.
export function createScore(root, onChange) {
  let [steps, next, clock, length, onEnd] = [[], 0, 0, 0, null];
  let [isHeld, inSight, isOver] = [false, true, true];
  const goes = () => !isHeld && inSight && !isOver;
  const frames = createFrames((seconds) => {
    if (!goes()) return false;
    clock += Math.min(LONGEST_FRAME, seconds);
    while (next < steps.length && steps[next].at <= clock) steps[next++].run();
    if (clock < length) return true;
    isOver = true;
    onChange();
    onEnd();
    return goes();
  });
  const change = (set) => {
    const before = goes();
    set();
    if (before !== goes()) moveOn();
    onChange();
  };
  function moveOn() {
    const [from, act] = goes() ? ["paused", "play"] : ["running", "pause"];
    for (const motion of root.getAnimations({ subtree: true })) if (motion.playState === from) motion[act]();
    frames.ask();
  }
  return {
    isOver: () => isOver,
    goes,
    play(inOrder, seconds, then) {
      [steps, next, clock, length, onEnd] = [inOrder, 0, 0, seconds, then];
      change(() => { [isHeld, isOver] = [false, false]; });
      frames.ask();
    },
    hold: () => change(() => { isHeld = true; }),
    goOn: () => change(() => { isHeld = false; }),
    see: (isSeen) => change(() => { inSight = isSeen; }),
    stop: () => change(() => { isOver = true; }),
  };
}

const ACTS = { one, cheap, guess, right, wrong, several, race };
// A stop takes this at least, and what has come of it stands for a moment.
const [LEAST, STANDS] = [5, 2.2];
// What text and lanes take of the figure's height at most, and presented; what the tree has at least, and on a phone.
const [OTHERS, OTHERS_PRESENTED, LEAST_HEIGHT, NARROW_HEIGHT] = [310, 220, 120, 150];

function createMarks(choose) {
  const list = el("ol", { class: "dv-story-marks" });
  return {
    node: list,
    draw(stops, at) {
      if (list.children.length !== stops.length) {
        list.replaceChildren(...stops.map(({ number, title }, place) => (
          el("li", {}, button({ "aria-label": `${number}: ${title}`, title }, () => choose(place)))
        )));
      }
      [...list.children].forEach(({ firstChild }, place) => {
        if (place === at) firstChild.setAttribute("aria-current", "step");
        else firstChild.removeAttribute("aria-current");
        firstChild.classList.toggle("dv-story-past", place < at);
      });
    },
  };
}

function createParts(acts) {
  const [marks, steps, end] = [createMarks(acts.choose), createSteps(acts), textButton("Skip", acts.skip)];
  end.classList.add("dv-story-skip");
  end.title = "Skip the story (Escape)";
  const buttons = el("div", { class: "dv-story-buttons" }, ...steps.nodes);
  const head = el("div", { class: "dv-story-head" }, marks.node, buttons, end);
  const [title, words] = [el("h3", { class: "dv-story-title" }), el("p", { class: "dv-story-sentence" })];
  const all = el("div", { class: "dv-story-all" });
  const told = el("div", { "class": "dv-story-words", "aria-live": "polite", "aria-atomic": "true" }, title, words, all);
  const figure = el("div", { class: "dv-story-figure", role: "img" });
  const air = el("div", { "class": "dv-story-air", "aria-hidden": "true" });
  const about = { class: "dv-story", role: "region", "aria-label": "How it works, in seven stops", tabindex: "-1" };
  return { node: el("section", about, head, told, figure, air), marks, steps, title, words, all, figure, air };
}

function sizesOf({ clientWidth: width, clientHeight: room }) {
  const height = matchMedia("(max-width: 900px)").matches ? NARROW_HEIGHT
    : Math.max(LEAST_HEIGHT, room - (isPresented() ? OTHERS_PRESENTED : OTHERS));
  return { width, room, height };
}

// A finger that goes further than this, in pixels, and more to the side than up or down.
const SWIPE = 50;

function listenToSwipes(node, { back, forward }) {
  let from = null;
  listen(node, {
    touchstart: ({ touches }) => { [from] = touches.length === 1 ? touches : [null]; },
    touchend({ changedTouches: [to] }) {
      const [across, along] = from ? [to.clientX - from.clientX, to.clientY - from.clientY] : [0, 0];
      if (Math.abs(across) < Math.max(SWIPE, 2 * Math.abs(along))) return;
      if (across < 0) forward();
      else back();
    },
  }, { passive: true });
}

export function createTeller({ skip, finish }) {
  let [stops, at, isHeld, lastWidth] = [[], 0, false, 0];
  const acts = { choose: show, back, togglePlay: toggle, forward: next, skip };
  const { node, marks, steps, title, words, all, figure, air } = createParts(acts);
  const score = createScore(node, () => steps.draw(score.goes()));

  function next() {
    if (at < stops.length - 1) show(at + 1);
    else finish();
  }
  function back() {
    show(Math.max(0, at - 1));
  }
  // Held while something moves; else it goes on, at a stop's end with the next one.
  function toggle() {
    if (wantsNoMotion()) return next();
    isHeld = score.goes();
    if (isHeld) score.hold();
    else if (score.isOver()) next();
    else score.goOn();
  }
  function show(place) {
    at = place;
    const stop = stops[at];
    node.dataset.stop = stop.number;
    setText(title, stop.title);
    setText(words, stop.words);
    figure.setAttribute("aria-label", stop.seen);
    figure.replaceChildren();
    marks.draw(stops, at);
    const [motion, script] = [createMotion(air, wantsNoMotion()), createScript()];
    ACTS[stop.kind](stop, { figure, motion, script, ...sizesOf(figure) });
    play(motion, script);
  }
  function play(motion, script) {
    steps.play.hidden = motion.isStill;
    if (motion.isStill) {
      score.stop();
      return script.inOrder().forEach(({ run }) => run());
    }
    motion.move(figure, [{ opacity: 0 }, {}]);
    motion.move(words.parentElement, [{ opacity: 0 }, {}]);
    score.play(script.inOrder(), Math.max(LEAST, script.length()) + STANDS, () => {
      // Presented, each stop waits for whoever presents.
      if (!isHeld && !isPresented()) next();
    });
  }

  watchSize(figure, (width) => {
    if (width && lastWidth && width !== lastWidth) show(at);
    lastWidth = width || lastWidth;
  });
  listenToSwipes(node, { back, forward: next });
  new IntersectionObserver((entries) => score.see(entries.at(-1).isIntersecting)).observe(node);

  return {
    node,
    back,
    forward: next,
    toggle,
    begin(told, number) {
      [stops, isHeld] = [told, false];
      // Unseen, the words of all stops keep one room for each.
      all.replaceChildren(...stops.map((stop) => el("p", { class: "dv-story-sentence" }, stop.words)));
      show(Math.max(0, stops.findIndex((stop) => stop.number >= number)));
    },
    end() {
      score.stop();
      figure.replaceChildren();
      air.replaceChildren();
    },
  };
}
