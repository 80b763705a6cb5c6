// Mutation testing: `npm run mutants -- [--count N] [--seed S] [--room ops]... [--file
// src/ops/math/clip.c]... [--only K]` changes one token or statement of src/ at a time (mutation-sites.mjs
// says which), builds that mutant, and runs the C tests until one fails. It prints a line for each mutant,
// and those that no test noticed as a diff. The exit code is 1 when fewer than 90 % were noticed.
//
// The N mutants (200) are drawn from the rooms ops, graph, op and gradient in proportion to their sites, by
// the seed alone. One that does not compile is replaced by another. `--only K` tries the Kth again. It works
// in build/mutants-src, a copy of the files in git, so the working tree is never changed.
//
// Results are kept in build/mutants/results.json, so an interrupted run continues. A mutant that was noticed
// is not tried again while its source is the same; a survivor is tried again when any file has changed. So
// after adding a test, run the same command again.
//
// For speed, the build has little optimisation and no sanitizers: a mutant that only AddressSanitizer would
// notice counts as not noticed. `--sanitize` tries survivors again under sanitizers. Mutants that compute the
// same are listed in tests/mutants.md, by function and changed lines: they are not tried, and are left out of
// the percentage.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { must, outputOf, root, run, runMain, say, SetupError } from './process.mjs';
import { setUp } from './setup.mjs';
import { equivalentsOf, mutate, sitesOf } from './mutation-sites.mjs';

const GOAL = 90;
const COPY = path.join(root, 'build/mutants-src');
const RESULTS = path.join(root, 'build/mutants/results.json');
const EQUIVALENTS = path.join(root, 'tests/mutants.md');

/** The test programs of each room, the most likely to notice first. */
const PROGRAMS = {
  ops: ['ops', 'golden', 'c_api', 'optimizer', 'runtime'],
  gradient: ['gradient', 'gradient_run', 'c_api', 'runtime', 'ops', 'golden'],
  graph: ['graph', 'gradient', 'function', 'optimizer', 'c_api', 'ops', 'golden', 'runtime'],
  op: ['op', 'function', 'gradient', 'c_api', 'graph', 'ops', 'golden', 'optimizer', 'runtime'],
};
const ROOMS = Object.keys(PROGRAMS);
/** Leaves out slow tests, and tests of timing, which may fail on a busy machine whatever the mutant. */
const LEFT_OUT = ['bounded_growth_test', 'session_limits_test'].flatMap((part) => ['--except', part]);
const ALL_PROGRAMS = [...new Set(Object.values(PROGRAMS).flat())].map((name) => `test_${name}`);

const BUILDS = {
  plain: {
    folder: path.join(root, 'build/mutants'),
    settings: ['-DCMAKE_BUILD_TYPE=None', '-DCMAKE_C_FLAGS=-O1'],
  },
  sanitized: {
    folder: path.join(COPY, 'build/debug'),
    settings: ['-DCMAKE_BUILD_TYPE=Debug', '-DTFCORE_SANITIZE=ON'],
  },
};

/**
 * Seconds of processor time after which a test counts as endless. A test that waits forever uses none: it
 * gets WAITING times as long.
 */
const limitOf = (usual) => Math.ceil(3 * usual + 5);
const WAITING = 10;
/** Limits a mutant's memory. AddressSanitizer's own memory is far larger. */
const MEMORY_KB = 12 << 20;

function parseArguments(args) {
  const options = { count: 200, seed: '1', rooms: [], files: [], only: undefined, sanitize: false };
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--count') options.count = Number(args[++i]);
    else if (args[i] === '--seed') options.seed = args[++i];
    else if (args[i] === '--room') options.rooms.push(args[++i]);
    else if (args[i] === '--file') options.files.push(args[++i]);
    else if (args[i] === '--only') options.only = Number(args[++i]);
    else if (args[i] === '--sanitize') options.sanitize = true;
    else
      throw new SetupError(
        `what is '${args[i]}'? There are --count N, --seed S, --room NAME, --file NAME, --only K, --sanitize`,
      );
  }
  const unknown = options.rooms.find((room) => !ROOMS.includes(room));
  if (unknown) throw new SetupError(`there is no room '${unknown}'; there are ${ROOMS.join(', ')}`);
  if (!(options.count > 0)) throw new SetupError('--count wants a positive number');
  if (options.rooms.length === 0) options.rooms = ROOMS;
  return options;
}

const digestOf = (...texts) => createHash('sha256').update(texts.join('\0')).digest('hex');

/**
 * Updates build/mutants-src to the files in git; returns digests of all files and of those that tests read.
 * Unchanged files keep their times.
 */
function copySources() {
  const names = outputOf('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 1 << 26,
  });
  if (names === undefined) throw new SetupError('git ls-files failed');
  const files = names.split('\0').filter((name) => name !== '' && existsSync(path.join(root, name)));
  const [all, data] = [createHash('sha256'), createHash('sha256')];
  for (const name of files) {
    const [from, to] = [path.join(root, name), path.join(COPY, name)];
    const content = readFileSync(from);
    if (/^(src|include|proto|cmake|examples|tests\/(c|data|fuzz))\/|^CMakeLists/.test(name))
      all.update(`${name}\0`).update(content);
    if (/^(tests\/(data|fuzz)|examples)\//.test(name)) data.update(`${name}\0`).update(content);
    if (existsSync(to) && readFileSync(to).equals(content)) continue;
    mkdirSync(path.dirname(to), { recursive: true });
    copyFileSync(from, to);
  }
  const known = new Set(files);
  for (const entry of readdirSync(COPY, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  )) {
    const name = path.relative(COPY, path.join(entry.parentPath, entry.name));
    if (!known.has(name) && !name.startsWith('build/')) rmSync(path.join(COPY, name));
  }
  return { all: all.digest('hex'), data: data.digest('hex') };
}

/**
 * All mutants of the requested files, in the order of the seed: the order within a room does not depend on
 * changes elsewhere.
 */
function mutantsOf(room, { seed, files }) {
  const folder = path.join(root, 'src', room);
  const names = readdirSync(folder, { recursive: true })
    .filter((name) => /\.(c|inc)$/.test(name))
    .map((name) => `src/${room}/${name}`)
    .filter((name) => files.length === 0 || files.includes(name));
  return names
    .flatMap((file) => {
      const source = readFileSync(path.join(root, file), 'utf8');
      const seen = new Map();
      return sitesOf(source).map((site) => {
        const place = [file, site.function, site.kind, oneLineOf(source, site)].join('\0');
        const occurrence = (seen.get(place) ?? 0) + 1;
        seen.set(place, occurrence);
        const order = digestOf(seed, place, occurrence);
        const text = site.texts[parseInt(order.slice(0, 8), 16) % site.texts.length];
        return { room, file, function: site.function, kind: site.kind, site, text, order, original: source };
      });
    })
    .sort((a, b) => (a.order < b.order ? -1 : 1));
}

const oneLineOf = (source, site) => mutate(source, site, '').before;

/** The number of mutants of each room out of `count`, in proportion to its sites. */
function sharesOf(count, sizes) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let before = 0;
  return sizes.map((size) => {
    const share = Math.round((count * (before + size)) / total) - Math.round((count * before) / total);
    before += size;
    return share;
  });
}

/** Configures a build of the copy, builds all programs, and saves them. */
async function prepare({ folder, settings }) {
  if (!existsSync(path.join(folder, 'build.ninja'))) {
    await must('cmake', ['-S', COPY, '-B', folder, '-G', 'Ninja', ...settings], { env: { CC: 'gcc' } });
  }
  await must('ninja', ['-C', folder, ...ALL_PROGRAMS]);
  mkdirSync(path.join(folder, 'original'), { recursive: true });
  for (const program of ALL_PROGRAMS)
    copyFileSync(path.join(folder, program), path.join(folder, 'original', program));
}

/**
 * Runs a test program until it ends or one of its tests fails: { outcome, stop }. The outcome is undefined if
 * all tests passed, else a description; `stop` ends the program.
 */
function firstFailure(folder, { program, args }, seconds, limited) {
  const command = `ulimit -S -t ${seconds}; ${limited ? `ulimit -v ${MEMORY_KB};` : ''} exec "$@"`;
  const child = spawn('sh', ['-c', command, 'sh', path.join(folder, program), ...args, ...LEFT_OUT], {
    cwd: COPY,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let failure;
  const end = (what) => {
    failure ??= what;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(() => end('does not end'), WAITING * 1000 * seconds);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output = (output + chunk).slice(-100000);
      const failed = /^FAILED (.*)\n {2}/m.exec(output);
      if (failed) end(failed[1]);
    });
  }
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (signal === 'SIGXCPU') failure ??= 'does not end';
      const sanitizer = /(runtime error: .*|ERROR: (?:Address|Leak)Sanitizer: \S+)/.exec(output);
      resolve(
        failure ??
          (code === 0
            ? undefined
            : sanitizer
              ? sanitizer[1].slice(0, 80)
              : signal
                ? `crash, ${signal}`
                : `exit code ${code}`),
      );
    });
  });
  return { outcome: ended, stop: () => end('stopped') };
}

/** The processor time of a step in seconds; the step must pass. */
async function secondsOf(folder, { program, args }) {
  /* The last line of `times` is the time of the shell's children. */
  const command = '"$@"; code=$?; times; exit $code';
  const { code, output } = await run(
    'sh',
    ['-c', command, 'sh', path.join(folder, program), ...args, ...LEFT_OUT],
    { cwd: COPY },
  );
  if (code !== 0) throw new SetupError(`${output}\n${program} fails without a mutant`);
  return output
    .trimEnd()
    .split('\n')
    .at(-1)
    .split(' ')
    .reduce((sum, time) => {
      const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(time);
      return sum + 60 * Number(minutes) + Number(seconds);
    }, 0);
}

/** Returns the usual seconds of a step. Measured again when the build changed. */
function usualSecondsOf(build, data) {
  const file = path.join(build.folder, 'usual-seconds.json');
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const originals = path.join(build.folder, 'original');
  const digests = new Map(
    ALL_PROGRAMS.map((program) => [
      program,
      digestOf(data, digestOf(readFileSync(path.join(originals, program)))),
    ]),
  );
  return async (step) => {
    const name = [step.program, ...step.args].join(' ');
    const digest = digests.get(step.program);
    if (known[name]?.digest !== digest) {
      known[name] = { digest, seconds: await secondsOf(originals, step) };
      writeFileSync(file, JSON.stringify(known, null, 1));
    }
    return known[name].seconds;
  };
}

/** The order of the steps: first the tests of files named like the mutant's, if any; then whole programs. */
function stepsOf({ room, file }) {
  const tests = readdirSync(path.join(COPY, 'tests/c', room), { recursive: true })
    .filter((name) => name.endsWith('_test.c'))
    .map((name) => path.basename(name));
  const words = path
    .basename(file)
    .replace(/\.\w+$/, '')
    .split('_');
  const named = words
    .map((_, i) => words.slice(0, words.length - i).join('_'))
    .find((name) => tests.some((test) => test.startsWith(name)));
  const first = named ? [[room, `/${named}`]] : [];
  return [
    ...first.map(([program, part]) => ({ program: `test_${program}`, args: ['--file', part] })),
    ...PROGRAMS[room].map((name) => ({ program: `test_${name}`, args: [] })),
  ];
}

/**
 * Tests of timing can fail on a busy machine: runs the failed test again, alone or with the tests before it.
 */
async function failsAgain(build, step, seconds, failure) {
  if (!/^\w+$/.test(failure)) return true;
  const again = (args) =>
    firstFailure(build.folder, { ...step, args }, limitOf(seconds), build === BUILDS.plain).outcome;
  return (await again(['--filter', failure])) !== undefined || (await again(step.args)) === failure;
}

/** Runs steps concurrently, as many as there are processors; returns the first failure. */
async function firstFailureOf(build, seconds, steps) {
  const waiting = [...steps];
  const running = new Set();
  let found;
  async function work() {
    for (let step = waiting.shift(); step && !found; step = waiting.shift()) {
      const test = firstFailure(build.folder, step, limitOf(seconds.get(step)), build === BUILDS.plain);
      running.add(test);
      const failure = await test.outcome;
      running.delete(test);
      if (failure === undefined || found || !(await failsAgain(build, step, seconds.get(step), failure)))
        continue;
      found = `${step.program}: ${failure}`;
      running.forEach((other) => other.stop());
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return found;
}

/** Tries one mutant: { killed: the test that noticed it }, { survived: true } or { invalid: true }. */
async function tryMutant(build, usual, mutant) {
  const steps = stepsOf(mutant);
  const seconds = new Map();
  for (const step of steps) seconds.set(step, await usual(step));
  /* Most mutants are noticed by the first steps. The others are rare and slow, so they share the processors. */
  const alone = steps.findIndex(({ args }) => args.length === 0) + 1;
  const groups = [...steps.slice(0, alone).map((step) => [step]), steps.slice(alone)];
  const file = path.join(COPY, mutant.file);
  writeFileSync(file, mutant.change.source);
  try {
    for (const group of groups) {
      const { code, output } = await run('ninja', [
        '-C',
        build.folder,
        ...group.map(({ program }) => program),
      ]);
      if (code !== 0 && group === groups[0]) return { invalid: true };
      if (code !== 0) throw new SetupError(output);
      const failure = await firstFailureOf(build, seconds, group);
      if (failure !== undefined) return { killed: failure };
    }
    return { survived: true };
  } finally {
    writeFileSync(file, mutant.original);
  }
}

/** The results of earlier runs, by the key of their mutant. */
function openResults() {
  const known = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {};
  return {
    get: (key) => known[key],
    set(key, result) {
      known[key] = result;
      writeFileSync(RESULTS, JSON.stringify(known, null, 1));
    },
  };
}

/** A runner with a memory: returns the result for a mutant. */
function runnerOf({ all, data }, { sanitize }) {
  const results = openResults();
  const usual = new Map();
  async function tried(name, mutant) {
    const build = BUILDS[name];
    if (!usual.has(name)) {
      await prepare(build);
      usual.set(name, usualSecondsOf(build, data));
    }
    return tryMutant(build, usual.get(name), mutant);
  }
  return async (mutant, again) => {
    const key = digestOf(mutant.file, mutant.change.source);
    let result = again ? undefined : results.get(key);
    if (result?.survived && result.digest !== all) result = undefined;
    if (!result) results.set(key, (result = { ...(await tried('plain', mutant)), digest: all }));
    if (result.survived && sanitize && !result.sanitized) {
      const second = await tried('sanitized', mutant);
      results.set(
        key,
        (result = second.killed
          ? { killed: `${second.killed} (with sanitizers)`, digest: all }
          : { ...result, sanitized: true }),
      );
    }
    return result;
  };
}

function print(number, mutant, result) {
  const { line, before, after } = mutant.change;
  const what = result.killed ?? (mutant.equivalent ? 'equivalent' : 'SURVIVED');
  say(`${String(number).padStart(4)} ${mutant.file}:${line} ${mutant.function}, ${mutant.kind}: ${what}`);
  say(`       - ${before}\n       + ${after}`);
}

/** Tries the mutants of one room until `share` of them compiled; returns those. */
async function tryRoom(room, mutants, share, firstNumber, equivalents, runner, only) {
  const tried = [];
  for (const mutant of mutants) {
    if (tried.length === share) break;
    const number = firstNumber + tried.length;
    mutant.change = mutate(mutant.original, mutant.site, mutant.text);
    mutant.equivalent = equivalents.has(mutant);
    const result =
      mutant.equivalent && only !== number ? { survived: true } : await runner(mutant, only === number);
    if (result.invalid) continue;
    tried.push({ mutant, result });
    if (only === undefined || only === number) print(number, mutant, result);
  }
  return tried;
}

function summarize(tried) {
  const survivors = tried.filter(({ result }) => !result.killed);
  const open = survivors.filter(({ mutant }) => !mutant.equivalent);
  const equivalent = survivors.length - open.length;
  for (const { mutant } of open) {
    say(
      `\n## ${mutant.file}, ${mutant.function}\n\n\`\`\`diff\n- ${mutant.change.before}\n+ ${mutant.change.after}\n\`\`\``,
    );
  }
  const percent = (part, whole) => (whole === 0 ? 100 : (100 * part) / whole);
  const killed = tried.length - survivors.length;
  const rate = percent(killed, tried.length - equivalent);
  say(
    `\n${tried.length} mutants: ${killed} killed (${percent(killed, tried.length).toFixed(1)} %), ${survivors.length} survived, ${equivalent} of them equivalent`,
  );
  say(`${rate.toFixed(1)} % of those that are not equivalent; the goal is ${GOAL} %`);
  if (rate < GOAL) process.exitCode = 1;
}

await runMain(async () => {
  const options = parseArguments(process.argv.slice(2));
  await setUp({ tests: true });
  Object.values(BUILDS).forEach(({ folder }) => mkdirSync(folder, { recursive: true }));
  mkdirSync(COPY, { recursive: true });
  const runner = runnerOf(copySources(), options);
  const equivalents = equivalentsOf(existsSync(EQUIVALENTS) ? readFileSync(EQUIVALENTS, 'utf8') : '');
  const rooms = options.rooms.map((room) => mutantsOf(room, options));
  const shares = sharesOf(
    options.count,
    rooms.map((mutants) => mutants.length),
  );
  const tried = [];
  for (const [i, mutants] of rooms.entries()) {
    tried.push(
      ...(await tryRoom(
        options.rooms[i],
        mutants,
        shares[i],
        tried.length + 1,
        equivalents,
        runner,
        options.only,
      )),
    );
  }
  if (options.only === undefined) summarize(tried);
});
