// Gradients of graphs. The peer has no such feature: it differentiates an execution, every time again.
const WIDTH = 64;
/** The gradient ops of a layer: of the activation, of the bias, and of the product by both factors. */
const NODES_PER_LAYER = 4;

/** An MLP of layers of equal width: its last value, and the weights. */
function buildMlp(tf, layers) {
  const graph = new tf.Graph();
  const weights = [];
  let value = graph.placeholder('float32', [null, WIDTH]);
  for (let i = 0; i < layers; i++) {
    const [w, b] = [graph.placeholder('float32', [WIDTH, WIDTH]), graph.placeholder('float32', [WIDTH])];
    weights.push(w, b);
    value = graph.relu(graph.biasAdd(graph.matMul(value, w), b));
  }
  return { graph, value, weights };
}

function gradientsOfMlp(layers) {
  return {
    name: `gradients of an MLP of ${layers.toLocaleString('en')} layers, built`,
    group: 'gradients',
    nodes: layers * NODES_PER_LAYER,
    async ours(tf) {
      let mlp;
      const close = () => mlp?.graph.dispose();
      const prepare = () => {
        close();
        mlp = buildMlp(tf, layers);
      };
      const run = () => mlp.graph.gradients([mlp.value], mlp.weights);
      const result = () => {
        prepare();
        const before = mlp.graph.operations().length;
        run();
        return Float32Array.of(mlp.graph.operations().length - before);
      };
      return { prepare, run, result, close };
    },
  };
}

export const gradientCases = [100, 1000, 10_000].map(gradientsOfMlp);
