// Code that must compile. Assignments check the types of results.
import { FunctionDef, Graph, InvalidArgumentError, Output, Session, Tensor, init } from 'tfcore-wasm';
import type { Device, DType, Feeds, Fetched, TF } from 'tfcore-wasm';
import { checkGradients, inferShapes } from 'tfcore-wasm/testing';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Requires that two types are the same. */
const same = <A, B>(_: Same<A, B>): void => undefined;

const tf: TF = await init({ variant: 'simd', threads: 1 });
const g: Graph = new tf.Graph();
const x = g.placeholder('float32', [null, 2], { name: 'x' });
const w = g.variable([[1], [2]], { trainable: true });
const y = g.matMul(x, w, { transposeB: false });
const session = new tf.Session(g, { optimize: false });
const away: Session = new tf.Session(g, { target: 'worker' });
const far: Session = new tf.Session(g, {
  target: 'grpc://localhost:2222',
  credentials: { rootCertificates: new Uint8Array(9), certificate: 'text', privateKey: 'text' },
  operationTimeoutMs: 5000,
});
const cleared: Promise<void> = tf.Session.reset('grpc://localhost:2222', ['box'], {
  operationTimeoutMs: 5000,
});
const here: void = tf.Session.reset();
const devices: Device[] = await away.listDevices();
await away.close();

// tensors know their data
const floats = tf.tensor([
  [1, 2],
  [3, 4],
]);
same<typeof floats, Tensor<'float32'>>(true);
same<typeof floats.data, Float32Array>(true);
const longs = tf.tensor([1n, 2n]);
same<typeof longs.data, BigInt64Array>(true);
same<ReturnType<typeof longs.item>, bigint>(true);
const named = tf.tensor([1, 2], undefined, 'DT_HALF');
same<typeof named, Tensor<'float16'>>(true);
same<typeof named.data, Uint16Array>(true);
const bytes = tf.tensor(new Uint8Array(4), [2, 2]);
same<typeof bytes, Tensor<'uint8'>>(true);
const truths = tf.tensor([true, false]);
same<ReturnType<typeof truths.item>, boolean>(true);
const texts: Tensor<'string'> = tf.tensor(['a', 'b']);
const complex: Tensor<'complex64'> = tf.tensor({ re: 1, im: 2 });
const again: Tensor<'float32'> = tf.tensor(floats);
const any: Tensor = floats;
const made = new Tensor('int32', [2], Int32Array.of(1, 2));
same<typeof made, Tensor<'int32'>>(true);
declare const dtype: DType;
const open: Tensor = tf.tensor([1], [1], dtype);
if (open.is('float64')) same<typeof open.data, Float64Array>(true);

// feeds in every form, with values of different kinds
const feeds: Feeds = [
  [x, [[1, 2]]],
  ['flag', true],
  [w, new Float32Array(2)],
];
const [value, none, record] = await session.run([y, g.initializer(), { first: y, rest: [y, 'x:0'] }], feeds);
same<typeof value, Tensor>(true);
same<typeof none, null>(true);
const shape: number[] = record.rest[1].shape;
await session.run(
  'y',
  { x: [[1, 1]] },
  { targets: [w.initializer, 'init'], signal: new AbortController().signal },
);
await session.run(y, new Map([[x, [[1, 1]]]]));
const later: Promise<Fetched<Output>> = session.run(y, [[x, [[1, 1]]]]);
session.runSync(
  [y, w],
  [
    [x, floats],
    [w, [[1], [2]]],
  ],
);

// gradients, as the call returns them
const gradients = g.gradients([y], [x, w]);
same<typeof gradients, (Output | null)[]>(true);
const results = await session.run(gradients, [[x, [[1, 2]]]]);
const sizes: number[] = results.map((result) => result.size);
const [dx] = g.gradients(y, [x]);
const derivative = await session.run([y, dx]);
same<(typeof derivative)[1], Tensor>(true);
const zeros: Output[] = g.gradients([y], [x], {
  unconnectedGradients: 'zero',
  gradYs: [g.constant(1)],
  stopGradients: w,
});
const text: string = String(g.toFunction('Gradient', { inputs: [x], outputs: [dx] }));

// dtypes and values of attrs, under all of their names
g.placeholder('DT_FLOAT');
g.cast(x, { dstT: 'half' });
g.argMax(x, 1, { outputType: 'int32' });
g.conv2D(x, x, { strides: [1, 1, 1, 1], padding: 'SAME', dataFormat: 'NHWC' });
g.randomUniform([2], { dtype: 'double', seed: 1 });

// training, functions, user-defined ops
const optimizer = new tf.train.AdamOptimizer(0.1, { beta1: x });
const step = optimizer.applyGradients(
  optimizer.computeGradients(y).map(([gradient, variable]) => [g.neg(gradient), variable]),
  { globalStep: w },
);
const body = tf.FunctionDef.parse('F(x:float) -> (y:float) { return y = x }').instantiate(
  { T: 'float32' },
  g,
);
const [item] = body.optimize({ cse: false }).runSync([1]);
tf.registerOp({
  name: 'Mine',
  inputs: ['x: float'],
  outputs: ['y: float'],
  gradient: null,
  shape: (c) => c.setOutput(0, c.input(0)),
  kernel: ([one]) => one,
});
const inferred: string = inferShapes(tf, { op: 'Mine' }, '[2]');
const { maxError } = await checkGradients(tf, g, y, x, { value: [[1, 2]], session });
const definition: FunctionDef | undefined = g.function('F');
try {
  g.output('nowhere');
} catch (error) {
  if (error instanceof InvalidArgumentError) console.log(error.code, error.node);
}
g[Symbol.dispose]();

export {
  again,
  any,
  bytes,
  complex,
  definition,
  inferred,
  item,
  later,
  maxError,
  shape,
  sizes,
  step,
  text,
  texts,
  truths,
  value,
  zeros,
};
