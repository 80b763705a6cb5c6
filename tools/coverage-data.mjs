// Converts the output of `llvm-cov export` to counts of lines and branches of source files.
//
// A branch is one side of a condition, at its place in the sources: an `if` has two, `a && b` has four. A
// function that is compiled several times (a template in a .inc file, an inline function of a header) has
// each branch once, and the branch is covered when any copy takes it. A condition inside a macro counts at
// every use of the macro, in the file that uses it: `TRY(call)` is two branches, and one of them is taken
// when `call` fails. A condition that is constant for the compiler (sizeof(T) == 4, the `while (0)` of a
// macro) is not a branch.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The kinds of regions: code, and text from elsewhere (of a macro, or of an included file). */
const CODE = 0;
const EXPANSION = 1;
/** Macros whose condition is the failure of a callee. */
const HANDING_ON = new Set(['TRY', 'TRY_DONE']);

const sources = new Map();
function linesOf(file) {
  if (!sources.has(file)) sources.set(file, readFileSync(file, 'utf8').split('\n'));
  return sources.get(file);
}

/** The text at a position within one line. */
const textAt = (file, [line, column, lastLine, lastColumn]) =>
  line === lastLine ? linesOf(file)[line - 1].slice(column - 1, lastColumn - 1) : '';
const isLiteral = (text) => /^\s*(0|1|true|false)\s*$/.test(text);

/**
 * The origin of each of a function's files: undefined for files, { parent, line, column, macro } for
 * expansions of macros.
 */
function expansionsOf({ filenames, regions }) {
  const sites = [];
  for (const [line, column, , , , file, expanded, kind] of regions) {
    if (kind !== EXPANSION) continue;
    const text = linesOf(filenames[file])[line - 1];
    if (!/^\s*#\s*include/.test(text))
      sites[expanded] = { parent: file, line, column, macro: /^\w*/.exec(text.slice(column - 1))[0] };
  }
  return sites;
}

/**
 * The position at which a branch counts: its file, its line there, a key, and the surrounding macros, the
 * innermost first.
 */
function placeOf({ filenames }, sites, branch) {
  let id = branch[6];
  let key = branch.slice(0, 4).join(':');
  let line = branch[0];
  const macros = [];
  while (sites[id] !== undefined) {
    const site = sites[id];
    macros.push(site.macro);
    key = `${site.line}:${site.column} ${key}`;
    ({ line, parent: id } = site);
  }
  return { file: filenames[id], key, line, macros };
}

/**
 * True if the smallest code region around a branch ran: a branch without counts was decided by the compiler.
 */
function ran({ regions }, branch) {
  let smallest;
  let size = Infinity;
  for (const [line, column, lastLine, lastColumn, count, id, , kind] of regions) {
    if (kind !== CODE || id !== branch[6]) continue;
    const begins = line < branch[0] || (line === branch[0] && column <= branch[1]);
    const ends = lastLine > branch[2] || (lastLine === branch[2] && lastColumn >= branch[3]);
    const itsSize = (lastLine - line) * 10000 + lastColumn - column;
    if (begins && ends && itsSize < size) [smallest, size] = [count, itsSize];
  }
  return smallest > 0;
}

/**
 * The branches of each file: Map of file -> Map of key -> { line, macros, taken: [when true, when false],
 * decided }.
 */
function branchesOf(functions, isWanted) {
  const files = new Map();
  for (const fn of functions) {
    if (!fn.filenames.some(isWanted)) continue;
    const sites = expansionsOf(fn);
    for (const branch of fn.branches) {
      if (isLiteral(textAt(fn.filenames[branch[6]], branch))) continue;
      const { file, key, line, macros } = placeOf(fn, sites, branch);
      if (!isWanted(file)) continue;
      if (!files.has(file)) files.set(file, new Map());
      const known = files.get(file).get(key) ?? { line, macros, taken: [0, 0], decided: false };
      known.taken = [known.taken[0] + branch[4], known.taken[1] + branch[5]];
      known.decided ||= branch[4] + branch[5] === 0 && ran(fn, branch);
      files.get(file).set(key, known);
    }
  }
  return files;
}

/** The lines with code, and those that ran, from the positions at which llvm-cov's count changes. */
function linesCovered(segments) {
  let count = 0;
  let covered = 0;
  let around; /* the segment at the beginning of the line */
  const byLine = groupByLine(segments);
  const last = segments.at(-1)?.[0] ?? 0;
  for (let line = segments[0]?.[0] ?? 1; line <= last; line++) {
    const here = byLine.get(line) ?? [];
    const entries = here.filter(([, , , hasCount, isEntry, isGap]) => hasCount && isEntry && !isGap);
    const aroundCounts = around !== undefined && around[3];
    const skipped = here[0] !== undefined && !here[0][3] && here[0][4];
    if (!skipped && (aroundCounts || entries.length > 0)) {
      count++;
      if ((aroundCounts && around[2] > 0) || entries.some(([, , times]) => times > 0)) covered++;
    }
    around = here.at(-1) ?? around;
  }
  return { count, covered };
}

function groupByLine(segments) {
  const groups = new Map();
  for (const segment of segments) groups.set(segment[0], [...(groups.get(segment[0]) ?? []), segment]);
  return groups;
}

function countSides(branches) {
  const sides = branches.flatMap(({ taken }) => taken);
  return { count: sides.length, covered: sides.filter((times) => times > 0).length };
}

/**
 * The files below `folder` in llvm-cov's export, sorted by name: { name, lines, branches, ownBranches, missed
 * }. Counts are { count, covered }; ownBranches are those outside of TRY and TRY_DONE; missed lists the sides
 * that no test took, { line, side, macro }.
 */
export function coverageOf(exported, folder) {
  const [{ files, functions }] = exported.data;
  const nameOf = (file) => path.relative(folder, path.resolve(file));
  const isWanted = (file) => !nameOf(file).startsWith('..');
  const branches = branchesOf(functions, isWanted);
  return files
    .filter(({ filename }) => isWanted(filename))
    .map(({ filename, segments }) => {
      const all = [...(branches.get(filename) ?? new Map()).values()].filter(
        ({ taken, decided }) => !decided || taken[0] + taken[1] > 0,
      );
      const missed = all.flatMap(({ line, macros, taken }) =>
        [true, false]
          .filter((side) => taken[side ? 0 : 1] === 0)
          .map((side) => ({ line, side, macro: macros.at(-1) })),
      );
      return {
        name: nameOf(filename),
        lines: linesCovered(segments),
        branches: countSides(all),
        ownBranches: countSides(all.filter(({ macros }) => !HANDING_ON.has(macros[0]))),
        missed: missed.sort((a, b) => a.line - b.line),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The sums over files, under a name. */
export function total(name, files) {
  const sum = (what) => ({
    count: files.reduce((n, file) => n + file[what].count, 0),
    covered: files.reduce((n, file) => n + file[what].covered, 0),
  });
  return { name, lines: sum('lines'), branches: sum('branches'), ownBranches: sum('ownBranches') };
}
