// The digits training set in minibatches, and the initial weights of the network.

/** Numbers in [-1, 1), the same in every run. */
export function numbers(count, seed) {
  const values = new Float32Array(count);
  let state = seed >>> 0;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = state / 2 ** 31 - 1;
  }
  return values;
}

export const BATCH = 64;
export const PIXELS = 64;
export const HIDDEN = 128;
export const CLASSES = 10;

/**
 * { pixels, labels, oneHot } of each whole minibatch in digits.csv.gz: lines of 64 pixels from 0 to 16, then
 * the class.
 */
export async function digitBatches(compressed) {
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const rows = (await new Response(stream).text())
    .trim()
    .split('\n')
    .map((line) => line.split(',').map(Number));
  const batches = [];
  for (let first = 0; first + BATCH <= rows.length; first += BATCH) {
    const batch = rows.slice(first, first + BATCH);
    const oneHot = new Float32Array(BATCH * CLASSES);
    batch.forEach((row, i) => (oneHot[i * CLASSES + row[PIXELS]] = 1));
    batches.push({
      pixels: Float32Array.from(batch.flatMap((row) => row.slice(0, PIXELS).map((pixel) => pixel / 16))),
      labels: Int32Array.from(batch, (row) => row[PIXELS]),
      oneHot,
    });
  }
  return batches;
}

/** Weights and biases: [data, shape] of each. */
export function initialWeights() {
  const layer = (rows, columns, seed) => [
    numbers(rows * columns, seed).map((x) => x * Math.sqrt(6 / (rows + columns))),
    [rows, columns],
  ];
  return {
    w1: layer(PIXELS, HIDDEN, 1),
    b1: [new Float32Array(HIDDEN), [HIDDEN]],
    w2: layer(HIDDEN, CLASSES, 2),
    b2: [new Float32Array(CLASSES), [CLASSES]],
  };
}
