// Traces of steps: records, the table of ops, and the Trace Event Format.
import assert from 'node:assert/strict';
import { CancelledError, InvalidArgumentError } from '../../npm/dist/index.js';
import { engine, isHere, withGraph } from './engine.mjs';

/** The fields that the Trace Event Format requires of complete events and of metadata. */
function checkChromeTrace(trace) {
  const parsed = JSON.parse(JSON.stringify(trace));
  assert.equal(parsed.displayTimeUnit, 'ms');
  for (const event of parsed.traceEvents) {
    assert.ok(['X', 'M'].includes(event.ph));
    assert.equal(typeof event.name, 'string');
    assert.ok(Number.isInteger(event.pid) && Number.isInteger(event.tid));
    if (event.ph === 'M') assert.equal(typeof event.args.name, 'string');
    else assert.ok(event.ts >= 0 && event.dur >= 0 && Number.isFinite(event.ts + event.dur));
  }
  return parsed.traceEvents.filter(({ ph }) => ph === 'X');
}

describe('traces', () => {
  let tf;
  before(async () => (tf = await engine()));

  const withProduct = (body) =>
    withGraph(tf, (g, session) => {
      const x = g.placeholder('float32', [null, 64], { name: 'x' });
      const w = g.randomUniform([64, 32], { dtype: 'float32', name: 'w' });
      const product = g.matMul(x, w, { name: 'product' });
      const y = g.softmax(product, { name: 'y' });
      const xValue = new Float32Array(64 * 16).fill(0.5);
      return body({ session, x, y, feeds: [[x, tf.tensor(xValue, [16, 64])]] });
    });

  const nodes = (trace) => trace.records.map(({ node }) => node);

  it('have a record for each kernel that ran', () =>
    withProduct(async ({ session, y, feeds }) => {
      const trace = new tf.Trace();
      await session.run(y, feeds, { trace });
      assert.equal(session.lastTrace, trace);
      assert.deepEqual(nodes(trace).sort(), ['product', 'w', 'y']);
      const record = trace.records.find(({ node }) => node === 'product');
      assert.equal(record.op, 'MatMul');
      assert.equal(record.label, 'product = MatMul(_arg_x_0_0, w)');
      assert.equal(record.device, '/job:localhost/replica:0/task:0/device:CPU:0');
      assert.deepEqual(record.outputs, [{ dtype: 'float32', shape: [16, 32] }]);
      assert.ok(record.allocated >= 16 * 32 * 4);
    }));

  it('name the device of each node', () =>
    withGraph(tf, async (g) => {
      const x = tf.device('/cpu:1', () =>
        g.softmax(g.randomUniform([4], { dtype: 'float32', name: 'r' }), { name: 'x' }),
      );
      const y = tf.device('/cpu:0', () => g.exp(x, { name: 'y' }));
      const session = new tf.Session(g, { deviceCount: { CPU: 2 } });
      const trace = new tf.Trace();
      await session.run(y, {}, { trace });
      await session.close();
      const places = trace.records.map(({ node, device }) => `${node} ${device.at(-1)}`);
      assert.deepEqual(places.sort(), ['r 1', 'x 1', 'y 0']);
      const { traceEvents } = trace.chromeTrace();
      assert.equal(traceEvents.filter(({ ph }) => ph === 'M').length, 2);
    }));

  it('become a Chrome trace and a table', () =>
    withProduct(async ({ session, y, feeds }) => {
      if (isHere) session.runSync(y, feeds, { trace: true });
      else await session.run(y, feeds, { trace: true });
      const events = checkChromeTrace(session.lastTrace.chromeTrace());
      assert.deepEqual(events.map(({ name }) => name).sort(), ['MatMul', 'RandomUniform', 'Softmax']);
      const table = session.lastTrace.table();
      assert.match(table, /^op +count +self ms +share +total ms\n/);
      assert.match(table, /\nMatMul +1 +\d+\.\d{3} +\d+\.\d %/);
      const shares = session.lastTrace.ops().map(({ share }) => share);
      const sum = shares.reduce((a, b) => a + b, 0);
      assert.ok(sum === 0 || Math.abs(sum - 1) < 1e-9);
    }));

  it('are there for callables and pieces of partial runs, and add up', () =>
    withProduct(async ({ session, x, y, feeds }) => {
      const trace = new tf.Trace();
      const callable = session.makeCallable(y, [x], { trace });
      await callable.run(feeds[0][1]);
      if (isHere) callable.runSync(feeds[0][1]);
      else await callable.run(feeds[0][1]);
      assert.equal(trace.records.length, 6);
      assert.equal(trace.ops().find(({ op }) => op === 'Softmax').count, 2);
      if (!isHere) return; // servers of TensorFlow record no pieces
      const piece = session.partialRun([y], [x]);
      await piece.run(y, feeds, { trace: true });
      assert.deepEqual(nodes(session.lastTrace).sort(), ['product', 'w', 'y']);
    }));

  it('of a step without the option do not exist', () =>
    withProduct(async ({ session, y, feeds }) => {
      await session.run(y, feeds);
      assert.equal(session.lastTrace, undefined);
      await assert.rejects(() => session.run(y, feeds, { trace: 'yes' }), InvalidArgumentError);
    }));

  it('end where their step ended', () =>
    withProduct(async ({ session, y, feeds }) => {
      const trace = new tf.Trace();
      const controller = new AbortController();
      controller.abort();
      await assert.rejects(() => session.run(y, feeds, { trace, signal: controller.signal }), CancelledError);
      assert.equal(trace.records.length, 0);
    }));
});

describe('Session.reset', () => {
  it('closes all sessions of the engine', async () => {
    const tf = await engine();
    await withGraph(tf, async (g, session) => {
      const one = g.constant(1);
      assert.equal((await session.run(one)).item(), 1);
      assert.throws(() => tf.Session.reset('nowhere'), /No session factory registered/);
      tf.Session.reset('', ['box']);
      await assert.rejects(() => session.run(one), CancelledError);
      const later = new tf.Session(g);
      assert.equal((await later.run(one)).item(), 1);
      await later.close();
    });
  });
});
