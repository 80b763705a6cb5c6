/**
 * Freezing: converts a trained graph to a GraphDef that needs no session, by replacing variables by
 * constants.
 */
import { checkList, shown } from '../base/arguments.js';
import { AttrInput, decodeAttr, encodeAttr } from '../messages/attr-value.js';
import { FailedPreconditionError, InvalidArgumentError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import { Input, Output, checkInput, valueOf } from '../graph/operation.js';
import { NodeDef, nodeOfInput } from '../messages/node-def.js';
import { Field, MessageWriter, fieldsOf, textOf } from '../messages/protobuf.js';
import { calledFunctions, readGraphDef } from './graph-def-nodes.js';
import { NodeFreezer } from './freeze-nodes.js';
import { Session } from '../session/session.js';
import type { Tensor } from '../tensor/tensor.js';

const GRAPH = { node: 1, library: 2 } as const;
const LIBRARY = { function: 1, gradient: 2 } as const;

type Nodes = ReadonlyMap<string, NodeDef>;

/** Reference variables are read by the consumers of their value. */
const isReference = (node: NodeDef): boolean => node.op === 'VariableV2' || node.op === 'Variable';
const isHandle = (node: NodeDef | undefined): boolean => node?.op === 'VarHandleOp';
const sourceOf = (nodes: Nodes, input: string): NodeDef | undefined => nodes.get(nodeOfInput(input));
/** Whether the node itself becomes a constant. */
const isRead = (nodes: Nodes, node: NodeDef): boolean =>
  isReference(node) || (node.op === 'ReadVariableOp' && isHandle(sourceOf(nodes, node.input[0]!)));

const takesReferences = (graph: Graph, node: NodeDef): boolean =>
  graph.findOpDef(node.op)?.input_arg.some((arg) => arg.is_ref) ?? false;

function refuse({ name, op }: NodeDef, variable: string): never {
  throw new FailedPreconditionError(
    `the graph cannot be frozen: '${name}' (${op}) does more with variable '${variable}' than read it`,
  ).locate(name, op);
}

/** The nodes that `roots` need, stopping at reads of variables. */
function neededBy(graph: Graph, roots: readonly string[], nodes: Nodes): Map<string, NodeDef> {
  const needed = new Map<string, NodeDef>();
  const stack = [...roots];
  for (let name; (name = stack.pop()) !== undefined; ) {
    const node = nodes.get(name)!;
    if (needed.has(name)) continue;
    needed.set(name, node);
    if (isRead(nodes, node)) continue;
    if (takesReferences(graph, node)) refuse(node, node.input[0]!);
    stack.push(...node.input.map(nodeOfInput));
  }
  return needed;
}

/** A tensor with the value of the variable that a node reads, or whose handle it is, without dependencies. */
function plainRead(graph: Graph, node: NodeDef, nodes: Nodes): Output {
  if (isReference(node)) return graph.output(node.name);
  const handle = isHandle(node) ? node.name : nodeOfInput(node.input[0]!);
  const isPlain = ({ op, input }: NodeDef) =>
    op === 'ReadVariableOp' && nodeOfInput(input[0]!) === handle && input.length === 1;
  const plain = isPlain(node) ? node : [...nodes.values()].find(isPlain);
  if (plain) return graph.output(plain.name);
  const dtype = nodes.get(handle)!.attr.get('dtype');
  const attrs = { dtype: dtype ? decodeAttr(dtype) : 'float32' } as Record<string, AttrInput>;
  return graph.op('ReadVariableOp', [graph.output(handle)], { attrs }).output(0);
}

const constantNode = (name: string, value: Tensor): Partial<NodeDef> => ({
  name,
  op: 'Const',
  attr: new Map([
    ['dtype', encodeAttr('type', value.dtype)],
    ['value', encodeAttr('tensor', value)],
  ]),
});

/** The functions of a GraphDef's library, serialised, and its gradients. */
function libraryOf(fields: readonly Field[]): { functions: Map<string, Uint8Array>; gradients: Field[] } {
  const parts = fields
    .filter(({ number }) => number === GRAPH.library)
    .flatMap(({ bytes }) => [...fieldsOf(bytes)]);
  return {
    functions: new Map(
      parts
        .filter(({ number }) => number === LIBRARY.function)
        .map(({ bytes }) => [functionName(bytes), bytes]),
    ),
    gradients: parts.filter(({ number }) => number === LIBRARY.gradient),
  };
}

const functionName = (def: Uint8Array): string => {
  const signature = [...fieldsOf(def)].find(({ number }) => number === 1);
  const name = signature && [...fieldsOf(signature.bytes)].find(({ number }) => number === 1);
  return name ? textOf(name) : '';
};

/** What freezing makes, and what it keeps. */
interface FrozenParts {
  readonly constants: readonly Partial<NodeDef>[];
  readonly nodes: readonly Partial<NodeDef>[];
  readonly functions: ReadonlyMap<string, Uint8Array>;
  readonly gradients: readonly Field[];
  readonly others: readonly Field[];
}

function writeGraphDef(
  { constants, nodes, functions, gradients, others }: FrozenParts,
  isKept: (name: string) => boolean,
): Uint8Array {
  const writer = new MessageWriter();
  for (const node of [...constants, ...nodes]) writer.bytes(GRAPH.node, NodeDef.encode(node));
  const kept = [...functions].filter(([name]) => isKept(name));
  if (kept.length > 0)
    writer.message(GRAPH.library, () => {
      for (const [, def] of kept) writer.bytes(LIBRARY.function, def);
      for (const gradient of gradients)
        if ([...fieldsOf(gradient.bytes)].every((part) => isKept(textOf(part)))) writer.raw(gradient);
    });
  for (const field of others) writer.raw(field);
  return writer.finish();
}

/** The names of the functions that the nodes call. */
const functionsOf = (graph: Graph, parts: FrozenParts): ReadonlySet<string> =>
  calledFunctions(
    readGraphDef(
      graph.wasm,
      writeGraphDef({ ...parts, constants: [] }, () => true),
    ),
  );

/**
 * The part of a session's graph that `outputs` need, as a serialised GraphDef in which each read of a
 * variable is a constant with the variable's current value. Names stay the same, so the same feeds and
 * fetches work on a graph that imports it. Functions that take variables take their values.
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
  const fields = [...fieldsOf(graph.toGraphDef())];
  const decoded = fields
    .filter(({ number }) => number === GRAPH.node)
    .map(({ bytes }) => NodeDef.decode(bytes));
  const nodes = new Map(decoded.map((node) => [node.name, node]));
  const needed = neededBy(graph, roots, nodes);
  const known = [...needed.values()].filter((node) => isRead(nodes, node) || isHandle(node));
  const values =
    known.length > 0 ? await session.run(known.map((node) => plainRead(graph, node, nodes))) : [];
  const constants = new Map(known.map((node, i) => [node.name, constantNode(node.name, values[i]!)]));
  const handles = new Map(
    known.flatMap((node, i) => {
      const { dtype, shape } = values[i]!;
      return isHandle(node) ? [[node.name, { name: node.name, dtype, shape }] as const] : [];
    }),
  );
  const { functions, gradients } = libraryOf(fields);
  const freezer = new NodeFreezer(functions, (node, { name }) => refuse(node, name));
  const rest = decoded.filter(({ name }) => needed.has(name) && (handles.has(name) || !constants.has(name)));
  const parts: FrozenParts = {
    constants: [...constants.values()],
    nodes: freezer.freeze(rest, handles),
    functions: freezer.functions,
    gradients,
    others: fields.filter(({ number }) => number !== GRAPH.node && number !== GRAPH.library),
  };
  const called = functionsOf(graph, parts);
  return writeGraphDef(parts, (name) => called.has(name));
}
