// What was measured over many prompts of the method that a recording shows, where both models share a processor, and
// what the paper says of others.

import { aboutOf } from "../visualizer/methods.js";
import { known, measuredWords } from "../visualizer/words.js";

const listed = (phis) => phis.map((phi) => phi.toFixed(2)).join(" and ");

// averages: {phi, noise, n, tasks, paper, gpu} by methods' titles (see `averages` in duoviz/web/results_store.py).
function meanWords(header, averages, whyInTurn) {
  const { title, parallel } = aboutOf(header);
  const [own, inTurn] = [averages[title], averages.SpS];
  if (!own) return "";
  const [low, high] = own.tasks.map(([phi, task]) => `${phi.toFixed(2)} (${task.toLowerCase()})`);
  const isSlower = parallel && header.target.cpu && inTurn?.phi > own.phi;
  return `Over the Lab's ${own.n} prompts ${measuredWords(own)} times, from ${low} to ${high}.${isSlower ? whyInTurn(own, inTurn) : ""}`;
}

export const shortWords = (header, averages) => meanWords(header, averages, (own, inTurn) => {
  const isOtherwise = own.paper.every((phi, at) => phi > inTurn.paper[at]);
  const onGpu = known(own.gpu) ? `; with this small one on an H100 we measured ${own.gpu.toFixed(2)}` : "";
  return ` Here both models share one processor, so taking turns (SpS) is faster: ${inTurn.phi.toFixed(2)}.`
    + `${isOtherwise ? ` ${aboutOf(header).title} is made for a large model on a GPU, where the paper found it faster${onGpu}.` : ""}`;
});

export const wordsOf = (header, averages) => meanWords(header, averages, (own, inTurn) => {
  const onGpu = [own.gpu, inTurn.gpu];
  return ` Taking turns (SpS) reaches ${measuredWords(inTurn)} here: working at once hides the time of drafting, but the large model then has fewer cores.`
    + ` With a large model on a GPU the paper measured ${listed(own.paper)}, SpS ${listed(inTurn.paper)}`
    + `${onGpu.every(known) ? `; with this small one on an H100 we measured ${listed(onGpu)}` : ""}.`;
});
