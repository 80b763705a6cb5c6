/// <reference lib="esnext.disposable" preserve="true" />
/** Callable: a run of a session that is looked up, checked and compiled once. */
import { Schema, checkOptions, checkReceivers } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { CancelledError, InvalidArgumentError } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';
import { STEP_OPTIONS, StepOptions, checkSignal, timeoutOf } from '../engine/step-queue.js';
import { unsigned } from '../engine/wasm.js';
import type { WasmCallablePtr } from '../generated/abi.js';
import { Input, Operation } from '../graph/operation.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { Fetch, Fetched, Place, Request, feedTensor } from './request.js';
import type { Prepared, StepRunner } from './step-runner.js';

export interface CallableOptions extends StepOptions {
  /** Operations (or their names) to run without fetching anything. */
  targets?: readonly (Operation | string)[];
  /** `[from, to]`: readers of `to` read `from` instead. */
  connections?: readonly (readonly [Input | string, Input | string])[];
}

const OPTIONS: Schema<CallableOptions> = { targets: 'an array', connections: 'an array', ...STEP_OPTIONS };

export class Callable<F extends Fetch = Fetch> {
  readonly #runtime: Runtime;
  readonly #pointer: WasmCallablePtr;
  readonly #places: readonly Place[];
  readonly #numResults: number;
  readonly #answer: (values: readonly Tensor[]) => unknown;
  readonly #options: CallableOptions;
  #released = false;

  /** Created by `session.makeCallable(fetches, feeds)`. */
  constructor(
    private readonly session: StepRunner,
    runtime: Runtime,
    fetches: F,
    feeds: readonly (Input | string)[],
    options: CallableOptions,
  ) {
    this.#runtime = runtime;
    this.#options = options;
    const sessionPointer = session.usablePointer();
    checkOptions<CallableOptions>('makeCallable', options, OPTIONS);
    if (!Array.isArray(feeds)) throw new InvalidArgumentError('the feeds of a callable are an array');
    const request = new Request(session.graph);
    this.#answer = request.add(fetches);
    this.#numResults = request.fetches.length;
    for (const target of options.targets ?? []) request.targets.push(request.operation(target));
    this.#places = feeds.map((key) => session.place(key, request));
    const connected = (options.connections ?? []).flatMap((pair) =>
      [pair[0], pair[1]].map((key) => request.output(key)),
    );
    const { wasm } = runtime;
    this.#pointer = unsigned(
      wasm.scope((scope) =>
        session.located(() =>
          wasm.checked((status) =>
            wasm.call.TF_WasmMakeCallable(
              sessionPointer,
              scope.outputs(this.#places.map((place) => place.output)),
              this.#places.length,
              scope.outputs(request.fetches),
              request.fetches.length,
              scope.pointers(request.targets.map((target) => target.pointer)),
              request.targets.length,
              scope.outputs(connected),
              connected.length / 2,
              status,
            ),
          ),
        ),
      ),
    );
    runtime.opened(this, 'callables', this.#pointer);
  }

  /** Runs one step. The values are in the order of the feeds. */
  run(...values: TensorLike[]): Promise<Fetched<F>> {
    return this.session.soon(() => this.prepare(values), this.#options) as Promise<Fetched<F>>;
  }

  /** The synchronous form of `run`. */
  runSync(...values: TensorLike[]): Fetched<F> {
    return this.session.atOnce(this.prepare(values)) as Fetched<F>;
  }

  private prepare(given: readonly TensorLike[]): Prepared {
    this.session.usablePointer();
    if (this.#released) throw new CancelledError('the callable has been released');
    checkSignal(this.#options);
    if (given.length !== this.#places.length)
      throw new InvalidArgumentError(`Expected ${this.#places.length} feed tensors, but got ${given.length}`);
    const values = this.#places.map((place, i) => feedTensor(place, given[i]!));
    const { call } = this.#runtime.wasm;
    const step = this.session.step({
      values,
      numResults: this.#numResults,
      timeoutMs: timeoutOf(this.#options),
      start: (_, options, inputs, results, status) =>
        call.TF_WasmStartCall(
          this.#pointer,
          options,
          inputs,
          values.length,
          results,
          this.#numResults,
          status,
        ),
    });
    return { step, answer: () => this.#answer(this.session.located(() => step.values)) };
  }

  /** Frees the prepared step. Later calls fail. */
  release(): void {
    if (this.#released) return;
    this.#runtime.wasm.refuseInCallback();
    this.#released = true;
    this.#runtime.closed(this, 'callables');
    this.#runtime.wasm.call.TF_WasmReleaseCallable(this.#pointer);
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
