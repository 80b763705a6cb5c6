// Graphs of TensorFlow 1 programs: steps that follow each other in one session.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { engine } from './engine.mjs';
import { difference, survey, tensorOf } from './survey.mjs';

/** The graph in a session, with the variables of its checkpoint. */
async function open(tf, folder, file) {
  if (file.endsWith('.meta')) {
    const model = await tf.load(path.join(folder, file));
    return { session: model.session, close: () => model.close() };
  }
  const graph = new tf.Graph();
  graph.importGraphDef(new Uint8Array(readFileSync(path.join(folder, file))));
  const session = new tf.Session(graph);
  const close = async () => {
    await session.close();
    graph.dispose();
  };
  return { session, close };
}

const CODES = ['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND'];
CODES.push('ALREADY_EXISTS', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED');
CODES.push('OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS');

async function checkStep(tf, session, { feeds, fetches, targets, results, error }) {
  const given = Object.entries(feeds).map(([name, value]) => [name, tensorOf(tf, value)]);
  const run = session.run(fetches, given, { targets, timeoutMs: 20_000 });
  if (error !== undefined) {
    const failed = await run.then(
      () => 'OK',
      ({ code }) => code,
    );
    if (failed !== CODES[error]) throw new Error(`${failed} in place of ${CODES[error]}`);
    return;
  }
  const found = await run;
  for (const [i, value] of results.entries()) {
    const wrong = difference(found[i], value);
    if (wrong) throw new Error(`${fetches[i]}: ${wrong}`);
  }
}

describe('graphs of TensorFlow 1', () => {
  survey('v1_graphs', 0.95, async ({ folder, record }) => {
    const tf = await engine();
    const written = Object.entries(record.files);
    for (const [name, file] of written)
      tf.files.write(name, new Uint8Array(readFileSync(path.join(folder, file))));
    const { session, close } = await open(tf, folder, record.graph);
    try {
      for (const [i, step] of record.steps.entries())
        await checkStep(tf, session, step).catch((error) => {
          throw new Error(`step ${i}: ${error.message}`);
        });
    } finally {
      await close();
      for (const name of tf.files.list()) tf.files.remove(name);
    }
  });
});
