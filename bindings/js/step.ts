/** Step: one step of a session. Its inputs are copied into the engine when it is made; it runs at once or in slices of time. */
import type { Operation, Output } from './operation.js';
import type { Scope, Wasm } from './wasm.js';
import type { Tensor } from './tensor.js';
import { readTensor, uploadTensor } from './transfer.js';

/** What a step takes and gives. */
export interface StepRequest {
  readonly feeds: readonly Output[];
  readonly values: readonly Tensor[];
  readonly fetches: readonly Output[];
  readonly targets: readonly Operation[];
  /** Milliseconds; 0: no deadline. */
  readonly timeoutMs: number;
  /** All that is asked for is known without running anything. */
  readonly nothingToDo: boolean;
}

export class Step {
  private inputs: number[] = [];
  private state: 'new' | 'paused' | 'ended' = 'new';
  private outcome: { readonly values: Tensor[] } | { readonly error: unknown } | undefined;

  constructor(private readonly wasm: Wasm, private readonly session: number, private readonly request: StepRequest) {
    wasm.scope((scope) => {
      try {
        for (const value of request.values) this.inputs.push(uploadTensor(wasm, scope, value));
      } catch (error) {
        this.deleteInputs();
        throw error;
      }
    });
  }

  get ended(): boolean {
    return this.state === 'ended';
  }

  /** The values of the fetches of a step that has ended; throws what ended it. */
  get values(): Tensor[] {
    const { outcome } = this;
    if (!outcome) throw new Error('the step has not ended');
    if ('error' in outcome) throw outcome.error;
    return outcome.values;
  }

  /** Runs for `sliceMs`; 0: to the end. */
  advance(sliceMs: number): void {
    if (this.ended) return;
    try {
      const values = this.request.nothingToDo ? [] : this.wasm.scope((scope) => this.runSlice(scope, sliceMs));
      if (values) this.end({ values });
      else this.state = 'paused';
    } catch (error) {
      this.end({ error });
    }
  }

  /** Ends the step with an error. What it has assigned so far stays. */
  abandon(error: unknown): void {
    if (this.ended) return;
    if (this.state === 'paused') this.wasm.call.TF_WasmAbandonStep!(this.session);
    this.end({ error });
  }

  /** The results, or undefined when the step paused. */
  private runSlice(scope: Scope, sliceMs: number): Tensor[] | undefined {
    const { fetches } = this.request;
    const { wasm } = this;
    const results = scope.alloc(4 * fetches.length);
    const paused = wasm.checked((status) =>
      this.state === 'new'
        ? this.start(scope, sliceMs, results, status)
        : wasm.call.TF_WasmResumeSession!(this.session, sliceMs, results, fetches.length, status),
    );
    if (paused) return undefined;
    const fetched = fetches.map((_, i) => wasm.u32[(results >>> 2) + i]!);
    try {
      return fetched.map((pointer) => readTensor(wasm, pointer));
    } finally {
      for (const pointer of fetched) wasm.call.TF_DeleteTensor!(pointer);
    }
  }

  private start(scope: Scope, sliceMs: number, results: number, status: number): number {
    const { feeds, fetches, targets, timeoutMs } = this.request;
    return this.wasm.call.TF_WasmStartSession!(
      this.session, scope.ints([timeoutMs, sliceMs]), scope.outputs(feeds), scope.pointers(this.inputs), feeds.length, scope.outputs(fetches),
      results, fetches.length, scope.pointers(targets.map((target) => target.pointer)), targets.length, status,
    );
  }

  private end(outcome: { readonly values: Tensor[] } | { readonly error: unknown }): void {
    this.state = 'ended';
    this.outcome = outcome;
    this.deleteInputs();
  }

  private deleteInputs(): void {
    for (const pointer of this.inputs) this.wasm.call.TF_DeleteTensor!(pointer);
    this.inputs = [];
  }
}
