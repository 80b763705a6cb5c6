// Sessions with the target 'worker'. What they compute is compared with closed forms, and with sessions of this
// thread.
import assert from 'node:assert/strict';
import {
  CancelledError,
  DeadlineExceededError,
  InvalidArgumentError,
  NotFoundError,
  UnavailableError,
  UnimplementedError,
  init as initPackage,
} from '../../npm/dist/index.js';
import { init as initInline } from '../../npm/dist/inline.js';
import { batchOf, PIXELS } from '../../examples/digits/data.mjs';
import { buildNetwork } from '../../examples/digits/network.mjs';
import { randomNumbers } from '../../examples/digits/random.mjs';
import { engine, hostVariants, isPage } from './engine.mjs';

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Calls `use` with a list of the workers that are started meanwhile, as the host knows them. */
async function watchingWorkers(use) {
  const holder = isPage ? globalThis : process.getBuiltinModule('node:worker_threads');
  const { Worker } = holder;
  const started = [];
  holder.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      started.push(this);
    }
  };
  try {
    return await use(started);
  } finally {
    holder.Worker = Worker;
  }
}

describe("the target 'worker'", function () {
  this.timeout(60_000);
  let tf;
  before(async () => (tf = await engine()));

  /** Calls `use` with a new graph and a session of it in a worker. */
  async function withWorker(use, options = {}) {
    const g = new tf.Graph();
    const session = new tf.Session(g, { target: 'worker', ...options });
    try {
      return await use(g, session);
    } finally {
      await session.close();
      g.dispose();
    }
  }

  /** A step that ends when it is stopped: it counts, as long as the count is positive. */
  const endless = (g) =>
    g.whileLoop(
      (i) => g.greater(i, 0),
      (i) => [g.add(i, 1)],
      [g.constant(1, { dtype: 'int64' })],
      { name: 'endless' },
    )[0];

  it('has the API of a session, as far as it is asynchronous', () =>
    withWorker(async (g, session) => {
      assert.ok(session instanceof tf.Session);
      const x = g.placeholder('float32', [null], { name: 'x' });
      const v = g.variable([1, 2], { name: 'v' });
      const y = g.add(x, v, { name: 'y' });
      await session.run(g.initializer());
      const result = await session.run({ y, list: ['x:0', v], nothing: v.initializer }, { x: [10, 20] });
      assert.deepEqual(result.y.array(), [11, 22]);
      assert.deepEqual(
        result.list.map((value) => value.array()),
        [
          [10, 20],
          [1, 2],
        ],
      );
      assert.equal(result.nothing, null);
      const doubled = g.op('AssignVariableOp', [v.handle, g.mul(v, 2)]);
      assert.deepEqual((await session.run(x, { x: [5] }, { targets: [doubled] })).array(), [5]);
      assert.deepEqual((await session.run([v, v]))[1].array(), [2, 4]);
      assert.deepEqual((await session.run('y', { x: [0] })).array(), [2, 4]);
      assert.match(session.toString(), /^Session<of Graph<\d+ nodes, 1 variable>>$/);
    }));

  it('keeps every dtype and shape, small and large', () =>
    withWorker(async (g, session) => {
      const values = [
        tf.tensor([1.5, -0, Infinity, NaN]),
        tf.tensor(new Float64Array(3000).map((_, i) => i / 7)),
        tf.tensor([[1n, -(2n ** 63n)]]),
        tf.tensor(new BigInt64Array(1000).fill(-5n), [10, 100]),
        tf.tensor([], [0, 3], 'int32'),
        tf.tensor([true, false]),
        tf.tensor(['a', 'ä', '']),
        tf.tensor([Uint8Array.of(0, 255), new Uint8Array(0)], undefined, 'string'),
        tf.tensor([{ re: 1, im: -2 }]),
        tf.tensor(new Uint16Array(5000).fill(0x3c00), [5000], 'half'),
        tf.tensor(-3, [], 'int8'),
      ];
      const places = values.map(({ dtype }) => g.identity(g.placeholder(dtype)));
      const inputs = places.map((place) => place.operation.inputs[0]);
      const results = await session.run(places, new Map(values.map((value, i) => [inputs[i], value])));
      for (const [i, { dtype, shape, data }] of results.entries()) {
        assert.equal(dtype, values[i].dtype);
        assert.deepEqual([shape, data], [values[i].shape, values[i].data]);
      }
    }));

  it('never takes memory away from the user', () =>
    withWorker(async (g, session) => {
      const x = g.placeholder('float32', [null]);
      const y = g.mul(x, 2);
      const buffer = new ArrayBuffer(80_000);
      const whole = new Float32Array(buffer).fill(3);
      const part = new Float32Array(new ArrayBuffer(80_000), 40_000, 5000).fill(4);
      const tensor = tf.tensor(new Float32Array(5000).fill(5));
      const [a, b, c] = await Promise.all(
        [whole, part, tensor].map((value) => session.run(y, new Map([[x, value]]))),
      );
      assert.deepEqual([whole.length, part.length, tensor.data.length], [20_000, 5000, 5000]);
      assert.deepEqual([a.data[19_999], b.data[4999], c.data[4999]], [6, 8, 10]);
      // A value that is changed after the call was taken before.
      const running = session.run(y, new Map([[x, whole]]));
      whole.fill(0);
      assert.equal((await running).data[7], 6);
      // Numbers that are fed and fetched, too.
      const [fed, doubled] = await session.run([x, y], new Map([[x, Array(5000).fill(1)]]));
      assert.deepEqual([fed.data.length, fed.data[4999], doubled.data[4999]], [5000, 1, 2]);
      // The results belong to the caller, and are no copies of one another.
      const [first, second] = await session.run([y, y], new Map([[x, whole]]));
      first.data[0] = 9;
      assert.deepEqual([second.data[0], first.data.buffer.byteLength], [0, 80_000]);
    }));

  it('moves the contents of large tensors in place of copying them', async () => {
    const { prototype } = MessagePort;
    const own = Object.getOwnPropertyDescriptor(prototype, 'postMessage');
    const base = own ? prototype : Object.getPrototypeOf(prototype);
    const { postMessage } = base;
    const sent = [];
    base.postMessage = function (message, transfer) {
      sent.push({ message, transfer });
      return postMessage.call(this, message, transfer);
    };
    try {
      await withWorker(async (g, session) => {
        const x = g.placeholder('float32', [null]);
        sent.length = 0;
        await session.run(g.neg(x), new Map([[x, Array(250_000).fill(1)]]));
      });
    } finally {
      base.postMessage = postMessage;
    }
    const step = sent.find(({ message }) => message.method === 'RunStep');
    assert.equal(step.message.buffers.length, 1);
    assert.ok(step.transfer.includes(step.message.buffers[0]));
    assert.equal(step.message.buffers[0].byteLength, 0, 'the memory has gone to the worker');
    assert.ok(step.message.bytes.byteLength < 500);
  });

  it('trains the digits network along the same losses', async () => {
    const random = randomNumbers(7);
    const count = 96;
    const set = {
      count,
      pixels: Float32Array.from({ length: count * PIXELS }, random),
      labels: Int32Array.from({ length: count }, (_, i) => i % 10),
    };
    const lossesOf = async (target) => {
      const network = buildNetwork(tf, { seed: 3 });
      const session = new tf.Session(network.graph, { target });
      await session.run(network.graph.initializer());
      const losses = [];
      for (let step = 0; step < 40; step++) {
        const batch = batchOf(
          set,
          Array.from({ length: 32 }, (_, i) => (step * 32 + i) % count),
        );
        const feeds = new Map([
          [network.images, batch.pixels],
          [network.labels, batch.labels],
          [network.learningRate, 0.01],
        ]);
        losses.push((await session.run([network.loss, network.train], feeds))[0].item());
      }
      await session.close();
      network.graph.dispose();
      return losses;
    };
    const [ours, theirs] = [await lossesOf(''), await lossesOf('worker')];
    assert.ok(ours.at(-1) < ours[0] / 2);
    assert.deepEqual(theirs, ours);
  });

  it('follows the graph as it grows: nodes, control inputs, functions, gradients', () =>
    withWorker(async (g, session) => {
      const x = g.placeholder('float32', [], { name: 'x' });
      assert.equal((await session.run(g.square(x), { x: 3 })).item(), 9);
      const v = g.variable(1, { name: 'v' });
      await session.run(v.initializer);
      const add = g.op('AssignAddVariableOp', [v.handle, x]);
      const read = g.op('ReadVariableOp', [v.handle], { attrs: { dtype: 'float32' }, controlInputs: [add] });
      assert.equal((await session.run(read.output(0), { x: 5 })).item(), 6);
      const [quotient] = g.cond(
        g.greater(x, 0),
        () => [g.div(1, x)],
        () => [g.neg(x)],
      );
      const both = () => Promise.all([2, -3].map((value) => session.run(quotient, { x: value })));
      assert.deepEqual(
        (await both()).map((value) => value.item()),
        [0.5, 3],
      );
      const [slope] = g.gradients([quotient], [x]);
      assert.deepEqual((await session.run(slope, { x: 2 })).item(), -0.25);
      const [power] = g.whileLoop(
        (i) => g.less(i, 1000),
        (i) => [g.mul(i, 2)],
        [x],
      );
      assert.equal((await session.run(power, { x: 1 })).item(), 1024);
      const unpacked = g.op('Unpack', [g.pack([x, g.neg(x)])], { attrs: { num: 2, axis: 0 } });
      assert.equal((await session.run(g.add(unpacked.output(1), 1), { x: 4 })).item(), -3);
    }));

  it('follows gradients, which extend calls, branches and loops that were sent before', () =>
    withWorker(async (g, session) => {
      const product = tf.FunctionDef.parse(`Product(x:float) -> (y:float) {
        square = Mul[T=float](x, x)
        power = Exp[T=float](x)
        product = Mul[T=float](square:z:0, power:y:0)
        return y = product:z:0
      }`);
      const x = g.placeholder('float32', [], { name: 'x' });
      const [called] = g.call(product, [x]);
      const [chosen] = g.cond(
        g.greater(x, 0),
        () => [g.mul(called, g.sin(called))],
        () => [g.exp(called)],
      );
      const [power] = g
        .whileLoop(
          (i, value) => g.less(i, 3),
          (i, value) => [g.add(i, 1), g.mul(value, g.add(value, x))],
          [g.constant(0), chosen],
        )
        .slice(1);
      const at = async (y, value) => (await session.run(y, { x: value })).item();
      const value = (x) => {
        const p = x * x * Math.exp(x);
        let power = x > 0 ? p * Math.sin(p) : Math.exp(p);
        for (let i = 0; i < 3; i++) power *= power + x;
        return power;
      };
      const close = (got, want) =>
        assert.ok(Math.abs(got - want) < 1e-2 * Math.abs(want) + 1e-5, `${got} ${want}`);
      close(await at(power, 0.5), value(0.5));
      const derivative = (f, x) => (f(x + 1e-3) - f(x - 1e-3)) / 2e-3;
      // Each gradient extends what the ones before have extended or added.
      for (const y of [called, chosen, power]) {
        const before = await at(y, 0.4);
        const [slope] = g.gradients([y], [x]);
        close(await at(slope, 0.4), ((await at(y, 0.401)) - (await at(y, 0.399))) / 2e-3);
        assert.equal(await at(y, 0.4), before);
      }
      const [slope] = g.gradients([power], [x]);
      const [curvature] = g.gradients([slope], [x]);
      close(await at(slope, -0.3), derivative(value, -0.3));
      close(
        await at(curvature, -0.3),
        derivative((x) => derivative(value, x), -0.3),
      );
    }));

  it('runs steps in the order of the calls, also those that wait for handles', () =>
    withWorker(async (g, session) => {
      const v = g.variable(1, { name: 'v' });
      const x = g.placeholder('float32', [], { name: 'x' });
      const set = g.op('AssignVariableOp', [v.handle, g.add(g.mul(v, 10), x)]);
      const runs = [session.run(g.initializer())];
      runs.push(session.run(set, { x: 2 }));
      const callable = session.makeCallable(set, [x]);
      runs.push(callable.run(3), session.run(set, { x: 4 }), callable.run(5));
      runs.push(session.run(set, { x: 6 }));
      await Promise.all(runs);
      assert.equal((await session.run(v)).item(), 123456);
    }));

  it('has callables', () =>
    withWorker(async (g, session) => {
      const x = g.placeholder('float32', [null], { name: 'x' });
      const y = g.placeholder('float32', [null], { name: 'y' });
      const sum = g.add(x, y, { name: 'sum' });
      const forward = session.makeCallable({ sum, all: [g.sub(x, y)] }, [x, y]);
      const result = await forward.run([5], Float32Array.of(2));
      assert.deepEqual([result.sum.array(), result.all[0].array()], [[7], [3]]);
      const connected = session.makeCallable(sum, [x], { connections: [[g.mul(x, [3]), y]] });
      assert.deepEqual((await connected.run([2, 4])).array(), [8, 16]);
      await assert.rejects(forward.run([1]), /Expected 2 feed tensors, but got 1/);
      await assert.rejects(session.makeCallable(sum, [x, x]).run([1], [2]), /"x:0" fed more than once/);
      await assert.rejects(session.makeCallable(sum, [x]).run([1]), (error) => {
        assert.ok(error instanceof InvalidArgumentError);
        assert.match(error.message, /feed a value for placeholder tensor 'y'/);
        return error.node === 'y' && error.op === 'Placeholder';
      });
      forward.release();
      await assert.rejects(forward.run([1], [2]), CancelledError);
      assert.throws(() => connected.runSync([1]), UnimplementedError);
    }));

  it('has partial runs', () =>
    withWorker(async (g, session) => {
      const [a, b] = ['a', 'b'].map((name) => g.placeholder('float32', [], { name }));
      const square = g.square(a, { name: 'square' });
      const product = g.mul(square, b, { name: 'product' });
      const run = session.partialRun([square, product], [a, b]);
      assert.equal((await run.run(square, { a: 3 })).item(), 9);
      await assert.rejects(run.run(product, { c: 2 }), NotFoundError);
      assert.equal((await run.run({ product }, { b: 5 })).product.item(), 45);
      await assert.rejects(run.run(product), InvalidArgumentError);
      assert.match(run.toString(), /^PartialRun<.*;\d+>$/);
      const other = session.partialRun([product], [a, b]);
      await assert.rejects(other.run(product, { a: 1 }), /can't be computed from the feeds/);
      assert.throws(() => run.runSync(square), UnimplementedError);
    }));

  it('records traces of steps, callables and partial runs, also of steps that fail', () =>
    withWorker(async (g, session) => {
      const x = g.placeholder('float32', [2], { name: 'x' });
      const y = g.tanh(g.softmax(x, { name: 'shares' }), { name: 'y' });
      const bad = g.gather(y, g.cast(x, { dstT: 'int32', name: 'index' }), { name: 'bad' });
      const feeds = { x: [3, 4] };
      const ops = (trace) => trace.records.map(({ node }) => node).sort();
      const trace = new tf.Trace();
      await session.run(y, feeds, { trace });
      assert.deepEqual(ops(trace), ['shares', 'y']);
      assert.equal(session.lastTrace, trace);
      assert.match(trace.records[0].device, /CPU:0$/);
      await assert.rejects(session.run(bad, feeds, { trace: true }), InvalidArgumentError);
      assert.deepEqual(ops(session.lastTrace), ['index', 'shares', 'y']);
      const call = session.makeCallable(y, [x], { trace: true });
      await call.run([1, 2]);
      assert.deepEqual(ops(session.lastTrace), ['shares', 'y']);
      const partial = session.partialRun([y], [x]);
      await partial.run(y, feeds, { trace: true });
      assert.deepEqual(ops(session.lastTrace), ['shares', 'y']);
    }));

  it('lists devices, and takes the options of sessions', () =>
    withWorker(
      async (g, session) => {
        const devices = await session.listDevices();
        assert.deepEqual(
          devices.map(({ name, type }) => [name, type]),
          [0, 1].map((i) => [`/job:localhost/replica:0/task:0/device:CPU:${i}`, 'CPU']),
        );
        assert.ok(devices.every(({ incarnation }) => typeof incarnation === 'bigint' && incarnation > 0n));
        const there = g.constant(1, { device: '/cpu:1' });
        assert.equal((await session.run(there)).item(), 1);
        const elsewhere = g.constant(1, { device: '/cpu:2' });
        await assert.rejects(session.run(elsewhere), /Cannot assign a device for operation/);
      },
      { deviceCount: { CPU: 2 }, allowSoftPlacement: false, optimize: false },
    ));

  it('reports errors as a session of this thread does, with node, op and advice', async () => {
    const g = new tf.Graph();
    const x = g.placeholder('float32', [null, null], { name: 'x' });
    const product = g.matMul(x, x, { name: 'product' });
    const v = g.variable(1, { name: 'v' });
    const big = g.fill([2 ** 30, 2 ** 30], 1, { name: 'big' });
    const outcome = async (target, ...run) => {
      const session = new tf.Session(g, { target });
      try {
        return await session.run(...run).then(String, (error) => {
          const { name, code, message, node, op } = error;
          return { name, code, message, node, op, known: error instanceof Error };
        });
      } finally {
        await session.close();
      }
    };
    const failing = [
      [product, { x: [[1, 2]] }],
      [product],
      [v],
      [big],
      [[]],
      ['nowhere'],
      [product, { x: [1] }],
      [product, { x: 'text' }],
      [null],
    ];
    for (const run of failing) {
      const [ours, theirs] = [await outcome('', ...run), await outcome('worker', ...run)];
      assert.equal(typeof ours, 'object', ours);
      assert.deepEqual(theirs, ours);
    }
    g.dispose();
    const session = new tf.Session(new tf.Graph(), { target: 'worker', deviceCount: { CPU: 0 } });
    await assert.rejects(session.run([]), {
      name: 'NotFoundError',
      message: 'No CPU devices are available in this process',
    });
    await session.close();
  });

  it('refuses what is synchronous, and other targets', () =>
    withWorker(async (g, session) => {
      assert.throws(() => session.runSync(g.constant(1)), UnimplementedError);
      assert.throws(() => session.runSync(g.constant(1)), /write await/);
      assert.throws(() => new tf.Session(g, { target: 'elsewhere' }), UnimplementedError);
    }));

  it('ends a step that runs when it is aborted, and goes on with the next', () =>
    withWorker(async (g, session) => {
      const forever = endless(g);
      const stop = new AbortController();
      const running = session.run(forever, {}, { signal: stop.signal });
      const after = session.run(g.constant(5));
      await pause(100);
      stop.abort();
      await assert.rejects(running, { name: 'CancelledError', message: 'the run was aborted' });
      assert.equal((await after).item(), 5);
      await assert.rejects(session.run(forever, {}, { signal: stop.signal }), CancelledError);
      const queued = new AbortController();
      const first = session.run(forever, {}, { timeoutMs: 200 });
      const second = session.run(g.constant(6), {}, { signal: queued.signal });
      queued.abort();
      await assert.rejects(second, CancelledError);
      await assert.rejects(first, DeadlineExceededError);
    }));

  it('ends a step at its deadline', () =>
    withWorker(async (g, session) => {
      const forever = endless(g);
      await assert.rejects(session.run(forever, {}, { timeoutMs: 30 }), DeadlineExceededError);
      await assert.rejects(session.makeCallable(forever, [], { timeoutMs: 30 }).run(), DeadlineExceededError);
      assert.equal((await session.run(g.constant(5))).item(), 5);
    }));

  it('closes while a step runs: that step, and those that wait, are cancelled', () =>
    withWorker(async (g, session) => {
      const runs = [session.run(endless(g)), session.run(g.constant(1))];
      const outcomes = Promise.allSettled(runs);
      await pause(50);
      await session.close();
      await session.close();
      for (const { reason } of await outcomes) {
        assert.ok(reason instanceof CancelledError);
        assert.equal(reason.message, 'Session has been closed.');
      }
      await assert.rejects(session.run(g.constant(1)), /Session has been closed/);
      await assert.rejects(session.listDevices(), /Session has been closed/);
      assert.equal(session.toString(), 'Session<closed>');
    }));

  it('closes before anything ran, and leaves no worker', () =>
    watchingWorkers(async (workers) => {
      const g = new tf.Graph();
      const sessions = [1, 2].map(() => new tf.Session(g, { target: 'worker' }));
      const running = sessions[0].run(g.constant(1));
      await Promise.all([assert.rejects(running, CancelledError), ...sessions.map((one) => one.close())]);
      assert.equal(workers.length, 1);
      const session = new tf.Session(g, { target: 'worker' });
      assert.equal((await session.run(g.constant(2))).item(), 2);
      await session.close();
      assert.equal(workers.length, 2);
      g.dispose();
    }));

  it('shares a worker with the other sessions, which keep their own variables', () =>
    watchingWorkers((workers) =>
      withWorker(async (g, session) => {
        const v = g.variable(1, { name: 'v' });
        const other = new tf.Session(g, { target: 'worker' });
        await Promise.all([session.run(g.initializer()), other.run(g.initializer())]);
        await session.run(g.op('AssignAddVariableOp', [v.handle, 1]));
        assert.deepEqual([(await session.run(v)).item(), (await other.run(v)).item()], [2, 1]);
        const stop = new AbortController();
        const forever = other.run(endless(g), {}, { signal: stop.signal });
        assert.equal((await session.run(v)).item(), 2, 'a step of the other one does not block it');
        stop.abort();
        await assert.rejects(forever, CancelledError);
        await other.close();
        assert.equal((await session.run(v)).item(), 2);
        assert.equal(workers.length, 1);
      }),
    ));

  it('that dies makes its sessions UNAVAILABLE, and a new session gets a new one', () =>
    watchingWorkers(async (workers) => {
      const g = new tf.Graph();
      const one = g.constant(1);
      const forever = endless(g);
      const session = new tf.Session(g, { target: 'worker' });
      await session.run(one);
      const callable = session.makeCallable(one);
      const running = session.run(forever);
      await pause(50);
      workers[0].terminate();
      await assert.rejects(running, UnavailableError);
      await assert.rejects(session.run(one), { name: 'UnavailableError', code: 'UNAVAILABLE' });
      await assert.rejects(callable.run(), UnavailableError);
      await assert.rejects(session.listDevices(), UnavailableError);
      const next = new tf.Session(g, { target: 'worker' });
      assert.equal((await next.run(one)).item(), 1);
      await Promise.all([session.close(), next.close()]);
      assert.equal(workers.length, 2);
      g.dispose();
    }));

  it('passes lines of the log on', () =>
    withWorker(async (g, session) => {
      const lines = [];
      tf.setLog((line) => lines.push(line));
      try {
        const x = g.constant([1, 2]);
        await session.run(g.op('Print', [x, [x]], { attrs: { message: 'x is ' } }).output(0));
        await session.listDevices();
        assert.deepEqual(lines, ['x is [1 2]']);
      } finally {
        tf.setLog((line) => console.error(line));
      }
    }));

  it('has its own files and ops', () =>
    withWorker(async (g, session) => {
      tf.files.write('here.txt', 'text');
      const read = g.op('RestoreV2', ['here.txt', ['v'], ['']], { attrs: { dtypes: ['float32'] } });
      await assert.rejects(session.run(read.output(0)), NotFoundError);
    }));

  it('freezes with the variables of the worker', () =>
    withWorker(async (g, session) => {
      const x = g.placeholder('float32', [], { name: 'x' });
      const y = g.mul(x, g.variable(4, { name: 'v' }), { name: 'y' });
      await session.run(g.initializer());
      const frozen = await tf.freeze(session, [y]);
      const other = new tf.Graph();
      other.importGraphDef(frozen);
      assert.equal((await new tf.Session(other).run('y', { x: 3 })).item(), 12);
    }));

  for (const variant of hostVariants()) {
    it(`has the build ${variant}, like the engine`, async () => {
      const engineOf = await initPackage({ variant, threads: variant.endsWith('threads') ? 2 : undefined });
      const g = new engineOf.Graph();
      const session = new engineOf.Session(g, { target: 'worker' });
      const x = g.randomUniform([64, 64], { seed: 1, seed2: 2, dtype: 'float32' });
      const result = await session.run(g.matMul(x, x));
      assert.deepEqual(result.data, (await new engineOf.Session(g).run(g.matMul(x, x))).data);
      await session.close();
    });
  }

  it('is there in tfcore-wasm/inline, without a file', () =>
    watchingWorkers(async (workers) => {
      const inline = await initInline();
      const g = new inline.Graph();
      const session = new inline.Session(g, { target: 'worker' });
      assert.equal((await session.run(g.add(1, 2))).item(), 3);
      await session.close();
      assert.equal(workers.length, 1);
    }));

  it('says why no worker can be started', async () => {
    const folder = isPage ? '/npm/dist' : new URL('../../npm/dist', import.meta.url).pathname;
    const bytes = isPage
      ? await (await fetch(`${folder}/tfcore-simd.wasm`)).arrayBuffer()
      : (await import('node:fs')).readFileSync(`${folder}/tfcore-simd.wasm`);
    const other = await initPackage({ variant: 'simd', wasm: bytes });
    const holder = isPage ? globalThis : process.getBuiltinModule('node:worker_threads');
    const { Worker } = holder;
    holder.Worker = class {
      constructor() {
        throw new Error('no workers today');
      }
    };
    try {
      const g = new other.Graph();
      const session = new other.Session(g, { target: 'worker' });
      await assert.rejects(session.run(g.constant(1)), (error) => {
        assert.ok(error instanceof UnavailableError);
        return /no workers today/.test(error.message);
      });
      await session.close();
    } finally {
      holder.Worker = Worker;
    }
  });
});
