/** SocketConnection: a client of a SocketServer. Its sessions live as long as the connection. */
import { InvalidArgumentError, TFError } from '../base/errors.js';
import type { AnswerFrame, ClientFrame } from '../master/frames.js';
import { CloseSession, CreateSession } from '../master/messages.js';
import type { PackageSocket } from '../master/open-socket.js';
import { CLOSING, FrameReader, FrameWriter, closingReason } from '../master/socket-frames.js';
import { Parcel, pack, unpack } from '../master/transport.js';
import { CallAnswerer, Serve } from './answer-calls.js';
import { shortened } from './shortened.js';

/** The message of an error is in the head of a frame. */
const MOST_CHARACTERS = 1 << 16;

/** A client that does not answer the end of its socket is cut off. */
const PATIENCE_MS = 1000;

export class SocketConnection {
  /** The handles of the sessions that the client created. */
  readonly #sessions = new Set<string>();
  readonly #answerer: CallAnswerer;
  readonly #writer: FrameWriter;
  #isEnded = false;

  /** `failed` as of CallAnswerer; `ended` is called when the connection is closed. */
  constructor(
    private readonly socket: PackageSocket,
    private readonly serve: Serve,
    private readonly failed: (error: Error) => void,
    private readonly ended: () => void,
  ) {
    /* A client that does not read its answers cannot ask for more. */
    this.#writer = new FrameWriter((isWaiting) => (isWaiting ? socket.pause() : socket.resume()));
    this.#answerer = new CallAnswerer(
      (...call) => this.#serve(...call),
      (frame) => this.#write(frame),
      failed,
    );
    const reader = new FrameReader<ClientFrame>((frame) => this.#receive(frame));
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => {
      if (this.#isEnded) return;
      try {
        reader.read(data);
      } catch (error) {
        this.end(CLOSING.protocol, `a message could not be read: ${(error as Error).message}`);
      }
    };
    socket.onerror = () => {}; // the end follows
    socket.onclose = () => this.#release();
    this.#writer.start(socket);
  }

  /** Ends the connection, and the steps and sessions of its client, who is told a code and a reason. */
  end(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#release();
    closeSocket(this.socket, code, reason);
  }

  #receive(frame: ClientFrame): void {
    const isFrame = 'cancel' in frame || (typeof frame.method === 'string' && 'bytes' in frame);
    if (!isFrame) throw new InvalidArgumentError('it is no call');
    this.#answerer.receive(frame);
  }

  #write(frame: AnswerFrame): void {
    if (this.#isEnded) return;
    this.#writer.write(
      'code' in frame ? { ...frame, message: shortened(frame.message, MOST_CHARACTERS) } : frame,
    );
  }

  async #serve(
    method: string,
    request: Parcel,
    signal: AbortSignal,
    carriesBuffers: boolean,
  ): Promise<Parcel> {
    const response = await this.serve(method, request, signal, carriesBuffers);
    if (method === CreateSession.name) {
      const { sessionHandle } = unpack(CreateSession.response, response);
      this.#sessions.add(sessionHandle);
      if (this.#isEnded) this.#closeSessions();
    } else if (method === CloseSession.name)
      this.#sessions.delete(unpack(CloseSession.request, request).sessionHandle);
    return response;
  }

  #release(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#writer.stop();
    this.#answerer.end();
    this.#closeSessions();
    this.ended();
  }

  /** Nobody else knows their handles. */
  #closeSessions(): void {
    for (const sessionHandle of this.#sessions) {
      const request = pack(CloseSession.request, { sessionHandle }, false);
      this.serve(CloseSession.name, request, new AbortController().signal, false).catch((error: Error) => {
        if (!(error instanceof TFError)) this.failed(error); // a reset may have closed it before
      });
    }
    this.#sessions.clear();
  }
}

/** Closes a socket, whatever the other side does. */
export function closeSocket(socket: PackageSocket, code: number, reason: string): void {
  socket.close(code, closingReason(reason));
  setTimeout(() => socket.terminate(), PATIENCE_MS).unref();
}
