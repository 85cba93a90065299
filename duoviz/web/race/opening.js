// The recorded race that the tab opens with.

import { fetchRecording } from "../visualizer/opening.js";

// Slow enough for the eye to follow both texts.
const RACE_OPENING_SPEED = 0.5;

// The events of a race told of by `web/race.py`: {lanes, recordings: an address for each, result}; none where a recording
// cannot be had.
export async function recordedEvents({ lanes, recordings, result }, root) {
  const traces = await Promise.all(recordings.map((address) => fetchRecording(encodeURI(`${root}${address}`))));
  if (traces.some((trace) => !trace)) return [];
  const told = traces.flatMap(({ header, iterations, end }, place) => [
    { type: "header", header }, ...iterations.map((iteration) => ({ type: "iteration", iteration })), { type: "end", end },
  ].map((event) => ({ type: "lane", lane: lanes[place].name, repeat: 0, event })));
  return [{ type: "lanes", lanes, repeats: 1, recorded: true }, ...told, { type: "end", result, speed: RACE_OPENING_SPEED }];
}
