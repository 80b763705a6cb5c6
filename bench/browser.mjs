// Measures in headless Chromium: bundles the page, serves it with the headers that give it a precise clock,
// and drives it.
import { existsSync, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { openChromium } from '../tools/chromium.mjs';
import { must, root, say } from '../tools/process.mjs';
import { PYTHON } from '../tests/js/tensorflow-servers.mjs';
import { bundlePage, liteRtWasm, onnxWasm, ourFiles, peerWasm } from './bundle.mjs';

const TYPES = {
  '.html': 'text/html',
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};
const PAGE = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';

const firstProduct = path.join(root, 'build/bench/first-product.tflite');

/** Makes the model of LiteRT.js, unless it is there. Without TensorFlow there is none. */
async function makeFirstProduct() {
  if (existsSync(firstProduct)) return true;
  if (!existsSync(PYTHON)) {
    say(
      'without LiteRT.js: `python3 tests/oracle/environment.py` installs the TensorFlow that makes its model',
    );
    return false;
  }
  mkdirSync(path.dirname(firstProduct), { recursive: true });
  await must(PYTHON, ['bench/first_product.py', firstProduct]);
  return true;
}

/** The file for a path of the site. */
function fileOf(pathname, { page, limitsFile, digits, onnx }) {
  const parts = pathname.split('/').slice(1).map(decodeURIComponent);
  const name = parts.at(-1);
  if (parts.includes('..')) return undefined;
  if (name === 'digits.csv.gz') return digits;
  if (name === 'models.pb') return path.join(root, pathname);
  if (parts[0] === 'limits') return path.join(path.dirname(limitsFile(parts[1])), name);
  if (parts[0] === 'peer') return path.join(peerWasm, name);
  if (parts[0] === 'litert') return path.join(liteRtWasm, name);
  if (name === 'first-product.tflite') return firstProduct;
  if (parts[0] === 'onnxruntime') return path.join(onnxWasm, name);
  if (parts[0] === 'graphs') return onnx[name];
  if (name.startsWith('tfcore-')) return path.join(ourFiles, name);
  return path.join(page, name);
}

async function serve(places) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const headers = {
      'Content-Type': TYPES[path.extname(pathname)] ?? 'application/octet-stream',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    };
    try {
      const body = pathname === '/index.html' ? PAGE : await readFile(fileOf(pathname, places));
      response.writeHead(200, headers).end(body);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** A host for bench/run.mjs. */
export async function openBrowser({ limitsFile, digits, onnx, progress }) {
  const hasLiteRt = await makeFirstProduct();
  const server = await serve({ page: await bundlePage(), limitsFile, digits, onnx });
  const browser = await openChromium();
  /** Opens a page with an empty cache, and calls one of the functions on its window. */
  const call = async (name, settings) => {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      page.on('console', (message) => {
        const text = message.text();
        /* LiteRT.js prints all it does as errors. */
        if (message.type() !== 'error') progress(text);
        else if (!/^(INFO|WARNING): /.test(text)) process.stderr.write(`${text}\n`);
      });
      await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
      await page.waitForFunction((wanted) => wanted in window, name);
      return await page.evaluate(([wanted, values]) => window[wanted](values), [name, settings]);
    } finally {
      await context.close();
    }
  };
  return {
    name: `Chromium ${browser.version()}`,
    otherPeers: hasLiteRt ? ['LiteRT.js'] : [],
    measure: (settings) => call('measure', { ...settings, onnx, firstWarmUp: 3000 }),
    measureFirstResult: (settings) => call('measureFirstResult', settings),
    async close() {
      await browser.close();
      server.close();
    },
  };
}
