/** RamFiles: files in the memory of an engine, where its ops read them: "ram://...". */
import { InvalidArgumentError } from '../base/errors.js';
import type { Runtime } from './runtime.js';
import { unsigned } from './wasm.js';

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
  /** Where the files are that are being filled. */
  readonly #places = new Map<string, { readonly address: number; readonly size: number }>();

  constructor(private readonly runtime: Runtime) {}

  create(path: string, size: number): void {
    const { wasm } = this.runtime;
    const address = wasm.scope((scope) =>
      wasm.checked((status) => wasm.call.TF_WasmFileCreate(scope.string(path), size, status)),
    );
    this.#places.set(path, { address: unsigned(address), size });
  }

  write(path: string, offset: number, bytes: Uint8Array): void {
    const place = this.#places.get(path);
    if (!place || offset < 0 || offset + bytes.length > place.size)
      throw new InvalidArgumentError(`${path} has no bytes ${offset} to ${offset + bytes.length}`);
    this.runtime.wasm.u8.set(bytes, place.address + offset);
  }

  numShards(prefix: string): number {
    const { wasm } = this.runtime;
    return wasm.scope((scope) =>
      wasm.checked((status) => wasm.call.TF_WasmCheckpointNumShards(scope.string(prefix), status)),
    );
  }

  remove(path: string): void {
    const { wasm } = this.runtime;
    this.#places.delete(path);
    wasm.scope((scope) => wasm.checked((status) => wasm.call.TF_WasmFileRemove(scope.string(path), status)));
  }
}
