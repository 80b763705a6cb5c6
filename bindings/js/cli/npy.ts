/** NumPy's file format for one array (.npy). */
import { DType, isComplexDType, itemsPerElement, typedArrayOf } from '../tensor/dtypes.js';
import { bfloat16Value } from '../tensor/half.js';
import { Tensor, sizeOf } from '../tensor/tensor.js';
import { encodeText, textOrBytes, uniform } from '../base/utf8.js';
import { CommandError } from './command-line.js';

const MAGIC = [0x93, ...'NUMPY'].map((c) => (typeof c === 'string' ? c.charCodeAt(0) : c));

const DTYPE_OF_KIND: Readonly<Record<string, DType>> = {
  f2: 'float16',
  f4: 'float32',
  f8: 'float64',
  i1: 'int8',
  i2: 'int16',
  i4: 'int32',
  i8: 'int64',
  u1: 'uint8',
  u2: 'uint16',
  u4: 'uint32',
  u8: 'uint64',
  b1: 'bool',
  c8: 'complex64',
  c16: 'complex128',
};
const KIND_OF_DTYPE = new Map(Object.entries(DTYPE_OF_KIND).map(([kind, dtype]) => [dtype, kind]));

interface Header {
  readonly descr: string;
  readonly fortran: boolean;
  readonly shape: number[];
  /** The offset of the elements. */
  readonly start: number;
}

function readHeader(bytes: Uint8Array, file: string): Header {
  const refuse = (why: string): never => {
    throw new CommandError(`${file} is no .npy file: ${why}`);
  };
  if (bytes.length < 10 || MAGIC.some((byte, i) => bytes[i] !== byte)) refuse('it does not begin as one');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const long = bytes[6]! >= 2;
  if (long && bytes.length < 12) refuse('it is cut off');
  const start = (long ? 12 : 10) + (long ? view.getUint32(8, true) : view.getUint16(8, true));
  if (start > bytes.length) refuse('it is cut off');
  const text = new TextDecoder('latin1').decode(bytes.subarray(long ? 12 : 10, start));
  const descr = /'descr':\s*'([^']*)'/.exec(text)?.[1];
  const order = /'fortran_order':\s*(True|False)/.exec(text)?.[1];
  const sizes = /'shape':\s*\(([^)]*)\)/.exec(text)?.[1];
  if (descr === undefined || order === undefined || sizes === undefined)
    refuse(`its header ${text.trim()} holds more than one plain array`);
  const shape = sizes!
    .split(',')
    .map((size) => size.trim())
    .filter((size) => size !== '')
    .map(Number);
  return { descr: descr!, fortran: order === 'True', shape, start };
}

/** Converts elements from column-major to row-major order. */
function fromColumns(data: Uint8Array, size: number, shape: readonly number[]): Uint8Array {
  const out = new Uint8Array(data.length);
  const index = shape.map(() => 0);
  for (let to = 0; to < data.length; to += size) {
    let from = 0;
    for (let axis = shape.length - 1; axis >= 0; axis--) from = from * shape[axis]! + index[axis]!;
    out.set(data.subarray(from * size, (from + 1) * size), to);
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis]! === shape[axis]; axis--) index[axis] = 0;
  }
  return out;
}

function stringAt(bytes: Uint8Array, unicode: boolean): string | Uint8Array {
  if (unicode) {
    const points = new Uint32Array(bytes.slice().buffer);
    const end = points.findLastIndex((point) => point !== 0) + 1;
    return String.fromCodePoint(...points.subarray(0, end));
  }
  return textOrBytes(bytes.slice(0, bytes.findLastIndex((byte) => byte !== 0) + 1));
}

export function readNpy(bytes: Uint8Array, file: string): Tensor {
  const { descr, fortran, shape, start } = readHeader(bytes, file);
  const [, order, kind] = /^([<>|=])(\w+)$/.exec(descr) ?? [];
  const dtype = kind === undefined ? undefined : DTYPE_OF_KIND[kind];
  const stringLength = /^[SU](\d+)$/.exec(kind ?? '')?.[1];
  if (dtype === undefined && stringLength === undefined)
    throw new CommandError(`${file} holds elements of NumPy's type '${descr}', which no tensor has`);
  const unicode = kind!.startsWith('U');
  const size =
    dtype === undefined
      ? Number(stringLength) * (unicode ? 4 : 1)
      : typedArrayOf(dtype).BYTES_PER_ELEMENT * itemsPerElement(dtype);
  const length = size * sizeOf(shape);
  if (bytes.length - start < length)
    throw new CommandError(`${file} is cut off: ${bytes.length - start} of ${length} bytes are there`);
  let data: Uint8Array = bytes.slice(start, start + length);
  const width = unicode ? 4 : dtype === undefined ? 1 : size / itemsPerElement(dtype);
  if (order === '>') for (let i = 0; i < data.length; i += width) data.subarray(i, i + width).reverse();
  if (fortran && shape.length > 1) data = fromColumns(data, size, shape);
  if (dtype !== undefined) return new Tensor(dtype, shape, new (typedArrayOf(dtype))(data.buffer));
  const strings = Array.from({ length: sizeOf(shape) }, (_, i) =>
    stringAt(data.subarray(i * size, (i + 1) * size), unicode),
  );
  return new Tensor('string', shape, uniform(strings));
}

/** NumPy's type and bytes for the elements: bfloat16 as float32, strings padded with zeros. */
function elementsOf(tensor: Tensor): { descr: string; bytes: Uint8Array } {
  const { dtype, data } = tensor;
  const viewOf = (array: ArrayBufferView): Uint8Array =>
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  if (dtype === 'string') {
    const items = tensor.bytes();
    const width = Math.max(1, ...items.map((item) => item.length));
    const bytes = new Uint8Array(width * items.length);
    items.forEach((item, i) => bytes.set(item, i * width));
    return { descr: `|S${width}`, bytes };
  }
  if (dtype === 'bfloat16')
    return { descr: '<f4', bytes: viewOf(Float32Array.from(data as Uint16Array, bfloat16Value)) };
  const kind = KIND_OF_DTYPE.get(dtype);
  if (kind === undefined) throw new CommandError(`NumPy has no type for ${dtype}`);
  const bytes = viewOf(data as unknown as ArrayBufferView);
  return {
    descr: `${typedArrayOf(dtype).BYTES_PER_ELEMENT === 1 && !isComplexDType(dtype) ? '|' : '<'}${kind}`,
    bytes,
  };
}

export function writeNpy(tensor: Tensor): Uint8Array {
  const { descr, bytes } = elementsOf(tensor);
  const shape = tensor.shape.length === 1 ? `${tensor.shape[0]},` : tensor.shape.join(', ');
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`;
  /* The header ends at a multiple of 64 bytes. A shape has at most 254 sizes, so the longer header format is
   * never needed. */
  const header = text.padEnd(Math.ceil((10 + text.length + 1) / 64) * 64 - 11) + '\n';
  const out = new Uint8Array(10 + header.length + bytes.length);
  out.set([...MAGIC, 1, 0, header.length & 0xff, header.length >> 8]);
  out.set(encodeText(header), 10);
  out.set(bytes, 10 + header.length);
  return out;
}
