// Feeds and results of quantised dtypes.
import assert from 'node:assert/strict';
import { engine, isClose, withGraph } from './engine.mjs';

const VALUES = {
  qint8: Int8Array.of(-128, -1, 0, 127),
  quint8: Uint8Array.of(0, 1, 128, 255),
  qint32: Int32Array.of(-(2 ** 31), -5, 0, 2 ** 31 - 1),
};

describe('quantised dtypes', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });

  for (const [dtype, data] of Object.entries(VALUES)) {
    it(`are fed and returned: ${dtype}`, () =>
      withGraph(tf, async (graph, session) => {
        const x = graph.placeholder(dtype, [null]);
        const found = await session.run(graph.identity(x), new Map([[x, tf.tensor(data, [4], dtype)]]));
        assert.equal(found.dtype, dtype);
        assert.deepEqual(found.data, data);
      }));

    it(`have the bits of whole numbers: ${dtype}`, () =>
      withGraph(tf, async (graph, session) => {
        const x = graph.placeholder(dtype, [4]);
        const type = dtype.slice(1);
        const bits = graph.op('Bitcast', [x], { attrs: { type } }).output(0);
        const found = await session.run(bits, new Map([[x, tf.tensor(data, [4], dtype)]]));
        assert.equal(found.dtype, type);
        assert.deepEqual(found.data, data);
      }));
  }

  /* MIN_COMBINED divides the range into 255 steps; the numbers of qint8 begin at -128. */
  for (const [dtype, lowest] of [
    ['qint8', -128],
    ['quint8', 0],
  ])
    it(`stand for numbers of a range: ${dtype}`, () =>
      withGraph(tf, async (graph, session) => {
        const x = graph.placeholder(dtype, [4]);
        const y = graph.op('Dequantize', [x, -2, 3], { attrs: { mode: 'MIN_COMBINED' } }).output(0);
        const found = await session.run(y, new Map([[x, tf.tensor(VALUES[dtype], [4], dtype)]]));
        const wanted = [...VALUES[dtype]].map((value) => -2 + ((value - lowest) * 5) / 255);
        assert.ok(isClose(found.data, wanted), `${found.data} not ${wanted}`);
      }));

  it('are multiplied as whole numbers, with a range of the products', () =>
    withGraph(tf, async (graph, session) => {
      const [a, b] = [graph.placeholder('quint8', [1, 2]), graph.placeholder('quint8', [2, 2])];
      const product = graph.op('QuantizedMatMul', [a, b, 0, 255, 0, 255], {
        attrs: { Toutput: 'qint32', T1: 'quint8', T2: 'quint8' },
      });
      const feeds = new Map([
        [a, tf.tensor(Uint8Array.of(3, 200), [1, 2], 'quint8')],
        [b, tf.tensor(Uint8Array.of(1, 2, 255, 4), [2, 2], 'quint8')],
      ]);
      const [sums, least, most] = await session.run(
        [0, 1, 2].map((i) => product.output(i)),
        feeds,
      );
      assert.equal(sums.dtype, 'qint32');
      assert.deepEqual([...sums.data], [3 + 200 * 255, 6 + 800]);
      /* One step of either input is 1, so that one step of the product is 1, too. */
      assert.ok(isClose([least.item(), most.item()], [-(2 ** 31), 2 ** 31], 1e-6));
    }));

  it('are not confused with each other', () =>
    withGraph(tf, async (graph, session) => {
      const x = graph.placeholder('qint8', [4]);
      const feeds = new Map([[x, tf.tensor(VALUES.quint8, [4], 'quint8')]]);
      await assert.rejects(
        session.run(graph.identity(x), feeds),
        (error) => error.code === 'INVALID_ARGUMENT',
      );
    }));
});
