// A project that uses the package as npm installs it, in a folder below the peers, and the results that it
// must compute in every host.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setUpPeers } from '../../../tools/peers.mjs';
import { root, run } from '../../../tools/process.mjs';

/**
 * The program of every project: a product that several threads compute, a gradient, the same gradient computed in
 * a worker, a model that is saved and loaded by files of the package that are imported on demand, and the name of an error's class,
 * because minifiers may shorten it.
 */
const PROBE = (entry) => `
import { detectFeatures, init } from '${entry}';

export const variants = () => {
  const { simd, relaxed, threads } = detectFeatures();
  return [simd && 'simd', relaxed && 'relaxed', simd && threads && 'simd-threads', relaxed && threads && 'relaxed-threads'].filter(Boolean);
};

export async function probe(options) {
  const tf = await init(options);
  const g = new tf.Graph();
  const session = new tf.Session(g);
  const x = g.placeholder('float32', [160, 160]);
  const product = await session.run(g.matMul(x, x), new Map([[x, new Float32Array(160 * 160).fill(2)]]));
  const [slope] = g.gradients([g.square(x)], [x]);
  const gradient = await session.run(slope, new Map([[x, new Float32Array(160 * 160).fill(3)]]));
  const error = await session.run(slope).catch((caught) => caught);
  const model = tf.model({ session, signatures: { inputs: { x }, outputs: { y: g.square(x) } } });
  const loaded = await tf.load(await model.save());
  const { y } = await loaded.run({ x: new Float32Array(160 * 160).fill(3) });
  await loaded.close();
  await session.close();
  const away = new tf.Session(g, { target: 'worker' });
  const inWorker = await away.run(slope, new Map([[x, new Float32Array(160 * 160).fill(3)]])).then(({ data }) => data[7], String);
  await away.close();
  return { variant: tf.variant, threads: tf.threads, reason: tf.variantReason ?? null, product: product.data.every((v) => v === 640), gradient: gradient.data[7], loaded: y.data[7], inWorker, error: error.name };
}

/** The build that the host chooses, then each build that it can run. */
export async function probeAll(options = {}) {
  const results = {};
  for (const variant of [undefined, ...variants()]) {
    results[variant ?? 'chosen'] = await probe({ ...options, ...(variant && { variant }) }).catch((error) => ({ failed: String(error?.stack ?? error) }));
  }
  return results;
}
`;

/** The program of a page. It stores the results where the test finds them. */
export const PAGE_PROGRAM = `import { probeAll } from './probe.js';
probeAll().then((results) => (globalThis.results = results));
`;

/** The program above, with the `run` of the recipe model.js of npm/README.md, which it replaces. */
export const MODEL = `import { probeAll } from './probe.js';
export const run = () => probeAll();
`;

/** A page or Worker of npm/README.md, changed to store its output in the page. */
export const keptPrints = (code) => code.replace('console.log(', '(globalThis.results = ');

export const HTML =
  '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>probe</title><script type="module" src="./main.js"></script>\n';

let made;

/**
 * The project, made once: { folder, peers, dist, project(name, files) }. `peers` is undefined if npm could
 * not install its packages.
 */
export const consumer = () => (made ??= make());

/**
 * The same, for tests that need the peers. Without the peers, the tests are skipped with a line that says how
 * to install them.
 */
export async function consumerWithPeers(context) {
  const user = await consumer();
  if (user.peers !== undefined) return user;
  console.log(
    `skipped: the packages of tests/package/peers are not installed (${user.problem}); where npm reaches its registry, 'npm test -- bundlers' installs them`,
  );
  return context.skip();
}

async function make() {
  let peers;
  let problem;
  try {
    peers = await setUpPeers();
  } catch (error) {
    problem = error.message.trim().split('\n').at(-1);
  }
  const folder = mkdtempSync(path.join(peers ?? tmpdir(), 'work-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const npm = (where, ...args) =>
    execFileSync('npm', args, { cwd: where, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const [packed] = JSON.parse(
    npm(path.join(root, 'npm'), 'pack', '--json', '--pack-destination', folder, '--loglevel=error'),
  );
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  npm(
    folder,
    'install',
    '--offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    path.join(folder, packed.filename),
  );
  const dist = path.join(folder, 'node_modules/tfcore-wasm/dist');
  /** A folder with the program, and with `files` by name. */
  const project = (name, files = {}, { entry = 'tfcore-wasm' } = {}) => {
    const place = path.join(folder, name);
    const all = {
      'package.json': JSON.stringify({ name, private: true, type: 'module' }),
      'probe.js': PROBE(entry),
      'main.js': PAGE_PROGRAM,
      'index.html': HTML,
      ...files,
    };
    for (const [file, text] of Object.entries(all)) {
      mkdirSync(path.dirname(path.join(place, file)), { recursive: true });
      writeFileSync(path.join(place, file), text);
    }
    cpSync(path.join(folder, 'node_modules'), path.join(place, 'node_modules'), { recursive: true });
    return place;
  };
  return { folder, peers, problem, dist, project };
}

/** The files that the user must copy for bundlers that do not follow URLs: npm/README.md's text on Rollup. */
export function copyFiles(dist, to) {
  mkdirSync(to, { recursive: true });
  cpSync(dist, to, {
    recursive: true,
    filter: (file) => file === dist || /tfcore-[\w-]+\.(wasm|js)$/.test(file),
  });
}

/** Runs a program that must succeed, and returns its output. */
export async function runIn(cwd, command, args, env = {}) {
  const { code, output } = await run(command, args, {
    cwd,
    env: { NEXT_TELEMETRY_DISABLED: '1', CI: '1', ...env },
  });
  assert.equal(code, 0, `${command} ${args.join(' ')}\n${output}`);
  return output;
}

/**
 * Compares the result of probeAll with the expected one. `chosen` is the build that the package selects by
 * default; `reason` says why it is not a faster one.
 */
export function checkResults(results, { variants, chosen = variants.at(-1), reason = null }) {
  for (const [name, result] of Object.entries(results)) {
    assert.equal(result.failed, undefined, `${name}: ${result.failed}`);
    const { variant, threads, product, gradient, loaded, inWorker, error } = result;
    assert.deepEqual(
      { product, gradient, loaded, inWorker, error },
      { product: true, gradient: 6, loaded: 9, inWorker: 6, error: 'InvalidArgumentError' },
      name,
    );
    assert.equal(variant, name === 'chosen' ? chosen : name);
    assert.ok(variant.endsWith('threads') ? threads >= 1 : threads === 1, `${name}: ${threads} threads`);
  }
  assert.deepEqual(Object.keys(results).sort(), ['chosen', ...variants].sort());
  if (reason === null) assert.equal(results.chosen.reason, null);
  else assert.match(results.chosen.reason, reason);
}

export const SINGLE = ['simd', 'relaxed'];
export const ALL = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];
