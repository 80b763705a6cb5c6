/**
 * Frames as messages of a WebSocket. The head of a frame is a text message of JSON. The contents follow in binary
 * messages, each a piece of the frame's bytes or of one of its buffers:
 *
 *   {"id":7,"method":"RunStep","sizes":[112,3000000]}      and 112, 1048576, 1048576, 902848 bytes
 *
 * Frames follow one another; only a frame that cancels a call may be between the messages of another.
 */
import { InvalidArgumentError } from '../base/errors.js';
import type { AnswerFrame, ClientFrame } from './frames.js';
import { MOST_BYTES, Parcel } from './transport.js';

/** What is used of a WebSocket: a page's, or that of the package ws. */
export interface FrameSocket {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly protocol: string;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onerror: ((event: { message?: string }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(message: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
}

/** The subprotocol of sockets that carry these frames. */
export const PROTOCOL = 'tfcore-wasm.1';

/** Codes with which sockets are closed (RFC 6455). */
export const CLOSING = { away: 1001, protocol: 1002, policy: 1008, crash: 1011 } as const;

const MOST_REASON = 120;

/** A text that fits into the message that closes a socket. */
export const closingReason = (text: string): string =>
  new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, MOST_REASON), { stream: true });

/** The length of a piece. */
const PIECE = 1 << 20;

/** Longer messages are refused. */
export const MOST_MESSAGE = 4 * PIECE;

/** More bytes do not wait in a socket. */
const MOST_BUFFERED = 8 * PIECE;

/** Pages are not told when the bytes of a socket were sent. */
const POLL_MS = 5;

type Frame = ClientFrame | AnswerFrame;

interface Head {
  readonly id?: number;
  readonly cancel?: number;
  readonly method?: string;
  readonly code?: number;
  readonly message?: string;
  readonly sizes?: readonly number[];
}

/** The messages of a frame. */
function* messagesOf(frame: Frame): Generator<string | Uint8Array, void> {
  if (!('bytes' in frame)) return yield JSON.stringify(frame);
  const { bytes, buffers, ...rest } = frame;
  const parts = [bytes, ...buffers.map((buffer) => new Uint8Array(buffer))];
  yield JSON.stringify({ ...rest, sizes: parts.map(({ length }) => length) });
  for (const part of parts)
    for (let at = 0; at < part.length; at += PIECE) yield part.subarray(at, at + PIECE);
}

interface Outgoing {
  readonly id: number;
  readonly messages: Generator<string | Uint8Array, void>;
  isBegun: boolean;
}

/** Sends frames, as fast as the other side receives them. */
export class FrameWriter {
  readonly #queue: Outgoing[] = [];
  #socket: FrameSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `waits` is called when frames begin to wait for the other side, and when they do not any more. */
  constructor(private readonly waits: (isWaiting: boolean) => void = () => {}) {}

  /** Sends what was written so far, and later frames at once. */
  start(socket: FrameSocket): void {
    this.#socket = socket;
    this.#send();
  }

  write(frame: Exclude<Frame, { cancel: number }>): void {
    this.#queue.push({ id: frame.id, messages: messagesOf(frame), isBegun: false });
    if (this.#timer === undefined) this.#send();
  }

  /** Tells the other side that a call was cancelled, if it knows the call; the rest of its frame is not sent. */
  cancel(id: number): void {
    const at = this.#queue.findIndex((frame) => frame.id === id);
    const [unsent] = at < 0 ? [] : this.#queue.splice(at, 1);
    if (!unsent || unsent.isBegun) this.#socket?.send(JSON.stringify({ cancel: id }));
  }

  /** Sends nothing more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
    this.#socket = undefined;
  }

  #send(): void {
    const socket = this.#socket;
    while (socket && this.#queue.length > 0) {
      if (socket.bufferedAmount > MOST_BUFFERED) return this.#wait();
      const frame = this.#queue[0]!;
      const { value, done } = frame.messages.next();
      if (done) this.#queue.shift();
      else socket.send(value);
      frame.isBegun = true;
    }
  }

  #wait(): void {
    this.waits(true);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#send();
      if (this.#timer === undefined) this.waits(false);
    }, POLL_MS);
  }
}

const isCount = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most;

/** Throws an Error for what is no head of a frame. */
function headOf(text: string): Head {
  const head = JSON.parse(text) as Head;
  const { id, cancel, method, code, message, sizes } = head;
  const isOfCall = isCount(id, Number.MAX_SAFE_INTEGER) || isCount(cancel, Number.MAX_SAFE_INTEGER);
  const hasTexts = [method, message].every((one) => one === undefined || typeof one === 'string');
  const isSized = sizes === undefined || (Array.isArray(sizes) && sizes.length > 0);
  if (!isOfCall || !hasTexts || !isSized || (code !== undefined && !isCount(code, 0xff)))
    throw new InvalidArgumentError('a head of a frame is wrong');
  const total = (sizes ?? []).reduce((sum, size) => sum + (isCount(size, MOST_BYTES) ? size : Number.NaN), 0);
  if (!(total <= MOST_BYTES)) throw new InvalidArgumentError(`a frame has more than ${MOST_BYTES} bytes`);
  return head;
}

/** A frame of which messages are missing. */
class Incoming {
  readonly #sizes: readonly number[];
  readonly #parts: Uint8Array[] = [];
  #received = 0;

  constructor(readonly head: Head) {
    this.#sizes = head.sizes!;
    this.#skipEmpty();
  }

  get isComplete(): boolean {
    return this.#parts.length === this.#sizes.length && this.#received === this.#parts.at(-1)!.length;
  }

  get parcel(): Parcel {
    const [bytes, ...buffers] = this.#parts;
    return { bytes: bytes!, buffers: buffers.map(({ buffer }) => buffer as ArrayBuffer) };
  }

  add(piece: Uint8Array): void {
    if (this.#isPartComplete()) this.#begin(piece);
    else {
      const part = this.#parts.at(-1)!;
      if (this.#received + piece.length > part.length) throw tooMuch();
      part.set(piece, this.#received);
      this.#received += piece.length;
    }
    if (this.#isPartComplete()) this.#skipEmpty();
  }

  #isPartComplete(): boolean {
    return this.#received === (this.#parts.at(-1)?.length ?? 0);
  }

  /** A part of one piece is that piece. */
  #begin(piece: Uint8Array): void {
    const size = this.#sizes[this.#parts.length]!;
    if (piece.length > size) throw tooMuch();
    const part = piece.length === size ? piece : new Uint8Array(size);
    if (part !== piece) part.set(piece);
    this.#parts.push(part);
    this.#received = piece.length;
  }

  #skipEmpty(): void {
    while (this.#sizes[this.#parts.length] === 0) {
      this.#parts.push(new Uint8Array(0));
      this.#received = 0;
    }
  }
}

const tooMuch = (): Error => new InvalidArgumentError('a frame has more bytes than it says');

/** Makes frames of messages. */
export class FrameReader<F extends Frame> {
  #incoming: Incoming | undefined;

  constructor(private readonly received: (frame: F) => void) {}

  /** Takes the next message. Throws an Error if it is none of a frame. */
  read(message: unknown): void {
    if (typeof message === 'string') this.#begin(headOf(message));
    else if (this.#incoming && message instanceof ArrayBuffer) this.#incoming.add(new Uint8Array(message));
    else throw new InvalidArgumentError('contents without a frame');
    if (this.#incoming?.isComplete) this.#end(this.#incoming);
  }

  #begin(head: Head): void {
    if (head.cancel !== undefined) {
      if (head.cancel === this.#incoming?.head.id) this.#incoming = undefined;
      this.received(head as F);
    } else if (this.#incoming) throw new InvalidArgumentError('a frame begins within another');
    else if (head.sizes) this.#incoming = new Incoming(head);
    else this.received(head as F);
  }

  #end({ head, parcel }: Incoming): void {
    this.#incoming = undefined;
    this.received({ ...head, ...parcel } as unknown as F);
  }
}
