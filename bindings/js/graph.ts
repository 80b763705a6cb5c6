/// <reference lib="esnext.disposable" preserve="true" />
/** Graph: building, importing, differentiating and exporting. The op wrappers come from generated/graph-ops.ts. */
import { Schema, checkList, checkOptions, checkReceivers, checkText, checkTexts, shown } from './arguments.js';
import { AttrInput, ShapeLike, encodeAttrOf } from './attr-value.js';
import { counted, showAs } from './console-line.js';
import { Body, CallOptions, Trace, addCond, addWhileLoop, callFunction } from './control-flow.js';
import { didYouMean } from './did-you-mean.js';
import { DTypeName, dtypeOf } from './dtypes.js';
import { FailedPreconditionError, InvalidArgumentError, NotFoundError, ResourceExhaustedError, TFError } from './errors.js';
import { FunctionDef } from './function-def.js';
import { GraphOps } from './generated/graph-ops.js';
import { nodeNames, withHint } from './hints.js';
import { ImportOptions, ImportResults, importInto, splitOutputName } from './import-graph.js';
import { OpDef, decodeOpDef } from './op-def.js';
import { InputResolver, Operand, isPlainValue } from './op-inputs.js';
import { Input, Operation, Output, Variable, checkInput } from './operation.js';
import { fieldsOf, intOf, varintsOf } from './protobuf.js';
import { Runtime, checkRuntime } from './runtime.js';
import { TensorLike, checkShape, tensor } from './tensor.js';
import type { Scope, Wasm } from './wasm.js';

export interface OpOptions {
  /** Must be unused; without it the op's type makes one: MatMul, MatMul_1, … */
  name?: string;
  controlInputs?: readonly Operation[];
  device?: string;
}

/** What every call that adds operations may be told. */
export const OP_OPTIONS: Schema<OpOptions> = { name: 'a string', controlInputs: 'an array', device: 'a string' };

export interface GradientOptions {
  /** What arrives at each y; 1 for all of its elements unless given. */
  gradYs?: Input | readonly Input[];
  /** What is taken as constant. */
  stopGradients?: Input | readonly Input[];
  /** What the names of the new operations begin with. Default: gradients. */
  name?: string;
  /** What stands where no gradient flows: null, or zeros of the shape of x. Default: 'none'. */
  unconnectedGradients?: 'none' | 'zero';
}

export interface FunctionParts {
  inputs: readonly Input[];
  /** null, as `gradients` gives it, is refused. */
  outputs: readonly (Input | null)[];
  operations?: readonly Operation[];
  outputNames?: readonly string[];
  /** Operations that every call runs, whether a result needs them or not. */
  controlOutputs?: readonly Operation[];
}

export interface GraphVersions {
  producer: number;
  minConsumer: number;
  badConsumers: number[];
}

type MaybeList<T> = T | readonly T[];

const ATTR_OPTIONS = { ...OP_OPTIONS, attrs: 'an object' } as const;
const CONSTANT_OPTIONS = { ...OP_OPTIONS, dtype: 'anything', shape: 'an array' } as const;
const VARIABLE_OPTIONS = { name: 'a string', trainable: 'true or false', dtype: 'anything' } as const;
const GRADIENT_OPTIONS: Schema<GradientOptions> = { gradYs: 'anything', stopGradients: 'anything', name: 'a string', unconnectedGradients: 'anything' };
const FUNCTION_PARTS: Schema<FunctionParts> = { inputs: 'an array', outputs: 'an array', operations: 'an array', outputNames: 'an array', controlOutputs: 'an array' };

export class Graph extends GraphOps {
  readonly #runtime: Runtime;
  readonly #wasm: Wasm;
  readonly #address: number;
  readonly #known = new Map<number, Operation>();
  readonly #variables: Variable[] = [];
  #initializers: { operation: Operation; count: number } | undefined;
  #disposed = false;
  /** What this graph is the body of, while a callable is traced. */
  #trace: Trace | undefined;
  /** The body that a callable, called by this graph, builds: what it adds to this graph goes there. */
  #body: Graph | undefined;
  /** Where `gradients` gave null last: 'y by x'. */
  #unconnected: string | undefined;

  /** Made by `new tf.Graph()`. */
  constructor(runtime: Runtime) {
    super();
    this.#runtime = checkRuntime(runtime, 'Graph', 'new tf.Graph()');
    this.#wasm = runtime.wasm;
    this.#wasm.refuseInCallback();
    this.#address = this.#wasm.call.TF_NewGraph!() >>> 0;
    if (this.#address === 0) throw new ResourceExhaustedError('OOM when allocating a graph');
    // An op without a shape function has outputs of unknown shape, as in TensorFlow's Python.
    this.#wasm.call.TF_SetRequireShapeInferenceFns!(this.#address, 0);
    runtime.opened(this, 'graphs', this.#address, 'TF_DeleteGraph');
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
  get trace(): Trace | undefined {
    return this.#trace;
  }
  /** @internal */
  set trace(trace: Trace | undefined) {
    this.#trace = trace;
  }

  /** @internal */
  get pointer(): number {
    this.checkUsable();
    return this.#address;
  }

  /** @internal Throws when the graph has been disposed, or a shape function or kernel runs. */
  checkUsable(): void {
    if (this.#disposed) throw new FailedPreconditionError('the graph has been disposed');
    this.#wasm.refuseInCallback();
  }

  /** 'Graph<12 nodes, 1 variable>' */
  override toString(): string {
    if (this.#disposed) return 'Graph<disposed>';
    const functions = this.#wasm.call.TF_GraphNumFunctions!(this.#address);
    const parts = [counted(this.operations().length, 'node')];
    if (this.#variables.length > 0) parts.push(counted(this.#variables.length, 'variable'));
    if (functions > 0) parts.push(counted(functions, 'function'));
    return `Graph<${parts.join(', ')}>`;
  }

  // ---- building ----

  /**
   * Adds an operation. Where the op takes one value, a plain one (a number, arrays, a typed array) stands for a constant; where it takes a list,
   * an array of them. Attrs that follow from the inputs need not be given.
   */
  op(type: string, inputs: readonly (Operand | readonly Operand[])[] = [], options: OpOptions & { attrs?: Record<string, AttrInput> } = {}): Operation {
    if (this.#body) return this.#body.op(type, inputs, options);
    checkText('the type of an op', type);
    checkList(`the inputs of op ${type}`, inputs);
    checkOptions<OpOptions & { attrs: unknown }>(`op ${type}`, options, ATTR_OPTIONS);
    if (!this.trace) return this.#addOperation(type, inputs, options);
    return this.trace.inOrder(type, options, (controlInputs) => this.#addOperation(type, inputs, { ...options, controlInputs }));
  }

  #addOperation(type: string, inputs: readonly (Operand | readonly Operand[])[], options: OpOptions & { attrs?: Record<string, AttrInput> }): Operation {
    const { wasm } = this;
    const def = this.findOpDef(type);
    try {
      /* The engine chooses a free name by itself; constants are named after the operation, so then it has to be known before. */
      let { name } = options;
      if (!def && !inputs.flat().every((input) => input instanceof Output || input instanceof Variable)) throw new NotFoundError(`Op type not registered '${type}'`);
      const outputs = new InputResolver(this, def, inputs, options.attrs, () => (name ??= this.uniqueName(type))).resolve();
      return wasm.scope((scope) => {
        const request = this.#request(scope, type, name, def, outputs, options);
        return this.operationAt(wasm.made((status) => wasm.call.TF_WasmAddOperation!(this.pointer, request, status)));
      });
    } catch (error) {
      throw error instanceof TFError ? withHint(error, this.runtime, this).locate(options.name ?? this.uniqueName(type), type) : error;
    }
  }

  /** A TF_WasmOperation (src/wasm/wasm_exports.h). */
  #request(
    scope: Scope, type: string, name: string | undefined, def: OpDef | undefined, inputs: readonly (Output | Output[])[],
    options: OpOptions & { attrs?: Record<string, AttrInput> },
  ): number {
    const lengths = scope.ints(inputs.map((input) => (Array.isArray(input) ? input.length : -1)));
    const outputs = scope.outputs(inputs.flat());
    const controls = options.controlInputs ?? [];
    const controlPointers = controls.length ? scope.pointers(Array.from(controls, (control) => this.ownOperation(control).pointer)) : 0;
    const attrs: number[] = [];
    for (const key in options.attrs) {
      const value = options.attrs[key];
      if (value === undefined) continue;
      const bytes = encodeAttrOf(def, key, value);
      attrs.push(scope.string(key), scope.bytes(bytes), bytes.length);
    }
    const typeName = def ? this.runtime.constantText(type) : scope.string(type);
    return scope.pointers([
      typeName, name === undefined ? typeName : scope.string(name), name === undefined ? 1 : 0, options.device ? scope.string(options.device) : 0,
      inputs.length, lengths, outputs, controls.length, attrs.length / 3, controlPointers, attrs.length ? scope.pointers(attrs) : 0,
    ]);
  }

  /** The output behind an input; what belongs to another graph is refused. */
  #own(input: Input): Output {
    checkInput(input);
    return input instanceof Variable ? this.read(input) : this.adopt(input);
  }

  /** @internal The output, when it is one of this graph; in the body of a function also what the function takes from the graph around. */
  adopt(output: Output): Output {
    if (this.trace && output.graph !== this) return this.trace.capture(output);
    this.ownOperation(output.operation);
    return output;
  }

  /** @internal The value of a variable: in a body what it is when the body comes there. */
  read(variable: Variable): Output {
    if (!this.trace || variable.handle.graph === this) return this.adopt(variable.value);
    const value = this.op('ReadVariableOp', [variable.handle], { attrs: { dtype: variable.dtype } }).output(0);
    this.setShape(value, variable.shape);
    return value;
  }

  /** @internal What stands for a value of this graph, as one: plain values become constants. */
  asOutput(value: Operand, what: string): Output {
    if (value instanceof Output || value instanceof Variable) return this.#own(value);
    if (isPlainValue(value)) return this.constant(value);
    const refused = `${what} is no Output, Variable or value`;
    throw value === null ? this.nullError(refused) : new InvalidArgumentError(`${refused}: ${shown(value)}`);
  }

  /** @internal Runs `use`; what it adds to this graph is added to `body` instead. */
  whileTracing<T>(body: Graph | undefined, use: () => T): T {
    const before = this.#body;
    this.#body = body;
    try {
      return use();
    } finally {
      this.#body = before;
    }
  }

  /** @internal The operation, when it is one of this graph. */
  ownOperation(operation: Operation): Operation {
    if (!(operation instanceof Operation)) {
      throw new InvalidArgumentError(`${shown(operation)} is no Operation${(operation as unknown) instanceof Output ? '; write output.operation' : ''}`);
    }
    if (operation.graph !== this) throw new InvalidArgumentError(`'${operation.name}' belongs to a different graph`);
    return operation;
  }

  placeholder(dtype: DTypeName, shape: ShapeLike = null, options: OpOptions = {}): Output {
    checkOptions<OpOptions>('placeholder', options, OP_OPTIONS);
    if (shape !== null) checkShape(shape);
    return this.op('Placeholder', [], { ...options, attrs: { dtype: dtypeOf(dtype), shape } }).output(0);
  }

  /** A constant. The dtype is guessed from the value (numbers are float32, bigints int64) unless `dtype` says it. */
  constant(value: TensorLike, options: OpOptions & { dtype?: DTypeName; shape?: readonly number[] } = {}): Output {
    checkOptions<typeof options>('constant', options, CONSTANT_OPTIONS);
    const { dtype, shape, ...rest } = options;
    const content = tensor(value, shape, dtype);
    return this.op('Const', [], { ...rest, attrs: { value: content, dtype: content.dtype } }).output(0);
  }

  /** A resource variable that starts with `initial` when `initializer()` is run. */
  variable(initial: Input | TensorLike, options: { name?: string; trainable?: boolean; dtype?: DTypeName } = {}): Variable {
    if (this.#body) throw new InvalidArgumentError('a variable cannot be made inside of a function; it can be made before, and used there');
    checkOptions<typeof options>('variable', options, VARIABLE_OPTIONS);
    const name = options.name ?? this.uniqueName('Variable');
    const start =
      initial instanceof Output
        ? initial
        : initial instanceof Variable
          ? initial.initializer.inputs[1]! // its value would be read before it is there
          : this.constant(initial, { name: this.uniqueName(`${name}/initial_value`), dtype: options.dtype });
    const handle = this.op('VarHandleOp', [], { name, attrs: { dtype: start.dtype, shape: start.shape, shared_name: name } }).output(0);
    const assign = this.op('AssignVariableOp', [handle, start], { name: `${name}/Assign` });
    const value = this.op('ReadVariableOp', [handle], { name: `${name}/Read`, attrs: { dtype: start.dtype } }).output(0);
    const variable = new Variable(handle, value, assign, options.trainable ?? true);
    this.#variables.push(variable);
    return variable;
  }

  /** The variables made by `variable`, in order. */
  get trainableVariables(): Variable[] {
    return this.#variables.filter((variable) => variable.trainable);
  }
  get allVariables(): Variable[] {
    return [...this.#variables];
  }

  /** Runs every variable's initial assignment. */
  initializer(): Operation {
    if (this.#initializers?.count !== this.#variables.length) {
      const operation = this.op('NoOp', [], { name: this.uniqueName('init'), controlInputs: this.#variables.map((v) => v.initializer) });
      this.#initializers = { operation, count: this.#variables.length };
    }
    return this.#initializers.operation;
  }

  /** `base`, or base_1, base_2, … : a name that no operation has. */
  uniqueName(base: string): string {
    checkText('the beginning of a name', base);
    if (this.#body) return this.#body.uniqueName(base);
    return this.wasm.scope((scope) => {
      const pointer = this.wasm.call.TF_WasmUniqueName!(this.pointer, scope.string(base));
      if (pointer === 0) throw new InvalidArgumentError(`no name could be made from '${base}': out of memory`);
      return this.wasm.text(pointer);
    });
  }

  // ---- looking ----

  operation(name: string): Operation | undefined {
    checkText("an operation's name", name);
    const pointer = this.wasm.scope((scope) => this.wasm.call.TF_GraphOperationByName!(this.pointer, scope.string(name)));
    return pointer === 0 ? undefined : this.operationAt(pointer);
  }

  operations(): Operation[] {
    const operations: Operation[] = [];
    this.wasm.scope((scope) => {
      const position = scope.alloc(4);
      this.wasm.u32[position >>> 2] = 0;
      for (let pointer; (pointer = this.wasm.call.TF_GraphNextOperation!(this.pointer, position)) !== 0; ) {
        operations.push(this.operationAt(pointer));
      }
    });
    return operations;
  }

  /** @internal The definition of an op, or the signature of a function of this graph. */
  findOpDef(type: string): OpDef | undefined {
    return this.runtime.findOpDef(type) ?? this.#findFunction(type);
  }

  /** The signature of a function of this graph. */
  #findFunction(name: string): OpDef | undefined {
    const { wasm } = this;
    if (wasm.call.TF_GraphNumFunctions!(this.pointer) === 0) return undefined;
    try {
      return wasm.scope((scope) => {
        const text = scope.string(name);
        return decodeOpDef(wasm.buffer((buffer, status) => wasm.call.TF_GraphGetOpDef!(this.pointer, text, buffer, status)));
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
    throw new NotFoundError(`there is no operation '${name}' in the graph${didYouMean(name, nodeNames(this))}`);
  }

  /** Adds what is known about the shape of an output; a contradiction to what was known is an error. */
  setShape(output: Output, shape: ShapeLike): void {
    if (this.#body) return this.#body.setShape(output, shape);
    const owned = this.#own(output);
    if (shape === null) return;
    checkShape(shape);
    this.wasm.scope((scope) => {
      const [place, dims] = [scope.outputs([owned]), scope.dims(shape)];
      this.wasm.checked((status) => this.wasm.call.TF_GraphSetTensorShape!(this.pointer, place, dims, shape.length, status));
    });
  }

  /** The versions of the GraphDefs that the graph was made of. */
  get versions(): GraphVersions {
    const versions: GraphVersions = { producer: 0, minConsumer: 0, badConsumers: [] };
    const bytes = this.wasm.buffer((buffer, status) => this.wasm.call.TF_GraphVersions!(this.pointer, buffer, status));
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) versions.producer = intOf(field);
      else if (field.number === 2) versions.minConsumer = intOf(field);
      else if (field.number === 3) versions.badConsumers.push(...[...varintsOf(field)].map(Number));
    }
    return versions;
  }

  /** @internal The operation at a pointer that the engine gave. */
  operationAt(pointer: number): Operation {
    /* Small keys are quicker to find; pointers are aligned to 8. */
    const key = pointer >>> 3;
    let operation = this.#known.get(key);
    if (!operation) this.#known.set(key, (operation = new Operation(this, pointer >>> 0)));
    return operation;
  }

  /** @internal */
  outputAt(pointer: number, index: number): Output {
    return this.operationAt(pointer).output(index);
  }

  // ---- gradients ----

  /**
   * The derivatives of the sum of `ys` (weighted by `gradYs`) with respect to each x: null where no gradient flows, or zeros with
   * `unconnectedGradients: 'zero'`. What is in `stopGradients` is taken as constant. Nodes are added under `name` ("gradients", made unique). The
   * result can be fetched as it is: a run refuses null and says where no gradient flows.
   */
  gradients(ys: MaybeList<Input | null>, xs: MaybeList<Input>, options: GradientOptions & { unconnectedGradients: 'zero' }): Output[];
  gradients(ys: MaybeList<Input | null>, xs: MaybeList<Input>, options?: GradientOptions): (Output | null)[];
  gradients(ys: MaybeList<Input | null>, xs: MaybeList<Input>, options: GradientOptions = {}): (Output | null)[] {
    if (this.#body) return this.#body.gradients(ys, xs, options);
    checkOptions<GradientOptions>('gradients', options, GRADIENT_OPTIONS);
    const { name, unconnectedGradients: unconnected = 'none' } = options;
    if (unconnected !== 'none' && unconnected !== 'zero') {
      throw new InvalidArgumentError(`option 'unconnectedGradients' of gradients must be 'none' or 'zero', not ${shown(unconnected)}`);
    }
    const y = this.#inputsOf('ys', ys).map((input) => this.#own(input));
    const inputs = this.#inputsOf('xs', xs);
    const x = inputs.map((input) => this.#own(input instanceof Variable ? input.handle : input));
    const dy = options.gradYs && this.#inputsOf('gradYs', options.gradYs).map((input) => this.#own(input));
    const stops = this.#inputsOf('stopGradients', options.stopGradients ?? []).map((input) => this.#own(input));
    if (dy && dy.length !== y.length) throw new InvalidArgumentError(`Must specify a gradient input for each output.`);
    const found = this.#addGradients(name, y, x, dy, stops);
    if (!found.includes(null)) return found;
    if (unconnected === 'zero') return found.map((gradient, i) => gradient ?? this.op('ZerosLike', [inputs[i]!]).output(0));
    const names = (list: readonly Output[]): string => list.slice(0, 4).map((output) => output.name).join(', ') + (list.length > 4 ? ', …' : '');
    this.#unconnected = `none flows from ${names(y)} to ${names(x.filter((_, i) => found[i] === null))}`;
    return found;
  }

  /** @internal The error for null where an output is wanted: what `gradients` gives where no gradient flows. */
  nullError(what: string): InvalidArgumentError {
    const flows = this.#unconnected ? ` (the last time, ${this.#unconnected})` : '';
    return new InvalidArgumentError(
      `${what}: null. gradients() gives null where no gradient flows${flows}: leave that one out, or ask for zeros with { unconnectedGradients: 'zero' }`,
    );
  }

  #inputsOf(what: string, inputs: MaybeList<Input | null>): Input[] {
    if (inputs instanceof Output || inputs instanceof Variable) return [inputs];
    checkList(what, inputs);
    return Array.from(inputs as readonly (Input | null)[], (input, i) => {
      if (input === null) throw this.nullError(`${what}[${i}] is no Output`);
      checkInput(input);
      return input;
    });
  }

  #addGradients(
    name: string | undefined, ys: readonly Output[], xs: readonly Output[], gradYs: readonly Output[] | undefined, stops: readonly Output[],
  ): (Output | null)[] {
    const { wasm } = this;
    return wasm.scope((scope) => {
      const result = scope.alloc(8 * xs.length);
      const [y, x, stopped] = [scope.outputs(ys), scope.outputs(xs), scope.outputs(stops)];
      const dy = gradYs ? scope.outputs(gradYs) : 0;
      const prefix = name === undefined ? 0 : scope.string(name);
      wasm.checked((status) =>
        wasm.call.TF_WasmAddGradients!(this.pointer, prefix, y, ys.length, x, xs.length, dy, stopped, stops.length, result, status));
      return xs.map((_, i) => {
        const pointer = wasm.u32[(result >>> 2) + 2 * i]!;
        return pointer === 0 ? null : this.outputAt(pointer, wasm.u32[(result >>> 2) + 2 * i + 1]!);
      });
    });
  }

  // ---- import and export ----

  /** Adds the nodes of a GraphDef: bytes, or protobuf text. On error the graph stays as it was. */
  importGraphDef(def: Uint8Array | ArrayBuffer | string, options: ImportOptions = {}): ImportResults {
    return importInto(this, def, options);
  }

  /** The graph as a serialised GraphDef. */
  toGraphDef(): Uint8Array {
    return this.wasm.buffer((buffer, status) => this.wasm.call.TF_GraphToGraphDef!(this.pointer, buffer, status));
  }

  /** The graph as a GraphDef in protobuf text format. */
  toText(): string {
    return this.wasm.bufferText((buffer, status) => this.wasm.call.TF_WasmGraphToText!(this.pointer, buffer, status));
  }

  // ---- functions ----

  addFunction(definition: FunctionDef): void {
    if (this.#body) return this.#body.addFunction(definition);
    if (!(definition instanceof FunctionDef)) throw new InvalidArgumentError(`${shown(definition)} is no FunctionDef: make one with tf.FunctionDef.parse(text)`);
    definition.withHandle(this.runtime, (handle) =>
      this.wasm.checked((status) => this.wasm.call.TF_GraphCopyFunction!(this.pointer, handle, 0, status)),
    );
  }

  /** Says that the function `gradientFn` of the graph is the gradient of the function or op `fn`. */
  addGradient(fn: string, gradientFn: string): void {
    checkTexts('the names of a function and its gradient', [fn, gradientFn]);
    this.wasm.scope((scope) => {
      const [name, gradient] = [scope.string(fn), scope.string(gradientFn)];
      this.wasm.checked((status) => this.wasm.call.TF_WasmGraphAddGradient!(this.pointer, name, gradient, status));
    });
  }

  /** The name of the function that was said to be the gradient of `fn`. */
  gradientOf(fn: string): string | undefined {
    checkText("a function's name", fn);
    return this.wasm.scope((scope) => this.wasm.text(this.wasm.call.TF_WasmGraphFindGradient!(this.pointer, scope.string(fn)))) || undefined;
  }

  /** A function of the graph by name. */
  function(name: string): FunctionDef | undefined {
    if (this.#body) return this.#body.function(name);
    checkText("a function's name", name);
    const { wasm } = this;
    try {
      return wasm.scope((scope) => {
        const key = scope.string(name);
        return FunctionDef.trustedIn(this.runtime, wasm.buffer((buffer, status) => wasm.call.TF_WasmGraphFindFunction!(this.pointer, key, buffer, status)));
      });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** Takes a function out of the graph. Operations that call it stay, and cannot be run any more. */
  removeFunction(name: string): void {
    if (this.#body) return this.#body.removeFunction(name);
    checkText("a function's name", name);
    this.wasm.scope((scope) => {
      const key = scope.string(name);
      this.wasm.checked((status) => this.wasm.call.TF_GraphRemoveFunction!(this.pointer, key, status));
    });
  }

  /** A function of what `outputs` need, with `inputs` as its arguments. The graph stays as it is. */
  toFunction(name: string, parts: FunctionParts): FunctionDef {
    const { wasm } = this;
    checkText("a function's name", name);
    checkOptions<FunctionParts>('toFunction', parts, FUNCTION_PARTS);
    const inputs = this.#inputsOf('inputs', parts.inputs).map((input) => this.#own(input));
    const outputs = this.#inputsOf('outputs', parts.outputs).map((output) => this.#own(output));
    if (parts.outputNames) checkTexts('outputNames', parts.outputNames);
    if (parts.outputNames && parts.outputNames.length !== outputs.length) {
      throw new InvalidArgumentError(`${outputs.length} outputs need as many outputNames, not ${parts.outputNames.length}`);
    }
    return wasm.scope((scope) => {
      const operations = parts.operations ? scope.pointers(Array.from(parts.operations, (operation) => this.ownOperation(operation).pointer)) : 0;
      const names = parts.outputNames ? scope.pointers(parts.outputNames.map((output) => scope.string(output))) : 0;
      const controls = parts.controlOutputs ?? [];
      const controlPointers = scope.pointers(Array.from(controls, (operation) => this.ownOperation(operation).pointer));
      const handle = wasm.checked((status) =>
        wasm.call.TF_GraphToFunctionWithControlOutputs!(
          this.pointer, scope.string(name), 0, parts.operations?.length ?? -2, operations, inputs.length, scope.outputs(inputs),
          outputs.length, scope.outputs(outputs), names, controls.length, controlPointers, 0, 0, 0, status,
        ),
      );
      return FunctionDef.takeHandle(this.runtime, handle);
    });
  }

  /** @internal `base`, or base_1, base_2, …: a name that neither a function nor an op has. */
  uniqueFunctionName(base: string): string {
    let name = base;
    for (let i = 1; this.findOpDef(name); i++) name = `${base}_${i}`;
    return name;
  }

  /**
   * Calls a function: one of the graph by name, or a definition, which is added to the graph when it is not there. Attrs that follow from the inputs
   * need not be given.
   */
  call(fn: string | FunctionDef, inputs: readonly (Operand | readonly Operand[])[] = [], options: CallOptions = {}): Output[] {
    return callFunction(this.#body ?? this, fn, inputs, options);
  }

  /**
   * What `then` returns where `pred` is true, else what `otherwise` returns; only one of them runs. They are functions of `inputs`, or callables,
   * which are called once to build them: with the inputs as values inside. All ops that a callable adds to this graph belong to the function; what
   * it uses from outside, outputs and variables, is handed in. Both return as many values of the same dtypes.
   */
  cond(pred: Operand, then: Body, otherwise: Body, inputs: readonly Operand[] = [], options: OpOptions = {}): Output[] {
    return this.#body ? this.#body.cond(pred, then, otherwise, inputs, options) : addCond(this, pred, then, otherwise, inputs, options);
  }

  /**
   * Replaces the inputs by what `body` returns for them as long as `cond` returns true for them, and gives what they are in the end. Functions or
   * callables as for `cond`. A callable may be called more than once: for a shape that the body changes again, with less known of it.
   */
  whileLoop(cond: Body, body: Body, inputs: readonly Operand[], options: OpOptions = {}): Output[] {
    return this.#body ? this.#body.whileLoop(cond, body, inputs, options) : addWhileLoop(this, cond, body, inputs, options);
  }

  functions(): FunctionDef[] {
    const { wasm } = this;
    const count = wasm.call.TF_GraphNumFunctions!(this.pointer);
    return wasm.scope((scope) => {
      const array = scope.alloc(4 * count);
      wasm.checked((status) => wasm.call.TF_GraphGetFunctions!(this.pointer, array, count, status));
      return Array.from({ length: count }, (_, i) => FunctionDef.takeHandle(this.runtime, wasm.u32[(array >>> 2) + i]!));
    });
  }

  // ---- the end ----

  /** Frees the graph (once its sessions are closed too). It must not be used any more. */
  dispose(): void {
    if (this.#disposed) return;
    this.wasm.refuseInCallback();
    this.#disposed = true;
    this.runtime.closed(this, 'graphs');
    this.wasm.call.TF_DeleteGraph!(this.#address);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

checkReceivers(Graph, 'graph', ['checkUsable', 'adopt', 'ownOperation', 'operationAt', 'outputAt', 'findOpDef', 'asOutput', 'read', 'nullError', 'requiredOperation']);
showAs(Graph, 'Graph', (graph) => graph.toString());
