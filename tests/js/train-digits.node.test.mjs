import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { init } from '../../npm/dist/index.js';
import { root } from '../../tools/process.mjs';

const data = path.join(root, 'examples/data/digits.csv.gz');

describe('examples/train-digits.mjs', function () {
  this.timeout(60_000);
  let folder;
  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'digits-'))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const example = (...args) =>
    promisify(execFile)('node', [path.join(root, 'examples/train-digits.mjs'), ...args], { cwd: folder });

  it('trains, shows the gradient, and leaves a file that runs by itself', async () => {
    const { stdout, stderr } = await example('--out', 'made');
    assert.equal(stderr, '');
    const [, percent, seconds] = /([\d.]+) % of the test digits are recognised, after ([\d.]+) s/.exec(
      stdout,
    );
    assert.ok(Number(percent) >= 97 && Number(seconds) < 20, stdout);
    assert.match(stdout, /epoch 60\/60 {2}loss 0\.\d+ {2}accuracy \d+\.\d % {2}[\d,]+ examples\/s/);
    assert.match(
      stdout,
      /LossGradient\(images:float, labels:int32, [^)]*\) -> \(d_hidden_weights:float, [^)]*\) \{\n[^]*MatMul[^]*\n\}/,
    );
    assert.match(stdout, /identical predictions/);
    assert.match(
      readFileSync(path.join(folder, 'made/loss.svg'), 'utf8'),
      /^<svg [^]*<polyline points="[^]*<\/svg>\n$/,
    );

    const tf = await init({ threads: 1 });
    const g = new tf.Graph();
    g.importGraphDef(readFileSync(path.join(folder, 'made/digits.pb')));
    assert.deepEqual(
      g.operations().filter(({ type }) => /Var/.test(type)),
      [],
    );
    const session = new tf.Session(g);
    const row = gunzipSync(readFileSync(data)).toString().split('\n')[3].split(',').map(Number);
    const { data: probabilities } = await session.run('probabilities', {
      images: Float32Array.from(row.slice(0, 64), (value) => value / 16),
    });
    assert.equal(probabilities.indexOf(Math.max(...probabilities)), row[64]);
    await session.close();
    g.dispose();
  });

  it('explains files that are cut off, malformed or missing, in one line', async () => {
    const text = gunzipSync(readFileSync(data));
    const files = [
      ['half.gz', readFileSync(data).subarray(0, 20_000), /half\.gz is no complete gzip file/],
      ['cut.gz', gzipSync(text.subarray(0, text.length / 2)), /cut\.gz: row \d+ has \d+ values, not 65/],
      ['text.gz', Buffer.from('no gzip'), /text\.gz is no complete gzip file/],
      ['words.gz', gzipSync('a,b,c\n'), /words\.gz: row 1 has 3 values/],
    ];
    for (const [name, bytes, message] of files) {
      writeFileSync(path.join(folder, name), bytes);
      await assert.rejects(
        example('--data', name),
        (error) =>
          error.code === 1 && message.test(error.stderr) && error.stderr.trim().split('\n').length === 1,
        name,
      );
    }
    await assert.rejects(
      example('--data', 'missing.gz'),
      (error) => error.code === 1 && /cannot be read.*missing\.gz/.test(error.stderr),
    );
    await assert.rejects(
      example('--epochs', 'many'),
      (error) => error.code === 1 && /--epochs takes a whole number, not 'many'/.test(error.stderr),
    );
  });
});
