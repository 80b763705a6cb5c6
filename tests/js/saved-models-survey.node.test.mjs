// SavedModels of many kinds of programs: each signature, call by call.
import assert from 'node:assert/strict';
import path from 'node:path';
import { engine } from './engine.mjs';
import { difference, survey, tensorOf } from './survey.mjs';

describe('SavedModels of all kinds', () => {
  survey('saved_models', 0.95, async ({ folder, record }) => {
    const tf = await engine();
    const model = await tf.load(path.join(folder, 'model'));
    try {
      for (const [i, { signature, inputs, outputs }] of record.calls.entries()) {
        const feeds = Object.fromEntries(
          Object.entries(inputs).map(([name, value]) => [name, tensorOf(tf, value)]),
        );
        const results = await model.run(feeds, { signature });
        assert.deepEqual(Object.keys(results).sort(), Object.keys(outputs).sort());
        for (const [name, value] of Object.entries(outputs)) {
          const wrong = difference(results[name], value);
          if (wrong) throw new Error(`call ${i}, ${signature}, output ${name}: ${wrong}`);
        }
      }
    } finally {
      await model.close();
    }
  });
});
