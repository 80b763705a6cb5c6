/** AttrValues: converts JavaScript values to TensorFlow's message and back. */
import { checkOptions, isPlainObject, shown } from '../base/arguments.js';
import { dtypeAttrFromNumber, dtypeNumber, isDTypeName } from '../tensor/dtypes.js';
import { InvalidArgumentError } from '../base/errors.js';
import { Field, MessageWriter, fieldsOf, floatOf, floatsOf, textOf, varintsOf } from './protobuf.js';
import { tensor } from '../tensor/convert.js';
import { Tensor, TensorLike, checkShape } from '../tensor/tensor.js';
import { ShapeLike, decodeShape, decodeTensor, writeShape, writeTensor } from './tensor-proto.js';
import { textOrBytes } from '../base/utf8.js';

export interface FuncAttr {
  name: string;
  attrs?: Record<string, AttrValue>;
}
/**
 * The value of an attr in JavaScript: types by name, integers beyond 2^53 as bigint, strings that are not
 * UTF-8 as bytes, the placeholders of function bodies as '$T'.
 */
export type AttrValue =
  | string
  | Uint8Array
  | number
  | bigint
  | boolean
  | Tensor
  | FuncAttr
  | (number | null)[]
  | null
  | AttrValue[];
/**
 * A function of the graph by name. JavaScript functions and parts of graphs have names too, but are not
 * accepted.
 */
export type FuncInput = FuncAttr & { readonly apply?: never; readonly graph?: never };
/** The accepted values for an attr, whose type decides how they are interpreted. */
export type AttrInput =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | TensorLike
  | FuncInput
  | ShapeLike
  | readonly AttrInput[];

/** Field numbers in AttrValue; its ListValue has the same, except for func. */
const FIELD = {
  list: 1,
  string: 2,
  int: 3,
  float: 4,
  bool: 5,
  type: 6,
  shape: 7,
  tensor: 8,
  placeholder: 9,
  func: 10,
} as const;
const LIST_FUNC = 9;

function writeFunc(writer: MessageWriter, value: unknown): void {
  const func = typeof value === 'string' ? { name: value } : (value as FuncAttr);
  if (typeof value !== 'string' && !isFuncAttr(value)) {
    const hint =
      typeof value === 'function'
        ? '; a function of JavaScript becomes one of the graph with graph.call, cond or whileLoop, or as text with tf.FunctionDef.parse'
        : '';
    throw new InvalidArgumentError(
      `a function attr is the name of a function, or { name, attrs }, not ${shown(value)}${hint}`,
    );
  }
  writer.bytes(1, func.name);
  for (const [key, attr] of Object.entries(func.attrs ?? {})) {
    const type =
      typeof attr === 'string' && attr.length > 1 && attr.startsWith('$') ? 'type' : guessAttrType(attr); // '$T': a placeholder
    writer.message(2, () => writer.bytes(1, key).message(2, () => writeAttr(writer, type, attr)));
  }
}

/** Whether it is `{ name, attrs }`, or a FunctionDef, which has a name too. */
function isFuncAttr(value: unknown): value is FuncAttr {
  if (Object.prototype.toString.call(value) === '[object FunctionDef]') return true;
  if (!isPlainObject(value) || typeof value.name !== 'string') return false;
  checkOptions<FuncAttr>('a function attr', value, { name: 'a string', attrs: 'an object' });
  return true;
}

/** The attr type of a value whose declaration is unknown: attrs of functions. */
export function guessAttrType(value: unknown): string {
  if (value instanceof Tensor) return 'tensor';
  if (value instanceof Uint8Array) return 'string';
  if (ArrayBuffer.isView(value)) return 'tensor';
  if (value === null) return 'shape';
  if (Array.isArray(value)) {
    if (value.some((item) => Array.isArray(item))) return 'list(shape)';
    if (value.includes(null)) return 'shape';
    return `list(${value.length ? guessAttrType(value[0]) : 'int'})`;
  }
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint' || Number.isInteger(value)) return 'int';
  if (typeof value === 'number') return 'float';
  if (typeof value === 'string') return isDTypeName(value) ? 'type' : 'string';
  if (isFuncAttr(value)) return 'func';
  throw new InvalidArgumentError(`${shown(value)} is no value of an attr`);
}

function writeTensorField(writer: MessageWriter, value: Tensor): void {
  value.check();
  writer.message(FIELD.tensor, () => writeTensor(writer, value));
}

function writeItem(writer: MessageWriter, type: string, value: unknown, inList: boolean): void {
  const refuse = (): never => {
    throw new InvalidArgumentError(
      `${Array.isArray(value) ? `[${value.map(shown)}]` : shown(value)} is no value of attr type '${type}'`,
    );
  };
  switch (type) {
    case 'string':
      if (typeof value !== 'string' && !(value instanceof Uint8Array)) refuse();
      writer.bytes(FIELD.string, value as string | Uint8Array);
      return;
    case 'int':
      if (typeof value !== 'bigint' && !Number.isInteger(value)) refuse();
      if (
        !Number.isSafeInteger(value) &&
        BigInt.asIntN(64, BigInt(value as bigint)) !== BigInt(value as bigint)
      )
        refuse();
      writer.varint(FIELD.int, value as number | bigint);
      return;
    case 'float':
      if (typeof value !== 'number') refuse();
      writer.float(FIELD.float, value as number);
      return;
    case 'bool':
      if (typeof value !== 'boolean') refuse();
      writer.varint(FIELD.bool, value ? 1 : 0);
      return;
    case 'type':
      if (typeof value !== 'string') refuse();
      writer.varint(FIELD.type, dtypeNumber(value as string));
      return;
    case 'shape':
      if (value !== null) checkShape(value);
      writer.message(FIELD.shape, () => writeShape(writer, value as ShapeLike));
      return;
    case 'tensor':
      writeTensorField(writer, value instanceof Tensor ? value : tensor(value as TensorLike));
      return;
    case 'func':
      writer.message(inList ? LIST_FUNC : FIELD.func, () => writeFunc(writer, value));
      return;
    default:
      refuse();
  }
}

function writeAttr(writer: MessageWriter, type: string, value: unknown): void {
  if (type !== 'string' && typeof value === 'string' && value.startsWith('$')) {
    writer.bytes(FIELD.placeholder, value.slice(1));
    return;
  }
  if (!type.startsWith('list(')) {
    writeItem(writer, type, value, false);
    return;
  }
  if (!Array.isArray(value))
    throw new InvalidArgumentError(`an attr of type '${type}' takes an array, not ${shown(value)}`);
  const itemType = type.slice('list('.length, -1);
  writer.message(FIELD.list, () => {
    for (const item of value) writeItem(writer, itemType, item, true);
  });
}

const attrWriter = new MessageWriter();

/**
 * The serialised AttrValue for an attr of that type ('int', 'list(type)', …). '$T' for a type is a
 * placeholder.
 */
export function encodeAttr(type: string, value: unknown): Uint8Array {
  attrWriter.clear();
  writeAttr(attrWriter, type, value);
  return attrWriter.finish();
}

const safeInt = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;

function decodeFunc(bytes: Uint8Array): FuncAttr {
  const func: FuncAttr = { name: '', attrs: {} };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) func.name = textOf(field);
    if (field.number !== 2) continue;
    let key = '';
    let value: AttrValue = null;
    for (const part of fieldsOf(field.bytes)) {
      if (part.number === 1) key = textOf(part);
      if (part.number === 2) value = decodeAttr(part.bytes);
    }
    func.attrs![key] = value;
  }
  return func;
}

/** All values of a field: several if numbers are packed. */
function decodeItems(field: Field, func: number): AttrValue[] {
  switch (field.number) {
    case FIELD.string:
      return [textOrBytes(field.bytes.slice())];
    case FIELD.int:
      return [...varintsOf(field)].map((value) => safeInt(BigInt.asIntN(64, value)));
    case FIELD.float:
      return field.wire === 5 ? [floatOf(field.bytes)] : [...floatsOf(field)];
    case FIELD.bool:
      return [...varintsOf(field)].map((value) => value !== 0n);
    case FIELD.type:
      return [...varintsOf(field)].map((value) => dtypeAttrFromNumber(Number(value)));
    case FIELD.shape:
      return [decodeShape(field.bytes)];
    case FIELD.tensor:
      return [decodeTensor(field.bytes)];
    case func:
      return [decodeFunc(field.bytes)];
    default:
      return [];
  }
}

/** The value in a serialised AttrValue; null when nothing is set. */
export function decodeAttr(bytes: Uint8Array): AttrValue {
  let value: AttrValue = null;
  for (const field of fieldsOf(bytes)) {
    if (field.number === FIELD.placeholder) value = `$${textOf(field)}`;
    else if (field.number === FIELD.list)
      value = [...fieldsOf(field.bytes)].flatMap((item) => decodeItems(item, LIST_FUNC));
    else value = decodeItems(field, FIELD.func)[0] ?? value;
  }
  return value;
}
