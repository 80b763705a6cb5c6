#!/usr/bin/env node
/** The command line: `npx tfcore-wasm <command>`. */
import { meantOrKnown } from '../base/did-you-mean.js';
import { TFError } from '../base/errors.js';
import { VERSION } from '../base/version.js';
import { columns } from '../base/columns.js';
import { Command, CommandError, helpOf, parseArguments } from './command-line.js';
import { gradCommand } from './grad-command.js';
import { inspectCommand } from './inspect-command.js';
import { opsCommand } from './ops-command.js';
import { runCommand } from './run-command.js';
import { serveCommand } from './serve-command.js';

const COMMANDS: Readonly<Record<string, Command>> = {
  inspect: inspectCommand,
  run: runCommand,
  grad: gradCommand,
  ops: opsCommand,
  serve: serveCommand,
};

const help = (): string =>
  [
    `tfcore-wasm ${VERSION}: TensorFlow graphs without TensorFlow\n\n`,
    columns(
      Object.entries(COMMANDS).map(([name, { words, summary }]) => [
        `tfcore-wasm ${[name, ...words].join(' ')}`,
        summary,
      ]),
      { indent: 2 },
    ),
    "\n'tfcore-wasm <command> --help' tells more.\n",
  ].join('');

const write = (text: string): void => void process.stdout.write(text);

async function main([name, ...given]: string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === 'help') {
    write(help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    write(`${VERSION}\n`);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command)
    throw new CommandError(
      `there is no command '${name}'${meantOrKnown(name, Object.keys(COMMANDS), 'there are')}`,
      2,
    );
  if (given.includes('--help')) {
    write(helpOf(name, command));
    return 0;
  }
  try {
    return await command.run(parseArguments(command, given), write);
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 2)
      error.message += `\n'tfcore-wasm ${name} --help' tells more`;
    throw error;
  }
}

/* The reader may stop reading: `tfcore-wasm ops | head`. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

function failed(error: unknown): number {
  if (!(error instanceof CommandError || error instanceof TFError)) throw error;
  process.stderr.write(`tfcore-wasm: ${error.message}\n`);
  return error instanceof CommandError ? error.exitCode : 1;
}

void main(process.argv.slice(2))
  .catch(failed)
  .then((code) => (process.exitCode = code));
