/** PortTransport: calls of a MasterService through a message port. */
import { TFError, UnavailableError, errorOf } from '../base/errors.js';
import { PendingCalls } from './pending-calls.js';
import type { ClientFrame, ServiceFrame } from './frames.js';
import type { CallOptions, Parcel, Transport } from './transport.js';

/** Node's ports can keep the process alive, or not. */
type Port = MessagePort & { ref?(): void; unref?(): void };

export class PortTransport implements Transport {
  readonly carriesBuffers = true;
  readonly keepsOrder = true;
  private readonly calls = new PendingCalls(
    (id) => this.send({ cancel: id }, []),
    (isWaiting) => (isWaiting ? this.port.ref?.() : this.port.unref?.()),
  );
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
    return this.calls.begin(signal, (id) =>
      this.send({ id, method, bytes, buffers }, [bytes.buffer as ArrayBuffer, ...buffers]),
    );
  }

  /** Fails all calls, now and later, with UNAVAILABLE. */
  fail(reason: string): void {
    if (this.failure !== undefined) return;
    this.failure = reason;
    this.calls.rejectAll(() => this.unavailable());
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
    else if ('code' in frame) this.calls.reject(frame.id, errorOf(frame.code, frame.message));
    else this.calls.resolve(frame.id, frame);
  }

  /** Waits for the lock that the service holds: whoever gets it knows that the service has ended. */
  private watch(lock: string): void {
    const { signal } = this.watching;
    navigator.locks.request(lock, { signal }, () => this.fail('it ended')).catch(() => {}); // aborted below
  }
}
