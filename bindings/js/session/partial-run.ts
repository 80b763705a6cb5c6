/** PartialRun: a step of a session that is fed and fetched in pieces. */
import { Schema, checkOptions, checkReceivers } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { InvalidArgumentError } from '../base/errors.js';
import { checkSignal } from '../engine/step-queue.js';
import { Input, Operation } from '../graph/operation.js';
import type { Tensor } from '../tensor/tensor.js';
import type { PartialRunBackend, Plan, Values } from './backend.js';
import type { OpenSession } from './open-session.js';
import { Feeds, Fetch, Fetched, Request, feedEntries, valuesFor } from './request.js';
import { SESSION_STEP_OPTIONS, SessionStepOptions } from './step-options.js';

export interface PartialRunOptions {
  /** Operations (or their names) to run without fetching anything. */
  targets?: readonly (Operation | string)[];
}

const OPTIONS: Schema<PartialRunOptions> = { targets: 'an array' };

export class PartialRun {
  readonly #session: OpenSession;
  readonly #backend: PartialRunBackend;

  /** Created by `session.partialRun(fetches, feeds)`. */
  constructor(
    session: OpenSession,
    fetches: readonly (Input | string)[],
    feeds: readonly (Input | string)[],
    options: PartialRunOptions,
  ) {
    this.#session = session;
    session.backend.checkUsable();
    checkOptions<PartialRunOptions>('partialRun', options, OPTIONS);
    if (!Array.isArray(fetches) || !Array.isArray(feeds))
      throw new InvalidArgumentError('the fetches and the feeds of a partial run are two arrays');
    const request = new Request(session.graph);
    const plan = {
      fetches: fetches.map((fetch) => request.output(fetch as Input | string)),
      feeds: feeds.map((feed) => request.output(feed as Input | string)),
      targets: (options.targets ?? []).map((target) => request.operation(target)),
    };
    this.#backend = session.located(() => session.backend.partialRun(plan));
  }

  /**
   * Runs the next piece and returns its fetches. A piece runs every node whose feeds are complete, and each
   * node runs once. The partial run ends when a piece fails, or when everything has been fed and fetched.
   */
  run<const F extends Fetch>(
    fetches: F,
    feeds?: Feeds,
    options: SessionStepOptions = {},
  ): Promise<Fetched<F>> {
    return this.#session.soon(
      () => this.#piece(fetches, feeds, options),
      ({ plan, values, shape }) =>
        this.#backend.run(plan, values, this.#session.stepOptions(options), this.#session.answer(shape)),
    ) as Promise<Fetched<F>>;
  }

  /** The synchronous form of `run`. */
  runSync<const F extends Fetch>(fetches: F, feeds?: Feeds, options: SessionStepOptions = {}): Fetched<F> {
    const { plan, values, shape } = this.#piece(fetches, feeds, options);
    return shape(
      this.#session.located(() => this.#backend.runSync(plan, values, this.#session.stepOptions(options))),
    ) as Fetched<F>;
  }

  #piece(
    fetches: Fetch,
    feeds: Feeds = {},
    options: SessionStepOptions,
  ): { plan: Plan; values: Values; shape: (results: readonly Tensor[]) => unknown } {
    this.#session.backend.checkUsable();
    checkOptions<SessionStepOptions>('run', options, SESSION_STEP_OPTIONS);
    checkSignal(options);
    const request = new Request(this.#session.graph);
    const shape = request.add(fetches);
    if (request.targets.length > 0)
      throw new InvalidArgumentError('the operations of a partial run are the targets of its setup');
    const entries = feedEntries(feeds);
    const places = entries.map(([key]) => this.#session.place(key, request));
    const values = valuesFor(
      places,
      entries.map(([, value]) => value),
    );
    const plan = { feeds: places.map(({ output }) => output), fetches: request.fetches, targets: [] };
    return { plan, values, shape };
  }

  /** 'PartialRun<x:0->y:0;0>' */
  toString(): string {
    return `PartialRun<${this.#backend.handle}>`;
  }
}

checkReceivers(PartialRun, 'partialRun');
showAs(PartialRun, 'PartialRun', (run) => run.toString());
