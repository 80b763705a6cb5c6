// A small GPT, of the sizes in model_files.py: each token is to tell the next one. With Adam.
import { numbers } from './digits.mjs';
import { adam, oneHotOf, scaledWeight, trainingCase, weight } from './training-steps.mjs';

const [BLOCKS, WIDTH, HEADS, WORDS] = [4, 256, 4, 4096];
const DEPTH = WIDTH / HEADS;
const RATE = 0.0003;
const LATER = -1e9;

export function gpt({ name, batch, length }) {
  return trainingCase({
    name,
    input: { shape: [batch * length], dtype: 'int32' },
    examples: batch * length,
    batches: () => [31, 32, 33].map((seed) => tokenBatch(batch * length, seed)),
    weights: weightsOf(length),
    network: (engine, tokens, weights) => network(engine, tokens, weights, batch, length),
    optimizer: adam(RATE),
    steps: 3, // some gradients are zero but for rounding, by which Adam divides
  });
}

function tokenBatch(count, seed) {
  const words = Int32Array.from(numbers(count + 1, seed), (x) => Math.floor(((x + 1) / 2) * WORDS));
  const labels = words.slice(1);
  return { x: words.slice(0, count), labels, oneHot: oneHotOf(labels, WORDS) };
}

function weightsOf(length) {
  let seed = 0;
  const layer = (rows, columns) => [scaledWeight([rows, columns], seed++), weight([columns], seed++, 0.1)];
  const norm = () => ({ gamma: weight([WIDTH], seed++, 0.3, 1), beta: weight([WIDTH], seed++, 0.1) });
  return {
    words: weight([WORDS, WIDTH], seed++, 0.1),
    places: weight([length, WIDTH], seed++, 0.1),
    blocks: Array.from({ length: BLOCKS }, () => ({
      before: norm(),
      qkv: layer(WIDTH, 3 * WIDTH),
      out: layer(WIDTH, WIDTH),
      between: norm(),
      up: layer(WIDTH, 4 * WIDTH),
      down: layer(4 * WIDTH, WIDTH),
    })),
    norm: norm(),
  };
}

/** The logits of all tokens. Rows of `x` are tokens, of one text after the other. */
function network(engine, tokens, weights, batch, length) {
  const { scalar } = engine;
  const dense = (x, [w, b]) => engine.addBias(engine.matMul(x, w), b);
  const norm = (x, { gamma, beta }) => {
    const centered = engine.sub(x, engine.mean(x, 1, true));
    const variance = engine.mean(engine.square(centered), 1, true);
    const scaled = engine.mul(centered, engine.rsqrt(engine.add(variance, scalar(1e-5))));
    return engine.add(engine.mul(scaled, gamma), beta);
  };
  /** The approximation by tanh. */
  const gelu = (x) => {
    const cube = engine.mul(engine.mul(x, x), x);
    const inner = engine.mul(
      engine.add(x, engine.mul(cube, scalar(0.044715))),
      scalar(Math.sqrt(2 / Math.PI)),
    );
    return engine.mul(engine.mul(x, scalar(0.5)), engine.add(engine.tanh(inner), scalar(1)));
  };
  const later = engine.tensor2d(
    Array.from({ length }, (_, i) => Array.from({ length }, (_, j) => (j > i ? LATER : 0))),
  );
  const attention = (x, { qkv, out }) => {
    const parts = engine.reshape(dense(x, qkv), [batch, length, 3, HEADS, DEPTH]);
    const [q, k, v] = engine.unstack(engine.transpose(parts, [2, 0, 3, 1, 4]));
    const scores = engine.mul(engine.matMul(q, k, false, true), scalar(DEPTH ** -0.5));
    const y = engine.matMul(engine.softmax(engine.add(scores, later)), v);
    return dense(engine.reshape(engine.transpose(y, [0, 2, 1, 3]), [batch * length, WIDTH]), out);
  };
  const words = engine.reshape(engine.gather(weights.words, tokens), [batch, length, WIDTH]);
  let x = engine.reshape(engine.add(words, weights.places), [batch * length, WIDTH]);
  for (const block of weights.blocks) {
    x = engine.add(x, attention(norm(x, block.before), block));
    x = engine.add(x, dense(gelu(dense(norm(x, block.between), block.up)), block.down));
  }
  return engine.matMul(norm(x, weights.norm), weights.words, false, true);
}
