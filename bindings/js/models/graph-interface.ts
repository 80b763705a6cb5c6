/** The inputs and outputs of a graph without signatures: its placeholders, and what no operation reads. */
import type { Graph } from '../graph/graph.js';
import type { Operation, Output } from '../graph/operation.js';

export const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'Placeholder',
  'PlaceholderV2',
  'PlaceholderWithDefault',
]);

const isOfSaver = (name: string): boolean => /(^|\/)save(_\d+)?\//.test(name);

/** Operations whose outputs are no results: they hold, change, save or describe the state of a training graph. */
const isResult = ({ type, name }: Operation): boolean =>
  !PLACEHOLDERS.has(type) &&
  !/^(Const|VarHandleOp|Variable(V2)?|.*(Assign|Apply|IsInitialized|IsVariableInitialized|Restore|Save|Summary).*)$/.test(
    type,
  ) &&
  !/(^|\/)gradients(_\d+)?\//.test(name) &&
  !isOfSaver(name);

export interface GraphInterface {
  readonly inputs: readonly Output[];
  readonly outputs: readonly Output[];
}

const isUnread = (operation: Operation): boolean =>
  operation.outputs.every((output) => output.consumers().length === 0);

/** The names of the operations that depend on any of `inputs`. */
function dependents(inputs: readonly Operation[]): ReadonlySet<string> {
  const names = new Set<string>();
  const rest = [...inputs];
  for (let operation; (operation = rest.pop()); ) {
    if (names.has(operation.name)) continue;
    names.add(operation.name);
    for (const output of operation.outputs)
      rest.push(...output.consumers().map((consumer) => consumer.operation));
  }
  return names;
}

export function interfaceOf(graph: Graph): GraphInterface {
  const operations = graph.operations();
  const placeholders = operations.filter(({ type, name }) => PLACEHOLDERS.has(type) && !isOfSaver(name));
  const results = operations.filter((operation) => isResult(operation) && isUnread(operation));
  const computed = dependents(placeholders);
  const outputs = results.filter(({ name }) => computed.has(name));
  return {
    inputs: placeholders.map((operation) => operation.output(0)),
    outputs: (outputs.length > 0 ? outputs : results).flatMap((operation) => operation.outputs),
  };
}
