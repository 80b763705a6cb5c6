// Keras' layers, frozen with and without lowering: values and gradients.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { engine, withGraph } from './engine.mjs';
import { difference, survey, tensorOf } from './survey.mjs';

const FILES = { True: 'lowered.pb', False: 'functional.pb' };

/** Random layers have inputs that nothing reads, which freezing leaves out. */
const isThere = (graph, name) => graph.operation(name.replace(/:\d+$/, '')) !== undefined;

async function checkGraph(tf, folder, { names, inputs, outputs, gradients, differentiable }, lowered) {
  await withGraph(tf, async (graph, session) => {
    graph.importGraphDef(new Uint8Array(readFileSync(path.join(folder, FILES[lowered]))));
    const { inputs: places, outputs: results } = names[lowered];
    const feeds = places
      .map((name, i) => [name, tensorOf(tf, inputs[i])])
      .filter(([name]) => isThere(graph, name));
    const found = await session.run(results, feeds);
    for (const [i, value] of outputs.entries()) {
      const wrong = difference(found[i], value);
      if (wrong) throw new Error(`output ${i}: ${wrong}`);
    }
    const wanted = differentiable.flatMap((input, i) =>
      gradients[i] ? [[places[input], gradients[i]]] : [],
    );
    if (wanted.length === 0) return;
    const losses = results
      .map((name) => graph.output(name))
      .filter(({ dtype }) => /float/.test(dtype))
      .map((output) => graph.square(output));
    const slopes = graph.gradients(
      losses,
      wanted.map(([name]) => graph.output(name)),
    );
    const values = await session.run(slopes, feeds);
    for (const [i, [name, value]] of wanted.entries()) {
      const wrong = difference(values[i], value);
      if (wrong) throw new Error(`gradient of ${name}: ${wrong}`);
    }
  });
}

describe("Keras' layers", () => {
  survey('keras_layers', 0.97, async ({ folder, record }) => {
    const tf = await engine();
    for (const lowered of ['True', 'False'])
      await checkGraph(tf, folder, record, lowered).catch((error) => {
        throw new Error(`${FILES[lowered]}: ${error.message}`);
      });
  });
});
