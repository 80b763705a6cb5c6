/** PortTransport: calls of a MasterService through a message port. */
import { CancelledError, TFError, UnavailableError, errorOf } from '../base/errors.js';
import type { ClientFrame, ServiceFrame } from './port-frames.js';
import type { CallOptions, Parcel, Transport } from './transport.js';

/** Node's ports can keep the process alive, or not. */
type Port = MessagePort & { ref?(): void; unref?(): void };

interface Pending {
  resolve(response: Parcel): void;
  reject(error: TFError): void;
}

export class PortTransport implements Transport {
  readonly carriesBuffers = true;
  readonly keepsOrder = true;
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;
  /** Why the service can serve nothing any more. No error, because errors keep alive who was called. */
  private failure: string | undefined;
  private readonly watching = new AbortController();

  /**
   * `log` receives the lines of the service's log; `ended` is called once when the service can serve nothing
   * any more.
   */
  constructor(
    private readonly port: Port,
    private readonly log: (line: string) => void,
    private readonly ended: () => void,
  ) {
    port.onmessage = ({ data }: MessageEvent<ServiceFrame>) => this.receive(data);
    port.onmessageerror = () => this.fail('a message could not be read');
    port.addEventListener('close', () => this.fail('it ended'));
    port.unref?.();
  }

  call(method: string, { bytes, buffers }: Parcel, { signal }: CallOptions): Promise<Parcel> {
    if (this.failure !== undefined) return Promise.reject(this.unavailable());
    if (signal?.aborted) return Promise.reject(new CancelledError('the call was cancelled'));
    const id = ++this.lastId;
    const called = new Promise<Parcel>((resolve, reject) => {
      const cancel = () => {
        this.send({ cancel: id }, []);
        this.take(id)?.reject(new CancelledError('the call was cancelled'));
      };
      signal?.addEventListener('abort', cancel, { once: true });
      const settled = () => signal?.removeEventListener('abort', cancel);
      this.pending.set(id, {
        resolve: (response) => (settled(), resolve(response)),
        reject: (error) => (settled(), reject(error)),
      });
    });
    if (this.pending.size === 1) this.port.ref?.();
    this.send({ id, method, bytes, buffers }, [bytes.buffer as ArrayBuffer, ...buffers]);
    return called;
  }

  /** Fails all calls, now and later, with UNAVAILABLE. */
  fail(reason: string): void {
    if (this.failure !== undefined) return;
    this.failure = reason;
    for (const id of [...this.pending.keys()]) this.take(id)?.reject(this.unavailable());
    this.watching.abort();
    this.port.close();
    this.ended();
  }

  private unavailable(): TFError {
    return new UnavailableError(`the worker of the session is gone: ${this.failure}. Make a new session`);
  }

  private send(frame: ClientFrame, transfer: ArrayBuffer[]): void {
    if (this.failure === undefined) this.port.postMessage(frame, transfer);
  }

  private receive(frame: ServiceFrame): void {
    if ('log' in frame) this.log(frame.log);
    else if ('fatal' in frame) this.fail(frame.fatal);
    else if ('lock' in frame) this.watch(frame.lock);
    else if ('code' in frame) this.take(frame.id)?.reject(errorOf(frame.code, frame.message));
    else this.take(frame.id)?.resolve(frame);
  }

  /** Waits for the lock that the service holds: whoever gets it knows that the service has ended. */
  private watch(lock: string): void {
    const { signal } = this.watching;
    navigator.locks.request(lock, { signal }, () => this.fail('it ended')).catch(() => {}); // aborted below
  }

  /** The call of an id, which is no longer pending; undefined if it was cancelled. */
  private take(id: number): Pending | undefined {
    const call = this.pending.get(id);
    this.pending.delete(id);
    if (this.pending.size === 0) this.port.unref?.();
    return call;
  }
}
