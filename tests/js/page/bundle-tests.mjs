// The package in a web page: bundled by esbuild, under a strict content security policy, without isolation.
// In the form of demo-tests.mjs.
import assert from 'node:assert/strict';
import path from 'node:path';
import { build } from 'esbuild';
import { root } from '../../../tools/process.mjs';
import { serve } from '../../../tools/serve.mjs';

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

const PROGRAM = `
  import { init } from './npm/dist/index.js';
  try {
    const tf = await init({ variant: 'simd', wasm: '/npm/dist/tfcore-simd.wasm' });
    const g = new tf.Graph();
    const x = g.placeholder('float32', [2]);
    const [dx] = g.gradients([g.square(x)], [x]);
    window.result = [tf.variant, ...(await new tf.Session(g).run(dx, new Map([[x, [1, 2]]]))).data];
    await init({ variant: 'simd-threads' }).catch((error) => window.result.push(error.message));
  } catch (error) {
    window.result = [error.message];
  }
  window.finished = true;
`;

async function runBundled(context, headers) {
  const made = await build({
    stdin: { contents: PROGRAM, resolveDir: root },
    bundle: true,
    format: 'esm',
    splitting: true,
    outdir: path.join(root, 'build/tests-js/bundle'),
    logLevel: 'error',
  });
  assert.deepEqual(made.errors, []);
  const html =
    '<!doctype html><title>bundled</title><script type="module" src="/build/tests-js/bundle/stdin.js"></script>';
  const pages = {
    '/bundled': (_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html', ...headers }).end(html),
  };
  const server = await serve({ isolated: false, pages });
  try {
    const page = await context.newPage();
    await page.goto(`${server.address}/bundled`);
    await page.waitForFunction(() => window.finished, undefined, { timeout: 20_000 });
    return await page.evaluate(() => window.result);
  } finally {
    await server.close();
  }
}

export const bundleTests = [
  [
    'the package runs bundled, under a content security policy, in a page that is not isolated',
    async (context) => {
      const [variant, a, b, refusal] = await runBundled(context, { 'Content-Security-Policy': POLICY });
      assert.deepEqual([variant, a, b], ['simd', 2, 4]);
      assert.match(refusal, /cross-origin isolated/);
    },
  ],

  [
    'the package explains a content security policy that forbids wasm',
    async (context) => {
      const [message] = await runBundled(context, {
        'Content-Security-Policy': POLICY.replace(" 'wasm-unsafe-eval'", ''),
      });
      assert.match(message, /Content-Security-Policy must allow script-src 'wasm-unsafe-eval'/);
    },
  ],
];
