// Long steps: they yield to the event loop, have deadlines, can be aborted, and end with their session.
import assert from 'node:assert/strict';
import { CancelledError, DeadlineExceededError, InvalidArgumentError } from '../../npm/dist/index.js';
import { engine, isHere, withGraph } from './engine.mjs';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

describe('steps that take long', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });

  /** A loop that ends when it is fed at least 0 iterations, and never when it is fed -1. */
  const withLoop = (body) =>
    withGraph(tf, (g, session) => {
      const n = g.placeholder('int32', []);
      const v = g.variable(0, { name: 'v' });
      const [rounds] = g.whileLoop(
        (i) => g.notEqual(i, n),
        (i) => [g.add(i, g.constant(1, { dtype: 'int32' }))],
        [g.constant(0, { dtype: 'int32' })],
      );
      return body({ g, session, n, v, rounds, endless: new Map([[n, -1]]) });
    });

  it('end when their signal is aborted while they run', () =>
    withLoop(async ({ session, n, rounds, endless }) => {
      const controller = new AbortController();
      const run = session.run(rounds, endless, { signal: controller.signal });
      setTimeout(() => controller.abort(), 30);
      await assert.rejects(run, CancelledError);
      assert.equal((await session.run(rounds, new Map([[n, 5]]))).item(), 5);
    }));

  it('end at their deadline, also when they run at once', () =>
    withLoop(async ({ session, n, rounds, endless }) => {
      await assert.rejects(session.run(rounds, endless, { timeoutMs: 30 }), DeadlineExceededError);
      if (isHere)
        assert.throws(() => session.runSync(rounds, endless, { timeoutMs: 30 }), DeadlineExceededError);
      assert.equal((await session.run(rounds, new Map([[n, 5]]), { timeoutMs: 60_000 })).item(), 5);
      for (const timeoutMs of [-1, NaN, 'soon'])
        await assert.rejects(session.run(rounds, endless, { timeoutMs }), InvalidArgumentError);
    }));

  it('end at the deadline of their session, unless they have their own', () =>
    withLoop(async ({ g, n, rounds, endless }) => {
      const session = new tf.Session(g, { operationTimeoutMs: 100 });
      await assert.rejects(session.run(rounds, endless), DeadlineExceededError);
      await assert.rejects(session.makeCallable(rounds, [n]).run(-1), DeadlineExceededError);
      const begun = Date.now();
      await assert.rejects(session.run(rounds, endless, { timeoutMs: 400 }), DeadlineExceededError);
      assert.ok(Date.now() - begun > 300);
      await session.close();
    }));

  it('end when the session is closed', () =>
    withLoop(async ({ g, rounds, endless }) => {
      const session = new tf.Session(g);
      const [first, second] = [session.run(rounds, endless), session.run(rounds, endless)].map((run) =>
        assert.rejects(run, CancelledError),
      );
      await sleep(20);
      await session.close();
      await Promise.all([first, second]);
    }));

  it('let timers have their turn, also when each is short and many follow one another', () =>
    withGraph(tf, async (g, session) => {
      const nine = g.square(g.placeholder('float32', [], { name: 'x' }));
      await session.run(nine, { x: 3 });
      let fired = false;
      setTimeout(() => (fired = true), 0);
      for (const end = performance.now() + 5000; !fired && performance.now() < end; )
        assert.equal((await session.run(nine, { x: 3 })).item(), 9);
      assert.ok(fired);
    }));

  it('let timers have their turn', () =>
    withLoop(async ({ session, n, rounds }) => {
      let turns = 0;
      const timer = setInterval(() => turns++, 1);
      const count = 2_000_000;
      const begin = performance.now();
      assert.equal((await session.run(rounds, new Map([[n, count]]))).item(), count);
      const elapsed = performance.now() - begin;
      clearInterval(timer);
      if (elapsed > 100) assert.ok(turns >= 3, `${turns} turns in ${elapsed} ms`);
    }));

  it('run in the order in which they were asked for', () =>
    withLoop(async ({ g, session, n, v, rounds }) => {
      await session.run(g.initializer());
      const order = [];
      const assign = g.op('AssignVariableOp', [v.handle, g.cast(rounds, { dstT: 'float32' })]);
      const runs = [300_000, 200_000, 100_000, 3].map((count) =>
        session.run(assign, new Map([[n, count]])).then(() => order.push(count)),
      );
      const read = session.run(v).then((value) => order.push(value.item()));
      await Promise.all([...runs, read]);
      assert.deepEqual(order, [300_000, 200_000, 100_000, 3, 3]);
    }));

  it('are finished first when another runs at once', () =>
    withLoop(async ({ g, session, n, v, rounds }) => {
      await session.run(g.initializer());
      const assign = g.op('AssignVariableOp', [v.handle, g.cast(rounds, { dstT: 'float32' })]);
      const run = session.run(assign, new Map([[n, 300_000]]));
      assert.equal(session.runSync(v).item(), 300_000);
      assert.equal(await run, null);
    }));

  it('copy what they are fed before they wait', () =>
    withLoop(async ({ g, session, n, rounds }) => {
      const x = g.placeholder('float32', [2]);
      const value = Float32Array.of(1, 2);
      const first = session.run(rounds, new Map([[n, 300_000]]));
      const second = session.run(g.neg(x), new Map([[x, value]]));
      value.fill(7);
      await first;
      assert.deepEqual([...(await second).data], [-1, -2]);
    }));

  it('leave no memory behind when they are aborted', () =>
    withLoop(async ({ session, n, rounds, endless }) => {
      await session.run(rounds, new Map([[n, 5]]));
      await assert.rejects(session.run(rounds, endless, { timeoutMs: 15 }), DeadlineExceededError);
      const before = tf.memory();
      for (let i = 0; i < 5; i++) {
        const controller = new AbortController();
        const run = session.run(rounds, endless, { signal: controller.signal });
        controller.abort();
        await assert.rejects(run, CancelledError);
      }
      assert.equal(tf.memory().tensors ?? 0, before.tensors ?? 0);
    }));
});
