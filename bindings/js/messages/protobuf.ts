/** The protobuf wire format, as far as the bindings need it: AttrValues, OpDefs, GraphDefs. */
import { InvalidArgumentError } from '../base/errors.js';
import { decodeText, encodeText, putAscii } from '../base/utf8.js';

/** One field: a varint or fixed value as bigint or number, or the bytes of a length-delimited one. */
export interface Field {
  readonly number: number;
  readonly wire: number;
  readonly value: bigint;
  readonly bytes: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);

/** Iterates over the fields of a message. Malformed bytes throw. */
export function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new InvalidArgumentError('malformed protobuf: a number does not end');
  };
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - at)
      throw new InvalidArgumentError('malformed protobuf: a field is longer than its message');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) yield { number, wire, value: varint(), bytes: NO_BYTES };
    else if (wire === 2) yield { number, wire, value: 0n, bytes: take(Number(varint())) };
    else if (wire === 1 || wire === 5) yield { number, wire, value: 0n, bytes: take(wire === 1 ? 8 : 4) };
    else throw new InvalidArgumentError(`malformed protobuf: wire type ${wire}`);
  }
}

export const textOf = (field: Field): string => decodeText(field.bytes);
export const signedOf = (field: Field): bigint => BigInt.asIntN(64, field.value);
export const intOf = (field: Field): number => Number(signedOf(field));
export const fixed64Of = ({ bytes }: Field): bigint =>
  new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
export const floatOf = (bytes: Uint8Array): number =>
  new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true);

/** Repeated numbers are stored one by one or packed. */
export function* varintsOf(field: Field): Generator<bigint> {
  if (field.wire === 0) {
    yield field.value;
    return;
  }
  let value = 0n;
  let shift = 0n;
  for (const byte of field.bytes) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte < 0x80) {
      yield BigInt.asUintN(64, value);
      value = shift = 0n;
    }
  }
}

export function* floatsOf(field: Field): Generator<number> {
  for (let i = 0; i + 4 <= field.bytes.length; i += 4) yield floatOf(field.bytes.subarray(i));
}

/** Builds a message field by field. */
export class MessageWriter {
  private buffer = new Uint8Array(64);
  private length = 0;

  private reserve(size: number): void {
    if (this.length + size <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(2 * this.buffer.length, this.length + size + SPARE));
    larger.set(this.buffer.subarray(0, this.length));
    this.buffer = larger;
  }

  private putVarint(value: bigint | number): void {
    this.reserve(10);
    if (typeof value === 'number' && value >= 0 && value < 2 ** 31) {
      for (; value > 0x7f; value >>>= 7) this.buffer[this.length++] = (value & 0x7f) | 0x80;
      this.buffer[this.length++] = value;
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) this.buffer[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.buffer[this.length++] = Number(rest);
  }

  private putBytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  varint(number: number, value: bigint | number): this {
    this.putVarint(number * 8);
    this.putVarint(value);
    return this;
  }

  float(number: number, value: number): this {
    this.putVarint(number * 8 + 5);
    this.putBytes(new Uint8Array(new Float32Array([value]).buffer));
    return this;
  }

  fixed64(number: number, value: bigint): this {
    this.putVarint(number * 8 + 1);
    this.putBytes(new Uint8Array(new BigUint64Array([value]).buffer));
    return this;
  }

  bytes(number: number, value: Uint8Array | string): this {
    this.putVarint(number * 8 + 2);
    if (typeof value === 'string') {
      /* The length comes first; for ASCII it is known in advance. */
      this.reserve(value.length + 10);
      const start = this.length;
      this.putVarint(value.length);
      if (putAscii(value, this.buffer, this.length)) {
        this.length += value.length;
        return this;
      }
      this.length = start;
      value = encodeText(value);
    }
    this.putVarint(value.length);
    this.putBytes(value);
    return this;
  }

  /** A message as a field. */
  message(number: number, fill: (writer: this) => void): this {
    this.putVarint(number * 8 + 2);
    this.reserve(1);
    const start = this.length++;
    fill(this);
    const size = this.length - start - 1;
    if (size < 0x80) {
      this.buffer[start] = size;
      return this;
    }
    /* Its length takes more than the one reserved byte, so the content is moved. */
    const more = Math.ceil((32 - Math.clz32(size)) / 7) - 1;
    this.reserve(more);
    this.buffer.copyWithin(start + 1 + more, start + 1, this.length);
    this.length = start;
    this.putVarint(size);
    this.length = start + 1 + more + size;
    return this;
  }

  /** A copy of a parsed field. */
  raw(field: Field): this {
    if (field.wire === 0) return this.varint(field.number, field.value);
    if (field.wire === 2) return this.bytes(field.number, field.bytes);
    this.putVarint(field.number * 8 + field.wire);
    this.putBytes(field.bytes);
    return this;
  }

  /** The message. The writer is empty afterwards. */
  finish(): Uint8Array {
    const { buffer, length } = this;
    /* A large buffer is given away below, so that it need not be copied unless much of it is unused. */
    const isFull = buffer.length > LARGE && buffer.length - length < length / 8;
    const bytes = isFull ? buffer.subarray(0, length) : buffer.slice(0, length);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.length = 0;
    if (this.buffer.length > LARGE) this.buffer = new Uint8Array(64);
  }
}

/** Left free behind a long field, so that the lengths of the messages around it need no larger buffer. */
const SPARE = 64;
/** A writer frees larger buffers after each message. */
const LARGE = 4096;
