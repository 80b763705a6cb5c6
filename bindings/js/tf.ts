/** TF: the result of init(), with the classes and functions of one engine. */
import { checkFunction, checkText } from './base/arguments.js';
import { Compatibility, checkCompatibility } from './models/compatibility.js';
import { didYouMean } from './base/did-you-mean.js';
import { withDevice } from './graph/device-scope.js';
import type { DTypeName, DTypeNamed } from './tensor/dtypes.js';
import { CreateSpec, DefineSpec, FunctionDef } from './graph/function-def.js';
import { Files } from './engine/files.js';
import { MakeTensor, tensorMaker } from './engine/make-tensor.js';
import { allocate } from './engine/resident-tensor.js';
import { freeze } from './models/freeze.js';
import { Graph } from './graph/graph.js';
import type { ModelSource } from './loading/file-sources.js';
import { ModelSpec, makeModel } from './loading/make-model.js';
import type { Model } from './loading/model.js';
import { LoadOptions, checkLoadOptions } from './loading/load-options.js';
import { ModelRequests } from './loading/model-requests.js';
import { opNames } from './graph/hints.js';
import type { OpDef } from './messages/op-def.js';
import type { Input } from './graph/operation.js';
import { OpRegistrar, OpSpec } from './ops/register-op.js';
import type { MemoryInfo, Runtime } from './engine/runtime.js';
import { Saver } from './models/saver.js';
import { Session, SessionOptions } from './session/session.js';
import { resetSessions } from './session/local-backend.js';
import { ServerOptions, ServerTarget, isServerTarget, resetServer } from './session/server-target.js';
import type { ServeOptions, Server } from './service/server.js';
import { Trace } from './session/trace.js';
import { InvalidArgumentError, NotFoundError } from './base/errors.js';
import type { Tensor } from './tensor/tensor.js';
import * as train from './graph/train.js';
import { VERSION } from './base/version.js';

/** The engine, loaded. */
export interface TF {
  readonly version: { readonly package: string; readonly graphDefProducer: number };
  /** The build in use: 'simd', 'relaxed', 'simd-threads' or 'relaxed-threads'. */
  readonly variant: string;
  /**
   * Why a faster build of the package was not chosen: the host lacks a feature, or refused a Worker.
   * Otherwise undefined.
   */
  readonly variantReason: string | undefined;
  readonly threads: number;
  /**
   * See Tensor. Without a dtype numbers are float32, bigints int64, and typed arrays keep their type. The last
   * argument may be options: `tf.tensor(pixels, [1, 224, 224, 3], { resident: true })` is in the engine's memory.
   */
  readonly tensor: MakeTensor;
  /**
   * A resident tensor of zeros: `data` is a view of the engine's memory, to write the values of the next step into
   * without any copy. Read `data` anew after each call into the engine; see there.
   */
  allocate<N extends DTypeName>(dtype: N, shape: readonly number[]): Tensor<DTypeNamed<N>>;
  readonly Graph: new () => Graph;
  readonly Session: {
    new (graph: Graph, options?: SessionOptions): Session;
    /**
     * Closes all sessions of the engine, as TensorFlow's `Session.reset` does. `target` is '' for sessions of
     * this thread. The variables of closed sessions are gone, whatever the `containers` are.
     */
    reset(target?: '', containers?: readonly string[]): void;
    /**
     * Closes all sessions of a server, also those of others, and frees the variables of the
     * containers; without names those of the default one.
     */
    reset(target: ServerTarget, containers?: readonly string[], options?: ServerOptions): Promise<void>;
  };
  readonly Server: {
    /**
     * Serves sessions of other processes, in Node. Through gRPC: those of this package with the target
     * 'grpc://host:port', and those of TensorFlow, `tf.compat.v1.Session('grpc://host:port')`. Through WebSockets:
     * those of pages and others with the target 'ws://host:port'.
     */
    start(options?: ServeOptions): Promise<Server>;
  };
  /** Receives what steps run: `session.run(y, feeds, { trace })`. */
  readonly Trace: typeof Trace;
  /**
   * Runs `use` at once; the operations that it adds ask for the device, in all graphs. Scopes nest: what the
   * inner one leaves open ('/cpu:1' says nothing of the job) is as in the outer one. null ends all scopes
   * around for its own. Nodes of an imported GraphDef get the device of the scope unless they have one.
   */
  device<T>(name: string | null, use: () => T): T;
  readonly FunctionDef: {
    /** A function whose nodes and results are named as in FunctionDefs. */
    create(spec: CreateSpec): FunctionDef;
    /** A function whose inputs and results refer to the outputs of nodes by name. */
    define(spec: DefineSpec): FunctionDef;
    /** From function text. */
    parse(text: string): FunctionDef;
    fromProto(bytes: Uint8Array | ArrayBuffer): FunctionDef;
  };
  readonly train: typeof train & { readonly Saver: typeof Saver };
  /** The files that ops read and write. */
  readonly files: Files;
  /**
   * Receives the lines of the op Print, and one for each unknown attr in imported graphs; console.error by
   * default. With threads they may arrive after the step.
   */
  setLog(write: (line: string) => void): void;
  /** A GraphDef of what `outputs` need, with the session's variables as constants. */
  freeze(session: Session, outputs: readonly (Input | string)[]): Promise<Uint8Array>;
  /**
   * Opens a model: a SavedModel, a frozen GraphDef, a MetaGraphDef with its checkpoint, a graph model of
   * TensorFlow.js; from an address, a path (Node), bytes, files, or a zip archive.
   */
  load(source: ModelSource, options?: LoadOptions): Promise<Model>;
  /**
   * A model of a session's graph, to run by names and to save: `tf.model({ session, signatures: { inputs: { x },
   * outputs: { y } } })`. Closing it closes the session and frees the graph.
   */
  model(spec: ModelSpec): Model;
  opDef(name: string): OpDef;
  /** All ops. Loads the training and the side module, and blocks the thread meanwhile, unless they are loaded. */
  opDefs(): OpDef[];
  /** Registers an op permanently in this engine. */
  registerOp(spec: OpSpec): void;
  /**
   * What a GraphDef (bytes, or protobuf text) needs that this engine lacks: ops, and kernels of ops for some
   * dtypes. Listed separately: what only functions need that the graph never calls, and attrs that the ops
   * here do not declare, which are kept and have no effect. If nothing is missing but the graph cannot be
   * imported, it throws the error of importGraphDef.
   */
  checkCompatibility(graphDef: Uint8Array | ArrayBuffer | string): Compatibility;
  memory(): MemoryInfo;
  /** Begins `memory().peakBytes` anew. */
  resetPeakBytes(): void;
  /**
   * Loads the rarely used ops, and the kernels for rarer types, which the builds without threads have in a file of
   * their own. `load` does that for models that have such ops, and `run` for graphs with such types. Otherwise they
   * are loaded when such an op is added or imported, and the thread is blocked meanwhile.
   */
  loadSideModule(): Promise<void>;
  /**
   * Loads what training needs, which the builds without threads have in a file of their own: gradients, the ops of
   * optimizers, random numbers, checkpoints, functions of graphs, and the text form of functions. Otherwise it is loaded when that is
   * asked for, and the thread is blocked meanwhile.
   */
  loadTrainingModule(): Promise<void>;
}

const runtimes = new WeakMap<TF, Runtime>();

/** @internal The engine of a TF, for helpers outside of it. */
export function runtimeOf(tf: TF): Runtime {
  const runtime = typeof tf === 'object' && tf !== null ? runtimes.get(tf) : undefined;
  if (!runtime)
    throw new InvalidArgumentError('the first argument must be what init() gave: const tf = await init()');
  return runtime;
}

/** The public interface of a loaded engine. */
export function makeTF(runtime: Runtime): TF {
  const registrar = new OpRegistrar(runtime);
  const tf: TF = {
    version: { package: VERSION, graphDefProducer: 2314 },
    variant: runtime.variant,
    variantReason: runtime.variantReason,
    threads: runtime.threads,
    tensor: tensorMaker(runtime),
    allocate: (dtype, shape) => allocate(runtime, dtype, shape),
    Graph: class extends Graph {
      constructor() {
        super(runtime);
      }
    },
    Session: class extends Session {
      constructor(graph: Graph, options?: SessionOptions) {
        super(runtime, graph, options);
      }
      static reset(target?: '', containers?: readonly string[]): void;
      static reset(
        target: ServerTarget,
        containers?: readonly string[],
        options?: ServerOptions,
      ): Promise<void>;
      static reset(
        target: '' | ServerTarget = '',
        containers: readonly string[] = [],
        options: ServerOptions = {},
      ): void | Promise<void> {
        return isServerTarget(target)
          ? resetServer(target, containers, options)
          : resetSessions(runtime, target, containers);
      }
    },
    Server: {
      async start(options = {}) {
        const { Server } = await import('./service/server.js');
        return Server.startIn(runtime, options);
      },
    },
    Trace,
    device: (name, use) => withDevice(runtime, name, use),
    FunctionDef: {
      create: (spec) => FunctionDef.createIn(runtime, spec),
      define: (spec) => FunctionDef.defineIn(runtime, spec),
      parse: (text) => FunctionDef.parseIn(runtime, text),
      fromProto: (bytes) => FunctionDef.fromProtoIn(runtime, bytes),
    },
    train: { ...train, Saver },
    files: new Files(runtime),
    setLog(write) {
      checkFunction('what setLog takes', write);
      runtime.log.write = write;
    },
    freeze,
    async load(source, options = {}) {
      checkLoadOptions(options);
      const requests = new ModelRequests(options);
      requests.begin(source);
      try {
        const { loadModel } = await import('./loading/model-formats.js');
        return await loadModel(runtime, source, options, requests);
      } finally {
        requests.end();
      }
    },
    model: makeModel,
    opDef(name) {
      checkText("an op's name", name);
      const found = runtime.findOpDef(name);
      if (!found)
        throw new NotFoundError(`Op type not registered '${name}'${didYouMean(name, opNames(runtime))}`);
      return found;
    },
    opDefs: () => runtime.opDefs(),
    checkCompatibility: (graphDef) => checkCompatibility(runtime, graphDef),
    registerOp: (spec) => registrar.register(spec),
    memory: () => runtime.memory(),
    resetPeakBytes: () => runtime.wasm.call.TF_WasmResetPeakBytes(),
    loadSideModule: () => runtime.parts.side.load(),
    loadTrainingModule: () => runtime.parts.training.load(),
  };
  runtimes.set(tf, runtime);
  return tf;
}
