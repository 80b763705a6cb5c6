// Emscripten's JavaScript, as the package contains it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root, SetupError } from './process.mjs';

const VARIANTS = { single: ['simd', 'relaxed'], threads: ['simd-threads', 'relaxed-threads'] };

/** The builds of a kind, 'single' or 'threads', have the same glue: their exports and imports are equal. */
export function glueOf(kind) {
  const [first, ...others] = VARIANTS[kind].map((variant) =>
    prepared(path.join(root, `build/wasm-${variant}/tfcore-${variant}.mjs`)),
  );
  if (others.some((text) => text !== first))
    throw new SetupError(
      `the glue of the builds ${VARIANTS[kind].join(', ')} differs, but they share one copy`,
    );
  return first;
}

/**
 * The glue without its last lines, with which a module starts itself in a thread (bindings/js/worker.ts does that), and
 * without the name of its .wasm, which the bindings load.
 */
function prepared(file) {
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf('export default createTfcore;\n');
  if (end < 0) throw unlikeEmscripten(file, 'does not export createTfcore');
  const own = text.slice(0, end).replace(`${path.basename(file, '.mjs')}.wasm`, 'tfcore.wasm');
  const glue = `${withPlainExports(own, file)}export default createTfcore;\n`;
  const followed = /import\.meta|new Worker\(|\brequire\(|\bimport\(/.exec(glue);
  if (followed)
    throw new SetupError(`${file} contains '${followed[0]}', which bundlers of users would follow`);
  return glue;
}

const unlikeEmscripten = (file, what) => new SetupError(`${file} ${what} as Emscripten 3.1.69 does`);

const WRAPPER =
  /var (_[\w$]+)=Module\["\1"\]=(?:\([\w,]*\)|\w+)=>\(\1=Module\["\1"\]=wasmExports\["([\w$]+)"\]\)\([\w,]*\);/g;
const INSTANTIATED = 'wasmExports=applySignatureConversions(wasmExports);';

/**
 * Every export has a wrapper of 170 characters, which looks the export up whenever it is called. Instead, the module gets an
 * object with the exports themselves by their names in C, `functions`. Only those that the glue calls keep their wrappers.
 */
function withPlainExports(glue, file) {
  const others = glue.replace(WRAPPER, '');
  const named = new Set(others.match(/(?<![\w$])_[\w$]+/g));
  const names = [];
  const shorter = glue.replace(WRAPPER, (wrapper, name, exported) => {
    names.push(name.slice(1), exported);
    return named.has(name) ? wrapper : '';
  });
  if (names.length === 0 || !shorter.includes(INSTANTIATED))
    throw unlikeEmscripten(file, 'does not wrap its exports');
  /* An object without a prototype is a hash table. V8 copies others for each property that they get. */
  const give = `{const f=Module["functions"]=Object.create(null),n=${JSON.stringify(names.join(' '))}.split(" ");for(let i=0;i<n.length;i+=2)f[n[i]]=wasmExports[n[i+1]]}`;
  return shorter.replace(INSTANTIATED, INSTANTIATED + give);
}
