/** Shared by the commands: parsing arguments, and help. */
import { columns } from '../base/columns.js';
import { didYouMean } from '../base/did-you-mean.js';

/** A mistake of the user: only its message is shown. */
export class CommandError extends Error {
  constructor(
    message: string,
    /** The exit code: 1 for failures, 2 for invalid arguments. */ readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}

export interface OptionSpec {
  /** The placeholder for the value in the help; a flag has none. */
  readonly value?: string;
  readonly repeats?: boolean;
  readonly required?: boolean;
  readonly help: string;
}

export interface Arguments {
  readonly words: string[];
  readonly flags: ReadonlySet<string>;
  /** All values of an option, in order. */
  all(name: string): string[];
  /** The value of an option that may be given once. */
  one(name: string): string | undefined;
}

/** A command: its name, its arguments, its action. */
export interface Command {
  readonly summary: string;
  /** Names of the positional arguments; those in [] are optional. */
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Additional lines of the help. */
  readonly notes?: readonly string[];
  /** Returns the exit code. */
  run(args: Arguments, write: (text: string) => void): Promise<number>;
}

export function parseArguments(command: Command, given: readonly string[]): Arguments {
  const words: string[] = [];
  const values = new Map<string, string[]>();
  for (let i = 0; i < given.length; i++) {
    const item = given[i]!;
    if (!item.startsWith('-') || item === '-') {
      words.push(item);
      continue;
    }
    const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(item) ?? [];
    const spec = name === undefined ? undefined : command.options[name];
    if (!spec || name === undefined) throw unknownOption(command, item);
    if (!spec.value && inline !== undefined) throw new CommandError(`--${name} takes no value`, 2);
    const value = spec.value ? (inline ?? given[++i]) : '';
    if (value === undefined) throw new CommandError(`--${name} needs a value: ${spec.value}`, 2);
    if (values.has(name) && !spec.repeats) throw new CommandError(`--${name} is given twice`, 2);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const needed = command.words.filter((word) => !word.startsWith('['));
  if (words.length < needed.length) throw new CommandError(`${needed[words.length]} is missing`, 2);
  if (words.length > command.words.length)
    throw new CommandError(`'${words[command.words.length]}' is one word too many`, 2);
  for (const [name, spec] of Object.entries(command.options)) {
    if (spec.required && !values.has(name)) throw new CommandError(`--${name} ${spec.value} is missing`, 2);
  }
  return {
    words,
    flags: new Set(values.keys()),
    all: (name) => values.get(name) ?? [],
    one: (name) => values.get(name)?.[0],
  };
}

function unknownOption(command: Command, item: string): CommandError {
  const options = Object.keys(command.options).map((name) => `--${name}`);
  return new CommandError(
    `there is no option ${item}${didYouMean(item.replace(/=.*$/s, ''), [...options, '--help'])}`,
    2,
  );
}

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

/** 'float32 [?,64]'; '?' for a shape of unknown rank. */
export const shapeText = (shape: readonly (number | null)[] | null): string =>
  shape ? `[${shape.map((size) => size ?? '?').join(',')}]` : '?';

export function helpOf(name: string, command: Command): string {
  const options = Object.entries(command.options);
  const usage = options
    .filter(([, spec]) => spec.required)
    .map(([option, spec]) => `--${option} ${spec.value}`);
  const rows = [
    ...options.map(([option, { value, help }]) => [`--${option}${value ? ` ${value}` : ''}`, help]),
    ['--help', 'shows this'],
  ];
  return [
    `${command.summary}\n\n  tfcore-wasm ${[name, ...command.words, ...usage, options.length > usage.length ? '[options]' : ''].join(' ').trimEnd()}\n\n`,
    columns(rows, { indent: 2 }),
    ...(command.notes?.length ? ['\n', ...command.notes.map((line) => `${line}\n`)] : []),
  ].join('');
}
