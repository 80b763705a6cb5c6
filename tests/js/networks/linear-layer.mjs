import { activation } from './element-layers.mjs';
import { batchNorm } from './norm-layers.mjs';
import { Value } from './value.mjs';

/** Adds a bias, in one of the forms of programs. */
export function biased(n, x, shape) {
  const { g, random } = n;
  const c = shape.at(-1);
  switch (random.int(0, 3)) {
    case 0:
      return g.biasAdd(x, n.weight([c], 0.5));
    case 1:
      return g.addV2(x, n.weight([c], 0.5));
    case 2:
      return g.addV2(n.weight([...shape.slice(1).map(() => 1), c], 0.5), x);
    default:
      return g.sub(x, n.weight([c], 0.5));
  }
}

/** What may follow a product or a convolution: bias, norm, another value, activation. */
export function finished(n, x, shape) {
  const { g, random } = n;
  let y = x;
  if (random.chance(0.7)) y = biased(n, y, shape);
  if (random.chance(0.4)) y = batchNorm(n, y, shape);
  if (random.chance(0.3)) y = activation(n, y);
  const other = random.chance(0.5) ? n.another(shape)?.output : undefined;
  if (other) {
    y = random.pick([
      () => g.addV2(y, other),
      () => g.addV2(other, y),
      () => g.sub(other, y),
      () => g.mul(y, other),
    ])();
  }
  if (random.chance(0.7)) y = activation(n, y);
  if (random.chance(0.1)) y = batchNorm(n, y, shape);
  return new Value(y, shape);
}

/** The product of the last axis and a matrix, in one of the forms of programs: an output. */
export function projected(n, x, units) {
  const { g, random } = n;
  const [k, result] = [x.channels, [...x.shape.slice(0, -1), units]];
  if (x.rank === 2) {
    const transposeB = random.chance(0.2);
    const w = transposeB ? n.weight([units, k], Math.sqrt(3 / k)) : n.filter([k, units]);
    return g.matMul(x.output, w, { transposeB });
  }
  const w = n.filter([k, units]);
  const letters = 'abcd'.slice(0, x.rank - 1);
  switch (random.int(0, 2)) {
    case 0:
      return g.reshape(g.matMul(g.reshape(x.output, n.ints([-1, k])), w), n.target(result));
    case 1:
      return g.einsum([x.output, w], { equation: `${letters}x,xy->${letters}y` });
    default:
      return g.batchMatMulV2(x.output, w);
  }
}
