// Wrong arguments: every public function, every argument, every kind of wrong value. The result is an error
// of the package (or a TypeError with advice), the memory is unchanged, and the engine still works.
import assert from 'node:assert/strict';
import * as tfcore from '../../npm/dist/index.js';
import { checkGradients, inferShapes } from '../../npm/dist/testing.js';
import { bytesLeft, engine } from './engine.mjs';

const { TFError, Tensor } = tfcore;

/** Errors thrown by the caller's values are passed on. */
class OwnError extends Error {}

function detached(view) {
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
}
const throwing = () =>
  new Proxy(
    {},
    Object.fromEntries(
      ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor'].map((trap) => [
        trap,
        () => {
          throw new OwnError(trap);
        },
      ]),
    ),
  );
const cyclic = () => {
  const list = [];
  list[0] = list;
  return list;
};

/** Values by their kind; each is made anew, because a call may change it. `other` belongs to other graphs. */
const wrongValues = (other) => ({
  null: () => null,
  undefined: () => undefined,
  zero: () => 0,
  'minus one': () => -1,
  'a fraction': () => 1.5,
  NaN: () => NaN,
  Infinity: () => Infinity,
  '2^53': () => 2 ** 53,
  '2^40': () => 2 ** 40,
  '2^64 as bigint': () => 2n ** 64n,
  '-1n': () => -1n,
  true: () => true,
  'an empty text': () => '',
  'a text': () => 'x',
  'a text with NUL': () => 'a\0b',
  'a long text': () => 'x'.repeat(100_000),
  'half a pair': () => '\ud800',
  'an empty object': () => ({}),
  'an object': () => ({ a: 1 }),
  'an object without prototype': () => Object.create(null),
  'an empty array': () => [],
  '[null]': () => [null],
  '[undefined]': () => [undefined],
  '[[]]': () => [[]],
  'a sparse array': () => [, 1], // eslint-disable-line no-sparse-arrays
  'a ragged array': () => [[1, 2], [3]],
  'an array inside itself': cyclic,
  'a list of symbols': () => [Symbol('s')],
  'a list of functions': () => [() => 1],
  'a list of objects': () => [{}],
  'an endless length': () => ({ length: 2 ** 40 }),
  'a function': () => () => 1,
  'a class': () => class Mine {},
  'a symbol': () => Symbol('s'),
  'a throwing proxy': throwing,
  'a proxy of an array': () => new Proxy([1], {}),
  'a text object': () => new String('x'),
  'a date': () => new Date(0),
  'a map': () => new Map([[1, 2]]),
  'a set': () => new Set([1]),
  'a promise': () => Promise.resolve(1),
  'no text': () => ({
    toString() {
      throw new OwnError('toString');
    },
  }),
  bytes: () => Uint8Array.of(1, 2, 3),
  'no bytes': () => new Uint8Array(0),
  floats: () => Float32Array.of(1, 2),
  'a DataView': () => new DataView(new ArrayBuffer(4)),
  'an ArrayBuffer': () => new ArrayBuffer(4),
  'a detached array': () => detached(new Float32Array(4)),
  'detached bytes': () => detached(new Uint8Array(4)),
  'a detached buffer': () => detached(new Uint8Array(4)).buffer,
  'a shared array': () => new Float32Array(new SharedArrayBuffer(8)),
  'shared bytes': () => new Uint8Array(new SharedArrayBuffer(8)),
  'shared memory': () => new SharedArrayBuffer(8),
  'a tensor': () => new Tensor('float32', [2], Float32Array.of(1, 2)),
  'a tensor without memory': () => {
    const tensor = new Tensor('float32', [2], Float32Array.of(1, 2));
    detached(tensor.data);
    return tensor;
  },
  "another graph's output": () => other.output,
  "another graph's operation": () => other.output.operation,
  "another graph's variable": () => other.variable,
  "a disposed graph's output": () => other.disposedOutput,
  "a disposed graph's operation": () => other.disposedOutput.operation,
  'a disposed graph': () => other.disposed,
  'a closed session': () => other.closed,
  'another graph': () => other.graph,
  'a function definition': () => other.definition,
  'a disposed body': () => other.body,
  'a list of another graph': () => [other.output],
  'a record of wrong things': () => ({ x: Symbol('s'), name: 5, attrs: 7, controlInputs: 'x' }),
});

/** Internal errors of the package. */
const INSIDE =
  /Cannot (read|convert|destructure|set|mix)|is not (a function|iterable|an object|a constructor|extensible)|undefined \(|properties of|^\w+ is not defined|Invalid array length|Maximum call stack|unreachable|memory access|null function|table index|reflect/i;

const FUNCTION = 'Twice(x:float) -> (y:float) {\n  y = Add[T=float](x, x)\n  return y = y:z:0\n}';

/** The objects to call. */
function world(tf) {
  const g = new tf.Graph();
  const x = g.placeholder('float32', [2], { name: 'x' });
  const w = g.variable([1, 2], { name: 'w' });
  const y = g.mul(x, w, { name: 'y' });
  const session = new tf.Session(g);
  session.runSync(g.initializer());
  const definition = tf.FunctionDef.parse(FUNCTION);
  g.addFunction(definition);
  return {
    tf,
    g,
    x,
    w,
    y,
    session,
    definition,
    body: definition.instantiate({}),
    optimizer: new tf.train.AdamOptimizer(0.1),
    bytes: g.toGraphDef(),
  };
}

async function leave({ g, session, body }) {
  body.dispose();
  await session.close();
  g.dispose();
}

/** Each call: the class and its method or a name, its construction, and valid arguments. */
const calls = [
  ['tf.tensor', ({ tf }) => tf.tensor, () => [[1, 2], [2], 'float32']],
  ['tf.freeze', ({ tf }) => tf.freeze, ({ session, y }) => [session, [y]]],
  ['tf.opDef', ({ tf }) => tf.opDef, () => ['MatMul']],
  ['tf.checkCompatibility', ({ tf }) => tf.checkCompatibility, ({ bytes }) => [bytes]],
  ['tf.registerOp', ({ tf }) => tf.registerOp, () => []],
  [
    'new Session',
    ({ tf }) =>
      (...args) =>
        new tf.Session(...args).close(),
    ({ g }) => [g, {}],
  ],
  [
    'FunctionDef.create',
    ({ tf }) => tf.FunctionDef.create,
    () => [
      {
        name: 'F',
        inputs: ['x: float'],
        outputs: ['y: float'],
        nodes: [{ name: 'n', op: 'Neg', inputs: ['x'] }],
        returns: { y: 'n:y:0' },
      },
    ],
  ],
  [
    'FunctionDef.define',
    ({ tf }) => tf.FunctionDef.define,
    () => [
      {
        name: 'F',
        args: ['x: float'],
        returns: ['y: float'],
        nodes: [{ returns: ['y'], op: 'Neg', args: ['x'] }],
      },
    ],
  ],
  ['FunctionDef.parse', ({ tf }) => tf.FunctionDef.parse, () => [FUNCTION]],
  ['FunctionDef.fromProto', ({ tf }) => tf.FunctionDef.fromProto, ({ definition }) => [definition.toProto()]],
  [
    'FunctionDef.instantiate',
    ({ definition }) =>
      (...args) =>
        definition.instantiate(...args).dispose(),
    ({ g }) => [{}, g],
  ],
  [
    'FunctionBody.optimize',
    ({ body }) =>
      (...args) =>
        body.optimize(...args).dispose(),
    () => [{ inline: true }],
  ],
  [
    'FunctionBody.run',
    ({ body }) =>
      (...args) =>
        body.run(...args),
    () => [[1]],
  ],
  [
    'FunctionBody.runSync',
    ({ body }) =>
      (...args) =>
        body.runSync(...args),
    () => [[1]],
  ],
  [
    'Tensor.is',
    () =>
      (...args) =>
        new Tensor('float32', [], Float32Array.of(1)).is(...args),
    () => ['float32'],
  ],
  [
    'new Tensor',
    () =>
      (...args) =>
        new Tensor(...args),
    () => ['float32', [2], Float32Array.of(1, 2)],
  ],
  [
    'files.read',
    ({ tf }) =>
      (...args) =>
        tf.files.read(...args),
    () => ['nowhere'],
  ],
  [
    'files.write',
    ({ tf }) =>
      (path, content) => (tf.files.write(path, content), tf.files.remove(path)),
    () => ['misuse', 'text'],
  ],
  [
    'files.remove',
    ({ tf }) =>
      (...args) =>
        tf.files.remove(...args),
    () => ['nowhere'],
  ],
  [
    'files.list',
    ({ tf }) =>
      (...args) =>
        tf.files.list(...args),
    () => [''],
  ],
  [
    'files.exists',
    ({ tf }) =>
      (...args) =>
        tf.files.exists(...args),
    () => ['a'],
  ],
  [
    'Graph.op',
    ({ g }) => g.op.bind(g),
    ({ x }) => ['Add', [x, x], { name: 'n', controlInputs: [], device: '', attrs: { T: 'float32' } }],
  ],
  ['Graph.placeholder', ({ g }) => g.placeholder.bind(g), () => ['float32', [2], {}]],
  ['Graph.constant', ({ g }) => g.constant.bind(g), () => [[1, 2], { dtype: 'float32', shape: [2] }]],
  ['Graph.variable', ({ g }) => g.variable.bind(g), () => [[1, 2], { trainable: true }]],
  ['Graph.uniqueName', ({ g }) => g.uniqueName.bind(g), () => ['a']],
  ['Graph.operation', ({ g }) => g.operation.bind(g), () => ['x']],
  ['Graph.output', ({ g }) => g.output.bind(g), () => ['x:0']],
  ['Graph.setShape', ({ g }) => g.setShape.bind(g), ({ x }) => [x, [2]]],
  ['Graph.gradients', ({ g }) => g.gradients.bind(g), ({ y, x }) => [[y], [x], {}]],
  ['Graph.importGraphDef', ({ g }) => g.importGraphDef.bind(g), ({ bytes }) => [bytes, { prefix: 'p' }]],
  ['Graph.addFunction', ({ g }) => g.addFunction.bind(g), ({ definition }) => [definition]],
  ['Graph.addGradient', ({ g }) => g.addGradient.bind(g), () => ['Twice', 'Twice']],
  ['Graph.gradientOf', ({ g }) => g.gradientOf.bind(g), () => ['Twice']],
  ['Graph.function', ({ g }) => g.function.bind(g), () => ['Twice']],
  ['Graph.removeFunction', ({ g }) => g.removeFunction.bind(g), () => ['Twice']],
  ['Graph.toFunction', ({ g }) => g.toFunction.bind(g), ({ x, y }) => ['F', { inputs: [x], outputs: [y] }]],
  ['Graph.call', ({ g }) => g.call.bind(g), ({ x }) => ['Twice', [x], {}]],
  ['Graph.cond', ({ g }) => g.cond.bind(g), ({ x }) => [true, () => x, () => x, [x], {}]],
  ['Graph.whileLoop', ({ g }) => g.whileLoop.bind(g), () => [(i) => i, (i) => i, [false], {}]],
  ['Graph.add', ({ g }) => g.add.bind(g), ({ x }) => [x, x, {}]],
  ['Graph.concat', ({ g }) => g.concat.bind(g), ({ x }) => [0, [x, x], {}]],
  ['Operation.output', ({ y }) => y.operation.output.bind(y.operation), () => [0]],
  ['Operation.attr', ({ y }) => y.operation.attr.bind(y.operation), () => ['T']],
  [
    'new Operation',
    () =>
      (...args) =>
        new tfcore.Operation(...args),
    ({ g }) => [g],
  ],
  [
    'new Output',
    () =>
      (...args) =>
        new tfcore.Output(...args),
    ({ y }) => [y.operation, 0],
  ],
  [
    'new Variable',
    () =>
      (...args) =>
        new tfcore.Variable(...args),
    ({ w }) => [w.handle, { value: w.value, initializer: w.initializer }, true],
  ],
  [
    'Session.run',
    ({ session }) => session.run.bind(session),
    ({ y, x }) => [[y], new Map([[x, [1, 2]]]), { targets: [] }],
  ],
  ['Session.runSync', ({ session }) => session.runSync.bind(session), ({ y }) => [[y], { x: [1, 2] }, {}]],
  [
    'Optimizer.minimize',
    ({ optimizer }) => optimizer.minimize.bind(optimizer),
    ({ y, w }) => [y, { vars: [w] }],
  ],
  [
    'Optimizer.computeGradients',
    ({ optimizer }) => optimizer.computeGradients.bind(optimizer),
    ({ y, w }) => [y, [w]],
  ],
  [
    'Optimizer.applyGradients',
    ({ optimizer }) => optimizer.applyGradients.bind(optimizer),
    ({ w }) => [[[w.value, w]], { name: 'n' }],
  ],
  ['Optimizer.getSlot', ({ optimizer }) => optimizer.getSlot.bind(optimizer), ({ w }) => [w, 'm']],
  ...['GradientDescent', 'Momentum', 'Adagrad', 'Adadelta', 'RMSProp', 'Ftrl', 'Adam'].map((name) => [
    `new ${name}Optimizer`,
    ({ tf, w }) =>
      (...args) =>
        new tf.train[`${name}Optimizer`](...args).applyGradients([[w.value, w]]),
    () => [0.1, ...(name === 'Momentum' ? [0.9] : []), {}],
  ]),
  [
    'checkGradients',
    () => checkGradients,
    ({ tf, g, y, x, session }) => [tf, g, y, x, { value: [1, 2], session }],
  ],
  ['inferShapes', () => inferShapes, ({ tf }) => [tf, { op: 'Neg', attrs: { T: 'float32' } }, '[2]']],
  ['init', () => tfcore.init, () => [{ threads: 1 }]],
];

/** Options: the call, and the names of its options. */
const options = [
  ['Graph.constant', ['name', 'controlInputs', 'device', 'dtype', 'shape']],
  ['Graph.placeholder', ['name', 'controlInputs', 'device']],
  ['Graph.variable', ['name', 'trainable', 'dtype']],
  ['Graph.op', ['name', 'controlInputs', 'device', 'attrs']],
  ['Graph.gradients', ['gradYs', 'stopGradients', 'name', 'unconnectedGradients']],
  [
    'Graph.importGraphDef',
    [
      'prefix',
      'inputMap',
      'controlDependencies',
      'returnOutputs',
      'returnOperations',
      'uniquifyNames',
      'uniquifyPrefix',
      'defaultDevice',
    ],
  ],
  ['Graph.toFunction', ['inputs', 'outputs', 'operations', 'outputNames', 'controlOutputs']],
  ['Graph.call', ['name', 'controlInputs', 'device', 'attrs']],
  ['Graph.cond', ['name', 'controlInputs', 'device']],
  ['Graph.whileLoop', ['name', 'controlInputs', 'device']],
  ['Graph.add', ['name', 'controlInputs', 'device']],
  ['Session.run', ['targets', 'signal']],
  ['Session.runSync', ['targets', 'signal']],
  ['new Session', ['target', 'optimize']],
  ['FunctionBody.optimize', ['inline', 'fold', 'cse']],
  ['FunctionDef.create', ['name', 'inputs', 'outputs', 'attrs', 'nodes', 'returns', 'controlReturns']],
  ['FunctionDef.define', ['name', 'args', 'returns', 'attrs', 'nodes']],
  ['Optimizer.minimize', ['vars', 'globalStep', 'name']],
  ['Optimizer.applyGradients', ['globalStep', 'name']],
  ['new AdamOptimizer', ['beta1', 'beta2', 'epsilon', 'useNesterov']],
  ['new MomentumOptimizer', ['useNesterov']],
  ['new RMSPropOptimizer', ['decay', 'momentum', 'epsilon', 'centered']],
  ['new AdadeltaOptimizer', ['rho', 'epsilon']],
  ['new AdagradOptimizer', ['initialAccumulatorValue']],
  ['new FtrlOptimizer', ['learningRatePower', 'l1RegularizationStrength']],
  ['checkGradients', ['feeds', 'value', 'step', 'order', 'session']],
  ['init', ['variant', 'threads', 'signal', 'onProgress']],
];

describe('wrong arguments', function () {
  this.timeout(120_000);
  let tf;
  let other;
  let wrong;

  before(async () => {
    tf = await engine();
    const graph = new tf.Graph();
    const gone = new tf.Graph();
    const disposedOutput = gone.placeholder('float32', [2]);
    const closed = new tf.Session(graph);
    await closed.close();
    gone.dispose();
    const definition = tf.FunctionDef.parse(FUNCTION);
    const body = definition.instantiate();
    body.dispose();
    other = {
      graph,
      output: graph.placeholder('float32', [2]),
      variable: graph.variable([1, 2]),
      disposed: gone,
      disposedOutput,
      closed,
      definition,
      body,
    };
    wrong = wrongValues(other);
  });

  /** Calls; the thrown errors must have the right class. */
  async function attempt(call, args, what) {
    try {
      await call(...args);
    } catch (error) {
      const ours =
        error instanceof TFError ||
        error instanceof OwnError ||
        (error instanceof TypeError && /write |without 'new'/.test(error.message));
      assert.ok(ours && !INSIDE.test(error.message), `${what}: ${error?.stack ?? String(error)}`);
    }
  }

  const find = (name) => calls.find(([known]) => known === name);

  /** Every use of `uses(world)` in a new world; afterwards the memory is unchanged. */
  async function everywhere(uses) {
    const round = async () => {
      for (const use of uses) {
        const before = tf.memory();
        const here = world(tf);
        try {
          await use(here);
        } finally {
          await leave(here);
        }
        const { graphs, sessions, functionBodies, tensors } = tf.memory();
        const now = { graphs, sessions, functionBodies, tensors };
        assert.deepEqual(now, {
          graphs: before.graphs,
          sessions: before.sessions,
          functionBodies: before.functionBodies,
          tensors: before.tensors,
        });
      }
    };
    await round();
    assert.equal(await bytesLeft(tf, round), 0, 'bytes are left behind');
  }

  for (const [name, method, right] of calls) {
    it(`of ${name} are refused in the package's own words`, async () => {
      await everywhere([(here) => attempt(method(here), right(here), `${name} as it should be`)]);
      const uses = [];
      for (const [kind, make] of Object.entries(wrong)) {
        const positions = right({
          session: {},
          w: { handle: 1 },
          y: { operation: {} },
          definition: { toProto() {} },
        }).length;
        for (let i = 0; i < Math.max(positions, 1); i++) {
          if (name === 'init' && kind === 'a text object') continue;
          uses.push((here) => {
            const args = right(here);
            args[i] = make();
            return attempt(method(here), args, `${name}, argument ${i}: ${kind}`);
          });
        }
      }
      await everywhere(uses);
    });
  }

  for (const [name, keys] of options) {
    it(`among the options of ${name} are refused in the package's own words`, async () => {
      const [, method, right] = find(name);
      const uses = [];
      for (const key of keys) {
        for (const [kind, make] of Object.entries(wrong)) {
          uses.push((here) => {
            const args = right(here);
            args[args.length - 1] = { ...args.at(-1), [key]: make() };
            return attempt(method(here), args, `${name}, option ${key}: ${kind}`);
          });
        }
      }
      await everywhere(uses);
    });

    it(`includes options that ${name} does not know: the right ones are named`, async () => {
      const here = world(tf);
      const [, method, right] = find(name);
      const args = right(here);
      const [key] = keys;
      const misspelt = `${key.slice(0, -1)}_${key.at(-1)}`;
      args[args.length - 1] = { ...args.at(-1), [misspelt]: undefined };
      await assert.rejects(
        async () => method(here)(...args),
        (error) => error instanceof TFError && error.message.includes(`'${misspelt}'; did you mean '${key}'`),
        name,
      );
      await leave(here);
    });

    it(`includes a list in place of the options of ${name}`, async () => {
      const here = world(tf);
      const [, method, right] = find(name);
      const args = right(here);
      args[args.length - 1] = [];
      await assert.rejects(
        async () => method(here)(...args),
        (error) => error instanceof TFError && /object[^]*not an array of 0/.test(error.message),
        name,
      );
      await leave(here);
    });
  }

  it("of the methods of ops are refused in the package's own words", async () => {
    const generated = Object.getPrototypeOf(Object.getPrototypeOf(tfcore.Graph.prototype));
    const methods = Object.getOwnPropertyNames(generated);
    assert.ok(methods.length > 300);
    assert.deepEqual(Object.keys(generated), [], 'methods that for ... in would visit');
    for (const [kind, make] of Object.entries(wrong)) {
      const g = new tf.Graph();
      for (const method of methods) {
        await attempt((...args) => g[method](...args), Array.from({ length: 3 }, make), `${method}: ${kind}`);
      }
      g.dispose();
    }
  });

  it('of specs of ops are refused before anything is registered', async () => {
    const keys = ['name', 'inputs', 'outputs', 'attrs', 'doc', 'stateful', 'shape', 'kernel', 'gradient'];
    const known = tf.opDefs().length;
    for (const key of keys) {
      for (const [kind, make] of Object.entries(wrong)) {
        const value = make();
        const isFunction = (key === 'shape' || key === 'kernel') && typeof value === 'function';
        if (
          value === undefined ||
          isFunction ||
          (Array.isArray(value) && value.length === 0 && !['name', 'doc'].includes(key))
        )
          continue;
        if (
          (key === 'stateful' && value === true) ||
          (key === 'doc' && typeof value === 'string') ||
          (key === 'name' && value === 'a text')
        )
          continue;
        const spec = { name: 'no_such_name', inputs: ['x: float'], outputs: ['y: float'], [key]: value };
        await attempt(tf.registerOp, [spec], `registerOp, ${key}: ${kind}`);
      }
    }
    assert.equal(tf.opDefs().length, known);
    assert.throws(
      () =>
        tf.registerOp({ name: 'Gradual', inputs: ['x: float'], outputs: ['y: float'], gradient: () => 1 }),
      { name: 'InvalidArgumentError', message: /function text, a FunctionDef, or null/ },
    );
    assert.throws(() => tf.registerOp({ name: 'Gradual', input: ['x: float'] }), {
      message: /'input'; did you mean 'inputs'\?/,
    });
  });

  it('include `this`: a method that was taken off its object says how it is called', async () => {
    const here = world(tf);
    /* The package calls them itself, too often to check their receiver; they are not in the declarations. */
    const internal = [
      'checkUsable',
      'adopt',
      'ownOperation',
      'operationAt',
      'outputAt',
      'findOpDef',
      'asOutput',
      'read',
      'nullError',
      'requiredOperation',
    ];
    const objects = {
      graph: here.g,
      session: here.session,
      operation: here.y.operation,
      output: here.y,
      variable: here.w,
      body: here.body,
      functionDef: here.definition,
      files: tf.files,
      optimizer: here.optimizer,
    };
    for (const [name, object] of Object.entries(objects)) {
      for (
        let prototype = Object.getPrototypeOf(object);
        prototype !== Object.prototype;
        prototype = Object.getPrototypeOf(prototype)
      ) {
        for (const key of Object.getOwnPropertyNames(prototype)) {
          const { value } = Object.getOwnPropertyDescriptor(prototype, key);
          if (
            key === 'constructor' ||
            key === 'toString' ||
            (name === 'graph' && internal.includes(key)) ||
            typeof value !== 'function'
          )
            continue;
          for (const receiver of [undefined, null, {}, 5]) {
            await assert.rejects(
              async () => value.call(receiver, here.x),
              (error) => error instanceof TypeError && error.message.includes('write '),
              `${name}.${key}`,
            );
          }
        }
      }
    }
    await leave(here);
  });

  it('include the classes themselves, whose objects only an engine makes', () => {
    for (const name of [
      'Graph',
      'Session',
      'FunctionDef',
      'FunctionBody',
      'Files',
      'Operation',
      'Output',
      'Variable',
    ]) {
      assert.throws(
        () => new tfcore[name](),
        (error) => error instanceof TypeError && error.message.includes('write '),
        name,
      );
    }
  });

  it('include arrays whose memory is gone: nothing is computed from them', async () => {
    const here = world(tf);
    const gone = detached(new Float32Array(2));
    for (const value of [gone, [gone, gone], new Float32Array(detached(new Float32Array(0)).length)]) {
      await assert.rejects(here.session.run(here.y, new Map([[here.x, value]])), {
        name: 'InvalidArgumentError',
      });
    }
    const open = here.g.placeholder('float32', null);
    for (const value of [gone, [gone]])
      await assert.rejects(here.session.run(here.g.identity(open), [[open, value]]), {
        name: 'InvalidArgumentError',
        message: /its buffer was transferred/,
      });
    assert.throws(() => here.g.constant(gone), /its buffer was transferred/);
    assert.throws(() => here.g.importGraphDef(detached(here.bytes)), /its buffer was transferred/);
    await leave(here);
  });

  it('include functions as values of attrs', () => {
    const g = new tf.Graph();
    for (const value of [() => 1, function named() {}, class Mine {}, g, Symbol('s')]) {
      assert.throws(() => g.op('PartitionedCall', [[]], { attrs: { f: value, Tin: [], Tout: [] } }), {
        name: 'InvalidArgumentError',
        message: /function attr is the name/,
      });
      assert.throws(() => g.op('NoOp', [], { attrs: { _mine: value } }), {
        name: 'InvalidArgumentError',
        message: /'_mine'/,
      });
    }
    assert.equal(g.operations().length, 0);
    g.dispose();
  });
});
