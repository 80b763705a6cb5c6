/** Makes constants of a GraphDef variables, so that a frozen graph can be trained. */
import { decodeAttr, encodeAttr } from '../messages/attr-value.js';
import { InvalidArgumentError, NotFoundError } from '../base/errors.js';
import { NodeDef, nodeOfInput } from '../messages/node-def.js';
import { Field, MessageWriter, fieldsOf } from '../messages/protobuf.js';
import { decodeShape } from '../messages/tensor-proto.js';
import type { DType } from '../tensor/dtypes.js';
import { sizeOf } from '../tensor/tensor.js';

const GRAPH = { node: 1 } as const;

function dtypeOfConstant({ attr }: NodeDef): DType {
  const dtype = attr.get('dtype');
  return dtype ? (decodeAttr(dtype) as DType) : 'float32';
}

const ATTR = { tensor: 8 } as const;
const TENSOR = { shape: 2 } as const;

const fieldOf = (bytes: Uint8Array | undefined, number: number): Field | undefined =>
  bytes && [...fieldsOf(bytes)].find((field) => field.number === number);

/** The value is not decoded: it may be large. */
function shapeOfConstant({ attr }: NodeDef): number[] {
  const tensor = fieldOf(attr.get('value'), ATTR.tensor);
  const shape = fieldOf(tensor?.bytes, TENSOR.shape);
  return (shape ? (decodeShape(shape.bytes) ?? []) : []).map((size) => size ?? 0);
}

const FLOATS: ReadonlySet<string> = new Set(['float32', 'float64', 'float16', 'bfloat16']);
/** FusedBatchNorm takes the running mean and variance as its inputs 3 and 4. */
const isStatistic = ({ op }: NodeDef, index: number): boolean =>
  /^(_?FusedBatchNorm)/.test(op) && (index === 3 || index === 4);

/** A constant with control inputs belongs to a branch or a loop, from which variables are read only through Enter. */
const isWeight = (node: NodeDef): boolean =>
  node.op === 'Const' &&
  node.input.length === 0 &&
  FLOATS.has(dtypeOfConstant(node)) &&
  sizeOf(shapeOfConstant(node)) > 1;

/** The names of all weights: constants that only statistics are read from are none. */
function weightsOf(nodes: readonly NodeDef[]): Set<string> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const source = (input: string): string => {
    const node = byName.get(nodeOfInput(input));
    return node?.op === 'Identity' && node.input[0] !== undefined
      ? nodeOfInput(node.input[0])
      : nodeOfInput(input);
  };
  const statistics = new Set(
    nodes.flatMap((node) => node.input.filter((_, i) => isStatistic(node, i)).map(source)),
  );
  return new Set(
    nodes.filter((node) => isWeight(node) && !statistics.has(node.name)).map(({ name }) => name),
  );
}

/** The nodes with these names, which must be constants of floating-point numbers. */
function namedConstants(nodes: readonly NodeDef[], names: readonly string[]): Set<string> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  for (const name of names) {
    const node = byName.get(name);
    if (!node) throw new NotFoundError(`option 'trainable': the GraphDef has no node '${name}'`);
    if (node.op !== 'Const' || node.input.length > 0 || !FLOATS.has(dtypeOfConstant(node)))
      throw new InvalidArgumentError(
        `option 'trainable': node '${name}' (${node.op}) is no constant of floating-point numbers without control inputs`,
      ).locate(name, node.op);
  }
  return new Set(names);
}

/**
 * In place of a constant, a read of a variable has the constant's name, so that nothing else changes. The
 * constant is the variable's initial value.
 */
function variableNodes(constant: NodeDef): Partial<NodeDef>[] {
  const { name, input, device } = constant;
  const [handle, initial] = [`${name}/variable`, `${name}/initial_value`];
  const dtype = encodeAttr('type', dtypeOfConstant(constant));
  const attr = new Map([['dtype', dtype]]);
  const shape = encodeAttr('shape', shapeOfConstant(constant));
  const variable = new Map([...attr, ['shape', shape], ['shared_name', encodeAttr('string', name)]]);
  return [
    { ...constant, name: initial },
    { name: handle, op: 'VarHandleOp', device, attr: variable },
    { name: `${handle}/Assign`, op: 'AssignVariableOp', input: [handle, initial], device, attr },
    { name, op: 'ReadVariableOp', input: [handle, ...input], device, attr },
  ];
}

/** The GraphDef with variables in place of constants: of all weights, or of those named. */
export function withVariables(graphDef: Uint8Array, trainable: true | readonly string[]): Uint8Array {
  const fields = [...fieldsOf(graphDef)].map((field) => ({
    field,
    node: field.number === GRAPH.node ? NodeDef.decode(field.bytes) : undefined,
  }));
  const nodes = fields.flatMap((one) => one.node ?? []);
  const chosen = trainable === true ? weightsOf(nodes) : namedConstants(nodes, trainable);
  const writer = new MessageWriter();
  for (const { field, node: one } of fields) {
    if (one && chosen.has(one.name))
      for (const made of variableNodes(one)) writer.bytes(GRAPH.node, NodeDef.encode(made));
    else writer.raw(field);
  }
  return writer.finish();
}
