import assert from 'node:assert/strict';
import { InvalidArgumentError, Tensor } from '../../npm/dist/index.js';
import { bytesLeft, engine, withGraph } from './engine.mjs';

/** Lengths around the 22 bytes that fit inline, text beyond ASCII, a NUL, a byte order mark. */
const TEXTS = [
  '',
  'a',
  'x'.repeat(21),
  'y'.repeat(22),
  'z'.repeat(23),
  'ä€😀',
  'a\0b',
  '\ufeffmarked',
  'long '.repeat(5000),
];
const BYTES = Uint8Array.of(0xff, 0xfe, 0, 0x41);

describe('string tensors', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('are made of strings, and of bytes', () => {
    const words = tf.tensor([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    assert.deepEqual(
      [words.dtype, words.shape, words.data, words.array()],
      [
        'string',
        [2, 2],
        ['a', 'b', 'c', 'd'],
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
      ],
    );
    assert.equal(tf.tensor('word').item(), 'word');
    assert.deepEqual(tf.tensor(['a', 'b', 'c', 'd'], [2, 2]).array(), words.array());
    const bytes = tf.tensor([BYTES, BYTES], undefined, 'string');
    assert.deepEqual([bytes.shape, bytes.data], [[2], [BYTES, BYTES]]);
    assert.deepEqual(tf.tensor(BYTES, undefined, 'string').shape, []);
    assert.deepEqual(tf.tensor(['A', BYTES], undefined, 'string').data, [Uint8Array.of(0x41), BYTES]);
    assert.deepEqual(
      words.bytes(),
      [0x61, 0x62, 0x63, 0x64].map((byte) => Uint8Array.of(byte)),
    );
    assert.throws(() => tf.tensor([1]).bytes(), InvalidArgumentError);
    assert.equal(tf.tensor([BYTES, BYTES]).dtype, 'uint8');
    assert.equal(
      String(tf.tensor(['a', BYTES], undefined, 'string')),
      'Tensor<string [2]: 1 bytes, 4 bytes>',
    );
  });

  it('come through constants, feeds, fetches and attrs as they are', () =>
    withGraph(tf, async (g, session) => {
      const fed = g.placeholder('string', [null]);
      const constant = g.constant(TEXTS);
      assert.deepEqual([constant.dtype, constant.shape], ['string', [TEXTS.length]]);
      const results = await session.run(
        [g.identity(fed), g.identity(constant), constant],
        new Map([[fed, TEXTS]]),
      );
      for (const result of results)
        assert.deepEqual([result.dtype, result.shape, result.data], ['string', [TEXTS.length], TEXTS]);
      const value = constant.operation.attr('value');
      assert.ok(value instanceof Tensor);
      assert.deepEqual(value.data, TEXTS);
      await withGraph(tf, async (other, fresh) => {
        other.importGraphDef(g.toText());
        assert.deepEqual((await fresh.run(constant.name)).data, TEXTS);
      });
    }));

  it('give bytes back where a string is no UTF-8', () =>
    withGraph(tf, async (g, session) => {
      const constant = g.constant([BYTES, 'A'], { dtype: 'string' });
      const fed = g.placeholder('string', []);
      const [both, one] = await session.run([g.identity(constant), g.identity(fed)], new Map([[fed, BYTES]]));
      assert.deepEqual(both.data, [BYTES, Uint8Array.of(0x41)]);
      assert.deepEqual(one.item(), BYTES);
      assert.deepEqual(constant.operation.attr('value').data, both.data);
      assert.deepEqual((await session.run(g.identity(fed), new Map([[fed, 'text']]))).item(), 'text');
    }));

  it('flow through ops', () =>
    withGraph(tf, async (g, session) => {
      const words = g.placeholder('string', [null, 2]);
      const picked = g.concatV2([words, words], 0);
      const result = await session.run(
        [picked, g.shape(words), g.equal(words, 'long '.repeat(20))],
        new Map([[words, [['b', 'long '.repeat(20)]]]]),
      );
      assert.deepEqual(
        result.map((value) => value.array()),
        [
          [
            ['b', 'long '.repeat(20)],
            ['b', 'long '.repeat(20)],
          ],
          [1, 2],
          [[false, true]],
        ],
      );
    }));

  it('may be empty, and many', () =>
    withGraph(tf, async (g, session) => {
      const fed = g.placeholder('string');
      const same = g.identity(fed);
      const none = await session.run(same, new Map([[fed, tf.tensor([], [0, 3], 'string')]]));
      assert.deepEqual([none.shape, none.data], [[0, 3], []]);
      const many = Array.from({ length: 20000 }, (_, i) => `${'word '.repeat(i % 12)}${i}`);
      assert.deepEqual((await session.run(same, new Map([[fed, many]]))).data, many);
    }));

  it('keep their borders, whatever lies beside them', () =>
    withGraph(tf, async (g, session) => {
      const fed = g.placeholder('string');
      const same = g.identity(fed);
      const pass = async (items) =>
        (await session.run(same, new Map([[fed, tf.tensor(items, undefined, 'string')]]))).data;
      const texts = Array.from(
        { length: 3000 },
        (_, i) => ['', 'ab', 'ä', 'x'.repeat(i % 90), '€'.repeat(i % 40)][i % 5],
      );
      assert.deepEqual(await pass(texts), texts);
      const mostlyShort = Array.from({ length: 3000 }, (_, i) => (i % 997 === 0 ? `${i} ä` : `${i}`));
      assert.deepEqual(await pass(mostlyShort), mostlyShort);
      // two halves of a letter, which are one in neither string
      const letter = new TextEncoder().encode('ä');
      const halves = [letter.subarray(0, 1), letter.subarray(1)];
      assert.deepEqual(
        await pass(halves),
        halves.map((half) => Uint8Array.from(half)),
      );
      const surrogates = ['\ud83d', '\ude00'];
      assert.deepEqual(await pass(surrogates), ['\ufffd', '\ufffd']);
    }));

  it('leave nothing behind', async () => {
    const once = () =>
      withGraph(tf, async (g, session) => {
        const fed = g.placeholder('string');
        await session.run([g.identity(fed), g.constant(TEXTS)], new Map([[fed, TEXTS]]));
      });
    await once();
    const left = await bytesLeft(tf, async () => {
      for (let i = 0; i < 10; i++) await once();
    });
    assert.equal(left, 0);
  });
});
