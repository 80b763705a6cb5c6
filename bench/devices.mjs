// Two independent halves of a graph on two devices, and the same on one: node bench/devices.mjs (after
// npm run build). Needs two processors. The halves are chains of small ops, which one device does not split.
// They differ, so that no pass merges them.
import { init } from '../npm/dist/index.js';
import { compare, median } from './measure.mjs';

const [LAYERS, SIZE, ROUNDS] = [400, 4096, 15];

const tf = await init({ threads: 2 });
const graph = new tf.Graph();
const input = graph.placeholder('float32', [SIZE]);
const halves = ['/cpu:0', '/cpu:1'].map((device, half) =>
  tf.device(device, () => {
    let value = input;
    for (let i = 0; i < LAYERS; i++) value = graph.tanh(graph.addV2(value, 0.5 + half));
    return graph.sum(value, [0]);
  }),
);
const feeds = new Map([[input, new Float32Array(SIZE).fill(0.25)]]);

function work(devices) {
  const session = new tf.Session(graph, { deviceCount: { CPU: devices } });
  const run = () => session.runSync(halves, feeds).map((tensor) => tensor.data[0]);
  return { run, result: run() };
}

const [one, two] = [work(1), work(2)];
if (String(one.result) !== String(two.result)) throw new Error(`${one.result} is not ${two.result}`);
const times = await compare({ one: one.run, two: two.run }, { warmUp: 500, rounds: ROUNDS, roundTime: 200 });
const ratio = median(times.two.map((time, i) => time / times.one[i]));
console.log(
  `${tf.variant}, ${tf.threads} threads: two halves on one device ${median(times.one).toFixed(2)} ms`,
);
console.log(`on two devices ${median(times.two).toFixed(2)} ms, ${ratio.toFixed(2)} of the time`);
process.exit(0);
