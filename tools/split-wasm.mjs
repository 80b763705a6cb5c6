// Splits the wasm of a build without threads in two: kernels of the side ops (TFCORE_SIDE_OPS in
// cmake/TfcoreModules.cmake), of the side types (kSideTypes in src/op/side_kernels.c), and for integers where these are
// aside (TFCORE_INTEGERS_ASIDE), and what only they call, go into a side module. It is loaded when a graph has such a kernel (bindings/js/engine/side-module.ts).
// What graphs are made with stays.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { orderBySimilarity } from './order-functions.mjs';
import { packData } from './pack-data.mjs';
import { must, root, SetupError } from './process.mjs';
import { moveData, sideRanges } from './side-data.mjs';
import { readFunctions, readObject, replaceNames } from './wasm-object.mjs';

/** The part of a source that a pattern finds. */
function found(file, pattern) {
  const [, part] = pattern.exec(readFileSync(path.join(root, file), 'utf8')) ?? [];
  if (part === undefined) throw new SetupError(`${file} has no ${pattern.source}`);
  return part;
}

/** The folders and objects of src/ops/ that a list of cmake/TfcoreModules.cmake names: 'strings', 'nn/lrn'. */
const placesOf = (list) =>
  found('cmake/TfcoreModules.cmake', new RegExp(`set\\(${list}\\s+([^)]+)\\)`))
    .trim()
    .split(/\s+/)
    .map((place) => `tfcore_ops.dir/src/ops/${place}${place.includes('/') ? '.c.o' : ''}`);

const dtypeNumber = (name) =>
  Number(found('proto/tensorflow/core/framework/types.proto', new RegExp(`\\b${name} = (\\d+);`)));

/** The numbers of the dtypes whose kernels go into the side module. */
const sideTypes = () =>
  new Set(
    found('src/op/side_kernels.c', /kSideTypes\[\] = \{([^}]+)\}/)
      .match(/\w+/g)
      .map(dtypeNumber),
  );
const INTEGERS = ['DT_INT32', 'DT_INT64'];

/**
 * An OpRegistration ends with two addresses, of its kernels' constructor and destructor, and the table of its
 * kernels, each of which is a dtype and two addresses.
 */
const KERNEL_BYTES = 12;
const STATE_BYTES = 8;
/** The dtypes of the members of a VectorFunction (src/ops/support/elementwise.h): float, double, complex64, complex128. */
const VECTOR_TYPES = [1, 2, 8, 18];
const kernelTableBytes = () => KERNEL_BYTES * Number(found('src/op/op_registry.h', /OP_MAX_KERNELS = (\d+)/));

function filesBelow(folder) {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

/**
 * Tells which references only kernels of the side module need: of the registrations of side ops, all of their kernels;
 * of other registrations, of tables of loops (src/ops/support/typed_loops.h) and of VectorFunctions, the entries of
 * side types, and those for integers where these are aside.
 */
function sideReferences() {
  const tableBytes = kernelTableBytes();
  const [sideOps, integersAside] = ['TFCORE_SIDE_OPS', 'TFCORE_INTEGERS_ASIDE'].map(placesOf);
  const isIn = (places, object) => places.some((place) => `${object}/`.includes(`/${place}/`));
  const usual = sideTypes();
  const withIntegers = new Set([...usual, ...INTEGERS.map(dtypeNumber)]);
  return (object, bytes, { from, offset }) => {
    const types = isIn(integersAside, object) ? withIntegers : usual;
    if (/^kVector[A-Z]/.test(from.name)) return types.has(VECTOR_TYPES[offset / 4]);
    const isRegistration = /^kOp[A-Z_]/.test(from.name);
    if (!isRegistration && !/^kTyped[A-Z]/.test(from.name)) return false;
    const table = isRegistration ? from.end - from.start - tableBytes : 0;
    if (isRegistration && isIn(sideOps, object)) return offset >= table - STATE_BYTES;
    if (offset < table) return false;
    const entry = offset - ((offset - table) % KERNEL_BYTES);
    return types.has(new DataView(bytes.buffer, bytes.byteOffset).getInt32(from.start + entry, true));
  };
}

/** The name of a symbol of an object that no other has. Static functions have such names (-funique-internal-linkage-names). */
const keyOf = (object, { name, isFunction, isLocal }) =>
  isLocal && !isFunction ? `${object} ${name}` : name;

/** What the functions and the data of objects refer to, by their keys, and which functions the objects define. */
function readReferences(objects, isOfSide) {
  const references = new Map();
  const defined = new Set();
  for (const object of objects) {
    const bytes = readFileSync(object);
    const { symbols, references: all } = readObject(bytes);
    for (const symbol of symbols) if (symbol.isFunction && symbol.isDefined) defined.add(symbol.name);
    for (const reference of all) {
      if (isOfSide(object, bytes, reference)) continue;
      const from = keyOf(object, reference.from);
      if (!references.has(from)) references.set(from, new Set());
      references.get(from).add(keyOf(object, reference.to));
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

/** Where the stack is, which grows downwards. */
function stackOf(text) {
  const [, high] = /\(global \$__stack_pointer \(mut i32\) \(i32\.const (\d+)\)\)/.exec(text) ?? [];
  if (high === undefined) throw new SetupError('the module has no stack');
  const size = Number(found('cmake/TfcoreProducts.cmake', /-sSTACK_SIZE=(\d+)MB/)) << 20;
  return { low: Number(high) - size, high: Number(high) };
}

/** What is reached from the roots by references of any of the maps. */
function reachable(maps, roots) {
  const seen = new Set(roots);
  for (const name of seen) for (const map of maps) for (const next of map.get(name) ?? []) seen.add(next);
  return seen;
}

/**
 * The functions and the data that stay. The table has functions of the C library, too, to which no object here has a
 * reference that could be followed.
 */
function chooseStaying({ functions, roots }, { references, defined }) {
  const ofLibraries = [...roots.table].filter((name) => !defined.has(name));
  return reachable([functions, references], [...roots.outside, ...ofLibraries]);
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

/** So many functions have numbers of one byte; wasm-opt gives these to the functions that are called most often. */
const SHORT_NUMBERS = 120;

/**
 * `named`, a module with the names of its functions, with names that sort its functions as they should be; `optimized` is what
 * wasm-opt makes of the module, with the names.
 */
function nameInOrder(named, optimized) {
  const functions = readFunctions(optimized);
  const others = functions.slice(SHORT_NUMBERS);
  const ordered = [
    ...functions.slice(0, SHORT_NUMBERS),
    ...orderBySimilarity(others.map(({ code }) => code)).map((i) => others[i]),
  ];
  const places = new Map(ordered.map(({ name }, i) => [name, i]));
  const nameAt = (place) => String(place).padStart(6, '0');
  return replaceNames(
    named,
    readFunctions(named).map(({ name }, i) => nameAt(places.get(name) ?? ordered.length + i)),
  );
}

/** Optimizes a module, and orders its functions, which lose their names. */
async function finish(optimize, from, to) {
  await optimize(from, to, '-g');
  const ordered = `${to}.ordered`;
  writeFileSync(ordered, nameInOrder(readFileSync(from), readFileSync(to)));
  await optimize(ordered, to, '--reorder-functions-by-name', '--strip-debug');
  rmSync(ordered);
}

/**
 * wasm-split would make a second table, and functions in the first one that call those in the second; so the side module fills
 * the gaps that it leaves in the first.
 */
const WITH_ONE_TABLE = '--disable-reference-types';

/**
 * Splits build/wasm-<variant>/tfcore-<variant>.wasm, of which the linker wrote a map. Writes into build/wasm-<variant>/split/ the module without
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
  const runWith = (features, program, ...args) =>
    must(path.join(binaryen, 'bin', program), [...args, ...features]);
  const run = (program, ...args) => runWith(FEATURES, program, ...args);

  const objects = filesBelow(path.join(build, 'CMakeFiles')).filter((file) => /\/tfcore_.*\.o$/.test(file));
  /* The names of what the modules share have a part that only this pair has: others cannot be linked by mistake. */
  const pair = createHash('sha256').update(readFileSync(linked)).digest('hex').slice(0, 8);
  await run('wasm-dis', linked, '-o', at('linked.wat'));
  const text = readFileSync(at('linked.wat'), 'utf8');
  const calls = readCalls(text);
  const stack = stackOf(text);
  const staying = chooseStaying(calls, readReferences(objects, sideReferences()));
  const moving = [...calls.functions.keys()].filter((name) => !staying.has(name));
  writeFileSync(at('side-functions.txt'), `${moving.join('\n')}\n`);
  const [main, side] = [`tfcore-${variant}.wasm`, `tfcore-${variant}-side.wasm`];
  await runWith(
    [...FEATURES, WITH_ONE_TABLE],
    'wasm-split',
    ...[linked, '-o1', at(`named-${main}`), '-o2', at(`named-${side}`)],
    ...[`--split-funcs=@${at('side-functions.txt')}`, '--no-placeholders', '-g'],
    ...['--import-namespace=main', `--export-prefix=${pair}~`],
  );
  const inlining = found('cmake/TfcoreProducts.cmake', /(--one-caller-inline-max-function-size=\d+)/);
  const optimize = (from, to, ...passes) => run('wasm-opt', from, '-o', to, '-Oz', inlining, ...passes);
  const mapText = readFileSync(path.join(build, `tfcore-${variant}.map`), 'utf8');
  const { ranges, literals } = sideRanges({ linked: readFileSync(linked), mapText, objects, staying, keyOf });
  const moved = moveData(readFileSync(at(`named-${main}`)), readFileSync(at(`named-${side}`)), ranges);
  for (const [name, bytes] of [
    [main, packData(moved.main, literals, stack)],
    [side, moved.side],
  ]) {
    writeFileSync(at(`named-${name}`), bytes);
    await finish(optimize, at(`named-${name}`), at(name));
  }
  await optimize(linked, at(`tfcore-${variant}-whole.wasm`), '--strip-debug');
  rmSync(at('linked.wat'));
}
