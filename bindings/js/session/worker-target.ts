/**
 * The target 'worker': one worker for all such sessions of an engine. It has an engine of the same build, and
 * lives as long as a session needs it.
 */
import type { Runtime } from '../engine/runtime.js';
import { serveMessage } from '../engine/service-start.js';
import { HostWorker, startWorkers } from '../engine/workers.js';
import type { Graph } from '../graph/graph.js';
import { PortTransport } from '../master/port-transport.js';
import { RemoteBackend } from './remote-backend.js';

class ServingWorker {
  readonly #transport: PortTransport;
  #worker: HostWorker | undefined;
  #sessions = 0;
  #ended = false;

  constructor(private readonly runtime: Runtime) {
    const { port1, port2 } = new MessageChannel();
    this.#transport = new PortTransport(
      port1,
      (line) => runtime.log.write(line),
      () => this.#end(),
    );
    this.#start(port2).catch((error: unknown) => this.#transport.fail((error as Error).message));
  }

  open(graph: Graph, config: Uint8Array): RemoteBackend {
    this.#sessions++;
    return new RemoteBackend(this.#transport, graph, config, () => {
      if (--this.#sessions === 0) this.#end();
    });
  }

  /** Until the worker listens, calls wait in the port. */
  async #start(port: MessagePort): Promise<void> {
    const { origin } = this.runtime;
    const [worker] = await startWorkers(1, origin.script);
    this.#worker = worker!;
    this.#worker.onerror = (event) => {
      event.preventDefault?.();
      this.#transport.fail(event.message || 'it failed');
    };
    const message = await serveMessage(origin, port);
    if (this.#ended) this.#worker.terminate();
    else this.#worker.postMessage(message, [port]);
    this.#worker.unref?.();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    workers.delete(this.runtime);
    this.#worker?.terminate();
    this.#transport.fail('all of its sessions were closed');
  }
}

/** Those that have not ended. */
const workers = new WeakMap<Runtime, ServingWorker>();

/** `config` is a ConfigProto. */
export function openInWorker(runtime: Runtime, graph: Graph, config: Uint8Array): RemoteBackend {
  let worker = workers.get(runtime);
  if (!worker) workers.set(runtime, (worker = new ServingWorker(runtime)));
  return worker.open(graph, config);
}
