/** Reads SavedModels of TensorFlow 1 and 2, and MetaGraphDefs beside a checkpoint. */
import { DataLossError, InvalidArgumentError, NotFoundError } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';
import { bytesOfText } from '../engine/text-messages.js';
import { AssetFile, MetaGraphDef, SavedModel, VariableDef } from '../messages/meta-graph.js';
import { nodeOfInput } from '../messages/node-def.js';
import { sortedSignature } from './flat-tensors.js';
import { Asset, CapturedVariable, FormatReader, ModelParts } from './model-parts.js';
import { ModelFiles, folderOf, isTextFile, joinPath, readFile } from './model-files.js';

/** Signatures with this name are no functions of the model: they name the operation that initialises it. */
const INIT_SIGNATURE = '__saved_model_init_op';
const TRAIN_SIGNATURE = '__saved_model_train_op';
const INIT_COLLECTIONS = ['saved_model_main_op', 'legacy_init_op'];

const tagsOf = (metaGraph: MetaGraphDef): readonly string[] => metaGraph.info?.tags ?? [];
const setText = (tags: readonly string[]): string => `{ ${tags.join(', ')} }`;

/** The MetaGraph that has exactly these tags; without tags the one for serving, or the only one. */
function chooseMetaGraph(
  place: string,
  metaGraphs: readonly MetaGraphDef[],
  wanted: readonly string[] | undefined,
): MetaGraphDef {
  const has = (metaGraph: MetaGraphDef, tags: readonly string[]): boolean =>
    tagsOf(metaGraph).length === tags.length && tags.every((tag) => tagsOf(metaGraph).includes(tag));
  const found = wanted
    ? metaGraphs.find((metaGraph) => has(metaGraph, wanted))
    : (metaGraphs.find((metaGraph) => has(metaGraph, ['serve'])) ?? metaGraphs[0]);
  if (found) return found;
  if (!wanted) throw new DataLossError(`${place} has no MetaGraph`);
  throw new NotFoundError(
    `Could not find meta graph def matching supplied tags: ${setText(wanted)}. ${place} has ${metaGraphs.map((metaGraph) => setText(tagsOf(metaGraph))).join(', ')}`,
  );
}

function initializersOf({ signatures, collections }: MetaGraphDef): string[] {
  const output = signatures.get(INIT_SIGNATURE)?.outputs?.get(INIT_SIGNATURE)?.name;
  if (output) return [nodeOfInput(output)];
  for (const collection of INIT_COLLECTIONS) {
    const [name] = collections.get(collection)?.names?.value ?? [];
    if (name !== undefined) return [nodeOfInput(name)];
  }
  return [];
}

/** What TensorFlow 2's functions capture. */
function capturesOf({ objects }: MetaGraphDef): NonNullable<ModelParts['captures']> {
  const variableAt = (object: number): CapturedVariable | undefined => {
    const variable = objects?.nodes?.[object]?.variable;
    return variable && { isTrained: variable.trainable ?? false, object };
  };
  return new Map(
    [...(objects?.functions ?? [])].map(([name, { boundInputs = [] }]) => [
      name,
      boundInputs.map(variableAt),
    ]),
  );
}

/** TensorFlow 1 lists the variables in collections. */
function trainableOf({ collections }: MetaGraphDef): ReadonlyMap<string, boolean> | undefined {
  const inCollection = (name: string): VariableDef[] =>
    (collections.get(name)?.messages?.value ?? []).map((bytes) => VariableDef.decode(bytes));
  const trained = new Set(inCollection('trainable_variables').map(({ name }) => nodeOfInput(name)));
  const all = [...inCollection('variables'), ...inCollection('local_variables')];
  const entries: [string, boolean][] = all.map(({ name }) => {
    const operation = nodeOfInput(name);
    return [operation, trained.has(operation)];
  });
  for (const name of trained) entries.push([name, true]);
  return entries.length > 0 ? new Map(entries) : undefined;
}

/** TensorFlow 1 lists the assets in a collection, some of them twice. */
function assetsOf({ assets, collections }: MetaGraphDef, folder: string): Asset[] {
  const listed = (collections.get('saved_model_assets')?.anys?.value ?? []).flatMap(({ value }) =>
    value ? [AssetFile.decode(value)] : [],
  );
  const paths = new Map(
    (assets.length > 0 ? assets : listed).map(({ tensor, filename }) => [
      tensor?.name ?? '',
      joinPath(folder, filename ?? ''),
    ]),
  );
  return [...paths].map(([tensor, path]) => ({ tensor, path }));
}

/** What a MetaGraph has, with its checkpoint at `prefix` and the assets in `assetFolder`. */
function partsOf(
  place: string,
  format: string,
  metaGraph: MetaGraphDef,
  prefix: string | undefined,
  assetFolder: string,
): ModelParts {
  const { saver, graphDef, signatures } = metaGraph;
  if (!graphDef)
    throw new DataLossError(`${place}: the MetaGraph ${setText(tagsOf(metaGraph))} has no graph`);
  return {
    format,
    graphDef,
    signatures: new Map(
      [...signatures]
        .filter(([name]) => name !== INIT_SIGNATURE && name !== TRAIN_SIGNATURE)
        .map(([name, def]) => [name, sortedSignature(def)]),
    ),
    restore:
      saver?.restoreOp && prefix !== undefined
        ? {
            filenameTensor: saver.filenameTensor ?? '',
            operation: nodeOfInput(saver.restoreOp),
            prefix,
          }
        : undefined,
    assets: assetsOf(metaGraph, assetFolder),
    initializers: initializersOf(metaGraph),
    trainable: trainableOf(metaGraph),
    captures: capturesOf(metaGraph),
    objects: metaGraph.objects?.nodes,
  };
}

function savedModelOfText({ place }: ModelFiles, runtime: Runtime, text: Uint8Array): Uint8Array {
  try {
    return bytesOfText(runtime.wasm, 'SavedModel', text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new DataLossError(`${place} is no SavedModel in text form: ${error.message}`);
  }
}

/** `path` is that of saved_model.pb, or of its text form saved_model.pbtxt. */
export const readSavedModel: FormatReader = async (files, path, { tags, runtime }) => {
  const content = await readFile(files, path);
  const bytes = isTextFile(path) ? savedModelOfText(files, runtime, content) : content;
  const { version, metaGraphs } = SavedModel.decode(bytes);
  if (version !== 1)
    throw new InvalidArgumentError(`${files.place}: SavedModels of version ${version} are not known`);
  const folder = folderOf(path);
  const metaGraph = chooseMetaGraph(files.place, metaGraphs as readonly MetaGraphDef[], tags);
  const prefix = joinPath(folder, 'variables/variables');
  const index = await files.open(`${prefix}.index`); // a model may have no variables
  return partsOf(files.place, 'SavedModel', metaGraph, index && prefix, joinPath(folder, 'assets'));
};

/** `path` is that of the .meta; the checkpoint has its name. */
export const readMetaGraph: FormatReader = async (files, path) => {
  const prefix = path.replace(/\.meta$/, '');
  const saved =
    (await files.open(`${prefix}.index`)) ?? (prefix === path ? undefined : await files.open(prefix));
  return partsOf(
    files.place,
    'MetaGraphDef',
    MetaGraphDef.decode(await readFile(files, path)),
    saved && prefix,
    joinPath(folderOf(path), 'assets'),
  );
};
