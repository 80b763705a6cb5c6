/**
 * StepValues: the values of one step in one task: what parts of the step here send and receive, what other tasks ask for,
 * and what is asked of other tasks.
 */
import { AbortedError, CancelledError, TFError } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';
import type { Exchange } from '../engine/session-step.js';
import { Sent, TaskRendezvous } from '../engine/task-rendezvous.js';
import { derivedFrom, isDerived } from './derived-errors.js';

/** Asks the task that sends the value of a key for it. */
export type Ask = (key: string, signal: AbortSignal) => Promise<Sent>;

interface Receive {
  readonly key: string;
  readonly resolve: (value: Sent) => void;
  readonly reject: (error: unknown) => void;
}

export class StepValues {
  readonly #rendezvous: TaskRendezvous;
  /** Those that wait, in the order in which they came. */
  readonly #receives = new Set<Receive>();
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Of the graphs that run here, which wait for each other, too. */
  readonly #wakes = new Set<() => void>();
  #ended: TFError | undefined;

  constructor(runtime: Runtime, task: string) {
    this.#rendezvous = new TaskRendezvous(runtime.wasm, task);
  }

  /** Nobody waits for values, and no graph runs. */
  get isIdle(): boolean {
    return this.#receives.size === 0 && this.#running.size === 0;
  }

  /** Whether the step has ended because another task had no value for it. */
  get hasDerivedError(): boolean {
    return isDerived(this.#ended);
  }

  /** Aborted when the step ends with an error or is cleaned up. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  leave(key: string, value: Sent): void {
    this.#check();
    this.#rendezvous.leave(key, value);
    this.#serve();
    this.#wakeAll();
  }

  /** The value of a key, when it has been sent. */
  receive(key: string, signal?: AbortSignal): Promise<Sent> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#receives.delete(receive);
        reject(new CancelledError('the call was cancelled'));
      };
      const receive: Receive = {
        key,
        resolve: (value) => (signal?.removeEventListener('abort', cancel), resolve(value)),
        reject: (error) => (signal?.removeEventListener('abort', cancel), reject(error)),
      };
      if (this.#ended) return reject(this.#ended);
      if (signal?.aborted) return cancel();
      signal?.addEventListener('abort', cancel, { once: true });
      this.#receives.add(receive);
      this.#serve();
    });
  }

  /**
   * Runs a part of the step here: `run` begins it with the exchange. Values that other tasks send are asked for, and
   * `wake` is called when one has come.
   */
  async run<T>(ask: Ask, wake: () => void, run: (exchange: Exchange) => Promise<T>): Promise<T> {
    this.#check();
    const exchange: Exchange = {
      rendezvous: this.#rendezvous,
      advanced: () => {
        for (const key of this.#rendezvous.wanted()) void this.#fetch(key, ask);
        this.#serve();
        for (const other of this.#wakes) if (other !== wake) other();
      },
    };
    this.#wakes.add(wake);
    const running = run(exchange);
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      if (error instanceof TFError) this.abort(error);
      throw error;
    } finally {
      this.#running.delete(running);
      this.#wakes.delete(wake);
    }
  }

  async #fetch(key: string, ask: Ask): Promise<void> {
    try {
      const value = await ask(key, this.#ending.signal);
      if (!this.#ended) this.leave(key, value);
    } catch (error) {
      if (!this.#ended) this.abort(derivedFrom(error as TFError));
    }
  }

  /** Ends the step with an error. The first one counts. */
  abort(error: TFError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#rendezvous.abort(error);
    this.#ending.abort();
    for (const receive of this.#receives) receive.reject(error);
    this.#receives.clear();
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wakes) wake();
  }

  /** Ends the step, and frees its values when nothing of it runs any more. */
  async dispose(stepId: bigint): Promise<void> {
    this.abort(new AbortedError(`Cleanup ${BigInt.asIntN(64, stepId)}`));
    await Promise.allSettled(this.#running);
    this.#rendezvous.dispose();
  }

  #check(): void {
    if (this.#ended) throw this.#ended;
  }

  #serve(): void {
    for (const receive of this.#receives) {
      const value = this.#ended ? undefined : this.#rendezvous.take(receive.key);
      if (!value) continue;
      this.#receives.delete(receive);
      receive.resolve(value);
    }
  }
}
