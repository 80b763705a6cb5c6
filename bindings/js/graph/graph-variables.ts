/** The variables of a graph: those that were made here, and those of imported nodes. */
import type { DType } from '../tensor/dtypes.js';
import type { GraphCore } from './graph-core.js';
import { Operation, Output, Variable } from './operation.js';

const HANDLES = new Set(['VarHandleOp', 'VariableV2', 'Variable']);
const TRAINABLE_DTYPES: ReadonlySet<DType> = new Set(['float32', 'float64', 'float16', 'bfloat16']);
/** Ops that give a variable its value from a file are no initial assignments. */
const RESTORES = new Set(['RestoreV2', 'Restore', 'RestoreSlice']);

/** Finds the variables among nodes that were imported. */
export class GraphVariables {
  readonly #known: Variable[] = [];
  readonly #handles = new Set<string>();
  /** How many operations of the graph were looked at. */
  #seen = 0;

  constructor(private readonly graph: GraphCore) {}

  /** Whether some variables were made here. */
  hasMade = false;

  /** A variable that was made here. */
  made(variable: Variable): void {
    this.hasMade = true;
    this.#add(variable);
  }

  #add(variable: Variable): void {
    this.#known.push(variable);
    this.#handles.add(variable.name);
  }

  /** All variables, in the order in which they were made or found. */
  all(): Variable[] {
    const operations = this.graph.operations();
    const found = operations
      .slice(this.#seen)
      .filter((operation) => HANDLES.has(operation.type) && !this.#handles.has(operation.name));
    this.#seen = operations.length;
    if (found.length > 0) {
      const trained = trainedHandles(operations);
      for (const operation of found) this.#add(variableOf(operation, trained));
    }
    return [...this.#known];
  }
}

/** The names of the variables that operations like ApplyAdam update; undefined if there is no such operation. */
function trainedHandles(operations: readonly Operation[]): ReadonlySet<string> | undefined {
  const updates = operations.filter(({ type }) => /^(Resource)?(Sparse)?Apply[A-Z]/.test(type));
  return updates.length > 0 ? new Set(updates.map((update) => update.inputs[0]!.operation.name)) : undefined;
}

/** GraphDefs do not say which variables are trained: those are that the graph itself trains, or may be. */
function variableOf(operation: Operation, trained: ReadonlySet<string> | undefined): Variable {
  const handle = operation.output(0);
  const isTrained = trained?.has(operation.name) ?? true;
  const variable = new Variable(handle, nodesOf(operation, handle), isTrained);
  if (!TRAINABLE_DTYPES.has(variable.dtype)) variable.trainable = false;
  return variable;
}

function nodesOf(operation: Operation, handle: Output) {
  const consumers = handle.consumers().filter(({ index }) => index === 0);
  const consumersOf = (...types: string[]) =>
    consumers.map((consumer) => consumer.operation).filter(({ type }) => types.includes(type));
  const assignments = consumersOf('AssignVariableOp', 'Assign').filter(
    (assign) => !RESTORES.has(assign.inputs[1]!.operation.type),
  );
  const plainRead = consumersOf('ReadVariableOp').find((read) => read.controlInputs.length === 0);
  /* A value that is fed is initial only if the assignment is named so. */
  const initial = assignments.find((assign) => assign.inputs[1]!.operation.type !== 'Placeholder');
  return {
    value: plainRead?.output(0),
    initializer: assignments.find(({ name }) => name === `${operation.name}/Assign`) ?? initial,
  };
}
