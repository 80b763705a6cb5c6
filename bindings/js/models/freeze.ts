/**
 * Freezing: converts a trained graph to a GraphDef that needs no session, by replacing variables by
 * constants.
 */
import { checkList, shown } from '../base/arguments.js';
import { encodeAttr } from '../messages/attr-value.js';
import { FailedPreconditionError, InvalidArgumentError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import { Input, Output, checkInput, valueOf } from '../graph/operation.js';
import { Field, MessageWriter, fieldsOf, textOf } from '../messages/protobuf.js';
import { Session } from '../session/session.js';
import type { Tensor } from '../tensor/tensor.js';

const GRAPH = { node: 1 } as const;
const NODE = { name: 1, op: 2, input: 3, attr: 5 } as const;

/** The parts of a NodeDef that freezing uses. */
interface Node {
  readonly name: string;
  readonly op: string;
  /** Names of its inputs: data inputs first, then control inputs. */
  readonly inputs: readonly string[];
  readonly controls: readonly string[];
}

function readNode(bytes: Uint8Array): Node {
  const node = { name: '', op: '', inputs: [] as string[], controls: [] as string[] };
  for (const field of fieldsOf(bytes)) {
    if (field.number === NODE.name) node.name = textOf(field);
    else if (field.number === NODE.op) node.op = textOf(field);
    else if (field.number === NODE.input) {
      const input = textOf(field);
      if (input.startsWith('^')) node.controls.push(input.slice(1));
      else node.inputs.push(input.replace(/:\d+$/, ''));
    }
  }
  return node;
}

/** Reference variables are read by the consumers of their value. */
const isReference = (node: Node) => node.op === 'VariableV2' || node.op === 'Variable';
const isRead = (node: Node) => node.op === 'ReadVariableOp' || isReference(node);

const takesReferences = (graph: Graph, node: Node) =>
  graph.findOpDef(node.op)?.input_arg.some((arg) => arg.is_ref) ?? false;

/** The nodes that `roots` need, stopping at reads of variables. */
function neededBy(
  graph: Graph,
  roots: readonly string[],
  nodes: ReadonlyMap<string, Node>,
): Map<string, Node> {
  const needed = new Map<string, Node>();
  const stack = [...roots];
  for (let name; (name = stack.pop()) !== undefined; ) {
    const node = nodes.get(name)!;
    if (needed.has(name)) continue;
    needed.set(name, node);
    if (isRead(node)) continue;
    const handle = takesReferences(graph, node)
      ? node.inputs[0]
      : node.inputs.find((input) => nodes.get(input)!.op === 'VarHandleOp');
    if (handle !== undefined) {
      throw new FailedPreconditionError(
        `the graph cannot be frozen: '${name}' (${node.op}) does more with variable '${handle}' than read it`,
      ).locate(name, node.op);
    }
    stack.push(...node.inputs, ...node.controls);
  }
  return needed;
}

/** Another read of the same variable as `read`, without dependencies. */
function plainRead(graph: Graph, read: Node, nodes: ReadonlyMap<string, Node>): Output {
  if (isReference(read)) return graph.output(read.name);
  const handle = read.inputs[0]!;
  const isPlain = (node: Node) =>
    node.op === 'ReadVariableOp' && node.inputs[0] === handle && node.controls.length === 0;
  const plain = isPlain(read) ? read : [...nodes.values()].find(isPlain);
  if (plain) return graph.output(plain.name);
  const dtype = graph.output(read.name).dtype;
  return graph.op('ReadVariableOp', [graph.output(handle)], { attrs: { dtype } }).output(0);
}

function constantNode(name: string, value: Tensor): Uint8Array {
  const attr = (key: string, bytes: Uint8Array) => new MessageWriter().bytes(1, key).bytes(2, bytes).finish();
  return new MessageWriter()
    .bytes(NODE.name, name)
    .bytes(NODE.op, 'Const')
    .bytes(NODE.attr, attr('dtype', encodeAttr('type', value.dtype)))
    .bytes(NODE.attr, attr('value', encodeAttr('tensor', value)))
    .finish();
}

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
  const fields: { field: Field; node: Node | undefined }[] = [];
  for (const field of fieldsOf(graph.toGraphDef()))
    fields.push({ field, node: field.number === GRAPH.node ? readNode(field.bytes) : undefined });
  const nodes = new Map(fields.flatMap(({ node }) => (node ? [[node.name, node]] : [])));
  const needed = neededBy(graph, roots, nodes);
  const reads = [...needed.values()].filter(isRead);
  const values = await session.run(reads.map((read) => plainRead(graph, read, nodes)));
  const constants = new Map(reads.map((read, i) => [read.name, values[i]!]));
  const writer = new MessageWriter();
  for (const { field, node } of fields) {
    if (!node) writer.raw(field);
    else if (constants.has(node.name))
      writer.bytes(GRAPH.node, constantNode(node.name, constants.get(node.name)!));
    else if (needed.has(node.name)) writer.raw(field);
  }
  return writer.finish();
}
