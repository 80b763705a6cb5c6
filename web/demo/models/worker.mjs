// The worker that runs the engine: it runs the models, compares them with TensorFlow, trains them, and opens
// the visitor's own models.
//
//   page -> worker: { train: { model, training, turn } }, { open: { name, content } or { model } }, { run: {
// feeds, fetches } }
//   worker -> page: { ready }, { checked }, { started }, { step }, { finished }, { opened }, { ran }, {
// refused }, { failed }
//
// `turn` is the number of the training; a new training ends the previous one. `content` is bytes or protobuf
// text.
import { parseFeed, startingText } from '../../../examples/models/feeds.mjs';
import { goldenCases, largestDifference } from '../../../examples/models/golden.mjs';
import { compare, feedsOf, modelsOf, ModelTraining, withModel } from '../../../examples/models/models.mjs';
import { describeOutput, summarize } from '../../../examples/graphs/summary.mjs';
import { init } from '../../../npm/dist/index.js';

/** The minimum time between training steps on the screen, in ms, so that the visitor sees the curve move. */
const PACE = 30;
/** The duration of the runs that measure a model's speed, in ms. */
const TIMED = 120;
const VALUES_SHOWN = 24;
const PLACEHOLDERS = new Set(['Placeholder', 'PlaceholderV2', 'PlaceholderWithDefault']);

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const inWords = (error) => `${error.code ? `${error.code}: ` : ''}${error.message}`;

let tf;
let models;
let turn = 0;
let own; // { graph, session } of the visitor's model

async function loadModels() {
  const response = await fetch(new URL('../../../tests/data/golden/models.pb', import.meta.url));
  if (!response.ok) throw new Error(`the models could not be loaded: HTTP ${response.status}`);
  return modelsOf(goldenCases(new Uint8Array(await response.arrayBuffer())));
}

/** The median time of a run, in ms. */
function timeOf(run) {
  const times = [];
  for (const end = performance.now() + TIMED; times.length < 3 || performance.now() < end; ) {
    const began = performance.now();
    run();
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

/**
 * The number of weights of a frozen graph: the elements of all float constants with more than one element.
 */
const weightsOf = (graph) =>
  graph
    .operations()
    .filter(({ type }) => type === 'Const')
    .map((operation) => operation.output(0))
    .filter(({ dtype, shape }) => /^float(16|32)$/.test(dtype) && shape.length > 0)
    .reduce((sum, { shape }) => sum + shape.reduce((size, dim) => size * dim, 1), 0);

const check = (index) =>
  withModel(tf, models[index].frozen.graph, (graph, session) => {
    const { frozen } = models[index];
    const { nodes, ops, inputs } = summarize(graph);
    const facts = {
      nodes,
      kinds: ops.length,
      weights: weightsOf(graph),
      inputs: inputs.map((name) => ({ name, text: describeOutput(graph.output(name)) })),
    };
    const { name: answer } = frozen.steps[0].fetches[0];
    const feeds = feedsOf(tf, frozen.steps[0]);
    const time = timeOf(() => session.runSync(answer, feeds)); // before the gradients: they are other nodes
    const results = compare(tf, graph, session, frozen);
    const off = (...kinds) => {
      const some = results.filter(({ kind }) => kinds.includes(kind));
      return some.length > 0 ? largestDifference(some) : null;
    };
    const outputs = { want: [...results[0].want.data], got: [...results[0].got.data] };
    return {
      index,
      ...facts,
      time,
      answer: off('output', 'loss'),
      gradients: off('gradient'),
      problem: results.find(({ problem }) => problem)?.problem,
      outputs,
    };
  });

async function train({ model, training: which, turn: mine }) {
  turn = mine;
  const golden = models[model].trainings[which];
  const training = await ModelTraining.start(tf, golden);
  try {
    postMessage({ started: { turn: mine, want: golden.steps.map(({ fetches: [want] }) => want.data[0]) } });
    while (!training.finished) {
      const began = performance.now();
      const { got, problem } = training.step();
      postMessage({ step: { turn: mine, loss: got.data[0], problem } });
      await pause(Math.max(0, PACE - (performance.now() - began)));
      if (mine !== turn) return;
    }
    postMessage({ finished: { turn: mine } });
  } finally {
    await training.close();
  }
}

// ---- the visitor's own model ----

async function open({ name, content, model }) {
  const source = model === undefined ? content : models[model].frozen.graph;
  const { missing } = tf.checkCompatibility(source);
  const opened = { name: model === undefined ? name : models[model].name, missing, inputs: [], outputs: [] };
  if (missing.length === 0) {
    const graph = new tf.Graph();
    try {
      graph.importGraphDef(source);
    } catch (error) {
      graph.dispose();
      throw error;
    }
    await closeOwn();
    own = { graph, session: new tf.Session(graph) };
    const { nodes, ops, functions, results } = summarize(graph);
    const places = graph
      .operations()
      .filter(({ type }) => PLACEHOLDERS.has(type))
      .map((operation) => ({ name: operation.name, output: operation.output(0) }));
    const outputs = results
      .map((result) => graph.operation(result))
      .filter(({ outputs: { length }, type }) => length > 0 && type !== 'Const');
    Object.assign(opened, {
      nodes,
      kinds: ops.length,
      functions: functions.length,
      outputs: outputs.map((operation) => operation.name),
      inputs: places.map(({ name: input, output }) => ({
        name: input,
        type: describeOutput(output),
        text: startingText(output),
      })),
    });
  }
  postMessage({ opened });
}

async function closeOwn() {
  await own?.session.close();
  own?.graph.dispose();
  own = undefined;
}

const rounded = (value) =>
  typeof value === 'number'
    ? String(Number(value.toPrecision(6)))
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

/** The first elements of a tensor as text. */
function shown(tensor) {
  const values = [tensor.array()].flat(Infinity).slice(0, VALUES_SHOWN).map(rounded);
  return values.join(', ') + (tensor.size > VALUES_SHOWN ? ', …' : '');
}

function runOwn({ feeds, fetches }) {
  const { graph, session } = own;
  const tensors = {};
  for (const [name, text] of Object.entries(feeds)) {
    try {
      if (text.trim() !== '') tensors[name] = parseFeed(tf, graph.output(name), text);
    } catch (error) {
      throw new Error(`${name}: ${error.message}`);
    }
  }
  const began = performance.now();
  const results = session.runSync(fetches, tensors);
  const time = performance.now() - began;
  postMessage({
    ran: {
      time,
      results: fetches.map((name, i) => ({
        name,
        type: `${results[i].dtype} [${results[i].shape.join(', ')}]`,
        values: shown(results[i]),
      })),
    },
  });
}

onmessage = async ({ data }) => {
  try {
    if ('train' in data) await train(data.train);
    if ('open' in data)
      await open(data.open).catch((error) =>
        Promise.reject(new Error(`${data.open.name} cannot be opened: ${inWords(error)}`)),
      );
    if ('run' in data) runOwn(data.run);
  } catch (error) {
    postMessage(
      'train' in data
        ? { failed: inWords(error) }
        : { refused: { what: 'open' in data ? 'open' : 'run', why: inWords(error) } },
    );
  }
};

try {
  [tf, models] = await Promise.all([init({ threads: 1 }), loadModels()]);
  const listed = models.map(({ name, trainings }) => ({
    name,
    trainings: trainings.map(({ training }) => training.optimizer.replace('ResourceApply', '')),
  }));
  postMessage({ ready: { version: tf.version.package, variant: tf.variant, models: listed } });
  for (const index of models.keys()) {
    postMessage({ checked: await check(index) });
    await pause(0);
  }
} catch (error) {
  postMessage({ failed: inWords(error) });
}
