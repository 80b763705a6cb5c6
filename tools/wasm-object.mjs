// Reads object files of WebAssembly, which clang writes: which functions and data refer to which others. The
// format: https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md

const SECTION = { custom: 0, import: 2, code: 10, data: 11 };
const KIND = { function: 0, data: 1, section: 3 };
const FLAG = { local: 2, undefined: 0x10, explicitName: 0x40 };
const SYMBOL_TABLE = 8;
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

/** The names of the imported functions. */
function functionImports(reader) {
  const names = [];
  reader?.list(() => {
    reader.name();
    const name = reader.name();
    const kind = reader.byte();
    if (kind === 0) names.push(name);
    if (kind === 1) reader.byte(); // the type of a table
    if (kind === 3) reader.byte(); // the type of a global
    if (kind === 4) reader.byte(); // the attribute of a tag
    const hasMaximum = (kind === 1 || kind === 2) && reader.number() & 1;
    if (kind !== 1 && kind !== 2) reader.number();
    else for (let i = 0; i <= hasMaximum; i++) reader.number();
  });
  return names;
}

/** Where the functions are. */
function bodies(reader) {
  return reader?.list(() => reader.part(reader.number())) ?? [];
}

/** An instruction with a number, and the end of its expression. */
function skipConstant(reader) {
  reader.byte();
  reader.number();
  reader.byte();
}

/** Where the bytes of the data segments are. */
function segments(reader) {
  return (
    reader?.list(() => {
      const flags = reader.number();
      if (flags & 2) reader.number();
      if (!(flags & 1)) skipConstant(reader); // the address
      return reader.part(reader.number());
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
  const imports = functionImports(contentOf(SECTION.import));
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
