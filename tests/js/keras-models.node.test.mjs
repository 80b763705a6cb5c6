// tf.load: .keras archives and HDF5 files as Keras 2 and 3 write them (tests/oracle/keras_models.py).
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { engine, isClose } from './engine.mjs';
import {
  ROOT,
  bytesOf,
  checkGradients,
  checkOutputs,
  feedsOf,
  readRecords,
  withModel,
} from './keras-cases.mjs';

const records = await readRecords();
const FILES = Object.entries(records).flatMap(([name, { files }]) =>
  files.filter((file) => !file.endsWith('.json') && name !== 'foreign').map((file) => [name, file]),
);

describe('Keras models', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });

  const FORMATS = { keras: 'Keras', h5: 'Keras HDF5' };
  for (const [name, file] of FILES) {
    it(`compute what Keras computes: ${file}`, () =>
      withModel(tf, `${ROOT}/${file}`, async (model) => {
        assert.equal(model.format, FORMATS[file.split('.')[1]]);
        await checkOutputs(tf, model, records[name]);
      }));

    it(`have the gradients that Keras has: ${file}`, () =>
      withModel(tf, `${ROOT}/${file}`, (model) => checkGradients(tf, model, records[name])));
  }

  it('are opened from bytes, and as the files of an archive', async () => {
    await withModel(tf, await bytesOf('sequential2.h5'), (model) =>
      checkOutputs(tf, model, records.sequential2),
    );
    await withModel(tf, await bytesOf('vision.keras'), (model) => checkOutputs(tf, model, records.vision));
  });

  it('have variables with the names that Keras gives them', () =>
    withModel(tf, `${ROOT}/text.keras`, async (model) => {
      const names = model.variables.map(({ name }) => name);
      for (const name of [
        'embedding/embeddings',
        'both/forward_lstm/lstm_cell/recurrent_kernel',
        'gru/gru_cell/bias',
      ])
        assert.ok(names.includes(name), `${name} is not among ${names}`);
      assert.deepEqual(model.trainableVariables, model.variables);
    }));

  it('that are trained, saved as a SavedModel and opened again go on with the same values', () =>
    withModel(tf, `${ROOT}/sequential.keras`, async (model) => {
      const [{ output }] = model.outputs;
      const { graph, session } = model;
      const step = new tf.train.GradientDescentOptimizer(0.1).minimize(
        graph.sum(graph.square(output), [0, 1]),
      );
      const [x] = Object.values(feedsOf(tf, records.sequential));
      await session.run([], [[model.inputs[0].output, x]], { targets: [step] });
      const expected = Object.values(await model.run(x))[0];
      const files = await model.save();
      await withModel(tf, files, async (again) => {
        const [got] = Object.values(await again.run(x));
        assert.ok(isClose(got.data, expected.data, 1e-6));
      });
    }));

  describe("layers that are not Keras' own", () => {
    const layers = {
      Twice: ({ graph }, [x]) => graph.mul(x, 2),
      Scale: ({ graph, config, weight }, [x]) => graph.add(graph.mul(x, weight('scale', [3])), config.start),
    };

    it('are listed in one error', () =>
      assert.rejects(tf.load(`${ROOT}/foreign.keras`), /not known: Twice \(twice\), Scale \(scaled\)/));

    it('are defined by options of tf.load', () =>
      withModel(
        tf,
        `${ROOT}/foreign.keras`,
        async (model) => {
          await checkOutputs(tf, model, records.foreign);
          await checkGradients(tf, model, records.foreign);
        },
        { keras: { layers } },
      ));

    it('that are no functions are refused', () =>
      assert.rejects(
        tf.load(`${ROOT}/foreign.keras`, { keras: { layers: { Twice: 2 } } }),
        /keras.layers.Twice/,
      ));
  });

  describe('errors', () => {
    it('of a missing HDF5 reader say what to install', () =>
      assert.rejects(
        tf.load(`${ROOT}/vision.keras`, { hdf5: () => Promise.reject(new Error('not found')) }),
        (error) => {
          assert.equal(error.code, 'FAILED_PRECONDITION');
          assert.match(error.message, /npm install h5wasm/);
          return true;
        },
      ));

    it('of another module than the HDF5 reader say which is wanted', () =>
      assert.rejects(tf.load(`${ROOT}/vision.keras`, { hdf5: () => ({}) }), /must return the module h5wasm/));

    it('of damaged files are clear, leave nothing behind, and print nothing', async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'keras-'));
      const before = tf.memory();
      const printed = [];
      const { write } = process.stderr;
      process.stderr.write = (text) => printed.push(String(text)) > 0;
      try {
        const h5 = await bytesOf('sequential2.h5');
        const cut = path.join(folder, 'cut.h5');
        writeFileSync(cut, h5.subarray(0, 3000));
        await assert.rejects(tf.load(cut), /is a damaged HDF5 file: [^\n]+$/);
        const zip = (await bytesOf('vision.keras')).slice();
        zip.fill(0, zip.length >> 1, (zip.length >> 1) + 400);
        await assert.rejects(tf.load(zip), (error) => error.code === 'DATA_LOSS');
        /* Bytes at several places: either it opens with other numbers, or an error of ours says why not. */
        for (let at = 100; at < h5.length; at += 997) {
          const damaged = h5.slice();
          damaged.fill(255, at, at + 8);
          const model = await tf.load(damaged).catch((error) => assert.ok(error.code, error.stack));
          await model?.close();
        }
      } finally {
        process.stderr.write = write;
        rmSync(folder, { recursive: true });
      }
      assert.deepEqual(printed, []);
      const after = tf.memory();
      for (const key of ['graphs', 'sessions', 'tensors']) assert.equal(after[key], before[key], key);
    });
  });
});
