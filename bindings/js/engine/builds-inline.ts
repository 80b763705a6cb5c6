/**
 * Replaces builds.ts in `tfcore-wasm/inline`: one build, which every host with SIMD runs, embedded in the
 * file, and the workers' script. Nothing is fetched.
 */
import createSingle from 'glue:single';
import packed from 'wasm:simd-whole';
import packedScript from 'script:worker';
import type { Build, Variant } from './builds.js';
import { isNode, nodeModule } from '../base/host.js';
import { decodeText, lowBytes } from '../base/utf8.js';

/** Decodes base64 and decompresses gzip. */
async function unpack(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  if (isNode)
    return new Uint8Array(
      nodeModule('node:zlib').gunzipSync(nodeModule('node:buffer').Buffer.from(base64, 'base64')),
    );
  const zipped = lowBytes(atob(base64));
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export const BUILDS: Readonly<Partial<Record<Variant, Build>>> = {
  simd: { create: createSingle, wasm: () => unpack(packed) },
};

/** The workers' script as a URL: Node starts no blobs as workers, and a page's worker needs the page's origin. */
export async function workerAddress(): Promise<URL> {
  const script = await unpack(packedScript);
  if (isNode) return new URL(`data:text/javascript,${encodeURIComponent(decodeText(script))}`);
  return new URL(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
}

/** Starts a worker in a page. */
export const newWorker = async (): Promise<Worker> => new Worker(await workerAddress(), { type: 'module' });
