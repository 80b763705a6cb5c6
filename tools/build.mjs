// Builds the package: the wasm variants, the generated sources (types of the exports, op wrappers), and the
// JavaScript. `npm run build`.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { bindingSources, HEADERS } from './generate-abi.mjs';
import { isMain, must, root, runMain, say } from './process.mjs';
import { cacheFolder, setUp } from './setup.mjs';
import { noticesOf } from './notices.mjs';
import { modulesOf, splitWasm } from './split-wasm.mjs';

/** What ccache is told: clones share a cache, whose entries do not depend on where a clone is. */
const CACHED = {
  CCACHE_DIR: path.join(cacheFolder(), 'ccache'),
  CCACHE_BASEDIR: root,
  CCACHE_DEPEND: '1',
};

export const VARIANTS = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];
const jobs = Math.max(availableParallelism(), 1);

/**
 * Configures build/<name> if it is new or its configuration changed, then builds `targets` in it. Returns the
 * folder.
 */
export async function cmakeBuild(name, configureCommand, settings, targets, ownEnv = {}) {
  const env = { ...CACHED, ...ownEnv };
  const folder = path.join(root, 'build', name);
  const [command, ...args] = [
    ...configureCommand,
    '-S',
    root,
    '-B',
    folder,
    '-G',
    'Ninja',
    '-DCMAKE_C_COMPILER_LAUNCHER=ccache',
    ...Object.entries(settings).map(([key, value]) => `-D${key}=${value}`),
  ];
  const stamp = path.join(folder, 'configured-with.txt');
  const wanted = [command, ...args, JSON.stringify(ownEnv)].join('\n');
  const known = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  const started = Date.now();
  if (known !== wanted) {
    await must(command, [...args, '--fresh'], { env });
    writeFileSync(stamp, wanted);
  }
  const output = await must('ninja', ['-C', folder, '-j', String(jobs), ...targets], {
    env,
    onLine: progressOf(`  ${name}`),
    boring: /^\[\d+\/\d+\]|^ninja: |^\S*(cc|gcc|clang) .* -c \S+$/,
  });
  const warnings = output.split('\n').filter((line) => /\bwarning:/.test(line));
  if (warnings.length > 0) say(warnings.join('\n'));
  if (!output.includes('no work to do'))
    say(`  ${name}: built in ${((Date.now() - started) / 1000).toFixed(0)} s`);
  return folder;
}

/** Updates ninja's "[12/345]" in place on a terminal, and prints nothing elsewhere. */
function progressOf(label) {
  if (!process.stdout.isTTY) return undefined;
  return (line) => {
    const step = /^\[(\d+)\/(\d+)\]/.exec(line);
    if (step)
      process.stdout.write(`\r${label} ${step[1]}/${step[2]}${step[1] === step[2] ? '\r\x1b[K' : ''}`);
  };
}

/** Builds targets of one wasm variant. */
export function buildWasm(tools, variant, targets) {
  return cmakeBuild(
    `wasm-${variant}`,
    [tools.emcmake, 'cmake'],
    {
      CMAKE_BUILD_TYPE: 'Release',
      TFCORE_WASM_VARIANT: variant,
      TFCORE_PROTOBUF_C_SOURCE: tools.sources.protobufC,
      TFCORE_LIBJPEG_TURBO_SOURCE: tools.sources.libjpegTurbo,
      TFCORE_LIBPNG_SOURCE: tools.sources.libpng,
      TFCORE_ZLIB_SOURCE: tools.sources.zlib,
      TFCORE_GIFLIB_SOURCE: tools.sources.giflib,
    },
    targets,
    tools.env,
  );
}

/** A digest of the contents of files and of all files in folders. */
function digest(...places) {
  const hash = createHash('sha256');
  const add = (place) => {
    if (!existsSync(place)) return;
    const entries = readdirOrNothing(place);
    if (entries) entries.sort().forEach((entry) => add(path.join(place, entry)));
    else hash.update(`${path.relative(root, place)}\0`).update(readFileSync(place));
  };
  places.forEach((place) => add(path.join(root, place)));
  return hash.digest('hex');
}

function readdirOrNothing(place) {
  try {
    return readdirSync(place);
  } catch (error) {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Runs `work` unless it succeeded before with the same contents of `inputs`, and `output` still exists. */
async function unlessUnchanged(name, inputs, output, work) {
  const stamp = path.join(root, 'build/stamps', name);
  const current = digest(...inputs);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === current && existsSync(path.join(root, output)))
    return;
  await work();
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, current);
}

/** The .wasm files of a variant that are shipped. Builds with threads stay whole: every thread has a table of its own. */
async function wasmFiles(tools, variant, folder) {
  const linked = path.join(folder, `tfcore-${variant}.wasm`);
  if (variant.endsWith('threads')) return [linked];
  const files = modulesOf(variant).map((name) => path.join(folder, 'split', name));
  await unlessUnchanged(
    `split-${variant}`,
    [
      ...[
        'tools/split-wasm.mjs',
        'tools/part-data.mjs',
        'tools/pack-data.mjs',
        'tools/order-functions.mjs',
        'tools/wasm-object.mjs',
        'cmake/TfcoreModules.cmake',
      ],
      path.relative(root, linked),
    ],
    path.relative(root, files.at(-1)),
    () => splitWasm(tools, variant),
  );
  return files;
}

function copyIfNew(file, folder) {
  const to = path.join(folder, path.basename(file));
  if (!existsSync(to) || !readFileSync(file).equals(readFileSync(to))) copyFileSync(file, to);
}

/** Builds everything that npm/ ships. */
export async function build(tools) {
  const shipped = path.join(root, 'npm/dist');
  mkdirSync(shipped, { recursive: true });
  await unlessUnchanged(
    'abi',
    ['tools/generate-abi.mjs', 'tools/c-headers.mjs', ...HEADERS, ...bindingSources()],
    'bindings/js/generated/abi.ts',
    () => must('node', ['tools/generate-abi.mjs']),
  );
  const glue = [];
  for (const variant of VARIANTS) {
    const folder = await buildWasm(tools, variant, ['tfcore']);
    for (const file of await wasmFiles(tools, variant, folder)) copyIfNew(file, shipped);
    glue.push(path.relative(root, path.join(folder, `tfcore-${variant}.mjs`)));
  }
  await unlessUnchanged(
    'ops',
    ['tools/generate-ops.mjs', ...glue, 'build/wasm-simd/tfcore-simd.wasm'],
    'bindings/js/generated/graph-ops.ts',
    () => must('node', ['tools/generate-ops.mjs']),
  );
  await unlessUnchanged(
    'js',
    [
      'bindings/js',
      'tests/js/service-entry.ts',
      'tools/bundle.mjs',
      ...glue,
      'npm/dist/tfcore-simd.wasm',
      'package-lock.json',
    ],
    'npm/dist/index.js',
    async () => {
      const started = Date.now();
      for (const name of readdirSync(shipped))
        if (!name.endsWith('.wasm')) rmSync(path.join(shipped, name), { recursive: true });
      await must(path.join(root, 'node_modules/.bin/tsc'), ['-p', 'bindings/js']);
      await must('node', ['tools/bundle.mjs']);
      say(`  JavaScript: built in ${((Date.now() - started) / 1000).toFixed(1)} s`);
    },
  );
  writeFileSync(path.join(shipped, 'NOTICES.txt'), noticesOf(tools.sources));
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    await build(await setUp());
    say('npm/dist is built.');
  });
}
