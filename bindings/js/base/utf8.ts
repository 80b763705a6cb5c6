/**
 * UTF-8, with a short way for what is ASCII and short, as names are: TextEncoder takes longer to start than
 * they take to copy.
 */
import { shown } from './arguments.js';
import { InvalidArgumentError } from './errors.js';

const encoder = new TextEncoder();
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
const strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

const SHORT = 64;

export const encodeText = (text: string): Uint8Array => encoder.encode(text);

const isBuffer = (value: unknown): value is ArrayBuffer =>
  Object.prototype.toString.call(value) === '[object ArrayBuffer]';
const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]';

/** What to write for what is often given in place of bytes. */
function bytesHint(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const is = (method: string) => typeof (value as Record<string, unknown>)[method] === 'function';
  if (is('then')) return '; it is a promise: write `await` before it';
  if (is('arrayBuffer')) return '; write `await value.arrayBuffer()`';
  if (ArrayBuffer.isView(value))
    return '; write `new Uint8Array(value.buffer, value.byteOffset, value.byteLength)`';
  return Array.isArray(value) ? '; write `Uint8Array.from(value)`' : '';
}

/**
 * Bytes in either form in which JavaScript has them, as a plain Uint8Array of memory that no other thread
 * has; `what` names them in the error for anything else.
 */
export function bytesOf(value: Uint8Array | ArrayBuffer, what: string): Uint8Array {
  if (!isBuffer(value) && !isBytes(value)) {
    throw new InvalidArgumentError(
      `${what} is given as a Uint8Array or an ArrayBuffer, not as ${shown(value)}${bytesHint(value)}`,
    );
  }
  try {
    if (isBuffer(value)) return new Uint8Array(value);
    value.keys(); // there are none where the memory is gone
    if (!isBuffer(value.buffer)) return new Uint8Array(value);
    return value.constructor === Uint8Array
      ? value
      : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  } catch {
    throw new InvalidArgumentError(
      `${what} has no memory any more: its buffer was transferred (with postMessage or structuredClone). Give a copy away, or use it first`,
    );
  }
}

/**
 * Puts a short text of ASCII at `at` and returns true; else it changes nothing that lies behind `text.length`
 * bytes, and returns false.
 */
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
