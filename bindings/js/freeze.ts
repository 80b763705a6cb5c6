/** Freezing: a trained graph as a GraphDef that needs no session: variables become constants. */
import { encodeAttr } from './attr-value.js';
import { InvalidArgumentError } from './errors.js';
import type { Graph } from './graph.js';
import { Input, Operation, valueOf } from './operation.js';
import { MessageWriter } from './protobuf.js';
import type { Session } from './session.js';
import type { Tensor } from './tensor.js';

const NODE = { name: 1, op: 2, input: 3, attr: 5 } as const;

/** What `outputs` need, up to the reads of variables. */
function neededBy(outputs: readonly Operation[]): { operations: Operation[]; reads: Operation[] } {
  const seen = new Set<Operation>();
  const reads: Operation[] = [];
  const stack = [...outputs];
  for (let operation; (operation = stack.pop()); ) {
    if (seen.has(operation)) continue;
    seen.add(operation);
    if (operation.type === 'ReadVariableOp') {
      reads.push(operation);
      continue;
    }
    stack.push(...operation.inputs.map((input) => input.operation), ...operation.controlInputs);
  }
  return { operations: [...seen], reads };
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
 * The part of a session's graph that `outputs` need, as a serialised GraphDef in which each variable is a constant with its present value. Names
 * stay as they are, so the same feeds and fetches work on the graph that imports it.
 */
export async function freeze(session: Session, outputs: readonly (Input | string)[]): Promise<Uint8Array> {
  const graph: Graph = session.graph;
  if (outputs.length === 0) throw new InvalidArgumentError('freeze needs at least one output');
  const roots = outputs.map((output) => (typeof output === 'string' ? graph.output(output) : valueOf(output)).operation);
  const { operations, reads } = neededBy(roots);
  const values = await session.run(reads.map((read) => read.output(0)));
  const constants = new Map(reads.map((read, i) => [read, values[i] as Tensor]));
  const writer = new MessageWriter();
  for (const operation of operations) {
    const value = constants.get(operation);
    writer.bytes(1, value ? constantNode(operation.name, value) : operation.toNodeDef());
  }
  const producer = 134;
  return writer.bytes(4, new MessageWriter().varint(1, producer).finish()).finish();
}
