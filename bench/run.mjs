// Measures our engine beside tfjs's wasm backend, in Node and in headless Chromium. `npm run bench` sets up,
// builds and runs this.
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildWasm } from '../tools/build.mjs';
import { must, outputOf, root, runMain, say, SetupError } from '../tools/process.mjs';
import { setUp } from '../tools/setup.mjs';
import { openBrowser } from './browser.mjs';
import { bundlePeerForNode, onnxWasm, peerWasm } from './bundle.mjs';
import { median } from './measure.mjs';
import { tableOf, verdict } from './table.mjs';
import { makeTrainingFiles } from './training-files.mjs';
import { onnxTrainingCases } from './training.mjs';
import { measureModels } from './whole-models.mjs';

const USAGE = `npm run bench -- [options]
  --filter <words>      only cases whose name contains one of these words, separated by commas
  --variant <variant>   only this build: simd or relaxed
  --node-only, --chromium-only
  --node <program>      another Node to measure in
  --rounds <n>          rounds per case (7)
  --models              whole models instead, beside LiteRT.js, onnxruntime-web and tfjs-wasm in Chromium
  --threads <numbers>   with --models: numbers of threads, separated by commas (1,2)
  --ops                 with --models: only the times of our ops in each model, with one thread
  --first               with --models: only our times until the first run of each model, with the first number of threads`;

const RELAXED_FLAG = '--experimental-wasm-relaxed-simd';
const FIRST_RESULT_ROUNDS = 5;
const FIRST_RESULT = 'import to first result';

function readOptions() {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        filter: { type: 'string', default: '' },
        variant: { type: 'string' },
        rounds: { type: 'string', default: '7' },
        models: { type: 'boolean' },
        threads: { type: 'string', default: '1,2' },
        ops: { type: 'boolean' },
        first: { type: 'boolean' },
        node: { type: 'string', default: process.execPath },
        'node-only': { type: 'boolean' },
        'chromium-only': { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }));
  } catch (error) {
    throw new SetupError(`${error.message}\n\n${USAGE}`);
  }
  const rounds = Number(values.rounds);
  const variants = values.variant === undefined ? ['simd', 'relaxed'] : [values.variant];
  const threads = values.threads.split(',').map(Number);
  const isRight =
    rounds >= 1 &&
    variants.every((variant) => ['simd', 'relaxed'].includes(variant)) &&
    threads.every((count) => Number.isInteger(count) && count >= 1);
  if (values.help || !isRight) throw new SetupError(USAGE);
  return { ...values, rounds, variants, threads, filter: values.filter.split(',').filter(Boolean) };
}

const limitsFile = (variant) => path.join(root, `build/wasm-${variant}/bench_gemm.mjs`);
const digits = path.join(root, 'examples/data/digits.csv.gz');

/** Measures in Node processes. */
async function openNode(program, onnx) {
  const peer = await bundlePeerForNode();
  const flags = outputOf(program, [RELAXED_FLAG, '-e', '0']) === undefined ? [] : [RELAXED_FLAG];
  const start = async (settings) => {
    let result;
    await must(
      program,
      [...flags, 'bench/node.mjs', JSON.stringify({ ...settings, peer, peerWasm, onnx, onnxWasm })],
      {
        boring: /^\{/,
        onLine(line) {
          if (!line.startsWith('{')) return;
          const message = JSON.parse(line);
          if (message.log) progress(message.log);
          else result = message.result;
        },
      },
    );
    return result;
  };
  return {
    name: `Node ${outputOf(program, ['--version']).trim().slice(1)}`,
    measure: (settings) =>
      start({ ...settings, limits: limitsFile(settings.variant), digits, firstWarmUp: 500 }),
    measureFirstResult: start,
    close() {},
  };
}

function progress(text) {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K  ${text}`);
}

/** The times to a first result, each in its own process or page. */
async function measureFirstResult(host, variant) {
  progress(FIRST_RESULT);
  const names = ['ours', 'peer', ...(host.otherPeers ?? [])];
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < FIRST_RESULT_ROUNDS; round++) {
    for (const firstResultOf of names)
      times[firstResultOf].push(await host.measureFirstResult({ firstResultOf, variant }));
  }
  const [ours, peer, ...more] = names.map((name) => median(times[name]));
  const others = more.map((time, i) => ({ name: names[i + 2], time, ratio: time / ours }));
  return { name: FIRST_RESULT, group: 'start', times, ours, peer, ratio: peer / ours, others };
}

await runMain(async () => {
  const options = readOptions();
  if (options.models) return measureModels(options);
  const tools = await setUp({ tests: true });
  for (const variant of options.variants) await buildWasm(tools, variant, ['bench_gemm']);
  const isAsked = ({ name }) =>
    options.filter.length === 0 || options.filter.some((word) => name.includes(word));
  const onnx = onnxTrainingCases.some(isAsked) ? await makeTrainingFiles() : undefined;
  const started = Date.now();
  const busy = loadavg()[0];
  const results = [];
  const hosts = [
    ...(options['chromium-only'] ? [] : [() => openNode(options.node, onnx)]),
    ...(options['node-only'] ? [] : [() => openBrowser({ limitsFile, digits, onnx, progress })]),
  ];
  for (const open of hosts) {
    const host = await open();
    try {
      for (const variant of options.variants) {
        const result = await host.measure({ variant, filter: options.filter, rounds: options.rounds });
        if (options.filter.length === 0 || options.filter.some((word) => FIRST_RESULT.includes(word))) {
          result.cases.push(await measureFirstResult(host, variant));
        }
        results.push({ host: host.name, ...result });
        if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
        say(`\n${tableOf(results.at(-1))}`);
      }
    } finally {
      await host.close();
    }
  }
  const file = path.join(root, 'build/bench/results.json');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ date: new Date().toISOString(), results }, null, 1)}\n`);
  say(
    `Medians of ${options.rounds} rounds, ours and the peer in turn, one thread: tfjs-backend-wasm 4.22, or what a row names. "peer / ours" above 1: ours is faster.`,
  );
  if (busy > availableParallelism() / 2)
    say(
      `The machine was busy (load ${busy.toFixed(1)} at the start): do not trust single figures, and ratios only roughly.`,
    );
  const bar = verdict(results);
  if (bar) say(bar);
  if (results.some(({ cases }) => cases.some((row) => row.error))) process.exitCode = 1;
  say(`${((Date.now() - started) / 1000).toFixed(0)} s; every round is in ${path.relative(root, file)}.`);
});
