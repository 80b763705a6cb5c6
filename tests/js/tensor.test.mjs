import assert from 'node:assert/strict';
import { InvalidArgumentError, Tensor } from '../../npm/dist/index.js';
import { engine } from './engine.mjs';

describe('tf.tensor', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('guesses the dtype: numbers are float32, bigints int64, typed arrays what they are', () => {
    const cases = [
      [1.5, 'float32'],
      [[1, 2], 'float32'],
      [3n, 'int64'],
      [[true, false], 'bool'],
      ['text', 'string'],
      [[], 'float32'],
      [new Float32Array(2), 'float32'],
      [new Float64Array(2), 'float64'],
      [new Int8Array(2), 'int8'],
      [new Uint8Array(2), 'uint8'],
      [new Uint8ClampedArray(2), 'uint8'],
      [new Int16Array(2), 'int16'],
      [new Uint16Array(2), 'uint16'],
      [new Int32Array(2), 'int32'],
      [new Uint32Array(2), 'uint32'],
      [new BigInt64Array(2), 'int64'],
      [new BigUint64Array(2), 'uint64'],
      [[new Int32Array(2), new Int32Array(2)], 'int32'],
    ];
    for (const [value, dtype] of cases) assert.equal(tf.tensor(value).dtype, dtype);
  });

  it('reads shapes from nested arrays, typed arrays and tensors', () => {
    assert.deepEqual(tf.tensor(7).shape, []);
    assert.deepEqual(
      tf.tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]).shape,
      [2, 3],
    );
    assert.deepEqual(tf.tensor([[], []]).shape, [2, 0]);
    assert.deepEqual(tf.tensor([new Float32Array(3), new Float32Array(3)]).shape, [2, 3]);
    assert.deepEqual(tf.tensor([tf.tensor([[1, 2]]), tf.tensor([[3, 4]])]).shape, [2, 1, 2]);
    assert.deepEqual([...tf.tensor([tf.tensor([[1, 2]]), tf.tensor([[3, 4]])]).data], [1, 2, 3, 4]);
    assert.deepEqual(tf.tensor(new Float32Array(6), [2, 3]).shape, [2, 3]);
    assert.deepEqual(
      tf.tensor(
        [
          [1, 2],
          [3, 4],
        ],
        [4],
      ).shape,
      [4],
    );
  });

  it('converts elements to the dtype asked for', () => {
    assert.deepEqual(tf.tensor([1, 2], undefined, 'int32').data, Int32Array.of(1, 2));
    assert.deepEqual(tf.tensor([1, 2n], undefined, 'int64').data, BigInt64Array.of(1n, 2n));
    assert.deepEqual(tf.tensor([true, 0, 5], undefined, 'bool').data, Uint8Array.of(1, 0, 1));
    assert.deepEqual(tf.tensor(new Int32Array([3, 4]), undefined, 'float64').data, Float64Array.of(3, 4));
    assert.deepEqual(
      tf.tensor([2n ** 63n - 1n], undefined, 'int64').data,
      BigInt64Array.of(9223372036854775807n),
    );
    for (const name of ['float32', 'float', 'DT_FLOAT'])
      assert.equal(tf.tensor([1], undefined, name).dtype, 'float32');
    assert.equal(tf.tensor([1], undefined, 'double').dtype, 'float64');
    assert.equal(tf.tensor(new Uint16Array([0x3c00]), undefined, 'half').dtype, 'float16');
  });

  it('rounds numbers to half and bfloat16, to nearest and ties to even', () => {
    /* Half: 11 bits, smallest 2^-24, 65520 and above are infinite; bfloat16: the upper half of a float32. */
    const halves = [
      [1, 0x3c00],
      [-2, 0xc000],
      [0, 0],
      [-0, 0x8000],
      [65504, 0x7bff],
      [65519.99, 0x7bff],
      [65520, 0x7c00],
      [-Infinity, 0xfc00],
      [2 ** -24, 1],
      [2 ** -25, 0],
      [3 * 2 ** -25, 2],
      [2 ** -25 * 1.0001, 1],
      [2 ** -14, 0x0400],
      [1023 * 2 ** -24, 0x03ff],
      [1023.5 * 2 ** -24, 0x0400],
      [1 + 2 ** -11, 0x3c00],
      [1 + 3 * 2 ** -11, 0x3c02],
      [1 + 2 ** -11 + 2 ** -40, 0x3c01],
      [0.1, 0x2e66],
      [2047.5, 0x6800],
    ];
    for (const [value, bits] of halves)
      assert.equal(tf.tensor(value, undefined, 'half').data[0], bits, `${value}`);
    const brains = [
      [1, 0x3f80],
      [-0, 0x8000],
      [Infinity, 0x7f80],
      [1 + 2 ** -8, 0x3f80],
      [1 + 3 * 2 ** -8, 0x3f82],
      [1 + 2 ** -8 + 2 ** -20, 0x3f81],
      [3.4e38, 0x7f80],
      [0.1, 0x3dcd],
    ];
    for (const [value, bits] of brains)
      assert.equal(tf.tensor(value, undefined, 'bfloat16').data[0], bits, `${value}`);
    for (const dtype of ['float16', 'bfloat16']) {
      const all = tf.tensor(
        Uint16Array.from({ length: 65536 }, (_, i) => i),
        undefined,
        dtype,
      );
      const again = tf.tensor(all.array(), undefined, dtype);
      const values = all.array();
      assert.ok(all.data.every((bits, i) => again.data[i] === bits || Number.isNaN(values[i])));
      assert.equal(values.filter(Number.isNaN).length, dtype === 'float16' ? 2 * 1023 : 2 * 127);
    }
    assert.deepEqual(
      tf.tensor(tf.tensor([0.5, 3], undefined, 'half'), undefined, 'float32').data,
      Float32Array.of(0.5, 3),
    );
    assert.deepEqual(
      tf.tensor(Float32Array.of(0.5, 3), undefined, 'bfloat16').data,
      Uint16Array.of(0x3f00, 0x4040),
    );
    assert.equal(tf.tensor(Uint16Array.of(0x3c00), undefined, 'half').item(), 1);
    if (globalThis.Float16Array) {
      const value = tf.tensor(globalThis.Float16Array.of(1.5, -2));
      assert.deepEqual(
        [value.dtype, value.array(), value.data],
        ['float16', [1.5, -2], Uint16Array.of(0x3e00, 0xc000)],
      );
    }
  });

  it('has complex numbers as objects of two parts', () => {
    const value = tf.tensor(
      [
        [{ re: 1, im: 2 }, 3],
        [0, { re: -1, im: 0.5 }],
      ],
      undefined,
      'complex128',
    );
    assert.deepEqual(
      [value.shape, [...value.data]],
      [
        [2, 2],
        [1, 2, 3, 0, 0, 0, -1, 0.5],
      ],
    );
    assert.deepEqual(value.array(), [
      [
        { re: 1, im: 2 },
        { re: 3, im: 0 },
      ],
      [
        { re: 0, im: 0 },
        { re: -1, im: 0.5 },
      ],
    ]);
    assert.equal(String(value), 'Tensor<complex128 [2,2]: (1,2), (3,0), (0,0), (-1,0.5)>');
    assert.deepEqual(
      [tf.tensor({ re: 1, im: 2 }).dtype, tf.tensor({ re: 1, im: 2 }).item()],
      ['complex64', { re: 1, im: 2 }],
    );
    assert.deepEqual(tf.tensor(Float32Array.of(1, 2, 3, 4), [2], 'complex64').array(), [
      { re: 1, im: 2 },
      { re: 3, im: 4 },
    ]);
  });

  it('takes typed arrays over without a copy', () => {
    const data = Float32Array.of(1, 2, 3, 4);
    assert.equal(tf.tensor(data, [2, 2]).data, data);
  });

  it('refuses ragged arrays and what does not fit the dtype or the shape', () => {
    const bad = [
      [[[1, 2], [3]]],
      [[[1], 2]],
      [[1, [2]]],
      [[[[1]], [[2, 3]]]], // ragged
      [[1.5], undefined, 'int32'],
      [[2 ** 31], undefined, 'int32'],
      [[-1], undefined, 'uint8'],
      [[256], undefined, 'uint8'],
      [[NaN], undefined, 'int32'],
      [[1.5], undefined, 'int64'],
      [['1'], undefined, 'float32'],
      [[1], undefined, 'string'],
      [[null]],
      [[undefined]],
      [[{}]],
      [
        [1, 2, 3],
        [2, 2],
      ],
      [[1, 2], [-2]],
      [[1, 2], [2.5]],
      [new Float32Array(3), [2]],
      [new Float32Array(2), undefined, 'complex64'],
      [[2n ** 63n], undefined, 'int64'],
      [[-1n], undefined, 'uint64'],
      [[8], undefined, 'int4'],
      [[{ re: 1, im: 2 }], undefined, 'float32'],
      [['a'], undefined, 'half'],
      [[1, 'a']],
      [['a', 1]],
      [new Float32Array(1), undefined, 'string'],
      [[new Uint8Array(2), 'a']],
      [1, undefined, 'resource'],
      [1, undefined, 'nonsense'],
    ];
    for (const args of bad)
      assert.throws(() => tf.tensor(...args), InvalidArgumentError, JSON.stringify(args.map(String)));
  });

  it('has as much data as its shape says, of the kind that its dtype has', () => {
    const text = new Uint8Array(1);
    for (const good of [
      ['float32', [2], new Float32Array(2)],
      ['complex64', [2], new Float32Array(4)],
      ['float32', [0, 3], new Float32Array(0)],
      ['float32', [], new Float32Array(1)],
      ['string', [2], ['a', 'b']],
      ['string', [1], [text]],
      ['resource', [], []],
    ]) {
      assert.equal(new Tensor(...good).data, good[2]);
    }
    const bad = [
      ['float32', [2], new Float32Array(3)],
      ['float32', [2], new Float32Array(1)],
      ['float32', [], new Float32Array(0)],
      ['complex64', [2], new Float32Array(2)],
      ['float32', [2 ** 31, 2 ** 31], new Float32Array(0)],
      ['float32', [2 ** 53, 2 ** 53], new Float32Array(1)],
      ['int64', [1], new BigInt64Array(2 ** 16)],
      ['string', [1], ['a', 'b']],
      ['string', [3], ['a', 'b']],
      ['string', [1], [7]],
      ['string', [1], 'a'],
      ['resource', [], [1]],
      ['float32', [2], new Float64Array(2)],
      ['float32', [2], [1, 2]],
      ['float32', [1], new DataView(new ArrayBuffer(4))],
      ['float32', [1], undefined],
      ['int32', [1], 5],
      ['float32', [-1], new Float32Array(1)],
      ['float32', [1.5], new Float32Array(1)],
      ['float32', [NaN], new Float32Array(0)],
      ['float32', ['2'], new Float32Array(2)],
      ['float32', 2, new Float32Array(2)],
      ['float', [1], new Float32Array(1)],
      ['nonsense', [1], new Float32Array(1)],
    ];
    for (const args of bad) assert.throws(() => new Tensor(...args), InvalidArgumentError, String(args));
    assert.throws(() => new Tensor('float32', [2], new Float32Array(3)), {
      message: 'a tensor of dtype float32 and shape [2] has 2 items of data, not 3',
    });
  });

  it('is refused where it is fed, when its data or its shape is no longer what it was', async () => {
    const g = new tf.Graph();
    const session = new tf.Session(g);
    const before = tf.tensor(Float32Array.from({ length: 1000 }, (_, i) => i));
    const [x, s] = [g.placeholder('float32', null), g.placeholder('string', null)];
    const [y, t] = [g.identity(x), g.identity(s)];
    const changed = {
      detached: () => {
        const value = tf.tensor(new Float32Array(4));
        structuredClone(value.data, { transfer: [value.data.buffer] });
        return value;
      },
      'of another shape': () => {
        const value = tf.tensor(new Float32Array(4));
        value.shape[0] = 2 ** 20;
        return value;
      },
      'of another rank': () => {
        const value = tf.tensor(new Float32Array(4));
        value.shape.push(2);
        return value;
      },
    };
    if ('resizable' in ArrayBuffer.prototype) {
      for (const bytes of [8, 4096]) {
        changed[`resized to ${bytes}`] = () => {
          const buffer = new ArrayBuffer(16, { maxByteLength: 4096 });
          const value = tf.tensor(new Float32Array(buffer));
          buffer.resize(bytes);
          return value;
        };
      }
    }
    for (const [how, make] of Object.entries(changed))
      await assert.rejects(session.run(y, new Map([[x, make()]])), InvalidArgumentError, how);
    const strings = {
      longer: (value) => value.data.push('c'),
      shorter: (value) => value.data.pop(),
      'of numbers': (value) => (value.data[0] = 5),
    };
    for (const [how, change] of Object.entries(strings)) {
      const value = tf.tensor(['a', 'b']);
      change(value);
      await assert.rejects(session.run(t, new Map([[s, value]])), InvalidArgumentError, how);
    }
    assert.deepEqual((await session.run(y, new Map([[x, before]]))).data, before.data);
    await session.close();
    g.dispose();
  });

  it('gives values back as nested arrays and single items', () => {
    const matrix = tf.tensor([
      [1, 2],
      [3, 4],
    ]);
    assert.deepEqual(matrix.array(), [
      [1, 2],
      [3, 4],
    ]);
    assert.equal(tf.tensor(5).array(), 5);
    assert.equal(tf.tensor([[8]]).item(), 8);
    assert.equal(tf.tensor([7n]).item(), 7n);
    assert.equal(tf.tensor(true).item(), true);
    assert.deepEqual(tf.tensor([[true], [false]]).array(), [[true], [false]]);
    assert.deepEqual(tf.tensor([[], []]).array(), [[], []]);
    assert.throws(() => matrix.item(), InvalidArgumentError);
    assert.equal(matrix.size, 4);
    assert.equal(
      String(
        tf.tensor([
          [1, 2, 3, 4],
          [5, 6, 7, 8],
        ]),
      ),
      'Tensor<float32 [2,4]: 1, 2, 3, 4, 5, 6, …>',
    );
    assert.ok(matrix instanceof Tensor);
  });

  it('keeps every dtype through a graph and back', async () => {
    const g = new tf.Graph();
    const session = new tf.Session(g);
    const values = [
      Float32Array.of(1.5, -0, NaN),
      Float64Array.of(1e300, -Infinity, 0.1),
      Int32Array.of(-2147483648, 0, 2147483647),
      Uint8Array.of(0, 1, 255),
      Int8Array.of(-128, 0, 127),
      Uint16Array.of(0, 1, 65535),
      Int16Array.of(-32768, 0, 32767),
      Uint32Array.of(0, 1, 4294967295),
      BigInt64Array.of(-(2n ** 63n), 0n, 2n ** 63n - 1n),
      BigUint64Array.of(0n, 1n, 2n ** 64n - 1n),
    ];
    for (const data of values) {
      const constant = g.constant(data);
      const [fed, fetched] = await session.run([g.identity(constant), constant], new Map([[constant, data]]));
      assert.deepEqual([fed.data, fed.dtype], [data, constant.dtype]);
      assert.deepEqual(fetched.data, data);
      assert.deepEqual(constant.operation.attr('value').data, data);
      assert.deepEqual((await session.run(constant)).data, data);
    }
    const bits = {
      float16: Uint16Array.of(0x3c00, 0xfbff, 0x7e00),
      bfloat16: Uint16Array.of(0x3f80, 1, 0xff80),
      bool: Uint8Array.of(1, 0, 1),
      complex64: Float32Array.of(1, -2, 0.5, Infinity, -0, 3),
      complex128: Float64Array.of(1, -2, 0.1, 1e300, -0, 3),
      qint8: Int8Array.of(-128, 0, 127),
      quint8: Uint8Array.of(0, 7, 255),
      qint16: Int16Array.of(-32768, 0, 9),
      quint16: Uint16Array.of(0, 1, 65535),
      qint32: Int32Array.of(-5, 0, 2147483647),
      float8_e5m2: Uint8Array.of(0, 0x3c, 0xff),
      float8_e4m3fn: Uint8Array.of(0, 0x38, 0x7f),
      int4: Int8Array.of(-8, 0, 7),
      uint4: Uint8Array.of(0, 9, 15),
    };
    for (const [dtype, data] of Object.entries(bits)) {
      const constant = g.constant(data, { dtype, shape: [3] });
      const value = constant.operation.attr('value');
      assert.deepEqual([value.dtype, value.shape, value.data], [dtype, [3], data]);
      const fed = g.placeholder(dtype, [3]);
      const results = await session.run(
        [g.identity(constant), g.identity(fed)],
        new Map([[fed, tf.tensor(data, [3], dtype)]]),
      );
      for (const result of results)
        assert.deepEqual([result.dtype, result.shape, result.data], [dtype, [3], data]);
      assert.deepEqual(tf.tensor(value.array(), undefined, dtype).array(), value.array());
    }
    await session.close();
    g.dispose();
  });
});
