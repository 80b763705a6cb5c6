/** The message that makes a worker of the package's script serve sessions, and the engine that it starts. */
import { UnavailableError } from '../base/errors.js';
import { VERSION } from '../base/version.js';
import { workerAddress } from './builds.js';
import type { PartSource } from './engine-part.js';
import { loadCompiled } from './load.js';
import type { Origin, Runtime } from './runtime.js';

export interface ServeMessage {
  readonly serve: Omit<Origin, 'script'> & {
    readonly version: string;
    readonly script: string;
    /** Carries the calls. */
    readonly port: MessagePort;
  };
}

/** `port` has to be transferred with the message. */
export async function serveMessage(origin: Origin, port: MessagePort): Promise<ServeMessage> {
  const { variant, threads, module, parts, script } = origin;
  /* The engine's own threads are started with the script, too. */
  const address = threads > 1 ? absolute(script ?? (await workerAddress())) : '';
  return {
    serve: { version: VERSION, variant, threads, module, parts: cloneable(parts), script: address, port },
  };
}

export const isServeMessage = (message: unknown): message is ServeMessage =>
  typeof message === 'object' && message !== null && 'serve' in message;

/** URLs cannot be sent in messages. */
const cloneable = (parts: Origin['parts']): Origin['parts'] =>
  parts && { training: plain(parts.training), side: plain(parts.side) };

const plain = (source: PartSource): PartSource =>
  typeof source === 'string' || source instanceof URL ? absolute(source) : source;

/** In a page, relative URLs would be relative to the worker's script. */
function absolute(script: string | URL): string {
  return typeof script === 'string' && typeof location === 'object'
    ? new URL(script, location.href).href
    : String(script);
}

/** In the worker: an engine like that of the sender. */
export async function startEngine({
  version,
  script,
  ...origin
}: Omit<ServeMessage['serve'], 'port'>): Promise<Runtime> {
  if (version !== VERSION)
    throw new UnavailableError(
      `tfcore-worker.js is version ${VERSION}, the JavaScript is ${version}: both must come from the same package`,
    );
  const isUrl = /^[a-z][a-z+.-]+:/i.test(script);
  return loadCompiled({ ...origin, script: isUrl ? new URL(script) : script });
}
