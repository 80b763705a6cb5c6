// Splits the wasm of a build without threads in three. The side module has the side ops (TFCORE_SIDE_OPS in
// cmake/TfcoreModules.cmake), the kernels for side types (kSideTypes in src/op/side_kernels.c), and those for integers where
// these are aside (TFCORE_INTEGERS_ASIDE). The training module has the sources and ops that training needs
// (TFCORE_TRAINING_SOURCES, _OPS and _NAMES), and the gradients in registrations. Both have what only they use. Each is loaded when it is
// needed (bindings/js/engine/engine-part.ts).
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { orderBySimilarity } from './order-functions.mjs';
import { packData } from './pack-data.mjs';
import { must, root, SetupError } from './process.mjs';
import { dataOfParts, withData, withoutData } from './part-data.mjs';
import { exportedFunctions, readFunctions, readObject, renameShared, replaceNames } from './wasm-object.mjs';

/** The part of a source that a pattern finds. */
function found(file, pattern) {
  const [, part] = pattern.exec(readFileSync(path.join(root, file), 'utf8')) ?? [];
  if (part === undefined) throw new SetupError(`${file} has no ${pattern.source}`);
  return part;
}

/** The paths of objects, or parts of these, that a list of cmake/TfcoreModules.cmake names, below a folder: 'nn/pooling', 'gradient'. */
const placesOf = (list, folder) =>
  found('cmake/TfcoreModules.cmake', new RegExp(`set\\(${list}\\s+([^)]+)\\)`))
    .trim()
    .split(/\s+/)
    .map((place) => `/${folder}/${place}`);

const isIn = (places, object) =>
  places.some((place) => object.endsWith(`${place}.c.o`) || object.includes(`${place}/`));

const dtypeNumber = (name) =>
  Number(found('proto/tensorflow/core/framework/types.proto', new RegExp(`\\b${name} = (\\d+);`)));

/** The numbers of the dtypes whose kernels go into the side module. */
const sideTypes = () =>
  new Set(
    found('src/op/side_kernels.c', /kSideTypes\[\] = \{([^}]+)\}/)
      .match(/\w+/g)
      .map(dtypeNumber),
  );
/** Bools count as integers here. */
const INTEGERS = ['DT_BOOL', 'DT_INT32', 'DT_INT64'];

/**
 * The parts that are modules of their own, with their numbers in EnginePart (src/op/engine_parts.h). The side part may use what is
 * in the training part, and also gets what nothing refers to.
 */
const PARTS = { training: 1, side: 2 };

/** A row of kOpTable is an OpTableRow: two addresses, a part, and a bool. */
const ROW_BYTES = 16;
const ROW_PART = 8;
/**
 * An OpRegistration ends with the addresses of its gradient and of the function that writes it, the size of a kernel's state, the
 * addresses of the state's constructor and destructor, and the table of kernels, each of which is a dtype and two addresses.
 */
const KERNEL_BYTES = 12;
const GRADIENT_BYTES = 8;
const STATE_BYTES = 8 + 8;
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
 * Tells which part a reference belongs to, if only that needs it: the rows of ops in the table of ops, the entries for side
 * types in registrations, tables of loops (src/ops/support/typed_loops.h) and VectorFunctions, those for integers where
 * these are aside, and the gradients in registrations.
 */
function partOfReference() {
  const tableBytes = kernelTableBytes();
  const integersAside = placesOf('TFCORE_INTEGERS_ASIDE', 'src/ops');
  const usual = sideTypes();
  const withIntegers = new Set([...usual, ...INTEGERS.map(dtypeNumber)]);
  const partOfNumber = new Map(Object.entries(PARTS).map(([part, number]) => [number, part]));
  return (object, bytes, { from, offset }) => {
    const numberAt = (place) =>
      new DataView(bytes.buffer, bytes.byteOffset).getInt32(from.start + place, true);
    if (from.name === 'kOpTable')
      return offset % ROW_BYTES === 0
        ? undefined
        : partOfNumber.get(numberAt(offset - (offset % ROW_BYTES) + ROW_PART));
    const types = isIn(integersAside, object) ? withIntegers : usual;
    if (/^kVector[A-Z]/.test(from.name)) return types.has(VECTOR_TYPES[offset / 4]) ? 'side' : undefined;
    const isRegistration = /^kOp[A-Z_]/.test(from.name);
    if (!isRegistration && !/^kTyped[A-Z]/.test(from.name)) return undefined;
    const table = isRegistration ? from.end - from.start - tableBytes : 0;
    if (offset < table) {
      const gradient = table - STATE_BYTES - GRADIENT_BYTES;
      return offset >= gradient && offset < gradient + GRADIENT_BYTES ? 'training' : undefined;
    }
    return types.has(numberAt(offset - ((offset - table) % KERNEL_BYTES))) ? 'side' : undefined;
  };
}

/** The name of a symbol of an object that no other has. Static functions have such names (-funique-internal-linkage-names). */
const keyOf = (object, { name, isFunction, isLocal }) =>
  isLocal && !isFunction ? `${object} ${name}` : name;

/**
 * What the functions and the data of objects refer to, by their keys: [target, part], where the part is the only one that needs
 * the reference, or undefined. Also which functions the objects define, and which of these are in sources of the training part.
 */
function readReferences(objects) {
  const partOf = partOfReference();
  const sources = placesOf('TFCORE_TRAINING_SOURCES', 'src');
  const references = new Map();
  const defined = new Set();
  const ofTraining = new Set();
  for (const object of objects) {
    const bytes = readFileSync(object);
    const { symbols, references: all } = readObject(bytes);
    for (const symbol of symbols) {
      if (!symbol.isFunction || !symbol.isDefined) continue;
      defined.add(symbol.name);
      if (isIn(sources, object)) ofTraining.add(symbol.name);
    }
    for (const reference of all) {
      const from = keyOf(object, reference.from);
      if (!references.has(from)) references.set(from, []);
      references.get(from).push([keyOf(object, reference.to), partOf(object, bytes, reference)]);
    }
  }
  return { references, defined, ofTraining };
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

/**
 * The part of each function and datum, by its key: undefined for what is in the main module. That has what the C library has in the
 * table, to which no object here has a reference that could be followed.
 */
export function partsOf({ functions, roots }, { references, defined, ofTraining }) {
  const isCut = (from, to) => ofTraining.has(to) && !ofTraining.has(from);
  const reached = (...parts) => {
    const seen = new Set([...roots.outside, ...[...roots.table].filter((name) => !defined.has(name))]);
    const isOpen = (from, to, part = isCut(from, to) ? 'training' : undefined) =>
      part === undefined || parts.includes(part);
    for (const name of seen) {
      for (const next of functions.get(name) ?? []) if (isOpen(name, next)) seen.add(next);
      for (const [next, part] of references.get(name) ?? []) if (isOpen(name, next, part)) seen.add(next);
    }
    return seen;
  };
  const [main, withTraining] = [reached(), reached('training')];
  const unasked = [...references]
    .filter(([from, list]) => main.has(from) && !list.some(([to]) => to === 'engine_part_need'))
    .flatMap(([from, list]) =>
      list.filter(([to, part]) => !part && isCut(from, to)).map(([to]) => `${from} uses ${to}`),
    );
  if (unasked.length > 0) throw new SetupError(`these do not call engine_part_need:\n${unasked.join('\n')}`);
  return (key) => {
    if (main.has(key)) return undefined;
    return withTraining.has(key) ? 'training' : 'side';
  };
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
 * wasm-split would make a second table, and functions in the first one that call those in the second; so modules fill the gaps
 * that they leave in the first. The gaps of the first split are not valid without reference types, for the second one.
 */
const WITH_ONE_TABLE = ['--disable-reference-types', '--no-validation'];

/** The names of the modules of a variant. */
export const modulesOf = (variant) =>
  ['', ...Object.keys(PARTS).map((part) => `-${part}`)].map((suffix) => `tfcore-${variant}${suffix}.wasm`);

/**
 * Splits build/wasm-<variant>/tfcore-<variant>.wasm, of which the linker wrote a map. Writes into build/wasm-<variant>/split/ the
 * main module (tfcore-<variant>.wasm), one for each part (tfcore-<variant>-side.wasm), and the whole one without names
 * (tfcore-<variant>-whole.wasm). `tools` is what setUp() returned.
 */
export async function splitWasm(tools, variant) {
  const build = path.join(root, `build/wasm-${variant}`);
  const linked = path.join(build, `tfcore-${variant}.wasm`);
  const folder = path.join(build, 'split');
  mkdirSync(folder, { recursive: true });
  const at = (name) => path.join(folder, name);
  const fileOf = (part) => at(`tfcore-${variant}${part ? `-${part}` : ''}.wasm`);
  const namedOf = (part) => at(`named${part ? `-${part}` : ''}.wasm`);
  const emConfig = path.join(path.dirname(tools.emcmake), 'em-config');
  const binaryen = (await must(emConfig, ['BINARYEN_ROOT'], { env: tools.env })).trim();
  const runWith = (features, program, ...args) =>
    must(path.join(binaryen, 'bin', program), [...args, ...features]);
  const run = (program, ...args) => runWith(FEATURES, program, ...args);

  const objects = filesBelow(path.join(build, 'CMakeFiles')).filter((file) => /\/tfcore_.*\.o$/.test(file));
  await run('wasm-dis', linked, '-o', at('linked.wat'));
  const text = readFileSync(at('linked.wat'), 'utf8');
  rmSync(at('linked.wat'));
  const calls = readCalls(text);
  const partOf = partsOf(calls, readReferences(objects));

  /* The names of what the modules share begin with what only these modules have. */
  const digest = createHash('sha256').update(readFileSync(linked)).digest('hex').slice(0, 8);
  let left = linked;
  for (const part of Object.keys(PARTS)) {
    const names = [...calls.functions.keys()].filter((name) => partOf(name) === part);
    const list = at(`${part}-functions.txt`);
    writeFileSync(list, `${names.join('\n')}\n`);
    const rest = at(`named-without-${part}.wasm`);
    await runWith(
      [...FEATURES, ...WITH_ONE_TABLE],
      'wasm-split',
      ...[left, '-o1', rest, '-o2', namedOf(part), `--split-funcs=@${list}`, '--no-placeholders', '-g'],
      ...['--import-namespace=main', `--export-prefix=${digest}${part[0]}`],
    );
    left = rest;
  }

  /* Functions get short names. The name of the stack pointer stays: others cannot be linked by mistake. */
  const shared = exportedFunctions(readFileSync(left)).filter((name) => name.startsWith(digest));
  const shortNames = new Map(shared.map((name, i) => [name, `~${i.toString(36)}`]));
  const readNamed = (file) => renameShared(readFileSync(file), shortNames);

  const mapText = readFileSync(path.join(build, `tfcore-${variant}.map`), 'utf8');
  const { ranges, literals } = dataOfParts({
    linked: readFileSync(linked),
    mapText,
    objects,
    parts: Object.keys(PARTS),
    partOf,
    keyOf,
  });
  const main = withoutData(readNamed(left), Object.values(ranges).flat());
  writeFileSync(namedOf(), packData(main, literals, stackOf(text)));
  for (const [part, moved] of Object.entries(ranges))
    writeFileSync(namedOf(part), withData(readNamed(namedOf(part)), moved));
  const inlining = found('cmake/TfcoreProducts.cmake', /(--one-caller-inline-max-function-size=\d+)/);
  const optimize = (from, to, ...passes) => run('wasm-opt', from, '-o', to, '-Oz', inlining, ...passes);
  for (const part of [undefined, ...Object.keys(PARTS)]) await finish(optimize, namedOf(part), fileOf(part));
  await optimize(linked, at(`tfcore-${variant}-whole.wasm`), '--strip-debug');
}
