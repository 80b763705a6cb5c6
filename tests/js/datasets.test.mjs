// Datasets as operations of a graph that is built here: their elements arrive in order, and an end is an error of its own.
import assert from 'node:assert/strict';
import { engine, withGraph } from './engine.mjs';

const ELEMENTS = [
  [1, 2],
  [3, 4],
  [5, 6],
];

describe('datasets', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });

  const kinds = (dtype, shape) => ({ output_types: [dtype], output_shapes: [shape] });

  const slices = (graph, values, shape) =>
    graph.op('TensorSliceDataset', [[values]], {
      attrs: { Toutput_types: ['float32'], output_shapes: [shape] },
    });

  /** The operations that begin to go through a dataset, and that give the next element. */
  function iterate(graph, dataset, attrs) {
    const iterator = graph.op('IteratorV2', [], { attrs: { shared_name: '', container: '', ...attrs } });
    return {
      start: graph.op('MakeIterator', [dataset.output(0), iterator.output(0)]),
      next: graph.op('IteratorGetNext', [iterator.output(0)], { attrs }).output(0),
    };
  }

  /** All elements up to the end. */
  async function elementsOf(session, { start, next }) {
    await session.run([], [], { targets: [start] });
    const found = [];
    for (;;)
      try {
        found.push((await session.run(next)).array());
      } catch (error) {
        assert.equal(error.code, 'OUT_OF_RANGE');
        return found;
      }
  }

  it('give the slices of a tensor, again and again', () =>
    withGraph(tf, async (graph, session) => {
      const way = iterate(graph, slices(graph, ELEMENTS, [2]), kinds('float32', [2]));
      for (let round = 0; round < 2; round++) assert.deepEqual(await elementsOf(session, way), ELEMENTS);
    }));

  it('give the slices of a tensor that is fed', () =>
    withGraph(tf, async (graph, session) => {
      const x = graph.placeholder('float32', [null]);
      const { start, next } = iterate(graph, slices(graph, x, []), kinds('float32', []));
      await session.run([], [[x, [7, 8]]], { targets: [start] });
      assert.equal((await session.run(next)).item(), 7);
      assert.equal((await session.run(next)).item(), 8);
      await assert.rejects(session.run(next), (error) => error.code === 'OUT_OF_RANGE');
    }));

  it('make batches, the last of which is smaller', () =>
    withGraph(tf, async (graph, session) => {
      const attrs = kinds('float32', [null, 2]);
      const source = slices(graph, ELEMENTS, [2]).output(0);
      const batches = graph.op('BatchDatasetV2', [source, 2n, false], { attrs });
      const found = await elementsOf(session, iterate(graph, batches, attrs));
      assert.deepEqual(found, [ELEMENTS.slice(0, 2), ELEMENTS.slice(2)]);
    }));

  it('count', () =>
    withGraph(tf, async (graph, session) => {
      const attrs = kinds('int64', []);
      const found = await elementsOf(
        session,
        iterate(graph, graph.op('RangeDataset', [2n, 11n, 3n], { attrs }), attrs),
      );
      assert.deepEqual(found, [2n, 5n, 8n]);
    }));

  it('that nobody has begun to go through are refused', () =>
    withGraph(tf, async (graph, session) => {
      const { next } = iterate(graph, slices(graph, ELEMENTS, [2]), kinds('float32', [2]));
      await assert.rejects(session.run(next), (error) => error.code === 'FAILED_PRECONDITION');
    }));

  it('feed a training that ends with them', () =>
    withGraph(tf, async (graph, session) => {
      const way = iterate(graph, slices(graph, [1, 2, 3], []), kinds('float32', []));
      const w = graph.variable(0);
      const loss = graph.square(graph.sub(w, way.next));
      const step = new tf.train.GradientDescentOptimizer(0.5).minimize(loss);
      await session.run(graph.initializer());
      await session.run([], [], { targets: [way.start] });
      /* The slope is 2 (w - x), so that each step sets w to x. */
      for (const x of [1, 2, 3]) {
        await session.run(step);
        assert.equal((await session.run(w)).item(), x);
      }
      await assert.rejects(session.run(step), (error) => error.code === 'OUT_OF_RANGE');
      assert.equal((await session.run(w)).item(), 3);
    }));
});
