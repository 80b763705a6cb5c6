/** SocketServer: serves calls of a MasterService through WebSockets, in Node: the other end of SocketTransports. */
import type { IncomingMessage, RequestListener, Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UnavailableError } from '../base/errors.js';
import { nodeModule } from '../base/host.js';
import { optionalPackage } from '../base/optional-package.js';
import type { GrpcCredentials } from '../master/grpc.js';
import { CONNECTION, PackageSocket } from '../master/open-socket.js';
import { CLOSING, PROTOCOL } from '../master/socket-frames.js';
import { Serve, describe } from './answer-calls.js';
import { certificatesOf } from './server-certificates.js';
import { SocketConnection, closeSocket } from './socket-connection.js';

interface Listener {
  on(event: 'connection', listener: (socket: PackageSocket, request: IncomingMessage) => void): void;
  on(event: 'error', listener: () => void): void;
}

interface ListenerOptions {
  readonly server: HttpServer;
  handleProtocols(protocols: Set<string>): string | false;
}

/** What a server uses of the package ws. */
interface ServingModule {
  readonly WebSocketServer: new (options: ListenerOptions & typeof CONNECTION) => Listener;
}

const loadWs = optionalPackage<ServingModule>('ws', 'servers of WebSockets need the package');

/** Clients whose machine is gone without a word are found after some times this time. */
const KEEP_ALIVE_MS = 30_000;

const LOCAL_PAGE = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** Whether pages of an origin may run graphs. Clients that are no browsers send none. */
const isAllowed = (origin: string | undefined, origins: readonly string[] | undefined): boolean =>
  origin === undefined ||
  (origins ? origins.includes('*') || origins.includes(origin) : LOCAL_PAGE.test(origin));

export interface SocketServerOptions {
  readonly host: string;
  readonly port: number;
  readonly credentials?: GrpcCredentials | undefined;
  /** The origins of pages that may connect, '*' for all; by default those of this machine. */
  readonly origins?: readonly string[] | undefined;
}

const answerHttp: RequestListener = (_, response) =>
  void response
    .writeHead(426, { 'Content-Type': 'text/plain', Upgrade: 'websocket', Connection: 'Upgrade' })
    .end('A server of tfcore-wasm, for clients that speak WebSocket.\n');

function newHttpServer(credentials: GrpcCredentials | undefined): HttpServer {
  if (!credentials) return nodeModule('node:http').createServer(answerHttp);
  const { ca, cert, key } = certificatesOf(credentials);
  const options = ca ? { cert, key, ca, requestCert: true } : { cert, key };
  return nodeModule('node:https').createServer(options, answerHttp);
}

export class SocketServer {
  readonly #connections = new Set<SocketConnection>();

  private constructor(
    private readonly http: HttpServer,
    private readonly serve: Serve,
    private readonly origins: readonly string[] | undefined,
    private readonly failed: (error: Error) => void,
  ) {}

  /**
   * Listens; port 0 is any free one. `failed` is called with an error that is no status of a call, such as a trap of
   * the engine: nothing can be served any more then.
   */
  static async listen(
    { host, port, credentials, origins }: SocketServerOptions,
    serve: Serve,
    failed: (error: Error) => void,
  ): Promise<SocketServer> {
    const { WebSocketServer } = await loadWs();
    const http = newHttpServer(credentials);
    const server = new SocketServer(http, serve, origins, failed);
    const listener = new WebSocketServer({
      ...CONNECTION,
      server: http,
      handleProtocols: (protocols) => protocols.has(PROTOCOL) && PROTOCOL,
    });
    listener.on('error', () => {}); // the errors of `http`, which are reported below
    listener.on('connection', (socket, request) => server.#connect(socket, request));
    await new Promise<void>((resolve, reject) =>
      http
        .once('error', ({ message }) =>
          reject(new UnavailableError(`the server cannot listen on ${host}:${port}: ${message}`)),
        )
        .listen(port, host, resolve),
    );
    return server;
  }

  /** The port on which it listens. */
  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  /** Ends all connections, and with them the calls under way and the sessions. */
  close(): void {
    this.#end(CLOSING.away, 'the server was closed');
  }

  #end(code: number, reason: string): void {
    this.http.close();
    this.http.closeAllConnections(); // those that are no sockets yet
    for (const connection of this.#connections) connection.end(code, reason);
  }

  #connect(socket: PackageSocket, request: IncomingMessage): void {
    const { origin } = request.headers;
    request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (!isAllowed(origin, this.origins)) {
      const reason = `the server does not serve pages of ${origin}: its option 'origins' can allow it`;
      return refuse(socket, CLOSING.policy, reason);
    }
    if (socket.protocol !== PROTOCOL)
      return refuse(socket, CLOSING.protocol, `the subprotocol must be ${PROTOCOL}`);
    const crash = (error: Error) => {
      this.failed(error);
      this.#end(CLOSING.crash, `the engine of the server has failed: ${describe(error)}`);
    };
    const connection: SocketConnection = new SocketConnection(socket, this.serve, crash, () =>
      this.#connections.delete(connection),
    );
    this.#connections.add(connection);
  }
}

function refuse(socket: PackageSocket, code: number, reason: string): void {
  socket.onerror = () => {};
  closeSocket(socket, code, reason);
}
