// Reads object files of WebAssembly, which clang writes: which functions and data refer to which others. The
// format: https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md. Reads and replaces the data of modules, and
// the names of their functions.

const SECTION = { custom: 0, import: 2, export: 7, code: 10, data: 11, dataCount: 12 };
const KIND = { function: 0, data: 1, section: 3 };
const FLAG = { local: 2, undefined: 0x10, explicitName: 0x40 };
const SYMBOL_TABLE = 8;
/* In the section of names. */
const FUNCTION_NAMES = 1;
/* Kinds of relocations. */
const TYPE_INDEX = 6;
const WITH_ADDEND = new Set([3, 4, 5, 8, 9, 11, 14, 15, 16, 17, 21, 22, 23, 25]);

const utf8 = new TextDecoder();

class Reader {
  constructor(bytes, at = 0, end = bytes.length) {
    Object.assign(this, { bytes, at, end });
  }
  get isAtEnd() {
    return this.at >= this.end;
  }
  byte() {
    return this.bytes[this.at++];
  }
  /** A number in LEB128, as a Number; the caller knows that it is small, and not negative. */
  number() {
    let result = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      result += (byte & 127) * scale;
      if (byte < 128) return result;
    }
  }
  /** The next `length` bytes as a reader of their own. */
  part(length) {
    this.at += length;
    return new Reader(this.bytes, this.at - length, this.at);
  }
  name() {
    const { at, end } = this.part(this.number());
    return utf8.decode(this.bytes.subarray(at, end));
  }
  list(read) {
    return Array.from({ length: this.number() }, () => read());
  }
}

function sectionsOf(bytes) {
  const reader = new Reader(bytes, 8);
  const sections = [];
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const content = reader.part(reader.number());
    const start = content.at;
    sections.push({ id, start, content, name: id === SECTION.custom ? content.name() : '' });
  }
  return sections;
}

/** The names of the imported functions, and where these are. */
function functionImports(reader) {
  const names = [];
  reader?.list(() => {
    reader.name();
    const { at } = reader;
    const name = reader.name();
    const { at: end } = reader;
    const kind = reader.byte();
    if (kind === 0) names.push({ name, at, end });
    if (kind === 1) reader.byte(); // the type of a table
    if (kind === 3) reader.byte(); // the type of a global
    if (kind === 4) reader.byte(); // the attribute of a tag
    const hasMaximum = (kind === 1 || kind === 2) && reader.number() & 1;
    if (kind !== 1 && kind !== 2) reader.number();
    else for (let i = 0; i <= hasMaximum; i++) reader.number();
  });
  return names;
}

/** The names of the exported functions, and where these are. */
function functionExports(reader) {
  const names = [];
  reader?.list(() => {
    const { at } = reader;
    const name = reader.name();
    const { at: end } = reader;
    if (reader.byte() === 0) names.push({ name, at, end });
    reader.number();
  });
  return names;
}

/** Where the functions are. */
function bodies(reader) {
  return reader?.list(() => reader.part(reader.number())) ?? [];
}

/** An expression: i32.const with a number in signed LEB128. */
function readConstant(reader) {
  reader.byte();
  let value = 0;
  let shift = 0;
  for (let byte = 128; byte >= 128; shift += 7) {
    byte = reader.byte();
    value |= (byte & 127) << shift;
    if (byte < 128 && byte & 64 && shift < 25) value |= -1 << (shift + 7);
  }
  reader.byte();
  return value >>> 0;
}

/** Where the bytes of the data segments are, and their addresses. */
function segments(reader) {
  return (
    reader?.list(() => {
      const flags = reader.number();
      if (flags & 2) reader.number();
      const address = flags & 1 ? undefined : readConstant(reader);
      const { at, end } = reader.part(reader.number());
      return { address, at, end };
    }) ?? []
  );
}

function readSymbol(reader, imports, places) {
  const kind = reader.byte();
  const flags = reader.number();
  const isDefined = !(flags & FLAG.undefined);
  const symbol = { isFunction: kind === KIND.function, isLocal: Boolean(flags & FLAG.local), isDefined };
  if (kind === KIND.data) {
    symbol.name = reader.name();
    if (isDefined) {
      const { at } = places.segments[reader.number()];
      const start = at + reader.number();
      Object.assign(symbol, { start, end: start + reader.number() });
    }
    return symbol;
  }
  const index = reader.number();
  if (kind === KIND.section) return symbol;
  if (isDefined || flags & FLAG.explicitName) symbol.name = reader.name();
  else if (symbol.isFunction) symbol.name = imports[index];
  if (symbol.isFunction && isDefined) {
    const { at, end } = places.bodies[index - imports.length];
    Object.assign(symbol, { start: at, end });
  }
  return symbol;
}

function readSymbols(reader, imports, places) {
  if (reader) reader.number(); // the version
  while (reader && !reader.isAtEnd) {
    const kind = reader.byte();
    const part = reader.part(reader.number());
    if (kind === SYMBOL_TABLE) return part.list(() => readSymbol(part, imports, places));
  }
  return [];
}

/** The symbols of a section, which relocations ask for by their places. */
function finder(symbols) {
  const sorted = [...symbols].sort((a, b) => a.start - b.start);
  return (at) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle].start <= at) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0; i--) if (at < sorted[i].end) return sorted[i];
    return undefined;
  };
}

function readReferences(section, reader, symbols, find) {
  const references = [];
  reader.list(() => {
    const kind = reader.byte();
    const at = section.start + reader.number();
    const to = symbols[reader.number()];
    if (WITH_ADDEND.has(kind)) while (reader.byte() >= 128);
    const from = kind === TYPE_INDEX ? undefined : find(at);
    if (from && to.name !== undefined) references.push({ from, to, offset: at - from.start });
  });
  return references;
}

/**
 * The symbols of an object, and the references between them: the symbol `from` has at its byte `offset` a call or
 * the address of the symbol `to`. Symbols have a `name`; `isFunction`, `isLocal` and `isDefined`; and, where they
 * are defined, `start` and `end` in the bytes of the object.
 */
export function readObject(bytes) {
  const sections = sectionsOf(bytes);
  const contentOf = (id, name = '') =>
    sections.find((section) => section.id === id && section.name === name)?.content;
  const imports = functionImports(contentOf(SECTION.import)).map(({ name }) => name);
  const places = {
    bodies: bodies(contentOf(SECTION.code)),
    segments: segments(contentOf(SECTION.data)),
  };
  const symbols = readSymbols(contentOf(SECTION.custom, 'linking'), imports, places);
  const defined = symbols.filter((symbol) => symbol.end !== undefined);
  const references = [];
  for (const { name, content } of sections.filter((section) => /^reloc\.(?:CODE|DATA)$/.test(section.name))) {
    const section = sections[content.number()];
    const find = finder(defined.filter((symbol) => symbol.isFunction === (name === 'reloc.CODE')));
    references.push(...readReferences(section, content, symbols, find));
  }
  return { symbols, references };
}

/** The data segments of a module that have an address: where their bytes are. */
export function dataSegments(bytes) {
  const section = sectionsOf(bytes).find(({ id }) => id === SECTION.data);
  return segments(section?.content)
    .filter(({ address }) => address !== undefined)
    .map(({ address, at, end }) => ({ address, start: at, end }));
}

/** A number in LEB128. */
function unsigned(value) {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return [...bytes, value];
}

function signed(value) {
  const bytes = [];
  for (; value < -64 || value > 63; value >>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value & 127];
}

/** A module with these data segments, { address, bytes }, instead of its own. */
export function replaceData(module, data) {
  const encoded = data.map(({ address, bytes }) =>
    Buffer.concat([Buffer.from([0, 0x41, ...signed(address | 0), 0x0b, ...unsigned(bytes.length)]), bytes]),
  );
  const content = Buffer.concat([Buffer.from(unsigned(data.length)), ...encoded]);
  const added = Buffer.concat([Buffer.from([SECTION.data, ...unsigned(content.length)]), content]);
  const parts = [module.subarray(0, 8)];
  for (const { id, start, content: old } of sectionsOf(module)) {
    if (id === SECTION.data || id === SECTION.dataCount) continue;
    const body = module.subarray(start, old.end);
    parts.push(Buffer.from([id, ...unsigned(body.length)]), body);
    if (id === SECTION.code) parts.push(added);
  }
  return Buffer.concat(parts);
}

const encodedName = (name) =>
  Buffer.concat([Buffer.from(unsigned(Buffer.byteLength(name))), Buffer.from(name)]);

/** The names of the functions that a module exports. */
export const exportedFunctions = (module) =>
  functionExports(sectionsOf(module).find(({ id }) => id === SECTION.export)?.content).map(
    ({ name }) => name,
  );

/** A module whose imported and exported functions have other names: `names` has the new ones by the old ones. */
export function renameShared(module, names) {
  const parts = [module.subarray(0, 8)];
  for (const { id, start, content } of sectionsOf(module)) {
    const found =
      id === SECTION.import
        ? functionImports(content)
        : id === SECTION.export
          ? functionExports(content)
          : [];
    const pieces = [];
    let last = start;
    for (const { name, at, end } of found.filter(({ name }) => names.has(name))) {
      pieces.push(module.subarray(last, at), encodedName(names.get(name)));
      last = end;
    }
    const body = Buffer.concat([...pieces, module.subarray(last, content.end)]);
    parts.push(Buffer.from([id, ...unsigned(body.length)]), body);
  }
  return Buffer.concat(parts);
}

/** The functions that a module defines: their names, from its section of names, and their code. */
export function readFunctions(module) {
  const sections = sectionsOf(module);
  const contentOf = (wanted, wantedName = '') =>
    sections.find(({ id, name }) => id === wanted && name === wantedName)?.content;
  const first = functionImports(contentOf(SECTION.import)).length;
  const names = new Map();
  const reader = contentOf(SECTION.custom, 'name');
  while (reader && !reader.isAtEnd) {
    const kind = reader.byte();
    const part = reader.part(reader.number());
    if (kind === FUNCTION_NAMES) part.list(() => names.set(part.number(), part.name()));
  }
  return bodies(contentOf(SECTION.code)).map(({ at, end }, i) => ({
    name: names.get(first + i),
    code: module.subarray(at, end),
  }));
}

/** A module with these names of the functions that it defines, and no other names. */
export function replaceNames(module, names) {
  const sections = sectionsOf(module);
  const first = functionImports(sections.find(({ id }) => id === SECTION.import)?.content).length;
  const list = names.flatMap((name, i) => [Buffer.from(unsigned(first + i)), encodedName(name)]);
  const functions = Buffer.concat([Buffer.from(unsigned(names.length)), ...list]);
  const content = Buffer.concat([
    encodedName('name'),
    Buffer.from([FUNCTION_NAMES, ...unsigned(functions.length)]),
    functions,
  ]);
  const parts = [module.subarray(0, 8)];
  for (const { id, start, content: old, name } of sections) {
    if (id === SECTION.custom && name === 'name') continue;
    const body = module.subarray(start, old.end);
    parts.push(Buffer.from([id, ...unsigned(body.length)]), body);
  }
  parts.push(Buffer.from([SECTION.custom, ...unsigned(content.length)]), content);
  return Buffer.concat(parts);
}
