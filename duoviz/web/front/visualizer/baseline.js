// How fast each method was in this visit, by prompt and settings: what φ compares a run with.

import { isLive } from "./state.js";
import { aboutOf } from "./methods.js";
import { fixed, known } from "./words.js";

// Fewer tokens say more of the prompt's length than of the speed.
const LEAST_TOKENS = 16;
const COMMON = ["max_new_tokens", "temperature", "top_k", "top_p", "seed", "raw"];

// Of each prompt with its settings: vanilla's tokens a second, and the last other run's.
const speeds = new Map();

const keyOf = ({ pair, target, prompt, settings }) => (
  JSON.stringify([pair, target.name, prompt, ...COMMON.map((name) => settings[name])]));

// To be called when a run of this machine has ended. Gives a sentence on the run before it, or "".
export function keepSpeed({ header, end, metrics }) {
  if (!header || !["eos", "length"].includes(end?.stopped) || !(metrics?.new_tokens >= LEAST_TOKENS)) return "";
  const [key, isVanilla] = [keyOf(header), header.method === "vanilla"];
  if (isVanilla && header.settings.cores !== "auto") return "";
  const before = speeds.get(key) ?? {};
  const { tps } = metrics;
  speeds.set(key, { ...before, ...(isVanilla ? { vanilla: tps } : { other: { title: aboutOf(header).title, tps } }) });
  return isVanilla && before.other ? `${before.other.title}, on the same prompt, was ${fixed(before.other.tps / tps, 2)} times as fast.` : "";
}

// Whether this is a run of this machine that has ended, which φ can be given for.
export const isComparable = (state) => Boolean(state.header) && state.header.method !== "vanilla" && state.file === null && !isLive(state);

// How many times faster a run of this machine is than vanilla's on the same prompt and settings; null where that is not
// known.
export function speedUp(state, { tps }) {
  const vanilla = isComparable(state) && known(tps) ? speeds.get(keyOf(state.header))?.vanilla : null;
  return vanilla ? tps / vanilla : null;
}
