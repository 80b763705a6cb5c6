/** RamFiles: files in the memory of an engine, where its ops read them: "ram://...". */
import type { Runtime } from './runtime.js';

/** The engine may be that of this thread, or of a worker. */
export interface RamFiles {
  /** Creates or replaces a file of `size` bytes. It is filled by `write`. */
  create(path: string, size: number): void | Promise<void>;
  write(path: string, offset: number, bytes: Uint8Array): void | Promise<void>;
  /** How many data files the checkpoint of that prefix has; its index must be there. */
  numShards(prefix: string): number | Promise<number>;
  remove(path: string): void | Promise<void>;
}

/** Those of this thread's engine. */
export class LocalRamFiles implements RamFiles {
  constructor(private readonly runtime: Runtime) {}

  create(path: string, size: number): void {
    const { wasm } = this.runtime;
    wasm.scope((scope) =>
      wasm.checked((status) => wasm.call.TF_WasmFileCreate(scope.string(path), size, status)),
    );
  }

  write(path: string, offset: number, bytes: Uint8Array): void {
    const { wasm } = this.runtime;
    wasm.scope((scope) => {
      const place = wasm.made((status) =>
        wasm.call.TF_WasmFilePlace(scope.string(path), offset, bytes.length, status),
      );
      wasm.u8.set(bytes, place);
    });
  }

  numShards(prefix: string): number {
    const { wasm } = this.runtime;
    return wasm.scope((scope) =>
      wasm.checked((status) => wasm.call.TF_WasmCheckpointNumShards(scope.string(prefix), status)),
    );
  }

  remove(path: string): void {
    const { wasm } = this.runtime;
    wasm.scope((scope) => wasm.checked((status) => wasm.call.TF_WasmFileRemove(scope.string(path), status)));
  }
}
