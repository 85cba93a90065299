// Accepted tokens, and the target's own, on their way from the tree to their places in the text.

import { createMotion } from "./motion.js";
import { el } from "./dom.js";
import { isChosen } from "./note.js";
import { sendingOf } from "./player.js";

// Of each token that an iteration adds to the text, the node of the tree that it was: {list, index}; null where it was
// none.
export function nodesOf({ checked, drafted, committed }) {
  const nodes = Object.entries({ checked, drafted }).flatMap(([list, all]) => (
    all.map((node, index) => ({ list, index, node })).filter(({ node }) => isChosen(node))
  ));
  return committed.map(({ id }) => {
    const at = nodes.findIndex(({ node }) => node.id === id);
    if (at < 0) return null;
    const [{ list, index }] = nodes.splice(0, at + 1).slice(-1);
    return { list, index };
  });
}

// labelOf: gives a node's label in the tree, where it is drawn; spansOf: an iteration's tokens in the text.
export function createFlights(state, { labelOf, spansOf }) {
  const air = el("div", { "class": "dv-air", "aria-hidden": "true" });
  const motion = createMotion(air, false);
  let [iteration, coming, sent] = [null, [], 0];
  const land = (span, flying) => {
    span.classList.remove("dv-coming");
    flying?.remove();
  };
  const begin = () => {
    iteration = state.iterations[state.shown];
    const [nodes, spans] = [nodesOf(iteration), spansOf(state.shown)];
    coming = spans.map((span, order) => ({ span, label: nodes[order] && labelOf(nodes[order]) }))
      .filter(({ span, label }) => label && span.textContent.trim());
    coming.forEach(({ span }) => span.classList.add("dv-coming"));
    sent = 0;
  };
  const send = ({ span, label }) => {
    const flying = motion.fly(label, span);
    flying.getAnimations()[0].onfinish = () => land(span, flying);
  };
  const end = () => {
    coming.forEach(({ span }) => land(span));
    [iteration, coming] = [null, []];
  };
  return {
    node: air,
    draw() {
      const part = sendingOf(state);
      if (iteration && (part === null || iteration !== state.iterations[state.shown])) end();
      if (part === null) return;
      if (!iteration) begin();
      while (sent < coming.length && sent <= part * coming.length - 1e-9) send(coming[sent++]);
    },
  };
}
