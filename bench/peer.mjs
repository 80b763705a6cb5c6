// The peer: tfjs with its wasm backend and its gradients.
import * as tfjs from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-core/dist/register_all_gradients.js';
import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';

/** Imports graphs; loaded on demand, so that other cases do not wait for it. */
const loadConverter = () => import('@tensorflow/tfjs-converter');

/** `wasmFolder` is the location of its .wasm files: a folder or a URL, with the final slash. */
export async function loadPeer(wasmFolder, threads = 1) {
  tfjs.env().set('WASM_HAS_MULTITHREAD_SUPPORT', threads > 1);
  if (threads > 1) setThreadsCount(threads);
  setWasmPaths(wasmFolder);
  await tfjs.setBackend('wasm');
  return { ...tfjs, loadConverter };
}
