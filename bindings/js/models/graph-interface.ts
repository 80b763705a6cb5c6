/** The inputs and outputs of a graph without signatures: its placeholders, and what no node reads. */
import type { Graph } from '../graph/graph.js';
import type { Output } from '../graph/operation.js';

export const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'Placeholder',
  'PlaceholderV2',
  'PlaceholderWithDefault',
]);

/** A node of a graph, whether or not the engine knows its op. */
export interface InterfaceNode {
  readonly name: string;
  readonly op: string;
  /** The names of the nodes whose outputs it reads. */
  readonly reads: readonly string[];
  /** Training steps and initialisers have none. */
  readonly hasOutputs: boolean;
}

const isOfSaver = (name: string): boolean => /(^|\/)save(_\d+)?\//.test(name);

/** Nodes whose outputs are no results: they hold, change, save or describe the state of a training graph. */
const isResult = ({ op, name, hasOutputs }: InterfaceNode): boolean =>
  hasOutputs &&
  !PLACEHOLDERS.has(op) &&
  !/^(Const|VarHandleOp|Variable(V2)?|.*(Assign|Apply|IsInitialized|IsVariableInitialized|Restore|Save|Summary).*)$/.test(
    op,
  ) &&
  !/(^|\/)gradients(_\d+)?\//.test(name) &&
  !isOfSaver(name);

/** The names of the nodes that depend on any of `inputs`, which are among them. */
function dependents(inputs: readonly string[], consumers: ReadonlyMap<string, readonly string[]>) {
  const names = new Set(inputs);
  for (const name of names) for (const consumer of consumers.get(name) ?? []) names.add(consumer); // grows
  return names;
}

/** The names of the nodes that are a graph's inputs and outputs. */
export function interfaceNodes(nodes: readonly InterfaceNode[]): { inputs: string[]; outputs: string[] } {
  const consumers = new Map<string, string[]>();
  for (const { name, reads } of nodes)
    for (const read of reads) {
      const known = consumers.get(read);
      if (known) known.push(name);
      else consumers.set(read, [name]);
    }
  const inputs = nodes.filter(({ op, name }) => PLACEHOLDERS.has(op) && !isOfSaver(name)).map(nameOf);
  const results = nodes.filter((node) => isResult(node) && !consumers.has(node.name)).map(nameOf);
  const computed = dependents(inputs, consumers);
  const outputs = results.filter((name) => computed.has(name));
  return { inputs, outputs: outputs.length > 0 ? outputs : results };
}

const nameOf = ({ name }: InterfaceNode): string => name;

export interface GraphInterface {
  readonly inputs: readonly Output[];
  readonly outputs: readonly Output[];
}

export function interfaceOf(graph: Graph): GraphInterface {
  const nodes = graph.operations().map((operation) => ({
    name: operation.name,
    op: operation.type,
    reads: operation.inputs.map((input) => input.operation.name),
    hasOutputs: operation.outputs.length > 0,
  }));
  const { inputs, outputs } = interfaceNodes(nodes);
  return {
    inputs: inputs.map((name) => graph.requiredOperation(name).output(0)),
    outputs: outputs.flatMap((name) => graph.requiredOperation(name).outputs),
  };
}
