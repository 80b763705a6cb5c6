/**
 * Tensor: a value owned by JavaScript. Plain memory: it needs no disposing, and is never a view of wasm
 * memory.
 */
import { shown } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import {
  DType,
  DTypeName,
  DTypeNamed,
  DataTypes,
  TypedArray,
  dtypeOf,
  isBigIntDType,
  isComplexDType,
  itemsPerElement,
  typedArrayOf,
} from './dtypes.js';
import { InvalidArgumentError, ResourceExhaustedError } from '../base/errors.js';
import { bfloat16Bits, bfloat16Value, halfBits, halfValue } from './half.js';
import { encodeText, uniform } from '../base/utf8.js';

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

/** The default dtype of a value, as far as its type determines it. */
export type GuessedDType<V, Depth extends 0[] = []> = Depth['length'] extends 9
  ? DType
  : [V] extends [never]
    ? 'float32'
    : V extends Tensor<infer D>
      ? D
      : V extends number
        ? 'float32'
        : V extends bigint
          ? 'int64'
          : V extends boolean
            ? 'bool'
            : V extends string
              ? 'string'
              : V extends { readonly [Symbol.toStringTag]: infer Tag }
                ? Tag extends keyof ArrayDTypes
                  ? ArrayDTypes[Tag]
                  : DType
                : V extends Complex
                  ? 'complex64'
                  : V extends readonly (infer E)[]
                    ? GuessedDType<E, [...Depth, 0]>
                    : DType;

/**
 * A value and its shape. `Tensor<'float32'>` has a dtype that is known at compile time, and with it the type
 * of `data`; `is` narrows the type.
 */
export class Tensor<D extends DType = DType> {
  constructor(
    readonly dtype: D,
    readonly shape: number[],
    /**
     * Row-major. bool: 0 and 1 in a Uint8Array; half, bfloat16 and storage types: bits; complex: alternating
     * real and imaginary parts; string: strings, or bytes for all if one of them is not UTF-8. The length
     * follows from the shape, except that resources and variants have no data.
     */
    readonly data: DataTypes[D],
  ) {
    this.check();
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

  /** @internal */
  elementAt(i: number): ScalarOf<D> {
    return elementOf(this as Tensor, i) as ScalarOf<D>;
  }
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
function checkSizes(shape: unknown): asserts shape is number[] {
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
      'the memory of the array is gone: its buffer was transferred (with postMessage or structuredClone), or made shorter. Give a copy away, array.slice(), or feed the array first',
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

/** By name, because typed arrays of other realms are different classes. */
interface ArrayDTypes {
  Float32Array: 'float32';
  Float64Array: 'float64';
  Int32Array: 'int32';
  BigInt64Array: 'int64';
  Uint8Array: 'uint8';
  Int8Array: 'int8';
  Uint16Array: 'uint16';
  Int16Array: 'int16';
  Uint32Array: 'uint32';
  BigUint64Array: 'uint64';
  Uint8ClampedArray: 'uint8';
  /** Newer engines have it; its bits are those of a half tensor. */
  Float16Array: 'float16';
}
const DTYPE_OF_ARRAY: ArrayDTypes = {
  Float32Array: 'float32',
  Float64Array: 'float64',
  Int32Array: 'int32',
  BigInt64Array: 'int64',
  Uint8Array: 'uint8',
  Int8Array: 'int8',
  Uint16Array: 'uint16',
  Int16Array: 'int16',
  Uint32Array: 'uint32',
  BigUint64Array: 'uint64',
  Uint8ClampedArray: 'uint8',
  Float16Array: 'float16',
};

const isTypedArray = (value: unknown): value is TypedArray =>
  ArrayBuffer.isView(value) && !(value instanceof DataView);
const isComplex = (value: unknown): value is Complex =>
  typeof value === 'object' && value !== null && 're' in value && 'im' in value;
/** Whether an array is a single item: a Uint8Array among strings is a string. */
const isVector = (value: unknown, dtype: DType | undefined): value is TypedArray =>
  isTypedArray(value) && !(dtype === 'string' && value instanceof Uint8Array);

/** TensorFlow's limit on the number of dimensions. */
const MAX_RANK = 254;

/** The shape of nested arrays, according to their first items. */
function nestedShape(value: unknown, dtype: DType): number[] {
  const shape: number[] = [];
  for (let level = value; ; level = (level as ArrayLike<unknown>)[0]) {
    if (shape.length > MAX_RANK)
      throw new InvalidArgumentError(
        `arrays are nested more than ${MAX_RANK} deep; is one of them inside itself?`,
      );
    if (level instanceof Tensor) return shape.concat(level.shape);
    if (!Array.isArray(level) && !isVector(level, dtype)) return shape;
    shape.push(level.length);
    if (level.length === 0) return shape;
  }
}

/** Passes every element to `put`, in row-major order; ragged arrays are refused. */
function flatten(
  value: unknown,
  shape: readonly number[],
  axis: number,
  dtype: DType,
  put: (element: unknown) => void,
): void {
  const refuse = (expected: string): never => {
    throw new InvalidArgumentError(`nested arrays differ in depth: expected ${expected} at depth ${axis}`);
  };
  const checkLength = (length: number, expected: number): void => {
    if (length !== expected)
      throw new InvalidArgumentError(
        `nested arrays differ in length: ${length} and ${expected} at depth ${axis}`,
      );
  };
  if (value instanceof Tensor) {
    checkLength(value.shape.length === shape.length - axis ? value.size : NaN, sizeOf(shape.slice(axis)));
    for (let i = 0; i < value.size; i++) put(value.elementAt(i));
  } else if (axis === shape.length) {
    if (Array.isArray(value) || isVector(value, dtype)) refuse('a single element');
    put(value);
  } else if (isVector(value, dtype)) {
    refuseDetached(value);
    checkLength(value.length, sizeOf(shape.slice(axis)));
    for (const item of value) put(item);
  } else if (Array.isArray(value)) {
    checkLength(value.length, shape[axis]!);
    for (const item of value) flatten(item, shape, axis + 1, dtype, put);
  } else {
    refuse('an array');
  }
}

/**
 * The default dtype of a value. TensorFlow makes int32 of Python ints; JavaScript has one kind of number, so
 * numbers are float32, bigints int64.
 */
function guessDType(value: unknown): DType {
  let first = value;
  for (let depth = 0; Array.isArray(first) && depth <= MAX_RANK; depth++) first = first[0];
  if (first instanceof Tensor) return first.dtype;
  if (isTypedArray(first)) return DTYPE_OF_ARRAY[first[Symbol.toStringTag]];
  switch (typeof first) {
    case 'bigint':
      return 'int64';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return isComplex(first) ? 'complex64' : 'float32';
  }
}

const INTEGER_RANGE: Partial<Record<DType, readonly [number, number]>> = {
  int32: [-2147483648, 2147483647],
  uint32: [0, 4294967295],
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int8: [-128, 127],
  uint8: [0, 255],
  qint32: [-2147483648, 2147483647],
  qint16: [-32768, 32767],
  quint16: [0, 65535],
  qint8: [-128, 127],
  quint8: [0, 255],
  int4: [-8, 7],
  uint4: [0, 15],
  int2: [-2, 1],
  uint2: [0, 3],
  float8_e5m2: [0, 255],
  float8_e4m3fn: [0, 255],
  float8_e4m3fnuz: [0, 255],
  float8_e4m3b11fnuz: [0, 255],
  float8_e5m2fnuz: [0, 255],
  float4_e2m1fn: [0, 15],
};

function refuseElement(element: unknown, dtype: DType): never {
  throw new InvalidArgumentError(
    `${isComplex(element) ? `(${shown(element.re)},${shown(element.im)})` : shown(element)} cannot be an element of dtype ${dtype}`,
  );
}

/** One number, converted for the typed array of `dtype`. */
function convert(element: unknown, dtype: DType): number | bigint {
  const kind = typeof element;
  if (kind !== 'number' && kind !== 'boolean' && kind !== 'bigint') return refuseElement(element, dtype);
  if (dtype === 'bool') return element ? 1 : 0;
  if (isBigIntDType(dtype)) {
    if (kind === 'number' && !Number.isInteger(element)) return refuseElement(element, dtype);
    const whole = BigInt(element as number);
    return whole === (dtype === 'int64' ? BigInt.asIntN(64, whole) : BigInt.asUintN(64, whole))
      ? whole
      : refuseElement(element, dtype);
  }
  const number = Number(element);
  if (dtype === 'float16') return halfBits(number);
  if (dtype === 'bfloat16') return bfloat16Bits(number);
  const range = INTEGER_RANGE[dtype];
  return !range || (Number.isInteger(number) && number >= range[0] && number <= range[1])
    ? number
    : refuseElement(element, dtype);
}

function stringElements(value: unknown, shape: readonly number[]): string[] | Uint8Array[] {
  const strings: (string | Uint8Array)[] = [];
  flatten(value, shape, 0, 'string', (element) => {
    if (typeof element !== 'string' && !(element instanceof Uint8Array))
      return refuseElement(element, 'string');
    strings.push(element);
  });
  return uniform(strings);
}

/** A typed array of zeros. */
function zeros(shape: readonly number[], dtype: DType): TypedArray {
  try {
    return new (typedArrayOf(dtype))(sizeOf(shape) * itemsPerElement(dtype));
  } catch (error) {
    if (error instanceof RangeError)
      throw new ResourceExhaustedError(`OOM when allocating tensor with shape[${shape}] and type ${dtype}`);
    throw error;
  }
}

function numberElements(value: unknown, shape: readonly number[], dtype: DType): TypedArray {
  const data = zeros(shape, dtype) as { [i: number]: unknown };
  let next = 0;
  flatten(value, shape, 0, dtype, (element) => {
    if (isComplexDType(dtype)) {
      data[next++] = convert(isComplex(element) ? element.re : element, dtype);
      data[next++] = isComplex(element) ? convert(element.im, dtype) : 0;
    } else {
      data[next++] = convert(element, dtype);
    }
  });
  return data as unknown as TypedArray;
}

/** Data that needs no conversion: a Tensor of the dtype, or a typed array of its type. */
function readyData(value: TensorLike, dtype: DType): Tensor['data'] | undefined {
  if (value instanceof Tensor) return value.dtype === dtype ? value.data : undefined;
  if (!isVector(value, dtype) || dtype === 'string') return undefined;
  const [given, Data]: [string, ReturnType<typeof typedArrayOf>] = [
    value[Symbol.toStringTag],
    typedArrayOf(dtype),
  ];
  if (given !== Data.name && !(dtype === 'float16' && given === 'Float16Array')) return undefined;
  return value.constructor === Data ? value : new Data(value.buffer, value.byteOffset, value.length); // a
  // Buffer
  // becomes
  // a
  // plain
  // Uint8Array
}

/**
 * A Tensor of a value. A typed array or Tensor of the requested dtype is used without copying: so a
 * Uint16Array for half holds bits, and a Float32Array for complex64 holds pairs. A flat typed array takes any
 * `shape` with the same number of elements.
 */
export function tensor<N extends DTypeName>(
  value: TensorLike,
  shape: readonly number[] | undefined,
  dtype: N,
): Tensor<DTypeNamed<N>>;
export function tensor<const V extends TensorLike>(
  value: V,
  shape?: readonly number[],
): Tensor<GuessedDType<V>>;
export function tensor(value: TensorLike, shape?: readonly number[], dtype?: DTypeName): Tensor;
export function tensor(value: TensorLike, shape?: readonly number[], dtypeName?: DTypeName): Tensor {
  if (isTypedArray(value)) refuseDetached(value);
  const dtype = dtypeName === undefined ? guessDType(value) : dtypeOf(dtypeName);
  const ready = readyData(value, dtype);
  const ownShape = nestedShape(value, dtype);
  if (shape !== undefined) checkSizes(shape);
  const wanted = shape ? [...shape] : ownShape;
  const arePairs = ready !== undefined && isComplexDType(dtype) && !(value instanceof Tensor);
  const count = arePairs ? ready.length / 2 : sizeOf(ownShape);
  if (shape ? sizeOf(wanted) !== count : arePairs) {
    throw new InvalidArgumentError(
      shape
        ? `${count} elements cannot have shape [${wanted}]`
        : `a flat array for dtype ${dtype} needs a shape: it holds pairs of real and imaginary parts`,
    );
  }
  return new Tensor(
    dtype,
    wanted,
    ready ?? (dtype === 'string' ? stringElements(value, ownShape) : numberElements(value, ownShape, dtype)),
  );
}
