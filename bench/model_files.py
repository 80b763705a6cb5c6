"""Makes the files of whole-models.mjs: networks with random weights, as each engine reads them, and TensorFlow's answers.

`python3 bench/model_files.py [words]` makes the models whose names contain one of the words; all by default. Each has a folder
in the user's cache folder, tfcore-wasm/bench-models, which is made again when this script changes:

    graph.pb        the frozen graph
    model.tflite    by TensorFlow's converter: float32, TFLite's own ops
    model.onnx      by tf2onnx
    tfjs/           by tensorflowjs_converter
    data.bin        the inputs, then the outputs that TensorFlow computes
    model.json      names, shapes and places of these, and why a file is missing

The last line of the output is a list of these folders, as JSON.
"""
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests' / 'oracle'))
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import environment  # noqa: E402, F401

CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'tfcore-wasm'
PACKAGES = ['onnx==1.23.2', 'tensorflowjs==4.22.0', 'tf2onnx==1.17.0', 'tf_keras==2.21.0']
OPSET = 18


def import_packages():
    """Converters and Keras 2, without what they require: it includes other versions of TensorFlow."""
    folder = CACHE / 'bench-packages'
    stamp = folder / 'installed.txt'
    if not stamp.exists() or stamp.read_text() != str(PACKAGES):
        shutil.rmtree(folder, ignore_errors=True)
        pip = [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps', '--target', str(folder)]
        subprocess.run([*pip, *PACKAGES], check=True)
        stamp.write_text(str(PACKAGES))
    sys.path.append(str(folder))


def stand_in_for_packages():
    """Modules that converters import for models that are not made here."""
    for name in ['tensorflow_decision_forests', 'tensorflow_hub', 'jax', 'jax.experimental', 'jax.experimental.jax2tf']:
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules['jax.experimental'].jax2tf = sys.modules['jax.experimental.jax2tf']


import_packages()
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf_keras  # noqa: E402
from keras import layers  # noqa: E402
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402

rng = np.random.default_rng(0)


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
}


def write_tflite(folder, function, concrete, **_):
    model = tf.Module()
    model.function, model.kept = function, list(concrete.graph.variables)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], model)
    (folder / 'model.tflite').write_bytes(converter.convert())


def write_onnx(folder, with_functions, inputs, outputs, **_):
    import tf2onnx
    model, _ = tf2onnx.convert.from_graph_def(
        with_functions, input_names=[f'{name}:0' for name in inputs], output_names=outputs, opset=OPSET)
    (folder / 'model.onnx').write_bytes(model.SerializeToString())


def flatten_biases(graph):
    """Keras 3 writes batch norms as products and sums with constants [1, 1, 1, n]; tfjs fuses a bias [n] only."""
    constants = {node.name: node for node in graph.node if node.op == 'Const'}
    for node in graph.node:
        if node.op in ['_FusedConv2D', '_FusedMatMul'] and node.input[2] in constants:
            del constants[node.input[2]].attr['value'].tensor.tensor_shape.dim[:-1]


def write_tfjs(folder, graph, outputs, **_):
    from tensorflowjs.converters import tf_saved_model_conversion_v2 as converter
    names = ','.join(name.split(':')[0] for name in outputs)
    has_loops = any(node.op == 'Enter' for node in graph.node)
    optimize = converter._run_grappler

    def optimize_for_tfjs(config, *arguments):
        rewrites = config.graph_options.rewrite_options
        if has_loops:  # there 'remap' fuses sums of products into one, which tfjs refuses
            rewrites.optimizers[:] = [name for name in rewrites.optimizers if name != 'remap']
        optimized = optimize(config, *arguments)
        flatten_biases(optimized)
        return optimized

    converter._run_grappler = optimize_for_tfjs
    try:
        converter.convert_tf_frozen_model(
            str(folder / 'graph.pb'), names, str(folder / 'tfjs'), weight_shard_size_bytes=2 ** 31)
    finally:
        converter._run_grappler = optimize


FORMATS = {'tflite': write_tflite, 'onnx': write_onnx, 'tfjs': write_tfjs}


def describe(data, name, value, stays):
    """Appends an array to the data; its entry in model.json. A value that stays is one that engines may keep in their memory."""
    place = data.tell()
    data.write(np.ascontiguousarray(value).tobytes())
    return {'name': name, 'dtype': str(value.dtype), 'shape': list(value.shape), 'offset': place, 'stays': stays}


def make(name, folder):
    """Writes the files of a model."""
    seed = int.from_bytes(hashlib.sha256(name.split(',')[0].encode()).digest()[:4], 'little')
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    global rng
    rng = np.random.default_rng(seed)
    compute, inputs = MODELS[name]()
    signature = [tf.TensorSpec(value.shape, value.dtype, key) for key, value in inputs.items()]
    function = tf.function(compute, input_signature=signature)
    concrete = function.get_concrete_function()
    answers = [np.asarray(value) for value in tf.nest.flatten(function(*map(tf.constant, inputs.values())))]
    frozen = {lower: convert_variables_to_constants_v2(concrete, lower_control_flow=lower) for lower in [False, True]}
    outputs = [tensor.name for tensor in frozen[True].outputs]
    graph = frozen[not name.endswith('While')].graph.as_graph_def()
    (folder / 'graph.pb').write_bytes(graph.SerializeToString())
    data = io.BytesIO()
    stays = name.endswith('stays')
    about = {
        'name': name,
        'inputs': [describe(data, key, value, stays and key == 'cache') for key, value in inputs.items()],
        'outputs': [describe(data, key, value, stays and i > 0) for i, (key, value) in enumerate(zip(outputs, answers))],
        'missing': {},
    }
    (folder / 'data.bin').write_bytes(data.getvalue())
    made = {'function': function, 'concrete': concrete, 'inputs': inputs, 'outputs': outputs, 'graph': graph,
            'with_functions': frozen[False].graph.as_graph_def()}
    for kind, write in FORMATS.items():
        try:
            write(folder, **made)
        except Exception as error:  # a converter's own failure is a result
            about['missing'][kind] = ' '.join(f'{type(error).__name__}: {error}'.split())[:200]
    (folder / 'model.json').write_text(json.dumps(about, indent=1))
    return about


def main(words):
    stand_in_for_packages()
    stamp = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()
    names = [name for name in MODELS if not words or any(word in name for word in words)]
    folders = ['-'.join(re.findall('[A-Za-z0-9]+', name)) for name in names]
    for name, folder in zip(names, folders):
        place = CACHE / 'bench-models' / folder
        made = place / 'made-by.txt'
        if made.exists() and made.read_text() == stamp:
            continue
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        about = make(name, place)
        made.write_text(stamp)
        print(f'{name}: made', *(f'; no {kind}: {why}' for kind, why in about['missing'].items()), flush=True)
    print(json.dumps([{'name': name, 'folder': folder} for name, folder in zip(names, folders)]))


if __name__ == '__main__':
    main(sys.argv[1:])
