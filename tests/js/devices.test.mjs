import assert from 'node:assert/strict';
import { InvalidArgumentError, NotFoundError } from '../../npm/dist/index.js';
import { engine, withGraph } from './engine.mjs';

const CPU = '/job:localhost/replica:0/task:0/device:CPU:';

describe('Devices', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** Opens a session for `body` alone. */
  const withSession = async (g, options, body) => {
    const session = new tf.Session(g, options);
    try {
      return await body(session);
    } finally {
      await session.close();
    }
  };

  it('are as many as deviceCount says', () =>
    withGraph(tf, (g, other) =>
      withSession(g, { deviceCount: { CPU: 2 } }, async (session) => {
        const devices = await session.listDevices();
        assert.deepEqual(
          devices.map(({ name, type, memoryBytes }) => [name, type, memoryBytes]),
          [
            [`${CPU}0`, 'CPU', 268435456],
            [`${CPU}1`, 'CPU', 268435456],
          ],
        );
        assert.equal((await other.listDevices()).length, 1);
        const incarnations = [...devices, ...(await other.listDevices())].map(
          ({ incarnation }) => incarnation,
        );
        assert.equal(new Set(incarnations).size, 3);
        assert.equal(typeof incarnations[0], 'bigint');
      }),
    ));

  it('are at least one, and a whole number', () => {
    const g = new tf.Graph();
    const open = (deviceCount) => () => new tf.Session(g, { deviceCount });
    assert.throws(open({ CPU: 0 }), { message: 'No CPU devices are available in this process' });
    assert.throws(open({ CPU: 0 }), NotFoundError);
    assert.throws(open({ CPU: -1 }), NotFoundError);
    assert.throws(open({ CPU: 1.5 }), /deviceCount.CPU must be a whole number, not 1.5/);
    assert.throws(open({ CPU: '2' }), InvalidArgumentError);
    assert.throws(open(2), /option 'deviceCount' of Session must be an object, not 2/);
    g.dispose();
  });

  it('of a session that is closed cannot be listed', async () => {
    const g = new tf.Graph();
    const session = new tf.Session(g);
    await session.close();
    await assert.rejects(session.listDevices(), /Session has been closed/);
    g.dispose();
  });

  it('that are asked for have to be there', () =>
    withGraph(tf, async (g) => {
      const x = g.constant(1, { device: '/cpu:1' });
      const message = new RegExp(
        `Cannot assign a device for operation Const: {{node Const}} was explicitly assigned to /cpu:1 but ` +
          `available devices are \\[ ${CPU}0 \\]\\.`,
      );
      const run = (options) => withSession(g, options, async (session) => (await session.run(x)).array());
      await assert.rejects(run({ allowSoftPlacement: false }), message);
      await assert.rejects(run({ allowSoftPlacement: false }), InvalidArgumentError);
      assert.equal(await run({ allowSoftPlacement: false, deviceCount: { CPU: 2 } }), 1);
      assert.equal(await run({ allowSoftPlacement: true }), 1);
      assert.equal(await run({}), 1);
    }));

  it('are logged for every node when the session is asked to', () =>
    withGraph(tf, async (g) => {
      const lines = [];
      tf.setLog((line) => lines.push(line));
      tf.device('/cpu:1', () => g.constant(1, { name: 'x' }));
      const options = { deviceCount: { CPU: 2 }, logDevicePlacement: true };
      await withSession(g, options, (session) => session.run('x'));
      tf.setLog((line) => console.error(line));
      assert.deepEqual(lines, [`x: (Const): ${CPU}1`]);
    }));

  it('of graphs on two devices give the values of one', () =>
    withGraph(tf, async (g) => {
      const a = tf.device('/cpu:1', () => g.mul(g.constant([1, 2]), 3));
      const sum = tf.device('/cpu:0', () => g.add(a, [10, 20]));
      await withSession(g, { deviceCount: { CPU: 2 } }, async (session) =>
        assert.deepEqual((await session.run(sum)).array(), [13, 26]),
      );
    }));

  it('train as one does: weights on one device, loss and gradients on another', async () => {
    const losses = (deviceCount) =>
      withGraph(tf, (g) =>
        withSession(g, { deviceCount }, async (session) => {
          const x = g.placeholder('float32', [4, 3]);
          const w = tf.device('/cpu:1', () => g.variable(new Float32Array([1, 2, 3]), { name: 'w' }));
          const loss = tf.device('/cpu:0', () => g.sum(g.square(g.sub(g.mul(x, w), 1)), [0, 1]));
          const update = new tf.train.GradientDescentOptimizer(0.01).minimize(loss);
          await session.run([], {}, { targets: [g.initializer()] });
          const seen = [];
          for (let step = 0; step < 20; step++) {
            const feed = Float32Array.from({ length: 12 }, (_, i) => Math.sin(step + i));
            const [value] = await session.run([loss], new Map([[x, feed]]), { targets: [update] });
            seen.push(value.data[0]);
          }
          return seen;
        }),
      );
    const [one, two] = [await losses({ CPU: 1 }), await losses({ CPU: 2 })];
    assert.equal(one.length, 20);
    assert.ok(one.at(-1) < one[0]);
    assert.deepEqual(two, one);
  });
});

describe('tf.device', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('gives the operations of its function a device, and returns what that returns', () =>
    withGraph(tf, (g) => {
      const outside = g.op('NoOp', []);
      const [inside, constant] = tf.device('/cpu:1', () => [g.op('NoOp', []), g.constant(1)]);
      const behind = g.op('NoOp', []);
      assert.equal(inside.device, '/device:CPU:1');
      assert.equal(constant.operation.device, '/device:CPU:1');
      assert.equal(outside.device, '');
      assert.equal(behind.device, '');
    }));

  it('nests by parts, and null ends what is around', () =>
    withGraph(tf, (g) => {
      const device = () => g.op('NoOp', []).device;
      tf.device('/job:worker/task:1', () => {
        assert.equal(tf.device('/gpu:0', device), '/job:worker/task:1/device:GPU:0');
        assert.equal(
          tf.device('/gpu:0', () => tf.device('/task:2', device)),
          '/job:worker/task:2/device:GPU:0',
        );
        assert.equal(tf.device(null, device), '');
        assert.equal(
          tf.device(null, () => tf.device('CPU:1', device)),
          '/device:CPU:1',
        );
        assert.equal(tf.device('', device), '/job:worker/task:1');
        assert.equal(device(), '/job:worker/task:1');
      });
    }));

  it('takes the device of an operation as the innermost scope', () =>
    withGraph(tf, (g) => {
      const made = tf.device('/job:worker/cpu:0', () => g.op('NoOp', [], { device: '/cpu:3' }));
      assert.equal(made.device, '/job:worker/device:CPU:3');
      assert.equal(g.op('NoOp', [], { device: '/cpu:3' }).device, '/cpu:3');
    }));

  it('holds for nodes that are imported and have no device', () =>
    withGraph(tf, (g) => {
      const text = "node { name: 'a' op: 'NoOp' } node { name: 'b' op: 'NoOp' device: '/cpu:0' }";
      tf.device('/cpu:1', () => g.importGraphDef(text));
      assert.equal(g.operation('a').device, '/device:CPU:1');
      assert.equal(g.operation('b').device, '/cpu:0');
    }));

  it('is in the exported GraphDef', () =>
    withGraph(tf, (g) => {
      tf.device('/cpu:1', () => g.op('NoOp', [], { name: 'a' }));
      const copy = new tf.Graph();
      copy.importGraphDef(g.toGraphDef());
      assert.equal(copy.operation('a').device, '/device:CPU:1');
      copy.dispose();
    }));

  it('ends when its function throws, and refuses async functions and bad names', () =>
    withGraph(tf, (g) => {
      assert.throws(() =>
        tf.device('/cpu:1', () => {
          throw new RangeError('no');
        }),
      );
      assert.throws(() => tf.device('/cpu:1', async () => {}), /must not be an async function/);
      assert.throws(() => tf.device('cpu', () => {}), {
        name: 'InvalidArgumentError',
        message: /Could not parse cpu into a device specification/,
      });
      assert.throws(() => tf.device(1, () => {}), /a device is a name such as '\/cpu:1', or null/);
      assert.throws(() => tf.device('/cpu:1'), /what tf.device runs must be a function/);
      assert.equal(g.op('NoOp', []).device, '');
    }));
});
