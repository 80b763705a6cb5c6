/** Checks of arguments. Error messages name what is refused, and what to write instead. */
import { meantOrKnown } from './did-you-mean.js';
import { InvalidArgumentError } from './errors.js';

const CUT = 60;
const cut = (text: string): string => (text.length > CUT ? `${text.slice(0, CUT)}…` : text);

const tagOf = (value: object): string => Object.prototype.toString.call(value).slice('[object '.length, -1);

/** A value in a few words, for messages. Never throws, whatever the value is. */
export function shown(value: unknown): string {
  try {
    if (typeof value === 'string') return cut(JSON.stringify(value));
    if (typeof value === 'bigint') return cut(`${value}n`);
    if (typeof value === 'function')
      return value.name === '' ? 'a function' : `the function ${cut(value.name)}`;
    if (typeof value !== 'object' || value === null) return cut(String(value));
    if (Array.isArray(value)) return `an array of ${value.length}`;
    if (ArrayBuffer.isView(value)) return `a ${tagOf(value)}`;
    return tagOf(value) === 'Object' ? 'an object' : consoleText(value);
  } catch {
    return 'an object that cannot be shown';
  }
}

/** The package's classes describe themselves; for others the name is enough. */
function consoleText(value: object): string {
  const name = /^[AEIO]/.test(tagOf(value)) ? `an ${tagOf(value)}` : `a ${tagOf(value)}`;
  try {
    const text =
      typeof value.toString === 'function' && value.toString !== Object.prototype.toString
        ? cut(String(value))
        : '';
    return text === '' || text.includes('[object') ? name : text;
  } catch {
    return name; // a disposed graph, for example
  }
}

/** Whether it is `{ ... }`: not an array, an instance of a named class, or callable. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === Object.prototype ||
    prototype === null ||
    (tagOf(value) === 'Object' && !Array.isArray(value))
  );
}

const isSignal = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as AbortSignal).addEventListener === 'function' &&
  'aborted' in value;

/**
 * The kinds of option values, as named in messages. 'anything' is checked by the code that uses the option.
 */
const KINDS = {
  anything: () => true,
  'a string': (value: unknown) => typeof value === 'string',
  'a number': (value: unknown) => typeof value === 'number',
  'true or false': (value: unknown) => typeof value === 'boolean',
  'a function': (value: unknown) => typeof value === 'function',
  'an array': Array.isArray,
  'an object': isPlainObject,
  'an AbortSignal': isSignal,
} satisfies Record<string, (value: unknown) => boolean>;

export type Kind = keyof typeof KINDS;
/** The kind of each option of an interface: all options are listed. */
export type Schema<T> = { readonly [K in keyof Required<T>]: Kind };

/**
 * Throws InvalidArgumentError unless `options` is an object whose keys are in the schema and whose values
 * have the required kinds; undefined counts as missing. `what` names the call: 'gradients'.
 */
export function checkOptions<T>(what: string, options: unknown, schema: Schema<T>): void {
  if (!isPlainObject(options)) {
    throw new InvalidArgumentError(
      `the options of ${what} are an object, such as { ${exampleOf(schema)} }, not ${shown(options)}`,
    );
  }
  for (const key of Object.keys(options)) {
    const kind = (schema as Record<string, Kind | undefined>)[key];
    if (typeof kind !== 'string') throw unknownName(`${what} has no option`, key, Object.keys(schema));
    const value = options[key];
    if (value !== undefined && !KINDS[kind](value)) {
      const hint = kind === 'an array' && typeof value === 'object' ? `; write [${key}]` : '';
      throw new InvalidArgumentError(
        `option '${key}' of ${what} must be ${kind}, not ${shown(value)}${hint}`,
      );
    }
  }
}

const exampleOf = (schema: object): string => {
  const [key] = Object.keys(schema);
  return key === undefined ? '' : `${key}: …`;
};

/** "op MatMul has no attr 'a'; did you mean 'b'? It has b, c". */
export const unknownName = (text: string, name: string, known: readonly string[]): InvalidArgumentError =>
  new InvalidArgumentError(`${text} '${cut(name)}'${meantOrKnown(name, known, 'it has')}`);

export function checkText(what: string, value: unknown): asserts value is string {
  if (typeof value !== 'string')
    throw new InvalidArgumentError(`${what} must be a string, not ${shown(value)}`);
}

/** Throws unless it is an array; for a single value the message suggests an array. */
export function checkList(
  what: string,
  value: unknown,
  kind = 'an array',
): asserts value is readonly unknown[] {
  if (Array.isArray(value)) return;
  const hint =
    value !== null && value !== undefined && !isPlainObject(value) && typeof value !== 'function'
      ? '; write [ ] around it'
      : '';
  throw new InvalidArgumentError(`${what} must be ${kind}, not ${shown(value)}${hint}`);
}

/** As checkList, for strings. */
export function checkTexts(what: string, value: unknown): asserts value is readonly string[] {
  checkList(what, value, 'an array of strings');
  const other = Array.from(value).find((item) => typeof item !== 'string');
  if (other !== undefined || value.includes(undefined))
    throw new InvalidArgumentError(`${what} must be an array of strings; one of them is ${shown(other)}`);
}

/** Throws unless it is a function. */
export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function')
    throw new InvalidArgumentError(`${what} must be a function, not ${shown(value)}`);
}

/** Throws unless it is an integer that fits 32 bits. */
export function checkIndex(what: string, value: unknown): asserts value is number {
  if (Number.isInteger(value) && Math.abs(value as number) < 2 ** 31) return;
  throw new InvalidArgumentError(`${what} must be a whole number, not ${shown(value)}`);
}

/**
 * Makes the methods of a class refuse other receivers, as for a method that was taken off its object: `const
 * { run } = session`. `example` shows the correct call; methods in `internal` belong to the package and are
 * not checked. `prototype` is given if the methods are in a base class.
 */
export function checkReceivers(
  Class: abstract new (...args: never[]) => object,
  example: string,
  internal: readonly string[] = [],
  prototype: object = Class.prototype,
): void {
  for (const key of Reflect.ownKeys(prototype)) {
    const property = Object.getOwnPropertyDescriptor(prototype, key)!;
    const value: unknown = property.value;
    if (typeof value !== 'function' || key === 'constructor' || internal.includes(key as string)) continue;
    const checked = function (this: unknown, ...args: unknown[]): unknown {
      if (this instanceof Class) return value.apply(this, args) as unknown;
      throw new TypeError(
        `${value.name} was called without its ${Class.name}: write ${example}.${value.name}(…), or (…args) => ${example}.${value.name}(…args)`,
      );
    };
    Object.defineProperty(checked, 'name', { value: value.name, configurable: true });
    property.value = checked;
    Object.defineProperty(prototype, key, property);
  }
}
