/**
 * Graph: building, importing, differentiating and exporting. The op wrappers are in generated/graph-ops.ts,
 * the rest in the files of this folder.
 */
import { checkList, checkOptions, checkReceivers, shown } from '../base/arguments.js';
import { counted, showAs } from '../base/console-line.js';
import { Body, CallOptions, addCond, addWhileLoop, callFunction } from './control-flow.js';
import type { DTypeName } from '../tensor/dtypes.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { FunctionDef } from './function-def.js';
import { GraphOps } from '../generated/graph-ops.js';
import { GradientOptions, MaybeList, addGradients } from './gradients.js';
import { GraphCore, OpOptions } from './graph-core.js';
import {
  FunctionParts,
  addFunction,
  addGradient,
  findFunction,
  functionsOf,
  gradientOf,
  removeFunction,
  toFunction,
} from './graph-functions.js';
import { ImportOptions, ImportResults, importInto } from './import-graph.js';
import { GraphVariables } from './graph-variables.js';
import type { Operand } from './op-inputs.js';
import { Input, Operation, Output, Variable } from './operation.js';
import { fieldsOf, intOf, varintsOf } from '../messages/protobuf.js';
import type { TensorLike } from '../tensor/tensor.js';

export interface GraphVersions {
  producer: number;
  minConsumer: number;
  badConsumers: number[];
}

const VARIABLE_OPTIONS = { name: 'a string', trainable: 'true or false', dtype: 'anything' } as const;

export class Graph extends GraphOps {
  readonly #variables = new GraphVariables(this);
  #initializers: { operation: Operation; count: number } | undefined;

  /** @internal */
  override newBody(): Graph {
    return new Graph(this.runtime);
  }

  /** 'Graph<12 nodes, 1 variable>' */
  override toString(): string {
    if (this.disposed) return 'Graph<disposed>';
    const parts = [counted(this.operations().length, 'node')];
    const functions = this.wasm.call.TF_GraphNumFunctions(this.pointer);
    const variables = this.allVariables.length;
    if (variables > 0) parts.push(counted(variables, 'variable'));
    if (functions > 0) parts.push(counted(functions, 'function'));
    return `Graph<${parts.join(', ')}>`;
  }

  // ---- variables ----

  /** A resource variable that `initializer()` sets to `initial`. */
  variable(
    initial: Input | TensorLike,
    options: { name?: string; trainable?: boolean; dtype?: DTypeName } = {},
  ): Variable {
    if (this.target !== this)
      throw new InvalidArgumentError(
        'a variable cannot be made inside of a function; it can be made before, and used there',
      );
    checkOptions<typeof options>('variable', options, VARIABLE_OPTIONS);
    const name = options.name ?? this.uniqueName('Variable');
    const start =
      initial instanceof Output
        ? initial
        : initial instanceof Variable
          ? initial.initializer.inputs[1]! // otherwise its value would be read before it exists
          : this.constant(initial, { name: this.uniqueName(`${name}/initial_value`), dtype: options.dtype });
    return this.addVariable(start, { name, trainable: options.trainable ?? true, isReference: false });
  }

  /** @internal A variable of either kind, with its initial value. Slots are of the kind of their variable. */
  addVariable(start: Output, options: { name: string; trainable: boolean; isReference: boolean }): Variable {
    const { name, trainable, isReference } = options;
    const attrs = { dtype: start.dtype, shape: start.shape, shared_name: name };
    const handle = this.op(isReference ? 'VariableV2' : 'VarHandleOp', [], { name, attrs }).output(0);
    const initializer = this.op(isReference ? 'Assign' : 'AssignVariableOp', [handle, start], {
      name: `${name}/Assign`,
    });
    const value = isReference
      ? handle
      : this.op('ReadVariableOp', [handle], { name: `${name}/Read`, attrs: { dtype: start.dtype } }).output(
          0,
        );
    const variable = new Variable(handle, { value, initializer }, trainable);
    this.#variables.made(variable);
    return variable;
  }

  /** The variables made by `variable`, and those of imported nodes, in order. */
  get allVariables(): Variable[] {
    return this.#variables.all();
  }
  /** Whether some of its variables were made here, by `variable`, and not imported. */
  get hasMadeVariables(): boolean {
    return this.#variables.hasMade;
  }
  /** Of imported variables those that the graph trains; if it trains none, all of floating-point numbers. */
  get trainableVariables(): Variable[] {
    return this.allVariables.filter((variable) => variable.trainable);
  }

  /** An operation that runs the initial assignment of every variable, or of those given. */
  initializer(vars?: readonly Variable[]): Operation {
    if (vars !== undefined) return this.#addInitializer(vars);
    const initialized = this.allVariables.filter((variable) => variable.hasInitializer);
    if (this.#initializers?.count !== initialized.length) {
      this.#initializers = { operation: this.#addInitializer(initialized), count: initialized.length };
    }
    return this.#initializers.operation;
  }

  #addInitializer(vars: readonly Variable[]): Operation {
    checkList('the variables of initializer', vars);
    for (const [i, variable] of vars.entries())
      if (!(variable instanceof Variable))
        throw new InvalidArgumentError(
          `variable ${i} of initializer must be a Variable, not ${shown(variable)}`,
        );
    return this.op('NoOp', [], {
      name: this.uniqueName('init'),
      controlInputs: vars.map(({ initializer }) => initializer),
    });
  }

  // ---- gradients ----

  /**
   * The derivatives of the sum of `ys` (weighted by `gradYs`) with respect to each x: null where no gradient
   * flows, or zeros with `unconnectedGradients: 'zero'`. Values in `stopGradients` are treated as constants.
   * Nodes are added under `name` ("gradients", made unique). The result can be fetched directly: a run
   * refuses null and reports where no gradient flows.
   */
  gradients(
    ys: MaybeList<Input | null>,
    xs: MaybeList<Input>,
    options: GradientOptions & { unconnectedGradients: 'zero' },
  ): Output[];
  gradients(ys: MaybeList<Input | null>, xs: MaybeList<Input>, options?: GradientOptions): (Output | null)[];
  gradients(
    ys: MaybeList<Input | null>,
    xs: MaybeList<Input>,
    options: GradientOptions = {},
  ): (Output | null)[] {
    return addGradients(this.target, ys, xs, options);
  }

  // ---- import and export ----

  /** Adds the nodes of a GraphDef: bytes, or protobuf text. On error the graph stays unchanged. */
  importGraphDef(def: Uint8Array | ArrayBuffer | string, options: ImportOptions = {}): ImportResults {
    return importInto(this, def, options);
  }

  /** The graph as a serialised GraphDef. */
  toGraphDef(): Uint8Array {
    return this.wasm.buffer((buffer, status) =>
      this.wasm.call.TF_GraphToGraphDef(this.pointer, buffer, status),
    );
  }

  /** The graph as a GraphDef in protobuf text format. */
  toText(): string {
    return this.wasm.bufferText((buffer, status) =>
      this.wasm.call.TF_WasmGraphToText(this.pointer, buffer, status),
    );
  }

  /** The versions of the imported GraphDefs. */
  get versions(): GraphVersions {
    const versions: GraphVersions = { producer: 0, minConsumer: 0, badConsumers: [] };
    const bytes = this.wasm.buffer((buffer, status) =>
      this.wasm.call.TF_GraphVersions(this.pointer, buffer, status),
    );
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) versions.producer = intOf(field);
      else if (field.number === 2) versions.minConsumer = intOf(field);
      else if (field.number === 3) versions.badConsumers.push(...[...varintsOf(field)].map(Number));
    }
    return versions;
  }

  // ---- functions ----

  addFunction(definition: FunctionDef): void {
    addFunction(this.target, definition);
  }

  /** Makes the function `gradientFn` of the graph the gradient of the function or op `fn`. */
  addGradient(fn: string, gradientFn: string): void {
    addGradient(this, fn, gradientFn);
  }

  /** The name of the gradient function registered for `fn`. */
  gradientOf(fn: string): string | undefined {
    return gradientOf(this, fn);
  }

  /** A function of the graph by name. */
  function(name: string): FunctionDef | undefined {
    return findFunction(this.target, name);
  }

  /** Removes a function from the graph. Operations that call it stay, but can no longer run. */
  removeFunction(name: string): void {
    removeFunction(this.target, name);
  }

  /** A function that computes `outputs`, with `inputs` as its arguments. The graph stays unchanged. */
  toFunction(name: string, parts: FunctionParts): FunctionDef {
    return toFunction(this, name, parts);
  }

  /**
   * Calls a function: one of the graph by name, or a definition, which is added to the graph if necessary.
   * Attrs that follow from the inputs may be omitted.
   */
  call(
    fn: string | FunctionDef,
    inputs: readonly (Operand | readonly Operand[])[] = [],
    options: CallOptions = {},
  ): Output[] {
    return callFunction(this.target, fn, inputs, options);
  }

  /**
   * The result of `then` if `pred` is true, else that of `otherwise`; only one of them runs. They are
   * functions of `inputs`, or callables, which are called once with the inputs as values inside, to build a
   * function. All ops that a callable adds to this graph belong to the function; outputs and variables from
   * outside are captured. Both must return the same number of values with the same dtypes.
   */
  cond(
    pred: Operand,
    then: Body,
    otherwise: Body,
    inputs: readonly Operand[] = [],
    options: OpOptions = {},
  ): Output[] {
    return addCond(this.target, pred, then, otherwise, inputs, options);
  }

  /**
   * Replaces the inputs by the results of `body` as long as `cond` returns true for them, and returns their
   * final values. Functions or callables as for `cond`. A callable may be called more than once: if the body
   * changes a shape, it is called again with a less specific one.
   */
  whileLoop(cond: Body, body: Body, inputs: readonly Operand[], options: OpOptions = {}): Output[] {
    return addWhileLoop(this.target, cond, body, inputs, options);
  }

  override functions(): FunctionDef[] {
    return functionsOf(this);
  }
}

const INTERNAL = [
  'checkUsable',
  'adopt',
  'ownOperation',
  'operationAt',
  'outputAt',
  'findOpDef',
  'asOutput',
  'read',
  'nullError',
  'requiredOperation',
];
checkReceivers(Graph, 'graph', INTERNAL);
checkReceivers(Graph, 'graph', INTERNAL, GraphCore.prototype);
showAs(Graph, 'Graph', (graph) => graph.toString());
