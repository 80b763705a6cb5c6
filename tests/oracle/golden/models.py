"""Whole models: frozen graphs with random weights, their results, the gradients of their loss, and their training.

Every model is a function (x, weight) -> outputs, where `weight(name, shape, scale)` gives a constant of the graph. Those that learn
also have a loss; the training cases replace the weights by variables and follow the loss over 20 steps.
"""
import numpy as np
import tensorflow as tf

from writer import SUMMED, Tolerance, tf1

LOSS = Tolerance(float32=dict(relative=1e-4))
STEPS = 20


class Weights:
    """Constants of the graph, and their names in the order in which they came. With `half` they are kept in half precision and widened
    by the graph, as small files do."""

    def __init__(self, random, half=False):
        self.random, self.half, self.names = random, half, []

    def __call__(self, name, shape, scale=None, mean=0):
        scale = scale or 1 / np.sqrt(max(1, np.prod(shape[:-1])))
        values = mean + scale * self.random.standard_normal(shape)
        self.names.append(name)
        if self.half:
            return tf.cast(tf.constant(values.astype(np.float16), name=f'{name}/half'), tf.float32, name=name)
        return tf.constant(values.astype(np.float32), name=name)


def conv(x, weight, name, channels, size=3, stride=1, padding='SAME'):
    w = weight(f'{name}/weights', (size, size, x.shape[-1], channels), np.sqrt(2 / (size * size * int(x.shape[-1]))))
    return tf.nn.conv2d(x, w, [1, stride, stride, 1], padding, name=f'{name}/conv')


def depthwise(x, weight, name, stride=1):
    w = weight(f'{name}/depthwise_weights', (3, 3, x.shape[-1], 1), np.sqrt(2 / 9))
    return tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], 'SAME', name=f'{name}/depthwise')


def biased(x, weight, name):
    return tf.nn.bias_add(x, weight(f'{name}/biases', (x.shape[-1],), 0.1), name=f'{name}/biased')


def dense(x, weight, name, units):
    return tf.nn.bias_add(tf.matmul(x, weight(f'{name}/weights', (x.shape[-1], units))), weight(f'{name}/biases', (units,), 0.1), name=f'{name}/out')


def batch_norm(x, weight, name, training):
    depth = x.shape[-1]
    scale, offset = weight(f'{name}/gamma', (depth,), 0.1, 1), weight(f'{name}/beta', (depth,), 0.1)
    if training:
        return tf1.nn.fused_batch_norm(x, scale, offset, epsilon=1e-3, is_training=True, name=f'{name}/norm')[0]
    mean, variance = weight(f'{name}/mean', (depth,), 0.1), weight(f'{name}/variance', (depth,), 0.1, 1)
    return tf1.nn.fused_batch_norm(x, scale, offset, mean, variance, epsilon=1e-3, is_training=False, name=f'{name}/norm')[0]


def layer_norm(x, weight, name):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    scale, offset = weight(f'{name}/gamma', (x.shape[-1],), 0.1, 1), weight(f'{name}/beta', (x.shape[-1],), 0.1)
    return (x - mean) * tf1.rsqrt(variance + 1e-6) * scale + offset


def flat(x):
    return tf.reshape(x, [-1, int(np.prod(x.shape[1:]))])


def lenet(x, weight):
    x = tf.nn.max_pool2d(tf.nn.relu(biased(conv(x, weight, 'conv1', 6, 5), weight, 'conv1')), 2, 2, 'VALID')
    x = tf.nn.max_pool2d(tf.nn.relu(biased(conv(x, weight, 'conv2', 16, 5, padding='VALID'), weight, 'conv2')), 2, 2, 'VALID')
    x = tf.nn.relu(dense(flat(x), weight, 'fc3', 32))
    return dense(x, weight, 'fc4', 10)


def resnet(x, weight):
    x = tf.nn.relu(batch_norm(conv(x, weight, 'stem', 8), weight, 'stem', True))
    for block, (channels, stride) in enumerate([(8, 1), (12, 2), (16, 2)]):
        name = f'block{block}'
        shortcut = x if channels == x.shape[-1] else conv(x, weight, f'{name}/shortcut', channels, 1, stride)
        y = tf.nn.relu(batch_norm(conv(x, weight, f'{name}/a', channels, 3, stride), weight, f'{name}/a', True))
        y = batch_norm(conv(y, weight, f'{name}/b', channels), weight, f'{name}/b', True)
        x = tf.nn.relu(y + shortcut)
    return dense(tf.reduce_mean(x, [1, 2]), weight, 'logits', 10)


def mobilenet_v1(image, weight):
    def block(x, name, channels, stride):
        x = tf.nn.relu6(batch_norm(depthwise(x, weight, name, stride), weight, f'{name}/depthwise', False))
        return tf.nn.relu6(batch_norm(conv(x, weight, f'{name}/pointwise', channels, 1), weight, f'{name}/pointwise', False))

    x = tf.cast(image, tf.float32) / 127.5 - 1
    x = tf.nn.relu6(batch_norm(conv(x, weight, 'conv0', 8, 3, 2), weight, 'conv0', False))
    for i, (channels, stride) in enumerate([(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]):
        x = block(x, f'conv{i + 1}', channels // 4, stride)
    x = tf.nn.avg_pool2d(x, 3, 1, 'VALID')
    return tf.nn.softmax(tf.squeeze(biased(conv(x, weight, 'logits', 10, 1), weight, 'logits'), [1, 2]))


def mobilenet_v2(image, weight):
    def rounded(channels):
        return max(8, int(channels * 0.35 + 4) // 8 * 8)

    x = tf.cast(image, tf.float32) / 127.5 - 1
    x = tf.nn.relu6(batch_norm(conv(x, weight, 'conv0', rounded(32), 3, 2), weight, 'conv0', False))
    number = 0
    for expansion, channels, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(count):
            name, shortcut = f'block{number}', x
            number += 1
            if expansion != 1:
                x = tf.nn.relu6(batch_norm(conv(x, weight, f'{name}/expand', x.shape[-1] * expansion, 1), weight, f'{name}/expand', False))
            if i == 0 and stride == 2:
                x = tf.pad(x, [[0, 0], [0, 1], [0, 1], [0, 0]])
                w = weight(f'{name}/depthwise_weights', (3, 3, x.shape[-1], 1), np.sqrt(2 / 9))
                x = tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], 'VALID')
            else:
                x = depthwise(x, weight, name)
            x = tf.nn.relu6(batch_norm(x, weight, f'{name}/depthwise', False))
            x = batch_norm(conv(x, weight, f'{name}/project', rounded(channels), 1), weight, f'{name}/project', False)
            if x.shape[-1] == shortcut.shape[-1] and i > 0:
                x = x + shortcut
    x = tf.nn.relu6(batch_norm(conv(x, weight, 'last', 640, 1), weight, 'last', False))
    return tf.nn.softmax(dense(tf.reduce_mean(x, [1, 2]), weight, 'logits', 10))


def inception(x, weight):
    def relu_conv(x, name, channels, size):
        return tf.nn.relu(biased(conv(x, weight, name, channels, size), weight, name))

    x = tf.nn.local_response_normalization(tf.nn.max_pool2d(relu_conv(x, 'stem', 12, 3), 3, 2, 'SAME'), 2, alpha=1e-2)
    for i in range(2):
        name = f'mixed{i}'
        x = tf.concat([relu_conv(x, f'{name}/b0', 8, 1),
                       relu_conv(relu_conv(x, f'{name}/b1_reduce', 6, 1), f'{name}/b1', 10, 3),
                       relu_conv(relu_conv(x, f'{name}/b2_reduce', 4, 1), f'{name}/b2', 6, 5),
                       relu_conv(tf.nn.avg_pool2d(x, 3, 1, 'SAME'), f'{name}/b3', 4, 1)], 3)
    return dense(tf.reduce_mean(x, [1, 2]), weight, 'logits', 10)


def autoencoder(x, weight):
    code = tf.nn.elu(biased(conv(x, weight, 'encode1', 8, 3, 2), weight, 'encode1'))
    code = tf.nn.elu(biased(conv(code, weight, 'encode2', 12, 3, 2), weight, 'encode2'))
    w = weight('decode1/weights', (3, 3, 8, 12), 0.1)
    up = tf.nn.elu(tf.nn.conv2d_transpose(code, w, [int(x.shape[0]), 7, 7, 8], 2, 'SAME'))
    w = weight('decode2/weights', (3, 3, 1, 8), 0.2)
    return tf.sigmoid(tf.nn.conv2d_transpose(up, w, [int(x.shape[0]), 14, 14, 1], 2, 'SAME'))


def lstm(text, weight):
    """Characters as numbers [batch, 8]; logits of the next character at each place."""
    units, vocabulary = 16, 27
    embedding = weight('embedding', (vocabulary, 12), 0.3)
    kernel, bias = weight('lstm/kernel', (12 + units, 4 * units)), weight('lstm/bias', (4 * units,), 0.1)
    state = hidden = tf.zeros([int(text.shape[0]), units])
    logits = []
    for x in tf.unstack(tf.gather(embedding, text), axis=1):
        i, j, f, o = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([x, hidden], 1), kernel), bias), 4, axis=1)
        state = state * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        hidden = tf.tanh(state) * tf.sigmoid(o)
        logits.append(hidden)
    w, b = weight('softmax/weights', (units, vocabulary)), weight('softmax/biases', (vocabulary,), 0.1)
    return tf.nn.bias_add(tf.matmul(tf.reshape(tf.stack(logits, axis=1), [-1, units]), w), b)


def transformer(words, weight):
    """Two layers of an encoder over words [batch, length]; classes of the first word's place."""
    width, heads, vocabulary = 24, 3, 40
    batch, length = map(int, words.shape)
    x = tf.gather(weight('embedding', (vocabulary, width), 0.5), words) + weight('positions', (length, width), 0.2)
    for layer in range(2):
        name = f'layer{layer}'

        def project(part):
            y = dense(tf.reshape(x, [-1, width]), weight, f'{name}/{part}', width)
            return tf.transpose(tf.reshape(y, [batch, length, heads, width // heads]), [0, 2, 1, 3])

        q, k, v = (project(part) for part in ('query', 'key', 'value'))
        attention = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (1 / np.sqrt(width / heads)).astype(np.float32))
        y = tf.reshape(tf.transpose(tf.matmul(attention, v), [0, 2, 1, 3]), [-1, width])
        x = layer_norm(x + tf.reshape(dense(y, weight, f'{name}/attended', width), tf.shape(x)), weight, f'{name}/norm1')
        y = dense(tf.reshape(x, [-1, width]), weight, f'{name}/grow', 2 * width)
        y = 0.5 * y * (1 + tf.math.erf(y / np.sqrt(2).astype(np.float32)))
        x = layer_norm(x + tf.reshape(dense(y, weight, f'{name}/shrink', width), tf.shape(x)), weight, f'{name}/norm2')
    return dense(tf.squeeze(tf.slice(x, [0, 0, 0], [-1, 1, -1]), [1]), weight, 'logits', 5)


def classify(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def word2vec(words, weight):
    """Skip-gram with negatives that are fed in: centres [batch], and contexts [batch, 1 + negatives] of which the first is true."""
    centers, contexts = words
    rows = tf.gather(weight('embeddings', (50, 16), 0.5), centers)
    context_weights, context_biases = weight('nce/weights', (50, 16), 0.5), weight('nce/biases', (50,), 0.1)
    logits = tf.reduce_sum(tf.expand_dims(rows, 1) * tf.gather(context_weights, contexts), 2) + tf.gather(context_biases, contexts)
    truth = tf.concat([tf.ones_like(logits[:, :1]), tf.zeros_like(logits[:, 1:])], 1)
    return tf.reduce_mean(tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=logits), 1))


def record(golden, name, build, make_inputs, loss_of=None, half=False, optimizer=None):
    """The answer, the loss and its gradients with regard to every weight; then, with an optimizer, the training."""
    weights = Weights(golden.random, half)
    with golden.graph(name) as case:
        inputs = make_inputs()
        feeds = {tf1.placeholder(value.dtype, value.shape, key): value for key, value in inputs.items()}
        given = dict(zip(inputs, feeds))
        magnitudes = None
        output = tf.identity(build(given, weights), 'output')
        fetches = {'output:0': output}
        if loss_of:
            loss = tf.identity(loss_of(output, given), 'loss')
            case.freeze()
            case.add_gradients([loss], [case.graph.get_tensor_by_name(f'{w}:0') for w in weights.names], None)
            fetches['loss:0'] = loss
            fetches.update({f'dx:{i}': dx for i, dx in enumerate(case.dx)})
            # Gradients that are 0 but for rounding (biases that a norm takes away again) are held to the others.
            sizes = [np.abs(dx).max() for dx in case.run(case.dx, feeds)]
            magnitudes = [None, None] + [np.float32(max(size, 0.1 * max(sizes))) for size in sizes]
        case.step(fetches, feeds, tolerance=SUMMED, magnitudes=magnitudes)
        frozen = case.graph_def
    for train in optimizer or []:
        train_model(golden, f'{name}, {train}', frozen, weights.names, make_inputs, train)


# What the training cases run: the op that updates a variable, its scalar inputs, and TensorFlow's optimiser of the same.
OPTIMIZERS = {
    'ResourceApplyGradientDescent': (lambda: tf1.train.GradientDescentOptimizer(0.05), dict(alpha=0.05)),
    'ResourceApplyMomentum': (lambda: tf1.train.MomentumOptimizer(0.02, 0.9), dict(lr=0.02, momentum=0.9)),
    'ResourceApplyAdam': (lambda: tf1.train.AdamOptimizer(0.005), dict(lr=0.005, beta1=0.9, beta2=0.999, epsilon=1e-8)),
}


def train_model(golden, name, frozen, variables, make_inputs, optimizer):
    make, scalars = OPTIMIZERS[optimizer]
    with golden.graph(name) as case:
        case.graph_def = frozen
        values = {node.name: tf.make_ndarray(node.attr['value'].tensor) for node in frozen.node if node.op == 'Const'}
        made = {f'{v}:0': tf1.get_variable(v, initializer=values[v], use_resource=True) for v in variables}
        loss, = tf.import_graph_def(frozen, {v: variable.read_value() for v, variable in made.items()}, ['loss:0'], name='model')
        case.train('loss:0', variables, optimizer, scalars)
        step = make().minimize(loss)
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            for _ in range(STEPS):
                feeds = make_inputs()
                value, _ = session.run([loss, step], {f'model/{key}:0': value for key, value in feeds.items()})
                case.record(feeds, {'loss:0': value}, LOSS)


def cases(golden):
    random = golden.random

    def images(batch, size, channels, classes=10):
        """Images whose class shows: a bright spot at a place that belongs to it."""
        def make():
            labels = random.integers(0, classes, batch)
            x = random.standard_normal((batch, size, size, channels)) * 0.3
            for i, label in enumerate(labels):
                x[i, label * size // classes, label % size] += 3
            return {'x': x.astype(np.float32), 'labels': labels.astype(np.int64)}
        return make

    def photo():
        return {'image': random.integers(0, 256, (1, 96, 96, 3), np.uint8)}

    def text():
        x = (random.integers(0, 27, (4, 1)) + np.arange(9)) % 27
        return {'text': x[:, :8].astype(np.int32), 'next': x[:, 1:].reshape(-1).astype(np.int32)}

    def sentences():
        labels = random.integers(0, 5, 4)
        words = random.integers(0, 40, (4, 6))
        words[:, 0] = labels
        return {'words': words.astype(np.int32), 'labels': labels.astype(np.int64)}

    def pairs():
        centers = random.integers(0, 50, 8)
        return {'centers': centers.astype(np.int32),
                'contexts': np.concatenate([(centers[:, None] + 1) % 50, random.integers(0, 50, (8, 4))], 1).astype(np.int32)}

    def on(key, model):
        return lambda given, weight: model(given[key], weight)

    def labelled(output, given):
        return classify(output, given['labels'])

    record(golden, 'LeNet', on('x', lenet), images(4, 16, 1), labelled, optimizer=list(OPTIMIZERS))
    record(golden, 'ResNet, batch norm in training mode', on('x', resnet), images(4, 12, 3), labelled, optimizer=['ResourceApplyMomentum'])
    record(golden, 'MobileNetV1 0.25, 96x96', on('image', mobilenet_v1), photo, half=True)
    record(golden, 'MobileNetV2 0.35, 96x96', on('image', mobilenet_v2), photo, half=True)
    record(golden, 'Inception-like', on('x', inception), images(2, 14, 3), labelled, optimizer=['ResourceApplyMomentum'])
    record(golden, 'autoencoder', on('x', autoencoder), lambda: {'x': images(2, 14, 1)()['x']},
           lambda output, given: tf.reduce_mean(tf.math.squared_difference(output, given['x'])), optimizer=['ResourceApplyAdam'])
    record(golden, 'char LSTM, 8 steps', on('text', lstm), text, lambda output, given: classify(output, given['next']), optimizer=['ResourceApplyAdam'])
    record(golden, 'transformer encoder, 2 layers', on('words', transformer), sentences, labelled, optimizer=['ResourceApplyAdam'])
    record(golden, 'word2vec', lambda given, weight: word2vec((given['centers'], given['contexts']), weight), pairs,
           lambda output, given: output, optimizer=['ResourceApplyGradientDescent'])
