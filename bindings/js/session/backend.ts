/**
 * SessionBackend: where the steps of a session run. Sessions, callables and partial runs look up and check
 * what users ask for; backends run it: in this thread (local/), or through a MasterService (remote/).
 */
import type { RamFiles } from '../engine/ram-files.js';
import type { Exchange, TraceReceiver } from '../engine/session-step.js';
import type { StepOptions } from '../engine/step-queue.js';
import type { Operation, Output } from '../graph/operation.js';
import type { Tensor } from '../tensor/tensor.js';

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

/** What a step, a partial run or a callable computes. */
export interface Plan {
  readonly feeds: readonly Output[];
  readonly fetches: readonly Output[];
  readonly targets: readonly Operation[];
}

/** How a step runs. */
export interface BackendOptions extends StepOptions {
  /** Receives what the step runs. */
  readonly trace?: TraceReceiver | undefined;
  /** With the other tasks that take part in the step. */
  readonly exchange?: Exchange | undefined;
  /** The results stay in the engine, if that is this thread's. */
  readonly keep?: boolean;
}

/** The values of the feeds of one run. */
export interface Values {
  readonly tensors: readonly Tensor[];
  /** Whether nobody else refers to a tensor, so that its memory may be given away. */
  readonly isOwned: (i: number) => boolean;
}

/**
 * Receives the results when the step has ended. `values` returns those of the fetches, or throws the error of
 * the step.
 */
export type Answer<T> = (values: () => readonly Tensor[]) => T;

/** A prepared run, or a partial run. Values are taken when `run` is called; steps run in that order. */
export interface CallableBackend {
  run<T>(values: Values, options: BackendOptions, answer: Answer<T>): Promise<T>;
  runSync(values: Values, options: BackendOptions): readonly Tensor[];
  release(): void;
}

export interface PartialRunBackend {
  run<T>(piece: Plan, values: Values, options: BackendOptions, answer: Answer<T>): Promise<T>;
  runSync(piece: Plan, values: Values, options: BackendOptions): readonly Tensor[];
  /** 'x:0->y:0;0' */
  readonly handle: string;
}

/** Its errors are those of the engine, without hints and ops. */
export interface SessionBackend {
  /** Throws unless the session may run. */
  checkUsable(): void;
  run<T>(plan: Plan, values: Values, options: BackendOptions, answer: Answer<T>): Promise<T>;
  runSync(plan: Plan, values: Values, options: BackendOptions): readonly Tensor[];
  makeCallable(
    plan: Plan,
    connections: readonly (readonly [Output, Output])[],
    options: BackendOptions,
  ): CallableBackend;
  partialRun(plan: Plan): PartialRunBackend;
  /** The result of fetching what is fed, as it is now. */
  resultOfFed(value: Tensor, keep: boolean): Tensor;
  listDevices(): Promise<Device[]>;
  /** The files in the memory of the engine that runs the steps. */
  readonly ramFiles: RamFiles;
  readonly closed: boolean;
  close(): Promise<void>;
}

/** The message of a session that was closed, as of TensorFlow's. */
export const CLOSED = 'Session has been closed.';
