// Whole models from TensorFlow: they are imported, compared with TensorFlow's results and gradients, and
// trained.
import { difference } from './golden.mjs';

const OPTIMIZERS = {
  ResourceApplyGradientDescent: (tf, { alpha }) => new tf.train.GradientDescentOptimizer(alpha),
  ResourceApplyMomentum: (tf, { lr, momentum }) => new tf.train.MomentumOptimizer(lr, momentum),
  ResourceApplyAdam: (tf, { lr, beta1, beta2, epsilon }) =>
    new tf.train.AdamOptimizer(lr, { beta1, beta2, epsilon }),
};

/** The feeds of a step of a case, by name. */
export const feedsOf = (tf, step) =>
  Object.fromEntries(step.feeds.map(({ name, dtype, shape, data }) => [name, tf.tensor(data, shape, dtype)]));

/** The models among golden cases: { name, frozen: case, trainings: [case] } each. */
export function modelsOf(cases) {
  return cases
    .filter(({ training }) => !training)
    .map((frozen) => ({
      name: frozen.name,
      frozen,
      trainings: cases.filter(
        ({ name, training }) => training && name === `${frozen.name}, ${training.optimizer}`,
      ),
    }));
}

/** Calls `use` with a new graph and a session with these options, and frees both. */
export async function withModel(tf, bytes, use, options = {}) {
  const graph = new tf.Graph();
  const session = new tf.Session(graph, options);
  try {
    graph.importGraphDef(bytes);
    return await use(graph, session);
  } finally {
    await session.close();
    graph.dispose();
  }
}

/**
 * Runs a frozen case and compares everything recorded for it: outputs, loss, gradients by the weights.
 * Returns { kind: 'output' | 'loss' | 'gradient', got, want, problem } for each; `problem` is undefined if
 * `got` is within the tolerance.
 */
export async function compare(tf, graph, session, { gradients, steps: [step] }) {
  const named = (name) => graph.output(name);
  const slopes = gradients ? graph.gradients(gradients.ys.map(named), gradients.xs.map(named)) : [];
  const isGradient = ({ name }) => name.startsWith('dx:');
  const fetches = step.fetches.map((want) =>
    isGradient(want) ? slopes[Number(want.name.slice('dx:'.length))] : named(want.name),
  );
  return (await session.run(fetches, feedsOf(tf, step))).map((got, i) => {
    const want = step.fetches[i];
    const kind = isGradient(want) ? 'gradient' : want.name === 'loss:0' ? 'loss' : 'output';
    return { kind, got, want, problem: difference(got, want) };
  });
}

/** A case in training: its frozen weights become variables. */
export class ModelTraining {
  #tf;
  #case;
  #graph;
  #session;
  #loss;
  #update;
  #next = 0;

  /** `options` are those of its session. */
  static async start(tf, golden, options = {}) {
    const { graph: bytes, training } = golden;
    const weights = await withModel(tf, bytes, (_, session) => session.run(training.variables), options);
    const made = new ModelTraining();
    made.#tf = tf;
    made.#case = golden;
    const graph = (made.#graph = new tf.Graph());
    made.#session = new tf.Session(graph, options);
    try {
      const inputMap = Object.fromEntries(
        training.variables.map((name, i) => [name, graph.variable(weights[i], { name: `trained/${name}` })]),
      );
      const {
        outputs: [loss],
      } = graph.importGraphDef(bytes, { inputMap, returnOutputs: [training.loss] });
      made.#loss = loss;
      made.#update = OPTIMIZERS[training.optimizer](tf, training.scalars).minimize(loss);
      await made.#session.run(graph.initializer());
      return made;
    } catch (error) {
      await made.close();
      throw error;
    }
  }

  get finished() {
    return this.#next === this.#case.steps.length;
  }

  /** One step, compared with TensorFlow's: { got, want, problem } of its loss. */
  async step() {
    const {
      feeds,
      fetches: [want],
    } = this.#case.steps[this.#next++];
    const targets = [this.#update];
    const got = await this.#session.run(this.#loss, feedsOf(this.#tf, { feeds }), { targets });
    return { got, want, problem: difference(got, want) };
  }

  async close() {
    await this.#session.close();
    this.#graph.dispose();
  }
}
