// Chooses the functions of the C headers that the wasm exports, those that the bindings name, and generates their
// types, bindings/js/generated/abi.ts. `node tools/generate-abi.mjs --exports <file>` writes the list of their names for
// the linker instead.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { headersOf, readHeaders } from './c-headers.mjs';
import { isMain, root } from './process.mjs';

/** The folders whose headers declare exports. */
export const HEADERS = ['include/tensorflow/c', 'include/tfcore', 'src/wasm'];

/** How JavaScript passes numbers: 64-bit integers as bigint (-sWASM_BIGINT), all others as number. */
const NUMBERS = {
  int: 'number',
  int32_t: 'number',
  size_t: 'number',
  float: 'number',
  double: 'number',
  bool: 'number',
  'unsigned char': 'number',
  int64_t: 'bigint',
  uint64_t: 'bigint',
};

/** TF_Graph -> GraphPtr. */
const pointerName = (struct) => `${struct.replace(/^TF_/, '')}Ptr`;

/** Converts C types to TypeScript's, and collects the pointers to structs that occur. */
class Types {
  constructor(headers) {
    this.headers = headers;
    this.named = new Map();
  }

  resolve(type) {
    const { aliases, callbacks } = this.headers;
    if (typeof type !== 'string') return type;
    const stars = /\**$/.exec(type)[0];
    const base = type.slice(0, type.length - stars.length);
    return aliases.has(base) ? this.resolve(aliases.get(base) + stars) : (callbacks.get(type) ?? type);
  }

  isStruct(type) {
    return this.headers.structs.has(type);
  }

  /** A number, or a pointer. */
  value(given) {
    const type = this.resolve(given);
    if (typeof type !== 'string') return `CallbackPtr<${this.signature(type)}>`;
    if (type.endsWith('*')) return this.pointer(type.slice(0, -1));
    if (type in NUMBERS) return NUMBERS[type];
    if (this.headers.enums.has(type)) return 'number';
    throw new Error(`the type ${type} is unknown: tools/generate-abi.mjs must be told how it is passed`);
  }

  pointer(pointee) {
    if (pointee === 'void') return 'Ptr<unknown>';
    if (pointee.endsWith('*')) return `Ptr<${this.value(pointee)}>`;
    if (this.headers.opaque.has(pointee) || this.isStruct(pointee)) {
      this.named.set(pointerName(pointee), `${this.isStruct(pointee) ? 'Ptr' : 'Handle'}<'${pointee}'>`);
      return pointerName(pointee);
    }
    this.value(pointee === 'char' ? 'int' : pointee); // rejects unknown types
    return pointee === 'char' ? 'TextPtr' : `Ptr<'${pointee}'>`;
  }

  parameter({ name, type: given }, i, takesNull) {
    const type = this.resolve(given);
    /* A struct is passed by its address. */
    const passed = this.isStruct(type) ? this.value(`${type}*`) : this.value(type);
    const label = name === undefined ? `arg${i}` : parameterName(name);
    return `${label}: ${passed}${takesNull?.(type) ? ' | Null' : ''}`;
  }

  /** '(name: type, ...) => type'. Arguments of callbacks are never NULL. */
  signature({ returns: given, parameters }, arrow = ' =>', takesNull = undefined) {
    const returns = this.resolve(given);
    const list = parameters.map((parameter, i) => this.parameter(parameter, i, takesNull));
    /* A struct result is stored in memory of the caller, whose address is the first argument. */
    if (this.isStruct(returns)) list.unshift(`result: ${this.value(`${returns}*`)}`);
    const result = returns === 'void' || this.isStruct(returns) ? 'void' : this.value(returns);
    return `(${list.join(', ')})${arrow} ${result}`;
  }
}

const takesNull = (type) => typeof type !== 'string' || (type.endsWith('*') && type !== 'TF_Status*');

const RESERVED = new Set(['default', 'delete', 'function', 'in', 'new', 'var', 'with']);
const parameterName = (name) => (RESERVED.has(name) ? `${name}_` : name);

/** The text of abi.ts. */
export function abiOf(headers) {
  const types = new Types(headers);
  const sorted = headers.functions
    .filter(({ isNative }) => !isNative)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const methods = sorted.map((declared) => `  ${declared.name}${types.signature(declared, ':', takesNull)};`);
  const named = [...types.named].sort().map(([name, type]) => `export type ${name} = ${type};`);
  return `/** The functions that the wasm exports, by the C headers. Made by tools/generate-abi.mjs; not edited. */
declare const handle: unique symbol;
declare const pointee: unique symbol;
declare const entry: unique symbol;

/** The address of a struct that only the engine looks into. */
export type Handle<Name extends string> = number & { readonly [handle]: Name };
/** The address of values in the engine's memory: numbers by their type in C, structs by their name. */
export type Ptr<T> = number & { readonly [pointee]: T };
/** A function in the engine's table, which the engine calls. */
export type CallbackPtr<F> = number & { readonly [entry]: F };
/** Accepted in place of a pointer, as in C; not in place of a TF_Status. */
export type Null = 0;

/** Text that ends with NUL, or bytes. */
export type TextPtr = Ptr<'char'>;
${named.join('\n')}

export interface Abi {
  malloc(size: number): Ptr<unknown>;
  free(pointer: Ptr<unknown> | Null): void;
${methods.join('\n')}
}
`;
}

const GENERATED = 'bindings/js/generated';

/** The sources of the bindings that are written by hand: paths from the root. */
export function bindingSources() {
  return readdirSync(path.join(root, 'bindings/js'), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.join('bindings/js', name))
    .filter((name) => !name.startsWith(GENERATED))
    .sort();
}

/** What the headers declare, with only those functions that the sources name; `TF_Get${name}` names all that begin so. */
export function usedOf(headers, sources) {
  const words = sources.flatMap((text) => [...text.matchAll(/\b(TF_\w+)(\$\{)?/g)]);
  const named = new Set(words.map(([, name]) => name));
  const beginnings = words.filter(([, , open]) => open).map(([, name]) => name);
  const isUsed = ({ name }) => named.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
  return { ...headers, functions: headers.functions.filter(isUsed) };
}

/** The list for the linker. */
export const exportListOf = ({ functions }) =>
  ['malloc', 'free', ...functions.filter(({ isNative }) => !isNative).map(({ name }) => name)]
    .map((name) => `_${name}\n`)
    .join('');

function writeIfNew(file, text) {
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

if (isMain(import.meta.url)) {
  const declared = readHeaders(headersOf(HEADERS.map((name) => path.join(root, name))));
  const headers = usedOf(
    declared,
    bindingSources().map((name) => readFileSync(path.join(root, name), 'utf8')),
  );
  const [option, file] = process.argv.slice(2);
  if (option === '--exports') writeIfNew(file, exportListOf(headers));
  else {
    mkdirSync(path.join(root, GENERATED), { recursive: true });
    writeFileSync(path.join(root, GENERATED, 'abi.ts'), abiOf(headers));
  }
}
