// Checks the layers of src/: a folder may include only from the folders that it may use, directly or
// indirectly, and a wing of ops/ only from itself and from support/. `node tools/check-includes.mjs [src]`
// prints each violation; ctest runs it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isMain, root } from './process.mjs';

/**
 * The folders that each folder may use directly; it may use their folders too. CMakeLists.txt links by the
 * same table.
 */
export const ARROWS = {
  base: [],
  simd: ['base'],
  blas: ['simd'],
  proto: ['base'],
  tensor: ['proto'],
  op: ['tensor'],
  device: ['op'],
  graph: ['op'],
  function: ['graph'],
  placement: ['function', 'device'],
  gradient: ['function'],
  optimizer: ['function'],
  runtime: ['gradient', 'optimizer', 'placement'],
  checkpoint: ['tensor'],
  ops: ['device', 'blas', 'checkpoint'],
  c_api: ['runtime', 'ops'],
  wasm: ['c_api'],
  saved_model: ['runtime'],
  eager: ['runtime'],
  native: ['c_api', 'saved_model', 'eager'],
};

/** Folders that consist of wings, and the wing that the others may use. */
export const WINGS = { ops: 'support' };

/** Headers from outside of src/, and the folders that may name them. */
const OUTSIDE = [
  { header: /^tensorflow\/core\/(example|framework|protobuf)\/\w+\.pb-c\.h$/, folders: ['proto'] },
  { header: /^protobuf-c\//, folders: ['proto'] },
  { header: /^(tensorflow\/c(\/eager)?|tfcore)\/\w+\.h$/, folders: ['c_api', 'wasm', 'native'] },
  { header: /^op_table\.inc$/, folders: ['ops'] },
  { header: /^(jpeglib|jerror|png|zlib|gif_lib)\.h$/, folders: ['ops/codecs'] },
  { header: /^wasm_simd128\.h$/, folders: ['simd'] },
  { header: /^emscripten(\/|\.h$)/, folders: ['c_api', 'wasm'] },
];

/** wasm/ extends the C API for JavaScript, native/ for native programs; they may include its internal structs. */
const SHARES_INTERNALS = { wasm: 'c_api', native: 'c_api' };

function reachable(folder, seen = new Set([folder])) {
  for (const below of ARROWS[folder] ?? []) {
    if (!seen.has(below)) {
      seen.add(below);
      reachable(below, seen);
    }
  }
  return seen;
}

/** The wing of a file below src/; '' for a file of the folder itself. */
const wingOf = (file) => file.split('/').slice(1, -1).join('/');

/** All violations below the folder `src`, as "file:line: what is wrong". */
export function checkIncludes(src) {
  const problems = [];
  const seenNames = new Map();
  const check = (file, folder) => {
    const allowed = reachable(folder);
    readFileSync(path.join(src, file), 'utf8')
      .split('\n')
      .forEach((line, i) => {
        const include = /^\s*#\s*include\s+(["<])([^">]+)[">]/.exec(line);
        if (!include) return;
        const [, quote, header] = include;
        const complain = (what) => problems.push(`${file}:${i + 1}: ${what}`);
        const outside = OUTSIDE.find((entry) => entry.header.test(header));
        if (outside) {
          if (!outside.folders.some((place) => `${path.dirname(file)}/`.startsWith(`${place}/`)))
            complain(`only ${outside.folders.join(' and ')} may include ${header}`);
          return;
        }
        if (quote === '<') return;
        const target = header.split('/')[0];
        if (!header.includes('/') || !(target in ARROWS))
          complain(`"${header}" does not name a folder of src/`);
        else if (!allowed.has(target)) complain(`${folder}/ may not include from ${target}/ ("${header}")`);
        else if (target !== folder && header.endsWith('_internal.h') && SHARES_INTERNALS[folder] !== target)
          complain(`"${header}" is private to ${target}/`);
        else if (
          target === folder &&
          target in WINGS &&
          ![wingOf(file), WINGS[target]].includes(wingOf(header))
        )
          complain(`a wing may include from itself and from ${target}/${WINGS[target]}/ only ("${header}")`);
        else if (!existsSync(path.join(src, header))) complain(`"${header}" does not exist`);
      });
  };
  const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const folder of folders.map(({ name }) => name).sort()) {
    if (!(folder in ARROWS)) {
      problems.push(`${folder}: no arrow is known for this folder`);
      continue;
    }
    for (const entry of readdirSync(path.join(src, folder), { recursive: true }).sort()) {
      if (!/\.(c|h|inc)$/.test(entry)) continue;
      const file = `${folder}/${entry}`;
      const name = path.basename(entry);
      if (seenNames.has(name)) problems.push(`${file}: the name is taken by ${seenNames.get(name)}`);
      seenNames.set(name, file);
      check(file, folder);
    }
  }
  return problems;
}

if (isMain(import.meta.url)) {
  const problems = checkIncludes(process.argv[2] ?? path.join(root, 'src'));
  problems.forEach((problem) => console.log(problem));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
