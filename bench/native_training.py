"""Times the steps of training.mjs in native TensorFlow, on one thread: `python bench/native_training.py [words]`."""

import os
import statistics
import sys
import time

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
CLASSES, ROUNDS, RATE = 10, 30, 0.001
CNN = [("convolution", [5, 5, 1, 32]), ("convolution", [5, 5, 32, 64]), ("dense", [3136, 512]), ("last", [512, CLASSES])]
MLP = [("dense", [784, 256]), ("last", [256, CLASSES])]
STEPS = {
    "CNN training step, 32x28x28x1": ([32, 28, 28, 1], CNN),
    "MLP training step, 64x784 by 256 to 10": ([64, 784], MLP),
}
BOTTLENECKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
BLOCKS, WIDTH, HEADS, WORDS, LENGTH = 4, 256, 4, 4096, 64


def variable(shape, terms=None):
    shape = [int(size) for size in shape]
    scale = np.sqrt(6 / (terms or np.prod(shape[:-1])))
    return v1.Variable(np.random.RandomState(1).uniform(-scale, scale, shape).astype(np.float32))


def zeros(size):
    return v1.Variable(np.zeros(int(size), np.float32))


def ones(size):
    return v1.Variable(np.ones(int(size), np.float32))


def dense(x, inputs, outputs):
    return tf.nn.bias_add(tf.matmul(x, variable([inputs, outputs])), zeros(outputs))


def apply_layers(x, layers):
    """The logits. A layer without `last` ends with a Relu, a convolution with a pooling of 2 x 2."""
    for kind, shape in layers:
        if kind == "convolution":
            y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, variable(shape), 1, "SAME"), zeros(shape[-1])))
            x = tf.nn.max_pool2d(y, 2, 2, "SAME")
            continue
        y = dense(tf.reshape(x, [-1, shape[0]]), *shape)
        x = y if kind == "last" else tf.nn.relu(y)
    return x


def mobile_net_v2(x, classes):
    def norm(y):
        return v1.nn.fused_batch_norm(y, ones(y.shape[-1]), zeros(y.shape[-1]), epsilon=1e-3, is_training=True)[0]

    def convolution(y, size, channels, stride=1):
        return norm(tf.nn.conv2d(y, variable([size, size, y.shape[-1], channels]), stride, "SAME"))

    def depthwise(y, stride):
        filters = variable([3, 3, y.shape[-1], 1], 9)
        return norm(tf.nn.depthwise_conv2d(y, filters, [1, stride, stride, 1], "SAME"))

    y = tf.nn.relu6(convolution(x, 3, 32, 2))
    for expansion, channels, repeats, first_stride in BOTTLENECKS:
        for i in range(repeats):
            stride, inputs = first_stride if i == 0 else 1, y.shape[-1]
            wide = tf.nn.relu6(convolution(y, 1, inputs * expansion)) if expansion > 1 else y
            narrow = convolution(tf.nn.relu6(depthwise(wide, stride)), 1, channels)
            y = y + narrow if stride == 1 and inputs == channels else narrow
    features = tf.reduce_mean(tf.nn.relu6(convolution(y, 1, 1280)), [1, 2])
    return dense(features, 1280, classes)


def gpt(tokens):
    def norm(x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * ones(WIDTH) + zeros(WIDTH)

    def attention(x):
        depth = WIDTH // HEADS
        qkv = tf.reshape(dense(x, WIDTH, 3 * WIDTH), [-1, LENGTH, 3, HEADS, depth])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        scores = tf.matmul(q, k, transpose_b=True) * depth ** -0.5
        scores += np.triu(np.full([LENGTH, LENGTH], -1e9, np.float32), 1)
        y = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
        return dense(tf.reshape(y, [-1, WIDTH]), WIDTH, WIDTH)

    words = variable([WORDS, WIDTH], 600)
    x = tf.reshape(tf.gather(words, tokens), [-1, LENGTH, WIDTH]) + variable([LENGTH, WIDTH], 600)
    x = tf.reshape(x, [-1, WIDTH])
    for _ in range(BLOCKS):
        x += attention(norm(x))
        x += dense(tf.nn.gelu(dense(norm(x), WIDTH, 4 * WIDTH), approximate=True), 4 * WIDTH, WIDTH)
    return tf.matmul(norm(x), words, transpose_b=True)


def cases():
    """The type and shape of the input, the number of classes, the network, and the optimizer by name."""
    for name, (shape, layers) in STEPS.items():
        yield name, tf.float32, shape, CLASSES, lambda x, layers=layers: apply_layers(x, layers), descent
    yield "MobileNetV2 training step, 8x96x96x3", tf.float32, [8, 96, 96, 3], 100, lambda x: mobile_net_v2(x, 100), descent
    yield "GPT training step, 4x64 tokens", tf.int32, [4 * LENGTH], WORDS, gpt, adam


def descent():
    return v1.train.GradientDescentOptimizer(RATE)


def adam():
    return v1.train.AdamOptimizer(RATE)


def measure(name, dtype, shape, num_classes, network, optimizer):
    graph = tf.Graph()
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    with graph.as_default(), v1.Session(config=config) as session:
        x, labels = v1.placeholder(dtype, shape), v1.placeholder(tf.int32, shape[:1])
        logits = network(x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        train = optimizer().minimize(loss)
        session.run(v1.global_variables_initializer())
        run = session.make_callable([loss, train], [x, labels])
        numbers = np.random.RandomState(2).uniform(0, 1, shape)
        given = (numbers * num_classes if dtype == tf.int32 else numbers).astype(dtype.as_numpy_dtype)
        classes, times = np.arange(shape[0], dtype=np.int32) % num_classes, []
        for _ in range(ROUNDS + 1):
            begun = time.perf_counter()
            run(given, classes)
            times.append(1e3 * (time.perf_counter() - begun))
        print(f"{name}: median {statistics.median(times[1:]):.2f} ms, best {min(times[1:]):.2f} ms", flush=True)


def main(words):
    v1.disable_v2_behavior()
    for case in cases():
        if not words or any(word in case[0] for word in words):
            measure(*case)


if __name__ == "__main__":
    main(sys.argv[1:])
