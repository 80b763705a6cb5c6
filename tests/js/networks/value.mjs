export const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

/** An output of the graph, and its shape for the batch that the network was built with. The batch is its first dimension. */
export class Value {
  constructor(output, shape) {
    this.output = output;
    this.shape = shape;
  }

  get rank() {
    return this.shape.length;
  }

  get channels() {
    return this.shape.at(-1);
  }

  hasShape(shape) {
    return String(this.shape) === String(shape);
  }
}
