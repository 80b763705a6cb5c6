/** Request: flat lists of the feeds and fetches of a run, made from any of the forms that users write. */
import { isPlainObject, shown } from '../base/arguments.js';
import { InvalidArgumentError, TFError } from '../base/errors.js';
import { Graph } from '../graph/graph.js';
import { Input, Operation, Output, valueOf, Variable } from '../graph/operation.js';
import { DType, TypedArray, itemsPerElement } from '../tensor/dtypes.js';
import { numberTensor, tensor } from '../tensor/convert.js';
import { Tensor, TensorLike, refuseDetached } from '../tensor/tensor.js';
import type { Values } from './backend.js';

/**
 * The types of fetches: a value, an operation to run, or arrays and records of them. null is included so that
 * the result of `gradients` can be fetched directly; a run refuses null, which means that no gradient flows.
 */
export type Fetch = Input | Operation | string | null | readonly Fetch[] | { readonly [key: string]: Fetch };

/** The result of a fetch: a Tensor for a value, null for an operation, and the same arrays and records. */
export type Fetched<F> = F extends Input | string
  ? Tensor
  : F extends Operation
    ? null
    : F extends null
      ? never
      : F extends readonly unknown[]
        ? { -readonly [K in keyof F]: Fetched<F[K]> }
        : { -readonly [K in keyof F]: Fetched<F[K]> };

/** Values by Outputs or names: a Map, pairs `[[x, value], ...]`, or an object of names. */
export type Feeds =
  | ReadonlyMap<Input | string, TensorLike>
  | readonly (readonly [Input | string, TensorLike])[]
  | Readonly<Record<string, TensorLike>>;

const FEEDS = 'feeds are a Map, pairs such as [[x, value]], or an object such as { x: value }';

/** The pairs of feeds in any of their forms. */
export function feedEntries(feeds: Feeds): [Input | string, TensorLike][] {
  if (isPlainObject(feeds)) return Object.entries(feeds as Record<string, TensorLike>);
  const isList = Array.isArray(feeds) || Object.prototype.toString.call(feeds) === '[object Map]';
  if (!isList) throw new InvalidArgumentError(`${FEEDS}, not ${shown(feeds)}`);
  return Array.from(feeds as Iterable<unknown>, (pair, i) => {
    if (!Array.isArray(pair) || pair.length !== 2)
      throw new InvalidArgumentError(`${FEEDS}; pair ${i} of them is ${shown(pair)}`);
    return pair as [Input | string, TensorLike];
  });
}

/** The maximum nesting of fetches, which also detects cycles. */
const DEEPEST = 100;

/** The flat lists of a run, and the origin of each fetch's value. */
export class Request {
  readonly fetches: Output[] = [];
  readonly targets: Operation[] = [];

  constructor(private readonly graph: Graph) {}

  operation(item: Operation | string): Operation {
    return typeof item === 'string' ? this.graph.requiredOperation(item) : this.graph.ownOperation(item);
  }

  /** The output for a feed key. */
  output(key: Input | string): Output {
    if (typeof key === 'string') return this.graph.output(key);
    if (!(key instanceof Output || key instanceof Variable))
      throw new InvalidArgumentError(`${shown(key)} cannot be fed: feeds are keyed by Outputs or names`);
    const output = valueOf(key);
    this.graph.ownOperation(output.operation);
    return output;
  }

  /**
   * Collects fetches; returns a function that gives the results the same structure. `place` names them in
   * messages.
   */
  add(fetch: Fetch, place = 'what is fetched', depth = 0): (values: readonly Tensor[]) => unknown {
    if (typeof fetch === 'string') return this.add(this.named(fetch));
    if (fetch instanceof Operation) {
      this.targets.push(this.graph.ownOperation(fetch));
      return () => null;
    }
    if (fetch instanceof Output || fetch instanceof Variable) {
      const output = valueOf(fetch);
      this.graph.ownOperation(output.operation);
      const position = this.fetches.push(output) - 1;
      return (values) => values[position];
    }
    if (fetch === null) throw this.graph.nullError(`${place} is no Output`);
    if (depth > DEEPEST)
      throw new InvalidArgumentError(
        `fetches are nested more than ${DEEPEST} deep; is one of them inside itself?`,
      );
    if (Array.isArray(fetch)) {
      const parts = Array.from(fetch as readonly Fetch[], (part, i) =>
        this.add(part, `fetch ${i}`, depth + 1),
      );
      return (values) => parts.map((part) => part(values));
    }
    if (!isPlainObject(fetch)) {
      throw new InvalidArgumentError(
        `${shown(fetch)} cannot be fetched: fetches are Outputs, Variables, Operations, names of them, or arrays and objects of these`,
      );
    }
    const entries = Object.entries(fetch as Record<string, Fetch>).map(
      ([key, part]) => [key, this.add(part, `fetch '${key}'`, depth + 1)] as const,
    );
    return (values) => Object.fromEntries(entries.map(([key, part]) => [key, part(values)]));
  }

  /**
   * The meaning of a name: 'node:1' is an output, 'node' its first output, or the operation if it has none.
   */
  private named(name: string): Output | Operation {
    if (/:\d+$/.test(name)) return this.graph.output(name);
    const operation = this.graph.requiredOperation(name);
    return operation.outputs.length === 0 ? operation : operation.output(0);
  }
}

/** The target of a feed: an output and its known shape. */
export interface Place {
  readonly output: Output;
  readonly dtype: DType;
  readonly shape: readonly (number | null)[] | null;
}

/**
 * The tensor for a feed. A flat typed array gets the shape of the fed output, if that has at most one unknown
 * size and the length matches: a Float32Array of 640 numbers for [?,64] is [10,64].
 */
export function feedTensor({ output, dtype, shape: known }: Place, value: TensorLike): Tensor {
  try {
    return fittingTensor(dtype, known, value);
  } catch (error) {
    if (error instanceof TFError) error.message = `the value for ${output.name}: ${error.message}`;
    throw error;
  }
}

/** The tensors for feeds. Those made of numbers and nested arrays are owned; arrays and Tensors are the user's. */
export function valuesFor(places: readonly Place[], given: readonly TensorLike[]): Values {
  return {
    tensors: places.map((place, i) => feedTensor(place, given[i]!)),
    isOwned: (i) => !(given[i] instanceof Tensor || ArrayBuffer.isView(given[i])),
  };
}

function fittingTensor(dtype: DType, known: Place['shape'], value: TensorLike): Tensor {
  if (typeof value === 'number') return numberTensor(value, dtype);
  const flat = ArrayBuffer.isView(value) ? (value as unknown as TypedArray) : undefined;
  if (flat) refuseDetached(flat);
  if (flat && known && known.length !== 1 && dtype !== 'string') {
    const open = known.filter((size) => size === null).length;
    const rest = known.reduce<number>((product, size) => product * (size ?? 1), 1);
    const count = flat.length / itemsPerElement(dtype);
    if (open === 0 && rest === count) return tensor(value, known as readonly number[], dtype);
    if (open === 1 && rest > 0 && count % rest === 0)
      return tensor(
        value,
        known.map((size) => size ?? count / rest),
        dtype,
      );
  }
  return value instanceof Tensor ? value : tensor(value, undefined, dtype);
}
