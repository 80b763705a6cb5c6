// The command `tfcore-wasm serve` for the specs, in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../npm/dist/cli.js', import.meta.url));

/** Starts it with more arguments: its first target, and `kill`. */
export async function startServing(...args) {
  const child = spawn(process.execPath, [CLI, 'serve', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const [, target] = /^serving (\S+) /.exec(line);
  return { target, kill: () => child.kill() };
}
