// The one formatting: `npm run format` rewrites what differs from it, `npm run format -- --check` names the
// files. clang-format (.clang-format) sees to C, Biome (biome.json) to JavaScript and TypeScript.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isMain, outputOf, root, run, runMain, say, which } from './process.mjs';

/** Later versions break lines in other places, so that only this one decides. It is Debian 12's. */
const CLANG_FORMAT = 14;
const C_SOURCES = ['*.c', '*.h', '*.inc'];
const JS_SOURCES = ['*.ts', '*.mjs', '*.cjs', '*.js'];

const tracked = (patterns) =>
  outputOf('git', ['ls-files', '--', ...patterns], { cwd: root })
    .trim()
    .split('\n');

/** Why C sources cannot be formatted here, or undefined. */
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

/** Formats all C sources; with `check` only names those that differ. */
export function formatC(check) {
  return format('clang-format', [...(check ? ['--dry-run', '--Werror'] : ['-i']), ...tracked(C_SOURCES)]);
}

/** The same for JavaScript and TypeScript. */
export function formatJs(check) {
  const biome = path.join(root, 'node_modules/@biomejs/biome/bin/biome');
  return format(process.execPath, [biome, 'format', ...(check ? [] : ['--write']), ...tracked(JS_SOURCES)]);
}

/**
 * Where C sources compare a pointer with NULL although a condition needs none, as "file:line: text". A number
 * or a bool that is made of a pointer says `!= NULL`.
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
