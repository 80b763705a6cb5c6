// Pages without a bundler: ways to import the package, headers of the server, and browsers.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setUpBrowsers } from '../../../tools/peers.mjs';
import { serve } from '../../../tools/serve.mjs';
import { openFirefox, openWebKit } from './browsers.mjs';
import { recipe } from '../readme-blocks.mjs';
import { ALL, checkResults, consumer, keptPrints, MODEL, SINGLE } from './consumer.mjs';
import { checkSite, closeChromium, POLICY, resultsOfFolder } from './pages.mjs';

describe('the package in a page', function () {
  this.timeout(120_000);
  let user;
  before(async function () {
    this.timeout(600_000);
    user = await consumer();
  });
  after(closeChromium);

  /** A site with the package's files in tfcore-wasm/. */
  function site(name, files, options) {
    const folder = user.project(name, files, options);
    cpSync(user.dist, path.join(folder, 'tfcore-wasm'), { recursive: true });
    return folder;
  }

  it('by the path of its file', () => checkSite(site('page-path', {}, { entry: './tfcore-wasm/index.js' })));

  it('by an import map', () =>
    checkSite(site('page-map', { 'index.html': recipe('index.html') }), { policy: false }));

  it('in a module Worker', () =>
    checkSite(
      site(
        'page-worker',
        { 'main.js': keptPrints(recipe('main.js')), 'worker.js': recipe('worker.js'), 'model.js': MODEL },
        { entry: './tfcore-wasm/index.js' },
      ),
    ));

  it('in a module Worker, with the model of the README', async () => {
    const model = recipe('model.js').replace("'tfcore-wasm'", "'./tfcore-wasm/index.js'");
    const folder = site('page-readme', {
      'main.js': keptPrints(recipe('main.js')),
      'worker.js': recipe('worker.js'),
      'model.js': model,
    });
    assert.deepEqual(await resultsOfFolder(folder, {}), [1, 4, 9]);
  });

  it('in a service worker, as one file', async () => {
    const folder = site(
      'page-service-worker',
      {
        'main.js': `navigator.serviceWorker.onmessage = ({ data }) => (globalThis.results = data);
          await navigator.serviceWorker.register('./worker.js', { type: 'module' });
          (await navigator.serviceWorker.ready).active.postMessage('run');`,
        'worker.js': `import { probe } from './probe.js';
          onmessage = async ({ source }) => source.postMessage(await probe({}).catch((error) => ({ failed: String(error) })));`,
      },
      { entry: './tfcore-wasm/inline.js' },
    );
    const { variant, product, gradient, loaded, failed } = await resultsOfFolder(folder, {});
    assert.deepEqual(
      { variant, product, gradient, loaded, failed },
      { variant: 'simd', product: true, gradient: 6, loaded: 9, failed: undefined },
    );
  });

  it('where the policy allows no wasm: the error names the setting', async () => {
    const folder = site('page-strict', {}, { entry: './tfcore-wasm/index.js' });
    const { simd } = await resultsOfFolder(folder, {
      headers: { 'Content-Security-Policy': POLICY.replace(" 'wasm-unsafe-eval'", '') },
    });
    assert.match(simd.failed, /Content-Security-Policy must allow script-src 'wasm-unsafe-eval'/);
  });

  it('where the policy allows no worker: one thread, and a reason', async () => {
    const folder = site('page-workerless', {}, { entry: './tfcore-wasm/index.js' });
    const { chosen, 'simd-threads': asked } = await resultsOfFolder(folder, {
      headers: { 'Content-Security-Policy': `${POLICY}; worker-src 'none'` },
    });
    assert.deepEqual([chosen.variant, chosen.threads, chosen.product], ['relaxed', 1, true]);
    assert.match(chosen.reason, /one thread: a Worker was refused/);
    assert.match(
      asked.failed,
      /UnavailableError: variant 'simd-threads' cannot run here: a Worker was refused/,
    );
  });

  describe('from another origin, as from a CDN', () => {
    let cdn;
    before(async () => {
      cdn = await serve({
        folder: user.dist,
        headers: { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' },
      });
    });
    after(() => cdn.close());
    const page = (name, file) => user.project(name, {}, { entry: `${cdn.address}/${file}` });

    it('with threads in an isolated page, with one in another', async () => {
      const folder = page('cdn', 'index.js');
      checkResults(await resultsOfFolder(folder, {}), { variants: ALL });
      checkResults(await resultsOfFolder(folder, { isolated: false }), {
        variants: SINGLE,
        reason: /not cross-origin isolated/,
      });
    });

    it('with one thread where the policy refuses the way around', async () => {
      const policy = `default-src 'none'; script-src 'self' ${cdn.address} 'wasm-unsafe-eval'; connect-src ${cdn.address}; worker-src 'self'`;
      const { chosen } = await resultsOfFolder(page('cdn-strict', 'index.js'), {
        headers: { 'Content-Security-Policy': policy },
      });
      assert.deepEqual([chosen.variant, chosen.product], ['relaxed', true]);
      assert.match(chosen.reason, /one thread: a Worker was refused/);
    });

    it('as one file', async () => {
      const results = await resultsOfFolder(page('cdn-inline', 'inline.js'), {});
      assert.deepEqual(
        [results.chosen.variant, results.chosen.product, results.chosen.gradient],
        ['simd', true, 6],
      );
      assert.match(results.chosen.reason, /holds one build/);
      assert.match(results['simd-threads'].failed, /variant 'simd-threads' is none of simd/);
    });
  });

  for (const [name, open, variants] of [
    ['Firefox', openFirefox, ALL],
    ['WebKit', openWebKit, ['simd', 'simd-threads']],
  ]) {
    it(`in ${name}`, async function () {
      try {
        await setUpBrowsers();
      } catch (error) {
        console.log(`skipped: ${name}: ${error.message.trim().split('\n').at(-1)}`);
        return this.skip();
      }
      const folder = site(`page-${name}`, {}, { entry: './tfcore-wasm/index.js' });
      const browser = await open();
      try {
        for (const isolated of [true, false]) {
          const server = await serve({ folder, isolated, headers: { 'Content-Security-Policy': POLICY } });
          await browser.navigate(`${server.address}/`);
          let results;
          for (const end = Date.now() + 60_000; !results && Date.now() < end; await sleep(200))
            results = await browser.evaluate('globalThis.results');
          await server.close();
          assert.ok(results, 'no results within a minute');
          const expected = variants.filter((variant) => isolated || !variant.endsWith('threads'));
          const reasons = [
            !variants.includes('relaxed') && 'this engine has no relaxed SIMD',
            !isolated && 'one thread: the page is not cross-origin isolated',
          ].filter(Boolean);
          checkResults(results, {
            variants: expected,
            reason: reasons.length > 0 ? new RegExp(`^${reasons.join('; ')}$`) : null,
          });
        }
      } finally {
        await browser.close();
      }
    });
  }
});
