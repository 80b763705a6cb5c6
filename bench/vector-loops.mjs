// What V8 makes of the inner loops of vector code, from the text of `node --print-wasm-code`. A loop that needs more registers
// than there are keeps values in memory ("spills" them): a sum that goes there and back takes three times as long as its
// multiply-add.
import { spawnSync } from 'node:child_process';
import { SetupError } from '../tools/process.mjs';

const FLAGS = [
  '--experimental-wasm-relaxed-simd',
  '--no-liftoff',
  '--no-wasm-lazy-compilation',
  '--single-threaded',
  '--print-wasm-code',
];
const COMPILE = `new WebAssembly.Module(require('node:fs').readFileSync(process.argv[1]))`;

/** The code that a Node makes of a module: a text for each function. */
export function codeOf(file, node = process.execPath) {
  const { stdout, error } = spawnSync(node, [...FLAGS, '-e', COMPILE, file], {
    encoding: 'utf8',
    maxBuffer: 2 ** 29,
  });
  if (error) throw error;
  const functions = stdout.split('--- WebAssembly code ---').slice(1);
  if (functions.length === 0) throw new SetupError(`${node} prints no code of WebAssembly`);
  return functions;
}

/** The name of a function in the source, from its code. */
export const nameOf = (code) => /^name: (\S+)/m.exec(code)?.[1].replace(/\.__uniq\..*/, '') ?? '';

/** Instructions between a slow path's call and its way back into a loop: they restore registers. */
const SLOW_PATH = 45;

/** The loops without loops inside: the ranges [first, last] of instructions between a jump's target and the jump. */
function innerLoops(instructions) {
  const places = new Map(instructions.map(({ offset }, i) => [offset, i]));
  const loops = [];
  for (const [last, { offset, text }] of instructions.entries()) {
    const target = Number.parseInt(/^j\w+ .*<\+0x([0-9a-f]+)>/.exec(text)?.[1] ?? 'none', 16);
    if (!(target <= offset && places.has(target))) continue;
    const before = instructions.slice(Math.max(last - SLOW_PATH, 0), last);
    if (text.startsWith('jmp') && before.some((other) => other.text.startsWith('call'))) continue;
    loops.push([places.get(target), last]);
  }
  return loops.filter(
    ([first, last]) =>
      !loops.some(([from, to]) => from >= first && to <= last && (from !== first || to !== last)),
  );
}

/**
 * [{ name, stores, loads, multiplyAdds, vectors, length }] of the inner loops of a function's code that have vectors: how many
 * vectors they store on the stack and load from there, their fused multiply-adds, their instructions with vectors, and all.
 */
export function vectorLoops(code) {
  const instructions = [...code.matchAll(/^0x[0-9a-f]+\s+([0-9a-f]+)\s+[0-9a-f]+\s+(.*)$/gm)].map(
    ([, offset, text]) => ({ offset: Number.parseInt(offset, 16), text }),
  );
  return innerLoops(instructions)
    .map(([first, last]) => {
      const texts = instructions.slice(first, last + 1).map(({ text }) => text);
      const count = (pattern) => texts.filter((text) => pattern.test(text)).length;
      return {
        name: nameOf(code),
        stores: count(/^v?mov\w+ \[rbp.*xmm/),
        loads: count(/^v.*xmm.*,\[rbp/),
        multiplyAdds: count(/^vfn?madd/),
        vectors: count(/xmm/),
        length: texts.length,
      };
    })
    .filter(({ vectors }) => vectors > 0);
}
