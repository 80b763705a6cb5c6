/** Adds the nodes of an ExtendSessionRequest to a graph: they may use those that are there. */
import type { Graph } from '../graph/graph.js';
import type { Input, Operation } from '../graph/operation.js';
import { NodeDef, isControlInput, nodeOfInput } from '../messages/node-def.js';
import { fieldsOf } from '../messages/protobuf.js';

const GRAPH = { node: 1 } as const;

/** Adds the nodes, functions and gradients of a GraphDef. On error the graph stays unchanged. */
export function extendGraph(graph: Graph, graphDef: Uint8Array): void {
  graph.importGraphDef(graphDef, { inputMap: outsideInputs(graph, graphDef) });
}

/** The inputs of the nodes that are not in the GraphDef itself, by name. */
function outsideInputs(graph: Graph, graphDef: Uint8Array): Record<string, Input | Operation> {
  const own = new Set<string>();
  const inputs = new Set<string>();
  for (const field of fieldsOf(graphDef)) {
    if (field.number !== GRAPH.node) continue;
    const { name, input } = NodeDef.decode(field.bytes);
    own.add(name);
    for (const one of input) inputs.add(one);
  }
  const outside: [string, Input | Operation][] = [];
  for (const input of inputs) {
    const name = nodeOfInput(input);
    if (own.has(name) || !graph.operation(name)) continue;
    outside.push([input, isControlInput(input) ? graph.requiredOperation(name) : graph.output(input)]);
  }
  return Object.fromEntries(outside);
}
