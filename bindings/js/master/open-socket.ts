/** Opens WebSockets: those of the host, or in Node those of the package ws, which users install. */
import { isNode } from '../base/host.js';
import { optionalPackage } from '../base/optional-package.js';
import { checkCertificates, pem } from './certificates.js';
import type { GrpcCredentials } from './grpc.js';
import { FrameSocket, MOST_MESSAGE, PROTOCOL } from './socket-frames.js';

/** A socket of Node keeps the process alive, unless it is told not to. */
interface Upgraded {
  readonly socket: { ref(): void; unref(): void };
}

export interface PackageSocket extends FrameSocket {
  on(event: 'upgrade', listener: (response: Upgraded) => void): void;
  pause(): void;
  resume(): void;
  terminate(): void;
}

/** What a client uses of the package ws. */
interface WsModule {
  readonly WebSocket: new (address: string, protocols: readonly string[], options: object) => PackageSocket;
}

const loadWs = optionalPackage<WsModule>(
  'ws',
  'in Node, targets ws:// and wss:// with this version or with credentials need the package',
);

export interface OpenedSocket {
  readonly socket: FrameSocket;
  /** Whether the socket keeps a process of Node alive from now on. */
  hold(isHeld: boolean): void;
}

/** Settings of both sides. Tensors are not worth the time of compressing them. */
export const CONNECTION = { maxPayload: MOST_MESSAGE, perMessageDeflate: false } as const;

/** A socket that begins to connect. */
export async function openSocket(
  address: string,
  credentials: GrpcCredentials | undefined,
): Promise<OpenedSocket> {
  const isNeeded = credentials !== undefined || typeof WebSocket === 'undefined';
  const ws = isNode
    ? await loadWs().catch((error: Error) => (isNeeded ? Promise.reject(error) : undefined))
    : undefined;
  if (ws) return openInNode(ws, address, credentials);
  return { socket: new WebSocket(address, PROTOCOL) as FrameSocket, hold: () => {} };
}

/** The package's, whose sockets need not keep the process alive. */
function openInNode(
  { WebSocket }: WsModule,
  address: string,
  credentials: GrpcCredentials | undefined,
): OpenedSocket {
  const { rootCertificates, certificate, privateKey } = credentials ?? {};
  const [ca, cert, key] = [rootCertificates, certificate, privateKey].map((text) => pem(text) ?? undefined);
  const files = { ca, cert, key };
  checkCertificates(files);
  const socket = new WebSocket(address, [PROTOCOL], { ...CONNECTION, ...files });
  let connection: Upgraded['socket'] | undefined;
  let isWanted = true;
  const apply = () => (isWanted ? connection?.ref() : connection?.unref());
  socket.on('upgrade', (upgraded) => {
    connection = upgraded.socket;
    apply();
  });
  const hold = (isHeld: boolean) => {
    isWanted = isHeld;
    apply();
  };
  return { socket, hold };
}
