// Builds the package: the wasm variants, the op wrappers that are derived from them, and the JavaScript. `npm run build`.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { isMain, must, root, runMain, say, SetupError } from './process.mjs';
import { setUp } from './setup.mjs';

export const VARIANTS = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];
const jobs = Math.max(availableParallelism(), 1);

/** Configures build/<name> when it is new or was configured otherwise, then builds `targets` in it. Returns the folder. */
export async function cmakeBuild(name, configureCommand, settings, targets, env = {}) {
  const folder = path.join(root, 'build', name);
  const [command, ...args] = [...configureCommand, '-S', root, '-B', folder, '-G', 'Ninja', ...Object.entries(settings).map(([key, value]) => `-D${key}=${value}`)];
  const stamp = path.join(folder, 'configured-with.txt');
  const wanted = [command, ...args, JSON.stringify(env)].join('\n');
  const known = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  const started = Date.now();
  if (known !== wanted) {
    await must(command, [...args, '--fresh'], { env });
    writeFileSync(stamp, wanted);
  }
  const output = await must('ninja', ['-C', folder, '-j', String(jobs), ...targets],
    { env, onLine: progressOf(`  ${name}`), boring: /^\[\d+\/\d+\]|^ninja: |^\S*(cc|gcc|clang) .* -c \S+$/ });
  const warnings = output.split('\n').filter((line) => /\bwarning:/.test(line));
  if (warnings.length > 0) say(warnings.join('\n'));
  if (!output.includes('no work to do')) say(`  ${name}: built in ${((Date.now() - started) / 1000).toFixed(0)} s`);
  return folder;
}

/** Shows ninja's "[12/345]" in place on a terminal, and nothing elsewhere. */
function progressOf(label) {
  if (!process.stdout.isTTY) return undefined;
  return (line) => {
    const step = /^\[(\d+)\/(\d+)\]/.exec(line);
    if (step) process.stdout.write(`\r${label} ${step[1]}/${step[2]}${step[1] === step[2] ? '\r\x1b[K' : ''}`);
  };
}

/** Builds targets of one wasm variant. */
export function buildWasm(tools, variant, targets) {
  return cmakeBuild(`wasm-${variant}`, [tools.emcmake, 'cmake'], {
    CMAKE_BUILD_TYPE: 'Release',
    TFCORE_WASM_VARIANT: variant,
    TFCORE_PROTOBUF_C_SOURCE: tools.protobufC,
  }, targets, tools.env);
}

/** A digest of the content of files and of all files in folders. */
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

/** Runs `work` unless it succeeded before with the same content of `inputs`, and `output` is still there. */
async function unlessUnchanged(name, inputs, output, work) {
  const stamp = path.join(root, 'build/stamps', name);
  const current = digest(...inputs);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === current && existsSync(path.join(root, output))) return;
  await work();
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, current);
}

/** Builds everything that npm/ ships. */
export async function build(tools) {
  const shipped = path.join(root, 'npm/dist/wasm');
  mkdirSync(shipped, { recursive: true });
  for (const variant of VARIANTS) {
    const folder = await buildWasm(tools, variant, ['tfcore']);
    for (const extension of ['mjs', 'wasm']) {
      const name = `tfcore-${variant}.${extension}`;
      const [from, to] = [path.join(folder, name), path.join(shipped, name)];
      if (!existsSync(to) || !readFileSync(from).equals(readFileSync(to))) copyFileSync(from, to);
    }
  }
  await unlessUnchanged('ops', ['tools/generate-ops.mjs', 'npm/dist/wasm/tfcore-simd.mjs', 'npm/dist/wasm/tfcore-simd.wasm'],
    'bindings/js/generated', () => must('node', ['tools/generate-ops.mjs']));
  const compiler = path.join(root, 'node_modules/.bin/tsc');
  await unlessUnchanged('js', ['bindings/js', 'package-lock.json'], 'npm/dist/index.js', async () => {
    const started = Date.now();
    await must(compiler, ['-p', 'bindings/js']);
    if (!existsSync(path.join(root, 'npm/dist/index.js'))) throw new SetupError('tsc wrote no npm/dist/index.js');
    say(`  JavaScript: built in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  });
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    await build(await setUp());
    say('npm/dist is built.');
  });
}
