// Sets up the toolchain on Debian 12 or newer: `node tools/setup.mjs` (all of it), or setUp() from another
// script. Existing parts are kept, so a second run takes a fraction of a second.
//
// Downloads go to ${TFCORE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/tfcore-wasm}; clones share it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { debianMirror, installPackages, missingPackages, privateApt } from './debian.mjs';
import { setUpEmscripten } from './emscripten.mjs';
import { isMain, must, outputOf, root, runMain, say, SetupError } from './process.mjs';

const BUILD_PACKAGES = [
  'ca-certificates',
  'ccache',
  'cmake',
  'debian-archive-keyring',
  'dpkg-dev',
  'libgif-dev',
  'libjpeg62-turbo-dev',
  'libpng-dev',
  'ninja-build',
  'patchelf',
  'protobuf-c-compiler',
  'python3',
  'xz-utils',
  'zlib1g-dev',
];
/** Libraries whose sources are compiled to WebAssembly: a package of each that is installed. */
const SOURCE_PACKAGES = {
  protobufC: 'protobuf-c-compiler',
  libjpegTurbo: 'libjpeg62-turbo-dev',
  libpng: 'libpng-dev',
  zlib: 'zlib1g-dev',
  giflib: 'libgif-dev',
};
const TEST_PACKAGES = ['chromium', 'clang', 'clang-format', 'gcc', 'libc6-dev', 'libprotobuf-c-dev'];
/** libFuzzer, from Debian's default clang. */
const FUZZ_PACKAGES = ['libclang-rt-dev'];
/** The runtime and tools for coverage, from the same clang. */
const COVERAGE_PACKAGES = ['libclang-rt-dev', 'llvm'];
const OLDEST_NODE = 20;

export function cacheFolder() {
  const { TFCORE_CACHE, XDG_CACHE_HOME } = process.env;
  return path.resolve(
    TFCORE_CACHE || path.join(XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'tfcore-wasm'),
  );
}

/**
 * Sets up what a build needs; with `tests` also the needs of tests (native compilers, a browser), with `fuzz`
 * those of fuzzing, and with `coverage` those of counting coverage. Returns { emcmake, env, version } of
 * Emscripten and `sources`: the folder of each library in SOURCE_PACKAGES.
 */
export async function setUp({ tests = false, fuzz = false, coverage = false } = {}) {
  const node = Number(process.versions.node.split('.')[0]);
  if (node < OLDEST_NODE)
    throw new SetupError(`Node ${OLDEST_NODE} or newer is needed; this is ${process.version}`);
  const missing = missingPackages([
    ...BUILD_PACKAGES,
    ...(tests ? TEST_PACKAGES : []),
    ...(fuzz ? FUZZ_PACKAGES : []),
    ...(coverage ? COVERAGE_PACKAGES : []),
  ]);
  if (missing.length > 0) await installPackages(missing);
  const cache = cacheFolder();
  const emscripten = await setUpEmscripten(cache);
  const sources = await setUpSources(cache);
  await setUpNodeModules();
  return { ...emscripten, sources };
}

/** The sources of the libraries, each of the same version as the installed package; returns their folders. */
async function setUpSources(cache) {
  const folders = {};
  const missing = [];
  for (const [library, installed] of Object.entries(SOURCE_PACKAGES)) {
    const field = (name) => outputOf('dpkg-query', ['-W', '-f', `\${source:${name}}`, installed]);
    const source = { name: field('Package'), version: field('Upstream-Version') };
    source.folder = folders[library] = path.join(cache, `${source.name}-${source.version}`);
    if (!existsSync(source.folder)) missing.push(source);
  }
  if (missing.length > 0) await fetchSources(cache, missing);
  return folders;
}

async function fetchSources(cache, sources) {
  say(`downloading the sources of ${sources.map(({ name, version }) => `${name} ${version}`).join(', ')}`);
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(path.join(cache, 'unpacking-'));
  try {
    const apt = await privateApt(path.join(work, 'apt'), debianMirror().suite, { sources: true });
    for (const { name, version, folder } of sources) {
      const unpacked = await apt.source(name, version);
      try {
        renameSync(unpacked, folder);
      } catch (error) {
        if (!existsSync(folder)) throw error;
      }
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Runs `npm ci` unless node_modules was made from this package-lock.json. */
async function setUpNodeModules() {
  const stamp = path.join(root, 'node_modules/.tfcore-lock');
  const lock = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  say('npm packages');
  await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, lock);
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    await setUp({ tests: true });
    say(`The toolchain is ready (${cacheFolder()}).`);
  });
}
