import assert from 'node:assert/strict';
import {
  CancelledError,
  DeadlineExceededError,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  Tensor,
} from '../../npm/dist/index.js';
import { engine, isClose } from './engine.mjs';

const TWICE = `XTimesTwo[T:{float, double, int32, int64}](x:T) -> (y:T) {
  two = Const[dtype=int64, value=2]()
  scale = Cast[DstT=$T, SrcT=int64](two:output:0)
  y = Mul[T=$T](x, scale:y:0)
  return y = y:z:0
}`;
const FOUR_TIMES = `XTimesFour[T:{float, double, int32, int64}](x:T) -> (y:T) {
  x2 = XTimesTwo[T=$T](x)
  y = XTimesTwo[T=$T](x2:y:0)
  return y = y:y:0
}`;
const SIXTEEN_TIMES = `XTimes16[T:{float, double, int32, int64}](x:T) -> (y:T) {
  x4 = XTimesFour[T=$T](x)
  y = XTimesFour[T=$T](x4:y:0)
  return y = y:y:0
}`;
const CUBE = `Cube(x:float) -> (y:float) {
  s = Square[T=float](x)
  y = Mul[T=float](s:y:0, x)
  return y = y:z:0
}`;

const nodesIn = (body) =>
  String(body)
    .split('\n')
    .filter((line) => line.includes(' = ')).length;

describe('function bodies', () => {
  let tf;
  let library;
  const bodies = [];
  const keep = (body) => (bodies.push(body), body);
  const define = (text) => tf.FunctionDef.parse(text);
  before(async () => {
    tf = await engine();
    library = new tf.Graph();
    for (const text of [TWICE, FOUR_TIMES, SIXTEEN_TIMES]) library.addFunction(define(text));
  });
  afterEach(() => bodies.splice(0).forEach((body) => body.dispose()));
  after(() => library.dispose());

  it('print as TensorFlow prints them', () => {
    const four = keep(define(FOUR_TIMES).instantiate({ T: 'float32' }, library));
    assert.deepEqual([four.argTypes, four.retTypes], [['float32'], ['float32']]);
    assert.equal(
      String(four),
      `
(x:float) -> (y:float) {
  x2 = XTimesTwo[T=float](x)
  y = XTimesTwo[T=float](x2)
}
`,
    );
    assert.equal(
      String(keep(define(TWICE).instantiate({ T: 'float32' }))),
      `
(x:float) -> (y:float) {
  two = Const[dtype=int64, value=Tensor<type: int64 shape: [] values: 2>]()
  scale = Cast[DstT=float, SrcT=int64, Truncate=false](two)
  y = Mul[T=float](x, scale)
}
`,
    );
  });

  it('run with each dtype', async () => {
    for (const dtype of ['float32', 'float64', 'int32', 'int64']) {
      const body = keep(define(SIXTEEN_TIMES).instantiate({ T: dtype }, library));
      const [y] = await body.run([dtype === 'int64' ? [1n, -2n, 3n] : [1, -2, 3]]);
      assert.deepEqual([y.dtype, y.shape, [...y.data].map(Number)], [dtype, [3], [16, -32, 48]]);
    }
  });

  it('outlive the graph of their library', () => {
    const graph = new tf.Graph();
    graph.addFunction(define(TWICE));
    const body = keep(define(FOUR_TIMES).instantiate({ T: 'float32' }, graph));
    graph.dispose();
    assert.deepEqual([...body.runSync([[1.5]])[0].data], [6]);
  });

  it('have gradients, which have gradients', () => {
    const cube = define(CUBE).instantiate();
    const first = keep(cube.gradient());
    cube.dispose();
    assert.deepEqual([first.argTypes, first.retTypes], [['float32', 'float32'], ['float32']]);
    assert.match(String(first), /SymbolicGradient\[/);
    const xs = [0.5, -1, 2];
    assert.ok(
      isClose(
        first.runSync([xs, [1, 1, 1]])[0].data,
        xs.map((x) => 3 * x * x),
      ),
    );
    const second = keep(keep(first.optimize()).gradient()); // of SymbolicGradient itself there is none
    const [byX, byDy] = second.runSync([xs, [1, 2, 1], [1, 1, 1]]);
    assert.ok(isClose(byX.data, [6 * 0.5, 6 * -1 * 2, 6 * 2]));
    assert.ok(
      isClose(
        byDy.data,
        xs.map((x) => 3 * x * x),
      ),
    );
  });

  it('shrink when they are optimised, and compute the same', () => {
    const body = keep(define(SIXTEEN_TIMES).instantiate({ T: 'float32' }, library));
    const before = String(body);
    const inlined = keep(body.optimize({ fold: false, cse: false }));
    const all = keep(body.optimize());
    assert.doesNotMatch(String(inlined), /XTimes\w+\[/);
    assert.equal((String(inlined).match(/ = Const\[/g) ?? []).length, 4);
    assert.equal((String(all).match(/ = Const\[/g) ?? []).length, 1);
    assert.doesNotMatch(String(all), /Cast\[/);
    assert.ok(nodesIn(all) < nodesIn(inlined));
    assert.equal(String(body), before);
    for (const each of [inlined, all]) assert.deepEqual([...each.runSync([[1, 2.5]])[0].data], [16, 40]);
    const gradient = keep(keep(all.gradient()).optimize());
    assert.doesNotMatch(String(gradient), /SymbolicGradient/);
    assert.deepEqual(
      [
        ...gradient.runSync([
          [1, 2.5],
          [1, 2],
        ])[0].data,
      ],
      [16, 32],
    );
  });

  it('show what steps fuse', () => {
    const body = keep(define(SIXTEEN_TIMES).instantiate({ T: 'float32' }, library));
    const fused = keep(body.optimize({ fuse: true }));
    assert.match(String(fused), /_FusedElementwise\[.*ops=\["Mul", "Mul"/);
    assert.ok(nodesIn(fused) < nodesIn(keep(body.optimize())));
    assert.deepEqual([...fused.runSync([[1, 2.5]])[0].data], [16, 40]);
  });

  it('say what is wrong', async () => {
    assert.throws(
      () => define(TWICE).instantiate(),
      (error) => error instanceof NotFoundError && /Attr T is not found from /.test(error.message),
    );
    assert.throws(
      () => define(FOUR_TIMES).instantiate({ T: 'float32' }),
      (error) => /XTimesTwo/.test(error.message) && error.code === 'NOT_FOUND',
    );
    const body = keep(define(TWICE).instantiate({ T: 'float32' }));
    await assert.rejects(
      body.run([]),
      (error) =>
        error instanceof InvalidArgumentError && /Expects 1 arguments, but 0 is provided/.test(error.message),
    );
    await assert.rejects(
      body.run([new Tensor('int32', [1], new Int32Array([1]))]),
      (error) => error instanceof InvalidArgumentError,
    );
  });

  it('cannot be used after dispose(), which may be called twice', async () => {
    const body = define(CUBE).instantiate();
    const gradient = keep(body.gradient());
    body.dispose();
    body.dispose();
    const gone = { code: 'FAILED_PRECONDITION', message: /the function body has been disposed/ };
    for (const use of [
      () => body.runSync([[1]]),
      () => body.gradient(),
      () => body.optimize(),
      () => String(body),
    ])
      assert.throws(use, gone);
    await assert.rejects(body.run([[1]]), gone);
    assert.deepEqual([...gradient.runSync([[2], [1]])[0].data], [12]); // what was made of it lives on
  });

  it('throw other random numbers with each call, the same ones from the same seeds', () => {
    const dice = define(`Dice(n:int32) -> (y:float) {
  shape = Pack[N=1, T=int32](n)
  y = RandomUniform[T=int32, dtype=float, seed=3, seed2=4](shape:output:0)
  return y = y:output:0
}`);
    const numbers = (body) => [...body.runSync([4])[0].data];
    const [one, other] = [keep(dice.instantiate()), keep(dice.instantiate())];
    const [first, second] = [numbers(one), numbers(one)];
    assert.notDeepEqual(first, second);
    for (const x of first) assert.ok(x >= 0 && x < 1);
    assert.deepEqual([numbers(other), numbers(other)], [first, second]);
    assert.deepEqual(numbers(keep(keep(dice.instantiate()).optimize())), first); // nothing folds it
  });

  it('keep variables from call to call, which their optimised forms share', () => {
    const count = define(`Count(by:float) -> (total:float) {
  v = VarHandleOp[dtype=float, shape=Shape<[]>, shared_name="total"]()
  add = AssignAddVariableOp[dtype=float](v:resource:0, by)
  total = ReadVariableOp[dtype=float](v:resource:0) @ add
  return total = total:value:0
}`);
    const begin = define(`Begin(x:float) -> (y:float) {
  v = VarHandleOp[dtype=float, shape=Shape<[]>, shared_name="total"]()
  set = AssignVariableOp[dtype=float](v:resource:0, x)
  y = Identity[T=float](x) @ set
  return y = y:output:0
}`);
    const both = new tf.Graph();
    both.addFunction(count);
    both.addFunction(begin);
    const whole = define(`BeginAndCount(x:float, by:float) -> (y:float, z:float) {
  y = Begin(x)
  z = Count(by) @ y
  return y = y:y:0, z = z:total:0
}`);
    const body = keep(whole.instantiate({}, both));
    assert.deepEqual(
      body.runSync([10, 1]).map((t) => t.data[0]),
      [10, 11],
    );
    assert.deepEqual(
      body.runSync([20, 2]).map((t) => t.data[0]),
      [20, 22],
    );
    assert.deepEqual(
      keep(body.optimize())
        .runSync([30, 3])
        .map((t) => t.data[0]),
      [30, 33],
    );
    const alone = keep(count.instantiate({}, both));
    assert.throws(() => alone.runSync([1]), { code: 'NOT_FOUND' }); // of another family: its variable has no value
    both.dispose();
  });

  it('take the handle of a variable as an argument', () => {
    const library = new tf.Graph();
    library.addFunction(
      define(`Scale(v:resource, x:float) -> (y:float) {
  factor = ReadVariableOp[dtype=float](v)
  y = Mul[T=float](x, factor:value:0)
  return y = y:z:0
}`),
    );
    const body = keep(
      define(`Use(x:float, factor:float) -> (y:float) {
  v = VarHandleOp[dtype=float, shape=Shape<[]>]()
  set = AssignVariableOp[dtype=float](v:resource:0, factor)
  y = Scale(v:resource:0, x) @ set
  return y = y:y:0
}`).instantiate({}, library),
    );
    for (const each of [body, keep(body.optimize())]) {
      assert.deepEqual([...each.runSync([[1, 2], 3])[0].data], [3, 6]);
      assert.deepEqual([...each.runSync([[1, 2], -0.5])[0].data], [-0.5, -1]);
    }
    library.dispose();
  });

  it('give their memory back', () => {
    const use = () => {
      const body = define(SIXTEEN_TIMES).instantiate({ T: 'float32' }, library);
      const [gradient, small] = [body.gradient(), body.optimize()];
      body.dispose();
      gradient.runSync([[1], [1]]);
      small.runSync([[1]]);
      assert.throws(() => define(TWICE).instantiate());
      assert.equal(tf.memory().functionBodies, 2);
      gradient.dispose();
      small.dispose();
    };
    use();
    const before = tf.memory();
    use();
    const after = tf.memory();
    assert.deepEqual(
      [after.liveBytes, after.tensors, after.functionBodies],
      [before.liveBytes, before.tensors, 0],
    );
  });
});

const [BELOW, NEXT, COUNT] = [
  'Below(x:float, n:float) -> (go:bool) {\n  go = Less[T=float](x, n)\n  return go = go:z:0\n}',
  `Next(x:float, n:float) -> (y:float, m:float) {
  one = Const[dtype=float, value=1.0]()
  y = Add[T=float](x, one:output:0)
  return y = y:z:0, m = n
}`,
  `Count(n:float) -> (y:float) {
  zero = Const[dtype=float, value=0.0]()
  y = While[T={float, float}, cond=Below, body=Next](zero:output:0, n)
  return y = y:output:0
}`,
];

describe('calls of function bodies', () => {
  let tf;
  let library;
  let body;
  before(async () => {
    tf = await engine();
    library = new tf.Graph();
    for (const text of [BELOW, NEXT]) library.addFunction(tf.FunctionDef.parse(text));
  });
  beforeEach(() => (body = tf.FunctionDef.parse(COUNT).instantiate({}, library)));
  afterEach(() => body.dispose());
  after(() => library.dispose());
  const first = async (results) => (await results)[0].item();

  it('end at their deadline, and the body runs on', async () => {
    await assert.rejects(body.run([Infinity], { timeoutMs: 30 }), DeadlineExceededError);
    assert.throws(() => body.runSync([Infinity], { timeoutMs: 30 }), DeadlineExceededError);
    assert.equal(await first(body.run([5], { timeoutMs: 60_000 })), 5);
    for (const timeoutMs of [-1, NaN, 'soon'])
      await assert.rejects(body.run([5], { timeoutMs }), InvalidArgumentError);
    await assert.rejects(body.run([5], { timeout: 1 }), InvalidArgumentError);
  });

  it('give way to the event loop, and end when they are aborted', async () => {
    const controller = new AbortController();
    const started = Date.now();
    setTimeout(() => controller.abort(), 20);
    await assert.rejects(body.run([Infinity], { signal: controller.signal }), CancelledError);
    assert.ok(Date.now() - started < 5000);
    await assert.rejects(body.run([1], { signal: controller.signal }), CancelledError);
    assert.throws(() => body.runSync([1], { signal: controller.signal }), CancelledError);
    assert.equal(await first(body.run([7])), 7);
  });

  it('run in the order in which they were asked for, those of gradients and optimised forms too', async () => {
    const fast = body.optimize();
    const order = [];
    const note = async (results) => order.push(await first(results));
    const runs = [note(body.run([300_000])), note(fast.run([200_000])), note(body.run([3]))];
    assert.equal(fast.runSync([4])[0].item(), 4); // the first one has ended before
    await Promise.all(runs);
    assert.deepEqual(order, [300_000, 200_000, 3]);
    fast.dispose();
  });

  it('are ended by dispose, and leave no memory behind', async () => {
    const before = tf.memory();
    const gone = tf.FunctionDef.parse(COUNT).instantiate({}, library);
    const runs = [gone.run([Infinity]), gone.run([1])].map((run) =>
      assert.rejects(run, FailedPreconditionError),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    gone.dispose();
    await Promise.all(runs);
    await assert.rejects(gone.run([1]), FailedPreconditionError);
    assert.deepEqual(
      [tf.memory().tensors, tf.memory().functionBodies],
      [before.tensors, before.functionBodies],
    );
  });
});
