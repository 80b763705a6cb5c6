/**
 * Starts workers with the package's script, and gives up if the host refuses them. They become the engine's
 * threads, or serve the sessions of the target 'worker'.
 */
import { newWorker, workerAddress } from './builds.js';
import { isNode, nodeModule } from '../base/host.js';

/** A worker as Emscripten's glue uses it, from the web or from Node. */
export interface HostWorker {
  onmessage: ((event: { data: unknown }) => void) | null;
  onerror: ((event: { message?: string; preventDefault?(): void }) => void) | null;
  postMessage(message: unknown, transfer?: Transferable[]): void;
  terminate(): unknown;
  /** Node only: whether it keeps the process alive. */
  unref?(): void;
}

/** Why there are no threads. */
export class WorkersRefused extends Error {}

/** The time for a worker to start listening. */
const PATIENCE_IN_MS = 20_000;

const messageOf = (error: unknown): string => (error as Error | undefined)?.message || String(error);

/** Wraps a worker of Node in the interface of the web's. */
function startInNode(address: string | URL): HostWorker {
  const { Worker } = nodeModule('node:worker_threads');
  /* Flags of the main thread's script, such as --input-type, must not apply to the worker. */
  const started = new Worker(address, { execArgv: [] });
  const worker = Object.assign(started, { onmessage: null, onerror: null }) as unknown as HostWorker;
  started.on('message', (data: unknown) => worker.onmessage?.({ data }));
  started.on('error', (error) => worker.onerror?.(error));
  return worker;
}

/**
 * A page cannot start a script of another origin as a worker, but it can start its own script that imports
 * it.
 */
function startThroughBlob(address: string | URL): HostWorker {
  const script = URL.createObjectURL(
    new Blob([`import ${JSON.stringify(String(address))};`], { type: 'text/javascript' }),
  );
  return new Worker(script, { type: 'module' }) as HostWorker;
}

/** Settles when the worker listens, or fails. */
async function listening(worker: HostWorker): Promise<HostWorker> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      worker.onmessage = () => resolve();
      worker.onerror = (event) => {
        event.preventDefault?.();
        reject(new Error(event.message || 'its script cannot be loaded'));
      };
      timer = setTimeout(
        () => reject(new Error(`it did not answer within ${PATIENCE_IN_MS / 1000} s`)),
        PATIENCE_IN_MS,
      );
    });
    return worker;
  } catch (error) {
    worker.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Tries the ways to start a worker, beginning with those that require less of the host. */
async function startWorker(script: string | URL | undefined): Promise<HostWorker> {
  if (isNode) return listening(startInNode(script ?? (await workerAddress())));
  try {
    return await listening(
      (script === undefined ? await newWorker() : new Worker(script, { type: 'module' })) as HostWorker,
    );
  } catch (error) {
    const address = script ?? (await workerAddress());
    return await listening(startThroughBlob(new URL(address, location.href))).catch(() =>
      Promise.reject(error),
    );
  }
}

/**
 * Starts `count` workers, or none: then WorkersRefused has the reason. In Node they keep the process alive
 * until `unref`. `script`: the location of tfcore-worker.js, if not next to the package's JavaScript.
 */
export async function startWorkers(count: number, script?: string | URL): Promise<HostWorker[]> {
  const started = await Promise.allSettled(Array.from({ length: count }, async () => startWorker(script)));
  const refused = started.find((one) => one.status === 'rejected');
  if (!refused) return started.map((one) => (one as PromiseFulfilledResult<HostWorker>).value);
  for (const one of started) if (one.status === 'fulfilled') one.value.terminate();
  throw new WorkersRefused(`a Worker was refused (${messageOf(refused.reason)})`);
}
