// Whole models that TensorFlow wrote: they answer, differentiate and train as they do there.
import assert from 'node:assert/strict';
import { engine } from './engine.mjs';
import { difference, goldenCases } from './golden.mjs';

const feedsOf = (tf, step) => Object.fromEntries(step.feeds.map(({ name, dtype, shape, data }) => [name, tf.tensor(data, shape, dtype)]));

const OPTIMIZERS = {
  ResourceApplyGradientDescent: (tf, { alpha }) => new tf.train.GradientDescentOptimizer(alpha),
  ResourceApplyMomentum: (tf, { lr, momentum }) => new tf.train.MomentumOptimizer(lr, momentum),
  ResourceApplyAdam: (tf, { lr, beta1, beta2, epsilon }) => new tf.train.AdamOptimizer(lr, { beta1, beta2, epsilon }),
};

/** The answer of a frozen graph, its loss, and the gradients with regard to its weights. */
async function answers(tf, { graph: bytes, gradients, steps: [step] }) {
  const graph = new tf.Graph();
  const session = new tf.Session(graph);
  graph.importGraphDef(bytes);
  const named = (name) => graph.output(name);
  const dx = gradients ? graph.gradients(gradients.ys.map(named), gradients.xs.map(named)) : [];
  const fetches = step.fetches.map(({ name }) => (name.startsWith('dx:') ? dx[Number(name.slice(3))] : named(name)));
  const got = await session.run(fetches, feedsOf(tf, step));
  got.forEach((tensor, i) => assert.equal(difference(tensor, step.fetches[i]), undefined));
  await session.close();
  graph.dispose();
}

/** The weights of a frozen graph become variables, which an optimizer trains. */
async function trains(tf, { graph: bytes, steps, training }) {
  const frozen = new tf.Graph();
  frozen.importGraphDef(bytes);
  const reading = new tf.Session(frozen);
  const weights = await reading.run(training.variables);
  await reading.close();
  frozen.dispose();

  const graph = new tf.Graph();
  const session = new tf.Session(graph);
  const inputMap = Object.fromEntries(training.variables.map((name, i) => [name, graph.variable(weights[i], { name: `trained/${name}` })]));
  const { outputs: [loss] } = graph.importGraphDef(bytes, { inputMap, returnOutputs: [training.loss] });
  const step = OPTIMIZERS[training.optimizer](tf, training.scalars).minimize(loss);
  await session.run([], {}, { targets: [graph.initializer()] });
  for (const { feeds, fetches: [want] } of steps) {
    const got = await session.run(loss, feedsOf(tf, { feeds }), { targets: [step] });
    assert.equal(difference(got, want), undefined);
  }
  await session.close();
  graph.dispose();
}

describe('models', function () {
  this.timeout(60_000);
  let tf;
  let cases;
  before(async () => {
    tf = await engine();
    cases = await goldenCases('models');
  });

  it('answer as in TensorFlow, with their losses and gradients', async () => {
    for (const golden of cases.filter(({ training }) => !training)) {
      await answers(tf, golden).catch((error) => assert.fail(`${golden.name}: ${error.message}`));
    }
  });

  it('are trained by tf.train as by TensorFlow, 20 steps each', async () => {
    for (const golden of cases.filter(({ training }) => training)) {
      await trains(tf, golden).catch((error) => assert.fail(`${golden.name}: ${error.message}`));
    }
  });
});
