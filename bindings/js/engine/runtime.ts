/** Runtime: one loaded engine, its ops, and its open objects (graphs, sessions). */
import type {
  GraphPtr,
  SessionPtr,
  TensorPtr,
  TextPtr,
  WasmCallablePtr,
  WasmFunctionBodyPtr,
} from '../generated/abi.js';
import type { Variant } from './builds.js';
import { OpDef, decodeOpDef, decodeOpList } from '../messages/op-def.js';
import type { EngineParts, PartSources } from './engine-part.js';
import type { Wasm } from './wasm.js';

/** The resources in use by an engine. */
export interface MemoryInfo {
  /** The size of the wasm memory, which never shrinks. */
  wasmBytes: number;
  /** Bytes held by live objects. */
  liveBytes: number;
  /** The most of them since the start, or since `tf.resetPeakBytes()`. */
  peakBytes: number;
  /** Allocations since the start. */
  allocations: number;
  /**
   * Tensors held by the engine: of variables, constants and programs, and resident ones. Other tensors returned
   * to JavaScript do not count.
   */
  tensors: number;
  /** Open graphs and sessions. */
  graphs: number;
  sessions: number;
  /** Function bodies that are not disposed. */
  functionBodies: number;
  /** Callables that are not released. */
  callables: number;
  /** Resident tensors that are not disposed. */
  residentTensors: number;
}

/** The receiver of lines from the op Print. */
export interface LogSink {
  write(line: string): void;
}

/** What an engine was started from. */
export interface Origin {
  readonly variant: Variant;
  readonly threads: number;
  readonly module: WebAssembly.Module;
  /** Its other modules, or where these are; undefined if the module is whole. */
  readonly parts: PartSources | undefined;
  /** The location of tfcore-worker.js, if not next to the package's JavaScript. */
  readonly script: string | URL | undefined;
}

/** Objects that are counted, and freed when their owner is collected. */
interface Handles {
  graphs: GraphPtr;
  sessions: SessionPtr;
  functionBodies: WasmFunctionBodyPtr;
  callables: WasmCallablePtr;
  residentTensors: TensorPtr;
}

type Kind = keyof Handles;
type Held = { [K in Kind]: readonly [K, Handles[K]] }[Kind];

export class Runtime {
  private readonly counts: Record<Kind, number> = {
    graphs: 0,
    sessions: 0,
    functionBodies: 0,
    callables: 0,
    residentTensors: 0,
  };
  private readonly ops = new Map<string, OpDef>();
  private readonly texts = new Map<string, TextPtr>();
  /** Frees objects that the user did not dispose. */
  private readonly net = new FinalizationRegistry<Held>(([kind, pointer]) => {
    const { call } = this.wasm;
    this.counts[kind]--;
    if (kind === 'sessions') this.wasm.checked((status) => call.TF_DeleteSession(pointer, status));
    else if (kind === 'graphs') call.TF_DeleteGraph(pointer);
    else if (kind === 'functionBodies') call.TF_WasmDeleteFunctionBody(pointer);
    else if (kind === 'callables') call.TF_WasmReleaseCallable(pointer);
    else call.TF_DeleteTensor(pointer);
  });

  /** What operations ask for that are added now: the device of the innermost scope, or ''. */
  device = '';

  constructor(
    readonly wasm: Wasm,
    readonly parts: EngineParts,
    /** To start another engine like this one. */
    readonly origin: Origin,
    readonly log: LogSink,
    readonly variantReason: string | undefined,
  ) {}

  get variant(): Variant {
    return this.origin.variant;
  }

  get threads(): number {
    return this.origin.threads;
  }

  /** Registers a new handle, to be freed when its owner is collected. */
  opened(owner: object, ...held: Held): void {
    this.counts[held[0]]++;
    this.net.register(owner, held, owner);
  }

  closed(owner: object, kind: Kind): void {
    this.counts[kind]--;
    this.net.unregister(owner);
  }

  /** A NUL-terminated text that stays allocated: for names that are used repeatedly, such as those of ops. */
  constantText(text: string): TextPtr {
    let pointer = this.texts.get(text);
    if (pointer === undefined) {
      pointer = this.wasm.newText(text);
      this.texts.set(text, pointer);
    }
    return pointer;
  }

  /** Call this after an op was registered. */
  forgetOps(): void {
    this.ops.clear();
  }

  /** Ops are decoded one by one on demand: decoding all of them would dominate the time to a first result. */
  findOpDef(name: string): OpDef | undefined {
    const known = this.ops.get(name);
    if (known || name.includes('\0')) return known;
    const bytes = this.wasm.scope((scope) => {
      const text = scope.string(name);
      return this.wasm.buffer((buffer, status) => this.wasm.call.TF_WasmFindOpDef(text, buffer, status));
    });
    if (bytes.length === 0) return undefined;
    const found = decodeOpDef(bytes);
    this.ops.set(name, found);
    return found;
  }

  /** The names of all ops except internal ones (with a leading '_'). */
  opNames(): string[] {
    const names = this.wasm.bufferText((buffer, status) => this.wasm.call.TF_WasmOpNames(buffer, status));
    return names.split(' ').filter((name) => !name.startsWith('_'));
  }

  /** All ops except internal ones, sorted by name. */
  opDefs(): OpDef[] {
    this.parts.loadAllAtOnce();
    const buffer = this.wasm.call.TF_GetAllOpList();
    const list = decodeOpList(this.wasm.bytesOfBuffer(buffer));
    this.wasm.call.TF_DeleteBuffer(buffer);
    return list;
  }

  memory(): MemoryInfo {
    const { call, byteLength } = this.wasm;
    return {
      wasmBytes: byteLength,
      liveBytes: call.TF_WasmLiveBytes(),
      peakBytes: call.TF_WasmPeakBytes(),
      tensors: call.TF_WasmLiveTensors(),
      allocations: call.TF_WasmAllocationCount(),
      ...this.counts,
    };
  }
}

/** The runtime passed to a constructor. Users who call the package's constructors directly pass none. */
export function checkRuntime(runtime: Runtime, name: string, example: string): Runtime {
  if (runtime instanceof Runtime) return runtime;
  throw new TypeError(
    `${name} belongs to an engine: write \`const tf = await init()\`, and ${example} in place of new ${name}(…)`,
  );
}
