import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkDocs } from '../../tools/check-docs.mjs';

describe('the check of what texts name', () => {
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'docs-'));
    write('README.md', '# One\n\n## `init`, and more\n\n[a](src/op/op.h) [b](#init-and-more) [c](docs/two.md#two) [d](https://example.org/x#y) [e](src/)\n');
    write('docs/two.md', '# Two\n\n```sh\n# no heading\n```\n\n[up](../README.md#one); `src/op/op.h`, `op/op.h`, `<family>_test.c`\n');
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
    assert.deepEqual(checkDocs(folder), ['src/op/op.c: there is no graph/op.c', 'src/op/op.c: there is no op.ts', 'src/op/op.c: there is no tests/gone.mjs']);
  });

  it('finds nothing wrong in this repository', () => assert.deepEqual(checkDocs(), []));
});
