/** Attention. Masks are true for what counts. */
import type { Output } from '../../graph/operation.js';
import type { Call, KerasTensor, Layer, LayerFunction } from '../layer.js';
import { tensorsIn } from '../layer.js';
import { Size, range } from '../ops.js';

const both = (layer: Layer, masks: readonly (Output | undefined)[]): Output | undefined =>
  masks
    .filter((mask) => mask !== undefined)
    .map((mask) => layer.cast(mask, 'bool'))
    .reduce<Output | undefined>((a, b) => (a ? layer.op('LogicalAnd', [a, b]) : b), undefined);

/** [1, Tq, Tv]: a position sees those before it, and itself. */
function causalMask(layer: Layer, scores: Output): Output {
  const sizes = layer.sizes(scores).slice(-2);
  const ones = layer.op('Fill', [layer.shapeOf([1, ...sizes]), layer.constant(1, 'int32')]);
  return layer.op('GreaterEqual', [layer.op('Cumsum', [ones, 1]), layer.op('Cumsum', [ones, 2])]);
}

type Scores = (layer: Layer, query: Output, key: Output) => Output;

const attention =
  (scoresOf: Scores): LayerFunction =>
  (layer, call) => {
    const [query, value, key = value] = call.inputs.map(({ output }) => output);
    if (!query || !value) throw layer.refuse('it needs a query and a value');
    const [queryMask, valueMask] = call.inputs.map(({ mask }) => mask);
    const scores = scoresOf(layer, query, key!);
    const isCausal = call.kwargs.use_causal_mask === true || layer.config.bool('causal', false);
    const mask = both(layer, [
      valueMask && layer.expand(valueMask, 1),
      isCausal ? causalMask(layer, scores) : undefined,
    ]);
    const hidden = layer.dtype === 'float16' ? 65504 : 1e9;
    const seen = mask ? layer.op('SelectV2', [mask, scores, layer.sub(scores, hidden)]) : scores;
    const weights = layer.op('Softmax', [seen]);
    const result = layer.op('BatchMatMulV2', [weights, value]);
    const kept = queryMask
      ? layer.mul(result, layer.cast(layer.expand(queryMask, -1), result.dtype))
      : result;
    const output = { output: kept, mask: queryMask };
    return call.kwargs.return_attention_scores === true ? [output, { output: weights }] : output;
  };

/** The sum of query and key for each pair of positions. */
const pairSums = (layer: Layer, query: Output, key: Output): Output =>
  layer.add(layer.expand(query, -2), layer.expand(key, -3));

const attentionScores: Scores = (layer, query, key) => {
  const scale = layer.config.bool('use_scale', false) ? layer.weight('scale', []) : undefined;
  if (layer.config.text('score_mode', 'dot') === 'dot') {
    const scores = layer.op('BatchMatMulV2', [query, key], { adj_y: true });
    return scale ? layer.mul(scores, scale) : scores;
  }
  const sums = pairSums(layer, query, key);
  const weight = layer.weight('concat_score_weight', []);
  const values = layer.op('Tanh', [scale ? layer.mul(sums, scale) : sums]);
  return layer.mul(layer.reduce('Sum', values, [-1]), weight);
};

const additiveScores: Scores = (layer, query, key) => {
  const values = layer.op('Tanh', [pairSums(layer, query, key)]);
  const isScaled = layer.config.bool('use_scale', true);
  const scaled = isScaled ? layer.mul(values, layer.weight('scale', [layer.known(query, -1)])) : values;
  return layer.reduce('Sum', scaled, [-1]);
};

// ---- several heads ----

/** How the heads are arranged. Several heads of queries may share one of keys and values. */
interface Heads {
  readonly queries: number;
  readonly keys: number;
  readonly keySize: number;
  readonly valueSize: number;
}

/** A Dense layer inside of the attention, from the last dimension of x to `sizes`. */
function projected(
  layer: Layer,
  x: Output,
  part: string,
  name: string,
  from: readonly number[],
  to: readonly number[],
): Output {
  const node = layer.part(part, name);
  const [rows, columns] = [from, to].map((sizes) => sizes.reduce((a, b) => a * b, 1)) as [number, number];
  const kernel = layer.weight('kernel', [...from, ...to], { node });
  const result = layer.timesMatrix(x, layer.reshape(kernel, [rows, columns]));
  if (!layer.config.bool('use_bias', true)) return result;
  return layer.op('BiasAdd', [result, layer.reshape(layer.weight('bias', to, { node }), [columns])]);
}

/** [B, T, heads * size] -> [B, heads, T, size] */
function perHead(layer: Layer, x: Output, heads: number, size: number): Output {
  const [batch, time] = layer.sizes(x) as [Size, Size];
  return layer.transpose(layer.reshape(x, [batch, time, heads, size]), [0, 2, 1, 3]);
}

/** [B, heads, T, size], each head `count` times. */
function repeatHeads(layer: Layer, x: Output, count: number): Output {
  if (count === 1) return x;
  const [batch, heads, time, size] = layer.sizes(x) as [Size, number, Size, Size];
  const tiled = layer.op('Tile', [layer.expand(x, 2), layer.constant([1, 1, count, 1, 1], 'int32')]);
  return layer.reshape(tiled, [batch, heads * count, time, size]);
}

/** What each position may see: [B, 1, T, S] or [B, heads, T, S]. */
function headMask(layer: Layer, call: Call, scores: Output): Output | undefined {
  const tensors = argumentsOf(call);
  const maskOf = (name: string, value: KerasTensor | undefined): Output | undefined =>
    tensorsIn(call.kwargs[name])[0]?.output ?? value?.mask;
  const queryMask = maskOf('query_mask', tensors.query);
  const valueMask = maskOf('value_mask', tensors.value);
  const keyMask = tensors.key === undefined ? undefined : maskOf('key_mask', tensors.key);
  const isCausal = call.kwargs.use_causal_mask === true;
  const mask = both(layer, [
    queryMask && layer.expand(queryMask, 2),
    valueMask && layer.expand(valueMask, 1),
    keyMask && layer.expand(keyMask, 1),
    isCausal ? causalMask(layer, scores) : undefined,
    call.tensor('attention_mask', 5)?.output,
  ]);
  return mask && (layer.rank(mask) === 3 ? layer.expand(mask, 1) : mask);
}

/**
 * Whether positions that see nothing have the weights 0, not equal ones: Keras 3 has two ways to compute several heads,
 * and dropout, further dimensions, and weights that are returned need the one that does this.
 */
const isZeroed = (layer: Layer, call: Call): boolean =>
  layer.model.isKeras3 &&
  (call.kwargs.return_attention_scores === true ||
    layer.config.number('dropout', 0) > 0 ||
    layer.rank(call.tensor('query', 0)!.output) !== 3);

const argumentsOf = (call: Call) => ({
  query: call.tensor('query', 0),
  value: call.tensor('value', 1),
  key: call.tensor('key', 2),
});

/** Positions that are not seen get no weight. */
function headWeights(layer: Layer, call: Call, scores: Output): Output {
  const mask = headMask(layer, call, scores);
  if (!mask) return layer.op('Softmax', [scores]);
  const least = layer.dtype === 'float16' ? -45000 : layer.model.isKeras3 ? -2.38e38 : -1e9;
  const weights = layer.op('Softmax', [
    layer.model.isKeras3
      ? layer.op('SelectV2', [mask, scores, layer.constant(least, scores.dtype)])
      : layer.add(
          scores,
          layer.mul(layer.sub(layer.constant(1, scores.dtype), layer.cast(mask, scores.dtype)), least),
        ),
  ]);
  return isZeroed(layer, call)
    ? layer.op('SelectV2', [mask, weights, layer.constant(0, weights.dtype)])
    : weights;
}

/** The dimensions between batch and channels become one, or those that are not attended part of the batch. */
class Positions {
  readonly #order: number[];
  readonly #sizes: Size[];
  readonly #others: number;

  constructor(
    private readonly layer: Layer,
    x: Output,
    axes: readonly number[],
  ) {
    const rank = layer.rank(x);
    const attended = axes.map((axis) => (axis < 0 ? axis + rank : axis));
    const others = range(1, rank - 1).filter((axis) => !attended.includes(axis));
    this.#order = [0, ...others, ...attended, rank - 1];
    this.#others = others.length;
    const sizes = layer.sizes(x);
    this.#sizes = this.#order.map((axis) => sizes[axis]!);
  }

  flat(x: Output): Output {
    const { layer } = this;
    if (this.#sizes.length === 3) return x;
    const batch = layer.product(this.#sizes.slice(0, 1 + this.#others));
    const time = layer.product(this.#sizes.slice(1 + this.#others, -1));
    return layer.reshape(layer.transpose(x, this.#order), [batch, time, layer.known(x, -1)]);
  }

  restored(x: Output): Output {
    const { layer } = this;
    if (this.#sizes.length === 3) return x;
    const wide = layer.reshape(x, [...this.#sizes.slice(0, -1), layer.known(x, -1)]);
    return layer.transpose(
      wide,
      range(0, this.#order.length).map((axis) => this.#order.indexOf(axis)),
    );
  }
}

/** The attributes in which Keras has the layers inside: for queries, keys, values, and the result. */
type Parts = readonly [string, string, string, string];

/** What several heads find for flat queries, keys and values: [B, T, heads * size], and their weights. */
function attended(
  layer: Layer,
  call: Call,
  inputs: readonly Output[],
  heads: Heads,
  parts: Parts,
): [Output, Output] {
  const [q, k, v] = inputs as [Output, Output, Output];
  const to = (x: Output, i: number, name: string, count: number, size: number): Output =>
    perHead(layer, projected(layer, x, parts[i]!, name, [layer.known(x, -1)], [count, size]), count, size);
  const queries = to(q, 0, 'query', heads.queries, heads.keySize);
  const keys = to(k, 1, 'key', heads.keys, heads.keySize);
  const width = [heads.queries, heads.valueSize];
  const gate = layer.config.bool('use_gate', false)
    ? layer.op('Sigmoid', [projected(layer, q, '_gate_dense', 'gate', [layer.known(q, -1)], width)])
    : undefined;
  const values = to(v, 2, 'value', heads.keys, heads.valueSize);
  const repeats = heads.queries / heads.keys;
  const scaled = layer.mul(queries, 1 / Math.sqrt(heads.keySize));
  const scores = layer.op('BatchMatMulV2', [scaled, repeatHeads(layer, keys, repeats)], { adj_y: true });
  const weights = headWeights(layer, call, scores);
  const combined = layer.op('BatchMatMulV2', [weights, repeatHeads(layer, values, repeats)]);
  const [batch, , time] = layer.sizes(combined) as [Size, Size, Size];
  const joined = layer.reshape(layer.transpose(combined, [0, 2, 1, 3]), [batch, time, width[0]! * width[1]!]);
  return [gate ? layer.mul(joined, gate) : joined, weights];
}

function multiHead(layer: Layer, call: Call, heads: Heads, parts: Parts): KerasTensor[] {
  const { config } = layer;
  if (config.has('sliding_window')) throw layer.refuse('sliding_window is not supported');
  const { query, value, key = value } = argumentsOf(call);
  if (!query || !value || !key) throw layer.refuse('it needs a query and a value');
  const inner = range(1, layer.rank(query.output) - 1);
  const axes = config.value('attention_axes') ? config.intList('attention_axes') : inner;
  const given = [query, key, value].map(({ output }) => output);
  const places = given.map((output) => new Positions(layer, output, axes));
  const [found, weights] = attended(
    layer,
    call,
    given.map((x, i) => places[i]!.flat(x)),
    heads,
    parts,
  );
  const sizes = config.value('output_shape')
    ? config.intList('output_shape')
    : [layer.known(query.output, -1)];
  const from = [heads.queries, heads.valueSize];
  const result = places[0]!.restored(projected(layer, found, parts[3], 'attention_output', from, sizes));
  const output = {
    output:
      sizes.length === 1 ? result : layer.reshape(result, [...layer.sizes(result).slice(0, -1), ...sizes]),
    mask: query.mask,
  };
  return call.kwargs.return_attention_scores === true ? [output, { output: weights }] : [output];
}

const PARTS: Parts = ['query_dense', 'key_dense', 'value_dense', 'output_dense'];
const PRIVATE_PARTS = PARTS.map((name) => `_${name}`) as unknown as Parts;

const multiHeadAttention: LayerFunction = (layer, call) => {
  const { config } = layer;
  const [heads, keySize] = [config.int('num_heads'), config.int('key_dim')];
  const valueSize = config.has('value_dim') ? config.int('value_dim') : keySize;
  const parts = layer.model.isKeras3 ? PARTS : PRIVATE_PARTS;
  return multiHead(layer, call, { queries: heads, keys: heads, keySize, valueSize }, parts);
};

const groupedQueryAttention: LayerFunction = (layer, call) => {
  const { config } = layer;
  const [queries, keys] = [config.int('num_query_heads'), config.int('num_key_value_heads')];
  const size = config.int('head_dim');
  if (keys < 1 || queries % keys !== 0)
    throw layer.refuse(`${queries} heads cannot share ${keys} heads of keys`);
  return multiHead(layer, call, { queries, keys, keySize: size, valueSize: size }, PRIVATE_PARTS);
};

export const ATTENTION: Readonly<Record<string, LayerFunction>> = {
  AdditiveAttention: attention(additiveScores),
  Attention: attention(attentionScores),
  GroupQueryAttention: groupedQueryAttention,
  GroupedQueryAttention: groupedQueryAttention,
  MultiHeadAttention: multiHeadAttention,
};
