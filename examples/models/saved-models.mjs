// SavedModels of several fields, with what TensorFlow computes with them (tests/oracle/whole_models.py): they are
// opened, compared and trained.
import { difference } from './golden.mjs';

const OPTIMIZERS = {
  gradientDescent: (tf, { rate }) => new tf.train.GradientDescentOptimizer(rate),
  momentum: (tf, { rate, momentum }) => new tf.train.MomentumOptimizer(rate, momentum),
  adagrad: (tf, { rate }) => new tf.train.AdagradOptimizer(rate),
  adam: (tf, { rate }) => new tf.train.AdamOptimizer(rate),
  rmsProp: (tf, { rate }) => new tf.train.RMSPropOptimizer(rate),
};
/** The largest difference from TensorFlow's numbers, as a share of the largest of them. */
const TOLERANCE = 1e-4;
/** The gradients of a variable count as at least this share of the largest of all gradients. */
const SMALLEST_GRADIENT = 1e-3;

const largestOf = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/** Compares a tensor with a record. Whole numbers are equal. */
function compared(kind, name, got, { dtype, shape, values }, atLeast = 0) {
  const ofMagnitude = dtype.startsWith('float') ? TOLERANCE : 0;
  const magnitude = [Math.max(largestOf(values), atLeast)];
  const want = { name, dtype, shape, data: values, relative: 0, ofMagnitude, magnitude };
  const problem =
    got.dtype === dtype ? difference(got, want) : `${name} has dtype ${got.dtype}, not ${dtype}`;
  return { kind, got, want, problem };
}

/** A model that is open, with its record. */
export class RecordedModel {
  #tf;
  #record;
  #update;
  #done = 0; // steps of training

  constructor(tf, model, record) {
    this.#tf = tf;
    this.model = model;
    this.#record = record;
  }

  /** Opens an archive. `session` has the options of the model's session. */
  static async open(tf, archive, record, session = {}) {
    return new RecordedModel(tf, await tf.load(archive, { session }), record);
  }

  close() {
    return this.model.close();
  }

  #feeds(signature) {
    const { inputs } = this.#record;
    return new Map(
      this.model.signatures[signature].inputs.map(({ name, output }) => {
        const { dtype, shape, values } = inputs[name];
        return [output, this.#tf.tensor(values, shape, dtype)];
      }),
    );
  }

  get #loss() {
    return this.model.signatures.loss.outputs.find(({ name }) => name === 'loss').output;
  }

  /** Runs the signature serving_default with the recorded inputs. Resolves to its outputs by name. */
  async run() {
    const { outputs } = this.model;
    const feeds = this.#feeds('serving_default');
    const results = await this.model.session.run(
      outputs.map(({ output }) => output),
      feeds,
    );
    return Object.fromEntries(outputs.map(({ name }, i) => [name, results[i]]));
  }

  /** Compares the outputs of the saved weights, or of those after the recorded training, with TensorFlow's. */
  async compareOutputs({ afterTraining = false } = {}) {
    const results = await this.run();
    const wants = afterTraining ? this.#record.trained : this.#record.outputs;
    return Object.entries(wants).map(([name, want]) => compared('output', name, results[name], want));
  }

  /** Compares the gradients of the loss by the variables with TensorFlow's. */
  async compareGradients() {
    const { gradients } = this.#record;
    const { graph, session } = this.model;
    const variables = graph.trainableVariables;
    const results = await session.run(graph.gradients([this.#loss], variables), this.#feeds('loss'));
    const largest = Math.max(...Object.values(gradients).map(({ values }) => largestOf(values)));
    return variables.map(({ name }, i) =>
      compared('gradient', name, results[i], gradients[name], SMALLEST_GRADIENT * largest),
    );
  }

  get finished() {
    return this.#done === this.#record.training.losses.length;
  }

  /** One step of training, compared with TensorFlow's: { got, want, problem } of its loss. */
  async step() {
    const { session, graph } = this.model;
    const { training } = this.#record;
    if (!this.#update) {
      const optimizer = OPTIMIZERS[training.optimizer](this.#tf, training);
      const vars = graph.trainableVariables.filter(({ name }) => training.variables.includes(name));
      this.#update = optimizer.minimize(this.#loss, { vars });
      await session.run(graph.initializer(optimizer.variables));
    }
    const got = await session.run(this.#loss, this.#feeds('loss'), { targets: [this.#update] });
    const want = { dtype: 'float32', shape: [], values: [training.losses[this.#done++]] };
    return compared('loss', 'loss', got, want, largestOf(training.losses));
  }
}
