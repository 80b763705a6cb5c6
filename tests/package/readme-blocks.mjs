// The code blocks of the READMEs. A block is a recipe if its first line is a comment with a file name. It is
// the content of that file in a user's project.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../tools/process.mjs';

export const textOf = (name) => readFileSync(path.join(root, name), 'utf8');

/** [{ language, code, file }] of a README; `file` is undefined if the block is not a recipe. */
export function blocksOf(name) {
  return Array.from(textOf(name).matchAll(/^```(\w*)\n([^]*?)^```$/gm), ([, language, code]) => {
    const file = /^(?:\/\/ |<!-- )([\w./-]+\.\w+)(?: -->)?\n/.exec(code)?.[1];
    return { language, code, file };
  });
}

/** All JavaScript blocks except the recipes. Together they form one program, from top to bottom. */
export const programOf = (name) =>
  blocksOf(name)
    .filter(({ language, file }) => language === 'js' && !file)
    .map(({ code }) => code);

const PACKAGE = 'npm/README.md';

/** The recipe for a file, as npm/README.md has it. */
export function recipe(file) {
  const found = blocksOf(PACKAGE).filter((block) => block.file === file);
  if (found.length !== 1) throw new Error(`${PACKAGE} has ${found.length} recipes for ${file}`);
  return found[0].code;
}

/** The shell commands of the block of npm/README.md that begins with `start`. */
export function commandsOf(start) {
  const found = blocksOf(PACKAGE).filter(({ language, code }) => language === 'sh' && code.startsWith(start));
  if (found.length !== 1) throw new Error(`${PACKAGE} has ${found.length} blocks that begin with '${start}'`);
  return found[0].code.trim().split('\n');
}

/** The exports of a module with this text. */
export const evaluated = (text) => import(`data:text/javascript,${encodeURIComponent(text)}`);
