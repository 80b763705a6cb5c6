/** StepRunner: what callables and partial runs use of their session. */
import type { SessionStep, StepRequest } from '../engine/session-step.js';
import type { StepOptions } from '../engine/step-queue.js';
import type { SessionPtr } from '../generated/abi.js';
import type { Graph } from '../graph/graph.js';
import type { Input } from '../graph/operation.js';
import type { Place, Request } from './request.js';

/** A step that was made, and how its values are shaped like what was asked for. */
export interface Prepared {
  readonly step: SessionStep;
  readonly answer: () => unknown;
}

export interface StepRunner {
  readonly graph: Graph;
  /** The handle, while the session may run. */
  usablePointer(): SessionPtr;
  /** Where a key is fed. */
  place(key: Input | string, request: Request): Place;
  step(request: StepRequest): SessionStep;
  /** Runs a step after those before it. What `prepare` throws rejects. */
  soon(prepare: () => Prepared, options: StepOptions): Promise<unknown>;
  /** Runs a step to its end, after the one that is under way. */
  atOnce(prepared: Prepared): unknown;
  /** Errors of `work` say which op failed, and what to do. */
  located<T>(work: () => T): T;
}
