/** Tensor: a value owned by JavaScript. Plain memory: nothing to dispose, never a view of wasm memory. */
import { DType, DTypeName, TypedArray, dtypeOf, isBigIntDType, itemsPerElement, typedArrayOf } from './dtypes.js';
import { InvalidArgumentError } from './errors.js';

export type Scalar = number | bigint | boolean | string;
export type NestedArray = Scalar | NestedArray[];
/** What can stand for a tensor: a number, nested arrays, a typed array (a vector, where no shape says otherwise), a Tensor. */
export type TensorLike = NestedArray | TypedArray | Tensor | readonly TensorLike[];

export class Tensor {
  constructor(
    readonly dtype: DType,
    readonly shape: number[],
    /** Row-major. bool: 0 and 1 in a Uint8Array; half and bfloat16: bits; complex: pairs; string: strings. */
    readonly data: TypedArray | string[],
  ) {}

  /** Number of elements. */
  get size(): number {
    return sizeOf(this.shape);
  }

  /** The only element of a tensor that has one. */
  item(): Scalar {
    if (this.size !== 1) throw new InvalidArgumentError(`item() needs exactly one element, the tensor has shape [${this.shape}]`);
    return this.elementAt(0);
  }

  /** The elements as nested arrays; of a scalar the element itself. */
  array(): NestedArray {
    let next = 0;
    const build = (axis: number): NestedArray =>
      axis === this.shape.length ? this.elementAt(next++) : Array.from({ length: this.shape[axis]! }, () => build(axis + 1));
    return build(0);
  }

  toString(): string {
    const shown = Array.from({ length: Math.min(this.size, 6) }, (_, i) => String(this.elementAt(i)));
    if (this.size > shown.length) shown.push('…');
    return `Tensor<${this.dtype} [${this.shape}]: ${shown.join(', ')}>`;
  }

  private elementAt(i: number): Scalar {
    const value = this.data[i * itemsPerElement(this.dtype)]!;
    return this.dtype === 'bool' ? value !== 0 : value;
  }
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

const DTYPE_OF_ARRAY = new Map<unknown, DType>([
  [Float32Array, 'float32'], [Float64Array, 'float64'], [Int32Array, 'int32'], [BigInt64Array, 'int64'], [Uint8Array, 'uint8'],
  [Int8Array, 'int8'], [Uint16Array, 'uint16'], [Int16Array, 'int16'], [Uint32Array, 'uint32'], [BigUint64Array, 'uint64'],
  [Uint8ClampedArray, 'uint8'],
]);

const isTypedArray = (value: unknown): value is TypedArray => ArrayBuffer.isView(value) && !(value instanceof DataView);

/** The shape of nested arrays; ragged ones are refused. */
function nestedShape(value: unknown): number[] {
  const shape: number[] = [];
  for (let level = value; ; level = (level as ArrayLike<unknown>)[0]) {
    if (level instanceof Tensor) return shape.concat(level.shape);
    if (!Array.isArray(level) && !isTypedArray(level)) return shape;
    shape.push(level.length);
    if (level.length === 0) return shape;
  }
}

/** Hands every element to `put`, in row-major order; returns how many there were. */
function flatten(value: unknown, shape: readonly number[], axis: number, put: (element: unknown) => void): void {
  if (axis === shape.length) {
    if (Array.isArray(value) || isTypedArray(value)) throw new InvalidArgumentError(`nested arrays differ in depth: expected a single element at depth ${axis}`);
    put(value);
    return;
  }
  const items = value instanceof Tensor ? value.data : value;
  if (!Array.isArray(items) && !isTypedArray(items)) throw new InvalidArgumentError(`nested arrays differ in depth: expected an array at depth ${axis}`);
  const flat = isTypedArray(items) || value instanceof Tensor;
  if (items.length !== (flat ? sizeOf(shape.slice(axis)) : shape[axis])) {
    throw new InvalidArgumentError(`nested arrays differ in length: ${items.length} and ${shape[axis]} at depth ${axis}`);
  }
  for (const item of items as Iterable<unknown>) flat ? put(item) : flatten(item, shape, axis + 1, put);
}

function firstElement(value: unknown): unknown {
  while (Array.isArray(value) || isTypedArray(value) || value instanceof Tensor) value = value instanceof Tensor ? value.data[0] : value[0];
  return value;
}

/** The dtype that a value has when none is asked for: int32 for whole numbers is TensorFlow's rule for Python ints; JavaScript
 * has one kind of number, so numbers are float32, bigints int64. */
function guessDType(value: unknown): DType {
  if (value instanceof Tensor) return value.dtype;
  if (isTypedArray(value)) return DTYPE_OF_ARRAY.get(value.constructor) ?? 'float32';
  const first = Array.isArray(value) && isTypedArray(value[0]) ? value[0] : firstElement(value);
  if (isTypedArray(first)) return DTYPE_OF_ARRAY.get(first.constructor) ?? 'float32';
  switch (typeof first) {
    case 'bigint': return 'int64';
    case 'boolean': return 'bool';
    case 'string': return 'string';
    default: return 'float32';
  }
}

const INTEGER_RANGE: Partial<Record<DType, readonly [number, number]>> = {
  int32: [-2147483648, 2147483647], uint32: [0, 4294967295], int16: [-32768, 32767], uint16: [0, 65535], int8: [-128, 127], uint8: [0, 255],
};

/** One element as the typed array of `dtype` wants it. */
function convert(element: unknown, dtype: DType): number | bigint | string {
  const kind = typeof element;
  if (dtype === 'string') {
    if (kind === 'string') return element as string;
  } else if (dtype === 'bool') {
    if (kind === 'boolean' || kind === 'number' || kind === 'bigint') return element ? 1 : 0;
  } else if (isBigIntDType(dtype)) {
    if (kind === 'bigint') return element as bigint;
    if (kind === 'boolean' || (kind === 'number' && Number.isInteger(element))) return BigInt(element as number);
  } else if (kind === 'number' || kind === 'boolean' || kind === 'bigint') {
    const number = Number(element);
    const range = INTEGER_RANGE[dtype];
    if (!range || (Number.isInteger(number) && number >= range[0] && number <= range[1])) return number;
  }
  throw new InvalidArgumentError(`${kind === 'string' ? JSON.stringify(element) : String(element)} cannot be an element of dtype ${dtype}`);
}

/**
 * A Tensor of a value. Data of the wanted dtype is taken over without a copy where it is a typed array or a Tensor already.
 * A flat typed array takes any `shape` of as many elements.
 */
export function tensor(value: TensorLike, shape?: readonly number[], dtypeName?: DTypeName): Tensor {
  const dtype = dtypeName === undefined ? guessDType(value) : dtypeOf(dtypeName);
  const ownShape = nestedShape(value);
  const wanted = shape ? [...shape] : ownShape;
  if (wanted.some((size) => !Number.isSafeInteger(size) || size < 0)) throw new InvalidArgumentError(`[${wanted}] is no shape`);
  const items = itemsPerElement(dtype);
  const flat = value instanceof Tensor ? value.data : isTypedArray(value) ? value : undefined;
  const count = flat ? flat.length / items : sizeOf(ownShape);
  if (shape ? sizeOf(wanted) !== count : items > 1 && !(value instanceof Tensor)) {
    throw new InvalidArgumentError(
      shape ? `${count} elements cannot have shape [${wanted}]` : `values of dtype ${dtype} need a shape: pairs of real and imaginary parts, flat`,
    );
  }
  if (flat && (dtype === 'string' ? Array.isArray(flat) : flat.constructor === typedArrayOf(dtype))) return new Tensor(dtype, wanted, flat);
  if (dtype === 'string') {
    const strings: string[] = [];
    flatten(value, ownShape, 0, (element) => strings.push(convert(element, dtype) as string));
    return new Tensor(dtype, wanted, strings);
  }
  const data = new (typedArrayOf(dtype))(sizeOf(wanted) * items);
  let next = 0;
  flatten(value, ownShape, 0, (element) => {
    (data as { [i: number]: unknown })[next++] = convert(element, dtype);
  });
  return new Tensor(dtype, wanted, data);
}
