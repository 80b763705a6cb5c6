// Clusters for the specs whose tasks are servers of TensorFlow and of this package.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { newCluster, startTasks } from './tensorflow-servers.mjs';

const CLI = fileURLToPath(new URL('../../npm/dist/cli.js', import.meta.url));

/** The command `tfcore-wasm serve` as a task of a cluster, 'worker:0', in a process of its own. */
async function startOurs(cluster, task) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tfcore-cluster-'));
  const file = path.join(folder, 'cluster.json');
  writeFileSync(file, JSON.stringify(cluster));
  const [job, index] = task.split(':');
  const child = spawn(
    process.execPath,
    [CLI, 'serve', '--cluster', file, '--job', job, '--task', index, '--threads', '1'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
  rmSync(folder, { recursive: true });
  if (!/^serving grpc:/.test(line)) throw new Error(`the server of ${task} did not start: ${line}`);
  const kill = async () => (child.kill('SIGKILL'), await ended);
  return { kill, pause: () => child.kill('SIGSTOP') };
}

/**
 * Starts the servers of some tasks, of all by default. `kindOf('worker', 0)` is 'ours' or 'theirs'. Those of
 * TensorFlow are in one process.
 */
export async function startMixedTasks(cluster, kindOf, tasks) {
  const all = tasks ?? Object.entries(cluster).flatMap(([job, list]) => list.map((_, i) => `${job}:${i}`));
  const isOurs = (task) => kindOf(task.split(':')[0], Number(task.split(':')[1])) === 'ours';
  const theirs = all.filter((task) => !isOurs(task));
  const servers = await Promise.all([
    ...all.filter(isOurs).map((task) => startOurs(cluster, task)),
    ...(theirs.length > 0 ? [startTasks(cluster, theirs)] : []),
  ]);
  return {
    kill: () => Promise.all(servers.map((server) => server.kill())),
    pause: () => servers.forEach((server) => server.pause()),
  };
}

/** A running cluster of so many tasks a job: its addresses, the target of its first task, and `kill`. */
export async function startMixedCluster(jobs, kindOf) {
  const cluster = await newCluster(jobs);
  const servers = await startMixedTasks(cluster, kindOf);
  return { cluster, target: `grpc://${Object.values(cluster)[0][0]}`, ...servers };
}
