/** The architecture of a model: its layers, and what they are called with, in the forms of Keras 2 and 3. */
import { isPlainObject, shown } from '../base/arguments.js';
import { DataLossError, InvalidArgumentError } from '../base/errors.js';
import { objectOr, objectsIn } from '../base/json.js';
import { Json } from './json.js';
import { Constant, parsePythonJson } from './python-json.js';
import { nameOfLayer } from './layer.js';

/** One value of a model: what call `node` of a layer returned, at place `index`. */
export class Reference {
  constructor(
    readonly layer: string,
    readonly node: number,
    readonly index: number,
  ) {}
}

/** An argument of a call in the architecture. */
export type Described =
  | Reference
  | Constant
  | string
  | number
  | boolean
  | null
  | readonly Described[]
  | { readonly [key: string]: Described };

/** A call of a layer. */
export interface DescribedCall {
  readonly args: readonly Described[];
  readonly kwargs: { readonly [key: string]: Described };
}

const isReferenceList = (value: unknown): value is [string, number, number] =>
  Array.isArray(value) &&
  value.length >= 3 &&
  typeof value[0] === 'string' &&
  value[0] !== 'Ellipsis' &&
  Number.isSafeInteger(value[1]) &&
  Number.isSafeInteger(value[2]) &&
  (value.length === 3 || isPlainObject(value[3]));

/** An argument of Keras 3. */
function argument3(value: unknown): Described {
  if (Array.isArray(value)) return value.map(argument3);
  if (!isPlainObject(value) || value instanceof Constant) return value as Described;
  const config = objectOr(value.config);
  if (value.class_name === '__keras_tensor__') {
    const history = config.keras_history;
    if (!isReferenceList(history)) throw new DataLossError(`${shown(history)} is no value of a model`);
    return new Reference(history[0], history[1], history[2]);
  }
  if (value.class_name === '__tuple__' || value.class_name === '__list__')
    return argument3(config.value ?? value.config);
  if (value.class_name === '__numpy__' || value.class_name === '__tensor__')
    return new Constant(config.value, typeof config.dtype === 'string' ? config.dtype : undefined);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, argument3(item)]));
}

/** A keyword argument of Keras 2: values of the model are written as lists. */
function keyword2(value: unknown): Described {
  if (isReferenceList(value)) {
    const [layer, node, index] = value as unknown as [string, number, unknown];
    return layer === '_CONSTANT_VALUE' ? (index as Described) : new Reference(layer, node, index as number);
  }
  if (Array.isArray(value)) {
    if (value[0] === '_CONSTANT_VALUE' && value[1] === -1) return value[2] as Described;
    return value.map(keyword2);
  }
  if (!isPlainObject(value) || value instanceof Constant) return value as Described;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, keyword2(item)]));
}

/** A call of Keras 2: a list of values; the keyword arguments are beside the first one. */
function call2(node: unknown): DescribedCall {
  const isSingle = Array.isArray(node) && typeof node[0] === 'string';
  const list: unknown[] = isSingle ? [node] : Array.isArray(node) ? node : [];
  const kwargs = list
    .map((item) => (Array.isArray(item) ? objectOr(item[3]) : {}))
    .find((some) => Object.keys(some).length > 0);
  const values = list.map(keyword2);
  return {
    args: [values.length === 1 ? values[0]! : values],
    kwargs: keyword2(kwargs ?? {}) as DescribedCall['kwargs'],
  };
}

/** The calls of a layer. */
export function callsOf(layer: Json): DescribedCall[] {
  const nodes = layer.inbound_nodes;
  if (!Array.isArray(nodes)) return [];
  return nodes.map((node: unknown): DescribedCall => {
    if (!isPlainObject(node)) return call2(node);
    if (!Array.isArray(node.args))
      throw new DataLossError(`layer ${nameOfLayer(layer)} is called without arguments`);
    return {
      args: node.args.map(argument3),
      kwargs: argument3(objectOr(node.kwargs)) as DescribedCall['kwargs'],
    };
  });
}

/** All values that a call needs. */
function needsOf(value: Described): Reference[] {
  if (value instanceof Reference) return [value];
  if (value instanceof Constant) return [];
  if (typeof value !== 'object' || value === null) return [];
  return (Object.values(value) as Described[]).flatMap(needsOf);
}

/**
 * The calls of the layers of a Functional model, by '<layer> <index>'. Keras 2 counts the calls of a model that
 * is inside of another one from 1, because its construction was the first: the last index that is used tells.
 */
export function callsByIndex(model: Json): Map<string, DescribedCall> {
  const layers = layersOf(model).map((layer): [string, DescribedCall[]] => [
    nameOfLayer(layer),
    callsOf(layer),
  ]);
  const needs = [
    ...layers.flatMap(([, calls]) =>
      calls.flatMap(({ args, kwargs }) => [...needsOf(args), ...needsOf(kwargs)]),
    ),
    ...outputsOf(model),
  ];
  const last = new Map<string, number>();
  for (const { layer, node } of needs) last.set(layer, Math.max(node, last.get(layer) ?? 0));
  const found = new Map<string, DescribedCall>();
  for (const [name, calls] of layers) {
    const first = Math.max(0, (last.get(name) ?? 0) - (calls.length - 1));
    for (const [i, call] of calls.entries()) found.set(`${name} ${first + i}`, call);
  }
  return found;
}

/**
 * The outputs of a Functional model. Keras 3 counts the calls of a Functional model that is inside of another one
 * from 1 among the outputs, but from 0 in arguments: here, from 0 as well.
 */
export function outputsOf(model: Json): Reference[] {
  const outputs = referencesIn(objectOr(model.config).output_layers);
  const layers = new Map(layersOf(model).map((layer) => [nameOfLayer(layer), layer]));
  const isFromOne = (name: string): boolean => {
    const json = layers.get(name);
    const calls = objectsIn(json?.inbound_nodes).length;
    if (!json || calls === 0) return false;
    /* The class of a layer that the caller defined need not tell that it is a Functional model. */
    const isFunctional = isModel(json) && !isSequential(json);
    return isFunctional || outputs.some(({ layer, node }) => layer === name && node >= calls);
  };
  return outputs.map(
    ({ layer, node, index }) => new Reference(layer, node - Number(isFromOne(layer)), index),
  );
}

/** The inputs or outputs of a model: one reference, or lists and objects of them. */
export function referencesIn(value: unknown): Reference[] {
  if (isReferenceList(value)) return [new Reference(value[0], value[1], value[2])];
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (isPlainObject(value))
    return Object.keys(value)
      .sort()
      .flatMap((key) => referencesIn(value[key]));
  throw new DataLossError(`${shown(value)} is no input or output of a model`);
}

const MODELS = new Set(['Sequential', 'Functional', 'Model']);
export const isModel = (layer: Json): boolean => MODELS.has(String(layer.class_name)) && hasLayers(layer);
const hasLayers = ({ config }: Json): boolean =>
  Array.isArray(config) || Array.isArray(objectOr(config).layers);
export const isSequential = (layer: Json): boolean => layer.class_name === 'Sequential';

/** The layers of a model; of an old Sequential the config is their list. */
export const layersOf = ({ config }: Json): Json[] =>
  objectsIn(Array.isArray(config) ? config : objectOr(config).layers);

/** Layers that do not say whether they are trained. */
const SILENT = /^(Discretization|InputLayer|SpatialDropout[123]D)$/;

/**
 * The operations of keras.ops in a model have descriptions like layers. The modules of .keras files tell them
 * apart; in HDF5 files only layers say whether they are trained.
 */
function isOperation(layer: Json): boolean {
  if (typeof layer.module === 'string') return /\.ops\.|^keras\.ops/.test(layer.module);
  if (SILENT.test(String(layer.class_name)) || isModel(layer)) return false;
  return objectsIn(layer.inbound_nodes).length > 0 && !('trainable' in objectOr(layer.config));
}

/** The class of a layer; of an operation its name after 'ops.', or after 'tf.' for TensorFlow's in Keras 2. */
export function classOf(layer: Json): string {
  const name = String(layer.class_name);
  if (name === 'TFOpLambda' || name === 'SlicingOpLambda')
    return `tf.${String(objectOr(layer.config).function).replace(/^compat\.v1\./, '')}`;
  return isOperation(layer) ? `ops.${name}` : name;
}

/** The classes that a model needs, with the names of their layers: also those inside of other layers. */
export function classesIn(layer: Json, found = new Map<string, string[]>()): Map<string, string[]> {
  if (isModel(layer)) {
    for (const child of layersOf(layer)) classesIn(child, found);
    return found;
  }
  const name = classOf(layer);
  found.set(name, [...(found.get(name) ?? []), nameOfLayer(layer)]);
  const { layer: wrapped, backward_layer: backward, cell, cells } = objectOr(layer.config);
  for (const inner of [wrapped, backward, cell, ...objectsIn(cells)])
    if (isPlainObject(inner) && typeof inner.class_name === 'string') classesIn(inner, found);
  return found;
}

/** Parses the JSON of an architecture. */
export function parseArchitecture(place: string, text: string): Json {
  let parsed: unknown;
  try {
    parsed = parsePythonJson(text);
  } catch (error) {
    throw new DataLossError(`${place}: the model's description is damaged: ${(error as Error).message}`);
  }
  return checkArchitecture(place, parsed);
}

export function checkArchitecture(place: string, value: unknown): Json {
  const layer = objectOr(value);
  if (isModel(layer)) return layer;
  const name = typeof layer.class_name === 'string' ? layer.class_name : undefined;
  if (name === undefined) throw new DataLossError(`${place} has no description of a Keras model`);
  throw new InvalidArgumentError(
    `${place} is a model of the class ${name}, whose layers are in Python code: only Sequential and Functional models can be built. Save it as a SavedModel instead: model.export(folder)`,
  );
}
