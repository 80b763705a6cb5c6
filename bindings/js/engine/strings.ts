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

/** A copy of the bytes of the element at an address. */
function bytesAt(wasm: Wasm, address: number): Uint8Array {
  const { u8, u32 } = wasm;
  const kind = u8[address]! & 3;
  const word = (i: number): number => u32[(address >>> 2) + i]!;
  if (kind === KIND.small) return u8.slice(address + 1, address + 1 + (u8[address]! >>> 2));
  const text = kind === KIND.large ? word(2) : kind === KIND.offset ? address + word(1) : word(1);
  return u8.slice(text, text + (word(0) >>> 2));
}

/** Strings, or bytes if one of them is not UTF-8. */
export function readStrings(wasm: Wasm, address: number, count: number): string[] | Uint8Array[] {
  return uniform(
    Array.from({ length: count }, (_, i) => textOrBytes(bytesAt(wasm, address + i * ELEMENT_BYTES))),
  );
}

/** Fills a TF_Tensor of strings. */
export function writeStrings(
  wasm: Wasm,
  scope: Scope,
  tensor: TensorPtr,
  strings: readonly (string | Uint8Array)[],
): void {
  const parts = strings.map((item) => (typeof item === 'string' ? encodeText(item) : item));
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes: Ptr<'char'> = scope.alloc(total);
  const ends: Ptr<'size_t'> = scope.alloc(4 * parts.length);
  const { u8, u32 } = wasm;
  let at = 0;
  parts.forEach((part, i) => {
    u8.set(part, bytes + at);
    u32[(ends >>> 2) + i] = at += part.length;
  });
  wasm.checked((status) => wasm.call.TF_WasmSetStrings(tensor, bytes, ends, status));
}
