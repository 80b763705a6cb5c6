// SavedModels that were written here, opened by TensorFlow. Needs the oracle's TensorFlow.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { engine, isClose } from './engine.mjs';
import { PYTHON, needTensorFlow } from './tensorflow-servers.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SAVED = path.join(ROOT, 'tests/data/models/saved');

/** TensorFlow appends numbers to names that several variables of a program have. */
const plain = (names) => names.map((name) => name.replace(/_\d+$/, ''));

describe('models saved here, in TensorFlow', function () {
  this.timeout(180_000);
  let folder;
  before(function () {
    needTensorFlow(this);
    folder = mkdtempSync(path.join(tmpdir(), 'saved-'));
  });
  after(() => folder && rmSync(folder, { recursive: true, force: true }));

  it('compute what they compute here, with the same trainable variables', async () => {
    const tf = await engine();
    const recorded = JSON.parse(readFileSync(path.join(SAVED, 'saved.json'), 'utf8'));
    const calls = [];
    const originals = [];
    const expected = [];
    for (const name of ['module', 'keras', 'first', 'checkpoint']) {
      const model = await tf.load(path.join(SAVED, name));
      if (name === 'checkpoint') {
        const { graph, session } = model;
        const signatures = { inputs: { x: graph.output('x') }, outputs: { y: graph.output('y') } };
        await tf.model({ session, signatures }).save(path.join(folder, name));
      } else {
        await model.save(path.join(folder, name));
      }
      await model.close();
      for (const { signature, inputs, outputs } of recorded[name].calls) {
        const call = { signature: signature ?? 'serving_default', inputs };
        calls.push({ ...call, folder: path.join(folder, name) });
        /* Of the checkpoint there is the SavedModel of the same program. */
        originals.push({ ...call, folder: path.join(SAVED, name === 'checkpoint' ? 'first' : name) });
        expected.push(outputs);
      }
    }
    const list = path.join(folder, 'calls.json');
    writeFileSync(list, JSON.stringify([...calls, ...originals]));
    const script = path.join(ROOT, 'tests/oracle/check_saved_models.py');
    const { status, stdout, stderr } = spawnSync(PYTHON, [script, list], { encoding: 'utf8' });
    assert.equal(status, 0, stderr.slice(-2000));
    const got = JSON.parse(stdout.trim().split('\n').at(-1));
    expected.forEach((wanted, i) => {
      const { outputs, trainable } = got[i];
      const original = got[expected.length + i].trainable;
      if (original) assert.deepEqual(plain(trainable), plain(original));
      assert.deepEqual(Object.keys(outputs).sort(), Object.keys(wanted).sort());
      for (const [name, { dtype, shape, values }] of Object.entries(wanted)) {
        assert.deepEqual([outputs[name].dtype, outputs[name].shape], [dtype, shape]);
        assert.ok(isClose(outputs[name].values, values, 1e-5), `${calls[i].folder} ${name}`);
      }
    });
  });
});
