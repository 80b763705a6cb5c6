/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Tensor: a value and its shape. Its elements are plain memory of JavaScript, which needs no disposing, unless
 * the tensor is resident: see engine/resident-tensor.ts.
 */
import { isPlainObject, shown } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import {
  DType,
  DataTypes,
  TypedArray,
  dtypeOf,
  isNumericDType,
  itemsPerElement,
  typedArrayOf,
} from './dtypes.js';
import { InvalidArgumentError } from '../base/errors.js';
import { bfloat16Value, halfValue } from './half.js';
import { encodeText } from '../base/utf8.js';

/** A complex number. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}
/** One element: bytes for a string that is not UTF-8. */
export type Scalar = number | bigint | boolean | string | Complex | Uint8Array;
/** An element of a dtype. */
export type ScalarOf<D extends DType> = D extends 'int64' | 'uint64'
  ? bigint
  : D extends 'bool'
    ? boolean
    : D extends 'string'
      ? string | Uint8Array
      : D extends 'complex64' | 'complex128'
        ? Complex
        : D extends 'resource' | 'variant'
          ? never
          : number;
export type NestedArray<S = Scalar> = S | NestedArray<S>[];
/**
 * Values that can be converted to a tensor: a number, nested arrays, a typed array (a vector, unless a shape
 * is given), a Tensor. For a tensor of strings a Uint8Array is one element.
 */
export type TensorLike = NestedArray | TypedArray | Tensor | readonly TensorLike[];

/** @internal In place of the data of a tensor whose subclass has it. */
export const DATA_ELSEWHERE: unique symbol = Symbol('data elsewhere');

export interface Tensor<D extends DType = DType> {
  /**
   * Row-major. bool: 0 and 1 in a Uint8Array; half, bfloat16 and storage types: bits; complex: alternating
   * real and imaginary parts; string: strings, or bytes for all if one of them is not UTF-8. The length
   * follows from the shape, except that resources and variants have no data.
   *
   * Of a resident tensor: a copy, made when `data` is first read. Of a tensor that `tf.allocate` made: a view of
   * the engine's memory, to read and to write. It is valid until the next call into the engine, when the memory
   * may grow or a step may take the values; so read `data` each time before you write.
   */
  readonly data: DataTypes[D];
}

/**
 * A value and its shape. `Tensor<'float32'>` has a dtype that is known at compile time, and with it the type
 * of `data`; `is` narrows the type.
 */
export class Tensor<D extends DType = DType> {
  constructor(
    readonly dtype: D,
    readonly shape: number[],
    data: DataTypes[D],
  ) {
    if ((data as unknown) === DATA_ELSEWHERE) return;
    (this as { data: DataTypes[D] }).data = data;
    this.check();
  }

  /**
   * Whether the elements are in the engine's memory: of tensors from `tf.tensor(..., { resident: true })`,
   * `tf.allocate` and steps with `keep: true`. Steps that are fed such a tensor copy nothing.
   */
  get resident(): boolean {
    return false;
  }

  /**
   * Frees the memory of a resident tensor, which must not be used any more; without it, that happens when the
   * tensor is garbage. Does nothing to other tensors.
   */
  dispose(): void {}

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Whether the dtype is this one; narrows the type of `data`. */
  is<E extends DType>(dtype: E): this is Tensor<E> {
    return this.dtype === (dtypeOf(dtype) as DType);
  }

  /**
   * @internal Throws InvalidArgumentError unless the data has the dtype's type and the shape's length. Valid data may become invalid:
   * arrays and buffers can be resized, detached, written to.
   */
  check(): void {
    const { dtype, shape, data } = this as { dtype: DType; shape: number[]; data: Tensor['data'] };
    if (!isPlainlyValid(dtype, shape, data)) checkTensor(dtype, shape, data);
  }

  /** Number of elements. */
  get size(): number {
    return sizeOf(this.shape);
  }

  /** The single element of the tensor. */
  item(): ScalarOf<D> {
    if (this.size !== 1)
      throw new InvalidArgumentError(
        `item() needs exactly one element, the tensor has shape [${this.shape}]`,
      );
    return this.elementAt(0);
  }

  /** The elements as nested arrays; for a scalar the element itself. */
  array(): NestedArray<ScalarOf<D>> {
    let next = 0;
    const build = (axis: number): NestedArray<ScalarOf<D>> =>
      axis === this.shape.length
        ? this.elementAt(next++)
        : Array.from({ length: this.shape[axis]! }, () => build(axis + 1));
    return build(0);
  }

  toString(): string {
    const shown = Array.from({ length: Math.min(this.size, 6) }, (_, i) => show(this.elementAt(i)));
    if (this.size > shown.length) shown.push('…');
    return `Tensor<${this.dtype} [${this.shape}]: ${shown.join(', ')}>`;
  }

  /** The elements of a tensor of strings as bytes, whether they are UTF-8 or not. */
  bytes(): Uint8Array[] {
    if (!Array.isArray(this.data))
      throw new InvalidArgumentError(`bytes() needs a tensor of strings, not of ${this.dtype}`);
    return (this.data as (string | Uint8Array)[]).map((item) =>
      typeof item === 'string' ? encodeText(item) : item,
    );
  }

  /** @internal The data, which later steps and writes do not change. */
  lastingData(): DataTypes[D] {
    return this.data;
  }

  /** @internal */
  elementAt(i: number): ScalarOf<D> {
    return elementOf(this as Tensor, i) as ScalarOf<D>;
  }
}

/** The tensor itself, or a copy of a resident one as it is now. */
export function plainTensor<D extends DType>(value: Tensor<D>): Tensor<D> {
  return value.resident ? new Tensor(value.dtype, [...value.shape], value.lastingData()) : value;
}

/** Whether a quick look finds a tensor valid, as it does with nearly all: numbers in an array of the usual type. */
function isPlainlyValid(dtype: DType, shape: readonly number[], data: Tensor['data']): boolean {
  if (
    typeof dtype !== 'string' ||
    !Array.isArray(shape) ||
    !isNumericDType(dtype) ||
    data?.constructor !== typedArrayOf(dtype)
  )
    return false;
  let size = itemsPerElement(dtype);
  for (let axis = 0; axis < shape.length; axis++) {
    const length = shape[axis]!;
    if (!Number.isSafeInteger(length) || length <= 0) return false;
    size *= length;
  }
  return size === data.length;
}

/** Throws InvalidArgumentError unless the parts of a tensor fit together. */
function checkTensor(dtype: DType, shape: number[], data: Tensor['data']): void {
  checkSizes(shape);
  const known: DType = dtypeOf(dtype);
  if (known !== dtype)
    throw new InvalidArgumentError(`dtype ${dtype as string} of a Tensor is written ${known}`);
  const holds = arrayNameOf(dtype);
  const given = ArrayBuffer.isView(data)
    ? (data as TypedArray)[Symbol.toStringTag]
    : Array.isArray(data)
      ? 'Array'
      : shown(data);
  if (given !== holds)
    throw new InvalidArgumentError(
      `the data of a tensor of dtype ${dtype} is of type ${holds}, not ${given}`,
    );
  if (ArrayBuffer.isView(data)) refuseDetached(data);
  const expected = dtype === 'resource' || dtype === 'variant' ? 0 : sizeOf(shape) * itemsPerElement(dtype);
  if (data.length !== expected) {
    throw new InvalidArgumentError(
      `a tensor of dtype ${dtype} and shape [${shape}] has ${expected} items of data, not ${data.length}`,
    );
  }
  if (dtype === 'string')
    for (const item of data as unknown[])
      if (typeof item !== 'string' && !(item instanceof Uint8Array)) refuseElement(item, dtype);
}

showAs(Tensor, 'Tensor', (tensor) => tensor.toString());

function elementOf({ dtype, data }: Tensor, i: number): Scalar {
  if (Array.isArray(data)) return data[i]!;
  switch (dtype) {
    case 'bool':
      return data[i] !== 0;
    case 'float16':
      return halfValue(data[i] as number);
    case 'bfloat16':
      return bfloat16Value(data[i] as number);
    case 'complex64':
    case 'complex128':
      return { re: data[2 * i] as number, im: data[2 * i + 1] as number };
    default:
      return data[i]!;
  }
}

function show(element: Scalar): string {
  if (typeof element === 'string') return shown(element);
  if (typeof element !== 'object') return String(element);
  return element instanceof Uint8Array ? `${element.length} bytes` : `(${element.re},${element.im})`;
}

/** A list for messages, whatever it contains. */
const listed = (items: readonly unknown[]): string =>
  `[${Array.from(items, (item) => (typeof item === 'number' ? String(item) : shown(item)))}]`;

/** Throws unless it is a list of sizes. */
export function checkSizes(shape: unknown): asserts shape is number[] {
  if (
    Array.isArray(shape) &&
    shape.every((size) => Number.isSafeInteger(size) && size >= 0) &&
    !shape.includes(undefined)
  )
    return;
  throw new InvalidArgumentError(
    Array.isArray(shape)
      ? `${listed(shape)} is no shape`
      : `a shape is an array of sizes: ${shown(shape)} is no shape`,
  );
}

/** Throws if the buffer of an array is detached, which otherwise looks like an empty array. */
export function refuseDetached(view: ArrayBufferView): void {
  if (view.byteLength > 0) return;
  try {
    if (!(view instanceof DataView)) (view as TypedArray).keys(); // an array with a detached buffer has no
    // iterators
  } catch {
    throw new InvalidArgumentError(
      'the memory of the array is gone: its buffer was transferred (with postMessage or structuredClone), or made shorter, or it was a view of an engine whose memory has grown. Give a copy away, array.slice(), or feed the array first',
    );
  }
}

/** The name of the array type for a dtype. */
const arrayNameOf = (dtype: DType): string =>
  dtype === 'string' || dtype === 'resource' || dtype === 'variant' ? 'Array' : typedArrayOf(dtype).name;

/** Throws unless it is a list of integers, with null for unknown ones. */
export function checkShape(shape: unknown): void {
  if (
    Array.isArray(shape) &&
    !shape.includes(undefined) &&
    shape.every((size) => size === null || Number.isSafeInteger(size))
  )
    return;
  throw new InvalidArgumentError(
    Array.isArray(shape)
      ? `${listed(shape)} is no shape`
      : `a shape is an array of sizes (null: not known): ${shown(shape)} is no shape`,
  );
}

export const sizeOf = (shape: readonly number[]): number =>
  shape.reduce((product, size) => product * size, 1);

export const isComplex = (value: unknown): value is Complex =>
  typeof value === 'object' && value !== null && 're' in value && 'im' in value;

/** What postMessage and structuredClone make of a Tensor. */
const isCloned = (value: unknown): boolean => isPlainObject(value) && 'dtype' in value && 'shape' in value;

/** Throws the error of a value that cannot be an element. */
export function refuseElement(element: unknown, dtype: DType): never {
  if (isCloned(element))
    throw new InvalidArgumentError(
      'a Tensor that was sent between threads has lost its class, and a resident one its elements: send dtype, shape and data, and make a tensor of them',
    );
  throw new InvalidArgumentError(
    `${isComplex(element) ? `(${shown(element.re)},${shown(element.im)})` : shown(element)} cannot be an element of dtype ${dtype}`,
  );
}
