/**
 * Step: one run of a session, or one call of a function. Its inputs are copied into the engine when it is
 * created; it runs at once or in slices of time.
 */
import type { Ptr, StatusPtr, TensorPtr } from '../generated/abi.js';
import type { Scope, Wasm } from './wasm.js';
import type { Tensor } from '../tensor/tensor.js';
import { uploadTensor } from './resident-tensor.js';
import { downloadTensor } from './transfer.js';

export abstract class Step {
  /** The engine's tensors of the inputs. */
  protected inputs: TensorPtr[] = [];
  protected state: 'new' | 'paused' | 'blocked' | 'ended' = 'new';
  private outcome: { readonly values: Tensor[] } | { readonly error: unknown } | undefined;

  constructor(
    protected readonly wasm: Wasm,
    values: readonly Tensor[],
  ) {
    wasm.scope((scope) => {
      try {
        for (const value of values) this.inputs.push(uploadTensor(wasm, scope, value));
      } catch (error) {
        this.deleteInputs();
        throw error;
      }
    });
  }

  /** The number of results. */
  protected abstract readonly numResults: number;

  /** The value of a TF_Tensor that a step has given, which it owns. */
  protected receive(pointer: TensorPtr): Tensor {
    return downloadTensor(this.wasm, pointer);
  }

  /**
   * Begins or resumes the step for `sliceMs`; 0: to the end. Returns 1 when it paused; otherwise `results`
   * are tensors of the engine.
   */
  protected abstract runSlice(
    scope: Scope,
    sliceMs: number,
    results: Ptr<TensorPtr>,
    status: StatusPtr,
  ): number;

  /** Whether a paused step waits for another step, and not for its next slice. */
  protected abstract isBlocked(): boolean;

  /** Frees the engine's objects of a step that has begun, and abandons a paused step. */
  protected abstract release(): void;

  get begun(): boolean {
    return this.state !== 'new';
  }

  get blocked(): boolean {
    return this.state === 'blocked';
  }

  get ended(): boolean {
    return this.state === 'ended';
  }

  /** The values of a step that has ended. Throws the error if the step failed. */
  get values(): Tensor[] {
    const { outcome } = this;
    if (!outcome) throw new Error('the step has not ended');
    if ('error' in outcome) throw outcome.error;
    return outcome.values;
  }

  /** Runs for `sliceMs`; 0: to the end, or until it is blocked. */
  advance(sliceMs: number): void {
    if (this.ended) return;
    try {
      const values = this.wasm.scope((scope) => this.resultsOfSlice(scope, sliceMs));
      if (values) this.end({ values });
      else this.state = this.isBlocked() ? 'blocked' : 'paused';
    } catch (error) {
      this.end({ error });
    }
  }

  /** Ends the step with an error. Its assignments stay. */
  abandon(error: unknown): void {
    if (!this.ended) this.end({ error });
  }

  /** The results, or undefined when the step paused. */
  private resultsOfSlice(scope: Scope, sliceMs: number): Tensor[] | undefined {
    const { wasm, numResults } = this;
    const results: Ptr<TensorPtr> = scope.alloc(4 * numResults);
    if (wasm.checked((status) => this.runSlice(scope, sliceMs, results, status))) return undefined;
    const pointers = Array.from({ length: numResults }, (_, i) => wasm.at(results, i));
    return this.receiveAll(pointers);
  }

  /** All results are taken, also those behind one that cannot be read. */
  private receiveAll(pointers: readonly TensorPtr[]): Tensor[] {
    const values: Tensor[] = [];
    try {
      for (const pointer of pointers) values.push(this.receive(pointer));
      return values;
    } catch (error) {
      for (const pointer of pointers.slice(values.length + 1)) this.wasm.call.TF_DeleteTensor(pointer);
      for (const value of values) value.dispose();
      throw error;
    }
  }

  private end(outcome: { readonly values: Tensor[] } | { readonly error: unknown }): void {
    this.release();
    this.state = 'ended';
    this.outcome = outcome;
    this.deleteInputs();
  }

  private deleteInputs(): void {
    for (const pointer of this.inputs) this.wasm.call.TF_DeleteTensor(pointer);
    this.inputs = [];
  }
}
