/** Runtime: one loaded engine, what it knows (ops) and what is open in it (graphs, sessions). */
import type {
  GraphPtr,
  SessionPtr,
  TextPtr,
  WasmCallablePtr,
  WasmFunctionBodyPtr,
} from '../generated/abi.js';
import { OpDef, decodeOpDef, decodeOpList } from '../messages/op-def.js';
import { encodeText } from '../base/utf8.js';
import type { Wasm } from './wasm.js';

/** What an engine has in use. */
export interface MemoryInfo {
  /** Size of the wasm memory, which only grows. */
  wasmBytes: number;
  /** What live objects hold of it. */
  liveBytes: number;
  /** Allocations since the start. */
  allocations: number;
  /**
   * Tensors that the engine holds: of variables, constants and programs. Those that JavaScript was given are
   * not among them.
   */
  tensors: number;
  /** Open graphs and sessions. */
  graphs: number;
  sessions: number;
  /** Function bodies that are not disposed. */
  functionBodies: number;
  /** Callables that are not released. */
  callables: number;
}

/** Where the lines of the op Print go. */
export interface LogSink {
  write(line: string): void;
}

/** What is counted, and freed when its owner is collected. */
interface Handles {
  graphs: GraphPtr;
  sessions: SessionPtr;
  functionBodies: WasmFunctionBodyPtr;
  callables: WasmCallablePtr;
}

type Kind = keyof Handles;
type Held = { [K in Kind]: readonly [K, Handles[K]] }[Kind];

export class Runtime {
  private readonly counts: Record<Kind, number> = {
    graphs: 0,
    sessions: 0,
    functionBodies: 0,
    callables: 0,
  };
  private readonly ops = new Map<string, OpDef>();
  private readonly texts = new Map<string, TextPtr>();
  /** Frees what a user forgot to dispose. */
  private readonly net = new FinalizationRegistry<Held>(([kind, pointer]) => {
    const { call } = this.wasm;
    this.counts[kind]--;
    if (kind === 'sessions') this.wasm.checked((status) => call.TF_DeleteSession(pointer, status));
    else if (kind === 'graphs') call.TF_DeleteGraph(pointer);
    else if (kind === 'functionBodies') call.TF_WasmDeleteFunctionBody(pointer);
    else call.TF_WasmReleaseCallable(pointer);
  });

  constructor(
    readonly wasm: Wasm,
    readonly variant: string,
    readonly threads: number,
    readonly log: LogSink,
    readonly variantReason: string | undefined,
  ) {}

  /** Notes that a handle was made, to be freed when its owner is collected. */
  opened(owner: object, ...held: Held): void {
    this.counts[held[0]]++;
    this.net.register(owner, held, owner);
  }

  closed(owner: object, kind: Kind): void {
    this.counts[kind]--;
    this.net.unregister(owner);
  }

  /** A NUL-terminated text that stays: for names that are used over and over, such as those of ops. */
  constantText(text: string): TextPtr {
    let pointer = this.texts.get(text);
    if (pointer === undefined) {
      const bytes = encodeText(`${text}\0`);
      pointer = this.wasm.malloc<'char'>(bytes.length);
      this.wasm.u8.set(bytes, pointer);
      this.texts.set(text, pointer);
    }
    return pointer;
  }

  /** After an op was registered. */
  forgetOps(): void {
    this.ops.clear();
  }

  /**
   * Ops are asked for one by one, when they are needed: decoding all of them would be most of the time to a
   * first result.
   */
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

  /** All of them, sorted by name, but for those whose name begins with '_'. */
  opDefs(): OpDef[] {
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
      tensors: call.TF_WasmLiveTensors(),
      allocations: call.TF_WasmAllocationCount(),
      ...this.counts,
    };
  }
}

/**
 * The runtime that a constructor was given. Those who call the constructors of the package's own classes give
 * none.
 */
export function checkRuntime(runtime: Runtime, name: string, example: string): Runtime {
  if (runtime instanceof Runtime) return runtime;
  throw new TypeError(
    `${name} belongs to an engine: write \`const tf = await init()\`, and ${example} in place of new ${name}(…)`,
  );
}
