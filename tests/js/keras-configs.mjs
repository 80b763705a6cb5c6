// Small Keras models as their configs describe them, with weights beside: the files of a layers model.

/** An input layer. */
export const input = (name, sizes, dtype = 'float32') => ({
  module: 'keras.layers',
  class_name: 'InputLayer',
  name,
  config: { name, dtype, batch_shape: [null, ...sizes] },
  inbound_nodes: [],
});

/** A layer; `calls` are as `call` or `call2` make them. */
export const layer = (className, name, config, ...calls) => ({
  module: 'keras.layers',
  class_name: className,
  name,
  config: { name, ...config },
  inbound_nodes: calls,
});

/** A value as an argument in Keras 3: what call `node` of a layer returned. */
export const from = (name, node = 0, index = 0) => ({
  class_name: '__keras_tensor__',
  config: { dtype: 'float32', shape: null, keras_history: [name, node, index] },
});

/** A call in Keras 3. */
export const call = (args, kwargs = {}) => ({ args, kwargs });

/** A call in Keras 2; values are [layer, node, index]. */
export const call2 = (values, kwargs = {}) => values.map((value, i) => [...value, i === 0 ? kwargs : {}]);

/** A Functional model, which can also be a layer of another one. */
export const functional = (name, layers, inputs, outputs, ...calls) =>
  layer(
    'Functional',
    name,
    { layers, input_layers: inputs.map((own) => [own, 0, 0]), output_layers: outputs },
    ...calls,
  );

/** The files of the model; `weights`: numbers and shapes by names. */
export function filesOf(model, { version = '3.15.0', weights = {} } = {}) {
  const entries = Object.entries(weights);
  const numbers = Float32Array.from(entries.flatMap(([, { values }]) => values));
  return {
    'model.json': JSON.stringify({
      format: 'layers-model',
      modelTopology: { keras_version: version, model_config: model },
      weightsManifest: [
        {
          paths: ['weights.bin'],
          weights: entries.map(([name, { shape }]) => ({ name, shape, dtype: 'float32' })),
        },
      ],
    }),
    'weights.bin': new Uint8Array(numbers.buffer),
  };
}
