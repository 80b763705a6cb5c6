// Bundles, as a user's bundler makes them: minified, with dynamic imports in separate files.
import { build } from 'esbuild';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../tools/process.mjs';

const output = path.join(root, 'build/bench');
const common = { bundle: true, minify: true, logLevel: 'error' };

/** The locations of the packages' .wasm files and thread scripts. */
export const peerWasm = path.join(root, 'node_modules/@tensorflow/tfjs-backend-wasm/dist/');
export const liteRtWasm = path.join(root, 'node_modules/@litertjs/core/wasm/');
export const onnxWasm = path.join(root, 'node_modules/onnxruntime-web/dist/');
export const ourFiles = path.join(root, 'npm/dist/');

/**
 * The peer for Node, bundled because its gradients are ES modules in a package that is not declared as such.
 */
export async function bundlePeerForNode() {
  const outfile = path.join(output, 'peer.cjs');
  await build({
    ...common,
    entryPoints: [path.join(root, 'bench/peer.mjs')],
    outfile,
    platform: 'node',
    format: 'cjs',
    mainFields: ['module', 'main'],
  });
  return outfile;
}

/** Both packages and the cases for a page. Returns the folder. */
export const bundlePage = () => bundleEntry('page');

/** The page of whole models, with its peers. Returns the folder. */
export const bundleModelPage = () => bundleEntry('model-page');

async function bundleEntry(name) {
  const outdir = path.join(output, name);
  await rm(outdir, { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: [path.join(root, `bench/${name}.mjs`)],
    outdir,
    splitting: true,
    platform: 'browser',
    format: 'esm',
    external: ['/limits/*', '/build/*', '/npm/*', 'node:*'],
  });
  return outdir;
}
