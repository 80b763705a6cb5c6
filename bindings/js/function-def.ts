/** FunctionDef: a function outside any graph, as its serialised message. Plain memory: nothing to dispose. */
import type { OpDef } from './op-def.js';
import { decodeOpDef } from './op-def.js';
import { fieldsOf } from './protobuf.js';
import type { Runtime } from './runtime.js';
import { encodeText } from './utf8.js';

export class FunctionDef {
  private signed: OpDef | undefined;

  private constructor(private readonly runtime: Runtime, private readonly proto: Uint8Array) {}

  /** @internal From function text. */
  static parseIn(runtime: Runtime, text: string): FunctionDef {
    const { wasm } = runtime;
    const bytes = encodeText(text);
    return new FunctionDef(
      runtime,
      wasm.scope((scope) => wasm.buffer((buffer, status) => wasm.call.TF_WasmFunctionFromText!(scope.bytes(bytes), bytes.length, buffer, status))),
    );
  }

  /** @internal From a serialised FunctionDef, which is checked. */
  static fromProtoIn(runtime: Runtime, proto: Uint8Array): FunctionDef {
    const { wasm } = runtime;
    const handle = wasm.scope((scope) =>
      wasm.checked((status) => wasm.call.TF_FunctionImportFunctionDef!(scope.bytes(proto), proto.length, status)),
    );
    return FunctionDef.takeHandle(runtime, handle);
  }

  /** @internal Of a TF_Function, which is deleted. */
  static takeHandle(runtime: Runtime, handle: number): FunctionDef {
    const { wasm } = runtime;
    try {
      return new FunctionDef(runtime, wasm.buffer((buffer, status) => wasm.call.TF_FunctionToFunctionDef!(handle, buffer, status)));
    } finally {
      wasm.call.TF_DeleteFunction!(handle);
    }
  }

  /** @internal Calls `use` with a TF_Function of this definition, in an engine that need not be its own. */
  withHandle<T>({ wasm }: Runtime, use: (handle: number) => T): T {
    return wasm.scope((scope) => {
      const handle = wasm.checked((status) => wasm.call.TF_FunctionImportFunctionDef!(scope.bytes(this.proto), this.proto.length, status));
      try {
        return use(handle);
      } finally {
        wasm.call.TF_DeleteFunction!(handle);
      }
    });
  }

  get signature(): OpDef {
    if (!this.signed) {
      for (const field of fieldsOf(this.proto)) if (field.number === 1) this.signed = decodeOpDef(field.bytes);
    }
    return this.signed!;
  }

  get name(): string {
    return this.signature.name;
  }

  private print(full: boolean): string {
    const { wasm } = this.runtime;
    return wasm.scope((scope) =>
      wasm.bufferText((buffer, status) =>
        wasm.call.TF_WasmFunctionToText!(scope.bytes(this.proto), this.proto.length, full ? 1 : 0, buffer, status),
      ),
    );
  }

  /** As TensorFlow prints it: long strings and tensors are cut. */
  toString(): string {
    return this.print(false);
  }

  /** The same language, nothing cut: `FunctionDef.parse(f.toText())` equals f. */
  toText(): string {
    return this.print(true);
  }

  /** Serialised. */
  toProto(): Uint8Array {
    return this.proto.slice();
  }
}
