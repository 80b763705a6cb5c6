// While a model arrives from a server, the engine warms up.
import assert from 'node:assert/strict';
import { init } from '../../npm/dist/index.js';
import { readBytes } from './engine.mjs';

const ADDRESS = 'http://models.test/sum.pb';
const COUNT = 5000;
const PIECE = 999;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('an engine that waits for a model', function () {
  this.timeout(60_000);
  let wasm;
  let tf;
  let graphDef;
  let controller; // of the answer that arrives
  const usual = globalThis.fetch;

  before(async () => {
    wasm = await readBytes('npm/dist/tfcore-simd.wasm');
    const graph = new (await init({ threads: 1 })).Graph();
    const x = graph.placeholder('float32', [], { name: 'x' });
    const weights = Float32Array.from({ length: COUNT }, (_, i) => i);
    const sum = graph.op('Sum', [graph.constant(weights), graph.constant([0], { dtype: 'int32' })]);
    graph.op('Mul', [x, sum.output(0)], { name: 'y' });
    graphDef = graph.toGraphDef();
    graph.dispose();
  });
  beforeEach(async () => {
    controller = undefined;
    tf = await init({ wasm: wasm.slice(), variant: 'simd' }); // one that has done nothing yet
    globalThis.fetch = async (address, { signal } = {}) => {
      assert.equal(String(address), ADDRESS);
      const body = new ReadableStream({
        start(made) {
          controller = made;
          signal?.addEventListener('abort', () => made.error(signal.reason));
        },
      });
      return new Response(body);
    };
  });
  afterEach(() => {
    globalThis.fetch = usual;
  });

  const isWarming = async () => {
    for (let turn = 0; turn < 1000; turn++) {
      if (tf.memory().sessions > 0) return true;
      await pause(1);
    }
    return false;
  };
  const arrive = () => {
    for (let at = 0; at < graphDef.length; at += PIECE) controller.enqueue(graphDef.slice(at, at + PIECE));
    controller.close();
  };
  const checkModel = async (model) => {
    const { graphs, sessions } = tf.memory();
    assert.deepEqual([graphs, sessions], [1, 1]);
    const { y } = await model.run({ x: 2 });
    assert.deepEqual(Array.from(y.data), [COUNT * (COUNT - 1)]);
    await model.close();
    checkEmpty();
  };
  const checkEmpty = () => {
    const { graphs, sessions, callables, tensors } = tf.memory();
    assert.deepEqual(
      { graphs, sessions, callables, tensors },
      { graphs: 0, sessions: 0, callables: 0, tensors: 0 },
    );
  };

  it('runs a small network once, and leaves nothing of it', async () => {
    const first = tf.load(ADDRESS);
    assert.ok(await isWarming());
    await pause(30); // some of its steps
    arrive();
    await checkModel(await first);
    const second = tf.load(ADDRESS);
    await pause(100);
    assert.equal(tf.memory().graphs, 0);
    arrive();
    await checkModel(await second);
  });

  it('ends with the last byte, in whichever part of it', async () => {
    for (const milliseconds of [0, 1, 3, 10, 30, 200]) {
      tf = await init({ wasm: wasm.slice(), variant: 'simd' });
      const loading = tf.load(ADDRESS);
      await pause(milliseconds);
      while (!controller) await pause(1);
      arrive();
      controller = undefined;
      await checkModel(await loading);
    }
  });

  it('ends when the load fails or is aborted', async () => {
    const broken = tf.load(ADDRESS);
    assert.ok(await isWarming());
    controller.error(new Error('the line is cut'));
    await assert.rejects(broken, /the line is cut/);
    checkEmpty();
    tf = await init({ wasm: wasm.slice(), variant: 'simd' });
    const abort = new AbortController();
    const aborted = tf.load(ADDRESS, { signal: abort.signal });
    assert.ok(await isWarming());
    abort.abort();
    await assert.rejects(aborted, { name: 'AbortError' });
    checkEmpty();
  });

  it('does not begin for a model in memory', async () => {
    await checkModel(await tf.load(graphDef));
    const loading = tf.load(ADDRESS);
    assert.ok(await isWarming());
    arrive();
    await checkModel(await loading);
  });
});
