// Function calls: the cost of a call compared with the same body inlined. The peer has no functions.
const CALLS = 1000;

/** x + 1, also as the body of a loop, which gets its index as an argument before x. */
function increment(tf, name) {
  const graph = new tf.Graph();
  const index = graph.placeholder('int32', [], { name: 'index' });
  const x = graph.placeholder('float32', [], { name: 'x' });
  const definition = graph.toFunction(name, { inputs: [index, x], outputs: [graph.addV2(x, 1)] });
  graph.dispose();
  return definition;
}

function additions(name, build) {
  return {
    name,
    group: 'calls',
    nodes: CALLS,
    async ours(tf) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      graph.addFunction(increment(tf, 'Increment'));
      const start = graph.placeholder('float32', []);
      const value = build(graph, start);
      const run = (from) => session.runSync(value, new Map([[start, from]])).data;
      let next = 0;
      return {
        run: () => run(next++ % 7),
        result: () => Float32Array.of(run(0.5)[0]),
        async close() {
          await session.close();
          graph.dispose();
        },
      };
    },
  };
}

/** The loop's kernel calls its body, which cannot be inlined. */
const called = (graph, start) =>
  graph.op('For', [0, CALLS, 1, [start]], { attrs: { T: ['float32'], body: 'Increment' } }).output(0);

function inlined(graph, start) {
  let value = start;
  for (let i = 0; i < CALLS; i++) [value] = graph.op('Increment', [i, value]).outputs;
  return value;
}

export const callCases = [
  additions('1,000 calls of a function in a loop', called),
  additions('the same bodies, without calls', inlined),
];
