/// <reference lib="esnext.disposable" preserve="true" />
/**
 * GraphCore: the basis of everything that works on a graph: its pointer, its operations by name, and `op`,
 * which adds one. All cores are Graphs.
 */
import { type Schema, checkList, checkOptions, checkText, shown } from '../base/arguments.js';
import type { AttrInput } from '../messages/attr-value.js';
import type { ShapeLike } from '../messages/tensor-proto.js';
import { didYouMean } from '../base/did-you-mean.js';
import { DTypeName, dtypeOf } from '../tensor/dtypes.js';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  ResourceExhaustedError,
  TFError,
} from '../base/errors.js';
import type { GraphPtr, OperationPtr, OutputPtr, Ptr, WasmOperationPtr } from '../generated/abi.js';
import type { Graph } from './graph.js';
import { HintedGraph, nodeNames, withHint } from './hints.js';
import { mergeDevices } from './device-scope.js';
import { OpDef, decodeOpDef, encodeAttrOf } from '../messages/op-def.js';
import { InputResolver, Operand, isPlainValue } from './op-inputs.js';
import { Input, Operation, Output, Variable, checkInput } from './operation.js';
import { Runtime, checkRuntime } from '../engine/runtime.js';
import { tensor } from '../tensor/convert.js';
import { TensorLike, checkShape } from '../tensor/tensor.js';
import { type Scope, type Wasm, unsigned } from '../engine/wasm.js';

export interface OpOptions {
  /** Must be unused; by default it is made from the op's type: MatMul, MatMul_1, … */
  name?: string;
  controlInputs?: readonly Operation[];
  /**
   * The device to run on, whole or in parts: '/cpu:1', '/job:worker/task:0'. What it leaves open is as in the
   * scope of `tf.device` around it.
   */
  device?: string;
}

/** The options of all calls that add operations. */
export const OP_OPTIONS: Schema<OpOptions> = {
  name: 'a string',
  controlInputs: 'an array',
  device: 'a string',
};

/** Makes a graph the body of a function, while a callable is traced. */
export interface BodyTrace {
  /** The value inside for an output of the surrounding graph. */
  capture(outside: Output): Output;
  /** Adds an operation of a type; stateful ones are ordered one after the other. */
  inOrder(
    type: string,
    options: OpOptions,
    make: (controlInputs: readonly Operation[] | undefined) => Operation,
  ): Operation;
}

const ATTR_OPTIONS = { ...OP_OPTIONS, attrs: 'an object' } as const;
const CONSTANT_OPTIONS = { ...OP_OPTIONS, dtype: 'anything', shape: 'an array' } as const;

/** "node:2" and "node" as [node, index]. */
export function splitOutputName(name: string): [string, number] {
  const match = /^([^]*):(\d{1,9})$/.exec(name); // an index with more digits would not fit
  return match ? [match[1]!, Number(match[2])] : [name, 0];
}

export abstract class GraphCore implements HintedGraph {
  readonly #runtime: Runtime;
  readonly #wasm: Wasm;
  readonly #address: GraphPtr;
  readonly #known = new Map<number, Operation>();
  #disposed = false;
  /** Set while a callable is traced: this graph is the body of a function. */
  #trace: BodyTrace | undefined;
  /** Set while this graph traces a callable: the body to which additions to this graph are redirected. */
  #body: GraphCore | undefined;
  /** Where `gradients` last returned null: 'y by x'. */
  #unconnected: string | undefined;

  /** Created by `new tf.Graph()`. */
  constructor(runtime: Runtime) {
    this.#runtime = checkRuntime(runtime, 'Graph', 'new tf.Graph()');
    this.#wasm = runtime.wasm;
    this.#wasm.refuseInCallback();
    this.#address = unsigned(this.#wasm.call.TF_NewGraph());
    if (this.#address === 0) throw new ResourceExhaustedError('OOM when allocating a graph');
    // The outputs of an op without a shape function have unknown shapes, as in TensorFlow's Python.
    this.#wasm.call.TF_SetRequireShapeInferenceFns(this.#address, 0);
    runtime.opened(this, 'graphs', this.#address);
  }

  /** @internal */
  get runtime(): Runtime {
    return this.#runtime;
  }
  /** @internal */
  get wasm(): Wasm {
    return this.#wasm;
  }
  /** @internal */
  get trace(): BodyTrace | undefined {
    return this.#trace;
  }
  /** @internal */
  set trace(trace: BodyTrace | undefined) {
    this.#trace = trace;
  }

  /** @internal */
  get pointer(): GraphPtr {
    this.checkUsable();
    return this.#address;
  }

  /** @internal Throws when the graph has been disposed, or while a shape function or kernel runs. */
  checkUsable(): void {
    if (this.#disposed) throw new FailedPreconditionError('the graph has been disposed');
    this.#wasm.refuseInCallback();
  }

  /** @internal The graph to which additions to this graph go: the body under trace, if there is one. */
  get target(): GraphCore {
    return this.#body?.target ?? this;
  }

  /** @internal */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** @internal A graph for the body of a function. */
  abstract newBody(): GraphCore;
  // For hints: names of functions, and whether there are variables.
  abstract functions(): { readonly name: string }[];
  abstract get hasMadeVariables(): boolean;

  // ---- building ----

  /**
   * Adds an operation. For a single input, a plain value (a number, arrays, a typed array) becomes a
   * constant; a list input takes an array of values. Attrs that follow from the inputs may be omitted.
   */
  op(
    type: string,
    inputs: readonly (Operand | readonly Operand[])[] = [],
    options: OpOptions & { attrs?: Record<string, AttrInput> } = {},
  ): Operation {
    if (this.#body) return this.#body.op(type, inputs, options);
    checkText('the type of an op', type);
    checkList(`the inputs of op ${type}`, inputs);
    checkOptions<OpOptions & { attrs: unknown }>(`op ${type}`, options, ATTR_OPTIONS);
    if (!this.trace) return this.#addOperation(type, inputs, options);
    return this.trace.inOrder(type, options, (controlInputs) =>
      this.#addOperation(type, inputs, { ...options, controlInputs }),
    );
  }

  #addOperation(
    type: string,
    inputs: readonly (Operand | readonly Operand[])[],
    options: OpOptions & { attrs?: Record<string, AttrInput> },
  ): Operation {
    const { wasm } = this;
    const def = this.findOpDef(type);
    try {
      /* The engine chooses a free name itself. Constants are named after the operation, so they need the name
       * before. */
      let { name } = options;
      if (!def && !inputs.flat().every((input) => input instanceof Output || input instanceof Variable))
        throw new NotFoundError(`Op type not registered '${type}'`);
      const outputs = new InputResolver(
        this,
        def,
        inputs,
        options.attrs,
        () => (name ??= this.uniqueName(type)),
      ).resolve();
      return wasm.scope((scope) => {
        const request = this.#request(scope, type, name, def, outputs, options);
        return this.operationAt(
          wasm.made((status) => wasm.call.TF_WasmAddOperation(this.pointer, request, status)),
        );
      });
    } catch (error) {
      throw error instanceof TFError
        ? withHint(error, this.runtime, this).locate(options.name ?? this.uniqueName(type), type)
        : error;
    }
  }

  /** Outside of scopes a name is kept as it is written. */
  #device(own: string | undefined): string {
    const around = this.runtime.device;
    return own && around ? mergeDevices(this.runtime, around, own) : own || around;
  }

  /** A TF_WasmOperation (src/wasm/wasm_exports.h). */
  #request(
    scope: Scope,
    type: string,
    name: string | undefined,
    def: OpDef | undefined,
    inputs: readonly (Output | Output[])[],
    options: OpOptions & { attrs?: Record<string, AttrInput> },
  ): WasmOperationPtr {
    const lengths: Ptr<'int'> = scope.words(
      inputs.map((input) => (Array.isArray(input) ? input.length : -1)),
    );
    const outputs = scope.outputs(inputs.flat());
    const controls = options.controlInputs ?? [];
    const controlPointers = controls.length ? this.operationArray(scope, controls) : 0;
    const [numAttrs, attrs] = scope.attrs(options.attrs ?? {}, (key, value) => encodeAttrOf(def, key, value));
    const device = this.#device(options.device);
    const typeName = def ? this.runtime.constantText(type) : scope.string(type);
    return scope.words([
      typeName,
      name === undefined ? typeName : scope.string(name),
      name === undefined ? 1 : 0,
      device ? scope.string(device) : 0,
      inputs.length,
      lengths,
      outputs,
      controls.length,
      numAttrs,
      controlPointers,
      attrs,
    ]);
  }

  /** @internal The output for an input; refuses outputs of other graphs. */
  own(input: Input): Output {
    checkInput(input);
    return input instanceof Variable ? this.read(input) : this.adopt(input);
  }

  /**
   * @internal The output if it is one of this graph; in the body of a function also a captured output of the surrounding
   * graph.
   */
  adopt(output: Output): Output {
    if (this.trace && output.graph !== (this as GraphCore)) return this.trace.capture(output);
    this.ownOperation(output.operation);
    return output;
  }

  /** @internal The value of a variable: in a body, its value when the body runs. */
  read(variable: Variable): Output {
    if (!this.trace || variable.handle.graph === (this as GraphCore)) return this.adopt(variable.value);
    const value = this.op('ReadVariableOp', [variable.handle], { attrs: { dtype: variable.dtype } }).output(
      0,
    );
    this.setShape(value, variable.shape);
    return value;
  }

  /** @internal An output for a value of this graph: plain values become constants. */
  asOutput(value: Operand, what: string): Output {
    if (value instanceof Output || value instanceof Variable) return this.own(value);
    if (isPlainValue(value)) return this.constant(value);
    const refused = `${what} is no Output, Variable or value`;
    throw value === null ? this.nullError(refused) : new InvalidArgumentError(`${refused}: ${shown(value)}`);
  }

  /** @internal Runs `use` with additions to this graph redirected to `body`. */
  whileTracing<T>(body: GraphCore | undefined, use: () => T): T {
    const before = this.#body;
    this.#body = body;
    try {
      return use();
    } finally {
      this.#body = before;
    }
  }

  /** @internal The operation if it is one of this graph. */
  ownOperation(operation: Operation): Operation {
    if (!(operation instanceof Operation)) {
      throw new InvalidArgumentError(
        `${shown(operation)} is no Operation${(operation as unknown) instanceof Output ? '; write output.operation' : ''}`,
      );
    }
    if (operation.graph !== (this as GraphCore))
      throw new InvalidArgumentError(`'${operation.name}' belongs to a different graph`);
    return operation;
  }

  placeholder(dtype: DTypeName, shape: ShapeLike = null, options: OpOptions = {}): Output {
    checkOptions<OpOptions>('placeholder', options, OP_OPTIONS);
    if (shape !== null) checkShape(shape);
    return this.op('Placeholder', [], { ...options, attrs: { dtype: dtypeOf(dtype), shape } }).output(0);
  }

  /** A constant. By default the dtype follows from the value (numbers are float32, bigints int64). */
  constant(
    value: TensorLike,
    options: OpOptions & { dtype?: DTypeName; shape?: readonly number[] } = {},
  ): Output {
    checkOptions<typeof options>('constant', options, CONSTANT_OPTIONS);
    const { dtype, shape, ...rest } = options;
    const content = tensor(value, shape, dtype);
    return this.op('Const', [], { ...rest, attrs: { value: content, dtype: content.dtype } }).output(0);
  }

  /** `base`, or base_1, base_2, … : a name that no operation has. */
  uniqueName(base: string): string {
    checkText('the beginning of a name', base);
    if (this.#body) return this.#body.uniqueName(base);
    return this.wasm.scope((scope) => {
      const pointer = this.wasm.call.TF_WasmUniqueName(this.pointer, scope.string(base));
      if (pointer === 0)
        throw new InvalidArgumentError(`no name could be made from '${base}': out of memory`);
      return this.wasm.text(pointer);
    });
  }

  // ---- lookup ----

  operation(name: string): Operation | undefined {
    checkText("an operation's name", name);
    const pointer = this.wasm.scope((scope) =>
      this.wasm.call.TF_GraphOperationByName(this.pointer, scope.string(name)),
    );
    return pointer === 0 ? undefined : this.operationAt(pointer);
  }

  operations(): Operation[] {
    return this.operationPointers().map((pointer) => this.operationAt(pointer));
  }

  /** @internal In the order of their addition. */
  operationPointers(): OperationPtr[] {
    const pointers: OperationPtr[] = [];
    this.wasm.scope((scope) => {
      const position: Ptr<'size_t'> = scope.alloc(4);
      this.wasm.u32[position >>> 2] = 0;
      for (let pointer; (pointer = this.wasm.call.TF_GraphNextOperation(this.pointer, position)) !== 0; )
        pointers.push(unsigned(pointer));
    });
    return pointers;
  }

  /** @internal The definition of an op, or the signature of a function of this graph. */
  findOpDef(type: string): OpDef | undefined {
    return this.runtime.findOpDef(type) ?? this.#findFunction(type);
  }

  /** The signature of a function of this graph. */
  #findFunction(name: string): OpDef | undefined {
    const { wasm } = this;
    if (wasm.call.TF_GraphNumFunctions(this.pointer) === 0) return undefined;
    try {
      return wasm.scope((scope) => {
        const text = scope.string(name);
        return decodeOpDef(
          wasm.buffer((buffer, status) => wasm.call.TF_GraphGetOpDef(this.pointer, text, buffer, status)),
        );
      });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** 'node:1' or 'node'. */
  output(name: string): Output {
    checkText("an output's name", name);
    const [node, index] = splitOutputName(name);
    return this.requiredOperation(node).output(index);
  }

  /** @internal The operation of a name. Throws NotFoundError. */
  requiredOperation(name: string): Operation {
    const operation = this.operation(name);
    if (operation) return operation;
    throw new NotFoundError(
      `there is no operation '${name}' in the graph${didYouMean(name, nodeNames(this))}`,
    );
  }

  /** Refines the known shape of an output; a contradiction is an error. */
  setShape(output: Output, shape: ShapeLike): void {
    if (this.#body) return this.#body.setShape(output, shape);
    const owned = this.own(output);
    if (shape === null) return;
    checkShape(shape);
    this.wasm.scope((scope) => {
      const [place, dims] = [scope.outputs([owned]), scope.dims(shape)];
      this.wasm.checked((status) =>
        this.wasm.call.TF_GraphSetTensorShape(this.pointer, place, dims, shape.length, status),
      );
    });
  }

  /** @internal The operation at a pointer returned by the engine. */
  operationAt(pointer: OperationPtr): Operation {
    /* Small keys are faster; pointers are aligned to 8. */
    const key = pointer >>> 3;
    let operation = this.#known.get(key);
    if (!operation)
      this.#known.set(key, (operation = new Operation(this as GraphCore as Graph, unsigned(pointer))));
    return operation;
  }

  /** @internal Output `i` of those that the engine wrote to memory. */
  outputAt(outputs: OutputPtr, i: number): Output {
    const words = this.wasm.u32;
    return this.operationAt(words[(outputs >>> 2) + 2 * i] as OperationPtr).output(
      words[(outputs >>> 2) + 2 * i + 1]!,
    );
  }

  /** @internal Records where gradients are missing, for the error about null. */
  noteUnconnected(where: string): void {
    this.#unconnected = where;
  }

  /** @internal The error for null in place of an output: `gradients` returns it where no gradient flows. */
  nullError(what: string): InvalidArgumentError {
    const flows = this.#unconnected ? ` (the last time, ${this.#unconnected})` : '';
    return new InvalidArgumentError(
      `${what}: null. gradients() gives null where no gradient flows${flows}: leave that one out, or ask for zeros with { unconnectedGradients: 'zero' }`,
    );
  }

  /** @internal One input, or a list of them, as a list. */
  inputsOf(what: string, inputs: Input | null | readonly (Input | null)[]): Input[] {
    if (inputs instanceof Output || inputs instanceof Variable) return [inputs];
    checkList(what, inputs);
    return Array.from(inputs as readonly (Input | null)[], (input, i) => {
      if (input === null) throw this.nullError(`${what}[${i}] is no Output`);
      checkInput(input);
      return input;
    });
  }

  /** @internal Like inputsOf: the outputs for them. */
  outputsOf(what: string, inputs: Input | null | readonly (Input | null)[]): Output[] {
    return this.inputsOf(what, inputs).map((input) => this.own(input));
  }

  /** @internal An array of the operations for a call. */
  operationArray(scope: Scope, operations: readonly Operation[]): Ptr<OperationPtr> {
    return scope.pointers(Array.from(operations, (operation) => this.ownOperation(operation).pointer));
  }

  // ---- disposing ----

  /** Frees the graph (when its sessions are closed too). It must not be used any more. */
  dispose(): void {
    if (this.#disposed) return;
    this.wasm.refuseInCallback();
    this.#disposed = true;
    this.runtime.closed(this, 'graphs');
    this.wasm.call.TF_DeleteGraph(this.#address);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
