// A race's files: saving and opening it, and its film.

import { MAX_FILE_BYTES } from "../visualizer/check.js";
import { el, menu, section, setText, svg, textButton } from "../visualizer/dom.js";
import { fileName, save, savedAs } from "../visualizer/export.js";
import { createOpener, json } from "../visualizer/files.js";
import { createBackstage, createFilming, SLIDE } from "../visualizer/film.js";
import { colorOf } from "../visualizer/methods.js";
import { boxOf, createSheet, finished, placed, stroke, titleNodes } from "../visualizer/picture.js";
import { duration, fixed, known, visible } from "../visualizer/words.js";
import { countersOf, standing } from "./column.js";
import { createCurves } from "./curves.js";
import { headlineOf } from "./finish.js";
import { advanceClock, canReplay, endOf, hasEnded, placeSides, sidesOf } from "./model.js";
import { csvOf, raceOf, readRace } from "./race_file.js";

const FINISH_SECONDS = 2;
const [EDGE_SPACE, COLUMN_SPACE, NAME_TOP, COUNT_TOP, TEXT_TOP, TEXT_LINES] = [32, 32, 92, 132, 150, 9];
const [TEXT_STYLE, TEXT_ROW] = [{ size: 16 }, 25];
const HEADLINE = { size: 20, weight: 600 };
const FULL_WIDTH = SLIDE.width - 2 * EDGE_SPACE;
const COLUMN_WIDTH = (FULL_WIDTH - COLUMN_SPACE) / 2;
const DASHES = [{}, { "stroke-dasharray": "7 3" }];

const filmSeconds = (race) => endOf(race) / race.speed + FINISH_SECONDS;

const textOf = ({ state }) => state.iterations.slice(0, state.shown + 1).flatMap(({ committed }) => committed.map(({ text }) => text)).join("");

function counterNodes(sheet, counters, { x, y }) {
  let left = x;
  return counters.flatMap(([value, unit]) => {
    const [large, small] = [{ size: 28, weight: 650 }, { size: 15, paint: "subdued" }];
    const from = left + sheet.widthOf(value, large) + 6;
    const nodes = [sheet.line(value, { x: left, y, ...large }), sheet.line(unit, { x: from, y, ...small })];
    left = from + sheet.widthOf(unit, small) + 20;
    return nodes;
  });
}

function sideNodes(sheet, race, lane, place) {
  const x = EDGE_SPACE + place * (COLUMN_WIDTH + COLUMN_SPACE);
  const { tokens, tps, seconds } = countersOf(race, lane);
  const phi = hasEnded(race) ? race.result.lanes[place].figures?.phi : null;
  const speedUp = known(phi) ? [[`φ ${fixed(phi, 2)}`, ""]] : [];
  const inside = { x: x + 12, width: COLUMN_WIDTH - 24 };
  const lines = sheet.wrapped(visible(textOf(lane)), inside.width, TEXT_STYLE).slice(-TEXT_LINES);
  return [
    stroke(colorOf(lane.method), { x1: x, x2: x + 34, y1: NAME_TOP - 7, y2: NAME_TOP - 7, "stroke-width": 3, ...DASHES[place] }),
    sheet.line(lane.name, { x: x + 44, y: NAME_TOP, size: 22, weight: 600 }),
    sheet.line(standing(race, lane), { x: x + COLUMN_WIDTH, y: NAME_TOP, size: 18, weight: 600, paint: "accepted", anchor: "end" }),
    ...counterNodes(sheet, [[String(tokens), "tokens"], [fixed(tps, 1), "tokens/s"], [duration(seconds), ""], ...speedUp], { x, y: COUNT_TOP }),
    svg("rect", { x, y: TEXT_TOP, width: COLUMN_WIDTH, height: TEXT_LINES * TEXT_ROW + 14, rx: 8, fill: "none", stroke: sheet.paints.border }),
    ...lines.map((line, row) => sheet.line(line, { x: inside.x, y: TEXT_TOP + 24 + row * TEXT_ROW, ...TEXT_STYLE })),
  ];
}

function raceNodes(sheet, race, curves) {
  const sides = sidesOf(race);
  const header = sides.find(({ state }) => state.header).state.header;
  const [, , width, height] = boxOf(curves.drawing);
  const scale = FULL_WIDTH / width;
  const headTop = SLIDE.height - 20;
  return [
    ...titleNodes(sheet, sides.map(({ name }) => name).join(" against "), header, { x: EDGE_SPACE, y: 46, width: FULL_WIDTH, size: 22 }),
    ...sides.flatMap((lane, place) => sideNodes(sheet, race, lane, place)),
    placed(curves.drawing, { x: EDGE_SPACE, y: headTop - 28 - scale * height, scale }),
    sheet.line(sheet.fitted(headlineOf(race), FULL_WIDTH, HEADLINE), { x: EDGE_SPACE, y: headTop, ...HEADLINE }),
  ];
}

// The slides of a race that is over, at the speed of its replay; see film.js. What is shown on the page stays as it is.
function createRaceSlides(view, shown) {
  const lanes = shown.lanes.map((lane) => ({ ...lane, state: { ...lane.state } }));
  const race = { ...shown, lanes, clock: 0, playing: true };
  const curves = createCurves({ race, actions: {}, hoverTime() {} });
  curves.watch(() => {});
  const sheet = createSheet(view);
  let stood = 0;
  return {
    ...createBackstage(view, curves.node),
    part: () => (race.clock / race.speed + stood) / filmSeconds(race),
    next(elapsed) {
      if (stood >= FINISH_SECONDS) return null;
      if (hasEnded(race)) stood += elapsed;
      else advanceClock(race, elapsed);
      placeSides(race);
      curves.draw();
      return finished(sheet, raceNodes(sheet, race, curves), SLIDE);
    },
  };
}

const RACING = "A race is running: stop it, or open the file when it has ended.";
const STILL_RACING = "Filming would slow the race: film it when it has ended.";
const TOO_LARGE = `This race is larger than the ${MAX_FILE_BYTES / 1e6} MB limit: race with fewer rounds or fewer new tokens.`;
const LONGEST_FILM = 120;

function nameOf({ lanes }) {
  const { date } = lanes.find(({ state }) => state.header).state.header;
  return fileName({ method: `race-${sidesOf({ lanes }).map(({ method }) => method).join("-")}`, date });
}

// isBusy: whether events are still to come; showRace(race, file) and showOwn() show a file's race, and the one before.
export function createRaceFiles({ view, race, isBusy, hasOwn, showRace, showOwn }) {
  const message = el("p", { class: "dv-note dv-files-message", role: "status" });
  const tell = (text) => setText(message, text);
  const filming = createFilming(tell);
  let epoch = race.epoch;
  const refusal = () => (isBusy() ? RACING : null);
  const show = ({ race: found }, name) => {
    showRace(found, name);
    return "";
  };
  const opener = createOpener("Open race…", { root: view, kind: "race", read: readRace, refusal, show, tell });
  const filmed = textButton("Save as film", () => {
    if (isBusy()) return tell(STILL_RACING);
    const seconds = Math.ceil(filmSeconds(race));
    if (seconds > LONGEST_FILM) return tell(`At ${race.speed}× this race plays for ${seconds} seconds; a film has at most ${LONGEST_FILM}. Choose a higher speed.`);
    filmed.closest("details").open = false;
    return filming.film(() => createRaceSlides(view, race), `${nameOf(race)}.webm`, `Filming for ${seconds} seconds. Keep this page visible.`);
  });
  const saved = textButton("Save race", () => {
    const [blob, name] = [json(raceOf(race)), `${nameOf(race)}.duorace.json`];
    if (blob.size > MAX_FILE_BYTES) return tell(TOO_LARGE);
    save(blob, name);
    tell(savedAs(name));
  });
  const table = textButton("Save CSV", () => {
    save(new Blob([csvOf(race)], { type: "text/csv" }), `${nameOf(race)}.csv`);
    tell(savedAs(`${nameOf(race)}.csv`));
  });
  const back = textButton("Back to your race", showOwn);
  const tools = el("div", { class: "dv-tools" }, ...opener, saved, table, filmed);
  const hint = el("p", { class: "dv-note" }, "A race file (.duorace.json) holds every measured round; you can also drop one here. "
    + "A film (WebM) shows the race at the chosen speed, for slides, and takes that long to make.");
  return {
    node: section("files", "Files", message, filming.node, back, menu("race", "Files", tools, hint)),
    draw() {
      if (isBusy()) filming.stop();
      for (const button of [saved, table, filmed]) button.disabled = !canReplay(race) || !race.result;
      back.hidden = race.file === null || !hasOwn() || isBusy();
      if (epoch !== race.epoch) tell("");
      epoch = race.epoch;
    },
  };
}
