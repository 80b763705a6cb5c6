/** GraphGrowth: what of a graph another process does not have yet, as GraphDefs. */
import type { Ptr } from '../generated/abi.js';
import type { Graph } from '../graph/graph.js';
import type { Operation } from '../graph/operation.js';
import { MessageWriter, fieldsOf } from '../messages/protobuf.js';

const GRAPH = { node: 1, library: 2, versions: 4 } as const;

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

export class GraphGrowth {
  /** The engine's position behind the last node that was given. */
  #position = 0;
  /** How many extensions of operations were given. */
  #extensions = 0;
  #library: Uint8Array = new Uint8Array(0);
  /** TensorFlow refuses to extend a graph by one of another version. */
  #versions: Uint8Array = new Uint8Array(0);

  constructor(private readonly graph: Graph) {}

  /** The graph up to now; later growth is relative to it. */
  whole(): Uint8Array {
    this.#newOperations();
    this.#extendedOperations();
    const bytes = this.graph.toGraphDef();
    for (const field of fieldsOf(bytes)) {
      if (field.number === GRAPH.library) this.#library = field.bytes;
      else if (field.number === GRAPH.versions) this.#versions = field.bytes;
    }
    return bytes;
  }

  /**
   * The nodes that were added or extended since, and all functions if there are other ones; undefined if there are
   * no such nodes.
   */
  next(): Uint8Array | undefined {
    if (this.graph.disposed) return undefined; // steps of callables still run
    const operations = new Set([...this.#newOperations(), ...this.#extendedOperations()]);
    if (operations.size === 0) return undefined;
    const def = new MessageWriter();
    for (const operation of operations) def.bytes(GRAPH.node, operation.toNodeDef());
    if (this.graph.wasm.call.TF_GraphNumFunctions(this.graph.pointer) > 0) this.#addLibrary(def);
    return def.bytes(GRAPH.versions, this.#versions).finish();
  }

  #addLibrary(def: MessageWriter): void {
    for (const field of fieldsOf(this.graph.toGraphDef())) {
      if (field.number !== GRAPH.library || sameBytes(field.bytes, this.#library)) continue;
      this.#library = field.bytes;
      def.raw(field);
    }
  }

  #extendedOperations(): Operation[] {
    const { graph } = this;
    const extended: Operation[] = [];
    for (
      let pointer;
      (pointer = graph.wasm.call.TF_WasmExtendedOperation(graph.pointer, this.#extensions)) !== 0;
      this.#extensions++
    )
      extended.push(graph.operationAt(pointer));
    return extended;
  }

  #newOperations(): Operation[] {
    const { graph } = this;
    const { wasm } = graph;
    return wasm.scope((scope) => {
      const place: Ptr<'size_t'> = scope.alloc(4);
      wasm.u32[place >>> 2] = this.#position;
      const added: Operation[] = [];
      for (let pointer; (pointer = wasm.call.TF_GraphNextOperation(graph.pointer, place)) !== 0; )
        added.push(graph.operationAt(pointer));
      this.#position = wasm.u32[place >>> 2]!;
      return added;
    });
  }
}
