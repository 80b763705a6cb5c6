// The peer: tfjs with its wasm backend and its gradients, in the build for one thread.
import * as tfjs from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-core/dist/register_all_gradients.js';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';

/** Reads graphs; loaded when it is asked for, so that the other cases do not wait for it. */
const loadConverter = () => import('@tensorflow/tfjs-converter');

/** `wasmFolder` is where its .wasm files are: a folder or an address, with the slash at the end. */
export async function loadPeer(wasmFolder) {
  tfjs.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  setWasmPaths(wasmFolder);
  await tfjs.setBackend('wasm');
  return { ...tfjs, loadConverter };
}
