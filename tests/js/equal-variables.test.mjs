// Loop variables that always have the same value are one; all others keep their values.
import assert from 'node:assert/strict';
import { engine, isHere, withGraph } from './engine.mjs';

const STARTS = [0, 1, 3];
/** How a round changes a variable, here and in a graph. */
const UPDATES = [
  { value: (v) => v + 1, node: (g, v) => g.add(v, g.constant(1, { dtype: 'int32' })) },
  { value: (v) => v + 2, node: (g, v) => g.add(v, g.constant(2, { dtype: 'int32' })) },
  { value: (v) => 2 * v - 1, node: (g, v) => g.sub(g.add(v, v), g.constant(1, { dtype: 'int32' })) },
  { value: (v, other) => other - v, node: (g, v, other) => g.sub(other, v) },
  { value: (v) => v, node: (g, v) => v },
];
const LIMITS = [4, 9];

/** Numbers that look random, and are the same in each run. */
function picker(seed) {
  let state = seed;
  return (list) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return list[(state >>> 16) % list.length];
  };
}

describe('loop variables', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** A loop of these variables; the first ones are compared with limits. */
  const loop = (g, variables, limits) =>
    g.whileLoop(
      (...values) =>
        limits
          .map((limit, i) => g.less(values[i], g.constant(limit, { dtype: 'int32' })))
          .reduce((a, b) => g.logicalAnd(a, b)),
      (...values) => variables.map(({ update }, i) => update.node(g, values[i], values.at(-1))),
      variables.map(({ start }) => g.constant(start, { dtype: 'int32' })),
    );

  function simulate(variables, limits) {
    let values = variables.map(({ start }) => start);
    while (limits.every((limit, i) => values[i] < limit))
      values = values.map((value, i) => variables[i].update.value(value, values.at(-1)));
    return values;
  }

  it('that change alike by chance, and others, have the values that they should have', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const pick = picker(seed);
      const count = pick([2, 3, 4, 5]);
      const variables = Array.from({ length: count }, (_, i) => ({
        start: pick(STARTS),
        update: i === 0 ? UPDATES[pick([0, 1])] : pick(UPDATES),
      }));
      const limits = pick([[pick(LIMITS)], [pick(LIMITS), pick(LIMITS)]]);
      await withGraph(tf, async (g, session) => {
        const results = await session.run(loop(g, variables, limits));
        assert.deepEqual(
          results.map(({ data }) => data[0]),
          simulate(variables, limits),
          `seed ${seed}`,
        );
      });
    }
  });

  (isHere ? it : it.skip)('that count the same rounds are counted and compared once', () =>
    withGraph(tf, async (g, session) => {
      const variables = [0, 0].map((start) => ({ start, update: UPDATES[0] }));
      const trace = new tf.Trace();
      const results = await session.run(loop(g, variables, [5, 5]), undefined, { trace });
      assert.deepEqual(
        results.map(({ data }) => data[0]),
        [5, 5],
      );
      const counts = {};
      for (const { op } of trace.records) counts[op] = (counts[op] ?? 0) + 1;
      assert.deepEqual([counts.Add ?? counts.AddV2, counts.Less, counts.LogicalAnd], [5, 6, undefined]);
    }),
  );
});
