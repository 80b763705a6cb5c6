/** Layers with matrices: Dense, Embedding, EinsumDense. */
import type { Output } from '../../graph/operation.js';
import { activate } from '../activations.js';
import type { Layer, LayerFunction } from '../layer.js';

/** Adds the bias if the layer has one, and applies the activation. */
export function finish(layer: Layer, x: Output, filters: number): Output {
  const { config } = layer;
  const biased = config.bool('use_bias', true)
    ? layer.op('BiasAdd', [x, layer.weight('bias', [filters])])
    : x;
  return activate(layer, biased, config.value('activation'));
}

const dense: LayerFunction = (layer, { input }) => {
  const units = layer.config.int('units');
  const kernel = layer.weight('kernel', [layer.known(input, -1), units]);
  return finish(layer, layer.timesMatrix(input, kernel), units);
};

const embedding: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const table = layer.weight('embeddings', [config.int('input_dim'), config.int('output_dim')]);
  const indices = /int/.test(input.dtype) ? input : layer.cast(input, 'int32');
  const output = layer.op('GatherV2', [table, indices, 0]);
  const mask = config.bool('mask_zero', false) ? layer.op('NotEqual', [indices, 0]) : undefined;
  return { output, mask };
};

export const DENSE: Readonly<Record<string, LayerFunction>> = { Dense: dense, Embedding: embedding };
