/** MessageType: a protobuf message declared by its fields, which encodes and decodes plain objects. */
import { Field, MessageWriter, fieldsOf, fixed64Of, intOf, signedOf, textOf, varintsOf } from './protobuf.js';
import { OutOfLine, decodeTensor, writeTensor } from './tensor-proto.js';
import type { Tensor } from '../tensor/tensor.js';

/** The values of a kind of field. */
export interface Kind<T> {
  /** Writes nothing for a value that protobuf omits. */
  write(writer: MessageWriter, number: number, value: T, outOfLine?: OutOfLine): void;
  /** The value after another occurrence of the field; `before` is the value so far, and may be changed. */
  read(field: Field, before: T, outOfLine: readonly ArrayBuffer[]): T;
  /** The value of a field that is absent; a list or map of its own for each message. */
  absent(): T;
}

export const TEXT: Kind<string> = {
  write: (writer, number, value) => void (value !== '' && writer.bytes(number, value)),
  read: (field) => textOf(field),
  absent: () => '',
};

/** A message that is not decoded: part of the decoded bytes, or undefined if it is absent. */
export const RAW: Kind<Uint8Array | undefined> = {
  write: (writer, number, value) => void (value && writer.bytes(number, value)),
  read: ({ bytes }) => bytes,
  absent: () => undefined,
};

export const BOOL: Kind<boolean> = {
  write: (writer, number, value) => void (value && writer.varint(number, 1)),
  read: ({ value }) => value !== 0n,
  absent: () => false,
};

/** int32 and enums. */
export const INT32: Kind<number> = {
  write: (writer, number, value) => void (value !== 0 && writer.varint(number, value)),
  read: (field) => intOf(field),
  absent: () => 0,
};

/** Repeated int32, packed or not; written packed, as proto3 does. */
export const INT32_LIST: Kind<readonly number[]> = {
  write(writer, number, values) {
    if (values.length > 0) writer.bytes(number, packed(values));
  },
  read: (field, before) => [
    ...before,
    ...Array.from(varintsOf(field), (value) => Number(BigInt.asIntN(32, value))),
  ],
  absent: () => [],
};

/** Numbers without tags. */
function packed(values: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (const value of values) {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
  }
  return Uint8Array.from(bytes);
}

export const INT64: Kind<bigint> = {
  write: (writer, number, value) => void (value !== 0n && writer.varint(number, value)),
  read: (field) => signedOf(field),
  absent: () => 0n,
};

export const FIXED64: Kind<bigint> = {
  write: (writer, number, value) => void (value !== 0n && writer.fixed64(number, value)),
  read: (field) => fixed64Of(field),
  absent: () => 0n,
};

/** TensorProto. */
export const TENSOR: Kind<Tensor | undefined> = {
  write(writer, number, value, outOfLine) {
    if (value) writer.message(number, () => writeTensor(writer, value, outOfLine));
  },
  read: ({ bytes }, _, outOfLine) => decodeTensor(bytes, outOfLine),
  absent: () => undefined,
};

export const list = <T>(kind: Kind<T>): Kind<readonly NonNullable<T>[]> => ({
  write(writer, number, values, outOfLine) {
    for (const value of values) {
      /* Items are written even if the kind omits them: '' of texts. */
      if (value === '') writer.bytes(number, '');
      else kind.write(writer, number, value, outOfLine);
    }
  },
  read(field, before, outOfLine) {
    (before as NonNullable<T>[]).push(kind.read(field, kind.absent(), outOfLine) as NonNullable<T>);
    return before;
  },
  absent: () => [],
});

/** A nested message; undefined if it is absent. */
export const message = <F extends Fields>(type: MessageType<F>): Kind<Partial<ValuesOf<F>> | undefined> => ({
  write(writer, number, value, outOfLine) {
    if (value) writer.message(number, () => type.write(writer, value, outOfLine));
  },
  read: ({ bytes }, _, outOfLine) => type.decode(bytes, outOfLine),
  absent: () => undefined,
});

/** A map with texts as keys. */
export const map = <T>(kind: Kind<T>): Kind<ReadonlyMap<string, NonNullable<T>>> => ({
  write(writer, number, values, outOfLine) {
    for (const [key, value] of values)
      writer.message(number, () => {
        TEXT.write(writer, 1, key);
        kind.write(writer, 2, value, outOfLine);
      });
  },
  read({ bytes }, before, outOfLine) {
    let [key, value] = ['', kind.absent()];
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) key = textOf(field);
      else if (field.number === 2) value = kind.read(field, value, outOfLine);
    }
    return (before as Map<string, NonNullable<T>>).set(key, value as NonNullable<T>);
  },
  absent: () => new Map(),
});

/** Number and kind of each field, in the order of the numbers. */
export interface Fields {
  readonly [name: string]: readonly [number: number, kind: Kind<unknown>];
}

export type ValuesOf<F extends Fields> = {
  readonly [K in keyof F]: F[K][1] extends Kind<infer T> ? T : never;
};

/** The values of a type of messages. */
export type MessageOf<M> = M extends MessageType<infer F> ? ValuesOf<F> : never;

const writers: MessageWriter[] = [];

export class MessageType<F extends Fields> {
  private readonly byNumber: ReadonlyMap<number, readonly [name: string, kind: Kind<unknown>]>;

  constructor(private readonly fields: F) {
    this.byNumber = new Map(Object.entries(fields).map(([name, [number, kind]]) => [number, [name, kind]]));
  }

  /** @internal */
  write(writer: MessageWriter, values: Partial<ValuesOf<F>>, outOfLine?: OutOfLine): void {
    for (const name in this.fields) {
      const value = values[name];
      const [number, kind] = this.fields[name]!;
      if (value !== undefined) kind.write(writer, number, value, outOfLine);
    }
  }

  /** The message; missing values are absent fields. */
  encode(values: Partial<ValuesOf<F>>, outOfLine?: OutOfLine): Uint8Array {
    const writer = writers.pop() ?? new MessageWriter();
    this.write(writer, values, outOfLine);
    const bytes = writer.finish();
    writers.push(writer);
    return bytes;
  }

  /** All fields; unknown ones are ignored. Malformed bytes throw. */
  decode(bytes: Uint8Array, outOfLine: readonly ArrayBuffer[] = []): ValuesOf<F> {
    const values: Record<string, unknown> = {};
    for (const [name, [, kind]] of Object.entries(this.fields)) values[name] = kind.absent();
    for (const field of fieldsOf(bytes)) {
      const [name, kind] = this.byNumber.get(field.number) ?? [];
      if (name !== undefined) values[name] = kind!.read(field, values[name], outOfLine);
    }
    return values as ValuesOf<F>;
  }
}
