/**
 * WarmUp: runs a small network while the files of a model are on their way. V8 compiles a function of WebAssembly when it is
 * called for the first time, and optimizes it when it has run for a while. Import, plan and first run of a model would
 * otherwise begin with that when the last byte is there.
 */
import type { Runtime } from '../engine/runtime.js';
import { Graph } from '../graph/graph.js';
import { importInto } from '../graph/import-graph.js';
import type { Callable } from '../session/callable.js';
import { Session } from '../session/session.js';
import { encodeText } from '../base/utf8.js';
import { graphDefPieces } from './graph-def-json.js';
import { concatenated } from './model-files.js';

const SIZE = 32;
const CHANNELS = 32;
const CLASSES = 10;
/** The network runs a few times, with pauses of milliseconds in which V8 compiles in the background, and the page is served. */
const RUNS = 10;
const PAUSE = 4;

type Json = Readonly<Record<string, unknown>>;

const shapeOf = (...sizes: number[]): Json => ({ dim: sizes.map((size) => ({ size })) });
const FLOAT = { type: 'DT_FLOAT' };

/** Names of inputs without a node are those of constants: 'w3x3x8' has that shape, and equal numbers. */
function weight(name: string): Json {
  const sizes = name.slice(1).split('x').map(Number);
  const tensor = { dtype: 'DT_FLOAT', tensorShape: shapeOf(...sizes), floatVal: [0.1] };
  return { name, op: 'Const', attr: { dtype: FLOAT, value: { tensor } } };
}

const node = (name: string, op: string, input: readonly string[], attr: Json = {}): Json => ({
  name,
  op,
  input,
  attr: { T: FLOAT, ...attr },
});

const windows = (stride: number): Json => ({
  padding: { s: encodeText('SAME') },
  strides: { list: { i: [1, stride, stride, 1] } },
});

/** A block of convolutions with batch norms, and a classifier: what most models have some of. */
function network(): Json {
  const scale = `w${CHANNELS}`;
  const normed = (name: string, of: string): Json =>
    node(name, 'FusedBatchNormV3', [of, scale, scale, scale, scale], {
      U: FLOAT,
      is_training: { b: false },
    });
  const indices = { dtype: 'DT_INT32', tensorShape: shapeOf(2), intVal: [1, 2] };
  const layers = [
    node('conv', 'Conv2D', ['image', `w3x3x3x${CHANNELS}`], windows(2)),
    normed('conv_norm', 'conv'),
    node('conv_relu', 'Relu6', ['conv_norm']),
    node('depthwise', 'DepthwiseConv2dNative', ['conv_relu', `w3x3x${CHANNELS}x1`], windows(1)),
    normed('depthwise_norm', 'depthwise'),
    node('depthwise_relu', 'Relu6', ['depthwise_norm']),
    node('project', 'Conv2D', ['depthwise_relu', `w1x1x${CHANNELS}x${CHANNELS}`], windows(1)),
    normed('project_norm', 'project'),
    node('add', 'AddV2', ['conv_relu', 'project_norm']),
    node('mean', 'Mean', ['add', 'axes']),
    node('product', 'MatMul', ['mean', `w${CHANNELS}x${CLASSES}`]),
    node('logits', 'BiasAdd', ['product', `w${CLASSES}`]),
    node('classes', 'Softmax', ['logits']),
  ];
  const weights = new Set(
    layers.flatMap(({ input }) => input as string[]).filter((name) => /^w\d/.test(name)),
  );
  return {
    node: [
      {
        name: 'image',
        op: 'Placeholder',
        attr: { dtype: FLOAT, shape: { shape: shapeOf(1, SIZE, SIZE, 3) } },
      },
      { name: 'axes', op: 'Const', attr: { dtype: { type: 'DT_INT32' }, value: { tensor: indices } } },
      ...[...weights].map(weight),
      ...layers,
    ],
  };
}

const warm = new WeakSet<Runtime>();

export class WarmUp {
  #isOver = false;
  #wake: (() => void) | undefined;
  readonly #done: Promise<void>;

  /** Begins in a later task, so that nothing runs for a model that is in memory. An engine is warmed up once. */
  constructor(private readonly runtime: Runtime) {
    /* What fails here fails for the model as well, and is reported there. */
    this.#done = warm.has(runtime) ? Promise.resolve() : this.#run().catch(() => undefined);
  }

  /** Ends it, at once unless a part of it is running. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#wake?.();
    await this.#done;
  }

  async #run(): Promise<void> {
    if (await this.#endsIn(0)) return;
    const { runtime } = this;
    warm.add(runtime);
    const graph = new Graph(runtime);
    try {
      importInto(graph, concatenated([...graphDefPieces(network())]), {});
      if (await this.#endsIn(0)) return;
      await this.#runSteps(new Session(runtime, graph));
    } finally {
      graph.dispose();
    }
  }

  async #runSteps(session: Session): Promise<void> {
    let step: Callable<string> | undefined;
    try {
      step = session.makeCallable('classes:0', ['image:0']);
      const image = new Float32Array(SIZE * SIZE * 3);
      for (let run = 0; run < RUNS && !(await this.#endsIn(PAUSE)); run++) step.runSync(image).dispose();
    } finally {
      step?.release();
      await session.close();
    }
  }

  /** Waits for so many milliseconds, or until the end, and says which. */
  async #endsIn(milliseconds: number): Promise<boolean> {
    if (this.#isOver) return true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return this.#isOver;
  }
}
