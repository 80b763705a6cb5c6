/** `tfcore-wasm serve`: a server for sessions of other processes, which TensorFlow's clients can use. */
import { readFileSync } from 'node:fs';
import { init } from '../init.js';
import type { TF } from '../tf.js';
import type { GrpcCredentials } from '../master/grpc.js';
import type { ClusterSpec } from '../service/cluster.js';
import { Arguments, Command, CommandError } from './command-line.js';

function number(args: Arguments, name: string): number | undefined {
  const text = args.one(name);
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new CommandError(`--${name} must be a whole number, not '${text}'`, 2);
  return Number(text);
}

function file(args: Arguments, name: string): string | undefined {
  const path = args.one(name);
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandError(`--${name} cannot be read: ${(error as Error).message}`);
  }
}

function credentialsOf(args: Arguments): GrpcCredentials | undefined {
  const [certificate, privateKey] = [file(args, 'certificate'), file(args, 'key')];
  if ((certificate === undefined) !== (privateKey === undefined))
    throw new CommandError('--certificate and --key belong together', 2);
  return certificate === undefined ? undefined : { certificate, privateKey: privateKey! };
}

function clusterOf(args: Arguments): ClusterSpec | undefined {
  const text = file(args, 'cluster');
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as ClusterSpec;
  } catch (error) {
    throw new CommandError(`--cluster is no JSON: ${(error as Error).message}`);
  }
}

/** Checkpoints and other files of graphs. */
function useDirectory({ files }: TF, directory: string): void {
  try {
    files.useDirectory(directory);
  } catch (error) {
    throw new CommandError(`--directory cannot be used: ${(error as Error).message}`);
  }
}

const given = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

export const serveCommand: Command = {
  summary: 'runs the steps of sessions of other processes, through gRPC and WebSockets',
  words: [],
  options: {
    port: { value: 'N', help: 'the port of gRPC; by default any that is free' },
    websocket: {
      value: 'N',
      help: 'a port for WebSockets, which pages need; without --port there is no gRPC then',
    },
    origin: {
      value: 'URL',
      repeats: true,
      help: 'pages of this origin may use it; by default those of localhost',
    },
    host: { value: 'NAME', help: 'the address to listen on; 127.0.0.1 by default' },
    job: { value: 'NAME', help: "the job in the names of the devices; 'localhost' by default" },
    task: { value: 'N', help: 'the number of the task in the names of the devices; 0 by default' },
    cluster: {
      value: 'FILE',
      help: 'the tasks that compute together, as JSON: {"worker": ["127.0.0.1:2222", ...]}',
    },
    devices: { value: 'N', help: 'how many devices of type CPU it has; 1 by default' },
    threads: { value: 'N', help: 'how many threads a kernel uses' },
    directory: { value: 'FOLDER', help: 'the root of the paths of files; / by default' },
    certificate: { value: 'FILE', help: 'a certificate in PEM format: connections use TLS' },
    key: { value: 'FILE', help: 'the private key of the certificate' },
  },
  notes: [
    "The other side is `new tf.Session(graph, { target: 'grpc://127.0.0.1:N' })` of this package, or",
    "`tf.compat.v1.Session('grpc://127.0.0.1:N')` of TensorFlow in Python. With --websocket it is",
    "`new tf.Session(graph, { target: 'ws://127.0.0.1:N' })`, also in pages.",
    '',
    "TensorFlow's protocol has no authentication: whoever reaches a port can run graphs, which read and write",
    'files of this machine. Use --host with other addresses than 127.0.0.1 only in networks that you trust.',
  ],
  async run(args, write) {
    const tf = await init(given({ threads: number(args, 'threads') }));
    useDirectory(tf, args.one('directory') ?? '/');
    const server = await tf.Server.start(
      given({
        port: number(args, 'port'),
        websocketPort: number(args, 'websocket'),
        origins: args.all('origin').length > 0 ? args.all('origin') : undefined,
        host: args.one('host'),
        job: args.one('job'),
        task: number(args, 'task'),
        cluster: clusterOf(args),
        deviceCount: number(args, 'devices'),
        credentials: credentialsOf(args),
      }),
    );
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
    const targets = new Set([server.target, server.websocketTarget ?? server.target]);
    write(`serving ${[...targets].join(' and ')} as ${server.task} (build ${tf.variant})\n`);
    await server.closed;
    return 0;
  },
};
