/** Reads graph models of TensorFlow.js: a GraphDef as JSON, whose constants are in shards of weights. */
import { JsonObject as Json, objectOr, objectsIn } from '../base/json.js';
import { DataLossError, InvalidArgumentError } from '../base/errors.js';
import { decodeText } from '../base/utf8.js';
import { SignatureDef } from '../messages/meta-graph.js';
import { DType, TypedArrayConstructor, dtypeFromNumber, dtypeNumber } from '../tensor/dtypes.js';
import { dtypeNumberOfJson, graphDefPieces, signatureDefOfJson } from './graph-def-json.js';
import { PLACEHOLDERS } from '../models/graph-interface.js';
import { sortedSignature } from './flat-tensors.js';
import { folderOf, readFile } from './model-files.js';
import type { FormatReader } from './model-parts.js';
import { Weight, readWeights } from './weight-shards.js';

/** The tensor of a weight in the JSON form, with bytes in place of base64. */
function tensorOf({ dtype, shape, content }: Weight): Json {
  return {
    dtype: dtypeNumber(dtype),
    tensorShape: { dim: shape.map((size) => ({ size })) },
    ...(content instanceof Uint8Array ? { tensorContent: content } : { stringVal: content }),
  };
}

const lengthOf = ({ content }: Weight): number =>
  content instanceof Uint8Array ? content.length : content.reduce((sum, { length }) => sum + length, 0);

/** TensorFlow.js has no 64-bit numbers: it stores those constants as float32 and int32. */
function asDType(name: string, weight: Weight, dtype: DType): Weight {
  if (weight.dtype === dtype) return weight;
  const { content, shape } = weight;
  const [From, To] = [NUMBERS[weight.dtype], NUMBERS[dtype]];
  if (!From || !To || !(content instanceof Uint8Array))
    throw new DataLossError(`weight ${name} is of ${weight.dtype}, but its constant is of ${dtype}`);
  const numbers = Array.from(new From(content.slice().buffer), Number);
  const values = To === BigInt64Array ? BigInt64Array.from(numbers, BigInt) : new To(numbers as never);
  return { dtype, shape, content: new Uint8Array(values.buffer) };
}

const NUMBERS: Readonly<Partial<Record<DType, TypedArrayConstructor>>> = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  int8: Int8Array,
};

/** Gives constants without a value that of the weight with their name. */
function fillConstants(nodes: readonly Json[], weights: ReadonlyMap<string, Weight>): void {
  for (const node of nodes) {
    const weight = node.op === 'Const' ? weights.get(String(node.name)) : undefined;
    if (!weight) continue;
    const attr = objectOr(node.attr);
    const dtype = dtypeFromNumber(dtypeNumberOfJson(objectOr(attr.dtype).type ?? 0));
    node.attr = { ...attr, value: { tensor: tensorOf(asDType(String(node.name), weight, dtype)) } };
  }
}

/**
 * The nodes that fill tables are in a graph of their own, which shares nodes with the model's. Returns the
 * operations to run.
 */
function addInitializer(nodes: Json[], initializer: unknown): string[] {
  const names = new Set(nodes.map(({ name }) => name));
  const added = objectsIn(objectOr(initializer).node).filter(({ name }) => !names.has(name));
  nodes.push(...added);
  return added
    .filter(({ op }) => /^(InitializeTable|LookupTableImport)/.test(String(op)))
    .map(({ name }) => String(name));
}

/** Some converters name only the outputs: then all placeholders are inputs. */
function completeSignature(signature: Json, nodes: readonly Json[]): Json {
  if (!signature.outputs || Object.keys(objectOr(signature.inputs)).length > 0) return signature;
  const placeholders = nodes.filter(({ op }) => PLACEHOLDERS.has(String(op)));
  const inputs = placeholders.map(({ name, attr }) => {
    const { dtype, shape } = objectOr(attr);
    const info = {
      name: `${String(name)}:0`,
      dtype: objectOr(dtype).type,
      tensorShape: objectOr(shape).shape,
    };
    return [String(name), info];
  });
  return { ...signature, inputs: Object.fromEntries(inputs) };
}

/** Whether the JSON is that of a layers model of TensorFlow.js. */
const isLayersModel = ({ format, modelTopology }: Json): boolean => {
  const topology = objectOr(modelTopology);
  return format === 'layers-model' || 'model_config' in topology || 'class_name' in topology;
};

export const readTfjsModel: FormatReader = async (files, path, options) => {
  let model: unknown;
  const text = decodeText(await readFile(files, path));
  try {
    model = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new InvalidArgumentError(`${files.place}: ${path} is damaged: ${error.message}`);
    throw error;
  }
  const { modelTopology, weightsManifest, signature, userDefinedMetadata, modelInitializer } =
    objectOr(model);
  if (isLayersModel(objectOr(model))) {
    const { readLayersModel } = await import('./keras-files.js');
    return readLayersModel(files, path, objectOr(model), options);
  }
  const topology = objectOr(modelTopology);
  if (!Array.isArray(topology.node)) throw new InvalidArgumentError(`${files.place}: ${path} has no graph`);
  const weights = await readWeights(files, folderOf(path), weightsManifest ?? []);
  const nodes = objectsIn(topology.node);
  const initializers = addInitializer(nodes, modelInitializer);
  const library = objectOr(topology.library);
  const functions = objectsIn(library.function);
  fillConstants(nodes, weights);
  for (const body of functions) fillConstants(objectsIn(body.nodeDef), weights);
  const described = completeSignature(objectOr(signature ?? objectOr(userDefinedMetadata).signature), nodes);
  const content = [...weights.values()].reduce((sum, weight) => sum + lengthOf(weight), 0);
  const graphDef = {
    size: content + text.length, // the bytes of a node are fewer than the letters of its JSON
    pieces: () => graphDefPieces({ ...topology, node: nodes }),
  };
  return {
    format: 'TensorFlow.js graph model',
    graphDef,
    signatures: described.outputs
      ? new Map([['serving_default', sortedSignature(SignatureDef.decode(signatureDefOfJson(described)))]])
      : new Map(),
    initializers,
  };
};
