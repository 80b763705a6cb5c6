/** Copies files of a model into the memory of the engine that runs it, where its ops read them. */
import { ResourceExhaustedError } from '../base/errors.js';
import type { RamFiles } from '../engine/ram-files.js';
import { ModelFiles, joined, openFile } from './model-files.js';

let counter = 0;

/** A folder in the engine's memory, apart from tf.files. Its files are removed with it. */
export class EngineFolder {
  /** TensorFlow's file system in memory. */
  private readonly root = `ram://tfcore-model-${++counter}`;
  private readonly written: string[] = [];

  constructor(
    private readonly ram: RamFiles,
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
      await this.#create(path, bytes.length);
      await this.ram.write(this.pathOf(path), 0, bytes);
      return;
    }
    await this.#create(path, file.size);
    let at = 0;
    for await (const piece of file.pieces()) {
      if (at + piece.length > file.size) throw new ResourceExhaustedError(`${path} grew while it was read`);
      await this.ram.write(this.pathOf(path), at, piece);
      at += piece.length;
    }
  }

  async #create(path: string, size: number): Promise<void> {
    const name = this.pathOf(path);
    await this.ram.create(name, size);
    this.written.push(name);
  }

  /** Copies the files of a checkpoint: its index, and as many data files as that says. */
  async copyCheckpoint(prefix: string): Promise<void> {
    if (!(await this.files.open(`${prefix}.index`))) return this.copy(prefix); // the older format has one file
    await this.copy(`${prefix}.index`);
    const count = await this.ram.numShards(this.pathOf(prefix));
    const number = (i: number): string => String(i).padStart(5, '0');
    await Promise.all(
      Array.from({ length: count }, (_, i) => this.copy(`${prefix}.data-${number(i)}-of-${number(count)}`)),
    );
  }

  async remove(): Promise<void> {
    for (const name of this.written.splice(0)) await this.ram.remove(name);
  }
}
