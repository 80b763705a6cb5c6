/**
 * ResidentTensor: a tensor whose elements are in the engine's memory. A step that is fed one shares that memory,
 * and no kernel computes in it, because the tensor holds a reference (src/op/kernel.h).
 */
import { FailedPreconditionError, InvalidArgumentError } from '../base/errors.js';
import type { TensorPtr } from '../generated/abi.js';
import {
  DType,
  DTypeName,
  DTypeNamed,
  DataTypes,
  TypedArray,
  dtypeFromNumber,
  dtypeOf,
  itemsPerElement,
  typedArrayOf,
} from '../tensor/dtypes.js';
import { DATA_ELSEWHERE, Tensor, checkSizes, sizeOf } from '../tensor/tensor.js';
import type { Runtime } from './runtime.js';
import { allocateTensor, copyIn, readTensor, shapeAt } from './transfer.js';
import type { Scope, Wasm } from './wasm.js';

export class ResidentTensor<D extends DType = DType> extends Tensor<D> {
  readonly #runtime: Runtime;
  #pointer: TensorPtr;
  #disposed = false;
  /** The elements, copied when they were first looked at. */
  #copy: DataTypes[D] | undefined;

  /** Owns the TF_Tensor. */
  constructor(runtime: Runtime, pointer: TensorPtr) {
    const { wasm } = runtime;
    super(
      dtypeFromNumber(wasm.call.TF_TensorType(pointer)) as D,
      shapeAt(wasm, pointer, wasm.call.TF_NumDims(pointer)),
      DATA_ELSEWHERE as never,
    );
    this.#runtime = runtime;
    this.#pointer = pointer;
    runtime.opened(this, 'residentTensors', pointer);
  }

  get runtime(): Runtime {
    return this.#runtime;
  }

  /** The TF_Tensor, which the tensor owns. */
  get pointer(): TensorPtr {
    this.check();
    return this.#pointer;
  }

  override get data(): DataTypes[D] {
    const { pointer } = this;
    return (this.#copy ??= readTensor(this.#runtime.wasm, pointer).data as DataTypes[D]);
  }

  override get resident(): boolean {
    return true;
  }

  /** Throws FailedPreconditionError when the tensor has been disposed. */
  override check(): void {
    if (this.#disposed)
      throw new FailedPreconditionError(
        `the resident tensor of dtype ${this.dtype} and shape [${this.shape}] has been disposed`,
      );
  }

  /** A TF_Tensor that shares the memory, for the engine of this tensor; the caller deletes it. */
  share(wasm: Wasm): TensorPtr {
    const { pointer } = this;
    if (wasm !== this.#runtime.wasm)
      throw new InvalidArgumentError(
        'the tensor is resident in another engine, because init() made that with other options: tf.tensor(value) makes a copy for all',
      );
    return wasm.made((status) => wasm.call.TF_WasmShareTensor(pointer, status));
  }

  override dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#copy = undefined;
    this.#runtime.closed(this, 'residentTensors');
    this.#runtime.wasm.call.TF_DeleteTensor(this.#pointer);
  }

  override toString(): string {
    return this.#disposed ? `Tensor<${this.dtype} [${this.shape}]: disposed>` : super.toString();
  }
}

/** A resident tensor with elements to write into. */
class WritableTensor<D extends DType> extends ResidentTensor<D> {
  #view: TypedArray | undefined;

  override get data(): DataTypes[D] {
    const { pointer } = this;
    const { wasm } = this.runtime;
    const address = wasm.made((status) => wasm.call.TF_WasmWritableData(pointer, status));
    const Data = typedArrayOf(this.dtype);
    const { buffer } = wasm.view(Data);
    if (this.#view?.buffer !== buffer || this.#view.byteOffset !== address)
      this.#view = new Data(buffer, address, this.size * itemsPerElement(this.dtype));
    return this.#view as unknown as DataTypes[D];
  }

  override lastingData(): DataTypes[D] {
    return this.data.slice() as unknown as DataTypes[D];
  }
}

/** A new TF_Tensor of a value; the caller deletes it. It shares the memory of a resident value. */
export const uploadTensor = (wasm: Wasm, scope: Scope, value: Tensor): TensorPtr =>
  value instanceof ResidentTensor ? value.share(wasm) : copyIn(wasm, scope, value);

/** A resident tensor of a value, which shares the memory of a resident one. */
export function residentTensor<D extends DType>(runtime: Runtime, value: Tensor<D>): Tensor<D> {
  const { wasm } = runtime;
  return new ResidentTensor<D>(
    runtime,
    wasm.scope((scope) => uploadTensor(wasm, scope, value as Tensor)),
  );
}

/** A resident tensor of zeros, whose `data` is a view of the engine's memory. */
export function allocate<N extends DTypeName>(
  runtime: Runtime,
  name: N,
  shape: readonly number[],
): Tensor<DTypeNamed<N>> {
  const dtype = dtypeOf(name);
  checkSizes(shape);
  if (dtype === 'string' || dtype === 'resource' || dtype === 'variant')
    throw new InvalidArgumentError(
      `allocate gives memory to write numbers into, and elements of dtype ${dtype} are none${dtype === 'string' ? ': write tf.tensor(strings, { resident: true })' : ''}`,
    );
  const { wasm } = runtime;
  const bytes = sizeOf(shape) * itemsPerElement(dtype) * typedArrayOf(dtype).BYTES_PER_ELEMENT;
  const pointer = wasm.scope((scope) => allocateTensor(wasm, scope, dtype, shape, bytes));
  const address = wasm.call.TF_TensorData(pointer) >>> 0;
  wasm.u8.fill(0, address, address + bytes);
  return new WritableTensor<DTypeNamed<N>>(runtime, pointer);
}
