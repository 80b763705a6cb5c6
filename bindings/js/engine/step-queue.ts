/**
 * StepQueue: steps of a session, or calls of functions that share state. They run in order, and yield to the
 * event loop.
 */
import type { Schema } from '../base/arguments.js';
import { CancelledError, InvalidArgumentError } from '../base/errors.js';
import { nextTurn } from '../base/event-loop.js';
import type { Step } from './step.js';

/** The maximum time for which a step blocks the event loop, in milliseconds. */
const SLICE_MS = 10;

export interface StepOptions {
  /**
   * Ends the step between two kernels: `run` rejects with CancelledError. `runSync` checks it only before it
   * starts.
   */
  signal?: AbortSignal;
  /** Milliseconds after which the step fails with DeadlineExceededError; none by default. */
  timeoutMs?: number;
}

export const STEP_OPTIONS: Schema<StepOptions> = { signal: 'an AbortSignal', timeoutMs: 'a number' };

/** In whole milliseconds, for the engine; 0: no deadline. */
export function timeoutOf({ timeoutMs = 0 }: StepOptions): number {
  if (!(timeoutMs >= 0))
    throw new InvalidArgumentError(
      `timeoutMs is ${String(timeoutMs)}; it must be a number of milliseconds, or 0 for none`,
    );
  return Math.min(Math.ceil(timeoutMs), 2 ** 31 - 1);
}

/** Refuses a step that was aborted before it begins. */
export function checkSignal({ signal }: StepOptions): void {
  if (signal?.aborted) throw new CancelledError('the run was aborted before it started');
}

export class StepQueue {
  /** The step that is running or between two slices. */
  #underWay: Step | undefined;
  /** Fulfilled when the last queued step has ended; undefined when the queue is empty. */
  #last: Promise<void> | undefined;

  /**
   * Runs the step when the steps before it have ended, and returns its `answer`. `refused` is called before
   * each slice; the step ends if it returns an error. The signal of the options ends the step, too.
   */
  run<T>(step: Step, answer: () => T, { signal }: StepOptions, refused: () => Error | undefined): Promise<T> {
    const refusal = (): Error | undefined =>
      signal?.aborted ? new CancelledError('the run was aborted') : refused();
    const before = this.#last;
    const run = before
      ? before.then(() => this.runInSlices(step, answer, refusal))
      : this.runInSlices(step, answer, refusal);
    if (before || this.#underWay) this.queueBehind(run);
    return run;
  }

  /** Runs the current step to its end. */
  finish(): void {
    this.#underWay?.advance(0);
  }

  /** Ends the running step with an error. */
  abandon(error: Error): void {
    this.#underWay?.abandon(error);
  }

  /** Steps that are queued after this call begin when `run` has ended. */
  private queueBehind(run: Promise<unknown>): void {
    const ended: Promise<void> = run.then(
      () => this.leaveQueue(ended),
      () => this.leaveQueue(ended),
    );
    this.#last = ended;
  }

  private leaveQueue(ended: Promise<void>): void {
    if (this.#last === ended) this.#last = undefined;
  }

  /** A short step has ended when this returns; a longer one yields to the event loop between slices. */
  private async runInSlices<T>(step: Step, answer: () => T, refusal: () => Error | undefined): Promise<T> {
    this.#underWay = step;
    try {
      for (;;) {
        const refused = refusal();
        if (refused) step.abandon(refused);
        else step.advance(SLICE_MS);
        if (step.ended) return answer();
        await nextTurn();
      }
    } finally {
      this.#underWay = undefined;
    }
  }
}
