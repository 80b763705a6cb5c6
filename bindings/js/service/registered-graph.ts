/** RegisteredGraph: the part of a client's graph that this task runs, as its master has sent it. */
import type { Runtime } from '../engine/runtime.js';
import type { Exchange, TraceReceiver } from '../engine/session-step.js';
import { Graph } from '../graph/graph.js';
import { NodeDef, nodeOfInput } from '../messages/node-def.js';
import { fieldsOf } from '../messages/protobuf.js';
import type { DeviceManager } from '../session/device-manager.js';
import { LocalBackend, LocalCallable } from '../session/local-backend.js';

const NODE = 1;

/** The nodes that no other node reads: whoever runs them runs all. */
function lastNodes(graphDef: Uint8Array): string[] {
  const names = new Set<string>();
  const read = new Set<string>();
  for (const { number, bytes } of fieldsOf(graphDef)) {
    if (number !== NODE) continue;
    const { name, input } = NodeDef.decode(bytes);
    names.add(name);
    for (const text of input) if (nodeOfInput(text) !== name) read.add(nodeOfInput(text));
  }
  return [...names].filter((name) => !read.has(name));
}

function importPart(graph: Graph, graphDef: Uint8Array): void {
  const { wasm } = graph;
  wasm.scope((scope) =>
    wasm.checked((status) =>
      wasm.call.TF_WasmImportPart(graph.pointer, scope.bytes(graphDef), graphDef.length, status),
    ),
  );
}

export class RegisteredGraph {
  readonly #graph: Graph;
  readonly #session: LocalBackend;
  readonly #callable: LocalCallable | undefined;
  readonly #running = new Set<Promise<void>>();

  /** `config` is a ConfigProto. */
  constructor(runtime: Runtime, graphDef: Uint8Array, config: Uint8Array, devices: DeviceManager) {
    this.#graph = new Graph(runtime);
    try {
      importPart(this.#graph, graphDef);
      this.#session = new LocalBackend(runtime, this.#graph, config, devices);
    } catch (error) {
      this.#graph.dispose();
      throw error;
    }
    try {
      const targets = lastNodes(graphDef).map((name) => this.#graph.requiredOperation(name));
      if (targets.length > 0)
        this.#callable = this.#session.makeCallable({ feeds: [], fetches: [], targets }, []);
    } catch (error) {
      void this.dispose();
      throw error;
    }
  }

  /** Runs all nodes once. */
  async run(exchange: Exchange, signal: AbortSignal, trace: TraceReceiver | undefined): Promise<void> {
    const running = this.#callable?.run(
      { tensors: [], isOwned: () => false },
      { signal, trace, exchange },
      (values) => void values(),
    );
    if (!running) return;
    this.#running.add(running);
    await running.finally(() => this.#running.delete(running));
  }

  /** A value has come for a step that waits. */
  wake(): void {
    this.#session.wake();
  }

  /** Frees it when the steps that run have ended. */
  async retire(): Promise<void> {
    await Promise.allSettled(this.#running);
    await this.dispose();
  }

  async dispose(): Promise<void> {
    this.#callable?.release();
    await this.#session.close();
    this.#graph.dispose();
  }
}
