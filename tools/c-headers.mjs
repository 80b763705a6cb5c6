// Reads the declarations of exported functions from C headers: what stands behind TF_CAPI_EXPORT at the beginning of a line.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** The headers of folders, sorted. */
export const headersOf = (folders) => folders.flatMap((folder) => readdirSync(folder).filter((name) => name.endsWith('.h')).sort().map((name) => path.join(folder, name)));

const withoutComments = (text) => text.replace(/\/\*[^]*?\*\//g, ' ').replace(/\/\/.*$/gm, '');

/** 'a, void (*b)(int, int), c' at its outer commas. */
function splitAtCommas(list) {
  const parts = [''];
  let depth = 0;
  for (const letter of list) {
    if (letter === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
    depth += letter === '(' ? 1 : letter === ')' ? -1 : 0;
  }
  return parts.map((part) => part.trim());
}

/** A type without const and struct, its stars at the end: 'const char *const *' -> 'char**'. */
function plainType(type) {
  const words = type.replace(/\b(const|struct|extern)\b/g, ' ').replace(/\s+/g, ' ').trim();
  return words.replace(/ ?\* ?/g, '*');
}

/** 'const int *dims' -> { name, type }; a pointer to a function has the type { returns, parameters }. */
function readParameter(text) {
  const [, returns, name, parameters] = /^(.*?)\(\s*\*\s*(\w+)\s*\)\s*\(([^]*)\)$/.exec(text) ?? [];
  if (name !== undefined) return { name, type: { returns: plainType(returns), parameters: readParameters(parameters) } };
  const [, type, last, array] = /^([^]*?)(\w+)\s*((?:\[\w*\])*)$/.exec(text);
  /* In the type of a function pointer parameters need no names. */
  if (plainType(type) === '') return { name: undefined, type: plainType(text) };
  return { name: last, type: plainType(type) + '*'.repeat((array.match(/\[/g) ?? []).length) };
}

function readParameters(text) {
  const list = text.replace(/\s+/g, ' ').trim();
  return list === 'void' || list === '' ? [] : splitAtCommas(list).map((part) => (part.endsWith('*') ? { name: undefined, type: plainType(part) } : readParameter(part)));
}

/** The functions that a header exports, in order: { name, returns, parameters: [{ name, type }] }. */
export function exportedFunctions(text) {
  const declarations = withoutComments(text).matchAll(/^TF_CAPI_EXPORT\b([^;(]*?)\b(\w+)\s*\(([^;]*)\)\s*;/gm);
  return Array.from(declarations, ([, returns, name, parameters]) => ({ name, returns: plainType(returns), parameters: readParameters(parameters) }));
}

/** What header files export and define: `functions`, names of `opaque` structs, of `structs` with members, of `enums`, and `aliases` (macros). */
export function readHeaders(files) {
  const texts = files.map((file) => withoutComments(readFileSync(file, 'utf8')));
  const found = (pattern) => texts.flatMap((text) => Array.from(text.matchAll(pattern), ([, ...groups]) => groups));
  const names = (pattern) => new Set(found(pattern).map(([name]) => name));
  return {
    functions: texts.flatMap(exportedFunctions),
    opaque: names(/^typedef struct \w+ (\w+);/gm),
    structs: names(/^typedef struct \w* ?\{[^]*?^\} (\w+);/gm),
    enums: names(/^typedef enum \w* ?\{[^}]*\} (\w+);/gm),
    callbacks: new Map(found(/^typedef ([\w ]+?\**)\s*\(\*(\w+)\)\(([^;]*)\);/gm).map(([returns, name, parameters]) => [name, { returns: plainType(returns), parameters: readParameters(parameters) }])),
    aliases: new Map(found(/^#define (TF_\w+) ([a-zA-Z_][\w ]*)$/gm)),
  };
}
