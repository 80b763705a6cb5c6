// `npm start`: from a fresh clone to a trained network. Sets up the toolchain, builds, and runs
// examples/train-digits.mjs.
import { build } from './build.mjs';
import { run, runMain, say } from './process.mjs';
import { setUp } from './setup.mjs';

await runMain(async () => {
  const started = Date.now();
  await build(await setUp());
  const seconds = (Date.now() - started) / 1000;
  if (seconds > 10) say(`Set up and built in ${seconds.toFixed(0)} s.\n`);
  const { code } = await run('node', ['examples/train-digits.mjs', ...process.argv.slice(2)], {
    quiet: false,
  });
  process.exitCode = code;
});
