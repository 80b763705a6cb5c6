/** Operation, Output and Variable: handles of the parts of a graph. */
import { checkReceivers, checkText, isPlainObject, shown } from '../base/arguments.js';
import { AttrValue, decodeAttr } from '../messages/attr-value.js';
import { decodeNodeAttrs } from '../messages/node-def.js';
import { showAs } from '../base/console-line.js';
import { didYouMean } from '../base/did-you-mean.js';
import { DType, dtypeFromNumber } from '../tensor/dtypes.js';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  OutOfRangeError,
  TFError,
} from '../base/errors.js';
import type { Abi, InputPtr, OperationPtr, OutputPtr, Ptr } from '../generated/abi.js';
import type { Graph } from './graph.js';
import type { OpDef } from '../messages/op-def.js';
import type { TensorLike } from '../tensor/tensor.js';

/** A node of a graph. Lives as long as its graph. */
export class Operation {
  /** Created by graphs only. */
  constructor(
    readonly graph: Graph,
    private readonly address: OperationPtr,
  ) {
    if (typeof address !== 'number') throw new TypeError('operations are made by graphs: write graph.op(…)');
  }

  /** @internal */
  get pointer(): OperationPtr {
    this.graph.checkUsable();
    return this.address;
  }

  get name(): string {
    return this.graph.wasm.text(this.graph.wasm.call.TF_OperationName(this.pointer));
  }
  get type(): string {
    return this.graph.wasm.text(this.graph.wasm.call.TF_OperationOpType(this.pointer));
  }
  get device(): string {
    return this.graph.wasm.text(this.graph.wasm.call.TF_OperationDevice(this.pointer));
  }

  get outputs(): Output[] {
    return Array.from({ length: this.numOutputs }, (_, i) => new Output(this, i, KNOWN));
  }

  private get numOutputs(): number {
    return this.graph.wasm.call.TF_OperationNumOutputs(this.pointer);
  }

  output(index: number): Output {
    const { numOutputs } = this;
    if (!(Number.isInteger(index) && index >= 0 && index < numOutputs)) {
      throw new OutOfRangeError(
        `Operation '${this.name}' (${this.type}) has ${numOutputs} output${numOutputs === 1 ? '' : 's'}, so none of index ${shown(index)}`,
      );
    }
    return new Output(this, index, KNOWN);
  }

  /** The inputs of this operation, in order. */
  get inputs(): Output[] {
    const { wasm } = this.graph;
    const count = wasm.call.TF_OperationNumInputs(this.pointer);
    return wasm.scope((scope) => {
      const inputs: OutputPtr = scope.alloc(8 * count);
      wasm.call.TF_OperationAllInputs(this.pointer, inputs, count);
      return Array.from({ length: count }, (_, i) => this.graph.outputAt(inputs, i));
    });
  }

  get controlInputs(): Operation[] {
    return this.neighbours('TF_OperationNumControlInputs', 'TF_OperationGetControlInputs');
  }

  /** The operations with a control input from this one. */
  get controlOutputs(): Operation[] {
    return this.neighbours('TF_OperationNumControlOutputs', 'TF_OperationGetControlOutputs');
  }

  private neighbours(
    number: keyof Abi & `TF_OperationNumControl${string}`,
    get: keyof Abi & `TF_OperationGetControl${string}`,
  ): Operation[] {
    const { wasm } = this.graph;
    const count = wasm.call[number](this.pointer);
    return wasm.scope((scope) => {
      const array: Ptr<OperationPtr> = scope.alloc(4 * count);
      wasm.call[get](this.pointer, array, count);
      return Array.from({ length: count }, (_, i) => this.graph.operationAt(wasm.at(array, i)));
    });
  }

  /**
   * The definition of its type; undefined if neither an op nor a function of the graph has that name any
   * more.
   */
  get opDef(): OpDef | undefined {
    return this.graph.findOpDef(this.type);
  }

  attr(name: string): AttrValue {
    checkText("an attr's name", name);
    const { wasm } = this.graph;
    try {
      return wasm.scope((scope) =>
        decodeAttr(
          wasm.buffer((buffer, status) =>
            wasm.call.TF_OperationGetAttrValueProto(this.pointer, scope.string(name), buffer, status),
          ),
        ),
      );
    } catch (error) {
      if (!(error instanceof TFError)) throw error;
      const meant =
        error instanceof NotFoundError || error instanceof InvalidArgumentError
          ? didYouMean(name, Object.keys(this.attrs()))
          : '';
      throw (meant === '' ? error : error.hint(`D${meant.slice(3)}`)).locate(this.name, this.type);
    }
  }

  /** All attrs, defaults too. */
  attrs(): Record<string, AttrValue> {
    return decodeNodeAttrs(this.toNodeDef());
  }

  /** Serialised. */
  toNodeDef(): Uint8Array {
    const { wasm } = this.graph;
    return wasm.buffer((buffer, status) => wasm.call.TF_OperationToNodeDef(this.pointer, buffer, status));
  }

  /**
   * The node as in TensorFlow's messages: "{{node n}} = Op[T=DT_FLOAT](a, b:1, ^c)". Long values are
   * truncated.
   */
  toString(): string {
    const { wasm } = this.graph;
    return wasm.bufferText((buffer, status) =>
      wasm.call.TF_WasmOperationSummary(this.pointer, buffer, status),
    );
  }
}

/** A consumer of an output: input `index` of an operation. */
export interface Consumer {
  readonly operation: Operation;
  readonly index: number;
}

/** Given with a valid index of the operation. */
const KNOWN = Symbol('known');

/** One value of a graph: output `index` of an operation. */
export class Output {
  /** As operation.output(index). */
  constructor(
    readonly operation: Operation,
    readonly index: number,
    known?: symbol,
  ) {
    if (known === KNOWN) return;
    if (!(operation instanceof Operation))
      throw new TypeError('outputs are made by operations: write operation.output(index)');
    operation.output(index);
  }

  get graph(): Graph {
    return this.operation.graph;
  }
  /** 'node:0' */
  get name(): string {
    return `${this.operation.name}:${this.index}`;
  }

  get dtype(): DType {
    const { wasm } = this.graph;
    return wasm.scope((scope) => dtypeFromNumber(wasm.call.TF_OperationOutputType(scope.outputs([this]))));
  }

  /** The inferred shape: null for an unknown rank, null inside for an unknown size. */
  get shape(): (number | null)[] | null {
    const { wasm } = this.graph;
    return wasm.scope((scope) => {
      const output = scope.outputs([this]);
      const rank = wasm.checked((status) =>
        wasm.call.TF_GraphGetTensorNumDims(this.graph.pointer, output, status),
      );
      if (rank < 0) return null;
      const dims: Ptr<'int64_t'> = scope.alloc(8 * rank);
      wasm.checked((status) =>
        wasm.call.TF_GraphGetTensorShape(this.graph.pointer, output, dims, rank, status),
      );
      return Array.from(wasm.i64.subarray(dims >>> 3, (dims >>> 3) + rank), (size) =>
        size < 0n ? null : Number(size),
      );
    });
  }

  /** The inputs that this output feeds. */
  consumers(): Consumer[] {
    const { wasm } = this.graph;
    return wasm.scope((scope) => {
      const self = scope.outputs([this]);
      const count = wasm.call.TF_OperationOutputNumConsumers(self);
      const array: InputPtr = scope.alloc(8 * count);
      wasm.call.TF_OperationOutputConsumers(self, array, count);
      const words = wasm.u32.slice(array >>> 2, (array >>> 2) + 2 * count);
      return Array.from({ length: count }, (_, i) => ({
        operation: this.graph.operationAt(words[2 * i] as OperationPtr),
        index: words[2 * i + 1]!,
      }));
    });
  }

  toString(): string {
    const shape = this.shape;
    return `Output<${this.name} ${this.dtype} ${shape ? `[${shape.map((size) => size ?? '?')}]` : '?'}>`;
  }
}

/** The nodes of a variable, as far as the graph has them. */
export interface VariableNodes {
  readonly value?: Output | undefined;
  readonly initializer?: Operation | undefined;
}

/**
 * A variable: state of a session. It can be used as an Output, which is its current value. Imported graphs
 * may also have TensorFlow 1's reference variables.
 */
export class Variable {
  readonly #initializer: Operation | undefined;
  #value: Output | undefined;

  constructor(
    /** The resource handle, which the ResourceApply… ops take, or the reference, which the Apply… ops take. */
    readonly handle: Output,
    nodes: VariableNodes,
    /** Whether optimizers train it unless they are given a list of variables. */
    public trainable: boolean,
  ) {
    if (!(handle instanceof Output && isPlainObject(nodes) && typeof trainable === 'boolean')) {
      throw new TypeError('variables are made by graphs: write graph.variable(initialValue)');
    }
    this.#value = nodes.value as Output | undefined;
    this.#initializer = nodes.initializer as Operation | undefined;
  }

  /** Whether it is a reference variable, of the ops VariableV2 and Variable. */
  get isReference(): boolean {
    return this.handle.operation.type !== 'VarHandleOp';
  }
  get name(): string {
    return this.handle.operation.name;
  }
  get dtype(): DType {
    return this.isReference ? this.handle.dtype : (this.handle.operation.attr('dtype') as DType);
  }
  get shape(): (number | null)[] | null {
    return this.#value?.shape ?? (this.handle.operation.attr('shape') as (number | null)[] | null);
  }

  /** Its value, read in the current step. */
  get value(): Output {
    return (this.#value ??= this.isReference ? this.handle : this.read());
  }

  /** Assigns the initial value. An imported variable may have no such operation: FailedPreconditionError. */
  get initializer(): Operation {
    if (!this.#initializer)
      throw new FailedPreconditionError(
        `the graph has no operation that gives variable ${this.name} its initial value`,
      );
    return this.#initializer;
  }
  get hasInitializer(): boolean {
    return this.#initializer !== undefined;
  }

  /** Adds a read of the value. With `controlInputs` it happens after these. */
  read(options: { controlInputs?: readonly Operation[] } = {}): Output {
    const { graph } = this.handle;
    return this.isReference
      ? graph.op('Identity', [this.handle], options).output(0)
      : graph.op('ReadVariableOp', [this.handle], { ...options, attrs: { dtype: this.dtype } }).output(0);
  }

  /** Adds an operation that assigns a value: one of the graph, or a constant. */
  assign(value: Input | TensorLike, options: { controlInputs?: readonly Operation[] } = {}): Operation {
    return this.handle.graph.op(
      this.isReference ? 'Assign' : 'AssignVariableOp',
      [this.handle, value],
      options,
    );
  }

  toString(): string {
    return `Variable<${this.name} ${this.dtype} [${this.shape?.map((size) => size ?? '?') ?? '?'}]>`;
  }
}

/** The types of an op's input. */
export type Input = Output | Variable;

export const valueOf = (input: Input): Output => (input instanceof Variable ? input.value : input);

/** Throws unless it is an Output or a Variable. */
export function checkInput(value: unknown, what = ''): asserts value is Input {
  if (value instanceof Output || value instanceof Variable) return;
  const hint =
    value instanceof Operation
      ? '; write operation.output(0)'
      : typeof value === 'string'
        ? "; write graph.output('name')"
        : '';
  throw new InvalidArgumentError(
    `${what === '' ? '' : `${what}: `}${shown(value)} is no Output or Variable${hint}`,
  );
}

for (const Class of [Operation, Output, Variable]) {
  const name = Class.name.toLowerCase();
  checkReceivers(Class, name);
  showAs<object>(Class, Class.name, (object) => String(object));
}
