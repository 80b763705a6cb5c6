// Whole models, ours beside LiteRT.js, onnxruntime-web and tfjs-wasm in one page of Chromium. model_files.py makes
// them, and model-page.mjs measures.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir, loadavg } from 'node:os';
import path from 'node:path';
import { buildWasm } from '../tools/build.mjs';
import { openChromium } from '../tools/chromium.mjs';
import { must, root, say } from '../tools/process.mjs';
import { serve } from '../tools/serve.mjs';
import { setUp } from '../tools/setup.mjs';
import { PYTHON } from '../tests/js/tensorflow-servers.mjs';
import { bundleModelPage } from './bundle.mjs';
import { median } from './measure.mjs';
import { firstRunsTable, modelsTable, opsTable } from './models-table.mjs';

const NAMES = ['ours', 'LiteRT.js', 'onnxruntime-web', 'tfjs-wasm'];
const STEPS_OF_TRACE = 30;
const results = path.join(root, 'build/bench/whole-models.json');

/** Where model_files.py puts them. */
const modelsFolder = path.join(
  process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'),
  'tfcore-wasm/bench-models',
);
const page =
  '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/build/bench/model-page/model-page.js"></script>';

/** Makes what is missing; returns [{ name, folder }] of the models, or undefined if they cannot be made. */
async function makeModels(filter) {
  if (!existsSync(PYTHON)) {
    say('skipped: `python3 tests/oracle/environment.py` installs the TensorFlow that makes the models');
    return undefined;
  }
  say('the files of the models');
  try {
    const output = await must(PYTHON, ['bench/model_files.py', ...filter], { boring: /^(W|I)\d{4} / });
    return JSON.parse(output.split('\n').findLast((line) => line.startsWith('[{')) ?? '[]');
  } catch (error) {
    say(`skipped, because the models cannot be made: ${error.message}`);
    return undefined;
  }
}

/** Calls a function of a new page, with all engines in it. `told` gets the errors that they print. */
async function inPage(browser, address, name, { told = [], ...settings }) {
  const context = await browser.newContext();
  try {
    const opened = await context.newPage();
    opened.on('console', (message) => message.text().startsWith('ERROR:') && told.push(message.text()));
    await opened.goto(`${address}/models.html`);
    await opened.waitForFunction((wanted) => wanted in window, name);
    return await opened.evaluate(([wanted, values]) => window[wanted](values), [name, settings]);
  } finally {
    await context.close();
  }
}

/** Measures one model with each number of threads. */
async function measureModel(call, { name, folder }, { threads, rounds }) {
  const row = { name, load: loadavg()[0], results: {} };
  for (const count of threads) {
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K  ${name}, threads: ${count}`);
    const told = [];
    try {
      row.results[count] = await call('measureModel', { folder, threads: count, rounds, names: NAMES, told });
    } catch (error) {
      row.results[count] = { medians: {}, errors: { page: error.message.split('\n')[0] } };
    }
    row.results[count].told = told;
  }
  return row;
}

/** The medians of the times until the first run, each in a new page. */
async function measureFirstRuns(call, models, { threads, rounds }) {
  const rows = [];
  for (const { name, folder } of models) {
    const all = [];
    for (let round = 0; round < rounds; round++)
      all.push(await call('timesOfFirstRun', { folder, threads: threads[0] }));
    const columns = Object.keys(all[0]);
    const times = columns.map((column) => [column, median(all.map((round) => round[column]))]);
    rows.push({ name, times: Object.fromEntries(times) });
  }
  return firstRunsTable(rows);
}

/** Measures, and prints a table. The rows so far are in `results` after each model. */
export async function measureModels({ filter, threads, rounds, ops, first }) {
  const models = await makeModels(filter);
  if (!models) return;
  await buildWasm(await setUp({ tests: true }), 'relaxed', ['bench_gemm']);
  await bundleModelPage();
  const site = await serve({
    pages: { '/models.html': (_, response) => response.setHeader('Content-Type', 'text/html').end(page) },
  });
  const headers = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };
  const files = await serve({ folder: modelsFolder, headers });
  const browser = await openChromium();
  const call = (name, settings) =>
    inPage(browser, site.address, name, { ...settings, folder: `${files.address}/${settings.folder}` });
  const rows = [];
  mkdirSync(path.dirname(results), { recursive: true });
  try {
    if (first) return say(await measureFirstRuns(call, models, { threads, rounds }));
    for (const model of models) {
      if (ops) {
        say(opsTable(model.name, await call('timesOfOps', { folder: model.folder, steps: STEPS_OF_TRACE })));
        continue;
      }
      rows.push(await measureModel(call, model, { threads, rounds }));
      writeFileSync(results, `${JSON.stringify({ date: new Date().toISOString(), rows }, null, 1)}\n`);
    }
  } finally {
    await browser.close();
    await site.close();
    await files.close();
  }
  if (!ops) say(modelsTable(rows, { names: NAMES, threads, rounds }));
}
