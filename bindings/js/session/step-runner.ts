/** StepRunner: the part of a session that callables and partial runs use. */
import type { SessionStep, StepRequest } from '../engine/session-step.js';
import type { StepOptions } from '../engine/step-queue.js';
import type { SessionPtr } from '../generated/abi.js';
import type { Graph } from '../graph/graph.js';
import type { Input } from '../graph/operation.js';
import type { Place, Request } from './request.js';

/** A step, and a function that gives its results the structure of the fetches. */
export interface Prepared {
  readonly step: SessionStep;
  readonly answer: () => unknown;
}

export interface StepRunner {
  readonly graph: Graph;
  /** The handle, while the session may run. */
  usablePointer(): SessionPtr;
  /** The output that a key feeds. */
  place(key: Input | string, request: Request): Place;
  step(request: StepRequest): SessionStep;
  /** Runs a step when the steps before it have ended. Rejects if `prepare` throws. */
  soon(prepare: () => Prepared, options: StepOptions): Promise<unknown>;
  /** Runs a step to its end, after the running step has ended. */
  atOnce(prepared: Prepared): unknown;
  /** Calls `work`, and adds to its errors which op failed and what to do. */
  located<T>(work: () => T): T;
}
