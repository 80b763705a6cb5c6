// Sessions with the target 'grpc://' on clusters whose tasks are servers of TensorFlow, of this package, and both.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import {
  AbortedError,
  CancelledError,
  DeadlineExceededError,
  InvalidArgumentError,
  NotFoundError,
  UnavailableError,
  UnimplementedError,
} from '../../npm/dist/index.js';
import { batchOf, parseDigits } from '../../examples/digits/data.mjs';
import { buildNetwork } from '../../examples/digits/network.mjs';
import { engine } from './engine.mjs';
import { startMixedCluster, startMixedTasks } from './mixed-servers.mjs';
import { needTensorFlow, newCluster } from './tensorflow-servers.mjs';

const [FIRST, SECOND, PS] = ['/job:worker/task:0', '/job:worker/task:1', '/job:ps/task:0'];
const MIB = 2 ** 20;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const isMaster = (job, index) => job === 'worker' && index === 0;

/** Which tasks are servers of whom, by what the specs are called. */
const CLUSTERS = {
  "on TensorFlow's servers": () => 'theirs',
  'on servers of this package': () => 'ours',
  "with TensorFlow's master and workers of this package": (job, index) =>
    isMaster(job, index) ? 'theirs' : 'ours',
  "with a master of this package and TensorFlow's workers": (job, index) =>
    isMaster(job, index) ? 'ours' : 'theirs',
};

for (const [name, kindOf] of Object.entries(CLUSTERS))
  describe(`the target 'grpc://' ${name}`, function () {
    this.timeout(120_000);
    specs(kindOf);
  });

function specs(kindOf) {
  /** Servers of this package know messages that those of TensorFlow do not. */
  const isOfTensorFlow = kindOf('worker', 0) === 'theirs';
  const itThere = isOfTensorFlow ? it : () => {};
  const startTasks = (cluster, tasks) => startMixedTasks(cluster, kindOf, tasks);
  let tf;
  let servers;
  before(async function () {
    needTensorFlow(this);
    tf = await engine();
    servers = await startMixedCluster({ worker: 2, ps: 1 }, kindOf);
  });
  after(() => servers?.kill());
  afterEach(() => servers && tf.Session.reset(servers.target));

  /** Calls `use` with a new graph and a session of it on the first task. */
  async function withSession(use, options = {}) {
    const g = new tf.Graph();
    const session = new tf.Session(g, { target: servers.target, ...options });
    try {
      return await use(g, session);
    } finally {
      await session.close();
      g.dispose();
    }
  }

  /** A step that ends when it is stopped. */
  const endless = (g) =>
    g.whileLoop(
      (i) => g.greater(i, 0),
      (i) => [g.add(i, 1)],
      [g.constant(1, { dtype: 'int64' })],
    )[0];

  it('has the devices of all tasks, and places nodes where tf.device says', () =>
    withSession(async (g, session) => {
      const devices = await session.listDevices();
      assert.deepEqual(
        devices.map(({ name, type }) => [name, type]).sort(),
        ['ps/replica:0/task:0', 'worker/replica:0/task:0', 'worker/replica:0/task:1'].map((task) => [
          `/job:${task}/device:CPU:0`,
          'CPU',
        ]),
      );
      assert.equal(new Set(devices.map(({ incarnation }) => incarnation)).size, 3);
      const x = g.placeholder('float32', [2], { name: 'x' });
      const v = tf.device(PS, () => g.variable([1, 2], { name: 'v' }));
      const a = tf.device(FIRST, () => g.mul(x, v, { name: 'a' }));
      const b = tf.device(SECOND, () => g.exp(a, { name: 'b' }));
      await session.run(g.initializer());
      const trace = new tf.Trace();
      const values = (await session.run(b, { x: [0, 1] }, { trace })).array();
      assert.ok(Math.abs(values[0] - 1) < 1e-6 && Math.abs(values[1] - Math.E ** 2) < 1e-5);
      const tasks = Object.fromEntries(
        trace.records.map(({ node, op, device }) => [`${node} ${op}`, device.replace(/\/replica.*task/, '')]),
      );
      assert.equal(tasks['v VarHandleOp'], '/job:ps:0/device:CPU:0');
      assert.equal(tasks['a Mul'], '/job:worker:0/device:CPU:0');
      assert.equal(tasks['b Exp'], '/job:worker:1/device:CPU:0');
      if (isOfTensorFlow)
        assert.ok(trace.records.some(({ node, op }) => node === 'RecvTensor' && op === 'RecvTensor'));
    }));

  it('trains the digits network on two tasks, with variables on a third, along the losses of this thread', async () => {
    const file = new URL('../../examples/data/digits.csv.gz', import.meta.url);
    const { training } = parseDigits(gunzipSync(readFileSync(file)).toString());
    const lossesOf = async (types, options) => {
      const network = buildNetwork(types, { seed: 3 });
      const session = new tf.Session(network.graph, options);
      await session.run(network.graph.initializer());
      const losses = [];
      for (let step = 0; step < 60; step++) {
        const indices = Array.from({ length: 64 }, (_, i) => (step * 64 + i) % training.count);
        const batch = batchOf(training, indices);
        const feeds = new Map([
          [network.images, batch.pixels],
          [network.labels, batch.labels],
          [network.learningRate, 0.002],
        ]);
        losses.push((await session.run([network.loss, network.train], feeds))[0].item());
      }
      const trace = new tf.Trace();
      const one = batchOf(training, [0]);
      await session.run(network.loss, { images: one.pixels, labels: one.labels }, { trace });
      await session.close();
      network.graph.dispose();
      return { losses, products: trace.records.filter(({ op }) => /MatMul(\[|$)/.test(op)) };
    };
    /** The graph of the network: its variables on one task, its two layers on two others. */
    class Placed extends tf.Graph {
      layers = 0;
      variable(...args) {
        return tf.device(PS, () => super.variable(...args));
      }
      matMul(...args) {
        return tf.device(this.layers++ % 2 === 0 ? FIRST : SECOND, () => super.matMul(...args));
      }
    }
    const here = await lossesOf(tf, {});
    const there = await lossesOf({ ...tf, Graph: Placed }, { target: servers.target });
    assert.ok(here.losses.at(-1) < here.losses[0] / 3, String(here.losses));
    for (const [i, loss] of there.losses.entries())
      assert.ok(Math.abs(loss - here.losses[i]) < 1e-5, `step ${i}: ${loss} and ${here.losses[i]}`);
    assert.deepEqual(there.products.map(({ device }) => device.match(/task:\d/)[0]).sort(), [
      'task:0',
      'task:1',
    ]);
  });

  it('keeps variables on the server, for other sessions, until their container is reset', () =>
    withSession(async (g, session) => {
      const v = g.variable(1, { name: 'v' });
      const boxed = g.op('VarHandleOp', [], {
        attrs: { dtype: 'float32', shape: [], container: 'box', shared_name: 'boxed' },
      });
      const set = g.op('AssignVariableOp', [boxed.output(0), g.constant(7)]);
      const read = g.op('ReadVariableOp', [boxed.output(0)], { attrs: { dtype: 'float32' } }).output(0);
      await session.run([g.initializer(), set]);
      await withSession(async (_, other) => assert.deepEqual((await other.listDevices()).length, 3));
      const other = new tf.Session(g, { target: servers.target });
      assert.deepEqual(
        (await other.run([v, read])).map((value) => value.item()),
        [1, 7],
      );
      await tf.Session.reset(servers.target, ['box']);
      await assert.rejects(other.run(v), (error) => {
        assert.ok(error instanceof AbortedError, String(error));
        return /Session \w+ is not found.*\n.* make a new session, and run the initializers/s.test(
          error.message,
        );
      });
      const third = new tf.Session(g, { target: servers.target });
      assert.equal((await third.run(v)).item(), 1);
      await assert.rejects(third.run(read), { name: 'FailedPreconditionError' });
      await tf.Session.reset(servers.target);
      const fourth = new tf.Session(g, { target: servers.target });
      await assert.rejects(fourth.run(v), { name: 'FailedPreconditionError' });
      await Promise.all([other, third, fourth].map((one) => one.close()));
    }));

  it('has the words of TensorFlow for what is wrong with callables and partial runs', () =>
    withSession(async (g, session) => {
      const [x, y] = ['x', 'y'].map((name) => g.placeholder('float32', [null], { name }));
      const sum = g.add(x, y, { name: 'sum' });
      const product = g.mul(sum, y, { name: 'product' });
      await assert.rejects(session.makeCallable(sum, [x, x]).run([1], [2]), InvalidArgumentError);
      await assert.rejects(session.makeCallable(sum, [x]).run([1]), (error) => {
        assert.match(error.message, /You must feed a value for placeholder tensor 'y' with dtype float/);
        return error instanceof InvalidArgumentError && error.node === 'y' && error.op === 'Placeholder';
      });
      const callable = session.makeCallable(sum, [x, y]);
      const running = callable.run([1], [2]);
      callable.release();
      assert.deepEqual((await running).array(), [3], 'the run was called before the release');
      await assert.rejects(callable.run([1], [2]), CancelledError);
      const pieces = session.partialRun([sum, product], [x, y]);
      await assert.rejects(pieces.run(product, { z: 1 }), NotFoundError);
      const both = [pieces.run(sum, { x: [1], y: [2] }), pieces.run(product)];
      assert.deepEqual((await both[0]).array(), [3]);
      assert.deepEqual((await both[1]).array(), [6], 'pieces wait for one another');
      assert.throws(() => session.runSync(sum), UnimplementedError);
    }));

  itThere('refuses what was changed after it was sent, and says what to do', () =>
    withSession(async (g, session) => {
      const x = g.placeholder('float32', [], { name: 'x' });
      const [y] = g.whileLoop(
        (v) => g.less(v, 100),
        (v) => [g.mul(v, v)],
        [x],
      );
      assert.equal((await session.run(y, { x: 3 })).item(), 6561);
      const [dx] = g.gradients([y], [x]);
      await assert.rejects(session.run(dx, { x: 3 }), (error) => {
        assert.ok(error instanceof InvalidArgumentError);
        return /add them before the first step, or make a new session/.test(error.message);
      });
      const next = new tf.Session(g, { target: servers.target });
      assert.equal((await next.run(dx, { x: 3 })).item(), 8 * 3 ** 7);
      await next.close();
    }),
  );

  it('refuses a device that does not exist', () =>
    withSession(
      async (g, session) => {
        const x = tf.device('/job:worker/task:5', () => g.constant(1, { name: 'far' }));
        await assert.rejects(session.run(x), (error) => {
          assert.match(error.message, /Cannot assign a device for operation far.*task:5/);
          return error instanceof InvalidArgumentError && error.node === 'far';
        });
      },
      { allowSoftPlacement: false },
    ));

  it('carries messages of 64 MiB and many strings, and refuses those beyond 2 GiB before they are sent', () =>
    withSession(async (g, session) => {
      const x = g.placeholder('float32', [null], { name: 'x' });
      const values = Float32Array.from({ length: 16 * MIB }, (_, i) => i % 1000);
      const result = await session.run(g.neg(x), { x: values });
      assert.ok(
        result.data.length === values.length && result.data.every((value, i) => value === -values[i]),
      );
      const names = g.placeholder('string', [null], { name: 'names' });
      const texts = Array.from({ length: 100_000 }, (_, i) => (i % 3 === 0 ? '' : `text ${i}`));
      assert.deepEqual((await session.run(g.identity(names), { names: texts })).data, texts);
      const bytes = g.placeholder('uint8', [null], { name: 'bytes' });
      const before = process.memoryUsage().rss;
      const huge = new Uint8Array(2 ** 31);
      const refusal = {
        name: 'InvalidArgumentError',
        message: /would have 2147483648 bytes.* at most 2147483647/,
      };
      await assert.rejects(session.run(g.identity(bytes), { bytes: huge }), refusal);
      await assert.rejects(session.makeCallable(g.identity(bytes), [bytes]).run(huge), refusal);
      assert.ok(process.memoryUsage().rss - before < 1024 * MIB, 'it was not copied');
    }));

  it('lets steps that are not awaited run at the same time', () =>
    withSession(async (g, session) => {
      const queue = g.op('FIFOQueueV2', [], {
        attrs: { component_types: ['float32'], shapes: [[]], shared_name: 'q' },
      });
      const taken = g.op('QueueDequeueV2', [queue.output(0)], { attrs: { component_types: ['float32'] } });
      const put = g.op('QueueEnqueueV2', [queue.output(0), [g.constant(5)]]);
      const waiting = session.run(taken.output(0));
      await session.run(put);
      assert.equal((await waiting).item(), 5);
    }));

  it('ends steps at their deadlines, at that of the session, and when they are aborted', () =>
    withSession(
      async (g, session) => {
        const forever = endless(g);
        const begun = Date.now();
        await assert.rejects(session.run(forever, {}, { timeoutMs: 200 }), DeadlineExceededError);
        await assert.rejects(
          session.makeCallable(forever, [], { timeoutMs: 200 }).run(),
          DeadlineExceededError,
        );
        await assert.rejects(session.run(forever), DeadlineExceededError);
        assert.ok(Date.now() - begun < 20_000);
        const stop = new AbortController();
        const running = session.run(forever, {}, { signal: stop.signal });
        const after = session.run(g.constant(5));
        await pause(100);
        stop.abort();
        await assert.rejects(running, { name: 'CancelledError', message: 'the run was aborted' });
        assert.equal((await after).item(), 5);
      },
      { operationTimeoutMs: 1500 },
    ));

  it('cancels on the server what is aborted here', () =>
    withSession(async (g, session) => {
      const v = g.variable(0n, { name: 'v', dtype: 'int64' });
      await session.run(g.initializer());
      const [rounds] = g.whileLoop(
        (i) => g.greater(i, 0),
        (i) => {
          g.op('AssignAddVariableOp', [v.handle, g.constant(1n, { dtype: 'int64' })]);
          return [g.add(i, 1)];
        },
        [g.constant(1, { dtype: 'int64' })],
      );
      const stop = new AbortController();
      const running = session.run(rounds, {}, { signal: stop.signal });
      await pause(300);
      stop.abort();
      await assert.rejects(running, CancelledError);
      await pause(300);
      const count = (await session.run(v)).item();
      assert.ok(count > 0n);
      await pause(300);
      assert.equal((await session.run(v)).item(), count);
    }));

  it('closes while a step runs', () =>
    withSession(async (g, session) => {
      const outcomes = Promise.allSettled([session.run(endless(g)), session.run(g.constant(1))]);
      await session.close();
      for (const { reason } of await outcomes)
        assert.deepEqual([reason.name, reason.message], ['CancelledError', 'Session has been closed.']);
      await assert.rejects(session.run(g.constant(1)), /Session has been closed/);
    }));

  itThere('says that a server has no files in memory', () =>
    withSession(async (_, session) =>
      assert.rejects(session.ramFiles.create('ram://x', 4), {
        name: 'UnimplementedError',
        message: /restore the checkpoint from a path that the server can read/,
      }),
    ),
  );

  it('waits for the tasks of its cluster as long as it may', async () => {
    const cluster = await newCluster({ worker: 2 });
    const first = await startTasks(cluster, ['worker:0']);
    const g = new tf.Graph();
    const options = { target: `grpc://${cluster.worker[0]}`, operationTimeoutMs: 1500 };
    const session = new tf.Session(g, options);
    await assert.rejects(session.run(g.constant(1)), (error) => {
      assert.match(error.message, /did not answer CreateSession within 1500 ms\. It waits until every task/);
      return error instanceof DeadlineExceededError;
    });
    await session.close();
    const second = await startTasks(cluster, ['worker:1']);
    const next = new tf.Session(g, { ...options, operationTimeoutMs: 60_000 });
    assert.equal((await next.run(g.constant(1))).item(), 1);
    await next.close();
    await Promise.all([first.kill(), second.kill()]);
  });

  it('knows when its server is killed in a step, and says what to do when it is there again', async () => {
    const cluster = await newCluster({ worker: 1 });
    const target = `grpc://${cluster.worker[0]}`;
    const server = await startTasks(cluster);
    const g = new tf.Graph();
    const v = g.variable(5, { name: 'v' });
    const session = new tf.Session(g, { target });
    await session.run(g.initializer());
    const unavailable = (error) => {
      assert.match(error.message, /Does the server 127\.0\.0\.1:\d+ run.*make a new session/);
      return error instanceof UnavailableError;
    };
    const interrupted = assert.rejects(session.run(endless(g)), unavailable);
    await pause(300);
    await server.kill();
    await interrupted;
    await assert.rejects(session.run(v), unavailable);
    const again = await startTasks(cluster);
    await pause(1500);
    await assert.rejects(session.run(v), (error) => {
      assert.match(error.message, /Session \w+ is not found.*make a new session, and run the initializers/s);
      return error instanceof AbortedError;
    });
    const next = new tf.Session(g, { target });
    await assert.rejects(next.run(v), { name: 'FailedPreconditionError' });
    await next.run(g.initializer());
    assert.equal((await next.run(v)).item(), 5);
    await Promise.all([session.close(), next.close()]);
    await again.kill();
  });

  it('says which task of the cluster is gone', async () => {
    const cluster = await newCluster({ worker: 1, ps: 1 });
    const [worker, ps] = await Promise.all([
      startTasks(cluster, ['worker:0']),
      startTasks(cluster, ['ps:0']),
    ]);
    const g = new tf.Graph();
    const v = tf.device(PS, () => g.variable(5, { name: 'v' }));
    const session = new tf.Session(g, { target: `grpc://${cluster.worker[0]}`, operationTimeoutMs: 20_000 });
    const doubled = tf.device(FIRST, () => g.mul(v, 2));
    await session.run(g.initializer());
    assert.equal((await session.run(doubled)).item(), 10);
    await ps.kill();
    await assert.rejects(session.run(doubled), (error) => {
      assert.ok(error instanceof UnavailableError, String(error));
      return /every task of its cluster/.test(error.message);
    });
    const again = await startTasks(cluster, ['ps:0']);
    await assert.rejects(async () => {
      for (let i = 0; i < 20; i++) {
        await session.run(doubled).catch((error) => {
          if (error instanceof AbortedError) throw error;
        });
        await pause(200);
      }
    }, /make a new session, and run the initializers/);
    await session.close();
    await Promise.all([worker.kill(), again.kill()]);
  });

  it('does not wait for a server that has stopped answering', async () => {
    const cluster = await newCluster({ worker: 1 });
    const server = await startTasks(cluster);
    const g = new tf.Graph();
    const options = { target: `grpc://${cluster.worker[0]}`, operationTimeoutMs: 500 };
    const session = new tf.Session(g, options);
    assert.equal((await session.run(g.constant(1))).item(), 1);
    server.pause();
    const late = (error) => {
      assert.match(error.message, /did not answer \w+ within 500 ms/);
      return error instanceof DeadlineExceededError;
    };
    await assert.rejects(session.listDevices(), late);
    await assert.rejects(session.run(g.constant(2)), late);
    await assert.rejects(tf.Session.reset(options.target, [], { operationTimeoutMs: 500 }), late);
    await session.close();
    await server.kill();
  });
}
