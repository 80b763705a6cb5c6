// Packs the data of a module. The registrations of ops are tables of addresses, mostly of what follows what the
// last address was of; a compressor of bytes does not see that. So the module gets a description of its data instead, which
// src/wasm/packed_data.c reads before anything else runs. It lies where the stack will be.
import { SetupError } from './process.mjs';
import { dataSegments, replaceData } from './wasm-object.mjs';

/** Numbers are in LEB128. The description is a sequence of streams; src/wasm/packed_data.c says what they hold. */
const STREAMS = ['literals', 'texts', 'words', 'strings', 'functions', 'addresses', 'raw'];
const MAGIC = [0x74, 0x66, 0x70, 0x6b];
/* The kinds of words. Those from SMALL on have a value of 1 or more, those from ZEROS on say how many words are zero. */
const KIND = {
  nextString: 0,
  string: 1,
  nextFunction: 2,
  function: 3,
  address: 4,
  raw: 5,
  byte: 6,
  zeroByte: 7,
  manyZeros: 8,
};
const SMALL = 8;
const ZEROS = 64;
/** Addresses of functions are below. */
const MOST_FUNCTIONS = 0x2000;

function number(bytes, value) {
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  bytes.push(value);
}

/** Small if the difference is small, whatever its sign is. */
const zigzag = (difference) => (difference < 0 ? -2 * difference - 1 : 2 * difference);

/** The memory as the module begins with it, and where that begins. */
function imageOf(module) {
  const segments = dataSegments(module);
  const start = Math.min(...segments.map(({ address }) => address)) & ~3;
  const end = Math.max(...segments.map(({ address, start, end }) => address + end - start));
  const image = new Uint8Array((end + 3) & ~3);
  for (const { address, start, end } of segments) image.set(module.subarray(start, end), address);
  return { image, start };
}

/** Describes the literals: the distance from the last one, and the text, or how many literals ago it was. */
function packLiterals(image, start, literals, { literals: places, texts }) {
  const known = new Map();
  let at = start;
  literals.forEach((literal, i) => {
    const bytes = image.subarray(literal.start, literal.end);
    const text = Buffer.from(bytes).toString('latin1');
    number(places, 2 * (literal.start - at) + Number(known.has(text)));
    if (known.has(text)) number(places, i - known.get(text));
    else for (const byte of bytes) texts.push(byte);
    known.set(text, i);
    at = literal.end;
  });
}

/** Describes the words between literals. */
class WordPacker {
  #lastString = -1;
  #lastFunction = 0;
  #nextFunction = 1;
  #lastAddress = 0;

  constructor({ image, start }, literals, streams) {
    Object.assign(this, { image, start, streams });
    this.view = new DataView(image.buffer);
    this.indices = new Map(literals.map((literal, i) => [literal.start, i]));
  }

  range(from, to) {
    const { words, raw } = this.streams;
    for (let at = from; at < to; ) {
      if (at % 4 || at + 4 > to) {
        const byte = this.image[at++];
        words.push(byte ? KIND.byte : KIND.zeroByte);
        if (byte) raw.push(byte);
        continue;
      }
      let zeros = 0;
      while (at + 4 * zeros + 4 <= to && this.view.getUint32(at + 4 * zeros, true) === 0) zeros++;
      if (zeros) this.#zeros(zeros);
      else this.#word(this.view.getUint32(at, true));
      at += 4 * Math.max(zeros, 1);
    }
  }

  #zeros(count) {
    const { words, raw } = this.streams;
    if (ZEROS + count <= 256) words.push(ZEROS + count - 1);
    else {
      words.push(KIND.manyZeros);
      number(raw, count);
    }
  }

  #word(word) {
    const { words, strings, functions, addresses, raw } = this.streams;
    const index = this.indices.get(word);
    if (index !== undefined) {
      words.push(index === this.#lastString + 1 ? KIND.nextString : KIND.string);
      if (index !== this.#lastString + 1) number(strings, zigzag(index - this.#lastString));
      this.#lastString = index;
    } else if (word < ZEROS - SMALL) words.push(SMALL + word);
    else if (word < MOST_FUNCTIONS) {
      words.push(word === this.#nextFunction ? KIND.nextFunction : KIND.function);
      if (word !== this.#nextFunction) number(functions, zigzag(word - this.#lastFunction));
      this.#lastFunction = word;
      this.#nextFunction = Math.max(word + 1, this.#nextFunction);
    } else if (word >= this.start && word < this.image.length) {
      words.push(KIND.address);
      number(addresses, zigzag(word - this.#lastAddress));
      this.#lastAddress = word;
    } else {
      words.push(KIND.raw);
      for (let shift = 0; shift < 32; shift += 8) raw.push((word >>> shift) & 255);
    }
  }
}

/**
 * The module with packed data, for a stack that begins at the address `stack.low`. `literals` are where the string literals
 * are, in order: { start, end }.
 */
export function packData(module, literals, stack) {
  const memory = imageOf(module);
  const { image, start } = memory;
  const whole = literals.filter(({ start: from, end }) => image.indexOf(0, from) === end - 1);
  const streams = Object.fromEntries(STREAMS.map((name) => [name, []]));
  packLiterals(image, start, whole, streams);
  const packer = new WordPacker(memory, whole, streams);
  let at = start;
  for (const literal of [...whole, { start: image.length }]) {
    packer.range(at, literal.start);
    at = literal.end;
  }
  const head = [...MAGIC];
  number(head, start);
  number(head, whole.length);
  for (const name of STREAMS) number(head, streams[name].length);
  const packed = Buffer.concat(
    [head, ...STREAMS.map((name) => streams[name])].map((part) => Buffer.from(part)),
  );
  /* src/wasm/packed_data.c has a table of the literals behind it, and needs some stack itself. */
  if (packed.length + 8 * whole.length + 8 > (stack.high - stack.low) * 0.9)
    throw new SetupError('the packed data does not fit into the stack');
  return replaceData(module, [{ address: stack.low, bytes: packed }]);
}
