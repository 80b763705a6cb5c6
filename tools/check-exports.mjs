// `node tools/check-exports.mjs <libtensorflow.so.2> <folder of headers>...`: checks that the shared library
// exports exactly the functions that the public headers declare. ctest runs it.
import { headersOf, readHeaders } from './c-headers.mjs';
import { must, runMain } from './process.mjs';

await runMain(async () => {
  const [library, ...folders] = process.argv.slice(2);
  const declared = readHeaders(headersOf(folders)).functions.map(({ name }) => name);
  const symbols = await must('nm', ['-D', '--defined-only', library]);
  const exported = symbols
    .trim()
    .split('\n')
    .map((line) => line.split(' ').at(-1));
  const without = (list, other) => list.filter((name) => !other.includes(name));
  for (const name of without(declared, exported)) console.log(`${name} is declared but not in the library`);
  for (const name of without(exported, declared)) console.log(`${name} is visible but not declared`);
  const wrong = without(declared, exported).length + without(exported, declared).length;
  console.log(`${declared.length} public functions, ${wrong} problems`);
  process.exitCode = declared.length > 0 && wrong === 0 ? 0 : 1;
});
