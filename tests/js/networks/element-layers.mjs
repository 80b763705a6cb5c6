import { Value } from './value.mjs';

/** Activations, as programs write them: functions of a network, its graph, and an output. */
const ACTIVATIONS = {
  relu: (_, g, x) => g.relu(x),
  'relu by maximum': (n, g, x) => g.maximum(x, n.number(0)),
  'relu by maximum of zero': (n, g, x) => g.maximum(n.number(0), x),
  relu6: (_, g, x) => g.relu6(x),
  'relu6 by minimum': (n, g, x) => g.minimum(g.relu(x), n.number(6)),
  elu: (_, g, x) => g.elu(x),
  selu: (_, g, x) => g.selu(x),
  softplus: (_, g, x) => g.softplus(x),
  softsign: (_, g, x) => g.softsign(x),
  sigmoid: (_, g, x) => g.sigmoid(x),
  tanh: (_, g, x) => g.tanh(x),
  'leaky relu': (n, g, x) => g.leakyRelu(x, { alpha: n.random.pick([0.2, 0.01, 0.3]) }),
  'leaky relu by maximum': (n, g, x) => g.maximum(x, g.mul(x, n.number(0.1))),
  'leaky relu by two': (n, g, x) => g.sub(g.relu(x), g.mul(n.number(0.25), g.relu(g.neg(x)))),
  'leaky relu by select': (n, g, x) => g.selectV2(g.greater(x, n.number(0.1)), x, g.mul(x, n.number(0.5))),
  swish: (_, g, x) => g.mul(x, g.sigmoid(x)),
  'swish, sigmoid first': (_, g, x) => g.mul(g.sigmoid(x), x),
  'swish by exp': (n, g, x) => g.realDiv(x, g.addV2(n.number(1), g.exp(g.neg(x)))),
  'swish of a slope': (n, g, x) => g.mul(x, g.sigmoid(g.mul(n.number(1.5), x))),
  'hard swish': (n, g, x) => g.mul(x, g.mul(g.relu6(g.addV2(x, n.number(3))), n.number(1 / 6))),
  'hard swish by division': (n, g, x) => g.realDiv(g.mul(x, g.relu6(g.addV2(x, n.number(3)))), n.number(6)),
  'hard sigmoid': (n, g, x) =>
    g.minimum(g.maximum(g.addV2(g.mul(x, n.number(0.2)), n.number(0.5)), n.number(0)), n.number(1)),
  'gelu by erf': (n, g, x) =>
    g.mul(g.mul(n.number(0.5), x), g.addV2(n.number(1), g.erf(g.mul(x, n.number(Math.SQRT1_2))))),
  'gelu by erfc': (n, g, x) =>
    g.mul(g.mul(x, n.number(0.5)), g.erfc(g.mul(g.neg(x), n.number(Math.SQRT1_2)))),
  'gelu by tanh'(n, g, x) {
    const cubic = g.addV2(x, g.mul(n.number(0.044715), g.pow(x, n.number(3))));
    const root = n.number(Math.sqrt(2 / Math.PI));
    return g.mul(g.mul(n.number(0.5), x), g.addV2(n.number(1), g.tanh(g.mul(root, cubic))));
  },
  mish: (_, g, x) => g.mul(x, g.tanh(g.softplus(x))),
};

/** Other functions of one number, which are bounded or grow slowly, and ops that change nothing. */
const FUNCTIONS = {
  ...ACTIVATIONS,
  'clip by value': (n, g, x) => g.minimum(g.maximum(x, n.number(-0.5)), n.number(0.75)),
  square: (_, g, x) => g.square(x),
  'x x': (_, g, x) => g.mul(x, x),
  'x - x/2': (n, g, x) => g.sub(x, g.realDiv(x, n.number(2))),
  abs: (_, g, x) => g.abs(x),
  neg: (_, g, x) => g.neg(x),
  sin: (_, g, x) => g.sin(x),
  cos: (_, g, x) => g.cos(x),
  atan: (_, g, x) => g.atan(x),
  asinh: (_, g, x) => g.asinh(x),
  'exp(-x2)': (_, g, x) => g.exp(g.neg(g.square(x))),
  'expm1 of small numbers': (n, g, x) => g.expm1(g.minimum(x, n.number(1))),
  'log1p(x2)': (_, g, x) => g.log1p(g.square(x)),
  'log(x2 + e)': (n, g, x) => g.log(g.addV2(g.square(x), n.number(0.1))),
  'sqrt(x2 + e)': (n, g, x) => g.sqrt(g.addV2(g.square(x), n.number(0.01))),
  'rsqrt(e + x2)': (n, g, x) => g.rsqrt(g.addV2(n.number(0.3), g.mul(x, x))),
  '1/(x2 + 1)': (n, g, x) => g.reciprocal(g.addV2(g.square(x), n.number(1))),
  'pow 2': (n, g, x) => g.pow(x, n.number(2)),
  'squared difference': (n, g, x) => g.squaredDifference(x, n.number(0.3)),
  'x/(|x| + e)': (n, g, x) => g.divNoNan(x, g.addV2(g.abs(x), n.number(0.5))),
  'positive numbers by select': (_, g, x) => g.select(g.greater(x, g.zerosLike(x)), x, g.zerosLike(x)),
  'x times whether it is large': (n, g, x) =>
    g.mul(x, g.cast(g.greaterEqual(x, n.number(0.123)), { DstT: n.options.dtype })),
  'sum of a list': (_, g, x) => g.addN([x, x, g.tanh(x)]),
  identity: (_, g, x) => g.identity(x),
  'stop gradient': (_, g, x) => g.stopGradient(x),
  'x + zeros': (_, g, x) => g.addV2(x, g.zerosLike(x)),
  '0 + x': (n, g, x) => g.addV2(n.number(0), x),
  'x 1': (n, g, x) => g.mul(x, n.number(1)),
};

const BINARY_OPS = ['addV2', 'sub', 'mul', 'maximum', 'minimum', 'squaredDifference'];

const anyOf = (functions, n, x) => functions[n.random.pick(Object.keys(functions))](n, n.g, x);

/** An activation of an output. */
export const activation = (n, x) => anyOf(ACTIVATIONS, n, x);

/** An expression of values, weights, means and numbers that are broadcast to the shape of a value. */
function expression(n, x, depth) {
  const { g, random } = n;
  if (depth === 0) {
    const ones = Array(random.int(0, x.rank - 1)).fill(1);
    switch (random.int(0, 4)) {
      case 0:
        return x.output;
      case 1:
        return n.another(x.shape).output;
      case 2:
        return n.number(random.pick([-1, 0, 0.5, 1, 2]));
      case 3:
        return n.weight([...ones, x.channels], 1);
      default:
        return g.mean(n.another(x.shape).output, n.ints([-1]), { keepDims: true });
    }
  }
  if (random.chance(0.4)) return activation(n, expression(n, x, depth - 1));
  const parts = [expression(n, x, depth - 1), expression(n, x, random.int(0, depth - 1))];
  return g[random.pick(BINARY_OPS)](...parts);
}

export const ELEMENT_LAYERS = {
  one(n) {
    const x = n.some();
    return new Value(anyOf(FUNCTIONS, n, x.output), x.shape);
  },
  chain(n) {
    const x = n.some();
    let y = x.output;
    for (let i = n.random.int(2, 6); i > 0; i--) y = anyOf(FUNCTIONS, n, y);
    return new Value(n.g.tanh(y), x.shape);
  },
  tree(n) {
    const x = n.some();
    const y = n.g.addV2(x.output, expression(n, x, n.random.int(1, 4)));
    return new Value(n.g.tanh(y), x.shape);
  },
  binary(n) {
    const x = n.some();
    return new Value(n.g[n.random.pick(BINARY_OPS)](x.output, n.another(x.shape).output), x.shape);
  },
  branches(n) {
    const { g, random } = n;
    const x = n.some();
    const axes = n.ints(x.shape.map((_, axis) => axis));
    const isLarge = g.greater(g.sum(g.square(x.output), axes), n.number(random.pick([0.1, 3, 30])));
    const w = n.weight([x.channels], 1);
    const [y] = g.cond(
      isLarge,
      () => [g.mul(activation(n, x.output), w)],
      () => [activation(n, g.addV2(x.output, w))],
    );
    return new Value(y, x.shape);
  },
};
