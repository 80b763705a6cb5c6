/** The options of tf.load. */
import { Schema, checkOptions } from '../base/arguments.js';
import type { KerasOptions } from '../keras/custom-layers.js';
import type { SessionOptions } from '../session/session.js';

export interface LoadOptions {
  /** Of a SavedModel with several MetaGraphs: the tags of the one to open. By default that for serving. */
  tags?: readonly string[];
  /** Called while files are read, with bytes; `total` grows with the files whose sizes are known. */
  onProgress?: (loaded: number, total: number) => void;
  signal?: AbortSignal;
  /** Options of `fetch` for addresses, such as headers and credentials. */
  requestInit?: RequestInit;
  /** As of importGraphDef: which weights of a frozen graph become variables, which can be trained. */
  trainable?: true | readonly string[];
  /** Options of the model's session: with `target: 'worker'`, the model runs in a worker. */
  session?: SessionOptions;
  /** Of Keras models: layers that are not Keras' own. */
  keras?: KerasOptions;
  /**
   * Returns the module that reads Keras' HDF5 files: `() => import('h5wasm')`. Pages need it for such files;
   * Node imports the installed package itself.
   */
  hdf5?: () => unknown;
}

const LOAD_OPTIONS: Schema<LoadOptions> = {
  tags: 'an array',
  onProgress: 'a function',
  signal: 'an AbortSignal',
  requestInit: 'an object',
  trainable: 'anything',
  session: 'an object',
  keras: 'an object',
  hdf5: 'a function',
};

export function checkLoadOptions(options: LoadOptions): void {
  checkOptions<LoadOptions>('load', options, LOAD_OPTIONS);
  options.signal?.throwIfAborted();
}
