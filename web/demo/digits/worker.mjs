// The worker that runs the engine: it trains one epoch at a time and answers messages in between.
//
//   page -> worker: { train: seed }, { classify: pixels or null, drawing: number }, { example: digit,
// drawing: number }
//   worker -> page: { ready }, { started }, { epoch }, { finished }, { probabilities: { values, drawing } },
// { example: { pixels, drawing } }, { failed }
//
// `drawing` is the number of the drawing on the pad: the page ignores a late answer to an earlier drawing.
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

let tf;
let digits;
let training;
let shown = null; // { pixels, drawing }: the drawing on the pad
let round = 0; // the number of the training; a new training ends the previous one

function classify() {
  if (training && shown)
    postMessage({ probabilities: { values: training.classify(shown.pixels), drawing: shown.drawing } });
}

async function train(seed) {
  const mine = ++round;
  await training?.close();
  training = new Training(tf, digits, { seed });
  const { epochs } = training.options;
  let seconds = 0;
  postMessage({ started: { epochs } });
  while (!training.finished) {
    const began = performance.now();
    const state = training.runEpoch();
    seconds += state.seconds;
    postMessage({ epoch: { ...state, epochs, total: seconds, tested: training.test() } });
    classify();
    await pause(Math.max(0, PACE - (performance.now() - began)));
    if (mine !== round) return;
  }
  postMessage({ finished: true });
}

/** A random digit of the test set with this label. */
function example(label, drawing) {
  const { testing } = digits;
  const places = Array.from(testing.labels.keys()).filter((i) => testing.labels[i] === label);
  const { pixels } = batchOf(testing, [places[Math.floor(Math.random() * places.length)]]);
  shown = { pixels, drawing };
  postMessage({ example: shown });
  classify();
}

onmessage = async ({ data }) => {
  try {
    if ('train' in data) await train(data.train);
    if ('example' in data) example(data.example, data.drawing);
    if ('classify' in data) {
      shown = data.classify && { pixels: data.classify, drawing: data.drawing };
      classify();
    }
  } catch (error) {
    postMessage({ failed: error.message });
  }
};

try {
  [tf, digits] = await Promise.all([init({ threads: 1 }), loadDigits()]);
  postMessage({ ready: { version: tf.version.package, variant: tf.variant } });
} catch (error) {
  postMessage({ failed: error.message });
}
