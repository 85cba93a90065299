// Links to rounds: `#tab=learn&draft=7` gives everyone who follows it the same ones.

import { fragmentOf, isWhole } from "../share/link.js";

// The rounds' seed in a link's fragment; null where there is none.
export function seedIn(hash) {
  const text = new URLSearchParams(hash.slice(1)).get("draft") ?? "";
  return /^\d+$/.test(text) && isWhole(Number(text)) ? Number(text) : null;
}

// A lesson's page, which takes the place of a game.
export const leadsToLesson = (hash) => new URLSearchParams(hash.slice(1)).has("lesson");

export const fragmentTo = (seed) => fragmentOf({ tab: "learn", fields: {}, draft: seed });

// Short enough to be read out in a classroom.
export const newSeed = () => 1 + Math.floor(9999 * Math.random());
