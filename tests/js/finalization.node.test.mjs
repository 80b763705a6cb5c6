import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { engine } from './engine.mjs';

const SQUARE = `Squared(x:float) -> (y:float) {
  y = Square[T=float](x)
  return y = y:y:0
}`;

describe('what nobody holds on to', () => {
  let tf;
  let collect;
  before(async () => {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc');
    tf = await engine();
  });

  /** Collects garbage until no objects remain that tf.memory() counts under `kinds`. */
  const settle = async (kinds) => {
    const open = () => kinds.reduce((sum, kind) => sum + tf.memory()[kind], 0);
    for (let i = 0; i < 100 && open() > 0; i++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  const freed = async (kinds, make) => {
    const used = () => ({ ...tf.memory(), allocations: 0, peakBytes: 0 });
    const makeSome = () => {
      for (let i = 0; i < 10; i++) make();
    };
    makeSome();
    await settle(kinds);
    const before = used();
    for (const kind of kinds) assert.equal(before[kind], 0);
    makeSome();
    for (const kind of kinds) assert.ok(tf.memory()[kind] >= 10, kind);
    await settle(kinds);
    assert.deepEqual(used(), before);
  };

  it('is freed without dispose() and close(): graphs and sessions', () =>
    freed(['graphs', 'sessions'], () => {
      const g = new tf.Graph();
      new tf.Session(g).runSync(g.add(1, 2));
    }));

  it('is freed without close(): sessions in a worker, and their worker', async () => {
    const threads = process.getBuiltinModule('node:worker_threads');
    const { Worker } = threads;
    let ended = false;
    threads.Worker = class extends Worker {
      constructor(...args) {
        super(...args);
        this.once('exit', () => (ended = true));
      }
    };
    try {
      const use = async () => {
        const g = new tf.Graph();
        const session = new tf.Session(g, { target: 'worker' });
        const callable = session.makeCallable(g.add(1, 2));
        assert.equal((await callable.run()).item(), 3);
      };
      await Promise.all([use(), use()]);
      for (let i = 0; i < 300 && !ended; i++) {
        collect();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert.ok(ended);
    } finally {
      threads.Worker = Worker;
    }
  });

  it('is freed without dispose(): graphs whose session in a worker was closed', async () => {
    const use = async () => {
      const g = new tf.Graph();
      const session = new tf.Session(g, { target: 'worker' });
      await session.run(g.constant(1));
      await session.close();
    };
    await use();
    await settle(['graphs']);
    assert.equal(tf.memory().graphs, 0);
  });

  it('is freed without dispose(): resident tensors', async () => {
    const g = new tf.Graph();
    const session = new tf.Session(g);
    const y = g.identity(g.placeholder('float32', [null], { name: 'x' }));
    await freed(['residentTensors'], () => {
      tf.allocate('float32', [1000]).data.fill(1);
      session.runSync(y, { x: tf.tensor([1, 2], { resident: true }) }, { keep: true });
    });
    await session.close();
    g.dispose();
  });

  it('is freed without dispose(): function bodies', () =>
    freed(['functionBodies'], () => {
      const body = tf.FunctionDef.parse(SQUARE).instantiate();
      body.gradient().runSync([[3], [1]]);
      body.optimize().runSync([[3]]);
    }));
});
