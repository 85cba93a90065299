// What was measured over many prompts of the method that a recording shows, where both models share a processor, and
// what the paper says of others.

import { aboutOf } from "../visualizer/methods.js";
import { known } from "../visualizer/words.js";

// averages: {phi, noise, n, tasks, paper, published} by methods' titles (see `averages` in
// duoviz/web/results_store.py).
export function wordsOf(header, averages) {
  const { title } = aboutOf(header);
  const [own, inTurn] = [averages[title], averages.SpS];
  if (!own) return "";
  const [low, high] = own.tasks.map((phi) => phi.toFixed(2));
  const mean = `Other prompts: ${low} to ${high} times by their kind, ${own.phi.toFixed(2)} on average.`;
  return [mean, ...whyInTurn(header, own, inTurn)].filter(Boolean).join(" ");
}

// Why taking turns is faster here, and where it is not.
function whyInTurn(header, own, inTurn) {
  const { title, parallel } = aboutOf(header);
  if (!parallel || !header.target.cpu || !(inTurn?.phi > own.phi)) return [];
  const isOtherwise = own.paper.every((phi, at) => phi > inTurn.paper[at]);
  return [
    `Here both models share one processor, so taking turns (SpS) is faster: ${inTurn.phi.toFixed(2)}.`,
    isOtherwise && `${title} is made for a large model on a GPU, where the paper found it faster; none that large was measured here.`,
  ];
}

// The same as bars, [name, {phi, noise}, method] each, with what is said of them; null where nothing was measured.
export function barsOf(header, averages) {
  const { title } = aboutOf(header);
  const [own, inTurn] = [averages[title], averages.SpS];
  if (!own) return null;
  const bars = [
    ["SpS, taking turns", inTurn, "speculative"], [title, own, header.method], ["Large model alone", { phi: 1 }, "vanilla"],
  ];
  return {
    title: `Over the Lab's ${own.n} prompts, times as fast as alone`,
    bars: bars.filter(([, found]) => known(found?.phi)), why: whyInTurn(header, own, inTurn).filter(Boolean).join(" "),
  };
}
