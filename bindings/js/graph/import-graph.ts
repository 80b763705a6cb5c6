/** Importing a GraphDef into a graph. */
import { Schema, checkOptions, checkTexts } from '../base/arguments.js';
import { InvalidArgumentError, TFError } from '../base/errors.js';
import type {
  BufferPtr,
  ImportGraphDefOptionsPtr,
  ImportGraphDefResultsPtr,
  OperationPtr,
  OutputPtr,
  Ptr,
  TextPtr,
} from '../generated/abi.js';
import { GraphCore, splitOutputName } from './graph-core.js';
import { withHint } from './hints.js';
import { WANTED_HINT, refuseForeign, withoutBom } from '../messages/model-format.js';
import { Input, Operation, Output, checkInput, valueOf } from './operation.js';
import { withVariables } from './constants-to-variables.js';
import { bytesOf, encodeText } from '../base/utf8.js';
import { EngineBytes } from '../engine/engine-bytes.js';
import { fillFromText } from '../engine/text-messages.js';
import type { Scope, Wasm } from '../engine/wasm.js';

export interface ImportOptions {
  /** The prefix of every imported name, without the '/'. */
  prefix?: string;
  /**
   * Outputs of this graph that replace imported ones, by the imported output's name: 'node:1' or 'node'. For
   * '^node' an operation that replaces that node as a control input.
   */
  inputMap?: Record<string, Input | Operation>;
  /** Control inputs of every imported operation without imported inputs. */
  controlDependencies?: readonly Operation[];
  /** Imported outputs and operations to return, by their names in the GraphDef. */
  returnOutputs?: readonly string[];
  returnOperations?: readonly string[];
  /** Names in use are made unique; otherwise they are an error. */
  uniquifyNames?: boolean;
  uniquifyPrefix?: boolean;
  defaultDevice?: string;
  /**
   * Makes constants variables, with the constants as their initial values. true: the weights, which are the
   * constants of floating-point numbers with more than one element, except means and variances of batch
   * normalisation; or the names of constants in the GraphDef.
   */
  trainable?: true | readonly string[];
}

/** A serialised GraphDef, in the engine's memory or not, or protobuf text. */
export type GraphDefSource = Uint8Array | ArrayBuffer | EngineBytes | string;

export interface ImportResults {
  outputs: Output[];
  operations: Operation[];
  /** Keys of the inputMap that no imported node used. */
  unusedInputMapKeys: string[];
}

const IMPORT_OPTIONS: Schema<ImportOptions> = {
  prefix: 'a string',
  inputMap: 'an object',
  controlDependencies: 'an array',
  returnOutputs: 'an array',
  returnOperations: 'an array',
  uniquifyNames: 'true or false',
  uniquifyPrefix: 'true or false',
  defaultDevice: 'a string',
  trainable: 'anything',
};

/** As Graph.importGraphDef. */
export function importInto(graph: GraphCore, def: GraphDefSource, options: ImportOptions): ImportResults {
  checkOptions<ImportOptions>('importGraphDef', options, IMPORT_OPTIONS);
  const { trainable } = options;
  if (trainable !== undefined && trainable !== true)
    checkTexts("option 'trainable' of importGraphDef", trainable);
  try {
    const given = trainable === undefined ? def : withVariables(binaryGraphDef(graph.wasm, def), trainable);
    return importChecked(graph, given, options);
  } catch (error) {
    throw withHint(error, graph.runtime, graph);
  }
}

/** Imports nodes that may be colocated with nodes of the graph. */
export function importBeside(
  graph: GraphCore,
  def: Uint8Array,
  inputMap: Record<string, Input | Operation>,
): ImportResults {
  return importChecked(graph, def, { inputMap }, true);
}

function importChecked(
  graph: GraphCore,
  def: GraphDefSource,
  options: ImportOptions,
  anyColocation = false,
): ImportResults {
  const { wasm } = graph;
  const { call } = wasm;
  graph.checkUsable();
  return wasm.scope((scope) =>
    withGraphDef(wasm, def, (buffer) => {
      const importOptions = call.TF_NewImportGraphDefOptions();
      try {
        setOptions(graph, scope, importOptions, options);
        if (anyColocation) call.TF_ImportGraphDefOptionsSetValidateColocationConstraints(importOptions, 0);
        const results = wasm.checked((status) =>
          call.TF_GraphImportGraphDefWithResults(graph.pointer, buffer, importOptions, status),
        );
        try {
          return readResults(graph, scope, results);
        } finally {
          call.TF_DeleteImportGraphDefResults(results);
        }
      } finally {
        call.TF_DeleteImportGraphDefOptions(importOptions);
      }
    }),
  );
}

/** A GraphDef as bytes; text becomes UTF-8. Files of other formats are refused. */
export function graphDefBytes(def: Uint8Array | ArrayBuffer | string): Uint8Array {
  const content = typeof def === 'string' ? def : bytesOf(def, 'a GraphDef that is no text');
  refuseForeign(content, 'GraphDef');
  return typeof content === 'string' ? encodeText(withoutBom(content)) : content;
}

/** A GraphDef as bytes, however it is given. */
export function binaryGraphDef(wasm: Wasm, def: GraphDefSource): Uint8Array {
  if (def instanceof EngineBytes) return def.copy();
  return typeof def === 'string'
    ? withGraphDef(wasm, def, (buffer) => wasm.bytesOfBuffer(buffer))
    : graphDefBytes(def);
}

/** Calls `use` with a TF_Buffer that holds the GraphDef until it returns. */
export function withGraphDef<T>(wasm: Wasm, def: GraphDefSource, use: (buffer: BufferPtr) => T): T {
  const { call } = wasm;
  const content = def instanceof EngineBytes ? def : graphDefBytes(def);
  const isText = typeof def === 'string';
  const written = content instanceof EngineBytes || isText ? undefined : EngineBytes.of(wasm, content);
  const buffer = call.TF_NewBuffer();
  try {
    if (isText) {
      fillFromText(wasm, 'GraphDef', content as Uint8Array, buffer);
    } else {
      const { begin, length } = written ?? (content as EngineBytes);
      wasm.u32.set([begin, length], buffer >>> 2);
    }
    return use(buffer);
  } catch (error) {
    if (
      error instanceof TFError &&
      /^(Cannot parse|Invalid GraphDef|malformed protobuf|\d+:\d+: )/.test(error.message)
    )
      error.hint(WANTED_HINT);
    throw error;
  } finally {
    call.TF_DeleteBuffer(buffer);
    written?.free();
  }
}

function setOptions(
  graph: GraphCore,
  scope: Scope,
  pointer: ImportGraphDefOptionsPtr,
  options: ImportOptions,
): void {
  const { call } = graph.wasm;
  if (options.prefix !== undefined)
    call.TF_ImportGraphDefOptionsSetPrefix(pointer, scope.string(options.prefix));
  const device = options.defaultDevice ?? graph.runtime.device;
  if (device !== '') call.TF_ImportGraphDefOptionsSetDefaultDevice(pointer, scope.string(device));
  call.TF_ImportGraphDefOptionsSetUniquifyNames(pointer, options.uniquifyNames ? 1 : 0);
  call.TF_ImportGraphDefOptionsSetUniquifyPrefix(pointer, options.uniquifyPrefix ? 1 : 0);
  for (const [key, value] of Object.entries(options.inputMap ?? {})) {
    if (key.startsWith('^')) {
      if (!(value instanceof Operation)) checkInput(value, `inputMap['${key}']`);
      const operation = graph.ownOperation(value instanceof Operation ? value : valueOf(value).operation);
      call.TF_ImportGraphDefOptionsRemapControlDependency(
        pointer,
        scope.string(key.slice(1)),
        operation.pointer,
      );
      continue;
    }
    const [name, index] = splitOutputName(key);
    if (value instanceof Operation)
      throw new InvalidArgumentError(
        `inputMap['${key}'] needs an Output: an Operation can only stand for '^${key}'`,
      );
    checkInput(value, `inputMap['${key}']`);
    const output = valueOf(value);
    graph.ownOperation(output.operation);
    call.TF_ImportGraphDefOptionsAddInputMapping(pointer, scope.string(name), index, scope.outputs([output]));
  }
  if (options.returnOutputs) checkTexts('returnOutputs', options.returnOutputs);
  if (options.returnOperations) checkTexts('returnOperations', options.returnOperations);
  for (const operation of options.controlDependencies ?? []) {
    call.TF_ImportGraphDefOptionsAddControlDependency(pointer, graph.ownOperation(operation).pointer);
  }
  for (const name of options.returnOutputs ?? []) {
    const [node, index] = splitOutputName(name);
    call.TF_ImportGraphDefOptionsAddReturnOutput(pointer, scope.string(node), index);
  }
  for (const name of options.returnOperations ?? [])
    call.TF_ImportGraphDefOptionsAddReturnOperation(pointer, scope.string(name));
}

function readResults(graph: GraphCore, scope: Scope, results: ImportGraphDefResultsPtr): ImportResults {
  const { wasm } = graph;
  const count: Ptr<'int'> = scope.alloc(4);
  const items = <T>(read: (i: number) => T): T[] =>
    Array.from({ length: wasm.u32[count >>> 2]! }, (_, i) => read(i));
  const outputArray: Ptr<OutputPtr> = scope.alloc(4);
  wasm.call.TF_ImportGraphDefResultsReturnOutputs(results, count, outputArray);
  const outputs = items((i) => graph.outputAt(wasm.at(outputArray, 0), i));
  const operationArray: Ptr<Ptr<OperationPtr>> = scope.alloc(4);
  wasm.call.TF_ImportGraphDefResultsReturnOperations(results, count, operationArray);
  const operations = items((i) => graph.operationAt(wasm.at(wasm.at(operationArray, 0), i)));
  const names: Ptr<Ptr<TextPtr>> = scope.alloc(4);
  const indexes: Ptr<Ptr<'int'>> = scope.alloc(4);
  wasm.call.TF_ImportGraphDefResultsMissingUnusedInputMappings(results, count, names, indexes);
  const unusedInputMapKeys = items(
    (i) => `${wasm.text(wasm.at(wasm.at(names, 0), i))}:${wasm.u32[(wasm.at(indexes, 0) >>> 2) + i]!}`,
  );
  return { outputs, operations, unusedInputMapKeys };
}
