// What the page calls a run's figures, and what each means to somebody who meets it for the first time.

const SEQUENCE = "A sequence: tokens that the draft proposes one after another, as a guess at how the text goes on.";

// By the figure's name: its label and its meaning.
export const MEANINGS = {
  tps: ["tokens/s", "Tokens written a second, the time to read the prompt included."],
  tau: ["τ tokens per forward", "How many tokens one pass through the target gives; without guesses it gives 1."],
  acceptance: ["acceptance", "How often a checked position had a correct guess."],
  overlap: ["both busy", "The share of the time in which draft and target compute at once."],
  ttft: ["to the first token", "From the start of the run to the first token of the answer."],
  phi: ["φ over vanilla", "How many times as fast as vanilla at its best here, on the same prompt and settings, run in this visit."],
  written: ["tokens written", "How many tokens this iteration added to the text."],
  took: ["duration", "From the end of the previous iteration to the end of this one."],
  k: ["k sequences", `How many sequences the draft begins in this iteration, each with another first token. ${SEQUENCE}`],
  gamma: ["γ draft budget", "How many steps the draft may take in this iteration; with SpS and an automatic γ, how many it took. A step is one forward of the draft: it reads what stands there and guesses what comes next."],
  longest: ["longest sequence", "How many tokens the longest sequence has. Where γ is automatic, each goes on only while it is likely enough to be worth checking."],
  theta: ["θ threshold", "The probability of the draft's best token times that of the best token after it. Each first token that the draft finds more probable than this begins a sequence of its own."],
};

// Words of the page's sentences, as they stand there.
const WORDS = [["sequences?", SEQUENCE], ["threshold", MEANINGS.theta[1]]];

// The first place in a text of each word that needs to be explained: [begin, end, meaning].
export function placesToExplain(text) {
  const found = WORDS.map(([word, meaning]) => [new RegExp(`\\b${word}\\b`).exec(text), meaning]).filter(([match]) => match);
  const places = found.map(([{ index, 0: word }, meaning]) => [index, index + word.length, meaning]);
  return places.sort((one, other) => one[0] - other[0]);
}
