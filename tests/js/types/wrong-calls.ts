// Calls of the engine that must not compile: each line behind a @ts-expect-error is wrong.
import type {
  Abi,
  BufferPtr,
  GraphPtr,
  OpDefinitionBuilderPtr,
  OperationPtr,
  OutputPtr,
  Ptr,
  SessionPtr,
  ShapeInferenceContextPtr,
  StatusPtr,
  TensorPtr,
  WasmStepPtr,
} from '../../../bindings/js/generated/abi.js';
import type { Scope, Wasm } from '../../../bindings/js/engine/wasm.js';

declare const call: Abi;
declare const wasm: Wasm;
declare const scope: Scope;
declare const graph: GraphPtr;
declare const session: SessionPtr;
declare const step: WasmStepPtr;
declare const status: StatusPtr;
declare const buffer: BufferPtr;
declare const operation: OperationPtr;
declare const outputs: OutputPtr;
declare const tensors: Ptr<TensorPtr>;
declare const shapeContext: ShapeInferenceContextPtr;
declare const builder: OpDefinitionBuilderPtr;

const shapeOfGraphs = wasm.addFunction((graph: GraphPtr) => void graph, 'vii');

// What is right, beside what is wrong below.
call.TF_GraphToGraphDef(graph, buffer, status);
call.TF_WasmResumeStep(step, 10, tensors, 1, status);
call.TF_WasmNewSession(graph, 0, 0, status);
call.TF_ShapeInferenceContextDim(shapeContext, call.TF_NewShapeHandle(), 3n, call.TF_NewDimensionHandle());
call.TF_AllocateTensor(1, scope.dims([2, null]), 2, 8);
call.TF_OperationAllInputs(operation, outputs, 2);
wasm.text(call.TF_OperationName(operation));

// @ts-expect-error: an argument is missing
call.TF_GraphToGraphDef(graph, buffer);
// @ts-expect-error: an argument too many
call.TF_DeleteGraph(graph, status);
// @ts-expect-error: two arguments in the wrong order
call.TF_GraphToGraphDef(buffer, graph, status);
// @ts-expect-error: a session in the place of a graph
call.TF_DeleteGraph(session);
// @ts-expect-error: a number in the place of a pointer
call.TF_DeleteTensor(5);
// @ts-expect-error: no status
call.TF_WasmNewSession(graph, 0, 0, 0);
// @ts-expect-error: 64 bits are a bigint
call.TF_ShapeInferenceContextDim(shapeContext, call.TF_NewShapeHandle(), 3, call.TF_NewDimensionHandle());
// @ts-expect-error: a size is a number
call.TF_AllocateTensor(1, scope.dims([2]), 1, 8n);
// @ts-expect-error: 32-bit numbers in the place of 64-bit ones
call.TF_AllocateTensor(1, scope.words<'int'>([2]), 1, 8);
// @ts-expect-error: operations in the place of tensors
call.TF_WasmResumeStep(step, 10, scope.pointers([operation]), 1, status);
// @ts-expect-error: a struct comes back through memory, not as a value
wasm.text(call.TF_OperationInput(outputs, scope.words([operation, 0])));
// @ts-expect-error: memory is no handle
call.TF_DeleteGraph(scope.alloc(8));
// @ts-expect-error: the callback of shape functions takes a context
call.TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, shapeOfGraphs);
// @ts-expect-error: a function that does not exist
call.TF_DeleteGraphs(graph);
// @ts-expect-error: a dimension where a shape is asked for
call.TF_ShapeInferenceContextRank(shapeContext, call.TF_NewDimensionHandle());
