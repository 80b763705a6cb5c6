import assert from 'node:assert/strict';
import { InvalidArgumentError, NotFoundError, UnimplementedError } from '../../npm/dist/index.js';
import { engine, isPage, withGraph } from './engine.mjs';

describe('files', () => {
  let tf;
  before(async () => (tf = await engine()));
  afterEach(() => tf.files.list().forEach((path) => tf.files.remove(path)));

  it('are written, read, listed and removed', () => {
    tf.files.write('a/b', Uint8Array.of(1, 0, 255));
    tf.files.write('text', 'ä');
    assert.deepEqual(tf.files.read('a/b'), Uint8Array.of(1, 0, 255));
    assert.deepEqual(tf.files.read('text'), Uint8Array.of(0xc3, 0xa4));
    assert.deepEqual(tf.files.list(), ['a/b', 'text']);
    assert.deepEqual(tf.files.list('a/'), ['a/b']);
    assert.deepEqual([tf.files.exists('text'), tf.files.exists('tex')], [true, false]);
    tf.files.write('text', '');
    assert.equal(tf.files.read('text').length, 0);
    tf.files.remove('text');
    assert.throws(() => tf.files.read('text'), NotFoundError);
    assert.throws(() => tf.files.remove('text'), NotFoundError);
    assert.throws(() => tf.files.write('', 'x'), InvalidArgumentError);
    assert.throws(() => tf.files.write('a\0b', 'x'), InvalidArgumentError);
    tf.files.write('buffer', Uint8Array.of(4, 5).buffer);
    assert.deepEqual(tf.files.read('buffer'), Uint8Array.of(4, 5));
    for (const content of [
      new Float32Array(2),
      [1, 2],
      7,
      undefined,
      null,
      new DataView(new ArrayBuffer(2)),
    ]) {
      assert.throws(() => tf.files.write('other', content), InvalidArgumentError, String(content));
    }
  });

  it('hold megabytes', () => {
    const bytes = new Uint8Array(5e6).map((_, i) => (i * 7) % 251);
    tf.files.write('large', bytes);
    assert.deepEqual(tf.files.read('large'), bytes);
  });

  it('carry what was trained from one session to another', async () => {
    const build = (g) => {
      const w = g.variable(g.constant([0, 0]), { name: 'w' });
      const x = g.constant([
        [1, 2],
        [3, 5],
      ]);
      const off = g.sub(g.squeeze(g.matMul(x, g.expandDims(w, 1))), g.constant([1, 2]));
      const loss = g.sum(g.mul(off, off), [0]);
      const names = [g.constant('model/ckpt'), g.constant(['w']), g.constant([''])];
      const save = g.op('SaveV2', [...names, [w]]);
      const restore = g.op('AssignVariableOp', [
        w.handle,
        g.op('RestoreV2', names, { attrs: { dtypes: ['float32'] } }).output(0),
      ]);
      return { w, loss, save, restore };
    };
    let trained;
    await withGraph(tf, async (g, session) => {
      const { w, loss, save } = build(g);
      const step = new tf.train.GradientDescentOptimizer(0.01).minimize(loss);
      await session.run(g.initializer());
      for (let i = 0; i < 20; i++) await session.run(step);
      trained = (await session.run(w)).data;
      await session.run(save);
    });
    assert.ok(Math.abs(trained[0]) > 0.01);
    assert.deepEqual(tf.files.list(), ['model/ckpt.data-00000-of-00001', 'model/ckpt.index']);
    assert.deepEqual(tf.files.read('model/ckpt.data-00000-of-00001'), new Uint8Array(trained.slice().buffer));
    await withGraph(tf, async (g, session) => {
      const { w, restore } = build(g);
      await session.run(restore);
      assert.deepEqual((await session.run(w)).data, trained);
      tf.files.remove('model/ckpt.index');
      await assert.rejects(
        session.run(restore),
        (error) =>
          error instanceof NotFoundError &&
          /Failed to find any matching files for model\/ckpt/.test(error.message),
      );
    });
  });

  it('are not needed for what Print shows: lines come to a function', () =>
    withGraph(tf, async (g, session) => {
      const lines = [];
      tf.setLog((line) => lines.push(line));
      try {
        const x = g.constant([1, 2, 3, 4]);
        const shown = g
          .op('Print', [x, [x, g.constant('words')]], { attrs: { message: 'x: ', first_n: 2 } })
          .output(0);
        for (let i = 0; i < 3; i++)
          assert.deepEqual([...(await session.run(g.neg(shown))).data], [-1, -2, -3, -4]);
        assert.deepEqual(lines, ['x: [1 2 3...][words]', 'x: [1 2 3...][words]']);
      } finally {
        tf.setLog((line) => console.error(line));
      }
    }));

  if (isPage) {
    it('are in memory only in a page', () =>
      assert.throws(() => tf.files.useDirectory('/tmp'), UnimplementedError));
  }
});
