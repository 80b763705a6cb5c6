/** PartialRun: a step of a session that is fed and fetched in pieces. */
import { Schema, checkOptions, checkReceivers } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';
import { STEP_OPTIONS, StepOptions, checkSignal, timeoutOf } from '../engine/step-queue.js';
import type { Ptr, TextPtr } from '../generated/abi.js';
import { Input, Operation } from '../graph/operation.js';
import { Feeds, Fetch, Fetched, Request, feedEntries, feedTensor } from './request.js';
import type { Prepared, StepRunner } from './step-runner.js';

export interface PartialRunOptions {
  /** Operations (or their names) to run without fetching anything. */
  targets?: readonly (Operation | string)[];
}

const OPTIONS: Schema<PartialRunOptions> = { targets: 'an array' };

export class PartialRun {
  readonly #runtime: Runtime;
  readonly #handle: string;

  /** Created by `session.partialRun(fetches, feeds)`. */
  constructor(
    private readonly session: StepRunner,
    runtime: Runtime,
    fetches: readonly (Input | string)[],
    feeds: readonly (Input | string)[],
    options: PartialRunOptions,
  ) {
    this.#runtime = runtime;
    const pointer = session.usablePointer();
    checkOptions<PartialRunOptions>('partialRun', options, OPTIONS);
    if (!Array.isArray(fetches) || !Array.isArray(feeds))
      throw new InvalidArgumentError('the fetches and the feeds of a partial run are two arrays');
    const request = new Request(session.graph);
    const outputs = fetches.map((fetch) => request.output(fetch as Input | string));
    const inputs = feeds.map((feed) => request.output(feed as Input | string));
    const targets = (options.targets ?? []).map((target) => request.operation(target));
    const { wasm } = runtime;
    this.#handle = wasm.scope((scope) => {
      const handle: Ptr<TextPtr> = scope.alloc(4);
      session.located(() =>
        wasm.checked((status) =>
          wasm.call.TF_SessionPRunSetup(
            pointer,
            scope.outputs(inputs),
            inputs.length,
            scope.outputs(outputs),
            outputs.length,
            scope.pointers(targets.map((target) => target.pointer)),
            targets.length,
            handle,
            status,
          ),
        ),
      );
      const text = wasm.text(wasm.at(handle, 0));
      wasm.call.TF_DeletePRunHandle(wasm.at(handle, 0));
      return text;
    });
  }

  /**
   * Runs the next piece and returns its fetches. A piece runs every node whose feeds are complete, and each
   * node runs once. The partial run ends when a piece fails, or when everything has been fed and fetched.
   */
  run<const F extends Fetch>(fetches: F, feeds?: Feeds, options: StepOptions = {}): Promise<Fetched<F>> {
    return this.session.soon(() => this.prepare(fetches, feeds, options), options) as Promise<Fetched<F>>;
  }

  /** The synchronous form of `run`. */
  runSync<const F extends Fetch>(fetches: F, feeds?: Feeds, options: StepOptions = {}): Fetched<F> {
    return this.session.atOnce(this.prepare(fetches, feeds, options)) as Fetched<F>;
  }

  private prepare(fetches: Fetch, feeds: Feeds = {}, options: StepOptions): Prepared {
    const pointer = this.session.usablePointer();
    checkOptions<StepOptions>('run', options, STEP_OPTIONS);
    checkSignal(options);
    const request = new Request(this.session.graph);
    const shape = request.add(fetches);
    if (request.targets.length > 0)
      throw new InvalidArgumentError('the operations of a partial run are the targets of its setup');
    const entries = feedEntries(feeds);
    const places = entries.map(([key]) => this.session.place(key, request));
    const inputs = places.map((place) => place.output);
    const { call } = this.#runtime.wasm;
    const step = this.session.step({
      values: entries.map(([, value], i) => feedTensor(places[i]!, value)),
      numResults: request.fetches.length,
      timeoutMs: timeoutOf(options),
      start: (scope, stepOptions, values, results, status) =>
        call.TF_WasmStartPiece(
          pointer,
          scope.string(this.#handle),
          stepOptions,
          scope.outputs(inputs),
          values,
          inputs.length,
          scope.outputs(request.fetches),
          results,
          request.fetches.length,
          status,
        ),
    });
    return { step, answer: () => shape(this.session.located(() => step.values)) };
  }

  /** 'PartialRun<x:0->y:0;0>' */
  toString(): string {
    return `PartialRun<${this.#handle}>`;
  }
}

checkReceivers(PartialRun, 'partialRun');
showAs(PartialRun, 'PartialRun', (run) => run.toString());
