import assert from 'node:assert/strict';
import { InvalidArgumentError, NotFoundError, TFError } from '../../npm/dist/index.js';
import { inferShapes } from '../../npm/dist/testing.js';
import { engine, readText } from './engine.mjs';

/** Facts about TensorFlow's shape functions; a record is a JSON object a line. */
const FACTS = 'tests/data/shape-facts.jsonl';

const shapeAttr = (sizes) => sizes && sizes.map((size) => (size < 0 ? null : size));
/** Converts { "list": { "i": [1, 2] } } to a plain value. */
function attrOf(value) {
  const [[kind, content]] = Object.entries(value);
  if (kind === 'list')
    return Object.values(content)[0].map((item) => attrOf({ [Object.keys(content)[0]]: item }));
  return kind === 'shape' ? shapeAttr(content) : content;
}

/**
 * "[d0_0|d1_0,1];in0" as [[['d0_0', 'd1_0'], ['1']], ['in0']]: shapes, their dimensions, and what each may
 * be.
 */
const parsed = (text) =>
  text === ''
    ? []
    : text
        .replaceAll(' ', '')
        .split(';')
        .map((shape) =>
          shape.startsWith('[')
            ? shape
                .slice(1, -1)
                .split(',')
                .filter(Boolean)
                .map((dim) => dim.split('|'))
            : shape.split('|'),
        );

const matches = (got, expected) => {
  const [gotShapes, expectedShapes] = [parsed(got), parsed(expected)];
  return (
    gotShapes.length === expectedShapes.length &&
    gotShapes.every((shape, i) => {
      const wanted = expectedShapes[i];
      const isList = (one) => one.every(Array.isArray);
      if (!isList(wanted) || !isList(shape))
        return !isList(shape) && !isList(wanted) && wanted.includes(shape[0]);
      return shape.length === wanted.length && shape.every(([dim], k) => wanted[k].includes(dim));
    })
  );
};

describe('inferShapes', () => {
  let tf;
  before(async () => (tf = await engine()));

  it("answers in the language of shapes, and names what is an input's own", () => {
    const cases = [
      [{ op: 'MatMul' }, '[1,?];[?,2]', '[d0_0,d1_1]'],
      [{ op: 'MatMul', attrs: { transpose_a: true } }, '[3,?];[3,2]', '[d0_1,d1_1]'],
      [{ op: 'Relu' }, '[1,?]', 'in0'],
      [{ op: 'Relu' }, '?', 'in0'],
      [{ op: 'Shape' }, '[?,?,4]', '[3]'],
      [{ op: 'NoOp' }, '', ''],
      [{ op: 'AddN', attrs: { N: 2 } }, '[1,?];[?,2]', '[d0_0,d1_1]'],
      [{ op: 'Fill', inputTensors: { 0: [4, 5] } }, '[2];[]', '[4,5]'],
      [{ op: 'Fill' }, '[2];[]', '[?,?]'],
      [{ op: 'Fill', inputTensors: { 0: new BigInt64Array([7n]) } }, '[1];[]', '[7]'],
      [{ op: 'Placeholder', attrs: { dtype: 'float32', shape: [null, 3] } }, '', '[?,3]'],
      [{ op: 'Transpose', inputTensors: { 1: [1, 0] } }, '[?,3];[2]', '[d0_1,d0_0]'],
    ];
    for (const [spec, inputs, expected] of cases)
      assert.equal(inferShapes(tf, spec, inputs), expected, `${JSON.stringify(spec.op)} ${inputs}`);
  });

  it('throws what the shape function refuses, and what cannot be asked', () => {
    assert.throws(() => inferShapes(tf, { op: 'MatMul' }, '[1,2];[3,4]'), {
      name: 'InvalidArgumentError',
      op: 'MatMul',
      message: /Dimensions must be equal, but are 2 and 3/,
    });
    assert.throws(() => inferShapes(tf, { op: 'NoSuchOp' }, ''), NotFoundError);
    const refused = [
      [{ op: 'MatMul' }, '[1,2'],
      [{ op: 'MatMul' }, '[1,2]'],
      [{ op: 'MatMul' }, '[1,2];[2,3];[3]'],
      [{ op: 'MatMul' }, '[1,x];[2,3]'],
      [{ op: 'MatMul' }, '[-1];[2,3]'],
      [{ op: 'AddN', attrs: { N: 'two' } }, '[1]'],
      [{ op: 'AddN' }, '[1]'],
      [{ op: 'Fill', inputTensors: { 5: [1] } }, '[1];[]'],
      [{ op: 'MatMul' }, '\0'],
      [{ op: 'Relu' }, '[99999999999999999999]'],
    ];
    for (const [spec, inputs] of refused)
      assert.throws(
        () => inferShapes(tf, spec, inputs),
        (error) => error instanceof TFError && error.message !== '',
        JSON.stringify([spec, inputs.slice(0, 40)]),
      );
    assert.throws(() => inferShapes({}, { op: 'MatMul' }, ''), InvalidArgumentError);
  });

  it('runs shape functions that are JavaScript, which see how old the graph is', () => {
    const seen = [];
    tf.registerOp({
      name: 'InferredOp',
      inputs: ['a: float', 'b: int32'],
      outputs: ['x: float', 'y: float', 'z: float'],
      attrs: ['n: int = 3'],
      shape(c) {
        seen.push(c.graphDefVersion);
        c.setOutput(0, c.input(0));
        c.setOutput(1, [c.dim(c.input(0), -1), c.attr('n'), null]);
        c.setOutput(2, c.inputAsShape(1));
      },
    });
    assert.equal(
      inferShapes(tf, { op: 'InferredOp', graphDefVersion: 21 }, '[?,4];[2]'),
      'in0;[d0_1,3,?];[?,?]',
    );
    assert.equal(
      inferShapes(tf, { op: 'InferredOp', attrs: { n: 9 }, inputTensors: { 1: [5, 6] } }, '?;[2]'),
      'in0;[?,9,?];[5,6]',
    );
    assert.deepEqual([...new Set(seen)], [21, tf.version.graphDefProducer]);
    tf.registerOp({
      name: 'InferredUnhappyOp',
      shape() {
        throw new Error('never happy');
      },
    });
    assert.throws(
      () => inferShapes(tf, { op: 'InferredUnhappyOp' }, ''),
      (error) => error.cause?.message === 'never happy' && error.op === 'InferredUnhappyOp',
    );
    tf.registerOp({ name: 'InferredBlankOp', outputs: ['x: float'] });
    assert.throws(() => inferShapes(tf, { op: 'InferredBlankOp' }, ''), {
      name: 'InvalidArgumentError',
      message: /No shape inference function exists for op 'InferredBlankOp'/,
    });
  });

  it('gives what TensorFlow gives, as far as the facts are about ops that are here', async () => {
    const known = new Map(tf.opDefs().map((op) => [op.name, op]));
    let held = 0;
    const facts = (await readText(FACTS))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    for (const {
      op,
      attrs,
      in: inputs,
      out,
      error,
      tensors = {},
      handles,
      loose,
      new_attrs: newAttrs = [],
      graph_def_version: graphDefVersion,
    } of facts) {
      const def = known.get(op);
      /* Handle data cannot be given here; loose records are about nodes that cannot exist. */
      if (!def || handles || loose || (out === undefined && error === undefined)) continue;
      /* Attrs that are newer than our definition of the op may be omitted if they have the value that old
       * nodes imply. */
      const lacking = newAttrs.filter((name) => !def.attr.some((attr) => attr.name === name));
      if (lacking.some((name) => ![true, 1, 'DT_INT32'].includes(attrOf(attrs[name])))) continue;
      const given = Object.entries(attrs).filter(([name]) => !lacking.includes(name));
      const spec = {
        op,
        graphDefVersion,
        attrs: Object.fromEntries(given.map(([name, value]) => [name, attrOf(value)])),
        inputTensors: Object.fromEntries(
          Object.entries(tensors).map(([i, { dtype, shape, values }]) => [
            i,
            tf.tensor(values, shape, dtype),
          ]),
        ),
      };
      const what = `${op} ${JSON.stringify(attrs)} ${inputs}`;
      if (error === undefined) {
        const got = inferShapes(tf, spec, inputs);
        assert.ok(matches(got, out), `${what}: ${got}, not ${out}`);
      } else {
        assert.throws(
          () => inferShapes(tf, spec, inputs),
          (thrown) => thrown instanceof TFError && thrown.message.includes(error),
          `${what}: ${error}`,
        );
      }
      held++;
    }
    assert.ok(held >= 364, `only ${held} facts`);
  });
});
