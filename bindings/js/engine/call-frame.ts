/**
 * CallFrame: calls of a callable that run at once. Values and results are written and read in the memory of a
 * TF_WasmCallFrame (src/wasm/wasm_callable.h), because a small call takes less time than a few calls of the
 * engine's functions.
 */
import type { TensorPtr, WasmCallablePtr, WasmStepPtr } from '../generated/abi.js';
import { DType, TypedArray, dtypeFromNumber } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';
import { uploadTensor } from './resident-tensor.js';
import { copyOut, writeElements } from './transfer.js';
import { type Wasm, unsigned } from './wasm.js';

/** The words of a TF_WasmResult. */
const RESULT_WORDS = 4;
/** TF_WasmCallState */
const FAILED = 0;
const PAUSED = 1;
/** Larger results are not left in the frame until the next call. */
const LARGEST_LEFT = 4096;

/** What the input value of the last call was, which the engine may have left for the next one. */
interface LastInput {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly address: number;
}

const sameShape = (a: readonly number[], b: readonly number[]): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

export class CallFrame {
  readonly #lastInputs: (LastInput | undefined)[] = [];
  /** The indices of the words of the frame, and of its arrays. */
  readonly #frame: number;
  readonly #inputs: number;
  readonly #results: number;

  constructor(
    private readonly wasm: Wasm,
    private readonly callable: WasmCallablePtr,
    private readonly numResults: number,
  ) {
    this.#frame = unsigned(wasm.call.TF_WasmFrameOfCallable(callable)) >>> 2;
    this.#inputs = wasm.u32[this.#frame]! >>> 2;
    this.#results = wasm.u32[this.#frame + 1]! >>> 2;
  }

  /** Runs a call. Returns undefined when it has ended, or the step if it is blocked and has no results yet. */
  run(values: readonly Tensor[], timeoutMs: number): WasmStepPtr | undefined {
    const { wasm } = this;
    for (let i = 0; i < values.length; i++) this.#setInput(i, values[i]!);
    const state = wasm.state(FAILED, (status) => wasm.call.TF_WasmRunCall(this.callable, timeoutMs, status));
    return state === PAUSED ? (wasm.u32[this.#frame + 2] as WasmStepPtr) : undefined;
  }

  /** The results of a call that has ended: copies, or what `receive` makes of their TF_Tensors. */
  takeResults(receive: ((pointer: TensorPtr) => Tensor) | undefined): Tensor[] {
    const results: Tensor[] = [];
    for (let i = 0; i < this.numResults; i++)
      results.push(receive ? receive(this.#taken(i)) : this.#copyOut(i));
    return results;
  }

  /** The TF_Tensor of a result, which belongs to the caller then. */
  #taken(i: number): TensorPtr {
    const words = this.wasm.u32;
    const at = this.#results + RESULT_WORDS * i;
    const pointer = words[at] as TensorPtr;
    words[at] = 0;
    return pointer;
  }

  #setInput(i: number, value: Tensor): void {
    const { wasm } = this;
    const left = wasm.u32[this.#inputs + i] as TensorPtr;
    const last = this.#lastInputs[i];
    const fits = left !== 0 && last?.dtype === value.dtype && sameShape(last.shape, value.shape);
    if (fits && !value.resident) {
      value.check();
      writeElements(wasm, last.dtype, value.data as TypedArray, last.address);
      return;
    }
    const pointer = wasm.scope((scope) => uploadTensor(wasm, scope, value));
    wasm.call.TF_DeleteTensor(left);
    wasm.u32[this.#inputs + i] = pointer;
    const { dtype, shape } = value;
    this.#lastInputs[i] =
      value.resident || dtype === 'string'
        ? undefined
        : { dtype, shape: [...shape], address: wasm.call.TF_TensorData(pointer) >>> 0 };
  }

  #copyOut(i: number): Tensor {
    const { wasm } = this;
    const words = wasm.u32;
    const at = this.#results + RESULT_WORDS * i;
    const dtype = dtypeFromNumber(words[at + 1]!);
    const copy = copyOut(wasm, words[at] as TensorPtr, dtype, words[at + 2]!, words[at + 3]!);
    const isSmall = ArrayBuffer.isView(copy.data) && copy.data.byteLength <= LARGEST_LEFT;
    if (!isSmall) wasm.call.TF_DeleteTensor(this.#taken(i));
    return copy;
  }
}
