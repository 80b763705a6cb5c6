// onnxruntime-web with its wasm backend.

/** `wasmFolder` is the location of its .wasm files: a folder or a URL, with the final slash. */
export async function loadOnnxRuntime(wasmFolder, threads = 1) {
  const ort = await import('onnxruntime-web/wasm');
  ort.env.wasm.wasmPaths = wasmFolder;
  ort.env.wasm.numThreads = threads;
  return ort;
}
