/** Values of the JSON that describes a model, checked while they are read. */
import { isPlainObject, shown } from '../base/arguments.js';
import { InvalidArgumentError } from '../base/errors.js';

export type Json = Readonly<Record<string, unknown>>;

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

/** The `config` of a layer. `what` names the layer in errors. */
export class Config {
  constructor(
    readonly json: Json,
    private readonly what: string,
  ) {}

  #refuse(key: string, wanted: string): InvalidArgumentError {
    return new InvalidArgumentError(`${this.what}: ${key} must be ${wanted}, not ${shown(this.json[key])}`);
  }

  #value(key: string): unknown {
    return this.json[key] ?? undefined;
  }

  has(key: string): boolean {
    return this.#value(key) !== undefined;
  }

  #read<T>(key: string, otherwise: T | undefined, is: (value: unknown) => value is T, wanted: string): T {
    const value = this.#value(key) ?? otherwise;
    if (!is(value)) throw this.#refuse(key, wanted);
    return value;
  }

  int(key: string, otherwise?: number): number {
    return this.#read(key, otherwise, isWhole, 'a whole number');
  }

  number(key: string, otherwise?: number): number {
    const isNumber = (value: unknown): value is number => typeof value === 'number';
    return this.#read(key, otherwise, isNumber, 'a number');
  }

  bool(key: string, otherwise: boolean): boolean {
    const isBool = (value: unknown): value is boolean => typeof value === 'boolean';
    return this.#read(key, otherwise, isBool, 'true or false');
  }

  text(key: string, otherwise?: string): string {
    const isText = (value: unknown): value is string => typeof value === 'string';
    return this.#read(key, otherwise, isText, 'a string');
  }

  /** One of the words; others are refused by name. */
  choice<T extends string>(key: string, otherwise: T, words: readonly T[]): T {
    const isWord = (value: unknown): value is T => words.includes(value as T);
    return this.#read(key, otherwise, isWord, words.map((word) => `'${word}'`).join(' or '));
  }

  /** `count` whole numbers; one number stands for all of them. */
  ints(key: string, count: number, otherwise?: number | readonly number[]): number[] {
    const value = this.#value(key) ?? otherwise;
    const list = isWhole(value) ? Array<number>(count).fill(value) : value;
    if (!Array.isArray(list) || list.length !== count || !list.every(isWhole))
      throw this.#refuse(key, count === 1 ? 'a whole number' : `${count} whole numbers`);
    return list as number[];
  }

  /** Whole numbers, as many as there are. */
  intList(key: string, otherwise?: readonly number[]): number[] {
    const value = this.#value(key) ?? otherwise;
    const list = isWhole(value) ? [value] : value;
    if (!Array.isArray(list) || !list.every(isWhole)) throw this.#refuse(key, 'a list of whole numbers');
    return list as number[];
  }

  /** A number, or nested lists of numbers, without their nesting. */
  numbers(key: string): number[] {
    const value = this.#value(key);
    const list: unknown[] = Array.isArray(value) ? (value.flat(Infinity) as unknown[]) : [value];
    if (!list.every((item) => typeof item === 'number')) throw this.#refuse(key, 'numbers');
    return list as number[];
  }

  /** What a nested description says: { class_name, config }. */
  object(key: string): Json {
    const value = this.#value(key);
    if (!isPlainObject(value)) throw this.#refuse(key, 'an object');
    return value;
  }

  value(key: string): unknown {
    return this.#value(key);
  }
}
