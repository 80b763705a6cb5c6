// The text that a person types to feed an input: '[[1, 2], [3, 4]]', or 'zeros [2, 3]', 'ones [2, 3]',
// 'random [2, 3]'.
const FILLED = /^\s*(zeros|ones|random)\s*\[([\d\s,]*)\]\s*$/;
const MOST = 2 ** 28; // elements
const FILL = { zeros: () => 0, ones: () => 1, random: Math.random };
const isBig = (dtype) => dtype === 'int64' || dtype === 'uint64';

/** JSON with integers of any length as BigInts. */
function parseBig(text) {
  const marked = JSON.parse(text.replace(/-?\d+(?![\d.eE]*[.eE])/g, (digits) => `"${digits}"`));
  const convert = (item) => (Array.isArray(item) ? item.map(convert) : BigInt(item));
  return convert(marked);
}

/** The tensor for an input { dtype, shape } of a graph. Throws an error with a readable message. */
export function parseFeed(tf, { dtype }, text) {
  const filled = FILLED.exec(text);
  if (!filled) {
    let value;
    try {
      value = isBig(dtype) ? parseBig(text) : JSON.parse(text);
    } catch {
      throw new Error(
        'write a value, nested lists such as [[1, 2], [3, 4]], or one of: zeros [2, 3], ones [2, 3], random [2, 3]',
      );
    }
    return tf.tensor(value, undefined, dtype);
  }
  if (dtype === 'string') throw new Error('strings are written out: ["one", "two"]');
  const shape = filled[2]
    .split(',')
    .map((size) => size.trim())
    .filter(Boolean)
    .map(Number);
  const size = shape.reduce((product, dim) => product * dim, 1);
  if (!(size <= MOST)) throw new Error(`[${shape.join(', ')}] are ${size} elements, more than fit`);
  const whole = !/^(float|bfloat|complex)/.test(dtype);
  const fill = filled[1] === 'random' && whole ? () => Math.round(Math.random()) : FILL[filled[1]];
  const numbers = Float64Array.from({ length: size }, fill);
  return tf.tensor(isBig(dtype) ? BigInt64Array.from(numbers, BigInt) : numbers, shape, dtype);
}

/** The initial text of the field: unknown sizes are 1. */
export function startingText({ dtype, shape }) {
  const sizes = (shape ?? []).map((size) => size ?? 1);
  if (dtype === 'string')
    return JSON.stringify(sizes.reduceRight((inner, size) => Array(size).fill(inner), ''));
  return `${/^float/.test(dtype) ? 'random' : 'zeros'} [${sizes.join(', ')}]`;
}
