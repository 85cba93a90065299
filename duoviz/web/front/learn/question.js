// A page's question: the reader chooses, steps, clicks or computes, and reads why that is right or not.

import { button, el, listen, setAttributes, textButton } from "../visualizer/dom.js";
import { htmlNode } from "./texts.js";

const MOVED = 5;

// Bars of other iterations than the one shown can be clicked, but are too many to go through by keyboard.
const isFarAway = ({ dataset: { iteration } }, root) => iteration !== undefined && iteration !== root.closest("[data-shown]").dataset.shown;

function listenToChoices(root, choices, act) {
  let pressed = null;
  const choiceOf = (target) => (target instanceof Element ? target.closest(choices) : null);
  const offer = () => {
    for (const node of root.querySelectorAll(choices)) {
      if (node.getAttribute("role") === "button" || isFarAway(node, root)) continue;
      setAttributes(node, { tabindex: "0", role: "button" });
    }
  };
  // Pointers are captured by the timeline, so that only where one was pressed tells what was meant.
  const onDown = (event) => { pressed = { node: choiceOf(event.target), x: event.clientX, y: event.clientY }; };
  const onUp = (event) => {
    const still = pressed?.node && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) <= MOVED;
    if (still) act(pressed.node);
    pressed = null;
  };
  const onKey = (event) => {
    if ((event.key !== "Enter" && event.key !== " ") || choiceOf(event.target) !== event.target) return;
    event.preventDefault();
    event.stopPropagation();
    act(event.target);
  };
  const stop = listen(root, { pointerdown: onDown, pointerup: onUp, keydown: onKey }, { capture: true });
  const drawn = new MutationObserver(offer);
  drawn.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
  root.classList.add("dl-choosing");
  // What can be pressed may not lie inside of what is announced as one picture.
  const pictures = [...root.querySelectorAll("svg[role=img]")];
  for (const picture of pictures) picture.setAttribute("role", "group");
  offer();
  return () => {
    drawn.disconnect();
    root.classList.remove("dl-choosing");
    for (const picture of pictures) picture.setAttribute("role", "img");
    stop();
    for (const node of root.querySelectorAll(`:is(${choices})[tabindex]`)) {
      // What is explained where it stands keeps its place among the keys.
      if (!node.matches("[data-meaning]")) node.removeAttribute("tabindex");
      node.removeAttribute("role");
    }
  };
}

// What was clicked, in words.
function nameOf(node) {
  const text = (node.querySelector(".dv-label, .dl-token") ?? node).textContent;
  return [node.dataset.status, node.dataset.lane, text].filter(Boolean).join(", ");
}

const SHORT = 14;

function askChoose({ options }, tell) {
  const buttons = options.map(({ html, right, why }) => (
    button({ class: "dl-option", "aria-pressed": "false" }, ({ currentTarget }) => {
      for (const each of buttons) each.setAttribute("aria-pressed", each === currentTarget);
      tell(currentTarget.textContent, right, why);
    }, htmlNode("span", html))
  ));
  const areShort = buttons.every(({ textContent }) => textContent.length <= SHORT);
  return { nodes: [el("div", { class: "dl-options", role: "group", "aria-label": "Answers", "data-short": areShort }, ...buttons)] };
}

function askStep({ answer, right, wrong }, tell, { stage }) {
  const check = textButton("It is this one", () => {
    const found = answer.includes(stage.shown());
    tell(`iteration ${stage.shown()}`, found, found ? right : wrong);
  });
  return { nodes: [el("p", { class: "dl-note" }, "Step with ← and → or the player's buttons."), el("div", { class: "dl-tools" }, check)] };
}

function askClick({ answer, choices, part, right, wrong }, tell, { stage, figure }) {
  const stop = listenToChoices(part ? stage.part(part) : figure.node, choices, (chosen) => {
    const isRight = chosen.matches(answer);
    tell(nameOf(chosen), isRight, isRight ? right : wrong);
  });
  const where = part ? "Click it beside this text, or go there with Tab and press Enter." : "Click it in the figure, or go there with Tab and press Enter.";
  return { nodes: [el("p", { class: "dl-note" }, where)], stop };
}

// A decimal comma is a point.
const numberIn = (text) => Number.parseFloat(text.replace(",", "."));

// A number, set with the figure's slider, or typed where it has none.
function askNumber({ answer, within, right, low, high }, tell, { figure }) {
  const input = el("input", { "class": "dl-typed", "inputmode": "decimal", "autocomplete": "off", "required": "",
    "pattern": "\\s*\\d*[.,]?\\d+\\s*", "title": "A number, such as 1.5", "aria-label": "Your answer" });
  const check = () => {
    if (!figure?.reading && !input.reportValidity()) return;
    const value = figure?.reading ? figure.reading() : numberIn(input.value);
    const found = Math.abs(value - answer) <= within * Math.abs(answer);
    tell(String(value), found, found ? right : value < answer ? low : high);
  };
  input.addEventListener("keydown", ({ key }) => { if (key === "Enter") check(); });
  return { nodes: [el("div", { class: "dl-tools" }, ...(figure?.reading ? [] : [input]), textButton("Check", check))] };
}

const KINDS = { choose: askChoose, step: askStep, click: askClick, number: askNumber };

// about: {stage, figure, glossary}. onAnswer: called with each answer's words, and whether it is right. stop: to be
// called when the page is left.
export function createQuestion(question, about, onAnswer) {
  const verdict = el("p", { class: "dl-verdict", role: "status" });
  const tell = (said, right, why) => {
    onAnswer(said, right);
    verdict.dataset.right = right;
    verdict.replaceChildren(el("b", {}, right ? "✓ Right. " : "Not quite. "), about.glossary.text("span", why));
    // On a small screen the reader may have answered far below.
    verdict.scrollIntoView({ block: "nearest" });
  };
  const asked = KINDS[question.kind](question, tell, about);
  const node = el("section", { class: "dl-question", "data-kind": question.kind, "aria-label": "Question" },
    el("h4", {}, "Question"), ...about.glossary.blocks(question.text), ...asked.nodes, verdict);
  return { node, stop: asked.stop ?? (() => {}) };
}
