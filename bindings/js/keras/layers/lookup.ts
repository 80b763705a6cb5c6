/** Layers of vocabularies and hashes: strings and whole numbers become indices. */
import type { Output } from '../../graph/operation.js';
import type { DType } from '../../tensor/dtypes.js';
import { tensor } from '../../tensor/convert.js';
import { Layer, LayerFunction, unmasked } from '../layer.js';

import { encoded } from './shaping.js';

/** What a layer looks up. */
type Token = string | number;

interface Vocabulary {
  readonly dtype: 'string' | 'int64';
  readonly tokens: readonly Token[];
  readonly mask: Token | undefined;
  readonly oov: Token;
  readonly oovCount: number;
  readonly mode: string;
}

/** What masked tokens become where indices are counted: no index at all. */
const DROPPED = -2;
const UNKNOWN = -1;

const constantOf = (layer: Layer, dtype: DType, values: readonly Token[], isScalar = false): Output => {
  const items = dtype === 'string' ? values.map(String) : values.map((value) => BigInt(value));
  const name = layer.graph.uniqueName(`${layer.scope}/Const`);
  return layer.graph.constant(tensor(items as string[], isScalar ? [] : [items.length], dtype), { name });
};

const scalar = (layer: Layer, dtype: DType, value: Token): Output => constantOf(layer, dtype, [value], true);

/** The lines of a vocabulary that the layer learned. */
function learnedTokens(layer: Layer, dtype: DType): Token[] {
  const text = layer.model.assetOf(`${layer.node.path}/vocabulary.txt`);
  if (text === undefined) throw layer.refuse('it has no vocabulary');
  const lines = text.replace(/\n+$/, '').split('\n');
  return dtype === 'string' ? lines : lines.map(Number);
}

/** The tokens of the layer, without the special ones that may stand before them. */
function tokensOf(layer: Layer, about: Omit<Vocabulary, 'tokens'>): Token[] {
  const given = layer.config.value('vocabulary');
  if (given !== undefined && !Array.isArray(given)) throw layer.refuse('its vocabulary is in another file');
  const all = (given as Token[] | undefined) ?? learnedTokens(layer, about.dtype);
  const special = [
    ...(maskCount(about) > 0 ? [about.mask!] : []),
    ...Array<Token>(about.oovCount).fill(about.oov),
  ];
  return special.length > 0 && special.every((token, i) => all[i] === token)
    ? all.slice(special.length)
    : all;
}

/** The mask has an index of its own only where indices are the result. */
const maskCount = ({ mask, mode }: Pick<Vocabulary, 'mask' | 'mode'>): number =>
  mask !== undefined && mode === 'int' ? 1 : 0;

/** A table that an initializer of the model fills. */
function tableOf(layer: Layer, keys: Output, values: Output): Output {
  const attrs = { key_dtype: keys.dtype, value_dtype: values.dtype };
  const name = layer.graph.uniqueName(`${layer.scope}/table`);
  const table = layer.graph.op('HashTableV2', [], { name, attrs: { ...attrs, shared_name: name } }).output(0);
  const filled = layer.graph.op('InitializeTableV2', [table, keys, values], { name: `${name}/initialize` });
  layer.model.initializers.push(filled.name);
  return table;
}

const select = (layer: Layer, condition: Output, a: Output, b: Output): Output =>
  layer.op('SelectV2', [condition, a, b]);

/** The buckets of tokens that the vocabulary lacks. */
function oovBuckets(layer: Layer, x: Output, count: number): Output {
  const isHashed = layer.config.text('oov_method', 'floormod') === 'farmhash';
  if (x.dtype !== 'string' && !isHashed) return layer.op('FloorMod', [x, scalar(layer, 'int64', count)]);
  return hashBuckets(layer, x, count);
}

/** The buckets of hashes; a salt makes other ones. */
function hashBuckets(layer: Layer, x: Output, count: number): Output {
  const text = x.dtype === 'string' ? x : layer.op('AsString', [x]);
  if (!layer.config.has('salt')) return layer.op('StringToHashBucketFast', [text], { num_buckets: count });
  const salt = layer.config.intList('salt');
  const key = salt.length === 1 ? [salt[0]!, salt[0]!] : salt;
  return layer.op('StringToHashBucketStrong', [text], { num_buckets: count, key });
}

/** The index of each token. */
function indicesOf(layer: Layer, x: Output, vocabulary: Vocabulary): Output {
  const { dtype, tokens, mask, oovCount, mode } = vocabulary;
  const first = maskCount(vocabulary);
  const keys = constantOf(layer, dtype, tokens);
  const values = constantOf(
    layer,
    'int64',
    [...tokens.keys()].map((i) => i + first + oovCount),
  );
  const otherwise = oovCount === 1 ? first : UNKNOWN;
  const table = tableOf(layer, keys, values);
  let found = layer.op('LookupTableFindV2', [table, x, scalar(layer, 'int64', otherwise)]);
  if (oovCount > 1) {
    const bucket = layer.add(oovBuckets(layer, x, oovCount), scalar(layer, 'int64', first));
    const isOov = layer.op('Equal', [found, scalar(layer, 'int64', UNKNOWN)]);
    found = select(layer, isOov, bucket, found);
  }
  if (mask === undefined) return found;
  const isMask = layer.op('Equal', [x, scalar(layer, dtype, mask)]);
  return select(layer, isMask, scalar(layer, 'int64', mode === 'int' ? 0 : DROPPED), found);
}

/** Tokens from indices. */
function tokensAt(layer: Layer, x: Output, vocabulary: Vocabulary): Output {
  const { dtype, tokens, mask, oov, oovCount } = vocabulary;
  const first = maskCount(vocabulary) + oovCount;
  const keys = constantOf(
    layer,
    'int64',
    [...tokens.keys()].map((i) => i + first),
  );
  const table = tableOf(layer, keys, constantOf(layer, dtype, tokens));
  const indices = layer.cast(x, 'int64');
  const found = layer.op('LookupTableFindV2', [table, indices, scalar(layer, dtype, oov)]);
  if (mask === undefined) return found;
  const isMask = layer.op('Equal', [indices, scalar(layer, 'int64', 0)]);
  return select(layer, isMask, scalar(layer, dtype, mask), found);
}

/** The indices as the layer gives them: themselves, or rows. */
function asRows(layer: Layer, indices: Output, { mode, oovCount, tokens }: Vocabulary): Output {
  if (mode === 'int') return indices;
  const { config } = layer;
  const isPadded = config.bool('pad_to_max_tokens', false);
  const depth = isPadded ? config.int('max_tokens') : oovCount + tokens.length;
  if (mode !== 'tf_idf') return layer.cast(encoded(layer, indices, mode, depth), rowType(layer));
  const weights = config.numbers('idf_weights');
  const mean = weights.reduce((a, b) => a + b, 0) / weights.length;
  const all = [...Array<number>(oovCount).fill(mean), ...weights];
  const padded = [...all, ...Array<number>(depth - all.length).fill(0)];
  return layer.mul(encoded(layer, indices, 'count', depth), layer.constant(padded, layer.dtype));
}

/** Keras 3 counts in whole numbers. */
const rowType = (layer: Layer): DType => (layer.model.isKeras3 ? 'int64' : layer.dtype);

const lookup =
  (dtype: 'string' | 'int64'): LayerFunction =>
  (layer, { input }) => {
    const { config } = layer;
    const token = (key: string): Token | undefined => config.value(key) as Token | undefined;
    const about = {
      dtype,
      mask: token('mask_token'),
      oov: token('oov_token') ?? (dtype === 'string' ? '[UNK]' : -1),
      oovCount: config.int('num_oov_indices', 1),
      mode: config.text('output_mode', 'int'),
    };
    if (about.oovCount === 0) throw layer.refuse('num_oov_indices must not be 0');
    const vocabulary = { ...about, tokens: tokensOf(layer, about) };
    if (config.bool('invert', false)) return unmasked(tokensAt(layer, input, vocabulary));
    const x = dtype === 'string' ? input : layer.cast(input, 'int64');
    return unmasked(asRows(layer, indicesOf(layer, x, vocabulary), vocabulary));
  };

/** Hashes of strings and whole numbers. */
const hashing: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const mode = config.text('output_mode', 'int');
  const x = /float/.test(input.dtype) ? layer.cast(input, 'int64') : input;
  const bins = config.int('num_bins');
  const mask = config.value('mask_value') as Token | undefined;
  const isMasked = mask !== undefined && bins > 1;
  const hashes = hashBuckets(layer, x, isMasked ? bins - 1 : bins);
  const isMask = isMasked && layer.op('Equal', [x, scalar(layer, x.dtype, mask)]);
  const indices = isMask
    ? select(layer, isMask, scalar(layer, 'int64', 0), layer.add(hashes, scalar(layer, 'int64', 1)))
    : hashes;
  const result = mode === 'int' ? indices : encoded(layer, indices, mode, bins);
  return unmasked(layer.cast(result, layer.dtype));
};

// ---- texts ----

const PUNCTUATION = '[!"#$%&()\\*\\+,-\\./:;<=>?@\\[\\\\\\]^_`{|}~\\\']';

/** In the case and with the characters that the vocabulary has. */
function standardised(layer: Layer, x: Output): Output {
  const how = layer.config.value('standardize') ?? 'none';
  const words = ['none', 'lower', 'strip_punctuation', 'lower_and_strip_punctuation'];
  if (!words.includes(how as string)) throw layer.refuse('standardize is not known');
  const lower = (how as string).startsWith('lower') ? layer.op('StringLower', [x]) : x;
  return (how as string).endsWith('strip_punctuation')
    ? layer.op('StaticRegexReplace', [lower], { pattern: PUNCTUATION, rewrite: '' })
    : lower;
}

/** The words of each text, filled up with empty ones. */
function wordsOf(layer: Layer, texts: Output): Output {
  const [indices, values, shape] = layer.outputs('StringSplitV2', [texts, scalar(layer, 'string', '')]);
  return layer.op('SparseToDense', [indices!, shape!, values!, scalar(layer, 'string', '')]);
}

/** The first words, as many as the layer gives. */
function inLength(layer: Layer, indices: Output): Output {
  if (!layer.config.has('output_sequence_length')) return indices;
  const length = layer.config.int('output_sequence_length');
  const padded = layer.pad(indices, [
    [0, 0],
    [0, length],
  ]);
  const cut = layer.slice(padded, 1, 0, length);
  layer.graph.setShape(cut, [indices.shape![0]!, length]);
  return cut;
}

const textVectorization: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const split = config.value('split') ?? undefined;
  if (split !== undefined && split !== 'whitespace') throw layer.refuse("split must be 'whitespace' or null");
  if (config.has('ngrams')) throw layer.refuse('ngrams are not supported');
  if (config.bool('ragged', false)) throw layer.refuse('a ragged result is not supported');
  const rank = layer.rank(input);
  if (split !== undefined && rank > 1 && layer.known(input, -1) !== 1)
    throw layer.refuse('the last dimension of texts that are split must be 1');
  const texts: Output = split !== undefined && rank > 1 ? layer.squeeze(input, rank - 1) : input;
  const standard = standardised(layer, texts);
  const tokens = split === undefined ? standard : wordsOf(layer, standard);
  const about = {
    dtype: 'string' as const,
    mask: '',
    oov: '[UNK]',
    oovCount: 1,
    mode: config.text('output_mode', 'int'),
  };
  const vocabulary = { ...about, tokens: tokensOf(layer, about) };
  const indices = indicesOf(layer, tokens, vocabulary);
  return unmasked(about.mode === 'int' ? inLength(layer, indices) : asRows(layer, indices, vocabulary));
};

export const LOOKUP: Readonly<Record<string, LayerFunction>> = {
  Hashing: hashing,
  IntegerLookup: lookup('int64'),
  StringLookup: lookup('string'),
  TextVectorization: textVectorization,
};
