// What the page asks of the engine: it runs the models, compares them with TensorFlow, trains them, and opens the
// visitor's own models. All steps run in a worker (the target of the sessions), so that the page stays alive.
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
/** Reads the weights of Keras models; a development dependency of the repository. */
const H5WASM = new URL('../../../node_modules/h5wasm/dist/esm/hdf5_hl.js', import.meta.url).href;
const IN_WORKER = { target: 'worker' };
const inWords = (error) => `${error.code ? `${error.code}: ` : ''}${error.message}`;

async function loadModels() {
  const response = await fetch(new URL('../../../tests/data/golden/models.pb', import.meta.url));
  if (!response.ok) throw new Error(`the models could not be loaded: HTTP ${response.status}`);
  return modelsOf(goldenCases(new Uint8Array(await response.arrayBuffer())));
}

/** The median time of a run, in ms. */
async function timeOf(run) {
  const times = [];
  for (const end = performance.now() + TIMED; times.length < 3 || performance.now() < end; ) {
    const began = performance.now();
    await run();
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

const check = (tf, { frozen }, index) =>
  withModel(
    tf,
    frozen.graph,
    async (graph, session) => {
      const { nodes, ops, inputs } = summarize(graph);
      const facts = {
        nodes,
        kinds: ops.length,
        weights: weightsOf(graph),
        inputs: inputs.map((name) => ({ name, text: describeOutput(graph.output(name)) })),
      };
      const { name: answer } = frozen.steps[0].fetches[0];
      const feeds = feedsOf(tf, frozen.steps[0]);
      const time = await timeOf(() => session.run(answer, feeds)); // before the gradients: they are other nodes
      const results = await compare(tf, graph, session, frozen);
      const off = (...kinds) => {
        const some = results.filter(({ kind }) => kinds.includes(kind));
        return some.length > 0 ? largestDifference(some) : null;
      };
      return {
        index,
        ...facts,
        time,
        answer: off('output', 'loss'),
        gradients: off('gradient'),
        problem: results.find(({ problem }) => problem)?.problem,
        outputs: { want: [...results[0].want.data], got: [...results[0].got.data] },
      };
    },
    IN_WORKER,
  );

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

/**
 * `report` is called with { ready }, { checked }, { started }, { step }, { finished }, { opened }, { ran },
 * { refused } and { failed }.
 */
export class Runner {
  #report;
  #tf;
  #models;
  #idle; // a session that keeps the worker between the others
  #turn = 0;
  #own; // { session, output(name), close() } of the visitor's model

  constructor(report) {
    this.#report = report;
  }

  /** Loads the engine and the models, and checks all of them. */
  async start() {
    try {
      const [tf, models] = await Promise.all([init({ threads: 1 }), loadModels()]);
      [this.#tf, this.#models] = [tf, models];
      this.#idle = new tf.Session(new tf.Graph(), IN_WORKER);
      const listed = models.map(({ name, trainings }) => ({
        name,
        trainings: trainings.map(({ training }) => training.optimizer.replace('ResourceApply', '')),
      }));
      this.#report({ ready: { version: tf.version.package, variant: tf.variant, models: listed } });
      for (const [index, model] of models.entries()) {
        this.#report({ checked: await check(tf, model, index) });
        await pause(0);
      }
    } catch (error) {
      this.#report({ failed: inWords(error) });
    }
  }

  /** `turn` is the number of the training; a new training ends the previous one. */
  async train({ model, training: which, turn }) {
    this.#turn = turn;
    try {
      await this.#train(this.#models[model].trainings[which], turn);
    } catch (error) {
      this.#report({ failed: inWords(error) });
    }
  }

  async #train(golden, turn) {
    const training = await ModelTraining.start(this.#tf, golden, IN_WORKER);
    try {
      const want = golden.steps.map(({ fetches: [loss] }) => loss.data[0]);
      if (turn === this.#turn) this.#report({ started: { turn, want } });
      while (turn === this.#turn && !training.finished) {
        const began = performance.now();
        const { got, problem } = await training.step();
        this.#report({ step: { turn, loss: got.data[0], problem } });
        await pause(Math.max(0, PACE - (performance.now() - began)));
      }
      if (turn === this.#turn) this.#report({ finished: { turn } });
    } finally {
      await training.close();
    }
  }

  /**
   * Opens a model of the visitor, a GraphDef (`content` is bytes or protobuf text) or `files` of any format that
   * tf.load opens, or a copy of one of the models.
   */
  async open({ name, content, files, model }) {
    try {
      const opened = files
        ? await this.#load(name, files)
        : await this.#open(name, content, this.#models[model]);
      this.#report({ opened });
    } catch (error) {
      this.#report({ refused: { what: 'open', why: `${name} cannot be opened: ${inWords(error)}` } });
    }
  }

  async #open(name, content, model) {
    const source = model ? model.frozen.graph : content;
    const { missing } = this.#tf.checkCompatibility(source);
    const opened = { name: model ? model.name : name, missing, inputs: [], outputs: [] };
    if (missing.length > 0) return opened;
    const graph = new this.#tf.Graph();
    try {
      graph.importGraphDef(source);
    } catch (error) {
      graph.dispose();
      throw error;
    }
    await this.#closeOwn();
    const session = new this.#tf.Session(graph, IN_WORKER);
    const output = (input) => graph.output(input);
    this.#own = {
      session,
      output,
      async close() {
        await session.close();
        graph.dispose();
      },
    };
    const { nodes, ops, functions, results } = summarize(graph);
    const places = graph
      .operations()
      .filter(({ type }) => PLACEHOLDERS.has(type))
      .map((operation) => ({ name: operation.name, output: operation.output(0) }));
    const outputs = results
      .map((result) => graph.operation(result))
      .filter(({ outputs: { length }, type }) => length > 0 && type !== 'Const');
    return {
      ...opened,
      nodes,
      kinds: ops.length,
      functions: functions.length,
      outputs: outputs.map((operation) => operation.name),
      inputs: places.map(({ name: input, output: place }) => ({
        name: input,
        type: describeOutput(place),
        text: startingText(place),
      })),
    };
  }

  /** Its values are named as in the model's signature. */
  async #load(name, files) {
    const model = await this.#tf.load(files, { hdf5: () => import(H5WASM) });
    await this.#closeOwn();
    const { inputs, outputs, graph, session } = model;
    const tensors = new Map([...inputs, ...outputs].map((tensor) => [tensor.name, tensor.output]));
    const output = (key) => tensors.get(key) ?? graph.output(key);
    this.#own = { session, output, close: () => model.close() };
    const { nodes, ops, functions } = summarize(graph);
    return {
      name: `${name} (${model.format})`,
      missing: [],
      nodes,
      kinds: ops.length,
      functions: functions.length,
      outputs: outputs.map((tensor) => tensor.name),
      inputs: inputs.map((tensor) => ({
        name: tensor.name,
        type: describeOutput(tensor),
        text: startingText(tensor),
      })),
    };
  }

  async #closeOwn() {
    const own = this.#own;
    this.#own = undefined;
    await own?.close();
  }

  /** Runs the visitor's model. */
  async run({ feeds, fetches }) {
    try {
      const { time, results } = await this.#run(feeds, fetches);
      const shownResults = fetches.map((name, i) => ({
        name,
        type: `${results[i].dtype} [${results[i].shape.join(', ')}]`,
        values: shown(results[i]),
      }));
      this.#report({ ran: { time, results: shownResults } });
    } catch (error) {
      this.#report({ refused: { what: 'run', why: inWords(error) } });
    }
  }

  async #run(feeds, fetches) {
    const { output, session } = this.#own;
    const tensors = new Map();
    for (const [name, text] of Object.entries(feeds)) {
      try {
        const input = output(name);
        if (text.trim() !== '') tensors.set(input, parseFeed(this.#tf, input, text));
      } catch (error) {
        throw new Error(`${name}: ${error.message}`);
      }
    }
    const began = performance.now();
    const results = await session.run(fetches.map(output), tensors);
    return { time: performance.now() - began, results };
  }
}
