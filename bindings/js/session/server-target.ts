/**
 * The targets of servers, on other machines or in other processes: 'grpc://host:port', servers of TensorFlow and of this
 * package, from Node; 'ws://host:port' and 'wss://host:port', those of this package, from pages, too.
 */
import { checkTexts, shown } from '../base/arguments.js';
import { InvalidArgumentError, UnimplementedError } from '../base/errors.js';
import { isNode } from '../base/host.js';
import { timeoutOf } from '../engine/step-queue.js';
import type { Graph } from '../graph/graph.js';
import { GrpcCredentials, checkCredentials } from '../master/grpc.js';
import { GrpcTransport } from '../master/grpc-transport.js';
import { Reset } from '../master/messages.js';
import { SocketTransport } from '../master/socket-transport.js';
import { Transport, invoke } from '../master/transport.js';
import { RemoteBackend } from './remote-backend.js';

export type GrpcTarget = `grpc://${string}`;
export type SocketTarget = `ws://${string}` | `wss://${string}`;
export type ServerTarget = GrpcTarget | SocketTarget;

/** How a server is reached. */
export interface ServerOptions {
  /**
   * For servers behind TLS: `{ rootCertificates, certificate, privateKey }` in PEM format, as read from files. `{}`
   * trusts the authorities that Node trusts. Without it the connection is not encrypted, as TensorFlow's are.
   */
  credentials?: GrpcCredentials;
  /**
   * Milliseconds after which a step without `timeoutMs` fails with DeadlineExceededError, and after which the server
   * must have answered other calls; 0: none. By default steps may take as long as they do, and other calls 60 s.
   */
  operationTimeoutMs?: number;
}

export const isServerTarget = (target: unknown): target is ServerTarget =>
  typeof target === 'string' && /^(?:grpc|wss?):\/\//.test(target);

const isSocketTarget = (target: ServerTarget): target is SocketTarget => target.startsWith('ws');

/** A connection, which is closed when nobody needs it any more. */
type Connection = Transport & { close(): void };

/** The connection to a target. */
function connectTo(target: ServerTarget, { credentials, operationTimeoutMs }: ServerOptions): Connection {
  if (credentials !== undefined) checkCredentials(credentials);
  const timeoutMs =
    operationTimeoutMs === undefined ? undefined : timeoutOf({ timeoutMs: operationTimeoutMs });
  const options = { credentials, timeoutMs };
  return isSocketTarget(target)
    ? new SocketTransport(socketAddress(target, credentials), options)
    : new GrpcTransport(grpcAddress(target), options);
}

function grpcAddress(target: GrpcTarget): string {
  if (!isNode)
    throw new UnimplementedError(
      `target '${target}': a page cannot speak gRPC, because browsers give pages no HTTP/2 connections of their own. Start the server of this package with WebSockets (npx tfcore-wasm serve --websocket 8080) and use target 'ws://host:8080', or use target 'worker'`,
    );
  const address = target.slice('grpc://'.length);
  if (!/^(?:[^\s:/,]+|\[[\da-fA-F:.]+\]):\d{1,5}$/.test(address))
    throw new InvalidArgumentError(`target ${shown(target)} is not of the form grpc://host:port`);
  return address;
}

function socketAddress(target: SocketTarget, credentials: GrpcCredentials | undefined): SocketTarget {
  if (!URL.canParse(target) || target.includes('#'))
    throw new InvalidArgumentError(`target ${shown(target)} is not of the form ws://host:port`);
  if (credentials && !isNode)
    throw new UnimplementedError('a page has no credentials of its own: browsers trust whom they trust');
  if (credentials && !target.startsWith('wss:'))
    throw new InvalidArgumentError(`credentials need the target wss://, not ${shown(target)}`);
  return target;
}

/** `config` is a ConfigProto. */
export function openOnServer(
  graph: Graph,
  target: ServerTarget,
  config: Uint8Array,
  options: ServerOptions,
): RemoteBackend {
  const transport = connectTo(target, options);
  return new RemoteBackend(transport, graph, config, () => transport.close());
}

/** Closes the sessions of a server, and frees the variables of the containers; of all of them if none is named. */
export async function resetServer(
  target: ServerTarget,
  containers: readonly string[],
  options: ServerOptions,
): Promise<void> {
  checkTexts('containers', containers);
  const transport = connectTo(target, options);
  try {
    await invoke(transport, Reset, { container: containers });
  } finally {
    transport.close();
  }
}
