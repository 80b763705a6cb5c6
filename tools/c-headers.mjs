// Parses the declarations of exported functions in C headers: those that begin with TF_CAPI_EXPORT or TF_NATIVE_EXPORT.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** The headers of folders, sorted. */
export function headersOf(folders) {
  const headersIn = (folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.h'))
      .sort();
  return folders.flatMap((folder) => headersIn(folder).map((name) => path.join(folder, name)));
}

const withoutComments = (text) => text.replace(/\/\*[^]*?\*\//g, ' ').replace(/\/\/.*$/gm, '');

/** Splits 'a, void (*b)(int, int), c' at its outer commas. */
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
  const words = type
    .replace(/\b(const|struct|extern)\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words.replace(/ ?\* ?/g, '*');
}

/** 'const int *dims' -> { name, type }; a pointer to a function has the type { returns, parameters }. */
function readParameter(text) {
  const [, returns, name, parameters] = /^(.*?)\(\s*\*\s*(\w+)\s*\)\s*\(([^]*)\)$/.exec(text) ?? [];
  if (name !== undefined) return { name, type: signatureOf(returns, parameters) };
  const [, type, last, array] = /^([^]*?)(\w+)\s*((?:\[\w*\])*)$/.exec(text);
  /* Parameters in the type of a function pointer need no names. */
  if (plainType(type) === '') return { type: plainType(text) };
  return { name: last, type: plainType(type) + '*'.repeat((array.match(/\[/g) ?? []).length) };
}

function readParameters(text) {
  const list = text.replace(/\s+/g, ' ').trim();
  if (list === 'void' || list === '') return [];
  return splitAtCommas(list).map((part) =>
    part.endsWith('*') ? { type: plainType(part) } : readParameter(part),
  );
}

const signatureOf = (returns, parameters) => ({
  returns: plainType(returns),
  parameters: readParameters(parameters),
});

/**
 * The functions that a header exports, in order: { name, isNative, returns, parameters: [{ name, type }] }. Those
 * with `isNative` are not in the wasm.
 */
export function exportedFunctions(text) {
  const declaration = /^TF_(CAPI|NATIVE)_EXPORT\b([^;(]*?)\b(\w+)\s*\(([^;]*)\)\s*;/gm;
  return Array.from(withoutComments(text).matchAll(declaration), ([, kind, returns, name, parameters]) => ({
    name,
    isNative: kind === 'NATIVE',
    ...signatureOf(returns, parameters),
  }));
}

/**
 * The exports and definitions of header files: `functions`; the names of `opaque` structs, of `structs` with
 * members and of `enums`; `callbacks`, the types of functions; and `aliases`, macros for types.
 */
export function readHeaders(files) {
  const texts = files.map((file) => withoutComments(readFileSync(file, 'utf8')));
  const found = (pattern) =>
    texts.flatMap((text) => [...text.matchAll(pattern)].map(([, ...groups]) => groups));
  const names = (pattern) => new Set(found(pattern).map(([name]) => name));
  return {
    functions: texts.flatMap(exportedFunctions),
    opaque: names(/^typedef struct \w+ (\w+);/gm),
    structs: names(/^typedef struct \w* ?\{[^]*?^\} (\w+);/gm),
    enums: names(/^typedef enum \w* ?\{[^}]*\} (\w+);/gm),
    callbacks: new Map(
      found(/^typedef ([\w ]+?\**)\s*\(\*(\w+)\)\(([^;]*)\);/gm).map(([returns, name, parameters]) => [
        name,
        signatureOf(returns, parameters),
      ]),
    ),
    aliases: new Map(found(/^#define (TF_\w+) ([a-zA-Z_][\w ]*)$/gm)),
  };
}
