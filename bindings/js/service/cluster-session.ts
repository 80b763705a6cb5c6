/**
 * ClusterSession: a session whose nodes may be on the devices of other tasks. This task is the master of its steps: it
 * runs its own part, and has the other tasks, which may be TensorFlow's, run theirs.
 */
import { CancelledError, InvalidArgumentError, TFError, codeNumber, errorOf } from '../base/errors.js';
import type { TraceReceiver } from '../engine/session-step.js';
import { MessageWriter, fieldsOf, textOf } from '../messages/protobuf.js';
import type { Output } from '../graph/operation.js';
import type { Answer, BackendOptions, Device, PartialRunBackend, Plan, Values } from '../session/backend.js';
import type { LocalBackend, LocalCallable } from '../session/local-backend.js';
import type { Tensor } from '../tensor/tensor.js';
import { Cluster, newNumber } from './cluster.js';
import { taskOfDevice } from './task-name.js';
import * as worker from './worker-messages.js';
import type { OtherTasks, ServedSession } from './master-service.js';
import { PartialPlan, PartialStep, addExchange } from './partial-step.js';
import type { WorkerService } from './worker-service.js';

type Connections = readonly (readonly [Output, Output])[];

/** The time for one attempt to reach a task, and until the next one, in milliseconds. */
const ATTEMPT_MS = 10_000;
const PAUSE_MS = 200;

/** Fields of a ConfigProto: the tasks that a session uses, and whether it has resources of its own. */
const DEVICE_FILTERS = 4;
const ISOLATE_SESSION_STATE = 15;

const isIsolated = (config: Uint8Array): boolean =>
  [...fieldsOf(config)].some(({ number, value }) => number === ISOLATE_SESSION_STATE && value !== 0n);

/** '/job:ps' and '/job:worker/task:1' match '/job:worker/replica:0/task:1' or not. */
const matches = (filter: string, task: string): boolean =>
  filter
    .split('/')
    .filter((part) => part !== '' && !part.startsWith('device:'))
    .every((part) => `${task}/`.includes(`/${part}/`));

/** The other tasks that a session with this ConfigProto uses. */
function tasksFor(cluster: Cluster, own: string, config: Uint8Array): string[] {
  const filters = [...fieldsOf(config)].filter(({ number }) => number === DEVICE_FILTERS).map(textOf);
  return cluster.tasks.filter(
    (task) => task !== own && (filters.length === 0 || filters.some((filter) => matches(filter, task))),
  );
}

/** A part of a step that another task runs. */
interface RemotePart {
  readonly task: string;
  readonly graphHandle: string;
}

/** A step that the tasks know. */
interface Prepared {
  readonly callable: LocalCallable;
  readonly parts: readonly RemotePart[];
}

const keyOf = ({ feeds, fetches, targets }: Plan): string =>
  [feeds, fetches, targets].map((list) => list.map(({ name }) => name).join()).join(';');

const NO_VALUES: Values = { tensors: [], isOwned: () => false };

const same = (values: () => readonly Tensor[]): readonly Tensor[] => values();

/** An error of another task, with the task's name in front, as TensorFlow's masters tell it. */
const fromTask = (task: string, error: TFError): TFError =>
  errorOf(codeNumber(error.code), `From ${task}:\n${error.message}`);

export class ClusterSession implements ServedSession {
  /** By what the steps compute; of the graph as it is. */
  readonly #prepared = new Map<string, Promise<Prepared>>();
  #parts: RemotePart[] = [];
  readonly #partialSteps = new Map<string, PartialStep>();
  /** The nodes that were added for partial runs, by what these compute. */
  readonly #exchanges = new Map<string, PartialPlan>();

  private constructor(
    private readonly local: LocalBackend,
    private readonly service: WorkerService,
    private readonly cluster: Cluster,
    private readonly handle: string,
    private readonly tasks: readonly string[],
    private readonly config: Uint8Array,
  ) {}

  /** Waits until all tasks answer, and makes `local`, which has run nothing yet, a session with their devices. */
  static async open(
    local: LocalBackend,
    service: WorkerService,
    cluster: Cluster,
    handle: string,
    tasks: readonly string[],
    config: Uint8Array,
    signal: AbortSignal,
  ): Promise<ClusterSession> {
    const statuses = await Promise.all(tasks.map((task) => statusOf(cluster, task, signal)));
    const devices = statuses
      .flatMap(({ deviceAttributes }) => deviceAttributes)
      .filter(({ deviceType }) => deviceType === 'CPU')
      .map(({ name = '', incarnation = 0n }) => ({ name, incarnation }));
    local.joinDevices(devices);
    const session = new ClusterSession(local, service, cluster, handle, tasks, config);
    const request = { sessionHandle: handle, isolateSessionState: isIsolated(config) };
    await session.#tellAll((task) => cluster.invoke(task, worker.CreateWorkerSession, request, signal));
    return session;
  }

  /** The graph has grown: steps are prepared anew. */
  graphChanged(): void {
    for (const prepared of this.#prepared.values())
      prepared.then(({ callable }) => callable.release()).catch(() => {});
    this.#prepared.clear();
    const parts = this.#parts.splice(0);
    for (const { task, graphHandle } of parts)
      this.cluster.invoke(task, worker.DeregisterGraph, { ...this.#address, graphHandle }).catch(() => {}); // whoever runs the task again has forgotten it
  }

  async run<T>(plan: Plan, values: Values, options: BackendOptions, answer: Answer<T>): Promise<T> {
    const prepared = await this.#prepare(keyOf(plan), plan, []);
    return this.#runStep(prepared, values, options, answer);
  }

  makeCallable(plan: Plan, connections: Connections): ClusterCallable {
    const key = `${keyOf(plan)};${connections.flat().map(({ name }) => name)}`;
    return new ClusterCallable((values, options, answer) =>
      this.#prepare(key, plan, connections).then((prepared) =>
        this.#runStep(prepared, values, options, answer),
      ),
    );
  }

  /** The step of a partial run begins, and waits for its feeds. */
  async partialRun(plan: Plan): Promise<{ readonly handle: string }> {
    const key = keyOf(plan);
    let exchange = this.#exchanges.get(key);
    if (!exchange) {
      this.graphChanged();
      exchange = addExchange(this.local.graph, plan, this.service.firstDevice);
      this.#exchanges.set(key, exchange);
    }
    const prepared = await this.#prepare(`${key};in pieces`, exchange.plan, exchange.connections);
    const stepId = newNumber();
    const ended = this.#runParts(stepId, prepared, NO_VALUES, {});
    ended.catch(() => {}); // its pieces report it
    const handle = `${key};${stepId}`;
    const cleanUp = () => this.#cleanUp(stepId, prepared);
    this.#partialSteps.set(handle, new PartialStep(exchange, this.service.step(stepId), ended, cleanUp));
    return { handle };
  }

  resumePartialRun(handle: string): { run: PartialRunBackend['run'] } {
    const step = this.#partialSteps.get(handle);
    if (!step) throw new InvalidArgumentError('Must run PartialRunSetup before performing partial runs');
    return {
      run: async (piece, values, { signal }, answer) => {
        step.check(piece);
        try {
          const results = await step.run(piece, values.tensors, signal);
          if (step.isComplete) this.#endPartial(handle);
          return answer(() => results);
        } catch (error) {
          this.#endPartial(handle);
          throw error;
        }
      },
    };
  }

  #endPartial(handle: string): void {
    this.#partialSteps.get(handle)?.cleanUp();
    this.#partialSteps.delete(handle);
  }

  listDevices(): Promise<Device[]> {
    return this.local.listDevices();
  }

  async close(): Promise<void> {
    for (const handle of [...this.#partialSteps.keys()]) this.#endPartial(handle);
    this.graphChanged();
    const request = { sessionHandle: this.handle };
    await this.#tellAll((task) => this.cluster.invoke(task, worker.DeleteWorkerSession, request)).catch(
      () => {},
    );
    await this.local.close();
  }

  get #address() {
    return { sessionHandle: this.handle, createWorkerSessionCalled: true };
  }

  async #tellAll(tell: (task: string) => Promise<unknown>): Promise<void> {
    await Promise.all(this.tasks.map((task) => this.#from(task, tell)));
  }

  #prepare(key: string, plan: Plan, connections: Connections): Promise<Prepared> {
    let prepared = this.#prepared.get(key);
    if (!prepared) {
      prepared = this.#register(plan, connections);
      this.#prepared.set(key, prepared);
      prepared.catch(() => this.#prepared.delete(key));
    }
    return prepared;
  }

  async #register(plan: Plan, connections: Connections): Promise<Prepared> {
    const callable = this.local.makeCallable(plan, connections);
    try {
      const parts = await Promise.all(
        callable.remoteGraphs().map(async ({ device, graphDef }): Promise<RemotePart> => {
          const task = taskOfDevice(device);
          const request = { ...this.#address, graphDef, configProto: this.config };
          const { graphHandle } = await this.#from(task, (to) =>
            this.cluster.invoke(to, worker.RegisterGraph, request),
          );
          return { task, graphHandle };
        }),
      );
      this.#parts.push(...parts);
      return { callable, parts };
    } catch (error) {
      callable.release();
      throw error;
    }
  }

  async #from<T>(task: string, call: (task: string) => Promise<T>): Promise<T> {
    try {
      return await call(task);
    } catch (error) {
      throw error instanceof TFError ? fromTask(task, error) : error;
    }
  }

  async #runStep<T>(
    prepared: Prepared,
    values: Values,
    options: BackendOptions,
    answer: Answer<T>,
  ): Promise<T> {
    const stepId = newNumber();
    try {
      const results = await this.#runParts(stepId, prepared, values, options);
      return answer(() => results);
    } finally {
      this.#cleanUp(stepId, prepared);
    }
  }

  /** Runs all parts of a step. The first error ends the others. The values stay until the step is cleaned up. */
  async #runParts(
    stepId: bigint,
    { callable, parts }: Prepared,
    values: Values,
    options: BackendOptions,
  ): Promise<readonly Tensor[]> {
    const step = this.service.step(stepId);
    const ending = new AbortController();
    const end = () => ending.abort();
    options.signal?.addEventListener('abort', end, { once: true });
    if (options.signal?.aborted) end(); // while the step was prepared
    let first: unknown;
    const failed = (error: unknown): void => {
      first ??= error;
      if (error instanceof TFError) step.abort(error);
      end();
    };
    const stats: Uint8Array[] = [];
    const trace = options.trace && { add: (metadata: Uint8Array) => void stats.push(metadata) };
    const own = step.run(
      (key, signal) => this.service.ask(this.cluster, stepId, key, signal),
      () => this.local.wake(),
      (exchange) => callable.run(values, { ...options, signal: ending.signal, trace, exchange }, same),
    );
    const others = parts.map((part) => this.#runPart(part, stepId, trace, ending.signal));
    for (const other of others) other.catch(failed);
    /* The task that did not send a value reports why. */
    own.catch((error) => !step.hasDerivedError && failed(error));
    const [outcome] = await Promise.allSettled([own, ...others]);
    options.signal?.removeEventListener('abort', end);
    if (stats.length > 0) options.trace?.add(joined(stats));
    if (first !== undefined) throw first;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  #cleanUp(stepId: bigint, { parts }: Prepared): void {
    void this.service.cleanUp(stepId);
    for (const task of new Set(parts.map(({ task }) => task)))
      this.cluster.invoke(task, worker.CleanupGraph, { stepId }, undefined, ATTEMPT_MS).catch(() => {}); // it is gone
  }

  async #runPart(
    { task, graphHandle }: RemotePart,
    stepId: bigint,
    trace: TraceReceiver | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const request = {
      ...this.#address,
      graphHandle,
      stepId,
      execOpts: { recordTimeline: trace !== undefined },
      storeErrorsInResponseBody: true,
      requestId: newNumber(),
    };
    const { statusCode, statusErrorMessage, stepStats } = await this.#from(task, (to) =>
      this.cluster.invoke(to, worker.RunGraph, request, signal),
    );
    if (stepStats) trace?.add(new MessageWriter().bytes(1, stepStats).finish());
    if (statusCode !== 0) throw fromTask(task, errorOf(statusCode, statusErrorMessage));
  }
}

/** Messages of one type behind each other are one message, whose lists are joined. */
function joined(messages: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(messages.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of messages) {
    whole.set(bytes, at);
    at += bytes.length;
  }
  return whole;
}

/** A task may be started later than its master. */
async function statusOf(cluster: Cluster, task: string, signal: AbortSignal) {
  for (;;) {
    try {
      return await cluster.invoke(task, worker.GetStatus, {}, signal, ATTEMPT_MS);
    } catch (error) {
      const { code } = error as TFError;
      if (signal.aborted) throw new CancelledError(`${task} did not answer before the call was cancelled`);
      if (code !== 'UNAVAILABLE' && code !== 'DEADLINE_EXCEEDED') throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

type RunCallable = <T>(values: Values, options: BackendOptions, answer: Answer<T>) => Promise<T>;

class ClusterCallable {
  constructor(readonly run: RunCallable) {}

  /** The session frees it with its step. */
  release(): void {}
}

/** The other tasks of the cluster of a server. */
export class ClusterTasks implements OtherTasks {
  constructor(
    private readonly service: WorkerService,
    private readonly cluster: Cluster,
    private readonly own: string,
  ) {}

  async open(
    local: LocalBackend,
    handle: string,
    config: Uint8Array,
    signal: AbortSignal,
  ): Promise<ServedSession> {
    const tasks = tasksFor(this.cluster, this.own, config);
    if (tasks.length === 0) return local;
    return ClusterSession.open(local, this.service, this.cluster, handle, tasks, config, signal);
  }

  async clear(container: readonly string[]): Promise<void> {
    await Promise.all(
      tasksFor(this.cluster, this.own, NO_CONFIG).map((task) =>
        this.cluster.invoke(task, worker.CleanupAll, { container }, undefined, ATTEMPT_MS),
      ),
    );
  }
}

/** The default ConfigProto. */
const NO_CONFIG = new Uint8Array(0);
