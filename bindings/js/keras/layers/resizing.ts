/** Resizing images as tf.image.resize and Keras' layer Resizing do it. */
import { UnimplementedError } from '../../base/errors.js';
import type { Output } from '../../graph/operation.js';
import { type Layer, type LayerFunction, unmasked } from '../layer.js';
import type { Size } from '../ops.js';

/** Interpolations with an op of their own, which takes each pixel's neighbours. */
const OPS: Readonly<Record<string, string>> = {
  nearest: 'ResizeNearestNeighbor',
  bilinear: 'ResizeBilinear',
  bicubic: 'ResizeBicubic',
  area: 'ResizeArea',
};
/** The kernels of ScaleAndTranslate; those of bilinear and bicubic are for antialiasing. */
const KERNELS: Readonly<Record<string, string>> = {
  bilinear: 'triangle',
  bicubic: 'keyscubic',
  lanczos3: 'lanczos3',
  lanczos5: 'lanczos5',
  gaussian: 'gaussian',
  mitchellcubic: 'mitchellcubic',
};

/** The quotient of a new and an old size. */
function scaleOf(layer: Layer, before: Size, after: Size): Output {
  const float = (size: Size): Output =>
    typeof size === 'number' ? layer.constant(size, 'float32') : layer.cast(size, 'float32');
  return layer.div(float(after), float(before));
}

/** Resizes the two dimensions in the middle. */
export function resized(
  layer: Layer,
  x: Output,
  sizes: readonly [Size, Size],
  how: string,
  antialias = false,
): Output {
  const before = layer.sizes(x).slice(1, 3) as [Size, Size];
  if (sizes.every((size, i) => typeof size === 'number' && size === before[i])) return x;
  const op = antialias && how in KERNELS ? undefined : OPS[how];
  if (op) return layer.op(op, [x, layer.shapeOf(sizes)], how === 'area' ? {} : { half_pixel_centers: true });
  const kernel = KERNELS[how];
  if (!kernel) throw new UnimplementedError(`layer ${layer.name}: interpolation '${how}' is not known`);
  const scale = layer.op('Pack', [before.map((size, i) => scaleOf(layer, size, sizes[i]!))]);
  const none = layer.constant([0, 0], 'float32');
  return layer.op('ScaleAndTranslate', [x, layer.shapeOf(sizes), scale, none], {
    kernel_type: kernel,
    antialias,
  });
}

/** The size of a side that has the wanted proportion to the other side. */
const proportional = (other: number, wanted: number, wantedOther: number): number =>
  Math.trunc(Math.fround(Math.fround(other * wanted) / wantedOther));

/** The largest part in the middle that has the proportions of the wanted sizes. */
function cropped(layer: Layer, x: Output, [height, width]: readonly [number, number]): Output {
  const [rows, columns] = [layer.known(x, 1), layer.known(x, 2)];
  const parts = [
    Math.max(Math.min(rows, proportional(columns, height, width)), 1),
    Math.max(Math.min(columns, proportional(rows, width, height)), 1),
  ];
  return parts.reduce((part, size, i) => {
    const begin = Math.floor(([rows, columns][i]! - size) / 2);
    return layer.slice(part, i + 1, begin, begin + size);
  }, x);
}

/** The image between stripes of the fill value, so that it has about the proportions of the wanted sizes. */
function padded(layer: Layer, x: Output, [height, width]: readonly [number, number]): Output {
  const [rows, columns] = [layer.known(x, 1), layer.known(x, 2)];
  const above = Math.floor((Math.max(rows, proportional(columns, height, width)) - rows) / 2);
  const left = Math.floor((Math.max(columns, proportional(rows, width, height)) - columns) / 2);
  return layer.op('PadV2', [
    x,
    layer.constant([0, 0, above, above, left, left, 0, 0], 'int32', [4, 2]),
    layer.cast(layer.constant(layer.config.number('fill_value', 0), 'float32'), x.dtype),
  ]);
}

/** Images, one or several, to the layer's height and width. */
export const resizing: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const isFirst = config.text('data_format', 'channels_last') === 'channels_first';
  const sizes = [config.int('height'), config.int('width')] as [number, number];
  const isSingle = layer.rank(input) === 3;
  const batch = isSingle ? layer.expand(input, 0) : input;
  let x = isFirst ? layer.channelsLast(batch) : batch;
  if (config.bool('crop_to_aspect_ratio', false)) x = cropped(layer, x, sizes);
  else if (config.bool('pad_to_aspect_ratio', false)) x = padded(layer, x, sizes);
  x = resized(layer, x, sizes, config.text('interpolation', 'bilinear'), config.bool('antialias', false));
  const result = isFirst ? layer.channelsFirst(x) : x;
  return unmasked(isSingle ? layer.squeeze(result, 0) : result);
};

/** At inference Keras 3 leaves images as they are; Keras 2 takes their middle. */
export const randomCrop: LayerFunction = (layer, { input }) => {
  if (layer.model.isKeras3) return unmasked(input);
  const isSingle = layer.rank(input) === 3;
  const sizes = [layer.config.int('height'), layer.config.int('width')] as [number, number];
  const x = cropped(layer, isSingle ? layer.expand(input, 0) : input, sizes);
  const result = resized(layer, x, sizes, 'bilinear');
  return unmasked(isSingle ? layer.squeeze(result, 0) : result);
};
