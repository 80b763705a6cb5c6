// The engine at work, away from the page: trains an epoch at a time and answers in between.
//
//   page -> worker: { train: seed }, { classify: pixels or null, drawing: number }, { example: digit,
// drawing: number }
//   worker -> page: { ready }, { started }, { epoch }, { finished }, { probabilities: { values, drawing } },
// { example: { pixels, drawing } }, { failed }
//
// `drawing` counts what is on the pad, so that an answer that comes late is not taken for one to the next
// drawing.
import { batchOf, parseDigits } from '../../../examples/digits/data.mjs';
import { Training } from '../../../examples/digits/training.mjs';
import { init } from '../../../npm/dist/index.js';

/** The shortest time that an epoch takes on the screen, in ms: the curve should be seen to move. */
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
let shown = null; // { pixels, drawing }: what is on the pad
let round = 0; // of training; a new one ends the one before

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

/** Some digit of the test set with that label. */
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
