/** Builds the graph of a Keras model from its architecture. */
import { DataLossError, InvalidArgumentError, UnimplementedError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import type { Output, Variable } from '../graph/operation.js';
import { dtypeOf, isDTypeName } from '../tensor/dtypes.js';
import {
  Described,
  DescribedCall,
  Reference,
  callsByIndex,
  classOf,
  classesIn,
  isModel,
  isSequential,
  layersOf,
  outputsOf,
  referencesIn,
} from './architecture.js';
import { objectOr } from '../base/json.js';
import { Json } from './json.js';
import { LAYERS } from './known-layers.js';
import {
  Argument,
  ArgumentObject,
  Call,
  KerasTensor,
  Layer,
  LayerFunction,
  ModelScope,
  nameOfLayer,
} from './layer.js';
import { nodeName } from './ops.js';
import { Constant } from './python-json.js';
import { WeightNode } from './weight-tree.js';

/** A built model: its values by the names that Keras gives them. */
export interface BuiltModel {
  readonly inputs: ReadonlyMap<string, Output>;
  readonly outputs: ReadonlyMap<string, Output>;
  readonly weights: WeightNode;
  /** The parts of `weights` by the names of the model's layers. */
  readonly layers: ReadonlyMap<string, WeightNode>;
  /** Operations to run once. */
  readonly initializers: readonly string[];
  /** Variables that are no weights, and begin with zeros. */
  readonly states: readonly Variable[];
}

const isOperation = (layer: Json): boolean => /^(ops|tf)\./.test(classOf(layer));

/** A model or a part of it while it is built. */
class ModelBuilder {
  readonly nodes = new Map<string, WeightNode>();
  readonly #layers = new Map<string, Layer>();
  readonly #described: ReadonlyMap<string, Json>;
  #calls: ReadonlyMap<string, DescribedCall> | undefined;

  constructor(
    private readonly scope: ModelScope,
    private readonly json: Json,
    node: WeightNode,
    prefix: string,
  ) {
    const layers = layersOf(json);
    this.#described = new Map(layers.map((layer) => [nameOfLayer(layer), layer]));
    for (const layer of layers) {
      /* In a Sequential, inputs are not among the layers. */
      if (layer.class_name === 'InputLayer' || isOperation(layer)) continue;
      const name = nameOfLayer(layer);
      const trainable = objectOr(layer.config).trainable !== false;
      const child = node.listed('layers', String(layer.class_name), `${prefix}${name}`, trainable);
      this.nodes.set(name, child);
    }
  }

  get #what(): string {
    return `model ${nameOfLayer(this.json)}`;
  }

  /** Calls a layer, or a model inside of this one. */
  #call(name: string, call: Call): KerasTensor[] {
    const json = this.#described.get(name);
    if (!json) throw new DataLossError(`${this.#what} has no layer ${name}`);
    return this.#layer(name, json).call(call);
  }

  #layer(name: string, json: Json): Layer {
    let layer = this.#layers.get(name);
    if (!layer) {
      const node = this.nodes.get(name) ?? new WeightNode(name, name, true);
      layer = new Layer(this.scope, json, node, !isOperation(json));
      this.#layers.set(name, layer);
    }
    return layer;
  }

  /** The outputs for inputs. */
  call(inputs: readonly KerasTensor[]): KerasTensor[] {
    return isSequential(this.json) ? this.#sequence(inputs) : this.#functional(inputs);
  }

  #sequence(inputs: readonly KerasTensor[]): KerasTensor[] {
    let values = [...inputs];
    for (const [name, { class_name: className }] of this.#described)
      if (className !== 'InputLayer')
        values = this.#call(name, new Call([values.length === 1 ? values[0]! : values]));
    return values;
  }

  #functional(inputs: readonly KerasTensor[]): KerasTensor[] {
    const given = referencesIn(objectOr(this.json.config).input_layers);
    if (given.length !== inputs.length)
      throw new InvalidArgumentError(
        `${this.#what} has ${given.length} inputs, and is called with ${inputs.length}`,
      );
    const results = new Map(given.map(({ layer, node }, i) => [`${layer} ${node}`, [inputs[i]!]]));
    return outputsOf(this.json).map((reference) => this.#value(results, reference));
  }

  /** A value of the model. Calls that it needs are made first. */
  #value(results: Map<string, KerasTensor[]>, { layer, node, index }: Reference): KerasTensor {
    const key = `${layer} ${node}`;
    let values = results.get(key);
    if (!values) {
      this.#calls ??= callsByIndex(this.json);
      const described = this.#calls.get(key);
      if (!described) throw new DataLossError(`${this.#what} has no call ${node} of layer ${layer}`);
      results.set(key, []); // a model that needs itself finds no value
      const argument = (value: Described): Argument => {
        if (value instanceof Reference) return this.#value(results, value);
        if (value instanceof Constant) return value;
        if (Array.isArray(value)) return (value as readonly Described[]).map(argument);
        return typeof value === 'object' && value !== null
          ? keywords(value as ArgumentObject)
          : (value as Argument);
      };
      const keywords = (object: object): ArgumentObject =>
        Object.fromEntries(Object.entries(object).map(([name, item]) => [name, argument(item as Described)]));
      values = this.#call(layer, new Call(described.args.map(argument), keywords(described.kwargs)));
      results.set(key, values);
    }
    const value = values[index];
    if (!value)
      throw new DataLossError(`${this.#what}: layer ${layer} has no value ${index} at its call ${node}`);
    return value;
  }
}

/** The function of a layer that is a model. Its layers are made once. */
function modelFunctions(): (layer: Layer) => LayerFunction {
  const builders = new Map<Layer, ModelBuilder>();
  return (layer) => {
    const builder =
      builders.get(layer) ?? new ModelBuilder(layer.model, layer.json, layer.node, `${layer.node.name}/`);
    builders.set(layer, builder);
    return (_, call) => builder.call(call.inputs);
  };
}

/** Names as Keras makes them different: a, a_1, a_2. */
function named<T>(entries: readonly (readonly [string, T])[]): Map<string, T> {
  const found = new Map<string, T>();
  for (const [name, value] of entries) {
    let unique = name;
    for (let i = 1; found.has(unique); i++) unique = `${name}_${i}`;
    found.set(unique, value);
  }
  return found;
}

type Shape = (number | null)[];

/** The shape and dtype in the config of an input, or of the first layer of a Sequential. */
function inputOf(place: string, json: Json): { shape: Shape; dtype: string } | undefined {
  const config = objectOr(json.config);
  const shape =
    config.batch_shape ??
    config.batch_input_shape ??
    config.build_input_shape ??
    objectOr(json.build_config).input_shape;
  if (shape === undefined || shape === null) return undefined;
  if (!Array.isArray(shape) || !shape.every((size) => size === null || Number.isSafeInteger(size)))
    throw new InvalidArgumentError(`${place}: the shape of input ${nameOfLayer(json)} is not valid`);
  const dtype = typeof config.dtype === 'string' ? config.dtype : 'float32';
  if (config.sparse === true || config.ragged === true)
    throw new UnimplementedError(
      `${place}: input ${nameOfLayer(json)} is sparse or ragged, which is not supported`,
    );
  return { shape: shape as Shape, dtype };
}

/** The inputs of the whole model, with the descriptions of their layers. */
function inputsOf(place: string, model: Json): [string, { shape: Shape; dtype: string }][] {
  const layers = layersOf(model);
  if (!isSequential(model)) {
    const byName = new Map(layers.map((layer) => [nameOfLayer(layer), layer]));
    return referencesIn(objectOr(model.config).input_layers).map(({ layer }) => {
      const input = byName.has(layer) ? inputOf(place, byName.get(layer)!) : undefined;
      if (!input) throw new DataLossError(`${place}: input ${layer} of the model is not described`);
      return [layer, input];
    });
  }
  const [first] = layers;
  if (!first) throw new DataLossError(`${place}: the model has no layers`);
  if (isModel(first) && inputOf(place, first) === undefined) return inputsOf(place, first);
  const input = inputOf(place, first) ?? inputOf(place, model);
  if (!input)
    throw new InvalidArgumentError(
      `${place}: the model was saved before it was built, so that its input has no shape`,
    );
  const name = nameOfLayer(first);
  return [[first.class_name === 'InputLayer' ? name : `${name}_input`, input]];
}

/** The names of the outputs: those of the layers that make them. */
function outputNames(model: Json): string[] {
  if (!isSequential(model))
    return referencesIn(objectOr(model.config).output_layers).map(({ layer }) => layer);
  return [nameOfLayer(layersOf(model).at(-1)!)];
}

/** Refuses a model with layers that are not known: one error names all. */
function checkClasses(place: string, model: Json, functions: ReadonlyMap<string, LayerFunction>): void {
  const unknown = [...classesIn(model)].filter(([name]) => name !== 'InputLayer' && !functions.has(name));
  if (unknown.length === 0) return;
  const list = unknown.map(
    ([name, layers]) => `${name} (${layers.slice(0, 3).join(', ')}${layers.length > 3 ? ', …' : ''})`,
  );
  throw new UnimplementedError(`${place} has layers that are not known: ${list.join(', ')}`).hint(
    'Define them with tf.load(source, { keras: { layers: { Name: (layer, inputs) => output } } }), or save the model as a SavedModel: model.export(folder)',
  );
}

export interface BuildOptions {
  readonly isKeras3: boolean;
  /** The user's layers. */
  readonly layers?: ReadonlyMap<string, LayerFunction>;
  /** What layers saved besides weights: texts by paths like layers/string_lookup/vocabulary.txt. */
  readonly assets?: ReadonlyMap<string, string>;
}

/** Adds the model to the graph. `place` names the model in errors. */
export function buildModel(place: string, graph: Graph, model: Json, options: BuildOptions): BuiltModel {
  const functions = new Map([...LAYERS, ...(options.layers ?? [])]);
  checkClasses(place, model, functions);
  const functionOfModel = modelFunctions();
  const scope: ModelScope = {
    graph,
    isKeras3: options.isKeras3,
    assetOf: (path) => options.assets?.get(path),
    initializers: [],
    states: [],
    functionOf: (layer) =>
      isModel(layer.json) ? functionOfModel(layer) : functions.get(classOf(layer.json))!,
  };
  const inputs = inputsOf(place, model).map(([name, { shape, dtype }]): [string, Output] => {
    if (!isDTypeName(dtype)) throw new InvalidArgumentError(`${place}: input ${name} is of ${dtype}`);
    return [name, graph.placeholder(dtypeOf(dtype), shape, { name: graph.uniqueName(nodeName(name)) })];
  });
  const weights = new WeightNode('', '', objectOr(model.config).trainable !== false);
  /* Keras 3 builds the layers of a Sequential in its name. */
  const prefix = options.isKeras3 && isSequential(model) ? `${nameOfLayer(model)}/` : '';
  const builder = new ModelBuilder(scope, model, weights, prefix);
  const values = builder.call(inputs.map(([, output]) => ({ output })));
  const names = outputNames(model);
  const outputs = values.map(({ output }, i): [string, Output] => [names[i] ?? names.at(-1)!, output]);
  return {
    inputs: named(inputs),
    outputs: named(outputs),
    weights,
    layers: builder.nodes,
    initializers: scope.initializers,
    states: scope.states,
  };
}
