/** The weights of TensorFlow.js: a manifest names and describes them, and shards hold their bytes. */
import { isPlainObject, shown } from '../base/arguments.js';
import { DataLossError, InvalidArgumentError, UnimplementedError } from '../base/errors.js';
import { DType, dtypeOf, isDTypeName, itemsPerElement, typedArrayOf } from '../tensor/dtypes.js';
import { halfValue } from '../tensor/half.js';
import { sizeOf } from '../tensor/tensor.js';
import { ModelFiles, concatenated, joinPath, readFile } from './model-files.js';

/** A weight: its bytes as in TensorProto.tensor_content; of strings one each. */
export interface Weight {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly content: Uint8Array | readonly Uint8Array[];
}

interface Quantization {
  readonly dtype: string;
  readonly scale: number;
  readonly min: number;
}

interface Description {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly quantization: Quantization | undefined;
}

const QUANTIZED = { uint8: Uint8Array, uint16: Uint16Array, float16: Uint16Array } as const;

const isSize = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function describe(value: unknown): Description {
  const { name, dtype, shape, quantization } = isPlainObject(value) ? value : ({} as Record<string, unknown>);
  if (typeof name !== 'string' || typeof dtype !== 'string' || !isDTypeName(dtype))
    throw new InvalidArgumentError(`the weights manifest has no name and dtype at ${shown(value)}`);
  if (!Array.isArray(shape) || !shape.every(isSize) || !Number.isSafeInteger(sizeOf(shape)))
    throw new InvalidArgumentError(`weight ${name} has no valid shape: ${shown(shape)}`);
  if (quantization === undefined || quantization === null)
    return { name, dtype: dtypeOf(dtype), shape, quantization: undefined };
  const { dtype: stored, scale = 1, min = 0 } = quantization as Record<string, unknown>;
  if (typeof stored !== 'string' || !(stored in QUANTIZED))
    throw new UnimplementedError(`weight ${name} is quantized to ${shown(stored)}, which is not known`);
  if (typeof scale !== 'number' || typeof min !== 'number')
    throw new InvalidArgumentError(`weight ${name} has no valid quantization`);
  return { name, dtype: dtypeOf(dtype), shape, quantization: { dtype: stored, scale, min } };
}

/** The original values of a quantized weight. */
function restored(
  { dtype, shape }: Description,
  { dtype: stored, scale, min }: Quantization,
  bytes: Uint8Array,
): Uint8Array {
  const packed = new QUANTIZED[stored as keyof typeof QUANTIZED](bytes.slice().buffer);
  const values = new (typedArrayOf(dtype))(sizeOf(shape)) as Float32Array;
  if (stored === 'float16') packed.forEach((bits, i) => (values[i] = halfValue(bits)));
  else if (dtype === 'int32') packed.forEach((level, i) => (values[i] = Math.round(level * scale + min)));
  else packed.forEach((level, i) => (values[i] = level * scale + min));
  return new Uint8Array(values.buffer);
}

/** Reads weights one after the other from the bytes of a group. */
class WeightReader {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  #take(name: string, size: number): Uint8Array {
    if (size > this.bytes.length - this.#at)
      throw new DataLossError(
        `weight ${name} needs ${size} bytes, but the shards have only ${this.bytes.length - this.#at} more`,
      );
    this.#at += size;
    return this.bytes.subarray(this.#at - size, this.#at);
  }

  read(description: Description): Weight {
    const { name, dtype, shape, quantization } = description;
    const count = sizeOf(shape);
    if (dtype === 'string') return { dtype, shape, content: this.#strings(name, count) };
    if (quantization) {
      const { BYTES_PER_ELEMENT } = QUANTIZED[quantization.dtype as keyof typeof QUANTIZED];
      const bytes = this.#take(name, count * BYTES_PER_ELEMENT);
      return { dtype, shape, content: restored(description, quantization, bytes) };
    }
    const size = count * itemsPerElement(dtype) * typedArrayOf(dtype).BYTES_PER_ELEMENT;
    return { dtype, shape, content: this.#take(name, size) };
  }

  /** Each has 4 bytes of length before it. */
  #strings(name: string, count: number): Uint8Array[] {
    const strings: Uint8Array[] = [];
    while (strings.length < count) {
      const head = this.#take(name, 4);
      const length = new DataView(head.buffer, head.byteOffset, 4).getUint32(0, true);
      strings.push(this.#take(name, length));
    }
    return strings;
  }

  get rest(): number {
    return this.bytes.length - this.#at;
  }
}

/** All weights of a manifest, by name. Shards are read side by side. */
export async function readWeights(
  files: ModelFiles,
  folder: string,
  manifest: unknown,
): Promise<Map<string, Weight>> {
  if (!Array.isArray(manifest)) throw new InvalidArgumentError(`${files.place} has no weights manifest`);
  const groups = await Promise.all(
    manifest.map(async (group: { paths?: unknown; weights?: unknown }) => {
      const { paths, weights } = isPlainObject(group) ? group : {};
      if (!Array.isArray(paths) || !Array.isArray(weights))
        throw new InvalidArgumentError(`${files.place} has a weights manifest without paths or weights`);
      const shards = await Promise.all(paths.map((path) => readFile(files, joinPath(folder, String(path)))));
      return { weights: weights.map(describe), bytes: concatenated(shards) };
    }),
  );
  const found = new Map<string, Weight>();
  for (const { weights, bytes } of groups) {
    const reader = new WeightReader(bytes);
    for (const description of weights) found.set(description.name, reader.read(description));
    if (reader.rest > 0)
      throw new DataLossError(`${files.place}: the shards have ${reader.rest} bytes more than their weights`);
  }
  return found;
}
