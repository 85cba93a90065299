// How fast vanilla was in its last run on this machine, kept by the browser: what φ compares a run with.

import { isLive } from "./state.js";
import { known } from "./words.js";

const SPEEDS_KEPT = "duoviz vanilla";
// Fewer tokens say more of the prompt's length than of the speed.
const LEAST_TOKENS = 16;

// The models and the processor; a device's label ends with the machine's name: "CPU core 1 (AMD EPYC)".
const modelsAndMachine = ({ pair, target }) => `${pair} | ${target.name} | ${/\(([^()]*)\)$/.exec(target.device)?.[1] ?? target.device}`;

function kept() {
  try {
    return JSON.parse(localStorage.getItem(SPEEDS_KEPT)) ?? {};
  } catch {
    return {};
  }
}

// To be called when a run of this machine has ended.
export function keepSpeed({ header, end, metrics }) {
  if (header?.method !== "vanilla" || header.settings?.cores !== "all") return;
  if (!["eos", "length"].includes(end?.stopped) || !(metrics?.new_tokens >= LEAST_TOKENS)) return;
  try {
    localStorage.setItem(SPEEDS_KEPT, JSON.stringify({ ...kept(), [modelsAndMachine(header)]: metrics.tps }));
  } catch {
    // This browser keeps nothing.
  }
}

let read = null;

// How many times faster a run of this machine is than vanilla's last one; null where that is not known, and while it goes on.
export function speedUp(state, { tps }) {
  const { header, file } = state;
  if (!header || header.method === "vanilla" || file !== null || isLive(state) || !known(tps)) return null;
  if (read?.epoch !== state.epoch || read?.header !== header) read = { epoch: state.epoch, header, tps: kept()[modelsAndMachine(header)] };
  return known(read.tps) && read.tps > 0 ? tps / read.tps : null;
}
