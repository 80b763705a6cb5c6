// Imports a GraphDef and prints its contents: node examples/graph-import.mjs [file.pb | file.pbtxt] Without a
// file it imports a graph made here, as bytes and as text, then adds an op to it and runs that.
import { readFile } from 'node:fs/promises';
import { init } from '../npm/dist/index.js';
import { samples } from './graphs/samples.mjs';
import { describeOutput, summarize } from './graphs/summary.mjs';

const tf = await init();
const file = process.argv[2];

function importTimed(source) {
  const graph = new tf.Graph();
  const started = performance.now();
  graph.importGraphDef(source);
  return { graph, milliseconds: performance.now() - started };
}

function print({ graph, milliseconds }) {
  const { nodes, edges, ops, functions, producer, inputs, results } = summarize(graph);
  const some = (names) =>
    (names.length > 8 ? [...names.slice(0, 8), `… ${names.length - 8} more`] : names).join(', ') || 'none';
  console.log(
    `${nodes} nodes, ${edges} edges, imported in ${milliseconds.toFixed(1)} ms (producer ${producer})`,
  );
  console.log(`ops        ${some(ops.map(([type, count]) => `${type} ${count}`))}`);
  console.log(`functions  ${some(functions)}`);
  console.log(`inputs     ${some(inputs.map((name) => `${name}: ${describeOutput(graph.output(name))}`))}`);
  console.log(`results    ${some(results)}`);
}

if (file) {
  const content = await readFile(file);
  try {
    print(
      importTimed(/\.(pbtxt|txt|prototxt)$/.test(file) ? content.toString('utf8') : new Uint8Array(content)),
    );
  } catch (error) {
    if (!error.code) throw error;
    console.error(`${file}: ${error.code}: ${error.message}`);
    process.exitCode = 1;
  }
} else {
  const bytes = samples.function.make(tf);
  const fromBytes = importTimed(bytes);
  print(fromBytes);
  const fromText = importTimed(fromBytes.graph.toText());
  const same = Buffer.compare(fromText.graph.toGraphDef(), fromBytes.graph.toGraphDef()) === 0;
  console.log(`\nas text and back: ${same ? 'the same bytes' : 'other bytes'}`);

  tf.registerOp({
    name: 'Reverse1D',
    inputs: ['x: float'],
    outputs: ['y: float'],
    shape(c) {
      c.setOutput(0, c.withRank(c.input(0), 1));
    },
    kernel: ([x]) => [tf.tensor(x.data.toReversed(), x.shape)],
    gradient:
      'Reverse1DGrad(x:float, dy:float) -> (dx:float) {\n  dx = Reverse1D(dy)\n  return dx = dx:y:0\n}',
  });
  const graph = new tf.Graph();
  const x = graph.placeholder('float32', [3], { name: 'x' });
  const y = graph.op('Reverse1D', [x]).output(0);
  const [dx] = graph.gradients([graph.mul(y, [1, 10, 100])], [x]);
  const session = new tf.Session(graph);
  const [value, slope] = await session.run([y, dx], new Map([[x, [1, 2, 3]]]));
  console.log(
    `an op of one's own: [1, 2, 3] becomes [${value.data.join(', ')}]; its gradient turns [1, 10, 100] into [${slope.data.join(', ')}]`,
  );
  await session.close();
}
