// Loops over the rows of a tensor, which become one node: recurrent cells.
import assert from 'node:assert/strict';
import { engine, isHere, withGraph } from './engine.mjs';

const ROUNDS = 7;
/** Cells of few units, and of so many that threads share them; for one sequence, and for several. */
const SIZES = [
  { batch: 1, units: 5 },
  { batch: 1, units: 192 },
  { batch: 3, units: 5 },
  { batch: 8, units: 192 },
];

/** Numbers in [-0.5, 0.5) that look random, and are the same in each run. */
function numbers(count, seed) {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 2 ** 24 - 0.5;
  });
}

/** h = tanh(x + h w), in double: what h is in all rounds, for each sequence. */
function rowsOf(x, w, { batch, units }) {
  let all = new Float64Array(batch * units);
  const rows = [];
  for (let t = 0; t < ROUNDS; t++) {
    all = all.map((_, i) => {
      const [first, j] = [i - (i % units), i % units];
      const h = all.subarray(first, first + units);
      return Math.tanh(h.reduce((sum, value, k) => sum + value * w[k * units + j], x[t * batch * units + i]));
    });
    rows.push(...all);
  }
  return rows;
}

function checkRows([all, last], expected, { batch, units }) {
  assert.deepEqual(all.shape, [ROUNDS, batch, units]);
  assert.deepEqual(last.shape, [batch, units]);
  const wrong = all.data.findIndex((value, i) => !(Math.abs(value - expected[i]) < 1e-5));
  assert.equal(wrong, -1, `element ${wrong}: ${all.data[wrong]}, not ${expected[wrong]}`);
  assert.deepEqual(last.data, all.data.slice(-batch * units));
}

describe('a loop over the rows of a tensor', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** All rows, and the last one. */
  function recurrence(g, x, w, { batch, units }) {
    const int = (value) => g.constant(value, { dtype: 'int32' });
    const shape = g.constant([batch, units], { dtype: 'int32' });
    const list = g.tensorListFromTensor(x, shape);
    const [, last, all] = g.whileLoop(
      (i) => g.less(i, int(ROUNDS)),
      (i, h, rows) => {
        const item = g.tensorListGetItem(list, i, g.constant([batch, units], { dtype: 'int32' }), {
          elementDtype: 'float32',
        });
        const y = g.tanh(g.add(g.matMul(h, w), item));
        return [g.add(i, int(1)), y, g.tensorListSetItem(rows, i, y)];
      },
      [int(0), g.fill(shape, 0), g.tensorListReserve(shape, int(ROUNDS), { elementDtype: 'float32' })],
    );
    return [g.tensorListStack(all, shape, { elementDtype: 'float32', numElements: ROUNDS }), last];
  }

  async function opsOf(session, fetches, feeds) {
    const trace = new tf.Trace();
    await session.run(fetches, feeds, { trace });
    return trace.records.map(({ op }) => op);
  }

  for (const { batch, units } of SIZES) {
    it(`computes its formula for ${batch} times ${units} units, as one node`, () =>
      withGraph(tf, async (g, session) => {
        const data = {
          x: numbers(ROUNDS * batch * units, 1),
          w: numbers(units * units, 2).map((v) => v / 8),
        };
        const x = g.placeholder('float32', [ROUNDS, batch, units], { name: 'x' });
        const w = g.placeholder('float32', [units, units], { name: 'w' });
        const fetches = recurrence(g, x, w, { batch, units });
        const feeds = {
          x: tf.tensor(data.x, [ROUNDS, batch, units]),
          w: tf.tensor(data.w, [units, units]),
        };
        const expected = rowsOf(data.x, data.w, { batch, units });
        for (let run = 0; run < 3; run++) {
          checkRows(await session.run(fetches, feeds), expected, { batch, units });
        }
        if (!isHere) return;
        assert.deepEqual(await opsOf(session, fetches, feeds), ['_FusedRecurrence[_FusedMatMul[Add,Tanh]]']);
      }));

    it(`computes both directions of ${batch} times ${units} units, as one node if there are threads`, () =>
      withGraph(tf, async (g, session) => {
        const w = numbers(units * units, 2).map((v) => v / 8);
        const directions = ['x', 'y'].map((name, i) => ({
          name,
          rows: numbers(ROUNDS * batch * units, 3 + i),
        }));
        const weights = g.placeholder('float32', [units, units], { name: 'w' });
        const fetches = [];
        const feeds = { w: tf.tensor(w, [units, units]) };
        for (const { name, rows } of directions) {
          const x = g.placeholder('float32', [ROUNDS, batch, units], { name });
          fetches.push(...recurrence(g, x, weights, { batch, units }));
          feeds[name] = tf.tensor(rows, [ROUNDS, batch, units]);
        }
        for (let run = 0; run < 3; run++) {
          const results = await session.run(fetches, feeds);
          directions.forEach(({ rows }, i) =>
            checkRows(results.slice(2 * i), rowsOf(rows, w, { batch, units }), { batch, units }),
          );
        }
        if (!isHere) return;
        const cell = '_FusedMatMul[Add,Tanh]';
        assert.deepEqual(
          await opsOf(session, fetches, feeds),
          tf.threads > 1
            ? [`_FusedRecurrence[${cell},${cell}]`]
            : [`_FusedRecurrence[${cell}]`, `_FusedRecurrence[${cell}]`],
        );
      }));
  }
});
