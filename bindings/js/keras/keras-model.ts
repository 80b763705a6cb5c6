/** A Keras model as a graph: its GraphDef, its signature, and the values of its variables. */
import type { Runtime } from '../engine/runtime.js';
import { Graph } from '../graph/graph.js';
import type { Output, Variable } from '../graph/operation.js';
import { tensor } from '../tensor/convert.js';
import { Tensor } from '../tensor/tensor.js';
import { BuildOptions, BuiltModel, buildModel } from './build-model.js';
import type { Json } from './json.js';
import type { WeightValue } from './weight-values.js';

/** The value of a variable: `read` is called once, to feed `placeholder` and run `assign`. */
export interface Assignment {
  readonly placeholder: string;
  readonly assign: string;
  read(): Tensor;
}

export interface KerasGraph {
  readonly graphDef: Uint8Array;
  /** The names of tensors by the names of inputs and outputs. */
  readonly inputs: ReadonlyMap<string, string>;
  readonly outputs: ReadonlyMap<string, string>;
  readonly trainable: ReadonlyMap<string, boolean>;
  readonly assignments: readonly Assignment[];
  /** Operations to run once. */
  readonly initializers: readonly string[];
}

/** Adds what gives a variable the value from the file. */
function assignmentOf(graph: Graph, { variable, read }: WeightValue): Assignment {
  const placeholder = `${variable.name}/saved_value`;
  const value = graph.placeholder(variable.dtype, variable.shape, { name: placeholder });
  const assign = `${variable.name}/Restore`;
  graph.op('AssignVariableOp', [variable.handle, value], { name: assign });
  return { placeholder, assign, read };
}

/** The graph is gone when the values are read. */
function zeroOf(variable: Variable): WeightValue {
  const shape = variable.shape as number[];
  const { dtype } = variable;
  const count = shape.reduce((product, size) => product * size, 1);
  return { variable, read: () => tensor(Array<number>(count).fill(0), shape, dtype) };
}

const namesOf = (values: ReadonlyMap<string, Output>): Map<string, string> =>
  new Map([...values].map(([name, output]) => [name, output.name]));

/** Builds a model; `valuesOf` finds the values of its weights. */
export function kerasGraph(
  runtime: Runtime,
  place: string,
  architecture: Json,
  options: BuildOptions,
  valuesOf: (model: BuiltModel) => readonly WeightValue[],
): KerasGraph {
  const graph = new Graph(runtime);
  try {
    const model = buildModel(place, graph, architecture, options);
    const values = [...valuesOf(model), ...model.states.map(zeroOf)];
    const assignments = values.map((value) => assignmentOf(graph, value));
    const all = [...model.weights.all().map(({ variable }) => variable), ...model.states];
    return {
      graphDef: graph.toGraphDef(),
      inputs: namesOf(model.inputs),
      outputs: namesOf(model.outputs),
      trainable: new Map(all.map(({ name, trainable }) => [name, trainable])),
      assignments,
      initializers: model.initializers,
    };
  } finally {
    graph.dispose();
  }
}
