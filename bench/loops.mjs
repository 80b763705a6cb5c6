// Loops of Enter, Merge, Switch, NextIteration and Exit, as TensorFlow 1 exports them: the cost of a round, and
// an LSTM in a loop with TensorArrays. The peer runs them by executeAsync of its converter; it has no gradients
// of loops, so there it differentiates the same cell, unrolled.
import { numbers } from './digits.mjs';

const ROUNDS = 2000;
const TRAINING = 1000;
const [STEPS, BATCH, UNITS] = [100, 32, 128];

// --- one list of nodes for both engines ---

/** An attr from { T: 'DT_INT32' }, { N: 2 }, { is_constant: true }, { frame_name: 'f' }. */
const KINDS = {
  string: (value) => (value.startsWith('DT_') ? ['type', value] : ['s', value]),
  number: (value) => ['i', String(value)],
  boolean: (value) => ['b', value],
};
const attrsOf = (attrs) => Object.entries(attrs).map(([key, value]) => [key, ...KINDS[typeof value](value)]);

/** The list as text of a GraphDef. */
function textOf(nodes) {
  const valueText = (kind, value) => (kind === 's' ? JSON.stringify(value) : value);
  return nodes
    .map(({ name, op, inputs, attrs }) =>
      [
        `node { name: '${name}' op: '${op}'`,
        ...inputs.map((input) => ` input: '${input}'`),
        ...attrsOf(attrs).map(
          ([key, kind, value]) => ` attr { key: '${key}' value { ${kind}: ${valueText(kind, value)} } }`,
        ),
        '}',
      ].join(''),
    )
    .join('\n');
}

/** The list and its constants as a model of the peer. */
function modelOf(nodes, constants, placeholder) {
  const types = { float32: 'DT_FLOAT', int32: 'DT_INT32' };
  const entries = Object.entries(constants);
  const given = entries.map(([name, { dtype }]) => ({
    name,
    op: 'Const',
    attr: { dtype: { type: types[dtype] } },
  }));
  const node = ({ name, op, inputs, attrs }) => ({
    name,
    op,
    input: inputs,
    attr: Object.fromEntries(
      attrsOf(attrs).map(([key, kind, value]) => [key, { [kind]: kind === 's' ? btoa(value) : value }]),
    ),
  });
  const data = new Uint8Array(entries.reduce((sum, [, { values }]) => sum + 4 * values.length, 0));
  let at = 0;
  for (const [, { values }] of entries) {
    data.set(new Uint8Array(values.buffer), at);
    at += 4 * values.length;
  }
  const fed = { name: placeholder, op: 'Placeholder', attr: { dtype: { type: 'DT_FLOAT' } } };
  return {
    modelTopology: { versions: { producer: 1 }, node: [fed, ...given, ...nodes.map(node)] },
    weightSpecs: entries.map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
    weightData: data.buffer,
  };
}

const int = (...values) => ({
  dtype: 'int32',
  shape: values.length === 1 ? [] : [values.length],
  values: Int32Array.from(values),
});
const float = (shape, values) => ({ dtype: 'float32', shape, values });

/** The list in a graph, whose constants and placeholder are nodes of the graph. */
function importInto(graph, nodes, constants, fed = {}) {
  const inputMap = { ...fed };
  for (const [name, { dtype, shape, values }] of Object.entries(constants))
    inputMap[`${name}:0`] = graph.constant(values, { dtype, shape });
  graph.importGraphDef(textOf(nodes), { inputMap });
  return inputMap;
}

// --- loops ---

class LoopNodes {
  nodes = [];

  add(name, op, inputs, attrs = {}) {
    this.nodes.push({ name, op, inputs, attrs });
    return name;
  }

  /** A value from outside, in all rounds. */
  constant(name, T) {
    const attrs = { T, frame_name: 'loop', is_constant: true, parallel_iterations: 10 };
    return this.add(`${name}/enter`, 'Enter', [name], attrs);
  }

  /** A variable that begins as `from`; returns its value in a round. */
  variable(name, from, T) {
    const attrs = { T, frame_name: 'loop', is_constant: false, parallel_iterations: 10 };
    this.add(`${name}/enter`, 'Enter', [from], attrs);
    return this.add(`${name}/merge`, 'Merge', [`${name}/enter`, `${name}/next`], { T, N: 2 });
  }

  /** The variable's value in the body; `${name}/exit` is that after the loop. */
  body(name, T) {
    this.add(`${name}/switch`, 'Switch', [`${name}/merge`, 'go_on'], { T });
    this.add(`${name}/exit`, 'Exit', [`${name}/switch`], { T });
    return this.add(`${name}/now`, 'Identity', [`${name}/switch:1`], { T });
  }

  next(name, value, T) {
    this.add(`${name}/next`, 'NextIteration', [value], { T });
  }
}

function countingNodes() {
  const l = new LoopNodes();
  const T = 'DT_INT32';
  const limit = l.constant('limit', T);
  const one = l.constant('one', T);
  l.add('less', 'Less', [l.variable('i', 'zero', T), limit], { T });
  l.add('go_on', 'LoopCond', ['less']);
  l.next('i', l.add('sum', 'AddV2', [l.body('i', T), one], { T }), T);
  return l.nodes;
}

const COUNTING = { zero: int(0), one: int(1), limit: int(ROUNDS) };

function counting() {
  return {
    name: `loop of ${ROUNDS} rounds, v1`,
    group: 'loops',
    nodes: ROUNDS,
    async ours(tf) {
      const graph = new tf.Graph();
      importInto(graph, countingNodes(), COUNTING);
      return runner(tf, graph, graph.output('i/exit:0'));
    },
    async peer(tfjs) {
      return peerModel(tfjs, modelOf(countingNodes(), COUNTING, 'unused'), {}, 'i/exit');
    },
  };
}

function countingInFunctions() {
  return {
    name: `loop of ${ROUNDS} rounds, whileLoop`,
    group: 'loops',
    nodes: ROUNDS,
    async ours(tf) {
      const graph = new tf.Graph();
      const limit = graph.constant(ROUNDS, { dtype: 'int32' });
      const one = graph.constant(1, { dtype: 'int32' });
      const [last] = graph.whileLoop(
        (i) => graph.less(i, limit),
        (i) => [graph.addV2(i, one)],
        [graph.constant(0, { dtype: 'int32' })],
      );
      return runner(tf, graph, last);
    },
  };
}

/** Gradient descent on (v - 3)^2 / 2 in a whileLoop. */
function trainingInFunctions() {
  return {
    name: `loop of ${TRAINING} rounds that update a variable`,
    group: 'loops',
    nodes: TRAINING,
    async ours(tf) {
      const graph = new tf.Graph();
      const dtype = 'float32';
      const scalar = (value, type) => graph.constant(value, { dtype: type });
      const handle = graph.varHandleOp({ dtype, shape: [] });
      const begin = graph.assignVariableOp(handle, scalar(0, dtype));
      const limit = scalar(TRAINING, 'int32');
      const [last] = graph.whileLoop(
        (i) => graph.less(i, limit),
        (i) => {
          const slope = graph.sub(graph.readVariableOp(handle, { dtype }), scalar(3, dtype));
          graph.resourceApplyGradientDescent(handle, scalar(0.01, dtype), slope);
          return [graph.addV2(i, scalar(1, 'int32'))];
        },
        [graph.identity(scalar(0, 'int32'), { controlInputs: [begin] })],
      );
      const value = graph.readVariableOp(handle, { dtype, controlInputs: [last.operation] });
      return runner(tf, graph, value);
    },
  };
}

function runner(tf, graph, output, feeds = []) {
  const session = new tf.Session(graph);
  const run = () => session.runSync(output, feeds).data;
  return {
    run,
    result: () => Float32Array.from(run()),
    async close() {
      await session.close();
      graph.dispose();
    },
  };
}

async function peerModel(tfjs, artifacts, feeds, output) {
  const { loadGraphModelSync } = await tfjs.loadConverter();
  const model = loadGraphModelSync(tfjs.io.fromMemorySync(artifacts));
  const run = async (use) => {
    const result = await model.executeAsync(feeds, output);
    const data = use ? Float32Array.from(result.dataSync()) : undefined;
    result.dispose();
    return data;
  };
  return {
    run: () => run(false),
    result: () => run(true),
    close() {
      model.dispose();
      for (const tensor of Object.values(feeds)) tensor.dispose();
    },
  };
}

// --- the LSTM ---

const small = (count, seed) => numbers(count, seed).map((value) => value / 10);
const INPUT = small(STEPS * BATCH * UNITS, 3);
const LSTM = {
  kernel: float([2 * UNITS, 4 * UNITS], small(8 * UNITS * UNITS, 1)),
  bias: float([4 * UNITS], small(4 * UNITS, 2)),
  state: float([BATCH, UNITS], new Float32Array(BATCH * UNITS)),
  forget: float([], Float32Array.of(1)),
  zero: int(0),
  one: int(1),
  steps: int(STEPS),
  all: int(...Array(STEPS).keys()),
};

/** The cell of `body`: [c, h] of the next step. */
function addCell(l, x, c, h) {
  const T = 'DT_FLOAT';
  const [kernel, bias, forget] = ['kernel', 'bias', 'forget'].map((name) => l.constant(name, T));
  const unary = (name, op, input) => l.add(name, op, [input], { T });
  const binary = (name, op, a, b) => l.add(name, op, [a, b], { T });
  l.add('both', 'ConcatV2', [x, h, 'one/enter'], { T, N: 2, Tidx: 'DT_INT32' });
  l.add('product', 'MatMul', ['both', kernel], { T, transpose_a: false, transpose_b: false });
  l.add('gates', 'BiasAdd', ['product', bias], { T, data_format: 'NHWC' });
  l.add('split', 'Split', ['one/enter', 'gates'], { T, num_split: 4 });
  binary('keep', 'Mul', c, unary('f', 'Sigmoid', binary('f1', 'AddV2', 'split:2', forget)));
  binary('new', 'Mul', unary('i', 'Sigmoid', 'split'), unary('j', 'Tanh', 'split:1'));
  const nextC = binary('c2', 'AddV2', 'keep', 'new');
  const nextH = binary('h2', 'Mul', unary('c3', 'Tanh', nextC), unary('o', 'Sigmoid', 'split:3'));
  return [nextC, nextH];
}

function lstmNodes() {
  const l = new LoopNodes();
  const [T, Int] = ['DT_FLOAT', 'DT_INT32'];
  for (const name of ['in', 'out']) {
    l.add(name, 'TensorArrayV3', ['steps'], {
      dtype: T,
      dynamic_size: false,
      clear_after_read: true,
      identical_element_shapes: true,
      tensor_array_name: name,
    });
  }
  l.add('scatter', 'TensorArrayScatterV3', ['in', 'all', 'x', 'in:1'], { T });
  const steps = l.constant('steps', Int);
  const one = l.constant('one', Int);
  const [read, write] = ['in', 'out'].map((name) => l.constant(name, 'DT_RESOURCE'));
  const flow = l.constant('scatter', T);
  l.variable('c', 'state', T);
  l.variable('h', 'state', T);
  l.variable('written', 'out:1', T);
  l.add('less', 'Less', [l.variable('t', 'zero', Int), steps], { T: Int });
  l.add('go_on', 'LoopCond', ['less']);
  const t = l.body('t', Int);
  const x = l.add('read', 'TensorArrayReadV3', [read, t, flow], { dtype: T });
  const [c, h] = addCell(l, x, l.body('c', T), l.body('h', T));
  const written = l.add('write', 'TensorArrayWriteV3', [write, t, h, l.body('written', T)], { T });
  l.next('t', l.add('t1', 'AddV2', [t, one], { T: Int }), Int);
  l.next('c', c, T);
  l.next('h', h, T);
  l.next('written', written, T);
  l.add('y', 'TensorArrayGatherV3', ['out', 'all', 'written/exit'], { dtype: T });
  return l.nodes;
}

function lstm(title, makeOutput, peer) {
  return {
    name: `LSTM, ${STEPS} steps of ${BATCH}x${UNITS}, ${title}`,
    group: 'loops',
    async ours(tf) {
      const graph = new tf.Graph();
      const x = graph.placeholder('float32', [STEPS, BATCH, UNITS]);
      const inputs = importInto(graph, lstmNodes(), LSTM, { 'x:0': x });
      const output = makeOutput(graph, graph.output('y:0'), inputs['kernel:0']);
      return runner(tf, graph, output, [[x, tf.tensor(INPUT, [STEPS, BATCH, UNITS])]]);
    },
    peer,
  };
}

/** The sum of the squares of all outputs, by the peer's ops. */
function unrolledLoss(tfjs, input, kernel, bias) {
  let c = tfjs.zeros([BATCH, UNITS]);
  let h = c;
  const outputs = [];
  for (const x of tfjs.unstack(input)) {
    const gates = tfjs.add(tfjs.matMul(tfjs.concat([x, h], 1), kernel), bias);
    const [i, j, f, o] = tfjs.split(gates, 4, 1);
    c = tfjs.add(tfjs.mul(c, tfjs.sigmoid(tfjs.add(f, 1))), tfjs.mul(tfjs.sigmoid(i), tfjs.tanh(j)));
    h = tfjs.mul(tfjs.tanh(c), tfjs.sigmoid(o));
    outputs.push(h);
  }
  return tfjs.sum(tfjs.square(tfjs.stack(outputs)));
}

async function peerGradient(tfjs) {
  const [input, kernel, bias] = [
    tfjs.tensor(INPUT, [STEPS, BATCH, UNITS]),
    tfjs.tensor(LSTM.kernel.values, LSTM.kernel.shape),
    tfjs.tensor(LSTM.bias.values, LSTM.bias.shape),
  ];
  const gradient = tfjs.grad((weights) => unrolledLoss(tfjs, input, weights, bias));
  const run = () => {
    const result = gradient(kernel);
    const data = result.dataSync();
    result.dispose();
    return data;
  };
  return { run, result: run, close: () => tfjs.dispose([input, kernel, bias]) };
}

export const loopCases = [
  counting(),
  countingInFunctions(),
  trainingInFunctions(),
  lstm(
    'forward',
    (_graph, y) => y,
    async (tfjs) =>
      peerModel(tfjs, modelOf(lstmNodes(), LSTM, 'x'), { x: tfjs.tensor(INPUT, [STEPS, BATCH, UNITS]) }, 'y'),
  ),
  lstm(
    'gradient by the kernel',
    (graph, y, kernel) => graph.gradients([graph.sum(graph.square(y), [0, 1, 2])], [kernel])[0],
    peerGradient,
  ),
];
