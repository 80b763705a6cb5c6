/** PendingCalls: the calls of a transport that wait for their answers, by id. */
import { CancelledError, TFError } from '../base/errors.js';
import type { Parcel } from './transport.js';

interface Pending {
  resolve(response: Parcel): void;
  reject(error: TFError): void;
}

export class PendingCalls {
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  /** `cancel` tells the service that a call was cancelled; `hold` learns whether calls wait. */
  constructor(
    private readonly cancel: (id: number) => void,
    private readonly hold: (isWaiting: boolean) => void,
  ) {}

  /** A new call, for `send` to send. The signal cancels it. */
  begin(signal: AbortSignal | undefined, send: (id: number) => void): Promise<Parcel> {
    if (signal?.aborted) return Promise.reject(new CancelledError('the call was cancelled'));
    const id = ++this.lastId;
    const called = new Promise<Parcel>((resolve, reject) => {
      const cancel = () => this.end(id, new CancelledError('the call was cancelled'));
      signal?.addEventListener('abort', cancel, { once: true });
      const settled = () => signal?.removeEventListener('abort', cancel);
      this.pending.set(id, {
        resolve: (response) => (settled(), resolve(response)),
        reject: (error) => (settled(), reject(error)),
      });
    });
    if (this.pending.size === 1) this.hold(true);
    send(id);
    return called;
  }

  /** Ends a call here and at the service, unless it has ended. */
  end(id: number, error: TFError): void {
    if (!this.pending.has(id)) return;
    this.cancel(id);
    this.reject(id, error);
  }

  /** The answer of a call. It is ignored if the call was cancelled. */
  resolve(id: number, response: Parcel): void {
    this.take(id)?.resolve(response);
  }

  reject(id: number, error: TFError): void {
    this.take(id)?.reject(error);
  }

  /** An error for each of them. */
  rejectAll(error: () => TFError): void {
    for (const id of [...this.pending.keys()]) this.reject(id, error());
  }

  private take(id: number): Pending | undefined {
    const call = this.pending.get(id);
    if (this.pending.delete(id) && this.pending.size === 0) this.hold(false);
    return call;
  }
}
