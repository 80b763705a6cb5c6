// Resident tensors: their elements stay in the engine. Expected values are closed forms.
import assert from 'node:assert/strict';
import { FailedPreconditionError, InvalidArgumentError, Tensor, init } from '../../npm/dist/index.js';
import { engine, hostVariants, isHere, withGraph } from './engine.mjs';

const COUNT = 1 << 16;

function residentTensors(load) {
  let tf;
  before(async () => (tf = await load()));

  const used = () => ({ ...tf.memory(), allocations: 0, peakBytes: 0 });
  const allocated = () => tf.memory().liveBytes;

  /** y = x + 1 */
  const withSum = (body) =>
    withGraph(tf, (g, session) => {
      const x = g.placeholder('float32', [null], { name: 'x' });
      return body({ g, session, x, y: g.addV2(x, g.constant(1), { name: 'y' }) });
    });

  it('are fed like others, and keep their values', () =>
    withSum(async ({ session, x, y }) => {
      const value = tf.tensor([1, 2, 3], { resident: true });
      assert.ok(value instanceof Tensor);
      assert.deepEqual([value.resident, value.dtype, value.shape, value.size], [true, 'float32', [3], 3]);
      assert.equal(tf.tensor([1]).resident, false);
      for (let i = 0; i < 3; i++) {
        assert.deepEqual([...session.runSync(y, new Map([[x, value]])).data], [2, 3, 4]);
        assert.deepEqual((await session.run(y, { x: value })).array(), [2, 3, 4]);
      }
      assert.deepEqual([...value.data], [1, 2, 3]);
      assert.equal(value.data, value.data, 'copied once');
      assert.equal(String(value), 'Tensor<float32 [3]: 1, 2, 3>');
      value.dispose();
    }));

  it('have any dtype and shape', () => {
    for (const [value, shape, dtype] of [
      [[1.5, -2], undefined, 'float64'],
      [[1n, -(2n ** 60n)], [2, 1], 'int64'],
      [[true, false], undefined, 'bool'],
      [[{ re: 1, im: 2 }], undefined, 'complex64'],
      [['a', 'long enough to be elsewhere in memory', ''], [3], 'string'],
      [[1, 2], undefined, 'float16'],
      [new Float32Array(0), [0, 3], 'float32'],
      [7, undefined, 'int32'],
    ]) {
      const plain = tf.tensor(value, shape, dtype);
      const resident = tf.tensor(value, shape, dtype, { resident: true });
      assert.deepEqual([resident.dtype, resident.shape], [plain.dtype, plain.shape]);
      assert.deepEqual(resident.array(), plain.array());
      assert.deepEqual(resident.data, plain.data);
      const copy = tf.tensor(resident);
      assert.deepEqual([copy.resident, copy.array()], [false, plain.array()]);
      const again = tf.tensor(resident, { resident: true });
      resident.dispose();
      assert.deepEqual(again.array(), plain.array());
      again.dispose();
    }
    assert.throws(() => tf.tensor([1], { residant: true }), /tensor has no option 'residant'.*'resident'/);
    assert.throws(() => tf.tensor([1], { resident: 1 }), /must be true or false/);
  });

  it('are kept from step to step without a copy', () =>
    withSum(async ({ session, y }) => {
      let value = tf.tensor(new Float32Array(COUNT), { resident: true });
      const next = (result) => {
        value.dispose();
        value = result;
      };
      next(session.runSync(y, { x: value }, { keep: true }));
      next(session.runSync(y, { x: value }, { keep: true })); // from now on two pieces of memory take turns
      const before = allocated();
      for (let i = 0; i < 10; i++) next(session.runSync(y, { x: value }, { keep: true }));
      next(await session.run(y, { x: value }, { keep: true }));
      assert.ok(value.resident);
      assert.equal(allocated(), before);
      assert.deepEqual([value.data.length, value.data[0], value.data[COUNT - 1]], [COUNT, 13, 13]);
      const { length } = session.runSync([y, y], { x: value }, { keep: true }).map((kept) => kept.dispose());
      assert.equal(length, 2);
      value.dispose();
    }));

  it('are kept by callables and partial runs', () =>
    withSum(async ({ session, x, y }) => {
      const callable = session.makeCallable({ y }, [x], { keep: true });
      const once = callable.runSync([1, 2]).y;
      const twice = (await callable.run(once)).y;
      assert.deepEqual([once.resident, twice.resident, twice.array()], [true, true, [3, 4]]);
      assert.deepEqual(once.array(), [2, 3]);
      const run = session.partialRun([y], [x]);
      const third = await run.run(y, { x: twice }, { keep: true });
      assert.deepEqual([third.resident, third.array()], [true, [4, 5]]);
      for (const one of [once, twice, third]) one[Symbol.dispose]();
      callable.release();
    }));

  it('are never computed in, whatever reads them last', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float32', [null]);
      const chain = g.exp(g.neg(g.neg(x)));
      const v = g.variable(new Float32Array(4), { name: 'v' });
      session.runSync(g.initializer());
      const value = tf.tensor([0, 0, 0, 0], { resident: true });
      const unread = () => session.runSync(g.identity(x), new Map([[x, value]])).array();
      const kept = session.runSync(chain, new Map([[x, value]]), { keep: true });
      assert.deepEqual(unread(), [0, 0, 0, 0]);
      /* The variable shares the memory until it changes. */
      session.runSync(v.assign(x), new Map([[x, value]]));
      const add = (values) =>
        g.op('AssignAddVariableOp', [v.handle, g.constant(values)], { attrs: { dtype: 'float32' } });
      session.runSync(add([1, 2, 3, 4]));
      assert.deepEqual(unread(), [0, 0, 0, 0]);
      const read = session.runSync(v, {}, { keep: true });
      session.runSync(add([1, 1, 1, 1]));
      assert.deepEqual(
        [read.array(), session.runSync(v).array()],
        [
          [1, 2, 3, 4],
          [2, 3, 4, 5],
        ],
      );
      assert.deepEqual(
        [kept.array(), value.array()],
        [
          [1, 1, 1, 1],
          [0, 0, 0, 0],
        ],
      );
      for (const one of [value, kept, read]) one.dispose();
    }));

  it('may be disposed while steps wait for them', () =>
    withSum(async ({ session, y }) => {
      const value = tf.tensor([1], { resident: true });
      const runs = [1, 2, 3].map(() => session.run(y, { x: value }, { keep: true }));
      value.dispose();
      for (const kept of await Promise.all(runs)) {
        assert.deepEqual(kept.array(), [2]);
        kept.dispose();
      }
    }));

  it('say that they were disposed', () =>
    withSum(async ({ g, session, y }) => {
      const value = tf.tensor([1, 2], { resident: true });
      assert.equal(value.data.length, 2);
      value.dispose();
      value.dispose();
      const disposed = (error) =>
        error instanceof FailedPreconditionError &&
        /the resident tensor of dtype float32 and shape \[2\] has been disposed/.test(error.message);
      assert.throws(() => value.data, disposed);
      assert.throws(() => value.array(), disposed);
      assert.throws(() => session.runSync(y, { x: value }), disposed);
      assert.throws(() => g.constant(value), disposed);
      assert.throws(() => tf.tensor(value), disposed);
      await assert.rejects(session.run(y, { x: value }), disposed);
      assert.throws(() => session.makeCallable(y, ['x']).runSync(value), disposed);
      assert.equal(String(value), 'Tensor<float32 [2]: disposed>');
      const free = tf.allocate('float32', [2]);
      free.dispose();
      assert.throws(() => free.data, disposed);
      const plain = tf.tensor([1, 2]);
      plain.dispose();
      assert.deepEqual(plain.array(), [1, 2]);
    }));

  it('are the results for what is fed', () =>
    withSum(async ({ session, x, y }) => {
      const value = tf.tensor([1, 2], { resident: true });
      const [same, sum] = session.runSync([x, y], { x: value });
      assert.deepEqual([same.resident, same.array(), sum.array()], [false, [1, 2], [2, 3]]);
      const [kept] = await session.run([x, y], { x: [5, 6] }, { keep: true });
      assert.deepEqual([kept.resident, kept.array()], [true, [5, 6]]);
      const shared = session.runSync(x, { x: value }, { keep: true });
      value.dispose();
      assert.deepEqual(shared.array(), [1, 2]);
      shared.dispose();
      kept.dispose();
    }));

  it('are constants, arguments of functions and values of kernels', () =>
    withGraph(tf, (g, session) => {
      const value = tf.tensor([1, 2], { resident: true });
      assert.deepEqual(session.runSync(g.constant(value)).array(), [1, 2]);
      assert.deepEqual(session.runSync(g.pack([g.constant([value, value])])).array(), [
        [
          [1, 2],
          [1, 2],
        ],
      ]);
      const body = tf.FunctionDef.parse(
        'Twice(x:float) -> (y:float) {\n  y = Add[T=float](x, x)\n  return y = y:z:0\n}',
      ).instantiate();
      assert.deepEqual(body.runSync([value])[0].array(), [2, 4]);
      body.dispose();
      value.dispose();
    }));

  it('are refused by an engine that is not theirs', () =>
    withSum(async ({ session, y }) => {
      const variant = hostVariants().find((one) => one !== tf.variant && !one.endsWith('threads'));
      const other = await init({ variant });
      const value = other.tensor([1, 2], { resident: true });
      const foreign = (error) =>
        error instanceof InvalidArgumentError && /resident in another engine/.test(error.message);
      assert.throws(() => session.runSync(y, { x: value }), foreign);
      await assert.rejects(session.run(y, { x: value }), foreign);
      assert.throws(() => session.makeCallable(y, ['x']).runSync(value), foreign);
      assert.throws(() => session.runSync('x', { x: value }, { keep: true }), foreign);
      assert.deepEqual(session.runSync(y, { x: tf.tensor(value) }).array(), [2, 3]);
      value.dispose();
    }));

  it('are refused when they have lost their class on the way to another thread', () =>
    withSum(({ session, y }) => {
      const value = tf.tensor([1, 2], { resident: true });
      assert.throws(
        () => session.runSync(y, { x: structuredClone(value) }),
        (error) =>
          error instanceof InvalidArgumentError &&
          /a Tensor that was sent between threads has lost its class/.test(error.message),
      );
      value.dispose();
    }));

  it('give all memory back', async () => {
    const start = tf.memory().residentTensors;
    const live = () =>
      withSum(async ({ g, session, x, y }) => {
        const value = tf.tensor(new Float32Array(COUNT), { resident: true });
        const kept = session.runSync([y, x], { x: value }, { keep: true });
        assert.equal(tf.memory().residentTensors, start + 3);
        const late = session.runSync(g.identity(y), { x: kept[0] }, { keep: true });
        const wrong = tf.tensor([[1]], { resident: true });
        assert.throws(() => session.runSync(y, { x: wrong }, { keep: true }), /Cannot feed value of shape/);
        wrong.dispose();
        const callable = session.makeCallable([y, y], [x], { keep: true });
        for (const one of [...callable.runSync(value), ...callable.runSync([1]), ...kept, value])
          one.dispose();
        const free = tf.allocate('float32', [COUNT]);
        free.data.fill(2);
        callable.runSync(free).map((one) => one.dispose());
        free.dispose();
        callable.release();
        return late;
      });
    const dispose = (late) => {
      assert.equal(late.data[0], 2, 'after the session was closed');
      late.dispose();
    };
    dispose(await live());
    const before = used();
    for (let i = 0; i < 20; i++) dispose(await live());
    assert.deepEqual(used(), before);
  });

  describe('that were allocated', () => {
    it('have data to write into', () =>
      withGraph(tf, (g, session) => {
        for (const [dtype, values, outcome] of [
          ['float32', [1, 2, 3], [2, 3, 4]],
          ['int64', [1n, 2n, 3n], [2n, 3n, 4n]],
          ['double', [1, 2, 3], [2, 3, 4]],
          ['uint8', [1, 2, 255], [2, 3, 0]],
        ]) {
          const x = g.placeholder(dtype, [3]);
          const value = tf.allocate(dtype, [3]);
          assert.ok(value.resident);
          assert.deepEqual(value.array(), Array(3).fill(typeof values[0] === 'bigint' ? 0n : 0));
          value.data.set(values);
          const y = g.addV2(x, g.constant(values[0], { dtype }));
          assert.deepEqual(session.runSync(y, new Map([[x, value]])).array(), outcome);
          assert.deepEqual(value.array(), values);
          value.dispose();
        }
        const empty = tf.allocate('float32', [0, 3]);
        assert.deepEqual([empty.shape, empty.data.length], [[0, 3], 0]);
        const pairs = tf.allocate('complex64', [1]);
        pairs.data.set([1, 2]);
        assert.deepEqual(pairs.item(), { re: 1, im: 2 });
        for (const one of [empty, pairs]) one.dispose();
      }));

    it('keep their data when the memory of the engine grows', () =>
      withSum(async ({ session, y }) => {
        const value = tf.allocate('float32', [4]);
        value.data.set([1, 2, 3, 4]);
        const { data } = value;
        assert.equal(value.data, data, 'the same view until then');
        const { wasmBytes } = tf.memory();
        const large = tf.allocate('uint8', [wasmBytes]);
        assert.ok(tf.memory().wasmBytes > wasmBytes);
        large.dispose();
        assert.deepEqual([...value.data], [1, 2, 3, 4]);
        value.data[0] = 10;
        assert.deepEqual(session.runSync(y, { x: value }).array(), [11, 3, 4, 5]);
        value.dispose();
      }));

    it('change nothing that a step has taken', () =>
      withGraph(tf, async (g, session) => {
        const x = g.placeholder('float32', [2]);
        const v = g.variable([0, 0]);
        session.runSync(g.initializer());
        const value = tf.allocate('float32', [2]);
        const write = (...values) => value.data.set(values);
        write(1, 2);
        session.runSync(v.assign(x), new Map([[x, value]]));
        const kept = session.runSync(g.identity(x), new Map([[x, value]]), { keep: true });
        const fed = session.runSync(x, new Map([[x, value]]));
        const later = session.run(g.neg(x), new Map([[x, value]]));
        const copy = tf.tensor(value);
        write(3, 4);
        assert.deepEqual(session.runSync(v).array(), [1, 2]);
        assert.deepEqual(
          [kept.array(), fed.array(), copy.array()],
          [
            [1, 2],
            [1, 2],
            [1, 2],
          ],
        );
        assert.deepEqual((await later).array(), [-1, -2]);
        assert.deepEqual(value.array(), [3, 4]);
        for (const one of [value, kept]) one.dispose();
      }));

    it('may be fed by their data, too', () =>
      withSum(({ session, y }) => {
        const value = tf.allocate('float32', [COUNT]);
        value.data.fill(3);
        for (let i = 0; i < 4; i++) {
          const sum = session.runSync(y, { x: value.data });
          assert.deepEqual([sum.data[0], sum.data[COUNT - 1]], [4, 4]);
        }
        value.dispose();
      }));

    it('are numbers', () => {
      const refused = (dtype, shape, words) =>
        assert.throws(
          () => tf.allocate(dtype, shape),
          (error) => error instanceof InvalidArgumentError && words.test(error.message),
        );
      refused(
        'string',
        [2],
        /elements of dtype string are none: write tf.tensor\(strings, \{ resident: true \}\)/,
      );
      refused('resource', [], /elements of dtype resource are none/);
      refused('float', [-1], /is no shape/);
      refused('float', undefined, /is no shape/);
      refused('flaot', [1], /is no dtype/);
      assert.throws(() => tf.allocate('float32', [2 ** 40]), { name: 'ResourceExhaustedError' });
    });
  });
}

if (isHere) {
  describe('resident tensors', () => residentTensors(engine));
  if (hostVariants().some((variant) => variant.endsWith('threads')))
    describe('resident tensors, with threads', () => residentTensors(() => init({ threads: 2 })));
}

describe('resident tensors of sessions in a worker', () => {
  it('are values like others, and so are all results', async () => {
    const tf = await init({ threads: 1 });
    const g = new tf.Graph();
    const x = g.placeholder('float32', [2], { name: 'x' });
    const y = g.addV2(x, 1);
    const session = new tf.Session(g, { target: 'worker' });
    const before = tf.memory().residentTensors;
    const value = tf.tensor([1, 2], { resident: true });
    const free = tf.allocate('float32', [2]);
    free.data.set([5, 6]);
    const runs = [value, free].map((one) => session.run([y, x], { x: one }, { keep: true }));
    const callable = session.makeCallable(y, [x], { keep: true });
    const called = callable.run(free);
    free.data.set([7, 8]);
    const [ofValue, ofFree] = await Promise.all(runs);
    assert.deepEqual(
      [...ofValue, ...ofFree, await called].map((one) => [one.resident, one.array()]),
      [
        [false, [2, 3]],
        [false, [1, 2]],
        [false, [6, 7]],
        [false, [5, 6]],
        [false, [6, 7]],
      ],
    );
    for (const one of [value, free, ...ofValue]) one.dispose();
    assert.equal(tf.memory().residentTensors, before);
    await session.close();
    g.dispose();
  });
});
