// tf.checkCompatibility: everything that a GraphDef needs and that is missing, in one report.
import assert from 'node:assert/strict';
import { engine, withGraph } from './engine.mjs';

const type = (name, attr = 'T') => `attr { key: "${attr}" value { type: ${name} } }`;
const func = (attr, name, inner = '') =>
  `attr { key: "${attr}" value { func { name: "${name}" ${inner} } } }`;
const node = (name, op, ...attrs) => `node { name: "${name}" op: "${op}" ${attrs.join(' ')} }`;
const body = (name, ...nodes) =>
  `function { signature { name: "${name}" } ${nodes.map((text) => text.replace('node', 'node_def')).join(' ')} }`;

describe('checkCompatibility', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });
  const missing = (...parts) => tf.checkCompatibility(parts.join('\n')).missing;

  it('finds functions that calls and attrs name and the library lacks', () => {
    assert.deepEqual(
      missing(
        node('a', 'If', func('then_branch', 'There'), func('else_branch', 'Nowhere')),
        node('b', 'While', func('cond', 'Nowhere'), func('body', 'There')),
        node('c', 'SymbolicGradient', func('f', 'Other')),
        node('d', 'SymbolicGradient', func('f', 'MatMul')),
        node(
          'e',
          'PartitionedCall',
          func('f', 'There', `attr { key: "g" value { func { name: "Inner" } } }`),
        ),
        `library { ${body('There', node('x', 'PartitionedCall', func('f', 'Nowhere')))} }`,
      ),
      [
        { op: 'Nowhere', function: true, nodes: ['a', 'b', 'There/x'] },
        { op: 'Other', function: true, nodes: ['c'] },
        { op: 'Inner', function: true, nodes: ['e'] },
      ],
    );
  });

  it('misses no control flow, which runs without kernels', () =>
    withGraph(tf, (graph) => {
      const x = graph.placeholder('float32', [], { name: 'x' });
      const taken = graph.op('Switch', [x, graph.placeholder('bool', [])]);
      graph.op('Merge', [[taken.output(0), taken.output(1)]]);
      const entered = graph.op('Enter', [x], { attrs: { frame_name: 'loop' } }).output(0);
      graph.op('Exit', [graph.op('NextIteration', [entered]).output(0)]);
      graph.op('LoopCond', [graph.placeholder('bool', [])]);
      graph.op('ControlTrigger', []);
      assert.deepEqual(tf.checkCompatibility(graph.toGraphDef()), {
        missing: [],
        uncalled: [],
        unknownAttrs: [],
      });
    }));

  it('finds functions in lists', () => {
    const branches = `attr { key: "branches" value { list { func { name: "There" } func { name: "Gone" } } } }`;
    assert.deepEqual(
      missing(node('a', 'Case', branches), `library { ${body('There')} }`).filter((entry) => entry.function),
      [{ op: 'Gone', function: true, nodes: ['a'] }],
    );
  });

  it('tells what only functions lack that the graph never calls from what it needs', () =>
    withGraph(tf, async (graph, session) => {
      const text = [
        node(
          'one',
          'Const',
          type('DT_FLOAT', 'dtype'),
          'attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } }',
        ),
        node('y', 'Neg', 'input: "one"', type('DT_FLOAT')),
        `library { ${body('F', node('x', 'NotHere'), node('y', 'Neg', type('DT_FLOAT')))} ${body('G', node('z', 'NotHere'), node('f', 'F'), node('s', 'Neg', type('DT_STRING')))} }`,
      ].join('\n');
      assert.deepEqual(tf.checkCompatibility(text), {
        missing: [],
        uncalled: [
          { op: 'NotHere', nodes: ['F/x', 'G/z'] },
          { op: 'Neg', dtype: 'string', nodes: ['G/s'] },
        ],
        unknownAttrs: [],
      });
      graph.importGraphDef(text);
      assert.equal((await session.run('y')).item(), -1);
    }));

  it('knows all ways in which a graph leads to a function', () => {
    const library = `library { ${body('F', node('x', 'NotHere'))} ${body('G', node('f', 'F'))} ${body('H', node('z', 'NoOp'))}
      gradient { function_name: "H" gradient_func: "G" } ${body('Other', node('o', 'NotHere'))} }`;
    const callers = {
      'a call by name': node('a', 'F'),
      'a call through another one': node('a', 'G'),
      'an attr': node('a', 'PartitionedCall', func('f', 'F')),
      'a list of functions': node(
        'a',
        'Case',
        'attr { key: "branches" value { list { func { name: "G" } } } }',
      ),
      'the attr of a function': node(
        'a',
        'PartitionedCall',
        func('f', 'H', 'attr { key: "g" value { func { name: "F" } } }'),
      ),
      'a gradient': node('a', 'SymbolicGradient', func('f', 'H')),
    };
    for (const [way, caller] of Object.entries(callers)) {
      const found = tf.checkCompatibility(`${caller} ${library}`);
      assert.deepEqual(
        found.missing.filter(({ op }) => op === 'NotHere'),
        [{ op: 'NotHere', nodes: ['F/x'] }],
        way,
      );
      assert.deepEqual(found.uncalled, [{ op: 'NotHere', nodes: ['Other/o'] }], way);
    }
  });

  it('names each dtype without a kernel once, and takes defaults where a node says nothing', () => {
    assert.deepEqual(
      missing(
        node('a', 'Neg', type('DT_STRING')),
        node('b', 'Neg', type('DT_STRING')),
        node('c', 'Neg', type('DT_UINT8')),
        node('d', 'Neg', type('DT_DOUBLE')),
        node('e', 'StatelessRandomUniform'),
        node('f', 'RandomUniform', type('DT_INT32'), type('DT_BFLOAT16', 'dtype')),
      ),
      [
        { op: 'Neg', dtype: 'string', nodes: ['a', 'b'] },
        { op: 'Neg', dtype: 'uint8', nodes: ['c'] },
      ],
    );
  });

  it('does not stop at what cannot be imported at all', () => {
    assert.deepEqual(
      missing(
        'node { name: "" op: "" }',
        node('a', 'Neg'),
        node('a', 'Gone', 'input: "nowhere:7"'),
        'versions { producer: 99999 min_consumer: 99999 }',
      ),
      [
        { op: '', nodes: [''] },
        { op: 'Gone', nodes: ['a'] },
      ],
    );
  });

  it('never says that nothing is missing of what cannot be imported', () =>
    withGraph(tf, async (g) => {
      const x = g.placeholder('float32', [null, 4], { name: 'x' });
      g.matMul(g.concat(1, [x, x]), g.constant(Array.from({ length: 8 }, () => [1, 2])), { name: 'y' });
      g.cond(
        g.less(g.mean(x, [0, 1]), 0),
        () => g.neg(x),
        () => g.square(x),
      );
      const [bytes, text] = [g.toGraphDef(), g.toText()];
      let state = 1;
      const random = (limit) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % limit;
      const words = [
        'float_val',
        'DT_FLOAT',
        'DT_INT32',
        '"x"',
        '"y"',
        'input',
        'type',
        'size',
        'shape',
        'MatMul',
        'NoSuchOp',
        '-1',
        '7',
        '{ }',
        '"^nowhere"',
        '"concat:3"',
        'list',
        'value',
        's',
        'producer: 0',
      ];
      const damaged = Array.from({ length: 1500 }, (_, round) => {
        if (round % 2 === 0) {
          const copy = bytes.slice(0, round % 3 === 0 ? random(bytes.length) : bytes.length);
          for (let i = random(4); i >= 0 && copy.length > 0; i--) copy[random(copy.length)] ^= 1 << random(8);
          return copy;
        }
        const tokens = text.split(/(\s+)/);
        for (let i = random(3); i >= 0; i--) tokens[random(tokens.length)] = words[random(words.length)];
        return tokens.join('');
      });
      const found = { imported: 0, reported: 0, thrown: 0 };
      tf.setLog(() => {}); // damaged names of attrs are logged
      for (const def of damaged) {
        const graph = new tf.Graph();
        let refused;
        try {
          graph.importGraphDef(def);
        } catch (error) {
          refused = error;
        }
        graph.dispose();
        try {
          const { missing: list } = tf.checkCompatibility(def);
          if (refused)
            assert.ok(list.length > 0, `${refused.message}: ${typeof def === 'string' ? def : [...def]}`);
          found[refused ? 'reported' : 'imported']++;
        } catch (error) {
          if (error.name === 'AssertionError') throw error;
          assert.ok(
            refused,
            `${error.message}, but it is imported: ${typeof def === 'string' ? def : [...def]}`,
          );
          found.thrown++;
        }
      }
      tf.setLog(console.error);
      assert.ok(
        Object.values(found).every((count) => count > 50),
        JSON.stringify(found),
      );
    }));

  it('names attrs that an op does not have, which an import keeps and logs once', () =>
    withGraph(tf, async (graph) => {
      const odd = (name, key) => `attr { key: "${key}" value { b: true } }`;
      const text = [
        node('a', 'NoOp', odd('a', 'from_the_future'), odd('a', '_private')),
        node('b', 'NoOp', odd('b', 'from_the_future')),
        node('c', 'NoOp', odd('c', 'another')),
        `library { ${body('F', node('d', 'NoOp', odd('d', 'from_the_future')))} }`,
      ].join('\n');
      const lines = [];
      tf.setLog((line) => lines.push(line));
      assert.deepEqual(tf.checkCompatibility(text), {
        missing: [],
        uncalled: [],
        unknownAttrs: [
          { op: 'NoOp', attr: 'from_the_future', nodes: ['a', 'b', 'F/d'] },
          { op: 'NoOp', attr: 'another', nodes: ['c'] },
        ],
      });
      graph.importGraphDef(text);
      graph.importGraphDef(text, { prefix: 'again' });
      tf.setLog(console.error);
      assert.equal(lines.filter((line) => line.includes('from_the_future')).length, 1);
      assert.equal(graph.toText().match(/from_the_future/g).length, 5); // a and b twice, and F/d
    }));

  it('knows ops that were registered', () =>
    withGraph(tf, async () => {
      const text = `${node('a', 'CompatibilityProbe', type('DT_INT64'))}`;
      assert.deepEqual(missing(text), [{ op: 'CompatibilityProbe', nodes: ['a'] }]);
      tf.registerOp({
        name: 'CompatibilityProbe',
        attrs: ['T: {float, int64}'],
        outputs: ['y: T'],
        gradient: null,
      });
      assert.deepEqual(missing(text), [{ op: 'CompatibilityProbe', nodes: ['a'] }]); // it has no kernel
    }));
});
