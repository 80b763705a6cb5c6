// The Emscripten that builds the wasm variants: the one in PATH if it is new enough, else Debian 13's,
// unpacked into the cache folder with the libraries it was built against. Nothing is installed into the
// system.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { closeSync, lstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { privateApt } from './debian.mjs';
import { must, outputOf, say, SetupError, which } from './process.mjs';

const VERSION = '3.1.69';
const SUITE = 'trixie';
const PACKAGES = [
  `emscripten=${VERSION}*`,
  'binaryen=120*',
  'clang-19=1:19.1.7*',
  'lld-19=1:19.1.7*',
  'llvm-19=1:19.1.7*',
];

// Packages that apt would add but the compiler does not need: Node and Python (the machine has its own) and
// native development files.
const NOT_NEEDED =
  /^(nodejs|libnode\d+|node-(?!acorn)|python3|libpython3|dpkg|tar|tzdata|debconf|binutils|libc-dev-bin|libc6-dev|linux-libc-dev|gcc-|libgcc-14-dev|libstdc\+\+-14-dev|lib(asan|tsan|ubsan|lsan|hwasan)\d|ccache|media-types|netbase|openssl-|rpcsvc)/;
// Documentation, and the variants of the prebuilt system libraries that no build links (1.3 of 1.6 GB).
const NOT_UNPACKED = [
  './usr/share/doc/*',
  './usr/share/man/*',
  './usr/share/locale/*',
  './usr/share/lintian/*',
  './usr/share/emscripten/test',
  './usr/share/emscripten/docs',
  './usr/share/emscripten/media',
  './usr/share/emscripten/ChangeLog*',
  '*/wasm32-emscripten/pic',
  '*/wasm32-emscripten/lto',
  '*/wasm32-emscripten/lto-pic',
  '*/wasm32-emscripten/*-ww*',
  '*/wasm32-emscripten/*asan*',
  '*/wasm32-emscripten/*lsan*',
  '*/wasm32-emscripten/*ubsan*',
  '*/wasm32-emscripten/*sanitizer*',
  '*/wasm32-emscripten/*wasmfs*',
  '*/wasm32-emscripten/*webgpu*',
  '*/wasm32-emscripten/libGL*emu*',
  '*/wasm32-emscripten/libGL*webgl2*',
  '*/wasm32-emscripten/libGL*es3*',
  '*/wasm32-emscripten/libGL*ofb*',
];

function isNewEnough(version) {
  const [a, b] = [version, VERSION].map((text) => text.split('.').map(Number));
  const i = [0, 1, 2].find((part) => a[part] !== b[part]);
  return i === undefined || a[i] > b[i];
}

/** The location of the toolchain: { emcmake, env } to build with it, and its version. */
function toolchain(folder) {
  const emscripten = path.join(folder, 'usr/share/emscripten');
  return {
    emcmake: path.join(emscripten, 'emcmake'),
    env: { EM_CONFIG: path.join(folder, 'em-config.py'), EM_NODE_JS: process.execPath },
    version: VERSION,
  };
}

/** Finds Emscripten, or unpacks it into `cache`; see toolchain(). */
export async function setUpEmscripten(cache) {
  const emcc = which('emcc');
  const ownVersion = emcc && /\b(\d+\.\d+\.\d+)\b/.exec(outputOf(emcc, ['--version']) ?? '')?.[1];
  if (ownVersion && isNewEnough(ownVersion) && which('emcmake'))
    return { emcmake: which('emcmake'), env: {}, version: ownVersion };

  const folder = path.join(cache, `emscripten-${VERSION}`);
  if (!existsSync(folder)) {
    if (process.arch !== 'x64')
      throw new SetupError(`Emscripten ${VERSION} or newer is needed in PATH on ${process.arch}`);
    mkdirSync(cache, { recursive: true });
    // Built under a temporary name and renamed when complete, so that an interrupted or a concurrent set-up
    // does no harm.
    const work = mkdtempSync(path.join(cache, 'unpacking-'));
    try {
      say(`Emscripten ${VERSION}: downloading (380 MB)`);
      const apt = await privateApt(path.join(work, 'apt'), SUITE);
      const archives = (await apt.download(PACKAGES)).filter((file) => !NOT_NEEDED.test(path.basename(file)));
      say(`Emscripten ${VERSION}: unpacking`);
      const tree = path.join(work, 'tree');
      await unpack(archives, tree);
      await relocate(tree);
      configure(tree, folder);
      try {
        renameSync(tree, folder);
      } catch (error) {
        if (!existsSync(folder)) throw error;
      }
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return toolchain(folder);
}

async function unpack(archives, tree) {
  mkdirSync(tree);
  // The archives have lib next to usr/lib; Debian has merged the two.
  for (const name of ['lib', 'lib64', 'bin', 'sbin']) {
    mkdirSync(path.join(tree, 'usr', name), { recursive: true });
    symlinkSync(`usr/${name}`, path.join(tree, name));
  }
  const excludes = NOT_UNPACKED.map((pattern) => `--exclude=${pattern}`);
  for (const archive of archives) {
    await must('sh', [
      '-c',
      'deb=$1; shift; dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner "$@"',
      'sh',
      archive,
      '-C',
      tree,
      ...excludes,
    ]);
  }
}

function isElf(file) {
  if (!lstatSync(file).isFile()) return false;
  const handle = openSync(file, 'r');
  const magic = Buffer.alloc(4);
  readSync(handle, magic, 0, 4, 0);
  closeSync(handle);
  return magic.toString('latin1') === '\x7fELF';
}

/**
 * Makes the programs use the loader and the libraries of the tree, whose libc is newer than the machine's.
 */
async function relocate(tree) {
  const final = path.join(path.dirname(path.dirname(tree)), `emscripten-${VERSION}`);
  const libraries = 'usr/lib/x86_64-linux-gnu';
  const listed = (folder) =>
    readdirSync(path.join(tree, folder))
      .map((name) => path.join(tree, folder, name))
      .filter(isElf);
  const programs = [
    ...listed('usr/lib/llvm-19/bin'),
    ...listed('usr/bin').filter((file) => path.basename(file).startsWith('wasm')),
  ];
  const shared = [...listed(libraries), ...listed('usr/lib/llvm-19/lib')].filter((file) =>
    /\.so(\.|$)/.test(file),
  );
  const patch = async (files, args) => {
    if (files.length > 0)
      await must('patchelf', [...args, '--set-rpath', path.join(final, libraries), ...files]);
  };
  await patch(programs, ['--set-interpreter', path.join(final, libraries, 'ld-linux-x86-64.so.2')]);
  await patch(
    shared.filter((file) => !/\/(ld-linux|libc\.so|libm\.so|libpthread|libdl)/.test(file)),
    [],
  );
}

function configure(tree, final) {
  const emscripten = path.join(final, 'usr/share/emscripten');
  // Emscripten's optimizer looks for acorn in share/node_modules; Debian has it in share/nodejs.
  symlinkSync('nodejs', path.join(tree, 'usr/share/node_modules'));
  writeFileSync(
    path.join(tree, 'em-config.py'),
    [
      `EMSCRIPTEN_ROOT = '${emscripten}'`,
      `LLVM_ROOT = '${final}/usr/lib/llvm-19/bin'`,
      `BINARYEN_ROOT = '${final}/usr'`,
      "NODE_JS = 'node'",
      `CACHE = '${emscripten}/cache'`,
      'FROZEN_CACHE = True',
      '',
    ].join('\n'),
  );
  const version = readFileSync(
    path.join(tree, 'usr/share/emscripten/emscripten-version.txt'),
    'utf8',
  ).replace(/["\s]/g, '');
  if (version !== VERSION) throw new SetupError(`Emscripten ${version} was unpacked instead of ${VERSION}`);
}
