// Takes a frozen model from TensorFlow, runs it, trains it further, and saves a checkpoint and a new .pb.
//
//   node examples/fine-tune.mjs [folder for what is saved]
//
// Where the package is installed, the import reads: import { init } from 'tfcore-wasm'.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { init } from '../npm/dist/index.js';
import { describeOutput, summarize } from './graphs/summary.mjs';
import { goldenCases } from './models/golden.mjs';

const tf = await init();
const folder = path.resolve(process.argv[2] ?? 'build/fine-tune');
mkdirSync(folder, { recursive: true });

// The model: a LeNet for images of 16 by 16 pixels, with constant weights. Load any other .pb with
// readFileSync('model.pb').
const file = readFileSync(new URL('../tests/data/golden/models.pb', import.meta.url));
const {
  graph: pb,
  steps: [{ feeds }],
} = goldenCases(file).find(({ name }) => name === 'LeNet');
const [images, labels] = feeds.map(({ dtype, shape, data }) => tf.tensor(data, shape, dtype));
const batch = { x: images, labels };

// 1. What does it contain, and is anything missing here?
const { missing } = tf.checkCompatibility(pb);
const frozen = new tf.Graph();
frozen.importGraphDef(pb);
const { nodes, ops, inputs, results } = summarize(frozen);
console.log(`${nodes} nodes: ${ops.map(([type, count]) => `${type} ${count}`).join(', ')}`);
console.log(`missing: ${missing.map(({ op }) => op).join(', ') || 'nothing'}`);
console.log(
  `in: ${inputs.map((name) => `${name} ${describeOutput(frozen.output(name))}`).join(', ')}; out: ${results.filter((name) => frozen.operation(name).type !== 'Const').join(', ')}`,
);

// 2. Run it unchanged.
const session = new tf.Session(frozen);
const [loss] = await session.run(['loss'], batch);
console.log(`loss before: ${loss.item().toFixed(4)}`);

// 3. Its weights, which are the float32 constants with more than one element, become variables of a new
// graph.
const constants = frozen
  .operations()
  .filter(({ type }) => type === 'Const')
  .map((operation) => operation.output(0));
const names = constants
  .filter(({ dtype, shape }) => dtype === 'float32' && shape.length > 0)
  .map(({ name }) => name);
const weights = await session.run(names);
await session.close();

const g = new tf.Graph();
const variables = names.map((name, i) => g.variable(weights[i], { name: `tuned/${name.replace(':0', '')}` }));
const replaced = Object.fromEntries(names.map((name, i) => [name, variables[i]]));
const imported = g.importGraphDef(pb, { inputMap: replaced, returnOutputs: ['loss:0', 'output:0'] });
const [tunedLoss, output] = imported.outputs;

// 4. tf.train differentiates the loss and updates them.
const train = new tf.train.AdamOptimizer(0.003).minimize(tunedLoss);
const training = new tf.Session(g);
await training.run(g.initializer());
for (let step = 1; step <= 40; step++) {
  const { now } = await training.run({ train, now: tunedLoss }, batch);
  if (step % 10 === 0) console.log(`step ${step}: loss ${now.item().toFixed(4)}`);
}
const tuned = await training.run(tunedLoss, batch);

// 5. A checkpoint, as TensorFlow's Saver writes it. Files of ops are in memory until a folder is chosen.
tf.files.useDirectory(folder);
const keys = names.map((name) => name.replace(':0', ''));
const slices = names.map(() => ''); // whole tensors
await training.run(g.op('SaveV2', ['lenet.ckpt', keys, slices, variables]));
console.log(`saved: ${tf.files.list('lenet.ckpt').join(', ')}`);

// 6. The model with its new weights as a .pb again.
writeFileSync(path.join(folder, 'tuned.pb'), await tf.freeze(training, [output]));
await training.close();

// 7. A new graph reads its weights directly from the checkpoint, and has the same loss.
const fresh = new tf.Graph();
const argument = (name, value) => fresh.constant(value, { name: `restore/${name}` });
const restore = fresh.op(
  'RestoreV2',
  [argument('prefix', 'lenet.ckpt'), argument('keys', keys), argument('slices', slices)],
  { attrs: { dtypes: names.map(() => 'float32') } },
);
fresh.importGraphDef(pb, { inputMap: Object.fromEntries(names.map((name, i) => [name, restore.output(i)])) });
const reading = new tf.Session(fresh);
const again = await reading.run('loss', batch);
console.log(
  `loss after, from the checkpoint: ${again.item().toFixed(4)}, ${again.item() === tuned.item() ? 'the same' : 'another'} as in training`,
);
await reading.close();
for (const graph of [frozen, g, fresh]) graph.dispose();
