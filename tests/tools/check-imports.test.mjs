import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkImports } from '../../tools/check-imports.mjs';
import { root } from '../../tools/process.mjs';

describe('the check of imports', () => {
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'imports-'));
    write('base/errors.ts', 'export class E {}\n');
    write(
      'graph/operation.ts',
      "import { E } from '../base/errors.js';\nimport type { Graph } from './graph.js';\nexport type O = [E, Graph];\n",
    );
    write(
      'graph/graph.ts',
      "import {\n  O,\n} from './operation.js';\nimport { ops } from '../generated/graph-ops.js';\nexport type Graph = O;\n",
    );
    write('index.ts', "export * from './graph/graph.js';\nimport fs from 'node:fs';\n");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(file, text) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }

  it('accepts imports along the arrows, and types of handles that name the graph they belong to', () =>
    assert.deepEqual(checkImports(folder), []));

  it('names an import against the arrows, over several lines too', () => {
    write('base/text.ts', "\nimport {\n  O,\n} from '../graph/operation.js';\n");
    write('session/session.ts', "export { a } from '../ops/op.js';\n");
    write('ops/op.ts', '');
    assert.deepEqual(checkImports(folder), [
      'base/text.ts:2: base/ may not import from graph/ (graph/operation.ts)',
      'session/session.ts:1: session/ may not import from ops/ (ops/op.ts)',
    ]);
  });

  it('finds a circle, of types too, and through generated files', () => {
    write('graph/a.ts', "import type { B } from './b.js';\n");
    write('graph/b.ts', "import { c } from '../generated/c.js';\n");
    write('generated/c.ts', "import { a } from '../graph/a.js';\n");
    assert.deepEqual(checkImports(folder), [
      'a circle: generated/c.ts -> graph/a.ts -> graph/b.ts -> generated/c.ts',
    ]);
  });

  it('finds a circle through the graph where more than its type is imported', () => {
    write('graph/operation.ts', "import { Graph } from './graph.js';\n");
    assert.deepEqual(checkImports(folder), [
      'a circle: graph/graph.ts -> graph/operation.ts -> graph/graph.ts',
    ]);
  });

  it('refuses files that are not there, and rooms that are unknown', () => {
    write('base/text.ts', "import { a } from './gone.js';\n");
    write('attic/old.ts', '');
    assert.deepEqual(checkImports(folder), [
      'attic/old.ts: no arrow is known for this room',
      'base/text.ts:1: base/gone.ts does not exist',
    ]);
  });

  it('finds nothing wrong in this repository', () =>
    assert.deepEqual(checkImports(path.join(root, 'bindings/js')), []));
});
