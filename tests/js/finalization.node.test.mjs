import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { engine } from './engine.mjs';

describe('graphs and sessions that nobody holds on to', () => {
  it('are freed without dispose() and close()', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    const tf = await engine();
    const makeSome = () => {
      for (let i = 0; i < 10; i++) {
        const g = new tf.Graph();
        const session = new tf.Session(g);
        session.runSync(g.add(1, 2));
      }
    };
    const used = () => ({ ...tf.memory(), allocations: 0 });
    const settle = async (goal) => {
      for (let i = 0; i < 100 && tf.memory().graphs + tf.memory().sessions > goal; i++) {
        collect();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    makeSome();
    await settle(0);
    const before = used();
    assert.equal(before.graphs + before.sessions, 0);
    makeSome();
    assert.equal(tf.memory().graphs, 10);
    await settle(0);
    assert.deepEqual(used(), before);
  });
});
