// Child processes and progress lines, for the scripts of this folder. Node built-ins only, because they run
// before `npm ci`.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** One short line of progress. */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** An error that is shown by its message only, without a stack. */
export class SetupError extends Error {}

/** Runs `main`, and ends the process with code 1 if it throws. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`\n${error instanceof SetupError ? error.message : error.stack}\n`);
    process.exitCode = 1;
  }
}

/** True if this file is the script that node was started with. */
export function isMain(url) {
  return process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(url);
}

/** The path of the first program of that name in PATH, or undefined. */
export function which(program) {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, program))
    .find(existsSync);
}

/** The output of a short command, or undefined if it fails. */
export function outputOf(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', ...options });
  return result.status === 0 ? result.stdout : undefined;
}

/**
 * Runs a command and returns { code, signal, output }. `onLine` receives each line immediately; `quiet` (the
 * default) hides the output from the terminal.
 */
export function run(command, args, { onLine, quiet = true, env, cwd = root, input } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: [
        input === undefined ? 'ignore' : 'pipe',
        quiet ? 'pipe' : 'inherit',
        quiet ? 'pipe' : 'inherit',
      ],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream?.setEncoding('utf8');
      stream?.on('data', (chunk) => {
        output += chunk;
        rest += chunk;
        const lines = rest.split('\n');
        rest = lines.pop();
        if (onLine) lines.forEach((line) => onLine(line));
      });
      stream?.on('end', () => {
        if (rest !== '' && onLine) onLine(rest);
      });
    }
    if (input !== undefined) child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: code ?? 1, signal, output }));
  });
}

/**
 * Runs a command that must succeed; its output is shown only if it fails, without the lines that match
 * `boring`. Returns the output.
 */
export async function must(command, args, { boring, ...options } = {}) {
  let result;
  try {
    result = await run(command, args, options);
  } catch (error) {
    throw new SetupError(`cannot run ${command}: ${error.message}`);
  }
  if (result.code !== 0) {
    const tail = result.output
      .trimEnd()
      .split('\n')
      .filter((line) => !boring?.test(line))
      .slice(-60)
      .map((line) => (line.length > 400 ? `${line.slice(0, 400)} ...` : line))
      .join('\n');
    throw new SetupError(
      `${tail}\n\nfailed (${result.signal ?? `code ${result.code}`}): ${command} ${args.join(' ')}`,
    );
  }
  return result.output;
}
