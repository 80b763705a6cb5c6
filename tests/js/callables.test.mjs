// Callables and partial runs. Messages are TensorFlow's.
import assert from 'node:assert/strict';
import { CancelledError, InvalidArgumentError, NotFoundError } from '../../npm/dist/index.js';
import { engine, isHere, withGraph } from './engine.mjs';

describe('callables', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** sum = x + y, product = x * y */
  const withOps = (body) =>
    withGraph(tf, (g, session) => {
      const x = g.placeholder('float32', [null], { name: 'x' });
      const y = g.placeholder('float32', [null], { name: 'y' });
      const sum = g.add(x, y, { name: 'sum' });
      return body({ g, session, x, y, sum, product: g.mul(x, y, { name: 'product' }) });
    });

  it('take values in the order of their feeds', () =>
    withOps(async ({ g, session, x, y, sum }) => {
      const difference = g.sub(x, y);
      const forward = session.makeCallable(difference, [x, y]);
      const backward = session.makeCallable([difference, { sum }], ['y', x]);
      for (let i = 0; i < 3; i++) {
        assert.deepEqual((await forward.run([5 + i], [2])).array(), [3 + i]);
        const values = [Float32Array.of(5), tf.tensor([2])];
        const [d, record] = isHere ? backward.runSync(...values) : await backward.run(...values);
        assert.deepEqual([d.array(), record.sum.array()], [[-3], [7]]);
      }
      assert.equal(forward.toString(), 'Callable<2 feeds>');
    }));

  it('run targets, and connect tensors', () =>
    withOps(async ({ g, session, x, y, sum, product }) => {
      const v = g.variable(0, { name: 'v' });
      await session.run(g.initializer());
      const raise = g.op('AssignAddVariableOp', [v.handle, g.constant(1)], { attrs: { dtype: 'float32' } });
      const count = session.makeCallable(raise);
      assert.equal(await count.run(), null);
      if (isHere) count.runSync();
      else await count.run();
      assert.equal((await session.run(v)).item(), 2);
      // The sum reads 3 x instead of y: x + 3 x.
      const three = g.constant([3], { name: 'three' });
      const scaled = g.mul(x, three);
      const connected = session.makeCallable(sum, [x], { connections: [[scaled, y]] });
      assert.deepEqual((await connected.run([2, 4])).array(), [8, 16]);
      await assert.rejects(
        async () => session.makeCallable(product, [], { connections: [['product', x]] }).run(),
        (error) =>
          error instanceof InvalidArgumentError &&
          /Requested Tensor connection between nodes "x" and "product" would create a cycle/.test(
            error.message,
          ),
      );
    }));

  it('say what is wrong', () =>
    withOps(async ({ session, x, y, sum }) => {
      const callable = session.makeCallable(sum, [x, y]);
      await assert.rejects(callable.run([1]), /Expected 2 feed tensors, but got 1/);
      assert.throws(() => callable.runSync([1], [2], [3]), /Expected 2 feed tensors, but got 3/);
      assert.throws(() => session.makeCallable(sum, [x, x]), /"x:0" fed more than once/);
      assert.throws(() => session.makeCallable('nowhere', []), NotFoundError);
      assert.throws(() => session.makeCallable([], []), /at least one target/);
      assert.throws(() => session.makeCallable(sum, [x], { wrong: 1 }), InvalidArgumentError);
      await assert.rejects(
        session.makeCallable(sum, [x]).run([1]),
        /feed a value for placeholder tensor 'y'/,
      );
      callable.release();
      callable.release();
      await assert.rejects(callable.run([1], [2]), CancelledError);
      assert.equal(callable.toString(), 'Callable<released>');
    }));

  it('see operations that were added later, and end with their session', () =>
    withOps(async ({ g, session, x, y, sum }) => {
      const callable = session.makeCallable(sum, [x, y]);
      g.neg(sum);
      assert.deepEqual((await callable.run([1], [2])).array(), [3]);
      await session.close();
      await assert.rejects(callable.run([1], [2]), CancelledError);
    }));

  it('run the steps that were called before their release, also those that have not begun', () =>
    withOps(async ({ g, session, x, y, sum }) => {
      const [rounds] = g.whileLoop(
        (i) => g.less(i, 300_000),
        (i) => [g.add(i, 1)],
        [g.constant(0)],
      );
      const callable = session.makeCallable(sum, [x, y]);
      const before = session.run(rounds);
      const queued = callable.run([1], [2]);
      callable.release();
      const others = Array.from({ length: 20 }, (_, i) => session.makeCallable(g.constant(i), []));
      assert.deepEqual((await queued).array(), [3]);
      await before;
      for (const other of others) other.release();
    }));

  it('are counted until they are released', () =>
    withOps(({ session, x, y, sum }) => {
      const before = tf.memory().callables;
      const callable = session.makeCallable(sum, [x, y]);
      assert.equal(tf.memory().callables, before + 1);
      assert.deepEqual(callable.runSync([1], [1]).array(), [2]);
      callable[Symbol.dispose ?? 'release'](); // what `using` does
      assert.equal(tf.memory().callables, before);
    }));
});

describe('partial runs', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** a = 2 x, b = a + y, c = b z, and how often a was computed. */
  const withChain = (body) =>
    withGraph(tf, async (g, session) => {
      const [x, y, z] = ['x', 'y', 'z'].map((name) => g.placeholder('float32', [], { name }));
      const a = g.mul(x, 2, { name: 'a' });
      const b = g.add(a, y, { name: 'b' });
      return body({ g, session, x, y, z, a, b, c: g.mul(b, z, { name: 'c' }) });
    });

  it('go on where the last piece ended', () =>
    withChain(async ({ session, x, y, z, a, b, c }) => {
      const run = session.partialRun([a, b, 'c'], [x, 'y', z]);
      assert.equal((await run.run(a, [[x, 5]])).item(), 10);
      assert.deepEqual(await run.run([], { y: 1 }), []);
      const [bValue] = isHere ? run.runSync([b]) : await run.run([b]);
      assert.equal(bValue.item(), 11);
      assert.equal((await run.run({ c }, { 'z:0': 3 })).c.item(), 33);
      await assert.rejects(run.run(a), /Must run ('setup'|PartialRunSetup) before performing partial runs/);
    }));

  it('run each node once', () =>
    withGraph(tf, async (g, session) => {
      const noise = g.op('RandomUniform', [g.constant([3], { dtype: 'int32' })], {
        attrs: { dtype: 'float32' },
      }).outputs[0];
      const scale = g.placeholder('float32', []);
      const scaled = g.mul(noise, scale);
      const run = session.partialRun([noise, scaled], [scale]);
      const drawn = (await run.run(noise)).array();
      const doubled = (await run.run(scaled, new Map([[scale, 2]]))).array();
      assert.deepEqual(
        doubled,
        drawn.map((value) => value * 2),
      );
    }));

  it('say what is wrong, and go on afterwards', () =>
    withChain(async ({ session, x, y, a, b, c }) => {
      const run = session.partialRun([a, b], [x, y]);
      await assert.rejects(run.run(c), /The fetch c:0 was not specified in partial_run_setup/);
      await assert.rejects(run.run(a, { z: 1 }), /The feed z:0 was not specified in partial_run_setup/);
      await assert.rejects(run.run(a, { y: 1 }), /Fetch x:0 can't be computed from the feeds/);
      assert.equal((await run.run(a, { x: 1 })).item(), 2);
      await assert.rejects(run.run([], { x: 1 }), /The feed x:0 has already been fed/);
      await assert.rejects(run.run(a), /The fetch a:0 has already been fetched/);
      assert.equal((await run.run(b, { y: 5 })).item(), 7);
      assert.throws(() => session.partialRun([b], [b]), /b:0 is both fed and fetched/);
      assert.throws(() => session.partialRun(b, []), InvalidArgumentError);
    }));

  it('end with their session', () =>
    withChain(async ({ session, x, y, b }) => {
      const run = session.partialRun([b], [x, y]);
      await run.run([], { x: 1 });
      await session.close();
      await assert.rejects(run.run(b, { y: 1 }), CancelledError);
    }));
});
