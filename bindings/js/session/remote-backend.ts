/** RemoteBackend: runs the steps of a session through a MasterService. */
import {
  CancelledError,
  InternalError,
  InvalidArgumentError,
  UnimplementedError,
  errorOf,
} from '../base/errors.js';
import type { RamFiles } from '../engine/ram-files.js';
import { timeoutOf } from '../engine/step-queue.js';
import type { Graph } from '../graph/graph.js';
import type { Output } from '../graph/operation.js';
import * as master from '../master/messages.js';
import { CallOptions, Transport, invoke, tooLong } from '../master/transport.js';
import type { Fields, ValuesOf } from '../messages/message-type.js';
import { Tensor, plainTensor } from '../tensor/tensor.js';
import {
  Answer,
  BackendOptions,
  CLOSED,
  CallableBackend,
  Device,
  PartialRunBackend,
  Plan,
  SessionBackend,
  Values,
} from './backend.js';
import { GraphGrowth } from './graph-growth.js';

const nameOf = ({ name }: { readonly name: string }): string => name;

/** Tensors that belong to the call: copies, unless nobody else refers to them. */
const ownTensors = ({ tensors, isOwned }: Values): Tensor[] =>
  tensors.map((tensor, i) => {
    tensor.check();
    return isOwned(i) ? tensor : new Tensor(tensor.dtype, [...tensor.shape], tensor.data.slice() as never);
  });

const bytesOf = ({ data }: Tensor): number =>
  Array.isArray(data)
    ? data.reduce<number>((sum, text) => sum + text.length, 0)
    : (data as ArrayBufferView).byteLength;

/** Copies of the values of a call, before which their size is checked. */
function feedOf(transport: Transport, { name }: { readonly name: string }, values: Values): Tensor[] {
  const size = values.tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
  if (size > (transport.mostBytes ?? Number.POSITIVE_INFINITY))
    throw tooLong(name, size, transport.mostBytes!);
  return ownTensors(values);
}

/** Servers ignore a request that they have seen before. */
function newRequestId(): bigint {
  const [id] = crypto.getRandomValues(new BigInt64Array(1));
  return BigInt.asUintN(63, id!) || 1n;
}

/** RunOptions.TraceLevel */
const FULL_TRACE = 3;

const runOptionsOf = (options: BackendOptions): Partial<master.RunOptions> | undefined => {
  const timeoutMs = timeoutOf(options);
  if (timeoutMs === 0 && !options.trace) return undefined;
  return { timeoutInMs: BigInt(timeoutMs), traceLevel: options.trace ? FULL_TRACE : 0 };
};

const callOptionsOf = (options: BackendOptions): CallOptions => ({
  signal: options.signal,
  timeoutMs: timeoutOf(options),
});

/** So many bytes of a file are sent at once: a message is copied several times. */
const MOST_WRITTEN = 1 << 22;

const noSync = (): never => {
  throw new UnimplementedError(
    'a session with a target has no runSync, because its steps run elsewhere: write await ….run(…)',
  );
};

const NOT_EXTENDED =
  'The service has not taken what was added to the graph. What it has it cannot change, but gradients of branches and loops change those: add them before the first step, or make a new session.';

/** The service's side of a session. It ends when the session is closed, or collected without that. */
class Registration {
  readonly #created: Promise<string>;
  #version = 0n;
  /** The session's handle, when the service knows the session and all extensions so far. */
  ready: Promise<string>;

  constructor(
    readonly transport: Transport,
    config: Uint8Array,
    graphDef: Uint8Array,
    private readonly released: () => void,
  ) {
    this.#created = this.ready = this.#create(config, graphDef);
    this.ready.catch(() => {}); // each step reports it
  }

  async #create(config: Uint8Array, graphDef: Uint8Array): Promise<string> {
    const created = await invoke(this.transport, master.CreateSession, { graphDef, config });
    this.#version = created.graphVersion;
    return created.sessionHandle;
  }

  /** Adds nodes; later steps wait for them, and fail if the service refuses them. */
  extend(graphDef: Uint8Array): void {
    this.ready = this.ready.then(async (sessionHandle) => {
      const currentGraphVersion = this.#version;
      const request = { sessionHandle, graphDef, currentGraphVersion };
      try {
        this.#version = (await invoke(this.transport, master.ExtendSession, request)).newGraphVersion;
      } catch (error) {
        throw error instanceof InvalidArgumentError ? error.hint(NOT_EXTENDED) : error;
      }
      return sessionHandle;
    });
    this.ready.catch(() => {}); // each step reports it
  }

  /** Ends the session of the service, if there is one. */
  async close(): Promise<void> {
    try {
      await invoke(this.transport, master.CloseSession, { sessionHandle: await this.#created });
    } catch {
      // The service never knew the session, or is gone.
    } finally {
      this.released();
    }
  }
}

/** Ends sessions that the user did not close. */
const net = new FinalizationRegistry<Registration>((registration) => void registration.close());

/** Of which partial run a step is a piece, and the piece that has to end before. */
interface PieceOf {
  readonly handle: Promise<string>;
  readonly after: Promise<unknown> | undefined;
}

export class RemoteBackend implements SessionBackend {
  readonly #registration: Registration;
  readonly #growth: GraphGrowth;
  /** What cancels the calls under way. */
  readonly #cancels = new Set<() => void>();
  /** Fulfilled when the last call was sent: services run steps in the order of their arrival. */
  #lastSent: Promise<unknown> = Promise.resolve();
  #ended: Promise<void> | undefined;

  /** `config` is a ConfigProto. `released` is called when the session does not need the transport any more. */
  constructor(transport: Transport, graph: Graph, config: Uint8Array, released: () => void) {
    this.#growth = new GraphGrowth(graph);
    this.#registration = new Registration(transport, config, this.#growth.whole(), released);
    net.register(this, this.#registration, this);
  }

  get transport(): Transport {
    return this.#registration.transport;
  }

  get closed(): boolean {
    return this.#ended !== undefined;
  }

  checkUsable(): void {
    if (this.closed) throw new CancelledError(CLOSED);
  }

  /**
   * Calls a method after the calls before it were sent, when the service has the whole graph. `request` is
   * called then.
   */
  async call<Q extends Fields, R extends Fields>(
    method: master.Method<Q, R>,
    request: (sessionHandle: string) => Partial<ValuesOf<Q>> | Promise<Partial<ValuesOf<Q>>>,
    { signal, timeoutMs }: CallOptions = {},
  ): Promise<ValuesOf<R>> {
    this.checkUsable();
    const growth = this.#growth.next();
    if (growth) this.#registration.extend(growth);
    const { transport, ready } = this.#registration;
    const cancelling = new AbortController();
    const cancel = () => cancelling.abort();
    signal?.addEventListener('abort', cancel, { once: true });
    this.#cancels.add(cancel);
    const sent = this.#lastSent.then(async () => {
      const values = await request(await ready);
      const response = invoke(transport, method, values, { signal: cancelling.signal, timeoutMs });
      response.catch(() => {}); // it is reported below, unless the call was cancelled before it was sent
      return { response };
    });
    this.#lastSent = sent.catch(() => {}); // it is reported below
    try {
      const { response } = await orCancelled(sent, cancelling.signal);
      return await response;
    } catch (error) {
      if (this.closed) throw new CancelledError(CLOSED);
      throw signal?.aborted ? new CancelledError('the run was aborted') : error;
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#cancels.delete(cancel);
    }
  }

  run<T>(plan: Plan, values: Values, options: BackendOptions, answer: Answer<T>): Promise<T> {
    return this.runStep(plan, values, options, answer);
  }

  /** A step, or a piece of a partial run. */
  async runStep<T>(
    { feeds, fetches, targets }: Plan,
    values: Values,
    options: BackendOptions,
    answer: Answer<T>,
    partialRun?: PieceOf,
  ): Promise<T> {
    const { transport } = this;
    const tensors = feedOf(transport, master.RunStep, values);
    const runOptions = runOptionsOf(options);
    const step = {
      feed: feeds.map(({ name }, i) => ({ name, tensor: tensors[i] })),
      fetch: fetches.map(nameOf),
      target: targets.map(nameOf),
      options: runOptions && master.RunOptions.encode(runOptions),
      storeErrorsInResponseBody: true,
      requestId: newRequestId(),
    };
    return answered(answer, async () => {
      if (partialRun?.after) await partialRun.after;
      const response = await this.call(
        master.RunStep,
        async (sessionHandle) => ({ sessionHandle, ...step, partialRunHandle: await partialRun?.handle }),
        callOptionsOf(options),
      );
      if (response.metadata) options.trace?.add(response.metadata);
      if (response.statusCode !== 0) {
        const error = errorOf(response.statusCode, response.statusErrorMessage);
        throw transport.advised?.(error) ?? error;
      }
      return inOrderOf(step.fetch, response.tensor);
    });
  }

  /** The engine is elsewhere, so that nothing can be kept in it for this thread. */
  resultOfFed(value: Tensor): Tensor {
    return plainTensor(value);
  }

  makeCallable(
    plan: Plan,
    connections: readonly (readonly [Output, Output])[],
    options: BackendOptions,
  ): CallableBackend {
    return new RemoteCallable(this, plan, connections, runOptionsOf(options));
  }

  partialRun(plan: Plan): PartialRunBackend {
    return new RemotePartialRun(this, plan);
  }

  async listDevices(): Promise<Device[]> {
    const listed = await this.call(master.ListDevices, (sessionHandle) => ({ sessionHandle }));
    return [...listed.localDevice, ...listed.remoteDevice].map((device) => ({
      name: device.name!,
      type: device.deviceType!,
      memoryBytes: Number(device.memoryLimit),
      incarnation: device.incarnation!,
    }));
  }

  readonly ramFiles: RamFiles = {
    create: async (path, size) =>
      void (await this.call(master.CreateFile, () => ({ path, size: BigInt(size) }))),
    write: async (path, offset, bytes) => {
      for (let at = 0; at < bytes.length; at += MOST_WRITTEN) {
        const content = bytes.subarray(at, at + MOST_WRITTEN);
        await this.call(master.WriteFile, () => ({ path, offset: BigInt(offset + at), content }));
      }
    },
    remove: async (path) => void (await this.call(master.RemoveFile, () => ({ path }))),
    numShards: async (prefix) => (await this.call(master.NumShards, () => ({ prefix }))).count,
  };

  runSync(): never {
    return noSync();
  }

  close(): Promise<void> {
    if (!this.#ended) {
      net.unregister(this);
      for (const cancel of this.#cancels) cancel();
      this.#ended = this.#registration.close();
    }
    return this.#ended;
  }
}

/** `promise`, or a rejection as soon as the signal aborts. */
function orCancelled<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new CancelledError('the call was cancelled'));
    signal.addEventListener('abort', cancel, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel));
  });
}

/** Services return tensors in an order of their own, one for each time that a name was asked for. */
function inOrderOf(
  names: readonly string[],
  fetched: readonly { readonly name?: string; readonly tensor?: Tensor | undefined }[],
): Tensor[] {
  const byName = new Map<string, Tensor[]>();
  for (const { name = '', tensor } of fetched) {
    const others = byName.get(name) ?? [];
    byName.set(name, others);
    if (tensor) others.push(tensor);
  }
  return names.map((name) => {
    const tensors = byName.get(name) ?? [];
    const tensor = tensors.length > 1 ? tensors.shift() : tensors[0];
    if (!tensor) throw new InternalError(`the service returned no tensor for ${name}`);
    return tensor;
  });
}

/** The answer for the results of a call, or its error. */
async function answered<T>(answer: Answer<T>, call: () => Promise<readonly Tensor[]>): Promise<T> {
  let values: () => readonly Tensor[];
  try {
    const results = await call();
    values = () => results;
  } catch (error) {
    values = () => {
      throw error;
    };
  }
  return answer(values);
}

class RemoteCallable implements CallableBackend {
  readonly #session: RemoteBackend;
  readonly #handle: Promise<bigint>;
  /** Fulfilled when all runs have ended: a service may release a callable before a run that was called earlier. */
  #ended: Promise<unknown> = Promise.resolve();

  constructor(
    session: RemoteBackend,
    { feeds, fetches, targets }: Plan,
    connections: readonly (readonly [Output, Output])[],
    runOptions: ReturnType<typeof runOptionsOf>,
  ) {
    this.#session = session;
    const options = {
      feed: feeds.map(nameOf),
      fetch: fetches.map(nameOf),
      target: targets.map(nameOf),
      runOptions,
      tensorConnection: connections.map(([from, to]) => ({ fromTensor: from.name, toTensor: to.name })),
    };
    this.#handle = session
      .call(master.MakeCallable, (sessionHandle) => ({ sessionHandle, options, requestId: newRequestId() }))
      .then(({ handle }) => handle);
    this.#handle.catch(() => {}); // each run reports it
  }

  async run<T>(values: Values, options: BackendOptions, answer: Answer<T>): Promise<T> {
    const feed = feedOf(this.#session.transport, master.RunCallable, values);
    return answered(answer, async () => {
      const running = this.#session.call(
        master.RunCallable,
        async (sessionHandle) => ({
          sessionHandle,
          handle: await this.#handle,
          feed,
          requestId: newRequestId(),
        }),
        callOptionsOf(options),
      );
      this.#ended = Promise.allSettled([this.#ended, running]);
      const response = await running;
      if (response.metadata) options.trace?.add(response.metadata);
      return response.fetch;
    });
  }

  runSync(): never {
    return noSync();
  }

  release(): void {
    this.#ended
      .then(() => this.#handle)
      .then((handle) =>
        this.#session.call(master.ReleaseCallable, (sessionHandle) => ({ sessionHandle, handle })),
      )
      .catch(() => {}); // it was never made, or the session is closed, which releases it
  }
}

class RemotePartialRun implements PartialRunBackend {
  readonly #session: RemoteBackend;
  readonly #begun: Promise<string>;
  #lastPiece: Promise<unknown> = Promise.resolve();
  /** Empty until the service has answered. */
  handle = '';

  constructor(session: RemoteBackend, { feeds, fetches, targets }: Plan) {
    this.#session = session;
    const names = { feed: feeds.map(nameOf), fetch: fetches.map(nameOf), target: targets.map(nameOf) };
    this.#begun = session
      .call(master.PartialRunSetup, (sessionHandle) => ({
        sessionHandle,
        ...names,
        requestId: newRequestId(),
      }))
      .then(({ partialRunHandle }) => (this.handle = partialRunHandle));
    this.#begun.catch(() => {}); // each piece reports it
  }

  run<T>(piece: Plan, values: Values, options: BackendOptions, answer: Answer<T>): Promise<T> {
    const { transport } = this.#session;
    const of = { handle: this.#begun, after: transport.keepsOrder ? undefined : this.#lastPiece };
    const running = this.#session.runStep(piece, values, options, answer, of);
    this.#lastPiece = running.catch(() => {}); // its caller has the error
    return running;
  }

  runSync(): never {
    return noSync();
  }
}
