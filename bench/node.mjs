// The process that measures in Node, started by bench/run.mjs. Takes its settings as JSON, and prints one
// JSON line per message.
import { readFile } from 'node:fs/promises';
import { firstProduct, timeOfFirstResult } from './first-result.mjs';
import { loadOnnxRuntime } from './onnxruntime.mjs';

const settings = JSON.parse(process.argv[2]);
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const load = {
  ours: async () => (await import('../npm/dist/index.js')).init({ variant: settings.variant }),
  peer: async () => (await import(settings.peer)).default.loadPeer(settings.peerWasm),
  onnxruntime: async () =>
    settings.onnx && {
      ort: await loadOnnxRuntime(settings.onnxWasm),
      readGraph: async (name) => new Uint8Array(await readFile(settings.onnx[name])),
    },
};

if (settings.firstResultOf) {
  send({
    result: await timeOfFirstResult(load[settings.firstResultOf], firstProduct[settings.firstResultOf]),
  });
} else {
  const limits = await (await import(settings.limits)).default({ noInitialRun: true });
  const digits = await readFile(settings.digits);
  const { measureCases } = await import('./host.mjs');
  const log = (text) => send({ log: text });
  send({
    result: await measureCases({
      ...settings,
      tf: await load.ours(),
      tfjs: await load.peer(),
      onnxruntime: await load.onnxruntime(),
      limits,
      digits,
      log,
    }),
  });
}
