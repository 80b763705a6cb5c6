/** Server: runs the steps of sessions elsewhere, of this package or of TensorFlow, on this process' engine. */
import { Schema, checkOptions, checkText, checkTexts, shown } from '../base/arguments.js';
import { InvalidArgumentError, UnimplementedError } from '../base/errors.js';
import { isNode } from '../base/host.js';
import type { Runtime } from '../engine/runtime.js';
import { GrpcCredentials, checkCredentials } from '../master/grpc.js';
import type { ServerTarget, SocketTarget } from '../session/server-target.js';
import { Cluster, ClusterSpec } from './cluster.js';
import { GrpcServer } from './grpc-server.js';
import { SocketServer } from './socket-server.js';
import { taskName } from './task-name.js';
import { TaskServices } from './task-services.js';

export interface ServeOptions {
  /**
   * The address on which the server listens, 127.0.0.1 by default. TensorFlow's protocol has no authentication:
   * whoever reaches another address can run graphs, which read and write files of this machine.
   */
  host?: string;
  /**
   * For gRPC. 0: any free port, the default without a cluster. With websocketPort alone the server does not speak gRPC.
   */
  port?: number;
  /** For WebSockets, with which pages use the server. 0: any free port. They need the package ws. */
  websocketPort?: number;
  /**
   * The origins of pages that may use the server, such as 'https://example.org'; '*' for all. Without it pages of
   * this machine may, those of localhost.
   */
  origins?: readonly string[];
  /** The job and the number of the task, which are in the names of the devices; 'localhost' and 0 by default. */
  job?: string;
  task?: number;
  /**
   * The tasks that compute together, of this package or of TensorFlow: `{ ps: ['a:2222'], worker: ['b:2222', 'c:2222'] }`.
   * `job` and `task` say which of them this server is. Its port is the one that is given here, unless `port` is another.
   */
  cluster?: ClusterSpec;
  /** How many devices of type CPU it has; 1 by default. */
  deviceCount?: number;
  /** A certificate with its key: connections use TLS. With rootCertificates clients must have a certificate, too. */
  credentials?: GrpcCredentials;
}

const OPTIONS: Schema<ServeOptions> = {
  host: 'a string',
  port: 'a number',
  websocketPort: 'a number',
  origins: 'an array',
  job: 'a string',
  task: 'a number',
  cluster: 'an object',
  deviceCount: 'a number',
  credentials: 'an object',
};

/** What a server listens with. */
interface Listeners {
  grpc?: GrpcServer;
  sockets?: SocketServer;
}

function closeAll({ grpc, sockets }: Listeners): void {
  grpc?.close();
  sockets?.close();
}

/** A host in an address with a port. */
const nameOf = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Adds the listeners that the options ask for. */
async function listen(
  listeners: Listeners,
  { host, port, websocketPort, credentials, origins }: ServeOptions & { host: string },
  { methods, serve }: TaskServices,
  failed: (error: Error) => void,
): Promise<void> {
  if (websocketPort !== undefined)
    listeners.sockets = await SocketServer.listen(
      { host, port: websocketPort, credentials, origins },
      serve,
      failed,
    );
  if (port === undefined && websocketPort !== undefined) return;
  const address = `${nameOf(host)}:${port ?? 0}`;
  listeners.grpc = await GrpcServer.listen(address, credentials, methods, serve, failed);
}

const isWhole = (value: number, most: number): boolean =>
  Number.isInteger(value) && value >= 0 && value <= most;

/** The port of a task that its cluster names. */
function portIn(cluster: Cluster, task: string, { port, websocketPort }: ServeOptions): { port?: number } {
  if (cluster.tasks.length === 0) return {};
  if (!cluster.tasks.includes(task))
    throw new InvalidArgumentError(
      `${task} is not a task of the cluster, whose tasks are ${cluster.tasks.join(', ')}`,
    );
  if (port !== undefined || websocketPort !== undefined) return {};
  return { port: Number(cluster.addressOf(task).replace(/^.*:/, '')) };
}

export class Server {
  private constructor(
    private readonly services: TaskServices,
    private readonly listeners: Listeners,
    /** 'grpc://127.0.0.1:2222', the target of sessions; that of WebSockets if the server does not speak gRPC. */
    readonly target: ServerTarget,
    /** 'ws://127.0.0.1:8080', the target of sessions in pages, too. */
    readonly websocketTarget: SocketTarget | undefined,
    /** '/job:worker/replica:0/task:1', the beginning of the names of its devices. */
    readonly task: string,
    /** Fulfilled when the server is closed; rejected when its engine has crashed, and can serve nothing any more. */
    readonly closed: Promise<void>,
    private readonly end: () => void,
  ) {}

  /** @internal Starts a server. As tf.Server.start. */
  static async startIn(runtime: Runtime, options: ServeOptions): Promise<Server> {
    checkOptions<ServeOptions>('Server.start', options, OPTIONS);
    if (!isNode)
      throw new UnimplementedError(
        'a page cannot be a server, because browsers give pages no sockets that listen: start the server in Node',
      );
    const { host = '127.0.0.1', port, websocketPort, origins, job = 'localhost', task = 0 } = options;
    checkText('the host', host);
    for (const [name, one] of Object.entries({ port, websocketPort }))
      if (one !== undefined && !isWhole(one, 65535))
        throw new InvalidArgumentError(`${name} must be from 0 to 65535, not ${shown(one)}`);
    if (origins !== undefined) checkTexts('origins', origins);
    if (!isWhole(task, 2 ** 31 - 1))
      throw new InvalidArgumentError(`task must be a whole number from 0 on, not ${shown(task)}`);
    if (!/^[A-Za-z][\w]*$/.test(job))
      throw new InvalidArgumentError(`job must be letters, digits and _, not ${shown(job)}`);
    if (options.credentials !== undefined) checkCredentials(options.credentials);
    const cluster = Cluster.of(options.cluster ?? {});
    const name = taskName(job, task);
    return Server.#listen(runtime, name, cluster, { ...options, host, ...portIn(cluster, name, options) });
  }

  static async #listen(
    runtime: Runtime,
    task: string,
    cluster: Cluster,
    options: ServeOptions & { host: string },
  ): Promise<Server> {
    const services = new TaskServices(runtime, task, options.deviceCount ?? 1, cluster);
    let end = (): void => {};
    let crash: (error: Error) => void = () => {};
    const closed = new Promise<void>((resolve, reject) => ([end, crash] = [resolve, reject]));
    closed.catch(() => {}); // whoever looks at it learns of a crash
    const listeners: Listeners = {};
    try {
      await listen(listeners, options, services, (error) => {
        crash(error);
        closeAll(listeners);
      });
      const name = nameOf(options.host);
      const { grpc, sockets } = listeners;
      const scheme = options.credentials ? 'wss' : 'ws';
      const websocketTarget = sockets && (`${scheme}://${name}:${sockets.port}` as const);
      const target = grpc ? (`grpc://${name}:${grpc.port}` as const) : websocketTarget!;
      return new Server(services, listeners, target, websocketTarget, task, closed, end);
    } catch (error) {
      closeAll(listeners);
      await services.close();
      throw error;
    }
  }

  /** Ends all sessions, connections and calls under way, and frees the variables. */
  async close(): Promise<void> {
    closeAll(this.listeners);
    await this.services.close();
    this.end();
  }
}
