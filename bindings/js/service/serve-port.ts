/** Serves a MasterService through a message port, the other end of a PortTransport. */
import { TFError, codeNumber } from '../base/errors.js';
import { isNode } from '../base/host.js';
import type { ClientFrame, RequestFrame, ServiceFrame } from '../master/port-frames.js';
import type { Parcel } from '../master/transport.js';

/** As MasterService.call. */
export type Serve = (
  method: string,
  request: Parcel,
  signal: AbortSignal,
  carriesBuffers: boolean,
) => Promise<Parcel>;

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** Sends a frame. Buffers are transferred. */
export const send = (port: MessagePort, frame: ServiceFrame, transfer: ArrayBuffer[] = []): void =>
  port.postMessage(frame, transfer);

/**
 * Answers calls from now on. Only TFErrors are statuses of calls; after another one, such as a trap of the
 * engine, nothing can be served any more.
 */
export function servePort(port: MessagePort, serve: Serve): void {
  const underWay = new Map<number, AbortController>();
  const answer = async ({ id, method, bytes, buffers }: RequestFrame): Promise<void> => {
    const cancelling = new AbortController();
    underWay.set(id, cancelling);
    try {
      const response = await serve(method, { bytes, buffers }, cancelling.signal, true);
      send(port, { id, ...response }, [response.bytes.buffer as ArrayBuffer, ...response.buffers]);
    } catch (error) {
      if (error instanceof TFError) send(port, { id, code: codeNumber(error.code), message: error.message });
      else send(port, { fatal: describe(error) });
    } finally {
      underWay.delete(id);
    }
  };
  port.onmessage = ({ data }: MessageEvent<ClientFrame>) => {
    if ('cancel' in data) underWay.get(data.cancel)?.abort();
    else void answer(data);
  };
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
