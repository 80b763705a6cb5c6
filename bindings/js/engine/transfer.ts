/** Transfers tensors into the engine (TF_Tensor) and out of it. */
import { dtypeFromNumber, dtypeNumber, itemsPerElement, typedArrayOf } from '../tensor/dtypes.js';
import { ResourceExhaustedError } from '../base/errors.js';
import type { TensorPtr } from '../generated/abi.js';
import { readStrings, writeStrings } from './strings.js';
import { Tensor, sizeOf } from '../tensor/tensor.js';
import { type Scope, type Wasm, unsigned } from './wasm.js';

/** The address range of the engine: a larger number would wrap around. */
const LARGEST = 2 ** 32 - 1;

/** A new TF_Tensor of a value; the caller deletes it. */
export function uploadTensor(wasm: Wasm, scope: Scope, value: Tensor): TensorPtr {
  const { call } = wasm;
  const { dtype, shape, data } = value;
  const Data = dtype === 'string' ? undefined : typedArrayOf(dtype);
  value.check();
  const bytes = ArrayBuffer.isView(data) ? data.byteLength : 24 * data.length;
  const fits = bytes <= LARGEST;
  const pointer = fits
    ? unsigned(call.TF_AllocateTensor(dtypeNumber(dtype), scope.dims(shape), shape.length, bytes))
    : 0;
  if (pointer === 0)
    throw new ResourceExhaustedError(`OOM when allocating tensor with shape[${shape}] and type ${dtype}`);
  if (Data && ArrayBuffer.isView(data)) {
    wasm.view(Data).set(data as never, (call.TF_TensorData(pointer) >>> 0) / Data.BYTES_PER_ELEMENT);
    return pointer;
  }
  try {
    writeStrings(wasm, scope, pointer, data as string[]);
    return pointer;
  } catch (error) {
    call.TF_DeleteTensor(pointer);
    throw error;
  }
}

/** The value of a TF_Tensor, which is kept. */
export function readTensor(wasm: Wasm, pointer: TensorPtr): Tensor {
  const { call } = wasm;
  const dtype = dtypeFromNumber(call.TF_TensorType(pointer));
  const rank = call.TF_NumDims(pointer);
  const shape = Array.from({ length: rank }, (_, i) => Number(call.TF_Dim(pointer, i)));
  const address = call.TF_TensorData(pointer) >>> 0;
  const count = sizeOf(shape);
  if (dtype === 'string') return new Tensor(dtype, shape, readStrings(wasm, address, count));
  const Data = typedArrayOf(dtype);
  const begin = address / Data.BYTES_PER_ELEMENT;
  return new Tensor(dtype, shape, wasm.view(Data).slice(begin, begin + count * itemsPerElement(dtype)));
}

/** The value of a TF_Tensor, which is deleted. */
export function downloadTensor(wasm: Wasm, pointer: TensorPtr): Tensor {
  try {
    return readTensor(wasm, pointer);
  } finally {
    wasm.call.TF_DeleteTensor(pointer);
  }
}
