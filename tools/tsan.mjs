// Data races: `npm run tsan` builds the C tests with ThreadSanitizer and runs those of the rooms that use
// threads. In this build every loop over threads is split, however short (TFCORE_SPLIT_ALL_LOOPS,
// base/parallel.h), and golden cases, which cover every op and dtype, run on four threads, so every kernel
// that splits its work is tested doing so, with all its dtypes. The exit code is 1 if a test fails or
// ThreadSanitizer reports anything.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { cmakeBuild } from './build.mjs';
import { run, runMain, say } from './process.mjs';
import { setUp } from './setup.mjs';

/** The programs that use threads, and parts of the names of their tests; none: all of them. */
const TESTS = {
  base: [],
  tensor: ['share'],
  op: ['threads'],
  runtime: ['at_the_same_time', 'another_thread', 'default_pool', 'every_index', 'a_body_may', 'device'],
  ops: ['split_rows', 'steps_at_once', 'several_threads', 'random_equations'],
  c_api: ['threads', 'deadlines'],
  golden: [],
};

/**
 * ThreadSanitizer's shadow memory needs the addresses that kernels with little address randomisation give.
 */
function withoutRandomAddresses(command) {
  const bits = Number(readFileSync('/proc/sys/vm/mmap_rnd_bits', 'utf8'));
  return bits > 28 ? ['setarch', '-R', ...command] : command;
}

/** Runs the tests of one program whose names contain `part`; true if they passed without a race. */
async function passes(folder, room, part) {
  const started = Date.now();
  const [command, ...args] = withoutRandomAddresses([
    path.join(folder, `test_${room}`),
    ...(part ? ['--filter', part] : []),
  ]);
  const { code, output } = await run(command, args);
  if (code !== 0) say(output);
  const counts =
    output
      .trimEnd()
      .split('\n')
      .findLast((line) => /^\d+ passed/.test(line)) ?? 'no count';
  say(
    `${`test_${room} ${part ?? ''}`.padEnd(32)} ${counts}${code === 0 ? '' : ', or a race'} ${((Date.now() - started) / 1000).toFixed(0)} s`,
  );
  return code === 0;
}

await runMain(async () => {
  await setUp({ tests: true });
  const folder = await cmakeBuild(
    'tsan',
    ['cmake'],
    { CMAKE_BUILD_TYPE: 'Debug', TFCORE_SANITIZE: 'thread' },
    Object.keys(TESTS).map((room) => `test_${room}`),
    { CC: 'gcc' },
  );
  for (const [room, parts] of Object.entries(TESTS)) {
    for (const part of parts.length > 0 ? parts : [undefined]) {
      if (!(await passes(folder, room, part))) process.exitCode = 1;
    }
  }
});
