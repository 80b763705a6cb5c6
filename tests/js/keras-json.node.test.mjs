// The descriptions in .keras files, which Python writes: Infinity, NaN, and numbers with a point.
import assert from 'node:assert/strict';
import * as h5wasm from 'h5wasm';
import { engine } from './engine.mjs';
import { withModel } from './keras-cases.mjs';
import { call, from, functional, input, layer } from './keras-configs.mjs';

const x = from('x');

/** An HDF5 file without weights. */
async function emptyFile() {
  const { FS } = await h5wasm.ready;
  new h5wasm.File('empty.h5', 'w').close();
  const bytes = FS.readFile('empty.h5');
  FS.unlink('empty.h5');
  return bytes;
}

describe('descriptions of Keras models', () => {
  let tf;
  let weights;
  before(async () => {
    tf = await engine();
    weights = await emptyFile();
  });

  /** What an operation makes of numbers. In its description, $NaN stands for NaN, and $2.0 for 2.0. */
  async function computed(values, dtype, className, config, args = [x], name = 'op') {
    const model = functional(
      'model',
      [
        input('x', [values.length], dtype),
        { ...layer(className, name, config, call(args)), module: 'keras.ops' },
      ],
      ['x'],
      [[name, 0, 0]],
    );
    const files = {
      'config.json': JSON.stringify(model).replace(/"\$([^"]+)"/g, '$1'),
      'metadata.json': '{"keras_version": "3.15.0"}',
      'model.weights.h5': weights,
    };
    return withModel(tf, files, async (loaded) => {
      const [[key, result]] = Object.entries(await loaded.run(tf.tensor(values, [1, values.length], dtype)));
      return { key, dtype: result.dtype, values: [...result.data].map(Number) };
    });
  }

  it('have infinite settings', async () => {
    const config = { ord: '$Infinity', axis: [1], keepdims: false };
    assert.deepEqual((await computed([1, -3], 'float32', 'Norm', config)).values, [3]);
    assert.deepEqual(
      (await computed([1, -3], 'float32', 'Norm', { ...config, ord: '$-Infinity' })).values,
      [1],
    );
  });

  it('have infinite constants, and such that are no numbers', async () => {
    const least = await computed([1, -3], 'float32', 'Maximum', {}, [x, '$-Infinity']);
    assert.deepEqual(least, { key: 'op', dtype: 'float32', values: [1, -3] });
    const array = { class_name: '__numpy__', config: { value: ['$NaN', '$Infinity'], dtype: 'float32' } };
    assert.deepEqual((await computed([1, 2], 'float32', 'Add', {}, [x, array])).values, [NaN, Infinity]);
    assert.deepEqual((await computed([1], 'float32', 'Add', {}, [x, '$NaN'])).values, [NaN]);
  });

  it('have names with any words in them', async () => {
    for (const name of ['NaN', 'a -Infinity, [2.0', 'say \\"NaN\\" ]', 'inbound_nodes'])
      assert.equal((await computed([1], 'float32', 'Negative', {}, [x], name)).key, name);
  });

  it('have constants that are floating-point because of their point', async () => {
    const times = async (text) => computed([3], 'int32', 'Multiply', {}, [x, text]);
    assert.deepEqual(await times('$2.0'), { key: 'op', dtype: 'float32', values: [6] });
    assert.deepEqual(await times('$2e0'), { key: 'op', dtype: 'float32', values: [6] });
    assert.deepEqual(await times(2), { key: 'op', dtype: 'int32', values: [6] });
    const mask = await computed([1, 0], 'bool', 'Multiply', {}, [x, '$1.0']);
    assert.deepEqual(mask, { key: 'op', dtype: 'float32', values: [1, 0] });
  });

  it('that are damaged are refused', () =>
    assert.rejects(
      tf.load({
        'config.json': '{"class_name": Infinite}',
        'metadata.json': '{}',
        'model.weights.h5': weights,
      }),
      /the model's description is damaged/,
    ));
});
