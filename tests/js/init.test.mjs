import assert from 'node:assert/strict';
import {
  detectFeatures,
  init,
  InvalidArgumentError,
  UnavailableError,
  version,
} from '../../npm/dist/index.js';
import { hostVariants, isPage, withGraph } from './engine.mjs';

/** The address of a build's wasm file. */
const place = new URL(
  '../../npm/dist/tfcore-simd.wasm',
  isPage ? new URL('/tests/js/', location.href) : import.meta.url,
);
const wasm = (bytes, options) => new Response(bytes, options);

describe('init', () => {
  it('gives the same engine to everyone who asks for the same', async () => {
    const [a, b] = await Promise.all([init(), init()]);
    assert.equal(a, b);
    assert.equal(await init(), a);
    assert.equal(a.version.package, version);
    assert.ok(hostVariants().includes(a.variant));
  });

  it('takes the fastest build of the host, and one without threads for one thread', async () => {
    const { relaxed, threads } = detectFeatures();
    const base = relaxed ? 'relaxed' : 'simd';
    assert.equal((await init()).variant, threads ? `${base}-threads` : base);
    const single = await init({ threads: 1 });
    assert.equal(single.variant, base);
    assert.equal(single.threads, 1);
  });

  it('computes in vectors of 256 bits where Node can, and says where it cannot', async () => {
    const node = isPage ? undefined : process.versions.node;
    if (isPage || Number(node.split('.')[0]) < 24) {
      const expected = isPage
        ? /only Node .* --js-flags=/
        : `revectorize needs Node 24 or newer; this is Node ${node}`;
      await assert.rejects(init({ revectorize: true }), (error) => {
        assert.ok(error instanceof UnavailableError);
        if (isPage) assert.match(error.message, expected);
        else assert.equal(error.message, expected);
        return true;
      });
      return;
    }
    const tf = await init({ revectorize: true });
    assert.equal(await init({ revectorize: true }), tf);
    assert.notEqual(await init(), tf);
    await withGraph(tf, async (graph, session) => {
      const a = Array.from({ length: 64 * 64 }, (_, i) => (i % 7) - 3);
      const product = await session.run(
        graph.matMul(tf.tensor(a, [64, 64], 'float32'), tf.tensor(a, [64, 64], 'float32')),
      );
      for (let i = 0; i < 64; i++) {
        let want = 0;
        for (let k = 0; k < 64; k++) want += a[i * 64 + k] * a[k * 64 + i];
        assert.equal(product.data[i * 65], want);
      }
    });
  });

  it('says what kept it from a faster build', async () => {
    const { relaxed, threads } = detectFeatures();
    const { variantReason } = await init();
    assert.equal(/relaxed SIMD/.test(variantReason), !relaxed);
    assert.equal(/one thread/.test(variantReason), !threads);
    if (relaxed && threads) assert.equal(variantReason, undefined);
  });

  for (const variant of hostVariants()) {
    it(`runs the build ${variant}`, async () => {
      const tf = await init({ variant });
      assert.equal(tf.variant, variant);
      assert.ok(variant.endsWith('threads') ? tf.threads >= 1 : tf.threads === 1);
      await withGraph(tf, async (g, session) => {
        const size = 96;
        const x = g.placeholder('float32', [size, size]);
        const ones = new Float32Array(size * size).fill(1);
        const product = await session.run(g.matMul(x, x), new Map([[x, ones]]));
        assert.ok(product.data.every((value) => value === size));
      });
    });
  }

  it('runs with as many threads as asked for', async () => {
    if (!detectFeatures().threads) return;
    const tf = await init({ variant: 'simd-threads', threads: 3 });
    assert.equal(tf.threads, 3);
    await assert.rejects(init({ variant: 'simd-threads', threads: 0 }), InvalidArgumentError);
    await assert.rejects(init({ variant: 'simd-threads', threads: 1.5 }), InvalidArgumentError);
  });

  it('refuses a variant that does not exist', () =>
    assert.rejects(init({ variant: 'gpu' }), {
      name: 'InvalidArgumentError',
      message: /'gpu' is none of simd, relaxed/,
    }));

  it('explains an HTML page in place of the wasm', () =>
    assert.rejects(init({ variant: 'simd', wasm: wasm('<!doctype html><p>home') }), {
      code: 'UNAVAILABLE',
      message: /HTML page/,
    }));

  it('explains an answer with an error code', () =>
    assert.rejects(init({ variant: 'simd', wasm: wasm('', { status: 404, statusText: 'Not Found' }) }), {
      name: 'UnavailableError',
      message: /HTTP 404 Not Found/,
    }));

  it('explains bytes that are no wasm, and broken wasm', async () => {
    await assert.rejects(init({ variant: 'simd', wasm: Uint8Array.of(1, 2, 3) }), {
      code: 'UNAVAILABLE',
      message: /no WebAssembly/,
    });
    await assert.rejects(init({ variant: 'simd', wasm: new ArrayBuffer(0) }), {
      code: 'UNAVAILABLE',
      message: /no WebAssembly/,
    });
    await assert.rejects(init({ variant: 'simd', wasm: Uint8Array.of(0, 0x61, 0x73, 0x6d, 9, 9, 9, 9) }), {
      code: 'UNAVAILABLE',
      message: /could not be compiled/,
    });
  });

  it('explains a wasm module of something else', () =>
    assert.rejects(init({ variant: 'simd', wasm: Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0) }), {
      code: 'UNAVAILABLE',
      message: /could not be started|no memory/,
    }));

  it('explains a file or address that is not there', () =>
    assert.rejects(init({ variant: 'simd', wasm: isPage ? '/no/such.wasm' : '/no/such/file.wasm' }), {
      name: 'UnavailableError',
      message: /HTTP 404|cannot be read/,
    }));

  it('says which file to copy where, for each bundler', async () => {
    const folder = isPage ? '/no/such/' : '/no/such/folder/';
    await assert.rejects(
      init({ variant: 'simd-threads', wasm: folder, threads: 1 }),
      detectFeatures().threads
        ? {
            name: 'UnavailableError',
            message:
              /Copy node_modules\/tfcore-wasm\/dist\/tfcore-simd-threads\.wasm and tfcore-worker\.js into that folder/,
          }
        : UnavailableError,
    );
    await assert.rejects(init({ variant: 'simd', wasm: folder }), {
      code: 'UNAVAILABLE',
      message: /Copy node_modules\/tfcore-wasm\/dist\/tfcore-simd\.wasm into that folder/,
    });
  });

  it('refuses a module of another kind of build', async () => {
    await assert.rejects(init({ variant: 'simd', wasm: Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0) }), {
      message: /none of tfcore-wasm/,
    });
    if (!detectFeatures().threads) return;
    await assert.rejects(init({ variant: 'simd-threads', threads: 2, wasm: await loadBytes() }), {
      code: 'UNAVAILABLE',
      message: /a build without threads/,
    });
  });

  it('tries anew after a failure', async () => {
    const bytes = new Uint8Array(await loadBytes());
    bytes[0] = 1;
    await assert.rejects(init({ variant: 'simd', wasm: bytes }), UnavailableError);
    await assert.rejects(init({ variant: 'simd', wasm: bytes }), UnavailableError);
    bytes[0] = 0; // the same source, which now is right
    const tf = await init({ variant: 'simd', wasm: bytes });
    assert.equal(tf.variant, 'simd');
    assert.equal(await init({ variant: 'simd', wasm: bytes }), tf);
  });

  it('takes a compiled module, and tells how far loading is', async () => {
    const module = await WebAssembly.compile(await loadBytes());
    assert.ok((await init({ variant: 'simd', wasm: module })).opDefs().length > 0);
    const seen = [];
    await init({
      variant: 'simd',
      wasm: new URL(place),
      onProgress: (loaded, total) => seen.push([loaded, total]),
    });
    const [loaded, total] = seen.at(-1);
    assert.ok(loaded > 100_000);
    assert.equal(loaded, total);
  });

  it('can be aborted, and by one caller only for that caller', async () => {
    await assert.rejects(init({ signal: AbortSignal.abort() }), { name: 'AbortError' });
    const bytes = await loadBytes();
    const abort = new AbortController();
    const impatient = init({ variant: 'simd', wasm: bytes, signal: abort.signal });
    const patient = init({ variant: 'simd', wasm: bytes });
    abort.abort();
    await assert.rejects(impatient, { name: 'AbortError' });
    assert.equal((await patient).variant, 'simd');
  });
});

async function loadBytes() {
  if (isPage) return (await fetch(place)).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  return readFile(place);
}
