// Splits the wasm of a build without threads in two: kernels of the side ops (TFCORE_SIDE_OPS in
// cmake/TfcoreModules.cmake) and of the side types (kSideTypes in src/op/side_kernels.c), and what only they
// call, go into a side module. It is loaded when a graph has such a kernel (bindings/js/engine/side-module.ts).
// What graphs are made with stays.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { must, root, SetupError } from './process.mjs';
import { readObject } from './wasm-object.mjs';

/** The part of a source that a pattern finds. */
function found(file, pattern) {
  const [, part] = pattern.exec(readFileSync(path.join(root, file), 'utf8')) ?? [];
  if (part === undefined) throw new SetupError(`${file} has no ${pattern.source}`);
  return part;
}

/** The wings of src/ops/, and the files of other wings ('nn/lrn'), whose kernels go into the side module. */
const sideOps = () =>
  found('cmake/TfcoreModules.cmake', /set\(TFCORE_SIDE_OPS\s+([^)]+)\)/)
    .trim()
    .split(/\s+/);

/** The numbers of the dtypes whose kernels go into the side module. */
function sideTypes() {
  const names = found('src/op/side_kernels.c', /kSideTypes\[\] = \{([^}]+)\}/).match(/\w+/g);
  const types = 'proto/tensorflow/core/framework/types.proto';
  return new Set(names.map((name) => Number(found(types, new RegExp(`\\b${name} = (\\d+);`)))));
}

/**
 * An OpRegistration ends with two addresses, of its kernels' constructor and destructor, and the table of its
 * kernels, each of which is a dtype and two addresses.
 */
const KERNEL_BYTES = 12;
const STATE_BYTES = 8;
const kernelTableBytes = () => KERNEL_BYTES * Number(found('src/op/op_registry.h', /OP_MAX_KERNELS = (\d+)/));

function filesBelow(folder) {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

/**
 * Tells which references only kernels of the side module need: of the registrations of side ops (objects in
 * `places`), all of their kernels; of other registrations and of tables of loops (src/ops/support/typed_loops.h), the
 * entries of side types.
 */
function sideReferences(places, types) {
  const tableBytes = kernelTableBytes();
  const isOfSideOps = (object) => places.some((place) => `${object}/`.includes(`/${place}/`));
  return (object, bytes, { from, offset }) => {
    const isRegistration = /^kOp[A-Z_]/.test(from.name);
    if (!isRegistration && !/^kTyped[A-Z]/.test(from.name)) return false;
    const table = isRegistration ? from.end - from.start - tableBytes : 0;
    if (isRegistration && isOfSideOps(object)) return offset >= table - STATE_BYTES;
    if (offset < table) return false;
    const entry = offset - ((offset - table) % KERNEL_BYTES);
    return types.has(new DataView(bytes.buffer, bytes.byteOffset).getInt32(from.start + entry, true));
  };
}

/**
 * What the functions and the data of objects refer to, by name. Static functions have names that no other file has
 * (-funique-internal-linkage-names); static data gets some here.
 */
function readReferences(objects, isOfSide) {
  const references = new Map();
  const defined = new Set();
  for (const object of objects) {
    const bytes = readFileSync(object);
    const { symbols, references: all } = readObject(bytes);
    const keyOf = ({ name, isFunction, isLocal }) => (isLocal && !isFunction ? `${object} ${name}` : name);
    for (const symbol of symbols) if (symbol.isFunction && symbol.isDefined) defined.add(symbol.name);
    for (const reference of all) {
      if (isOfSide(object, bytes, reference)) continue;
      const from = keyOf(reference.from);
      if (!references.has(from)) references.set(from, new Set());
      references.get(from).add(keyOf(reference.to));
    }
  }
  return { references, defined };
}

/** The functions of a module, which of them call which, and which are reached from outside or through the table. */
function readCalls(text) {
  const functions = new Map(); // name -> the names of those that it calls
  const roots = { outside: new Set(), table: new Set() };
  let calls;
  for (const line of text.split('\n')) {
    const [, kind] = /^ \((func|export|elem|start)(?= )/.exec(line) ?? [];
    const names = kind || line.includes('call $') || line.includes('ref.func') ? namesIn(line) : [];
    if (kind === 'func') functions.set(names[0], (calls = new Set()));
    else if (kind) names.forEach((name) => roots[kind === 'elem' ? 'table' : 'outside'].add(name));
    else names.forEach((name) => calls?.add(name));
  }
  return { functions, roots };
}

const namesIn = (line) => [...line.matchAll(/\$([^\s()]+)/g)].map(([, name]) => name);

/** What is reached from the roots by references of any of the maps. */
function reachable(maps, roots) {
  const seen = new Set(roots);
  for (const name of seen) for (const map of maps) for (const next of map.get(name) ?? []) seen.add(next);
  return seen;
}

/**
 * The functions for the side module. The table has functions of the C library, too, to which no object here has a
 * reference that could be followed.
 */
function chooseFunctions({ functions, roots }, { references, defined }) {
  const ofLibraries = [...roots.table].filter((name) => !defined.has(name));
  const staying = reachable([functions, references], [...roots.outside, ...ofLibraries]);
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
  const objects = filesBelow(path.join(build, 'CMakeFiles')).filter((file) => /\/tfcore_.*\.o$/.test(file));
  /* The names of what the modules share have a part that only this pair has: others cannot be linked by mistake. */
  const pair = createHash('sha256').update(readFileSync(linked)).digest('hex').slice(0, 8);
  await run('wasm-dis', linked, '-o', at('linked.wat'));
  const calls = readCalls(readFileSync(at('linked.wat'), 'utf8'));
  const chosen = chooseFunctions(calls, readReferences(objects, sideReferences(places, sideTypes())));
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
