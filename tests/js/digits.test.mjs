import assert from 'node:assert/strict';
import { lossCurve } from '../../examples/digits/curve.mjs';
import { batchOf, DigitsError, parseDigits, PIXELS } from '../../examples/digits/data.mjs';
import { randomNumbers, shuffle } from '../../examples/digits/random.mjs';
import { Training } from '../../examples/digits/training.mjs';
import { engine, isPage } from './engine.mjs';

async function digitsText() {
  if (isPage) {
    const { body } = await fetch('/examples/data/digits.csv.gz');
    return new Response(body.pipeThrough(new DecompressionStream('gzip'))).text();
  }
  const [{ readFileSync }, { gunzipSync }] = await Promise.all([import('node:fs'), import('node:zlib')]);
  return gunzipSync(readFileSync(new URL('../../examples/data/digits.csv.gz', import.meta.url))).toString();
}

describe('the digits example', () => {
  let text;
  before(async () => (text = await digitsText()));

  it('splits 1,797 digits into 1,348 to learn from and 449 to be tested with', () => {
    const { training, testing } = parseDigits(text);
    assert.deepEqual([training.count, testing.count], [1348, 449]);
    const rows = text
      .trim()
      .split('\n')
      .map((line) => line.split(',').map(Number));
    assert.equal(testing.labels[2], rows[11][64]);
    assert.equal(training.labels[3], rows[4][64]);
    assert.deepEqual(
      [...testing.pixels.subarray(0, PIXELS)],
      rows[3].slice(0, 64).map((value) => value / 16),
    );
  });

  it('says what is wrong with a file', () => {
    const lines = text.split('\n');
    const broken = (row, line) => lines.map((old, i) => (i === row ? line : old)).join('\n');
    const refused = [
      [text.slice(0, text.length / 2), /row \d+ has \d+ values, not 65.*cut off/],
      ['', /row 1 has 1 values/],
      [lines.slice(0, 50).join('\n'), /only 50 digits/],
      [broken(4, lines[4].replace(/\d+$/, 'x')), /row 5, label: 'x'/],
      [broken(4, lines[4].replace(/^\d+/, '17')), /row 5, pixel 1: '17'/],
      [broken(4, lines[4].replace(/^\d+/, '-1')), /row 5, pixel 1/],
      [broken(4, `${lines[4]},1`), /row 5 has 66 values/],
      ['<!doctype html>', /row 1 has 1 values/],
    ];
    for (const [bad, message] of refused)
      assert.throws(
        () => parseDigits(bad),
        (error) => error instanceof DigitsError && message.test(error.message),
        String(message),
      );
  });

  it('draws batches, and moves digits by at most a pixel', () => {
    const set = { count: 1, pixels: new Float32Array(PIXELS), labels: Int32Array.of(7) };
    set.pixels[3 * 8 + 4] = 1;
    const plain = batchOf(set, [0, 0]);
    assert.deepEqual(
      [plain.labels, plain.pixels.indexOf(1), plain.pixels.lastIndexOf(1)],
      [Int32Array.of(7, 7), 28, 64 + 28],
    );
    const random = randomNumbers(3);
    const places = new Set(
      Array.from({ length: 200 }, () => batchOf(set, [0], { shifted: 1, random }).pixels.indexOf(1)),
    );
    assert.deepEqual(
      [...places].sort((a, b) => a - b),
      [19, 20, 21, 27, 28, 29, 35, 36, 37],
    );
  });

  it('has random numbers that repeat and are spread evenly', () => {
    const [a, b] = [randomNumbers(5), randomNumbers(5)];
    const numbers = Array.from({ length: 4000 }, a);
    assert.deepEqual(numbers, Array.from({ length: 4000 }, b));
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = numbers.filter((value) => Math.floor(value * 10) === tenth).length;
      assert.ok(Math.abs(share - 400) < 5 * Math.sqrt(400 * 0.9), `${share} in tenth ${tenth}`);
    }
    assert.deepEqual(shuffle([1, 2, 3, 4, 5], a).sort(), [1, 2, 3, 4, 5]);
  });

  it('draws the loss, lower where it is smaller', () => {
    const svg = lossCurve([1, 0.1, 0.01]);
    const points = /points="([^"]+)"/
      .exec(svg)[1]
      .split(' ')
      .map((point) => point.split(',').map(Number));
    assert.equal(points.length, 3);
    assert.ok(points[0][1] < points[1][1] && points[1][1] < points[2][1]);
    assert.ok(Math.abs(points[2][1] - points[1][1] - (points[1][1] - points[0][1])) < 0.2); // a power of ten is as high everywhere
  });

  it('learns to recognise at least 97 % of the test digits', async () => {
    const tf = await engine();
    const before = tf.memory();
    for (const seed of [1, 2]) {
      const training = new Training(tf, parseDigits(text), { seed });
      const started = performance.now();
      const states = [];
      while (!training.finished) states.push(await training.runEpoch());
      const seconds = (performance.now() - started) / 1000;
      const accuracy = await training.test();
      assert.ok(accuracy >= 0.97, `seed ${seed}: ${accuracy}`);
      assert.ok(states.at(-1).loss < states[0].loss / 5);
      assert.ok(seconds < 20, `${seconds} s`);
      await training.close();
    }
    assert.equal(tf.memory().graphs, before.graphs);
  });
});
