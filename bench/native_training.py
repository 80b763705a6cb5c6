"""Times the steps of training.mjs in native TensorFlow, on one thread: `python bench/native_training.py`."""

import os
import statistics
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


def apply(x, layers):
    """The logits. A layer without `last` ends with a Relu, a convolution with a pooling of 2 x 2."""
    for kind, shape in layers:
        scale = np.sqrt(6 / np.prod(shape[:-1]))
        weights = v1.Variable(np.random.RandomState(1).uniform(-scale, scale, shape).astype(np.float32))
        bias = v1.Variable(np.zeros(shape[-1], np.float32))
        if kind == "convolution":
            y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weights, 1, "SAME"), bias))
            x = tf.nn.max_pool2d(y, 2, 2, "SAME")
            continue
        y = tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, shape[0]]), weights), bias)
        x = y if kind == "last" else tf.nn.relu(y)
    return x


def measure(name, shape, layers):
    graph = tf.Graph()
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    with graph.as_default(), v1.Session(config=config) as session:
        x, labels = v1.placeholder(tf.float32, shape), v1.placeholder(tf.int32, shape[:1])
        logits = apply(x, layers)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        train = v1.train.GradientDescentOptimizer(RATE).minimize(loss)
        session.run(v1.global_variables_initializer())
        run = session.make_callable([loss, train], [x, labels])
        pixels = np.random.RandomState(2).uniform(0, 1, shape).astype(np.float32)
        classes, times = np.arange(shape[0], dtype=np.int32) % CLASSES, []
        for _ in range(ROUNDS + 1):
            begun = time.perf_counter()
            run(pixels, classes)
            times.append(1e3 * (time.perf_counter() - begun))
        print(f"{name}: median {statistics.median(times[1:]):.2f} ms, best {min(times[1:]):.2f} ms")


def main():
    v1.disable_v2_behavior()
    for name, (shape, layers) in STEPS.items():
        measure(name, shape, layers)


if __name__ == "__main__":
    main()
