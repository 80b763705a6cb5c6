// `node tools/check-clients.mjs <build folder>`: builds the clients of TensorFlow's C API for other languages
// against the installed native library, without stubs, and runs their own tests: the Rust crate `tensorflow`
// and the Go binding `graft`. Their sources come from the registries of cargo and go; a client whose tools are
// missing is skipped. The last line is "N passed, N failed".
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { must, outputOf, root, run, runMain, which } from './process.mjs';

const RUST = { crate: 'tensorflow', version: '0.21.0' };
const GO = { module: 'github.com/wamuir/graft', version: 'v0.10.0' };
/** The number of lines that are shown of a client that fails. */
const SHOWN = 100;
const showEnd = (output) => console.log(output.trimEnd().split('\n').slice(-SHOWN).join('\n'));

const folder = path.join(root, 'build/clients');
const prefix = path.join(folder, 'prefix');
const environment = {
  PKG_CONFIG_PATH: path.join(prefix, 'lib/pkgconfig'),
  LD_LIBRARY_PATH: path.join(prefix, 'lib'),
  CGO_CFLAGS: `-I${prefix}/include`,
  CGO_LDFLAGS: `-L${prefix}/lib`,
};

/** Installs the library, so that clients find it by pkg-config and at run time. */
async function install(build) {
  rmSync(prefix, { recursive: true, force: true });
  await must('cmake', ['--install', build, '--prefix', prefix]);
}

/** A copy of a package's sources that can be built in. */
function copySources(from, name) {
  const to = path.join(folder, name);
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  return to;
}

/** The crate's sources, which cargo unpacks for a package that depends on it. */
async function rustSources() {
  const scratch = path.join(folder, 'rust-scratch');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  await must('cargo', ['init', '--lib', '--name', 'scratch', '--vcs', 'none'], { cwd: scratch });
  await must('cargo', ['add', `${RUST.crate}@=${RUST.version}`], { cwd: scratch });
  const metadata = outputOf('cargo', ['metadata', '--format-version', '1'], {
    cwd: scratch,
    maxBuffer: 1 << 26,
  });
  const { packages } = JSON.parse(metadata);
  return path.dirname(packages.find(({ name }) => name === RUST.crate).manifest_path);
}

async function testRust() {
  const sources = copySources(await rustSources(), 'rust');
  const { code, output } = await run('cargo', ['test', '--lib', '--features', 'eager'], {
    cwd: sources,
    env: { ...environment, CARGO_TARGET_DIR: path.join(folder, 'rust-target') },
  });
  const [, passed, failed] = /test result: \w+\. (\d+) passed; (\d+) failed/.exec(output) ?? [0, 0, 1];
  if (code !== 0) showEnd(output);
  return { passed: Number(passed), failed: Number(failed) };
}

async function testGo() {
  const scratch = path.join(folder, 'go-scratch');
  mkdirSync(scratch, { recursive: true });
  const found = outputOf('go', ['mod', 'download', '-json', `${GO.module}@${GO.version}`], { cwd: scratch });
  const sources = copySources(JSON.parse(found).Dir, 'go');
  await must('chmod', ['-R', 'u+w', sources]);
  const { code, output } = await run('go', ['test', '-v', './tensorflow/...'], {
    cwd: sources,
    env: environment,
  });
  const count = (word) => output.match(new RegExp(`^--- ${word}: `, 'gm'))?.length ?? 0;
  const counts = { passed: count('PASS'), failed: count('FAIL') };
  if (code !== 0) showEnd(output);
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

/** The functions that the clients call are in the library, whether they can be built here or not. */
async function checkNames() {
  const wanted = readFileSync(path.join(root, 'tests/clients/functions.txt'), 'utf8').trim().split('\n');
  const symbols = await must('nm', ['-D', '--defined-only', path.join(prefix, 'lib/libtensorflow.so.2')]);
  const known = new Set(symbols.split('\n').map((line) => line.split(' ').at(-1)));
  const missing = wanted.filter((name) => !known.has(name));
  for (const name of missing) console.log(`${name} is called by a client, but not in the library`);
  return { passed: wanted.length - missing.length, failed: missing.length };
}

await runMain(async () => {
  const [build = path.join(root, 'build/release')] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  await install(build);
  const total = { passed: 0, failed: 0 };
  const parts = [
    ['nm', 'the names of functions', 'apt-get install binutils', checkNames],
    ['cargo', 'the Rust client', 'apt-get install cargo', testRust],
    ['go', 'the Go client', 'apt-get install golang', testGo],
  ];
  for (const [tool, what, how, test] of parts) {
    if (!which(tool)) {
      console.log(`skipped ${what}: it needs ${tool} (Debian: ${how})`);
      continue;
    }
    const { passed, failed } = await test();
    console.log(`${what}: ${passed} passed, ${failed} failed.`);
    total.passed += passed;
    total.failed += failed;
  }
  process.exitCode = total.failed > 0 ? 1 : 0;
  console.log(`${total.passed} passed, ${total.failed} failed`);
});
