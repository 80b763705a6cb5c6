/**
 * Replaces builds.ts in the workers' script, which refers to no files: whoever starts the worker sends the
 * compiled module, and the location of the script.
 */
import createSingle from 'glue:single';
import createThreaded from 'glue:threads';
import type { Build, Variant } from './builds.js';

const unknown = (): never => {
  throw new Error("the workers' script knows no files");
};

export const BUILDS: Readonly<Record<Variant, Build>> = {
  simd: { create: createSingle, wasm: unknown },
  relaxed: { create: createSingle, wasm: unknown },
  'simd-threads': { create: createThreaded, wasm: unknown },
  'relaxed-threads': { create: createThreaded, wasm: unknown },
};

export const workerAddress: () => URL | Promise<URL> = unknown;
export const newWorker: () => Worker | Promise<Worker> = unknown;
