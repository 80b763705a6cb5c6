// What the page asks of the engine: training, an epoch at a time, and classifying in between. The steps run in a
// worker (the target of the session), so that the page stays alive.
import { batchOf, parseDigits } from '../../../examples/digits/data.mjs';
import { Training } from '../../../examples/digits/training.mjs';
import { init } from '../../../npm/dist/index.js';

/** The minimum time per epoch on the screen, in ms, so that the visitor sees the curve move. */
const PACE = 24;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function loadDigits() {
  const response = await fetch(new URL('../../../examples/data/digits.csv.gz', import.meta.url));
  if (!response.ok) throw new Error(`the digits could not be loaded: HTTP ${response.status}`);
  return parseDigits(await new Response(response.body.pipeThrough(new DecompressionStream('gzip'))).text());
}

/**
 * `report` is called with { ready }, { started }, { epoch }, { finished }, { probabilities: { values, drawing } },
 * { example: { pixels, drawing } } and { failed }. `drawing` is the number of the drawing on the pad: the page
 * ignores a late answer to an earlier drawing.
 */
export class Lesson {
  #report;
  #tf;
  #digits;
  #training;
  #shown = null; // { pixels, drawing }: the drawing on the pad
  #round = 0; // the number of the training; a new training ends the previous one

  constructor(report) {
    this.#report = report;
  }

  /** Loads the engine and the digits. */
  start() {
    return this.#trying(async () => {
      [this.#tf, this.#digits] = await Promise.all([init({ threads: 1 }), loadDigits()]);
      await this.#tf.loadTrainingModule();
      this.#report({ ready: { version: this.#tf.version.package, variant: this.#tf.variant } });
    });
  }

  train(seed) {
    const mine = ++this.#round;
    const isMine = () => mine === this.#round;
    return this.#trying(async () => {
      await this.#training?.close();
      if (!isMine()) return;
      const training = (this.#training = new Training(this.#tf, this.#digits, { seed, target: 'worker' }));
      const { epochs } = training.options;
      let total = 0;
      this.#report({ started: { epochs } });
      while (!training.finished) {
        const began = performance.now();
        const state = await training.runEpoch();
        total += state.seconds;
        const tested = await training.test();
        if (!isMine()) return;
        this.#report({ epoch: { ...state, epochs, total, tested } });
        await this.#classify();
        await pause(Math.max(0, PACE - (performance.now() - began)));
        if (!isMine()) return;
      }
      this.#report({ finished: true });
    }, isMine);
  }

  /** `pixels` of a drawing; null when the pad is empty. */
  classify(pixels, drawing) {
    this.#shown = pixels && { pixels, drawing };
    return this.#trying(() => this.#classify());
  }

  /** A random digit of the test set with this label. */
  example(label, drawing) {
    return this.#trying(async () => {
      const { testing } = this.#digits;
      const places = Array.from(testing.labels.keys()).filter((i) => testing.labels[i] === label);
      const { pixels } = batchOf(testing, [places[Math.floor(Math.random() * places.length)]]);
      this.#shown = { pixels, drawing };
      this.#report({ example: this.#shown });
      await this.#classify();
    });
  }

  async #classify() {
    const [training, shown] = [this.#training, this.#shown];
    if (!training || !shown) return;
    try {
      const values = await training.classify(shown.pixels);
      this.#report({ probabilities: { values, drawing: shown.drawing } });
    } catch (error) {
      if (training === this.#training) throw error; // otherwise a new training has begun
    }
  }

  /** Reports the error of `work`, unless it does not matter any more. */
  async #trying(work, matters = () => true) {
    try {
      await work();
    } catch (error) {
      if (matters()) this.#report({ failed: error.message });
    }
  }
}
