/** Makes constants of a GraphDef variables, so that a frozen graph can be trained. */
import { encodeAttr } from '../messages/attr-value.js';
import { InvalidArgumentError, NotFoundError } from '../base/errors.js';
import { Field, MessageWriter, fieldsOf, intOf, textOf } from '../messages/protobuf.js';
import { decodeShape } from '../messages/tensor-proto.js';
import { DType, dtypeFromNumber } from '../tensor/dtypes.js';
import { sizeOf } from '../tensor/tensor.js';

const GRAPH = { node: 1 } as const;
const NODE = { name: 1, op: 2, input: 3, device: 4, attr: 5 } as const;
const ATTR = { type: 6, tensor: 8 } as const;
const TENSOR = { shape: 2 } as const;

interface Node {
  readonly name: string;
  readonly op: string;
  readonly inputs: readonly string[];
  readonly fields: readonly Field[];
}

function readNode(bytes: Uint8Array): Node {
  const fields = [...fieldsOf(bytes)];
  const first = (number: number): string => {
    const field = fields.find((one) => one.number === number);
    return field ? textOf(field) : '';
  };
  const inputs = fields.filter(({ number }) => number === NODE.input).map(textOf);
  return { name: first(NODE.name), op: first(NODE.op), inputs, fields };
}

/** The serialised value of an attr. */
function attrBytes(node: Node, name: string): Uint8Array | undefined {
  for (const { number, bytes } of node.fields) {
    if (number !== NODE.attr) continue;
    const parts = [...fieldsOf(bytes)];
    const key = parts.find((part) => part.number === 1);
    if (key && textOf(key) === name) return parts.find((part) => part.number === 2)?.bytes;
  }
  return undefined;
}

const fieldOf = (bytes: Uint8Array | undefined, number: number): Field | undefined =>
  bytes && [...fieldsOf(bytes)].find((field) => field.number === number);

function dtypeOfConstant(node: Node): DType {
  const type = fieldOf(attrBytes(node, 'dtype'), ATTR.type);
  return dtypeFromNumber(type ? intOf(type) : 0);
}

function shapeOfConstant(node: Node): number[] {
  const tensor = fieldOf(attrBytes(node, 'value'), ATTR.tensor);
  const shape = fieldOf(tensor?.bytes, TENSOR.shape);
  return (shape ? (decodeShape(shape.bytes) ?? []) : []).map((size) => size ?? 0);
}

const FLOATS: ReadonlySet<string> = new Set(['float32', 'float64', 'float16', 'bfloat16']);
/** FusedBatchNorm takes the running mean and variance as its inputs 3 and 4. */
const isStatistic = ({ op }: Node, index: number): boolean =>
  /^(_?FusedBatchNorm)/.test(op) && (index === 3 || index === 4);

/** A constant with control inputs belongs to a branch or a loop, from which variables are read only through Enter. */
const isWeight = (node: Node): boolean =>
  node.op === 'Const' &&
  node.inputs.length === 0 &&
  FLOATS.has(dtypeOfConstant(node)) &&
  sizeOf(shapeOfConstant(node)) > 1;

const nameOfInput = (input: string): string => input.replace(/^\^/, '').replace(/:\d+$/, '');

/** The names of all weights: constants that only statistics are read from are none. */
function weightsOf(nodes: readonly Node[]): Set<string> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const source = (input: string): string => {
    const node = byName.get(nameOfInput(input));
    return node?.op === 'Identity' && node.inputs[0] !== undefined
      ? nameOfInput(node.inputs[0])
      : nameOfInput(input);
  };
  const statistics = new Set(
    nodes.flatMap((node) => node.inputs.filter((_, i) => isStatistic(node, i)).map(source)),
  );
  return new Set(
    nodes.filter((node) => isWeight(node) && !statistics.has(node.name)).map(({ name }) => name),
  );
}

/** The nodes with these names, which must be constants of floating-point numbers. */
function namedConstants(nodes: readonly Node[], names: readonly string[]): Set<string> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  for (const name of names) {
    const node = byName.get(name);
    if (!node) throw new NotFoundError(`option 'trainable': the GraphDef has no node '${name}'`);
    if (node.op !== 'Const' || node.inputs.length > 0 || !FLOATS.has(dtypeOfConstant(node)))
      throw new InvalidArgumentError(
        `option 'trainable': node '${name}' (${node.op}) is no constant of floating-point numbers without control inputs`,
      ).locate(name, node.op);
  }
  return new Set(names);
}

function node(
  name: string,
  op: string,
  inputs: readonly string[],
  device: string,
  attrs: object,
): Uint8Array {
  const writer = new MessageWriter().bytes(NODE.name, name).bytes(NODE.op, op);
  for (const input of inputs) writer.bytes(NODE.input, input);
  if (device !== '') writer.bytes(NODE.device, device);
  for (const [key, value] of Object.entries(attrs) as [string, Uint8Array][])
    writer.message(NODE.attr, () => writer.bytes(1, key).bytes(2, value));
  return writer.finish();
}

/**
 * In place of a constant, a read of a variable has the constant's name, so that nothing else changes. The
 * constant is the variable's initial value.
 */
function variableNodes(constant: Node): Uint8Array[] {
  const { name, inputs, fields } = constant;
  const device = fields.find(({ number }) => number === NODE.device);
  const where = device ? textOf(device) : '';
  const [handle, initial] = [`${name}/variable`, `${name}/initial_value`];
  const dtype = encodeAttr('type', dtypeOfConstant(constant));
  const value = new MessageWriter().bytes(NODE.name, initial);
  for (const field of fields) if (field.number !== NODE.name) value.raw(field);
  return [
    value.finish(),
    node(handle, 'VarHandleOp', [], where, {
      dtype,
      shape: encodeAttr('shape', shapeOfConstant(constant)),
      shared_name: encodeAttr('string', name),
    }),
    node(`${handle}/Assign`, 'AssignVariableOp', [handle, initial], where, { dtype }),
    node(name, 'ReadVariableOp', [handle, ...inputs], where, { dtype }),
  ];
}

/** The GraphDef with variables in place of constants: of all weights, or of those named. */
export function withVariables(graphDef: Uint8Array, trainable: true | readonly string[]): Uint8Array {
  const fields = [...fieldsOf(graphDef)].map((field) => ({
    field,
    node: field.number === GRAPH.node ? readNode(field.bytes) : undefined,
  }));
  const nodes = fields.flatMap((one) => one.node ?? []);
  const chosen = trainable === true ? weightsOf(nodes) : namedConstants(nodes, trainable);
  const writer = new MessageWriter();
  for (const { field, node: one } of fields) {
    if (one && chosen.has(one.name)) for (const bytes of variableNodes(one)) writer.bytes(GRAPH.node, bytes);
    else writer.raw(field);
  }
  return writer.finish();
}
