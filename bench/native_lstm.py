"""Times the LSTM of loops.mjs in native TensorFlow, on one thread: `python bench/native_lstm.py`."""

import os
import statistics
import time

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
STEPS, BATCH, UNITS, ROUNDS = 100, 32, 128, 20


def numbers(shape, seed):
    return np.random.RandomState(seed).uniform(-0.1, 0.1, shape).astype(np.float32)


def build():
    x = v1.placeholder(tf.float32, [STEPS, BATCH, UNITS])
    kernel = tf.constant(numbers([2 * UNITS, 4 * UNITS], 1))
    bias = tf.constant(numbers([4 * UNITS], 2))
    inputs = tf.TensorArray(tf.float32, size=STEPS).unstack(x)

    def step(t, c, h, outputs):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs.read(t), h], 1), kernel), bias)
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return t + 1, c, h, outputs.write(t, h)

    state = tf.zeros([BATCH, UNITS])
    start = [tf.constant(0), state, state, tf.TensorArray(tf.float32, size=STEPS)]
    y = v1.while_loop(lambda t, *_: t < STEPS, step, start)[3].stack()
    return x, {"forward": y, "gradient by the kernel": v1.gradients(tf.reduce_sum(tf.square(y)), kernel)[0]}


def main():
    v1.disable_v2_behavior()
    x, outputs = build()
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    with v1.Session(config=config) as session:
        for name, output in outputs.items():
            run = session.make_callable(output, [x])
            values, times = numbers([STEPS, BATCH, UNITS], 3), []
            for _ in range(ROUNDS + 1):
                begun = time.perf_counter()
                run(values)
                times.append(1e3 * (time.perf_counter() - begun))
            print(f"{name}: median {statistics.median(times[1:]):.1f} ms, best {min(times[1:]):.1f} ms")


if __name__ == "__main__":
    main()
