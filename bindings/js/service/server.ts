/** Server: runs the steps of sessions elsewhere, of this package or of TensorFlow, on this process' engine. */
import { Schema, checkOptions, checkText, shown } from '../base/arguments.js';
import { InvalidArgumentError, UnimplementedError } from '../base/errors.js';
import { isNode } from '../base/host.js';
import type { Runtime } from '../engine/runtime.js';
import { GrpcCredentials, checkCredentials } from '../master/grpc.js';
import { DeviceManager } from '../session/device-manager.js';
import { GrpcServer } from './grpc-server.js';
import { MasterService } from './master-service.js';

export interface ServeOptions {
  /**
   * The address on which the server listens, 127.0.0.1 by default. TensorFlow's protocol has no authentication:
   * whoever reaches another address can run graphs, which read and write files of this machine.
   */
  host?: string;
  /** 0, the default: any free port. */
  port?: number;
  /** The job and the number of the task, which are in the names of the devices; 'localhost' and 0 by default. */
  job?: string;
  task?: number;
  /** How many devices of type CPU it has; 1 by default. */
  deviceCount?: number;
  /** A certificate with its key: connections use TLS. With rootCertificates clients must have a certificate, too. */
  credentials?: GrpcCredentials;
}

const OPTIONS: Schema<ServeOptions> = {
  host: 'a string',
  port: 'a number',
  job: 'a string',
  task: 'a number',
  deviceCount: 'a number',
  credentials: 'an object',
};

const isWhole = (value: number, most: number): boolean =>
  Number.isInteger(value) && value >= 0 && value <= most;

export class Server {
  private constructor(
    private readonly service: MasterService,
    private readonly listener: GrpcServer,
    /** 'grpc://127.0.0.1:2222', the target of sessions. */
    readonly target: `grpc://${string}`,
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
        'a page cannot serve gRPC, because browsers give pages no sockets that listen: start the server in Node',
      );
    const {
      host = '127.0.0.1',
      port = 0,
      job = 'localhost',
      task = 0,
      deviceCount = 1,
      credentials,
    } = options;
    checkText('the host', host);
    if (!isWhole(port, 65535))
      throw new InvalidArgumentError(`port must be from 0 to 65535, not ${shown(port)}`);
    if (!isWhole(task, 2 ** 31 - 1))
      throw new InvalidArgumentError(`task must be a whole number from 0 on, not ${shown(task)}`);
    if (!/^[A-Za-z][\w]*$/.test(job))
      throw new InvalidArgumentError(`job must be letters, digits and _, not ${shown(job)}`);
    if (credentials !== undefined) checkCredentials(credentials);
    return Server.#listen(
      runtime,
      `/job:${job}/replica:0/task:${task}`,
      host,
      port,
      deviceCount,
      credentials,
    );
  }

  static async #listen(
    runtime: Runtime,
    task: string,
    host: string,
    port: number,
    deviceCount: number,
    credentials: GrpcCredentials | undefined,
  ): Promise<Server> {
    const service = new MasterService(runtime, new DeviceManager(runtime, task, deviceCount));
    let end = (): void => {};
    let crash: (error: Error) => void = () => {};
    const closed = new Promise<void>((resolve, reject) => ([end, crash] = [resolve, reject]));
    closed.catch(() => {}); // whoever looks at it learns of a crash
    const name = host.includes(':') ? `[${host}]` : host;
    try {
      const listener = await GrpcServer.listen(
        `${name}:${port}`,
        credentials,
        service.methods,
        (...call) => service.call(...call),
        (error) => {
          crash(error);
          listener.close();
        },
      );
      return new Server(service, listener, `grpc://${name}:${listener.port}`, task, closed, end);
    } catch (error) {
      await service.close();
      throw error;
    }
  }

  /** Ends all sessions, connections and calls under way, and frees the variables. */
  async close(): Promise<void> {
    this.listener.close();
    await this.service.close();
    this.end();
  }
}
