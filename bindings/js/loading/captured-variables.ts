/**
 * Variables that TensorFlow 2's functions capture. Its programs restore them by the objects that own them, whose
 * checkpoint says under which keys their values are.
 */
import { DataLossError } from '../base/errors.js';
import { Graph } from '../graph/graph.js';
import { Output } from '../graph/operation.js';
import type { AttrValue, FuncAttr } from '../messages/attr-value.js';
import { CheckpointObjects, ObjectNode } from '../messages/meta-graph.js';
import { Session } from '../session/session.js';
import type { CapturedVariable, ModelParts, Restore } from './model-parts.js';

/** The captured variables, by the names of their handles. */
export function capturedVariables(
  graph: Graph,
  captures: NonNullable<ModelParts['captures']>,
): Map<string, CapturedVariable> {
  const found = new Map<string, CapturedVariable>();
  for (const operation of graph.operations()) {
    if (!/PartitionedCall$/.test(operation.type)) continue;
    const { name } = operation.attr('f') as FuncAttr;
    const captured = captures.get(name) ?? [];
    const inputs = operation.inputs.slice(-captured.length || Infinity);
    for (const [i, variable] of captured.entries())
      if (variable && inputs[i]) found.set(inputs[i].operation.name, variable);
  }
  return found;
}

const OBJECTS_KEY = '_CHECKPOINTABLE_OBJECT_GRAPH';
const VALUE = 'VARIABLE_VALUE';

/** The keys of variables in the checkpoint, by their indexes in the model: both are walked from their roots. */
function keysOf(objects: readonly ObjectNode[], checkpoint: CheckpointObjects): Map<number, string> {
  const keys = new Map<number, string>();
  const seen = new Set([0]);
  const rest: [number, number][] = [[0, 0]];
  for (const [index, at] of rest) {
    const saved = checkpoint.nodes[at];
    const key = saved?.attributes?.find(({ name }) => name === VALUE)?.checkpointKey;
    if (key) keys.set(index, key);
    const children = new Map(saved?.children?.map(({ localName, node }) => [localName ?? '', node ?? 0]));
    for (const { localName, node = 0 } of objects[index]?.children ?? []) {
      const found = children.get(localName ?? '');
      if (found === undefined || seen.has(node)) continue;
      seen.add(node);
      rest.push([node, found]); // the list grows during the loop
    }
  }
  return keys;
}

/** Reads the graph of objects that a checkpoint has; `path` is where the session finds it. */
async function checkpointObjects(like: Session, path: string): Promise<CheckpointObjects> {
  const graph = new Graph(like.graph.runtime);
  const session = like.beside(graph);
  try {
    const texts = (values: string[]) => graph.constant(values, { dtype: 'string', shape: [values.length] });
    const read = graph.op('RestoreV2', [graph.constant(path), texts([OBJECTS_KEY]), texts([''])], {
      attrs: { dtypes: ['string'] },
    });
    const [bytes] = (await session.run(read.output(0))).data as readonly (string | Uint8Array)[];
    return CheckpointObjects.decode(bytes as Uint8Array);
  } finally {
    await session.close();
    graph.dispose();
  }
}

/**
 * Restores the captured variables that the model's own restore operation does not: Keras' models that
 * tf.saved_model.save wrote have a restore operation for copies of their variables.
 */
export async function restoreCaptured(
  session: Session,
  { objects, captures }: ModelParts,
  { operation, filenameTensor }: Restore,
  path: string,
  options: { signal?: AbortSignal },
): Promise<void> {
  const { graph } = session;
  if (!objects || !captures) return;
  const restored = new Set(graph.requiredOperation(operation).inputs.map((input) => input.operation.name));
  const variables = [...capturedVariables(graph, captures)].filter(([name]) => !restored.has(name));
  if (variables.length === 0) return;
  const keys = keysOf(objects, await checkpointObjects(session, path));
  const handles: Output[] = [];
  const names: string[] = [];
  for (const [name, { object }] of variables) {
    const key = keys.get(object);
    if (key === undefined) throw new DataLossError(`the checkpoint has no value of variable '${name}'`);
    handles.push(graph.output(name));
    names.push(key);
  }
  const texts = (values: string[]) => graph.constant(values, { dtype: 'string', shape: [values.length] });
  const dtypes = handles.map((handle) => handle.operation.attr('dtype') as AttrValue);
  const slices = texts(names.map(() => ''));
  const read = graph.op('RestoreV2', [graph.output(filenameTensor), texts(names), slices], {
    attrs: { dtypes },
  });
  const targets = handles.map((handle, i) => graph.op('AssignVariableOp', [handle, read.output(i)]));
  await session.run([], [[filenameTensor, path]], { ...options, targets });
}
