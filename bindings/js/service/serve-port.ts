/** Serves a MasterService through a message port, the other end of a PortTransport. */
import { isNode } from '../base/host.js';
import type { AnswerFrame, ClientFrame, ServiceFrame } from '../master/frames.js';
import { CallAnswerer, Serve, describe } from './answer-calls.js';

/** Sends a frame. Buffers are transferred. */
export const send = (port: MessagePort, frame: ServiceFrame, transfer: ArrayBuffer[] = []): void =>
  port.postMessage(frame, transfer);

const buffersOf = (frame: AnswerFrame): ArrayBuffer[] =>
  'bytes' in frame ? [frame.bytes.buffer as ArrayBuffer, ...frame.buffers] : [];

/** Answers calls from now on. */
export function servePort(port: MessagePort, serve: Serve): void {
  const answerer = new CallAnswerer(
    serve,
    (frame) => send(port, frame, buffersOf(frame)),
    (error) => send(port, { fatal: describe(error) }),
  );
  port.onmessage = ({ data }: MessageEvent<ClientFrame>) => answerer.receive(data);
}

/**
 * Pages are not told when a worker ends. They can ask for a lock that the worker holds: they get it when the
 * worker has ended. Node's ports are closed then.
 */
export function holdLock(port: MessagePort): void {
  if (isNode || !globalThis.isSecureContext || !navigator.locks) return;
  const lock = `tfcore-wasm ${newId()}`;
  const forever = () => {
    send(port, { lock });
    return new Promise(() => {});
  };
  navigator.locks.request(lock, forever).catch(() => {}); // in a page without an origin
}

const newId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
