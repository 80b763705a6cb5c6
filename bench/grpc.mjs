// The cost of a step on a server of TensorFlow, `node bench/grpc.mjs [rounds]`: beside the same step in this thread, on a
// server of this package, on two of them, and beside TensorFlow's own client. Needs the TensorFlow of tests/oracle.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { init } from '../npm/dist/index.js';
import { startMixedCluster } from '../tests/js/mixed-servers.mjs';
import { PYTHON, startCluster } from '../tests/js/tensorflow-servers.mjs';
import { median } from './measure.mjs';

const SIZES = { '1 KiB': 2 ** 8, '1 MiB': 2 ** 18, '64 MiB': 2 ** 24 };
const ROUND_MS = 500;
const rounds = Number(process.argv[2] ?? 9);

/** TensorFlow's client in a process of its own: milliseconds per step for so many floats. */
async function startPeer(target) {
  const script = fileURLToPath(new URL('grpc_peer.py', import.meta.url));
  const child = spawn(PYTHON, [script, target], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  const time = async (floats) => {
    child.stdin.write(`${floats} ${ROUND_MS}\n`);
    return Number((await lines.next()).value);
  };
  return { time, end: () => child.stdin.end() };
}

/** Milliseconds per step that feeds and fetches so many floats. */
async function timeOf(session, floats) {
  const feeds = { x: Float32Array.from({ length: floats }, (_, i) => i) };
  const started = performance.now();
  let elapsed = 0;
  for (let steps = 1; ; steps++) {
    const { data } = await session.run('y', feeds);
    elapsed = performance.now() - started;
    if (data[floats - 1] !== 1 - floats) throw new Error(`-${floats - 1} is ${data[floats - 1]}`);
    if (elapsed >= ROUND_MS) return elapsed / steps;
  }
}

const { target, kill } = await startCluster({ local: 1 });
const peer = await startPeer(target);
const tf = await init({ threads: 1 });
/** A session whose graph has the node 'y' on a device. */
function sessionOn(target, device = '') {
  const g = new tf.Graph();
  const x = g.placeholder('float32', [null], { name: 'x' });
  tf.device(device, () => g.neg(x, { name: 'y' }));
  return new tf.Session(g, target ? { target } : {});
}
const ours = await startMixedCluster({ worker: 2 }, () => 'ours');
const alone = await startMixedCluster({ worker: 1 }, () => 'ours');
const sessions = {
  here: sessionOn(),
  grpc: sessionOn(target),
  ours: sessionOn(alone.target),
  /* The node is on another task than that of the session. */
  'two of ours': sessionOn(ours.target, '/job:worker/task:1'),
};

for (const [size, floats] of Object.entries(SIZES)) {
  const times = { TensorFlow: [], ...Object.fromEntries(Object.keys(sessions).map((name) => [name, []])) };
  for (let round = 0; round <= rounds; round++) {
    const figures = { TensorFlow: await peer.time(floats) };
    for (const [name, session] of Object.entries(sessions)) figures[name] = await timeOf(session, floats);
    if (round > 0) for (const [who, time] of Object.entries(figures)) times[who].push(time); // the first warms up
  }
  const medians = Object.entries(times).map(([who, list]) => `${who} ${median(list).toPrecision(3)} ms`);
  const ratio = median(times.TensorFlow.map((time, i) => time / times.grpc[i]));
  console.log(`${size} fed and fetched: ${medians.join(', ')}; TensorFlow / grpc ${ratio.toFixed(2)}`);
}

await Promise.all(Object.values(sessions).map((session) => session.close()));
peer.end();
await Promise.all([kill(), ours.kill(), alone.kill()]);
