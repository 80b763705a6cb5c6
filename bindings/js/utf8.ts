/** UTF-8, with a short way for what is ASCII and short, as names are: TextEncoder takes longer to start than they take to copy. */
import { InvalidArgumentError } from './errors.js';

const encoder = new TextEncoder();
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
const strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

const SHORT = 64;

export const encodeText = (text: string): Uint8Array => encoder.encode(text);

/** Bytes in either form in which JavaScript has them; `what` names them in the error for anything else. */
export function bytesOf(value: Uint8Array | ArrayBuffer, what: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (Object.prototype.toString.call(value) === '[object ArrayBuffer]') return new Uint8Array(value);
  throw new InvalidArgumentError(`${what} is given as a Uint8Array or an ArrayBuffer`);
}

/** Puts a short text of ASCII at `at` and returns true; else it changes nothing that lies behind `text.length` bytes, and returns false. */
export function putAscii(text: string, bytes: Uint8Array, at: number): boolean {
  if (text.length > SHORT) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return false;
    bytes[at + i] = code;
  }
  return true;
}

/** What is no UTF-8 becomes U+FFFD. The bytes must not be shared memory. */
export const decodeText = (bytes: Uint8Array): string => lenient.decode(bytes);

/** The text, or the bytes themselves when they are no UTF-8. The bytes must not be shared memory. */
export function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return strict.decode(bytes);
  } catch {
    return bytes;
  }
}

/** Texts, or bytes for all where one of them is no UTF-8: so the elements are of one kind. */
export function uniform(items: (string | Uint8Array)[]): string[] | Uint8Array[] {
  if (items.every((item) => typeof item === 'string')) return items as string[];
  return items.map((item) => (typeof item === 'string' ? encodeText(item) : item));
}
