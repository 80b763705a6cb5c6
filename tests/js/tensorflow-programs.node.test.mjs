// Programs of TensorFlow in Python, tests/oracle/programs/, print the same on TensorFlow's server and on ours.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMixedCluster } from './mixed-servers.mjs';
import { startServing } from './serving.mjs';
import { PYTHON, needTensorFlow, startCluster } from './tensorflow-servers.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAMS = path.join(ROOT, 'tests/oracle/programs');
const HELPERS = ['report', 'run', 'restore'];
/** A program that waits for ever is ended. */
const MOST_MS = 240_000;

const programs = readdirSync(PROGRAMS)
  .filter((file) => file.endsWith('.py'))
  .map((file) => path.basename(file, '.py'))
  .filter((name) => !HELPERS.includes(name));

/** What programs print, by name, without what differs from run to run: handles of sessions, and the folder. */
async function outputs(target, folder, names, device) {
  const child = spawn(PYTHON, [path.join(PROGRAMS, 'run.py'), target, folder, ...names], {
    timeout: MOST_MS,
    killSignal: 'SIGKILL',
    env: device ? { ...process.env, DEVICE: device } : process.env,
  });
  let [printed, words] = ['', ''];
  child.stdout.on('data', (text) => (printed += text));
  child.stderr.on('data', (text) => (words = `${words}${text}`.slice(-8000)));
  await once(child, 'close');
  const text = printed.replaceAll(folder, 'FOLDER').replaceAll(/Session [0-9a-f]{16}/g, 'Session HANDLE');
  const parts = text.split(/^=== /m).slice(1);
  return { words, lines: new Map(parts.map((part) => [part.split('\n')[0], part.trimEnd().split('\n')])) };
}

describe('programs of TensorFlow in Python', function () {
  this.timeout(300_000);
  const servers = [];
  const folders = [0, 1].map(() => mkdtempSync(path.join(tmpdir(), 'tfcore-programs-')));
  let theirs, ours;
  before(async function () {
    needTensorFlow(this);
    const [tensorflow, tfcore] = await Promise.all([
      startCluster({ worker: 1 }),
      startServing('--job', 'worker', '--threads', '1'),
    ]);
    servers.push(tensorflow, tfcore);
    [theirs, ours] = await Promise.all(servers.map(({ target }, i) => outputs(target, folders[i], programs)));
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  for (const name of programs)
    it(`${name} prints the same on both servers`, () => {
      const expected = theirs.lines.get(name);
      assert.ok(expected && !expected.includes('did not end'), theirs.words);
      assert.deepEqual(ours.lines.get(name), expected);
    });

  it('restore on each server what the other one has saved', async () => {
    const saved = theirs.lines.get('saving').find((line) => line.startsWith('restored: '));
    assert.match(saved, /^restored: \(float32\[2, 2\] 5 6 7 8, /);
    for (const [i, { target }] of servers.entries()) {
      const { lines, words } = await outputs(target, folders[1 - i], ['restore']);
      assert.deepEqual(lines.get('restore'), ['restore', saved], words);
    }
  });
});

// The same with a second task, on which the programs place their nodes, and on which the master computes nothing.
describe('programs of TensorFlow in Python, on clusters of two tasks', function () {
  this.timeout(240_000);
  const KINDS = {
    "TensorFlow's master and a worker of this package": { worker: 'theirs', ps: 'ours' },
    "a master of this package and TensorFlow's worker": { worker: 'ours', ps: 'theirs' },
    'servers of this package': { worker: 'ours', ps: 'ours' },
  };
  const clusters = [];
  let expected;
  before(async function () {
    needTensorFlow(this);
    expected = await outputsOn({ worker: 'theirs', ps: 'theirs' });
  });
  after(() => Promise.all(clusters.map((cluster) => cluster.kill())));

  async function outputsOn(kinds) {
    const cluster = await startMixedCluster({ worker: 1, ps: 1 }, (job) => kinds[job]);
    clusters.push(cluster);
    const folder = mkdtempSync(path.join(tmpdir(), 'tfcore-programs-'));
    try {
      return await outputs(cluster.target, folder, programs, '/job:ps/task:0');
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  for (const [name, kinds] of Object.entries(KINDS))
    it(`print on ${name} what they print on TensorFlow's servers`, async () => {
      const { lines, words } = await outputsOn(kinds);
      for (const program of programs) {
        assert.ok(!expected.lines.get(program)?.includes('did not end'), expected.words);
        assert.ok(lines.has(program), words);
        assert.deepEqual(lines.get(program), expected.lines.get(program));
      }
    });
});
