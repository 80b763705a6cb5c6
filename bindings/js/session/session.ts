/// <reference lib="esnext.disposable" preserve="true" />
/** Session: runs parts of a graph and keeps its variables. */
import { Schema, checkOptions, checkReceivers, isPlainObject, shown } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { DType, TypedArray, itemsPerElement } from '../tensor/dtypes.js';
import { CancelledError, InvalidArgumentError, TFError, UnimplementedError } from '../base/errors.js';
import { Graph } from '../graph/graph.js';
import type { Null, SessionOptionsPtr, SessionPtr } from '../generated/abi.js';
import { withHint } from '../graph/hints.js';
import { Input, Operation, Output, valueOf, Variable } from '../graph/operation.js';
import { Runtime, checkRuntime } from '../engine/runtime.js';
import { SessionStep } from '../engine/session-step.js';
import { STEP_OPTIONS, StepOptions, StepQueue, checkSignal, timeoutOf } from '../engine/step-queue.js';
import { unsigned } from '../engine/wasm.js';
import { Tensor, TensorLike, refuseDetached, tensor } from '../tensor/tensor.js';

/**
 * What can be fetched: a value, an operation to run, or arrays and records of them. null is what `gradients`
 * gives where no gradient flows: it stands here so that its list can be fetched as it is, and a run refuses
 * it.
 */
export type Fetch = Input | Operation | string | null | readonly Fetch[] | { readonly [key: string]: Fetch };

/** What a fetch gives: a Tensor for a value, null for an operation, and the same arrays and records. */
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

export interface RunOptions extends StepOptions {
  /** Operations (or their names) to run without fetching anything. */
  targets?: readonly (Operation | string)[];
}

export interface SessionOptions {
  /** '' runs in this thread. */
  target?: string;
  /**
   * false: every node runs as it stands, calls are calls. Results are the same; what is computed, and how
   * fast, can be seen.
   */
  optimize?: boolean;
}

const RUN_OPTIONS: Schema<RunOptions> = { targets: 'an array', ...STEP_OPTIONS };
const SESSION_OPTIONS: Schema<SessionOptions> = { target: 'a string', optimize: 'true or false' };

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

/** How deep fetches may be nested: what is deeper is inside itself. */
const DEEPEST = 100;

/** The flat lists of a run, and where each fetch's value comes from. */
class Request {
  readonly fetches: Output[] = [];
  readonly targets: Operation[] = [];

  constructor(private readonly graph: Graph) {}

  operation(item: Operation | string): Operation {
    return typeof item === 'string' ? this.graph.requiredOperation(item) : this.graph.ownOperation(item);
  }

  /** What is fed under a key. */
  output(key: Input | string): Output {
    if (typeof key === 'string') return this.graph.output(key);
    if (!(key instanceof Output || key instanceof Variable))
      throw new InvalidArgumentError(`${shown(key)} cannot be fed: feeds are keyed by Outputs or names`);
    const output = valueOf(key);
    this.graph.ownOperation(output.operation);
    return output;
  }

  /** Notes what is fetched; returns how to shape the results alike. `place` names it in messages. */
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
   * What a name stands for: 'node:1' an output, 'node' its first output, or the operation where it has none.
   */
  private named(name: string): Output | Operation {
    if (/:\d+$/.test(name)) return this.graph.output(name);
    const operation = this.graph.requiredOperation(name);
    return operation.outputs.length === 0 ? operation : operation.output(0);
  }
}

/** Where something is fed: an output and what is known of its values. */
interface Place {
  readonly output: Output;
  readonly dtype: DType;
  readonly shape: readonly (number | null)[] | null;
}

/**
 * The tensor for a feed. A flat typed array takes the shape of what it is fed to, when that leaves at most
 * one size open and the length fits: a Float32Array of 640 numbers for [?,64] is [10,64].
 */
export function feedTensor({ output, dtype, shape: known }: Place, value: TensorLike): Tensor {
  try {
    return fittingTensor(dtype, known, value);
  } catch (error) {
    if (error instanceof TFError) error.message = `the value for ${output.name}: ${error.message}`;
    throw error;
  }
}

function fittingTensor(dtype: DType, known: Place['shape'], value: TensorLike): Tensor {
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

const CLOSED = 'Session has been closed.';

/** A step that was made, and how its values are shaped like what was asked for. */
interface Prepared {
  readonly step: SessionStep;
  readonly answer: () => unknown;
}

/** ConfigProto { graph_options { optimizer_options { opt_level: L0 } } }, in bytes: -1 is ten of them. */
const UNOPTIMIZED = Uint8Array.of(0x52, 13, 0x1a, 11, 0x18, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1);

function withoutOptimizer({ wasm }: Runtime, open: (settings: SessionOptionsPtr) => SessionPtr): SessionPtr {
  const settings = unsigned(wasm.call.TF_NewSessionOptions());
  try {
    wasm.scope((scope) =>
      wasm.checked((status) =>
        wasm.call.TF_SetConfig(settings, scope.bytes(UNOPTIMIZED), UNOPTIMIZED.length, status),
      ),
    );
    return open(settings);
  } finally {
    wasm.call.TF_DeleteSessionOptions(settings);
  }
}

export class Session {
  readonly #runtime: Runtime;
  readonly #pointer: SessionPtr;
  #closed = false;
  /** Steps run one after the other, in the order in which they were asked for. */
  readonly #queue = new StepQueue();
  /** Asked once for each key, because asking takes longer than a small step. */
  readonly #placesByName = new Map<string, Place>();
  readonly #placesByHandle = new WeakMap<Input, Place>();

  /** Made by `new tf.Session(graph)`. */
  constructor(
    runtime: Runtime,
    readonly graph: Graph,
    options: SessionOptions = {},
  ) {
    this.#runtime = checkRuntime(runtime, 'Session', 'new tf.Session(graph)');
    if (!(graph instanceof Graph))
      throw new InvalidArgumentError(
        `a session runs a Graph: write new tf.Session(graph), not of ${shown(graph)}`,
      );
    checkOptions<SessionOptions>('Session', options, SESSION_OPTIONS);
    if (graph.runtime !== runtime)
      throw new InvalidArgumentError(
        'the graph belongs to another engine: init() made it with other options',
      );
    if (options.target)
      throw new UnimplementedError(
        `sessions run in this thread: target '${options.target}' is not supported`,
      );
    const { wasm } = runtime;
    const open = (settings: SessionOptionsPtr | Null) =>
      unsigned(wasm.checked((status) => wasm.call.TF_WasmNewSession(graph.pointer, settings, status)));
    this.#pointer = options.optimize === false ? withoutOptimizer(runtime, open) : open(0);
    runtime.opened(this, 'sessions', this.#pointer);
  }

  /**
   * Runs one step: computes what the fetches and targets need from the feeds. Fetches may be nested in arrays
   * and records, and the results come back alike; an Operation is run and gives null. A step that takes
   * longer than 10 ms gives way to the event loop between kernels; steps that are asked for meanwhile wait
   * for it.
   */
  run<const F extends Fetch>(fetches: F, feeds?: Feeds, options?: RunOptions): Promise<Fetched<F>> {
    return this.runSoon(fetches, feeds, options) as Promise<Fetched<F>>;
  }

  private runSoon(fetches: Fetch, feeds?: Feeds, options: RunOptions = {}): Promise<unknown> {
    let prepared: Prepared;
    try {
      prepared = this.prepare(fetches, feeds, options);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#queue.run(prepared.step, prepared.answer, options, () =>
      this.#closed ? new CancelledError(CLOSED) : undefined,
    );
  }

  /**
   * As `run`, at once: it returns when the step has ended. A step of `run` that is under way ends before it.
   */
  runSync<const F extends Fetch>(fetches: F, feeds?: Feeds, options: RunOptions = {}): Fetched<F> {
    const { step, answer } = this.prepare(fetches, feeds, options);
    this.#queue.finish();
    step.advance(0);
    return answer() as Fetched<F>;
  }

  /** @internal The handle, while the session may run. */
  usablePointer(): SessionPtr {
    if (this.#closed) throw new CancelledError(CLOSED);
    this.#runtime.wasm.refuseInCallback();
    return this.#pointer;
  }

  /** Looks up and checks what is asked for, and copies the feeds into the engine. */
  private prepare(fetches: Fetch, feeds: Feeds = {}, options: RunOptions): Prepared {
    const pointer = this.usablePointer();
    checkOptions<RunOptions>('run', options, RUN_OPTIONS);
    checkSignal(options);
    const request = new Request(this.graph);
    const shape = request.add(fetches);
    for (const target of options.targets ?? []) request.targets.push(request.operation(target));
    const entries = feedEntries(feeds);
    const places = entries.map(([key]) => this.place(key, request));
    const values = entries.map(([, value], i) => feedTensor(places[i]!, value));
    const feedOutputs = places.map((place) => place.output);
    // A step refuses to fetch what is fed: such a fetch is answered with what was fed.
    const fed = request.fetches.map((fetch) =>
      feedOutputs.findIndex((feed) => feed.operation === fetch.operation && feed.index === fetch.index),
    );
    const open = request.fetches.filter((_, i) => fed[i]! < 0);
    const nothingToDo = fed.length > 0 && open.length === 0 && request.targets.length === 0;
    const step = new SessionStep(this.#runtime.wasm, pointer, {
      feeds: feedOutputs,
      values,
      fetches: open,
      targets: request.targets,
      timeoutMs: timeoutOf(options),
      nothingToDo,
    });
    const answer = () => {
      const results = this.located(step)[Symbol.iterator]();
      return shape(
        fed.map((position) => (position < 0 ? (results.next().value as Tensor) : values[position]!)),
      );
    };
    return { step, answer };
  }

  /** What the step gave; an error says which op failed. */
  private located(step: SessionStep): Tensor[] {
    try {
      return step.values;
    } catch (error) {
      if (!(error instanceof TFError)) throw error;
      withHint(error, this.#runtime, this.graph);
      throw error.node ? error.locate(error.node, this.graph.operation(error.node)?.type) : error;
    }
  }

  private place(key: Input | string, request: Request): Place {
    const known = typeof key === 'string' ? this.#placesByName.get(key) : this.#placesByHandle.get(key);
    if (known) return known;
    const output = request.output(key);
    const place = { output, dtype: output.dtype, shape: output.shape };
    if (typeof key === 'string') this.#placesByName.set(key, place);
    else this.#placesByHandle.set(key, place);
    return place;
  }

  /** Frees the variables and everything cached. Runs after that fail. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#runtime.wasm.refuseInCallback();
    this.#closed = true;
    this.#queue.abandon(new CancelledError(CLOSED));
    this.#runtime.closed(this, 'sessions');
    this.#runtime.wasm.checked((status) => this.#runtime.wasm.call.TF_DeleteSession(this.#pointer, status));
  }

  /** 'Session<of Graph<12 nodes>>' */
  toString(): string {
    return this.#closed ? 'Session<closed>' : `Session<of ${this.graph.toString()}>`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

checkReceivers(Session, 'session');
showAs(Session, 'Session', (session) => session.toString());
