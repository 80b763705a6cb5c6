/** OpenSession: the part of a session that its callables and partial runs use. */
import { TFError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import { withHint } from '../graph/hints.js';
import type { Input } from '../graph/operation.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Answer, BackendOptions, SessionBackend } from './backend.js';
import type { Place, Request } from './request.js';
import type { SessionStepOptions } from './step-options.js';
import { Trace, traceOf } from './trace.js';

export class OpenSession {
  /** Of the last step that was traced. */
  lastTrace: Trace | undefined;
  /** Cached, because the look-up takes longer than a small step. */
  readonly #placesByName = new Map<string, Place>();
  readonly #placesByHandle = new WeakMap<Input, Place>();

  constructor(
    readonly graph: Graph,
    readonly backend: SessionBackend,
  ) {}

  /** Calls `work`, and adds to its errors which op failed and what to do. */
  located<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TFError) || this.graph.disposed) throw error;
      withHint(error, this.graph.runtime, this.graph);
      throw error.node ? error.locate(error.node, this.graph.operation(error.node)?.type) : error;
    }
  }

  /** The options of one step, for the backend. */
  stepOptions({ trace: wanted, ...options }: SessionStepOptions): BackendOptions {
    const trace = traceOf(wanted);
    if (trace) this.lastTrace = trace;
    return { ...options, trace };
  }

  /** Gives the results of a step the structure of the fetches. */
  answer<T>(shape: (values: readonly Tensor[]) => T): Answer<T> {
    return (values) => shape(this.located(values));
  }

  /** Checks at once, and begins a run; rejects in place of throwing. */
  soon<C, T>(check: () => C, begin: (checked: C) => Promise<T>): Promise<T> {
    try {
      const checked = check();
      return this.located(() => begin(checked));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The output that a key feeds. */
  place(key: Input | string, request: Request): Place {
    const known = typeof key === 'string' ? this.#placesByName.get(key) : this.#placesByHandle.get(key);
    if (known) return known;
    const output = request.output(key);
    const place = { output, dtype: output.dtype, shape: output.shape };
    if (typeof key === 'string') this.#placesByName.set(key, place);
    else this.#placesByHandle.set(key, place);
    return place;
  }
}
