// One drawing a frame, and how things move on the stage and in the story: only by transforms and opacity.

import { el, svg, zoomOf } from "./dom.js";

// draw: called with the seconds since the frame before, 0 after a rest; returns whether to go on with the next frame.
// leastOf: gives the milliseconds from one drawing to the next.
export function createFrames(draw, leastOf = () => 0) {
  let frame = 0, last = null, drawn = -Infinity;
  const ask = () => { frame ||= requestAnimationFrame(run); };
  function run(time) {
    frame = 0;
    if (time - drawn < leastOf()) return ask();
    drawn = time;
    const goesOn = draw(last === null ? 0 : (time - last) / 1000);
    last = goesOn ? time : null;
    if (goesOn) ask();
  }
  return { ask, stop: () => cancelAnimationFrame(frame) };
}

export const MOVE_SECONDS = 0.35;
const EASED = "cubic-bezier(0.3, 0, 0.2, 1)";
const [HEAD, GAP] = [9, 6];

// A text's own box without the space that it begins with; what is no node is a box itself.
function boxOf(node) {
  if (!(node instanceof Node)) return node;
  const text = node.firstChild;
  if (node.childNodes.length !== 1 || text.nodeType !== Node.TEXT_NODE) return node.getBoundingClientRect();
  const range = document.createRange();
  range.setStart(text, text.length - text.data.trimStart().length);
  range.setEnd(text, text.length);
  return range.getBoundingClientRect();
}

// The way from one box to another, and its head: to what stands beside it, as branches do beside their bars, or up or
// down. Aside there is none where a narrow page has it below.
function arrow(from, to, isAside) {
  const [begins, length, side, width] = isAside ? ["left", "width", "top", "height"] : ["top", "height", "left", "width"];
  const [fromEnd, toEnd] = [from, to].map((box) => box[begins] + box[length]);
  const isBack = !isAside && toEnd < from[begins];
  const [turn, before] = [isBack ? HEAD : -HEAD, isAside ? 2 * GAP : GAP];
  const [begin, end] = isBack ? [from[begins] - GAP, toEnd + GAP] : [fromEnd + GAP, to[begins] - before];
  if (isAside && begin > end) return [];
  const [middle, one, other] = [(begin + end + turn) / 2, ...[from, to].map((box) => box[side] + box[width] / 2)];
  const at = (along, across) => (isAside ? `${along} ${across}` : `${across} ${along}`);
  return [
    svg("path", { d: `M${at(begin, one)}C${at(middle, one)} ${at(middle, other)} ${at(end + turn, other)}` }),
    svg("path", { class: "dv-story-head-of-arrow", d: `M${at(end, other)}l${at(turn, -HEAD / 2)}l${at(0, HEAD)}z` }),
  ];
}

// air: lies over all that moves, for what is on its way. isStill: whether nothing is to move.
export function createMotion(air, isStill) {
  const arrows = svg("svg", { class: "dv-story-arrows" });
  air.replaceChildren(arrows);
  const inAir = (box) => {
    const [outer, zoom] = [air.getBoundingClientRect(), zoomOf(air)];
    const [left, top] = [box.left - outer.left, box.top - outer.top].map((each) => each / zoom);
    return { left, top, width: box.width / zoom, height: box.height / zoom };
  };
  const move = (node, keyframes, seconds = MOVE_SECONDS, easing = EASED) => {
    if (isStill) return null;
    return node.animate(keyframes, { duration: 1000 * seconds, easing, fill: "backwards" });
  };
  return {
    isStill,
    move,
    appear: (node, from = "0 8px") => move(node, [{ opacity: 0, translate: from }, {}]),
    fill: (node, seconds) => move(node, [{ transform: "scaleX(0)" }, { transform: "scaleX(1)" }], seconds, "linear"),
    // A token on its way from a node to its place, which is seen when it has come.
    fly(from, to) {
      const [there, here] = [from, to].map((node) => inAir(boxOf(node)));
      if (isStill) return arrows.append(...arrow(there, here, to instanceof SVGElement));
      const flying = el("span", { class: "dv-flying", "data-source": to.dataset.source ?? "" }, to.textContent.trim());
      Object.assign(flying.style, { left: `${here.left}px`, top: `${here.top}px`, lineHeight: `${here.height}px` });
      air.append(flying);
      const scale = Math.max(0.5, Math.min(2, there.height / here.height || 1));
      const [x, y] = [there.left - here.left, there.top - here.top];
      // On its way it crosses what is to be read.
      const [seen, unseen] = [{ opacity: 1 }, { opacity: 0 }];
      move(flying, [{ ...seen, transform: `translate(${x}px, ${y}px) scale(${scale})` }, { ...unseen, offset: 0.4 }, { ...unseen, offset: 0.6 }, { ...seen, transform: "none" }]);
      return flying;
    },
  };
}
