// The types of the engine's exports: they match the built wasm, and refuse wrong calls.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../../tools/process.mjs';

const WASM_TYPES = { 0x7f: 'i32', 0x7e: 'i64', 0x7d: 'f32', 0x7c: 'f64' };

/** Reads a wasm file: gives the sections' contents by number, behind their lengths. */
class Reader {
  constructor(bytes, at = 0) {
    Object.assign(this, { bytes, at });
  }
  byte() {
    return this.bytes[this.at++];
  }
  number() {
    let [value, factor, byte] = [0, 1, 0x80];
    for (; byte & 0x80; factor *= 128) value += ((byte = this.byte()) & 0x7f) * factor;
    return value;
  }
  list(read) {
    return Array.from({ length: this.number() }, () => read());
  }
  text() {
    const length = this.number();
    return new TextDecoder().decode(this.bytes.subarray(this.at, (this.at += length)));
  }
}

/** The signatures of a module's exported functions by name: { parameters, results }. */
function exportedSignatures(bytes) {
  const sections = new Map();
  for (const reader = new Reader(bytes, 8); reader.at < bytes.length; ) {
    const [id, length] = [reader.byte(), reader.number()];
    sections.set(id, reader.at);
    reader.at += length;
  }
  const section = (id) => new Reader(bytes, sections.get(id));
  const typesIn = (reader) => reader.list(() => WASM_TYPES[reader.byte()]);
  const types = ((reader) =>
    reader.list(() => (reader.byte(), { parameters: typesIn(reader), results: typesIn(reader) })))(
    section(1),
  );
  const declared = ((reader) => reader.list(() => reader.number()))(section(3));
  const imported = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).filter(
    ({ kind }) => kind === 'function',
  ).length;
  const exported = ((reader) => reader.list(() => [reader.text(), reader.byte(), reader.number()]))(
    section(7),
  );
  return new Map(
    exported
      .filter(([, kind]) => kind === 0)
      .map(([name, , index]) => [name, types[declared[index - imported]]]),
  );
}

/** The methods of an interface of abi.ts: [name, types of parameters, type of the result]. */
function methodsIn(text) {
  const withoutCallbacks = text.replace(/CallbackPtr<\([^)]*\) => [^>]*(?:<\w+>)?>/g, 'CallbackPtr');
  return Array.from(withoutCallbacks.matchAll(/^ {2}(\w+)\((.*)\): (\S+);$/gm), ([, name, list, result]) => [
    name,
    list === '' ? [] : list.split(', ').map((parameter) => parameter.slice(parameter.indexOf(': ') + 2)),
    result,
  ]);
}

/** Whether a type of abi.ts, a number or a pointer, matches the wasm's. */
function agrees(type, wasmType) {
  if (type === 'bigint') return wasmType === 'i64';
  return wasmType === 'i32' || (type === 'number' && wasmType.startsWith('f'));
}

describe("the types of the engine's exports", function () {
  this.timeout(120_000);

  it('agree with the parameters and results that the wasm has', () => {
    const signatures = exportedSignatures(readFileSync(path.join(root, 'npm/dist/tfcore-simd.wasm')));
    const glue = readFileSync(path.join(root, 'build/wasm-simd/tfcore-simd.mjs'), 'utf8');
    const methods = methodsIn(readFileSync(path.join(root, 'bindings/js/generated/abi.ts'), 'utf8'));
    assert.ok(methods.length > 150);
    for (const [name, parameters, result] of methods) {
      const exported = new RegExp(`Module\\["_${name}"\\]=wasmExports\\["([^"]+)"\\]`).exec(glue);
      assert.ok(exported, `the wasm does not export ${name}`);
      const actual = signatures.get(exported[1]);
      assert.equal(parameters.length, actual.parameters.length, name);
      for (const [i, type] of parameters.entries()) {
        assert.ok(
          agrees(type, actual.parameters[i]),
          `parameter ${i} of ${name}: ${type} is ${actual.parameters[i]}`,
        );
      }
      if (result === 'void') assert.deepEqual(actual.results, [], name);
      else
        assert.ok(agrees(result, actual.results[0]), `the result of ${name}: ${result} is ${actual.results}`);
    }
  });

  it('have all functions that the wasm exports', () => {
    const glue = readFileSync(path.join(root, 'build/wasm-simd/tfcore-simd.mjs'), 'utf8');
    const exported = Array.from(glue.matchAll(/Module\["_(TF_\w+)"\]=wasmExports/g), ([, name]) => name);
    const typed = methodsIn(readFileSync(path.join(root, 'bindings/js/generated/abi.ts'), 'utf8')).map(
      ([name]) => name,
    );
    assert.deepEqual(
      [...new Set(exported)].filter((name) => !typed.includes(name)),
      [],
    );
  });

  it('refuse wrong calls, each of them', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'calls-'));
    const config = path.join(folder, 'tsconfig.json');
    const typeRoots = [path.join(root, 'node_modules/@types')];
    writeFileSync(
      config,
      JSON.stringify({
        extends: path.join(root, 'bindings/js/tsconfig.json'),
        include: ['tests/js/types/*.ts', 'bindings/js/modules.d.ts'].map((name) => path.join(root, name)),
        compilerOptions: {
          noEmit: true,
          emitDeclarationOnly: false,
          declaration: false,
          rootDir: root,
          typeRoots,
        },
      }),
    );
    try {
      execFileSync('node', [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    } catch (error) {
      assert.fail(error.stdout || error.message);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
