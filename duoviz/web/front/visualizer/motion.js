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

// To what stands beside it, as branches do beside their bars; those of a narrow page stand below.
function arrowAside(from, to) {
  const [x0, x1] = [from.left + from.width + GAP, to.left - 2 * GAP];
  if (x0 > x1) return [];
  const [y0, y1] = [from, to].map(({ top, height }) => top + height / 2);
  const middle = (x0 + x1) / 2;
  return [
    svg("path", { d: `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1 - HEAD} ${y1}` }),
    svg("path", { class: "dv-story-head-of-arrow", d: `M${x1} ${y1}l${-HEAD} ${-HEAD / 2}v${HEAD}z` }),
  ];
}

function arrow(from, to) {
  const [x0, y0, x1, y1] = [from.left + from.width / 2, from.top, to.left + to.width / 2, to.top + to.height];
  const isUp = y1 < y0;
  const [begin, end] = isUp ? [y0 - GAP, y1 + GAP] : [from.top + from.height + GAP, to.top - GAP];
  const turn = isUp ? HEAD : -HEAD;
  const middle = (begin + end + turn) / 2;
  return [
    svg("path", { d: `M${x0} ${begin}C${x0} ${middle} ${x1} ${middle} ${x1} ${end + turn}` }),
    svg("path", { class: "dv-story-head-of-arrow", d: `M${x1} ${end}l${-HEAD / 2} ${turn}h${HEAD}z` }),
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
      if (isStill) return arrows.append(...(to instanceof SVGElement ? arrowAside : arrow)(there, here));
      const flying = el("span", { class: "dv-flying", "data-source": to.dataset.source ?? "" }, to.textContent.trim());
      Object.assign(flying.style, { left: `${here.left}px`, top: `${here.top}px`, lineHeight: `${here.height}px` });
      air.append(flying);
      const scale = Math.max(0.5, Math.min(2, there.height / here.height || 1));
      const [x, y] = [there.left - here.left, there.top - here.top];
      move(flying, [{ transform: `translate(${x}px, ${y}px) scale(${scale})` }, { transform: "none" }]);
      return flying;
    },
  };
}
