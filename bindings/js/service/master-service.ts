/**
 * MasterService: serves the calls of TensorFlow's MasterService with sessions of this thread's engine,
 * whatever carries them.
 */
import { AbortedError, InvalidArgumentError, TFError, codeNumber, errorOf } from '../base/errors.js';
import { LocalRamFiles } from '../engine/ram-files.js';
import type { Runtime } from '../engine/runtime.js';
import type { TraceReceiver } from '../engine/session-step.js';
import { Graph } from '../graph/graph.js';
import type { Operation, Output } from '../graph/operation.js';
import * as master from '../master/messages.js';
import type { CallableBackend, PartialRunBackend, Plan, SessionBackend, Values } from '../session/backend.js';
import type { DeviceManager } from '../session/device-manager.js';
import { LocalBackend } from '../session/local-backend.js';
import type { Tensor } from '../tensor/tensor.js';
import { extendGraph } from './extend-graph.js';
import { MethodTable, Request, Response } from './method-table.js';

/** What runs the steps of a session: that of this engine, or one with other tasks. */
export interface ServedSession extends Pick<SessionBackend, 'run' | 'listDevices' | 'close'> {
  makeCallable(
    plan: Plan,
    connections: readonly (readonly [Output, Output])[],
  ): Pick<CallableBackend, 'run' | 'release'>;
  partialRun(plan: Plan): Pick<PartialRunBackend, 'handle'> | Promise<Pick<PartialRunBackend, 'handle'>>;
  resumePartialRun(handle: string): Pick<PartialRunBackend, 'run'>;
  /** The client has extended the graph. */
  graphChanged?(): void;
}

/** Makes sessions that use the devices of other tasks. */
export interface OtherTasks {
  /** `local` has run nothing yet. `signal` ends the wait for the other tasks. */
  open(local: LocalBackend, handle: string, config: Uint8Array, signal: AbortSignal): Promise<ServedSession>;
  /** Forgets the resources of containers in all of them. */
  clear(containers: readonly string[]): Promise<void>;
}

interface MadeCallable {
  readonly callable: Pick<CallableBackend, 'run' | 'release'>;
  readonly timeoutMs: number;
  readonly traced: boolean;
}

/** A session that a client created. */
interface Served {
  readonly graph: Graph;
  readonly session: ServedSession;
  /** How often the graph was extended. */
  version: bigint;
  readonly callables: Map<bigint, MadeCallable>;
  nextCallable: bigint;
}

/** 16 hexadecimal digits. */
const newHandle = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

/** The RunMetadata of a step, if its RunOptions ask for it. */
class Recording implements TraceReceiver {
  metadata: Uint8Array | undefined;
  add(metadata: Uint8Array): void {
    this.metadata = metadata;
  }
}

const timeoutOf = (options: Partial<master.RunOptions> | undefined): number =>
  Number(options?.timeoutInMs ?? 0n);

const recordingOf = (options: Partial<master.RunOptions> | undefined): Recording | undefined =>
  options?.traceLevel ? new Recording() : undefined;

/** The tensors of a request belong to it. */
const valuesOf = (tensors: readonly (Tensor | undefined)[]): Values => {
  if (tensors.includes(undefined)) throw new InvalidArgumentError('a feed of the request has no tensor');
  return { tensors: tensors as readonly Tensor[], isOwned: () => true };
};

/** What a master says where a session says something else. */
const MASTER_WORDS = new Map([
  [
    "Must run 'setup' before performing partial runs!",
    'Must run PartialRunSetup before performing partial runs',
  ],
]);

/** The node of a result. A server of TensorFlow sends results. */
const RESULT_NODE = /\{\{node _retval_(.+_\d+)_\d+\}\}/;

/** The default ConfigProto. */
const NO_CONFIG = new Uint8Array(0);

const same = <T>(values: () => T): T => values();

export class MasterService {
  readonly #sessions = new Map<string, Served>();
  readonly table = new MethodTable();

  /**
   * With `devices`, which the service disposes of when it is closed, all sessions share these and the variables on
   * them; otherwise each session has its own. With `others`, sessions may use the devices of other tasks, too.
   */
  constructor(
    private readonly runtime: Runtime,
    private readonly devices?: DeviceManager,
    private readonly others?: OtherTasks,
  ) {
    const { table } = this;
    table.add(master.CreateSession, (request, signal) => this.#create(request, signal));
    table.add(master.ExtendSession, (request) => this.#extend(request));
    table.add(master.PartialRunSetup, (request) => this.#setUpPartialRun(request));
    table.add(master.RunStep, (request, signal) => this.#runStep(request, signal));
    table.add(master.MakeCallable, (request) => this.#makeCallable(request));
    table.add(master.RunCallable, (request, signal) => this.#runCallable(request, signal));
    table.add(master.ReleaseCallable, (request) => this.#releaseCallable(request));
    table.add(master.ListDevices, (request) => this.#listDevices(request));
    table.add(master.CloseSession, (request) => this.#close(request.sessionHandle));
    table.add(master.Reset, ({ container }) => this.#reset(container));
    const files = new LocalRamFiles(runtime);
    table.add(master.CreateFile, ({ path, size }) => (files.create(path, Number(size)), {}));
    table.add(master.WriteFile, ({ path, offset, content }) => {
      if (content) files.write(path, Number(offset), content);
      return {};
    });
    table.add(master.RemoveFile, ({ path }) => (files.remove(path), {}));
    table.add(master.NumShards, ({ prefix }) => ({ count: files.numShards(prefix) }));
  }

  /** Closes all sessions. */
  async close(): Promise<void> {
    for (const handle of [...this.#sessions.keys()]) await this.#close(handle);
    this.devices?.dispose();
  }

  #served(handle: string, advice = ' Possibly, this master has restarted.'): Served {
    const served = this.#sessions.get(handle);
    if (!served) throw new AbortedError(`Session ${handle} is not found.${advice}`);
    return served;
  }

  async #create(
    { graphDef, config = NO_CONFIG }: Request<typeof master.CreateSession>,
    signal: AbortSignal,
  ): Promise<Response<typeof master.CreateSession>> {
    const graph = new Graph(this.runtime);
    const sessionHandle = newHandle();
    try {
      if (graphDef?.length) extendGraph(graph, graphDef);
      const session = await this.#open(graph, sessionHandle, config, signal);
      const served = { graph, session, version: 0n, callables: new Map(), nextCallable: 0n };
      this.#sessions.set(sessionHandle, served);
      return { sessionHandle, graphVersion: served.version };
    } catch (error) {
      graph.dispose();
      throw error;
    }
  }

  async #open(graph: Graph, handle: string, config: Uint8Array, signal: AbortSignal): Promise<ServedSession> {
    const local = new LocalBackend(this.runtime, graph, config, this.devices);
    try {
      return this.others ? await this.others.open(local, handle, config, signal) : local;
    } catch (error) {
      await local.close();
      throw error;
    }
  }

  #extend(request: Request<typeof master.ExtendSession>): Response<typeof master.ExtendSession> {
    const served = this.#served(request.sessionHandle);
    const { currentGraphVersion } = request;
    if (currentGraphVersion !== served.version)
      throw new AbortedError(
        `Current version is ${served.version} but caller expected ${currentGraphVersion}.`,
      );
    if (request.graphDef?.length) extendGraph(served.graph, request.graphDef);
    served.session.graphChanged?.();
    return { newGraphVersion: ++served.version };
  }

  async #setUpPartialRun(
    request: Request<typeof master.PartialRunSetup>,
  ): Promise<Response<typeof master.PartialRunSetup>> {
    const { graph, session } = this.#served(request.sessionHandle);
    const plan = planOf(graph, request.feed, request.fetch, request.target);
    const { handle } = await session.partialRun(plan);
    return { partialRunHandle: handle };
  }

  async #runStep(
    request: Request<typeof master.RunStep>,
    signal: AbortSignal,
  ): Promise<Response<typeof master.RunStep>> {
    const { graph, session } = this.#served(request.sessionHandle, '');
    let recording: Recording | undefined;
    try {
      const runOptions = request.options && master.RunOptions.decode(request.options);
      recording = recordingOf(runOptions);
      const feeds = request.feed.map(({ name }) => name ?? '');
      const plan = planOf(graph, feeds, request.fetch, request.target);
      const values = valuesOf(request.feed.map(({ tensor }) => tensor));
      const options = { signal, timeoutMs: timeoutOf(runOptions), trace: recording };
      const results = await this.#fromTask(
        request.partialRunHandle
          ? session.resumePartialRun(request.partialRunHandle).run(plan, values, options, same)
          : session.run(plan, values, options, same),
      );
      const tensor = request.fetch.map((name, i) => ({ name, tensor: results[i] }));
      return { tensor, metadata: recording?.metadata };
    } catch (error) {
      if (!(error instanceof TFError && request.storeErrorsInResponseBody)) throw error;
      return {
        statusCode: codeNumber(error.code),
        statusErrorMessage: error.message,
        metadata: recording?.metadata,
      };
    }
  }

  /** Errors in the words of TensorFlow's master, which says which of its tasks has failed. */
  async #fromTask<T>(step: Promise<T>): Promise<T> {
    try {
      return await step;
    } catch (error) {
      if (!(this.devices && error instanceof TFError)) throw error;
      const message = error.message.replace(RESULT_NODE, '{{node _send_$1}}');
      const isOfKernel = message.includes('[[{{') && !message.startsWith('From /job:');
      throw errorOf(
        codeNumber(error.code),
        isOfKernel ? `From ${this.devices.task}:\n${message}` : (MASTER_WORDS.get(message) ?? message),
      );
    }
  }

  #makeCallable(request: Request<typeof master.MakeCallable>): Response<typeof master.MakeCallable> {
    const served = this.#served(request.sessionHandle);
    const { graph, session } = served;
    const { feed = [], fetch = [], target = [], tensorConnection = [], runOptions } = request.options ?? {};
    const connections = tensorConnection.map(({ fromTensor = '', toTensor = '' }): [Output, Output] => [
      graph.output(fromTensor),
      graph.output(toTensor),
    ]);
    const callable = session.makeCallable(planOf(graph, feed, fetch, target), connections);
    const handle = served.nextCallable++;
    const traced = recordingOf(runOptions) !== undefined;
    served.callables.set(handle, { callable, timeoutMs: timeoutOf(runOptions), traced });
    return { handle };
  }

  async #runCallable(
    { sessionHandle, handle, feed }: Request<typeof master.RunCallable>,
    signal: AbortSignal,
  ): Promise<Response<typeof master.RunCallable>> {
    const { callable, timeoutMs, traced } = callableOf(this.#served(sessionHandle), handle);
    const trace = traced ? new Recording() : undefined;
    const fetch = await this.#fromTask(callable.run(valuesOf(feed), { signal, timeoutMs, trace }, same));
    return { fetch, metadata: trace?.metadata };
  }

  #releaseCallable(request: Request<typeof master.ReleaseCallable>): Response<typeof master.ReleaseCallable> {
    const served = this.#served(request.sessionHandle);
    callableOf(served, request.handle).callable.release();
    served.callables.delete(request.handle);
    return {};
  }

  async #listDevices(
    request: Request<typeof master.ListDevices>,
  ): Promise<Response<typeof master.ListDevices>> {
    const devices = await this.#served(request.sessionHandle).session.listDevices();
    return {
      localDevice: devices.map(({ name, type, memoryBytes, incarnation }) => ({
        name,
        deviceType: type,
        memoryLimit: BigInt(memoryBytes),
        incarnation,
      })),
    };
  }

  async #close(handle: string): Promise<Response<typeof master.CloseSession>> {
    const { graph, session, callables } = this.#served(handle);
    this.#sessions.delete(handle);
    for (const { callable } of callables.values()) callable.release();
    await session.close();
    graph.dispose();
    return {};
  }

  /** Closes all sessions, and forgets the shared resources of the containers. */
  async #reset(containers: readonly string[]): Promise<Response<typeof master.Reset>> {
    for (const handle of [...this.#sessions.keys()]) await this.#close(handle);
    this.devices?.clear(containers);
    await this.others?.clear(containers);
    return {};
  }
}

function callableOf({ callables, nextCallable }: Served, handle: bigint): MadeCallable {
  const made = callables.get(handle);
  if (made) return made;
  throw new InvalidArgumentError(
    handle < nextCallable && handle >= 0n
      ? `Attempted to run callable after handle was released: ${handle}`
      : `No such callable handle: ${handle}`,
  );
}

/** What the names of a request mean in a graph. */
function planOf(
  graph: Graph,
  feeds: readonly string[],
  fetches: readonly string[],
  targets: readonly string[],
): Plan {
  return {
    feeds: feeds.map((name) => graph.output(name)),
    fetches: fetches.map((name) => graph.output(name)),
    targets: targets.map((name): Operation => graph.requiredOperation(name)),
  };
}
