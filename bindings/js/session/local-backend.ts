/** LocalBackend: runs the steps of a session in this thread's engine. */
import { LocalRamFiles } from '../engine/ram-files.js';
import { checkText, checkTexts } from '../base/arguments.js';
import { CancelledError } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';
import { CallFrame } from '../engine/call-frame.js';
import { ResidentTensor, residentTensor } from '../engine/resident-tensor.js';
import { SessionStep, StepRequest } from '../engine/session-step.js';
import { StepQueue, timeoutOf } from '../engine/step-queue.js';
import { unsigned } from '../engine/wasm.js';
import type {
  Null,
  Ptr,
  SessionOptionsPtr,
  SessionPtr,
  TensorPtr,
  TextPtr,
  WasmCallablePtr,
} from '../generated/abi.js';
import type { Graph } from '../graph/graph.js';
import type { Output } from '../graph/operation.js';
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
import { readDevices } from './device-list.js';
import type { DeviceManager } from './device-manager.js';

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

/** Closes all sessions of this thread's engine. */
export function resetSessions({ wasm }: Runtime, target: string, containers: readonly string[]): void {
  checkText('the target', target);
  checkTexts('containers', containers);
  wasm.refuseInCallback();
  const settings = unsigned(wasm.call.TF_NewSessionOptions());
  try {
    wasm.scope((scope) => {
      wasm.call.TF_SetTarget(settings, scope.string(target));
      const names = scope.pointers(containers.map((name) => scope.string(name)));
      wasm.checked((status) => wasm.call.TF_Reset(settings, names, containers.length, status));
    });
  } finally {
    wasm.call.TF_DeleteSessionOptions(settings);
  }
}

/** A GraphDef for a device of another task. */
export interface RemoteGraph {
  readonly device: string;
  readonly graphDef: Uint8Array;
}
/** For the Step of a call that has begun: the engine has its values. */
const NO_VALUES: Values = { tensors: [], isOwned: () => false };

export class LocalBackend implements SessionBackend {
  private readonly pointer: SessionPtr;
  /** Steps run one after the other, in the order of the calls. */
  private readonly queue: StepQueue;
  closed = false;
  readonly ramFiles: LocalRamFiles;

  /** `config` is a ConfigProto. Without `devices` the session has its own. */
  constructor(
    readonly runtime: Runtime,
    /** Kept, because the engine's session refers to it. */
    readonly graph: Graph,
    config: Uint8Array,
    devices?: DeviceManager,
  ) {
    const { wasm } = runtime;
    this.queue = new StepQueue(runtime.parts.side);
    this.ramFiles = new LocalRamFiles(runtime);
    this.pointer = withConfig(runtime, config, (settings) =>
      unsigned(
        wasm.checked((status) =>
          wasm.call.TF_WasmNewSession(graph.pointer, settings, devices ? devices.pointer : 0, status),
        ),
      ),
    );
    runtime.opened(this, 'sessions', this.pointer);
  }

  checkUsable(): void {
    if (this.closed) throw new CancelledError(CLOSED);
    this.runtime.wasm.refuseInCallback();
  }

  /** The engine's session, if it may run. */
  usablePointer(): SessionPtr {
    this.checkUsable();
    return this.pointer;
  }

  run<T>(plan: Plan, values: Values, options: BackendOptions, answer: Answer<T>): Promise<T> {
    return this.runSoon(this.stepOf(plan, values, options), options, answer);
  }

  runSync(plan: Plan, values: Values, options: BackendOptions): readonly Tensor[] {
    return this.runAtOnce(this.stepOf(plan, values, options));
  }

  /** Runs a step when the steps before it have ended. */
  runSoon<T>(step: SessionStep, options: BackendOptions, answer: Answer<T>): Promise<T> {
    return this.queue.run(
      step,
      () => answer(() => step.values),
      options,
      () => (this.closed ? new CancelledError(CLOSED) : undefined),
    );
  }

  /** Runs a step to its end, after the running step has ended. */
  runAtOnce(step: SessionStep): readonly Tensor[] {
    this.queue.runAtOnce(step);
    return step.values;
  }

  /** A step with copies of the values in the engine. */
  step(
    values: Values,
    numResults: number,
    options: BackendOptions,
    start: StepRequest['start'],
  ): SessionStep {
    const { trace, exchange } = options;
    const timeoutMs = timeoutOf(options);
    return new SessionStep(this.runtime.wasm, {
      values: values.tensors,
      numResults,
      timeoutMs,
      trace,
      exchange,
      receive: this.receiverOf(options),
      start,
    });
  }

  /** Makes results of the engine's tensors; undefined: they are copied. */
  receiverOf({ keep }: BackendOptions): ((pointer: TensorPtr) => Tensor) | undefined {
    return keep ? (pointer) => new ResidentTensor(this.runtime, pointer) : undefined;
  }

  /** Runs a call of a callable to its end, after the running step has ended. */
  callAtOnce(frame: CallFrame, { tensors }: Values, numResults: number, options: BackendOptions): Tensor[] {
    const blocked = this.queue.callAtOnce(() => frame.run(tensors, timeoutOf(options)));
    if (blocked === undefined) return frame.takeResults(this.receiverOf(options));
    const step = this.step(NO_VALUES, numResults, options, () => blocked);
    return this.runAtOnce(step) as Tensor[];
  }

  resultOfFed(value: Tensor, keep: boolean): Tensor {
    return keep ? residentTensor(this.runtime, value) : plainTensor(value);
  }

  private stepOf({ feeds, fetches, targets }: Plan, values: Values, options: BackendOptions): SessionStep {
    const pointer = this.usablePointer();
    const { call } = this.runtime.wasm;
    return this.step(values, fetches.length, options, (scope, stepOptions, inputs, results, status) =>
      call.TF_WasmStartStep(
        pointer,
        stepOptions,
        scope.outputs(feeds),
        inputs,
        feeds.length,
        scope.outputs(fetches),
        results,
        fetches.length,
        scope.pointers(targets.map((target) => target.pointer)),
        targets.length,
        status,
      ),
    );
  }

  /** A blocked step is tried again now: a value has come for it. */
  wake(): void {
    this.queue.wake();
  }

  /** Nodes may be on devices of other tasks from now on. Nothing has run yet. */
  joinDevices(devices: readonly Pick<Device, 'name' | 'incarnation'>[]): void {
    const { wasm } = this.runtime;
    wasm.scope((scope) => {
      const names = scope.pointers(devices.map(({ name }) => scope.string(name)));
      const incarnations = scope.longs(devices.map(({ incarnation }) => incarnation));
      wasm.checked((status) =>
        wasm.call.TF_WasmJoinDevices(this.usablePointer(), names, incarnations, devices.length, status),
      );
    });
  }

  makeCallable(plan: Plan, connections: readonly (readonly [Output, Output])[]): LocalCallable {
    return new LocalCallable(this, plan, connections);
  }

  partialRun(plan: Plan): LocalPartialRun {
    return LocalPartialRun.begin(this, plan);
  }

  /** A partial run that has begun, by its handle. */
  resumePartialRun(handle: string): LocalPartialRun {
    return new LocalPartialRun(this, handle);
  }

  async listDevices(): Promise<Device[]> {
    const pointer = this.usablePointer();
    const { wasm } = this.runtime;
    return readDevices(
      wasm,
      wasm.made((status) => wasm.call.TF_SessionListDevices(pointer, status)),
    );
  }

  /** Frees the variables and all caches. */
  async close(): Promise<void> {
    if (this.closed) return;
    const { wasm } = this.runtime;
    wasm.refuseInCallback();
    this.closed = true;
    this.queue.abandon(new CancelledError(CLOSED));
    this.runtime.closed(this, 'sessions');
    wasm.checked((status) => wasm.call.TF_DeleteSession(this.pointer, status));
  }
}

export class LocalCallable implements CallableBackend {
  private readonly pointer: WasmCallablePtr;
  private readonly numResults: number;
  private readonly frame: CallFrame;
  /** Steps that have not ended. One that has not begun needs the engine's callable. */
  private underWay = 0;
  private released = false;

  constructor(
    private readonly session: LocalBackend,
    { feeds, fetches, targets }: Plan,
    connections: readonly (readonly [Output, Output])[],
  ) {
    const { wasm } = session.runtime;
    const sessionPointer = session.usablePointer();
    this.numResults = fetches.length;
    this.pointer = unsigned(
      wasm.scope((scope) =>
        wasm.checked((status) =>
          wasm.call.TF_WasmMakeCallable(
            sessionPointer,
            scope.outputs(feeds),
            feeds.length,
            scope.outputs(fetches),
            fetches.length,
            scope.pointers(targets.map((target) => target.pointer)),
            targets.length,
            scope.outputs(connections.flat()),
            connections.length,
            status,
          ),
        ),
      ),
    );
    this.frame = new CallFrame(wasm, this.pointer, this.numResults);
    session.runtime.opened(this, 'callables', this.pointer);
  }

  run<T>(values: Values, options: BackendOptions, answer: Answer<T>): Promise<T> {
    const step = this.stepOf(values, options);
    this.underWay++;
    return this.session.runSoon(step, options, answer).finally(() => {
      this.underWay--;
      this.freeIfUnused();
    });
  }

  runSync(values: Values, options: BackendOptions): readonly Tensor[] {
    return options.trace
      ? this.session.runAtOnce(this.stepOf(values, options))
      : this.session.callAtOnce(this.frame, values, this.numResults, options);
  }

  private stepOf(values: Values, options: BackendOptions): SessionStep {
    const { call } = this.session.runtime.wasm;
    const { numResults } = this;
    return this.session.step(values, numResults, options, (_, stepOptions, inputs, results, status) =>
      call.TF_WasmStartCall(
        this.pointer,
        stepOptions,
        inputs,
        values.tensors.length,
        results,
        numResults,
        status,
      ),
    );
  }

  /** What other tasks run of its steps while the graph does not change. */
  remoteGraphs(): RemoteGraph[] {
    const { wasm } = this.session.runtime;
    const { call } = wasm;
    const graphs = wasm.made((status) => call.TF_WasmNewRemoteGraphs(this.pointer, status));
    try {
      return Array.from({ length: call.TF_WasmRemoteGraphCount(graphs) }, (_, i) => ({
        device: wasm.text(call.TF_WasmRemoteGraphDevice(graphs, i)),
        graphDef: wasm.buffer((buffer, status) => call.TF_WasmRemoteGraphDef(graphs, i, buffer, status)),
      }));
    } finally {
      call.TF_WasmDeleteRemoteGraphs(graphs);
    }
  }

  /** Steps that were called before run to their ends. */
  release(): void {
    const { runtime } = this.session;
    runtime.wasm.refuseInCallback();
    runtime.closed(this, 'callables');
    this.released = true;
    this.freeIfUnused();
  }

  private freeIfUnused(): void {
    if (this.released && this.underWay === 0)
      this.session.runtime.wasm.call.TF_WasmReleaseCallable(this.pointer);
  }
}

export class LocalPartialRun implements PartialRunBackend {
  constructor(
    private readonly session: LocalBackend,
    readonly handle: string,
  ) {}

  static begin(session: LocalBackend, { feeds, fetches, targets }: Plan): LocalPartialRun {
    const { wasm } = session.runtime;
    const pointer = session.usablePointer();
    const handle = wasm.scope((scope) => {
      const place: Ptr<TextPtr> = scope.alloc(4);
      wasm.checked((status) =>
        wasm.call.TF_SessionPRunSetup(
          pointer,
          scope.outputs(feeds),
          feeds.length,
          scope.outputs(fetches),
          fetches.length,
          scope.pointers(targets.map((target) => target.pointer)),
          targets.length,
          place,
          status,
        ),
      );
      const text = wasm.text(wasm.at(place, 0));
      wasm.call.TF_DeletePRunHandle(wasm.at(place, 0));
      return text;
    });
    return new LocalPartialRun(session, handle);
  }

  run<T>(piece: Plan, values: Values, options: BackendOptions, answer: Answer<T>): Promise<T> {
    return this.session.runSoon(this.stepOf(piece, values, options), options, answer);
  }

  runSync(piece: Plan, values: Values, options: BackendOptions): readonly Tensor[] {
    return this.session.runAtOnce(this.stepOf(piece, values, options));
  }

  private stepOf({ feeds, fetches }: Plan, values: Values, options: BackendOptions): SessionStep {
    const pointer = this.session.usablePointer();
    const { call } = this.session.runtime.wasm;
    return this.session.step(values, fetches.length, options, (scope, stepOptions, inputs, results, status) =>
      call.TF_WasmStartPiece(
        pointer,
        scope.string(this.handle),
        stepOptions,
        scope.outputs(feeds),
        inputs,
        feeds.length,
        scope.outputs(fetches),
        results,
        fetches.length,
        status,
      ),
    );
  }
}
