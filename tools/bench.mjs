// `npm run bench`: sets up, builds, and runs bench/run.mjs, to which arguments are passed on.
import { build } from './build.mjs';
import { run, runMain } from './process.mjs';
import { setUp } from './setup.mjs';

await runMain(async () => {
  await build(await setUp({ tests: true }));
  const { code } = await run('node', ['bench/run.mjs', ...process.argv.slice(2)], { quiet: false });
  process.exitCode = code;
});
