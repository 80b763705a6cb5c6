/** tfcore-wasm: TensorFlow's graph core in WebAssembly. `const tf = await init()` is the way in. */
export { init } from './init.js';
export type { TF } from './tf.js';
export * from './errors.js';
export { detectFeatures } from './choose-build.js';
export type { Variant } from './choose-build.js';
export type { InitOptions } from './load.js';
export type { AttrInput, AttrValue, FuncAttr, FuncInput, ShapeLike } from './attr-value.js';
export type { Compatibility, Missing, UnknownAttr } from './compatibility.js';
export type { Body, CallOptions, Traced } from './control-flow.js';
export type { DType, DTypeName, DTypeNamed, DataTypes, TypedArray } from './dtypes.js';
export { Files } from './files.js';
export { FunctionBody } from './function-body.js';
export type { BodyOptimizeOptions } from './function-body.js';
export { FunctionDef } from './function-def.js';
export type { CreateSpec, CreatedNode, DefineSpec, DefinedNode, FunctionAttrs } from './function-def.js';
export { Graph } from './graph.js';
export type { FunctionParts, GradientOptions, GraphVersions, OpOptions } from './graph.js';
export type { ImportOptions, ImportResults } from './import-graph.js';
export type { ArgDef, AttrDef, OpDef } from './op-def.js';
export type { Operand } from './op-inputs.js';
export { DimensionHandle, InferenceContext, ShapeHandle } from './inference-context.js';
export type { DimInput, ShapeInput } from './inference-context.js';
export { Operation, Output, Variable } from './operation.js';
export type { Consumer, Input } from './operation.js';
export type { KernelResult, OpSpec } from './register-op.js';
export type { MemoryInfo } from './runtime.js';
export { Session } from './session.js';
export type { Feeds, Fetch, Fetched, RunOptions, SessionOptions } from './session.js';
export type { StepOptions } from './step-queue.js';
export { Tensor } from './tensor.js';
export type { Complex, GuessedDType, NestedArray, Scalar, ScalarOf, TensorLike } from './tensor.js';
export { VERSION as version } from './version.js';

/** @internal What `tfcore-wasm/testing`, a file of its own, shares with this one. */
export { encodeAttrOf } from './attr-value.js';
/** @internal */
export { checkOptions, checkText, shown } from './arguments.js';
/** @internal */
export type { Schema } from './arguments.js';
/** @internal */
export { itemsPerElement, typedArrayOf } from './dtypes.js';
/** @internal */
export { withHint } from './hints.js';
/** @internal */
export { checkInput, valueOf } from './operation.js';
/** @internal */
export { MessageWriter } from './protobuf.js';
/** @internal */
export { feedEntries, feedTensor } from './session.js';
/** @internal */
export { sizeOf, tensor } from './tensor.js';
/** @internal */
export { runtimeOf } from './tf.js';
/** @internal */
export { uploadTensor } from './transfer.js';
