// Sample graphs, made with the API: each returns the bytes of a GraphDef.
import { buildNetwork } from '../digits/network.mjs';

function exported(graph) {
  const bytes = graph.toGraphDef();
  graph.dispose();
  return bytes;
}

const CUBE = `
Cube[T:{float, double}](x:T) -> (y:T) {
  square = Square[T=$T](x)
  cube = Mul[T=$T](square:y:0, x)
  return y = cube:z:0
}`;

/** A function in the graph's library, called twice: the calls have the shapes of its body. */
function withFunction(tf) {
  const graph = new tf.Graph();
  graph.addFunction(tf.FunctionDef.parse(CUBE));
  const x = graph.placeholder('float32', [null, 3], { name: 'x' });
  const once = graph.op('Cube', [x], { name: 'once', attrs: { T: 'float32' } });
  const twice = graph.op('Cube', [once.output(0)], { name: 'twice', attrs: { T: 'float32' } });
  graph.add(once.output(0), twice.output(0), { name: 'sum' });
  return exported(graph);
}

/** One long chain. */
function chain(tf, length) {
  const graph = new tf.Graph();
  let value = graph.placeholder('float32', [null, 4], { name: 'x' });
  for (let i = 1; i <= length; i++) value = i % 2 ? graph.relu(value) : graph.neg(value);
  return exported(graph);
}

/** By name: a title, and the function that makes the bytes. */
export const samples = {
  digits: { title: 'Network that learns digits', make: (tf) => exported(buildNetwork(tf).graph) },
  function: { title: 'Function, called twice', make: withFunction },
  chain: { title: 'Chain of 100,000', make: (tf) => chain(tf, 100_000) },
};
