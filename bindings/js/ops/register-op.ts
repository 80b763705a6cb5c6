/** tf.registerOp: ops with a shape function and a kernel in JavaScript. */
import { Schema, checkOptions, checkTexts, shown } from '../base/arguments.js';
import type { AttrValue } from '../messages/attr-value.js';
import { decodeNodeAttrs } from '../messages/node-def.js';
import { DType, dtypeFromNumber } from '../tensor/dtypes.js';
import { InvalidArgumentError, TFError } from '../base/errors.js';
import { FunctionDef } from '../graph/function-def.js';
import type {
  CallbackPtr,
  Null,
  OpKernelConstructionPtr,
  OpKernelContextPtr,
  Ptr,
  ShapeInferenceContextPtr,
  StatusPtr,
  TensorPtr,
  TextPtr,
} from '../generated/abi.js';
import { InferenceContext } from './inference-context.js';
import type { Runtime } from '../engine/runtime.js';
import { tensor } from '../tensor/convert.js';
import { Tensor, TensorLike } from '../tensor/tensor.js';
import { uploadTensor } from '../engine/resident-tensor.js';
import { downloadTensor } from '../engine/transfer.js';
import type { Scope, Wasm } from '../engine/wasm.js';

/**
 * The result of a kernel: a tensor for each output. Plain values become tensors of the output's dtype; for a
 * single output the Tensor alone is enough.
 */
export type KernelResult = readonly TensorLike[] | Tensor | void;

export interface OpSpec {
  name: string;
  /** "x: T", "xs: N * T", "x: float": TensorFlow's spec language. */
  inputs?: readonly string[];
  outputs?: readonly string[];
  /** "T: {float, double}", "N: int >= 1", "axis: int = 0". */
  attrs?: readonly string[];
  /** The first line is the summary; "name: text" describes an input, output or attr. */
  doc?: string;
  /** It does more than compute its outputs from its inputs: it is never folded, merged or removed. */
  stateful?: boolean;
  /**
   * Sets the shapes of the outputs, and throws for invalid inputs. Without it, the shapes are unknown. It may
   * be called several times.
   */
  shape?: (context: InferenceContext) => void;
  /** Computes the outputs synchronously. */
  kernel?: (inputs: Tensor[], attrs: Record<string, AttrValue>) => KernelResult;
  /**
   * Function text with the op's inputs and one gradient per output as arguments, and one gradient per input
   * as results; null: no gradient flows.
   */
  gradient?: string | FunctionDef | null;
}

const OP_SPEC: Schema<OpSpec> = {
  name: 'a string',
  inputs: 'an array',
  outputs: 'an array',
  attrs: 'an array',
  doc: 'a string',
  stateful: 'true or false',
  shape: 'a function',
  kernel: 'a function',
  gradient: 'anything',
};

function checkSpec(spec: OpSpec): void {
  checkOptions<OpSpec>('registerOp', spec, OP_SPEC);
  if (spec.name === undefined)
    throw new InvalidArgumentError("an op needs a name: registerOp({ name: 'Cube', … })");
  for (const key of ['inputs', 'outputs', 'attrs'] as const) if (spec[key]) checkTexts(key, spec[key]);
  const { gradient } = spec;
  if (
    gradient === undefined ||
    gradient === null ||
    typeof gradient === 'string' ||
    gradient instanceof FunctionDef
  )
    return;
  throw new InvalidArgumentError(
    `the gradient of an op is function text, a FunctionDef, or null where none flows, not ${shown(gradient)}: ` +
      `it is made of ops, such as '${spec.name}Grad(x:float, dy:float) -> (dx:float) { dx = Mul[T=float](x, dy) return dx = dx:z:0 }'`,
  );
}

/** The state that the engine holds for a kernel: its number, in place of a pointer. */
type KernelId = Ptr<unknown>;
type ShapeFunction = (context: ShapeInferenceContextPtr, status: StatusPtr) => void;

/** The kernel of one node. */
interface Kernel {
  readonly spec: OpSpec;
  readonly attrs: Record<string, AttrValue>;
}

/** Throws if a callback returned a promise, because it cannot be awaited. */
function refusePromise(result: unknown, what: string): void {
  if (typeof (result as PromiseLike<unknown> | undefined)?.then !== 'function') return;
  Promise.resolve(result).catch(() => undefined);
  throw new InvalidArgumentError(
    `${what} returned a Promise: it has to finish before it returns, so it cannot be async`,
  );
}

/**
 * The registered kernels of one engine. They are called through three functions of its table, whatever their
 * op.
 */
export class OpRegistrar {
  private readonly kernels = new Map<KernelId, Kernel>();
  private lastKernel = 0;
  private compute: CallbackPtr<(kernel: KernelId, context: OpKernelContextPtr) => void> | undefined;
  private destroy: CallbackPtr<(kernel: KernelId) => void> | undefined;

  constructor(private readonly runtime: Runtime) {}

  private get wasm(): Wasm {
    return this.runtime.wasm;
  }

  register(spec: OpSpec): void {
    const { wasm } = this;
    checkSpec(spec);
    wasm.refuseInCallback();
    const added: CallbackPtr<unknown>[] = [];
    const add = <F>(body: F, signature: string): CallbackPtr<F> => {
      const pointer = wasm.addFunction(body, signature);
      added.push(pointer);
      return pointer;
    };
    try {
      const { shape } = spec;
      const shapeFunction = shape
        ? add(
            (context: ShapeInferenceContextPtr, status: StatusPtr) =>
              this.inferShapes(spec.name, shape, context, status),
            'vii',
          )
        : 0;
      const create = spec.kernel
        ? add((construction: OpKernelConstructionPtr) => this.createKernel(spec, construction), 'ii')
        : 0;
      this.registerDefinition(spec, shapeFunction);
      if (create) this.registerKernel(spec.name, create);
    } catch (error) {
      for (const pointer of added) wasm.removeFunction(pointer);
      throw error instanceof TFError ? error.locate(undefined, spec.name) : error;
    }
    this.runtime.forgetOps();
  }

  private registerDefinition(spec: OpSpec, shapeFunction: CallbackPtr<ShapeFunction> | Null): void {
    const { wasm } = this;
    const { call } = wasm;
    const gradient =
      spec.gradient === null
        ? 'none'
        : spec.gradient instanceof FunctionDef
          ? spec.gradient.toText()
          : spec.gradient;
    wasm.scope((scope) => {
      /* All texts are allocated before the builder is created, so that nothing fails between creating and
       * registering it. */
      const texts = (specs: readonly string[] | undefined): TextPtr[] =>
        (specs ?? []).map((text) => scope.string(text));
      const [attrs, inputs, outputs] = [texts(spec.attrs), texts(spec.inputs), texts(spec.outputs)];
      const doc = spec.doc === undefined ? 0 : scope.string(spec.doc);
      const gradientText = gradient === undefined ? 0 : scope.string(gradient);
      const name = scope.string(spec.name);
      const builder = wasm.made(() => call.TF_NewOpDefinitionBuilder(name));
      for (const text of attrs) call.TF_OpDefinitionBuilderAddAttr(builder, text);
      for (const text of inputs) call.TF_OpDefinitionBuilderAddInput(builder, text);
      for (const text of outputs) call.TF_OpDefinitionBuilderAddOutput(builder, text);
      if (doc) call.TF_OpDefinitionBuilderDoc(builder, doc);
      if (spec.stateful) call.TF_OpDefinitionBuilderSetIsStateful(builder, 1);
      if (shapeFunction) call.TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, shapeFunction);
      if (gradientText) call.TF_OpDefinitionBuilderSetGradient(builder, gradientText);
      wasm.checked((status) => call.TF_RegisterOpDefinition(builder, status));
    });
  }

  private registerKernel(
    op: string,
    create: CallbackPtr<(construction: OpKernelConstructionPtr) => KernelId>,
  ): void {
    const { wasm } = this;
    this.compute ??= wasm.addFunction(
      (kernel: KernelId, context: OpKernelContextPtr) => this.runKernel(kernel, context),
      'vii',
    );
    this.destroy ??= wasm.addFunction((kernel: KernelId) => void this.kernels.delete(kernel), 'vi');
    wasm.scope((scope) => {
      const [name, device] = [scope.string(op), scope.string('CPU')];
      const builder = wasm.made(() =>
        wasm.call.TF_NewKernelBuilder(name, device, create, this.compute!, this.destroy!),
      );
      wasm.checked((status) => wasm.call.TF_RegisterKernelBuilder(name, builder, status));
    });
  }

  // ---- called by the engine ----

  private inferShapes(
    name: string,
    shape: NonNullable<OpSpec['shape']>,
    pointer: ShapeInferenceContextPtr,
    status: StatusPtr,
  ): void {
    this.wasm.callback(
      (scope) => {
        const context = new InferenceContext(this.wasm, scope, pointer);
        try {
          refusePromise(shape(context), `the shape function of op ${name}`);
        } finally {
          context.close();
        }
      },
      (fill) => fill(status),
    );
  }

  private createKernel(spec: OpSpec, construction: OpKernelConstructionPtr): KernelId {
    const { wasm } = this;
    let id = 0 as KernelId;
    wasm.callback(
      () => {
        const buffer = wasm.checked((status) =>
          wasm.call.TF_OpKernelConstruction_GetNodeDef(construction, status),
        );
        try {
          const attrs = decodeNodeAttrs(wasm.bytesOfBuffer(buffer));
          id = ++this.lastKernel as KernelId;
          this.kernels.set(id, { spec, attrs });
        } finally {
          wasm.call.TF_DeleteBuffer(buffer);
        }
      },
      (fill) =>
        wasm.withStatus((status) => {
          fill(status);
          wasm.call.TF_OpKernelConstruction_Failure(construction, status);
        }),
    );
    return id;
  }

  private runKernel(id: KernelId, context: OpKernelContextPtr): void {
    const { wasm } = this;
    wasm.callback(
      (scope) => {
        const { spec, attrs } = this.kernels.get(id)!;
        const result = spec.kernel!(this.inputs(scope, context), attrs);
        refusePromise(result, `the kernel of op ${spec.name}`);
        this.setOutputs(scope, context, spec.name, result);
      },
      (fill) =>
        wasm.withStatus((status) => {
          fill(status);
          wasm.call.TF_OpKernelContext_Failure(context, status);
        }),
    );
  }

  private inputs(scope: Scope, context: OpKernelContextPtr): Tensor[] {
    const { wasm } = this;
    const place: Ptr<TensorPtr> = scope.alloc(4);
    return Array.from({ length: wasm.call.TF_NumInputs(context) }, (_, i) => {
      wasm.checked((status) => wasm.call.TF_GetInput(context, i, place, status));
      return downloadTensor(wasm, wasm.at(place, 0));
    });
  }

  private setOutputs(scope: Scope, context: OpKernelContextPtr, op: string, result: KernelResult): void {
    const { call } = this.wasm;
    const count = call.TF_NumOutputs(context);
    const values = result instanceof Tensor ? [result] : (result ?? []);
    if (!Array.isArray(values) || values.length !== count) {
      const given = Array.isArray(values) ? `${values.length}` : `${shown(values)} instead of an array`;
      throw new InvalidArgumentError(`the kernel of op ${op} has ${count} outputs, but it returned ${given}`);
    }
    for (const [i, value] of (values as readonly TensorLike[]).entries()) {
      const dtype = dtypeFromNumber(call.TF_ExpectedOutputDataType(context, i));
      const pointer = uploadTensor(this.wasm, scope, outputTensor(value, dtype, i, op));
      try {
        this.wasm.checked((status) => call.TF_SetOutput(context, i, pointer, status));
      } finally {
        call.TF_DeleteTensor(pointer);
      }
    }
  }
}

function outputTensor(value: TensorLike, dtype: DType, i: number, op: string): Tensor {
  if (value instanceof Tensor && value.dtype !== dtype) {
    throw new InvalidArgumentError(
      `output ${i} of op ${op} is ${dtype}, but its kernel returned ${value.dtype}`,
    );
  }
  if (value === undefined || value === null)
    throw new InvalidArgumentError(`the kernel of op ${op} returned no value for output ${i}`);
  return tensor(value, undefined, dtype);
}
