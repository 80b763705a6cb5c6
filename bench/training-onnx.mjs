// The training steps of onnxruntime-web, which has no training of its own in browsers: graphs whose gradients are written by hand
// (training_files.py). A session keeps no values between its runs, so that a step is fed the weights and fetches the new ones, as
// tensors of its own that are not converted.
import { firstLosses, inTurn, STEPS } from './training-steps.mjs';

const OPTIONS = { executionProviders: ['wasm'], graphOptimizationLevel: 'all' };

/** Moves axes: axis i of the result is axis order[i] of the array. */
export function moveAxes({ data, shape }, order) {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const moved = order.map((axis) => shape[axis]);
  const result = new Float32Array(data.length);
  const position = moved.map(() => 0);
  for (let i = 0, from = 0; i < result.length; i++) {
    result[i] = data[from];
    for (let axis = moved.length - 1; axis >= 0; axis--) {
      from += strides[order[axis]];
      if (++position[axis] < moved[axis]) break;
      from -= strides[order[axis]] * moved[axis];
      position[axis] = 0;
    }
  }
  return { data: result, shape: moved };
}

/** A layer's weight in the peer's order: of a filter, or of a dense layer whose inputs are pixels with `channels`. */
function weightForPeer(w, channels) {
  if (w.shape.length === 4) return moveAxes(w, [3, 2, 0, 1]);
  if (channels === undefined) return w;
  const [rows, columns] = w.shape;
  const pixels = { data: w.data, shape: [rows / channels, channels, columns] };
  return { data: moveAxes(pixels, [1, 0, 2]).data, shape: w.shape };
}

/** The tensors of layers [{ data, shape } of w, of b] by the names of the graph's inputs. */
function tensorsOf(ort, layers) {
  const tensors = {};
  let channels;
  layers.forEach(([w, b], i) => {
    const { data, shape } = weightForPeer(w, channels);
    channels = w.shape.length === 4 ? w.shape[3] : undefined;
    tensors[`w${i}`] = new ort.Tensor('float32', data.slice(), shape);
    tensors[`b${i}`] = new ort.Tensor('float32', b.data.slice(), b.shape);
  });
  return tensors;
}

/** The same step as in `trainingCase`, beside onnxruntime-web. Images have one channel. */
export function onnxCase({ name, ours, input, batches, weights }) {
  return {
    name: `${name}, onnxruntime-web`,
    group: 'training',
    ours,
    peerOf: 'onnxruntime',
    async peer({ ort, readGraph }) {
      const session = await ort.InferenceSession.create(await readGraph(name), OPTIONS);
      const nextBatch = inTurn(await batches());
      let tensors = tensorsOf(ort, weights);
      const [examples, ...pixels] = input.shape;
      const shape = pixels.length > 1 ? [examples, 1, ...pixels.slice(0, 2)] : input.shape;
      const step = async () => {
        const { x, oneHot } = nextBatch();
        const results = await session.run({
          ...tensors,
          x: new ort.Tensor('float32', x, shape),
          labels: new ort.Tensor('float32', oneHot, [examples, oneHot.length / examples]),
        });
        tensors = Object.fromEntries(Object.keys(tensors).map((key) => [key, results[`new_${key}`]]));
        return results.loss.data[0];
      };
      return { run: step, result: () => firstLosses(STEPS, step), close: () => session.release() };
    },
  };
}
