// Whole models from TensorFlow: their results, gradients and training equal TensorFlow's.
import assert from 'node:assert/strict';
import { largestDifference } from '../../examples/models/golden.mjs';
import { parseFeed, startingText } from '../../examples/models/feeds.mjs';
import { compare, modelsOf, ModelTraining, withModel } from '../../examples/models/models.mjs';
import { engine } from './engine.mjs';
import { goldenCases } from './golden.mjs';

describe('models', function () {
  this.timeout(60_000);
  let tf;
  let models;
  before(async () => {
    tf = await engine();
    models = modelsOf(await goldenCases('models'));
  });

  it('answer as in TensorFlow, with their losses and gradients', async () => {
    assert.equal(models.length, 9);
    for (const { name, frozen } of models) {
      const results = await withModel(tf, frozen.graph, (graph, session) =>
        compare(tf, graph, session, frozen),
      );
      assert.equal(results.length, frozen.steps[0].fetches.length);
      for (const { problem } of results) assert.equal(problem, undefined, name);
      for (const kind of ['output', 'loss', 'gradient'])
        assert.ok(
          largestDifference(results.filter((result) => result.kind === kind)) < 1e-5,
          `${name}, ${kind}`,
        );
      assert.equal(
        results.filter(({ kind }) => kind === 'gradient').length,
        frozen.gradients?.xs.length ?? 0,
      );
    }
  });

  it('are trained by tf.train as by TensorFlow, 20 steps each', async () => {
    for (const { name, trainings } of models) {
      assert.ok(trainings.length > 0 || name.startsWith('MobileNet'), name);
      for (const golden of trainings) {
        const training = await ModelTraining.start(tf, golden);
        let steps = 0;
        for (; !training.finished; steps++)
          assert.equal((await training.step()).problem, undefined, `${golden.name}, step ${steps}`);
        assert.equal(steps, 20);
        await training.close();
      }
    }
  });

  it('are held against TensorFlow by a measure that sees differences', () => {
    const want = { data: Float32Array.of(1, -4, 0) };
    const off = (...data) =>
      largestDifference([
        { got: { data }, want },
        { got: { data: [1] }, want: { data: [1] } },
      ]);
    assert.deepEqual([off(1, -4, 0), off(1, -3, 0.5), off(1, -4, -2)], [0, 0.25, 0.5]);
  });

  it('are fed with what a person types', () => {
    const place = (dtype, shape) => ({ dtype, shape });
    assert.deepEqual(parseFeed(tf, place('float32', [null, 2]), '[[1, 2], [3, 4]]').array(), [
      [1, 2],
      [3, 4],
    ]);
    assert.deepEqual(parseFeed(tf, place('int64', [2]), '[5, 9007199254740993]').array(), [
      5n,
      9007199254740993n,
    ]);
    assert.deepEqual(parseFeed(tf, place('string', []), '"word"').array(), 'word');
    assert.deepEqual(parseFeed(tf, place('bool', [2]), '[true, false]').array(), [true, false]);
    assert.deepEqual(parseFeed(tf, place('float64', null), 'ones [2, 1]').array(), [[1], [1]]);
    assert.deepEqual(parseFeed(tf, place('uint8', [null, 3]), ' zeros [2,3]').array(), [
      [0, 0, 0],
      [0, 0, 0],
    ]);
    const random = parseFeed(tf, place('float32', [null]), 'random [1000]');
    assert.ok(random.data.every((value) => value >= 0 && value < 1) && new Set(random.data).size > 900);
    for (const [dtype, shape, text] of [
      ['float32', [null, 3], 'random [1, 3]'],
      ['int32', null, 'zeros []'],
      ['string', [null], '[""]'],
      ['bool', [2, 2], 'zeros [2, 2]'],
    ]) {
      assert.equal(startingText(place(dtype, shape)), text);
      assert.equal(parseFeed(tf, place(dtype, shape), text).dtype, dtype);
    }
    for (const [dtype, text] of [
      ['float32', ''],
      ['float32', '[1,'],
      ['float32', 'random'],
      ['float32', 'random [-1]'],
      ['float32', 'ones [99999999999]'],
      ['float32', '["a"]'],
      ['int32', '[1.5]'],
      ['string', 'random [2]'],
      ['float32', '[[1], [2, 3]]'],
      ['int64', '[1.5]'],
    ]) {
      assert.throws(
        () => parseFeed(tf, place(dtype, null), text),
        (error) => error.message.length > 10,
        text,
      );
    }
  });
});
