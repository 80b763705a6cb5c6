/** SessionStep: one step of a session. */
import type { Null, Ptr, SessionPtr, StatusPtr, TensorPtr, WasmStepPtr } from '../generated/abi.js';
import { Step } from './step.js';
import type { Tensor } from '../tensor/tensor.js';
import { unsigned, type OperationArgument, type OutputArgument, type Scope, type Wasm } from './wasm.js';

/** What a step takes and gives. */
export interface StepRequest {
  readonly feeds: readonly OutputArgument[];
  readonly values: readonly Tensor[];
  readonly fetches: readonly OutputArgument[];
  readonly targets: readonly OperationArgument[];
  /** Milliseconds; 0: no deadline. */
  readonly timeoutMs: number;
  /** All that is asked for is known without running anything. */
  readonly nothingToDo: boolean;
}

export class SessionStep extends Step {
  protected readonly numResults: number;
  /** The step of the engine, while it has paused; else 0. */
  private paused: WasmStepPtr | Null = 0;

  constructor(
    wasm: Wasm,
    private readonly session: SessionPtr,
    private readonly request: StepRequest,
  ) {
    super(wasm, request.values);
    this.numResults = request.fetches.length;
  }

  protected runSlice(scope: Scope, sliceMs: number, results: Ptr<TensorPtr>, status: StatusPtr): number {
    const { call } = this.wasm;
    if (this.request.nothingToDo) return 0;
    if (this.paused !== 0) {
      const pauses = call.TF_WasmResumeStep(this.paused, sliceMs, results, this.numResults, status);
      if (pauses === 0) this.paused = 0;
      return pauses;
    }
    const { feeds, fetches, targets, timeoutMs } = this.request;
    this.paused = unsigned(
      call.TF_WasmStartStep(
        this.session,
        scope.words([timeoutMs, sliceMs]),
        scope.outputs(feeds),
        scope.pointers(this.inputs),
        feeds.length,
        scope.outputs(fetches),
        results,
        fetches.length,
        scope.pointers(targets.map((target) => target.pointer)),
        targets.length,
        status,
      ),
    );
    return this.paused === 0 ? 0 : 1;
  }

  protected release(paused: boolean): void {
    if (paused && this.paused !== 0) this.wasm.call.TF_WasmAbandonStep(this.paused);
  }
}
