/**
 * The builds that this entry of the package offers, and where their files are: addresses and workers stand in
 * the literal forms that bundlers follow. tools/bundle.mjs puts builds-inline.ts in the place of this file
 * for `tfcore-wasm/inline`.
 */
import createSingle from 'glue:single';
import createThreaded from 'glue:threads';

export type Variant = 'simd' | 'relaxed' | 'simd-threads' | 'relaxed-threads';

export interface Build {
  /** Emscripten's JavaScript of the build. */
  readonly create: (options: Record<string, unknown>) => Promise<Record<string, unknown>>;
  /** The .wasm: its address, or the bytes themselves. */
  readonly wasm: () => URL | Promise<Uint8Array<ArrayBuffer>>;
}

export const BUILDS: Readonly<Partial<Record<Variant, Build>>> = {
  simd: { create: createSingle, wasm: () => new URL('./tfcore-simd.wasm', import.meta.url) },
  relaxed: { create: createSingle, wasm: () => new URL('./tfcore-relaxed.wasm', import.meta.url) },
  'simd-threads': {
    create: createThreaded,
    wasm: () => new URL('./tfcore-simd-threads.wasm', import.meta.url),
  },
  'relaxed-threads': {
    create: createThreaded,
    wasm: () => new URL('./tfcore-relaxed-threads.wasm', import.meta.url),
  },
};

/** The script of a thread. */
export const workerAddress = (): URL => new URL('./tfcore-worker.js', import.meta.url);

/** A thread in a page. */
export const newWorker = (): Worker =>
  new Worker(new URL('./tfcore-worker.js', import.meta.url), { type: 'module' });
