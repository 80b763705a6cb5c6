// Pages in Chromium: serves a folder and reads the results of its page.
import assert from 'node:assert/strict';
import { openChromium } from '../../../tools/chromium.mjs';
import { serve } from '../../../tools/serve.mjs';
import { ALL, checkResults, SINGLE } from './consumer.mjs';

/** The headers of a careful site: no evaluation of text, and no content from other origins. */
export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:; style-src 'self'";

let browser;
export const chromium = async () => (browser ??= await openChromium());
export async function closeChromium() {
  await browser?.close();
  browser = undefined;
}

/** Opens a page, waits for `globalThis.results`, and returns them. */
export async function resultsOf(address, { timeout = 60_000 } = {}) {
  const context = await (await chromium()).newContext();
  const said = [];
  try {
    const page = await context.newPage();
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.stack));
    await page.goto(address);
    const handle = await page
      .waitForFunction(() => globalThis.results, undefined, { timeout })
      .catch((error) => assert.fail(`${error.message}\n${said.join('\n')}`));
    return await handle.jsonValue();
  } finally {
    await context.close();
  }
}

/** Serves a folder and returns the results of its page. */
export async function resultsOfFolder(folder, { page = 'index.html', ...options }) {
  const server = await serve({ folder, ...options });
  try {
    return await resultsOf(`${server.address}${options.prefix ?? ''}/${page}`);
  } finally {
    await server.close();
  }
}

/**
 * Serves a folder of static files in two ways: isolated, with a strict policy and below a path; and without
 * any of these. `below: false` is for files that must be at the root, and `policy: false` for a bundler that
 * writes scripts into the page.
 */
export async function checkSite(folder, { below = true, policy = true, page } = {}) {
  const prefix = below ? '/some/where' : '';
  const strict = await resultsOfFolder(folder, {
    prefix,
    page,
    headers: policy ? { 'Content-Security-Policy': POLICY } : {},
  });
  checkResults(strict, { variants: ALL });
  const plain = await resultsOfFolder(folder, { page, isolated: false });
  checkResults(plain, { variants: SINGLE, reason: /one thread: the page is not cross-origin isolated/ });
}
