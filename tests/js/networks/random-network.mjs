import { ELEMENT_LAYERS } from './element-layers.mjs';
import { IMAGE_LAYERS } from './image-layers.mjs';
import { NORM_LAYERS } from './norm-layers.mjs';
import { RandomSource } from './random-source.mjs';
import { SEQUENCE_LAYERS } from './sequence-layers.mjs';
import { SHAPE_LAYERS } from './shape-layers.mjs';
import { product, Value } from './value.mjs';
import { VECTOR_LAYERS } from './vector-layers.mjs';

/** Functions of a network that add a layer to its graph: each returns a value, or undefined where it does not fit. */
const LAYERS = Object.values({
  ...IMAGE_LAYERS,
  ...SEQUENCE_LAYERS,
  ...VECTOR_LAYERS,
  ...ELEMENT_LAYERS,
  ...NORM_LAYERS,
  ...SHAPE_LAYERS,
});

const CHANNELS = {
  small: [1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32],
  large: [1, 3, 8, 16, 31, 48, 64, 100, 128],
};
const IMAGE_SIZES = { small: [4, 15], large: [8, 40] };
const SEQUENCE_SIZES = { small: [2, 12], large: [2, 70] };
const MAX_ELEMENTS = { small: 40_000, large: 300_000 };

/**
 * A network of random layers. Each layer is written in one of the forms that programs and converters use. The same seed and
 * options give the same network for each dtype.
 */
export class RandomNetwork {
  /**
   * @param options dtype: float32 or float64; batch; isBatchKnown: whether the graph states it; areWeightsVariables: or
   * constants; layers: how many; sizes: small or large.
   */
  constructor(graph, seed, options) {
    this.g = graph;
    this.options = options;
    this.random = new RandomSource(seed);
    this.channelCounts = CHANNELS[options.sizes];
    /** Placeholders, as values. */
    this.inputs = [];
    /** Variables. */
    this.weights = [];
    /** Inputs and results of layers. */
    this.values = [];
    this.addInputs();
    this.addLayers();
  }

  addInputs() {
    const { random, channelCounts } = this;
    const { batch, sizes } = this.options;
    const size = (range) => random.int(...range[sizes]);
    const kind = random.pick(['image', 'sequence', 'vector', 'image and sequence']);
    if (kind.includes('image'))
      this.addInput([batch, size(IMAGE_SIZES), size(IMAGE_SIZES), random.pick(channelCounts)]);
    if (kind.includes('sequence')) this.addInput([batch, size(SEQUENCE_SIZES), random.pick(channelCounts)]);
    if (kind === 'vector' || random.chance(0.2)) this.addInput([batch, random.pick(channelCounts)]);
  }

  addInput(shape) {
    const { dtype, isBatchKnown } = this.options;
    const input = new Value(
      this.g.placeholder(dtype, [isBatchKnown ? shape[0] : null, ...shape.slice(1)]),
      shape,
    );
    this.inputs.push(input);
    this.values.push(input);
  }

  addLayers() {
    let count = 0;
    for (let tries = 0; count < this.options.layers && tries < 20 * this.options.layers; tries++) {
      const value = this.random.pick(LAYERS)(this);
      if (!value || product(value.shape) > MAX_ELEMENTS[this.options.sizes]) continue;
      this.values.push(value);
      count++;
    }
  }

  /** A constant of the network's dtype. */
  constant(values, shape) {
    return this.g.constant(values, { dtype: this.options.dtype, shape });
  }

  number(value) {
    return this.constant([value], []);
  }

  ints(values) {
    return this.g.constant(values, { dtype: 'int32' });
  }

  /** A constant or variable, of random numbers in [middle - scale, middle + scale). */
  weight(shape, scale, middle = 0) {
    const initial = this.constant([...this.random.numbers(product(shape), scale, middle)], shape);
    if (!this.options.areWeightsVariables) return initial;
    const variable = this.g.variable(initial);
    this.weights.push(variable);
    return variable;
  }

  /** Weights of products along all axes but the last. They keep the size of the numbers. */
  filter(shape) {
    return this.weight(shape, Math.sqrt(3 / product(shape.slice(0, -1))));
  }

  /** A shape for Reshape, which leaves the batch open where the graph does not state it. */
  target(shape) {
    return this.ints([this.options.isBatchKnown ? shape[0] : -1, ...shape.slice(1)]);
  }

  /** A value, rather one of the last; of a rank, if there is one. */
  some(rank) {
    const found = rank === undefined ? this.values : this.values.filter((value) => value.rank === rank);
    if (!found.length) return undefined;
    return this.random.chance(0.6) ? found.at(-1) : this.random.pick(found);
  }

  /** A value of this shape, if there is one. */
  another(shape) {
    const same = this.values.filter((value) => value.hasShape(shape));
    return same.length ? this.random.pick(same) : undefined;
  }
}
