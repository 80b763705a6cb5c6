// Functions of the training steps that TensorFlow.js lacks, or whose gradients need kernels that its wasm backend does not have:
// Conv2DBackpropFilter, DepthwiseConv2dNativeBackpropFilter, DepthwiseConv2dNativeBackpropInput and UnsortedSegmentSum. Their
// gradients are composed here of kernels that it has.

/** The numbers of zeros [before, after] an image with padding "same". */
function zerosAround(size, window, stride) {
  const all = Math.max((Math.ceil(size / stride) - 1) * stride + window - size, 0);
  return [all >> 1, all - (all >> 1)];
}

function padded(tfjs, x, window, stride) {
  const [, height, width] = x.shape;
  const around = [height, width].map((size) => zerosAround(size, window, stride));
  return tfjs.pad(x, [[0, 0], ...around, [0, 0]]);
}

/** What each place of a window sees of a padded image: the pixels from that place on, `stride` apart. */
function pixelsOfWindow(tfjs, image, window, stride, [height, width]) {
  const [n, , , channels] = image.shape;
  return Array.from({ length: window * window }, (_, place) => {
    const begin = [0, Math.floor(place / window), place % window, 0];
    if (stride === 1) return tfjs.slice(image, begin, [n, height, width, channels]);
    const end = [n, begin[1] + stride * (height - 1) + 1, begin[2] + stride * (width - 1) + 1, channels];
    return tfjs.stridedSlice(image, begin, end, [1, stride, stride, 1]);
  });
}

/** Puts zeros between the pixels, so that they are `stride` apart in an image of that shape. */
function spread(tfjs, pixels, stride, [n, height, width, channels]) {
  const [, rows, columns] = pixels.shape;
  const apart = (x, shape) =>
    tfjs.pad(tfjs.reshape(x, shape), [
      [0, 0],
      [0, stride - 1],
      [0, 0],
    ]);
  const sideways = apart(pixels, [n * rows * columns, 1, channels]);
  const whole = apart(sideways, [n * rows, 1, columns * stride * channels]);
  const image = tfjs.reshape(whole, [n, rows * stride, columns * stride, channels]);
  return tfjs.slice(image, [0, 0, 0, 0], [n, height, width, channels]);
}

/** A convolution of the image by dy, with channels in place of images and images in place of channels. */
function filterGradient(tfjs, x, w, dy) {
  const channels = tfjs.transpose(padded(tfjs, x, w.shape[0], 1), [3, 1, 2, 0]);
  return tfjs.transpose(tfjs.conv2d(channels, tfjs.transpose(dy, [1, 2, 0, 3]), 1, 'valid'), [1, 2, 0, 3]);
}

/** Windows of one pixel are a matrix product. */
function convolution(tfjs, x, w, stride, padding) {
  if (w.shape[0] === 1) return productOf(tfjs, x, w, x.shape.slice(0, 3));
  return tfjs.customGrad((x, w, save) => {
    save([x, w]);
    const gradFunc = (dy, [x, w]) => [
      tfjs.conv2dTranspose(dy, w, x.shape, stride, padding),
      filterGradient(tfjs, x, w, dy),
    ];
    return { value: tfjs.conv2d(x, w, stride, padding), gradFunc };
  })(x, w);
}

/** A convolution of an image that needs no gradient. Windows with steps are a product, too. */
function convolutionOfInput(tfjs, x, w, stride, padding) {
  const window = w.shape[0];
  if (stride > 1) {
    const places = x.shape.slice(1, 3).map((size) => Math.ceil(size / stride));
    const pixels = pixelsOfWindow(tfjs, padded(tfjs, x, window, stride), window, stride, places);
    return productOf(tfjs, tfjs.concat(pixels, 3), w, [x.shape[0], ...places]);
  }
  return tfjs.customGrad((w, save) => {
    save([w]);
    return {
      value: tfjs.conv2d(x, w, stride, padding),
      gradFunc: (dy, [w]) => filterGradient(tfjs, x, w, dy),
    };
  })(w);
}

/** The products of all pixels, or windows, with the filter. */
function productOf(tfjs, pixels, w, shape) {
  const outputs = w.shape[3];
  const columns = tfjs.reshape(w, [-1, outputs]);
  const rows = tfjs.matMul(tfjs.reshape(pixels, [-1, columns.shape[0]]), columns);
  return tfjs.reshape(rows, [...shape, outputs]);
}

function depthwise(tfjs, x, w, stride, padding) {
  const gradFunc = (dy, [x, w]) => {
    const window = w.shape[0];
    const around = x.shape.slice(1, 3).map((size) => window - 1 - zerosAround(size, window, stride)[0]);
    const whole = tfjs.pad(stride === 1 ? dy : spread(tfjs, dy, stride, x.shape), [
      [0, 0],
      ...around.map((before) => [before, window - 1 - before]),
      [0, 0],
    ]);
    const pixels = pixelsOfWindow(
      tfjs,
      padded(tfjs, x, window, stride),
      window,
      stride,
      dy.shape.slice(1, 3),
    );
    const sums = pixels.map((seen) => tfjs.sum(tfjs.mul(seen, dy), [0, 1, 2]));
    return [
      tfjs.depthwiseConv2d(whole, tfjs.reverse(w, [0, 1]), 1, 'valid'),
      tfjs.reshape(tfjs.stack(sums), w.shape),
    ];
  };
  return tfjs.customGrad((x, w, save) => {
    save([x, w]);
    return { value: tfjs.depthwiseConv2d(x, w, stride, padding), gradFunc };
  })(x, w);
}

/** The rows of a table. Their gradient is a product with the rows' numbers one-hot. */
function gather(tfjs, table, rows) {
  return tfjs.customGrad((table, save) => {
    save([table]);
    const gradFunc = (dy, [table]) =>
      tfjs.matMul(tfjs.oneHot(rows, table.shape[0], 1, 0, 'float32'), dy, true, false);
    return { value: tfjs.gather(table, rows), gradFunc };
  })(table);
}

function normalize(tfjs, x, gamma, beta) {
  const { mean, variance } = tfjs.moments(x, [0, 1, 2]);
  return tfjs.batchNorm(x, mean, variance, beta, gamma, 1e-3);
}

/** By the names of `ourFunctions` (training-steps.mjs). */
export function peerFunctions(tfjs) {
  return {
    addBias: (x, bias) => tfjs.add(x, bias),
    conv2d: (...args) => convolution(tfjs, ...args),
    conv2dOfInput: (...args) => convolutionOfInput(tfjs, ...args),
    depthwiseConv2d: (...args) => depthwise(tfjs, ...args),
    gather: (...args) => gather(tfjs, ...args),
    normalize: (...args) => normalize(tfjs, ...args),
  };
}
