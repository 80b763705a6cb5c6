// The steps of training that are measured, and their networks.
import { BATCH, CLASSES, digitBatches, initialWeights, numbers, PIXELS } from './digits.mjs';
import { gpt } from './training-gpt.mjs';
import { mobileNetV2 } from './training-mobilenet.mjs';
import { onnxCase } from './training-onnx.mjs';
import { adam, gradientDescent, imageBatch, scaledWeight, trainingCase, weight } from './training-steps.mjs';

const SGD_RATE = 0.001;
const ADAM_RATE = 0.002;

const dense = (engine, x, [w, b]) => engine.addBias(engine.matMul(x, w), b);

/** The digits network (64-128-10, batches of 64) with Adam. */
export function digitsStep(digits) {
  const { w1, b1, w2, b2 } = initialWeights();
  return trainingCase({
    name: 'digits training step',
    input: { shape: [BATCH, PIXELS], dtype: 'float32' },
    examples: BATCH,
    batches: async () => (await digitBatches(digits)).map(({ pixels, ...rest }) => ({ x: pixels, ...rest })),
    weights: [
      [w1, b1],
      [w2, b2],
    ].map((layer) => layer.map(([data, shape]) => ({ data, shape }))),
    network: (engine, x, [first, last]) => dense(engine, engine.relu(dense(engine, x, first)), last),
    optimizer: adam(ADAM_RATE),
  });
}

/** The weights and biases of layers with weights of these shapes. */
const layers = (shapes) =>
  shapes.map((shape, i) => [scaledWeight(shape, i), weight([shape.at(-1)], i + 100, 0.1)]);

/** A step of gradient descent with images of that shape. */
function imageStep({ name, shape, classes = CLASSES, ...rest }) {
  return {
    name,
    input: { shape, dtype: 'float32' },
    examples: shape[0],
    batches: () => [21, 22, 23].map((seed) => imageBatch(shape, classes, seed)),
    optimizer: gradientDescent(SGD_RATE),
    ...rest,
  };
}

function cnn(engine, x, [first, second, third, last]) {
  const pooled = (image, b) => engine.maxPool(engine.relu(engine.addBias(image, b)), 2, 2, 'same');
  const small = pooled(engine.conv2dOfInput(x, first[0], 1, 'same'), first[1]);
  const smaller = pooled(engine.conv2d(small, second[0], 1, 'same'), second[1]);
  const pixels = engine.reshape(smaller, [-1, third[0].shape[0]]);
  return dense(engine, engine.relu(dense(engine, pixels, third)), last);
}

/** Those that training_files.py has for onnxruntime-web, too. */
const classifiers = [
  imageStep({
    name: 'CNN training step, 32x28x28x1',
    shape: [32, 28, 28, 1],
    weights: layers([
      [5, 5, 1, 32],
      [5, 5, 32, 64],
      [7 * 7 * 64, 512],
      [512, CLASSES],
    ]),
    network: cnn,
  }),
  imageStep({
    name: 'MLP training step, 64x784 by 256 to 10',
    shape: [64, 784],
    weights: layers([
      [784, 256],
      [256, CLASSES],
    ]),
    network: (engine, x, [first, last]) => dense(engine, engine.relu(dense(engine, x, first)), last),
  }),
];

const mobileNet = imageStep({
  name: 'MobileNetV2 training step, 8x96x96x3',
  shape: [8, 96, 96, 3],
  classes: 100,
  steps: 2, // its norms are over as few as 72 values, which makes much of differences in rounding
  ...mobileNetV2(100),
});

export const trainingCases = [
  ...classifiers.map(trainingCase),
  trainingCase(mobileNet),
  gpt({ name: 'GPT training step, 4x64 tokens', batch: 4, length: 64 }),
];

/** The same steps beside onnxruntime-web. */
export const onnxTrainingCases = classifiers.map((step) => onnxCase({ ...step, ...trainingCase(step) }));
