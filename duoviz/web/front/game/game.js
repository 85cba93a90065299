// The game "You be the draft": the visitor guesses in the draft's place, and a recorded text of the target decides.
// `mountGame(root, fetchTrace)` adds it to the course, whose lessons it hides while it is played.

import { el, setText, textButton } from "../visualizer/dom.js";
import { isBrowsers, PRESSED, targetOf } from "../visualizer/keys.js";
import { aboutOf } from "../visualizer/methods.js";
import { visible } from "../visualizer/words.js";
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

const MISSING = "The recorded run could not be loaded. Reload the page to try again.";

const aboutWords = ({ header }) => (
  `The target answers "${visible(header.prompt)}" Guess its next ${PLACES} tokens. `
  + `The options are the draft's likeliest in a recorded run of ${aboutOf(header).title}.`
);

function createPlay({ tokens, rounds }, { show, end }) {
  const [verdicts, drafted] = [[], []];
  const board = createBoard(tokens, { choose, goOn });
  let picks = [], step = "choose", since = 0, taken = 0, choices = 0;
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
    const sentences = [verdictWords(verdict, current), draftWords(draft, current)];
    board.show(current, picks, { verdict, sentences, label: round() ? "Next round" : "See the result" });
  }
  function goOn() {
    if (step === "check") check();
    else if (step === "read" && round()) begin();
    else if (step === "read") end({ verdicts, drafted, seconds: taken / choices / 1000 });
  }
  return { node: board.node, begin, choose, goOn };
}

export function mountGame(root, fetchTrace) {
  const heading = el("h3", { tabindex: "-1" }, "You be the draft");
  const [where, about] = [el("span", { class: "dg-where" }), el("p", { class: "dg-about" })];
  const body = el("div", { class: "dg-body" });
  const head = el("header", { class: "dg-head" }, heading, where, textButton("Back to the lessons", close));
  const node = el("section", { "class": "dg", "aria-label": "You be the draft" }, head, about, body);
  let play = null, turn = 0;
  const isOpen = () => root.hasAttribute("data-game");

  function close() {
    turn += 1;
    play = null;
    root.removeAttribute("data-game");
    root.querySelector(".dl-body h3")?.focus({ preventScroll: true });
  }
  function showEnd(found, result) {
    play = null;
    setText(where, "");
    setText(about, "");
    const again = textButton("Play other rounds", () => open());
    body.replaceChildren(endNode({ ...found, ...result }, [again]));
    body.querySelector(".dg-asked").focus({ preventScroll: true });
  }
  function begin(found) {
    setText(about, aboutWords(found.trace));
    play = createPlay(found, {
      show: (index) => setText(where, `Round ${index + 1} of ${found.rounds.length}`),
      end: (result) => showEnd(found, result),
    });
    body.replaceChildren(play.node);
    play.begin();
  }
  async function open(seed = newSeed()) {
    const mine = ++turn;
    play = null;
    root.setAttribute("data-game", seed);
    setText(where, "");
    setText(about, "");
    body.replaceChildren();
    heading.focus({ preventScroll: true });
    const trace = await fetchTrace();
    if (mine !== turn) return;
    if (trace) begin({ trace, seed, ...roundsOf(trace, seed) });
    else setText(about, MISSING);
  }
  function follow() {
    const seed = seedIn(location.hash);
    if (seed !== null) open(seed);
    else if (isOpen() && leadsToLesson(location.hash)) close();
  }

  root.append(node);
  listenToKeys(node, { choose: (number) => play?.choose(number), goOn: () => play?.goOn() });
  addEventListener("hashchange", follow);
  follow();
  return { open };
}
