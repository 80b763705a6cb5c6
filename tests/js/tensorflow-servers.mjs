// TensorFlow's own servers, for the specs of target 'grpc://': in Python, on free ports of this machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Where tests/oracle/environment.py puts TensorFlow. */
export const PYTHON = path.join(
  process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'),
  'tfcore-wasm/oracle/bin/python',
);

/** Skips the specs of a mocha context unless TensorFlow is there. */
export function needTensorFlow(context) {
  if (existsSync(PYTHON)) return;
  console.log('      skipped: `python3 tests/oracle/environment.py` installs the TensorFlow that this needs');
  context.skip();
}

/** `count` free ports. */
export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/**
 * Starts the servers of some tasks of a cluster, { worker: ['127.0.0.1:2222'] }, in one process; of all of them by
 * default. `kill` ends it at once, `pause` stops it without ending its connections.
 */
export async function startTasks(cluster, tasks) {
  const all = Object.entries(cluster).flatMap(([job, list]) => list.map((_, i) => `${job}:${i}`));
  const script = fileURLToPath(new URL('../oracle/servers.py', import.meta.url));
  const child = spawn(PYTHON, [script, JSON.stringify(cluster), ...(tasks ?? all)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let words = '';
  child.stderr.on('data', (text) => (words = `${words}${text}`.slice(-4000)));
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('serving')) continue;
    child.stdout.resume();
    const kill = async () => (child.kill('SIGKILL'), await ended);
    return { kill, pause: () => child.kill('SIGSTOP'), words: () => words };
  }
  throw new Error(`the servers of TensorFlow did not start: ${words}`);
}

/** A cluster of so many tasks a job on free ports, { worker: 2 }: the tasks' addresses, by job. */
export async function newCluster(jobs) {
  const ports = await freePorts(Object.values(jobs).reduce((sum, count) => sum + count, 0));
  return Object.fromEntries(
    Object.entries(jobs).map(([job, count]) => [
      job,
      Array.from({ length: count }, () => `127.0.0.1:${ports.shift()}`),
    ]),
  );
}

/** A running cluster: its addresses, the target of its first task, and `kill`. */
export async function startCluster(jobs) {
  const cluster = await newCluster(jobs);
  const servers = await startTasks(cluster);
  return { cluster, target: `grpc://${Object.values(cluster)[0][0]}`, ...servers };
}
