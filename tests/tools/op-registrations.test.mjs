import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../tools/process.mjs';

describe('the registrations of ops', () => {
  it('have the name of their constant', () => {
    const names = [];
    for (const file of readdirSync(path.join(root, 'src/ops'), { recursive: true }).filter((name) =>
      name.endsWith('.c'),
    )) {
      const source = readFileSync(path.join(root, 'src/ops', file), 'utf8');
      const found = [...source.matchAll(/^const OpRegistration kOp(\w+) = \{\n {4}\.name = "(\w+)",$/gm)];
      for (const [, constant, name] of found) assert.equal(name, constant, file);
      assert.equal(found.length, [...source.matchAll(/^const OpRegistration k.* = \{/gm)].length, file);
      names.push(...found);
    }
    assert.ok(names.length > 400, `${names.length} registrations found`);
  });
});
