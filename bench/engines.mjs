// The engines of whole-models.mjs, in a page. Each is loaded with a number of threads, and opens a model:
//   run()   from typed arrays to typed arrays, in the order of the model's outputs; may be a promise. Inputs that stay were
//           given to the engine before, and outputs that stay are left in its memory, unless run(true) asks for all
//   close() frees what was made
// A model is the content of its model.json (model_files.py), and `folder`, its address. Its inputs have `data`.
import { multiplyAddsOf, weightBytesOf } from './multiply-adds.mjs';
import { timesByOp } from './op-times.mjs';
import { loadOnnxRuntime } from './onnxruntime.mjs';
import { loadPeer } from './peer.mjs';

const MODULES = '/node_modules';

async function bytesOf(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * Opens the frozen graph, and prepares its step. `timesOfOps(count)` traces so many steps; work() counts the multiply-adds
 * of a step, and the bytes of its weights.
 */
async function loadOurs(threads) {
  const { init } = await import('/npm/dist/index.js');
  const tf = await init({ threads });
  if (!tf.variant.startsWith('relaxed') || tf.threads !== threads)
    throw new Error(`the build is ${tf.variant} with ${tf.threads} threads: ${tf.variantReason ?? ''}`);
  return async ({ folder, inputs, outputs }) => {
    const graph = new tf.Graph();
    graph.importGraphDef(await bytesOf(`${folder}/graph.pb`));
    const session = new tf.Session(graph);
    const fetches = outputs.map(({ name }) => graph.output(name));
    const feeds = inputs.map(({ name, data }) => [graph.output(`${name}:0`), data]);
    const step = session.makeCallable(
      fetches,
      feeds.map(([placeholder]) => placeholder),
      { keep: outputs.some(({ stays }) => stays) },
    );
    const values = inputs.map(({ data, shape, stays }) =>
      stays ? tf.tensor(data, shape, { resident: true }) : data,
    );
    return {
      run(all = false) {
        const answers = step.runSync(...values);
        const arrays = answers.map((answer, i) => (all || !outputs[i].stays ? answer.data : undefined));
        for (const answer of answers) answer.dispose();
        return arrays;
      },
      timesOfOps(count) {
        const traces = Array.from({ length: count }, () => {
          const trace = new tf.Trace();
          session.runSync(fetches, feeds, { trace });
          return trace.records;
        });
        return timesByOp(traces);
      },
      async work() {
        const plain = new tf.Session(graph, { optimize: false });
        const trace = new tf.Trace();
        plain.runSync(fetches, feeds, { trace });
        await plain.close();
        const { records } = trace;
        return { multiplyAdds: multiplyAddsOf(graph, records), weightBytes: weightBytesOf(graph, records) };
      },
      async close() {
        for (const value of values) value.dispose?.();
        step.release();
        await session.close();
        graph.dispose();
      },
    };
  };
}

/** Milliseconds of what comes before our second run of a model, and of that run. */
export async function timesOfFirstRun(threads, { folder, inputs, outputs }) {
  const { init } = await import('/npm/dist/index.js');
  const tf = await init({ threads });
  const times = {};
  const timed = async (name, work) => {
    const started = performance.now();
    const made = await work();
    times[name] = performance.now() - started;
    return made;
  };
  await timed('reading', () => bytesOf(`${folder}/graph.pb`));
  const { graph, session } = await timed('load', () => tf.load(`${folder}/graph.pb`));
  const values = inputs.map(({ data }) => data);
  const step = await timed('plan', () =>
    session.makeCallable(
      outputs.map(({ name }) => graph.output(name)),
      inputs.map(({ name }) => graph.output(`${name}:0`)),
    ),
  );
  await timed('first run', () => step.runSync(...values));
  await timed('second run', () => step.runSync(...values));
  return times;
}

async function loadLiteRtEngine(threads) {
  const { loadAndCompile, loadLiteRt, Tensor } = await import('@litertjs/core');
  await loadLiteRt(`${MODULES}/@litertjs/core/wasm/`, { threads: threads > 1 });
  return async ({ folder, inputs, outputs }) => {
    const options = { accelerator: 'wasm', cpuOptions: { numThreads: threads } };
    const model = await loadAndCompile(`${folder}/model.tflite`, options);
    const tensorsOf = (some) => some.map(({ name, data, shape }) => [name, new Tensor(data, shape)]);
    const staying = Object.fromEntries(tensorsOf(inputs.filter(({ stays }) => stays)));
    const moving = inputs.filter(({ stays }) => !stays);
    return {
      async run(all = false) {
        const feeds = Object.fromEntries(tensorsOf(moving));
        const answers = await model.run({ ...staying, ...feeds });
        const values = outputs.map(({ stays }, i) =>
          all || !stays ? answers[`output_${i}`].toTypedArray() : undefined,
        );
        for (const tensor of [...Object.values(feeds), ...Object.values(answers)]) tensor.delete();
        return values;
      },
      close() {
        for (const tensor of Object.values(staying)) tensor.delete();
        model.delete();
      },
    };
  };
}

async function loadOnnxEngine(threads) {
  const ort = await loadOnnxRuntime(`${MODULES}/onnxruntime-web/dist/`, threads);
  return async ({ folder, inputs, outputs }) => {
    const session = await ort.InferenceSession.create(await bytesOf(`${folder}/model.onnx`), {
      executionProviders: ['wasm'],
    });
    return {
      /* Its CPU tensors are arrays of the page: it copies them whether they stay or not. */
      async run() {
        const feeds = Object.fromEntries(
          inputs.map(({ name, dtype, data, shape }) => [`${name}:0`, new ort.Tensor(dtype, data, shape)]),
        );
        const answers = await session.run(feeds);
        return outputs.map(({ name }) => answers[name].data);
      },
      close: () => session.release(),
    };
  };
}

async function loadTfjs(threads) {
  const tfjs = await loadPeer(`${MODULES}/@tensorflow/tfjs-backend-wasm/dist/`, threads);
  const { loadGraphModel } = await tfjs.loadConverter();
  return async ({ folder, inputs, outputs }) => {
    const model = await loadGraphModel(`${folder}/tfjs/model.json`);
    const names = outputs.map(({ name }) => name);
    const tensorsOf = (some) =>
      Object.fromEntries(some.map(({ name, dtype, data, shape }) => [name, tfjs.tensor(data, shape, dtype)]));
    const staying = tensorsOf(inputs.filter(({ stays }) => stays));
    const moving = inputs.filter(({ stays }) => !stays);
    const run = (all = false) => {
      const feeds = tensorsOf(moving);
      const answers = [model.execute({ ...staying, ...feeds }, names)].flat();
      const values = answers.map((answer, i) => (all || !outputs[i].stays ? answer.dataSync() : undefined));
      tfjs.dispose([...Object.values(feeds), ...answers]);
      return values;
    };
    const runAsync = async (all = false) => {
      const feeds = tensorsOf(moving);
      const answers = [await model.executeAsync({ ...staying, ...feeds }, names)].flat();
      const values = await Promise.all(
        answers.map((answer, i) => (all || !outputs[i].stays ? answer.data() : undefined)),
      );
      tfjs.dispose([...Object.values(feeds), ...answers]);
      return values;
    };
    return {
      run: isDynamic(model) ? runAsync : run,
      close() {
        tfjs.dispose(staying);
        model.dispose();
      },
    };
  };
}

/** Ops whose nodes need executeAsync. */
const ASYNCHRONOUS = new Set(['Enter', 'While', 'StatelessWhile', 'NonMaxSuppressionV4']);

const isDynamic = (model) => Object.values(model.executor.graph.nodes).some(({ op }) => ASYNCHRONOUS.has(op));

/** By their names in the table; ours first. */
export const engines = {
  ours: { load: loadOurs },
  'LiteRT.js': { load: loadLiteRtEngine, format: 'tflite' },
  'onnxruntime-web': { load: loadOnnxEngine, format: 'onnx' },
  'tfjs-wasm': { load: loadTfjs, format: 'tfjs' },
};
