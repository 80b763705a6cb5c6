/** GrpcTransport: calls of a MasterService of TensorFlow through gRPC, in Node. */
import { CancelledError, DeadlineExceededError, TFError, UnavailableError, errorOf } from '../base/errors.js';
import {
  CONNECTION,
  GrpcClient,
  GrpcCredentials,
  GrpcStatus,
  channelCredentials,
  loadGrpc,
  methodPath,
} from './grpc.js';
import { adviceFor, latenessOf, timeLimit } from './server-calls.js';
import { CallOptions, MOST_BYTES, Parcel, Transport, tooLong } from './transport.js';

/** What ends calls to a server that is gone: TensorFlow's own settings, where it has them. */
const RECOVERY = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  /* gRPC's servers refuse clients that ask more often. */
  'grpc.keepalive_time_ms': 310_000,
  'grpc.keepalive_timeout_ms': 20_000,
};

export interface GrpcOptions {
  /** Encrypts the connection. */
  readonly credentials?: GrpcCredentials | undefined;
  /** Ends every call that has no time of its own; 0: none does. */
  readonly timeoutMs?: number | undefined;
}

/** Servers of TensorFlow answer the methods of TensorFlow alone. */
const NO_FILES =
  'Only an engine of this package has files in its memory: restore the checkpoint from a path that the server can read.';

/** gRPC takes and gives Buffers, whose `slice` is no copy. */
const toBuffer = ({ buffer, byteOffset, length }: Uint8Array): Uint8Array =>
  Buffer.from(buffer, byteOffset, length);
const fromBuffer = ({ buffer, byteOffset, length }: Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, length);

export class GrpcTransport implements Transport {
  readonly carriesBuffers = false;
  /** Servers of TensorFlow run steps at the same time. */
  readonly keepsOrder = false;
  readonly mostBytes = MOST_BYTES;
  readonly #client: Promise<GrpcClient>;
  readonly #advice: Readonly<Record<string, string>>;
  #closed = false;

  /** `address` is 'host:port'. The package is loaded now; the first call connects. */
  constructor(
    private readonly address: string,
    private readonly options: GrpcOptions,
  ) {
    this.#advice = adviceFor(address);
    this.#client = this.#open();
    this.#client.catch(() => {}); // each call reports it
  }

  async #open(): Promise<GrpcClient> {
    const grpc = await loadGrpc();
    const credentials = channelCredentials(grpc, this.options.credentials);
    return new grpc.Client(`dns:${this.address}`, credentials, { ...CONNECTION, ...RECOVERY });
  }

  async call(method: string, { bytes }: Parcel, { signal, timeoutMs }: CallOptions): Promise<Parcel> {
    if (bytes.length > MOST_BYTES) throw tooLong(method, bytes.length, MOST_BYTES);
    const limit = timeLimit(timeoutMs, this.options.timeoutMs);
    const client = await this.#client;
    if (this.#closed) throw new UnavailableError(`the connection to ${this.address} was closed`);
    if (signal?.aborted) throw new CancelledError('the call was cancelled');
    return new Promise((resolve, reject) => {
      const options = limit > 0 ? { deadline: Date.now() + limit } : {};
      const call = client.makeUnaryRequest(
        methodPath(method),
        toBuffer,
        fromBuffer,
        bytes,
        options,
        (failure, response) => {
          signal?.removeEventListener('abort', cancel);
          if (failure) reject(this.#errorOf(method, failure, limit));
          else resolve({ bytes: response!, buffers: [] });
        },
      );
      const cancel = () => call.cancel();
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  #errorOf(method: string, { code, details }: GrpcStatus, limit: number): TFError {
    const error = errorOf(code, details);
    if (error instanceof DeadlineExceededError) error.hint(latenessOf(this.address, method, limit));
    if (error.code === 'UNIMPLEMENTED' && /File$|^NumShards$/.test(method)) error.hint(NO_FILES);
    return this.advised(error);
  }

  advised(error: TFError): TFError {
    const advice = this.#advice[error.code];
    return advice === undefined ? error : error.hint(advice);
  }

  /** Ends the connection, with the calls that wait for answers. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#client.then(
      (client) => client.close(),
      () => {}, // there was none
    );
  }
}
