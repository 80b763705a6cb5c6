/** Reads HDF5 files with the npm package h5wasm, which users install if they need it. */
import { shown } from '../base/arguments.js';
import { DataLossError, FailedPreconditionError, InvalidArgumentError } from '../base/errors.js';
import { importPackage, isNode } from '../base/host.js';
import { DType, dtypeOf } from '../tensor/dtypes.js';
import { tensor } from '../tensor/convert.js';
import { Tensor } from '../tensor/tensor.js';

/** The compiled library. */
interface Hdf5Library {
  readonly FS: {
    writeFile(path: string, bytes: Uint8Array, options?: { canOwn?: boolean }): void;
    unlink(path: string): void;
  };
  /** Errors are thrown with HDF5's diagnostics, which are printed otherwise. Versions before 0.7.2 have it not. */
  activate_throwing_error_handler?(): unknown;
  deactivate_throwing_error_handler?(): unknown;
}

/** The words of the call that failed; after it, the diagnostics name the places in HDF5's sources. */
const reasonOf = (error: unknown): string => {
  const message = (error as Error).message ?? String(error);
  return /#000: .*?\(\): (.*)/.exec(message)?.[1] ?? message;
};

/** What is used of the module h5wasm. */
export interface Hdf5Module {
  readonly ready: Promise<Hdf5Library>;
  readonly File: new (
    path: string,
    mode: string,
  ) => Hdf5Group & { readonly file_id: bigint; close(): unknown };
}

interface Hdf5Group {
  readonly attrs: Readonly<Record<string, { readonly value: unknown }>>;
  keys(): string[];
  get(path: string): unknown;
}

interface Hdf5Dataset {
  readonly shape: number[] | null;
  readonly dtype: unknown;
  readonly value: unknown;
}

const PACKAGE = 'h5wasm';

const isModule = (value: unknown): value is Hdf5Module =>
  typeof value === 'object' && value !== null && 'ready' in value && 'File' in value;

/** The module: what the user's function returns, or in Node the installed package. */
export async function loadHdf5(own: (() => unknown) | undefined): Promise<Hdf5Module> {
  let found: unknown;
  try {
    if (!own && !isNode) throw new Error("in a page, option 'hdf5' of tf.load is needed");
    found = await (own ? own() : importPackage(PACKAGE));
  } catch (error) {
    const why = (error as Error).message;
    throw new FailedPreconditionError(
      `Keras stores weights in HDF5 files, which the package ${PACKAGE} reads: npm install ${PACKAGE} (${why})`,
    ).hint(`In a page, give it to tf.load too: { hdf5: () => import('${PACKAGE}') }`);
  }
  const module = isModule(found) ? found : (found as { default?: unknown } | undefined)?.default;
  if (isModule(module)) return module;
  throw new InvalidArgumentError(
    `option 'hdf5' must return the module ${PACKAGE}, such as () => import('${PACKAGE}'), not ${shown(found)}`,
  );
}

const DTYPES: Readonly<Record<string, DType>> = {
  f: 'float32',
  d: 'float64',
  e: 'float16',
  b: 'int8',
  B: 'uint8',
  h: 'int16',
  H: 'uint16',
  i: 'int32',
  l: 'int64',
  q: 'int64',
};

let counter = 0;

/** An open file. Close it: its content is in memory until then. */
export class Hdf5File {
  readonly #path: string;
  readonly #file: InstanceType<Hdf5Module['File']>;
  private constructor(
    private readonly place: string,
    module: Hdf5Module,
    private readonly library: Hdf5Library,
    bytes: Uint8Array,
  ) {
    this.#path = `/tfcore-${++counter}.h5`;
    library.FS.writeFile(this.#path, bytes, { canOwn: true });
    try {
      this.#file = this.#guarded(() => new module.File(this.#path, 'r'));
      if (this.#file.file_id < 0n) throw this.#damaged('it cannot be opened');
    } catch (error) {
      library.FS.unlink(this.#path);
      throw error;
    }
  }

  static async open(place: string, module: Hdf5Module, bytes: Uint8Array): Promise<Hdf5File> {
    return new Hdf5File(place, module, await module.ready, bytes);
  }

  #damaged(why: string): DataLossError {
    return new DataLossError(`${this.place} is a damaged HDF5 file: ${why}`);
  }

  /** Calls the library, which throws plain errors. Calls of others print errors as before. */
  #guarded<T>(use: () => T): T {
    this.library.activate_throwing_error_handler?.();
    try {
      return use();
    } catch (error) {
      throw this.#damaged(reasonOf(error));
    } finally {
      this.library.deactivate_throwing_error_handler?.();
    }
  }

  #group(path: string): Hdf5Group | undefined {
    if (path === '') return this.#file;
    const found = this.#guarded(() => this.#file.get(path)) as Hdf5Group | null;
    return found && typeof found.keys === 'function' ? found : undefined;
  }

  /** An attribute of a group; undefined if there is none. */
  attribute(path: string, name: string): unknown {
    const group = this.#group(path);
    const attribute = group && this.#guarded(() => group.attrs[name]);
    return attribute && this.#guarded(() => attribute.value);
  }

  /** An attribute that is a list of strings. Long lists are in several attributes: name0, name1, ... */
  texts(path: string, name: string): string[] | undefined {
    const first = this.attribute(path, name);
    const parts: unknown[] = first === undefined ? [] : [first];
    if (first === undefined)
      for (let part; (part = this.attribute(path, `${name}${parts.length}`)) !== undefined; )
        parts.push(part);
    if (parts.length === 0) return undefined;
    return parts.flatMap((part) =>
      ArrayBuffer.isView(part) ? [] : Array.isArray(part) ? part.map(String) : [String(part)],
    );
  }

  /** The names in a group; undefined if there is no such group. */
  keys(path: string): string[] | undefined {
    const group = this.#group(path);
    return group && this.#guarded(() => group.keys());
  }

  /** An array; undefined if there is none at that path. */
  read(path: string): Tensor | undefined {
    const found = this.#guarded(() => this.#file.get(path)) as Hdf5Dataset | null;
    if (!found || !('dtype' in found) || !Array.isArray(found.shape)) return undefined;
    const { shape, dtype } = found;
    const known = typeof dtype === 'string' ? DTYPES[dtype.replace(/^[<>|=]/, '')] : undefined;
    if (!known) throw this.#damaged(`${path} has values of an unknown kind ${shown(dtype)}`);
    const value = this.#guarded(() => found.value);
    const values = ArrayBuffer.isView(value) ? value : [value];
    return this.#guarded(() => tensor(values as number[], shape.map(Number), dtypeOf(known)));
  }

  close(): void {
    if (this.#file.file_id >= 0n) this.#guarded(() => this.#file.close());
    this.library.FS.unlink(this.#path);
  }
}
