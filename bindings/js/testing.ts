/** Helpers for tests of graphs and ops: numerical gradient checks, and shape functions without a graph. */
import {
  checkInput,
  checkOptions,
  checkText,
  encodeAttrOf,
  feedEntries,
  feedTensor,
  Graph,
  InvalidArgumentError,
  itemsPerElement,
  MessageWriter,
  Output,
  runtimeOf,
  Session,
  shown,
  sizeOf,
  Tensor,
  tensor,
  TFError,
  typedArrayOf,
  uploadTensor,
  valueOf,
  withHint,
} from './index.js';
import type { GradientCheckOptionsPtr, Ptr, TensorPtr } from './generated/abi.js';
import type { AttrInput, Feeds, Input, Schema, TensorLike, TF } from './index.js';

export interface CheckOptions {
  /** Values of placeholders, including xs, for which they give the point of the check. */
  feeds?: Feeds;
  /**
   * The point at which a single x is checked. Default: distinct values between -1 and 1, which requires a
   * known shape of x.
   */
  value?: TensorLike;
  /** The step of central differences; default 2^-17 in double precision, 2^-7 in single precision. */
  step?: number;
  /**
   * 2: also the derivatives of the gradients by the xs and by the incoming gradients of the ys; 3: those of
   * these as well, and so on up to 4.
   */
  order?: number;
  /** The session in which the graph's variables were initialised. Default: a new one. */
  session?: Session;
}

/**
 * Compares the derivatives of all elements of the ys by all elements of the xs, from graph.gradients, with
 * central differences. The error of one is |gradient - difference| / max(1, |difference|). For float32,
 * float64, complex64 and complex128; the parts of complex numbers count as two elements. A missing gradient
 * counts as zero. The graph is unchanged afterwards.
 */
export async function checkGradients(
  tf: TF,
  graph: Graph,
  y: Input | readonly Input[],
  x: Input | readonly Input[],
  options: CheckOptions = {},
): Promise<{ maxError: number }> {
  const runtime = runtimeOf(tf);
  if (!(graph instanceof Graph))
    throw new InvalidArgumentError(`the second argument of checkGradients is a Graph, not ${shown(graph)}`);
  if (graph.runtime !== runtime) throw new InvalidArgumentError('the graph belongs to another engine');
  checkOptions<CheckOptions>('checkGradients', options, CHECK_OPTIONS);
  if (options.session !== undefined && !(options.session instanceof Session))
    throw new InvalidArgumentError(
      `option 'session' of checkGradients is a Session, not ${shown(options.session)}`,
    );
  if (options.session !== undefined && options.session.graph !== graph)
    throw new InvalidArgumentError('the session runs another graph');
  const outputsOf = (inputs: Input | readonly Input[]) =>
    Array.from(Array.isArray(inputs) ? (inputs as readonly Input[]) : [inputs as Input], (input) => {
      checkInput(input);
      return valueOf(input);
    });
  const [ys, xs] = [outputsOf(y), outputsOf(x)];
  for (const { operation } of [...ys, ...xs]) graph.ownOperation(operation);
  if (options.value !== undefined && xs.length !== 1)
    throw new InvalidArgumentError('a value is for one x: those of several are given with the feeds');
  const feeds = feedsOf(graph, options.feeds ?? {});
  const values = xs.map((output) => {
    const at = feeds.findIndex(
      ([feed]) => feed.operation === output.operation && feed.index === output.index,
    );
    return at < 0
      ? options.value === undefined
        ? somewhere(output)
        : feedTensor(placeOf(output), options.value)
      : feeds.splice(at, 1)[0]![1];
  });
  const { training, side } = runtime.parts;
  await training.load();
  if (side.isWanted) await side.load();
  try {
    return { maxError: largestError(graph, ys, xs, values, feeds, options) };
  } catch (error) {
    throw error instanceof TFError && error.node
      ? error.locate(error.node, graph.operation(error.node)?.type)
      : error;
  }
}

type FeedList = [Output, Tensor][];

const placeOf = (output: Output) => ({ output, dtype: output.dtype, shape: output.shape });

function feedsOf(graph: Graph, feeds: Feeds): FeedList {
  return feedEntries(feeds).map(([key, value]) => {
    if (typeof key !== 'string') checkInput(key, 'a key of the feeds');
    const output = typeof key === 'string' ? graph.output(key) : valueOf(key);
    return [output, feedTensor(placeOf(output), value)];
  });
}

/** The call of TF_ComputeGradientError. */
function largestError(
  graph: Graph,
  ys: Output[],
  xs: Output[],
  values: Tensor[],
  feeds: FeedList,
  { step = 0, order = 1, session }: CheckOptions,
): number {
  const { wasm } = graph;
  wasm.refuseInCallback();
  const uploaded: TensorPtr[] = [];
  return wasm.scope((scope) => {
    try {
      for (const value of [...values, ...feeds.map(([, fed]) => fed)])
        uploaded.push(uploadTensor(wasm, scope, value));
      const options: GradientCheckOptionsPtr = scope.alloc(32);
      const error: Ptr<'double'> = scope.alloc(8);
      const [feedOutputs, feedValues] = [
        scope.outputs(feeds.map(([output]) => output)),
        scope.pointers(uploaded.slice(xs.length)),
      ];
      const [y, x, xValues] = [
        scope.outputs(ys),
        scope.outputs(xs),
        scope.pointers(uploaded.slice(0, xs.length)),
      ];
      wasm.u32.set([session?.usablePointer() ?? 0, feedOutputs, feedValues, feeds.length], options >>> 2);
      wasm.view(Float64Array)[(options + 16) / 8] = step;
      wasm.u32.set([order], (options + 24) >>> 2);
      wasm.checked((status) =>
        wasm.call.TF_ComputeGradientError(
          graph.pointer,
          y,
          ys.length,
          x,
          xs.length,
          xValues,
          options,
          error,
          status,
        ),
      );
      return wasm.view(Float64Array)[error / 8]!;
    } finally {
      for (const pointer of uploaded) wasm.call.TF_DeleteTensor(pointer);
    }
  });
}

/** Distinct values for x, in steps of the golden ratio. */
function somewhere(x: Output): Tensor {
  const { shape, dtype } = x;
  if (!shape || shape.includes(null))
    throw new InvalidArgumentError(
      `checkGradients needs a value for ${x.name}, whose shape is not fully known`,
    );
  if (!/^(float|complex)/.test(dtype))
    throw new InvalidArgumentError(`checkGradients needs xs of floating or complex type, not ${dtype}`);
  const data = new (typedArrayOf(dtype))(sizeOf(shape as number[]) * itemsPerElement(dtype)) as Float64Array;
  return new Tensor(
    dtype,
    shape as number[],
    data.map((_, i) => 2 * (((i + 1) * 0.6180339887498949) % 1) - 1),
  );
}

const CHECK_OPTIONS: Schema<CheckOptions> = {
  feeds: 'anything',
  value: 'anything',
  step: 'a number',
  order: 'a number',
  session: 'anything',
};

export interface ShapeCase {
  op: string;
  /** Attrs with a default, and attrs that do not affect shapes, may be omitted. */
  attrs?: Record<string, AttrInput>;
  /** Inputs whose values are known, by position. */
  inputTensors?: Record<number, TensorLike>;
  /** The GraphDef version of the graph's producer; default: the current one. */
  graphDefVersion?: number;
}

const SHAPE_CASE: Schema<ShapeCase> = {
  op: 'a string',
  attrs: 'an object',
  inputTensors: 'an object',
  graphDefVersion: 'a number',
};

/**
 * The result of an op's shape function, in TensorFlow's language: inputs "[1,?];[?,2]" (a shape is "[...]",
 * or "?" for an unknown rank) give "[d0_0,d1_1]". A dimension of an input is printed as d0_1 (input 0,
 * dimension 1), an input's shape as "in0"; others as sizes and "?". Input tensors of integers are taken as
 * int32. Errors of the shape function are thrown.
 */
export function inferShapes(tf: TF, shapeCase: ShapeCase, inputShapes: string): string {
  const runtime = runtimeOf(tf);
  const { wasm } = runtime;
  checkOptions<ShapeCase>('inferShapes', shapeCase, SHAPE_CASE);
  const { op, attrs = {}, inputTensors = {}, graphDefVersion = -1 } = shapeCase;
  checkText("an op's name", op);
  checkText('the shapes', inputShapes);
  const def = runtime.findOpDef(op);
  const node = new MessageWriter().bytes(1, op).bytes(2, op);
  for (const [key, value] of Object.entries(attrs)) {
    const bytes = encodeAttrOf(def, key, value);
    node.message(5, () => node.bytes(1, key).bytes(2, bytes));
  }
  const nodeDef = node.finish();
  const tensors = Object.entries(inputTensors).map(([i, value]) => [Number(i), inputTensor(value)] as const);
  try {
    return wasm.scope((scope) => {
      const uploaded: TensorPtr[] = [];
      try {
        for (const [, value] of tensors) uploaded.push(uploadTensor(wasm, scope, value));
        const positions: Ptr<'int'> = scope.words(tensors.map(([i]) => i));
        const [proto, pointers, shapes] = [
          scope.bytes(nodeDef),
          scope.pointers(uploaded),
          scope.string(inputShapes),
        ];
        return wasm.bufferText((buffer, status) =>
          wasm.call.TF_WasmInferShapes(
            proto,
            nodeDef.length,
            positions,
            pointers,
            uploaded.length,
            graphDefVersion,
            shapes,
            buffer,
            status,
          ),
        );
      } finally {
        for (const pointer of uploaded) wasm.call.TF_DeleteTensor(pointer);
      }
    });
  } catch (error) {
    throw error instanceof TFError ? withHint(error, runtime).locate(undefined, op) : error;
  }
}

/** Numbers without a dtype are the ones that shape functions read: integers become int32. */
function inputTensor(value: TensorLike): Tensor {
  const guessed = tensor(value);
  const isPlain = !(value instanceof Tensor) && !ArrayBuffer.isView(value) && guessed.dtype === 'float32';
  return isPlain && [...(guessed.data as Float32Array)].every(Number.isInteger)
    ? tensor(value, undefined, 'int32')
    : guessed;
}
