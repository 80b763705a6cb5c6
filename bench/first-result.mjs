// The start of a process or a page: from the import of an engine to its first product. Nothing here imports an engine, nor what
// imports one, since that would not be timed.

/**
 * The time from import to first result, a product of two by two: the start of a new process or page. In
 * milliseconds.
 */
export async function timeOfFirstResult(load, multiply) {
  const started = performance.now();
  const product = await multiply(await load());
  const elapsed = performance.now() - started;
  if (String(Array.from(product)) !== '19,22,43,50')
    throw new Error(`the first product is ${Array.from(product)}`);
  return elapsed;
}

export const firstProduct = {
  ours(tf) {
    const graph = new tf.Graph();
    return new tf.Session(graph).runSync(
      graph.matMul(
        graph.constant([
          [1, 2],
          [3, 4],
        ]),
        graph.constant([
          [5, 6],
          [7, 8],
        ]),
      ),
    ).data;
  },
  peer: (tfjs) =>
    tfjs
      .matMul(
        tfjs.tensor2d([
          [1, 2],
          [3, 4],
        ]),
        tfjs.tensor2d([
          [5, 6],
          [7, 8],
        ]),
      )
      .dataSync(),
  async 'LiteRT.js'({ Tensor, model }) {
    const matrices = [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ];
    const [product] = await model.run(
      matrices.map((values) => new Tensor(Float32Array.from(values), [2, 2])),
    );
    return product.toTypedArray();
  },
};
