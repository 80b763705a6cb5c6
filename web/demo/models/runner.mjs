// What the page asks of the engine: it runs the models, compares them with TensorFlow, trains them, and opens the
// visitor's own models. The steps of graphs run in a worker (the target of the sessions), so that the page stays alive.
import { parseFeed, startingText } from '../../../examples/models/feeds.mjs';
import { largestDifference } from '../../../examples/models/golden.mjs';
import { describeOutput, summarize } from '../../../examples/graphs/summary.mjs';
import { init } from '../../../npm/dist/index.js';
import { loadModels } from './recorded.mjs';

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

const check = (tf, model, index) =>
  model.open(tf, IN_WORKER, async ({ graph, inputs, weights, run, compare }) => {
    const { nodes, ops } = summarize(graph);
    const time = await timeOf(run); // before the gradients: they are other nodes
    const results = await compare();
    const off = (...kinds) => {
      const some = results.filter(({ kind }) => kinds.includes(kind));
      return some.length > 0 ? largestDifference(some) : null;
    };
    return {
      index,
      nodes,
      kinds: ops.length,
      weights,
      inputs,
      time,
      answer: off('output', 'loss'),
      gradients: off('gradient'),
      problem: results.find(({ problem }) => problem)?.problem,
      outputs: { want: [...results[0].want.data], got: [...results[0].got.data] },
    };
  });

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
      await tf.loadTrainingModule();
      [this.#tf, this.#models] = [tf, models];
      this.#idle = new tf.Session(new tf.Graph(), IN_WORKER);
      const listed = models.map(({ name, optimizers }) => ({ name, trainings: optimizers }));
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
      await this.#train(this.#models[model], which, turn);
    } catch (error) {
      this.#report({ failed: inWords(error) });
    }
  }

  async #train(model, which, turn) {
    const training = await model.train(this.#tf, IN_WORKER, which);
    try {
      const want = model.losses(which);
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
  async open({ model, ...given }) {
    const { name, content, files } = model === undefined ? given : this.#models[model];
    try {
      this.#report({ opened: files ? await this.#load(name, files) : await this.#open(name, content) });
    } catch (error) {
      this.#report({ refused: { what: 'open', why: `${name} cannot be opened: ${inWords(error)}` } });
    }
  }

  async #open(name, content) {
    const { missing } = this.#tf.checkCompatibility(content);
    const opened = { name, missing, inputs: [], outputs: [] };
    if (missing.length > 0) return opened;
    const graph = new this.#tf.Graph();
    try {
      graph.importGraphDef(content);
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
