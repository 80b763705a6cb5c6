// tf.load: the request of a file of a server.
import assert from 'node:assert/strict';
import { engine } from './engine.mjs';

describe('tf.load from a server', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('sends the request of a file before anything else is loaded, with the options, and once', async () => {
    const graph = new tf.Graph();
    graph.square(graph.placeholder('float32', [2], { name: 'x' }), { name: 'y' });
    const bytes = graph.toGraphDef();
    graph.dispose();
    const usual = globalThis.fetch;
    const sent = [];
    globalThis.fetch = async (address, init) => {
      sent.push([String(address), init.headers]);
      return new Response(bytes);
    };
    try {
      const headers = { authorization: 'us' };
      for (const address of ['http://models.test/g.pb?v=2', 'http://models.test/100%25%.pb']) {
        sent.length = 0;
        const loading = tf.load(address, { requestInit: { headers } });
        assert.deepEqual(sent, [[new URL(address).href, headers]]);
        const model = await loading;
        assert.deepEqual((await model.run({ x: [2, 3] })).y.array(), [4, 9]);
        await model.close();
        assert.equal(sent.length, 1);
      }
      sent.length = 0;
      await assert.rejects(tf.load('http://models.test/g.pb', { hedaers: {} }), { code: 'INVALID_ARGUMENT' });
      await assert.rejects(tf.load('http://models.test/g.pb', { signal: AbortSignal.abort() }));
      await assert.rejects(tf.load(''), { code: 'INVALID_ARGUMENT', message: /empty/ });
      assert.deepEqual(sent, []);
    } finally {
      globalThis.fetch = usual;
    }
  });

  it('says that an address cannot be fetched, and leaves no rejection behind', async () => {
    const usual = globalThis.fetch;
    globalThis.fetch = () => Promise.reject(new TypeError('no route'));
    try {
      const options = {
        code: 'UNAVAILABLE',
        message: /http:\/\/models.test\/g.pb could not be fetched: no route/,
      };
      await assert.rejects(tf.load('http://models.test/g.pb'), options);
    } finally {
      globalThis.fetch = usual;
    }
  });

  it('refuses a file by its beginning, and ends its download', async () => {
    const usual = globalThis.fetch;
    let cancelled = false;
    globalThis.fetch = async () =>
      new Response(
        new ReadableStream({
          start: (controller) =>
            controller.enqueue(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)),
          pull: (controller) => controller.enqueue(new Uint8Array(1 << 16)), // without an end
          cancel: () => (cancelled = true),
        }),
      );
    try {
      await assert.rejects(tf.load('http://models.test/endless'), {
        code: 'INVALID_ARGUMENT',
        message: /image/i,
      });
      await new Promise((resolve) => setTimeout(resolve)); // the end of the download is not waited for
    } finally {
      globalThis.fetch = usual;
    }
    assert.ok(cancelled);
  });
});
