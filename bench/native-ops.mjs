// Single ops on large inputs, beside native TensorFlow with one thread: `node bench/native-ops.mjs [words]` prints the cases of
// native_ops.py whose names contain one of the words, those first that take most of native TensorFlow's time. It needs the TensorFlow of
// tests/oracle.
//
// Both sides keep the inputs and the results where they are. Before an op is timed, the sum of the magnitudes of its results must be
// TensorFlow's to a thousandth, unless it draws random numbers.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { must, root, runMain, say } from '../tools/process.mjs';
import { PYTHON } from '../tests/js/tensorflow-servers.mjs';

const [WARM_UP_MS, MEASURED_MS, LEAST_ROUNDS] = [100, 250, 5];
const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  complex64: Float32Array,
};

function inputOf(tf, file, { dtype, shape }) {
  const bytes = readFileSync(file);
  if (dtype === 'string') return tf.tensor(bytes.toString().split('\n'), shape, dtype);
  const values = new ARRAYS[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return tf.tensor(values, shape, dtype, { resident: true });
}

const pairs = (values) =>
  Array.from({ length: values.length / 2 }, (_, i) => Math.hypot(values[2 * i], values[2 * i + 1]));

function magnitude({ dtype, data }) {
  const values = dtype.startsWith('complex') ? pairs(data) : data;
  let sum = 0;
  for (const value of values) sum += Math.abs(Number(value));
  return sum;
}

/** The median of the runs in milliseconds. */
function timeOf(run) {
  const repeat = (duration, times) => {
    const end = performance.now() + duration;
    while (performance.now() < end || times.length < LEAST_ROUNDS) {
      const begin = performance.now();
      run();
      times.push(performance.now() - begin);
    }
    return times.sort((a, b) => a - b)[times.length >> 1];
  };
  repeat(WARM_UP_MS, []);
  return repeat(MEASURED_MS, []);
}

function measure(tf, folder, { name, number, inputs, outputs, magnitudes }) {
  const graph = new tf.Graph();
  graph.importGraphDef(readFileSync(path.join(folder, `${number}.pb`)));
  const session = new tf.Session(graph);
  const values = inputs.map((input, i) => inputOf(tf, path.join(folder, `${number}.${i}`), input));
  const step = session.makeCallable(
    outputs.map((output) => graph.output(output)),
    inputs.map((_, i) => graph.output(`in${i}:0`)),
    { keep: true },
  );
  step.runSync(...values).forEach((result, i) => {
    const want = magnitudes[i];
    const got = want === null ? want : magnitude(result);
    if (want !== null && !(Math.abs(got - want) <= 1e-3 * want))
      throw new Error(`${name}: the magnitudes of ${outputs[i]} add up to ${got} instead of ${want}`);
    result.dispose();
  });
  const time = timeOf(() => step.runSync(...values).forEach((result) => result.dispose()));
  session.close();
  for (const value of values) value.dispose();
  graph.dispose();
  return time;
}

await runMain(async () => {
  if (!existsSync(PYTHON))
    return say(
      'skipped: `python3 tests/oracle/environment.py` installs the TensorFlow that this compares with',
    );
  const folder = mkdtempSync(path.join(tmpdir(), 'native-ops-'));
  try {
    await must(PYTHON, [path.join(root, 'bench/native_ops.py'), folder, ...process.argv.slice(2)]);
    const { init } = await import('../npm/dist/index.js');
    const tf = await init({ threads: 1 });
    await tf.loadSideModule();
    const rows = JSON.parse(readFileSync(path.join(folder, 'cases.json'), 'utf8'))
      .map((entry) => ({ ...entry, ours: measure(tf, folder, entry) }))
      .sort((a, b) => b.ours / b.native - a.ours / a.native);
    say('ours / native       ours     native');
    for (const { name, ours, native } of rows)
      say(
        `${(ours / native).toFixed(2).padStart(13)} ${ours.toFixed(3).padStart(10)} ${native.toFixed(3).padStart(10)} ms  ${name}`,
      );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
