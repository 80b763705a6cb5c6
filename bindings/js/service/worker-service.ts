/**
 * WorkerService: runs the parts of other masters' steps that are placed on the devices of this task, as TensorFlow's
 * workers do. A master registers a graph for each part, and runs them all for each step; values go from worker to
 * worker.
 */
import { AbortedError, CancelledError, InvalidArgumentError, TFError, codeNumber } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';
import type { Sent } from '../engine/task-rendezvous.js';
import { MessageWriter, fieldsOf } from '../messages/protobuf.js';
import type { Device } from '../session/backend.js';
import type { DeviceManager } from '../session/device-manager.js';
import { Cluster, newNumber } from './cluster.js';
import { derivedFrom } from './derived-errors.js';
import { MethodTable, Request, Response } from './method-table.js';
import { RecentRequests } from './recent-requests.js';
import { RegisteredGraph } from './registered-graph.js';
import { StepValues } from './step-values.js';
import { senderOf, taskName, taskOfDevice } from './task-name.js';
import * as worker from './worker-messages.js';

/** What a master has of this task: the graphs of one of its sessions. */
interface WorkerSession {
  readonly cluster: Cluster;
  /** Whether the cluster is the session's own. */
  readonly ownsCluster: boolean;
  readonly devices: DeviceManager;
  /** Whether the resources are the session's own. */
  readonly ownsDevices: boolean;
  readonly graphs: Map<string, RegisteredGraph>;
}

/** The fields of a ConfigProto that concern a graph that a master has placed already: GraphOptions. */
const GRAPH_OPTIONS = 10;

function configOf(configProto: Uint8Array | undefined): Uint8Array {
  const writer = new MessageWriter();
  for (const { number, bytes } of fieldsOf(configProto ?? new Uint8Array(0)))
    if (number === GRAPH_OPTIONS) writer.bytes(number, bytes);
  return writer.finish();
}

/** The StepStats of a RunMetadata. */
const stepStatsOf = (metadata: Uint8Array): Uint8Array | undefined =>
  [...fieldsOf(metadata)].find(({ number }) => number === 1)?.bytes;

export class WorkerService {
  readonly table = new MethodTable();
  /** The session of masters that create none is ''. */
  readonly #sessions = new Map<string, WorkerSession>();
  readonly #steps = new Map<bigint, StepValues>();
  /** By the ids of their steps. */
  readonly #partialRuns = new Map<bigint, Promise<void>>();
  readonly #runs = new RecentRequests('RunGraph');
  readonly #receives = new RecentRequests('RecvTensor');
  #nextGraph = 0;

  /** `devices` and `cluster` belong to the server. */
  constructor(
    private readonly runtime: Runtime,
    private readonly devices: DeviceManager,
    private readonly cluster: Cluster,
  ) {
    const { table } = this;
    this.#sessions.set('', this.#newSession(cluster, false, devices, false));
    table.add(worker.GetStatus, () => this.#status());
    table.add(worker.CreateWorkerSession, (request) => this.#create(request));
    table.add(worker.DeleteWorkerSession, ({ sessionHandle }) => this.#delete(sessionHandle));
    table.add(worker.RegisterGraph, (request) => this.#register(request));
    table.add(worker.DeregisterGraph, (request) => this.#deregister(request));
    table.add(worker.RunGraph, (request, signal) => this.#runGraph(request, signal));
    table.add(worker.RecvTensor, (request, signal) => this.#sendTensor(request, signal));
    table.add(worker.CleanupGraph, ({ stepId }) => this.cleanUp(stepId));
    table.add(worker.CleanupAll, ({ container }) => (this.devices.clear(container), {}));
    table.add(worker.MarkRecvFinished, () => ({}));
  }

  /** Where values that clients feed come from. */
  get firstDevice(): Device {
    return this.devices.devices[0]!;
  }

  /** The values of a step in this task. */
  step(id: bigint): StepValues {
    let step = this.#steps.get(id);
    if (!step) this.#steps.set(id, (step = new StepValues(this.runtime, this.devices.task)));
    return step;
  }

  /** Ends a step, and forgets its values. */
  async cleanUp(id: bigint): Promise<Response<typeof worker.CleanupGraph>> {
    const step = this.#steps.get(id);
    this.#steps.delete(id);
    this.#partialRuns.delete(id);
    await step?.dispose(id);
    return {};
  }

  /** Asks the task that sends a value for it. */
  async ask(cluster: Cluster, stepId: bigint, rendezvousKey: string, signal: AbortSignal): Promise<Sent> {
    const request = { stepId, rendezvousKey, requestId: newNumber() };
    const task = taskOfDevice(senderOf(rendezvousKey).device);
    const { tensor, isDead } = await cluster.invoke(task, worker.RecvTensor, request, signal);
    return { tensor: isDead ? undefined : tensor };
  }

  /** Ends all steps and sessions. */
  async close(): Promise<void> {
    for (const id of [...this.#steps.keys()]) await this.cleanUp(id);
    for (const handle of [...this.#sessions.keys()]) await this.#delete(handle);
  }

  #status(): Response<typeof worker.GetStatus> {
    return {
      deviceAttributes: this.devices.devices.map(({ name, type, memoryBytes, incarnation }) => ({
        name,
        deviceType: type,
        memoryLimit: BigInt(memoryBytes),
        incarnation,
      })),
    };
  }

  #newSession(
    cluster: Cluster,
    ownsCluster: boolean,
    devices: DeviceManager,
    ownsDevices: boolean,
  ): WorkerSession {
    return { cluster, ownsCluster, devices, ownsDevices, graphs: new Map() };
  }

  #create(request: Request<typeof worker.CreateWorkerSession>): Response<typeof worker.CreateWorkerSession> {
    const { sessionHandle, serverDef, isolateSessionState } = request;
    if (sessionHandle === '' || this.#sessions.has(sessionHandle))
      throw new InvalidArgumentError(`Session ${sessionHandle} already exists`);
    const addresses = new Map<string, string>();
    for (const { name = '', tasks = [] } of serverDef?.cluster?.job ?? [])
      for (const { key = 0, value = '' } of tasks) addresses.set(taskName(name, key), value);
    const ownsCluster = addresses.size > 0;
    const cluster = ownsCluster ? new Cluster(addresses) : this.cluster;
    const devices = isolateSessionState ? this.devices.isolated() : this.devices;
    this.#sessions.set(sessionHandle, this.#newSession(cluster, ownsCluster, devices, isolateSessionState));
    return {};
  }

  async #delete(handle: string): Promise<Response<typeof worker.DeleteWorkerSession>> {
    const session = this.#sessions.get(handle);
    this.#sessions.delete(handle);
    if (!session) return {};
    for (const graph of session.graphs.values()) await graph.dispose();
    if (session.ownsDevices) session.devices.dispose();
    if (session.ownsCluster) session.cluster.close();
    return {};
  }

  #session(handle: string, wasCreated: boolean): WorkerSession {
    const session = this.#sessions.get(wasCreated ? handle : '');
    if (session) return session;
    throw new AbortedError(
      `Session handle is not found: ${handle}. Possibly this worker ("${this.devices.task}") just restarted.`,
    );
  }

  #register(request: Request<typeof worker.RegisterGraph>): Response<typeof worker.RegisterGraph> {
    const { sessionHandle, createWorkerSessionCalled, graphDef, configProto } = request;
    const { graphs, devices } = this.#session(sessionHandle, createWorkerSessionCalled);
    const graph = new RegisteredGraph(
      this.runtime,
      graphDef ?? new Uint8Array(0),
      configOf(configProto),
      devices,
    );
    const graphHandle = (this.#nextGraph++).toString(16).padStart(16, '0');
    graphs.set(graphHandle, graph);
    return { graphHandle };
  }

  #graph({ graphs }: WorkerSession, handle: string, advice = ''): RegisteredGraph {
    const graph = graphs.get(handle);
    if (graph) return graph;
    throw new AbortedError(`Graph handle is not found: ${handle}${advice}`);
  }

  /** Steps of the graph that run go on. */
  #deregister(request: Request<typeof worker.DeregisterGraph>): Response<typeof worker.DeregisterGraph> {
    const session = this.#session(request.sessionHandle, request.createWorkerSessionCalled);
    const graph = this.#graph(session, request.graphHandle, '. Possibly, this worker just restarted.');
    session.graphs.delete(request.graphHandle);
    void graph.retire();
    return {};
  }

  async #runGraph(
    request: Request<typeof worker.RunGraph>,
    signal: AbortSignal,
  ): Promise<Response<typeof worker.RunGraph>> {
    try {
      return await this.#runStep(request, signal);
    } catch (error) {
      if (!(error instanceof TFError && request.storeErrorsInResponseBody)) throw error;
      return { statusCode: codeNumber(error.code), statusErrorMessage: error.message };
    }
  }

  async #runStep(
    request: Request<typeof worker.RunGraph>,
    signal: AbortSignal,
  ): Promise<Response<typeof worker.RunGraph>> {
    const session = this.#session(request.sessionHandle, request.createWorkerSessionCalled);
    const graph = this.#graph(session, request.graphHandle);
    this.#runs.check(request.requestId);
    const step = this.step(request.stepId);
    for (const { name = '', tensor } of request.send) step.leave(name, { tensor });
    let stepStats: Uint8Array | undefined;
    const trace = { add: (metadata: Uint8Array) => void (stepStats = stepStatsOf(metadata)) };
    const start = (ending: AbortSignal) =>
      step.run(
        (key, given) => this.ask(session.cluster, request.stepId, key, given),
        () => graph.wake(),
        (exchange) => graph.run(exchange, ending, request.execOpts?.recordTimeline ? trace : undefined),
      );
    if (request.isPartial) await this.#runPiece(request, start);
    else await start(signal);
    const values = await Promise.all(request.recvKey.map((key) => step.receive(key, signal)));
    return { recv: request.recvKey.map((name, i) => named(name, values[i]!)), stepStats };
  }

  /** The first piece of a partial run begins it, and the last one waits for its end. */
  async #runPiece(
    { stepId, isLastPartialRun }: Request<typeof worker.RunGraph>,
    start: (ending: AbortSignal) => Promise<void>,
  ): Promise<void> {
    let running = this.#partialRuns.get(stepId);
    if (!running) {
      running = start(this.step(stepId).signal);
      running.catch(() => {}); // its pieces report it
      this.#partialRuns.set(stepId, running);
    }
    if (!isLastPartialRun) return;
    this.#partialRuns.delete(stepId);
    await running;
  }

  async #sendTensor(
    { stepId, rendezvousKey, requestId }: Request<typeof worker.RecvTensor>,
    signal: AbortSignal,
  ): Promise<Response<typeof worker.RecvTensor>> {
    this.#receives.check(requestId);
    const { device, incarnation } = senderOf(rendezvousKey);
    const own = this.devices.devices.find(({ name }) => name === device);
    if (!own) throw new InvalidArgumentError(`${rendezvousKey} is not sent by ${this.devices.task}`);
    if (own.incarnation !== incarnation)
      throw new AbortedError(
        `RecvTensor expects a different device incarnation: ${incarnation} vs. ${own.incarnation}. Your worker job ("${this.devices.task}") was probably restarted. Check your worker job for the reason why it was restarted.`,
      );
    const step = this.step(stepId);
    try {
      const { tensor } = await step.receive(rendezvousKey, signal);
      return { tensor, isDead: !tensor, sendStartMicros: BigInt(Date.now()) * 1000n };
    } catch (error) {
      if (error instanceof CancelledError && step.isIdle) await this.cleanUp(stepId);
      throw error instanceof TFError ? derivedFrom(error) : error;
    }
  }
}

function named(name: string, { tensor }: Sent) {
  if (!tensor) throw new InvalidArgumentError(`The tensor returned for ${name} was not valid.`);
  return { name, tensor };
}
