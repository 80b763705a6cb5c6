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
  'cmake',
  'debian-archive-keyring',
  'dpkg-dev',
  'ninja-build',
  'patchelf',
  'protobuf-c-compiler',
  'python3',
  'xz-utils',
];
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
 * Emscripten and `protobufC`, the folder of protobuf-c's sources.
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
  const protobufC = await setUpProtobufC(cache);
  await setUpNodeModules();
  return { ...emscripten, protobufC };
}

/** The sources of the same version of protobuf-c as the installed compiler; returns their folder. */
async function setUpProtobufC(cache) {
  const version = outputOf('dpkg-query', ['-W', '-f', '${source:Upstream-Version}', 'protobuf-c-compiler']);
  const folder = path.join(cache, `protobuf-c-${version}`);
  if (existsSync(folder)) return folder;
  say(`protobuf-c ${version}: downloading its source`);
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(path.join(cache, 'unpacking-'));
  try {
    const apt = await privateApt(path.join(work, 'apt'), debianMirror().suite, { sources: true });
    const unpacked = await apt.source(
      `protobuf-c=${outputOf('dpkg-query', ['-W', '-f', '${source:Version}', 'protobuf-c-compiler'])}`,
    );
    try {
      renameSync(unpacked, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
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
