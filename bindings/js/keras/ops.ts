/** Ops: adds the operations of a layer to the graph, named after the layer. */
import { InvalidArgumentError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import type { Operand } from '../graph/op-inputs.js';
import type { Output } from '../graph/operation.js';
import type { AttrInput } from '../messages/attr-value.js';
import type { DType } from '../tensor/dtypes.js';
import { tensor } from '../tensor/convert.js';

/** The size of a dimension: known, or a scalar of the graph. */
export type Size = number | Output;
type Inputs = readonly (Operand | readonly Operand[])[];

const FLOATS: ReadonlySet<DType> = new Set(['float16', 'bfloat16', 'float32', 'float64']);
export const isFloat = (x: Output): boolean => FLOATS.has(x.dtype);

/** The names of nodes have fewer characters than those of layers. */
export const nodeName = (name: string): string =>
  name.replace(/[^A-Za-z0-9_./-]/g, '_').replace(/^(?=[^A-Za-z0-9.])/, 'layer');

export const range = (begin: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - begin) }, (_, i) => begin + i);

export class Ops {
  constructor(
    readonly graph: Graph,
    /** The beginning of the names of its operations. */
    readonly scope: string,
  ) {}

  outputs(type: string, inputs: Inputs, attrs: Record<string, AttrInput> = {}): Output[] {
    const name = this.graph.uniqueName(`${this.scope}/${type}`);
    return this.graph.op(type, inputs, { name, attrs }).outputs;
  }

  op(type: string, inputs: Inputs, attrs: Record<string, AttrInput> = {}): Output {
    return this.outputs(type, inputs, attrs)[0]!;
  }

  constant(
    value: number | readonly number[] | Float32Array,
    dtype: DType,
    shape?: readonly number[],
  ): Output {
    const name = this.graph.uniqueName(`${this.scope}/Const`);
    return this.graph.constant(tensor(value as number[], shape, dtype), { name });
  }

  // ---- arithmetic; a plain number has the dtype of the other operand ----

  add(a: Output, b: Operand): Output {
    return this.op('AddV2', [a, b]);
  }
  sub(a: Output, b: Operand): Output {
    return this.op('Sub', [a, b]);
  }
  mul(a: Output, b: Operand): Output {
    return this.op('Mul', [a, b]);
  }
  div(a: Output, b: Operand): Output {
    return this.op('RealDiv', [a, b]);
  }
  cast(x: Output, dtype: DType): Output {
    return x.dtype === dtype ? x : this.op('Cast', [x], { DstT: dtype });
  }
  reduce(type: 'Sum' | 'Mean' | 'Max' | 'All' | 'Any', x: Output, axes: readonly number[], keepDims = false) {
    return this.op(type, [x, this.constant(axes, 'int32')], { keep_dims: keepDims });
  }

  // ---- shapes ----

  rank(x: Output): number {
    const { shape } = x;
    if (!shape)
      throw new InvalidArgumentError(`${this.scope}: the number of dimensions of ${x.name} is not known`);
    return shape.length;
  }

  /** The size of a dimension that the layer must know. */
  known(x: Output, axis: number): number {
    const size = this.rank(x) > 0 ? x.shape!.at(axis) : undefined;
    if (size === null || size === undefined)
      throw new InvalidArgumentError(
        `${this.scope}: the size of dimension ${axis} of its input must be known: ${x}`,
      );
    return size;
  }

  size(x: Output, axis: number): Size {
    return x.shape!.at(axis) ?? this.sizes(x).at(axis)!;
  }

  sizes(x: Output): Size[] {
    this.rank(x);
    let whole: Output | undefined;
    return x.shape!.map((size, axis) => {
      if (size !== null) return size;
      whole ??= this.op('Shape', [x]);
      const [begin, end, step] = [axis, axis + 1, 1].map((place) => this.constant([place], 'int32'));
      return this.op('StridedSlice', [whole, begin!, end!, step!], { shrink_axis_mask: 1 });
    });
  }

  /** A vector of sizes. */
  shapeOf(sizes: readonly Size[]): Output {
    return sizes.every((size) => typeof size === 'number')
      ? this.constant(sizes as number[], 'int32', [sizes.length])
      : this.op('Pack', [
          sizes.map((size) => (typeof size === 'number' ? this.constant(size, 'int32') : size)),
        ]);
  }

  times(a: Size, b: Size): Size {
    if (typeof a === 'number' && typeof b === 'number') return a * b;
    return typeof a === 'number' ? this.mul(b as Output, a) : this.mul(a, b);
  }

  product(sizes: readonly Size[]): Size {
    return sizes.reduce((a, b) => this.times(a, b), 1);
  }

  reshape(x: Output, sizes: readonly Size[]): Output {
    const unknown = sizes.filter((size) => typeof size !== 'number');
    const dims = unknown.length === 1 && !sizes.includes(-1) && !sizes.includes(0);
    const wanted = dims ? sizes.map((size) => (typeof size === 'number' ? size : -1)) : sizes;
    return this.op('Reshape', [x, this.shapeOf(wanted)]);
  }

  expand(x: Output, axis: number): Output {
    return this.op('ExpandDims', [x, axis]);
  }

  squeeze(x: Output, axis: number): Output {
    return this.op('Squeeze', [x], { squeeze_dims: [axis] });
  }

  transpose(x: Output, order: readonly number[]): Output {
    return order.every((axis, i) => axis === i)
      ? x
      : this.op('Transpose', [x, this.constant(order, 'int32')]);
  }

  /** The channels of 'channels_first' go last, and back again. */
  channelsLast(x: Output): Output {
    const rank = this.rank(x);
    return this.transpose(x, [0, ...range(2, rank), 1]);
  }
  channelsFirst(x: Output): Output {
    const rank = this.rank(x);
    return this.transpose(x, [0, rank - 1, ...range(1, rank - 1)]);
  }

  swap(x: Output, a: number, b: number): Output {
    const order = range(0, this.rank(x));
    [order[a], order[b]] = [order[b]!, order[a]!];
    return this.transpose(x, order);
  }

  concat(list: readonly Output[], axis: number): Output {
    return list.length === 1 ? list[0]! : this.op('ConcatV2', [list, axis]);
  }

  split(x: Output, count: number, axis: number): Output[] {
    return count === 1 ? [x] : this.outputs('Split', [axis, x], { num_split: count });
  }

  reverse(x: Output, axis: number): Output {
    return this.op('ReverseV2', [x, [axis]]);
  }

  pad(x: Output, paddings: readonly (readonly number[])[]): Output {
    return paddings.every(([before, after]) => before === 0 && after === 0)
      ? x
      : this.op('Pad', [x, this.constant(paddings.flat(), 'int32', [paddings.length, 2])]);
  }

  /** From `begin` to the end or `end`, in one dimension. */
  slice(x: Output, axis: number, begin: number, end: number | undefined, step = 1): Output {
    const before = Array<number>(axis).fill(0);
    const places = (values: number[]): Output => this.constant(values, 'int32');
    return this.op(
      'StridedSlice',
      [x, places([...before, begin]), places([...before, end ?? 0]), places([...before.map(() => 1), step])],
      {
        begin_mask: 2 ** axis - 1,
        end_mask: 2 ** axis - 1 + (end === undefined ? 2 ** axis : 0),
      },
    );
  }

  /** The product with a matrix over the last dimension. */
  timesMatrix(x: Output, matrix: Output): Output {
    const rank = this.rank(x);
    if (rank === 2) return this.op('MatMul', [x, matrix]);
    const sizes = this.sizes(x);
    const rows = this.op('Reshape', [x, [-1, this.known(matrix, 0)]]);
    return this.reshape(this.op('MatMul', [rows, matrix]), [...sizes.slice(0, -1), this.known(matrix, 1)]);
  }

  /** A vector along one dimension, to be combined with values of that rank. */
  along(vector: Output, rank: number, axis: number): Output {
    const last = (axis + rank) % rank === rank - 1;
    if (last) return vector;
    return this.reshape(
      vector,
      range(0, rank).map((i) => (i === (axis + rank) % rank ? -1 : 1)),
    );
  }
}
