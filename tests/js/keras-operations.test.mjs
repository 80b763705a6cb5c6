// Operations of keras.ops and of TensorFlow in Keras models: settings, constants and dtypes, against what Keras 3.15 computes.
import assert from 'node:assert/strict';
import { engine } from './engine.mjs';
import { withModel } from './keras-cases.mjs';
import { call, call2, filesOf, from, functional, input, layer } from './keras-configs.mjs';

const x = from('x');
const floats = (values, shape) => ({ dtype: 'float32', values, shape: shape ?? [1, values.length] });
const ints = (values, shape) => ({ ...floats(values, shape), dtype: 'int32' });
const bools = (values, shape) => ({ ...floats(values, shape), dtype: 'bool' });
const doubles = (values, shape) => ({ ...floats(values, shape), dtype: 'float64' });
const array = (value, dtype = 'float32') => ({ class_name: '__numpy__', config: { value, dtype } });
const held = (value, dtype = 'float32') => ({ class_name: '__tensor__', config: { value, dtype } });

/** A model of one operation in Keras 3. */
const operation = (given, [className, config, args, kwargs], index = 0) =>
  filesOf(
    functional(
      'model',
      [
        input('x', given.shape.slice(1), given.dtype),
        { ...layer(className, 'op', config, call(args ?? [x], kwargs)), module: 'keras.ops' },
      ],
      ['x'],
      [['op', 0, index]],
    ),
  );

/** A model of one function of TensorFlow in Keras 2. */
const lambda = (given, name, kwargs, value = ['x', 0, 0]) =>
  filesOf(
    functional(
      'model',
      [
        input('x', given.shape.slice(1), given.dtype),
        layer(
          'TFOpLambda',
          'op',
          { function: name, trainable: true, dtype: 'float32' },
          call2([value], kwargs),
        ),
      ],
      ['x'],
      [['op', 0, 0]],
    ),
    { version: '2.15.0' },
  );

const isSame = (a, b) => Object.is(a, b) || Math.abs(a - b) <= 2e-6 * Math.max(1, Math.abs(b));

const m = floats([1, 2, 3, 4], [1, 2, 2]);
const softened = [1, 2, 3, 4].map(
  (value) => Math.exp(value) / (Math.E + Math.exp(2) + Math.exp(3) + Math.exp(4)),
);
const byColumns = [-Math.log1p(Math.exp(2)), -Math.log1p(Math.exp(-2))];

/** By what is tested: the input, the operation, and the result. */
const OPERATIONS = {
  settings: {
    'gelu is that of tanh unless told otherwise': [
      floats([1, -2]),
      ['Gelu', { approximate: true }],
      floats([0.841192, -0.045402292]),
    ],
    'gelu can be exact': [
      floats([1, -2]),
      ['Gelu', { approximate: false }],
      floats([0.84134475, -0.045500264]),
    ],
    'elu has an alpha': [floats([2, -1]), ['Elu', { alpha: 0.5 }], floats([2, 0.5 * Math.expm1(-1)])],
    'leaky_relu has a slope': [floats([2, -1]), ['LeakyRelu', { negative_slope: 0.4 }], floats([2, -0.4])],
    'log_softmax has an axis': [
      m,
      ['LogSoftmax', { axis: 1 }],
      floats([byColumns[0], byColumns[0], byColumns[1], byColumns[1]], [1, 2, 2]),
    ],
    'softmax without an axis is over everything': [
      m,
      ['Softmax', { axis: null }],
      floats(softened, [1, 2, 2]),
    ],
    'log_softmax without an axis is over everything': [
      m,
      ['LogSoftmax', { axis: null }],
      floats(softened.map(Math.log), [1, 2, 2]),
    ],
    'max has a first value': [m, ['Max', { axis: 2, keepdims: false, initial: 2.5 }], floats([2.5, 4])],
    'min has a first value': [
      m,
      ['Min', { axis: 2, keepdims: true, initial: 2.5 }],
      floats([1, 2.5], [1, 2, 1]),
    ],
    'round has decimals': [floats([1.26, -0.34]), ['Round', { decimals: 1 }], floats([1.3, -0.3])],
    'round has decimals before the point': [ints([123, 177]), ['Round', { decimals: -1 }], ints([120, 180])],
    'squeeze has several axes': [floats([1, 2], [1, 1, 2, 1]), ['Squeeze', { axis: [1, 3] }], floats([1, 2])],
    'expand_dims has axes of the result': [
      floats([1, 2]),
      ['ExpandDims', { axis: [-1, -3] }],
      floats([1, 2], [1, 1, 2, 1]),
    ],
  },
  constants: {
    'columns keep their shape': [
      m,
      ['Multiply', {}, [x, array([[10], [100]])]],
      floats([10, 20, 300, 400], [1, 2, 2]),
    ],
    'whole matrices are added': [
      m,
      [
        'Add',
        {},
        [
          array([
            [10, 20],
            [30, 40],
          ]),
          x,
        ],
      ],
      floats([11, 22, 33, 44], [1, 2, 2]),
    ],
    'tensors are constants too': [floats([1, 2]), ['Add', {}, [x, held([10, 20])]], floats([11, 22])],
    'matrices are factors': [
      m,
      [
        'Matmul',
        {},
        [
          x,
          array([
            [1, 0, 2],
            [0, 1, 1],
          ]),
        ],
      ],
      floats([1, 2, 4, 3, 4, 10], [1, 2, 3]),
    ],
    'vectors are factors at the right': [m, ['Matmul', {}, [x, array([1, 10])]], floats([21, 43])],
    'vectors are factors at the left': [m, ['Matmul', {}, [array([1, 10]), x]], floats([31, 42])],
    'choices keep their shape': [
      m,
      ['Where', {}, [array([[true], [false]], 'bool'), x, array([[7], [8]])]],
      floats([1, 2, 8, 8], [1, 2, 2]),
    ],
    'are joined with values': [
      floats([1, 2], [1, 2]),
      ['Concatenate', { axis: 1 }, [[x, array([[3]])]]],
      floats([1, 2, 3]),
    ],
    'wide numbers widen the result': [
      floats([1, 2]),
      ['Add', {}, [x, array([0.5, 1], 'float64')]],
      doubles([1.5, 3]),
    ],
    'wide whole numbers do not': [
      floats([1, 2]),
      ['Divide', {}, [x, array([2, 4], 'int64')]],
      floats([0.5, 0.5]),
    ],
  },
  dtypes: {
    'the mean of integers is fractional': [
      ints([1, 2]),
      ['Mean', { axis: 1, keepdims: false }],
      floats([1.5], [1]),
    ],
    'the mean of truth values is a share': [
      bools([1, 0, 0, 1]),
      ['Mean', { axis: 1, keepdims: false }],
      floats([0.5], [1]),
    ],
    'truth values are counted': [bools([1, 0, 1]), ['Sum', { axis: 1, keepdims: false }], ints([2], [1])],
    'the largest truth value': [bools([1, 0]), ['Max', { axis: 1, keepdims: false }], bools([1], [1])],
    'the smallest truth value': [bools([1, 0]), ['Min', { axis: 1, keepdims: false }], bools([0], [1])],
    'quotients of integers are fractional': [ints([1, -3]), ['TrueDivide', {}, [x, 2]], floats([0.5, -1.5])],
    'functions of integers are fractional: exp': [ints([0, 1]), ['Exp', {}], floats([1, Math.E])],
    'functions of integers are fractional: sqrt': [ints([4, 2]), ['Sqrt', {}], floats([2, Math.SQRT2])],
    'functions of integers are fractional: tanh': [ints([0, 1]), ['Tanh', {}], floats([0, Math.tanh(1)])],
    'functions of integers are fractional: floor': [ints([4, -2]), ['Floor', {}], floats([4, -2])],
    'integers meet a fraction': [ints([1, 2]), ['Multiply', {}, [x, 1.5]], floats([1.5, 3])],
    'truth values meet an integer': [bools([1, 0]), ['Subtract', {}, [x, 1]], ints([0, -1])],
    'truth values meet integers': [
      bools([1, 0]),
      ['Multiply', {}, [x, array([5, 6], 'int32')]],
      ints([5, 0]),
    ],
    'integers are compared with a fraction': [ints([2, 3]), ['Greater', {}, [x, 2.5]], bools([0, 1])],
    'squares of truth values': [bools([1, 0]), ['Square', {}], ints([1, 0])],
    'products of truth values': [bools([1, 1]), ['Prod', { axis: 1, keepdims: false }], ints([1], [1])],
    'products for which a dtype is set have that of the input, as in Keras': [
      ints([2, 3]),
      ['Prod', { axis: 1, keepdims: false, dtype: 'float32' }],
      ints([6], [1]),
    ],
    'signs of unsigned bytes': [
      { ...ints([3, 0]), dtype: 'uint8' },
      ['Sign', {}],
      { ...ints([1, 0]), dtype: 'uint8' },
    ],
    'floating-point values keep their dtype': [
      doubles([1e-9, 1]),
      ['Add', {}, [x, 1]],
      doubles([1 + 1e-9, 2]),
    ],
    'unsigned bytes are added in 32 bits': [
      { ...ints([200, 100]), dtype: 'uint8' },
      ['Sum', { axis: 1, keepdims: false }],
      { ...ints([300], [1]), dtype: 'uint32' },
    ],
    'signed and unsigned bytes': [
      { ...ints([200, 100]), dtype: 'uint8' },
      ['Add', {}, [x, array([-3, 100], 'int8')]],
      { ...ints([197, 200]), dtype: 'int16' },
    ],
    'wide numbers stay wide': [doubles([1, 2]), ['Exp', {}], doubles([Math.E, Math.exp(2)])],
  },
  'further operations': {
    swapaxes: [
      floats([1, 2, 3, 4], [1, 1, 4]),
      ['Swapaxes', { axis1: -1, axis2: 1 }],
      floats([1, 2, 3, 4], [1, 4, 1]),
    ],
    moveaxis: [
      floats([1, 2, 3, 4], [1, 2, 2, 1]),
      ['Moveaxis', { source: [1], destination: [-1] }],
      floats([1, 3, 2, 4], [1, 2, 1, 2]),
    ],
    flip: [m, ['Flip', { axis: [1, 2] }], floats([4, 3, 2, 1], [1, 2, 2])],
    roll: [floats([1, 2, 3]), ['Roll', { shift: 1, axis: 1 }], floats([3, 1, 2])],
    'roll of everything': [m, ['Roll', { shift: 1, axis: null }], floats([4, 1, 2, 3], [1, 2, 2])],
    split: [m, ['Split', { indices_or_sections: 2, axis: -1 }], floats([1, 3], [1, 2, 1])],
    'split at places': [
      floats([1, 2, 3, 4]),
      ['Split', { indices_or_sections: [1, 3], axis: 1 }],
      floats([2, 3]),
      1,
    ],
    cumsum: [bools([1, 0, 1]), ['Cumsum', { axis: 1 }], ints([1, 1, 2])],
    'cumsum of everything': [m, ['Cumsum', { axis: null, dtype: 'float64' }], doubles([1, 3, 6, 10], [4])],
    logical_xor: [bools([1, 0]), ['LogicalXor', {}, [x, array([true, true], 'bool')]], bools([0, 1])],
    log2: [ints([8, 1]), ['Log2', {}], floats([3, 0])],
    isnan: [floats([NaN, 1]), ['Isnan', {}], bools([1, 0])],
    tile: [floats([1, 2]), ['Tile', { repeats: [2, 1, 2] }], floats([1, 2, 1, 2, 1, 2, 1, 2], [2, 1, 4])],
    repeat: [m, ['Repeat', { repeats: 2, axis: 1 }], floats([1, 2, 1, 2, 3, 4, 3, 4], [1, 4, 2])],
    'repeat by a list': [m, ['Repeat', { repeats: [1, 2], axis: -1 }], floats([1, 2, 2, 3, 4, 4], [1, 2, 3])],
    'repeat of everything': [
      floats([1, 2]),
      ['Repeat', { repeats: 2, axis: null }],
      floats([1, 1, 2, 2], [4]),
    ],
    take: [floats([5, 6, 7]), ['Take', { axis: 1 }, [x, array([-1, 0], 'int64')]], floats([7, 5])],
    'take from everything': [m, ['Take', { axis: null }, [x, [[3, 0]]]], floats([4, 1])],
    one_hot: [
      ints([2, 0]),
      ['OneHot', { num_classes: 3, axis: -1, dtype: 'float32' }],
      floats([0, 0, 1, 1, 0, 0], [1, 2, 3]),
    ],
    'one_hot along an axis': [
      ints([2, -1]),
      ['OneHot', { num_classes: 3, axis: 1, dtype: 'int32' }],
      ints([0, 0, 0, 0, 1, 0], [1, 3, 2]),
    ],
    pad: [
      floats([1, 2]),
      [
        'Pad',
        {
          pad_width: [
            [0, 0],
            [1, 2],
          ],
          mode: 'constant',
        },
      ],
      floats([0, 1, 2, 0, 0]),
    ],
    'pad with a value': [
      ints([1, 2]),
      [
        'Pad',
        {
          pad_width: [
            [0, 0],
            [1, 0],
          ],
          mode: 'constant',
        },
        [x],
        { constant_values: 7 },
      ],
      ints([7, 1, 2]),
    ],
    'pad by reflection': [
      floats([1, 2, 3]),
      [
        'Pad',
        {
          pad_width: [
            [0, 0],
            [1, 2],
          ],
          mode: 'reflect',
        },
      ],
      floats([2, 1, 2, 3, 2, 1]),
    ],
    dot: [
      m,
      [
        'Dot',
        {},
        [
          x,
          array([
            [1, 0],
            [10, 1],
          ]),
        ],
      ],
      floats([21, 2, 43, 4], [1, 2, 2]),
    ],
    'dot with a vector': [m, ['Dot', {}, [x, array([1, 10])]], floats([21, 43])],
    einsum: [m, ['Einsum', { subscripts: 'bij,bkj->bik' }, [x, x]], floats([5, 11, 11, 25], [1, 2, 2])],
    'einsum without an arrow': [
      m,
      ['Einsum', { subscripts: 'bij, jk' }, [x, array([[1], [10]])]],
      floats([21, 43], [1, 2, 1]),
    ],
    'einsum of integers': [ints([3, 4]), ['Einsum', { subscripts: 'bi,bi->b' }, [x, x]], ints([25], [1])],
    logaddexp: [
      floats([1, Infinity, -1000]),
      ['Logaddexp', {}, [x, x]],
      floats([1 + Math.LN2, Infinity, -1000 + Math.LN2]),
    ],
    logsumexp: [
      m,
      ['Logsumexp', { axis: 2, keepdims: false }],
      floats([2 + Math.log1p(Math.exp(-1)), 4 + Math.log1p(Math.exp(-1))]),
    ],
    'logsumexp of nothing but zeros': [
      floats([-Infinity, -Infinity]),
      ['Logsumexp', { axis: [1], keepdims: true }],
      floats([-Infinity], [1, 1]),
    ],
    arctan2: [ints([1, -1]), ['Arctan2', {}, [x, 1]], floats([Math.PI / 4, -Math.PI / 4])],
    var: [m, ['Var', { axis: [1, 2], keepdims: false }], floats([1.25], [1])],
    'var of integers': [ints([1, 2]), ['Var', { axis: 1, keepdims: true }], floats([0.25])],
    std: [m, ['Std', { axis: 1, keepdims: false }], floats([1, 1])],
    argmax: [floats([1, 3, 2]), ['Argmax', { axis: -1, keepdims: false }], ints([1], [1])],
    'argmin of everything': [m, ['Argmin', { axis: null, keepdims: true }], ints([0], [1, 1, 1])],
    'norm of vectors': [
      floats([3, -4]),
      ['Norm', { ord: null, axis: [1], keepdims: false }],
      floats([5], [1]),
    ],
    'norm of another order': [
      floats([1, -2]),
      ['Norm', { ord: 3, axis: [1], keepdims: true }],
      floats([Math.cbrt(9)]),
    ],
    'norm of matrices': [m, ['Norm', { ord: 1, axis: [1, 2], keepdims: false }], floats([6], [1])],
    floor_divide: [ints([7, -7]), ['FloorDivide', {}, [x, 2]], ints([3, -4])],
    mod: [ints([7, -7]), ['Mod', {}, [x, 4]], ints([3, 1])],
  },
};

/** The same of Keras 2, which has TensorFlow's functions. */
const FUNCTIONS = {
  'lists keep their shape': [
    m,
    ['math.multiply', { y: [[10], [100]] }],
    floats([10, 20, 300, 400], [1, 2, 2]),
  ],
  'a constant is the first operand': [
    m,
    ['math.subtract', { y: ['x', 0, 0] }, ['_CONSTANT_VALUE', -1, [[10], [100]]]],
    floats([9, 8, 97, 96], [1, 2, 2]),
  ],
  'matrices are factors': [
    m,
    ['linalg.matmul', { b: [[1, 10]], transpose_b: true }],
    floats([21, 43], [1, 2, 1]),
  ],
  'squeeze has a list of axes': [
    floats([1, 2], [1, 1, 2]),
    ['compat.v1.squeeze', { axis: [1] }],
    floats([1, 2]),
  ],
  'gelu is exact unless told otherwise': [
    floats([1, -2]),
    ['nn.gelu', {}],
    floats([0.84134475, -0.045500264]),
  ],
  'gelu can be that of tanh': [floats([1]), ['nn.gelu', { approximate: true }], floats([0.841192])],
  'leaky_relu has a slope': [floats([2, -1]), ['nn.leaky_relu', { alpha: 0.4 }], floats([2, -0.4])],
  'quotients of integers are of float64': [ints([1, 3]), ['math.truediv', { y: 2 }], doubles([0.5, 1.5])],
  'means of integers are integers': [ints([1, 2]), ['math.reduce_mean', { axis: 1 }], ints([1], [1])],
};

describe('operations of Keras models', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });

  async function check(files, given, wanted) {
    await withModel(tf, files, async (model) => {
      const result = Object.values(await model.run(tf.tensor(given.values, given.shape, given.dtype)))[0];
      assert.equal(result.dtype, wanted.dtype);
      assert.deepEqual(result.shape, wanted.shape);
      const got = [...result.data].map(Number);
      assert.ok(
        got.every((value, i) => isSame(value, wanted.values[i])),
        `${got} not ${wanted.values}`,
      );
    });
  }

  for (const [group, cases] of Object.entries(OPERATIONS))
    describe(group, () => {
      for (const [name, [given, described, wanted, index]] of Object.entries(cases))
        it(name, () => check(operation(given, described, index), given, wanted));
    });

  describe('functions of TensorFlow', () => {
    for (const [name, [given, described, wanted]] of Object.entries(FUNCTIONS))
      it(name, () => check(lambda(given, ...described), given, wanted));
  });

  it('are layers with constants among their inputs', async () => {
    const config = { trainable: true, dtype: 'float32' };
    const files = filesOf(
      functional(
        'model',
        [input('x', [2]), layer('Add', 'op', config, call([[x, array([[10, 20]], 'float64')]]))],
        ['x'],
        [['op', 0, 0]],
      ),
    );
    await check(files, floats([1, 2]), floats([11, 22]));
  });

  it('refuse constants whose rows have different lengths', () =>
    assert.rejects(
      tf.load(operation(m, ['Add', {}, [x, array([[1, 2], [3]])]])),
      /layer op \(Add\): the lists in a constant have different lengths/,
    ));

  it('refuse axes that their inputs have not', () =>
    assert.rejects(tf.load(operation(m, ['Take', { axis: 3 }, [x, 0]])), /3 dimensions has no axis 3/));

  it('refuse constants that are no numbers', () =>
    assert.rejects(
      tf.load(operation(m, ['Add', {}, [x, 'a']])),
      /neither a value of the model nor a number/,
    ));
});
