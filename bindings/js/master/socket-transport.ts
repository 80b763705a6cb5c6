/** SocketTransport: calls of a MasterService through a WebSocket, in pages, workers and Node. */
import {
  DeadlineExceededError,
  InvalidArgumentError,
  PermissionDeniedError,
  TFError,
  UnavailableError,
  codeNumber,
  errorOf,
} from '../base/errors.js';
import type { AnswerFrame } from './frames.js';
import type { GrpcCredentials } from './grpc.js';
import { OpenedSocket, openSocket } from './open-socket.js';
import { PendingCalls } from './pending-calls.js';
import { adviceFor, latenessOf, timeLimit } from './server-calls.js';
import { CLOSING, FrameReader, FrameWriter } from './socket-frames.js';
import { CallOptions, MOST_BYTES, Parcel, Transport, tooLong } from './transport.js';

export interface SocketOptions {
  /** For wss:// in Node: as of gRPC. */
  readonly credentials?: GrpcCredentials | undefined;
  /** Ends every call that has no time of its own; 0: none does. */
  readonly timeoutMs?: number | undefined;
}

const lengthOf = ({ bytes, buffers }: Parcel): number =>
  buffers.reduce((sum, { byteLength }) => sum + byteLength, bytes.length);

export class SocketTransport implements Transport {
  readonly carriesBuffers = true;
  readonly keepsOrder = true;
  readonly mostBytes = MOST_BYTES;
  readonly #writer = new FrameWriter();
  readonly #calls = new PendingCalls(
    (id) => this.#writer.cancel(id),
    (isWaiting) => {
      this.#isHeld = isWaiting;
      this.#opened?.hold(isWaiting);
    },
  );
  readonly #advice: Readonly<Record<string, string>>;
  #opened: OpenedSocket | undefined;
  #isHeld = false;
  /** What every call is told from now on. */
  #failure: (() => TFError) | undefined;

  /** `address` is 'ws://host:port' or 'wss://host:port', to which it connects now. */
  constructor(
    private readonly address: string,
    private readonly options: SocketOptions,
  ) {
    this.#advice = adviceFor(address);
    openSocket(address, options.credentials).then(
      (opened) => this.#begin(opened),
      (error: Error) => {
        const code = error instanceof TFError ? codeNumber(error.code) : 0;
        const { message } = error;
        this.#fail(() => (code > 0 ? errorOf(code, message) : this.#unavailable(message)));
      },
    );
  }

  async call(method: string, parcel: Parcel, { signal, timeoutMs }: CallOptions): Promise<Parcel> {
    const length = lengthOf(parcel);
    if (length > MOST_BYTES) throw tooLong(method, length, MOST_BYTES);
    if (this.#failure) throw this.#failure();
    const limit = timeLimit(timeoutMs, this.options.timeoutMs);
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await this.#calls.begin(signal, (id) => {
        this.#writer.write({ id, method, ...parcel });
        if (limit > 0) timer = setTimeout(() => this.#calls.end(id, this.#late(method, limit)), limit);
      });
    } catch (error) {
      throw this.advised(error as TFError);
    } finally {
      clearTimeout(timer);
    }
  }

  advised(error: TFError): TFError {
    const advice = this.#advice[error.code];
    return advice === undefined ? error : error.hint(advice);
  }

  /** Ends the connection, with the calls that wait for answers. */
  close(): void {
    this.#fail(() => new UnavailableError(`the connection to ${this.address} was closed`));
  }

  #begin(opened: OpenedSocket): void {
    const { socket } = opened;
    if (this.#failure) return socket.close();
    this.#opened = opened;
    opened.hold(this.#isHeld);
    socket.binaryType = 'arraybuffer';
    const reader = new FrameReader<AnswerFrame>((frame) => this.#receive(frame));
    let [isOpen, problem] = [false, ''];
    socket.onopen = () => {
      isOpen = true;
      this.#writer.start(socket);
    };
    socket.onmessage = ({ data }) => {
      try {
        reader.read(data);
      } catch (error) {
        const what = `a message could not be read: ${(error as Error).message}`;
        this.#fail(() => this.#unavailable(what));
      }
    };
    socket.onerror = ({ message }) => (problem = message ?? '');
    socket.onclose = ({ code, reason }) => {
      const why = problem || reason || (isOpen ? `with code ${code}` : 'no server of this package answered');
      this.#fail(() => (code === CLOSING.policy ? new PermissionDeniedError(why) : this.#unavailable(why)));
    };
  }

  #receive(frame: AnswerFrame): void {
    if ('code' in frame) this.#calls.reject(frame.id, errorOf(frame.code, frame.message));
    else if ('bytes' in frame) this.#calls.resolve(frame.id, frame);
    else throw new InvalidArgumentError('it is no answer');
  }

  #late(method: string, limit: number): TFError {
    return new DeadlineExceededError(latenessOf(this.address, method, limit));
  }

  #unavailable(why: string): TFError {
    return this.advised(
      new UnavailableError(
        `there is no connection to ${this.address} (${why}), and the sessions that it carried have ended`,
      ),
    );
  }

  /** Fails all calls, now and later. */
  #fail(failure: () => TFError): void {
    if (this.#failure) return;
    this.#failure = failure;
    this.#writer.stop();
    this.#calls.rejectAll(failure);
    this.#opened?.socket.close();
  }
}
