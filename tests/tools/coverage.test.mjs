import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { coverageOf, total } from '../../tools/coverage-data.mjs';

const SOURCE = `#include "try.h"
bool call(int x) {
  if (x > 2) return true;
  TRY(x > 0);
  if (sizeof(T) == 4) return false;
  return x;
}
`;
const HEADER = `#define TRY(call)              \\
  do {                         \\
    if (!(call)) return false; \\
  } while (0)
`;
const CODE = 0;
const EXPANSION = 1;
const BRANCH = 4;

describe('the counts of coverage', () => {
  let folder;
  let source;
  let header;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'coverage-'));
    [source, header] = ['call.c', 'try.h'].map((name) => path.join(folder, name));
    writeFileSync(source, SOURCE);
    writeFileSync(header, HEADER);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A copy of the function, in the form of `llvm-cov export`; counts of both sides of its conditions. */
  const copy = (first, tried) => ({
    name: 'call',
    filenames: [source, header],
    regions: [
      [2, 18, 7, 2, first[0] + first[1], 0, 0, CODE],
      [4, 3, 4, 6, first[1], 0, 1, EXPANSION],
      [2, 3, 4, 14, first[1], 1, 0, CODE],
    ],
    branches: [
      [3, 7, 3, 12, ...first, 0, 0, BRANCH],
      [3, 9, 3, 16, ...tried, 1, 0, BRANCH],
      [4, 12, 4, 13, 0, 0, 1, 0, BRANCH],
      [5, 7, 5, 21, 0, 0, 0, 0, BRANCH],
    ],
  });
  const segments = [
    [2, 18, 5, true, true, false],
    [3, 14, 0, true, true, false],
    [3, 26, 5, true, false, false],
    [5, 23, 0, true, true, false],
    [5, 36, 5, true, false, false],
    [7, 2, 0, false, false, false],
  ];
  const counted = (...copies) =>
    coverageOf({ data: [{ files: [{ filename: source, segments }], functions: copies }] }, folder)[0];

  it('takes a branch for covered when any copy of the function takes it', () => {
    const { branches, missed } = counted(copy([3, 0], [0, 0]), copy([0, 2], [0, 2]));
    assert.deepEqual(branches, { count: 4, covered: 3 });
    assert.deepEqual(missed, [{ line: 4, side: true, macro: 'TRY' }]);
  });

  it("counts a macro where it is used, and leaves TRY out of what is the file's own", () => {
    const { name, branches, ownBranches } = counted(copy([0, 2], [0, 2]));
    assert.equal(name, 'call.c');
    assert.deepEqual(branches, { count: 4, covered: 2 });
    assert.deepEqual(ownBranches, { count: 2, covered: 1 });
  });

  it('counts conditions of code that never ran', () => {
    assert.deepEqual(counted(copy([0, 0], [0, 0])).branches, { count: 6, covered: 0 });
  });

  it('counts lines, of which one that ran in part has run', () => {
    assert.deepEqual(counted(copy([1, 1], [1, 1])).lines, { count: 6, covered: 6 });
  });

  it('adds files up', () => {
    const file = counted(copy([0, 2], [0, 2]));
    assert.deepEqual(total('all', [file, file]).branches, { count: 8, covered: 4 });
  });
});
