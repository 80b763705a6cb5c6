/** The inputs and outputs of a graph without signatures: its placeholders, and what no node reads. */
import type { OperationPtr, OutputPtr, TextPtr } from '../generated/abi.js';
import type { Graph } from '../graph/graph.js';
import type { Operation, Output } from '../graph/operation.js';

export const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'Placeholder',
  'PlaceholderV2',
  'PlaceholderWithDefault',
]);

/** A node of a graph, whether or not the engine knows its op. */
export interface InterfaceNode {
  readonly name: string;
  readonly op: string;
  /** The indexes of the nodes whose outputs it reads. */
  readonly reads: readonly number[];
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

/** Whether each node is among `inputs` or depends on them. */
function dependents(inputs: readonly number[], nodes: readonly InterfaceNode[]): Uint8Array {
  const consumers = nodes.map((): number[] => []);
  nodes.forEach(({ reads }, i) => reads.forEach((read) => consumers[read]!.push(i)));
  const found = new Uint8Array(nodes.length);
  const open = [...inputs];
  while (open.length > 0) {
    const node = open.pop()!;
    if (found[node]) continue;
    found[node] = 1;
    for (const consumer of consumers[node]!) open.push(consumer);
  }
  return found;
}

/** The indexes of the nodes that are a graph's inputs and outputs. */
export function interfaceNodes(nodes: readonly InterfaceNode[]): { inputs: number[]; outputs: number[] } {
  const isRead = new Uint8Array(nodes.length);
  for (const { reads } of nodes) for (const read of reads) isRead[read] = 1;
  const inputs: number[] = [];
  const results: number[] = [];
  nodes.forEach((node, i) => {
    if (PLACEHOLDERS.has(node.op) && !isOfSaver(node.name)) inputs.push(i);
    else if (!isRead[i] && isResult(node)) results.push(i);
  });
  if (results.length < 2) return { inputs, outputs: results };
  const isComputed = dependents(inputs, nodes);
  const outputs = results.filter((i) => isComputed[i]);
  return { inputs, outputs: outputs.length > 0 ? outputs : results };
}

export interface GraphInterface {
  readonly inputs: readonly Output[];
  readonly outputs: readonly Output[];
}

export function interfaceOf(graph: Graph): GraphInterface {
  const pointers = graph.operationPointers();
  const operationAt = (i: number): Operation => graph.operationAt(pointers[i]!);
  const { inputs, outputs } = interfaceNodes(nodesOf(graph, pointers));
  return {
    inputs: inputs.map((i) => operationAt(i).output(0)),
    outputs: outputs.flatMap((i) => operationAt(i).outputs),
  };
}

/** Large graphs have tens of thousands of nodes, so that no Operation is made for each. */
function nodesOf({ wasm }: Graph, pointers: readonly OperationPtr[]): InterfaceNode[] {
  const { call } = wasm;
  const indexes = new Map(pointers.map((pointer, i) => [pointer, i]));
  const ops = new Map<TextPtr, string>(); // nodes of an op share its name
  const opAt = (text: TextPtr): string => {
    const known = ops.get(text) ?? wasm.text(text);
    ops.set(text, known);
    return known;
  };
  const readsOf = (pointer: OperationPtr): number[] => {
    const count = call.TF_OperationNumInputs(pointer);
    return wasm.scope((scope) => {
      const inputs: OutputPtr = scope.alloc(8 * count);
      call.TF_OperationAllInputs(pointer, inputs, count);
      return Array.from(
        { length: count },
        (_, k) => indexes.get(wasm.u32[(inputs >>> 2) + 2 * k] as OperationPtr)!,
      );
    });
  };
  return pointers.map((pointer) => ({
    get name() {
      return wasm.text(call.TF_OperationName(pointer));
    },
    op: opAt(call.TF_OperationOpType(pointer)),
    reads: readsOf(pointer),
    get hasOutputs() {
      return call.TF_OperationNumOutputs(pointer) > 0;
    },
  }));
}
