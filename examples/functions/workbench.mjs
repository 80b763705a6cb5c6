// Shared by the example and the demo page: parses functions, calls the last one in a graph, and
// differentiates it.

/**
 * The functions in a text, each of which ends with a line '}'. Lines and columns in errors refer to the whole
 * text.
 */
export function readFunctions(tf, text) {
  const functions = [];
  let start = 0;
  for (const end of text.matchAll(/^\}[ \t]*\r?$/gm)) {
    functions.push(readAt(start, end.index + end[0].length));
    start = end.index + end[0].length;
  }
  if (functions.length === 0 || text.slice(start).trim() !== '') functions.push(readAt(start, text.length));
  return functions;

  function readAt(from, to) {
    return tf.FunctionDef.parse(
      '\n'.repeat(text.slice(0, from).split('\n').length - 1) + text.slice(from, to),
    );
  }
}

/** The dtype of an argument for these attrs of the function. */
export function typeOf(argument, attrs) {
  const dtype = argument.type ?? attrs[argument.type_attr];
  if (argument.number_attr || !dtype)
    throw new Error(`the argument ${argument.name} is a list, which has no place here`);
  return dtype;
}

/** A graph that calls the last of several functions, which may call the others. */
export function callLast(tf, functions, attrs = {}, shapes = {}) {
  const graph = new tf.Graph();
  try {
    for (const definition of functions) graph.addFunction(definition);
    const { name, signature } = functions.at(-1);
    const inputs = signature.input_arg.map((argument) =>
      graph.placeholder(typeOf(argument, attrs), shapes[argument.name] ?? null, { name: argument.name }),
    );
    return { graph, inputs, outputs: graph.call(name, inputs, { attrs }) };
  } catch (error) {
    graph.dispose();
    throw error;
  }
}

/** The gradient of such a call as a function of the arguments and of the results' derivatives. */
export function gradientFunction({ graph, inputs, outputs }, name) {
  const floats = (list) => list.filter(({ dtype }) => /^(float|bfloat|complex)/.test(dtype));
  const ys = floats(outputs);
  const weights = ys.map((y) =>
    graph.placeholder(y.dtype, y.shape, {
      name: graph.uniqueName(`d_${y.operation.opDef.output_arg[y.index].name}`),
    }),
  );
  const xs = floats(inputs);
  const derivatives =
    xs.length > 0 && ys.length > 0 ? graph.gradients(ys, xs, { gradYs: weights, name: 'grad' }) : [];
  const reached = xs
    .map((x, i) => ({ x, derivative: derivatives[i] }))
    .filter(({ derivative }) => derivative);
  if (reached.length === 0) return undefined;
  return graph.toFunction(`${name}Gradient`, {
    inputs: [...inputs, ...weights],
    outputs: reached.map(({ derivative }) => derivative),
    outputNames: reached.map(({ x }) => `d_${x.operation.name}`),
  });
}
