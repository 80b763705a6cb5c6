// Training with parameter servers on clusters of TensorFlow's servers and of this package's gives the weights of one
// process. The program is TensorFlow's, in Python.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startMixedCluster } from './mixed-servers.mjs';
import { PYTHON, needTensorFlow } from './tensorflow-servers.mjs';

const SCRIPT = fileURLToPath(new URL('../oracle/parameter_servers.py', import.meta.url));

/** What the program prints: the weights by how they were trained. */
async function trained(cluster) {
  const child = spawn(PYTHON, [SCRIPT, JSON.stringify(cluster)], { timeout: 100_000, killSignal: 'SIGKILL' });
  let [printed, words] = ['', ''];
  child.stdout.on('data', (text) => (printed += text));
  child.stderr.on('data', (text) => (words = `${words}${text}`.slice(-4000)));
  await once(child, 'close');
  const lines = printed.trim().split('\n').filter(Boolean).map(JSON.parse);
  assert.equal(lines.length, 6, words);
  return Object.fromEntries(lines.map(({ name, weights }) => [name, weights.flat()]));
}

describe('training with parameter servers', function () {
  this.timeout(120_000);
  before(function () {
    needTensorFlow(this);
  });

  const CLUSTERS = {
    "one of TensorFlow's workers and two of this package, variables on TensorFlow's server": (job, i) =>
      job === 'worker' && i > 0 ? 'ours' : 'theirs',
    "one of TensorFlow's workers and two of this package, variables on this package's server": (job, i) =>
      job === 'worker' && i === 1 ? 'theirs' : 'ours',
  };
  for (const [name, kindOf] of Object.entries(CLUSTERS))
    it(`gives the weights of one process: ${name}`, async () => {
      const servers = await startMixedCluster({ ps: 1, worker: 3 }, kindOf);
      try {
        const weights = await trained(servers.cluster);
        const near = (way, expected) => {
          assert.equal(weights[way].length, 2 * 8 + 8 + 8 * 2);
          for (const [i, value] of weights[way].entries())
            assert.ok(
              Math.abs(value - weights[expected][i]) < 1e-5,
              `${way}: ${value}, ${weights[expected][i]}`,
            );
        };
        for (const i of [0, 1, 2]) near(`together, master ${i}`, 'together, one process');
        near('in turns, cluster', 'in turns, one process');
        assert.ok(Math.abs(weights['in turns, cluster'][0] - weights['together, one process'][0]) > 1e-4);
      } finally {
        await servers.kill();
      }
    });
});
