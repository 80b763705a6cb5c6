/**
 * Replaces builds.ts in `tfcore-wasm/inline`: one build, which every host with SIMD runs, embedded in the
 * file. Nothing is fetched and no worker is started.
 */
import createSingle from 'glue:single';
import packed from 'wasm:simd';
import type { Build, Variant } from './builds.js';
import { isNode, nodeModule } from '../base/host.js';

/** Decodes base64 and decompresses gzip. */
async function unpack(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  if (isNode)
    return new Uint8Array(
      nodeModule('node:zlib').gunzipSync(nodeModule('node:buffer').Buffer.from(base64, 'base64')),
    );
  const zipped = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export const BUILDS: Readonly<Partial<Record<Variant, Build>>> = {
  simd: { create: createSingle, wasm: () => unpack(packed) },
};

const noThreads = (): never => {
  throw new Error('this entry has no build with threads');
};
export const workerAddress: () => URL = noThreads;
export const newWorker: () => Worker = noThreads;
