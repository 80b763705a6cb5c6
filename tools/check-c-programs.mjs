// `node tools/check-c-programs.mjs <build folder> <program.c> <strings.c>`: installs the native library into
// a new folder, moves that folder, and builds and runs the program against it with nothing but -I and -L, as
// its author would: as C and as C++, with -ltfcore, -ltensorflow and the flags of pkg-config. Builds the
// program of include/README.md with the commands there. If TensorFlow is installed, <strings.c> is built with
// its headers, and so are programs whose output TensorFlow has recorded, as C++. ctest runs it.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { must, root, run, runMain, which } from './process.mjs';

/** The library path for a program that is linked with the library. */
const RUN_TIME_NAME = 'libtensorflow.so.2';

/** Programs for TensorFlow's headers, which are C++ in part. They compare their output with TensorFlow's. */
const TRANSCRIPTS = ['api_defs', 'experimental', 'eager_experimental'];

const headersIn = (include) =>
  readdirSync(include, { recursive: true })
    .filter((name) => name.endsWith('.h'))
    .sort();

/**
 * TensorFlow's own headers: from TFCORE_TENSORFLOW_INCLUDE, or from the Python package; undefined if there
 * are none.
 */
async function tensorflowInclude() {
  const given = process.env.TFCORE_TENSORFLOW_INCLUDE;
  if (given) return given;
  const find =
    'import importlib.util as u; s = u.find_spec("tensorflow"); print(s.submodule_search_locations[0] + "/include" if s else "")';
  const python = which('python3');
  const { code, output } = python ? await run(python, ['-c', find]) : { code: 1, output: '' };
  return code === 0 && existsSync(output.trim()) ? output.trim() : undefined;
}

/** The code blocks of a language in include/README.md. */
const readmeBlocks = (language) => {
  const text = readFileSync(path.join(root, 'include/README.md'), 'utf8');
  return Array.from(
    text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm')),
    ([, code]) => code,
  );
};

/** The commands in include/README.md that build and install the library. */
const BUILD = 'cmake -S . -B build/release -G Ninja && ninja -C build/release && ';
const INSTALL = 'cmake --install build/release --prefix /usr/local';

await runMain(async () => {
  const [build, program, strings] = process.argv.slice(2);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tfcore-c-'));
  let passed = 0;
  let failed = 0;
  const count = (holds, what) => {
    if (holds) passed++;
    else failed++;
    if (!holds) console.log(what);
    return holds;
  };
  const attempt = async (what, command, args, options) => {
    const { code, output } = await run(command, args, options);
    return count(code === 0, `${what}: ${command} ${args.join(' ')}\n${output}`);
  };
  try {
    const [[buildAndInstall, ...compilations], ...others] = readmeBlocks('sh').map((block) =>
      block.trim().split('\n'),
    );
    count(
      buildAndInstall === BUILD + INSTALL,
      `include/README.md builds and installs in another way: ${buildAndInstall}`,
    );
    await must('sh', [
      '-c',
      INSTALL.replace('build/release', '"$0"').replace('/usr/local', '"$1"'),
      build,
      path.join(folder, 'installed'),
    ]);
    const prefix = path.join(folder, 'moved');
    renameSync(path.join(folder, 'installed'), prefix);
    const lib = path.dirname(
      await must('find', [prefix, '-name', RUN_TIME_NAME]).then((text) => text.trim()),
    );
    const include = path.join(prefix, 'include');
    const alone = path.join(folder, 'alone');
    mkdirSync(alone);
    copyFileSync(path.join(lib, RUN_TIME_NAME), path.join(alone, RUN_TIME_NAME));

    const needed = async (what, binary) => {
      const names = [...(await must('readelf', ['-d', binary])).matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(
        ([, name]) => name,
      );
      const ours = names.filter((name) => /tfcore|tensorflow/.test(name));
      count(
        ours.join() === RUN_TIME_NAME,
        `${what} needs ${ours.join(', ') || 'nothing of ours'}, not ${RUN_TIME_NAME}`,
      );
    };
    const buildAndRun = async (what, compiler, args) => {
      const binary = path.join(folder, 'program');
      if (!(await attempt(what, compiler, [...args, '-o', binary]))) return;
      await needed(what, binary);
      await attempt(`${what}, run`, binary, [], { env: { ...process.env, LD_LIBRARY_PATH: alone } });
    };

    const languages = [
      ['C', 'cc', ['-std=c11', '-xc']],
      ['C++', ['g++', 'clang++'].find(which), ['-std=c++17', '-xc++']],
    ];
    for (const [language, compiler, flags] of languages) {
      if (!compiler) {
        console.log(`skipped ${language}: there is no compiler for it`);
        continue;
      }
      // Each header alone: it must include what it needs.
      for (const header of headersIn(include)) {
        const args = [
          ...flags,
          '-Wall',
          '-Wextra',
          '-Wpedantic',
          '-Werror',
          '-fsyntax-only',
          `-I${include}`,
          '-',
        ];
        await attempt(`${header} as ${language}`, compiler, args, {
          input: `#include "${header}"\nextern int something;\n`,
        });
      }
      for (const name of ['tfcore', 'tensorflow']) {
        await buildAndRun(`${language} with -l${name}`, compiler, [
          ...flags,
          program,
          '-xnone',
          `-I${include}`,
          `-L${lib}`,
          `-l${name}`,
        ]);
      }
    }

    const packages = path.join(lib, 'pkgconfig');
    count(existsSync(path.join(packages, 'tensorflow.pc')), 'tensorflow.pc is not installed');
    if (which('pkg-config')) {
      const env = { ...process.env, PKG_CONFIG_PATH: packages };
      const flags = (await must('pkg-config', ['--cflags', '--libs', 'tensorflow'], { env }))
        .trim()
        .split(/\s+/);
      await buildAndRun('C with pkg-config', 'cc', ['-std=c11', program, ...flags]);
    } else {
      console.log('skipped pkg-config: it is not installed');
    }

    /* The README's programs, built by its commands; the environment replaces /usr/local. */
    const [readmeProgram, ...fragments] = readmeBlocks('c');
    const printed = /printf\(.*\/\* (.*) \*\//.exec(readmeProgram)?.[1];
    const env = {
      ...process.env,
      CPATH: include,
      LIBRARY_PATH: lib,
      LD_LIBRARY_PATH: alone,
      PKG_CONFIG_PATH: packages,
    };
    writeFileSync(path.join(folder, 'program.c'), readmeProgram);
    for (const line of [...compilations, ...others.flat()]) {
      if (line.includes('pkg-config') && !which('pkg-config')) continue;
      rmSync(path.join(folder, 'a.out'), { force: true });
      if (!(await attempt("the README's program", 'sh', ['-c', line], { cwd: folder, env }))) continue;
      const { code, output } = await run('./a.out', [], { cwd: folder, env });
      count(
        code === 0 && output.trim() === printed,
        `the README's program after '${line}' gives ${code}, "${output}", not "${printed}"`,
      );
    }
    for (const input of fragments) {
      const args = [
        '-std=c11',
        '-xc',
        '-Wall',
        '-Wextra',
        '-Werror',
        '-Wno-unused-function',
        '-fsyntax-only',
        '-',
      ];
      await attempt('a part of a program of the README', 'cc', args, { env, input });
    }

    const theirs = await tensorflowInclude();
    if (theirs) {
      const flags = [
        '-std=gnu11',
        '-g',
        '-fsanitize=address,undefined',
        '-fno-sanitize-recover=all',
        '-DTFCORE_TENSORFLOW_HEADERS',
      ];
      await buildAndRun("strings with TensorFlow's headers", 'cc', [
        ...flags,
        strings,
        `-I${theirs}`,
        `-L${lib}`,
        '-ltensorflow',
      ]);
      for (const name of languages[1][1] ? TRANSCRIPTS : []) {
        await buildAndRun(`${name} with TensorFlow's headers`, languages[1][1], [
          '-std=gnu++17',
          '-xc++',
          `-DTFCORE_SOURCE_DIR="${root}"`,
          path.join(root, `tests/c/native/${name}_transcript.c`),
          '-xnone',
          `-I${theirs}`,
          `-I${path.join(root, 'tests/c')}`,
          `-L${lib}`,
          '-ltensorflow',
        ]);
      }
    } else {
      console.log(
        "skipped strings with TensorFlow's headers: `pip install tensorflow`, or set TFCORE_TENSORFLOW_INCLUDE to its include folder",
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
});
