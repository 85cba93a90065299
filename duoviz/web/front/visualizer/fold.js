// Columns on several lines, as a text is that is longer than a line.

export const COLUMN_GAP = 26;

const [FIRST_LEFT, NEXT_LEFT] = [2, COLUMN_GAP + 2];
const CLOSE_ENOUGH = 4;

// For each column its line and its left edge, with as many on a line as this width allows.
export function fillLines(widths, most) {
  let [line, left] = [0, FIRST_LEFT];
  return widths.map((width) => {
    if (left > NEXT_LEFT && left + width > most) [line, left] = [line + 1, NEXT_LEFT];
    const place = { line, left };
    left += width + COLUMN_GAP;
    return place;
  });
}

// The same with the narrowest lines, of which there may be so many.
export function foldColumns(widths, lines) {
  let [low, high] = [0, widths.reduce((sum, width) => sum + width + COLUMN_GAP, NEXT_LEFT)];
  while (high - low > CLOSE_ENOUGH) {
    const middle = (low + high) / 2;
    if (fillLines(widths, middle).at(-1).line < lines) high = middle;
    else low = middle;
  }
  return fillLines(widths, high);
}

// How many lines make a drawing as large as can be, and no more than are needed for the scale `enough`. scaleOn(lines):
// its scale on so many.
export function bestLines(most, scaleOn, enough) {
  let [best, scale] = [1, scaleOn(1)];
  for (let lines = 2; lines <= most && scale < enough; lines++) {
    const next = scaleOn(lines);
    if (next > scale) [best, scale] = [lines, next];
  }
  return best;
}
