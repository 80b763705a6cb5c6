/** Tensors of numbers, nested arrays and typed arrays. */
import { InvalidArgumentError, ResourceExhaustedError } from '../base/errors.js';
import { uniform } from '../base/utf8.js';
import {
  DType,
  DTypeName,
  DTypeNamed,
  TypedArray,
  dtypeOf,
  isBigIntDType,
  isComplexDType,
  itemsPerElement,
  typedArrayOf,
} from './dtypes.js';
import { bfloat16Bits, halfBits } from './half.js';
import {
  Complex,
  Tensor,
  TensorLike,
  checkSizes,
  isComplex,
  refuseDetached,
  refuseElement,
  sizeOf,
} from './tensor.js';

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

/** A scalar. */
export function numberTensor(value: number, dtype: DType): Tensor {
  if (dtype === 'string') return refuseElement(value, dtype);
  const data = new (typedArrayOf(dtype))(itemsPerElement(dtype)); // the imaginary part is 0
  data[0] = convert(value, dtype);
  return new Tensor(dtype, [], data as never);
}

/** Data that needs no conversion: a Tensor of the dtype, or a typed array of its type. */
function readyData(value: TensorLike, dtype: DType): Tensor['data'] | undefined {
  if (value instanceof Tensor) return value.dtype === dtype ? value.lastingData() : undefined;
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
  if (typeof value === 'number' && shape === undefined)
    return numberTensor(value, dtypeName === undefined ? 'float32' : dtypeOf(dtypeName));
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
