/** Adds the nodes of an ExtendSessionRequest to a graph: they may use those that are there. */
import type { Graph } from '../graph/graph.js';
import { splitOutputName } from '../graph/graph-core.js';
import type { Input, Operation } from '../graph/operation.js';
import { fieldsOf, textOf } from '../messages/protobuf.js';

const GRAPH = { node: 1 } as const;
const NODE = { name: 1, input: 3 } as const;

/** Adds the nodes, functions and gradients of a GraphDef. On error the graph stays unchanged. */
export function extendGraph(graph: Graph, graphDef: Uint8Array): void {
  graph.importGraphDef(graphDef, { inputMap: outsideInputs(graph, graphDef) });
}

/** The inputs of the nodes that are not in the GraphDef itself, by name. */
function outsideInputs(graph: Graph, graphDef: Uint8Array): Record<string, Input | Operation> {
  const own = new Set<string>();
  const inputs = new Set<string>();
  for (const node of fieldsOf(graphDef)) {
    if (node.number !== GRAPH.node) continue;
    for (const field of fieldsOf(node.bytes)) {
      if (field.number === NODE.name) own.add(textOf(field));
      else if (field.number === NODE.input) inputs.add(textOf(field));
    }
  }
  const outside: [string, Input | Operation][] = [];
  for (const input of inputs) {
    const isControl = input.startsWith('^');
    const [name] = isControl ? [input.slice(1)] : splitOutputName(input);
    if (own.has(name) || !graph.operation(name)) continue;
    outside.push([input, isControl ? graph.requiredOperation(name) : graph.output(input)]);
  }
  return Object.fromEntries(outside);
}
