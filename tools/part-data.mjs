// The data of the parts of the engine that are modules of their own: what only their functions use, and the strings among that.
// tools/split-wasm.mjs moves it there from the main module, to the same addresses, where it arrives when such a module is
// instantiated.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SetupError } from './process.mjs';
import { dataSegments, readObject, replaceData } from './wasm-object.mjs';

/** A line of a linker map: address, offset, size, and a name, which is indented by its level. */
const MAP_LINE = /^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) ( +)(\S.*)$/;
/** The sections of string literals, which the linker does not merge. */
const LITERAL = /^\.rodata\.\.L\.str\b/;
const CHUNK = /^(.*):\((\.(?:rodata|data)\S*)\)$/;

/** The chunks of data in a linker map: their addresses, files and symbols. */
function readMap(text) {
  const chunks = [];
  let chunk;
  for (const line of text.slice(text.indexOf(' DATA\n')).split('\n')) {
    const [, address, size, , name] = MAP_LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const [, file, section] = CHUNK.exec(name) ?? [];
    const start = Number.parseInt(address, 16);
    if (section) {
      chunk = { start, end: start + Number.parseInt(size, 16), file, section, symbols: [] };
      chunks.push(chunk);
    } else if (name.includes(':(') || /^\.(?!L)/.test(name)) chunk = undefined;
    else chunk?.symbols.push({ name, start });
  }
  return chunks;
}

/** The memory as a module begins with it. */
function imageOf(bytes) {
  const segments = dataSegments(bytes);
  const image = new Uint8Array(Math.max(...segments.map(({ address, start, end }) => address + end - start)));
  for (const { address, start, end } of segments) image.set(bytes.subarray(start, end), address);
  return image;
}

/** Where an object file of a chunk is; undefined for the C library's. */
function objectOf(file, objects) {
  const [, archive, member] = /^(.*)\((.*)\)$/.exec(file) ?? [];
  if (!archive) return objects.find((object) => object.endsWith(`/${file}`));
  return path.basename(archive) === 'libtfcore_codec_libraries.a'
    ? objects.find(
        (object) => object.includes('/tfcore_codec_libraries.dir/') && object.endsWith(`/${member}`),
      )
    : undefined;
}

/** Refuses ranges of other parts to which a pointer in the data of `part` (undefined: the main module) points. */
function checkPointers({ image, chunks, objects, partOf, keyOf }, part, ranges) {
  const memory = new DataView(image.buffer);
  const isMoved = new Uint8Array(image.length);
  for (const { start, end } of ranges) isMoved.fill(1, start, end);
  const isThere = (key) => partOf(key) === undefined || partOf(key) === part;
  for (const object of objects) {
    const ofObject = chunks.filter((chunk) => chunk.object === object);
    const addresses = new Map(
      ofObject.flatMap(({ symbols }) => symbols.map(({ name, start }) => [name, start])),
    );
    for (const { from, to, offset } of readObject(readFileSync(object)).references) {
      const mustBe = partOf(keyOf(object, from)) === part && isThere(keyOf(object, to));
      if (from.isFunction || to.isFunction || !mustBe || !addresses.has(from.name)) continue;
      const pointer = memory.getUint32(addresses.get(from.name) + offset, true);
      if (isMoved[pointer]) throw new SetupError(`${object}: ${from.name} needs ${to.name}, which was moved`);
    }
  }
}

/**
 * The ranges of memory that only each part uses, by the names of the parts, and the literals of all. `linked` is the whole module,
 * `mapText` the linker's map of it, and `partOf` tells the part of data by the key that `keyOf(object, symbol)` gives:
 * undefined for the main module's.
 */
export function dataOfParts({ linked, mapText, objects, parts, partOf, keyOf }) {
  const image = imageOf(linked);
  const chunks = readMap(mapText);
  const ranges = Object.fromEntries(parts.map((part) => [part, []]));
  for (const chunk of chunks) {
    const object = objectOf(chunk.file, objects);
    chunk.object = object;
    if (!object || chunk.symbols.length === 0) continue;
    /* The map does not say whether a symbol is local. The last part has the keys that nothing refers to. */
    const owners = new Set(
      chunk.symbols.map(({ name }) => {
        const places = [keyOf(object, { name, isLocal: true }), name].map(partOf);
        return places[0] === parts.at(-1) ? places[1] : places[0];
      }),
    );
    const [owner] = owners;
    if (owner !== undefined && owners.size === 1) ranges[owner].push(chunk);
  }
  for (const part of [undefined, ...parts])
    checkPointers(
      { image, chunks, objects, partOf, keyOf },
      part,
      parts.filter((other) => other !== part).flatMap((other) => ranges[other]),
    );
  const contents = (chunk) =>
    chunk
      .map(({ start, end }) => ({ start, end, bytes: image.slice(start, end) }))
      .filter(({ bytes }) => bytes.some((byte) => byte !== 0))
      .sort((a, b) => a.start - b.start);
  return {
    ranges: Object.fromEntries(parts.map((part) => [part, contents(ranges[part])])),
    literals: chunks.filter(({ section }) => LITERAL.test(section)).sort((a, b) => a.start - b.start),
  };
}

/** The module with zeros in the ranges. */
export function withoutData(module, ranges) {
  const left = Uint8Array.from(module);
  for (const { address, start, end } of dataSegments(left)) {
    for (const range of ranges) {
      const from = Math.max(range.start, address);
      const to = Math.min(range.end, address + end - start);
      if (from < to) left.fill(0, start + from - address, start + to - address);
    }
  }
  return left;
}

/** The module, which has no data yet, with that of the ranges. */
export function withData(module, ranges) {
  const joined = [];
  for (const { start, bytes } of ranges) {
    const last = joined.at(-1);
    if (last && last.address + last.bytes.length === start) last.bytes = Buffer.concat([last.bytes, bytes]);
    else joined.push({ address: start, bytes });
  }
  if (joined.length === 0) throw new SetupError('a part of the engine has no data');
  return replaceData(module, joined);
}
