// The memory of a training step: `node bench/training-memory.mjs [words]` prints, for the training steps whose names contain one of
// the words, the most that the engine held, and what the values of the step need.
//
// The engine's memory is all that the steps have taken: the variables, values, temporary memory of kernels, gaps between them, the
// compiled step. What was there before does not count: the graph and the initial values, whose memory the variables share until
// the first step.
//
// What the values need is computed from a trace (live-values.mjs), plus the variables.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { root, runMain, say } from '../tools/process.mjs';
import { bytesOf, mostLiveBytes } from './live-values.mjs';
import { digitsStep, trainingCases } from './training.mjs';

const [WARM_UP, STEPS] = [12, 3]; // the first steps find out how much memory they need
/** { needed, held, first } bytes of a case: `first` is what the first step held. */
async function memoryOf(tf, { ours }) {
  const opened = await ours(tf);
  const { graph, session, fetches, nextFeeds } = opened.parts;
  const variables = graph
    .operations()
    .filter(({ type }) => type === 'VarHandleOp')
    .reduce((sum, operation) => sum + bytesOf(operation.attrs()), 0);
  const before = tf.memory().liveBytes;
  const heldBy = async (steps) => {
    tf.resetPeakBytes();
    for (let i = 0; i < steps; i++) await opened.run();
    return tf.memory().peakBytes - before;
  };
  const first = await heldBy(1);
  await heldBy(WARM_UP);
  const held = await heldBy(STEPS);
  const trace = new tf.Trace();
  const feeds = nextFeeds();
  await session.run(fetches, feeds, { trace });
  const fed = [...feeds.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  const needed = variables + mostLiveBytes(trace.records, fed);
  await opened.close();
  return { variables, needed, held, first };
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`.padStart(10);

await runMain(async () => {
  const words = process.argv.slice(2);
  const { init } = await import('../npm/dist/index.js');
  const digits = await readFile(path.join(root, 'examples/data/digits.csv.gz'));
  say(`${''.padEnd(40)} variables     needed       held  held / needed  first step`);
  for (const entry of [digitsStep(digits), ...trainingCases]) {
    if (words.length > 0 && !words.some((word) => entry.name.includes(word))) continue;
    const tf = await init({ threads: 1 });
    const { variables, needed, held, first } = await memoryOf(tf, entry);
    say(
      `${entry.name.padEnd(38)} ${megabytes(variables)} ${megabytes(needed)} ${megabytes(held)} ${(held / needed).toFixed(2).padStart(14)}  ${megabytes(first)}`,
    );
  }
});
