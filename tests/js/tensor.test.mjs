import assert from 'node:assert/strict';
import { InvalidArgumentError, Tensor } from '../../npm/dist/index.js';
import { engine } from './engine.mjs';

describe('tf.tensor', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('guesses the dtype: numbers are float32, bigints int64, typed arrays what they are', () => {
    const cases = [
      [1.5, 'float32'], [[1, 2], 'float32'], [3n, 'int64'], [[true, false], 'bool'], ['text', 'string'], [[], 'float32'],
      [new Float32Array(2), 'float32'], [new Float64Array(2), 'float64'], [new Int8Array(2), 'int8'], [new Uint8Array(2), 'uint8'],
      [new Uint8ClampedArray(2), 'uint8'], [new Int16Array(2), 'int16'], [new Uint16Array(2), 'uint16'], [new Int32Array(2), 'int32'],
      [new Uint32Array(2), 'uint32'], [new BigInt64Array(2), 'int64'], [new BigUint64Array(2), 'uint64'],
      [[new Int32Array(2), new Int32Array(2)], 'int32'],
    ];
    for (const [value, dtype] of cases) assert.equal(tf.tensor(value).dtype, dtype);
  });

  it('reads shapes from nested arrays, typed arrays and tensors', () => {
    assert.deepEqual(tf.tensor(7).shape, []);
    assert.deepEqual(tf.tensor([[1, 2, 3], [4, 5, 6]]).shape, [2, 3]);
    assert.deepEqual(tf.tensor([[], []]).shape, [2, 0]);
    assert.deepEqual(tf.tensor([new Float32Array(3), new Float32Array(3)]).shape, [2, 3]);
    assert.deepEqual(tf.tensor([tf.tensor([[1, 2]]), tf.tensor([[3, 4]])]).shape, [2, 1, 2]);
    assert.deepEqual([...tf.tensor([tf.tensor([[1, 2]]), tf.tensor([[3, 4]])]).data], [1, 2, 3, 4]);
    assert.deepEqual(tf.tensor(new Float32Array(6), [2, 3]).shape, [2, 3]);
    assert.deepEqual(tf.tensor([[1, 2], [3, 4]], [4]).shape, [4]);
  });

  it('converts elements to the dtype asked for', () => {
    assert.deepEqual(tf.tensor([1, 2], undefined, 'int32').data, Int32Array.of(1, 2));
    assert.deepEqual(tf.tensor([1, 2n], undefined, 'int64').data, BigInt64Array.of(1n, 2n));
    assert.deepEqual(tf.tensor([true, 0, 5], undefined, 'bool').data, Uint8Array.of(1, 0, 1));
    assert.deepEqual(tf.tensor(new Int32Array([3, 4]), undefined, 'float64').data, Float64Array.of(3, 4));
    assert.deepEqual(tf.tensor([2n ** 63n - 1n], undefined, 'int64').data, BigInt64Array.of(9223372036854775807n));
    for (const name of ['float32', 'float', 'DT_FLOAT']) assert.equal(tf.tensor([1], undefined, name).dtype, 'float32');
    assert.equal(tf.tensor([1], undefined, 'double').dtype, 'float64');
    assert.equal(tf.tensor(new Uint16Array([0x3c00]), undefined, 'half').dtype, 'float16');
  });

  it('takes typed arrays over without a copy', () => {
    const data = Float32Array.of(1, 2, 3, 4);
    assert.equal(tf.tensor(data, [2, 2]).data, data);
  });

  it('refuses ragged arrays and what does not fit the dtype or the shape', () => {
    const bad = [
      [[[1, 2], [3]]], [[[1], 2]], [[1, [2]]], [[[[1]], [[2, 3]]]], // ragged
      [[1.5], undefined, 'int32'], [[2 ** 31], undefined, 'int32'], [[-1], undefined, 'uint8'], [[256], undefined, 'uint8'], [[NaN], undefined, 'int32'],
      [[1.5], undefined, 'int64'], [['1'], undefined, 'float32'], [[1], undefined, 'string'], [[null]], [[undefined]], [[{}]],
      [[1, 2, 3], [2, 2]], [[1, 2], [-2]], [[1, 2], [2.5]], [new Float32Array(3), [2]], [[1, 2], undefined, 'complex64'], [1, undefined, 'nonsense'],
    ];
    for (const args of bad) assert.throws(() => tf.tensor(...args), InvalidArgumentError, JSON.stringify(args.map(String)));
  });

  it('gives values back as nested arrays and single items', () => {
    const matrix = tf.tensor([[1, 2], [3, 4]]);
    assert.deepEqual(matrix.array(), [[1, 2], [3, 4]]);
    assert.equal(tf.tensor(5).array(), 5);
    assert.equal(tf.tensor([[8]]).item(), 8);
    assert.equal(tf.tensor([7n]).item(), 7n);
    assert.equal(tf.tensor(true).item(), true);
    assert.deepEqual(tf.tensor([[true], [false]]).array(), [[true], [false]]);
    assert.deepEqual(tf.tensor([[], []]).array(), [[], []]);
    assert.throws(() => matrix.item(), InvalidArgumentError);
    assert.equal(matrix.size, 4);
    assert.equal(String(tf.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])), 'Tensor<float32 [2,4]: 1, 2, 3, 4, 5, 6, …>');
    assert.ok(matrix instanceof Tensor);
  });

  it('keeps every dtype through a graph and back', async () => {
    const g = new tf.Graph();
    const session = new tf.Session(g);
    const values = [
      Float32Array.of(1.5, -0, NaN), Float64Array.of(1e300, -Infinity, 0.1), Int32Array.of(-2147483648, 0, 2147483647), Uint8Array.of(0, 1, 255),
      Int8Array.of(-128, 0, 127), Uint16Array.of(0, 1, 65535), Int16Array.of(-32768, 0, 32767), Uint32Array.of(0, 1, 4294967295),
      BigInt64Array.of(-(2n ** 63n), 0n, 2n ** 63n - 1n), BigUint64Array.of(0n, 1n, 2n ** 64n - 1n),
    ];
    for (const data of values) {
      const constant = g.constant(data);
      const [fed, fetched] = await session.run([g.identity(constant), constant], new Map([[constant, data]]));
      assert.deepEqual([fed.data, fed.dtype], [data, constant.dtype]);
      assert.deepEqual(fetched.data, data);
      assert.deepEqual(constant.operation.attr('value').data, data);
      assert.deepEqual((await session.run(constant)).data, data);
    }
    for (const [dtype, data] of [['float16', Uint16Array.of(0x3c00, 0xfbff)], ['bfloat16', Uint16Array.of(0x3f80)], ['bool', Uint8Array.of(1, 0)]]) {
      const result = await session.run(g.identity(g.constant(data, { dtype })));
      assert.deepEqual([result.dtype, result.data], [dtype, data]);
    }
    await session.close();
    g.dispose();
  });
});
