// Keras models as tests/oracle/keras_models.py recorded them, for the specs that open them.
import assert from 'node:assert/strict';
import { isClose, readBytes, readText } from './engine.mjs';

export const ROOT = 'tests/data/models/keras';

export const readRecords = async () => JSON.parse(await readText(`${ROOT}/models.json`));

export const bytesOf = (path) => readBytes(`${ROOT}/${path}`);

export async function withModel(tf, source, body, options) {
  const model = await tf.load(source, options);
  try {
    return await body(model);
  } finally {
    await model.close();
  }
}

const tensorOf = (tf, { dtype, shape, values }) => tf.tensor(values, shape, dtype);

export const feedsOf = (tf, { inputs }) =>
  Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, tensorOf(tf, value)]));

/** Names that are used twice get numbers, as in Keras. */
function uniqueNames(names) {
  const unique = [];
  for (const name of names) {
    let own = name;
    for (let i = 1; unique.includes(own); i++) own = `${name}_${i}`;
    unique.push(own);
  }
  return unique;
}

/** The model computes what Keras computes, under Keras' names. */
export async function checkOutputs(tf, model, record) {
  assert.deepEqual(model.inputs.map(({ name }) => name).sort(), Object.keys(record.inputs).sort());
  const names = uniqueNames(record.output_names);
  const results = await model.run(feedsOf(tf, record));
  assert.deepEqual(Object.keys(results).sort(), [...names].sort());
  for (const [i, { dtype, shape, values }] of record.outputs.entries()) {
    const result = results[names[i]];
    assert.equal(result.dtype, dtype);
    assert.deepEqual(result.shape, shape);
    assert.ok(isClose(result.data, values, 1e-5), `${names[i]}: ${[...result.data]} not ${values}`);
  }
}

/** The derivatives of the sum of all squared outputs by the trained variables, in the order of Keras' layers. */
export async function checkGradients(tf, model, record) {
  const { graph, session } = model;
  const sums = model.outputs.map(({ output }) => graph.sum(graph.square(graph.reshape(output, [-1])), [0]));
  const loss = sums.reduce((a, b) => graph.add(a, b));
  const variables = model.trainableVariables;
  assert.equal(variables.length, record.gradients.length);
  const feeds = feedsOf(tf, record);
  const results = await session.run(
    graph.gradients(loss, variables, { unconnectedGradients: 'zero' }),
    model.inputs.map(({ name, output }) => [output, feeds[name]]),
  );
  /* Graphs have variables in the order in which they were made, which is that of calls. */
  const rest = record.gradients.slice();
  for (const [i, gradient] of results.entries()) {
    const at = rest.findIndex(
      ({ shape, values }) =>
        JSON.stringify(shape) === JSON.stringify(gradient.shape) && isClose(gradient.data, values, 1e-4),
    );
    assert.ok(at >= 0, `${variables[i]}: ${[...gradient.data]}`);
    rest.splice(at, 1);
  }
}
