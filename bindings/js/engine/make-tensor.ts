/** The function `tf.tensor`: a tensor in the memory of JavaScript, or of an engine. */
import { Schema, checkOptions, isPlainObject } from '../base/arguments.js';
import type { DTypeName, DTypeNamed } from '../tensor/dtypes.js';
import { GuessedDType, tensor } from '../tensor/convert.js';
import { Tensor, TensorLike } from '../tensor/tensor.js';
import { residentTensor } from './resident-tensor.js';
import type { Runtime } from './runtime.js';

export interface TensorOptions {
  /**
   * true: the value is copied into the engine once, and steps that are fed the tensor copy nothing. Dispose it
   * (`using x = ...`), or leave it to the garbage collector.
   */
  resident?: boolean;
}

const OPTIONS: Schema<TensorOptions> = { resident: 'true or false' };

export interface MakeTensor {
  <N extends DTypeName>(
    value: TensorLike,
    shape: readonly number[] | undefined,
    dtype: N,
    options?: TensorOptions,
  ): Tensor<DTypeNamed<N>>;
  <const V extends TensorLike>(
    value: V,
    shape?: readonly number[],
    options?: TensorOptions,
  ): Tensor<GuessedDType<V>>;
  <const V extends TensorLike>(value: V, options: TensorOptions): Tensor<GuessedDType<V>>;
  (value: TensorLike, shape?: readonly number[], dtype?: DTypeName, options?: TensorOptions): Tensor;
}

type Rest = [shape?: readonly number[], dtype?: DTypeName, options?: TensorOptions];

/** The options are the last argument; shape and dtype may be left out before them. */
function withoutOptions(rest: readonly unknown[]): [rest: Rest, options: TensorOptions] {
  const at = rest.findIndex(isPlainObject);
  return at < 0 ? [rest as Rest, {}] : [rest.slice(0, at) as Rest, rest[at] as TensorOptions];
}

export function tensorMaker(runtime: Runtime): MakeTensor {
  return (value: TensorLike, ...given: readonly unknown[]) => {
    const [[shape, dtype], options] = withoutOptions(given);
    checkOptions<TensorOptions>('tensor', options, OPTIONS);
    const made: Tensor = tensor(value, shape, dtype);
    return (options.resident ? residentTensor(runtime, made) : made) as never;
  };
}
