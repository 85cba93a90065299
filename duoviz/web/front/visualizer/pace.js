// How a run is watched while it goes on: so slowly that it can be read, or followed as fast as it comes.

import { remember, remembered } from "./remembered.js";

// So slow that each iteration can be followed: seconds for one, whatever it took.
export const SLOWLY = "3 s";
export const A_SECOND_EACH = "1 s";
export const PACES = { [SLOWLY]: 3, [A_SECOND_EACH]: 1 };

const [KEPT, LIVE] = ["duoviz pace", "live"];
let kept = remembered(KEPT);

// pace: one of PACES, null to follow.
export function keepPace(pace) {
  kept = pace ?? LIVE;
  remember(KEPT, kept);
}

export const paceOfRuns = () => (kept === LIVE ? null : kept in PACES ? kept : SLOWLY);
