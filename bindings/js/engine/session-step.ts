/** SessionStep: one step of a session. */
import type { Ptr, SessionPtr, StatusPtr, TensorPtr } from '../generated/abi.js';
import { Step } from './step.js';
import type { Tensor } from '../tensor/tensor.js';
import type { OperationArgument, OutputArgument, Scope, Wasm } from './wasm.js';

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
    if (this.state === 'paused')
      return call.TF_WasmResumeSession(this.session, sliceMs, results, this.numResults, status);
    const { feeds, fetches, targets, timeoutMs } = this.request;
    return call.TF_WasmStartSession(
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
    );
  }

  protected release(paused: boolean): void {
    if (paused) this.wasm.call.TF_WasmAbandonStep(this.session);
  }
}
