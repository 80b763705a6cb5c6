import assert from 'node:assert/strict';
import { engine } from './engine.mjs';

describe('memory', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** The current use; allocations and the peak only grow. */
  const used = () => ({ ...tf.memory(), allocations: 0, peakBytes: 0 });

  /** Builds, trains, exports, fails, and frees. */
  async function live() {
    const g = new tf.Graph();
    const x = g.placeholder('float32', [null, 3], { name: 'x' });
    const w = g.variable([[1], [2], [3]]);
    const loss = g.mean(g.square(g.matMul(x, w)), [0, 1]);
    const step = new tf.train.AdamOptimizer(0.1).minimize(loss);
    const session = new tf.Session(g);
    await session.run(g.initializer());
    for (let i = 0; i < 3; i++)
      await session.run([loss, step], {
        x: [
          [1, 2, 3],
          [4, 5, 6 + i],
        ],
      });
    await assert.rejects(session.run(loss));
    await assert.rejects(session.run(loss, { x: [[1]] }));
    assert.throws(() => g.matMul(x, [1, 2]));
    assert.throws(() => g.importGraphDef(Uint8Array.of(1, 2, 3)));
    assert.throws(() => tf.FunctionDef.parse('F('));
    const made = g.toFunction('F', { inputs: [x], outputs: [loss] });
    const other = new tf.Graph();
    other.importGraphDef(await tf.freeze(session, [loss]), { prefix: 'frozen' });
    other.addFunction(tf.FunctionDef.parse(made.toText()));
    other.functions();
    other.dispose();
    await session.close();
    g.dispose();
  }

  it('is given back to the last byte', async () => {
    await live(); // ops and their definitions are made known once
    const before = used();
    for (let i = 0; i < 20; i++) await live();
    assert.deepEqual(used(), before);
  });

  it('has a peak, which begins anew when asked', () => {
    const { liveBytes } = tf.memory();
    tf.resetPeakBytes();
    assert.equal(tf.memory().peakBytes, liveBytes);
    const million = tf.allocate('float32', [1 << 18]);
    million.dispose();
    const { liveBytes: after, peakBytes } = tf.memory();
    assert.ok(peakBytes >= liveBytes + (1 << 20) && after < liveBytes + (1 << 20), `${after}, ${peakBytes}`);
    tf.resetPeakBytes();
    assert.equal(tf.memory().peakBytes, after);
  });

  it('counts graphs and sessions', async () => {
    const before = used();
    const g = new tf.Graph();
    const session = new tf.Session(g);
    assert.equal(tf.memory().graphs, before.graphs + 1);
    assert.equal(tf.memory().sessions, before.sessions + 1);
    g.dispose();
    assert.equal(tf.memory().graphs, before.graphs);
    await session.close();
    assert.deepEqual(used(), before);
  });

  it('counts the tensors that the engine holds', async () => {
    const g = new tf.Graph();
    const session = new tf.Session(g);
    const before = tf.memory().tensors;
    const variables = Array.from({ length: 5 }, (_, i) => g.variable(new Float32Array(100 + i)));
    assert.equal(tf.memory().tensors, before); // a graph keeps messages, not tensors
    await session.run(g.initializer());
    assert.ok(tf.memory().tensors >= before + variables.length);
    const during = tf.memory().tensors;
    const values = await session.run(variables);
    assert.equal(values.length, 5);
    await session.run(variables);
    assert.ok(tf.memory().tensors <= during + 1, "results are JavaScript's"); // a program may keep one of its own
    await session.close();
    assert.equal(tf.memory().tensors, before);
    g.dispose();
  });

  it('does not grow over many runs, nor over many failing ones', async () => {
    const g = new tf.Graph();
    const x = g.placeholder('float32', [64, 64]);
    const y = g.relu(g.matMul(x, x));
    const session = new tf.Session(g);
    const good = new Map([[x, new Float32Array(64 * 64).fill(0.5)]]);
    const bothWays = () => {
      session.runSync(y, good);
      assert.throws(() => session.runSync(y));
    };
    for (let i = 0; i < 5; i++) bothWays();
    const before = used();
    for (let i = 0; i < 500; i++) bothWays();
    assert.deepEqual(used(), before);
    await session.close();
    g.dispose();
  });

  it('allocates only the tensors that go in and come out when a step is repeated', async () => {
    const g = new tf.Graph();
    const x = g.placeholder('float32', [32, 16]);
    const w = g.variable(new Float32Array(16 * 4).fill(0.1));
    let y = g.matMul(x, g.reshape(w, [16, 4]));
    for (let i = 0; i < 10; i++) y = g.tanh(g.add(y, 0.5));
    const loss = g.mean(y, [0, 1]);
    const step = new tf.train.AdamOptimizer(0.01).minimize(loss);
    const session = new tf.Session(g);
    session.runSync(g.initializer());
    const feeds = new Map([[x, new Float32Array(32 * 16).fill(0.25)]]);
    const allocated = (runs) => {
      const before = tf.memory().allocations;
      for (let i = 0; i < runs; i++) session.runSync([loss, step], feeds);
      return tf.memory().allocations - before;
    };
    allocated(3);
    /* One tensor fed and one fetched: for each a handle and its elements. */
    assert.ok(allocated(100) <= 100 * 4, 'a step with a network of many nodes allocates for its ends only');
    await session.close();
    g.dispose();
  });
});
