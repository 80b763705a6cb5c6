/**
 * The functions of a graph: adds, finds and removes them, and converts operations of the graph to a function.
 */
import { Schema, checkOptions, checkText, checkTexts, shown } from '../base/arguments.js';
import { InvalidArgumentError, NotFoundError } from '../base/errors.js';
import { FunctionDef } from './function-def.js';
import type { FunctionPtr, Ptr } from '../generated/abi.js';
import type { GraphCore } from './graph-core.js';
import type { Input, Operation } from './operation.js';

export interface FunctionParts {
  inputs: readonly Input[];
  /** null, as returned by `gradients`, is refused. */
  outputs: readonly (Input | null)[];
  operations?: readonly Operation[];
  outputNames?: readonly string[];
  /** Operations that every call runs, whether a result needs them or not. */
  controlOutputs?: readonly Operation[];
}

const FUNCTION_PARTS: Schema<FunctionParts> = {
  inputs: 'an array',
  outputs: 'an array',
  operations: 'an array',
  outputNames: 'an array',
  controlOutputs: 'an array',
};

/** See Graph.addFunction. */
export function addFunction(graph: GraphCore, definition: FunctionDef): void {
  if (!(definition instanceof FunctionDef))
    throw new InvalidArgumentError(
      `${shown(definition)} is no FunctionDef: make one with tf.FunctionDef.parse(text)`,
    );
  definition.withHandle(graph.runtime, (handle) =>
    graph.wasm.checked((status) => graph.wasm.call.TF_GraphCopyFunction(graph.pointer, handle, 0, status)),
  );
}

/** Makes the function `gradientFn` of the graph the gradient of the function or op `fn`. */
export function addGradient(graph: GraphCore, fn: string, gradientFn: string): void {
  checkTexts('the names of a function and its gradient', [fn, gradientFn]);
  graph.wasm.scope((scope) => {
    const [name, gradient] = [scope.string(fn), scope.string(gradientFn)];
    graph.wasm.checked((status) =>
      graph.wasm.call.TF_WasmGraphAddGradient(graph.pointer, name, gradient, status),
    );
  });
}

/** The name of the gradient function registered for `fn`. */
export function gradientOf(graph: GraphCore, fn: string): string | undefined {
  checkText("a function's name", fn);
  return (
    graph.wasm.scope((scope) =>
      graph.wasm.text(graph.wasm.call.TF_WasmGraphFindGradient(graph.pointer, scope.string(fn))),
    ) || undefined
  );
}

/** A function of the graph by name. */
export function findFunction(graph: GraphCore, name: string): FunctionDef | undefined {
  checkText("a function's name", name);
  const { wasm } = graph;
  try {
    return wasm.scope((scope) => {
      const key = scope.string(name);
      return FunctionDef.trustedIn(
        graph.runtime,
        wasm.buffer((buffer, status) =>
          wasm.call.TF_WasmGraphFindFunction(graph.pointer, key, buffer, status),
        ),
      );
    });
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** Removes a function from the graph. Operations that call it stay, but can no longer run. */
export function removeFunction(graph: GraphCore, name: string): void {
  checkText("a function's name", name);
  graph.wasm.scope((scope) => {
    const key = scope.string(name);
    graph.wasm.checked((status) => graph.wasm.call.TF_GraphRemoveFunction(graph.pointer, key, status));
  });
}

/** A function that computes `outputs`, with `inputs` as its arguments. The graph stays unchanged. */
export function toFunction(graph: GraphCore, name: string, parts: FunctionParts): FunctionDef {
  const { wasm } = graph;
  checkText("a function's name", name);
  checkOptions<FunctionParts>('toFunction', parts, FUNCTION_PARTS);
  const inputs = graph.outputsOf('inputs', parts.inputs);
  const outputs = graph.outputsOf('outputs', parts.outputs);
  if (parts.outputNames) checkTexts('outputNames', parts.outputNames);
  if (parts.outputNames && parts.outputNames.length !== outputs.length) {
    throw new InvalidArgumentError(
      `${outputs.length} outputs need as many outputNames, not ${parts.outputNames.length}`,
    );
  }
  return wasm.scope((scope) => {
    const operations = parts.operations ? graph.operationArray(scope, parts.operations) : 0;
    const names = parts.outputNames
      ? scope.pointers(parts.outputNames.map((output) => scope.string(output)))
      : 0;
    const controls = parts.controlOutputs ?? [];
    const controlPointers = graph.operationArray(scope, controls);
    const handle = wasm.checked((status) =>
      wasm.call.TF_GraphToFunctionWithControlOutputs(
        graph.pointer,
        scope.string(name),
        0,
        parts.operations?.length ?? -2,
        operations,
        inputs.length,
        scope.outputs(inputs),
        outputs.length,
        scope.outputs(outputs),
        names,
        controls.length,
        controlPointers,
        0,
        0,
        0,
        status,
      ),
    );
    return FunctionDef.takeHandle(graph.runtime, handle);
  });
}

/** All functions of a graph. */
export function functionsOf(graph: GraphCore): FunctionDef[] {
  const { wasm } = graph;
  const count = wasm.call.TF_GraphNumFunctions(graph.pointer);
  return wasm.scope((scope) => {
    const array: Ptr<FunctionPtr> = scope.alloc(4 * count);
    wasm.checked((status) => wasm.call.TF_GraphGetFunctions(graph.pointer, array, count, status));
    return Array.from({ length: count }, (_, i) => FunctionDef.takeHandle(graph.runtime, wasm.at(array, i)));
  });
}
