// The peer: tfjs with its wasm backend and its gradients, in the build for one thread.
import * as tfjs from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-core/dist/register_all_gradients.js';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';

/** Imports graphs; loaded on demand, so that other cases do not wait for it. */
const loadConverter = () => import('@tensorflow/tfjs-converter');

/** `wasmFolder` is the location of its .wasm files: a folder or a URL, with the final slash. */
export async function loadPeer(wasmFolder) {
  tfjs.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  setWasmPaths(wasmFolder);
  await tfjs.setBackend('wasm');
  return { ...tfjs, loadConverter };
}
