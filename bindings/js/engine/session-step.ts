/** SessionStep: a step of a session, a call of a callable, or a piece of a partial run. */
import type { Null, Ptr, StatusPtr, TensorPtr, WasmStepOptionsPtr, WasmStepPtr } from '../generated/abi.js';
import type { Tensor } from '../tensor/tensor.js';
import { Step } from './step.js';
import { type Scope, unsigned, type Wasm } from './wasm.js';

/** The inputs and results of a step, and the function that begins it. */
export interface StepRequest {
  readonly values: readonly Tensor[];
  readonly numResults: number;
  /** Milliseconds; 0: no deadline. */
  readonly timeoutMs: number;
  /** Runs the first slice. Returns the engine's step if it paused, else 0. */
  readonly start: (
    scope: Scope,
    options: WasmStepOptionsPtr,
    values: Ptr<TensorPtr>,
    results: Ptr<TensorPtr>,
    status: StatusPtr,
  ) => WasmStepPtr | Null;
}

export class SessionStep extends Step {
  protected readonly numResults: number;
  /** The engine's step while it is paused, else 0. */
  private paused: WasmStepPtr | Null = 0;

  constructor(
    wasm: Wasm,
    private readonly request: StepRequest,
  ) {
    super(wasm, request.values);
    this.numResults = request.numResults;
  }

  protected runSlice(scope: Scope, sliceMs: number, results: Ptr<TensorPtr>, status: StatusPtr): number {
    if (this.paused !== 0) {
      const pauses = this.wasm.call.TF_WasmResumeStep(this.paused, sliceMs, results, this.numResults, status);
      if (pauses === 0) this.paused = 0;
      return pauses;
    }
    const options: WasmStepOptionsPtr = scope.words([this.request.timeoutMs, sliceMs]);
    this.paused = unsigned(this.request.start(scope, options, scope.pointers(this.inputs), results, status));
    return this.paused === 0 ? 0 : 1;
  }

  protected isBlocked(): boolean {
    return this.paused !== 0 && this.wasm.call.TF_WasmStepIsBlocked(this.paused) !== 0;
  }

  protected release(): void {
    if (this.paused !== 0) this.wasm.call.TF_WasmAbandonStep(this.paused);
    this.paused = 0;
  }
}
