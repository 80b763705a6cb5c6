/** TF: what init() gives, one engine's classes and functions. */
import { checkFunction, checkText } from './base/arguments.js';
import { Compatibility, checkCompatibility } from './models/compatibility.js';
import { didYouMean } from './base/did-you-mean.js';
import type { DTypeName, DTypeNamed } from './tensor/dtypes.js';
import { CreateSpec, DefineSpec, FunctionDef } from './graph/function-def.js';
import { Files } from './engine/files.js';
import { freeze } from './models/freeze.js';
import { Graph } from './graph/graph.js';
import { opNames } from './graph/hints.js';
import type { OpDef } from './messages/op-def.js';
import type { Input } from './graph/operation.js';
import { OpRegistrar, OpSpec } from './ops/register-op.js';
import type { MemoryInfo, Runtime } from './engine/runtime.js';
import { Session, SessionOptions } from './session/session.js';
import { InvalidArgumentError, NotFoundError } from './base/errors.js';
import { GuessedDType, Tensor, TensorLike, tensor } from './tensor/tensor.js';
import * as train from './graph/train.js';
import { VERSION } from './base/version.js';

/** The engine, loaded. */
export interface TF {
  readonly version: { readonly package: string; readonly graphDefProducer: number };
  /** The build that runs: 'simd', 'relaxed', 'simd-threads' or 'relaxed-threads'. */
  readonly variant: string;
  /**
   * What kept a faster build of the package from being chosen: the host lacks something, or refused a Worker.
   * Else undefined.
   */
  readonly variantReason: string | undefined;
  readonly threads: number;
  /** See Tensor. Without a dtype numbers are float32, bigints int64, typed arrays what they are. */
  tensor<N extends DTypeName>(
    value: TensorLike,
    shape: readonly number[] | undefined,
    dtype: N,
  ): Tensor<DTypeNamed<N>>;
  tensor<const V extends TensorLike>(value: V, shape?: readonly number[]): Tensor<GuessedDType<V>>;
  tensor(value: TensorLike, shape?: readonly number[], dtype?: DTypeName): Tensor;
  readonly Graph: new () => Graph;
  readonly Session: new (graph: Graph, options?: SessionOptions) => Session;
  readonly FunctionDef: {
    /** A function whose nodes and results are named as FunctionDefs have them. */
    create(spec: CreateSpec): FunctionDef;
    /** A function whose inputs and results are named after what nodes return. */
    define(spec: DefineSpec): FunctionDef;
    /** From function text. */
    parse(text: string): FunctionDef;
    fromProto(bytes: Uint8Array | ArrayBuffer): FunctionDef;
  };
  readonly train: typeof train;
  /** The files that ops read and write. */
  readonly files: Files;
  /**
   * Who gets the lines that the op Print writes, and one for each attr in graphs that its op does not have;
   * console.error at first. With threads they may come after the step.
   */
  setLog(write: (line: string) => void): void;
  /** A GraphDef of what `outputs` need, with the session's variables as constants. */
  freeze(session: Session, outputs: readonly (Input | string)[]): Promise<Uint8Array>;
  opDef(name: string): OpDef;
  opDefs(): OpDef[];
  /** Makes an op known, to this engine, for good. */
  registerOp(spec: OpSpec): void;
  /**
   * What a GraphDef (bytes, or protobuf text) needs that is not here: ops, and kernels of ops for some
   * dtypes. Apart from that what only functions need that the graph never calls. And attrs that the ops here
   * do not have; they are kept and have no effect. Where nothing is missing and it cannot be imported all the
   * same, it throws what importGraphDef would throw.
   */
  checkCompatibility(graphDef: Uint8Array | ArrayBuffer | string): Compatibility;
  memory(): MemoryInfo;
}

const runtimes = new WeakMap<TF, Runtime>();

/** @internal The engine behind a TF, for the helpers that are no part of it. */
export function runtimeOf(tf: TF): Runtime {
  const runtime = typeof tf === 'object' && tf !== null ? runtimes.get(tf) : undefined;
  if (!runtime)
    throw new InvalidArgumentError('the first argument must be what init() gave: const tf = await init()');
  return runtime;
}

/** The public face of a loaded engine. */
export function makeTF(runtime: Runtime): TF {
  const registrar = new OpRegistrar(runtime);
  const tf: TF = {
    version: { package: VERSION, graphDefProducer: 2314 },
    variant: runtime.variant,
    variantReason: runtime.variantReason,
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
      create: (spec) => FunctionDef.createIn(runtime, spec),
      define: (spec) => FunctionDef.defineIn(runtime, spec),
      parse: (text) => FunctionDef.parseIn(runtime, text),
      fromProto: (bytes) => FunctionDef.fromProtoIn(runtime, bytes),
    },
    train,
    files: new Files(runtime),
    setLog(write) {
      checkFunction('what setLog takes', write);
      runtime.log.write = write;
    },
    freeze,
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
  };
  runtimes.set(tf, runtime);
  return tf;
}
