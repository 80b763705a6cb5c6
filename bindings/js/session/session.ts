/// <reference lib="esnext.disposable" preserve="true" />
/** Session: runs parts of a graph and keeps its variables. */
import { Schema, checkOptions, checkReceivers, shown } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { CancelledError, InvalidArgumentError, TFError, UnimplementedError } from '../base/errors.js';
import { Graph } from '../graph/graph.js';
import type { Null, SessionOptionsPtr, SessionPtr } from '../generated/abi.js';
import { withHint } from '../graph/hints.js';
import { Input, Operation } from '../graph/operation.js';
import { MessageWriter } from '../messages/protobuf.js';
import { Runtime, checkRuntime } from '../engine/runtime.js';
import { SessionStep, StepRequest } from '../engine/session-step.js';
import { STEP_OPTIONS, StepOptions, StepQueue, checkSignal, timeoutOf } from '../engine/step-queue.js';
import { unsigned } from '../engine/wasm.js';
import { Tensor } from '../tensor/tensor.js';
import { Callable, CallableOptions } from './callable.js';
import { PartialRun, PartialRunOptions } from './partial-run.js';
import { Feeds, Fetch, Fetched, Place, Request, feedEntries, feedTensor } from './request.js';
import type { Prepared } from './step-runner.js';

export interface RunOptions extends StepOptions {
  /** Operations (or their names) to run without fetching anything. */
  targets?: readonly (Operation | string)[];
}

export interface SessionOptions {
  /** '' runs on this thread. */
  target?: string;
  /**
   * false: every node runs unchanged, and calls are not inlined. Results are the same. Use it to measure the
   * effect of the optimizer.
   */
  optimize?: boolean;
  /** How many devices of a type the session has: `{ CPU: 2 }`; one CPU without it. */
  deviceCount?: Readonly<Record<string, number>>;
  /**
   * An operation that asks for a device that does not exist (in a model that was trained on a GPU) runs on
   * another one. That is the default; false: steps of such a graph are refused.
   */
  allowSoftPlacement?: boolean;
  /** true: says of every node, through `tf.setLog`, on which device it is. */
  logDevicePlacement?: boolean;
}

/** One of a session's devices. */
export interface Device {
  /** '/job:localhost/replica:0/task:0/device:CPU:0' */
  readonly name: string;
  /** 'CPU' */
  readonly type: string;
  readonly memoryBytes: number;
  /** Another one for each device of each session. */
  readonly incarnation: bigint;
}

const RUN_OPTIONS: Schema<RunOptions> = { targets: 'an array', ...STEP_OPTIONS };
const SESSION_OPTIONS: Schema<SessionOptions> = {
  target: 'a string',
  optimize: 'true or false',
  deviceCount: 'an object',
  allowSoftPlacement: 'true or false',
  logDevicePlacement: 'true or false',
};

const CLOSED = 'Session has been closed.';

/** A ConfigProto. */
function configOf(options: SessionOptions): Uint8Array {
  const config = new MessageWriter();
  for (const [type, count] of Object.entries(options.deviceCount ?? {})) {
    if (!Number.isInteger(count) || Math.abs(count) >= 2 ** 31)
      throw new InvalidArgumentError(`deviceCount.${type} must be a whole number, not ${shown(count)}`);
    config.bytes(1, new MessageWriter().bytes(1, type).varint(2, count).finish());
  }
  if (options.allowSoftPlacement !== false) config.varint(7, 1);
  if (options.logDevicePlacement) config.varint(8, 1);
  if (options.optimize === false) {
    const level = new MessageWriter().varint(3, -1); // opt_level: L0
    config.bytes(10, new MessageWriter().bytes(3, level.finish()).finish());
  }
  return config.finish();
}

function withConfig(
  { wasm }: Runtime,
  config: Uint8Array,
  open: (settings: SessionOptionsPtr | Null) => SessionPtr,
): SessionPtr {
  if (config.length === 0) return open(0);
  const settings = unsigned(wasm.call.TF_NewSessionOptions());
  try {
    wasm.scope((scope) =>
      wasm.checked((status) => wasm.call.TF_SetConfig(settings, scope.bytes(config), config.length, status)),
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
  readonly #queue = new StepQueue();
  /** Cached, because the look-up takes longer than a small step. */
  readonly #placesByName = new Map<string, Place>();
  readonly #placesByHandle = new WeakMap<Input, Place>();

  /** Created by `new tf.Session(graph)`. */
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
    this.#pointer = withConfig(runtime, configOf(options), open);
    runtime.opened(this, 'sessions', this.#pointer);
  }

  /**
   * Runs one step: computes what the fetches and targets need from the feeds. Fetches may be nested in arrays
   * and records, and the results have the same structure; an Operation is run and gives null. A step that
   * takes longer than 10 ms yields to the event loop between kernels; later steps begin when it has ended, or
   * while it waits for another step.
   */
  run<const F extends Fetch>(fetches: F, feeds?: Feeds, options?: RunOptions): Promise<Fetched<F>> {
    return this.runSoon(fetches, feeds, options) as Promise<Fetched<F>>;
  }

  private runSoon(fetches: Fetch, feeds?: Feeds, options: RunOptions = {}): Promise<unknown> {
    return this.soon(() => this.prepare(fetches, feeds, options), options);
  }

  /**
   * The synchronous form of `run`: returns when the step has ended. A running step of `run` is completed
   * first.
   */
  runSync<const F extends Fetch>(fetches: F, feeds?: Feeds, options: RunOptions = {}): Fetched<F> {
    return this.atOnce(this.prepare(fetches, feeds, options)) as Fetched<F>;
  }

  /**
   * Looks up, checks and compiles a run once. The callable takes the values of `feeds` in their order: after
   * `callable = session.makeCallable(y, [x])`, call `callable.run(xValue)`.
   */
  makeCallable<const F extends Fetch>(
    fetches: F,
    feeds: readonly (Input | string)[] = [],
    options: CallableOptions = {},
  ): Callable<F> {
    return new Callable(this, this.#runtime, fetches, feeds, options);
  }

  /**
   * Begins a step that is fed and fetched in pieces. `fetches` and `feeds` name everything that its pieces
   * will fetch and feed. Each node runs once, in the first piece that has all of its feeds.
   */
  partialRun(
    fetches: readonly (Input | string)[],
    feeds: readonly (Input | string)[],
    options: PartialRunOptions = {},
  ): PartialRun {
    return new PartialRun(this, this.#runtime, fetches, feeds, options);
  }

  /** @internal Runs a step when the steps before it have ended. Rejects if `prepare` throws. */
  soon(prepare: () => Prepared, options: StepOptions): Promise<unknown> {
    let prepared: Prepared;
    try {
      prepared = prepare();
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#queue.run(prepared.step, prepared.answer, options, () =>
      this.#closed ? new CancelledError(CLOSED) : undefined,
    );
  }

  /** @internal Runs a step to its end, after the running step has ended. */
  atOnce({ step, answer }: Prepared): unknown {
    this.#queue.runAtOnce(step);
    return answer();
  }

  /** @internal The handle, if the session may run. */
  usablePointer(): SessionPtr {
    if (this.#closed) throw new CancelledError(CLOSED);
    this.#runtime.wasm.refuseInCallback();
    return this.#pointer;
  }

  /** Looks up and checks feeds and fetches, and copies the feeds into the engine. */
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
    // The engine refuses to fetch a fed output, so such a fetch returns the fed value.
    const fed = request.fetches.map((fetch) =>
      feedOutputs.findIndex((feed) => feed.operation === fetch.operation && feed.index === fetch.index),
    );
    const open = request.fetches.filter((_, i) => fed[i]! < 0);
    const nothingToDo = fed.length > 0 && open.length === 0 && request.targets.length === 0;
    const { call } = this.#runtime.wasm;
    const step = this.step({
      values,
      numResults: open.length,
      timeoutMs: timeoutOf(options),
      start: (scope, stepOptions, inputs, results, status) =>
        nothingToDo
          ? 0
          : call.TF_WasmStartStep(
              pointer,
              stepOptions,
              scope.outputs(feedOutputs),
              inputs,
              feedOutputs.length,
              scope.outputs(open),
              results,
              open.length,
              scope.pointers(request.targets.map((target) => target.pointer)),
              request.targets.length,
              status,
            ),
    });
    const answer = () => {
      const results = this.located(() => step.values)[Symbol.iterator]();
      return shape(
        fed.map((position) => (position < 0 ? (results.next().value as Tensor) : values[position]!)),
      );
    };
    return { step, answer };
  }

  /** @internal */
  step(request: StepRequest): SessionStep {
    return new SessionStep(this.#runtime.wasm, request);
  }

  /** @internal Calls `work`, and adds to its errors which op failed and what to do. */
  located<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TFError)) throw error;
      withHint(error, this.#runtime, this.graph);
      throw error.node ? error.locate(error.node, this.graph.operation(error.node)?.type) : error;
    }
  }

  /** @internal The output that a key feeds. */
  place(key: Input | string, request: Request): Place {
    const known = typeof key === 'string' ? this.#placesByName.get(key) : this.#placesByHandle.get(key);
    if (known) return known;
    const output = request.output(key);
    const place = { output, dtype: output.dtype, shape: output.shape };
    if (typeof key === 'string') this.#placesByName.set(key, place);
    else this.#placesByHandle.set(key, place);
    return place;
  }

  /** The session's devices, by their ids. */
  listDevices(): Device[] {
    const pointer = this.usablePointer();
    const { wasm } = this.#runtime;
    const { call } = wasm;
    const list = wasm.made((status) => call.TF_SessionListDevices(pointer, status));
    try {
      return Array.from({ length: call.TF_DeviceListCount(list) }, (_, i) => {
        let device: Device | undefined;
        wasm.checked((status) => {
          device = {
            name: wasm.text(call.TF_DeviceListName(list, i, status)),
            type: wasm.text(call.TF_DeviceListType(list, i, status)),
            memoryBytes: Number(call.TF_DeviceListMemoryBytes(list, i, status)),
            incarnation: BigInt.asUintN(64, call.TF_DeviceListIncarnation(list, i, status)),
          };
        });
        return device!;
      });
    } finally {
      call.TF_DeleteDeviceList(list);
    }
  }

  /** Frees the variables and all caches. Later runs fail. */
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
