// The page that measures in a browser; bench/browser.mjs bundles it, serves it, and calls the functions that
// it defines on `window`.
import { firstProduct, timeOfFirstResult } from './first-result.mjs';

const load = {
  ours: async (variant) => (await import('../npm/dist/index.js')).init({ variant }),
  peer: async () => (await import('./peer.mjs')).loadPeer('/peer/'),
  async 'LiteRT.js'() {
    const { loadAndCompile, loadLiteRt, Tensor } = await import('@litertjs/core');
    await loadLiteRt('/litert/', { threads: false });
    return { Tensor, model: await loadAndCompile('/first-product.tflite', { accelerator: 'wasm' }) };
  },
  onnxruntime: async (graphs) =>
    graphs && {
      ort: await (await import('./onnxruntime.mjs')).loadOnnxRuntime('/onnxruntime/'),
      readGraph: async (name) =>
        new Uint8Array(await (await fetch(`/graphs/${encodeURIComponent(name)}`)).arrayBuffer()),
    },
};

window.measure = async (settings) => {
  const limits = await (await import(`/limits/${settings.variant}/bench_gemm.mjs`)).default({
    noInitialRun: true,
  });
  const digits = await (await fetch('/digits.csv.gz')).arrayBuffer();
  const { measureCases } = await import('./host.mjs');
  const [tf, tfjs] = [await load.ours(settings.variant), await load.peer()];
  const onnxruntime = await load.onnxruntime(settings.onnx);
  const log = (text) => console.log(text);
  return measureCases({ ...settings, tf, tfjs, onnxruntime, limits, digits, log });
};

window.measureFirstResult = ({ firstResultOf, variant }) =>
  timeOfFirstResult(() => load[firstResultOf](variant), firstProduct[firstResultOf]);
