"""Recurrent networks: dynamic_rnn and its relatives over cells that are written out, as TensorFlow 1.x writes them."""
import numpy as np
import tensorflow as tf

from control_flow import CLOSE, gives, record
from writer import tf1

BATCH, TIME, INPUTS, UNITS = 2, 4, 3, 2


def cases(golden):
    record(golden, [_basic, _lstm, _gru, _basic_lengths, _lstm_lengths, _time_major, _one_at_a_time, _static, _static_lengths, _bidirectional, _raw,
                    _stacked, _no_steps, _basic_gradient, _lstm_gradient, _gru_gradient, _lstm_lengths_gradient], shortens=True)


class Cell:
    """The interface of a cell for dynamic_rnn. Weights are constants if `random` is given, else variables."""
    state_size = output_size = UNITS

    def __init__(self, parts, random=None, use_resource=True):
        self.parts, self.random, self.use_resource = parts, random, use_resource

    def zero_state(self, batch_size, dtype):
        return tf1.zeros([batch_size, UNITS], dtype)

    def linear(self, name, inputs, h, parts, bias=0.1):
        shape = [int(inputs.shape[-1]) + UNITS, parts * UNITS]
        if self.random is not None:
            with tf1.init_scope():
                kernel = tf.constant(self.weights(shape), name=name)
            return tf1.nn.bias_add(tf1.matmul(tf1.concat([inputs, h], 1), kernel), tf.constant(bias, shape=[parts * UNITS]))
        kernel = tf1.get_variable(f'{name}_kernel', initializer=fixed(shape), use_resource=self.use_resource)
        offset = tf1.get_variable(f'{name}_bias', shape[1:], initializer=tf1.constant_initializer(bias), use_resource=self.use_resource)
        return tf1.nn.bias_add(tf1.matmul(tf1.concat([inputs, h], 1), kernel), offset)

    def weights(self, shape):
        return (self.random.standard_normal(shape) * 0.6).astype(np.float32)


def fixed(shape):
    """Weights that look random and are the same everywhere."""
    return (np.sin(np.arange(1, 1 + np.prod(shape)) * 12.9898) * 0.5).reshape(shape).astype(np.float32)


class Basic(Cell):
    def __call__(self, inputs, h, scope=None):
        h = tf1.tanh(self.linear('basic', inputs, h, 1))
        return h, h


class LSTM(Cell):
    state_size = (UNITS, UNITS)

    def zero_state(self, batch_size, dtype):
        return tuple(super(LSTM, self).zero_state(batch_size, dtype) for _ in range(2))

    def __call__(self, inputs, state, scope=None):
        c, h = state
        i, j, f, o = tf1.split(self.linear('lstm', inputs, h, 4), 4, axis=1)
        c = c * tf1.sigmoid(f + 1.0) + tf1.sigmoid(i) * tf1.tanh(j)
        h = tf1.tanh(c) * tf1.sigmoid(o)
        return h, (c, h)


class GRU(Cell):
    def __call__(self, inputs, h, scope=None):
        r, u = tf1.split(tf1.sigmoid(self.linear('gates', inputs, h, 2, 1.0)), 2, axis=1)
        h = u * h + (1 - u) * tf1.tanh(self.linear('candidate', inputs, r * h, 1))
        return h, h


def _x(random, time_major=False):
    shape = [TIME, BATCH, INPUTS] if time_major else [BATCH, TIME, INPUTS]
    x = tf1.placeholder(np.float32, shape, 'x')
    return x, {x: random.standard_normal(shape).astype(np.float32)}


def _run(case, cell, random, gradient=False, **options):
    """dynamic_rnn, with constants as weights."""
    x, feeds = _x(random, options.get('time_major', False))
    y, state = tf1.nn.dynamic_rnn(cell(1, random), x, dtype=tf.float32, **options)
    states = list(state) if isinstance(state, tuple) else [state]
    gradients = tf1.gradients([y * y, *states], x) if gradient else []
    gives(case, [y, *states, *gradients], feeds, tolerance=CLOSE)


def _basic(case, random):
    """dynamic_rnn of a basic cell"""
    _run(case, Basic, random)


def _lstm(case, random):
    """dynamic_rnn of an LSTM"""
    _run(case, LSTM, random)


def _gru(case, random):
    """dynamic_rnn of a GRU"""
    _run(case, GRU, random)


def _basic_lengths(case, random):
    """dynamic_rnn with sequence_length"""
    _run(case, Basic, random, sequence_length=[3, 1])


def _lstm_lengths(case, random):
    """dynamic_rnn of an LSTM with fed lengths, of all and of no steps"""
    x, feeds = _x(random)
    lengths = tf1.placeholder(np.int32, [BATCH], 'lengths')
    y, state = tf1.nn.dynamic_rnn(LSTM(1, random), x, sequence_length=lengths, dtype=tf.float32)
    for value in ([4, 2], [0, 3], [0, 0]):
        gives(case, [y, *state], {**feeds, lengths: np.int32(value)}, tolerance=CLOSE)


def _time_major(case, random):
    """dynamic_rnn whose first dimension is time"""
    _run(case, GRU, random, time_major=True)


def _one_at_a_time(case, random):
    """dynamic_rnn of one parallel iteration, with swap_memory"""
    _run(case, Basic, random, gradient=True, parallel_iterations=1, swap_memory=True)


def _static(case, random):
    """static_rnn"""
    x, feeds = _x(random)
    ys, state = tf1.nn.static_rnn(Basic(1, random), tf1.unstack(x, axis=1), dtype=tf.float32)
    gives(case, [tf1.stack(ys, 1), state], feeds, tolerance=CLOSE)


def _static_lengths(case, random):
    """static_rnn with sequence_length, whose steps are conditionals"""
    x, feeds = _x(random)
    lengths = tf1.placeholder(np.int32, [BATCH], 'lengths')
    ys, state = tf1.nn.static_rnn(Basic(1, random), tf1.unstack(x, axis=1)[:3], dtype=tf.float32, sequence_length=lengths)
    fetches = [tf1.stack(ys, 1), state]
    fetches += tf1.gradients(fetches, x)
    for value in ([3, 1], [2, 2], [0, 1]):
        gives(case, fetches, {**feeds, lengths: np.int32(value)}, tolerance=CLOSE)


def _bidirectional(case, random):
    """bidirectional_dynamic_rnn"""
    x, feeds = _x(random)
    ys, states = tf1.nn.bidirectional_dynamic_rnn(Basic(1, random), GRU(1, random), x, sequence_length=[4, 2], dtype=tf.float32)
    gives(case, [*ys, *states], feeds, tolerance=CLOSE)


def _raw(case, random):
    """raw_rnn, whose cell reads its own result"""
    cell = Basic(1, random)
    start = tf1.placeholder(np.float32, [BATCH, INPUTS], 'start')

    def loop(time, output, state, loop_state):
        finished = time >= tf.constant([3, 2])
        if output is None:
            return finished, start, cell.zero_state(BATCH, tf.float32), None, None
        return finished, tf1.concat([output, output[:, :1]], 1), state, output, None
    ys, state, _ = tf1.nn.raw_rnn(cell, loop)
    gives(case, [ys.stack(), state], {start: random.standard_normal((BATCH, INPUTS)).astype(np.float32)}, tolerance=CLOSE)


def _stacked(case, random):
    """dynamic_rnn over the results of dynamic_rnn"""
    x, feeds = _x(random)
    y, _ = tf1.nn.dynamic_rnn(LSTM(1, random), x, dtype=tf.float32, scope='first')
    y, state = tf1.nn.dynamic_rnn(GRU(1, random), y, dtype=tf.float32, scope='second')
    gives(case, [y, state], feeds, tolerance=CLOSE)


def _no_steps(case, random):
    """dynamic_rnn of as many steps as are fed"""
    x = tf1.placeholder(np.float32, [BATCH, None, INPUTS], 'x')
    y, state = tf1.nn.dynamic_rnn(Basic(1, random), x, dtype=tf.float32)
    for steps in (1, 5, 0):
        gives(case, [y, state], {x: random.standard_normal((BATCH, steps, INPUTS)).astype(np.float32)}, tolerance=CLOSE)


def _basic_gradient(case, random):
    """the gradient of dynamic_rnn of a basic cell"""
    _run(case, Basic, random, gradient=True)


def _lstm_gradient(case, random):
    """the gradient of dynamic_rnn of an LSTM"""
    _run(case, LSTM, random, gradient=True)


def _gru_gradient(case, random):
    """the gradient of dynamic_rnn of a GRU"""
    _run(case, GRU, random, gradient=True)


def _lstm_lengths_gradient(case, random):
    """the gradient of dynamic_rnn of an LSTM with sequence_length"""
    _run(case, LSTM, random, gradient=True, sequence_length=[2, 4])
