/** tf.load: opens a model of any known format, with its variables. */
import { TFError, UnimplementedError } from '../base/errors.js';
import { EngineBytes } from '../engine/engine-bytes.js';
import type { Runtime } from '../engine/runtime.js';
import { Graph } from '../graph/graph.js';
import { binaryGraphDef, importInto } from '../graph/import-graph.js';
import type { Output } from '../graph/operation.js';
import type { Assignment } from '../keras/keras-model.js';
import type { SignatureDef } from '../messages/meta-graph.js';
import { nodeOfInput } from '../messages/node-def.js';
import { interfaceOf } from '../models/graph-interface.js';
import { Session } from '../session/session.js';
import type { Tensor } from '../tensor/tensor.js';
import { capturedVariables, restoreCaptured } from './captured-variables.js';
import { EngineFolder } from './engine-files.js';
import { ModelSource, filesOfSource } from './file-sources.js';
import { FlatTensor, flatten } from './flat-tensors.js';
import { KnownPart, knownPart } from './known-part.js';
import type { LoadOptions } from './load-options.js';
import { ModelFiles, Progress } from './model-files.js';
import { ModelParts, isInPieces } from './model-parts.js';
import type { ModelRequests } from './model-requests.js';
import { DEFAULT_SIGNATURE, Model } from './model.js';
import { tensorOf } from './make-model.js';
import { readModel } from './recognise.js';
import type { ModelTensor, Signature } from './signature.js';
import { WarmUp } from './warm-up.js';

export async function loadModel(
  runtime: Runtime,
  source: ModelSource,
  options: LoadOptions,
  requests: ModelRequests,
): Promise<Model> {
  const { signal, tags, onProgress, keras, hdf5, session } = options;
  const given = await filesOfSource(source, requests);
  const files = new Progress(onProgress).counting(given, signal);
  const warmUp = given.isRemote && !session?.target ? new WarmUp(runtime) : undefined;
  let parts: ModelParts | undefined;
  try {
    parts = await readModel(files, { tags, runtime, keras, hdf5 });
    const graphDef = await inEngine(runtime, parts.graphDef);
    await warmUp?.end();
    return await openParts(runtime, parts, graphDef, parts.files ?? files, options);
  } finally {
    await warmUp?.end();
    parts?.close?.();
  }
}

const inEngine = async ({ wasm }: Runtime, graphDef: ModelParts['graphDef']): Promise<EngineBytes> =>
  isInPieces(graphDef)
    ? EngineBytes.ofPieces(wasm, graphDef.pieces(), graphDef.size ?? 0)
    : EngineBytes.of(wasm, binaryGraphDef(wasm, graphDef));

/** Makes a graph of the part of a GraphDef whose ops the engine has, and frees the bytes. */
async function importKnown(
  runtime: Runtime,
  graphDef: EngineBytes,
  trainable: LoadOptions['trainable'],
): Promise<[Graph, KnownPart]> {
  try {
    const known = await knownPart(runtime, graphDef);
    const graph = new Graph(runtime);
    try {
      importInto(graph, known.graphDef, trainable === undefined ? {} : { trainable });
    } catch (error) {
      graph.dispose();
      throw explained(error, known);
    }
    return [graph, known];
  } finally {
    graphDef.free();
  }
}

const explained = (error: unknown, known: KnownPart): unknown =>
  error instanceof TFError && known.unknownOps.size > 0 ? error.hint(unknownText(known)) : error;

/** Makes a graph and a session of what was read. */
async function openParts(
  runtime: Runtime,
  parts: ModelParts,
  graphDef: EngineBytes,
  files: ModelFiles,
  { session, signal, trainable }: LoadOptions,
): Promise<Model> {
  const [graph, known] = await importKnown(runtime, graphDef, trainable);
  let opened: Session | undefined;
  try {
    opened = new Session(runtime, graph, session);
    const signatures = signaturesOf(graph, parts, known);
    if (trainable !== undefined) await opened.run(graph.initializer());
    await initialize(parts, opened, files, signal);
    const used = modelVariables(graph, parts);
    const { initializers = [], assets = [] } = parts;
    const unused = new Set(
      used ? graph.allVariables.map(({ name }) => name).filter((name) => !used.has(name)) : [],
    );
    const origin = { initializers, assets, files, unused };
    return new Model(parts.format, graph, opened, signatures, origin);
  } catch (error) {
    await opened?.close();
    graph.dispose();
    throw explained(error, known);
  }
}

/** Restores the variables, and runs the operations that fill tables. */
async function initialize(
  parts: ModelParts,
  session: Session,
  files: ModelFiles,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { restore, assets = [], initializers = [], assignments = [] } = parts;
  const folder = new EngineFolder(session.ramFiles, files);
  const options = signal ? { signal } : {};
  try {
    await Promise.all([...new Set(assets.map(({ path }) => path))].map((path) => folder.copy(path)));
    if (restore) {
      await folder.copyCheckpoint(restore.prefix);
      const path = folder.pathOf(restore.prefix);
      await session.run([], [[restore.filenameTensor, path]], { ...options, targets: [restore.operation] });
      await restoreCaptured(session, parts, restore, path, options);
    }
    await assign(session, assignments, options);
    const feeds = assets.map(({ tensor, path }): [string, string] => [tensor, folder.pathOf(path)]);
    if (initializers.length > 0) await session.run([], feeds, { ...options, targets: [...initializers] });
  } finally {
    await folder.remove();
  }
}

/** Values are fed together up to so many bytes. */
const MOST_FED = 1 << 26;

/** Gives variables their values. Only those that are fed together are in memory at once. */
async function assign(
  session: Session,
  assignments: readonly Assignment[],
  options: { signal?: AbortSignal },
): Promise<void> {
  for (let i = 0; i < assignments.length; ) {
    const feeds: [string, Tensor][] = [];
    const targets: string[] = [];
    for (let size = 0; i < assignments.length && (size < MOST_FED || feeds.length === 0); i++) {
      const { placeholder, assign: operation, read } = assignments[i]!;
      const value = read();
      size += (value.data as Uint8Array).byteLength;
      feeds.push([placeholder, value]);
      targets.push(operation);
    }
    await session.run([], feeds, { ...options, targets });
  }
}

/**
 * Finds out which variables the model's functions use, and which of these are trained. Graphs of TensorFlow 2
 * also have variables that only functions which save and restore use: these are not the model's.
 */
function modelVariables(graph: Graph, { trainable, captures }: ModelParts): ReadonlySet<string> | undefined {
  const captured = captures && captures.size > 0 ? [...capturedVariables(graph, captures)] : undefined;
  const known = captured ? new Map(captured.map(([name, { isTrained }]) => [name, isTrained])) : trainable;
  if (known)
    for (const variable of graph.allVariables) variable.trainable = known.get(variable.name) ?? false;
  return known && new Set(known.keys());
}

function signaturesOf(graph: Graph, parts: ModelParts, known: KnownPart): Record<string, Signature> {
  const signatures: Record<string, Signature> = {};
  for (const [name, def] of parts.signatures) signatures[name] = signatureOf(graph, name, def, known);
  const all = Object.values(signatures);
  if (all.length > 0 && all.every(({ missing }) => missing !== undefined))
    throw new UnimplementedError(`the model cannot be run. ${all[0]!.missing}`);
  if (all.length > 0) return signatures;
  const { inputs, outputs } = interfaceOf(graph);
  if (outputs.length === 0 && known.unknownOps.size > 0)
    throw new UnimplementedError(`the model cannot be run. ${unknownText(known)}`);
  const named = (output: Output): ModelTensor =>
    tensorOf(output.index === 0 ? output.operation.name : output.name, output);
  return {
    [DEFAULT_SIGNATURE]: {
      name: DEFAULT_SIGNATURE,
      inputs: inputs.map(named),
      outputs: outputs.map(named),
    },
  };
}

function signatureOf(graph: Graph, name: string, def: SignatureDef, known: KnownPart): Signature {
  const isOmitted = (info: FlatTensor): boolean => known.omitted.has(nodeOfInput(info.tensor));
  const [inputs, outputs] = [flatten(def.inputs ?? new Map()), flatten(def.outputs ?? new Map())];
  if ([...inputs, ...outputs].some(isOmitted))
    return { name, inputs: [], outputs: [], missing: unknownText(known) };
  const tensors = (list: readonly FlatTensor[]): ModelTensor[] =>
    list.map(({ key, tensor, shape }) => tensorOf(key, graph.output(tensor), shape));
  return { name, inputs: tensors(inputs), outputs: tensors(outputs) };
}

const unknownText = ({ unknownOps }: KnownPart): string => {
  const names = [...unknownOps].map(([op, nodes]) => `${op} (${nodes[0]})`);
  return `The model needs ops that are not registered: ${names.join(', ')}`;
};
