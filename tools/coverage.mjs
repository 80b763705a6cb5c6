// Coverage of src/ by the C tests: `npm run coverage -- [--worst N] [--file src/ops/math/matmul.c]...` builds
// them with clang's source-based coverage, runs them, and prints lines and branches for each room, for all
// rooms, and for the files with most branches that no test took. `--file` prints the branches of a file that
// were not taken. The exit code is 1 when a goal is missed, or a test fails.
//
// Only code in native builds counts: src/wasm/wasm_files.c, which is compiled only for WebAssembly, is
// missing. tools/coverage-data.mjs defines how branches are counted. The failures that TRY passes on count
// like every other branch; the last column leaves them out, to separate failures of callees (mostly out of
// memory) from a file's own cases.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { cmakeBuild } from './build.mjs';
import { coverageOf, total } from './coverage-data.mjs';
import { must, root, run, runMain, say, SetupError } from './process.mjs';
import { setUp } from './setup.mjs';

/** Percentages of branches. */
const GOAL_OVER_ALL = 92;
const GOAL_OF_A_ROOM = 85;

function parseArguments(args) {
  const options = { worst: 20, files: [] };
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--worst') options.worst = Number(args[++i]);
    else if (args[i] === '--file') options.files.push(args[++i]);
    else throw new SetupError(`what is '${args[i]}'? There are --worst N and --file NAME`);
  }
  return options;
}

/** The programs that ctest runs, and the library that some of them load: the files with counters. */
function programsOf(folder) {
  const named = readdirSync(folder).filter((name) =>
    /^(test_\w+|c_api_\w+|libtensorflow\.so\.2)$/.test(name),
  );
  return named.map((name) => path.join(folder, name));
}

/** Runs all C tests of the build folder; returns the merged profile. */
async function profileOf(folder) {
  const raw = path.join(folder, 'profiles');
  rmSync(raw, { recursive: true, force: true });
  mkdirSync(raw);
  /* Programs of the same build append to the same file, whose name contains a hash of the program. */
  const { code, output } = await run(
    'ctest',
    [
      '--test-dir',
      folder,
      '-j',
      String(availableParallelism()),
      '-E',
      'include_directions|exported_symbols|c_programs',
    ],
    { env: { LLVM_PROFILE_FILE: path.join(raw, '%4m.profraw') } },
  );
  if (code !== 0) throw new SetupError(`${output}\nthe C tests failed`);
  const merged = path.join(folder, 'tests.profdata');
  await must('llvm-profdata', [
    'merge',
    '-sparse',
    '-o',
    merged,
    ...readdirSync(raw).map((name) => path.join(raw, name)),
  ]);
  return merged;
}

/** llvm-cov's export for src/, written to a file because it is large. */
async function exported(programs, profile) {
  const [first, ...others] = programs;
  const file = path.join(path.dirname(profile), 'tests.coverage.json');
  await must('sh', [
    '-c',
    'out=$1; shift; exec llvm-cov export "$@" > "$out"',
    'sh',
    file,
    first,
    ...others.flatMap((name) => ['-object', name]),
    `-instr-profile=${profile}`,
    '-skip-expansions',
    path.join(root, 'src'),
  ]);
  return JSON.parse(readFileSync(file, 'utf8'));
}

const percent = ({ covered, count }) => (count === 0 ? '-' : `${((100 * covered) / count).toFixed(1)} %`);

function table(heading, rows) {
  const cells = [
    [heading, 'lines', 'covered', 'branches', 'covered', 'not', 'without TRY'],
    ...rows.map(({ name, lines, branches, ownBranches }) => [
      name,
      lines.count,
      percent(lines),
      branches.count,
      percent(branches),
      branches.count - branches.covered,
      percent(ownBranches),
    ]),
  ].map((row) => row.map(String));
  const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  say(
    cells
      .map((row) =>
        row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
      )
      .join('\n'),
  );
  say('');
}

function printMissed(file) {
  const source = readFileSync(path.join(root, 'src', file.name), 'utf8').split('\n');
  say(file.name);
  for (const { line, side, macro } of file.missed)
    say(
      `  ${String(line).padStart(5)}  never ${String(side).padEnd(5)} ${macro ? `in ${macro} ` : ''}  ${source[line - 1].trim()}`,
    );
}

function missedGoals(all, rooms) {
  const below = ({ branches }, goal) => 100 * branches.covered < goal * branches.count;
  return [
    ...(below(all, GOAL_OVER_ALL)
      ? [`all rooms: ${percent(all.branches)} of branches, the goal is ${GOAL_OVER_ALL} %`]
      : []),
    ...rooms
      .filter((room) => below(room, GOAL_OF_A_ROOM))
      .map((room) => `${room.name}: ${percent(room.branches)} of branches, the goal is ${GOAL_OF_A_ROOM} %`),
  ];
}

await runMain(async () => {
  const { worst, files: wanted } = parseArguments(process.argv.slice(2));
  await setUp({ tests: true, coverage: true });
  const folder = await cmakeBuild(
    'coverage',
    ['cmake'],
    { CMAKE_BUILD_TYPE: 'Debug', TFCORE_COVERAGE: 'ON' },
    ['all'],
    { CC: 'clang' },
  );
  const profile = await profileOf(folder);
  const files = coverageOf(await exported(programsOf(folder), profile), path.join(root, 'src'));
  const roomOf = ({ name }) => name.split('/')[0];
  const rooms = [...new Set(files.map(roomOf))].map((name) =>
    total(
      name,
      files.filter((file) => roomOf(file) === name),
    ),
  );
  const all = total('all rooms', files);
  table('room', [...rooms, all]);
  const missing = ({ branches }) => branches.count - branches.covered;
  table(
    `the ${worst} files with most branches not taken`,
    [...files].sort((a, b) => missing(b) - missing(a)).slice(0, worst),
  );
  files.filter(({ name }) => wanted.includes(`src/${name}`)).forEach(printMissed);
  const goals = missedGoals(all, rooms);
  if (goals.length > 0) {
    say(`missed goals:\n  ${goals.join('\n  ')}`);
    process.exitCode = 1;
  }
});
