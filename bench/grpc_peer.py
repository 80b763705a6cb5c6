"""Times steps of TensorFlow's own client on a server, for grpc.mjs: reads lines 'floats milliseconds', prints ms per step."""
import os
import sys
import time

os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [None])
y = tf.negative(x)
session = tf.Session(sys.argv[1])
print('ready', flush=True)
for line in sys.stdin:
    floats, milliseconds = (int(word) for word in line.split())
    values = np.arange(floats, dtype=np.float32)
    steps, started = 0, time.perf_counter()
    while True:
        result = session.run(y, {x: values})
        steps += 1
        elapsed = (time.perf_counter() - started) * 1000
        if elapsed >= milliseconds:
            break
    assert result[-1] == -values[-1]
    print(elapsed / steps, flush=True)
os._exit(0)
