// The network: 64 pixels, 128 hidden units, 10 classes; and the graph that trains it.
import { CLASSES, PIXELS } from './data.mjs';

export const HIDDEN = 128;

/** A layer: x * weights + bias, with random weights that keep the magnitude of the input (He). */
function dense(g, x, inputs, units, name, seed) {
  const noise = g.truncatedNormal([inputs, units], {
    seed: 1 + seed,
    seed2: 1 + inputs,
    name: `${name}/noise`,
  });
  const weights = g.variable(g.mul(noise, Math.sqrt(2 / inputs)), { name: `${name}/weights` });
  const bias = g.variable(new Float32Array(units), { name: `${name}/bias` });
  return { output: g.biasAdd(g.matMul(x, weights), bias, { name }), variables: [weights, bias] };
}

/**
 * Builds the graph. Returns its ends: what is fed (`images`, `labels`, `learningRate`), what is fetched
 * (`loss`, `correct`: how many are right,
 * `probabilities`, `predictions`), `train`: the operation that makes one step, `variables` and their
 * `gradients`.
 */
export function buildNetwork(tf, { seed = 0 } = {}) {
  const g = new tf.Graph();
  const images = g.placeholder('float32', [null, PIXELS], { name: 'images' });
  const labels = g.placeholder('int32', [null], { name: 'labels' });
  const learningRate = g.placeholder('float32', [], { name: 'learning_rate' });

  const hidden = dense(g, images, PIXELS, HIDDEN, 'hidden', 2 * seed);
  const logits = dense(g, g.relu(hidden.output), HIDDEN, CLASSES, 'logits', 2 * seed + 1);
  const variables = [...hidden.variables, ...logits.variables];

  const probabilities = g.softmax(logits.output, { name: 'probabilities' });
  const predictions = g.argMax(logits.output, 1, { outputType: 'int32', name: 'predictions' });
  const correct = g.sum(g.cast(g.equal(predictions, labels), { dstT: 'int32' }), 0, { name: 'correct' });
  const [losses] = g.sparseSoftmaxCrossEntropyWithLogits(logits.output, labels);
  const loss = g.mean(losses, 0, { name: 'loss' });

  const gradients = g.gradients([loss], variables);
  const optimizer = new tf.train.AdamOptimizer(learningRate);
  const train = optimizer.applyGradients(gradients.map((gradient, i) => [gradient, variables[i]]));
  return {
    graph: g,
    images,
    labels,
    learningRate,
    loss,
    correct,
    probabilities,
    predictions,
    train,
    variables,
    gradients,
  };
}
