import assert from 'node:assert/strict';
import {
  AlreadyExistsError,
  FailedPreconditionError,
  init,
  InvalidArgumentError,
  NotFoundError,
  OutOfRangeError,
  TFError,
} from '../../npm/dist/index.js';
import { checkGradients } from '../../npm/dist/testing.js';
import { engine, hostVariants, withGraph } from './engine.mjs';

/** Ops stay registered, so every test uses a new name. */
let count = 0;
const newName = () => `TestOp${++count}`;

const CUBE = {
  inputs: ['x: T'],
  outputs: ['y: T'],
  attrs: ['T: {float, double}'],
  shape: (c) => c.setOutput(0, c.input(0)),
  gradient: `CubeGrad[T:{float, double}](x:T, dy:T) -> (dx:T) {
    three = Const[dtype=$T, value=3]()
    x2 = Square[T=$T](x)
    a = Mul[T=$T](three:output:0, x2:y:0)
    dx = Mul[T=$T](a:z:0, dy)
    return dx = dx:z:0
  }`,
};

describe('tf.registerOp', () => {
  let tf;
  before(async () => (tf = await engine()));

  const cube = ([x]) => [
    tf.tensor(
      x.data.map((value) => value ** 3),
      x.shape,
    ),
  ];
  const registered = (spec) => {
    const name = newName();
    tf.registerOp({ name, ...spec });
    return name;
  };
  /** Registers an op, builds a node with these inputs, and returns its outputs' shapes. */
  const shapesOf = (spec, makeInputs, attrs = {}) => {
    const name = registered(spec);
    const g = new tf.Graph();
    try {
      return g.op(name, makeInputs(g), { attrs }).outputs.map((output) => output.shape);
    } finally {
      g.dispose();
    }
  };

  it('makes an op that is built, run, differentiated, exported and imported like any other', () =>
    withGraph(tf, async (g, session) => {
      const name = registered({ ...CUBE, kernel: cube, doc: 'Cubes.\n\nx: what is cubed' });
      assert.ok(tf.opDefs().some((op) => op.name === name));
      const {
        summary,
        input_arg: [x],
        attr: [attr],
      } = tf.opDef(name);
      assert.deepEqual(
        [summary, x.description, attr.allowed_values],
        ['Cubes.', 'what is cubed', ['float32', 'float64']],
      );
      const at = g.placeholder('float64', [2], { name: 'at' });
      const y = g.op(name, [at], { name: 'y' }).output(0);
      assert.deepEqual([y.shape, y.dtype], [[2], 'float64']);
      const [dy] = g.gradients([y], [at]);
      const [value, slope] = await session.run([y, dy], new Map([[at, [2, -3]]]));
      assert.deepEqual(
        [value.array(), slope.array()],
        [
          [8, -27],
          [12, 27],
        ],
      );
      assert.ok((await checkGradients(tf, g, y, at)).maxError < 1e-8);
      await withGraph(tf, async (other, fresh) => {
        other.importGraphDef(g.toText());
        assert.deepEqual((await fresh.run('y', { at: [1, 10] })).array(), [1, 1000]);
      });
      assert.throws(() => g.op(name, [g.constant(1n)]), { name: 'InvalidArgumentError', op: name });
    }));

  it('gives kernels their inputs and attrs, and takes outputs of every kind', () =>
    withGraph(tf, async (g, session) => {
      const seen = [];
      const name = registered({
        inputs: ['xs: N * T', 'words: string', 'rest: types'],
        outputs: ['sum: T', 'text: string', 'count: int64', 'flags: bool', 'halves: half'],
        attrs: [
          'N: int >= 1',
          'T: type',
          'types: list(type)',
          "mode: {'a', 'b'} = 'b'",
          'shape: shape',
          'big: int',
        ],
        kernel(inputs, attrs) {
          seen.push(attrs);
          const [first, second, words, ...rest] = inputs;
          return [
            tf.tensor(
              first.data.map((value, i) => value + second.data[i]),
              first.shape,
            ),
            words.array().map((word) => `${word}!`),
            rest.length,
            tf.tensor([true, false]),
            [0.5],
          ];
        },
      });
      const operation = g.op(
        name,
        [
          [g.constant([1, 2]), g.constant([3, 4])],
          g.constant(['a', 'ä'.repeat(30)]),
          [g.constant(1n), g.constant(true)],
        ],
        { attrs: { shape: [null, 2], big: 2n ** 60n } },
      );
      assert.deepEqual(
        operation.outputs.map((output) => output.shape),
        Array(5).fill(null),
      );
      const results = await session.run(operation.outputs);
      assert.deepEqual(
        results.map((result) => result.array()),
        [[4, 6], ['a!', `${'ä'.repeat(30)}!`], 2n, [true, false], [0.5]],
      );
      assert.deepEqual(
        results.map((result) => result.dtype),
        ['float32', 'string', 'int64', 'bool', 'float16'],
      );
      assert.deepEqual(seen[0], {
        N: 2,
        T: 'float32',
        big: 2n ** 60n,
        mode: 'b',
        shape: [null, 2],
        types: ['int64', 'bool'],
      });
    }));

  it('runs a stateful op in every step, and others only where they are needed', () =>
    withGraph(tf, async (g, session) => {
      let [runs, others] = [0, 0];
      const counter = g
        .op(registered({ outputs: ['n: int32'], stateful: true, kernel: () => [++runs] }))
        .output(0);
      g.op(registered({ outputs: ['n: int32'], stateful: true, kernel: () => [++others] }));
      for (let i = 1; i <= 3; i++) assert.equal((await session.run(counter)).item(), i);
      assert.deepEqual([runs, others], [3, 0]);
      let told = '';
      const target = g.op(
        registered({ inputs: ['x: float'], stateful: true, kernel: ([x]) => void (told += x.item()) }),
        [7],
      );
      await session.run(target);
      assert.equal(told, '7');
    }));

  it('turns what a kernel throws into an error of the step, with its cause', () =>
    withGraph(tf, async (g, session) => {
      const thrown = new RangeError('no such row');
      const failing = (kernel, outputs = ['y: float']) =>
        g.op(registered({ inputs: ['x: float'], outputs, stateful: true, kernel }), [1], {
          name: g.uniqueName('bad'),
        });
      const broken = failing(() => {
        throw thrown;
      });
      const before = tf.memory().liveBytes;
      await assert.rejects(session.run(broken.output(0)), (error) => {
        assert.deepEqual(
          [error.code, error.cause, error.node, error.op],
          ['UNKNOWN', thrown, 'bad', broken.type],
        );
        return /^RangeError: no such row/.test(error.message);
      });
      const own = failing(() => {
        throw new OutOfRangeError('row 7');
      });
      await assert.rejects(
        session.run(own.output(0)),
        (error) =>
          error instanceof OutOfRangeError &&
          error.node === 'bad_1' &&
          error.cause instanceof OutOfRangeError,
      );
      const refused = [
        [async () => [tf.tensor(1)], /returned a Promise/],
        [
          async () => {
            throw new Error('late');
          },
          /returned a Promise/,
        ],
        [() => [], /has 1 outputs, but it returned 0/],
        [() => undefined, /has 1 outputs, but it returned 0/],
        [() => [1, 2], /has 1 outputs, but it returned 2/],
        [() => 5, /instead of an array/],
        [() => [undefined], /no value for output 0/],
        [() => [tf.tensor([1n])], /output 0 of op TestOp\d+ is float32, but its kernel returned int64/],
        [() => ['text'], /cannot be an element of dtype float32/],
        [
          () => {
            throw 'a string';
          },
          /a string/,
        ],
        [
          () => {
            throw Object.create(null);
          },
          /without a message/,
        ],
        [
          () => {
            throw new Error('x'.repeat(10000));
          },
          /xxx/,
        ],
        [() => g.constant(1), /cannot use graphs/],
        [() => session.runSync(own), /cannot use graphs/],
        [() => new tf.Graph(), /cannot use graphs/],
        [() => [g.output('x').shape], /cannot use graphs/],
        [() => tf.registerOp({ name: newName() }), /cannot use/],
      ];
      for (const [kernel, message] of refused) {
        const operation = failing(kernel);
        await assert.rejects(
          session.run(operation.output(0)),
          (error) =>
            error instanceof TFError &&
            message.test(error.message) &&
            error.op === operation.type &&
            'cause' in error,
          String(kernel),
        );
      }
      await assert.rejects(
        session.run(failing(() => [tf.tensor(1), tf.tensor([1])], ['y: float', 'z: int32']).output(0)),
        /output 1 of op TestOp\d+ is int32/,
      );
      /* Unrelated errors have no cause. */
      await assert.rejects(
        session.run(g.placeholder('float32')),
        (error) => error instanceof InvalidArgumentError && !('cause' in error),
      );
      assert.equal((await session.run(g.add(1, 2))).item(), 3);
      assert.ok(tf.memory().liveBytes > before);
    }));

  it('computes ahead what depends on constants alone', () =>
    withGraph(tf, async (g, session) => {
      let runs = 0;
      const sizes = registered({
        inputs: ['x: int32'],
        outputs: ['y: int32'],
        shape: (c) => c.setOutput(0, c.input(0)),
        kernel: ([x]) => [(runs++, x)],
      });
      const size = g.op(sizes, [g.constant([2, 3], { dtype: 'int32' })]).output(0);
      /* The shape function of Fill requests the value, so the kernel runs while a graph is built. */
      assert.deepEqual(g.fill(size, 1).shape, [2, 3]);
      const before = runs;
      for (let i = 0; i < 3; i++) assert.deepEqual((await session.run(g.output(size.name))).array(), [2, 3]);
      assert.ok(before > 0 && runs - before <= 1, `${before} and ${runs} runs`);
      const failing = registered({
        inputs: ['x: int32'],
        outputs: ['y: int32'],
        shape: (c) => c.setOutput(0, c.input(0)),
        kernel: () => {
          throw new OutOfRangeError('never');
        },
      });
      const broken = g.op(failing, [g.constant([2, 3], { dtype: 'int32' })], { name: 'broken' }).output(0);
      assert.deepEqual(g.fill(broken, 1).shape, [null, null]);
      await assert.rejects(
        session.run(broken),
        (error) =>
          error instanceof OutOfRangeError &&
          error.node === 'broken' &&
          error.cause instanceof OutOfRangeError,
      );
    }));

  it('says so when an op has no kernel, or no gradient', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float32', [2], { name: 'x' });
      const name = registered({ inputs: ['x: float'], outputs: ['y: float'] });
      const y = g.op(name, [x]).output(0);
      await assert.rejects(session.run(y, { x: [1, 2] }), { code: 'NOT_FOUND', op: name });
      assert.throws(
        () => g.gradients([y], [x]),
        (error) => error instanceof TFError && error.message.includes(name),
      );
      const flat = g
        .op(registered({ inputs: ['x: float'], outputs: ['y: float'], gradient: null }), [x])
        .output(0);
      assert.deepEqual(g.gradients([flat], [x]), [null]);
      const text = tf.FunctionDef.parse(
        'Negated(x:float, dy:float) -> (dx:float) {\n  n = Neg[T=float](dy)\n  return dx = n:y:0\n}',
      );
      const negated = g
        .op(
          registered({
            inputs: ['x: float'],
            outputs: ['y: float'],
            shape: CUBE.shape,
            kernel: ([value]) => [value],
            gradient: text,
          }),
          [x],
        )
        .output(0);
      assert.deepEqual((await session.run(g.gradients([negated], [x])[0], { x: [1, 2] })).array(), [-1, -1]);
    }));

  it('refuses definitions in words of TensorFlow, and changes nothing then', () => {
    const known = tf.opDefs().length;
    assert.throws(
      () => tf.registerOp({ name: 'MatMul', kernel: () => [] }),
      (error) =>
        error instanceof AlreadyExistsError &&
        /Op with name MatMul/.test(error.message) &&
        error.op === 'MatMul',
    );
    const refused = [
      [{ name: 'lowercase' }, /lowercase/],
      [{ name: '' }, /./],
      [{ name: 'Odd name' }, /Odd name/],
      [{}, /needs a name/],
      [{ name: 'A', inputs: ['x'] }, /x/],
      [{ name: 'A', inputs: ['x: T'] }, /T/],
      [{ name: 'A', attrs: ['n: number'] }, /number/],
      [{ name: 'A', attrs: ['n: int >= 3 = 2'] }, /2/],
      [{ name: 'A', outputs: ['y: float', 'y: float'] }, /y/],
      [{ name: 'A', gradient: 'no function' }, /./],
      [{ name: 'A', doc: 'a\0b' }, /NUL/],
    ];
    for (const [spec, message] of refused) {
      assert.throws(
        () => tf.registerOp({ kernel: () => [], shape: () => undefined, ...spec }),
        (error) => error instanceof InvalidArgumentError && message.test(error.message),
        JSON.stringify(spec),
      );
    }
    assert.equal(tf.opDefs().length, known);
    assert.throws(() => tf.opDef('A'), NotFoundError);
  });

  it('lets shape functions look at everything and combine it', () => {
    const x = (g) => [g.placeholder('float32', [null, 3, 5])];
    const spec = (shape, more = {}) => ({ inputs: ['x: float'], outputs: ['y: float'], shape, ...more });
    const shapes = [
      [(c) => c.setOutput(0, c.subshape(c.input(0), 1)), [3, 5]],
      [(c) => c.setOutput(0, c.subshape(c.input(0), 0, -1)), [null, 3]],
      [(c) => c.setOutput(0, c.subshape(c.input(0), 2, 0, -1)), [5, 3]],
      [(c) => c.setOutput(0, c.concatenate(c.input(0), [7])), [null, 3, 5, 7]],
      [(c) => c.setOutput(0, c.replaceDim(c.input(0), -3, 4)), [4, 3, 5]],
      [(c) => c.setOutput(0, c.merge(c.input(0), [2, null, null])), [2, 3, 5]],
      [(c) => c.setOutput(0, c.broadcast(c.input(0), [4, 1, 1])), [4, 3, 5]],
      [(c) => c.setOutput(0, [c.dim(c.input(0), 0), c.add(c.input(0).dim(1), 10)]), [null, 13]],
      [
        (c) =>
          c.setOutput(0, [
            c.subtract(9, 4),
            c.multiply(3, c.input(0).dim(2)),
            c.divide(7, 2),
            c.min(3, 4),
            c.max(3, 4),
          ]),
        [5, 15, 3, 3, 4],
      ],
      [
        (c) => c.setOutput(0, [c.numElements(c.subshape(c.input(0), 1)), c.numElements(c.input(0))]),
        [15, null],
      ],
      [(c) => c.setOutput(0, c.withRank(null, 2)), [null, null]],
      [(c) => c.setOutput(0, c.withRankAtMost(c.withRankAtLeast(c.input(0), 3), 3)), [null, 3, 5]],
      [(c) => c.setOutput(0, [c.withValue(null, 6), c.mergeDim(null, 8)]), [6, 8]],
      [(c) => c.setOutput(0, null), null],
      [() => undefined, null],
      [(c) => c.setOutput(0, c.unknownShape()), null],
      [(c) => c.setOutput(0, c.unknownShape(1)), [null]],
      [(c) => c.setOutput(0, []), []],
      [
        (c) => c.setOutput(0, [c.numInputs, c.numOutputs, c.graphDefVersion, c.rank(c.input(0)), 2 ** 40]),
        [1, 1, 2314, 3, 2 ** 40],
      ],
      [
        (c) =>
          c.setOutput(0, [
            c.input(0).dims.length,
            c.input(0).sizes()[1],
            String(c.input(0)).length,
            c.same(c.input(0), c.input(0)) ? 1 : 0,
          ]),
        [3, 3, '[?,3,5]'.length, 1],
      ],
      [
        (c) =>
          c.setOutput(0, [
            c.same(c.input(0).dim(0), c.dim(c.input(0), -3)) ? 1 : 0,
            c.same(c.makeDim(null), c.makeDim(null)) ? 1 : 0,
          ]),
        [1, 0],
      ],
    ];
    for (const [shape, expected] of shapes)
      assert.deepEqual(shapesOf(spec(shape), x), [expected], String(shape));
    assert.deepEqual(
      shapesOf(
        spec(
          (c) => c.setOutput(0, [c.attr('n'), c.attr('sizes').length, c.attr('T') === 'float32' ? 1 : 0]),
          { attrs: ['n: int', 'sizes: list(int) = [1, 2]', 'T: type = DT_FLOAT'] },
        ),
        x,
        { n: 4 },
      ),
      [[4, 2, 1]],
    );
  });

  it('gives shape functions the values of constant inputs', () => {
    const sized = {
      inputs: ['size: int32', 'n: int32'],
      outputs: ['a: float', 'b: float', 'c: float'],
      shape(c) {
        const value = c.inputTensor(0);
        c.setOutput(0, value ? value.array() : null);
        c.setOutput(1, c.inputAsShape(0));
        c.setOutput(2, [c.inputAsDim(1)]);
      },
    };
    assert.deepEqual(
      shapesOf(sized, (g) => [
        g.add(g.constant([1, 2], { dtype: 'int32' }), 1),
        g.constant(7, { dtype: 'int32' }),
      ]),
      [[2, 3], [2, 3], [7]],
    );
    const half = (g) => [
      g.op('Pack', [[g.constant(4, { dtype: 'int32' }), g.placeholder('int32', [])]]).output(0),
      g.placeholder('int32', []),
    ];
    assert.deepEqual(shapesOf(sized, half), [null, [4, null], [null]]);
  });

  it('refuses inputs that the shape function refuses, with the cause', () => {
    const inputs = (g) => [g.placeholder('float32', [2, 3])];
    const refused = (shape) => {
      let caught;
      assert.throws(
        () => shapesOf({ inputs: ['x: float'], outputs: ['y: float'], shape }, inputs),
        (error) => ((caught = error), error instanceof TFError),
        String(shape),
      );
      assert.equal(caught.op, `TestOp${count}`);
      assert.ok('cause' in caught, String(shape));
      return caught;
    };
    const wrongRank = refused((c) => c.withRank(c.input(0), 1));
    assert.ok(
      wrongRank instanceof InvalidArgumentError &&
        /Shape must be rank 1 but is rank 2/.test(wrongRank.message),
    );
    const mine = new Error('only odd sizes');
    assert.equal(
      refused(() => {
        throw mine;
      }).cause,
      mine,
    );
    const words = [
      [(c) => c.input(1), /input index out of range/],
      [(c) => c.setOutput(3, null), /output index/],
      [(c) => c.attr('nothing'), /nothing/],
      [(c) => c.setOutput(0, [1.5]), /whole number/],
      [(c) => c.setOutput(0, [-2]), /-2/],
      [async (c) => c.setOutput(0, null), /returned a Promise/],
      [(c) => c.merge(c.input(0), [2, 4]), /Dimension 1 in both shapes must be equal/],
      [(c) => c.subtract(1, 2), /Negative dimension size/],
      [(c) => c.divide(7, 2, { evenly: true }), /evenly|divisible/],
      [(c) => c.withRank('text', 2), /./],
      [(c) => c.inputTensor(5), /out of range/],
      [() => tf.opDefs() && new tf.Graph(), /cannot use graphs/],
    ];
    for (const [shape, message] of words) assert.match(refused(shape).message, message, String(shape));
  });

  it('lets shapes be used only as long as the shape function runs', () => {
    let kept;
    shapesOf(
      {
        inputs: ['x: float'],
        outputs: ['y: float'],
        shape: (c) => void (kept = { c, shape: c.input(0), dim: c.input(0).dim(0) }),
      },
      (g) => [g.placeholder('float32', [2])],
    );
    for (const use of [
      () => kept.shape.rank,
      () => kept.dim.value,
      () => kept.c.unknownShape(),
      () => kept.c.numInputs,
      () => String(kept.shape),
    ])
      assert.throws(use, FailedPreconditionError);
  });

  it('errors that a shape function handles itself are gone', () => {
    const shape = (c) => {
      assert.throws(() => c.withRank(c.input(0), 5), InvalidArgumentError);
      c.setOutput(0, [1]);
    };
    assert.deepEqual(
      shapesOf({ inputs: ['x: float'], outputs: ['y: float'], shape }, (g) => [
        g.placeholder('float32', [2]),
      ]),
      [[1]],
    );
  });

  it('leaves nothing behind when graphs and sessions go', async () => {
    const name = registered({ ...CUBE, kernel: cube });
    const failing = registered({
      inputs: ['x: float'],
      outputs: ['y: float'],
      kernel: () => {
        throw new Error('no');
      },
    });
    const once = () =>
      withGraph(tf, async (g, session) => {
        const x = g.placeholder('float32', [2]);
        const y = g.op(name, [x]).output(0);
        await session.run([y, g.gradients([y], [x])], new Map([[x, [1, 2]]]));
        await assert.rejects(session.run(g.op(failing, [x]).output(0), new Map([[x, [1, 2]]])));
        assert.throws(() => g.op(name, [x, x]));
      });
    await once();
    const before = tf.memory();
    for (let i = 0; i < 10; i++) await once();
    assert.deepEqual(
      { ...tf.memory(), allocations: 0, peakBytes: 0 },
      { ...before, allocations: 0, peakBytes: 0 },
    );
  });

  it('works in every build, on the thread that runs the step', async () => {
    for (const variant of hostVariants()) {
      const other = await init(variant.endsWith('threads') ? { variant, threads: 2 } : { variant });
      const name = newName();
      other.registerOp({ name, ...CUBE, kernel: cube });
      assert.throws(() => other.registerOp({ name, ...CUBE }), AlreadyExistsError);
      await withGraph(other, async (g, session) => {
        const big = g.placeholder('float32', [64, 64]);
        const ys = Array.from({ length: 8 }, (_, i) => g.matMul(g.op(name, [g.mul(big, i)]).output(0), big));
        const results = await session.run(ys, new Map([[big, new Float32Array(64 * 64).fill(0.5)]]));
        assert.deepEqual(
          results.map((result) => result.data[5]),
          ys.map((_, i) => (0.5 * i) ** 3 * 0.5 * 64),
          variant,
        );
      });
    }
  });
});
