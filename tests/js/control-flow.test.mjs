// graph.call, graph.cond and graph.whileLoop: with functions and with callables, run and differentiated.
import assert from 'node:assert/strict';
import { FailedPreconditionError, InvalidArgumentError, NotFoundError } from '../../npm/dist/index.js';
import { checkGradients } from '../../npm/dist/testing.js';
import { engine, isClose, withGraph } from './engine.mjs';

const FACTORIAL = [
  'One(n:float) -> (y:float) {\n  one = Const[dtype=float, value=1.0]()\n  return y = one:output:0\n}',
  `TimesFactorial(n:float) -> (y:float) {
  one = Const[dtype=float, value=1.0]()
  less = Sub[T=float](n, one:output:0)
  rest = Factorial(less:z:0)
  y = Mul[T=float](n, rest:y:0)
  return y = y:z:0
}`,
  `Factorial(n:float) -> (y:float) {
  two = Const[dtype=float, value=2.0]()
  small = Less[T=float](n, two:output:0)
  y = StatelessIf[Tcond=bool, Tin={float}, Tout={float}, then_branch=One, else_branch=TimesFactorial](small:z:0, n)
  return y = y:output:0
}`,
];
const SCALE = `Scale[T:{float, double}](x:T) -> (y:T) {
  factor = Const[dtype=$T, value=3]()
  y = Mul[T=$T](x, factor:output:0)
  return y = y:z:0
}`;

describe('graph.call', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('calls functions by definition or name, for the types of the inputs', () =>
    withGraph(tf, async (g, session) => {
      const scale = tf.FunctionDef.parse(SCALE);
      const [x, d] = [g.placeholder('float32', [2]), g.placeholder('float64', [])];
      const [y] = g.call(scale, [x], { name: 'scaled' });
      const [z] = g.call('Scale', [d]);
      assert.deepEqual(
        [y.name, y.operation.type, y.shape, y.dtype, z.dtype],
        ['scaled:0', 'Scale', [2], 'float32', 'float64'],
      );
      const values = await session.run(
        [y, z],
        new Map([
          [x, [1, 2]],
          [d, 5],
        ]),
      );
      assert.deepEqual(
        values.map((value) => value.array()),
        [[3, 6], 15],
      );
      assert.equal(
        g.call(scale, [g.constant(1)], { attrs: { T: 'float32' } }).length,
        1,
        'the same definition again',
      );
      assert.deepEqual(
        g.functions().map((f) => f.name),
        ['Scale'],
      );
      assert.throws(() => g.call('Nothing', [x]), NotFoundError);
      assert.throws(() => g.call(7, [x]), InvalidArgumentError);
      assert.throws(() => g.call(scale, [g.constant([1], { dtype: 'int32' })]), InvalidArgumentError);
    }));

  it('runs functions that call themselves', () =>
    withGraph(tf, async (g, session) => {
      for (const text of FACTORIAL) g.addFunction(tf.FunctionDef.parse(text));
      const n = g.placeholder('float32', []);
      const [y] = g.call('Factorial', [n]);
      for (const [at, expected] of [
        [0, 1],
        [1, 1],
        [5, 120],
        [10, 3628800],
      ])
        assert.equal((await session.run(y, new Map([[n, at]]))).item(), expected);
    }));
});

describe('graph.cond', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('runs one of two callables, which may use what is outside', () =>
    withGraph(tf, async (g, session) => {
      const [p, x, y] = [
        g.placeholder('bool', []),
        g.placeholder('float32', [3]),
        g.placeholder('float32', [3]),
      ];
      const [r, s] = g.cond(
        p,
        (a) => [g.mul(a, y), x],
        (a) => [g.sub(a, 1), a.graph.neg(y)],
        [x],
      );
      assert.deepEqual([r.operation.type, r.shape, s.shape], ['StatelessIf', [3], [3]]);
      const feeds = (flag) =>
        new Map([
          [p, flag],
          [x, [1, 2, 3]],
          [y, [10, 20, 30]],
        ]);
      assert.deepEqual(
        (await session.run([r, s], feeds(true))).map((t) => t.array()),
        [
          [10, 40, 90],
          [1, 2, 3],
        ],
      );
      assert.deepEqual(
        (await session.run([r, s], feeds(false))).map((t) => t.array()),
        [
          [0, 1, 2],
          [-10, -20, -30],
        ],
      );
      assert.deepEqual(
        g.functions().map((f) => f.name),
        ['cond_true', 'cond_false'],
      );
      assert.equal(
        g
          .cond(
            p,
            () => 1,
            () => [2],
          )[0]
          .operation.attr('then_branch').name,
        'cond_1_true',
      );
    }));

  it('takes functions, alone or beside a callable with captures', () =>
    withGraph(tf, async (g, session) => {
      const scale = tf.FunctionDef.parse(SCALE);
      const [p, x, y] = [
        g.placeholder('bool', []),
        g.placeholder('float64', [2]),
        g.placeholder('float64', [2]),
      ];
      const [both] = g.cond(p, scale, 'Scale', [x], { name: 'both' });
      assert.deepEqual(both.operation.attr('then_branch'), { name: 'Scale', attrs: { T: 'float64' } });
      assert.deepEqual([both.shape, both.name], [[2], 'both:0']);
      const [one] = g.cond(p, scale, (a) => g.add(a, y), [x]);
      for (const [flag, first, second] of [
        [true, [3, 6], [3, 6]],
        [false, [3, 6], [11, 22]],
      ]) {
        const values = await session.run(
          [both, one],
          new Map([
            [p, flag],
            [x, [1, 2]],
            [y, [10, 20]],
          ]),
        );
        assert.deepEqual(
          values.map((t) => t.array()),
          [first, second],
        );
      }
    }));

  it('knows of shapes what both branches agree on', () =>
    withGraph(tf, async (g) => {
      const p = g.placeholder('bool', []);
      const [a, b, c] = [
        g.placeholder('float32', [2, 3]),
        g.placeholder('float32', [2, 4]),
        g.placeholder('float32', [6]),
      ];
      const outs = g.cond(
        p,
        () => [a, a, a],
        () => [a, b, c],
      );
      assert.deepEqual(
        outs.map((out) => out.shape),
        [[2, 3], [2, null], null],
      );
    }));

  it('reads and writes variables in the order of the branch', () =>
    withGraph(tf, async (g, session) => {
      const v = g.variable([1, 2], { name: 'v' });
      const p = g.placeholder('bool', []);
      const [r, s] = g.cond(
        p,
        () => {
          const first = g.identity(v);
          g.assignAddVariableOp(v.handle, [10, 10]);
          return [first, v];
        },
        () => [v, g.neg(v)],
      );
      assert.deepEqual([r.operation.type, r.shape], ['If', [2]]);
      await session.run(g.initializer());
      const run = async (flag) => (await session.run([r, s], new Map([[p, flag]]))).map((t) => t.array());
      assert.deepEqual(await run(false), [
        [1, 2],
        [-1, -2],
      ]);
      assert.deepEqual(await run(true), [
        [1, 2],
        [11, 12],
      ]);
      assert.deepEqual(await run(false), [
        [11, 12],
        [-11, -12],
      ]);
      const [none] = g.cond(
        p,
        () => {
          g.assignAddVariableOp(v.handle, [1, 1]);
          return 1;
        },
        () => 0,
      );
      await session.run(none, new Map([[p, true]]));
      assert.deepEqual(
        await run(false),
        [
          [12, 13],
          [-12, -13],
        ],
        'what no result needs happens too',
      );
    }));

  it('is differentiated both ways, twice, and with respect to variables', () =>
    withGraph(tf, async (g, session) => {
      const v = g.variable(g.constant([2, 3], { dtype: 'float64' }), { name: 'v' });
      const [x, y] = [g.placeholder('float64', []), g.placeholder('float64', [])];
      const [r] = g.cond(
        g.greater(x, 0),
        (a) => g.mul(g.square(a), g.mul(v, y)),
        (a) => g.exp(g.mul(a, v)),
        [x],
      );
      const firsts = g.gradients([r], [x, y, v]);
      const [second] = g.gradients([firsts[0]], [x]);
      await session.run(g.initializer());
      const at = async (X, Y) =>
        (
          await session.run(
            [...firsts, second],
            new Map([
              [x, X],
              [y, Y],
            ]),
          )
        ).flatMap((t) => [...t.data]);
      assert.ok(
        isClose(await at(3, 5), [2 * 3 * 5 * 5, 9 * 5, 9 * 5, 9 * 5, 2 * 5 * 5], 1e-12),
        String(await at(3, 5)),
      );
      const [e2, e3] = [Math.exp(-2), Math.exp(-3)];
      assert.ok(
        isClose(await at(-1, 5), [2 * e2 + 3 * e3, 0, -e2, -e3, 4 * e2 + 9 * e3], 1e-12),
        String(await at(-1, 5)),
      );
    }));

  it('says what does not fit, and leaves nothing behind', () =>
    withGraph(tf, async (g) => {
      const [p, x] = [g.placeholder('bool', []), g.placeholder('float32', [2], { name: 'x' })];
      const { graphs } = tf.memory();
      const before = g.operations().length;
      const refused = (message, then, otherwise = then) =>
        assert.throws(
          () => g.cond(p, then, otherwise, [x]),
          (error) => error instanceof InvalidArgumentError && message.test(error.message),
          String(message),
        );
      refused(
        /the else branch of cond returns 1 output, not 2 like the then branch/,
        (a) => [a, a],
        (a) => a,
      );
      refused(
        /the else branch of cond returns int32 as output 1, not float32 like the then branch/,
        (a) => [a, a],
        (a) => [a, g.cast(a, { dstT: 'int32' })],
      );
      refused(/the then branch of cond returned a promise/, async (a) => a);
      refused(/output 0 of the then branch of cond is no Output, Variable or value: null/, () => [null]);
      refused(/a variable cannot be made inside of a function/, () => g.variable(1));
      await withGraph(tf, (other) => {
        const foreign = other.constant(1, { name: 'foreign' });
        refused(/'foreign' belongs to a different graph/, (a) => g.mul(a, foreign));
      });
      assert.throws(
        () =>
          g.cond(
            p,
            () => {
              throw new RangeError('mine');
            },
            () => 1,
          ),
        RangeError,
      );
      const scale = tf.FunctionDef.parse(SCALE);
      refused(
        /the else branch of cond returns float64/,
        (a) => g.cond(p, scale, (b) => g.neg(b), [a]),
        (a) => g.cast(a, { dstT: 'float64' }),
      );
      assert.throws(
        () =>
          g.cond(
            p,
            () => 1,
            () => 2,
            [],
            { name: 'x' },
          ),
        /Duplicate node name in graph: 'x'/,
      );
      assert.deepEqual(g.functions(), []);
      let leaked;
      g.cond(
        p,
        (a) => (leaked = g.neg(a)),
        (a) => a,
        [x],
      );
      assert.throws(() => g.neg(leaked), FailedPreconditionError);
      assert.equal(tf.memory().graphs, graphs);
      assert.equal(g.operations().length, before + 1);
      assert.deepEqual(g.neg(x).shape, [2], 'the graph goes on by itself');
    }));
});

describe('graph.whileLoop', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('computes powers, with bounds and factors from outside', () =>
    withGraph(tf, async (g, session) => {
      const [n, base] = [g.placeholder('int32', []), g.placeholder('float64', [])];
      const [count, power] = g.whileLoop(
        (i) => g.less(i, n),
        (i, p) => [g.add(i, 1), g.mul(p, base)],
        [g.constant(0, { dtype: 'int32' }), g.constant(1, { dtype: 'float64' })],
        { name: 'power' },
      );
      assert.deepEqual(
        [power.name, power.operation.type, power.shape, count.dtype],
        ['power:1', 'StatelessWhile', [], 'int32'],
      );
      assert.deepEqual(
        g
          .functions()
          .map((f) => f.name)
          .sort(),
        ['power_body', 'power_cond'],
      );
      for (const [N, b] of [
        [0, 2],
        [1, 2],
        [10, 2],
        [40, 2],
        [3, -1.5],
      ]) {
        const [i, p] = await session.run(
          [count, power],
          new Map([
            [n, N],
            [base, b],
          ]),
        );
        assert.deepEqual([i.item(), p.item()], [N, b ** N]);
      }
    }));

  it('has derivatives of any order', () =>
    withGraph(tf, async (g, session) => {
      const [n, x] = [g.placeholder('int32', []), g.placeholder('float64', [2])];
      const [, power] = g.whileLoop(
        (i) => g.less(i, n),
        (i, p) => [g.add(i, 1), g.mul(p, x)],
        [g.constant(0, { dtype: 'int32' }), g.constant([1, 1], { dtype: 'float64' })],
      );
      const [first] = g.gradients([power], [x]);
      const [second] = g.gradients([first], [x]);
      for (const N of [0, 1, 2, 7]) {
        const at = [1.5, -2];
        const [d, dd] = await session.run(
          [first, second],
          new Map([
            [n, N],
            [x, at],
          ]),
        );
        assert.ok(
          isClose(
            d.data,
            at.map((v) => N * v ** (N - 1)),
            1e-12,
          ),
          `order 1, n = ${N}: ${d.data}`,
        );
        assert.ok(
          isClose(
            dd.data,
            at.map((v) => N * (N - 1) * v ** (N - 2)),
            1e-12,
          ),
          `order 2, n = ${N}: ${dd.data}`,
        );
      }
      const { maxError } = await checkGradients(tf, g, power, x, {
        feeds: new Map([[n, 3]]),
        value: [0.5, -1.25],
        order: 2,
      });
      assert.ok(maxError < 1e-8, `error ${maxError}`);
    }));

  it('nests with cond, each using what is around it', () =>
    withGraph(tf, async (g, session) => {
      const [n, even, odd] = [
        g.placeholder('float32', []),
        g.placeholder('float32', [], { name: 'even' }),
        g.variable(100, { name: 'odd' }),
      ];
      /*
       * Adds `even` for even and the variable for odd numbers below n; the inner loop adds i once more for
       * each j < 2.
       */
      const [, total] = g.whileLoop(
        (i) => g.less(i, n),
        (i, sum) => {
          const [more] = g.cond(
            g.equal(g.floorMod(i, 2), 0),
            () => g.add(sum, even),
            () => g.add(sum, odd),
          );
          const [, twice] = g.whileLoop(
            (j) => g.less(j, 2),
            (j, s) => [g.add(j, 1), g.add(s, i)],
            [0, more],
          );
          return [g.add(i, 1), twice];
        },
        [0, 0],
      );
      const grads = g.gradients([total], [even, odd]);
      await session.run(g.initializer());
      for (const N of [0, 1, 4, 5]) {
        const expected = [0, 0, 0];
        for (let i = 0; i < N; i++) {
          expected[0] += (i % 2 ? 100 : 7) + 2 * i;
          expected[i % 2 ? 2 : 1]++;
        }
        const values = await session.run(
          [total, ...grads],
          new Map([
            [n, N],
            [even, 7],
          ]),
        );
        assert.deepEqual(
          values.map((t) => t.item()),
          expected,
          `n = ${N}`,
        );
      }
    }));

  it('nests in bodies that use values of the same name from outside', () =>
    withGraph(tf, async (g, session) => {
      const loop = (end) =>
        g.whileLoop(
          (i) => g.less(i, end),
          (i) => g.add(i, 1),
          [0],
        )[0];
      const branch = (pred, then) =>
        g.cond(
          pred,
          () => (typeof then === 'function' ? then() : then),
          () => 0,
        )[0];
      const [first, second, chosen] = [loop(3), loop(4), branch(true, 1)]; // while, while_1, cond
      const pred = g.constant(true, { name: 'x/cond' });
      const flag = g.variable(true, { name: 'y/cond' });
      const values = [
        branch(true, () => loop(first)),
        branch(true, () => g.add(loop(2), loop(second))),
        branch(true, () => branch(true, chosen)),
        branch(true, () => branch(pred, 5)),
        branch(true, () => branch(flag, 6)),
      ];
      await session.run(g.initializer());
      assert.deepEqual(
        (await session.run(values)).map((value) => value.item()),
        [3, 6, 1, 5, 6],
      );
    }));

  it('knows of shapes what the body keeps', () =>
    withGraph(tf, async (g, session) => {
      const [kept, grown] = [g.placeholder('float32', [2, 3]), g.placeholder('float32', [1, 3])];
      const shapes = [];
      const [a, b] = g.whileLoop(
        (x, y) => g.less(g.gather(g.shape(y), 0), 8),
        (x, y) => {
          shapes.push(y.shape);
          return [g.neg(x), g.concatV2([y, y], 0)];
        },
        [kept, grown],
      );
      assert.deepEqual(
        [a.shape, b.shape],
        [
          [2, 3],
          [null, 3],
        ],
      );
      assert.deepEqual(shapes, [
        [1, 3],
        [null, 3],
      ]);
      const [, value] = await session.run(
        [a, b],
        new Map([
          [kept, new Float32Array(6)],
          [grown, [[1, 2, 3]]],
        ]).set(kept, [
          [1, 2, 3],
          [4, 5, 6],
        ]),
      );
      assert.deepEqual(value.shape, [8, 3]);
    }));

  it('takes functions, and writes variables', () =>
    withGraph(tf, async (g, session) => {
      const below = tf.FunctionDef.parse(`Below(x:float) -> (y:bool) {
      limit = Const[dtype=float, value=100.0]()
      y = Less[T=float](x, limit:output:0)
      return y = y:z:0
    }`);
      const x = g.placeholder('float32', []);
      const [y] = g.whileLoop(below, tf.FunctionDef.parse(SCALE), [x]);
      assert.deepEqual(y.operation.attr('body'), { name: 'Scale', attrs: { T: 'float32' } });
      assert.equal((await session.run(y, new Map([[x, 2]]))).item(), 162);
      const v = g.variable(1, { name: 'v' });
      const [i] = g.whileLoop(
        (k) => g.less(k, 5),
        (k) => {
          g.assignVariableOp(v.handle, g.mul(v, 2));
          return g.add(k, 1);
        },
        [0],
      );
      assert.equal(i.operation.type, 'While');
      await session.run(g.initializer());
      await session.run(i);
      assert.equal((await session.run(v)).item(), 32);
    }));

  it('differentiates inside of a body, and keeps what it is when it is saved', () =>
    withGraph(tf, async (g, session) => {
      const start = g.placeholder('float64', [], { name: 'start' });
      /* Newton's method for a root of x^3 - 2. */
      const [, root] = g.whileLoop(
        (i) => g.less(i, 30),
        (i, x) => {
          const y = g.sub(g.mul(g.square(x), x), 2);
          return [g.add(i, 1), g.sub(x, g.div(y, g.gradients([y], [x])[0]))];
        },
        [0, start],
        { name: 'root' },
      );
      assert.ok(isClose([(await session.run(root, new Map([[start, 1]]))).item()], [Math.cbrt(2)], 1e-14));
      await withGraph(tf, async (copy, other) => {
        copy.importGraphDef(g.toGraphDef());
        assert.ok(isClose([(await other.run('root:1', { start: 1 })).item()], [Math.cbrt(2)], 1e-14));
      });
    }));

  it('differentiates a loop and a branch inside of a body', () =>
    withGraph(tf, async (g, session) => {
      const [n, x] = [g.placeholder('float64', []), g.placeholder('float64', [])];
      const [zero, one] = [0, 1].map((value) => g.constant(value, { dtype: 'float64' }));
      /* The sum over k < n of d/dx (x^3 if k is 1, else x^2). */
      const [, total] = g.whileLoop(
        (k) => g.less(k, n),
        (k, sum) => {
          const [, square] = g.whileLoop(
            (i) => g.less(i, 2),
            (i, p) => [g.add(i, 1), g.mul(p, x)],
            [zero, one],
          );
          const [y] = g.cond(
            g.equal(k, 1),
            () => g.mul(square, x),
            () => square,
          );
          return [g.add(k, 1), g.add(sum, g.gradients([y], [x])[0])];
        },
        [zero, zero],
      );
      assert.equal(
        (
          await session.run(
            total,
            new Map([
              [n, 3],
              [x, 5],
            ]),
          )
        ).item(),
        2 * 5 + 3 * 25 + 2 * 5,
      );
      const [slope] = g.gradients([total], [x]);
      assert.equal(
        (
          await session.run(
            slope,
            new Map([
              [n, 3],
              [x, 5],
            ]),
          )
        ).item(),
        2 + 6 * 5 + 2,
      );
    }));

  it('says what does not fit', () =>
    withGraph(tf, async (g) => {
      const x = g.placeholder('float32', [2], { name: 'x' });
      const refused = (message, cond, body) =>
        assert.throws(
          () => g.whileLoop(cond, body, [x]),
          (error) => error instanceof InvalidArgumentError && message.test(error.message),
          String(message),
        );
      const { graphs } = tf.memory();
      refused(
        /the body of whileLoop returns 2 outputs, not 1 like the inputs/,
        () => true,
        (a) => [a, a],
      );
      refused(
        /the body of whileLoop returns bool as output 0, not float32 like the inputs/,
        () => true,
        (a) => g.less(a, a),
      );
      refused(
        /the condition of whileLoop returns 0 outputs, not 1/,
        () => [],
        (a) => a,
      );
      assert.throws(
        () =>
          g.whileLoop(
            () => true,
            (a) => a,
            [undefined],
          ),
        /input 0 of whileLoop is no Output/,
      );
      assert.equal(tf.memory().graphs, graphs);
    }));
});

// Each value is multiplied by 2 or 1/2 at random, so dy/dx must be exactly the product of the factors of the
// same run.
describe('random numbers in branches and loops', () => {
  let tf;
  before(async () => (tf = await engine()));

  const SIZE = 32;
  const at = Float32Array.from({ length: SIZE }, (_, i) => 1 + (i % 5));
  const factor = (g, x) =>
    g.select(
      g.less(g.randomUniform(g.shape(x), { dtype: 'float32' }), 0.5),
      g.fill(g.shape(x), 0.5),
      g.fill(g.shape(x), 2),
    );
  const drop = (g, x, m) => {
    const f = factor(g, x);
    return [g.mul(x, f), g.mul(m, f)];
  };
  const products = (n, x, m) =>
    assert.deepEqual(
      [...n],
      [...x].map((value, i) => value * m[i]),
    );
  const graphs = {
    'a loop': (g, x, one) =>
      g
        .whileLoop(
          (i) => g.less(i, 3),
          (i, h, m) => [g.add(i, 1), ...drop(g, h, m)],
          [0, x, one],
        )
        .slice(1),
    'a branch': (g, x, one) =>
      g.cond(
        g.less(0, 1),
        () => drop(g, x, one),
        () => [x, one],
      ),
    'a branch in a loop': (g, x, one) =>
      g
        .whileLoop(
          (i) => g.less(i, 5),
          (i, h, m) => {
            return [
              g.add(i, 1),
              ...g.cond(
                g.equal(g.floorMod(i, 2), 0),
                () => drop(g, h, m),
                () => [g.mul(h, 2), g.mul(m, 2)],
              ),
            ];
          },
          [0, x, one],
        )
        .slice(1),
    'a loop in a branch in a loop': (g, x, one) =>
      g
        .whileLoop(
          (i) => g.less(i, 2),
          (i, h, m) => {
            return [
              g.add(i, 1),
              ...g.cond(
                g.less(i, 1),
                () => drop(g, h, m),
                () =>
                  g
                    .whileLoop(
                      (k) => g.less(k, 3),
                      (k, a, b) => [g.add(k, 1), ...drop(g, a, b)],
                      [0, h, m],
                    )
                    .slice(1),
              ),
            ];
          },
          [0, x, one],
        )
        .slice(1),
  };
  for (const [name, build] of Object.entries(graphs)) {
    it(`are drawn once for ${name} and its gradients`, () =>
      withGraph(tf, async (g, session) => {
        const x = g.placeholder('float32', [SIZE], { name: 'x' });
        const [y, m] = build(g, x, g.onesLike(x));
        const feeds = new Map([[x, at]]);
        await session.run([y, m], feeds);
        const outputs = y.operation.outputs.length;
        const [dx] = g.gradients([y], [x]);
        assert.ok(y.operation.outputs.length > outputs, 'the operation keeps more than it did');
        for (let i = 0; i < 3; i++) {
          const [value, slope, product] = await session.run([y, dx, m], feeds);
          assert.deepEqual([...slope.data], [...product.data]);
          products(value.data, at, product.data);
          assert.ok(new Set(product.data).size > 1);
        }
        const [slope] = g.gradients([g.square(y)], [x]);
        const [second] = g.gradients([slope], [x]);
        const kept = y.operation.outputs.length;
        g.gradients([y], [x]);
        assert.equal(y.operation.outputs.length, kept);
        const [first, product, twice] = await session.run([slope, m, second], feeds);
        products(
          first.data,
          at,
          product.data.map((v) => 2 * v * v),
        );
        assert.deepEqual(
          [...twice.data],
          [...product.data].map((v) => 2 * v * v),
        );
        await withGraph(tf, async (copy, other) => {
          copy.importGraphDef(g.toGraphDef());
          const [a, b] = await other.run([dx.name, m.name], { x: at });
          assert.deepEqual([...a.data], [...b.data]);
        });
      }));
  }
});
