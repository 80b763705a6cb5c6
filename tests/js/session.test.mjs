import assert from 'node:assert/strict';
import { CancelledError, InvalidArgumentError, NotFoundError } from '../../npm/dist/index.js';
import { engine, isHere, isPage, withGraph } from './engine.mjs';

describe('Session', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** sum = x + y of two placeholders. */
  const withSum = (body) =>
    withGraph(tf, (g, session) => {
      const x = g.placeholder('float32', [null, 2], { name: 'x' });
      const y = g.placeholder('float32', [2], { name: 'y' });
      return body({ g, session, x, y, sum: g.add(x, y, { name: 'sum' }) });
    });

  it('takes feeds as a Map and as a record, by output and by name', () =>
    withSum(async ({ session, x, y, sum }) => {
      const feeds = [
        new Map([
          [x, [[1, 2]]],
          [y, [10, 20]],
        ]),
        new Map([
          ['x:0', [[1, 2]]],
          [y, [10, 20]],
        ]),
        { x: [[1, 2]], 'y:0': [10, 20] },
        { x: new Float32Array([1, 2]), y: new Float32Array([10, 20]) },
        { x: tf.tensor([[1, 2]]), y: [10, 20] },
      ];
      for (const feed of feeds) assert.deepEqual((await session.run(sum, feed)).array(), [[11, 22]]);
    }));

  it('gives results in the shape of the fetches', () =>
    withSum(async ({ g, session, x, y, sum }) => {
      const nothing = g.op('NoOp', [], { name: 'nothing' });
      const feeds = { x: [[1, 2]], y: [10, 20] };
      const result = await session.run({ a: sum, list: [x, [y, 'sum'], nothing], again: 'sum:0' }, feeds);
      assert.deepEqual(Object.keys(result), ['a', 'list', 'again']);
      assert.deepEqual(result.a.array(), [[11, 22]]);
      assert.deepEqual(result.list[0].array(), [[1, 2]]);
      assert.deepEqual(
        result.list[1].map((value) => value.array()),
        [[10, 20], [[11, 22]]],
      );
      assert.equal(result.list[2], null);
      assert.deepEqual(result.again.array(), [[11, 22]]);
      assert.equal(await session.run(nothing), null);
      assert.equal(await session.run('nothing'), null);
      const twice = isHere ? session.runSync([sum, sum], feeds) : await session.run([sum, sum], feeds);
      assert.deepEqual(
        twice.map((value) => value.array()),
        [[[11, 22]], [[11, 22]]],
      );
    }));

  it('gives a flat typed array the shape that it is fed to', () =>
    withSum(async ({ session, sum }) => {
      const result = await session.run(sum, { x: Float32Array.of(1, 2, 3, 4, 5, 6), y: [0, 0] });
      assert.deepEqual(result.shape, [3, 2]);
      await assert.rejects(
        session.run(sum, { x: Float32Array.of(1, 2, 3), y: [0, 0] }),
        InvalidArgumentError,
      );
    }));

  it('can feed any value of the graph, and fetch what is fed', () =>
    withSum(async ({ g, session, sum }) => {
      const doubled = g.mul(sum, 2);
      assert.deepEqual((await session.run(doubled, new Map([[sum, [[3, 4]]]]))).array(), [[6, 8]]);
      const [fed, result] = await session.run([sum, doubled], new Map([[sum, [[3, 4]]]]));
      assert.deepEqual([fed.array(), result.array()], [[[3, 4]], [[6, 8]]]);
      assert.deepEqual((await session.run(sum, new Map([[sum, [[3, 4]]]]))).array(), [[3, 4]]);
    }));

  it('runs targets for what they do', () =>
    withGraph(tf, async (g, session) => {
      const v = g.variable(1, { name: 'v' });
      const add = g.op('AssignAddVariableOp', [v, g.constant(5)], { name: 'add' });
      await session.run(g.initializer());
      await session.run([], undefined, { targets: [add] });
      await session.run([], undefined, { targets: ['add'] });
      assert.equal((await session.run(v)).item(), 11);
      await assert.rejects(session.run([], undefined, { targets: ['nothing'] }), NotFoundError);
    }));

  it('sees nodes that were added after a run', () =>
    withSum(async ({ g, session, x, y, sum }) => {
      const feeds = new Map([
        [x, [[1, 2]]],
        [y, [10, 20]],
      ]);
      await session.run(sum, feeds);
      assert.deepEqual((await session.run(g.neg(sum), feeds)).array(), [[-11, -22]]);
    }));

  it('explains wrong feeds and fetches, and stays usable', () =>
    withSum(async ({ session, x, sum }) => {
      const good = { x: [[1, 2]], y: [10, 20] };
      const refused = [
        [
          sum,
          { x: [[1, 2]] },
          {
            name: 'InvalidArgumentError',
            node: 'y',
            op: 'Placeholder',
            message: /You must feed a value for placeholder tensor 'y' with dtype float and shape \[2\]/,
          },
        ],
        [sum, { x: [[1, 2, 3]], y: [1, 2] }, { name: 'InvalidArgumentError', message: /shape/ }],
        [sum, { x: 1, y: [1, 2] }, { name: 'InvalidArgumentError', message: /shape/ }],
        [
          sum,
          { x: tf.tensor([[1, 2]], undefined, 'int32'), y: [1, 2] },
          { name: 'InvalidArgumentError', message: /int32/ },
        ],
        [
          sum,
          { x: ['a'], y: [1, 2] },
          { name: 'InvalidArgumentError', message: /"a" cannot be an element of dtype float32/ },
        ],
        [
          sum,
          { x: [[1, 2], [3]], y: [1, 2] },
          { name: 'InvalidArgumentError', message: /nested arrays differ/ },
        ],
        [sum, { ...good, z: 1 }, { name: 'NotFoundError', message: /'z'/ }],
        ['z', good, { name: 'NotFoundError', message: /'z'/ }],
        ['sum:1', good, { name: 'OutOfRangeError', message: /index 1/ }],
        [[], good, { name: 'InvalidArgumentError' }],
        [42, good, { name: 'InvalidArgumentError', message: /42 cannot be fetched/ }],
      ];
      for (const [fetch, feeds, expected] of refused)
        await assert.rejects(session.run(fetch, feeds), expected);
      await assert.rejects(
        session.run(
          sum,
          new Map([
            [x, [[1, 2]]],
            ['x', [[1, 2]]],
            ['y', [1, 2]],
          ]),
        ),
        InvalidArgumentError,
      );
      await assert.rejects(session.run(sum, new Map([[{}, 1]])), InvalidArgumentError);
      assert.deepEqual((await session.run(sum, good)).array(), [[11, 22]]);
    }));

  it('names the node and op of a kernel that fails', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float32', null, { name: 'x' });
      const product = g.matMul(x, x, { name: 'product' });
      await assert.rejects(session.run(product, { x: [[1, 2, 3]] }), {
        name: 'InvalidArgumentError',
        node: 'product',
        op: 'MatMul',
      });
      const sizes = g.placeholder('int32', null, { name: 'sizes' });
      const changed = g.reshape(x, sizes, { name: 'changed' });
      await assert.rejects(session.run(changed, { x: [1, 2], sizes: [3] }), {
        name: 'InvalidArgumentError',
        node: 'changed',
        op: 'Reshape',
      });
      assert.deepEqual((await session.run(product, { x: [[2]] })).array(), [[4]]);
    }));

  it('refuses variables that are not initialised', () =>
    withGraph(tf, async (g, session) => {
      const v = g.variable(1, { name: 'v' });
      await assert.rejects(session.run(v), { name: 'FailedPreconditionError', message: /v/ });
    }));

  it('keeps its own variables', () =>
    withGraph(tf, async (g, session) => {
      const v = g.variable([1, 2]);
      const other = new tf.Session(g);
      const add = g.op('AssignAddVariableOp', [v, g.constant([10, 10])]);
      await Promise.all([session.run(g.initializer()), other.run(g.initializer())]);
      await session.run(add);
      assert.deepEqual((await session.run(v)).array(), [11, 12]);
      assert.deepEqual((await other.run(v)).array(), [1, 2]);
      await other.close();
    }));

  it('gives the same random numbers for the same seeds, new ones in each run', () =>
    withGraph(tf, async (g, session) => {
      const random = g.randomUniform([1000], { seed: 7, seed2: 8 });
      const first = await session.run(random);
      const second = await session.run(random);
      const other = new tf.Session(g);
      assert.deepEqual((await other.run(random)).data, first.data);
      assert.notEqual(first.data[0], second.data[0]);
      assert.ok(first.data.every((value) => value >= 0 && value < 1));
      const mean = first.data.reduce((sum, value) => sum + value) / 1000;
      assert.ok(Math.abs(mean - 0.5) < 4 / Math.sqrt(12 * 1000)); // four standard deviations
      await other.close();
    }));

  it('is closed for good', () =>
    withSum(async ({ g, sum }) => {
      const session = new tf.Session(g);
      await session.close();
      await session.close();
      await assert.rejects(session.run(sum), CancelledError);
      assert.throws(() => session.runSync(sum), CancelledError);
    }));

  it('can be aborted before it starts, and refuses targets that it does not have', () =>
    withSum(async ({ g, session, sum }) => {
      await assert.rejects(session.run(sum, {}, { signal: AbortSignal.abort() }), CancelledError);
      assert.throws(() => new tf.Session(g, { target: 'tcp://somewhere' }), { code: 'UNIMPLEMENTED' });
      const server = { target: 'grpc://localhost:2222' };
      if (isPage)
        assert.throws(() => new tf.Session(g, server), {
          code: 'UNIMPLEMENTED',
          message: /a page cannot speak gRPC.* use target 'ws:\/\/host:8080', or use target 'worker'/,
        });
      if (isPage)
        await assert.rejects(tf.Server.start(), {
          code: 'UNIMPLEMENTED',
          message: /a page cannot be a server.* start the server in Node/,
        });
    }));

  describe('without the optimizer', () => {
    /** Runs `body(session)` with it and without, and compares what they return. */
    const compare = async (g, body) => {
      const results = [];
      for (const optimize of [true, false]) {
        const session = new tf.Session(g, { optimize });
        results.push(await body(session));
        await session.close();
      }
      assert.deepEqual(results[1], results[0]);
      return results[0];
    };

    it('computes the same with calls, branches and loops', () =>
      withGraph(tf, async (g) => {
        const twice = tf.FunctionDef.parse(
          'Twice(x:float) -> (y:float) { y = Add[T=float](x, x) return y = y:z:0 }',
        );
        const x = g.placeholder('float32', [2]);
        const [y] = g.cond(
          g.greater(g.sum(x, g.constant([0], { dtype: 'int32' })), 0),
          (v) => [g.mul(g.mul(v, v), g.mul(v, v))],
          (v) => [g.neg(v)],
          [x],
        );
        const [, z] = g.whileLoop(
          (i) => g.less(i, 3),
          (i, v) => [g.add(i, 1), g.call(twice, [v])[0]],
          [0, y],
        );
        const sum = g.add(z, g.mul(g.constant([2, 3]), g.constant([5, 7])));
        const [dx] = g.gradients([sum], [x]);
        const values = await compare(g, async (session) => {
          const seen = [];
          for (const value of [
            [1, 2],
            [-1, -2],
          ])
            seen.push((await session.run([sum, dx], new Map([[x, value]]))).map((t) => t.array()));
          return seen;
        });
        assert.deepEqual(values, [
          [
            [8 + 10, 128 + 21],
            [32, 256],
          ],
          [
            [8 + 10, 16 + 21],
            [-8, -8],
          ],
        ]);
      }));

    it('trains the same way, with the same random numbers', () =>
      withGraph(tf, async (g) => {
        const w = g.variable(g.randomStandardNormal([3, 2], { seed: 1, seed2: 2 }), { name: 'w' });
        const b = g.variable([0, 0], { name: 'b' });
        const x = g.randomUniform([5, 3], { seed: 3, seed2: 4 });
        const [hidden] = g.cond(
          g.greater(g.sum(x, [0, 1]), 7.5),
          (v) => g.relu(v),
          (v) => g.tanh(v),
          [g.add(g.matMul(x, w), b)],
        );
        const loss = g.mean(g.square(g.sub(hidden, 1)), [0, 1]);
        const step = new tf.train.AdamOptimizer(0.1).minimize(loss);
        const losses = await compare(g, async (session) => {
          const seen = [];
          await session.run(g.initializer());
          for (let i = 0; i < 20; i++) {
            const [value] = await session.run([loss, step]);
            seen.push(value.item(), ...(await session.run(w)).data, ...(await session.run(b)).data);
          }
          return seen;
        });
        assert.ok(losses.every(Number.isFinite));
        assert.equal(new Set(losses).size, losses.length, 'every number changes in every step');
      }));
  });
});
