/** tfcore-wasm: TensorFlow's graph core in WebAssembly. Start with `const tf = await init()`. */
export { init } from './init.js';
export type { TF } from './tf.js';
export * from './base/errors.js';
export { detectFeatures } from './engine/choose-build.js';
export type { Variant } from './engine/choose-build.js';
export type { InitOptions } from './engine/load.js';
export type { MakeTensor, TensorOptions } from './engine/make-tensor.js';
export type { AttrInput, AttrValue, FuncAttr, FuncInput } from './messages/attr-value.js';
export type { ShapeLike } from './messages/tensor-proto.js';
export type { Compatibility, Missing, UnknownAttr } from './models/compatibility.js';
export type { Body, CallOptions, Traced } from './graph/control-flow.js';
export type { DType, DTypeName, DTypeNamed, DataTypes, TypedArray } from './tensor/dtypes.js';
export { Files } from './engine/files.js';
export { FunctionBody } from './graph/function-body.js';
export type { BodyOptimizeOptions } from './graph/function-body.js';
export { FunctionDef } from './graph/function-def.js';
export type {
  CreateSpec,
  CreatedNode,
  DefineSpec,
  DefinedNode,
  FunctionAttrs,
} from './graph/function-def.js';
export { Graph } from './graph/graph.js';
export type { GradientOptions } from './graph/gradients.js';
export type { OpOptions } from './graph/graph-core.js';
export type { FunctionParts } from './graph/graph-functions.js';
export type { GraphVersions } from './graph/graph.js';
export type { ImportOptions, ImportResults } from './graph/import-graph.js';
export type { KerasLayer, KerasLayerFunction, KerasOptions } from './keras/custom-layers.js';
export type { ModelSource } from './loading/file-sources.js';
export type { ModelSpec, SignatureSpec } from './loading/make-model.js';
export { Model } from './loading/model.js';
export type { ModelRunOptions, ModelSaveOptions } from './loading/model.js';
export type { LoadOptions } from './loading/load-options.js';
export type { SaveFormat, SavedFiles } from './loading/save-model.js';
export type { ModelTensor, Signature } from './loading/signature.js';
export { Saver } from './models/saver.js';
export type { SaveOptions, SaverOptions } from './models/saver.js';
export type { ArgDef, AttrDef, OpDef } from './messages/op-def.js';
export type { Operand } from './graph/op-inputs.js';
export { DimensionHandle, InferenceContext, ShapeHandle } from './ops/inference-context.js';
export type { DimInput, ShapeInput } from './ops/inference-context.js';
export { Operation, Output, Variable } from './graph/operation.js';
export type { Consumer, Input, VariableNodes } from './graph/operation.js';
export type { KernelResult, OpSpec } from './ops/register-op.js';
export type { MemoryInfo } from './engine/runtime.js';
export { Callable } from './session/callable.js';
export type { CallableOptions } from './session/callable.js';
export { PartialRun } from './session/partial-run.js';
export type { PartialRunOptions } from './session/partial-run.js';
export type { Feeds, Fetch, Fetched } from './session/request.js';
export type { GrpcTarget, ServerOptions, ServerTarget, SocketTarget } from './session/server-target.js';
export type { GrpcCredentials } from './master/grpc.js';
export { Session } from './session/session.js';
export type { Device } from './session/backend.js';
export type { RunOptions, SessionOptions } from './session/session.js';
export { Trace } from './session/trace.js';
export type { SessionStepOptions } from './session/step-options.js';
export type { ChromeTrace, OpTime, TraceRecord, TracedStepOptions } from './session/trace.js';
export type { StepOptions } from './engine/step-queue.js';
export { Tensor } from './tensor/tensor.js';
export type { GuessedDType } from './tensor/convert.js';
export type { Complex, NestedArray, Scalar, ScalarOf, TensorLike } from './tensor/tensor.js';
export { VERSION as version } from './base/version.js';

/** @internal Shared with `tfcore-wasm/testing`, which is a file of its own. */
export { encodeAttrOf } from './messages/op-def.js';
/** @internal */
export { checkOptions, checkText, shown } from './base/arguments.js';
/** @internal */
export type { Schema } from './base/arguments.js';
/** @internal */
export { itemsPerElement, typedArrayOf } from './tensor/dtypes.js';
/** @internal */
export { withHint } from './graph/hints.js';
/** @internal */
export { checkInput, valueOf } from './graph/operation.js';
/** @internal */
export { MessageWriter } from './messages/protobuf.js';
/** @internal */
export { feedEntries, feedTensor } from './session/request.js';
/** @internal */
export { tensor } from './tensor/convert.js';
export { sizeOf } from './tensor/tensor.js';
/** @internal */
export { runtimeOf } from './tf.js';
/** @internal */
export { uploadTensor } from './engine/resident-tensor.js';
