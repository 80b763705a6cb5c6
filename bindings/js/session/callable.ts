/// <reference lib="esnext.disposable" preserve="true" />
/** Callable: a run of a session that is looked up, checked and compiled once. */
import { Schema, checkOptions, checkReceivers } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { CancelledError, InvalidArgumentError } from '../base/errors.js';
import { checkSignal, timeoutOf } from '../engine/step-queue.js';
import { Input, Operation } from '../graph/operation.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import type { BackendOptions, CallableBackend, Values } from './backend.js';
import { Fetch, Fetched, Place, Request, valuesFor } from './request.js';
import type { OpenSession } from './open-session.js';
import { SESSION_STEP_OPTIONS, SessionStepOptions } from './step-options.js';

export interface CallableOptions extends SessionStepOptions {
  /** Operations (or their names) to run without fetching anything. */
  targets?: readonly (Operation | string)[];
  /** `[from, to]`: readers of `to` read `from` instead. */
  connections?: readonly (readonly [Input | string, Input | string])[];
}

const OPTIONS: Schema<CallableOptions> = {
  targets: 'an array',
  connections: 'an array',
  ...SESSION_STEP_OPTIONS,
};

export class Callable<F extends Fetch = Fetch> {
  readonly #session: OpenSession;
  readonly #backend: CallableBackend;
  readonly #places: readonly Place[];
  readonly #answer: (values: readonly Tensor[]) => unknown;
  readonly #options: CallableOptions;
  /** The options of all steps, unless each has a Trace of its own. */
  readonly #stepOptions: BackendOptions | undefined;
  #released = false;

  /** Created by `session.makeCallable(fetches, feeds)`. */
  constructor(
    session: OpenSession,
    fetches: F,
    feeds: readonly (Input | string)[],
    options: CallableOptions,
  ) {
    this.#session = session;
    this.#options = options;
    session.backend.checkUsable();
    checkOptions<CallableOptions>('makeCallable', options, OPTIONS);
    timeoutOf(options);
    if (!Array.isArray(feeds)) throw new InvalidArgumentError('the feeds of a callable are an array');
    const request = new Request(session.graph);
    this.#answer = request.add(fetches);
    for (const target of options.targets ?? []) request.targets.push(request.operation(target));
    this.#places = feeds.map((key) => session.place(key, request));
    const connections = (options.connections ?? []).map(
      ([from, to]) => [request.output(from), request.output(to)] as const,
    );
    const plan = {
      feeds: this.#places.map((place) => place.output),
      fetches: request.fetches,
      targets: request.targets,
    };
    this.#backend = session.located(() =>
      session.backend.makeCallable(plan, connections, session.stepOptions(options)),
    );
    if (!options.trace) this.#stepOptions = session.stepOptions(options);
  }

  /** Runs one step. The values are in the order of the feeds. */
  run(...values: TensorLike[]): Promise<Fetched<F>> {
    return this.#session.soon(
      () => this.#values(values),
      (checked) => this.#backend.run(checked, this.#optionsOfStep(), this.#session.answer(this.#answer)),
    ) as Promise<Fetched<F>>;
  }

  /** The synchronous form of `run`. */
  runSync(...values: TensorLike[]): Fetched<F> {
    const checked = this.#values(values);
    const results = this.#session.located(() => this.#backend.runSync(checked, this.#optionsOfStep()));
    return this.#answer(results) as Fetched<F>;
  }

  #optionsOfStep(): BackendOptions {
    return this.#stepOptions ?? this.#session.stepOptions(this.#options);
  }

  #values(given: readonly TensorLike[]): Values {
    this.#session.backend.checkUsable();
    if (this.#released) throw new CancelledError('the callable has been released');
    checkSignal(this.#options);
    if (given.length !== this.#places.length)
      throw new InvalidArgumentError(`Expected ${this.#places.length} feed tensors, but got ${given.length}`);
    return valuesFor(this.#places, given);
  }

  /** Frees the prepared step. Later calls fail. */
  release(): void {
    if (this.#released) return;
    this.#backend.release();
    this.#released = true;
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** 'Callable<2 feeds>' */
  toString(): string {
    return this.#released ? 'Callable<released>' : `Callable<${this.#places.length} feeds>`;
  }
}

checkReceivers(Callable, 'callable');
showAs(Callable, 'Callable', (callable) => callable.toString());
