import assert from 'node:assert/strict';
import { InvalidArgumentError, NotFoundError, TFError } from '../../npm/dist/index.js';
import { engine, withGraph } from './engine.mjs';

/** y = relu(x * w), with names. */
function buildSmall(g) {
  const x = g.placeholder('float32', [null, 2], { name: 'x' });
  const w = g.constant(
    [
      [1, -2],
      [3, 4],
    ],
    { name: 'w' },
  );
  return { x, w, y: g.relu(g.matMul(x, w, { name: 'product' }), { name: 'y' }) };
}

describe('importing and exporting graphs', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** Runs `body(graph, session, bytes)` on an empty graph, with the small graph's bytes. */
  const withSmall = (body) =>
    withGraph(tf, async (g) => {
      buildSmall(g);
      await withGraph(tf, (fresh, session) => body(fresh, session, g.toGraphDef(), g.toText()));
    });

  it('gives the same graph back from bytes and from text', () =>
    withSmall(async (g, session, bytes, text) => {
      g.importGraphDef(bytes);
      assert.deepEqual(
        g.operations().map((operation) => String(operation)),
        [
          '{{node x}} = Placeholder[dtype=DT_FLOAT, shape=[?,2]]()',
          '{{node w}} = Const[dtype=DT_FLOAT, value=Tensor<type: float shape: [2,2] values: [1 -2][3...]...>]()',
          '{{node product}} = MatMul[T=DT_FLOAT, grad_a=false, grad_b=false, transpose_a=false, transpose_b=false](x, w)',
          '{{node y}} = Relu[T=DT_FLOAT](product)',
        ],
      );
      assert.equal(g.toText(), text);
      assert.deepEqual((await session.run('y', { x: [[1, 1]] })).array(), [[4, 2]]);
      await withGraph(tf, async (other) => {
        other.importGraphDef(text);
        assert.equal(other.toText(), text);
      });
      await withGraph(tf, async (other) => {
        other.importGraphDef(bytes.slice().buffer); // as a response has it
        assert.equal(other.toText(), text);
        for (const def of [undefined, null, 5, [...bytes], new Float64Array(3), {}]) {
          assert.throws(() => other.importGraphDef(def), InvalidArgumentError);
          assert.throws(() => tf.checkCompatibility(def), InvalidArgumentError);
          assert.throws(() => tf.FunctionDef.fromProto(def), InvalidArgumentError);
        }
      });
    }));

  it('reads text that a person wrote', () =>
    withGraph(tf, async (g, session) => {
      g.importGraphDef(
        `
      node { name: "two" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }
      node { name: "four" op: "Square" input: "two" }   # defaults and T are found out
      versions { producer: 27 }`.replace(
          'input: "two" }',
          'input: "two" attr { key: "T" value { type: DT_FLOAT } } }',
        ),
      );
      assert.equal((await session.run('four')).item(), 4);
    }));

  it('puts a prefix before the names', () =>
    withSmall(async (g, session, bytes) => {
      g.importGraphDef(bytes, { prefix: 'net' });
      g.importGraphDef(bytes, { prefix: 'net2' });
      assert.deepEqual(
        g.operations().map(({ name }) => name),
        ['net/x', 'net/w', 'net/product', 'net/y', 'net2/x', 'net2/w', 'net2/product', 'net2/y'],
      );
      assert.throws(() => g.importGraphDef(bytes, { prefix: 'net' }), {
        name: 'InvalidArgumentError',
        message: /net/,
      });
      g.importGraphDef(bytes, { prefix: 'net', uniquifyPrefix: true });
      assert.ok(g.operation('net_1/y'));
    }));

  it('makes names unique when asked to', () =>
    withSmall(async (g, session, bytes) => {
      g.importGraphDef(bytes);
      assert.throws(() => g.importGraphDef(bytes), {
        name: 'InvalidArgumentError',
        message: /'x'.*already exists|Node name 'x'/,
      });
      assert.equal(g.operations().length, 4);
      g.importGraphDef(bytes, { uniquifyNames: true });
      assert.deepEqual(
        g.operation('y_1').inputs.map(({ name }) => name),
        ['product_1:0'],
      );
    }));

  it('maps inputs, gives outputs and operations back, and tells unused keys', () =>
    withSmall(async (g, session, bytes) => {
      const mine = g.placeholder('float32', [null, 2], { name: 'mine' });
      const before = g.op('NoOp', [], { name: 'before' });
      const results = g.importGraphDef(bytes, {
        inputMap: { x: mine, 'nothing:1': mine },
        returnOutputs: ['y', 'product:0', 'x:0'],
        returnOperations: ['w'],
        prefix: 'net',
        controlDependencies: [before],
      });
      assert.deepEqual(
        results.outputs.map(({ name }) => name),
        ['net/y:0', 'net/product:0', 'mine:0'],
      );
      assert.deepEqual(
        results.operations.map(({ name }) => name),
        ['net/w'],
      );
      assert.deepEqual(results.unusedInputMapKeys, ['nothing:1']);
      assert.deepEqual(results.operations[0].controlInputs, [before]);
      assert.deepEqual((await session.run(results.outputs[0], new Map([[mine, [[2, 0]]]]))).array(), [
        [2, 0],
      ]);
      assert.throws(
        () => g.importGraphDef(bytes, { prefix: 'b', returnOutputs: ['zzz'] }),
        InvalidArgumentError,
      );
    }));

  it('maps what imported nodes wait for', () =>
    withGraph(tf, async (g) => {
      const mine = g.op('NoOp', [], { name: 'mine' });
      const text = `node { name: "first" op: "NoOp" } node { name: "then" op: "NoOp" input: "^first" } versions { producer: 27 }`;
      g.importGraphDef(text, { inputMap: { '^first': mine } });
      assert.deepEqual(g.operation('then').controlInputs, [mine]);
      const { unusedInputMapKeys } = g.importGraphDef('versions { producer: 27 }', {
        inputMap: { 'then:2': g.constant(1), zzz: g.constant(2) },
      });
      assert.deepEqual(unusedInputMapKeys.sort(), ['then:2', 'zzz:0']);
      assert.throws(() => g.importGraphDef(text, { prefix: 'a', inputMap: { first: mine } }), {
        name: 'InvalidArgumentError',
        message: /'\^first'/,
      });
    }));

  it('puts imported nodes on a default device, and keeps what they say themselves', () =>
    withGraph(tf, async (g) => {
      g.importGraphDef(
        'node { name: "a" op: "NoOp" } node { name: "b" op: "NoOp" device: "/cpu:1" } versions { producer: 27 }',
        { defaultDevice: '/cpu:0' },
      );
      assert.deepEqual(
        g.operations().map(({ device }) => device),
        ['/cpu:0', '/cpu:1'],
      );
    }));

  it('knows the versions of a graph', () =>
    withGraph(tf, async (g) => {
      assert.equal(g.versions.producer, tf.version.graphDefProducer);
      await withGraph(tf, async (other) => {
        other.importGraphDef('versions { producer: 21 min_consumer: 12 bad_consumers: 3 bad_consumers: 5 }');
        assert.equal(other.versions.producer, 21);
      });
      for (const [text, message] of [
        [
          'versions { producer: 27 min_consumer: 1000000 }',
          /min consumer version 1000000 above current version/,
        ],
        ['versions { producer: 27 bad_consumers: 2314 }', /disallows consumer version 2314/],
      ]) {
        assert.throws(() => g.importGraphDef(text), { name: 'InvalidArgumentError', message });
      }
    }));

  it('refuses what is no GraphDef and leaves the graph as it was', () =>
    withSmall(async (g, session, bytes) => {
      g.constant(1, { name: 'kept' });
      const noise = Uint8Array.from({ length: 300 }, (_, i) => (i * 73 + 41) % 256);
      const bad = [
        noise,
        bytes.slice(0, bytes.length - 3),
        bytes.slice(1),
        Uint8Array.of(0xff),
        'node { name: }',
        'nodes {}',
        'node { name: "a" op: "Const"',
      ];
      for (const def of bad)
        assert.throws(() => g.importGraphDef(def), InvalidArgumentError, String(def).slice(0, 40));
      assert.deepEqual(
        g.operations().map(({ name }) => name),
        ['kept'],
      );
      assert.throws(() => g.importGraphDef(new Uint8Array(0)), /empty: it has 0 bytes/);
      g.importGraphDef('');
      assert.equal(g.operations().length, 1);
    }));

  it('refuses cycles, inputs from nowhere, unknown ops and wrong types', () =>
    withGraph(tf, async (g) => {
      const identity = (name, input, type = 'DT_FLOAT') =>
        `node { name: "${name}" op: "Identity" input: "${input}" attr { key: "T" value { type: ${type} } } }`;
      const one = `node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }`;
      const versions = 'versions { producer: 27 }';
      const refused = [
        [identity('a', 'b') + identity('b', 'a'), InvalidArgumentError, /cycle/i],
        [identity('a', 'nowhere'), InvalidArgumentError, /nowhere/, 'a'],
        [one + identity('a', 'one:3'), InvalidArgumentError, /3/, 'a'],
        [one + identity('a', 'one', 'DT_INT32'), InvalidArgumentError, /float|int32/, 'a'],
        ['node { name: "a" op: "NoSuchOp" }', NotFoundError, /NoSuchOp/, undefined],
        ['node { name: "a b" op: "NoOp" }', InvalidArgumentError, /a b/, 'a b'],
        ['node { name: "a" op: "NoOp" } node { name: "a" op: "NoOp" }', InvalidArgumentError, /a/, 'a'],
      ];
      for (const [text, kind, message, node] of refused) {
        assert.throws(
          () => g.importGraphDef(text + versions),
          (error) => {
            if (node) assert.equal(error.node, node, error.message);
            return error instanceof kind && error instanceof TFError && message.test(error.message);
          },
          text,
        );
      }
      assert.equal(g.operations().length, 0);
    }));

  it('tells what a GraphDef needs that is not here', () =>
    withGraph(tf, async (g) => {
      buildSmall(g);
      assert.deepEqual(tf.checkCompatibility(g.toGraphDef()), {
        missing: [],
        uncalled: [],
        unknownAttrs: [],
      });
      assert.deepEqual(tf.checkCompatibility(''), { missing: [], uncalled: [], unknownAttrs: [] });
      const type = (name) => `attr { key: "T" value { type: ${name} } }`;
      const text = `node { name: "a" op: "NoSuchOp" } node { name: "b" op: "MatMul" ${type('DT_INT8')} } node { name: "c" op: "NoSuchOp" input: "b" }
      node { name: "d" op: "MatMul" ${type('DT_FLOAT')} } node { name: "e" op: "Mine" } node { name: "f" op: "MatMul" ${type('DT_UINT8')} }
      library { function { signature { name: "Mine" } node_def { name: "x" op: "AlsoMissing" } node_def { name: "y" op: "MatMul" attr { key: "T" value { placeholder: "T" } } } } }`;
      assert.deepEqual(tf.checkCompatibility(text).missing, [
        { op: 'NoSuchOp', nodes: ['a', 'c'] },
        { op: 'MatMul', dtype: 'int8', nodes: ['b'] },
        { op: 'MatMul', dtype: 'uint8', nodes: ['f'] },
        { op: 'AlsoMissing', nodes: ['Mine/x'] },
      ]);
      assert.throws(() => tf.checkCompatibility('node {'), InvalidArgumentError);
      assert.throws(() => tf.checkCompatibility(Uint8Array.of(10, 200)), InvalidArgumentError);
    }));
});
