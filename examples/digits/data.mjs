// The digits: reading the CSV, splitting it, drawing batches from it.

export const SIDE = 8;
export const PIXELS = SIDE * SIDE;
export const CLASSES = 10;
/** The largest value of a pixel in the file. */
export const INK = 16;

const FEWEST = 100;

/** An error in a digits file. */
export class DigitsError extends Error {
  name = 'DigitsError';
}

/** An empty set with space for `count` digits: pixels scaled to 0..1, row after row. */
const emptySet = (count) => ({
  count,
  pixels: new Float32Array(count * PIXELS),
  labels: new Int32Array(count),
});

function parseRow(line, number) {
  const values = line.split(',');
  if (values.length !== PIXELS + 1) {
    throw new DigitsError(
      `row ${number} has ${values.length} values, not ${PIXELS + 1} (${PIXELS} pixels and a label): is the file cut off?`,
    );
  }
  return values.map((text, column) => {
    const largest = column < PIXELS ? INK : CLASSES - 1;
    if (!/^\d{1,2}$/.test(text) || Number(text) > largest) {
      throw new DigitsError(
        `row ${number}, ${column < PIXELS ? `pixel ${column + 1}` : 'label'}: '${text}' is no whole number from 0 to ${largest}`,
      );
    }
    return Number(text);
  });
}

/**
 * Reads the text of a digits file: one digit a line, 64 pixels 0..16 and the label. Every fourth digit (index
 * % 4 = 3) is for testing. Returns { training, testing }, each { count, pixels, labels }.
 */
export function parseDigits(text) {
  const rows = text
    .trimEnd()
    .split(/\r?\n/)
    .map((line, i) => parseRow(line, i + 1));
  if (rows.length < FEWEST)
    throw new DigitsError(`only ${rows.length} digits: at least ${FEWEST} are needed`);
  const isTest = (index) => index % 4 === 3;
  const take = (wanted) => {
    const chosen = rows.filter((_, i) => isTest(i) === wanted);
    const set = emptySet(chosen.length);
    chosen.forEach((row, i) => {
      for (let p = 0; p < PIXELS; p++) set.pixels[i * PIXELS + p] = row[p] / INK;
      set.labels[i] = row[PIXELS];
    });
    return set;
  };
  return { training: take(false), testing: take(true) };
}

/** Copies the digits at `indices`, each moved by up to one pixel with probability `shifted`. */
export function batchOf(set, indices, { shifted = 0, random } = {}) {
  const batch = emptySet(indices.length);
  indices.forEach((index, i) => {
    batch.labels[i] = set.labels[index];
    const digit = set.pixels.subarray(index * PIXELS, (index + 1) * PIXELS);
    const place = batch.pixels.subarray(i * PIXELS, (i + 1) * PIXELS);
    if (shifted > 0 && random() < shifted)
      shiftInto(place, digit, Math.floor(random() * 3) - 1, Math.floor(random() * 3) - 1);
    else place.set(digit);
  });
  return batch;
}

function shiftInto(place, digit, right, down) {
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const [fromX, fromY] = [x - right, y - down];
      const inside = fromX >= 0 && fromX < SIDE && fromY >= 0 && fromY < SIDE;
      place[y * SIDE + x] = inside ? digit[fromY * SIDE + fromX] : 0;
    }
  }
}
