// tf.load: layers models of TensorFlow.js, whose weights are found by their names.
import assert from 'node:assert/strict';
import { engine } from './engine.mjs';
import { bytesOf, checkGradients, checkOutputs, feedsOf, readRecords, withModel } from './keras-cases.mjs';

const NAMES = ['vision', 'sequential', 'branches', 'text', 'operations'];

describe('layers models of TensorFlow.js', () => {
  let tf;
  let records;
  before(async () => {
    tf = await engine();
    records = await readRecords();
  });

  const filesOf = async (name) => ({
    'model.json': await bytesOf(`${name}-layers/model.json`),
    'weights.bin': await bytesOf(`${name}-layers/weights.bin`),
  });

  /** The files with a changed model.json. */
  async function changed(name, change) {
    const files = await filesOf(name);
    const model = JSON.parse(new TextDecoder().decode(files['model.json']));
    change(model);
    return { ...files, 'model.json': JSON.stringify(model) };
  }
  const layersOf = (model) => model.modelTopology.model_config.config.layers;

  for (const name of NAMES) {
    it(`compute what Keras computes: ${name}`, async () =>
      withModel(tf, await filesOf(name), async (model) => {
        assert.equal(model.format, 'TensorFlow.js layers model');
        await checkOutputs(tf, model, records[`${name}2`]);
      }));

    it(`have the gradients that Keras has: ${name}`, async () =>
      withModel(tf, await filesOf(name), (model) => checkGradients(tf, model, records[`${name}2`])));
  }

  it('are trained further, and what is not trained keeps its values', async () =>
    withModel(tf, await filesOf('vision'), async (model) => {
      const { graph, session } = model;
      const [output] = model.outputs;
      const loss = graph.sum(graph.square(graph.sub(output.output, [[1, 0, 0]])), [0, 1]);
      const step = new tf.train.AdamOptimizer(0.05).minimize(loss);
      const fixed = model.variables.filter(({ trainable, name }) => !trainable && /moving/.test(name));
      assert.equal(fixed.length, 2);
      const before = await session.run(fixed.map((variable) => variable.value));
      const feeds = [[model.inputs[0].output, feedsOf(tf, records.vision2).image]];
      const start = await session.run(loss, feeds);
      await session.run(graph.initializer());
      assert.deepEqual(await session.run(loss, feeds), start, 'weights keep their values');
      for (let i = 0; i < 20; i++) await session.run([], feeds, { targets: [step] });
      assert.ok((await session.run(loss, feeds)).data[0] < 0.7 * start.data[0]);
      assert.deepEqual(await session.run(fixed.map((variable) => variable.value)), before);
    }));

  it('with unknown layers are refused by one error that names all of them', async () => {
    const files = await changed('vision', (model) => {
      const layers = layersOf(model);
      layers.find(({ name }) => name === 'conv').class_name = 'Lambda';
      layers.find(({ name }) => name === 'prelu').class_name = 'Mine';
      layers.find(({ name }) => name === 'up').class_name = 'Mine';
    });
    await assert.rejects(tf.load(files), (error) => {
      assert.equal(error.code, 'UNIMPLEMENTED');
      assert.match(error.message, /layers that are not known: Lambda \(conv\), Mine \(up, prelu\)/);
      assert.match(error.message, /keras: \{ layers/);
      return true;
    });
  });

  it('that are damaged give clear errors and leave nothing behind', async () => {
    const before = tf.memory();
    const cases = [
      [
        (model) => (layersOf(model)[1].config.filters = 'many'),
        /layer conv \(Conv2D\): filters must be a whole number/,
      ],
      [
        (model) => (layersOf(model)[1].config.filters = 4),
        /has no weight conv\/kernel for variable conv\/kernel/,
      ],
      [(model) => (layersOf(model)[1].inbound_nodes[0][0][0] = 'absent'), /has no call 0 of layer absent/],
      [
        (model) => (layersOf(model)[1].inbound_nodes[0][0] = ['norm', 0, 0, {}]),
        /layer (conv|norm) has no value 0/,
      ],
      [
        (model) => (model.modelTopology.model_config.config.output_layers = [[3]]),
        /is no input or output of a model/,
      ],
      [(model) => (model.modelTopology.model_config.class_name = 'Own'), /is a model of the class Own/],
      [(model) => delete model.modelTopology.model_config, /has no description of a Keras model/],
      [(model) => model.weightsManifest[0].weights.pop(), /bytes more than their weights/],
    ];
    for (const [change, message] of cases)
      await assert.rejects(tf.load(await changed('vision', change)), (error) => {
        assert.match(error.message, message);
        assert.ok(error.code);
        return true;
      });
    const after = tf.memory();
    for (const key of ['graphs', 'sessions', 'tensors']) assert.equal(after[key], before[key], key);
  });
});
