// Functions: parses one from text, makes the same one in code, calls it, differentiates it, and makes
// branches and loops of callables.
//
//   node examples/functions.mjs
//
// Where the package is installed, the import reads: import { init } from 'tfcore-wasm'.
import { init } from '../npm/dist/index.js';
import { samples } from './functions/samples.mjs';
import { callLast, gradientFunction, readFunctions } from './functions/workbench.mjs';

const tf = await init();
const print = (definition) => console.log(String(definition).trim());
const heading = (text) => console.log(`\n--- ${text} ---`);

heading('A function is text');
// A Const may be given by a plain number, which TensorFlow's own language does not support. The printed text
// is TensorFlow's DebugString.
const [polynomial] = readFunctions(tf, samples.polynomial.text);
print(polynomial);
const again = tf.FunctionDef.parse(polynomial.toText());
console.log(
  'its full text reads as the same function:',
  Buffer.compare(again.toProto(), polynomial.toProto()) === 0,
);

heading('or code');
// `define` refers to the outputs of nodes by name, like TensorFlow's FunctionDefHelper::Define; `create` uses
// the names of a FunctionDef.
const norm = tf.FunctionDef.define({
  name: 'Norm',
  args: ['x: T'],
  returns: ['y: T'],
  attrs: ['T: {float, double}'],
  nodes: [
    { returns: ['squares'], op: 'Square', args: ['x'], attrs: { T: '$T' } },
    { returns: ['axis'], op: 'Const', attrs: { value: tf.tensor([0], [1], 'int32') } },
    { returns: ['sum'], op: 'Sum', args: ['squares', 'axis'], attrs: { T: '$T', Tidx: 'int32' } },
    { returns: ['y'], op: 'Sqrt', args: ['sum'], attrs: { T: '$T' } },
  ],
});
print(norm);

heading('Calls');
// The attr T follows from the inputs: one function, two types.
const graph = new tf.Graph();
const x = graph.placeholder('float32', [2], { name: 'x' });
const [single] = graph.call(norm, [x]);
const [double] = graph.call('Norm', [graph.cast(x, { dstT: 'float64' })]);
const session = new tf.Session(graph);
const lengths = await session.run([single, double], new Map([[x, [3, 4]]]));
console.log(lengths.map((length) => `${length.dtype} ${length.item()}`).join(', '));

heading('The gradient of a function is a function');
const called = callLast(tf, [polynomial], { T: 'float32' });
const gradient = gradientFunction(called, 'Polynomial');
print(gradient);
called.graph.dispose();

heading('Branches and loops');
// The callables are called once, to build functions. They add their ops to the same graph object, and capture
// values from outside.
const [base, count] = [
  graph.placeholder('float64', [], { name: 'base' }),
  graph.placeholder('int32', [], { name: 'count' }),
];
const start = [graph.constant(0, { dtype: 'int32' }), graph.constant(1, { dtype: 'float64' })];
const [, power] = graph.whileLoop(
  (i) => graph.less(i, count),
  (i, product) => [graph.add(i, 1), graph.mul(product, base)],
  start,
  { name: 'power' },
);
const [capped] = graph.cond(
  graph.less(power, 1000),
  () => power,
  () => graph.log(power),
);
print(graph.function('power_body'));

// Both have gradients, and so do these gradients.
const [slope] = graph.gradients([power], [base]);
const [bend] = graph.gradients([slope], [base]);
for (const n of [3, 10]) {
  const values = await session.run(
    [power, slope, bend, capped],
    new Map([
      [base, 2],
      [count, n],
    ]),
  );
  const [value, first, second, limited] = values.map((tensor) => tensor.item());
  console.log(`x^${n} at 2: ${value}, slope ${first}, bend ${second}, capped ${limited.toFixed(3)}`);
}

heading('Functions may call themselves');
const recursive = callLast(tf, readFunctions(tf, samples.recursion.text));
const recursiveSession = new tf.Session(recursive.graph);
const factorial = await recursiveSession.run(recursive.outputs[0], new Map([[recursive.inputs[0], 10]]));
console.log(`10! = ${factorial.item()}`);

heading('Mistakes have a place');
try {
  tf.FunctionDef.parse('F(x:float) -> (y:float) {\n  y = Square[T=float](x\n  return y = y:y:0\n}');
} catch (error) {
  console.log(`${error.code}: ${error.message}`);
}

await recursiveSession.close();
recursive.graph.dispose();
await session.close();
graph.dispose();
