/** Copies tensors into the engine (TF_Tensor) and out of it. */
import {
  DType,
  TypedArray,
  dtypeFromNumber,
  dtypeNumber,
  itemsPerElement,
  typedArrayOf,
} from '../tensor/dtypes.js';
import { ResourceExhaustedError } from '../base/errors.js';
import type { TensorPtr } from '../generated/abi.js';
import { readStrings, writeStrings } from './strings.js';
import { Tensor, sizeOf } from '../tensor/tensor.js';
import { type Scope, type Wasm, unsigned } from './wasm.js';

/** The address range of the engine: a larger number would wrap around. */
const LARGEST = 2 ** 32 - 1;
/** Up to so many items are copied one by one: a call of `set` or `slice` takes longer. */
const FEW = 8;

/** A new TF_Tensor of `bytes` for the elements, which are not set; the caller deletes it. */
export function allocateTensor(
  { call }: Wasm,
  scope: Scope,
  dtype: DType,
  shape: readonly number[],
  bytes: number,
): TensorPtr {
  const fits = bytes <= LARGEST;
  const pointer = fits
    ? unsigned(call.TF_AllocateTensor(dtypeNumber(dtype), scope.dims(shape), shape.length, bytes))
    : 0;
  if (pointer === 0)
    throw new ResourceExhaustedError(`OOM when allocating tensor with shape[${shape}] and type ${dtype}`);
  return pointer as TensorPtr;
}

/** A new TF_Tensor with a copy of a value; the caller deletes it. */
export function copyIn(wasm: Wasm, scope: Scope, value: Tensor): TensorPtr {
  value.check();
  const { dtype, shape, data } = value;
  if (ArrayBuffer.isView(data)) {
    const inside = wasm.addressOf(data); // asked first: allocating may detach the array
    const pointer = allocateTensor(wasm, scope, dtype, shape, data.byteLength);
    const to = wasm.call.TF_TensorData(pointer) >>> 0;
    if (inside === undefined) writeElements(wasm, dtype, data as TypedArray, to);
    else
      wasm.u8.copyWithin(
        to,
        inside,
        inside + value.size * itemsPerElement(dtype) * typedArrayOf(dtype).BYTES_PER_ELEMENT,
      );
    return pointer;
  }
  const pointer = allocateTensor(wasm, scope, dtype, shape, 24 * data.length);
  try {
    writeStrings(wasm, scope, pointer, data as string[]);
    return pointer;
  } catch (error) {
    wasm.call.TF_DeleteTensor(pointer);
    throw error;
  }
}

/** Copies elements to an address. */
export function writeElements(wasm: Wasm, dtype: DType, data: TypedArray, address: number): void {
  const Data = typedArrayOf(dtype);
  const view = wasm.view(Data);
  const begin = address / Data.BYTES_PER_ELEMENT;
  if (data.length > FEW) view.set(data as never, begin);
  else for (let i = 0; i < data.length; i++) view[begin + i] = data[i]!;
}

/** A copy of the elements at an address. */
function readElements(wasm: Wasm, dtype: DType, count: number, address: number): TypedArray {
  const Data = typedArrayOf(dtype);
  const view = wasm.view(Data);
  const begin = address / Data.BYTES_PER_ELEMENT;
  const length = count * itemsPerElement(dtype);
  if (length > FEW) return view.slice(begin, begin + length);
  const data = new Data(length);
  for (let i = 0; i < length; i++) data[i] = view[begin + i]!;
  return data;
}

/** The dimensions of a TF_Tensor. */
export function shapeAt({ call }: Wasm, pointer: TensorPtr, rank: number): number[] {
  const shape: number[] = [];
  for (let i = 0; i < rank; i++) shape.push(Number(call.TF_Dim(pointer, i)));
  return shape;
}

/** A copy of the value of a TF_Tensor with this dtype, rank and address of its elements. */
export function copyOut(wasm: Wasm, pointer: TensorPtr, dtype: DType, rank: number, address: number): Tensor {
  const shape = shapeAt(wasm, pointer, rank);
  const count = sizeOf(shape);
  if (dtype === 'string') return new Tensor(dtype, shape, readStrings(wasm, address, count));
  return new Tensor(dtype, shape, readElements(wasm, dtype, count, address) as never);
}

/** A copy of the value of a TF_Tensor, which is kept. */
export function readTensor(wasm: Wasm, pointer: TensorPtr): Tensor {
  const { call } = wasm;
  const dtype = dtypeFromNumber(call.TF_TensorType(pointer));
  return copyOut(wasm, pointer, dtype, call.TF_NumDims(pointer), call.TF_TensorData(pointer) >>> 0);
}

/** A copy of the value of a TF_Tensor, which is deleted. */
export function downloadTensor(wasm: Wasm, pointer: TensorPtr): Tensor {
  try {
    return readTensor(wasm, pointer);
  } finally {
    wasm.call.TF_DeleteTensor(pointer);
  }
}
