// Lists the inner loops of vector code that keep values in memory (vector-loops.mjs):
//   node bench/spills.mjs [variant [another Node]]
import path from 'node:path';
import { buildWasm } from '../tools/build.mjs';
import { runMain, say } from '../tools/process.mjs';
import { setUp } from '../tools/setup.mjs';
import { codeOf, vectorLoops } from './vector-loops.mjs';

await runMain(async () => {
  const [variant = 'relaxed', node] = process.argv.slice(2);
  const folder = await buildWasm(await setUp(), variant, ['tfcore']);
  const loops = codeOf(path.join(folder, `tfcore-${variant}.wasm`), node).flatMap(vectorLoops);
  say('  stores   loads  multiply-adds  instructions  function');
  for (const { name, stores, loads, multiplyAdds, length } of loops
    .filter(({ stores, loads }) => stores + loads > 1)
    .sort((a, b) => b.stores + b.loads - a.stores - a.loads)) {
    const columns = [stores, loads, multiplyAdds, length].map((n, i) =>
      String(n).padStart([8, 8, 15, 14][i]),
    );
    say(`${columns.join('')}  ${name}`);
  }
});
