/**
 * Reads Keras models: .keras archives, HDF5 files, and layers models of TensorFlow.js. A page imports this when it opens such a
 * model: it is more than half of the code for formats.
 */
import { DataLossError } from '../base/errors.js';
import { decodeText } from '../base/utf8.js';
import { checkArchitecture, parseArchitecture } from '../keras/architecture.js';
import type { BuiltModel } from '../keras/build-model.js';
import { customLayers } from '../keras/custom-layers.js';
import { Hdf5File, loadHdf5 } from '../keras/hdf5.js';
import { objectOr } from '../base/json.js';
import { Json } from '../keras/json.js';
import { kerasGraph } from '../keras/keras-model.js';
import { parsePythonJson } from '../keras/python-json.js';
import { WeightValue, valuesByName, valuesByOrder, valuesByPath } from '../keras/weight-values.js';
import { tensor } from '../tensor/convert.js';
import { typedArrayOf } from '../tensor/dtypes.js';
import type { FormatOptions, FormatReader, ModelParts } from './model-parts.js';
import { ModelFiles, folderOf, joinPath, readFile } from './model-files.js';
import { Weight, readWeights } from './weight-shards.js';

const isKeras3 = (version: unknown): boolean => /^[3-9]\./.test(String(version ?? ''));

function partsOf(
  format: string,
  place: string,
  architecture: Json,
  version: unknown,
  options: FormatOptions,
  valuesOf: (model: BuiltModel) => WeightValue[],
  assets?: ReadonlyMap<string, string>,
): ModelParts {
  const build = {
    isKeras3: isKeras3(version),
    layers: customLayers(options.keras),
    ...(assets && { assets }),
  };
  const made = kerasGraph(options.runtime, place, architecture, build, valuesOf);
  const infos = (tensors: ReadonlyMap<string, string>) =>
    new Map([...tensors].map(([name, tensorName]) => [name, { name: tensorName }]));
  return {
    format,
    graphDef: made.graphDef,
    signatures: new Map([['serving_default', { inputs: infos(made.inputs), outputs: infos(made.outputs) }]]),
    trainable: made.trainable,
    assignments: made.assignments,
    initializers: made.initializers,
  };
}

/** Builds a model whose weights are in an HDF5 file, which stays open until they are read. */
function withFile(file: Hdf5File, build: () => ModelParts): ModelParts {
  try {
    return { ...build(), close: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  }
}

const openHdf5 = async (files: ModelFiles, path: string, options: FormatOptions): Promise<Hdf5File> => {
  const module = await loadHdf5(options.hdf5);
  return Hdf5File.open(
    path === files.main ? files.place : `${files.place}: ${path}`,
    module,
    await readFile(files, path),
  );
};

/** The vocabularies that layers have learned, by the paths of the layers. */
async function assetsIn(files: ModelFiles, folder: string): Promise<Map<string, string>> {
  const root = `${joinPath(folder, 'assets')}/`;
  const found = (files.paths ?? []).filter((name) => name.startsWith(root) && name.endsWith('.txt'));
  const texts = await Promise.all(found.map((name) => readFile(files, name)));
  return new Map(found.map((name, i) => [name.slice(root.length), decodeText(texts[i]!)]));
}

/** Of a .keras archive; `path` is that of its config.json. */
export const readKerasArchive: FormatReader = async (files, path, options) => {
  const [config, metadata] = await Promise.all(
    ['config.json', 'metadata.json'].map((name) => readFile(files, joinPath(folderOf(path), name))),
  );
  const architecture = parseArchitecture(files.place, decodeText(config!));
  const { keras_version: version } = parseJson(`${files.place}: metadata.json`, metadata!);
  const file = await openHdf5(files, joinPath(folderOf(path), 'model.weights.h5'), options);
  const assets = await assetsIn(files, folderOf(path));
  const valuesOf = (model: BuiltModel): WeightValue[] => valuesByPath(files.place, model, file);
  return withFile(file, () =>
    partsOf('Keras', files.place, architecture, version, options, valuesOf, assets),
  );
};

/** A whole model in an HDF5 file. */
export const readKerasHdf5: FormatReader = async (files, path, options) => {
  const file = await openHdf5(files, path, options);
  return withFile(file, () => {
    const config = file.attribute('', 'model_config');
    if (typeof config !== 'string')
      throw new DataLossError(
        `${files.place} has weights, but no description of a model: save the whole model with model.save(path)`,
      );
    const version = file.attribute('', 'keras_version');
    return partsOf(
      'Keras HDF5',
      files.place,
      parseArchitecture(files.place, config),
      version,
      options,
      (model) => valuesByOrder(files.place, model, file),
    );
  });
};

function parseJson(what: string, bytes: Uint8Array): Json {
  try {
    return objectOr(parsePythonJson(decodeText(bytes)));
  } catch (error) {
    throw new DataLossError(`${what} is damaged: ${(error as Error).message}`);
  }
}

const tensorOfWeight = ({ dtype, shape, content }: Weight) => {
  const bytes = content as Uint8Array;
  const aligned = bytes.slice().buffer;
  return tensor(new (typedArrayOf(dtype))(aligned) as Float32Array, [...shape], dtype);
};

/** A layers model of TensorFlow.js, whose model.json is parsed. */
export async function readLayersModel(
  files: ModelFiles,
  path: string,
  model: Json,
  options: FormatOptions,
): Promise<ModelParts> {
  const topology = objectOr(model.modelTopology);
  const architecture = checkArchitecture(files.place, topology.model_config ?? topology);
  const weights = await readWeights(files, folderOf(path), model.weightsManifest ?? []);
  const tensors = new Map([...weights].map(([name, weight]) => [name, tensorOfWeight(weight)]));
  const version = topology.keras_version;
  return partsOf('TensorFlow.js layers model', files.place, architecture, version, options, (built) =>
    valuesByName(files.place, built, tensors),
  );
}
