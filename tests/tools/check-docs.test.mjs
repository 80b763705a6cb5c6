import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkDocs, filesOf } from '../../tools/check-docs.mjs';
import { root } from '../../tools/process.mjs';

describe('the check of what texts name', () => {
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'docs-'));
    write(
      'README.md',
      '# One\n\n## `init`, and more\n\n[a](src/op/op.h) [b](#init-and-more) [c](docs/two.md#two) [d](https://example.org/x#y) [e](src/)\n',
    );
    write(
      'docs/two.md',
      '# Two\n\n```sh\n# no heading\n```\n\n[up](../README.md#one); `src/op/op.h`, `op/op.h`, `<family>_test.c`\n',
    );
    write('src/op/op.h', '/* See op/op.c. */\n#include <stdio.h>\n');
    write('src/op/op.c', '#include "not_looked_at.h"\nint x; /* op.h, ../op/op.h */\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(file, text) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }

  it('accepts links and names of what is there', () => assert.deepEqual(checkDocs(folder), []));

  it('names a link to a file that is not there, and to a heading that is not', () => {
    write('docs/two.md', '[a](one.md) [b](../README.md#two) [c](#no-heading)\n\n```sh\n# no heading\n```\n');
    assert.deepEqual(checkDocs(folder), [
      'README.md: the link docs/two.md#two names no heading',
      'docs/two.md: the link one.md leads nowhere',
      'docs/two.md: the link ../README.md#two names no heading',
      'docs/two.md: the link #no-heading names no heading',
    ]);
  });

  it('names a source that a comment speaks of and that is not there', () => {
    write('src/op/op.c', '/* As graph/op.c\n * and op.ts do. */\n// tests/gone.mjs\n');
    assert.deepEqual(checkDocs(folder), [
      'src/op/op.c: there is no graph/op.c',
      'src/op/op.c: there is no op.ts',
      'src/op/op.c: there is no tests/gone.mjs',
    ]);
  });

  it('finds nothing wrong in this repository', () => assert.deepEqual(checkDocs(), []));

  it("finds every test and every npm script that this repository's texts name", () => {
    const read = (name) => readFileSync(path.join(root, name), 'utf8');
    const files = filesOf(root);
    const tests = files
      .filter((name) => /^tests\/c\/.*\.c$/.test(name))
      .map(read)
      .join('\n');
    const { scripts } = JSON.parse(read('package.json'));
    const texts = files
      .filter((name) => name.endsWith('.md'))
      .map(read)
      .join('\n');
    const named = (pattern) => Array.from(texts.matchAll(pattern), ([, name]) => name);
    for (const name of named(/test_\w+ --filter (\w+)/g))
      assert.ok(new RegExp(`TEST\\(\\w*${name}`).test(tests), `no test is named ${name}`);
    for (const name of named(/\bnpm run (\w+)/g)) assert.ok(name in scripts, `there is no npm run ${name}`);
    assert.ok(named(/test_\w+ --filter (\w+)/g).length >= 8);
  });
});
