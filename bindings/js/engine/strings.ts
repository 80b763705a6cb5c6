/**
 * The elements of string tensors in the engine's memory: TensorFlow's TF_TString, 24 bytes each
 * (src/tensor/tstring.h).
 */
import type { Ptr, TensorPtr } from '../generated/abi.js';
import type { Scope, Wasm } from './wasm.js';
import { encodeText, textOrBytes, uniform } from '../base/utf8.js';

const ELEMENT_BYTES = 24;
/** The two lowest bits of the first byte; the rest of the first byte, or word, is the length. */
const KIND = { small: 0, large: 1, offset: 2 } as const;

/** The address of the bytes of an element, and their number. */
interface Place {
  text: number;
  length: number;
}

function placeOf({ u8, u32 }: Wasm, address: number): Place {
  const kind = u8[address]! & 3;
  const word = (i: number): number => u32[(address >>> 2) + i]!;
  if (kind === KIND.small) return { text: address + 1, length: u8[address]! >>> 2 };
  const text = kind === KIND.large ? word(2) : kind === KIND.offset ? address + word(1) : word(1);
  return { text, length: word(0) >>> 2 };
}

/**
 * To start a decoder or an encoder takes as long as some hundred letters, so texts up to LONG bytes are decoded together, TOGETHER bytes
 * at a time, and texts of up to JOINED bytes in all are encoded together. SHORT ones are copied by a loop.
 */
const [SHORT, LONG, TOGETHER, JOINED] = [32, 1024, 16384, 1 << 24];

function copyText({ u8 }: Wasm, { text, length }: Place, to: Uint8Array, at: number): void {
  if (length > SHORT) to.set(u8.subarray(text, text + length), at);
  else for (let k = 0; k < length; k++) to[at + k] = u8[text + k]!;
}

/** The elements at these places, whose bytes fit into `scratch`. */
function readSome(wasm: Wasm, places: readonly Place[], scratch: Uint8Array): (string | Uint8Array)[] {
  let at = 0;
  const ends = places.map((place) => {
    copyText(wasm, place, scratch, at);
    return (at += place.length);
  });
  const all = textOrBytes(scratch.subarray(0, at));
  if (typeof all === 'string' && all.length === at)
    return ends.map((end, i) => all.slice(ends[i - 1] ?? 0, end)); // ASCII
  return ends.map((end, i) => textOrBytes(scratch.slice(ends[i - 1] ?? 0, end)));
}

/** Strings, or bytes if one of them is not UTF-8. */
export function readStrings(wasm: Wasm, address: number, count: number): string[] | Uint8Array[] {
  const items: (string | Uint8Array)[] = [];
  const scratch = new Uint8Array(TOGETHER);
  let places: Place[] = [];
  let bytes = 0;
  const take = () => {
    for (const item of readSome(wasm, places, scratch)) items.push(item);
    places = [];
    bytes = 0;
  };
  for (let i = 0; i < count; i++) {
    const place = placeOf(wasm, address + i * ELEMENT_BYTES);
    if (place.length > LONG || bytes + place.length > TOGETHER) take();
    if (place.length > LONG) {
      items.push(textOrBytes(wasm.u8.slice(place.text, place.text + place.length)));
    } else {
      places.push(place);
      bytes += place.length;
    }
  }
  take();
  return uniform(items);
}

/** The bytes of all elements, one after the other, and where each ends. */
function joined(strings: readonly (string | Uint8Array)[]): { bytes: Uint8Array[]; ends: number[] } {
  let at = 0;
  const endsOf = (items: readonly (string | Uint8Array)[]) => items.map(({ length }) => (at += length));
  const length = strings.reduce((sum, item) => sum + item.length, 0);
  if (length <= JOINED && strings.every((item) => typeof item === 'string')) {
    const text = strings.join('');
    const all = encodeText(text);
    if (all.length === text.length) return { bytes: [all], ends: endsOf(strings) }; // ASCII
  }
  const bytes = strings.map((item) => (typeof item === 'string' ? encodeText(item) : item));
  return { bytes, ends: endsOf(bytes) };
}

/** Fills a TF_Tensor of strings. */
export function writeStrings(
  wasm: Wasm,
  scope: Scope,
  tensor: TensorPtr,
  strings: readonly (string | Uint8Array)[],
): void {
  const { bytes: parts, ends: places } = joined(strings);
  const bytes: Ptr<'char'> = scope.alloc(places.at(-1) ?? 0);
  const ends: Ptr<'size_t'> = scope.alloc(4 * places.length);
  const { u8, u32 } = wasm;
  let at: number = bytes;
  for (const part of parts) {
    u8.set(part, at);
    at += part.length;
  }
  u32.set(places, ends >>> 2);
  wasm.checked((status) => wasm.call.TF_WasmSetStrings(tensor, bytes, ends, status));
}
