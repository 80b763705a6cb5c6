// examples/fine-tune.mjs, run as a user runs it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { engine, withGraph } from './engine.mjs';
import { goldenCases } from './golden.mjs';

describe('examples/fine-tune.mjs', function () {
  this.timeout(30_000);
  let folder;
  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'fine-tune-'))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('runs a frozen model, trains it further, and saves what it learned', async () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('../../examples/fine-tune.mjs', import.meta.url)), folder],
      { encoding: 'utf8' },
    );
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(
      stdout,
      /^31 nodes: Const 11, BiasAdd 4, [^]*\nmissing: nothing\nin: x float32 \[4, 16, 16, 1\], labels int64 \[4\]; out: loss\n/,
    );
    const lenet = (await goldenCases('models')).find(({ name }) => name === 'LeNet');
    const first = lenet.steps[0].fetches.find(({ name }) => name === 'loss:0').data[0];
    assert.ok(stdout.includes(`loss before: ${first.toFixed(4)}\n`), stdout);
    const losses = Array.from(stdout.matchAll(/step \d+: loss ([\d.]+)/g), ([, loss]) => Number(loss));
    assert.equal(losses.length, 4);
    assert.ok(
      losses[0] < first && losses.every((loss, i) => i === 0 || loss < losses[i - 1]) && losses[3] < 0.05,
      String(losses),
    );
    assert.match(
      stdout,
      /saved: lenet\.ckpt\.data-00000-of-00001, lenet\.ckpt\.index\nloss after, from the checkpoint: 0\.0\d+, the same as in training\n$/,
    );

    const [images, labels] = lenet.steps[0].feeds;
    await withGraph(await engine(), async (g, session) => {
      g.importGraphDef(readFileSync(path.join(folder, 'tuned.pb')));
      const rows = (await session.run('output', { x: images.data })).array();
      assert.deepEqual(
        rows.map((row) => BigInt(row.indexOf(Math.max(...row)))),
        [...labels.data],
        'it has learned the four images',
      );
    });
  });
});
