// Code that must not compile: each line after a @ts-expect-error is wrong.
import { Graph, Session, Tensor, init } from 'tfcore-wasm';
import type { Feeds } from 'tfcore-wasm';

const tf = await init();
const g = new tf.Graph();
const x = g.placeholder('float32', [null, 2]);
const w = g.variable([1, 2]);
const y = g.mul(x, w);
const session = new tf.Session(g);

// @ts-expect-error: an option that init does not have
await init({ thread: 4 });
// @ts-expect-error: a build that does not exist
await init({ variant: 'threads' });
// @ts-expect-error: graphs are made by an engine
new Graph();
// @ts-expect-error: sessions are made by an engine
new Session(g);
// @ts-expect-error: a session runs a graph
new tf.Session();
// @ts-expect-error: an option that sessions do not have
new tf.Session(g, { optimise: false });
// @ts-expect-error: a target that there is not
new tf.Session(g, { target: 'workers' });
// @ts-expect-error: credentials that there are not
new tf.Session(g, { target: 'grpc://localhost:2222', credentials: { root: 'text' } });
// @ts-expect-error: an option that runs do not have
await session.run(y, [], { target: [w.initializer] });
// @ts-expect-error: a number cannot be fetched
await session.run(5);
// @ts-expect-error: undefined cannot be fetched
await session.run(undefined);
// @ts-expect-error: a pair of feeds has two parts
await session.run(y, [[x]]);
// @ts-expect-error: feeds are keyed by outputs and names
await session.run(y, [[5, [1, 2]]]);
// @ts-expect-error: operations are not fed
const feeds: Feeds = [[w.initializer, 1]];
// @ts-expect-error: an operation gives null
(await session.run(w.initializer)).shape;
// @ts-expect-error: one fetch gives one tensor
(await session.run(y))[0];
// @ts-expect-error: two fetches give two tensors
(await session.run([y, y]))[2];

// @ts-expect-error: a dtype that does not exist
g.placeholder('float31');
// @ts-expect-error: a shape is an array
g.placeholder('float32', 2);
// @ts-expect-error: an option that constants do not have
g.constant(1, { type: 'int32' });
// @ts-expect-error: an option that variables do not have
g.variable(1, { trainabel: false });
// @ts-expect-error: an option that the op does not have
g.matMul(x, x, { transposeC: true });
// @ts-expect-error: an option of the op with the wrong type
g.matMul(x, x, { transposeA: 1 });
// @ts-expect-error: a required option is missing
g.cast(x);
// @ts-expect-error: a dtype that the op does not take
g.argMax(x, 0, { outputType: 'float32' });
// @ts-expect-error: a value that the attr does not take
g.conv2D(x, x, { strides: [1, 1, 1, 1], padding: 'same' });
// @ts-expect-error: a list instead of a single value
g.add([x, x]);
// @ts-expect-error: a single value instead of a list
g.concat(0, x);
// @ts-expect-error: a function is not a value
g.neg(() => 1);
// @ts-expect-error: a function is not the value of an attr
g.op('PartitionedCall', [[x]], { attrs: { f: () => 1 } });
// @ts-expect-error: a result of gradients may be null
g.neg(g.gradients(y, [x])[0]);
// @ts-expect-error: an option that gradients does not have
g.gradients([y], [x], { gradY: [y] });
// @ts-expect-error: gradients does not accept names of outputs
g.gradients(['y'], [x]);
// @ts-expect-error: an option that importGraphDef does not have
g.importGraphDef('', { inputs: {} });
// @ts-expect-error: an operation is not a value
g.neg(w.initializer);
// @ts-expect-error: a function has outputs
g.toFunction('F', { inputs: [x] });
// @ts-expect-error: control inputs are operations
g.noOp({ controlInputs: [x] });

// @ts-expect-error: a vector of floats holds no bigints
tf.tensor([1, 2]).data[0] === 1n;
// @ts-expect-error: a tensor of another dtype
const int: Tensor<'int32'> = tf.tensor([1.5]);
// @ts-expect-error: data of another type
new Tensor('float32', [1], new Float64Array(1));
// @ts-expect-error: the dtype of a run's result is not known
const data: Float32Array = (await session.run(y)).data;
// @ts-expect-error: a tensor's dtype is read-only
tf.tensor(1).dtype = 'int32';

// @ts-expect-error: a kernel cannot be async
tf.registerOp({ name: 'Late', inputs: ['x: float'], outputs: ['y: float'], kernel: async ([one]) => [one] });
// @ts-expect-error: a gradient consists of ops
tf.registerOp({ name: 'Mine', inputs: ['x: float'], outputs: ['y: float'], gradient: (dy: Tensor) => dy });
// @ts-expect-error: an optimizer trains variables, not outputs
new tf.train.GradientDescentOptimizer(0.1).minimize(y, { vars: [x] });
// @ts-expect-error: an option that the optimizer does not have
new tf.train.AdamOptimizer(0.1, { beta: 0.9 });
// @ts-expect-error: freezing takes a list of outputs
await tf.freeze(session, y);
// @ts-expect-error: a file's content is bytes or text
tf.files.write('a', 5);

export { data, feeds, int };
