// Trains a network on handwritten digits, shows its gradient, freezes it into a file and runs that file.
//
//   node examples/train-digits.mjs [--data digits.csv.gz] [--out folder] [--epochs n] [--seed n] [--variant
// simd]
//
// Where the package is installed, the first import reads: import { init } from 'tfcore-wasm'.
import { init, TFError } from '../npm/dist/index.js';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { lossCurve } from './digits/curve.mjs';
import { DigitsError, parseDigits } from './digits/data.mjs';
import { HIDDEN } from './digits/network.mjs';
import { progressOn } from './digits/progress.mjs';
import { DEFAULTS, Training } from './digits/training.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const say = (text = '') => process.stdout.write(`${text}\n`);
const percent = (share) => `${(100 * share).toFixed(2)} %`;

/** A user error: shown without a stack. */
class UsageError extends Error {}

function readOptions() {
  const number = (text, name) => {
    if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} takes a whole number, not '${text}'`);
    return Number(text);
  };
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        data: { type: 'string', default: path.join(here, 'data/digits.csv.gz') },
        out: { type: 'string', default: path.join(here, '../build/train-digits') },
        epochs: { type: 'string', default: String(DEFAULTS.epochs) },
        seed: { type: 'string', default: String(DEFAULTS.seed) },
        variant: { type: 'string' },
      },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const epochs = number(values.epochs, 'epochs');
  if (epochs < 1) throw new UsageError('--epochs must be at least 1');
  return { ...values, epochs, seed: number(values.seed, 'seed') };
}

function readDigits(file) {
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new UsageError(`the digits cannot be read: ${error.message}`);
  }
  try {
    return parseDigits(gunzipSync(bytes).toString('latin1'));
  } catch (error) {
    if (error instanceof DigitsError) throw new UsageError(`${file}: ${error.message}`);
    throw new UsageError(`${file} is no complete gzip file: ${error.message}`);
  }
}

async function train(training) {
  const { epochs } = training.options;
  const progress = progressOn(process.stdout, epochs);
  const losses = [];
  const started = performance.now();
  while (!training.finished) {
    const state = await training.runEpoch();
    losses.push(state.loss);
    progress.show(state);
  }
  progress.end();
  return { losses, seconds: (performance.now() - started) / 1000 };
}

/** The values that `gradients` needs, as a function of the feeds and the variables' values. */
function gradientFunction({ graph, images, labels, variables, gradients }) {
  const values = variables.map((variable) => variable.value);
  return graph.toFunction('LossGradient', {
    inputs: [images, labels, ...values],
    outputs: gradients,
    outputNames: ['d_hidden_weights', 'd_hidden_bias', 'd_logits_weights', 'd_logits_bias'],
  });
}

/**
 * Freezes the network, writes it to `file`, runs the file in a new graph; true if all probabilities are
 * identical.
 */
async function freezeAndCompare(tf, training, file) {
  const {
    session,
    network,
    digits: { testing },
  } = training;
  const bytes = await tf.freeze(session, [network.probabilities]);
  writeFileSync(file, bytes);
  const graph = new tf.Graph();
  const {
    outputs: [images, probabilities],
  } = graph.importGraphDef(readFileSync(file), { returnOutputs: ['images', 'probabilities'] });
  const imported = new tf.Session(graph);
  const again = await imported.run(probabilities, new Map([[images, testing.pixels]]));
  await imported.close();
  graph.dispose();
  const before = await training.classify(testing.pixels);
  return {
    size: bytes.length,
    same: before.length === again.data.length && before.every((value, i) => value === again.data[i]),
  };
}

async function start(variant) {
  try {
    return await init({ variant, threads: 1 }); // the matrices are too small for several threads
  } catch (error) {
    throw error instanceof TFError ? new UsageError(error.message) : error;
  }
}

async function main() {
  const options = readOptions();
  const digits = readDigits(options.data);
  const tf = await start(options.variant);
  say(
    `tfcore-wasm ${tf.version.package}, ${tf.variant}: ${digits.training.count} digits to learn from, ${digits.testing.count} to be tested with`,
  );
  say(`A 64-${HIDDEN}-10 network, Adam, ${options.epochs} epochs\n`);

  const training = new Training(tf, digits, { epochs: options.epochs, seed: options.seed });
  const { losses, seconds } = await train(training);
  const accuracy = await training.test();
  say(`\n${percent(accuracy)} of the test digits are recognised, after ${seconds.toFixed(2)} s of training.`);

  say('\nThe gradient of the loss, which the graph made by itself:\n');
  say(gradientFunction(training.network).toString().trim());

  mkdirSync(options.out, { recursive: true });
  const place = (name) => path.relative(process.cwd(), path.join(options.out, name));
  const frozen = await freezeAndCompare(tf, training, place('digits.pb'));
  writeFileSync(
    place('loss.svg'),
    lossCurve(losses, { title: `Loss of the digits network, ${percent(accuracy)} on the test set` }),
  );
  const outcome = frozen.same ? 'identical predictions' : 'OTHER PREDICTIONS';
  say(
    `\n${place('digits.pb')}: the trained network, ${(frozen.size / 1024).toFixed(1)} KiB; imported again, it gives ${outcome}`,
  );
  say(`${place('loss.svg')}: the loss, epoch by epoch`);
  await training.close();
  if (!frozen.same) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof UsageError ? error.message : error.stack}\n`);
  process.exitCode = 1;
}
