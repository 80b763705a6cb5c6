/** GraphDefs in the JSON form of protobuf, as TensorFlow.js stores them: converts them to bytes. */
import { isPlainObject, shown } from '../base/arguments.js';
import { InvalidArgumentError } from '../base/errors.js';
import { lowBytes } from '../base/utf8.js';
import { MessageWriter } from '../messages/protobuf.js';
import { dtypeNumber, isDTypeName } from '../tensor/dtypes.js';

/** Writes one value of JSON as a field of a message, which is inside of `depth` others. */
type FieldWriter = (writer: MessageWriter, number: number, value: unknown, depth: number) => void;
/** The fields of a message, by their names in JSON. */
type JsonMessage = Readonly<Record<string, readonly [number: number, write: FieldWriter]>>;

const refuse = (value: unknown, what: string): InvalidArgumentError =>
  new InvalidArgumentError(`the model's JSON has ${shown(value)} where ${what} belongs`);

const text: FieldWriter = (writer, number, value) => {
  if (typeof value !== 'string') throw refuse(value, 'a text');
  writer.bytes(number, value);
};

export function bytesOfBase64(value: unknown): Uint8Array {
  if (typeof value !== 'string') throw refuse(value, 'base64');
  let binary: string;
  try {
    binary = atob(value.replace(/-/g, '+').replace(/_/g, '/'));
  } catch {
    throw refuse(value, 'base64');
  }
  return lowBytes(binary);
}

/** In place of base64 there may be bytes, which JSON does not have. */
const base64: FieldWriter = (writer, number, value) =>
  void writer.bytes(number, value instanceof Uint8Array ? value : bytesOfBase64(value));

/** 64-bit integers are texts. */
const int: FieldWriter = (writer, number, value) => {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) writer.varint(number, BigInt(value));
  else if (Number.isInteger(value)) writer.varint(number, value as number);
  else throw refuse(value, 'an integer');
};

/** 'NaN' and 'Infinity' are texts. */
const numberOf = (value: unknown): number => {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && /^-?(NaN|Infinity|[\d.]+(e[+-]?\d+)?)$/i.test(value)) return Number(value);
  throw refuse(value, 'a number');
};
const float: FieldWriter = (writer, number, value) => void writer.float(number, numberOf(value));
const double: FieldWriter = (writer, number, value) =>
  void writer.fixed64(number, new BigUint64Array(Float64Array.of(numberOf(value)).buffer)[0]!);

const bool: FieldWriter = (writer, number, value) => {
  if (typeof value !== 'boolean') throw refuse(value, 'true or false');
  writer.varint(number, value ? 1 : 0);
};

/** 'DT_FLOAT', or the number. */
export function dtypeNumberOfJson(value: unknown): number {
  if (Number.isInteger(value)) return value as number;
  if (value === 'DT_INVALID') return 0;
  if (typeof value !== 'string' || !isDTypeName(value)) throw refuse(value, 'a type');
  return dtypeNumber(value);
}

const dtype: FieldWriter = (writer, number, value) => void writer.varint(number, dtypeNumberOfJson(value));

const list =
  (write: FieldWriter): FieldWriter =>
  (writer, number, values, depth) => {
    if (!Array.isArray(values)) throw refuse(values, 'a list');
    for (const value of values) write(writer, number, value, depth);
  };

const MOST_NESTED = 64;

/** `fields` may be a function, because messages contain each other. */
const message =
  (fields: JsonMessage | (() => JsonMessage)): FieldWriter =>
  (writer, number, value, depth) => {
    if (!isPlainObject(value)) throw refuse(value, 'an object');
    if (depth >= MOST_NESTED) throw new InvalidArgumentError("the model's JSON is nested too deeply");
    writer.message(number, () =>
      writeFields(writer, typeof fields === 'function' ? fields() : fields, value, depth + 1),
    );
  };

const map =
  (key: FieldWriter, value: FieldWriter): FieldWriter =>
  (writer, number, entries, depth) => {
    if (!isPlainObject(entries)) throw refuse(entries, 'an object');
    for (const [name, entry] of Object.entries(entries))
      writer.message(number, () => {
        key(writer, 1, name, depth);
        value(writer, 2, entry, depth);
      });
  };

/** Fields that are not known are left out. Names may also be written as in the .proto: 'node_def'. */
function writeFields(
  writer: MessageWriter,
  fields: JsonMessage,
  values: Record<string, unknown>,
  depth: number,
): void {
  for (const [name, value] of Object.entries(values)) {
    const field = fields[name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())];
    if (field && value !== null && value !== undefined) field[1](writer, field[0], value, depth);
  }
}

const DIM: JsonMessage = { size: [1, int], name: [2, text] };
const SHAPE: JsonMessage = { dim: [2, list(message(DIM))], unknownRank: [3, bool] };

const TENSOR: JsonMessage = {
  dtype: [1, dtype],
  tensorShape: [2, message(SHAPE)],
  versionNumber: [3, int],
  tensorContent: [4, base64],
  floatVal: [5, list(float)],
  doubleVal: [6, list(double)],
  intVal: [7, list(int)],
  stringVal: [8, list(base64)],
  scomplexVal: [9, list(float)],
  int64Val: [10, list(int)],
  boolVal: [11, list(bool)],
  dcomplexVal: [12, list(double)],
  halfVal: [13, list(int)],
  uint32Val: [16, list(int)],
  uint64Val: [17, list(int)],
};

const FUNC: JsonMessage = {
  name: [1, text],
  attr: [
    2,
    map(
      text,
      message(() => ATTR),
    ),
  ],
};

const LIST: JsonMessage = {
  s: [2, list(base64)],
  i: [3, list(int)],
  f: [4, list(float)],
  b: [5, list(bool)],
  type: [6, list(dtype)],
  shape: [7, list(message(SHAPE))],
  tensor: [8, list(message(TENSOR))],
  func: [9, list(message(FUNC))],
};

const ATTR: JsonMessage = {
  list: [1, message(LIST)],
  s: [2, base64],
  i: [3, int],
  f: [4, float],
  b: [5, bool],
  type: [6, dtype],
  shape: [7, message(SHAPE)],
  tensor: [8, message(TENSOR)],
  placeholder: [9, text],
  func: [10, message(FUNC)],
};

const NODE: JsonMessage = {
  name: [1, text],
  op: [2, text],
  input: [3, list(text)],
  device: [4, text],
  attr: [5, map(text, message(ATTR))],
};

const ARG: JsonMessage = {
  name: [1, text],
  description: [2, text],
  type: [3, dtype],
  typeAttr: [4, text],
  numberAttr: [5, text],
  typeListAttr: [6, text],
  isRef: [16, bool],
};

const ATTR_DEF: JsonMessage = {
  name: [1, text],
  type: [2, text],
  defaultValue: [3, message(ATTR)],
  description: [4, text],
  hasMinimum: [5, bool],
  minimum: [6, int],
  allowedValues: [7, message(ATTR)],
};

const SIGNATURE: JsonMessage = {
  name: [1, text],
  inputArg: [2, list(message(ARG))],
  outputArg: [3, list(message(ARG))],
  attr: [4, list(message(ATTR_DEF))],
  isStateful: [17, bool],
  controlOutput: [20, list(text)],
};

const ARG_ATTRS: JsonMessage = { attr: [1, map(text, message(ATTR))] };

const FUNCTION: JsonMessage = {
  signature: [1, message(SIGNATURE)],
  nodeDef: [3, list(message(NODE))],
  ret: [4, map(text, text)],
  attr: [5, map(text, message(ATTR))],
  controlRet: [6, map(text, text)],
  argAttr: [7, map(int, message(ARG_ATTRS))],
};

const GRADIENT: JsonMessage = { functionName: [1, text], gradientFunc: [2, text] };
const LIBRARY: JsonMessage = {
  function: [1, list(message(FUNCTION))],
  gradient: [2, list(message(GRADIENT))],
};
const VERSIONS: JsonMessage = { producer: [1, int], minConsumer: [2, int], badConsumers: [3, list(int)] };

const GRAPH: JsonMessage = {
  node: [1, list(message(NODE))],
  library: [2, message(LIBRARY)],
  versions: [4, message(VERSIONS)],
};

const TENSOR_INFO: JsonMessage = { name: [1, text], dtype: [2, dtype], tensorShape: [3, message(SHAPE)] };
const SIGNATURE_DEF: JsonMessage = {
  inputs: [1, map(text, message(TENSOR_INFO))],
  outputs: [2, map(text, message(TENSOR_INFO))],
  methodName: [3, text],
};

const encode = (fields: JsonMessage, value: Record<string, unknown>): Uint8Array => {
  const writer = new MessageWriter();
  writeFields(writer, fields, value, 0);
  return writer.finish();
};

/** A serialised GraphDef, node by node, because nodes may have large constants. */
export function* graphDefPieces(graph: Readonly<Record<string, unknown>>): Generator<Uint8Array> {
  const { node: nodes = [], ...rest } = graph;
  if (!Array.isArray(nodes)) throw refuse(nodes, 'a list');
  for (const node of nodes as unknown[]) yield encode(GRAPH, { node: [node] });
  yield encode(GRAPH, rest);
}
/** A serialised SignatureDef. */
export const signatureDefOfJson = (signature: Record<string, unknown>): Uint8Array =>
  encode(SIGNATURE_DEF, signature);
