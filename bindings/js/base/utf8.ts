/**
 * UTF-8 with a fast path for short ASCII texts such as names: starting TextEncoder takes longer than copying
 * them.
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

/** Advice for values that are often given in place of bytes. */
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
 * Bytes given as any of JavaScript's types, as a plain Uint8Array of unshared memory; `what` names them in
 * the error for other values.
 */
export function bytesOf(value: Uint8Array | ArrayBuffer, what: string): Uint8Array {
  if (!isBuffer(value) && !isBytes(value)) {
    throw new InvalidArgumentError(
      `${what} is given as a Uint8Array or an ArrayBuffer, not as ${shown(value)}${bytesHint(value)}`,
    );
  }
  try {
    if (isBuffer(value)) return new Uint8Array(value);
    value.keys(); // throws if the buffer is detached
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
 * Writes a short ASCII text at `at` and returns true; otherwise returns false and changes at most
 * `text.length` bytes.
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

/** Invalid UTF-8 becomes U+FFFD. The bytes must not be shared memory. */
export const decodeText = (bytes: Uint8Array): string => lenient.decode(bytes);

/** The low byte of each character, as of what atob() gives. Uint8Array.from() takes twenty times as long. */
export function lowBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The text, or the bytes themselves if they are not UTF-8. The bytes must not be shared memory. */
export function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return strict.decode(bytes);
  } catch {
    return bytes;
  }
}

/** Texts, or bytes for all if one of them is not UTF-8, so that all elements have one type. */
export function uniform(items: (string | Uint8Array)[]): string[] | Uint8Array[] {
  if (items.every((item) => typeof item === 'string')) return items as string[];
  return items.map((item) => (typeof item === 'string' ? encodeText(item) : item));
}
