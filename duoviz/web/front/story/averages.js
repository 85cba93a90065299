// What was measured over many prompts of the method that a recording shows, where both models share a processor, and
// what the paper says of others.

import { aboutOf } from "../visualizer/methods.js";
import { measuredWords } from "../visualizer/words.js";

const listed = (phis) => phis.map((phi) => phi.toFixed(2)).join(" and ");

// averages: {phi, noise, n, tasks, paper} by methods' titles (see `averages` in duoviz/web/results_store.py).
export function wordsOf(header, averages) {
  const { title, parallel } = aboutOf(header);
  const [own, inTurn] = [averages[title], averages.SpS];
  if (!own) return "";
  const [low, high] = own.tasks.map(([phi, task]) => `${phi.toFixed(2)} (${task.toLowerCase()})`);
  const share = parallel && header.target.cpu && inTurn?.phi > own.phi
    ? ` Both models share two cores here, so taking turns (SpS) is faster: ${measuredWords(inTurn)}. With the large model on`
      + ` a GPU the paper has ${title} ahead: ${listed(own.paper)} against ${listed(inTurn.paper)}.` : "";
  return `Over the Lab's ${own.n} prompts ${measuredWords(own)}, from ${low} to ${high}.${share}`;
}
