// Training: epochs of minibatches, in small portions so that a page can draw in between, and testing.
import { batchOf } from './data.mjs';
import { buildNetwork } from './network.mjs';
import { randomNumbers, shuffle } from './random.mjs';

export const DEFAULTS = Object.freeze({
  target: '',
  seed: 1,
  epochs: 60,
  batch: 32,
  rate: 0.008,
  shifted: 0.5,
});

/** Decreases smoothly from `rate` to a hundredth of it: large steps first, fine ones at the end. */
const rateAt = (rate, progress) => rate * (0.01 + 0.99 * (0.5 + 0.5 * Math.cos(Math.PI * progress)));

/** A network in training. `target` is that of its session: 'worker' keeps a page alive. Free it with close(). */
export class Training {
  constructor(tf, digits, options = {}) {
    this.options = { ...DEFAULTS, ...options };
    this.digits = digits;
    this.random = randomNumbers(this.options.seed);
    this.order = Array.from({ length: digits.training.count }, (_, i) => i);
    this.network = buildNetwork(tf, this.options);
    this.session = new tf.Session(this.network.graph, { target: this.options.target });
    this.initialized = this.session.run(this.network.graph.initializer());
    this.initialized.catch(() => {}); // the first epoch reports it
    this.epoch = 0;
  }

  get steps() {
    return Math.ceil(this.order.length / this.options.batch);
  }

  get finished() {
    return this.epoch >= this.options.epochs;
  }

  /**
   * One pass over the training set. Returns { epoch, loss (the mean), accuracy (on the augmented digits),
   * examples, seconds }.
   */
  async runEpoch() {
    await this.initialized;
    const { session, network, options } = this;
    const started = performance.now();
    shuffle(this.order, this.random);
    let [loss, correct] = [0, 0];
    for (let step = 0; step < this.steps; step++) {
      const indices = this.order.slice(step * options.batch, (step + 1) * options.batch);
      const batch = batchOf(this.digits.training, indices, { shifted: options.shifted, random: this.random });
      const progress = (this.epoch + step / this.steps) / options.epochs;
      const result = await session.run(
        { loss: network.loss, correct: network.correct, step: network.train },
        new Map([
          [network.images, batch.pixels],
          [network.labels, batch.labels],
          [network.learningRate, rateAt(options.rate, progress)],
        ]),
      );
      loss += result.loss.item() * indices.length;
      correct += result.correct.item();
    }
    this.epoch++;
    const examples = this.order.length;
    return {
      epoch: this.epoch,
      loss: loss / examples,
      accuracy: correct / examples,
      examples,
      seconds: (performance.now() - started) / 1000,
    };
  }

  /** The fraction of the test set that is recognised. */
  async test() {
    const { pixels, labels, count } = this.digits.testing;
    const correct = await this.session.run(
      this.network.correct,
      new Map([
        [this.network.images, pixels],
        [this.network.labels, labels],
      ]),
    );
    return correct.item() / count;
  }

  /** The probabilities of the ten classes for each of the images, one after another. */
  async classify(pixels) {
    const { probabilities, images } = this.network;
    return (await this.session.run(probabilities, new Map([[images, pixels]]))).data;
  }

  async close() {
    await this.session.close();
    this.network.graph.dispose();
  }
}
