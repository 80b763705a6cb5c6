// tf.load: Keras models whose layers have tables or states (tests/oracle/keras_lookups.py).
import assert from 'node:assert/strict';
import { engine, isClose, readText } from './engine.mjs';
import { ROOT, bytesOf, withModel } from './keras-cases.mjs';

const record = JSON.parse(await readText(`${ROOT}/lookups.json`));

const tensorOf = (tf, { dtype, shape, values }) =>
  tf.tensor(dtype === 'int64' ? values.map(BigInt) : values, shape, dtype);

describe('Keras models with tables and states', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });

  const inputs = () =>
    Object.fromEntries(Object.entries(record.inputs).map(([name, value]) => [name, tensorOf(tf, value)]));

  function checkCall(results, wanted) {
    assert.deepEqual(Object.keys(results).sort(), [...record.outputs].sort());
    for (const [i, { dtype, shape, values }] of wanted.entries()) {
      const name = record.outputs[i];
      const result = results[name];
      assert.equal(result.dtype, dtype, name);
      assert.deepEqual(result.shape, shape, name);
      if (dtype === 'string') assert.deepEqual(result.data, values, name);
      else assert.ok(isClose(result.data, values, 1e-5), `${name}: ${[...result.data]} not ${values}`);
    }
  }

  it('compute what Keras computes, call by call', () =>
    withModel(tf, `${ROOT}/lookups.keras`, async (model) => {
      for (const wanted of record.calls) checkCall(await model.run(inputs()), wanted);
    }));

  it('are opened from bytes', async () =>
    withModel(tf, await bytesOf('lookups.keras'), async (model) =>
      checkCall(await model.run(inputs()), record.calls[0]),
    ));

  it('have states that are not trained', () =>
    withModel(tf, `${ROOT}/lookups.keras`, (model) => {
      const states = model.variables.filter(({ name }) => /state_\d$/.test(name));
      assert.equal(states.length, 13);
      assert.ok(states.every(({ trainable }) => !trainable));
    }));

  it('keep tables and the states of the moment when they are saved as SavedModels', () =>
    withModel(tf, `${ROOT}/lookups.keras`, async (model) => {
      checkCall(await model.run(inputs()), record.calls[0]);
      await withModel(tf, await model.save(), async (again) => {
        checkCall(await again.run(inputs()), record.calls[1]);
      });
    }));
});
