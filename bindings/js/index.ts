/** tfcore-wasm: TensorFlow's graph core in WebAssembly. `const tf = await init()` is the way in. */
import { FunctionDef } from './function-def.js';
import { freeze } from './freeze.js';
import { Graph } from './graph.js';
import { InitOptions, loadRuntime } from './load.js';
import type { OpDef } from './op-def.js';
import type { Input } from './operation.js';
import type { Runtime } from './runtime.js';
import { Session, SessionOptions } from './session.js';
import { NotFoundError } from './errors.js';
import { Tensor, TensorLike, tensor } from './tensor.js';
import * as train from './train.js';
import { VERSION } from './version.js';

/** The engine, loaded. */
export interface TF {
  readonly version: { readonly package: string; readonly graphDefProducer: number };
  /** The build that runs: 'simd', 'relaxed', 'simd-threads' or 'relaxed-threads'. */
  readonly variant: string;
  readonly threads: number;
  tensor(value: TensorLike, shape?: number[], dtype?: string): Tensor;
  readonly Graph: new () => Graph;
  readonly Session: new (graph: Graph, options?: SessionOptions) => Session;
  readonly FunctionDef: { parse(text: string): FunctionDef; fromProto(bytes: Uint8Array): FunctionDef };
  readonly train: typeof train;
  /** A GraphDef of what `outputs` need, with the session's variables as constants. */
  freeze(session: Session, outputs: readonly (Input | string)[]): Promise<Uint8Array>;
  opDef(name: string): OpDef;
  opDefs(): OpDef[];
  /** What is in use: bytes of wasm memory, bytes of them that live objects hold, open graphs and sessions. */
  memory(): { wasmBytes: number; liveBytes: number; graphs: number; sessions: number };
}

function makeTF(runtime: Runtime): TF {
  return {
    version: { package: VERSION, graphDefProducer: 2314 },
    variant: runtime.variant,
    threads: runtime.threads,
    tensor,
    Graph: class extends Graph {
      constructor() {
        super(runtime);
      }
    },
    Session: class extends Session {
      constructor(graph: Graph, options?: SessionOptions) {
        super(runtime, graph, options);
      }
    },
    FunctionDef: {
      parse: (text) => FunctionDef.parseIn(runtime, text),
      fromProto: (bytes) => FunctionDef.fromProtoIn(runtime, bytes),
    },
    train,
    freeze,
    opDef(name) {
      const found = runtime.findOpDef(name);
      if (!found) throw new NotFoundError(`Op type not registered '${name}'`);
      return found;
    },
    opDefs: () => runtime.opDefs(),
    memory: () => runtime.memory(),
  };
}

/** By what was asked for, so that every caller of `init()` shares one engine. */
const loaded = new Map<string, Promise<TF>>();

/**
 * Loads the engine: the fastest build that this host runs, unless `variant` says which. Calling again with the same variant
 * and threads gives the same engine; after a failure it tries anew.
 */
export function init(options: InitOptions = {}): Promise<TF> {
  const key = `${options.variant ?? ''}/${options.threads ?? ''}`;
  let tf = loaded.get(key);
  if (!tf) {
    tf = loadRuntime(options).then(makeTF);
    loaded.set(key, tf);
    tf.catch(() => loaded.delete(key));
  }
  return tf;
}

export * from './errors.js';
export { detectFeatures } from './load.js';
export type { InitOptions, Variant } from './load.js';
export type { AttrInput, AttrValue, FuncAttr, ShapeLike } from './attr-value.js';
export type { DType, TypedArray } from './dtypes.js';
export { FunctionDef } from './function-def.js';
export { Graph } from './graph.js';
export type { ImportOptions, OpOptions } from './graph.js';
export type { ArgDef, AttrDef, OpDef } from './op-def.js';
export { Operation, Output, Variable } from './operation.js';
export type { Input } from './operation.js';
export { Session } from './session.js';
export type { Feeds, Fetch, Fetched, RunOptions, SessionOptions } from './session.js';
export { Tensor } from './tensor.js';
export type { NestedArray, Scalar, TensorLike } from './tensor.js';
export { VERSION as version } from './version.js';
