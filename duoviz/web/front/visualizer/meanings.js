// What the page calls a run's figures, and what each means to somebody who meets it for the first time.

const SEQUENCE = "A sequence: tokens that the draft proposes one after another, as a guess at what comes next.";

// By the figure's name: its label and its meaning.
export const MEANINGS = {
  tps: ["tokens/s", "Tokens written per second, including the time to read the prompt."],
  tau: ["τ tokens per pass", "Tokens written per forward pass of the target. Without guesses: 1."],
  acceptance: ["acceptance", "How often a checked position had a correct guess."],
  overlap: ["both busy", "Share of the time in which draft and target both compute."],
  ttft: ["to the first token", "Time from the start of the run to the first token."],
  phi: ["φ over vanilla", "Speed-up over the fastest vanilla run of this visit, with the same prompt and settings."],
  written: ["tokens written", "How many tokens this iteration added to the text."],
  took: ["duration", "From the end of the previous iteration to the end of this one."],
  k: ["k sequences", `How many sequences the draft starts in this iteration, each with a different first token. ${SEQUENCE}`],
  gamma: ["γ draft budget", "How many draft steps are allowed in this iteration (with SpS and automatic γ: how many were made). A step is one forward pass of the draft."],
  longest: ["longest sequence", "Length of the longest sequence, in tokens. With automatic γ, a sequence grows only while it is likely enough to be worth checking."],
  theta: ["θ threshold", "The probability of the draft's best token times that of the best token after it. Every first token more probable than this starts a sequence."],
};

// Words of the page's sentences, as they stand there.
const WORDS = [["sequences?", SEQUENCE], ["threshold", MEANINGS.theta[1]]];

// The first place in a text of each word that needs to be explained: [begin, end, meaning].
export function placesToExplain(text) {
  const found = WORDS.map(([word, meaning]) => [new RegExp(`\\b${word}\\b`).exec(text), meaning]).filter(([match]) => match);
  const places = found.map(([{ index, 0: word }, meaning]) => [index, index + word.length, meaning]);
  return places.sort((one, other) => one[0] - other[0]);
}
