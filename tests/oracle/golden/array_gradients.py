"""First derivatives through the loops of TensorFlow 1.x that read and write TensorArrays."""
import numpy as np

from flow_gradients import record
from writer import tf1


def cases(golden):
    tf1.disable_control_flow_v2()
    random = golden.random

    def mapped(x, z):
        return tf1.map_fn(lambda row: tf1.sin(row) * tf1.reduce_sum(row) * z, x)

    def scanned(x):
        return tf1.scan(lambda sum, row: tf1.tanh(sum * row + row), x)

    def folded(x, z):
        return tf1.foldl(lambda sum, row: tf1.sin(sum) * row + z, x)

    def recurrent(inputs, w, u):
        """As dynamic_rnn does it: the rows of the inputs are read, the outputs are written, and the last state is used."""
        steps, array = tf1.shape(inputs)[0], tf1.TensorArray
        rows = array(tf1.float64, steps).unstack(inputs)

        def body(t, h, outputs):
            h = tf1.tanh(tf1.matmul(rows.read(t), w) + tf1.matmul(h, u))
            return t + 1, h, outputs.write(t, h * h)
        _, h, outputs = tf1.while_loop(lambda t, *_: t < steps, body, (0, tf1.zeros([2, 3], tf1.float64), array(tf1.float64, steps)))
        return tf1.reduce_sum(outputs.stack() * tf1.sin(h))

    def mapped_branches(x, z):
        return tf1.map_fn(lambda v: tf1.cond(v < z, lambda: v * v * z, lambda: tf1.sin(v)), x)

    x = random.normal(size=(4, 3))
    record(golden, 'map_fn', mapped, [(x, 0.5)])
    record(golden, 'scan', scanned, [(x,)])
    record(golden, 'foldl', folded, [(x, np.float64(0.5))])
    record(golden, 'dynamic_rnn by hand', recurrent, [(random.normal(size=(5, 2, 4)), random.normal(size=(4, 3)), random.normal(size=(3, 3)))])
    record(golden, 'cond in map_fn', mapped_branches, [(random.normal(size=6), 0.25)])
