// examples/graph-import.mjs, run as a user runs it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const example = fileURLToPath(new URL('../../examples/graph-import.mjs', import.meta.url));
const run = (...args) => spawnSync(process.execPath, [example, ...args], { encoding: 'utf8' });

describe('examples/graph-import.mjs', function () {
  this.timeout(30_000);
  let folder;
  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'tfcore-'))));
  after(() => rmSync(folder, { recursive: true }));

  it('reads a graph as bytes and as text, and runs an op of its own', () => {
    const { status, stdout } = run();
    assert.equal(status, 0);
    assert.match(
      stdout,
      /^4 nodes, 4 edges, imported in [\d.]+ ms \(producer 2314\)\nops +Cube 2, Add 1, Placeholder 1\nfunctions +Cube\n/,
    );
    assert.match(stdout, /inputs +x: float32 \[\?, 3\]\nresults +sum\n/);
    assert.match(stdout, /as text and back: the same bytes/);
    assert.match(
      stdout,
      /\[1, 2, 3\] becomes \[3, 2, 1\]; its gradient turns \[1, 10, 100\] into \[100, 10, 1\]/,
    );
  });

  it('says what is in a file, or why it cannot be read', () => {
    const [good, bad] = [path.join(folder, 'good.pbtxt'), path.join(folder, 'bad.pb')];
    writeFileSync(
      good,
      "node { name: 'a' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } } node { name: 'b' op: 'Identity' input: 'a' attr { key: 'T' value { type: DT_INT32 } } }",
    );
    writeFileSync(bad, 'hello');
    assert.match(run(good).stdout, /^2 nodes, 1 edges,[^]*inputs +a: int32 \?\nresults +b\n/);
    const { status, stderr } = run(bad);
    assert.equal(status, 1);
    assert.match(stderr, /bad\.pb: INVALID_ARGUMENT: Invalid GraphDef: Cannot parse tensorflow\.GraphDef/);
  });
});
