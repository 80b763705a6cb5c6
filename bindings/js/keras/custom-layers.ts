/** Layers that users define: options of tf.load. */
import { checkFunction, checkOptions } from '../base/arguments.js';
import type { Graph } from '../graph/graph.js';
import type { Output } from '../graph/operation.js';
import type { Json } from './json.js';
import type { LayerFunction } from './layer.js';

/** A layer of the model while its operations are added to the graph. */
export interface KerasLayer {
  readonly graph: Graph;
  readonly name: string;
  /** Its configuration, as its class in Python describes itself. */
  readonly config: Json;
  /** The value of a weight. Call it in the order in which the class in Python adds its weights. */
  weight(name: string, shape: readonly number[], options?: { trainable?: boolean }): Output;
}

/** Adds what a layer does for the values that it is called with. */
export type KerasLayerFunction = (layer: KerasLayer, inputs: readonly Output[]) => Output | readonly Output[];

export interface KerasOptions {
  /** Layers of a model that are not Keras' own, by the names of their classes. */
  layers?: Readonly<Record<string, KerasLayerFunction>>;
}

const asLayer =
  (use: KerasLayerFunction): LayerFunction =>
  (layer, call) => {
    const face: KerasLayer = {
      graph: layer.graph,
      name: layer.name,
      config: layer.config.json,
      weight: (name, shape, { trainable = true } = {}) => layer.weight(name, shape, { trainable }),
    };
    const result = use(
      face,
      call.inputs.map(({ output }) => output),
    );
    return Array.isArray(result)
      ? (result as readonly Output[]).map((output) => ({ output }))
      : (result as Output);
  };

/** The user's layers, by the names of their classes. */
export function customLayers(options: KerasOptions = {}): Map<string, LayerFunction> {
  checkOptions<KerasOptions>('keras', options, { layers: 'an object' });
  const entries = Object.entries(options.layers ?? {});
  for (const [name, use] of entries) checkFunction(`option 'keras.layers.${name}'`, use);
  return new Map(entries.map(([name, use]) => [name, asLayer(use)]));
}
