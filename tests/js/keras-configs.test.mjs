// tf.load: what Keras 2 and 3 do differently with the same config, or do with special values. Numbers are closed forms.
import assert from 'node:assert/strict';
import { engine, isClose } from './engine.mjs';
import { withModel } from './keras-cases.mjs';
import { call, call2, filesOf, from, functional, input, layer } from './keras-configs.mjs';

const KERAS2 = { version: '2.15.0' };

describe('Keras models of a few layers', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });

  /** The model computes `wanted`: values by the names of the outputs. */
  const check = (model, feeds, wanted, options) =>
    withModel(tf, filesOf(model, options), async (opened) => {
      const results = await opened.run(feeds);
      assert.deepEqual(Object.keys(results), Object.keys(wanted));
      for (const [name, value] of Object.entries(wanted)) {
        const { data, shape } = results[name];
        const numbers = [value].flat(Infinity);
        assert.equal(data.length, numbers.length, `${name}: [${shape}]`);
        assert.ok(isClose(data, numbers, 1e-5), `${name}: ${[...data]} not ${numbers}`);
      }
    });

  /** The derivatives of the sum of the only output by the only input. */
  const slopesOf = (model, x) =>
    withModel(tf, filesOf(model), async ({ graph, session, inputs, outputs }) => {
      const [slope] = graph.gradients([outputs[0].output], [inputs[0].output]);
      return [...(await session.run(slope, [[inputs[0].output, x]])).data];
    });

  describe('inside of other models, called more than once', () => {
    const twicePlus1 = layer('Rescaling', 'line', { scale: 2, offset: 1 }, call([from('a')]));
    /** 2 x + 1 */
    const inner = (...calls) =>
      functional('inner', [input('a', [1]), twicePlus1], ['a'], [['line', 0, 0]], ...calls);
    const tripled = (...calls) => layer('Rescaling', 'tripled', { scale: 3, offset: 0 }, ...calls);
    const minus = (...calls) => layer('Rescaling', 'minus', { scale: -1, offset: 0 }, ...calls);
    const model = (layers, outputs) => functional('model', [input('x', [1]), ...layers], ['x'], outputs);
    const x = [[5]];

    it('are called on their own results in Keras 3', () =>
      check(model([inner(call([from('x')]), call([from('inner', 0)]))], [['inner', 2, 0]]), x, {
        inner: 23,
      }));

    it('have an index from 1 among the outputs of Keras 3, and one from 0 in arguments', () => {
      const layers = [
        inner(call([from('x')]), call([from('tripled')])),
        tripled(call([from('x')])),
        minus(call([from('inner', 1)])),
      ];
      return check(
        model(layers, [
          ['inner', 1, 0],
          ['minus', 0, 0],
        ]),
        x,
        { inner: 11, minus: -31 },
      );
    });

    it('are outputs in any order, and with all of their calls', () => {
      const layers = [inner(call([from('x')]), call([from('inner', 0)]), call([from('inner', 1)]))];
      const outputs = [3, 1, 2].map((node) => ['inner', node, 0]);
      return check(model(layers, outputs), x, { inner: 47, inner_1: 11, inner_2: 23 });
    });

    it('have indexes from 0 if they are Sequential', () => {
      const config = { layers: [input('a', [1]), layer('Rescaling', 'line', { scale: 2, offset: 1 })] };
      const sequence = layer('Sequential', 'inner', config, call([from('x')]), call([from('tripled')]));
      const layers = [sequence, tripled(call([from('x')])), minus(call([from('inner', 1)]))];
      return check(
        model(layers, [
          ['inner', 0, 0],
          ['minus', 0, 0],
        ]),
        x,
        { inner: 11, minus: -31 },
      );
    });

    it('have indexes from 1 everywhere in Keras 2', () => {
      const own = functional(
        'inner',
        [input('a', [1]), layer('Rescaling', 'line', { scale: 2, offset: 1 }, call2([['a', 0, 0]]))],
        ['a'],
        [['line', 0, 0]],
        call2([['x', 0, 0]]),
        call2([['tripled', 0, 0]]),
      );
      const layers = [own, tripled(call2([['x', 0, 0]])), minus(call2([['inner', 2, 0]]))];
      const outputs = [
        ['inner', 1, 0],
        ['minus', 0, 0],
      ];
      return check(model(layers, outputs), x, { inner: 11, minus: -31 }, KERAS2);
    });
  });

  describe('with masks', () => {
    /** 9 is masked, and becomes 0. */
    const masked = (name, x, isKeras3 = true) =>
      layer('Masking', name, { mask_value: 9 }, isKeras3 ? call([from(x)]) : call2([[x, 0, 0]]));

    describe('and given states', () => {
      const x = [[[1], [9], [2]]];
      const rnnConfig = { units: 1, activation: 'linear', use_bias: true };
      const one = { shape: [1, 1], values: [1] };
      const bias = { shape: [1], values: [1] };
      const cell = (path) => ({
        [`${path}/simple_rnn_cell/kernel`]: one,
        [`${path}/simple_rnn_cell/recurrent_kernel`]: one,
        [`${path}/simple_rnn_cell/bias`]: bias,
      });
      /** Adds to the state each step's value and 1. */
      const rnn = (...calls) => layer('SimpleRNN', 'rnn', rnnConfig, ...calls);
      const model = (own, ...inputs) =>
        functional(
          'model',
          [input('x', [3, 1]), input('state', [1]), ...inputs, masked('m', 'x'), own],
          ['x', 'state', ...inputs.map(({ name }) => name)],
          [[own.name, 0, 0]],
        );
      const options = { weights: cell('rnn') };
      const feeds = { x, state: [[10]] };
      const keep = [[true, false, true]];
      const state = { initial_state: [from('state')] };

      it('recurrent layers of Keras 3 ignore the mask of the input', async () => {
        await check(model(rnn(call([from('m')]))), feeds, { rnn: 5 }, options);
        await check(model(rnn(call([from('m')], state))), feeds, { rnn: 16 }, options);
        await check(model(rnn(call([from('m'), from('state')]))), feeds, { rnn: 16 }, options);
      });

      it('recurrent layers of Keras 3 follow a mask that is an argument', () =>
        check(
          model(rnn(call([from('m')], { ...state, mask: from('keep') })), input('keep', [3], 'bool')),
          { ...feeds, keep },
          { rnn: 15 },
          options,
        ));

      it('recurrent layers of Keras 2 follow the mask of the input', () => {
        const layers = [
          input('x', [3, 1]),
          input('state', [1]),
          masked('m', 'x', false),
          rnn(call2([['m', 0, 0]], { initial_state: [['state', 0, 0]] })),
        ];
        const own = functional('model', layers, ['x', 'state'], [['rnn', 0, 0]]);
        return check(own, feeds, { rnn: 15 }, { ...options, ...KERAS2 });
      });

      it('both directions do the same', async () => {
        const inner = { class_name: 'SimpleRNN', config: { name: 'rnn', ...rnnConfig } };
        const both = (kwargs) =>
          layer('Bidirectional', 'both', { layer: inner, merge_mode: 'concat' }, call([from('m')], kwargs));
        const weights = { ...cell('both/forward_rnn'), ...cell('both/backward_rnn') };
        const states = { initial_state: [from('state'), from('state')] };
        await check(model(both({})), feeds, { both: [5, 5] }, { weights });
        await check(model(both(states)), feeds, { both: [16, 16] }, { weights });
        await check(
          model(both({ ...states, mask: from('keep') }), input('keep', [3], 'bool')),
          { ...feeds, keep },
          { both: [15, 15] },
          { weights },
        );
      });
    });

    describe('layers that combine inputs', () => {
      /* Behind the masks 2 is added: a is 4, 2, 5, 2 with the second and last masked, and b is -2, -3, 2, 2. */
      const feeds = { x: [[[2], [9], [3], [9]]], y: [[[-4], [-5], [9], [9]]] };
      const model = (name, isKeras3, names = ['a', 'b']) => {
        const refer = (own) => (isKeras3 ? call([from(own)]) : call2([[own, 0, 0]]));
        const layers = [
          ...['x', 'y'].map((own) => input(own, [4, 1])),
          ...['x', 'y'].map((own) => masked(`m${own}`, own, isKeras3)),
          layer('Rescaling', 'a', { scale: 1, offset: 2 }, refer('mx')),
          layer('Rescaling', 'b', { scale: 1, offset: 2 }, refer('my')),
          layer('Rescaling', 'plain', { scale: 1, offset: 2 }, refer('y')),
          layer(
            name,
            'merged',
            {},
            isKeras3 ? call([names.map((own) => from(own))]) : call2(names.map((own) => [own, 0, 0])),
          ),
        ];
        return functional('model', layers, ['x', 'y'], [['merged', 0, 0]]);
      };
      const CASES = {
        Multiply: {
          keras3: [-8, -3, 5, 0],
          keras2: [-8, -6, 10, 4],
          half: [-8, -3, 55, 11],
          three: [-32, -3, 25, 0],
        },
        Maximum: { keras3: [4, -3, 5, 2], keras2: [4, 2, 5, 2], half: [4, -3, 11, 11], three: [4, -3, 5, 2] },
        Minimum: {
          keras3: [-2, -3, 5, 2],
          keras2: [-2, -3, 2, 2],
          half: [-2, -3, 5, 11],
          three: [-2, -3, 5, 2],
        },
      };
      for (const [name, { keras3, keras2, half, three }] of Object.entries(CASES)) {
        it(`use what counts in Keras 3: ${name}`, async () => {
          await check(model(name, true), feeds, { merged: keras3 });
          await check(model(name, true, ['a', 'b', 'a']), feeds, { merged: three });
        });

        it(`use an input without a mask wholly: ${name}`, () =>
          check(model(name, true, ['a', 'plain']), feeds, { merged: half }));

        it(`use all values in Keras 2: ${name}`, () =>
          check(model(name, false), feeds, { merged: keras2 }, KERAS2));
      }
    });

    it('RMSNormalization ends the mask', () => {
      const layers = [
        input('x', [2, 1]),
        masked('m', 'x'),
        layer('RMSNormalization', 'rms', { epsilon: 1e-12 }, call([from('m')])),
        layer('GlobalAveragePooling1D', 'mean', {}, call([from('rms')])),
      ];
      const weights = { 'rms/scale': { shape: [1], values: [3] } };
      return check(
        functional('model', layers, ['x'], [['mean', 0, 0]]),
        [[[5], [9]]],
        { mean: 1.5 },
        { weights },
      );
    });

    describe('several heads', () => {
      const one = { shape: [1, 1, 1], values: [1] };
      const weights = Object.fromEntries(
        ['query', 'key', 'value', 'attention_output'].map((part) => [`heads/${part}/kernel`, one]),
      );
      const LAYERS = {
        MultiHeadAttention: { num_heads: 1, key_dim: 1, use_bias: false },
        GroupQueryAttention: { num_query_heads: 1, num_key_value_heads: 1, head_dim: 1, use_bias: false },
      };
      const x = [[[1], [1], [9]]];
      const model = (name, config, kwargs, outputs) => {
        const heads = layer(
          name,
          'heads',
          { ...LAYERS[name], ...config },
          call([from('m'), from('m')], kwargs),
        );
        return functional('model', [input('x', [3, 1]), masked('m', 'x'), heads], ['x'], outputs);
      };
      const scores = [
        [0.5, 0.5, 0],
        [0.5, 0.5, 0],
        [0, 0, 0],
      ];

      for (const name of Object.keys(LAYERS))
        it(`give masked positions 0 if the weights are returned or dropped: ${name}`, async () => {
          const [result, both] = [[['heads', 0, 0]], [0, 1].map((index) => ['heads', 0, index])];
          await check(model(name, {}, {}, result), x, { heads: [1, 1, 2 / 3] }, { weights });
          await check(model(name, { dropout: 0.5 }, {}, result), x, { heads: [1, 1, 0] }, { weights });
          const kwargs = { return_attention_scores: true };
          const wanted = { heads: [1, 1, 0], heads_1: scores };
          await check(model(name, {}, kwargs, both), x, wanted, { weights });
        });
    });

    it('a mask that was converted to a tensor is one', () => {
      const convert = (name, own, dtype) => ({
        ...layer('ConvertToTensor', name, { dtype, sparse: null, ragged: null }, call([from(own)])),
        module: 'keras.src.ops.core',
      });
      const layers = [
        input('x', [3, 1]),
        input('keep', [3], 'bool'),
        convert('mask', 'keep', null),
        layer('GlobalAveragePooling1D', 'mean', {}, call([from('x')], { mask: from('mask') })),
        convert('whole', 'mean', 'int32'),
      ];
      const outputs = ['mean', 'whole'].map((name) => [name, 0, 0]);
      const feeds = { x: [[[1], [2], [6]]], keep: [[true, true, false]] };
      return check(functional('model', layers, ['x', 'keep'], outputs), feeds, { mean: 1.5, whole: 1 });
    });
  });

  describe('at special values', () => {
    const one = (className, config, count, isKeras3 = true) =>
      functional(
        'model',
        [
          input('x', [count]),
          layer(className, 'y', config, isKeras3 ? call([from('x')]) : call2([['x', 0, 0]])),
        ],
        ['x'],
        [['y', 0, 0]],
      );

    it('UnitNormalization divides by at least 1e-12, and in Keras 2 by at least 1e-6', async () => {
      const x = [
        [3e-8, 4e-8],
        [0, 0],
      ];
      await check(one('UnitNormalization', {}, 2), x, { y: [0.6, 0.8, 0, 0] });
      await check(one('UnitNormalization', {}, 2, false), x, { y: [0.03, 0.04, 0, 0] }, KERAS2);
    });

    it('ReLU is 0 at its threshold, and has the derivative 0 there', async () => {
      const x = [[0.5, 1, 2]];
      await check(one('ReLU', { threshold: 1 }, 3), x, { y: [0, 0, 2] });
      await check(one('ReLU', { threshold: 1 }, 3, false), x, { y: [0, 0, 2] }, KERAS2);
      const leaky = one('ReLU', { threshold: 1, negative_slope: 0.5 }, 3);
      await check(leaky, x, { y: [-0.25, 0, 2] });
      assert.deepEqual(await slopesOf(leaky, x), [0.5, 0, 1]);
      assert.deepEqual(
        await slopesOf(one('ReLU', { negative_slope: 0.5, max_value: 2 }, 3), [[-1, 0, 2]]),
        [0.5, 0, 1],
      );
    });

    it('the derivative of celu at 0 is that of both of its parts', async () => {
      const model = one('Activation', { activation: 'celu' }, 3);
      await check(model, [[-1, 0, 2]], { y: [Math.expm1(-1), 0, 2] });
      assert.ok(isClose(await slopesOf(model, [[-1, 0, 2]]), [Math.exp(-1), 2, 1], 1e-6));
    });
  });

  it('have inputs and outputs in their own order, and as SavedModels by name', () => {
    const layers = [
      ...['b', 'a'].map((name) => input(name, [1])),
      layer('Rescaling', 'z', { scale: 2, offset: 0 }, call([from('b')])),
      layer('Rescaling', 'y', { scale: 3, offset: 0 }, call([from('a')])),
    ];
    const model = functional(
      'model',
      layers,
      ['b', 'a'],
      [
        ['z', 0, 0],
        ['y', 0, 0],
      ],
    );
    const names = (list) => list.map(({ name }) => name);
    return withModel(tf, filesOf(model), async (opened) => {
      assert.deepEqual(
        [names(opened.inputs), names(opened.outputs)],
        [
          ['b', 'a'],
          ['z', 'y'],
        ],
      );
      assert.deepEqual(Object.keys(await opened.run({ a: [[1]], b: [[1]] })), ['z', 'y']);
      await withModel(tf, await opened.save(), (again) =>
        assert.deepEqual(
          [names(again.inputs), names(again.outputs)],
          [
            ['a', 'b'],
            ['y', 'z'],
          ],
        ),
      );
    });
  });
});
