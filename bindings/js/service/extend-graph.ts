/** Applies an ExtendSessionRequest to a graph. */
import { InvalidArgumentError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import { splitOutputName } from '../graph/graph-core.js';
import { importBeside } from '../graph/import-graph.js';
import type { Input, Operation } from '../graph/operation.js';
import { NodeDef, isControlInput, nodeOfInput } from '../messages/node-def.js';
import { Field, MessageWriter, fieldsOf } from '../messages/protobuf.js';

const GRAPH = { node: 1 } as const;

interface SentNode {
  readonly field: Field;
  readonly name: string;
  readonly inputs: readonly string[];
}

/**
 * Adds the nodes, functions and gradients of a GraphDef, whose nodes may use those of the graph. A node that is in
 * the graph already gets the inputs and outputs that it lacks: gradients extend nodes that call functions. On error
 * the graph stays unchanged, unless the GraphDef extends such nodes.
 */
export function extendGraph(graph: Graph, graphDef: Uint8Array): void {
  const sent: SentNode[] = [];
  const others: Field[] = [];
  for (const field of fieldsOf(graphDef)) {
    if (field.number !== GRAPH.node) others.push(field);
    else {
      const { name, input } = NodeDef.decode(field.bytes);
      sent.push({ field, name, inputs: input });
    }
  }
  const extended = sent.filter(({ name }) => graph.operation(name));
  if (extended.length === 0) {
    importBeside(graph, graphDef, outsideInputs(graph, sent));
    return;
  }
  const added = sent.filter(({ name }) => !graph.operation(name));
  importNodes(graph, [], others);
  extendInTurns(graph, added, extended);
}

/**
 * An added node may need the outputs that another node gets, which in turn may get inputs from added nodes. So each
 * turn adds all nodes that need nothing more, and extends the nodes whose inputs are there then.
 */
function extendInTurns(graph: Graph, added: readonly SentNode[], extended: readonly SentNode[]): void {
  while (extended.length > 0) {
    const blocked = blockedNodes(graph, added, extended);
    importNodes(
      graph,
      added.filter((node) => !blocked.has(node)),
    );
    const [now, later] = divide(extended, ({ inputs }) => inputs.every((input) => isInGraph(graph, input)));
    if (now.length === 0)
      throw new InvalidArgumentError(
        `Node '${later[0]!.name}' cannot be extended: its inputs need its outputs`,
      );
    for (const { name, field } of now) extendOperation(graph, graph.requiredOperation(name), field.bytes);
    added = added.filter((node) => blocked.has(node));
    extended = later;
  }
  importNodes(graph, added);
}

/** The added nodes that read an output which an extended node does not have yet, directly or through others. */
function blockedNodes(
  graph: Graph,
  added: readonly SentNode[],
  extended: readonly SentNode[],
): Set<SentNode> {
  const extendedNames = new Set(extended.map(({ name }) => name));
  const readers = new Map<string, SentNode[]>();
  const blocked = new Set<SentNode>();
  for (const node of added) {
    for (const input of node.inputs) {
      const name = nodeOfInput(input);
      const known = readers.get(name);
      if (known) known.push(node);
      else readers.set(name, [node]);
      if (extendedNames.has(name) && !isInGraph(graph, input)) blocked.add(node);
    }
  }
  for (const { name } of blocked) for (const reader of readers.get(name) ?? []) blocked.add(reader);
  return blocked;
}

function isInGraph(graph: Graph, input: string): boolean {
  const operation = graph.operation(nodeOfInput(input));
  return (
    operation !== undefined && (isControlInput(input) || splitOutputName(input)[1] < operation.outputs.length)
  );
}

function importNodes(graph: Graph, nodes: readonly SentNode[], others: readonly Field[] = []): void {
  if (nodes.length === 0 && others.length === 0) return;
  const def = new MessageWriter();
  for (const { field } of nodes) def.raw(field);
  for (const field of others) def.raw(field);
  importBeside(graph, def.finish(), outsideInputs(graph, nodes));
}

function extendOperation(graph: Graph, operation: Operation, nodeDef: Uint8Array): void {
  const { wasm } = graph;
  wasm.scope((scope) =>
    wasm.checked((status) =>
      wasm.call.TF_WasmExtendOperation(
        graph.pointer,
        operation.pointer,
        scope.bytes(nodeDef),
        nodeDef.length,
        status,
      ),
    ),
  );
}

/** The inputs of the nodes that are not among them, by name. */
function outsideInputs(graph: Graph, nodes: readonly SentNode[]): Record<string, Input | Operation> {
  const own = new Set(nodes.map(({ name }) => name));
  const outside: [string, Input | Operation][] = [];
  for (const input of new Set(nodes.flatMap(({ inputs }) => inputs))) {
    const name = nodeOfInput(input);
    if (own.has(name) || !graph.operation(name)) continue;
    outside.push([input, isControlInput(input) ? graph.requiredOperation(name) : graph.output(input)]);
  }
  return Object.fromEntries(outside);
}

function divide<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  const first: T[] = [];
  const second: T[] = [];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}
