/** Copies files of a model into the engine's memory, where its ops read them. */
import { ResourceExhaustedError } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';
import { unsigned } from '../engine/wasm.js';
import { ModelFiles, joined, openFile } from './model-files.js';

let counter = 0;

/** A folder in the engine's memory, apart from tf.files. Its files are removed with it. */
export class EngineFolder {
  /** TensorFlow's file system in memory. */
  private readonly root = `ram://tfcore-model-${++counter}`;
  private readonly written: string[] = [];

  constructor(
    private readonly runtime: Runtime,
    private readonly files: ModelFiles,
  ) {}

  /** Where the file of that path is, or will be. */
  pathOf(path: string): string {
    return `${this.root}/${path}`;
  }

  /** Copies a file. Its bytes go to the engine's memory piece by piece. */
  async copy(path: string): Promise<void> {
    const file = await openFile(this.files, path);
    if (file.size === undefined) {
      const bytes = await joined(file.pieces());
      this.runtime.wasm.u8.set(bytes, this.#create(path, bytes.length));
      return;
    }
    const address = this.#create(path, file.size);
    let at = 0;
    for await (const piece of file.pieces()) {
      if (at + piece.length > file.size) throw new ResourceExhaustedError(`${path} grew while it was read`);
      this.runtime.wasm.u8.set(piece, address + at);
      at += piece.length;
    }
  }

  #create(path: string, size: number): number {
    const { wasm } = this.runtime;
    const name = this.pathOf(path);
    const address = wasm.scope((scope) =>
      wasm.checked((status) => wasm.call.TF_WasmFileCreate(scope.string(name), size, status)),
    );
    this.written.push(name);
    return unsigned(address);
  }

  /** Copies the files of a checkpoint: its index, and as many data files as that says. */
  async copyCheckpoint(prefix: string): Promise<void> {
    if (!(await this.files.open(`${prefix}.index`))) return this.copy(prefix); // the older format has one file
    await this.copy(`${prefix}.index`);
    const { wasm } = this.runtime;
    const count = wasm.scope((scope) =>
      wasm.checked((status) =>
        wasm.call.TF_WasmCheckpointNumShards(scope.string(this.pathOf(prefix)), status),
      ),
    );
    const number = (i: number): string => String(i).padStart(5, '0');
    await Promise.all(
      Array.from({ length: count }, (_, i) => this.copy(`${prefix}.data-${number(i)}-of-${number(count)}`)),
    );
  }

  remove(): void {
    const { wasm } = this.runtime;
    for (const name of this.written.splice(0))
      wasm.scope((scope) =>
        wasm.checked((status) => wasm.call.TF_WasmFileRemove(scope.string(name), status)),
      );
  }
}
