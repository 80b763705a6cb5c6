/** TensorShapeProtos and TensorProtos: converts shapes and tensors to TensorFlow's messages and back. */
import {
  DType,
  TypedArray,
  dtypeFromNumber,
  dtypeNumber,
  itemsPerElement,
  typedArrayOf,
} from '../tensor/dtypes.js';
import { InvalidArgumentError, ResourceExhaustedError } from '../base/errors.js';
import { Field, MessageWriter, fieldsOf, floatsOf, intOf, varintsOf } from './protobuf.js';
import { Tensor, sizeOf } from '../tensor/tensor.js';
import { textOrBytes, uniform } from '../base/utf8.js';

/** null: unknown rank; null inside: unknown size. */
export type ShapeLike = readonly (number | null)[] | null;

export function writeShape(writer: MessageWriter, shape: ShapeLike): void {
  if (shape === null) writer.varint(3, 1);
  else for (const size of shape) writer.message(2, () => writer.varint(1, size ?? -1));
}

export function decodeShape(bytes: Uint8Array): (number | null)[] | null {
  const shape: (number | null)[] = [];
  for (const field of fieldsOf(bytes)) {
    if (field.number === 3 && field.value !== 0n) return null;
    if (field.number !== 2) continue;
    let size = 0;
    for (const part of fieldsOf(field.bytes)) if (part.number === 1) size = intOf(part);
    shape.push(size < 0 ? null : size);
  }
  return shape;
}

/**
 * Contents of large tensors, outside of the bytes of their message: buffers can be transferred to another
 * thread without a copy. A message without them is TensorFlow's own.
 */
export class OutOfLine {
  readonly buffers: ArrayBuffer[] = [];

  /** Takes over the array's buffer, or a copy if it holds more than the array. Returns the index. */
  add(data: TypedArray): number {
    const whole = data.buffer instanceof ArrayBuffer && data.buffer.byteLength === data.byteLength;
    const buffer = (whole ? data : data.slice()).buffer as ArrayBuffer;
    const known = this.buffers.indexOf(buffer);
    return known < 0 ? this.buffers.push(buffer) - 1 : known;
  }
}

/** Contents that are shorter, in bytes, stay in their message: a transfer costs more than a copy. */
const SHORT = 4096;

/** `outOfLine` receives the content of a large tensor in place of the message. */
export function writeTensor(
  writer: MessageWriter,
  { dtype, shape, data }: Tensor,
  outOfLine?: OutOfLine,
): void {
  writer.varint(TENSOR.dtype, dtypeNumber(dtype)).message(TENSOR.shape, () => writeShape(writer, shape));
  if (Array.isArray(data)) for (const text of data) writer.bytes(TENSOR.string, text);
  else if (outOfLine && data.byteLength >= SHORT) writer.varint(TENSOR.outOfLine, outOfLine.add(data));
  else writer.bytes(TENSOR.content, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

/** The relevant fields of a TensorProto; those from 5 on hold values of one kind each. */
const TENSOR = {
  dtype: 1,
  shape: 2,
  content: 4,
  float: 5,
  double: 6,
  string: 8,
  scomplex: 9,
  dcomplex: 12,
  resource: 14,
  variant: 15,
  float8: 18,
  /** Ours: the index of the content among the buffers of an OutOfLine. */
  outOfLine: 50_000,
} as const;

/** The typed *_val fields, for tensors without raw content. */
function readValues(field: Field): Iterable<number | bigint> {
  switch (field.number) {
    case TENSOR.float:
    case TENSOR.scomplex:
      return floatsOf(field);
    case TENSOR.double:
    case TENSOR.dcomplex:
      return new Float64Array(field.bytes.slice().buffer);
    case TENSOR.float8:
      return field.bytes;
    case TENSOR.resource:
    case TENSOR.variant:
      return [];
    default:
      return [...varintsOf(field)].map((value) => BigInt.asIntN(64, value));
  }
}

/** The shape of a value. */
function wholeShape(bytes: Uint8Array): number[] {
  const shape = decodeShape(bytes);
  if (!shape || shape.includes(null))
    throw new InvalidArgumentError(
      'malformed protobuf: the shape of a tensor has a size below 0, or no rank',
    );
  return shape as number[];
}

/** The arrays of the result are copies, except that out-of-line contents are used as they are. */
export function decodeTensor(bytes: Uint8Array, outOfLine: readonly ArrayBuffer[] = []): Tensor {
  let dtype: DType = 'float32';
  let shape: number[] = [];
  let content: Uint8Array | undefined;
  let buffer: ArrayBuffer | undefined;
  const values: (number | bigint)[] = [];
  const strings: (string | Uint8Array)[] = [];
  for (const field of fieldsOf(bytes)) {
    if (field.number === TENSOR.dtype) dtype = dtypeFromNumber(intOf(field));
    else if (field.number === TENSOR.shape) shape = wholeShape(field.bytes);
    else if (field.number === TENSOR.content) content = field.bytes;
    else if (field.number === TENSOR.outOfLine) buffer = outOfLine[intOf(field)];
    else if (field.number === TENSOR.string) strings.push(textOrBytes(field.bytes.slice()));
    else if (field.number >= TENSOR.float) for (const value of readValues(field)) values.push(value);
  }
  const count = sizeOf(shape);
  try {
    if (dtype === 'resource' || dtype === 'variant') return new Tensor(dtype, shape, []); // messages cannot
    // contain objects
    if (dtype === 'string')
      return new Tensor(
        dtype,
        shape,
        uniform(
          content?.length
            ? rawStrings(content, count)
            : Array.from({ length: count }, (_, i) => strings[Math.min(i, strings.length - 1)] ?? ''),
        ),
      );
    return new Tensor(
      dtype,
      shape,
      buffer
        ? new (typedArrayOf(dtype))(buffer)
        : content?.length
          ? rawElements(dtype, count, content)
          : expanded(dtype, count, values),
    );
  } catch (error) {
    if (error instanceof RangeError)
      throw new ResourceExhaustedError(`OOM when allocating tensor with shape[${shape}] and type ${dtype}`);
    throw error;
  }
}

/** The lengths of all strings as varints, and then their bytes. */
function rawStrings(content: Uint8Array, count: number): (string | Uint8Array)[] {
  const malformed = () => new InvalidArgumentError('malformed protobuf: the content of a tensor of strings');
  const lengths: number[] = [];
  let at = 0;
  while (lengths.length < count) {
    let length = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = content[at++];
      if (byte === undefined) throw malformed();
      length += (byte & 0x7f) * unit;
      if (byte < 0x80) break;
    }
    lengths.push(length);
  }
  return lengths.map((length) => {
    at += length;
    if (at > content.length) throw malformed();
    return textOrBytes(content.slice(at - length, at));
  });
}

function rawElements(dtype: DType, count: number, content: Uint8Array): TypedArray {
  const Data = typedArrayOf(dtype);
  if (content.length !== count * itemsPerElement(dtype) * Data.BYTES_PER_ELEMENT) {
    throw new InvalidArgumentError(
      `a tensor of ${count} elements of ${dtype} has ${content.length} bytes of content`,
    );
  }
  return new Data(content.slice().buffer);
}

/** The last element is repeated; without elements all are 0. */
function expanded(dtype: DType, count: number, values: readonly (number | bigint)[]): TypedArray {
  const items = itemsPerElement(dtype);
  const data = new (typedArrayOf(dtype))(count * items);
  const big = data instanceof BigInt64Array || data instanceof BigUint64Array;
  for (let i = 0; i < data.length; i++) {
    const value = values[i < values.length ? i : values.length - items + (i % items)] ?? 0;
    (data as { [i: number]: unknown })[i] = big ? BigInt(value) : Number(value);
  }
  return data;
}
