/** Element types: names, TensorFlow's numbers, and the typed arrays that hold them. */
import { shown } from '../base/arguments.js';
import { didYouMean } from '../base/did-you-mean.js';
import { InvalidArgumentError } from '../base/errors.js';

export type DType =
  | 'float32'
  | 'float64'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'int8'
  | 'uint16'
  | 'int16'
  | 'uint32'
  | 'uint64'
  | 'bool'
  | 'string'
  | 'float16'
  | 'bfloat16'
  | 'complex64'
  | 'complex128'
  | 'resource'
  | 'variant'
  | StorageDType;
/** Storage types: their elements are represented by their stored numbers or bits. */
export type StorageDType =
  | 'qint8'
  | 'quint8'
  | 'qint32'
  | 'qint16'
  | 'quint16'
  | 'float8_e5m2'
  | 'float8_e4m3fn'
  | 'float8_e4m3fnuz'
  | 'float8_e4m3b11fnuz'
  | 'float8_e5m2fnuz'
  | 'int4'
  | 'uint4'
  | 'int2'
  | 'uint2'
  | 'float4_e2m1fn';

/** TensorFlow's short names. */
interface ShortNames {
  float32: 'float';
  float64: 'double';
  float16: 'half';
}
type NamesOf<D extends DType> = D | (D extends keyof ShortNames ? ShortNames[D] : never);
/** A dtype under any of its names: TensorFlow's own ('float', 'DT_FLOAT') too. */
export type DTypeName<D extends DType = DType> = NamesOf<D> | `DT_${Uppercase<NamesOf<D>>}`;
/** The dtype of a name. */
export type DTypeNamed<N extends DTypeName> = N extends DType
  ? N
  : { [D in DType]: N extends DTypeName<D> ? D : never }[DType];

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | BigUint64Array;

/** The array type for the elements of a dtype. */
export interface DataTypes {
  float32: Float32Array;
  float64: Float64Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  int8: Int8Array;
  uint16: Uint16Array;
  int16: Int16Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
  bool: Uint8Array;
  string: string[] | Uint8Array[];
  float16: Uint16Array;
  bfloat16: Uint16Array;
  complex64: Float32Array;
  complex128: Float64Array;
  resource: never[];
  variant: never[];
  qint8: Int8Array;
  quint8: Uint8Array;
  qint32: Int32Array;
  qint16: Int16Array;
  quint16: Uint16Array;
  float8_e5m2: Uint8Array;
  float8_e4m3fn: Uint8Array;
  float8_e4m3fnuz: Uint8Array;
  float8_e4m3b11fnuz: Uint8Array;
  float8_e5m2fnuz: Uint8Array;
  int4: Int8Array;
  uint4: Uint8Array;
  int2: Int8Array;
  uint2: Uint8Array;
  float4_e2m1fn: Uint8Array;
}

export type TypedArrayConstructor = {
  new (length: number): TypedArray;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): TypedArray;
  readonly BYTES_PER_ELEMENT: number;
};

interface DTypeInfo {
  readonly number: number;
  /** The JavaScript array of the elements: half and bfloat16 as 16-bit patterns, complex numbers as pairs. */
  readonly array?: TypedArrayConstructor;
  /** Array items per element: 2 for complex numbers. */
  readonly items: number;
  /** TensorFlow's own names in addition to ours. */
  readonly aliases: readonly string[];
}

const DTYPES: Record<DType, DTypeInfo> = {
  float32: { number: 1, array: Float32Array, items: 1, aliases: ['float'] },
  float64: { number: 2, array: Float64Array, items: 1, aliases: ['double'] },
  int32: { number: 3, array: Int32Array, items: 1, aliases: [] },
  uint8: { number: 4, array: Uint8Array, items: 1, aliases: [] },
  int16: { number: 5, array: Int16Array, items: 1, aliases: [] },
  int8: { number: 6, array: Int8Array, items: 1, aliases: [] },
  string: { number: 7, items: 1, aliases: [] },
  complex64: { number: 8, array: Float32Array, items: 2, aliases: [] },
  int64: { number: 9, array: BigInt64Array as unknown as TypedArrayConstructor, items: 1, aliases: [] },
  bool: { number: 10, array: Uint8Array, items: 1, aliases: [] },
  bfloat16: { number: 14, array: Uint16Array, items: 1, aliases: [] },
  uint16: { number: 17, array: Uint16Array, items: 1, aliases: [] },
  complex128: { number: 18, array: Float64Array, items: 2, aliases: [] },
  float16: { number: 19, array: Uint16Array, items: 1, aliases: ['half'] },
  resource: { number: 20, items: 1, aliases: [] },
  variant: { number: 21, items: 1, aliases: [] },
  uint32: { number: 22, array: Uint32Array, items: 1, aliases: [] },
  uint64: { number: 23, array: BigUint64Array as unknown as TypedArrayConstructor, items: 1, aliases: [] },
  qint8: { number: 11, array: Int8Array, items: 1, aliases: [] },
  quint8: { number: 12, array: Uint8Array, items: 1, aliases: [] },
  qint32: { number: 13, array: Int32Array, items: 1, aliases: [] },
  qint16: { number: 15, array: Int16Array, items: 1, aliases: [] },
  quint16: { number: 16, array: Uint16Array, items: 1, aliases: [] },
  float8_e5m2: { number: 24, array: Uint8Array, items: 1, aliases: [] },
  float8_e4m3fn: { number: 25, array: Uint8Array, items: 1, aliases: [] },
  float8_e4m3fnuz: { number: 26, array: Uint8Array, items: 1, aliases: [] },
  float8_e4m3b11fnuz: { number: 27, array: Uint8Array, items: 1, aliases: [] },
  float8_e5m2fnuz: { number: 28, array: Uint8Array, items: 1, aliases: [] },
  int4: { number: 29, array: Int8Array, items: 1, aliases: [] },
  uint4: { number: 30, array: Uint8Array, items: 1, aliases: [] },
  int2: { number: 31, array: Int8Array, items: 1, aliases: [] },
  uint2: { number: 32, array: Uint8Array, items: 1, aliases: [] },
  float4_e2m1fn: { number: 33, array: Uint8Array, items: 1, aliases: [] },
};

const BY_NUMBER: DType[] = [];
const BY_NAME = new Map<string, DType>();
for (const [name, info] of Object.entries(DTYPES) as [DType, DTypeInfo][]) {
  BY_NUMBER[info.number] = name;
  for (const alias of [name, ...info.aliases]) {
    BY_NAME.set(alias, name);
    BY_NAME.set(`DT_${alias.toUpperCase()}`, name);
  }
}

/** The dtype of any of its names: 'float32', 'float', 'DT_FLOAT'. */
export function dtypeOf(name: string): DType {
  const dtype = BY_NAME.get(name);
  if (dtype !== undefined) return dtype;
  if (typeof name !== 'string')
    throw new InvalidArgumentError(`a dtype is given by its name, such as 'float32', not by ${shown(name)}`);
  const meant = didYouMean(name, BY_NAME.keys());
  throw new InvalidArgumentError(
    `${shown(name)} is no dtype${meant === '' ? '; known' : `${meant} Known`} are ${Object.keys(DTYPES).join(', ')}`,
  );
}

/** Whether it is a name of a dtype. */
export const isDTypeName = (name: string): name is DTypeName => BY_NAME.has(name.replace(REF_SUFFIX, ''));

/** Added to a type's number: a reference to a tensor of that type. */
const REF = 100;
const REF_SUFFIX = /_ref$/i;

/** TensorFlow's number; a reference type ends with _ref. */
export const dtypeNumber = (name: string): number =>
  REF_SUFFIX.test(name)
    ? REF + DTYPES[dtypeOf(name.replace(REF_SUFFIX, ''))].number
    : DTYPES[dtypeOf(name)].number;

/** The dtype with TensorFlow's number; for a reference type, the referenced type. */
export function dtypeFromNumber(number: number): DType {
  const dtype = BY_NUMBER[number > REF ? number - REF : number];
  if (!dtype) throw new InvalidArgumentError(`unknown dtype number ${number}`);
  return dtype;
}

/** As the value of an attr, where reference types are distinct. */
export const dtypeAttrFromNumber = (number: number): string =>
  `${dtypeFromNumber(number)}${number > REF ? '_ref' : ''}`;

export const isBigIntDType = (dtype: DType): boolean => dtype === 'int64' || dtype === 'uint64';
export const isComplexDType = (dtype: DType): boolean => dtype === 'complex64' || dtype === 'complex128';

/** Whether the elements are numbers, in a typed array. */
export const isNumericDType = (dtype: DType): boolean => DTYPES[dtype]?.array !== undefined;

/** The number of array items per element. */
export const itemsPerElement = (dtype: DType): number => DTYPES[dtype].items;

/** The constructor of the dtype's typed array. Strings and resources have none. */
export function typedArrayOf(dtype: DType): TypedArrayConstructor {
  const array = DTYPES[dtype].array;
  if (!array) throw new InvalidArgumentError(`tensors of dtype ${dtype} have no typed array`);
  return array;
}
