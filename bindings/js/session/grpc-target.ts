/** The targets 'grpc://host:port': servers of TensorFlow, on other machines or in other processes. Node only. */
import { checkTexts, shown } from '../base/arguments.js';
import { InvalidArgumentError, UnimplementedError } from '../base/errors.js';
import { isNode } from '../base/host.js';
import { timeoutOf } from '../engine/step-queue.js';
import type { Graph } from '../graph/graph.js';
import { GrpcCredentials, checkCredentials } from '../master/grpc.js';
import { GrpcTransport } from '../master/grpc-transport.js';
import { Reset } from '../master/messages.js';
import { invoke } from '../master/transport.js';
import { RemoteBackend } from './remote-backend.js';

export type GrpcTarget = `grpc://${string}`;

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

const PREFIX = 'grpc://';

export const isGrpcTarget = (target: unknown): target is GrpcTarget =>
  typeof target === 'string' && target.startsWith(PREFIX);

/** The connection to a target. */
function connectTo(target: GrpcTarget, { credentials, operationTimeoutMs }: ServerOptions): GrpcTransport {
  if (!isNode)
    throw new UnimplementedError(
      `target '${target}': a page cannot speak gRPC, because browsers give pages no HTTP/2 connections of their own. Open the session in Node, or use target 'worker'`,
    );
  const address = target.slice(PREFIX.length);
  if (!/^(?:[^\s:/,]+|\[[\da-fA-F:.]+\]):\d{1,5}$/.test(address))
    throw new InvalidArgumentError(`target ${shown(target)} is not of the form grpc://host:port`);
  if (credentials !== undefined) checkCredentials(credentials);
  const timeoutMs =
    operationTimeoutMs === undefined ? undefined : timeoutOf({ timeoutMs: operationTimeoutMs });
  return new GrpcTransport(address, { credentials, timeoutMs });
}

/** `config` is a ConfigProto. */
export function openOnServer(
  graph: Graph,
  target: GrpcTarget,
  config: Uint8Array,
  options: ServerOptions,
): RemoteBackend {
  const transport = connectTo(target, options);
  return new RemoteBackend(transport, graph, config, () => transport.close());
}

/** Closes the sessions of a server, and frees the variables of the containers; of all of them if none is named. */
export async function resetServer(
  target: GrpcTarget,
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
