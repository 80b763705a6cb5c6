// The page of whole-models.mjs, new for each model: all engines in one page, which take turns.
import { engines, timesOfFirstRun } from './engines.mjs';
import { copyingNow, limitNow } from './limit.mjs';
import { compare, median, relativeDifference } from './measure.mjs';

const TOLERANCE = 1e-3;
const SETTINGS = { warmUp: 1000, roundTime: 250 };
const LIMIT_TIME = 30;
const LIMITS = '/build/wasm-relaxed/bench_gemm.mjs';
const ARRAYS = { float32: Float32Array, int32: Int32Array };

/** model.json, with the arrays of data.bin. */
async function readModel(folder) {
  const model = await (await fetch(`${folder}/model.json`)).json();
  const data = await (await fetch(`${folder}/data.bin`)).arrayBuffer();
  for (const value of [...model.inputs, ...model.outputs]) {
    const count = value.shape.reduce((a, b) => a * b, 1);
    value.data = new ARRAYS[value.dtype](data.slice(value.offset, value.offset + 4 * count));
  }
  return { ...model, folder };
}

/** Loads an engine, and opens a model in it, whose answers must be those of TensorFlow. */
async function openChecked(name, model, threads) {
  const { format, load } = engines[name];
  if (model.missing[format]) throw new Error(`not converted: ${model.missing[format]}`);
  const open = await load(threads);
  const opened = await open(model);
  const answers = await opened.run(true);
  const differences = model.outputs.map(({ data }, i) => relativeDifference(answers[i], data));
  if (differences.every((difference) => difference < TOLERANCE)) return { ...opened, differences };
  await opened.close();
  throw new Error(`its outputs differ from TensorFlow's by ${differences}`);
}

/**
 * Milliseconds of each round by engine, and why an engine has none; the multiply-adds of the model and the bytes of its
 * weights; in the same rounds the peak of one core in GFLOP/s, the GB/s at which it reads such weights, and the milliseconds in which
 * a page copies what goes in and out.
 */
window.measureModel = async ({ folder, threads, rounds, names }) => {
  const model = await readModel(folder);
  const opened = {};
  const errors = {};
  try {
    for (const name of names) {
      try {
        opened[name] = await openChecked(name, model, threads);
      } catch (error) {
        errors[name] = String(error?.message ?? error);
      }
    }
    const limits = await (await import(LIMITS)).default({ noInitialRun: true });
    const work = await opened.ours?.work();
    const moved = (values) => values.filter(({ stays }) => !stays).map(({ data }) => data);
    const copied = { inputs: moved(model.inputs), outputs: moved(model.outputs) };
    const [peaks, readings, copyings] = [[], [], []];
    const beforeRound = async () => {
      peaks.push(limitNow(limits, LIMIT_TIME));
      if (work) readings.push(limits._bench_read_gbytes(work.weightBytes));
      copyings.push(await copyingNow(copied, LIMIT_TIME));
    };
    const times = await compare(opened, { ...SETTINGS, rounds, beforeRound });
    return {
      errors,
      times,
      ...work,
      peak: median(peaks),
      reading: median(readings),
      copying: median(copyings),
      medians: Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)])),
      differences: Object.fromEntries(
        Object.entries(opened).map(([name, { differences }]) => [name, differences]),
      ),
    };
  } finally {
    for (const { close } of Object.values(opened)) await close();
  }
};

/** The times until the first run of a model. */
window.timesOfFirstRun = async ({ folder, threads }) => timesOfFirstRun(threads, await readModel(folder));

/** The times of our ops in a model, after some steps to warm up. */
window.timesOfOps = async ({ folder, steps }) => {
  const { timesOfOps, close } = await openChecked('ours', await readModel(folder), 1);
  timesOfOps(steps);
  const ops = timesOfOps(steps);
  await close();
  return ops;
};
