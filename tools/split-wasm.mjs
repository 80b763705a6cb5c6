// Splits the wasm of a build without threads in two: kernels of the side ops (TFCORE_SIDE_OPS in
// cmake/TfcoreModules.cmake), and what only they call, go into a side module. It is loaded when a graph has a side
// op (bindings/js/engine/side-module.ts). What graphs are made with stays: shape functions, and the
// constructors and destructors of kernels.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { must, root, SetupError } from './process.mjs';

/** The fields of an OpRegistration that are called before a graph runs, or after its session was closed. */
const KEPT_FIELDS = /\.(?:shape|construct|destroy|gradient_fn) = (\w+)/g;
/** The wings of src/ops/, and the files of other wings ('nn/lrn'), whose kernels go into the side module. */
function sideOps() {
  const text = readFileSync(path.join(root, 'cmake/TfcoreModules.cmake'), 'utf8');
  const list = /set\(TFCORE_SIDE_OPS\s+([^)]+)\)/.exec(text);
  if (!list) throw new SetupError('cmake/TfcoreModules.cmake sets no TFCORE_SIDE_OPS');
  return list[1].trim().split(/\s+/);
}

function filesBelow(folder) {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

/** The functions that objects define. */
async function definedIn(objects, tools) {
  const nm = path.join(path.dirname(tools.emcmake), 'emnm');
  const lines = await must(nm, ['--defined-only', '--format=posix', ...objects], { env: tools.env });
  return new Set(lines.split('\n').flatMap((line) => /^(\S+) [tTwW] /.exec(line)?.[1] ?? []));
}

/** The names in C of functions that have to stay. */
const keptNames = () =>
  new Set(
    filesBelow(path.join(root, 'src/ops')).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(KEPT_FIELDS)].map(([, name]) => name),
    ),
  );

/** The name in C: a static function of a side op is named _ZL<length><name><types>.__uniq.<file>. */
function nameInC(name) {
  const mangled = /^_ZL?(\d+)(.*)/.exec(name);
  return mangled ? mangled[2].slice(0, Number(mangled[1])) : name;
}

/** The functions of a module, which of them call which, and which are reached from outside or through the table. */
function readCalls(text) {
  const functions = new Map(); // name -> the names of those that it calls
  const roots = new Set();
  let calls;
  for (const line of text.split('\n')) {
    const [kind] = /^ \((?:func|export|elem|start)(?= )/.exec(line) ?? [];
    const names = kind || line.includes('call $') || line.includes('ref.func') ? namesIn(line) : [];
    if (kind === ' (func') functions.set(names[0], (calls = new Set()));
    else if (kind) names.forEach((name) => roots.add(name));
    else names.forEach((name) => calls?.add(name));
  }
  return { functions, roots };
}

const namesIn = (line) => [...line.matchAll(/\$([^\s()]+)/g)].map(([, name]) => name);

function reachable(functions, roots) {
  const seen = new Set(roots);
  for (const name of seen) for (const called of functions.get(name) ?? []) seen.add(called);
  return seen;
}

/** The functions for the side module. */
function chooseFunctions({ functions, roots }, ofSideOps, kept) {
  const first = [...roots].filter((name) => !ofSideOps.has(name) || kept.has(nameInC(name)));
  const staying = reachable(functions, first);
  return [...functions.keys()].filter((name) => !staying.has(name));
}

/** Binaryen's programs know the features of a module only from its names section, which is removed. */
const FEATURES = [
  'bulk-memory',
  'exception-handling',
  'multivalue',
  'mutable-globals',
  'nontrapping-float-to-int',
  'reference-types',
  'relaxed-simd',
  'sign-ext',
  'simd',
].map((feature) => `--enable-${feature}`);

/**
 * Splits build/wasm-<variant>/tfcore-<variant>.wasm. Writes into build/wasm-<variant>/split/ the module without
 * the side ops' kernels (tfcore-<variant>.wasm), the side module (tfcore-<variant>-side.wasm), and the whole
 * one without names (tfcore-<variant>-whole.wasm). `tools` is what setUp() returned.
 */
export async function splitWasm(tools, variant) {
  const build = path.join(root, `build/wasm-${variant}`);
  const linked = path.join(build, `tfcore-${variant}.wasm`);
  const folder = path.join(build, 'split');
  mkdirSync(folder, { recursive: true });
  const at = (name) => path.join(folder, name);
  const emConfig = path.join(path.dirname(tools.emcmake), 'em-config');
  const binaryen = (await must(emConfig, ['BINARYEN_ROOT'], { env: tools.env })).trim();
  const run = (program, ...args) => must(path.join(binaryen, 'bin', program), [...args, ...FEATURES]);

  const places = sideOps().map((ops) => `tfcore_ops.dir/src/ops/${ops}${ops.includes('/') ? '.c.o' : ''}`);
  const isOfSideOps = (object) =>
    [...places, 'tfcore_codec_libraries.dir'].some((place) => `${object}/`.includes(`/${place}/`));
  const objects = filesBelow(path.join(build, 'CMakeFiles')).filter((file) => /\/tfcore_.*\.o$/.test(file));
  const sideNames = await definedIn(objects.filter(isOfSideOps), tools);
  /* A static function of another file may have the name of a function of a side op. */
  const otherNames = await definedIn(
    objects.filter((file) => !isOfSideOps(file)),
    tools,
  );
  /* The names of what the modules share have a part that only this pair has: others cannot be linked by mistake. */
  const pair = createHash('sha256').update(readFileSync(linked)).digest('hex').slice(0, 8);
  await run('wasm-dis', linked, '-o', at('linked.wat'));
  const calls = readCalls(readFileSync(at('linked.wat'), 'utf8'));
  const chosen = chooseFunctions(
    calls,
    new Set([...sideNames].filter((name) => !otherNames.has(name))),
    keptNames(),
  );
  writeFileSync(at('side-functions.txt'), `${chosen.join('\n')}\n`);
  const [main, side] = [`tfcore-${variant}.wasm`, `tfcore-${variant}-side.wasm`];
  await run(
    'wasm-split',
    ...[linked, '-o1', at(`named-${main}`), '-o2', at(`named-${side}`)],
    ...[`--split-funcs=@${at('side-functions.txt')}`, '--no-placeholders', '-g'],
    ...['--import-namespace=main', `--export-prefix=${pair}~`],
  );
  const finish = (from, to) =>
    run('wasm-opt', from, '-o', at(to), '--duplicate-function-elimination', '--strip-debug');
  await finish(at(`named-${main}`), main);
  await finish(at(`named-${side}`), side);
  await finish(linked, `tfcore-${variant}-whole.wasm`);
  rmSync(at('linked.wat'));
}
