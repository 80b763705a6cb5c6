/**
 * The builds in this entry of the package, and the locations of their files: URLs and workers are written in
 * the literal forms that bundlers recognise. tools/bundle.mjs replaces this file: for `tfcore-wasm/inline` by
 * builds-inline.ts, and for the workers' script by builds-worker.ts.
 */
import createSingle from 'glue:single';
import type { PartName } from './engine-part.js';

export type Variant = 'simd' | 'relaxed' | 'simd-threads' | 'relaxed-threads';

export interface Build {
  /** Emscripten's JavaScript for the build. */
  readonly create: (options: Record<string, unknown>) => Promise<Record<string, unknown>>;
  /** The .wasm: its URL, or the bytes themselves. */
  readonly wasm: () => URL | Promise<Uint8Array<ArrayBuffer>>;
  /** The URLs of the modules of its other parts; absent if the .wasm is whole. */
  readonly parts?: Readonly<Record<PartName, () => URL>>;
}

/** Pages without threads do not need the glue of those builds. */
const createThreaded: Build['create'] = async (options) => (await import('glue:threads')).default(options);

export const BUILDS: Readonly<Partial<Record<Variant, Build>>> = {
  simd: {
    create: createSingle,
    wasm: () => new URL('./tfcore-simd.wasm', import.meta.url),
    parts: {
      training: () => new URL('./tfcore-simd-training.wasm', import.meta.url),
      side: () => new URL('./tfcore-simd-side.wasm', import.meta.url),
    },
  },
  relaxed: {
    create: createSingle,
    wasm: () => new URL('./tfcore-relaxed.wasm', import.meta.url),
    parts: {
      training: () => new URL('./tfcore-relaxed-training.wasm', import.meta.url),
      side: () => new URL('./tfcore-relaxed-side.wasm', import.meta.url),
    },
  },
  'simd-threads': {
    create: createThreaded,
    wasm: () => new URL('./tfcore-simd-threads.wasm', import.meta.url),
  },
  'relaxed-threads': {
    create: createThreaded,
    wasm: () => new URL('./tfcore-relaxed-threads.wasm', import.meta.url),
  },
};

/** The URL of the workers' script. */
export const workerAddress = (): URL | Promise<URL> => new URL('./tfcore-worker.js', import.meta.url);

/** Starts a worker in a page. */
export const newWorker = (): Worker | Promise<Worker> =>
  new Worker(new URL('./tfcore-worker.js', import.meta.url), { type: 'module' });
