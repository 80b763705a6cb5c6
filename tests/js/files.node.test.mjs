import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NotFoundError, PermissionDeniedError, init } from '../../npm/dist/index.js';
import { hostVariants, withGraph } from './engine.mjs';

describe('files of a folder, in Node', () => {
  let folder;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'tfcore-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const variant of hostVariants()) {
    it(`hold checkpoints (${variant})`, async () => {
      const tf = await init(variant.endsWith('threads') ? { variant, threads: 2 } : { variant });
      tf.files.write('inside', 'memory');
      tf.files.useDirectory(folder);
      try {
        const values = new Float32Array(300000).map((_, i) => i);
        await withGraph(tf, async (g, session) => {
          const names = [g.constant('/sub/ckpt'), g.constant(['v', 's']), g.constant(['', ''])];
          await session.run(g.op('SaveV2', [...names, [g.constant(values), g.constant('text')]]));
          const [v, s] = await session.run(g.op('RestoreV2', names, { attrs: { dtypes: ['float32', 'string'] } }).outputs);
          assert.deepEqual(v.data, values);
          assert.equal(s.item(), 'text');
        });
        const file = readFileSync(path.join(folder, 'sub/ckpt.data-00000-of-00001'));
        assert.deepEqual(new Uint8Array(file.subarray(0, 4 * values.length)), new Uint8Array(values.buffer));
        assert.deepEqual(tf.files.list(), ['sub/ckpt.data-00000-of-00001', 'sub/ckpt.index']);
        assert.deepEqual(new Uint8Array(readFileSync(path.join(folder, 'sub/ckpt.index'))), tf.files.read('sub/ckpt.index'));
        tf.files.remove('sub/ckpt.index');
        assert.ok(!existsSync(path.join(folder, 'sub/ckpt.index')));
        assert.throws(() => tf.files.read('sub/ckpt.index'), NotFoundError);
      } finally {
        tf.files.useMemory();
      }
      assert.deepEqual(tf.files.list(), ['inside']);
      tf.files.remove('inside');
    });
  }

  it('are never left', async () => {
    const tf = await init({ threads: 1 });
    const inner = path.join(folder, 'inner');
    mkdirSync(inner);
    writeFileSync(path.join(folder, 'secret'), 'x');
    symlinkSync(folder, path.join(inner, 'link'));
    symlinkSync(path.join(folder, 'new'), path.join(inner, 'dangling'));
    assert.throws(() => tf.files.useDirectory(path.join(folder, 'nowhere')), NotFoundError);
    assert.throws(() => tf.files.useDirectory(path.join(folder, 'secret')), NotFoundError);
    tf.files.useDirectory(inner);
    try {
      for (const way of ['../secret', 'a/../../secret', 'link/secret']) assert.throws(() => tf.files.read(way), PermissionDeniedError, way);
      for (const way of ['../new', 'link/new']) assert.throws(() => tf.files.write(way, 'x'), PermissionDeniedError, way);
      assert.throws(() => tf.files.write('dangling', 'x'), NotFoundError);
      assert.ok(!existsSync(path.join(folder, 'new')));
      tf.files.write('a', 'x');
      assert.ok(existsSync(path.join(inner, 'a')));
    } finally {
      tf.files.useMemory();
    }
  });
});
