/** Helpers for tests of graphs and ops: numerical checks of gradients, and shape functions without a graph. */
import { AttrInput, encodeAttr, guessAttrType } from './attr-value.js';
import { InvalidArgumentError, TFError } from './errors.js';
import { MessageWriter } from './protobuf.js';
import { runtimeOf } from './tf.js';
import type { TF } from './tf.js';
import type { Graph } from './graph.js';
import type { Output } from './operation.js';
import type { Feeds } from './session.js';
import { Tensor, TensorLike, tensor } from './tensor.js';
import { uploadTensor } from './transfer.js';

export interface CheckOptions {
  /** Values for other placeholders. */
  feeds?: Feeds;
  /** Where x is checked; default: values between -1 and 1 that differ, which needs a known shape of x. */
  value?: TensorLike;
  /** Step of the central differences; default 1e-6 for float64, 1e-2 for float32. */
  step?: number;
}

/**
 * Compares the gradient of sum(y * w), for fixed weights w, with respect to x with central differences. The error of an element is relative to
 * the larger of 1 and its size.
 */
export async function checkGradients(tf: TF, graph: Graph, y: Output, x: Output, options: CheckOptions = {}): Promise<{ maxError: number }> {
  const dtype = x.dtype;
  if (dtype !== 'float64' && dtype !== 'float32') throw new InvalidArgumentError(`checkGradients needs a float x, not ${dtype}`);
  const [gradient] = graph.gradients([y], [x], { gradYs: [weightsLike(graph, y)] });
  if (!gradient) throw new InvalidArgumentError(`no gradient flows from ${y.name} to ${x.name}`);
  const session = new tf.Session(graph);
  try {
    const at = tf.tensor(options.value ?? somewhere(x), undefined, dtype);
    const base = new Map(options.feeds instanceof Map ? options.feeds : Object.entries(options.feeds ?? {}));
    const run = (value: Tensor, fetch: Output) => session.run(fetch, new Map([...base, [x, value]]));
    const analytic = await run(at, gradient);
    const step = options.step ?? (dtype === 'float64' ? 1e-6 : 1e-2);
    let maxError = 0;
    for (let i = 0; i < at.size; i++) {
      const moved = async (by: number): Promise<number> => {
        const data = at.data.slice() as Float64Array;
        data[i]! += by;
        return weightedSum(await run(new Tensor(dtype, at.shape, data), y));
      };
      const numeric = ((await moved(step)) - (await moved(-step))) / (2 * step);
      const got = Number((analytic.data as Float64Array)[i]);
      maxError = Math.max(maxError, Math.abs(got - numeric) / Math.max(1, Math.abs(numeric)));
    }
    return { maxError };
  } finally {
    await session.close();
  }
}

/** The number of elements of an output, whose shape has to be known for that. */
function countOf(output: Output): { shape: number[]; count: number } {
  const shape = output.shape;
  if (!shape || shape.includes(null)) throw new InvalidArgumentError(`checkGradients needs a fully known shape of ${output.name}`);
  return { shape: shape as number[], count: shape.reduce<number>((product, size) => product * size!, 1) };
}

/** Values for x, spread by steps of the golden ratio, so that no two are the same. */
function somewhere(x: Output): Tensor {
  const { shape, count } = countOf(x);
  return tensor(Array.from({ length: count }, (_, i) => 2 * (((i + 1) * 0.6180339887498949) % 1) - 1), shape, x.dtype);
}

/** Weights that tell elements apart: 1, 1.5, 2, 1, … along the flat index. */
const weightAt = (i: number): number => 1 + (i % 3) / 2;

function weightedSum(value: Tensor): number {
  let sum = 0;
  (value.data as Float64Array).forEach((element, i) => (sum += element * weightAt(i)));
  return sum;
}

function weightsLike(graph: Graph, y: Output): Output {
  const { shape, count } = countOf(y);
  return graph.constant(new Float64Array(Array.from({ length: count }, (_, i) => weightAt(i))), { dtype: y.dtype, shape });
}

export interface ShapeCase {
  op: string;
  /** Attrs that have a default need not be given; nor those that say nothing about shapes. */
  attrs?: Record<string, AttrInput>;
  /** Inputs whose values are known, by position. */
  inputTensors?: Record<number, TensorLike>;
  /** The GraphDef version of the graph's producer; default: the current one. */
  graphDefVersion?: number;
}

/**
 * What the shape function of an op answers, in TensorFlow's language for that: inputs "[1,?];[?,2]" (a shape is "[...]", or "?" when not even its rank
 * is known) give "[d0_0,d1_1]". A dimension that is one of an input is named so (d0_1: input 0, dimension 1), a shape that is an input's "in0"; else
 * sizes and "?". Input tensors of int32 are guessed from whole numbers. What the shape function refuses is thrown.
 */
export function inferShapes(tf: TF, { op, attrs = {}, inputTensors = {}, graphDefVersion = -1 }: ShapeCase, inputShapes: string): string {
  const { wasm } = runtimeOf(tf);
  const def = tf.opDefs().find(({ name }) => name === op);
  const node = new MessageWriter().bytes(1, op).bytes(2, op);
  for (const [key, value] of Object.entries(attrs)) {
    const type = def?.attr.find(({ name }) => name === key)?.type ?? guessAttrType(value);
    const bytes = encodeAttr(type, value);
    node.message(5, () => node.bytes(1, key).bytes(2, bytes));
  }
  const nodeDef = node.finish();
  const tensors = Object.entries(inputTensors).map(([i, value]) => [Number(i), inputTensor(value)] as const);
  try {
    return wasm.scope((scope) => {
      const uploaded: number[] = [];
      try {
        for (const [, value] of tensors) uploaded.push(uploadTensor(wasm, scope, value));
        const [proto, positions, pointers, shapes] = [scope.bytes(nodeDef), scope.ints(tensors.map(([i]) => i)), scope.pointers(uploaded), scope.string(inputShapes)];
        return wasm.bufferText((buffer, status) =>
          wasm.call.TF_WasmInferShapes!(proto, nodeDef.length, positions, pointers, uploaded.length, graphDefVersion, shapes, buffer, status),
        );
      } finally {
        for (const pointer of uploaded) wasm.call.TF_DeleteTensor!(pointer);
      }
    });
  } catch (error) {
    throw error instanceof TFError ? error.locate(undefined, op) : error;
  }
}

/** Numbers without a dtype are what shape functions look at: whole ones, int32. */
function inputTensor(value: TensorLike): Tensor {
  const guessed = tensor(value);
  const isPlain = !(value instanceof Tensor) && !ArrayBuffer.isView(value) && guessed.dtype === 'float32';
  return isPlain && [...(guessed.data as Float32Array)].every(Number.isInteger) ? tensor(value, undefined, 'int32') : guessed;
}
