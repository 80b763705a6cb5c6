/** FunctionStep: one call of a function body. */
import type {
  Null,
  Ptr,
  StatusPtr,
  TensorPtr,
  WasmFunctionBodyPtr,
  WasmFunctionCallPtr,
} from '../generated/abi.js';
import { Step } from './step.js';
import type { Tensor } from '../tensor/tensor.js';
import { unsigned } from './wasm.js';
import type { Scope, Wasm } from './wasm.js';

export class FunctionStep extends Step {
  /** The engine's call; 0 before it begins, and after it has ended. */
  #call: WasmFunctionCallPtr | Null = 0;

  constructor(
    wasm: Wasm,
    private readonly body: WasmFunctionBodyPtr,
    values: readonly Tensor[],
    protected readonly numResults: number,
    private readonly timeoutMs: number,
  ) {
    super(wasm, values);
  }

  protected runSlice(scope: Scope, sliceMs: number, results: Ptr<TensorPtr>, status: StatusPtr): number {
    const { call } = this.wasm;
    if (this.#call === 0) {
      const args = scope.pointers(this.inputs);
      this.#call = unsigned(
        call.TF_WasmNewFunctionCall(this.body, args, this.inputs.length, this.timeoutMs, status),
      );
      if (this.#call === 0) return 0;
    }
    return call.TF_WasmAdvanceFunctionCall(this.#call, sliceMs, results, status);
  }

  protected isBlocked(): boolean {
    return this.#call !== 0 && this.wasm.call.TF_WasmFunctionCallIsBlocked(this.#call) !== 0;
  }

  protected release(): void {
    this.wasm.call.TF_WasmDeleteFunctionCall(this.#call);
    this.#call = 0;
  }
}
