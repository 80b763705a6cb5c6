// The recipe for sessions on TensorFlow's servers, with such servers. Needs the oracle's TensorFlow.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../../tools/process.mjs';
import { needTensorFlow, startCluster } from '../../js/tensorflow-servers.mjs';
import { recipe } from '../readme-blocks.mjs';

describe('the recipe for a cluster', function () {
  this.timeout(60_000);
  let folder;
  let servers;
  before(async function () {
    needTensorFlow(this);
    folder = mkdtempSync(path.join(tmpdir(), 'cluster-'));
    servers = await startCluster({ worker: 2, ps: 1 });
  });
  after(async () => {
    await servers?.kill();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  it('prints what it says', async () => {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(root, 'npm'), path.join(folder, 'node_modules/tfcore-wasm'));
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
    const program = recipe('cluster.js');
    writeFileSync(path.join(folder, 'cluster.js'), program.replace('grpc://localhost:2222', servers.target));
    const { stdout } = await promisify(execFile)('node', [path.join(folder, 'cluster.js')]);
    assert.equal(stdout.trim(), /console\.log.*\/\/ (.*)/.exec(program)[1]);
  });
});
