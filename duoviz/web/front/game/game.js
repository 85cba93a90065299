// The game "Guess yourself": the visitor guesses in the draft's place, and a recorded text of the target decides.
// `mountGame(root, fetchTrace)` adds it to the course, whose lessons it hides while it is played.

import { el, setText, textButton } from "../visualizer/dom.js";
import { isBrowsers, PRESSED, targetOf } from "../visualizer/keys.js";
import { visible } from "../visualizer/words.js";
import { MISSING } from "../learn/stage.js";
import { createBoard } from "./board.js";
import { endNode, leadsToLesson, newSeed, seedIn } from "./ending.js";
import { PLACES, roundsOf } from "./rounds.js";
import { draftPicks, draftWords, judge, verdictWords, waitWords } from "./score.js";

const TYPED = "input, textarea, select, [contenteditable]:not([contenteditable=false])";

export function listenToKeys(root, { choose, goOn }) {
  document.addEventListener("keydown", (event) => {
    const target = targetOf(event);
    if (!root.checkVisibility() || isBrowsers(event) || target.closest(TYPED)) return;
    const isEnter = event.key === "Enter";
    if (!isEnter && !/^[1-5]$/.test(event.key)) return;
    // Held down, a key would go through a whole round.
    if (event.repeat) return event.preventDefault();
    if (isEnter && target.closest(PRESSED)) return;
    event.preventDefault();
    if (isEnter) goOn();
    else choose(Number(event.key) - 1);
  });
}

const aboutWords = ({ header }) => (
  `The large model (target) answers "${visible(header.prompt)}" Guess its next ${PLACES} tokens (words or parts of words) `
  + "in the place of the small model (draft): the options are the small model's likeliest. ␣ is a space."
);

// left: what `left` gave of a game that is past on with.
function createPlay({ tokens, rounds }, { show, end }, left) {
  const [verdicts, drafted] = [[], []];
  const board = createBoard(tokens, { choose, goOn });
  // The options chosen, and null for each time that the visitor went on.
  const acts = [];
  let picks = [], step = "choose", since = 0, taken = left?.taken ?? 0, choices = 0;
  const round = () => rounds[verdicts.length];

  function ask() {
    step = "choose";
    board.ask(round(), picks);
    since = performance.now();
  }
  function begin() {
    picks = [];
    show(verdicts.length);
    ask();
  }
  // The last of the options is "something else", after which there is nothing to guess.
  function choose(number) {
    const { options } = round()?.places[picks.length] ?? { options: [] };
    if (step !== "choose" || number > options.length) return;
    taken += performance.now() - since;
    choices += 1;
    acts.push(number);
    const isStopped = number === options.length;
    picks.push(isStopped ? null : options[number].id);
    if (!isStopped && picks.length < PLACES) return ask();
    step = "check";
    board.wait(round(), picks, waitWords(picks.length - isStopped, isStopped));
  }
  function check() {
    const current = round();
    const [verdict, draft] = [judge(current, picks), judge(current, draftPicks(current))];
    step = "read";
    verdicts.push(verdict);
    drafted.push(draft);
    const sentences = [verdictWords(verdict, current), draftWords(draft)];
    board.show(current, picks, { verdict, sentences, label: round() ? "Next round" : "See the result" });
  }
  function goOn() {
    if (step === "choose" || step === "end") return;
    acts.push(null);
    if (step === "check") check();
    else if (round()) begin();
    else {
      step = "end";
      end({ verdicts, drafted, seconds: taken / choices / 1000 });
    }
  }
  function start() {
    begin();
    for (const act of left?.acts ?? []) if (act === null) goOn(); else choose(act);
  }
  return { node: board.node, start, choose, goOn, left: () => ({ acts, taken }) };
}

// left: of the page before a reload, null where there was none: `game` is what `left` gave.
export function mountGame(root, fetchTrace, left) {
  const heading = el("h3", { tabindex: "-1" }, "Guess yourself");
  const [where, about] = [el("span", { class: "dg-where" }), el("p", { class: "dg-about" })];
  const body = el("div");
  const head = el("header", { class: "dg-head" }, heading, where, textButton("Back to the lessons", close));
  const node = el("section", { "class": "dg", "aria-label": "Guess yourself" }, head, about, body);
  let play = null, turn = 0;

  function close() {
    turn += 1;
    play = null;
    root.removeAttribute("data-game");
    root.querySelector(".dl-body h3")?.focus({ preventScroll: true });
  }
  function showEnd(found, result) {
    setText(where, "");
    setText(about, "");
    const again = textButton("Play other rounds", () => open());
    body.replaceChildren(endNode({ ...found, ...result }, [again]));
    body.querySelector(".dg-asked").focus({ preventScroll: true });
  }
  function begin(found, past) {
    setText(about, aboutWords(found.trace));
    play = createPlay(found, {
      show: (index) => setText(where, `Round ${index + 1} of ${found.rounds.length}`),
      end: (result) => showEnd(found, result),
    }, past);
    body.replaceChildren(play.node);
    play.start();
  }
  async function open(seed = newSeed(), past = null) {
    const mine = ++turn;
    play = null;
    root.setAttribute("data-game", seed);
    setText(where, "");
    setText(about, "");
    body.replaceChildren();
    heading.focus({ preventScroll: true });
    const trace = await fetchTrace();
    if (mine !== turn) return;
    if (trace) begin({ trace, seed, ...roundsOf(trace, seed) }, past);
    else setText(about, MISSING);
  }
  function follow() {
    const seed = seedIn(location.hash);
    if (seed !== null) open(seed);
    else if (root.hasAttribute("data-game") && leadsToLesson(location.hash)) close();
  }

  root.append(node);
  listenToKeys(node, { choose: (number) => play?.choose(number), goOn: () => play?.goOn() });
  addEventListener("hashchange", follow);
  if (!left) follow();
  else if (left.game) open(left.game.seed, left.game);
  return { open, left: () => play && { seed: Number(root.dataset.game), ...play.left() } };
}
