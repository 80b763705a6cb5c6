// The package's types in strict projects: without Node's types, with all declaration files checked, with
// TypeScript 5 and 7.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../../tools/process.mjs';
import { programOf } from './readme-blocks.mjs';

const COMPILERS = {
  'TypeScript 7': 'node_modules/typescript/bin/tsc',
  'TypeScript 5': 'node_modules/typescript5/bin/tsc',
};

/** One module with all blocks. Each block is nested in the scope of the previous one. */
function moduleOf(blocks) {
  const isImport = (line) => line.startsWith('import ');
  const lines = blocks.map((block) => block.split('\n'));
  const bodies = lines.map((block) => `{\n${block.filter((line) => !isImport(line)).join('\n')}`);
  return [
    ...new Set(lines.flat().filter(isImport)),
    'declare function assert(condition: boolean): void;',
    ...bodies,
    '}'.repeat(bodies.length),
  ].join('\n');
}

describe('the types of the package', function () {
  this.timeout(300_000);
  let folder;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'types-'));
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(root, 'npm'), path.join(folder, 'node_modules/tfcore-wasm'));
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
    for (const name of ['right.ts', 'wrong.ts'])
      copyFileSync(path.join(root, 'tests/package/types', name), path.join(folder, name));
    for (const name of ['README.md', 'npm/README.md'])
      writeFileSync(path.join(folder, `${name.replaceAll('/', '-')}.ts`), moduleOf(programOf(name)));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Compiles the file and returns the compiler's errors. */
  function complaints(compiler, files, options = {}) {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2022',
      module: 'nodenext',
      types: [],
      skipLibCheck: false,
      ...options,
    };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    try {
      execFileSync('node', [path.join(root, COMPILERS[compiler]), '-p', folder], {
        cwd: folder,
        encoding: 'utf8',
        stdio: 'pipe',
      });
      return '';
    } catch (error) {
      return error.stdout || error.message;
    }
  }

  for (const compiler of Object.keys(COMPILERS)) {
    describe(compiler, () => {
      it('compiles the code of both READMEs', () =>
        assert.equal(complaints(compiler, ['README.md.ts', 'npm-README.md.ts']), ''));

      it('compiles what is right', () => assert.equal(complaints(compiler, ['right.ts']), ''));

      it('refuses what is wrong, each of it', () => assert.equal(complaints(compiler, ['wrong.ts']), ''));

      it('reads the declarations as a bundler does, without libraries newer than 2020, and with the strictest options', () => {
        const strictest = {
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          noPropertyAccessFromIndexSignature: true,
          verbatimModuleSyntax: true,
          isolatedModules: true,
        };
        assert.equal(
          complaints(compiler, ['wrong.ts'], {
            module: 'esnext',
            moduleResolution: 'bundler',
            lib: ['es2020', 'dom'],
            ...strictest,
          }),
          '',
        );
      });
    });
  }
});
