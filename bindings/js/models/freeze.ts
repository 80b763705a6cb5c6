/**
 * Freezing: converts a trained graph to a GraphDef that needs no session, by replacing variables by
 * constants.
 */
import { checkList, shown } from '../base/arguments.js';
import { encodeAttr } from '../messages/attr-value.js';
import { FailedPreconditionError, InvalidArgumentError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import { Input, Output, checkInput, valueOf } from '../graph/operation.js';
import { NodeDef, nodeOfInput } from '../messages/node-def.js';
import { Field, MessageWriter, fieldsOf } from '../messages/protobuf.js';
import { Session } from '../session/session.js';
import type { Tensor } from '../tensor/tensor.js';

const GRAPH = { node: 1 } as const;

/** Reference variables are read by the consumers of their value. */
const isReference = (node: NodeDef) => node.op === 'VariableV2' || node.op === 'Variable';
const isRead = (node: NodeDef) => node.op === 'ReadVariableOp' || isReference(node);

const takesReferences = (graph: Graph, node: NodeDef) =>
  graph.findOpDef(node.op)?.input_arg.some((arg) => arg.is_ref) ?? false;

/** The nodes that `roots` need, stopping at reads of variables. */
function neededBy(
  graph: Graph,
  roots: readonly string[],
  nodes: ReadonlyMap<string, NodeDef>,
): Map<string, NodeDef> {
  const needed = new Map<string, NodeDef>();
  const stack = [...roots];
  for (let name; (name = stack.pop()) !== undefined; ) {
    const node = nodes.get(name)!;
    if (needed.has(name)) continue;
    needed.set(name, node);
    if (isRead(node)) continue;
    const handle = takesReferences(graph, node)
      ? node.input[0]
      : node.input.find((input) => nodes.get(nodeOfInput(input))!.op === 'VarHandleOp');
    if (handle !== undefined) {
      throw new FailedPreconditionError(
        `the graph cannot be frozen: '${name}' (${node.op}) does more with variable '${handle}' than read it`,
      ).locate(name, node.op);
    }
    stack.push(...node.input.map(nodeOfInput));
  }
  return needed;
}

/** Another read of the same variable as `read`, without dependencies. */
function plainRead(graph: Graph, read: NodeDef, nodes: ReadonlyMap<string, NodeDef>): Output {
  if (isReference(read)) return graph.output(read.name);
  const handle = read.input[0]!;
  const isPlain = (node: NodeDef) =>
    node.op === 'ReadVariableOp' && node.input[0] === handle && node.input.length === 1;
  const plain = isPlain(read) ? read : [...nodes.values()].find(isPlain);
  if (plain) return graph.output(plain.name);
  const dtype = graph.output(read.name).dtype;
  return graph.op('ReadVariableOp', [graph.output(handle)], { attrs: { dtype } }).output(0);
}

const constantNode = (name: string, value: Tensor): Partial<NodeDef> => ({
  name,
  op: 'Const',
  attr: new Map([
    ['dtype', encodeAttr('type', value.dtype)],
    ['value', encodeAttr('tensor', value)],
  ]),
});

/**
 * The part of a session's graph that `outputs` need, as a serialised GraphDef in which each read of a
 * variable is a constant with the variable's current value. Names stay the same, so the same feeds and
 * fetches work on a graph that imports it.
 */
export async function freeze(session: Session, outputs: readonly (Input | string)[]): Promise<Uint8Array> {
  if (!(session instanceof Session))
    throw new InvalidArgumentError(
      `freeze takes a session and its outputs, freeze(session, [y]), not ${shown(session)}`,
    );
  const { graph } = session;
  checkList('the outputs of freeze', outputs);
  if (outputs.length === 0) throw new InvalidArgumentError('freeze needs at least one output');
  const roots = Array.from(outputs, (output, i) => {
    if (typeof output === 'string') return graph.output(output).operation.name;
    if (output === null) throw graph.nullError(`output ${i} of freeze is no Output`);
    checkInput(output, `output ${i} of freeze`);
    return graph.ownOperation(valueOf(output).operation).name;
  });
  const fields: { field: Field; node: NodeDef | undefined }[] = [];
  for (const field of fieldsOf(graph.toGraphDef()))
    fields.push({ field, node: field.number === GRAPH.node ? NodeDef.decode(field.bytes) : undefined });
  const nodes = new Map(fields.flatMap(({ node }) => (node ? [[node.name, node]] : [])));
  const needed = neededBy(graph, roots, nodes);
  const reads = [...needed.values()].filter(isRead);
  const values = await session.run(reads.map((read) => plainRead(graph, read, nodes)));
  const constants = new Map(reads.map((read, i) => [read.name, values[i]!]));
  const writer = new MessageWriter();
  for (const { field, node } of fields) {
    if (!node) writer.raw(field);
    else if (constants.has(node.name))
      writer.bytes(GRAPH.node, NodeDef.encode(constantNode(node.name, constants.get(node.name)!)));
    else if (needed.has(node.name)) writer.raw(field);
  }
  return writer.finish();
}
