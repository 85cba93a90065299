// The recorded race that the tab opens with.

import { fetchRecording } from "../visualizer/opening.js";
import { eventsOfRace } from "./race_file.js";

// Slow enough for the eye to follow both texts.
const RACE_OPENING_SPEED = 0.5;

// The events of a race told of by `web/components.py`: {lanes, recordings: an address for each, result}; none where a
// recording cannot be had.
export async function recordedEvents({ lanes, recordings, result }) {
  const traces = await Promise.all(recordings.map(fetchRecording));
  if (traces.some((trace) => !trace)) return [];
  const told = traces.map((trace, place) => ({ lane: lanes[place].name, repeat: 0, trace }));
  return eventsOfRace({ lanes, repeats: 1, recordings: told, result }, { speed: RACE_OPENING_SPEED });
}
