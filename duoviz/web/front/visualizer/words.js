// How tokens and numbers are written; no control character of a model's text gets through as one.

export const MARKS = { pending: "○", accepted: "✓", rejected: "✗", discarded: "–", unchecked: "⊖", correction: "➜", window: "◇" };
// What becomes of a guess, in plain words.
export const FATES = {
  pending: "not checked yet", accepted: "right", rejected: "wrong", discarded: "thrown away", unchecked: "never checked",
  correction: "large model's own", window: "unfinished",
};
// By the classical rule a token is tested only if those before it in its place were refused.
const isClassical = ({ settings } = {}) => settings?.acceptance === "rejection" && settings.temperature > 0;
// Of what was discarded, the target read only the checked tokens, and compared the sequences' first ones with its own:
// beside an accepted token they are as wrong as where none was right. nodes: the list's.
export function fateOf(list, { status, parent }, nodes, header) {
  if (status !== "discarded") return status;
  const isCompared = list === "checked" || (list === "drafted" && parent < 0 && !isClassical(header));
  if (isCompared && nodes.some((other) => other.parent === parent && other.status === "accepted")) return "rejected";
  return list === "checked" ? status : "unchecked";
}

// Control and direction characters would move or hide what stands beside them.
export function visible(text) {
  return String(text).replace(/\r?\n/g, "↵").replace(/\t/g, "⇥").replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffe\uffff]/gu, "·");
}

export function clip(text, length) {
  const points = Array.from(text.slice(0, 4 * length));
  return points.length > length ? points.slice(0, length - 1).join("") + "…" : points.join("");
}

// The space before a word and the word: marked, the space would be an empty box at a line's end.
export const apart = (text) => (/^ \S/.test(text) ? [" ", text.slice(1)] : ["", text]);

export const endsAnswer = (text) => /^(<\|(im_end|endoftext|eot_id|end_of_text)\|>|<\/s>)$/.test(text);

export function tokenLabel(text) {
  if (endsAnswer(text)) return "end of answer";
  return clip(visible(String(text).slice(0, 200)).replace(/ /g, "␣"), 12) || "∅";
}

export function quote(text, length = 24) {
  if (endsAnswer(text)) return "the end of the answer";
  const shown = String(text).slice(0, 200);
  const word = clip(visible(shown.trim() ? shown.replace(/^ +| +$/g, "") : shown.replace(/ /g, "␣")), length);
  const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(word);
  return rightToLeft ? `"\u2068${word}\u2069"` : `"${word}"`;
}

export const known = Number.isFinite;
export const fixed = (value, digits) => (known(value) ? value.toFixed(digits) : "–");
export const percent = (value) => (known(value) ? `${Math.round(100 * value)} %` : "–");
export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
// A mean φ with its noise.
export const measuredWords = ({ phi, noise }) => `${phi.toFixed(2)}${known(noise) ? ` ± ${noise.toFixed(2)}` : ""}`;
export const capital = (word) => word[0].toUpperCase() + word.slice(1);

export const countGuesses = (number) => count(number, "guess", "guesses");

// Of what can be recomputed from durations, so that it agrees with those that `duration` shows.
export const asShown = (seconds) => Number(seconds.toFixed(seconds < 0.1 ? 4 : seconds < 1 ? 3 : 2));

export function duration(seconds) {
  if (!known(seconds)) return "–";
  return seconds < 1 ? `${(1000 * seconds).toFixed(seconds < 0.1 ? 1 : 0)}\u00a0ms` : `${seconds.toFixed(2)}\u00a0s`;
}
