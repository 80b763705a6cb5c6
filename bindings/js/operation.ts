/** Operation, Output and Variable: the things that a graph is made of, as handles. */
import { AttrValue, decodeAttr } from './attr-value.js';
import { DType, dtypeFromNumber } from './dtypes.js';
import { OutOfRangeError } from './errors.js';
import type { Graph } from './graph.js';
import { fieldsOf, textOf } from './protobuf.js';

/** A node of a graph. Lives as long as its graph. */
export class Operation {
  /** Made by graphs only. */
  constructor(readonly graph: Graph, private readonly address: number) {}

  /** @internal */
  get pointer(): number {
    this.graph.checkUsable();
    return this.address;
  }

  get name(): string {
    return this.graph.wasm.text(this.graph.wasm.call.TF_OperationName!(this.pointer));
  }
  get type(): string {
    return this.graph.wasm.text(this.graph.wasm.call.TF_OperationOpType!(this.pointer));
  }
  get device(): string {
    return this.graph.wasm.text(this.graph.wasm.call.TF_OperationDevice!(this.pointer));
  }

  get outputs(): Output[] {
    return Array.from({ length: this.numOutputs }, (_, i) => new Output(this, i));
  }

  private get numOutputs(): number {
    return this.graph.wasm.call.TF_OperationNumOutputs!(this.pointer);
  }

  output(index: number): Output {
    if (!(index >= 0 && index < this.numOutputs)) {
      throw new OutOfRangeError(`Operation '${this.name}' (${this.type}) has ${this.numOutputs} outputs, so none of index ${index}`);
    }
    return new Output(this, index);
  }

  /** The values that feed this operation, in order. */
  get inputs(): Output[] {
    const { wasm } = this.graph;
    const count = wasm.call.TF_OperationNumInputs!(this.pointer);
    return wasm.scope((scope) =>
      Array.from({ length: count }, (_, i) => {
        const result = scope.alloc(8);
        wasm.call.TF_OperationInput!(result, scope.outputs([{ operation: this, index: i }]));
        return this.graph.outputAt(wasm.u32[result >>> 2]!, wasm.u32[(result >>> 2) + 1]!);
      }),
    );
  }

  get controlInputs(): Operation[] {
    const { wasm } = this.graph;
    const count = wasm.call.TF_OperationNumControlInputs!(this.pointer);
    return wasm.scope((scope) => {
      const array = scope.alloc(4 * count);
      wasm.call.TF_OperationGetControlInputs!(this.pointer, array, count);
      return Array.from(wasm.u32.subarray(array >>> 2, (array >>> 2) + count), (pointer) => this.graph.operationAt(pointer));
    });
  }

  attr(name: string): AttrValue {
    const { wasm } = this.graph;
    return wasm.scope((scope) =>
      decodeAttr(wasm.buffer((buffer, status) => wasm.call.TF_OperationGetAttrValueProto!(this.pointer, scope.string(name), buffer, status))),
    );
  }

  /** Serialised. */
  toNodeDef(): Uint8Array {
    const { wasm } = this.graph;
    return wasm.buffer((buffer, status) => wasm.call.TF_OperationToNodeDef!(this.pointer, buffer, status));
  }

  /** "{{node n}} = Op(a, b:1, ^c)" */
  toString(): string {
    const inputs: string[] = [];
    for (const field of fieldsOf(this.toNodeDef())) if (field.number === 3) inputs.push(textOf(field));
    return `{{node ${this.name}}} = ${this.type}(${inputs.join(', ')})`;
  }
}

/** One value of a graph: output `index` of an operation. */
export class Output {
  /** Made by graphs only. */
  constructor(readonly operation: Operation, readonly index: number) {}

  get graph(): Graph {
    return this.operation.graph;
  }
  /** 'node:0' */
  get name(): string {
    return `${this.operation.name}:${this.index}`;
  }

  get dtype(): DType {
    const { wasm } = this.graph;
    return wasm.scope((scope) => dtypeFromNumber(wasm.call.TF_OperationOutputType!(scope.outputs([this]))));
  }

  /** What shape inference knows: null for an unknown rank, null inside for an unknown size. */
  get shape(): (number | null)[] | null {
    const { wasm } = this.graph;
    return wasm.scope((scope) => {
      const output = scope.outputs([this]);
      const rank = wasm.checked((status) => wasm.call.TF_GraphGetTensorNumDims!(this.graph.pointer, output, status));
      if (rank < 0) return null;
      const dims = scope.alloc(8 * rank);
      wasm.checked((status) => wasm.call.TF_GraphGetTensorShape!(this.graph.pointer, output, dims, rank, status));
      return Array.from(wasm.i64.subarray(dims >>> 3, (dims >>> 3) + rank), (size) => (size < 0n ? null : Number(size)));
    });
  }

  toString(): string {
    const shape = this.shape;
    return `Output<${this.name} ${this.dtype} ${shape ? `[${shape.map((size) => size ?? '?')}]` : '?'}>`;
  }
}

/** A variable: state of a session. Stands wherever an Output can, as its current value. */
export class Variable {
  constructor(
    /** The resource that names it; what the ResourceApply… ops take. */
    readonly handle: Output,
    /** Its value, read in the step that asks. */
    readonly value: Output,
    /** Assigns the initial value. */
    readonly initializer: Operation,
    readonly trainable: boolean,
  ) {}

  get name(): string {
    return this.handle.operation.name;
  }
  get dtype(): DType {
    return this.value.dtype;
  }
  get shape(): (number | null)[] | null {
    return this.value.shape;
  }
  toString(): string {
    return `Variable<${this.name} ${this.dtype} [${this.shape?.map((size) => size ?? '?') ?? '?'}]>`;
  }
}

/** What an op takes as an input. */
export type Input = Output | Variable;

export const valueOf = (input: Input): Output => (input instanceof Variable ? input.value : input);
