import assert from 'node:assert/strict';
import { pixelsOf } from '../../web/demo/digits/strokes.mjs';

const ROWS = [0, 1, 2, 3, 4, 5, 6, 7];
const column = (pixels, x) => ROWS.map((y) => pixels[8 * y + x]);

describe('strokes of a pen as 8x8 pixels', () => {
  it('are nothing without strokes', () => {
    assert.deepEqual(pixelsOf([]), new Float32Array(64));
    assert.deepEqual(pixelsOf([[]]), new Float32Array(64));
  });

  it('count the ink of 4x4 bits, 0 to 16', () => {
    const pixels = pixelsOf([
      [
        [0.1, 0.1],
        [0.9, 0.9],
      ],
      [
        [0.9, 0.1],
        [0.1, 0.9],
      ],
    ]);
    for (const value of pixels) assert.ok(value >= 0 && value <= 1 && Number.isInteger(value * 16));
    assert.ok(pixels[0] > 0 && pixels[7] > 0 && pixels[56] > 0 && pixels[63] > 0);
  });

  it('fill the height, in the middle, wherever and however large they were drawn', () => {
    const line = (x, top, bottom) =>
      pixelsOf([
        [
          [x, top],
          [x, bottom],
        ],
      ]);
    const large = line(0.5, 0.05, 0.95);
    assert.deepEqual(line(0.1, 0.4, 0.6), large);
    assert.ok([...column(large, 3), ...column(large, 4)].every((value) => value > 0));
    assert.deepEqual(column(large, 3), column(large, 4));
    for (const x of [0, 1, 2, 5, 6, 7])
      assert.deepEqual(column(large, x), new Array(8).fill(0), `column ${x}`);
  });

  it('keep their proportions: a line that lies fills the width', () => {
    const pixels = pixelsOf([
      [
        [0.2, 0.7],
        [0.8, 0.7],
      ],
    ]);
    assert.ok(ROWS.every((x) => column(pixels, x)[3] > 0 && column(pixels, x)[0] === 0));
  });

  it('take a dot for a dot', () => {
    const pixels = pixelsOf([[[0.9, 0.2]]]);
    assert.ok(pixels.filter((value) => value > 0).length <= 4 && pixels[27] > 0);
  });
});
