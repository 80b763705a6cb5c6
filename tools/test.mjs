// `npm test`: sets up what is needed and runs everything. `npm test -- <word>...` runs the parts whose name
// contains a word. The last line is "N passed, N failed" over all parts; the exit code is 1 if anything
// failed.
import { availableParallelism } from 'node:os';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { build, buildWasm, cmakeBuild } from './build.mjs';
import { outputOf, root, run, runMain, say } from './process.mjs';
import { setUp } from './setup.mjs';

const COUNTS = /\b(\d+) passed, (\d+) failed\s*$/;

/** The counts of the last line of that form, or undefined. */
function countsIn(lines) {
  const match = lines.map((line) => COUNTS.exec(line)).findLast(Boolean);
  return match && { passed: Number(match[1]), failed: Number(match[2]) };
}

/** Runs the C tests of a build folder. A test program that crashes without a count is one failure. */
async function ctest(folder) {
  const linesOf = new Map();
  const total = { passed: 0, failed: 0 };
  const finished = (name, lines, ok) => {
    const { passed, failed } = countsIn(lines) ?? { passed: ok ? 1 : 0, failed: 0 };
    total.passed += passed;
    total.failed += ok ? failed : Math.max(failed, 1);
    const isShown = (line, i) => !line.startsWith('running ') || i === lines.length - 1;
    if (!ok) say(`${lines.filter(isShown).join('\n')}\n  in ${name}`);
  };
  const { code, output } = await run(
    'ctest',
    ['--test-dir', folder, '-V', '-j', String(availableParallelism())],
    {
      onLine(line) {
        const text = /^(\d+): (.*)$/.exec(line);
        if (text) {
          if (!linesOf.has(text[1])) linesOf.set(text[1], []);
          if (!/^(Test command|Working Directory|Environment variables|Test timeout)/.test(text[2]))
            linesOf.get(text[1]).push(text[2]);
        }
        const end = /^\s*\d+\/\d+ Test\s+#(\d+): (\S+) \.*\s*(.*?)\s+[\d.]+ sec/.exec(line);
        if (end) finished(`${end[2]}: ${end[3]}`, linesOf.get(end[1]) ?? [], end[3] === 'Passed');
      },
    },
  );
  if (total.passed + total.failed === 0 || (code !== 0 && total.failed === 0)) {
    say(output);
    total.failed++;
  }
  return total;
}

/** Runs a script that ends with a line of counts; its other lines are shown. */
async function script(args) {
  const lines = [];
  const { code } = await run('node', args, { onLine: (line) => lines.push(line) });
  const counts = countsIn(lines) ?? { passed: 0, failed: 1 };
  if (code !== 0) counts.failed = Math.max(counts.failed, 1);
  const shown = lines.filter((line) => line.trim() !== '' && !COUNTS.test(line));
  if (counts.failed > 0 || shown.some((line) => line.startsWith('skipped'))) say(shown.join('\n'));
  return counts;
}

const native = async (name, settings, env) =>
  ctest(await cmakeBuild(name, ['cmake'], settings, ['all'], env));
const wasm = async (tools, variant) => ctest(await buildWasm(tools, variant, ['all']));

/** The clients for other languages, against the optimised library. */
async function clients() {
  const folder = await cmakeBuild('release', ['cmake'], { CMAKE_BUILD_TYPE: 'Release' }, ['all'], {
    CC: 'gcc',
  });
  return script(['tools/check-clients.mjs', folder]);
}

/** mocha in Node, a file in each process, with relaxed SIMD enabled if Node has it behind a flag. */
function mocha(folder) {
  const files = readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.test.mjs'))
    .sort();
  const flag = '--experimental-wasm-relaxed-simd';
  const flags = outputOf('node', [flag, '-e', '0']) === undefined ? [] : [flag];
  return script([
    ...flags,
    'node_modules/mocha/bin/mocha.js',
    '--reporter',
    'tools/mocha-summary.cjs',
    '--timeout',
    '120000',
    '--parallel',
    '--jobs',
    String(availableParallelism()),
    ...files.map((name) => `${folder}/${name}`),
  ]);
}

const PARTS = [
  [
    'C, native, gcc, ASan + UBSan + LSan',
    () => native('debug', { CMAKE_BUILD_TYPE: 'Debug', TFCORE_SANITIZE: 'ON' }, { CC: 'gcc' }),
  ],
  ['C, native, gcc, release', () => native('release', { CMAKE_BUILD_TYPE: 'Release' }, { CC: 'gcc' })],
  ['C, native, clang, release', () => native('clang', { CMAKE_BUILD_TYPE: 'Release' }, { CC: 'clang' })],
  ['C, wasm in Node, simd', (tools) => wasm(tools, 'simd')],
  ['C, wasm in Node, relaxed', (tools) => wasm(tools, 'relaxed')],
  ['C, wasm in Node, simd-threads', (tools) => wasm(tools, 'simd-threads')],
  ['C, wasm in Node, relaxed-threads', (tools) => wasm(tools, 'relaxed-threads')],
  ['C clients, Rust and Go', () => clients()],
  ['tools, Node', () => mocha('tests/tools')],
  ['JavaScript, Node', async (tools) => (await build(tools), mocha('tests/js'))],
  ['JavaScript, Chromium', async (tools) => (await build(tools), script(['tests/js/run-in-chromium.mjs']))],
  ['package, installed', async (tools) => (await build(tools), mocha('tests/package'))],
  ['package, bundlers and hosts', async (tools) => (await build(tools), mocha('tests/package/peers'))],
];

await runMain(async () => {
  const words = process.argv.slice(2);
  const tools = await setUp({ tests: true });
  const total = { passed: 0, failed: 0 };
  const summary = [];
  for (const [name, part] of PARTS) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    say(`${name} ...`);
    const started = Date.now();
    let counts;
    try {
      counts = await part(tools);
      if (counts.passed + counts.failed === 0) counts.failed = 1;
    } catch (error) {
      say(error.message);
      counts = { passed: 0, failed: 1 };
    }
    total.passed += counts.passed;
    total.failed += counts.failed;
    const seconds = `${((Date.now() - started) / 1000).toFixed(0)} s`;
    summary.push(
      `${name.padEnd(38)} ${String(counts.passed).padStart(6)} passed ${String(counts.failed).padStart(4)} failed ${seconds.padStart(7)}`,
    );
    say(summary.at(-1));
  }
  say(`\n${summary.join('\n')}\n`);
  if (total.passed + total.failed === 0) say(`no part is named like: ${words.join(' ')}`);
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
  say(`${total.passed} passed, ${total.failed} failed`);
});
