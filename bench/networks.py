"""The networks of model_files.py, with random weights: a function makes each, and returns the function that it computes and
random inputs.

Its packages are those that model_files.py installs.
"""
import keras
import numpy as np
import tensorflow as tf
import tf_keras
from keras import layers

rng = np.random.default_rng(0)


def begin(seed):
    """Before a network is made: its weights and inputs depend on the seed alone."""
    global rng
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)


def normal(*shape, scale=1.0):
    return rng.normal(scale=scale, size=shape).astype(np.float32)


def of_keras(model, low=-1.0, high=1.0):
    """The function of a Keras model, and a random input."""
    shape = model.inputs[0].shape
    x = rng.uniform(low, high, shape).astype(np.float32)
    vary(model)
    calibrate(model, x)
    return lambda x: model(x, training=False), {'x': x}


def vary(model):
    """Random values for weights that begin at one value: they differ in a trained model."""
    for weight in model.weights:
        name = getattr(weight, 'path', weight.name).removesuffix(':0')  # the name is of Keras 2
        if name.endswith(('bias', 'beta')):
            weight.assign(normal(*weight.shape, scale=0.1))
        elif name.endswith('layer_scale/gamma'):
            weight.assign(rng.uniform(0.1, 0.3, weight.shape))
        elif name.endswith('gamma'):
            weight.assign(rng.uniform(0.7, 1.3, weight.shape))


def calibrate(model, x):
    """Gives the batch norms the means and variances of their inputs, so that values neither grow nor vanish with depth."""
    kinds = (layers.BatchNormalization, tf_keras.layers.BatchNormalization)
    norms = [layer for layer in model._flatten_layers() if isinstance(layer, kinds)]
    kept = [layer.momentum for layer in norms]
    for layer in norms:
        layer.momentum = 0.0
    if norms:
        model(x, training=True)
    for layer, momentum in zip(norms, kept):
        layer.momentum = momentum


def mlp(batch):
    x = keras.Input([784], batch)
    y = layers.Dense(512, 'relu')(x)
    y = layers.Dense(256, 'relu')(y)
    return of_keras(keras.Model(x, layers.Dense(10, 'softmax')(y)))


def recurrent(layer, batch, library=keras):
    x = library.Input([64, 64], batch)
    return of_keras(library.Model(x, getattr(library.layers, layer)(128)(x)))


def both_ways(batch, steps=100, units=64):
    """Two layers of an LSTM that reads its input forward and backward."""
    x = keras.Input([steps, units // 2], batch)
    y = layers.Bidirectional(layers.LSTM(units, return_sequences=True))(x)
    return of_keras(keras.Model(x, layers.Bidirectional(layers.LSTM(units))(y)))


def temporal(batch, length=512, width=64, levels=6):
    """Pairs of causal convolutions over time; each pair has twice the dilation of the one before."""
    x = y = keras.Input([length, width], batch)
    for level in range(levels):
        z = y
        for _ in range(2):
            z = layers.Conv1D(width, 3, padding='causal', dilation_rate=2 ** level, activation='relu')(z)
        y = y + z
    return of_keras(keras.Model(x, y))


def approximate_gelu(x):
    return keras.activations.gelu(x, approximate=True)


def encoder(batch, blocks=4, width=256, heads=4, length=128):
    """A transformer encoder, its norms after the additions."""
    x = y = keras.Input([length, width], batch)
    for _ in range(blocks):
        y = layers.LayerNormalization()(y + layers.MultiHeadAttention(heads, width // heads)(y, y))
        hidden = layers.Dense(4 * width, approximate_gelu)(y)
        y = layers.LayerNormalization()(y + layers.Dense(width)(hidden))
    return of_keras(keras.Model(x, y))


class Places(layers.Layer):
    """Adds a vector of its own to each token."""

    def build(self, shape):
        self.places = self.add_weight(shape=shape[1:], initializer='random_normal', name='places')

    def call(self, x):
        return x + self.places


def vision_transformer(batch, blocks=6, width=192, heads=3, size=224, patch=16):
    """A transformer over the patches of an image, its norms before the attention and the dense layers."""
    x = keras.Input([size, size, 3], batch)
    y = layers.Conv2D(width, patch, strides=patch)(x)
    y = Places()(layers.Reshape([(size // patch) ** 2, width])(y))
    for _ in range(blocks):
        z = layers.LayerNormalization()(y)
        y = y + layers.MultiHeadAttention(heads, width // heads)(z, z)
        z = layers.Dense(4 * width, 'gelu')(layers.LayerNormalization()(y))
        y = y + layers.Dense(width)(z)
    y = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(y))
    return of_keras(keras.Model(x, layers.Dense(1000)(y)))


def generator(batch):
    """The generator of a DCGAN: transposed convolutions from 4x4x512 to 64x64x3."""
    x = keras.Input([100], batch)
    y = layers.Reshape([4, 4, 512])(layers.Dense(4 * 4 * 512)(x))
    y = layers.ReLU()(layers.BatchNormalization()(y))
    for filters in [256, 128, 64]:
        y = layers.Conv2DTranspose(filters, 4, strides=2, padding='same', use_bias=False)(y)
        y = layers.ReLU()(layers.BatchNormalization()(y))
    y = layers.Conv2DTranspose(3, 4, strides=2, padding='same', activation='tanh')(y)
    return of_keras(keras.Model(x, y))


def shuffle_units(batch, size=56, width=24, units=4):
    """Units of a ShuffleNet: one half of the channels is convolved, then both are interleaved."""
    def interleave(y):
        halves = tf.reshape(y, [batch, size, size, 2, width // 2])
        return tf.reshape(tf.transpose(halves, [0, 1, 2, 4, 3]), [batch, size, size, width])

    x = y = keras.Input([size, size, width], batch)
    for _ in range(units):
        kept, z = layers.Lambda(lambda y: tf.split(y, 2, -1))(y)
        z = layers.Conv2D(width // 2, 1, activation='relu')(z)
        z = layers.DepthwiseConv2D(3, padding='same')(z)
        z = layers.Conv2D(width // 2, 1, activation='relu')(z)
        y = layers.Lambda(interleave)(layers.Concatenate()([kept, z]))
    return of_keras(keras.Model(x, layers.GlobalAveragePooling2D()(y)))


def application(name, batch, low=-1.0, high=1.0, library=keras):
    network = getattr(library.applications, name)
    return of_keras(network(weights=None, input_tensor=library.Input([224, 224, 3], batch)), low, high)


def u_net(batch, size=128, width=32, levels=3):
    def twice(y, filters):
        for _ in range(2):
            y = layers.Conv2D(filters, 3, padding='same', activation='relu')(y)
        return y

    x = y = keras.Input([size, size, 3], batch)
    kept = []
    for level in range(levels):
        y = twice(y, width << level)
        kept.append(y)
        y = layers.MaxPooling2D()(y)
    y = twice(y, width << levels)
    for level in reversed(range(levels)):
        y = layers.Conv2DTranspose(width << level, 2, strides=2)(y)
        y = twice(layers.Concatenate()([y, kept[level]]), width << level)
    return of_keras(keras.Model(x, layers.Conv2D(1, 1, activation='sigmoid')(y)))


class Gpt(tf.Module):
    """A decoder of pre-norm blocks: `length` new tokens after `past`, whose keys and values are an input."""

    blocks, width, heads, words = 4, 256, 4, 4096

    def __init__(self, past, length):
        super().__init__()
        self.past, self.length = past, length
        self.words_table = tf.Variable(normal(self.words, self.width, scale=0.1))
        self.places = tf.Variable(normal(256, self.width, scale=0.1))
        shapes = {'qkv': [self.width, 3 * self.width], 'out': [self.width, self.width],
                  'up': [self.width, 4 * self.width], 'down': [4 * self.width, self.width]}
        self.parts = [{name: (tf.Variable(normal(*shape, scale=shape[0] ** -0.5)), tf.Variable(normal(shape[1], scale=0.1)))
                       for name, shape in shapes.items()} for _ in range(self.blocks)]
        self.norms = [(tf.Variable(rng.uniform(0.7, 1.3, self.width).astype(np.float32)),
                       tf.Variable(normal(self.width, scale=0.1))) for _ in range(2 * self.blocks + 1)]

    def dense(self, x, block, name):
        w, b = self.parts[block][name]
        return tf.matmul(x, w) + b

    def norm(self, x, index):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        gamma, beta = self.norms[index]
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * gamma + beta

    def attention(self, x, block, cache):
        """`x` is [length, width]; the cache of a block [2, heads, past, width / heads]."""
        qkv = tf.reshape(self.dense(x, block, 'qkv'), [self.length, 3, self.heads, -1])
        q, k, v = tf.unstack(tf.transpose(qkv, [1, 2, 0, 3]))
        if cache is not None:
            k, v = (tf.concat([old, new], 1) for old, new in zip(tf.unstack(cache), [k, v]))
        scores = tf.matmul(q, k, transpose_b=True) * (self.width // self.heads) ** -0.5
        if self.length > 1:
            later = np.triu(np.full([self.length, self.past + self.length], -1e9, np.float32), self.past + 1)
            scores = scores + later
        y = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [1, 0, 2])
        return self.dense(tf.reshape(y, [self.length, self.width]), block, 'out'), tf.stack([k, v])

    def __call__(self, tokens, cache=None):
        """The logits after the last token, and the keys and values of all."""
        x = tf.gather(self.words_table, tokens) + self.places[self.past:self.past + self.length]
        caches = [None] * self.blocks if cache is None else tf.unstack(cache)
        kept = []
        for block in range(self.blocks):
            y, kv = self.attention(self.norm(x, 2 * block), block, caches[block])
            kept.append(kv)
            x = x + y
            y = tf.nn.gelu(self.dense(self.norm(x, 2 * block + 1), block, 'up'), approximate=True)
            x = x + self.dense(y, block, 'down')
        last = self.norm(x, 2 * self.blocks)[-1:]
        return tf.matmul(last, self.words_table, transpose_b=True), tf.stack(kept)


def gpt(past, length):
    model = Gpt(past, length)
    inputs = {'tokens': rng.integers(0, model.words, [length]).astype(np.int32)}
    if past == 0:
        return lambda tokens: model(tokens), inputs
    inputs['cache'] = normal(model.blocks, 2, model.heads, past, model.width // model.heads)
    return lambda tokens, cache: model(tokens, cache), inputs


def ssd(boxes=1917, classes=91, kept=100):
    """What follows a detector: boxes from their codes and anchors, and those that overlap a better one left out."""
    centers, sizes = rng.uniform(0.1, 0.9, [boxes, 2]), rng.uniform(0.1, 0.4, [boxes, 2])
    centers, sizes = centers.astype(np.float32), sizes.astype(np.float32)

    def detect(codes, logits):
        middle = codes[:, :2] * 0.1 * sizes + centers
        half = tf.exp(codes[:, 2:] * 0.2) * sizes * 0.5
        corners = tf.concat([middle - half, middle + half], 1)
        scores = tf.sigmoid(logits)[:, 1:]
        best = tf.reduce_max(scores, 1)
        chosen, count = tf.raw_ops.NonMaxSuppressionV4(
            boxes=corners, scores=best, max_output_size=kept, iou_threshold=0.6, score_threshold=0.3,
            pad_to_max_output_size=True)
        found = tf.argmax(scores, 1, output_type=tf.int32)
        return (tf.gather(corners, chosen), tf.gather(best, chosen), tf.cast(tf.gather(found, chosen), tf.float32),
                tf.cast(tf.reshape(count, [1]), tf.float32))

    return detect, {'codes': normal(boxes, 4), 'logits': normal(boxes, classes)}


def of_tokens(model, words):
    """The function of a Keras model whose input is token numbers, and random ones."""
    vary(model)
    tokens = rng.integers(0, words, model.inputs[0].shape).astype(np.int32)
    return lambda x: model(x, training=False), {'x': tokens}


def bert(batch, blocks=4, width=256, heads=4, length=128, words=8192):
    """An encoder as BERT has it, from token numbers to two classes of the text."""
    x = keras.Input([length], batch, dtype='int32')
    y = layers.LayerNormalization(epsilon=1e-12)(Places()(layers.Embedding(words, width)(x)))
    for _ in range(blocks):
        z = layers.MultiHeadAttention(heads, width // heads)(y, y)
        y = layers.LayerNormalization(epsilon=1e-12)(y + z)
        z = layers.Dense(width)(layers.Dense(4 * width, 'gelu')(y))
        y = layers.LayerNormalization(epsilon=1e-12)(y + z)
    first = layers.Dense(width, 'tanh')(layers.Lambda(lambda y: y[:, 0])(y))
    return of_tokens(keras.Model(x, layers.Dense(2)(first)), words)


def windows(batch, size=56, width=96, heads=3, window=7):
    """Two blocks of a Swin transformer: attention within windows of the image, then within shifted ones."""
    count, inside = size // window, window * window

    def to_windows(y):
        y = tf.reshape(y, [batch, count, window, count, window, width])
        return tf.reshape(tf.transpose(y, [0, 1, 3, 2, 4, 5]), [-1, inside, width])

    def from_windows(y):
        y = tf.reshape(y, [batch, count, count, window, window, width])
        return tf.reshape(tf.transpose(y, [0, 1, 3, 2, 4, 5]), [batch, size, size, width])

    def attend(qkv):
        q, k, v = tf.unstack(tf.transpose(tf.reshape(qkv, [-1, inside, 3, heads, width // heads]), [2, 0, 3, 1, 4]))
        weights = tf.nn.softmax(tf.matmul(q * (width // heads) ** -0.5, k, transpose_b=True))
        return tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [-1, inside, width])

    def roll(by):
        return layers.Lambda(lambda y: tf.roll(y, [by, by], [1, 2]) if by else y)

    x = y = keras.Input([size, size, width], batch)
    for shift in [0, window // 2]:
        z = layers.Lambda(to_windows)(roll(-shift)(layers.LayerNormalization()(y)))
        z = layers.Dense(width)(layers.Lambda(attend)(layers.Dense(3 * width)(z)))
        y = y + roll(shift)(layers.Lambda(from_windows)(z))
        z = layers.Dense(4 * width, 'gelu')(layers.LayerNormalization()(y))
        y = y + layers.Dense(width)(z)
    return of_keras(keras.Model(x, y))


class InstanceNorm(layers.Layer):
    """Norms each channel of each image."""

    def build(self, shape):
        self.scale = self.add_weight(shape=shape[-1:], initializer='ones', name='gamma')
        self.offset = self.add_weight(shape=shape[-1:], initializer='zeros', name='beta')

    def call(self, x):
        mean, variance = tf.nn.moments(x, [1, 2], keepdims=True)
        return (x - mean) / tf.sqrt(variance + 1e-3) * self.scale + self.offset


def style_transfer(batch, size=128, blocks=3):
    """An image in the style of another: windows of 9x9 first and last, all images padded by their mirror images."""
    def convolve(y, filters, window, strides=1, **options):
        pad = window // 2
        y = layers.Lambda(lambda y: tf.pad(y, [[0, 0], [pad, pad], [pad, pad], [0, 0]], 'REFLECT'))(y)
        return layers.Conv2D(filters, window, strides=strides, **options)(y)

    x = keras.Input([size, size, 3], batch)
    y = layers.ReLU()(InstanceNorm()(convolve(x, 32, 9)))
    for filters in [64, 128]:
        y = layers.ReLU()(InstanceNorm()(convolve(y, filters, 3, strides=2)))
    for _ in range(blocks):
        z = layers.ReLU()(InstanceNorm()(convolve(y, 128, 3)))
        y = y + InstanceNorm()(convolve(z, 128, 3))
    for filters in [64, 32]:
        y = layers.ReLU()(InstanceNorm()(convolve(layers.UpSampling2D()(y), filters, 3)))
    return of_keras(keras.Model(x, convolve(y, 3, 9, activation='tanh')))


def super_resolution(batch, size=128, factor=3):
    """ESPCN: the pixels of a larger image are the channels of a smaller one."""
    x = keras.Input([size, size, 1], batch)
    y = layers.Conv2D(64, 5, padding='same', activation='tanh')(x)
    y = layers.Conv2D(32, 3, padding='same', activation='tanh')(y)
    y = layers.Conv2D(factor * factor, 3, padding='same')(y)
    return of_keras(keras.Model(x, layers.Lambda(lambda y: tf.nn.depth_to_space(y, factor))(y)))


def yolo(batch, size=224, outputs=255):
    """A small YOLO: LeakyRelu, and boxes at two sizes of the image."""
    def convolve(y, filters, window):
        y = layers.Conv2D(filters, window, padding='same', use_bias=False)(y)
        return layers.LeakyReLU(0.1)(layers.BatchNormalization()(y))

    x = y = keras.Input([size, size, 3], batch)
    for filters in [16, 32, 64, 128, 256]:
        kept = convolve(y, filters, 3)
        y = layers.MaxPooling2D()(kept)
    y = convolve(convolve(y, 512, 3), 128, 1)
    large = layers.Conv2D(outputs, 1)(convolve(y, 256, 3))
    z = layers.Concatenate()([layers.UpSampling2D()(convolve(y, 64, 1)), kept])
    small = layers.Conv2D(outputs, 1)(convolve(z, 128, 3))
    return of_keras(keras.Model(x, layers.Concatenate()([layers.Flatten()(large), layers.Flatten()(small)])))


def segmentation(batch, size=192, classes=21):
    """A small DeepLab: inverted residuals, dilated instead of strided at the end, then windows of several sizes."""
    def convolve(y, layer):
        return layers.ReLU(6.0)(layers.BatchNormalization()(layer(y)))

    def point(filters):
        return layers.Conv2D(filters, 1, use_bias=False)

    x = keras.Input([size, size, 3], batch)
    y = convolve(x, layers.Conv2D(16, 3, strides=2, padding='same', use_bias=False))
    for filters, stride, dilation in [(24, 2, 1), (32, 2, 1), (64, 1, 2), (64, 1, 2), (96, 1, 4), (96, 1, 4)]:
        z = convolve(y, point(6 * y.shape[-1]))
        z = convolve(z, layers.DepthwiseConv2D(
            3, strides=stride, dilation_rate=dilation, padding='same', use_bias=False))
        z = layers.BatchNormalization()(point(filters)(z))
        y = y + z if y.shape == z.shape else z
    seen = [convolve(y, point(64))]
    for dilation in [3, 6, 9]:
        seen.append(convolve(y, layers.Conv2D(64, 3, dilation_rate=dilation, padding='same', use_bias=False)))
    mean = convolve(layers.GlobalAveragePooling2D(keepdims=True)(y), point(64))
    seen.append(layers.UpSampling2D(size // 8, interpolation='bilinear')(mean))
    y = layers.Conv2D(classes, 1)(convolve(layers.Concatenate()(seen), point(64)))
    return of_keras(keras.Model(x, layers.UpSampling2D(8, interpolation='bilinear')(y)))


def text_line(batch, rows=32, columns=128, letters=80):
    """Reads a line of text: convolutions, then two layers of LSTMs along the line."""
    x = y = keras.Input([rows, columns, 1], batch)
    for filters, pool in [(32, (2, 2)), (64, (2, 2)), (128, (2, 1))]:
        y = layers.MaxPooling2D(pool)(layers.Conv2D(filters, 3, padding='same', activation='relu')(y))
    y = layers.Reshape([columns // 4, rows // 8 * 128])(layers.Permute([2, 1, 3])(y))
    for _ in range(2):
        y = layers.Bidirectional(layers.LSTM(128, return_sequences=True))(y)
    return of_keras(keras.Model(x, layers.Dense(letters, 'softmax')(y)))


def denoiser(batch, size=32, width=64):
    """The U-Net of a diffusion model: group norms, swish, and attention between the pixels of the small image."""
    def norm(y):
        return layers.Activation('swish')(layers.GroupNormalization(8)(y))

    def block(y, filters):
        z = layers.Conv2D(filters, 3, padding='same')(norm(y))
        z = layers.Conv2D(filters, 3, padding='same')(norm(z))
        return z + (y if y.shape[-1] == filters else layers.Conv2D(filters, 1)(y))

    x = keras.Input([size, size, 3], batch)
    kept = block(layers.Conv2D(width, 3, padding='same')(x), width)
    y = block(layers.AveragePooling2D(2)(kept), 2 * width)
    z = layers.Reshape([size * size // 4, 2 * width])(layers.GroupNormalization(8)(y))
    z = layers.MultiHeadAttention(4, width // 2)(z, z)
    y = block(y + layers.Reshape([size // 2, size // 2, 2 * width])(z), 2 * width)
    y = block(layers.Concatenate()([layers.UpSampling2D()(y), kept]), width)
    return of_keras(keras.Model(x, layers.Conv2D(3, 3, padding='same')(norm(y))))


def samples(batch, length=2048, width=32, levels=8):
    """A WaveNet: gated causal convolutions of growing dilation over the samples of a sound."""
    def causal(activation=None, **options):
        return layers.Conv1D(width, 2, padding='causal', activation=activation, **options)

    x = keras.Input([length, 1], batch)
    y = causal()(x)
    kept = []
    for level in range(levels):
        gate = causal('sigmoid', dilation_rate=2 ** level)(y)
        kept.append(layers.Conv1D(width, 1)(causal('tanh', dilation_rate=2 ** level)(y) * gate))
        y = y + kept[-1]
    y = layers.Conv1D(64, 1, activation='relu')(layers.ReLU()(layers.Add()(kept)))
    return of_keras(keras.Model(x, layers.Conv1D(256, 1)(y)))


def squeeze_net(batch):
    x = keras.Input([224, 224, 3], batch)
    y = layers.MaxPooling2D(3, 2)(layers.Conv2D(64, 3, strides=2, activation='relu')(x))
    for i, squeezed in enumerate([16, 16, 32, 32, 48, 48, 64, 64]):
        z = layers.Conv2D(squeezed, 1, activation='relu')(y)
        wide = layers.Conv2D(4 * squeezed, 3, padding='same', activation='relu')(z)
        y = layers.Concatenate()([layers.Conv2D(4 * squeezed, 1, activation='relu')(z), wide])
        if i in (1, 3):
            y = layers.MaxPooling2D(3, 2)(y)
    y = layers.Conv2D(1000, 1, activation='relu')(y)
    return of_keras(keras.Model(x, layers.GlobalAveragePooling2D()(y)))


def moving_images(batch, images=10, size=32):
    """The next image after some: an LSTM whose products are convolutions."""
    x = keras.Input([images, size, size, 1], batch)
    y = layers.ConvLSTM2D(16, 3, padding='same', return_sequences=True)(x)
    y = layers.ConvLSTM2D(16, 3, padding='same')(y)
    return of_keras(keras.Model(x, layers.Conv2D(1, 3, padding='same', activation='sigmoid')(y)))


def radiance(points=1024, width=256, frequencies=10):
    """A NeRF: the colours of points in space from sines of their places."""
    def encode(x):
        angles = tf.expand_dims(x, 1) * (2.0 ** np.arange(frequencies, dtype=np.float32))[:, None]
        waves = [tf.reshape(wave(angles), [points, 3 * frequencies]) for wave in (tf.sin, tf.cos)]
        return tf.concat([x, *waves], -1)

    x = keras.Input([3], points)
    y = encoded = layers.Lambda(encode)(x)
    for layer in range(8):
        y = layers.Dense(width, 'relu')(layers.Concatenate()([y, encoded]) if layer == 4 else y)
    return of_keras(keras.Model(x, layers.Dense(4)(y)))


def autoencoder(batch):
    x = y = keras.Input([784], batch)
    for units in [256, 64, 16, 64, 256]:
        y = layers.Dense(units, 'selu')(y)
    return of_keras(keras.Model(x, layers.Dense(784, 'sigmoid')(y)))


def spectrogram(batch, length=16000, bands=40):
    """The logarithms of a second of sound by frequency and time, as models for speech read it."""
    bins = tf.signal.linear_to_mel_weight_matrix(bands, 257, length, 60.0, 7600.0)

    def compute(x):
        return tf.math.log(tf.matmul(tf.abs(tf.signal.stft(x, 400, 160, 512)), bins) + 1e-6)

    return compute, {'x': normal(batch, length)}


MODELS = {
    'MLP 784-512-256-10': lambda: mlp(1),
    'MLP 784-512-256-10, batch 8': lambda: mlp(8),
    'LSTM 128, 64 steps': lambda: recurrent('LSTM', 1),
    'LSTM 128, 64 steps, batch 8': lambda: recurrent('LSTM', 8),
    'LSTM 128, 64 steps, While': lambda: recurrent('LSTM', 1),
    'LSTM 128, 64 steps, Keras 2': lambda: recurrent('LSTM', 1, tf_keras),
    'GRU 128, 64 steps': lambda: recurrent('GRU', 1),
    'GRU 128, 64 steps, While': lambda: recurrent('GRU', 1),
    'SimpleRNN 128, 64 steps': lambda: recurrent('SimpleRNN', 1),
    'Two LSTMs 64 both ways, 100 steps': lambda: both_ways(1),
    'Dilated convolutions, 512 steps': lambda: temporal(1),
    'Transformer encoder, 128 tokens': lambda: encoder(1),
    'Vision transformer, 196 patches': lambda: vision_transformer(1),
    'GPT, prefill of 64 tokens': lambda: gpt(0, 64),
    'GPT, one token after 64': lambda: gpt(64, 1),
    'GPT, one token, cache stays': lambda: gpt(64, 1),
    'MobileNetV1': lambda: application('MobileNet', 1),
    'MobileNetV2': lambda: application('MobileNetV2', 1),
    'MobileNetV2, batch 8': lambda: application('MobileNetV2', 8),
    'MobileNetV2, Keras 2': lambda: application('MobileNetV2', 1, library=tf_keras),
    'MobileNetV3Large': lambda: application('MobileNetV3Large', 1, 0, 255),
    'EfficientNetB0': lambda: application('EfficientNetB0', 1, 0, 255),
    'EfficientNetB0, Keras 2': lambda: application('EfficientNetB0', 1, 0, 255, tf_keras),
    'ResNet50': lambda: application('ResNet50', 1),
    'ResNet50, batch 8': lambda: application('ResNet50', 8),
    'DenseNet121': lambda: application('DenseNet121', 1),
    'NASNetMobile': lambda: application('NASNetMobile', 1),
    'RegNetX002': lambda: application('RegNetX002', 1, 0, 255, tf_keras),
    'Xception': lambda: application('Xception', 1),
    'InceptionV3': lambda: application('InceptionV3', 1),
    'Shuffle units 56': lambda: shuffle_units(1),
    'DCGAN generator': lambda: generator(1),
    'ConvNeXtTiny': lambda: application('ConvNeXtTiny', 1, 0, 255),
    'U-Net 128': lambda: u_net(1),
    'SSD boxes': ssd,
    'MobileNetV3Small': lambda: application('MobileNetV3Small', 1, 0, 255),
    'EfficientNetV2B0': lambda: application('EfficientNetV2B0', 1, 0, 255),
    'SqueezeNet': lambda: squeeze_net(1),
    'YOLO tiny 224': lambda: yolo(1),
    'DeepLab small 192': lambda: segmentation(1),
    'Style transfer 128': lambda: style_transfer(1),
    'ESPCN 128 to 384': lambda: super_resolution(1),
    'Diffusion U-Net 32': lambda: denoiser(1),
    'BERT, 128 tokens': lambda: bert(1),
    'Swin blocks 56': lambda: windows(1),
    'Text line, LSTMs both ways': lambda: text_line(1),
    'ConvLSTM, 10 images of 32': lambda: moving_images(1),
    'WaveNet, 2048 samples': lambda: samples(1),
    'Mel spectrogram of a second': lambda: spectrogram(1),
    'NeRF, 1024 points': radiance,
    'Autoencoder 784, batch 32': lambda: autoencoder(32),
}
