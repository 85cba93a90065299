// One round of the game on the page: the text so far, the visitor's guesses, and the options for the next place.

import { button, el, setText, textButton, zoomOf } from "../visualizer/dom.js";
import { wantsNoMotion } from "../visualizer/player.js";
import { apart, MARKS } from "../visualizer/words.js";
import { PLACES } from "./rounds.js";
import { tokenWords } from "./score.js";

const MOVE = { duration: 350, easing: "ease-out" };
const SOMETHING_ELSE = "Something else";
const FOLLOWS = "These follow what the large model wrote before them, whatever you chose.";
const ORDINALS = ["first", "second", "third"];

// A guess goes to its place in the text, over whatever is between, as a copy: the text's box would cut it off.
function travel(board, from, to) {
  if (wantsNoMotion()) return;
  const [frame, there, here] = [board, from, to].map((node) => node.getBoundingClientRect());
  const between = (one, other) => ["left", "top"].map((side) => `${(one[side] - other[side]) / zoomOf(board)}px`);
  const [[left, top], [x, y]] = [between(there, frame), between(here, there)];
  const ghost = el("span", { "class": "dg-ghost", "aria-hidden": "true" }, from.dataset.token);
  ghost.dataset.source = to.dataset.source;
  Object.assign(ghost.style, { left, top });
  board.append(ghost);
  ghost.animate([{ transform: "none" }, { transform: `translate(${x}, ${y})` }], MOVE).onfinish = () => ghost.remove();
  to.animate([{ opacity: 0 }, { opacity: 0, offset: 0.9 }, { opacity: 1 }], MOVE);
}

function writtenNodes({ text, name }, at, source) {
  const [space, word] = apart(text);
  const attributes = { "class": "dg-written", "data-at": at, "data-source": source };
  return [space, el("span", attributes, word || tokenWords(name))];
}

function textNodes(tokens, until, sources) {
  return tokens.slice(0, until).flatMap((token, at) => (
    sources.has(at) ? writtenNodes(token, at, sources.get(at)) : [token.text]
  ));
}

function guessOf(place, id) {
  return id === null ? SOMETHING_ELSE.toLowerCase() : tokenWords(place.options.find((option) => option.id === id).text);
}

function statusOf(index, isStop, { accepted, guesses, stop }) {
  if (isStop) return stop === null ? "discarded" : stop ? "accepted" : "rejected";
  if (index < accepted) return "accepted";
  return index === accepted && index < guesses ? "rejected" : "discarded";
}

// The three places before the check: {status, words}; with a verdict the guesses and the target's own token.
function slotsOf({ places, next }, picks, verdict = null) {
  if (!verdict) {
    return places.map((place, index) => (
      index < picks.length ? { status: "pending", words: guessOf(place, picks[index]) }
        : { status: index === picks.length && !picks.includes(null) ? "next" : "empty", words: "?" }
    ));
  }
  const slots = picks.map((id, index) => (
    { status: statusOf(index, id === null, verdict), words: guessOf(places[index], id) }
  ));
  const own = { status: "correction", words: tokenWords((places[verdict.accepted]?.target ?? next).name) };
  return slots.toSpliced(verdict.accepted + 1, 0, own);
}

function slotNode({ status, words }) {
  const mark = MARKS[status] ? [" ", el("span", { class: "dg-mark" }, MARKS[status])] : [];
  return el("li", { "class": "dg-slot", "data-status": status, "data-token": words }, words, ...mark);
}

const optionNode = (words, number, act) => button({ class: "dg-option" }, () => act(number),
  el("kbd", {}, String(number + 1)), el("span", { class: "dg-token" }, words));

export function createBoard(tokens, act) {
  const text = el("div", { "class": "dg-text", "tabindex": "0", "role": "group", "aria-label": "Text so far" });
  const slots = el("ol", { "class": "dg-slots", "aria-label": "Your guesses" });
  const asked = el("h4", { class: "dg-asked", tabindex: "-1" });
  const options = el("div", { "class": "dg-options", "role": "group", "aria-label": "Options" });
  const told = el("div", { class: "dg-told", role: "status" });
  const goOn = textButton("", act.goOn);
  const below = el("div", { class: "dg-below" }, asked, options, told, el("div", { class: "dg-tools" }, goOn));
  const node = el("div", { class: "dg-board" }, text, slots, below);
  const sources = new Map();

  function draw(until, shown, heading, sentences, label) {
    // Whoever goes on at once need not see the last ones come.
    for (const ghost of node.querySelectorAll(".dg-ghost")) ghost.remove();
    text.replaceChildren(...textNodes(tokens, until, sources));
    text.normalize();
    text.scrollTop = text.scrollHeight;
    slots.replaceChildren(...shown.map(slotNode));
    setText(asked, heading);
    options.replaceChildren();
    told.replaceChildren(...sentences.map((sentence) => el("p", {}, sentence)));
    setText(goOn, label);
    goOn.hidden = !label;
  }
  return {
    node,
    ask(round, picks) {
      const place = round.places[picks.length];
      const heading = `What is the ${ORDINALS[picks.length]} of the next ${PLACES} tokens?`;
      draw(round.at, slotsOf(round, picks), heading, picks.length ? [FOLLOWS] : [], "");
      const words = [...place.options.map((option) => tokenWords(option.text)), SOMETHING_ELSE];
      options.replaceChildren(...words.map((each, number) => optionNode(each, number, act.choose)));
      asked.focus({ preventScroll: true });
    },
    wait(round, picks, sentence) {
      draw(round.at, slotsOf(round, picks), "The large model's turn", [sentence], "Check");
      goOn.focus({ preventScroll: true });
    },
    show(round, picks, { verdict, sentences, label }) {
      const { accepted } = verdict;
      for (let by = 0; by < accepted; by++) sources.set(round.at + by, "draft");
      sources.set(round.at + accepted, "target");
      draw(round.at + verdict.tokens, slotsOf(round, picks, verdict), "Checked in one pass", sentences, label);
      const moving = [...slots.children].slice(0, accepted).concat(slots.querySelector("[data-status=correction]"));
      moving.forEach((slot, by) => travel(node, slot, text.querySelector(`[data-at="${round.at + by}"]`)));
      goOn.focus({ preventScroll: true });
    },
  };
}
