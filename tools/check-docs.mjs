// Files named in texts must exist: relative links of Markdown files with their anchors, and source files
// named in Markdown or comments. `node tools/check-docs.mjs` prints missing ones; tests/tools runs it.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isMain, root } from './process.mjs';

const SKIPPED = new Set(['node_modules', 'build', 'dist', 'corpus', 'findings', '.git']);
/** The folders whose comments are checked; Markdown is checked everywhere. */
const SOURCES = /^(src|include|bindings|tests\/c|tests\/js|tests\/package|tools|cmake|bench|examples|web)\//;

/** Files written by the build. */
const GENERATED = [
  'op_table.inc',
  'bindings/js/generated/abi.ts',
  'bindings/js/generated/graph-ops.ts',
  'bench_gemm.mjs',
];
/** Names that stand for any file of a kind, or belong to other projects. */
const EXAMPLES = ['foo.inc', 'program.c', 'strings.c', 'math.h', 'ctstring.h', 'next.config.mjs'];

/** The files below a folder, relative to it. */
export function filesOf(folder, below = '') {
  return readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(below, entry.name);
    if (SKIPPED.has(entry.name) || entry.isSymbolicLink()) return [];
    return entry.isDirectory() ? filesOf(folder, name) : [name];
  });
}

const withoutCode = (text) => text.replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');

/** The anchor that hosts generate for a heading. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

const anchorsOf = (text) =>
  Array.from(text.replace(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm), ([, heading]) =>
    anchorOf(heading),
  );

/** The broken links of a Markdown file. */
function brokenLinks(folder, name, text) {
  const wrong = [];
  for (const [, target] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [file, anchor] = target.split('#');
    const place = file === '' ? path.join(folder, name) : path.resolve(folder, path.dirname(name), file);
    const found = statSync(place, { throwIfNoEntry: false });
    if (!found) wrong.push(`${name}: the link ${target} leads nowhere`);
    else if (
      anchor !== undefined &&
      !(found.isFile() && anchorsOf(readFileSync(place, 'utf8')).includes(anchor))
    )
      wrong.push(`${name}: the link ${target} names no heading`);
  }
  return wrong;
}

/** Comments of a C, TypeScript or JavaScript file; all of a Markdown file. */
const proseOf = (name, text) =>
  name.endsWith('.md') ? text : (text.match(/\/\*[^]*?\*\/|(?<=^|\s)\/\/ .*$/gm) ?? []).join('\n');

/**
 * The sources that a text names and that do not exist. A name with folders is the end of a path, or relative
 * to the file.
 */
function missingFiles(name, text, known) {
  const wrong = [];
  for (const [mention] of proseOf(name, text).matchAll(
    /(?<![\w./<>*-])[\w./-]*\w\.(?:c|h|inc|ts|mjs)\b(?![\w(*])/g,
  )) {
    const wanted = mention.replace(/^(\.\.?\/)+/, '');
    const isThere = [...known, ...GENERATED].some((file) => file === wanted || file.endsWith(`/${wanted}`));
    if (!isThere && !EXAMPLES.includes(path.posix.basename(wanted)))
      wrong.push(`${name}: there is no ${mention}`);
  }
  return wrong;
}

/** All problems in a folder, one line each. */
export function checkDocs(folder = root) {
  const known = filesOf(folder);
  return known.flatMap((name) => {
    const isText = name.endsWith('.md');
    if (!isText && !(SOURCES.test(name) && /\.(c|h|inc|ts|mjs)$/.test(name))) return [];
    const text = readFileSync(path.join(folder, name), 'utf8');
    return [...(isText ? brokenLinks(folder, name, text) : []), ...missingFiles(name, text, known)];
  });
}

if (isMain(import.meta.url)) {
  const wrong = checkDocs();
  for (const line of wrong) console.log(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
