// The order of steps, with steps that are counts of slices: numbers above 0 run for a slice, 'wait' is a slice in
// which the step is blocked until `open` is true.
import assert from 'node:assert/strict';
import path from 'node:path';
import { build } from 'esbuild';

const source = path.join(import.meta.dirname, '../../bindings/js/engine/step-queue.ts');
const { outputFiles } = await build({ entryPoints: [source], bundle: true, format: 'esm', write: false });
const { StepQueue } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

/** No step needs the side module. */
const LOADED = { isWanted: false };

class FakeStep {
  begun = false;
  blocked = false;
  ended = false;
  constructor(name, log, slices) {
    Object.assign(this, { name, log, slices });
  }

  advance(sliceMs) {
    this.begun = true;
    do {
      const next = this.slices[0];
      this.blocked = typeof next === 'object' && !next.open;
      if (this.blocked) return;
      this.slices.shift();
      this.log.push(this.name);
      this.ended = this.slices.length === 0;
    } while (sliceMs === 0 && !this.ended);
  }

  abandon(error) {
    this.error = error;
    this.blocked = false;
    this.ended = true;
  }
}

function start() {
  const [queue, log] = [new StepQueue(LOADED), []];
  const answer = (step) => () => {
    if (step.error) throw step.error;
    return step.name;
  };
  return {
    queue,
    log,
    step: (name, ...slices) => new FakeStep(name, log, slices),
    run: (step, options = {}) => queue.run(step, answer(step), options, () => undefined),
  };
}

describe('the queue of steps', () => {
  it('runs a short step at once, and long ones in order', async () => {
    const { log, step, run } = start();
    const short = run(step('a', 1));
    assert.deepEqual(log, ['a']);
    const rest = [run(step('b', 1, 1, 1)), run(step('c', 1)), run(step('d', 1, 1))];
    assert.deepEqual(await Promise.all([short, ...rest]), ['a', 'b', 'c', 'd']);
    assert.deepEqual(log, ['a', 'b', 'b', 'b', 'c', 'd', 'd']);
  });

  it('lets later steps run while a step is blocked, and then continues it', async () => {
    const { log, step, run } = start();
    const gate = { open: false };
    const blocked = run(step('a', 1, gate, 1));
    const [long, short] = [run(step('b', 1, 1)), run(step('c', 1))];
    assert.deepEqual(await Promise.all([long, short]), ['b', 'c']);
    assert.equal(await run(step('d', 1)), 'd');
    gate.open = true;
    assert.equal(await blocked, 'a');
    assert.deepEqual(log, ['a', 'b', 'b', 'c', 'd', 'a', 'a']);
  });

  it('runs a step at once while all earlier ones are blocked', async () => {
    const { log, step, run } = start();
    const gate = { open: false };
    const blocked = run(step('a', gate));
    const second = run(step('b', 1));
    assert.deepEqual(log, ['b']);
    gate.open = true;
    assert.deepEqual(await Promise.all([blocked, second]), ['a', 'b']);
  });

  it('ends a blocked step whose signal is aborted', async () => {
    const { step, run } = start();
    const controller = new AbortController();
    const blocked = run(step('a', { open: false }), { signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    await assert.rejects(blocked, { name: 'CancelledError' });
    assert.equal(await run(step('b', 1, 1)), 'b');
  });

  it('ends the steps that have begun when it is abandoned', async () => {
    const { queue, step, run } = start();
    const error = new Error('closed');
    const runs = [run(step('a', { open: false })), run(step('b', 1, 1)), run(step('c', 1))];
    queue.abandon(error);
    const [a, b, c] = await Promise.allSettled(runs);
    assert.deepEqual([a.reason, b.reason, c.value], [error, error, 'c']);
  });

  it('finishes the steps that have begun before a step that runs at once', async () => {
    const { queue, log, step, run } = start();
    const runs = [run(step('a', 1, 1)), run(step('b', 1))];
    queue.runAtOnce(step('c', 1, 1));
    assert.deepEqual(log, ['a', 'a', 'c', 'c']);
    assert.deepEqual(await Promise.all(runs), ['a', 'b']);
  });

  it('runs the queue for a blocked step that runs at once, and refuses to wait for nothing', async () => {
    const { queue, step, run } = start();
    const gate = { open: false };
    const opens = step('b', 1);
    opens.advance = () => {
      gate.open = true;
      opens.ended = true;
    };
    const runs = [run(step('a', 1, 1, 1)), run(opens)];
    const waits = step('c', gate);
    queue.runAtOnce(waits);
    assert.equal(waits.error, undefined);
    await Promise.all(runs);
    const forever = step('d', { open: false });
    queue.runAtOnce(forever);
    assert.match(forever.error.message, /waits for another step/);
  });
});
