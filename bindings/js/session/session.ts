/// <reference lib="esnext.disposable" preserve="true" />
/** Session: runs parts of a graph and keeps its variables. */
import { Schema, checkOptions, checkReceivers, shown } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { InvalidArgumentError, UnimplementedError } from '../base/errors.js';
import { Graph } from '../graph/graph.js';
import type { SessionPtr } from '../generated/abi.js';
import { Input, Operation } from '../graph/operation.js';
import { MessageWriter } from '../messages/protobuf.js';
import type { RamFiles } from '../engine/ram-files.js';
import { Runtime, checkRuntime } from '../engine/runtime.js';
import { checkSignal, timeoutOf } from '../engine/step-queue.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Device, Plan, SessionBackend, Values } from './backend.js';
import { Callable, CallableOptions } from './callable.js';
import { LocalBackend } from './local-backend.js';

import { OpenSession } from './open-session.js';
import { PartialRun, PartialRunOptions } from './partial-run.js';
import { Feeds, Fetch, Fetched, Request, feedEntries, valuesFor } from './request.js';
import { ServerOptions, ServerTarget, isServerTarget, openOnServer } from './server-target.js';
import { openInWorker } from './worker-target.js';
import { SESSION_STEP_OPTIONS, SessionStepOptions } from './step-options.js';
import type { Trace } from './trace.js';

export interface RunOptions extends SessionStepOptions {
  /** Operations (or their names) to run without fetching anything. */
  targets?: readonly (Operation | string)[];
}

export interface SessionOptions extends ServerOptions {
  /**
   * '' runs in this thread. 'worker' runs in an engine of its own in a Web Worker, or a worker thread of Node:
   * steps never block this thread, and everything is asynchronous (there is no `runSync`). All such sessions
   * of an engine share one worker. It has its own files and ops: those of `tf.files` and `tf.registerOp` are
   * not there. 'grpc://host:port' runs on a server of TensorFlow and the cluster that it belongs to, from Node
   * with the package @grpc/grpc-js: there, steps that are not awaited run at the same time.
   */
  target?: '' | 'worker' | ServerTarget;
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

const RUN_OPTIONS: Schema<RunOptions> = { targets: 'an array', ...SESSION_STEP_OPTIONS };
const SESSION_OPTIONS: Schema<SessionOptions> = {
  target: 'a string',
  optimize: 'true or false',
  deviceCount: 'an object',
  allowSoftPlacement: 'true or false',
  logDevicePlacement: 'true or false',
  credentials: 'an object',
  operationTimeoutMs: 'a number',
};

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
  const timeoutMs = timeoutOf({ timeoutMs: options.operationTimeoutMs ?? 0 });
  if (timeoutMs > 0) config.varint(11, timeoutMs);
  if (options.optimize === false) {
    const level = new MessageWriter().varint(3, -1); // opt_level: L0
    config.bytes(10, new MessageWriter().bytes(3, level.finish()).finish());
  }
  return config.finish();
}

function backendFor(runtime: Runtime, graph: Graph, options: SessionOptions): SessionBackend {
  const { target = '' } = options;
  if (target === 'worker') return openInWorker(runtime, graph, configOf(options));
  if (target === '') return new LocalBackend(runtime, graph, configOf(options));
  if (isServerTarget(target)) return openOnServer(graph, target, configOf(options), options);
  throw new UnimplementedError(
    `target '${target as string}' is not supported: sessions run in this thread (''), in a worker ('worker') or on a server ('grpc://host:port', 'ws://host:port')`,
  );
}

/** A checked run. */
interface Run {
  readonly plan: Plan;
  readonly values: Values;
  /** Whether everything that is fetched is fed, so that there is nothing to run. */
  readonly isIdle: boolean;
  /** Gives results the structure of the fetches. */
  readonly shape: (results: readonly Tensor[]) => unknown;
}

export class Session {
  readonly #open: OpenSession;
  readonly #options: SessionOptions;

  /** Created by `new tf.Session(graph)`. */
  constructor(
    runtime: Runtime,
    readonly graph: Graph,
    options: SessionOptions = {},
  ) {
    checkRuntime(runtime, 'Session', 'new tf.Session(graph)');
    if (!(graph instanceof Graph))
      throw new InvalidArgumentError(
        `a session runs a Graph: write new tf.Session(graph), not of ${shown(graph)}`,
      );
    checkOptions<SessionOptions>('Session', options, SESSION_OPTIONS);
    if (graph.runtime !== runtime)
      throw new InvalidArgumentError(
        'the graph belongs to another engine: init() made it with other options',
      );
    this.#options = options;
    this.#open = new OpenSession(graph, backendFor(runtime, graph, options));
  }

  /**
   * Runs one step: computes what the fetches and targets need from the feeds. Fetches may be nested in arrays
   * and records, and the results have the same structure; an Operation is run and gives null. A step that
   * takes longer than 10 ms yields to the event loop between kernels; later steps begin when it has ended, or
   * while it waits for another step.
   */
  run<const F extends Fetch>(fetches: F, feeds?: Feeds, options?: RunOptions): Promise<Fetched<F>> {
    return this.#runSoon(fetches, feeds, options) as Promise<Fetched<F>>;
  }

  #runSoon(fetches: Fetch, feeds?: Feeds, options: RunOptions = {}): Promise<unknown> {
    const open = this.#open;
    return open.soon(
      () => this.#check(fetches, feeds, options),
      ({ plan, values, isIdle, shape }) =>
        isIdle
          ? Promise.resolve(shape([]))
          : open.backend.run(plan, values, open.stepOptions(options), open.answer(shape)),
    );
  }

  /**
   * The synchronous form of `run`: returns when the step has ended. A running step of `run` is completed
   * first.
   */
  runSync<const F extends Fetch>(fetches: F, feeds?: Feeds, options: RunOptions = {}): Fetched<F> {
    const { plan, values, isIdle, shape } = this.#check(fetches, feeds, options);
    const { backend } = this.#open;
    const results = isIdle
      ? []
      : this.#open.located(() => backend.runSync(plan, values, this.#open.stepOptions(options)));
    return shape(results) as Fetched<F>;
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
    return new Callable(this.#open, fetches, feeds, options);
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
    return new PartialRun(this.#open, fetches, feeds, options);
  }

  /** Looks up and checks feeds and fetches. */
  #check(fetches: Fetch, feeds: Feeds = {}, options: RunOptions): Run {
    this.#open.backend.checkUsable();
    checkOptions<RunOptions>('run', options, RUN_OPTIONS);
    checkSignal(options);
    timeoutOf(options);
    const request = new Request(this.graph);
    const shape = request.add(fetches);
    for (const target of options.targets ?? []) request.targets.push(request.operation(target));
    const entries = feedEntries(feeds);
    const places = entries.map(([key]) => this.#open.place(key, request));
    const values = valuesFor(
      places,
      entries.map(([, value]) => value),
    );
    const feedOutputs = places.map((place) => place.output);
    // The engine refuses to fetch a fed output, so such a fetch returns the fed value.
    const fed = request.fetches.map((fetch) =>
      feedOutputs.findIndex((feed) => feed.operation === fetch.operation && feed.index === fetch.index),
    );
    const rest = request.fetches.filter((_, i) => fed[i]! < 0);
    const fedResults = fed.map((position) =>
      position < 0
        ? undefined
        : this.#open.backend.resultOfFed(values.tensors[position]!, options.keep === true),
    );
    return {
      plan: { feeds: feedOutputs, fetches: rest, targets: request.targets },
      values: { tensors: values.tensors, isOwned: (i) => values.isOwned(i) && !fed.includes(i) },
      isIdle: fed.length > 0 && rest.length === 0 && request.targets.length === 0,
      shape(results) {
        const remaining = results[Symbol.iterator]();
        return shape(fedResults.map((result) => result ?? (remaining.next().value as Tensor)));
      },
    };
  }

  /** What the last step with `trace: true`, or with a Trace, ran: complete when the step has ended. */
  get lastTrace(): Trace | undefined {
    return this.#open.lastTrace;
  }

  /** The session's devices, by their ids. */
  async listDevices(): Promise<Device[]> {
    return this.#open.backend.listDevices();
  }

  /** Frees the variables and all caches, and ends the running steps. Later runs fail. */
  async close(): Promise<void> {
    await this.#open.backend.close();
  }

  /** @internal The engine's session, for helpers that need one in this thread. */
  usablePointer(): SessionPtr {
    const { backend } = this.#open;
    if (backend instanceof LocalBackend) return backend.usablePointer();
    throw new UnimplementedError('this needs a session of this thread, without a target');
  }

  /** @internal A session of another graph in the same engine. */
  beside(graph: Graph): Session {
    return new Session(graph.runtime, graph, this.#options);
  }

  /** @internal The files in the memory of the engine that runs the steps. */
  get ramFiles(): RamFiles {
    return this.#open.backend.ramFiles;
  }

  /** 'Session<of Graph<12 nodes>>' */
  toString(): string {
    return this.#open.backend.closed ? 'Session<closed>' : `Session<of ${this.graph.toString()}>`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

checkReceivers(Session, 'session');
showAs(Session, 'Session', (session) => session.toString());
