import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { orderBySimilarity } from '../../tools/order-functions.mjs';

/** Bytes that no compressor makes smaller, always the same for a seed. */
function noise(seed, length) {
  let state = seed;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
}

describe('the order of functions', () => {
  it('has each function once, and those that resemble each other side by side', () => {
    const kinds = [1, 2, 3].map((seed) => noise(seed, 100));
    const bodies = [0, 1, 2, 0, 1, 2, 0, 1, 2].map((kind, i) => Uint8Array.of(...kinds[kind], i));
    const order = orderBySimilarity(bodies);
    assert.deepEqual([...order].sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const kindsInOrder = order.map((i) => i % 3);
    assert.equal(kindsInOrder.filter((kind, i) => kind !== kindsInOrder[i - 1]).length, 3, `${kindsInOrder}`);
  });

  it('takes functions without anything in common, and empty ones', () => {
    const bodies = [noise(1, 40), new Uint8Array(), noise(2, 60), Uint8Array.of(1, 2)];
    assert.deepEqual([...orderBySimilarity(bodies)].sort(), [0, 1, 2, 3]);
    assert.deepEqual(orderBySimilarity([]), []);
  });

  it('compresses better where similar functions are too far apart for the compressor', () => {
    const pairs = Array.from({ length: 40 }, (_, i) => noise(i + 1, 2000));
    const bodies = [...pairs, ...pairs];
    const packed = (list) => gzipSync(Buffer.concat(list), { level: 9 }).length;
    const ordered = orderBySimilarity(bodies).map((i) => bodies[i]);
    assert.ok(packed(ordered) < 0.6 * packed(bodies), `${packed(ordered)} and ${packed(bodies)}`);
  });
});
