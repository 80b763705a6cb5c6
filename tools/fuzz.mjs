// Fuzzing: `npm run fuzz -- [--seconds N] [target ...]` builds the targets of tests/fuzz/ with clang's
// libFuzzer and sanitizers, runs each for N seconds (60) in one process, and prints the findings. The exit
// code is 1 if there are any. New inputs are collected in build/fuzz-corpus/; `--minimize` selects those that
// reach more code, together with the kept ones, for tests/fuzz/corpus/.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { cmakeBuild } from './build.mjs';
import { root, run, runMain, say, SetupError } from './process.mjs';
import { setUp } from './setup.mjs';

const SOURCES = path.join(root, 'tests/fuzz');
/** A wall clock limit for inputs that do not end; fuzz.c has the limit for slow ones. */
const TIMEOUT_SECONDS = 60;
const RSS_LIMIT_MB = 1024;
const MAX_LENGTH = 4096;
/** For one target in one run, because one defect causes many findings. */
const MAX_FINDINGS = 5;
/** The maximum size of a kept file. */
const MAX_KEPT_BYTES = 2048;
const MAX_KEPT_FILES = 50;

const settings = { CMAKE_BUILD_TYPE: 'Debug', TFCORE_SANITIZE: 'ON', TFCORE_FUZZ: 'ON', TFCORE_TESTS: 'OFF' };

function targetNames() {
  return readdirSync(SOURCES)
    .map((name) => /^(\w+)_fuzz\.c$/.exec(name)?.[1])
    .filter(Boolean)
    .sort();
}

function parseArguments(args) {
  const options = { seconds: 60, minimize: false, targets: [] };
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--seconds') options.seconds = Number(args[++i]);
    else if (args[i] === '--minimize') options.minimize = true;
    else options.targets.push(args[i]);
  }
  const known = targetNames();
  const unknown = options.targets.find((name) => !known.includes(name));
  if (unknown) throw new SetupError(`there is no target '${unknown}'; there are ${known.join(', ')}`);
  if (!(options.seconds > 0)) throw new SetupError('--seconds wants a positive number');
  if (options.targets.length === 0) options.targets = known;
  return options;
}

/** The folders of a target: kept inputs, collected inputs, findings. */
function foldersOf(target) {
  const folders = {
    corpus: path.join(SOURCES, 'corpus', target),
    findings: path.join(SOURCES, 'findings', target),
    work: path.join(root, 'build/fuzz-corpus', target),
    found: path.join(root, 'build/fuzz-findings', target),
  };
  [folders.work, folders.found].forEach((folder) => mkdirSync(folder, { recursive: true }));
  return folders;
}

const limits = [
  `-timeout=${TIMEOUT_SECONDS}`,
  `-rss_limit_mb=${RSS_LIMIT_MB}`,
  '-malloc_limit_mb=256',
  `-max_len=${MAX_LENGTH}`,
  '-print_final_stats=1',
  '-use_value_profile=1',
  '-len_control=20',
];

/** The last number in the output that a pattern matches. */
function lastNumber(output, pattern) {
  return Number([...output.matchAll(pattern)].at(-1)?.[1] ?? 0);
}

/** The subject of a report: the sanitizer's or libFuzzer's summary, and the first frames of this project. */
function describe(output) {
  const lines = output.split('\n');
  const what =
    lines.find((line) => /runtime error:|ERROR: (Address|Leak|lib)|\.c:\d+: |ALARM/.test(line)) ??
    lines.at(-2) ??
    '';
  const frames = lines
    .map((line) => / in (\w+) .*?((?:src|tests)\/\S+:\d+)/.exec(line))
    .filter(Boolean)
    .map((match) => `${match[1]} (${match[2]})`)
    .filter((frame) => !/^(fuzz_fail|fuzz_run|LLVM)/.test(frame));
  return [what.trim(), ...frames.slice(0, 6)].join('\n      ');
}

/** One run of at most `seconds`; returns its numbers and findings. */
async function runOnce(program, target, folders, seconds) {
  const kept = [folders.corpus, folders.findings].filter(existsSync);
  const started = Date.now();
  const { code, output } = await run('nice', [
    '-n',
    '19',
    program,
    ...limits,
    `-max_total_time=${Math.ceil(seconds)}`,
    `-artifact_prefix=${folders.found}/`,
    folders.work,
    ...kept,
  ]);
  const artifact = /Test unit written to (\S+)/.exec(output)?.[1];
  return {
    executions:
      lastNumber(output, /stat::number_of_executed_units:\s*(\d+)/g) || lastNumber(output, /^#(\d+)\s/gm),
    coverage: lastNumber(output, /cov: (\d+)/g),
    features: lastNumber(output, /ft: (\d+)/g),
    seconds: (Date.now() - started) / 1000,
    finding: code === 0 ? undefined : { artifact, text: describe(output), output },
  };
}

function report(target, finding) {
  say(`  FOUND by ${target}: ${finding.text}`);
  if (!finding.artifact) return say(finding.output.split('\n').slice(-40).join('\n'));
  writeFileSync(`${finding.artifact}.log`, finding.output);
  const file = path.relative(root, finding.artifact);
  say(`    again:  build/fuzz/fuzz_${target} ${file}      (what it printed: ${file}.log)`);
  say(
    `    when it is fixed:  mkdir -p tests/fuzz/findings/${target} && cp ${file} tests/fuzz/findings/${target}/`,
  );
}

async function fuzz(program, target, seconds) {
  const folders = foldersOf(target);
  const end = Date.now() + seconds * 1000;
  const total = { executions: 0, coverage: 0, features: 0, seconds: 0, findings: 0 };
  while (Date.now() < end && total.findings < MAX_FINDINGS) {
    const result = await runOnce(program, target, folders, (end - Date.now()) / 1000);
    total.executions += result.executions;
    total.seconds += result.seconds;
    total.coverage = Math.max(total.coverage, result.coverage);
    total.features = Math.max(total.features, result.features);
    if (!result.finding) break;
    total.findings++;
    report(target, result.finding);
  }
  const rate = Math.round(total.executions / Math.max(total.seconds, 1));
  say(
    `${target.padEnd(14)} ${total.seconds.toFixed(0).padStart(5)} s ${String(total.executions).padStart(10)} executions ${String(rate).padStart(6)}/s` +
      ` ${String(total.coverage).padStart(6)} edges ${String(total.features).padStart(7)} features ${String(total.findings).padStart(3)} findings`,
  );
  return total.findings;
}

/** Keeps the smallest inputs that together reach the same code, as far as they are small enough. */
async function minimize(program, target) {
  const folders = foldersOf(target);
  const merged = path.join(root, 'build/fuzz-merged', target);
  rmSync(merged, { recursive: true, force: true });
  mkdirSync(merged, { recursive: true });
  const small = path.join(root, 'build/fuzz-small', target);
  rmSync(small, { recursive: true, force: true });
  mkdirSync(small, { recursive: true });
  for (const folder of [folders.corpus, folders.work].filter(existsSync)) {
    for (const name of readdirSync(folder)) {
      if (statSync(path.join(folder, name)).size <= MAX_KEPT_BYTES)
        copyFileSync(path.join(folder, name), path.join(small, name));
    }
  }
  const { code, output } = await run(program, ['-merge=1', `-timeout=${TIMEOUT_SECONDS}`, merged, small]);
  if (code !== 0) throw new SetupError(output);
  rmSync(folders.corpus, { recursive: true, force: true });
  mkdirSync(folders.corpus, { recursive: true });
  /* -merge=1 takes the smallest first: the sample is spread over the sizes, so that large ones are kept too. */
  const names = readdirSync(merged).sort(
    (a, b) => statSync(path.join(merged, a)).size - statSync(path.join(merged, b)).size,
  );
  const step = Math.max(names.length / MAX_KEPT_FILES, 1);
  for (let i = 0; i < names.length && Math.round(i / step) < MAX_KEPT_FILES; i += step) {
    const from = path.join(merged, names[Math.floor(i)]);
    renameSync(
      from,
      path.join(folders.corpus, createHash('sha1').update(readFileSync(from)).digest('hex').slice(0, 12)),
    );
  }
  say(`${target.padEnd(14)} ${readdirSync(folders.corpus).length} of ${names.length} inputs are kept`);
}

await runMain(async () => {
  const { seconds, minimize: minimizes, targets } = parseArguments(process.argv.slice(2));
  await setUp({ tests: true, fuzz: true });
  const folder = await cmakeBuild(
    'fuzz',
    ['cmake'],
    settings,
    targets.map((name) => `fuzz_${name}`),
    { CC: 'clang' },
  );
  let findings = 0;
  for (const target of targets) {
    const program = path.join(folder, `fuzz_${target}`);
    if (minimizes) await minimize(program, target);
    else findings += await fuzz(program, target, seconds);
  }
  if (findings > 0) process.exitCode = 1;
});
