// Loops that fail, and loops whose parts look as if they fit together: with the optimizer, which makes one node of loops
// over rows, they do what they do without it.
import assert from 'node:assert/strict';
import { engine, isHere, withGraph } from './engine.mjs';

const [ROUNDS, BATCH, UNITS, DEPTH] = [5, 4, 8, 3];

const numbers = (...shape) => {
  const data = Float32Array.from(
    { length: shape.reduce((all, size) => all * size) },
    (_, i) => (((i * 7919) % 1009) - 504) / 1009,
  );
  return { data, shape };
};

/** What a cell may use: constants, the list of rows, and its items. */
function toolsOf(g, { rows, elementShape, batch = BATCH, listDtype = 'float32' }) {
  const int = (value) => g.constant(value, { dtype: 'int32' });
  const x = g.placeholder(listDtype, rows, { name: 'x' });
  const h = g.placeholder('float32', [batch, UNITS], { name: 'h' });
  const list = g.tensorListFromTensor(x, int(elementShape));
  const item = (i) => g.tensorListGetItem(list, i, int(elementShape), { elementDtype: 'float32' });
  const weights = (depth) => g.constant(numbers(depth, UNITS).data, { shape: [depth, UNITS] });
  return { int, x, h, list, item, weights };
}

/** A loop of one state, tanh(cell), which starts as h. */
function loop(g, { int, h }, cell, rounds = ROUNDS) {
  return g.whileLoop(
    (i) => g.less(i, int(rounds)),
    (i, state) => [g.add(i, int(1)), g.tanh(cell(i, state))],
    [int(0), h],
  )[1];
}

/** A loop that also writes its states to a list, which is stacked. */
function stackedLoop(g, tools, { reserved, stacked }) {
  const { int, h, item, weights } = tools;
  const u = weights(UNITS);
  const shape = int([BATCH, UNITS]);
  const [, , all] = g.whileLoop(
    (i) => g.less(i, int(ROUNDS)),
    (i, state, written) => {
      const next = g.tanh(g.add(g.matMul(state, u), item(i)));
      return [g.add(i, int(1)), next, g.tensorListSetItem(written, i, next)];
    },
    [int(0), h, g.tensorListReserve(shape, int(ROUNDS), { elementDtype: reserved })],
  );
  return g.tensorListStack(all, shape, { elementDtype: stacked, numElements: ROUNDS });
}

const SQUARE = { rows: [ROUNDS, BATCH, UNITS], elementShape: [BATCH, UNITS] };
const OPEN = { rows: [ROUNDS, null, DEPTH], elementShape: [-1, DEPTH], batch: null };

/** name: what the loop reads, the loop, the shape of x that is fed, and the message that it ends with. */
const FAILURES = {
  'a list whose element shape its rows do not have': {
    list: { rows: null, elementShape: [BATCH, UNITS + 1] },
    fed: [ROUNDS, BATCH, UNITS],
    build: (g, t) => {
      const [w, u] = [t.weights(UNITS), t.weights(UNITS)];
      const item = (i) => g.tensorListGetItem(t.list, i, t.int(-1), { elementDtype: 'float32' });
      return loop(g, t, (i, h) => g.add(g.matMul(item(i), w), g.matMul(h, u)));
    },
    message: /Specified a list with shape \[4,9\] from a tensor with shape \[4,8\]/,
  },
  'joined values of different batches': {
    list: OPEN,
    fed: [ROUNDS, 1, DEPTH],
    build: (g, t) => {
      const w = t.weights(DEPTH + UNITS);
      return loop(g, t, (i, h) => g.matMul(g.concatV2([t.item(i), h], t.int(1)), w));
    },
    message: /Dimensions of inputs should match/,
  },
  'a list of another type than what is written': {
    list: SQUARE,
    build: (g, t) => stackedLoop(g, t, { reserved: 'int32', stacked: 'float32' }),
    message: /Invalid data types; op elements float but list elements int32/,
  },
  'a list that is stacked as another type': {
    list: SQUARE,
    build: (g, t) => stackedLoop(g, t, { reserved: 'float32', stacked: 'float64' }),
    message: /Invalid data types; op elements double but list elements float/,
  },
  'a list of double that is read as float': {
    list: { ...SQUARE, listDtype: 'float64' },
    build: (g, t) => {
      const w = t.weights(UNITS);
      return loop(g, t, (i, h) => g.add(h, g.matMul(t.item(i), w)));
    },
    message: /Invalid data types; op elements float but list elements double/,
  },
  'an item that nothing reads, but something waits for': {
    list: SQUARE,
    build: (g, t) => {
      const u = t.weights(UNITS);
      return loop(g, t, (i, h) => {
        const late = t.item(g.add(i, t.int(1)));
        return g.add(g.matMul(h, u), t.item(i), { controlInputs: [late.operation] });
      });
    },
    message: /Trying to access element 5 in a list with 5 elements/,
  },
  'fewer rows than rounds, with a product': {
    list: { rows: [null, BATCH, UNITS], elementShape: [BATCH, UNITS] },
    fed: [ROUNDS - 1, BATCH, UNITS],
    build: (g, t) => {
      const w = t.weights(UNITS);
      return loop(g, t, (i, h) => g.add(h, g.matMul(t.item(i), w)));
    },
    message: /Trying to access element 4 in a list with 4 elements/,
  },
};

if (isHere)
  describe('loops with and without the optimizer', () => {
    let tf;
    before(async () => (tf = await engine()));

    /** What a step gives, or the message with which it fails. */
    async function outcome({ list, build, fed }, options) {
      return withGraph(
        tf,
        async (g, session) => {
          const tools = toolsOf(g, list);
          const y = build(g, tools);
          const x = numbers(...(fed ?? list.rows));
          const feeds = new Map([
            [tools.x, tf.tensor([...x.data], x.shape, list.listDtype)],
            [tools.h, tf.tensor(numbers(BATCH, UNITS).data, [BATCH, UNITS])],
          ]);
          return session.run(y, feeds).then(
            (value) => [...value.data],
            (error) => error.message,
          );
        },
        options,
      );
    }

    for (const [name, { message, ...loopOf }] of Object.entries(FAILURES))
      it(`fail alike: ${name}`, async () => {
        const plain = await outcome(loopOf, { optimize: false });
        assert.match(String(plain), message);
        assert.equal(await outcome(loopOf), plain);
      });

    it('need no rows for no rounds, whatever their type is', async () => {
      const none = {
        list: { ...SQUARE, listDtype: 'float64' },
        build: (g, t) => {
          const w = t.weights(UNITS);
          return loop(g, t, (i, h) => g.add(h, g.matMul(t.item(i), w)), 0);
        },
      };
      assert.deepEqual(await outcome(none), [...numbers(BATCH, UNITS).data]);
    });

    it('read variables of TensorFlow 1 without an Identity', async () => {
      const float = 'attr { key: "T" value { type: DT_FLOAT } }';
      const shape = (...sizes) => `shape { ${sizes.map((size) => `dim { size: ${size} }`).join(' ')} }`;
      const variable = (name, ...sizes) => `
        node { name: "${name}" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
               attr { key: "shape" value { ${shape(...sizes)} } } }
        node { name: "${name}0" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
               attr { key: "shape" value { ${shape(...sizes)} } } }
        node { name: "set_${name}" op: "Assign" input: "${name}" input: "${name}0" ${float}
               attr { key: "_class" value { list { s: "loc:@${name}" } } } }`;
      const entering = (name, of, type) => `
        node { name: "${name}e" op: "Enter" input: "${of}" attr { key: "T" value { type: ${type} } }
               attr { key: "frame_name" value { s: "loop" } } }`;
      const constant = (name, of, type) =>
        entering(name, of, type).replace(/ }$/, ' attr { key: "is_constant" value { b: true } } }');
      const carried = (name, of, next, type) => `${entering(name, of, type)}
        node { name: "${name}m" op: "Merge" input: "${name}e" input: "${name}n" attr { key: "T" value { type: ${type} } }
               attr { key: "N" value { i: 2 } } }
        node { name: "${name}s" op: "Switch" input: "${name}m" input: "c" attr { key: "T" value { type: ${type} } } }
        node { name: "${name}n" op: "NextIteration" input: "${next}" attr { key: "T" value { type: ${type} } } }`;
      const number = (name, value, after = '') => `
        node { name: "${name}" op: "Const" ${after} attr { key: "dtype" value { type: DT_INT32 } }
               attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: ${value} } } } }`;
      const text = `${variable('h', 1, UNITS)} ${variable('w', UNITS, UNITS)} ${number('zero', 0)} ${number('limit', ROUNDS)}
        ${carried('i', 'zero', 'inc', 'DT_INT32')} ${carried('s', 'h', 'tanh', 'DT_FLOAT')}
        ${constant('limit', 'limit', 'DT_INT32')} ${constant('w', 'w', 'DT_FLOAT')}
        node { name: "less" op: "Less" input: "im" input: "limite" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c" op: "LoopCond" input: "less" }
        ${number('one', 1, 'input: "^is"')}
        node { name: "inc" op: "AddV2" input: "is:1" input: "one" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "product" op: "MatMul" input: "ss:1" input: "we" ${float} }
        node { name: "neg" op: "Neg" input: "product" ${float} }
        node { name: "tanh" op: "Tanh" input: "neg" ${float} }
        node { name: "last" op: "Exit" input: "ss" ${float} }
        node { name: "y" op: "Identity" input: "last" ${float} }`;
      const states = async (options) =>
        withGraph(
          tf,
          async (g, session) => {
            g.importGraphDef(text);
            const feeds = {
              h0: tf.tensor(numbers(1, UNITS).data, [1, UNITS]),
              w0: tf.tensor(numbers(UNITS, UNITS).data, [UNITS, UNITS]),
            };
            await session.run([], feeds, { targets: ['set_h', 'set_w'] });
            const trace = new tf.Trace();
            const y = await session.run('y', {}, { trace });
            return { y: [...y.data], ops: trace.records.map(({ op }) => op) };
          },
          options,
        );
      const [plain, optimized] = [await states({ optimize: false }), await states()];
      assert.ok(optimized.ops.some((op) => op.startsWith('_FusedRecurrence')));
      optimized.y.forEach((value, i) => assert.ok(Math.abs(value - plain.y[i]) < 1e-6));
    });
  });
