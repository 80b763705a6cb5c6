// The models of the page, with what TensorFlow computes with them: frozen graphs, and SavedModels.
import { describeOutput, summarize } from '../../../examples/graphs/summary.mjs';
import { goldenCases } from '../../../examples/models/golden.mjs';
import { compare, feedsOf, modelsOf, ModelTraining, withModel } from '../../../examples/models/models.mjs';
import { RecordedModel } from '../../../examples/models/saved-models.mjs';

const sizeOf = ({ shape }) => shape.reduce((size, dim) => size * dim, 1);
const total = (outputs) => outputs.reduce((sum, output) => sum + sizeOf(output), 0);

/** The float constants of a graph with more than one element: its weights. */
const weightsOf = (graph) =>
  graph
    .operations()
    .filter(({ type }) => type === 'Const')
    .map((operation) => operation.output(0))
    .filter(({ dtype, shape }) => /^float(16|32)$/.test(dtype) && shape.length > 0);

/** A frozen graph, and the same in training, once by optimizer. `content` is the GraphDef. */
class FrozenGraph {
  #frozen;
  #trainings;

  constructor({ name, frozen, trainings }) {
    this.name = name;
    this.#frozen = frozen;
    this.#trainings = trainings;
    this.content = frozen.graph;
    this.optimizers = trainings.map(({ training }) => training.optimizer.replace('ResourceApply', ''));
  }

  /** The losses of TensorFlow's training. */
  losses(which) {
    return this.#trainings[which].steps.map(({ fetches: [loss] }) => loss.data[0]);
  }

  train(tf, session, which) {
    return ModelTraining.start(tf, this.#trainings[which], session);
  }

  /**
   * Calls `use` with { graph, inputs: [{ name, text }], weights: their number, run(), compare() } and closes the
   * model. `session` has the options of its session.
   */
  open(tf, options, use) {
    const [step] = this.#frozen.steps;
    const describe = (graph, session) => ({
      graph,
      inputs: summarize(graph).inputs.map((name) => ({ name, text: describeOutput(graph.output(name)) })),
      weights: total(weightsOf(graph)),
      run: () => session.run(step.fetches[0].name, feedsOf(tf, step)),
      compare: () => compare(tf, graph, session, this.#frozen),
    });
    return withModel(tf, this.content, (graph, session) => use(describe(graph, session)), options);
  }
}

/** A SavedModel. `files` is its archive. The methods are those of FrozenGraph. */
class SavedModel {
  #record;

  constructor(archive, record) {
    this.name = record.title;
    this.files = archive;
    this.#record = record;
    const { optimizer } = record.training;
    this.optimizers = [optimizer[0].toUpperCase() + optimizer.slice(1)];
  }

  losses() {
    return this.#record.training.losses;
  }

  train(tf, session) {
    return RecordedModel.open(tf, this.files, this.#record, session);
  }

  async open(tf, session, use) {
    const opened = await RecordedModel.open(tf, this.files, this.#record, session);
    const { graph, inputs, trainableVariables } = opened.model;
    try {
      return await use({
        graph,
        inputs: inputs.map((input) => ({ name: input.name, text: describeOutput(input) })),
        weights: total(trainableVariables),
        run: () => opened.run(),
        compare: async () => [...(await opened.compareOutputs()), ...(await opened.compareGradients())],
      });
    } finally {
      await opened.close();
    }
  }
}

async function fetched(path) {
  const response = await fetch(new URL(`../../../tests/data/${path}`, import.meta.url));
  if (!response.ok) throw new Error(`the models could not be loaded: HTTP ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** All models, in the order of the page. */
export async function loadModels() {
  const [golden, text] = await Promise.all([
    fetched('golden/models.pb'),
    fetched('models/whole/models.json'),
  ]);
  const records = Object.entries(JSON.parse(new TextDecoder().decode(text)));
  const archives = await Promise.all(records.map(([name]) => fetched(`models/whole/${name}.zip`)));
  return [
    ...modelsOf(goldenCases(golden)).map((model) => new FrozenGraph(model)),
    ...records.map(([, record], i) => new SavedModel(archives[i], record)),
  ];
}
