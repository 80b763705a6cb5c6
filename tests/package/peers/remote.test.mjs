// The recipe for sessions on a server of this package, with such a server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../../tools/process.mjs';
import { startServing } from '../../js/serving.mjs';
import { recipe } from '../readme-blocks.mjs';

describe('the recipe for a server', function () {
  this.timeout(60_000);
  let folder;
  let server;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'remote-'));
    server = await startServing('--websocket', '0');
  });
  after(() => {
    server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('prints what it says', async () => {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(root, 'npm'), path.join(folder, 'node_modules/tfcore-wasm'));
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
    const program = recipe('remote.js');
    writeFileSync(path.join(folder, 'remote.js'), program.replace('ws://127.0.0.1:8080', server.target));
    const { stdout } = await promisify(execFile)('node', [path.join(folder, 'remote.js')]);
    assert.equal(stdout.trim(), /console\.log.*\/\/ (.*)/.exec(program)[1]);
  });
});
