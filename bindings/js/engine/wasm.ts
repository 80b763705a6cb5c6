/**
 * Wasm: access to the engine's module. It passes strings and arrays, checks statuses, and reads memory that
 * may grow (and move) during any call. Pointers are unsigned numbers.
 */
import type { TypedArray } from '../tensor/dtypes.js';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  TFError,
  codeNumber,
  errorOf,
} from '../base/errors.js';
import type {
  Abi,
  BufferPtr,
  CallbackPtr,
  OperationPtr,
  OutputPtr,
  Ptr,
  StatusPtr,
  TextPtr,
  WasmAttrPtr,
} from '../generated/abi.js';
import { decodeText, encodeText, putAscii } from '../base/utf8.js';

/** A pointer from a call, which returns those above 2 GB as negative numbers. */
export const unsigned = <P extends number>(pointer: P): P => (pointer >>> 0) as P;

/** An operation, and one of its outputs, in the form for calls. */
export interface OperationArgument {
  readonly pointer: OperationPtr;
}
export interface OutputArgument {
  readonly operation: OperationArgument;
  readonly index: number;
}

/** Memory for the arguments of one call; freed when the scope ends. */
export class Scope {
  private at: number;
  private large: Ptr<unknown>[] = [];

  constructor(
    private readonly wasm: Wasm,
    begin: number,
    private readonly end: number,
  ) {
    this.at = begin;
  }

  /** Uninitialised bytes, aligned to 8. */
  alloc<T>(size: number): Ptr<T> {
    const pointer = this.at;
    const next = pointer + Math.ceil(size / 8) * 8;
    if (next <= this.end) {
      this.at = next;
      return pointer as Ptr<T>;
    }
    const large = this.wasm.malloc<T>(size);
    this.large.push(large);
    return large;
  }

  bytes(bytes: Uint8Array): TextPtr {
    const pointer: TextPtr = this.alloc(bytes.length);
    this.wasm.u8.set(bytes, pointer);
    return pointer;
  }

  /** A NUL-terminated copy. */
  string(text: string): TextPtr {
    if (text.includes('\0'))
      throw new InvalidArgumentError(`${JSON.stringify(text)} contains a NUL character`);
    const pointer: TextPtr = this.alloc(text.length + 1);
    if (putAscii(text, this.wasm.u8, pointer)) {
      this.wasm.u8[pointer + text.length] = 0;
      return pointer;
    }
    return this.bytes(encodeText(`${text}\0`));
  }

  /** 32-bit numbers: pointers, sizes or ints, as an array or as the members of a struct. */
  words<T>(words: readonly number[]): Ptr<T> {
    const pointer = this.alloc<T>(4 * words.length);
    this.wasm.u32.set(words, pointer >>> 2);
    return pointer;
  }

  pointers<P extends number>(pointers: readonly P[]): Ptr<P> {
    return this.words(pointers);
  }

  /** A TF_WasmAttr[] of the given attrs, and their number; `encode` returns a serialised AttrValue. */
  attrs(
    attrs: Readonly<Record<string, unknown>>,
    encode: (name: string, value: unknown) => Uint8Array,
  ): [count: number, pointer: WasmAttrPtr] {
    const words: number[] = [];
    for (const name in attrs) {
      const value = attrs[name];
      if (value === undefined) continue;
      const bytes = encode(name, value);
      words.push(this.string(name), this.bytes(bytes), bytes.length);
    }
    return [words.length / 3, this.words(words)];
  }

  /** int64_t dims[]; null is an unknown size, -1. */
  dims(dims: readonly (number | null)[]): Ptr<'int64_t'> {
    const pointer: Ptr<'int64_t'> = this.alloc(8 * dims.length);
    const words = this.wasm.u32;
    dims.forEach((size, i) => {
      words[(pointer >>> 2) + 2 * i] = size ?? -1;
      words[(pointer >>> 2) + 2 * i + 1] = Math.floor((size ?? -1) / 2 ** 32);
    });
    return pointer;
  }

  /** int64_t[] */
  longs(values: readonly bigint[]): Ptr<'int64_t'> {
    const pointer: Ptr<'int64_t'> = this.alloc(8 * values.length);
    const words = this.wasm.u32;
    values.forEach((value, i) => {
      words[(pointer >>> 2) + 2 * i] = Number(value & 0xffff_ffffn);
      words[(pointer >>> 2) + 2 * i + 1] = Number((value >> 32n) & 0xffff_ffffn);
    });
    return pointer;
  }

  /** TF_Output[]: pairs of operation and index. */
  outputs(outputs: readonly OutputArgument[]): OutputPtr {
    const pointer: OutputPtr = this.alloc(8 * outputs.length);
    const words = this.wasm.u32;
    outputs.forEach((output, i) => {
      words[(pointer >>> 2) + 2 * i] = output.operation.pointer;
      words[(pointer >>> 2) + 2 * i + 1] = output.index;
    });
    return pointer;
  }

  close(): void {
    for (const pointer of this.large) this.wasm.call.free(pointer);
  }

  /** The position of the next allocation, where a nested scope begins. */
  get top(): number {
    return this.at;
  }
}

/** Anything thrown, as text; some objects cannot be converted. */
function describe(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'an error without a message';
  }
}

const SCRATCH_BYTES = 256 * 1024;
/** The length of the prefix that identifies a thrown error, because messages of statuses may be truncated. */
const COMPARED = 100;
/** The maximum length of a thrown error in a status, which needs space for more, such as the node's name. */
const LONGEST = 1000;

export class Wasm {
  /** The exported functions by their names in C (tools/glue.mjs). */
  readonly call: Abi;
  private status: StatusPtr;
  private readonly scratch: Ptr<unknown>;
  private readonly addToTable: (body: unknown, signature: string) => number;
  private readonly removeFromTable: (pointer: number) => void;
  /** A status for each nesting level of functions called by the engine. */
  private readonly spareStatuses: StatusPtr[] = [];
  private callbacks = 0;
  /** The last error thrown by a callback, and its text in the status. */
  private thrown: { readonly error: unknown; readonly text: string } | undefined;
  private depth: Scope[] = [];
  private readonly shared: boolean;
  private viewed!: ArrayBufferLike;
  private bytes!: Uint8Array;
  private words!: Uint32Array;
  private longs!: BigInt64Array;
  private readonly views = new Map<unknown, TypedArray>();

  constructor(
    module: Record<string, unknown>,
    private readonly memory: WebAssembly.Memory,
  ) {
    this.call = module.functions as Abi;
    this.addToTable = module.addFunction as typeof this.addToTable;
    this.removeFromTable = module.removeFunction as typeof this.removeFromTable;
    this.shared = !(memory.buffer instanceof ArrayBuffer);
    this.look();
    this.status = this.call.TF_NewStatus();
    this.scratch = this.malloc(SCRATCH_BYTES);
  }

  private look(): void {
    this.viewed = this.memory.buffer;
    this.bytes = new Uint8Array(this.viewed);
    this.words = new Uint32Array(this.viewed);
    this.longs = new BigInt64Array(this.viewed);
    this.views.clear();
  }

  /**
   * When memory of one thread grows, the arrays over it become empty, which is quick to detect; arrays over
   * shared memory become too short.
   */
  private refresh(): void {
    if (this.shared ? this.memory.buffer !== this.viewed : this.bytes.length === 0) this.look();
  }

  /** The whole memory as an array of a type; valid until the next call into the engine. */
  view<A extends TypedArray>(Type: new (buffer: ArrayBufferLike) => A): A {
    this.refresh();
    let view = this.views.get(Type) as A | undefined;
    if (!view) this.views.set(Type, (view = new Type(this.viewed)));
    return view;
  }

  get u8(): Uint8Array {
    this.refresh();
    return this.bytes;
  }
  get u32(): Uint32Array {
    this.refresh();
    return this.words;
  }
  get i64(): BigInt64Array {
    this.refresh();
    return this.longs;
  }
  /** The position of an array that is a view of the memory; undefined for other arrays. */
  addressOf({ buffer, byteOffset }: ArrayBufferView): number | undefined {
    return buffer === this.memory.buffer ? byteOffset : undefined;
  }

  get byteLength(): number {
    return this.memory.buffer.byteLength;
  }

  /** A NUL-terminated text, which the caller, or who gets it, frees. */
  newText(text: string): TextPtr {
    const bytes = encodeText(`${text}\0`);
    const pointer = this.malloc<'char'>(bytes.length);
    this.u8.set(bytes, pointer);
    return pointer;
  }

  malloc<T>(size: number): Ptr<T> {
    const pointer = size < 2 ** 32 ? this.call.malloc(Math.max(size, 1)) >>> 0 : 0; // a larger number would
    // wrap around
    if (pointer === 0) throw errorOf(8, `OOM when allocating ${size} bytes of wasm memory`);
    return pointer as Ptr<T>;
  }

  /** Runs `body` with memory for its arguments. Scopes nest. */
  scope<T>(body: (scope: Scope) => T): T {
    const begin = this.depth.at(-1)?.top ?? this.scratch;
    const scope = new Scope(this, begin, this.scratch + SCRATCH_BYTES);
    this.depth.push(scope);
    try {
      return body(scope);
    } finally {
      scope.close();
      this.depth.pop();
    }
  }

  /** Calls with a TF_Status at the position where `invoke` puts it, and throws the reported error. */
  checked<T>(invoke: (status: StatusPtr) => T): T {
    const result = invoke(this.status);
    if (this.call.TF_GetCode(this.status) !== 0) this.fail();
    return result;
  }

  /** Like `checked`, for calls that return NULL exactly when they fail, which saves reading the status. */
  made<P extends number>(invoke: (status: StatusPtr) => P): P {
    const result = invoke(this.status);
    return result === 0 ? this.fail() : unsigned(result);
  }

  /** Like `checked`, for calls that return `failed` exactly when they fail, which saves reading the status. */
  state(failed: number, invoke: (status: StatusPtr) => number): number {
    const result = invoke(this.status);
    return result === failed ? this.fail() : result;
  }

  private fail(): never {
    const code = this.call.TF_GetCode(this.status);
    const error =
      code === 0 ? errorOf(8, 'OOM') : errorOf(code, this.text(this.call.TF_Message(this.status)));
    const { thrown } = this;
    if (thrown && error.message.includes(thrown.text.slice(0, COMPARED))) {
      Object.defineProperty(error, 'cause', { value: thrown.error, configurable: true, writable: true });
    }
    if (this.callbacks === 0) this.thrown = undefined;
    throw error;
  }

  // ---- functions that the engine calls ----

  /** A pointer to a function for the engine: 'vii' is void (*)(int, int). */
  addFunction<F>(body: F, signature: string): CallbackPtr<F> {
    return this.addToTable(body, signature) as CallbackPtr<F>;
  }

  removeFunction(pointer: CallbackPtr<unknown>): void {
    this.removeFromTable(pointer);
  }

  /**
   * Runs the body of a function called by the engine. The status of the outer call must not be touched
   * meanwhile, and exceptions must not propagate through the engine. Instead `report` is called with a
   * function that puts the exception into a TF_Status; at the end of the outer call, `fail` makes an error of
   * it.
   */
  callback(body: (scope: Scope) => void, report: (fill: (status: StatusPtr) => void) => void): void {
    const outer = this.status;
    this.status = this.spareStatuses[this.callbacks] ??= this.call.TF_NewStatus();
    this.callbacks++;
    try {
      this.scope(body);
    } catch (error) {
      const isOurs = error instanceof TFError;
      const text =
        (isOurs ? error.message : describe(error)).replaceAll('\0', '') || 'an error without a message';
      this.thrown = { error, text };
      report((status) => {
        const message = encodeText(`${text.slice(0, LONGEST)}\0`);
        const pointer = unsigned(this.call.malloc(message.length)) as TextPtr;
        if (pointer !== 0) this.u8.set(message, pointer);
        this.call.TF_SetStatus(status, isOurs ? codeNumber(error.code) : 2, pointer);
        this.call.free(pointer);
      });
    } finally {
      this.callbacks--;
      this.status = outer;
    }
  }

  /** For calls within `callback` that take a status. */
  withStatus(use: (status: StatusPtr) => void): void {
    use(this.status);
  }

  /** Throws while a callback runs, because graphs and sessions may be in the middle of a change. */
  refuseInCallback(): void {
    if (this.callbacks > 0)
      throw new FailedPreconditionError(
        'shape functions and kernels cannot use graphs, sessions and the registry of ops',
      );
  }

  /** Element `i` of an array of pointers. */
  at<P extends number>(array: Ptr<P>, i: number): P {
    return this.u32[(array >>> 2) + i] as P;
  }

  /** The NUL-terminated text at a pointer. */
  text(pointer: TextPtr): string {
    const begin = pointer >>> 0;
    const end = this.u8.indexOf(0, begin);
    return decodeText(this.u8.slice(begin, end));
  }

  /** The bytes that `fill` writes to a TF_Buffer. */
  buffer(fill: (buffer: BufferPtr, status: StatusPtr) => void): Uint8Array {
    const buffer = unsigned(this.call.TF_NewBuffer());
    if (buffer === 0) throw errorOf(8, 'OOM when allocating a buffer');
    try {
      this.checked((status) => fill(buffer, status));
      return this.bytesOfBuffer(buffer);
    } finally {
      this.call.TF_DeleteBuffer(buffer);
    }
  }

  /** As `buffer`, for text. */
  bufferText(fill: (buffer: BufferPtr, status: StatusPtr) => void): string {
    return decodeText(this.buffer(fill));
  }

  /** A copy of the contents of a TF_Buffer. */
  bytesOfBuffer(buffer: BufferPtr): Uint8Array {
    const data = this.u32[buffer >>> 2]!;
    return this.u8.slice(data, data + this.u32[(buffer >>> 2) + 1]!);
  }
}
