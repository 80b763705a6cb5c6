// The parts of the engine that are modules of their own: rarely used ops and kernels, and what training needs.
import assert from 'node:assert/strict';
import { detectFeatures, init, TFError, UnavailableError } from '../../npm/dist/index.js';
import { checkGradients } from '../../npm/dist/testing.js';
import { isPage, withGraph } from './engine.mjs';

const base = isPage ? new URL('/tests/js/', location.href) : import.meta.url;
const place = (name) => new URL(`../../npm/dist/${name}`, base);
const bytesOf = async (name) =>
  isPage
    ? (await fetch(place(name))).arrayBuffer()
    : (await import('node:fs/promises')).readFile(place(name));

const SIDE = place('tfcore-simd-side.wasm');
const TRAINING = place('tfcore-simd-training.wasm');
const NOWHERE = '/no/such/part.wasm';

/** An engine of its own, which shares no parts with others: bytes that nobody else has. */
async function freshEngine(sideWasm = SIDE, trainingWasm = TRAINING) {
  return init({ variant: 'simd', wasm: await bytesOf('tfcore-simd.wasm'), sideWasm, trainingWasm });
}
/** The error of what needs a part that is not there. */
const isMissing = (pattern) => (error) => {
  assert.ok(error instanceof UnavailableError, error.stack);
  assert.match(error.message, pattern);
  return true;
};

/** Values for the attrs of an op that have no default. */
function sampleAttrs({ attr }) {
  const values = {};
  for (const { name, type, default_value, minimum, allowed_values } of attr) {
    if (default_value !== undefined) continue;
    const allowed = allowed_values?.list?.[0];
    const count = Math.max(Number(minimum), 1);
    if (type === 'type') values[name] = allowed ?? 'float32';
    else if (type === 'int') values[name] = count;
    else if (type === 'list(type)') values[name] = new Array(count).fill(allowed ?? 'float32');
    else if (type === 'list(shape)') values[name] = new Array(count).fill([2]);
    else if (type === 'shape') values[name] = [2];
    else if (type === 'string') values[name] = allowed ?? 'x';
    else if (type === 'float') values[name] = 1;
    else if (type === 'bool') values[name] = false;
    else if (type.startsWith('list')) values[name] = new Array(count).fill(1);
  }
  return values;
}

/** Placeholders for the inputs of an op with these attrs. */
function sampleInputs(g, def, shape) {
  const given = sampleAttrs(def);
  const valueOf = (name) => given[name] ?? def.attr.find((attr) => attr.name === name).default_value;
  return def.input_arg.map((arg) => {
    const one = (dtype) => g.placeholder(dtype, shape);
    if (arg.type_list_attr) return valueOf(arg.type_list_attr).map(one);
    const dtype = arg.type ?? valueOf(arg.type_attr);
    return arg.number_attr ? Array.from({ length: valueOf(arg.number_attr) }, () => one(dtype)) : one(dtype);
  });
}

const lower = (g, text = g.placeholder('string', [], { name: 'text' })) => g.stringLower(text);
const expected = async (run) => assert.equal((await run).data[0], 'abc');

describe('side module', () => {
  it('is loaded when a graph gets an op of it', async () => {
    const tf = await freshEngine();
    await withGraph(tf, (g, session) => expected(session.run(lower(g), { text: 'ABC' })));
  });

  it('is loaded by a synchronous step, too', async () => {
    const tf = await freshEngine();
    await withGraph(tf, (g, session) => expected(session.runSync(lower(g), { text: 'ABC' })));
  });

  it('can be bytes or a compiled module', async () => {
    const bytes = await bytesOf('tfcore-simd-side.wasm');
    for (const side of [bytes, await WebAssembly.compile(bytes)]) {
      for (const run of ['run', 'runSync']) {
        const tf = await freshEngine(side);
        await withGraph(tf, (g, session) => expected(session[run](lower(g), { text: 'ABC' })));
      }
    }
  });

  it('is loaded for callables and functions', async () => {
    const side = SIDE;
    await withGraph(await freshEngine(side), async (g, session) => {
      const step = session.makeCallable(lower(g), ['text']);
      await expected(step.run('ABC'));
      step.release();
    });
    const tf = await freshEngine(side);
    const text = 'F(x: string) -> (y: string) { n = StringLower(x)  return y = n:output:0 }';
    const body = tf.FunctionDef.parse(text).instantiate({});
    await expected(body.run(['ABC']).then(([y]) => y));
    body.dispose();
  });

  it('is loaded for elements of rarer types', async () => {
    for (const run of ['run', 'runSync']) {
      const tf = await freshEngine();
      await withGraph(tf, async (g, session) => {
        const x = g.placeholder('float64', [], { name: 'x' });
        const y = g.add(x, x);
        assert.equal((await session[run](y, { x: 2 })).data[0], 4);
      });
    }
  });

  it('is loaded to check gradients', async () => {
    const tf = await freshEngine();
    await withGraph(tf, async (g) => {
      const x = g.placeholder('float64', [2]);
      const { maxError } = await checkGradients(tf, g, g.square(x), x, { value: [1, 2] });
      assert.ok(maxError < 1e-6, String(maxError));
    });
  });

  it('is loaded for integers where these are aside, and only for them', async () => {
    const ops = [
      (g, x) => g.argMax(g.reshape(x, [6]), 0),
      (g, x) => g.unsortedSegmentSum(g.reshape(x, [2, 3]), [0, 0], 1),
      (g, x) => g.maxPool(x, { ksize: [1, 2, 1, 1], strides: [1, 1, 1, 1], padding: 'VALID' }),
      (g, x) => g.matMul(g.reshape(x, [2, 3]), g.reshape(x, [3, 2])),
      (g, x) => g.einsum([g.reshape(x, [2, 3]), g.reshape(x, [2, 3])], { equation: 'ij,ij->i' }),
    ];
    const expected = [[5], [5, 7, 9], [4, 5, 6], [22, 28, 49, 64], [14, 77]];
    for (const [i, op] of ops.entries()) {
      const compute = async (dtype, side) => {
        const tf = await freshEngine(side);
        return withGraph(tf, async (g, session) => {
          const x = g.placeholder(dtype, [1, 2, 3, 1]);
          return session.run(op(g, x), { [x.name]: tf.tensor([1, 2, 3, 4, 5, 6], [1, 2, 3, 1], dtype) });
        });
      };
      const values = async (...args) => Array.from((await compute(...args)).data, Number);
      assert.deepEqual(await values('float32', NOWHERE), expected[i]);
      assert.deepEqual(await values('int32', SIDE), expected[i]);
      await assert.rejects(compute('int32', NOWHERE), UnavailableError);
    }
  });

  it('is loaded for the largest of bools', async () => {
    const tf = await freshEngine();
    await withGraph(tf, async (g, session) => {
      const x = g.placeholder('bool', [3]);
      assert.equal(Number((await session.run(g.argMax(x, 0), { [x.name]: [false, true, true] })).data[0]), 1);
    });
  });

  it('is loaded in the middle of a step whose function needs it', async () => {
    const squared = 'Squared[T: type](x: T) -> (y: T) { n = Mul[T=$T](x, x)  return y = n:z:0 }';
    const caller = 'F(x: double) -> (y: double) { n = Squared[T=double](x)  return y = n:y:0 }';
    const called = async (side, run) => {
      const tf = await freshEngine(side);
      const library = new tf.Graph();
      library.addFunction(tf.FunctionDef.parse(squared));
      const body = tf.FunctionDef.parse(caller).instantiate({}, library);
      try {
        return (await body[run]([3]))[0].data[0];
      } finally {
        body.dispose();
        library.dispose();
        assert.equal(tf.memory().tensors, 0);
      }
    };
    assert.equal(await called(SIDE, 'run'), 9);
    assert.equal(await called(SIDE, 'runSync'), 9);
    await assert.rejects(called(NOWHERE, 'run'), UnavailableError);
    await assert.rejects(called(NOWHERE, 'runSync'), UnavailableError);
  });

  it('is not asked for by other graphs', async () => {
    const tf = await freshEngine(NOWHERE);
    await withGraph(tf, async (g, session) => {
      const y = g.add(g.constant(1), g.constant(2));
      assert.equal((await session.run(y)).data[0], 3);
      assert.equal(session.runSync(y).data[0], 3);
    });
  });

  it('is looked for again after it was not there', async () => {
    const tf = await freshEngine(NOWHERE);
    await withGraph(tf, async (g, session) => {
      const x = g.placeholder('float64', [], { name: 'x' });
      const y = g.add(x, x);
      const text = g.placeholder('string', [], { name: 'text' });
      for (let i = 0; i < 2; i++) {
        await assert.rejects(session.run(y, { x: 2 }), (error) => {
          assert.ok(error instanceof UnavailableError);
          assert.match(error.message, /side module/);
          return true;
        });
        assert.throws(() => lower(g, text), isMissing(/the side module.*loadSideModule/));
        assert.throws(() => tf.opDef('StringLower'), isMissing(/the side module/));
      }
      assert.throws(() => session.runSync(y, { x: 2 }), UnavailableError);
      assert.throws(() => tf.opDefs(), isMissing(/the side module/));
      await assert.rejects(tf.loadSideModule(), UnavailableError);
      assert.equal(tf.memory().tensors, 0);
      assert.deepEqual(
        g.operations().map(({ name }) => name),
        ['x', 'Add', 'text'],
      );
    });
  });

  it('is not needed to tell which ops there are', async () => {
    const tf = await freshEngine(NOWHERE, NOWHERE);
    assert.throws(() => tf.opDef('StringLowr'), /did you mean 'StringLower'/);
  });

  it('is refused if it belongs to another engine', async () => {
    if (!detectFeatures().relaxed) return;
    const tf = await freshEngine(place('tfcore-relaxed-side.wasm'));
    await assert.rejects(tf.loadSideModule(), /does not fit the engine/);
  });

  it('brings the training module, which it uses', async () => {
    const tf = await freshEngine(SIDE, NOWHERE);
    await assert.rejects(tf.loadSideModule(), UnavailableError);
    await withGraph(tf, (g) => assert.throws(() => lower(g), isMissing(/the training module/)));
  });
});

describe('training module', () => {
  const gradientOfSquare = (g) => {
    const x = g.placeholder('float32', [], { name: 'x' });
    return g.gradients(g.square(x), [x])[0];
  };

  it('is loaded when gradients are asked for', async () => {
    await withGraph(await freshEngine(), async (g, session) => {
      assert.equal((await session.run(gradientOfSquare(g), { x: 3 })).data[0], 6);
    });
  });

  it('can be bytes or a compiled module, and loaded before', async () => {
    const bytes = await bytesOf('tfcore-simd-training.wasm');
    for (const training of [bytes, await WebAssembly.compile(bytes)]) {
      await withGraph(await freshEngine(NOWHERE, training), (g, session) => {
        assert.equal(session.runSync(gradientOfSquare(g), { x: 3 }).data[0], 6);
      });
    }
    const tf = await freshEngine(NOWHERE);
    await Promise.all([tf.loadTrainingModule(), tf.loadTrainingModule()]);
    await withGraph(tf, (g, session) => {
      assert.equal(session.runSync(gradientOfSquare(g), { x: 3 }).data[0], 6);
    });
  });

  it('is loaded for each thing that it has, and an error without it', async () => {
    const text = 'F(x: float) -> (y: float) { n = Square[T=float](x)  return y = n:y:0 }';
    const proto = (await freshEngine()).FunctionDef.parse(text).toProto();
    const uses = {
      gradients: (tf, g) => gradientOfSquare(g),
      'the text of a function': (tf) => tf.FunctionDef.parse(text),
      'printing a function': (tf) => String(tf.FunctionDef.fromProto(proto)),
      'a function of a graph': (tf, g) => {
        const x = g.placeholder('float32', []);
        g.toFunction('G', { inputs: [x], outputs: [g.square(x)] });
      },
      'the gradient of a function': (tf) => {
        const body = tf.FunctionDef.fromProto(proto).instantiate({});
        try {
          body.gradient().dispose();
        } finally {
          body.dispose();
        }
      },
      'the op of an optimizer': (tf, g) => g.reluGrad(g.constant([1]), g.constant([2])),
      'random numbers': (tf, g) => g.randomUniform(g.constant([2], { dtype: 'int32' }), { dtype: 'float32' }),
      'a checkpoint': (tf, g) =>
        g.restoreV2(g.constant('a'), g.constant(['b']), g.constant(['']), { dtypes: ['float32'] }),
      'a partial run': (tf, g, session) => {
        const x = g.placeholder('float32', []);
        session.partialRun([g.square(x)], [x]);
      },
    };
    for (const [name, use] of Object.entries(uses)) {
      const whole = await freshEngine();
      await withGraph(whole, (g, session) => use(whole, g, session));
      const tf = await freshEngine(NOWHERE, NOWHERE);
      await withGraph(tf, (g, session) => {
        assert.throws(() => use(tf, g, session), isMissing(/the training module.*loadTrainingModule/), name);
      });
      assert.equal(tf.memory().tensors, 0, name);
      assert.equal(tf.memory().functionBodies, 0, name);
    }
  });

  it('is an error of a step whose function is differentiated there', async () => {
    const squared = 'Squared(x: float) -> (y: float) { n = Square[T=float](x)  return y = n:y:0 }';
    const proto = (await freshEngine()).FunctionDef.parse(squared).toProto();
    const symbolic = (tf, g) => {
      g.addFunction(tf.FunctionDef.fromProto(proto));
      const x = g.placeholder('float32', [], { name: 'x' });
      const f = { name: 'Squared', attrs: {} };
      return g.op('SymbolicGradient', [[x, g.constant(1)]], {
        attrs: { f, Tin: ['float32', 'float32'], Tout: ['float32'] },
      }).outputs[0];
    };
    for (const run of ['run', 'runSync']) {
      const whole = await freshEngine();
      await withGraph(whole, async (g, session) => {
        assert.equal((await session[run](symbolic(whole, g), { x: 3 })).data[0], 6);
      });
      const tf = await freshEngine(NOWHERE, NOWHERE);
      await withGraph(tf, async (g, session) => {
        const y = symbolic(tf, g);
        await assert.rejects(async () => session[run](y, { x: 3 }), isMissing(/the training module/));
      });
    }
  });

  it('is loaded by load, with the side module, if a model has ops of these', async () => {
    const tf = await freshEngine();
    const g = new tf.Graph();
    const text = g.placeholder('string', [2], { name: 'text' });
    const noise = g.randomUniform(g.constant([2], { dtype: 'int32' }), { dtype: 'float32', name: 'noise' });
    lower(g, text);
    g.identity(noise, { name: 'kept' });
    const def = g.toGraphDef();
    g.dispose();
    const loaded = await freshEngine();
    const model = await loaded.load(def);
    assert.ok(model.graph.operation('kept'));
    await model.close();
    await assert.rejects((await freshEngine(NOWHERE)).load(def), /side module/);
    await assert.rejects((await freshEngine(SIDE, NOWHERE)).load(def), /training module/);
  });

  it('is refused if it belongs to another engine', async () => {
    if (!detectFeatures().relaxed) return;
    const tf = await freshEngine(SIDE, place('tfcore-relaxed-training.wasm'));
    await assert.rejects(tf.loadTrainingModule(), /does not fit the engine/);
  });
});

describe('the parts of the engine', () => {
  it('are loaded in hosts that start large modules only in the background', async () => {
    const { Instance } = WebAssembly;
    const [tf, other] = [await freshEngine(), await freshEngine()];
    WebAssembly.Instance = function () {
      throw new RangeError('WebAssembly.Instance is disallowed on the main thread');
    };
    try {
      await withGraph(other, (g) =>
        assert.throws(
          () => lower(g),
          isMissing(/disallowed on the main thread; call `await tf.loadTrainingModule/),
        ),
      );
      await tf.loadSideModule();
    } finally {
      WebAssembly.Instance = Instance;
    }
    await withGraph(tf, (g, session) => expected(session.run(lower(g), { text: 'ABC' })));
  });

  /** Makes graphs and kernels of the ops; what fails is no trap. Returns how many were made. */
  const makeEach = async (tf, defs) => {
    let made = 0;
    for (const def of defs) {
      for (const shape of [undefined, [], [2], [2, 2], [1, 2, 2, 3]]) {
        try {
          await withGraph(tf, (g, session) => {
            const node = g.op(def.name, sampleInputs(g, def, shape), { attrs: sampleAttrs(def) });
            session.makeCallable(node).release();
            made++;
          });
        } catch (error) {
          assert.ok(error instanceof TFError, `${def.name}: ${error.stack}`);
        }
      }
    }
    return made;
  };

  it('need not be there for other ops', async function () {
    this.timeout(60_000);
    const defs = (await freshEngine()).opDefs();
    const none = await freshEngine(NOWHERE, NOWHERE);
    const isThere = ({ name }) => {
      try {
        return none.opDef(name) !== undefined;
      } catch (error) {
        assert.ok(error instanceof UnavailableError, error.stack);
        return false;
      }
    };
    const there = defs.filter(isThere);
    assert.ok(there.length > 190 && there.length < defs.length / 2, String(there.length));
    assert.ok((await makeEach(none, there)) > 2 * there.length);
  });

  it('are loaded for all ops', async function () {
    this.timeout(60_000);
    const defs = (await freshEngine()).opDefs();
    assert.ok((await makeEach(await freshEngine(), defs)) > 2 * defs.length);
  });
});
