// Data races: `npm run tsan` builds the C tests with ThreadSanitizer and runs those of the rooms where threads meet. In this build a loop
// over threads is split however short it is (TFCORE_SPLIT_ALL_LOOPS, base/parallel.h), and the tests of single ops and of golden cases have four
// threads, so every kernel that splits its work is seen splitting it, with every dtype that it has. The exit code is 1 when a test
// fails or ThreadSanitizer reports anything.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { cmakeBuild } from './build.mjs';
import { run, runMain, say } from './process.mjs';
import { setUp } from './setup.mjs';

/** simd, proto, checkpoint, function, gradient and optimizer start no threads and keep nothing that threads share. */
const PROGRAMS = ['base', 'blas', 'tensor', 'op', 'graph', 'runtime', 'ops', 'c_api', 'golden', 'wasm'].map((room) => `test_${room}`);

/** ThreadSanitizer's shadow memory wants the addresses that kernels with little address randomisation give. */
function withoutRandomAddresses(command) {
  const bits = Number(readFileSync('/proc/sys/vm/mmap_rnd_bits', 'utf8'));
  return bits > 28 ? ['setarch', '-R', ...command] : command;
}

await runMain(async () => {
  await setUp({ tests: true });
  const folder = await cmakeBuild('tsan', ['cmake'], { CMAKE_BUILD_TYPE: 'Debug', TFCORE_SANITIZE: 'thread' }, PROGRAMS, { CC: 'gcc' });
  const [command, ...args] = withoutRandomAddresses(['ctest', '--test-dir', folder, '--output-on-failure', '-j', String(availableParallelism()),
    '-R', `^(${PROGRAMS.join('|')})$`]);
  const { code, output } = await run(command, args);
  say(output);
  process.exitCode = code === 0 ? 0 : 1;
});
