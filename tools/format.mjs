// The formatter: `npm run format` formats all sources, `npm run format -- --check` only lists files that
// differ. C uses clang-format (.clang-format), JavaScript and TypeScript use Biome (biome.json).
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isMain, outputOf, root, run, runMain, say, which } from './process.mjs';

/** Other versions break lines differently, so exactly this one is required. It is Debian 12's. */
const CLANG_FORMAT = 14;
const C_SOURCES = ['*.c', '*.h', '*.inc'];
const JS_SOURCES = ['*.ts', '*.mjs', '*.cjs', '*.js'];

const tracked = (patterns) =>
  outputOf('git', ['ls-files', '--', ...patterns], { cwd: root })
    .trim()
    .split('\n');

/** The reason why C sources cannot be formatted here, or undefined. */
export function clangFormatMissing() {
  const version = which('clang-format') && /version (\d+)/.exec(outputOf('clang-format', ['--version']))?.[1];
  return Number(version) === CLANG_FORMAT
    ? undefined
    : `clang-format ${CLANG_FORMAT} is needed: apt-get install clang-format on Debian 12`;
}

async function format(command, args) {
  const { code, output } = await run(command, args, { env: process.env });
  return { ok: code === 0, output };
}

/** Formats all C sources; with `check` only lists those that differ. */
export function formatC(check) {
  return format('clang-format', [...(check ? ['--dry-run', '--Werror'] : ['-i']), ...tracked(C_SOURCES)]);
}

/** The same for JavaScript and TypeScript. */
export function formatJs(check) {
  const biome = path.join(root, 'node_modules/@biomejs/biome/bin/biome');
  return format(process.execPath, [biome, 'format', ...(check ? [] : ['--write']), ...tracked(JS_SOURCES)]);
}

/**
 * Conditions in C sources that compare a pointer with NULL unnecessarily, as "file:line: text". Making a
 * number or a bool of a pointer may use `!= NULL`.
 */
export function comparisonsWithNull(
  files = tracked(C_SOURCES),
  read = (file) => readFileSync(path.join(root, file), 'utf8'),
) {
  const found = [];
  for (const file of files) {
    read(file)
      .split('\n')
      .forEach((line, i) => {
        if (/== NULL\b|!= NULL (&&|\|\||\?)|\b(if|while) \(([^()]|\([^()]*\))*!= NULL\)/.test(line))
          found.push(`${file}:${i + 1}: ${line.trim()}`);
      });
  }
  return found;
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    const check = process.argv.includes('--check');
    const missing = clangFormatMissing();
    if (missing) say(`C sources are left out: ${missing}`);
    const results = [...(missing ? [] : [await formatC(check)]), await formatJs(check)];
    for (const { ok, output } of results) if (!ok) process.stdout.write(output);
    if (results.some(({ ok }) => !ok)) process.exitCode = 1;
  });
}
