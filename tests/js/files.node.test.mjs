import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs, {
  existsSync,
  readdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  mkdirSync,
} from 'node:fs';
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
          const [v, s] = await session.run(
            g.op('RestoreV2', names, { attrs: { dtypes: ['float32', 'string'] } }).outputs,
          );
          assert.deepEqual(v.data, values);
          assert.equal(s.item(), 'text');
        });
        const file = readFileSync(path.join(folder, 'sub/ckpt.data-00000-of-00001'));
        assert.deepEqual(new Uint8Array(file.subarray(0, 4 * values.length)), new Uint8Array(values.buffer));
        assert.deepEqual(tf.files.list(), ['sub/ckpt.data-00000-of-00001', 'sub/ckpt.index']);
        assert.deepEqual(
          new Uint8Array(readFileSync(path.join(folder, 'sub/ckpt.index'))),
          tf.files.read('sub/ckpt.index'),
        );
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
      for (const way of ['../secret', 'a/../../secret', 'link/secret'])
        assert.throws(() => tf.files.read(way), PermissionDeniedError, way);
      for (const way of ['../new', 'link/new'])
        assert.throws(() => tf.files.write(way, 'x'), PermissionDeniedError, way);
      assert.throws(() => tf.files.write('dangling', 'x'), NotFoundError);
      assert.ok(!existsSync(path.join(folder, 'new')));
      tf.files.write('a', 'x');
      assert.ok(existsSync(path.join(inner, 'a')));
    } finally {
      tf.files.useMemory();
    }
  });

  /* Node's functions that change files; the engine calls them through this object. */
  const CHANGES = ['writeSync', 'fsyncSync', 'closeSync', 'renameSync', 'linkSync', 'unlinkSync'];

  /**
   * Makes the `at`-th call of such a function fail; with `crash`, all later ones too. `restore` undoes that
   * and counts the calls.
   */
  function failAt(at, code, crash = false) {
    const usual = Object.fromEntries(CHANGES.map((name) => [name, fs[name]]));
    let count = 0;
    for (const name of CHANGES) {
      fs[name] = (...args) => {
        const number = count++;
        if (number !== at && !(crash && number > at)) return usual[name](...args);
        if (name === 'closeSync') usual[name](...args); // a file is closed also when that reports an error
        if (name === 'writeSync' && args[1].length > 1)
          usual[name](args[0], args[1].subarray(0, args[1].length >> 1));
        throw Object.assign(new Error(code), { code });
      };
    }
    return () => Object.assign(fs, usual) && count;
  }

  describe('that fail', () => {
    let tf, graph, session, save, restored, value;
    before(async () => {
      tf = await init({ threads: 1 });
      graph = new tf.Graph();
      session = new tf.Session(graph);
      value = graph.placeholder('float32', [1000], { name: 'value' });
      const names = [graph.constant('ckpt'), graph.constant(['v']), graph.constant([''])];
      save = graph.op('SaveV2', [...names, [value]]);
      restored = graph.op('RestoreV2', names, { attrs: { dtypes: ['float32'] } }).outputs[0];
    });
    after(async () => {
      await session.close();
      graph.dispose();
    });
    beforeEach(() => tf.files.useDirectory(folder));
    afterEach(() => tf.files.useMemory());

    const write = (number) => session.run(save, new Map([[value, new Float32Array(1000).fill(number)]]));
    const read = async () => {
      const tensor = await session.run(restored);
      assert.ok(tensor.data.every((element) => element === tensor.data[0]));
      return tensor.data[0];
    };
    const drafts = () => readdirSync(folder).filter((name) => name.includes('tempstate'));

    it('leave the old checkpoint or the new one', async function () {
      this.timeout(60000);
      await write(1);
      const counted = failAt(-1);
      await write(2);
      const count = counted();
      assert.ok(count > 15);
      assert.equal(await read(), 2);
      assert.deepEqual(readdirSync(folder).sort(), ['ckpt.data-00000-of-00001', 'ckpt.index']);
      for (const [code, crash] of [
        ['ENOSPC', false],
        ['EIO', false],
        ['EXDEV', false],
        ['EACCES', false],
        ['EIO', true],
      ]) {
        for (let at = 0; at < count; at++) {
          const where = `${code} at ${at}${crash ? ', and all behind it' : ''}`;
          await write(1);
          let failed = false;
          const restore = failAt(at, code, crash);
          await write(2).catch(() => (failed = true));
          restore();
          const found = await read();
          assert.ok(found === 2 || (found === 1 && failed), where);
          if (!crash) assert.deepEqual(drafts(), [], where);
        }
      }
    });

    it('leave the old file or the new one, and no draft', () => {
      const written = (text) => tf.files.write('file', text);
      const text = () => readFileSync(path.join(folder, 'file'), 'utf8');
      for (const code of ['ENOSPC', 'EIO', 'EXDEV', 'EACCES']) {
        for (let at = 0; ; at++) {
          written('the old text');
          let failed = false;
          const restore = failAt(at, code);
          try {
            written('the new text');
          } catch {
            failed = true;
          }
          const count = restore();
          assert.ok(text() === 'the new text' || (failed && text() === 'the old text'), `${code} at ${at}`);
          assert.deepEqual(drafts(), [], `${code} at ${at}`);
          if (at >= count) break;
        }
      }
    });

    it('leave drafts that the next writer removes, once their process has ended', () => {
      tf.files.write('file', 'x');
      const dead = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], {
        encoding: 'utf8',
      }).stdout.trim();
      const mine = draftNameOfThisProcess();
      const [machine] = mine.split('-');
      const names = {
        dead: `file.tempstate${machine}-${dead}-77-1-0`,
        living: `file.tempstate${mine}-99`,
        foreign: `file.tempstate${machine === '00000000' ? '00000001' : '00000000'}-${dead}-77-1-0`,
        other: 'file.tempstate1234567',
      };
      for (const name of Object.values(names)) writeFileSync(path.join(folder, name), 'draft');
      tf.files.write('file', 'y');
      assert.deepEqual(drafts().sort(), [names.living, names.foreign, names.other].sort());
    });

    /** The engine's name for this process, from the name of a draft that it writes. */
    function draftNameOfThisProcess() {
      const rename = fs.renameSync;
      let name;
      fs.renameSync = (from, to) => {
        name = path.basename(from);
        return rename(from, to);
      };
      try {
        tf.files.write('seen', 'x');
      } finally {
        fs.renameSync = rename;
      }
      rmSync(path.join(folder, 'seen'));
      return name.slice('seen.tempstate'.length, name.lastIndexOf('-'));
    }
  });
});
