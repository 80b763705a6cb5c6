import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { must } from '../../tools/process.mjs';
import { setUp } from '../../tools/setup.mjs';
import { withData, withoutData } from '../../tools/part-data.mjs';
import {
  dataSegments,
  exportedFunctions,
  readFunctions,
  readObject,
  renameShared,
  replaceData,
  replaceNames,
} from '../../tools/wasm-object.mjs';

const SOURCE = `
extern int other(int x);
static int twice(int x) { return 2 * x; }
int called(int x) { return other(x) + 1; }
typedef struct Entry { int type; int (*function)(int); const char *text; } Entry;
const Entry kTable[] = {{1, called, "one"}, {19, twice, "half"}};
const Entry *chosen(int i) { return &kTable[i]; }
`;

/** A module with a function, an exported memory 'm', and data. */
const moduleOf = (...data) =>
  replaceData(
    Buffer.from([
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...[1, 4, 1, 0x60, 0, 0],
      ...[3, 2, 1, 0],
      ...[5, 3, 1, 0, 1],
      ...[7, 5, 1, 1, 0x6d, 2, 0],
      ...[10, 4, 1, 2, 0, 0x0b],
    ]),
    data,
  );
const textAt = (module, address, length) => {
  const { m } = new WebAssembly.Instance(new WebAssembly.Module(module)).exports;
  return Buffer.from(m.buffer, address, length).toString('latin1');
};

describe('the reader of WebAssembly objects', () => {
  it('finds what functions and data refer to, and where', async function () {
    this.timeout(60_000);
    const tools = await setUp();
    const folder = mkdtempSync(path.join(tmpdir(), 'objects-'));
    try {
      const [source, object] = [path.join(folder, 'table.c'), path.join(folder, 'table.o')];
      writeFileSync(source, SOURCE);
      const emcc = path.join(path.dirname(tools.emcmake), 'emcc');
      await must(emcc, ['-O1', '-c', source, '-o', object], { env: tools.env });
      const bytes = readFileSync(object);
      const { symbols, references } = readObject(bytes);
      const from = (name) =>
        references
          .filter((reference) => reference.from.name === name)
          .map(({ to, offset }) => [to.name.startsWith('.L') ? 'a string' : to.name, offset])
          .sort(([, a], [, b]) => a - b);
      assert.deepEqual(from('kTable'), [
        ['called', 4],
        ['a string', 8],
        ['twice', 16],
        ['a string', 20],
      ]);
      assert.deepEqual(
        from('called').map(([name]) => name),
        ['other'],
      );
      assert.deepEqual(
        from('chosen').map(([name]) => name),
        ['kTable'],
      );
      const find = (name) => symbols.find((symbol) => symbol.name === name);
      const table = find('kTable');
      assert.equal(table.end - table.start, 24);
      assert.equal(bytes.readInt32LE(table.start + 12), 19);
      assert.deepEqual(
        ['twice', 'called', 'other'].map((name) => [find(name).isLocal, find(name).isDefined]),
        [
          [true, true],
          [false, true],
          [false, false],
        ],
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('replaces data, at any address', () => {
    for (const address of [0, 11, 63, 64, 127, 128, 8191, 8192, 65_530]) {
      const module = moduleOf({ address, bytes: Buffer.from('abc') });
      assert.equal(textAt(module, address, 3), 'abc');
      const [{ start, end, ...segment }] = dataSegments(module);
      assert.deepEqual(segment, { address });
      assert.equal(module.toString('latin1', start, end), 'abc');
    }
  });

  it('replaces the names of functions', () => {
    const module = moduleOf();
    assert.deepEqual(readFunctions(module), [{ name: undefined, code: Buffer.from([0, 0x0b]) }]);
    const named = replaceNames(replaceNames(module, ['first']), ['sécond']);
    assert.ok(WebAssembly.validate(named));
    assert.deepEqual(
      readFunctions(named).map(({ name }) => name),
      ['sécond'],
    );
    assert.equal(WebAssembly.Module.customSections(new WebAssembly.Module(named), 'name').length, 1);
  });
});

describe('names that modules share', () => {
  /* Imports a memory and the functions f and g, and exports them, and h, which returns f() - g(). */
  const text = (name) => [name.length, ...Buffer.from(name)];
  const section = (id, ...content) => [id, content.length, ...content];
  const module = Buffer.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 1, 0x60, 0, 1, 0x7f),
    ...section(
      2,
      ...[4, ...text('main'), ...text('memory'), 2, 1, 1, 2],
      ...[...text('main'), ...text('f'), 0, 0, ...text('other'), ...text('f'), 0, 0],
      ...[...text('main'), ...text('g'), 0, 0],
    ),
    ...section(3, 1, 0),
    ...section(7, 3, ...text('h'), 0, 3, ...text('f'), 0, 0, ...text('memory'), 2, 0),
    ...section(10, 1, 7, 0, 0x10, 0, 0x10, 2, 0x6b, 0x0b),
  ]);

  it('are replaced where functions are imported and exported', () => {
    assert.deepEqual(exportedFunctions(module), ['h', 'f']);
    const names = new Map([
      ['f', 'a longer name'],
      ['h', ''],
      ['memory', 'of no function'],
    ]);
    const renamed = new WebAssembly.Module(renameShared(module, names));
    const listed = (list) =>
      list.map(({ module, name, kind }) => [module, name, kind].filter(Boolean).join());
    assert.deepEqual(listed(WebAssembly.Module.imports(renamed)), [
      'main,memory,memory',
      'main,a longer name,function',
      'other,a longer name,function',
      'main,g,function',
    ]);
    assert.deepEqual(
      WebAssembly.Module.exports(renamed).map(({ name, kind }) => [name, kind]),
      [
        ['', 'function'],
        ['a longer name', 'function'],
        ['memory', 'memory'],
      ],
    );
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
    const main = { memory, 'a longer name': () => 5, g: () => 3 };
    const { exports } = new WebAssembly.Instance(renamed, { main, other: main });
    assert.equal(exports[''](), 2);
  });

  it('stay where nothing is renamed', () => {
    assert.deepEqual(renameShared(module, new Map()), module);
  });
});

describe('data of a part of the engine', () => {
  it('is moved to its address in the other module', () => {
    const main = moduleOf(
      { address: 1000, bytes: Buffer.from('stays, moves') },
      { address: 2000, bytes: Buffer.from('all moves') },
    );
    const rangeOf = (start, text) => ({ start, end: start + text.length, bytes: Buffer.from(text) });
    const ranges = [rangeOf(1007, 'mov'), rangeOf(1010, 'es'), rangeOf(2000, 'all moves')];
    const moved = { main: withoutData(main, ranges), side: withData(moduleOf(), ranges) };
    assert.equal(textAt(moved.main, 1000, 12), 'stays, \0\0\0\0\0');
    assert.equal(textAt(moved.main, 2000, 9), '\0'.repeat(9));
    assert.equal(textAt(moved.side, 1000, 12), '\0'.repeat(7) + 'moves');
    assert.equal(textAt(moved.side, 2000, 9), 'all moves');
    assert.equal(dataSegments(moved.side).length, 2);
  });
});
