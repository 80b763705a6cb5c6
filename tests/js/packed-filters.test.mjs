// A constant filter is packed once, in the first step, and serves images of all sizes.
import assert from 'node:assert/strict';
import { init } from '../../npm/dist/index.js';
import { hostVariants, withGraph } from './engine.mjs';

const FILTER = [3, 3, 4, 6]; // rows, columns, channels of the image, channels of its convolution
const STRIDE = 2;

/** Small whole numbers, whose sums are exact. */
const numbers = (count, step) => Float32Array.from({ length: count }, (_, i) => ((i * step) % 7) - 3);
const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** The places at which the tap of a window of size `filter` lies, with the padding SAME. */
function axis(size) {
  const out = Math.ceil(size / STRIDE);
  const before = Math.floor(Math.max((out - 1) * STRIDE + FILTER[0] - size, 0) / 2);
  return { size, out, at: (place, tap) => place * STRIDE - before + tap };
}

/** Calls `each(pixel of the image, pixel of its convolution, tap)` for all of them that meet. */
function forEachTap(rows, columns, each) {
  for (let r = 0; r < rows.out; r++)
    for (let c = 0; c < columns.out; c++)
      for (let tap = 0; tap < FILTER[0] * FILTER[1]; tap++) {
        const row = rows.at(r, Math.floor(tap / FILTER[1]));
        const column = columns.at(c, tap % FILTER[1]);
        if (row < 0 || row >= rows.size || column < 0 || column >= columns.size) continue;
        each(row * columns.size + column, r * columns.out + c, tap);
      }
}

/** The convolution of an image with `groups` groups of channels, by its definition. */
function convolution(rows, columns, image, filter, groups) {
  const [, , depth, outputs] = FILTER;
  const y = new Float32Array(rows.out * columns.out * outputs);
  forEachTap(rows, columns, (pixel, place, tap) => {
    for (let o = 0; o < outputs; o++)
      for (let d = 0; d < depth; d++) {
        const channel = Math.floor(o / (outputs / groups)) * depth + d;
        y[place * outputs + o] +=
          image[pixel * depth * groups + channel] * filter[(tap * depth + d) * outputs + o];
      }
  });
  return y;
}

/** The transposed convolution of dy, by its definition. */
function transposed(rows, columns, dy, filter) {
  const [, , depth, outputs] = FILTER;
  const dx = new Float32Array(rows.size * columns.size * depth);
  forEachTap(rows, columns, (pixel, place, tap) => {
    for (let o = 0; o < outputs; o++)
      for (let d = 0; d < depth; d++)
        dx[pixel * depth + d] += dy[place * outputs + o] * filter[(tap * depth + d) * outputs + o];
  });
  return dx;
}

for (const variant of hostVariants()) {
  describe(`packed filters in the build ${variant}`, () => {
    let tf;
    before(async () => (tf = await init({ variant })));
    const sizes = [1, 2, 5, 8, 13];
    const attrs = { strides: [1, STRIDE, STRIDE, 1], padding: 'SAME' };
    const filter = numbers(sizeOf(FILTER), 3);

    it('of a transposed convolution', () =>
      withGraph(tf, async (g, session) => {
        const [shape, dy] = [
          g.placeholder('int32', [4]),
          g.placeholder('float32', [1, null, null, FILTER[3]]),
        ];
        const dx = g.conv2DBackpropInput(shape, g.constant(tf.tensor(filter, FILTER)), dy, attrs);
        for (const height of sizes)
          for (const width of sizes) {
            const [rows, columns] = [axis(height), axis(width)];
            const values = numbers(rows.out * columns.out * FILTER[3], 5);
            const result = await session.run(dx, {
              [shape.name]: [1, height, width, FILTER[2]],
              [dy.name]: tf.tensor(values, [1, rows.out, columns.out, FILTER[3]]),
            });
            assert.deepEqual(result.data, transposed(rows, columns, values, filter), `${height} x ${width}`);
          }
      }));

    for (const groups of [1, 2, 3])
      it(`of a convolution with ${groups} groups of channels`, () =>
        withGraph(tf, async (g, session) => {
          const channels = FILTER[2] * groups;
          const x = g.placeholder('float32', [1, null, null, channels]);
          const y = g.conv2D(x, g.constant(tf.tensor(filter, FILTER)), attrs);
          for (const height of sizes)
            for (const width of sizes) {
              const [rows, columns] = [axis(height), axis(width)];
              const values = numbers(height * width * channels, 5);
              const result = await session.run(y, {
                [x.name]: tf.tensor(values, [1, height, width, channels]),
              });
              assert.deepEqual(
                result.data,
                convolution(rows, columns, values, filter, groups),
                `${height} x ${width}`,
              );
            }
        }));
  });
}
