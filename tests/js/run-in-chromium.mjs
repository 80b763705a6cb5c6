// The specs of this folder, the demo pages and bundles, in headless Chromium: `node
// tests/js/run-in-chromium.mjs`. The last line is "N passed, N failed".
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { openChromium } from '../../tools/chromium.mjs';
import { root, runMain, say } from '../../tools/process.mjs';
import { serve } from '../../tools/serve.mjs';
import { bundleTests } from './page/bundle-tests.mjs';
import { demoTests } from './page/demo-tests.mjs';
import { serverTests } from './page/server-tests.mjs';

const here = path.join(root, 'tests/js');

/** The package is not bundled: it finds its wasm next to itself. */
const packageFromServer = {
  name: 'package-from-server',
  setup(builder) {
    builder.onResolve({ filter: /npm\/dist\// }, ({ path: wanted }) => ({
      path: wanted.slice(wanted.indexOf('npm/dist/') - 1),
      external: true,
    }));
  },
};

async function bundleSpecs() {
  const specs = readdirSync(here)
    .filter((name) => name.endsWith('.test.mjs') && !name.endsWith('.node.test.mjs'))
    .sort();
  await build({
    stdin: { contents: specs.map((name) => `import './${name}';`).join('\n'), resolveDir: here },
    outfile: path.join(root, 'build/tests-js/specs.js'),
    bundle: true,
    format: 'esm',
    sourcemap: 'inline',
    logLevel: 'warning',
    plugins: [packageFromServer],
    external: ['node:*'],
    alias: { 'node:assert/strict': path.join(here, 'page/assert.mjs') },
  });
}

/** Runs the specs in a page; returns { passed, failed }. */
async function runSpecs(browser, address) {
  const page = await browser.newPage();
  page.on('console', (message) => {
    const isExpected = message.text().startsWith('Failed to load resource'); // specs ask for what is not there
    if (!isExpected) say(`  ${message.text()}`);
  });
  page.on('pageerror', (error) => say(`  FAILED outside of a test: ${error.stack}`));
  await page.goto(`${address}/tests/js/page/index.html`);
  const handle = await page.waitForFunction(() => window.total, undefined, { timeout: 1_200_000 });
  return handle.jsonValue();
}

/** Runs [name, test] pairs, each in a new browser context. */
async function runTests(tests, browser, address) {
  const total = { passed: 0, failed: 0 };
  for (const [name, test] of tests) {
    const context = await browser.newContext();
    try {
      await test(context, address);
      total.passed++;
    } catch (error) {
      total.failed++;
      say(`  FAILED ${name}\n    ${error.stack}`);
    }
    await context.close();
  }
  return total;
}

await runMain(async () => {
  await bundleSpecs();
  const server = await serve();
  const browser = await openChromium();
  try {
    const specs = await runSpecs(browser, server.address);
    const pages = await runTests([...demoTests, ...bundleTests, ...serverTests], browser, server.address);
    const failed = specs.failed + pages.failed;
    process.exitCode = failed === 0 ? 0 : 1;
    say(`${specs.passed + pages.passed} passed, ${failed} failed`);
  } finally {
    await browser.close();
    await server.close();
  }
});
