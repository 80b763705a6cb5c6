/** tf.files: the files that ops read and write, such as checkpoints. */
import { checkReceivers, checkText } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { Runtime, checkRuntime } from './runtime.js';
import { bytesOf, decodeText, encodeText } from '../base/utf8.js';

/**
 * Files of one engine: in memory by default, or those of a folder after useDirectory(). Paths are texts with
 * '/' between their parts; in memory, folders exist implicitly.
 */
export class Files {
  readonly #runtime: Runtime;

  /** Created by init(): tf.files. */
  constructor(runtime: Runtime) {
    this.#runtime = checkRuntime(runtime, 'Files', 'tf.files');
  }

  /** Reads the whole file. Throws NotFoundError. */
  read(path: string): Uint8Array {
    checkText('a path', path);
    const { wasm } = this.#runtime;
    return wasm.scope((scope) =>
      wasm.buffer((buffer, status) => wasm.call.TF_WasmFileRead(scope.string(path), buffer, status)),
    );
  }

  /** Creates or replaces the file. */
  write(path: string, content: Uint8Array | ArrayBuffer | string): void {
    checkText('a path', path);
    const { wasm } = this.#runtime;
    const bytes =
      typeof content === 'string' ? encodeText(content) : bytesOf(content, 'the content of a file');
    wasm.scope((scope) => {
      const [name, data] = [scope.string(path), scope.bytes(bytes)];
      wasm.checked((status) => wasm.call.TF_WasmFileWrite(name, data, bytes.length, status));
    });
  }

  /** Throws NotFoundError if there is no such file. */
  remove(path: string): void {
    checkText('a path', path);
    const { wasm } = this.#runtime;
    wasm.scope((scope) => {
      const name = scope.string(path);
      wasm.checked((status) => wasm.call.TF_WasmFileRemove(name, status));
    });
  }

  /** The paths of all files that begin with `prefix`, sorted. */
  list(prefix = ''): string[] {
    checkText('the beginning of paths', prefix);
    const { wasm } = this.#runtime;
    const paths = decodeText(
      wasm.buffer((buffer, status) => wasm.call.TF_WasmFileList(buffer, status)),
    ).split('\0');
    return paths.slice(0, -1).filter((path) => path.startsWith(prefix));
  }

  exists(path: string): boolean {
    checkText('a path', path);
    return this.list(path).includes(path);
  }

  /**
   * Node: uses the files of this folder from now on. The folder is the root of all paths: '/model' and
   * 'model' are the same file, and no path leads outside. Files in memory are kept but hidden.
   */
  useDirectory(directory: string): void {
    checkText('a directory', directory);
    const { wasm } = this.#runtime;
    wasm.refuseInCallback();
    wasm.scope((scope) => {
      const name = scope.string(directory);
      wasm.checked((status) => wasm.call.TF_WasmUseDirectory(name, status));
    });
  }

  /** Uses the files in memory again. */
  useMemory(): void {
    const { wasm } = this.#runtime;
    wasm.refuseInCallback();
    wasm.checked((status) => wasm.call.TF_WasmUseDirectory(0, status));
  }
}

checkReceivers(Files, 'tf.files');
showAs(Files, 'Files', (files) => `Files<${files.list().length}>`);
