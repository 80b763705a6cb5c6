// `node tools/check-c-programs.mjs <build folder> <program.c>`: installs the native library into a folder of its own, and builds and runs the
// program against it with nothing but -I and -L, as its author would: as C and as C++, with -ltfcore and -ltensorflow. ctest runs it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { must, run, runMain, which } from './process.mjs';

const headersIn = (include) => readdirSync(include, { recursive: true }).filter((name) => name.endsWith('.h')).sort();

await runMain(async () => {
  const [build, program] = process.argv.slice(2);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tfcore-c-'));
  let passed = 0;
  let failed = 0;
  const attempt = async (what, command, args, options) => {
    const { code, output } = await run(command, args, options);
    if (code === 0) passed++;
    else failed++;
    if (code !== 0) console.log(`${what}: ${command} ${args.join(' ')}\n${output}`);
    return code === 0;
  };
  try {
    await must('cmake', ['--install', build, '--prefix', folder]);
    const lib = path.dirname(await must('find', [folder, '-name', 'libtfcore.so']).then((text) => text.trim()));
    const include = path.join(folder, 'include');
    const languages = [['C', 'cc', ['-std=c11', '-xc']], ['C++', ['g++', 'clang++'].find(which), ['-std=c++17', '-xc++']]];
    for (const [language, compiler, flags] of languages) {
      if (!compiler) {
        console.log(`skipped ${language}: there is no compiler for it`);
        continue;
      }
      // Each header alone: it includes what it needs.
      for (const header of headersIn(include)) {
        const args = [...flags, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', `-I${include}`, '-'];
        await attempt(`${header} as ${language}`, compiler, args, { input: `#include "${header}"\nextern int something;\n` });
      }
      for (const name of ['tfcore', 'tensorflow']) {
        const binary = path.join(folder, `program-${name}`);
        const args = [...flags, program, '-xnone', `-I${include}`, `-L${lib}`, `-l${name}`, '-o', binary];
        if (await attempt(`${language} with -l${name}`, compiler, args)) {
          await attempt(`${language} with -l${name}, run`, binary, [], { env: { ...process.env, LD_LIBRARY_PATH: lib } });
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
});
