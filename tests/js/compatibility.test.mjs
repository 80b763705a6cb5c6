// tf.checkCompatibility: everything that a GraphDef needs and is not here, in one report.
import assert from 'node:assert/strict';
import { engine, withGraph } from './engine.mjs';

const type = (name, attr = 'T') => `attr { key: "${attr}" value { type: ${name} } }`;
const func = (attr, name, inner = '') => `attr { key: "${attr}" value { func { name: "${name}" ${inner} } } }`;
const node = (name, op, ...attrs) => `node { name: "${name}" op: "${op}" ${attrs.join(' ')} }`;
const body = (name, ...nodes) => `function { signature { name: "${name}" } ${nodes.map((text) => text.replace('node', 'node_def')).join(' ')} }`;

describe('checkCompatibility', () => {
  let tf;
  before(async () => {
    tf = await engine();
  });
  const missing = (...parts) => tf.checkCompatibility(parts.join('\n')).missing;

  it('finds functions that calls and attrs name and the library lacks', () => {
    assert.deepEqual(
      missing(
        node('a', 'If', func('then_branch', 'There'), func('else_branch', 'Nowhere')), node('b', 'While', func('cond', 'Nowhere'), func('body', 'There')),
        node('c', 'SymbolicGradient', func('f', 'Other')), node('d', 'SymbolicGradient', func('f', 'MatMul')),
        node('e', 'PartitionedCall', func('f', 'There', `attr { key: "g" value { func { name: "Inner" } } }`)),
        `library { ${body('There', node('x', 'PartitionedCall', func('f', 'Nowhere')))} }`,
      ),
      [
        { op: 'Nowhere', function: true, nodes: ['a', 'b', 'There/x'] }, { op: 'Other', function: true, nodes: ['c'] },
        { op: 'Inner', function: true, nodes: ['e'] },
      ],
    );
  });

  it('finds functions in lists', () => {
    const branches = `attr { key: "branches" value { list { func { name: "There" } func { name: "Gone" } } } }`;
    assert.deepEqual(missing(node('a', 'Case', branches), `library { ${body('There')} }`).filter((entry) => entry.function), [{ op: 'Gone', function: true, nodes: ['a'] }]);
  });

  it('finds ops in the bodies of functions that nobody calls', () => {
    assert.deepEqual(missing(`library { ${body('F', node('x', 'NotHere'), node('y', 'Neg', type('DT_FLOAT')))} ${body('G', node('z', 'NotHere'))} }`),
      [{ op: 'NotHere', nodes: ['F/x', 'G/z'] }]);
  });

  it('names each dtype without a kernel once, and takes defaults where a node says nothing', () => {
    assert.deepEqual(
      missing(
        node('a', 'Neg', type('DT_STRING')), node('b', 'Neg', type('DT_STRING')), node('c', 'Neg', type('DT_UINT8')), node('d', 'Neg', type('DT_DOUBLE')),
        node('e', 'StatelessRandomUniform'), node('f', 'RandomUniform', type('DT_INT32'), type('DT_BFLOAT16', 'dtype')),
      ),
      [{ op: 'Neg', dtype: 'string', nodes: ['a', 'b'] }, { op: 'Neg', dtype: 'uint8', nodes: ['c'] }],
    );
  });

  it('does not stop at what cannot be imported at all', () => {
    assert.deepEqual(missing('node { name: "" op: "" }', node('a', 'Neg'), node('a', 'Gone', 'input: "nowhere:7"'), 'versions { producer: 99999 min_consumer: 99999 }'),
      [{ op: '', nodes: [''] }, { op: 'Gone', nodes: ['a'] }]);
  });

  it('knows ops that were registered', () => withGraph(tf, async () => {
    const text = `${node('a', 'CompatibilityProbe', type('DT_INT64'))}`;
    assert.deepEqual(missing(text), [{ op: 'CompatibilityProbe', nodes: ['a'] }]);
    tf.registerOp({ name: 'CompatibilityProbe', attrs: ['T: {float, int64}'], outputs: ['y: T'], gradient: null });
    assert.deepEqual(missing(text), [{ op: 'CompatibilityProbe', nodes: ['a'] }]); // it has no kernel
  }));
});
