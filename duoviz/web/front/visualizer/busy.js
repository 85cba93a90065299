// The spans of both lanes, and how long the lanes are busy. A lane's spans are in order and do not overlap each other.

import { firstSo } from "./search.js";

export const emptyLanes = () => ({ target: [], draft: [] });

const shared = (one, other, from = -Infinity, to = Infinity) =>
  Math.max(0, Math.min(one.end, other.end, to) - Math.max(one.start, other.start, from));

// How long a span and the last ones of a lane are busy at once.
function sharedWithLast(span, lane) {
  let sum = 0;
  for (let at = lane.length - 1; at >= 0 && lane[at].end > span.start; at--) sum += shared(span, lane[at]);
  return sum;
}

// Adds an iteration's spans, and returns for how long they overlap the other lane's. A draft step may have begun many
// iterations before the one that its result came with.
export function addSpans(lanes, { target, draft }, position) {
  const { start, end, rows } = target;
  let both = sharedWithLast(target, lanes.draft);
  lanes.target.push({ start, end, size: rows, position });
  for (const step of draft) {
    both += sharedWithLast(step, lanes.target);
    lanes.draft.push({ start: step.start, end: step.end, size: step.tokens, position });
  }
  return both;
}

// The first that ends at this time or later, of what is in the order of its ends.
export const iterationEndingAt = (iterations, time) => firstSo(iterations.length, (at) => iterations[at].sync >= time);
const spanEndingAt = (lane, time) => firstSo(lane.length, (at) => lane[at].end >= time);

// Calls back with each span of a lane that has a part between two times.
export function eachBetween(lane, from, to, tell) {
  for (let at = spanEndingAt(lane, from); lane[at]?.start <= to; at++) tell(lane[at]);
}

// Seconds between two times in which the target, the draft, and both at once are busy.
export function busyBetween({ target, draft }, from, to) {
  const busy = { target: 0, draft: 0, both: 0 };
  eachBetween(target, from, to, (span) => { busy.target += shared(span, span, from, to); });
  let first = spanEndingAt(target, from);
  eachBetween(draft, from, to, (step) => {
    busy.draft += shared(step, step, from, to);
    while (target[first]?.end <= step.start) first++;
    for (let at = first; target[at]?.start < step.end; at++) busy.both += shared(target[at], step, from, to);
  });
  return busy;
}
