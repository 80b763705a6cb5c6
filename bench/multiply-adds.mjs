// Counts the multiply-adds of a step's products, and the bytes of their weights.

const sizeOf = (shape) => shape.reduce((all, size) => all * size, 1);

/** The size that both operands share: axis i of the first, j of the second; in loops one of them may be unknown. */
const shared = ([a, b], i, j) => a?.at(i) ?? b?.at(j);

/** How many products an element of the output adds up, by op; from the shapes of the inputs, the attrs, and the output's shape. */
const DEPTHS = {
  Conv2D: ([, filter]) => sizeOf(filter.slice(0, 3)),
  /* Each gradient is multiplied with all of a filter; how many of these products an element gets differs. */
  Conv2DBackpropInput: ([, filter, gradient], _, output) =>
    (sizeOf(gradient) * sizeOf(filter.slice(0, 3))) / sizeOf(output),
  DepthwiseConv2dNative: ([, filter]) => filter[0] * filter[1],
  MatMul: (shapes, attrs) => shared(shapes, attrs.transpose_a ? 0 : 1, attrs.transpose_b ? 1 : 0),
  BatchMatMulV2: (shapes, attrs) => shared(shapes, attrs.adj_x ? -2 : -1, attrs.adj_y ? -1 : -2),
  Einsum: (shapes, { equation }) => einsumDepth(shapes, equation),
};

/** The sizes of the labels that the output does not have. */
function einsumDepth(shapes, equation) {
  const [inputs, output] = equation.split('->');
  const sizes = new Map();
  inputs.split(',').forEach((labels, i) => {
    for (const [axis, label] of [...labels].entries()) sizes.set(label, shapes[i][axis]);
  });
  return sizeOf([...sizes].filter(([label]) => !output.includes(label)).map(([, size]) => size));
}

/**
 * The multiply-adds of the products and convolutions of a step, as the direct sums count them, from the records of the
 * step, which must not be optimised. Undefined if it calls functions, because the graph does not have their nodes, or if
 * a size is not known before the step.
 */
export function multiplyAddsOf(graph, records) {
  const shapes = new Map(records.map(({ node, outputs }) => [`${node}:0`, outputs[0]?.shape]));
  let sum = 0;
  for (const { node, op, outputs } of records) {
    if (!DEPTHS[op]) continue;
    const operation = graph.operation(node);
    if (!operation) return undefined;
    const inputs = operation.inputs.map((input) => shapes.get(input.name) ?? input.shape);
    const depth = DEPTHS[op](inputs, operation.attrs(), outputs[0].shape);
    if (!Number.isFinite(depth)) return undefined;
    sum += sizeOf(outputs[0].shape) * depth;
  }
  return sum;
}

/** The operation whose output a value is, through Identity. */
function originOf(graph, { name }) {
  const operation = graph.operation(name.split(':')[0]);
  return operation?.type === 'Identity' ? originOf(graph, operation.inputs[0]) : operation;
}

/** The bytes of the constants that the products and convolutions of a step read, of float32; from its records. */
export function weightBytesOf(graph, records) {
  const sizes = new Map();
  for (const { node, op } of records) {
    if (!DEPTHS[op]) continue;
    for (const input of graph.operation(node)?.inputs ?? []) {
      const origin = originOf(graph, input);
      if (origin?.type === 'Const') sizes.set(origin.name, 4 * sizeOf(input.shape));
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
