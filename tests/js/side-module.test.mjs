// The side module: kernels of rarely used ops, loaded when a graph has one of them.
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

/** An engine of its own, which shares no side module with others: bytes that nobody else has. */
async function freshEngine(sideWasm) {
  return init({ variant: 'simd', wasm: await bytesOf('tfcore-simd.wasm'), sideWasm });
}
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

const lower = (g) => g.stringLower(g.placeholder('string', [], { name: 'text' }));
const expected = async (run) => assert.equal((await run).data[0], 'abc');

describe('side module', () => {
  it('is loaded by the first step whose graph has an op of it', async () => {
    const tf = await freshEngine(place('tfcore-simd-side.wasm'));
    await withGraph(tf, (g, session) => expected(session.run(lower(g), { text: 'ABC' })));
  });

  it('is loaded by a synchronous step, too', async () => {
    const tf = await freshEngine(place('tfcore-simd-side.wasm'));
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
    const side = place('tfcore-simd-side.wasm');
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
      const tf = await freshEngine(place('tfcore-simd-side.wasm'));
      await withGraph(tf, async (g, session) => {
        const x = g.placeholder('float64', [], { name: 'x' });
        const y = g.add(x, x);
        assert.equal((await session[run](y, { x: 2 })).data[0], 4);
      });
    }
  });

  it('is loaded to check gradients', async () => {
    const tf = await freshEngine(place('tfcore-simd-side.wasm'));
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
    ];
    const expected = [[5], [5, 7, 9], [4, 5, 6]];
    for (const [i, op] of ops.entries()) {
      const compute = async (dtype, side) => {
        const tf = await freshEngine(side);
        return withGraph(tf, async (g, session) => {
          const x = g.placeholder(dtype, [1, 2, 3, 1]);
          return session.run(op(g, x), { [x.name]: tf.tensor([1, 2, 3, 4, 5, 6], [1, 2, 3, 1], dtype) });
        });
      };
      const values = async (...args) => Array.from((await compute(...args)).data, Number);
      assert.deepEqual(await values('float32', '/no/such/side.wasm'), expected[i]);
      assert.deepEqual(await values('int32', place('tfcore-simd-side.wasm')), expected[i]);
      await assert.rejects(compute('int32', '/no/such/side.wasm'), UnavailableError);
    }
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
    assert.equal(await called(place('tfcore-simd-side.wasm'), 'run'), 9);
    assert.equal(await called(place('tfcore-simd-side.wasm'), 'runSync'), 9);
    await assert.rejects(called('/no/such/side.wasm', 'run'), UnavailableError);
    await assert.rejects(called('/no/such/side.wasm', 'runSync'), UnavailableError);
  });

  it('is not asked for by other graphs', async () => {
    const tf = await freshEngine('/no/such/side.wasm');
    await withGraph(tf, async (g, session) => {
      const y = g.add(g.constant(1), g.constant(2));
      assert.equal((await session.run(y)).data[0], 3);
      assert.equal(session.runSync(y).data[0], 3);
    });
  });

  it('is looked for again after it was not there', async () => {
    const tf = await freshEngine('/no/such/side.wasm');
    await withGraph(tf, async (g, session) => {
      const y = lower(g);
      for (let i = 0; i < 2; i++) {
        await assert.rejects(session.run(y, { text: 'ABC' }), (error) => {
          assert.ok(error instanceof UnavailableError);
          assert.match(error.message, /side module/);
          return true;
        });
      }
      assert.throws(() => session.runSync(y, { text: 'ABC' }), UnavailableError);
      await assert.rejects(tf.loadSideModule(), UnavailableError);
      assert.equal(tf.memory().tensors, 0);
    });
  });

  it('is refused if it belongs to another engine', async () => {
    if (!detectFeatures().relaxed) return;
    const tf = await freshEngine(place('tfcore-relaxed-side.wasm'));
    await assert.rejects(tf.loadSideModule(), /does not fit the engine/);
  });

  it('is not needed to make graphs and kernels of the ops in it', async function () {
    this.timeout(60_000);
    const tf = await freshEngine('/no/such/side.wasm');
    let made = 0;
    for (const def of tf.opDefs()) {
      for (const shape of [undefined, [], [2], [2, 2], [1, 2, 2, 3]]) {
        try {
          await withGraph(tf, (g, session) => {
            const node = g.op(def.name, sampleInputs(g, def, shape), { attrs: sampleAttrs(def) });
            session.makeCallable(node).release();
            made++;
          });
        } catch (error) {
          assert.ok(error instanceof TFError, `${def.name}: ${error.stack}`); // and not a trap
        }
      }
    }
    assert.ok(made > 2 * tf.opDefs().length, String(made));
  });
});
