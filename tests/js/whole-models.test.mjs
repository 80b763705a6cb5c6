// Whole models of several fields as SavedModels (tests/oracle/whole_models.py): what they compute, their gradients
// and their training equal TensorFlow's.
import assert from 'node:assert/strict';
import { RecordedModel } from '../../examples/models/saved-models.mjs';
import { engine, readBytes, readText } from './engine.mjs';

const ROOT = 'tests/data/models/whole';
const NAMES = [
  'text',
  'encoder',
  'detector',
  'unet',
  'generator',
  'speech',
  'recommender',
  'language',
  'autoencoder',
];

describe('whole models', function () {
  this.timeout(60_000);
  let tf;
  let records;
  before(async () => {
    tf = await engine();
    records = JSON.parse(await readText(`${ROOT}/models.json`));
  });

  it('are all tested', () => assert.deepEqual(Object.keys(records), NAMES));

  async function withModel(name, body, { record = records[name], session = {} } = {}) {
    const opened = await RecordedModel.open(tf, await readBytes(`${ROOT}/${name}.zip`), record, session);
    try {
      await body(opened, record);
    } finally {
      await opened.close();
    }
  }

  function agree(results, names) {
    assert.deepEqual(results.map(({ want }) => want.name).sort(), names.sort());
    for (const { problem } of results) assert.equal(problem, undefined);
  }

  for (const name of NAMES) {
    it(`compute what TensorFlow computes: ${name}`, () =>
      withModel(name, async (opened, { outputs }) => {
        assert.deepEqual(
          opened.model.outputs.map((output) => output.name).sort(),
          Object.keys(outputs).sort(),
        );
        agree(await opened.compareOutputs(), Object.keys(outputs));
      }));

    it(`have TensorFlow's variables and gradients: ${name}`, () =>
      withModel(name, async (opened, { gradients }) => {
        const variables = opened.model.trainableVariables.map((variable) => variable.name);
        assert.deepEqual(variables.sort(), Object.keys(gradients).sort());
        agree(await opened.compareGradients(), Object.keys(gradients));
      }));

    it(`train along TensorFlow's losses, and then compute the same: ${name}`, () =>
      withModel(name, async (opened, { trained, training: { losses } }) => {
        assert.equal(losses.length, 20);
        while (!opened.finished) agree([await opened.step()], ['loss']);
        agree(await opened.compareOutputs({ afterTraining: true }), Object.keys(trained));
      }));
  }

  for (const name of NAMES) {
    it(`train in a worker, whose graph gets the gradients after the first step: ${name}`, () =>
      withModel(
        name,
        async (opened, { outputs, gradients }) => {
          agree(await opened.compareOutputs(), Object.keys(outputs));
          agree(await opened.compareGradients(), Object.keys(gradients));
          for (let step = 0; step < 3; step++) agree([await opened.step()], ['loss']);
        },
        { session: { target: 'worker' } },
      ));
  }

  it('are compared by a measure that sees differences', async () => {
    const record = structuredClone(records.recommender);
    record.outputs.score.values[0] += 2e-4;
    record.gradients.out.values[0] += 1;
    record.training.losses[0] *= 1.001;
    await withModel(
      'recommender',
      async (opened) => {
        const problems = [
          ...(await opened.compareOutputs()),
          ...(await opened.compareGradients()),
          await opened.step(),
        ].filter(({ problem }) => problem);
        assert.deepEqual(
          problems.map(({ want }) => want.name),
          ['score', 'out', 'loss'],
        );
      },
      { record },
    );
  });
});
