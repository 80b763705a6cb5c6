/**
 * The interface of shape functions registered from JavaScript. Names and rules are those of TensorFlow's
 * InferenceContext.
 */
import { checkIndex, checkList, checkOptions, checkReceivers, checkText, shown } from '../base/arguments.js';
import { AttrValue, decodeAttr } from '../messages/attr-value.js';
import { FailedPreconditionError, InvalidArgumentError } from '../base/errors.js';
import type {
  Abi,
  DimensionHandlePtr,
  Null,
  ShapeHandlePtr,
  ShapeInferenceContextPtr,
  StatusPtr,
} from '../generated/abi.js';
import type { Tensor } from '../tensor/tensor.js';
import { downloadTensor } from '../engine/transfer.js';
import { type Scope, type Wasm, unsigned } from '../engine/wasm.js';

/**
 * One dimension. An unknown dimension keeps its identity when it is passed on, so sizes that are equal can be
 * recognised even if they are unknown.
 */
export class DimensionHandle {
  /** @internal */
  constructor(
    private readonly context: InferenceContext,
    private readonly address: DimensionHandlePtr,
  ) {}

  /** @internal */
  pointerIn(context: InferenceContext): DimensionHandlePtr {
    return this.context.checked(context, this.address);
  }

  /** null: unknown. */
  get value(): number | null {
    const value = Number(this.context.call('TF_DimensionHandleValue', this.pointerIn(this.context)));
    return value < 0 ? null : value;
  }

  toString(): string {
    return `${this.value ?? '?'}`;
  }
}

/** A shape, known or not. */
export class ShapeHandle {
  /** @internal */
  constructor(
    private readonly context: InferenceContext,
    private readonly address: ShapeHandlePtr,
  ) {}

  /** @internal */
  pointerIn(context: InferenceContext): ShapeHandlePtr {
    return this.context.checked(context, this.address);
  }

  /** null: unknown. */
  get rank(): number | null {
    return this.context.rank(this);
  }

  /** Dimension `i`, from the end if negative; an unknown one if the rank is unknown. */
  dim(i: number): DimensionHandle {
    return this.context.dim(this, i);
  }

  /** All dimensions; null if the rank is unknown. */
  get dims(): DimensionHandle[] | null {
    const { rank } = this;
    return rank === null ? null : Array.from({ length: rank }, (_, i) => this.dim(i));
  }

  /** The sizes, null for unknown ones; null if the rank is unknown. */
  sizes(): (number | null)[] | null {
    return this.dims?.map((dim) => dim.value) ?? null;
  }

  toString(): string {
    return this.dims ? `[${this.dims.join(',')}]` : '?';
  }
}

/** null: unknown. */
export type DimInput = DimensionHandle | number | null;
/** null: unknown rank. */
export type ShapeInput = ShapeHandle | readonly DimInput[] | null;

/** The end of a subshape or slice that is unlimited: TensorFlow's kint64max. */
const TO_THE_END = 2n ** 63n - 1n;

function whole(value: number, what: string): bigint {
  if (!Number.isSafeInteger(value))
    throw new InvalidArgumentError(`${what} must be a whole number, not ${shown(value)}`);
  return BigInt(value);
}

/**
 * The functions TF_ShapeInferenceContext<Name>(context, ...args, result, status) that return a Result, by
 * name, and their args.
 */
type Makers<Result> = {
  [Key in keyof Abi as Key extends `TF_ShapeInferenceContext${infer Name}` ? Name : never]: Parameters<
    Abi[Key]
  > extends [ShapeInferenceContextPtr | Null, ...infer Args, Result | Null, StatusPtr]
    ? Args
    : never;
};

export class InferenceContext {
  private readonly handles: (() => void)[] = [];
  private open = true;

  /** @internal */
  constructor(
    private readonly wasm: Wasm,
    private readonly scope: Scope,
    private readonly pointer: ShapeInferenceContextPtr,
  ) {}

  /** @internal Frees the handles; they must not be used any more. */
  close(): void {
    this.open = false;
    for (const free of this.handles) free();
  }

  /** @internal */
  checked<P>(user: InferenceContext, address: P): P {
    if (!this.open || user !== this)
      throw new FailedPreconditionError(
        'a shape or dimension is good only until the shape function that made it returns',
      );
    return address;
  }

  /** @internal */
  call<Name extends keyof Abi>(name: Name, ...args: Parameters<Abi[Name]>): ReturnType<Abi[Name]> {
    if (!this.open)
      throw new FailedPreconditionError('an InferenceContext is good only until its shape function returns');
    return (this.wasm.call[name] as (...args: Parameters<Abi[Name]>) => ReturnType<Abi[Name]>)(...args);
  }

  /** The number of an input or output as a 32-bit argument. */
  private index(i: number): number {
    checkIndex('an index', i);
    return i;
  }

  private newShape(): ShapeHandlePtr {
    const pointer = this.wasm.made(() => this.call('TF_NewShapeHandle'));
    this.handles.push(() => this.wasm.call.TF_DeleteShapeHandle(pointer));
    return pointer;
  }

  private newDim(): DimensionHandlePtr {
    const pointer = this.wasm.made(() => this.call('TF_NewDimensionHandle'));
    this.handles.push(() => this.wasm.call.TF_DeleteDimensionHandle(pointer));
    return pointer;
  }

  /** Calls TF_ShapeInferenceContext<name>(context, ...args, result, status). */
  private fill(name: string, ...args: unknown[]): void {
    const call = this.call as (name: string, ...args: unknown[]) => void;
    this.wasm.checked((status) =>
      call.call(this, `TF_ShapeInferenceContext${name}`, this.pointer, ...args, status),
    );
  }

  private shapeOf<Name extends keyof Makers<ShapeHandlePtr>>(
    name: Name,
    ...args: Makers<ShapeHandlePtr>[Name]
  ): ShapeHandle {
    const result = this.newShape();
    this.fill(name, ...args, result);
    return new ShapeHandle(this, result);
  }

  private dimOf<Name extends keyof Makers<DimensionHandlePtr>>(
    name: Name,
    ...args: Makers<DimensionHandlePtr>[Name]
  ): DimensionHandle {
    const result = this.newDim();
    this.fill(name, ...args, result);
    return new DimensionHandle(this, result);
  }

  private at(shape: ShapeInput): ShapeHandlePtr {
    return (
      shape instanceof ShapeHandle ? shape : shape === null ? this.unknownShape() : this.shape(shape)
    ).pointerIn(this);
  }

  private atDim(dim: DimInput): DimensionHandlePtr {
    return (dim instanceof DimensionHandle ? dim : this.makeDim(dim)).pointerIn(this);
  }

  // ---- inputs, attrs, outputs ----

  get numInputs(): number {
    return Number(this.call('TF_ShapeInferenceContextNumInputs', this.pointer));
  }
  get numOutputs(): number {
    return Number(this.call('TF_ShapeInferenceContextNumOutputs', this.pointer));
  }
  /** The version of the graph's producer. */
  get graphDefVersion(): number {
    return this.call('TF_ShapeInferenceContextGraphDefVersion', this.pointer);
  }

  input(i: number): ShapeHandle {
    checkIndex('an index', i);
    const result = this.newShape();
    this.wasm.checked((status) =>
      this.call('TF_ShapeInferenceContextGetInput', this.pointer, i, result, status),
    );
    return new ShapeHandle(this, result);
  }

  /**
   * The constant value of an input, or null if it is unknown. The engine then tries to compute it, and calls
   * the shape function again if it can.
   */
  inputTensor(i: number): Tensor | null {
    checkIndex('an index', i);
    const pointer = unsigned(
      this.wasm.checked((status) =>
        this.call('TF_ShapeInferenceContextInputTensor', this.pointer, i, status),
      ),
    );
    return pointer === 0 ? null : downloadTensor(this.wasm, pointer);
  }

  /** The shape given by input `i`, a vector of sizes, as far as its value is known. */
  inputAsShape(i: number): ShapeHandle {
    return this.shapeOf('MakeShapeFromShapeTensor', this.index(i));
  }

  /** The size given by the scalar input `i`. */
  inputAsDim(i: number): DimensionHandle {
    return this.dimOf('MakeDimForScalarInput', this.index(i));
  }

  attr(name: string): AttrValue {
    checkText("an attr's name", name);
    const text = this.scope.string(name);
    return decodeAttr(
      this.wasm.buffer((buffer, status) =>
        this.call('TF_ShapeInferenceContextGetAttrValueProto', this.pointer, text, buffer, status),
      ),
    );
  }

  /** An output that is never set is unknown. */
  setOutput(i: number, shape: ShapeInput): void {
    const at = this.at(shape);
    checkIndex('an index', i);
    this.wasm.checked((status) =>
      this.call('TF_ShapeInferenceContextSetOutput', this.pointer, i, at, status),
    );
  }

  // ---- new shapes ----

  shape(dims: readonly DimInput[]): ShapeHandle {
    checkList('a shape', dims);
    return this.shapeOf(
      'MakeShape',
      this.scope.pointers(Array.from(dims, (dim) => this.atDim(dim))),
      dims.length,
    );
  }
  /** Without arguments, the rank is unknown too. */
  unknownShape(rank?: number): ShapeHandle {
    return this.shapeOf('MakeUnknownShape', whole(rank ?? -1, 'a rank'));
  }
  makeDim(value: number | null): DimensionHandle {
    return this.dimOf('MakeDim', whole(value ?? -1, 'a size'));
  }

  // ---- queries ----

  rank(shape: ShapeInput): number | null {
    const rank = Number(this.call('TF_ShapeInferenceContextRank', this.pointer, this.at(shape)));
    return rank < 0 ? null : rank;
  }
  dim(shape: ShapeInput, i: number): DimensionHandle {
    const result = this.newDim();
    this.call('TF_ShapeInferenceContextDim', this.pointer, this.at(shape), whole(i, 'an index'), result);
    return new DimensionHandle(this, result);
  }
  numElements(shape: ShapeInput): DimensionHandle {
    return this.dimOf('NumElements', this.at(shape));
  }
  /** Whether the two are identical, known or not. */
  same(a: ShapeHandle | DimensionHandle, b: ShapeHandle | DimensionHandle): boolean {
    for (const handle of [a, b]) {
      if (!(handle instanceof ShapeHandle || handle instanceof DimensionHandle))
        throw new InvalidArgumentError(`${shown(handle)} is no shape and no dimension`);
    }
    if (a instanceof ShapeHandle && b instanceof ShapeHandle)
      return this.call('TF_ShapeHandleSame', a.pointerIn(this), b.pointerIn(this)) !== 0;
    if (a instanceof DimensionHandle && b instanceof DimensionHandle)
      return this.call('TF_DimensionHandleSame', a.pointerIn(this), b.pointerIn(this)) !== 0;
    return false;
  }

  // ---- checks: a mismatch is an InvalidArgumentError in TensorFlow's words ----

  withRank(shape: ShapeInput, rank: number): ShapeHandle {
    return this.shapeOf('WithRank', this.at(shape), whole(rank, 'a rank'));
  }
  withRankAtLeast(shape: ShapeInput, rank: number): ShapeHandle {
    return this.shapeOf('WithRankAtLeast', this.at(shape), whole(rank, 'a rank'));
  }
  withRankAtMost(shape: ShapeInput, rank: number): ShapeHandle {
    return this.shapeOf('WithRankAtMost', this.at(shape), whole(rank, 'a rank'));
  }
  withValue(dim: DimInput, value: number): DimensionHandle {
    return this.dimOf('WithValue', this.atDim(dim), whole(value, 'a size'));
  }

  // ---- combinations ----

  /** The merge of both. */
  merge(a: ShapeInput, b: ShapeInput): ShapeHandle {
    return this.shapeOf('Merge', this.at(a), this.at(b));
  }
  mergeDim(a: DimInput, b: DimInput): DimensionHandle {
    return this.dimOf('MergeDim', this.atDim(a), this.atDim(b));
  }
  /** The shape of both after broadcasting. */
  broadcast(a: ShapeInput, b: ShapeInput): ShapeHandle {
    return this.shapeOf('Broadcast', this.at(a), this.at(b));
  }
  concatenate(a: ShapeInput, b: ShapeInput): ShapeHandle {
    return this.shapeOf('ConcatenateShapes', this.at(a), this.at(b));
  }
  /** Dimensions [start, end), from the end if negative, in steps of `stride`. */
  subshape(shape: ShapeInput, start: number, end?: number, stride = 1): ShapeHandle {
    const last = end === undefined ? TO_THE_END : whole(end, 'an index');
    return this.shapeOf(
      'SubshapeWithStride',
      this.at(shape),
      whole(start, 'an index'),
      last,
      whole(stride, 'a stride'),
    );
  }
  replaceDim(shape: ShapeInput, i: number, dim: DimInput): ShapeHandle {
    return this.shapeOf('ReplaceDim', this.at(shape), whole(i, 'an index'), this.atDim(dim));
  }
  add(a: DimInput, b: DimInput): DimensionHandle {
    return this.dimOf('AddDims', this.atDim(a), this.atDim(b));
  }
  subtract(a: DimInput, b: DimInput): DimensionHandle {
    return this.dimOf('SubtractDims', this.atDim(a), this.atDim(b));
  }
  multiply(a: DimInput, b: DimInput): DimensionHandle {
    return this.dimOf('MultiplyDims', this.atDim(a), this.atDim(b));
  }
  /** Rounded down; with `evenly` a remainder is an error. */
  divide(dim: DimInput, divisor: number, options: { evenly?: boolean } = {}): DimensionHandle {
    checkOptions<{ evenly?: boolean }>('divide', options, { evenly: 'true or false' });
    return this.dimOf('DivideDim', this.atDim(dim), whole(divisor, 'a divisor'), options.evenly ? 1 : 0);
  }
  min(a: DimInput, b: DimInput): DimensionHandle {
    return this.dimOf('MinDims', this.atDim(a), this.atDim(b));
  }
  max(a: DimInput, b: DimInput): DimensionHandle {
    return this.dimOf('MaxDims', this.atDim(a), this.atDim(b));
  }
}

checkReceivers(InferenceContext, 'context');
checkReceivers(ShapeHandle, 'shape');
checkReceivers(DimensionHandle, 'dimension');
