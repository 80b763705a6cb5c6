/**
 * 16-bit floats, represented by their bits: IEEE half and bfloat16. Both conversions round to nearest, ties
 * to even.
 */
const float64 = new Float64Array(1);
const float32 = new Float32Array(1);
const words64 = new Uint32Array(float64.buffer);
const words32 = new Uint32Array(float32.buffer);

function roundToEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
}

export function halfBits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  float64[0] = size;
  /* Numbers below 2^-14 are multiples of 2^-24, whatever their exponent. */
  const exponent = Math.max((words64[1]! >>> 20) - 1023, -14);
  return sign | (((exponent + 14) << 10) + roundToEven(size * 2 ** (10 - exponent)));
}

export function halfValue(bits: number): number {
  const [sign, exponent, mantissa] = [bits & 0x8000 ? -1 : 1, (bits >>> 10) & 0x1f, bits & 0x3ff];
  if (exponent === 0x1f) return mantissa ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1024 + mantissa) * 2 ** (exponent - 25));
}

export function bfloat16Bits(value: number): number {
  float32[0] = value;
  const bits = words32[0]!;
  return Number.isNaN(value) ? 0x7fc0 : (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

export function bfloat16Value(bits: number): number {
  words32[0] = bits << 16;
  return float32[0]!;
}
