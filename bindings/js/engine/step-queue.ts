/**
 * StepQueue: steps of a session, or calls of functions that share state. They yield to the event loop. A step
 * begins when the steps before it have ended, so that it sees their assignments; a step that is blocked, because
 * it waits for another step, lets the later ones run.
 */
import type { Schema } from '../base/arguments.js';
import { CancelledError, FailedPreconditionError, InvalidArgumentError } from '../base/errors.js';
import { nextTurn, timeInTurn } from '../base/event-loop.js';
import type { SidePart } from './engine-part.js';
import type { Step } from './step.js';

/** The maximum time for which a step blocks the event loop, in milliseconds. */
const SLICE_MS = 10;
/** The time until blocked steps are tried again. */
const BLOCKED_MS = 4;
const NOTHING_ELSE_RUNS =
  'the step waits for another step, and none is under way: use `run`, which lets later steps begin';

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

interface Entry {
  readonly step: Step;
  /** The error that ends the step before its next slice, if there is one. */
  readonly refusal: () => Error | undefined;
  ended?: () => void;
}

export class StepQueue {
  /** The steps that have not ended, in the order of the calls. */
  readonly #entries: Entry[] = [];
  #takesTurns = false;
  /** Ends the pause while all steps are blocked. */
  #wake: (() => void) | undefined;

  constructor(private readonly side: SidePart) {}

  /**
   * Runs the step when the steps before it have ended or are blocked, and returns its `answer`. A short step has
   * ended when this returns; the answer of the last of many gives the event loop a turn before. `refused` is
   * called before each slice; the step ends if it returns an error. The signal of the options ends the step, too.
   */
  async run<T>(
    step: Step,
    answer: () => T,
    { signal }: StepOptions,
    refused: () => Error | undefined,
  ): Promise<T> {
    const refusal = () => (signal?.aborted ? new CancelledError('the run was aborted') : refused());
    const entry: Entry = { step, refusal };
    if (this.side.isWanted) await this.side.load().catch((error: unknown) => step.abandon(error));
    timeInTurn();
    const isNext = this.#entries.every((other) => other.step.blocked);
    this.#entries.push(entry);
    if (isNext) this.advance(entry, SLICE_MS);
    this.#wake?.();
    if (!step.ended) await this.endOf(entry, signal);
    else if (timeInTurn() > SLICE_MS) await nextTurn();
    return answer();
  }

  /** Tries blocked steps again now. */
  wake(): void {
    this.#wake?.();
  }

  /** Waits until a step has ended. */
  private async endOf(entry: Entry, signal: AbortSignal | undefined): Promise<void> {
    const aborted = () => queueMicrotask(() => this.endBlocked(entry)); // a kernel in JavaScript may abort
    signal?.addEventListener('abort', aborted);
    await new Promise<void>((ended) => {
      entry.ended = ended;
      if (!this.#takesTurns) void this.takeTurns();
    });
    signal?.removeEventListener('abort', aborted);
  }

  /** A blocked step that was aborted must not take what the next step adds to its queue. */
  private endBlocked(entry: Entry): void {
    if (entry.step.blocked) this.advance(entry, SLICE_MS);
  }

  /** Runs the steps that have begun to their ends; blocked ones stay. */
  finish(): void {
    if (this.#entries.length === 0) return;
    for (const entry of [...this.#entries]) if (entry.step.begun) this.advance(entry, 0);
  }

  /** Runs a step to its end; while it is blocked, the steps of the queue run. */
  runAtOnce(step: Step): void {
    this.finish();
    this.loadSide(step);
    step.advance(0);
    while (step.blocked) {
      if (this.side.isWanted) {
        this.loadSide(step);
        step.advance(0);
        continue;
      }
      const before = this.#entries.length;
      for (const entry of [...this.#entries]) this.advance(entry, 0);
      if (this.#entries.length < before) step.advance(0);
      else step.abandon(new FailedPreconditionError(NOTHING_ELSE_RUNS));
    }
    this.#wake?.();
  }

  /** Runs a call that is no Step, to its end or until it is blocked: `runAtOnce` goes on with that. */
  callAtOnce<T>(call: () => T): T {
    this.finish();
    if (this.side.isWanted) this.side.loadAtOnce();
    try {
      return call();
    } finally {
      this.#wake?.();
    }
  }

  /** A step that needs the side module, which cannot be loaded, ends with the error. */
  private loadSide(step: Step): void {
    try {
      if (this.side.isWanted) this.side.loadAtOnce();
    } catch (error) {
      step.abandon(error);
    }
  }

  /** A step may find only when it calls a function that it needs the side module; it is blocked until that is there. */
  private async loadForBlocked(): Promise<void> {
    try {
      await this.side.load();
    } catch (error) {
      for (const entry of this.#entries.filter(({ step }) => step.blocked)) {
        entry.step.abandon(error);
        this.settle(entry);
      }
    }
  }

  /** Ends the steps that have begun with an error. */
  abandon(error: Error): void {
    for (const entry of [...this.#entries]) {
      if (!entry.step.begun) continue;
      entry.step.abandon(error);
      this.settle(entry);
    }
    this.#wake?.();
  }

  /** Yields to the event loop between slices, until all steps have ended. */
  private async takeTurns(): Promise<void> {
    this.#takesTurns = true;
    await nextTurn();
    while (this.#entries.length > 0) {
      if (this.side.isWanted) await this.loadForBlocked();
      if (this.slice()) await nextTurn();
      else await this.pause();
    }
    this.#takesTurns = false;
  }

  /** Runs the oldest steps that are not blocked for a slice. False when all are blocked. */
  private slice(): boolean {
    const end = Date.now() + SLICE_MS;
    let ran = false;
    for (const entry of [...this.#entries]) {
      this.advance(entry, SLICE_MS);
      if (entry.step.blocked) continue;
      ran = true;
      if (!entry.step.ended || Date.now() >= end) break;
    }
    return ran;
  }

  private advance(entry: Entry, sliceMs: number): void {
    const refused = entry.refusal();
    if (refused) entry.step.abandon(refused);
    else entry.step.advance(sliceMs);
    if (entry.step.ended) this.settle(entry);
  }

  private settle(entry: Entry): void {
    this.#entries.splice(this.#entries.indexOf(entry), 1);
    entry.ended?.();
  }

  /** A step of another session or a deadline may end a blocked step, so that it has to be tried again. */
  private async pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, BLOCKED_MS);
    });
    this.#wake = undefined;
  }
}
