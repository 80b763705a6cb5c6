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
 * Every export has a wrapper of 170 characters, which looks the export up whenever it is called. The module gets the exports
 * themselves instead, except for those that the glue calls.
 */
function withPlainExports(glue, file) {
  const others = glue.replace(WRAPPER, '');
  const named = new Set(others.match(/(?<![\w$])_[\w$]+/g));
  const names = [];
  const shorter = glue.replace(WRAPPER, (wrapper, name, exported) => {
    if (named.has(name)) return wrapper;
    names.push(`${name}:${exported}`);
    return '';
  });
  if (names.length === 0 || !shorter.includes(INSTANTIATED))
    throw unlikeEmscripten(file, 'does not wrap its exports');
  const give = `for(const f of${JSON.stringify(names.join(' '))}.split(" ")){const[n,e]=f.split(":");Module[n]=wasmExports[e]}`;
  return shorter.replace(INSTANTIATED, INSTANTIATED + give);
}
