/** The files in a zip archive. They are unpacked while they are read. */
import {
  DataLossError,
  InvalidArgumentError,
  ResourceExhaustedError,
  UnimplementedError,
} from '../base/errors.js';
import { decodeText } from '../base/utf8.js';
import { ModelFile, ModelFiles, fileOfBytes, joinPath, joined, readAll } from './model-files.js';

/** An entry of the archive's directory. Sizes are in bytes. */
interface Entry {
  readonly method: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  /** Where the header of the file begins. */
  readonly at: number;
}

const STORED = 0;
const DEFLATED = 8;
const SIGNATURE = {
  file: 0x04034b50,
  entry: 0x02014b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
};
const END_SIZE = 22;
const LONGEST_COMMENT = 0xffff;
const FILE_HEADER_SIZE = 30;
const ENTRY_SIZE = 46;
/** One packed byte gives at most so many bytes. */
const MOST_DEFLATED = 1032;
/** More does not fit into the engine's memory. */
const MOST_UNPACKED = 2 ** 32;

const damaged = (place: string, why: string): DataLossError =>
  new DataLossError(`${place} is a damaged zip archive: ${why}`);

/** A file that can be read at any place. */
type Archive = Required<ModelFile> & { readonly size: number };
type Read = (begin: number, end: number) => Promise<DataView>;

/** Where the directory is: begin and end, and how many entries it has. */
async function findDirectory(place: string, read: Read, size: number): Promise<[number, number, number]> {
  const tailAt = Math.max(0, size - END_SIZE - LONGEST_COMMENT);
  const tail = await read(tailAt, size);
  let at = tail.byteLength - END_SIZE;
  while (at >= 0 && tail.getUint32(at, true) !== SIGNATURE.end) at--;
  if (at < 0) throw damaged(place, 'it has no directory at its end');
  const count = tail.getUint16(at + 10, true);
  const length = tail.getUint32(at + 12, true);
  const begin = tail.getUint32(at + 16, true);
  const isLarge = count === 0xffff || length === 0xffffffff || begin === 0xffffffff;
  if (!isLarge || at < 20 || tail.getUint32(at - 20, true) !== SIGNATURE.locator64)
    return [begin, begin + length, count];
  const end64At = Number(tail.getBigUint64(at - 12, true));
  if (end64At + 56 > size) throw damaged(place, 'its directory lies beyond its end');
  const end64 = await read(end64At, end64At + 56);
  if (end64.getUint32(0, true) !== SIGNATURE.end64) throw damaged(place, 'it has no directory at its end');
  const [large, total, from] = [32, 40, 48].map((offset) => Number(end64.getBigUint64(offset, true)));
  return [from!, from! + total!, large!];
}

/** Sizes and places beyond 32 bits are in an extra field, in this order. */
function readLarge(extra: DataView, values: readonly number[]): number[] {
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const end = at + 4 + extra.getUint16(at + 2, true);
    if (extra.getUint16(at, true) === 1) {
      let next = at + 4;
      return values.map((value) => {
        if (value !== 0xffffffff || next + 8 > Math.min(end, extra.byteLength)) return value;
        next += 8;
        return Number(extra.getBigUint64(next - 8, true));
      });
    }
    at = end;
  }
  return [...values];
}

/** One entry of the directory, and where the next one begins. */
function readEntry(place: string, view: DataView, at: number): [string, Entry, number] {
  const u16 = (offset: number) => view.getUint16(at + offset, true);
  const u32 = (offset: number) => view.getUint32(at + offset, true);
  const cut = (): DataLossError => damaged(place, 'an entry of its directory is cut off');
  if (at + ENTRY_SIZE > view.byteLength || u32(0) !== SIGNATURE.entry) throw cut();
  const [nameLength, extraLength] = [u16(28), u16(30)];
  const next = at + ENTRY_SIZE + nameLength + extraLength + u16(32);
  if (next > view.byteLength) throw cut();
  const nameAt = view.byteOffset + at + ENTRY_SIZE;
  const name = decodeText(new Uint8Array(view.buffer, nameAt, nameLength)).replaceAll('\\', '/');
  const extra = new DataView(view.buffer, nameAt + nameLength, extraLength);
  const [size, packedSize, begin] = readLarge(extra, [u32(24), u32(20), u32(42)]) as [number, number, number];
  if (u16(8) & 1) throw new UnimplementedError(`${place}: file ${name} is encrypted`);
  return [name, { method: u16(10), crc: u32(16), packedSize, size, at: begin }, next];
}

async function readDirectory(place: string, read: Read, size: number): Promise<Map<string, Entry>> {
  const [begin, end, count] = await findDirectory(place, read, size);
  if (end > size || begin > end) throw damaged(place, 'its directory lies beyond its end');
  const view = await read(begin, end);
  const entries = new Map<string, Entry>();
  let total = 0;
  for (let i = 0, at = 0; i < count; i++) {
    const [name, entry, next] = readEntry(place, view, at);
    at = next;
    if (name.endsWith('/')) continue;
    const most = entry.method === STORED ? entry.packedSize : entry.packedSize * MOST_DEFLATED;
    if (entry.at + entry.packedSize > size || entry.size > most)
      throw damaged(place, `file ${name} cannot have ${entry.size} bytes`);
    total += entry.size;
    if (total > MOST_UNPACKED)
      throw new ResourceExhaustedError(`${place} unpacks to more than ${MOST_UNPACKED} bytes`);
    if (name.startsWith('/'))
      throw new InvalidArgumentError(`path ${name} leads outside of the model's files`);
    entries.set(joinPath('', name), entry);
  }
  return entries;
}

/** So many bytes go into the CRC-32 at once. */
const CRC_STEP = 8;
let crcTable: Uint32Array | undefined;

/** 256 entries for each place k: what a byte contributes that k bytes of the step follow. */
function makeCrcTable(): Uint32Array {
  const table = new Uint32Array(CRC_STEP * 256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    table[byte] = value;
  }
  for (let i = 256; i < table.length; i++) {
    const before = table[i - 256]!;
    table[i] = (before >>> 8) ^ table[before & 0xff]!;
  }
  return table;
}

/** The CRC-32 of zip archives, continued. */
function crc32(crc: number, bytes: Uint8Array): number {
  const table = (crcTable ??= makeCrcTable());
  const entry = (k: number, byte: number): number => table[256 * k + (byte & 0xff)]!;
  const { length } = bytes;
  let value = ~crc;
  let i = 0;
  for (; i + CRC_STEP <= length; i += CRC_STEP) {
    const first = value ^ (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
    value =
      entry(7, first) ^
      entry(6, first >>> 8) ^
      entry(5, first >>> 16) ^
      entry(4, first >>> 24) ^
      entry(3, bytes[i + 4]!) ^
      entry(2, bytes[i + 5]!) ^
      entry(1, bytes[i + 6]!) ^
      entry(0, bytes[i + 7]!);
  }
  for (; i < length; i++) value = entry(0, value ^ bytes[i]!) ^ (value >>> 8);
  return ~value >>> 0;
}

async function* inflated(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = packed[Symbol.asyncIterator]();
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
  });
  const reader = stream.pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  try {
    for (let part; !(part = await reader.read()).done; ) yield part.value;
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** The content of an entry; sizes and the checksum are those of the directory. */
async function* contentOf(what: string, entry: Entry, stream: AsyncIterable<Uint8Array>) {
  let [size, crc] = [0, 0];
  const source = stream[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await source.next().catch((error: Error) => {
      if (error.name === 'AbortError') throw error;
      throw new DataLossError(`${what} cannot be unpacked: ${error.message}`);
    });
    if (done) break;
    size += value.length;
    if (size > entry.size) break;
    crc = crc32(crc, value);
    yield value;
  }
  if (size !== entry.size) throw new DataLossError(`${what} has another size than the archive says`);
  if (crc !== entry.crc) throw new DataLossError(`${what} has another checksum than the archive says`);
}

function fileOfEntry(what: string, archive: Archive, entry: Entry): ModelFile {
  const content = async function* () {
    const head = await viewOf(archive.part(entry.at, Math.min(entry.at + FILE_HEADER_SIZE, archive.size)));
    if (head.byteLength < FILE_HEADER_SIZE || head.getUint32(0, true) !== SIGNATURE.file)
      throw new DataLossError(`${what} is not where the archive says`);
    const begin = entry.at + FILE_HEADER_SIZE + head.getUint16(26, true) + head.getUint16(28, true);
    const packed = archive.part(begin, Math.min(begin + entry.packedSize, archive.size));
    yield* contentOf(what, entry, entry.method === STORED ? packed : inflated(packed));
  };
  return { size: entry.size, pieces: content };
}

const viewOf = async (stream: AsyncIterable<Uint8Array>): Promise<DataView> => {
  const { buffer, byteOffset, byteLength } = await joined(stream);
  return new DataView(buffer, byteOffset, byteLength);
};

/** The files in the archive `file`. */
export async function filesOfZip(place: string, file: ModelFile): Promise<ModelFiles> {
  const readable = file.part && file.size !== undefined ? file : fileOfBytes(await readAll(file));
  const archive = readable as Archive;
  const read: Read = (begin, end) => viewOf(archive.part(begin, end));
  const entries = await readDirectory(place, read, archive.size);
  const paths = [...entries.keys()];
  return {
    place,
    main: undefined,
    paths,
    async open(path) {
      const entry = entries.get(path);
      if (!entry) return undefined;
      if (entry.method !== STORED && entry.method !== DEFLATED)
        throw new UnimplementedError(`${place}: file ${path} is packed with method ${entry.method}`);
      return fileOfEntry(`${place}: file ${path}`, archive, entry);
    },
  };
}
