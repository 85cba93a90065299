// What was measured over many prompts of the method that a recording shows, where both models share a processor, and
// what the paper says of others.

import { aboutOf } from "../visualizer/methods.js";
import { known, measuredWords } from "../visualizer/words.js";

// averages: {phi, noise, n, tasks, paper, published} by methods' titles (see `averages` in
// duoviz/web/results_store.py).
export function wordsOf(header, averages) {
  const { title, parallel } = aboutOf(header);
  const [own, inTurn] = [averages[title], averages.SpS];
  if (!own) return "";
  const [low, high] = own.tasks.map(([phi, task]) => `${phi.toFixed(2)} (${task.toLowerCase()})`);
  const published = known(own.published) ? `; as published, without our changes, ${own.published.toFixed(2)}` : "";
  const mean = `Over the Lab's ${own.n} prompts ${measuredWords(own)} times, from ${low} to ${high}${published}.`;
  if (!parallel || !header.target.cpu || !(inTurn?.phi > own.phi)) return mean;
  const here = `Here both models share one processor, so taking turns (SpS) is faster: ${inTurn.phi.toFixed(2)}.`;
  const isOtherwise = own.paper.every((phi, at) => phi > inTurn.paper[at]);
  const there = isOtherwise ? ` ${title} is made for a large model on a GPU, where the paper found it faster.` : "";
  return `${mean} ${here}${there}`;
}
