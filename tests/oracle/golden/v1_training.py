"""Training through loops, conditionals and recurrent networks: graphs as programs of TensorFlow 1.x export them, with reference and
with resource variables, several steps of each."""
import numpy as np
import tensorflow as tf

from control_flow import TRAINED, gives, record
from v1_recurrent import GRU, LSTM, Basic, fixed
from writer import tf1

STEPS = 6
OPTIMIZERS = {'gradient descent': lambda: tf1.train.GradientDescentOptimizer(0.1), 'Momentum': lambda: tf1.train.MomentumOptimizer(0.05, 0.9),
              'Adam': lambda: tf1.train.AdamOptimizer(0.05)}


def cases(golden):
    for model in (_power_series, _branches):
        for optimizer, make in OPTIMIZERS.items():
            for use_resource in (False, True):
                _record(golden, model, optimizer, make, use_resource)
    for use_resource, (optimizer, make) in zip((True, False, True), OPTIMIZERS.items()):
        _record(golden, _basic_rnn, optimizer, make, use_resource)
    others = [(_lstm, 'RMSProp', lambda: tf1.train.RMSPropOptimizer(0.02, 0.9, 0.5), False), (_lstm, 'Adam', OPTIMIZERS['Adam'], True),
              (_gru, 'Adagrad', lambda: tf1.train.AdagradOptimizer(0.2), False), (_scan, 'gradient descent', OPTIMIZERS['gradient descent'], True),
              (_map, 'Adam', OPTIMIZERS['Adam'], False), (_nested, 'Momentum', OPTIMIZERS['Momentum'], True)]
    for other in others:
        _record(golden, *other)
    record(golden, [_inside_a_loop, _every_other_step, _accumulated], shortens=True)


def _record(golden, model, optimizer, make, use_resource):
    def build(case, random):
        feeds, loss = model(random, use_resource)
        step = tf1.get_variable('step', initializer=tf.constant(0, tf.int64), trainable=False, use_resource=use_resource)
        train = make().minimize(loss, global_step=step)
        _train(case, loss, train, feeds)
        gives(case, step.value() if not use_resource else _only_read(case, 'step'))
    build.__doc__ = f'{model.__doc__}, {optimizer}, {"resource" if use_resource else "reference"} variables'
    record(golden, [build], shortens=True)


def _only_read(case, name):
    return case.graph.get_tensor_by_name(f'{name}/Read/ReadVariableOp:0')


def _train(case, loss, train, feeds):
    """Initialises, then trains; feeds: placeholder -> what makes its value."""
    initialize = tf1.global_variables_initializer()
    case.freeze(keep=['_class'])
    gives(case, [], targets=[initialize])
    for _ in range(STEPS):
        gives(case, loss, {x: make() for x, make in feeds.items()}, targets=[train], tolerance=TRAINED)


def _variable(name, shape, use_resource):
    return tf1.get_variable(name, initializer=fixed(shape), use_resource=use_resource)


def _normal(random, *shape):
    return tf1.placeholder(np.float32, shape, 'x'), lambda: random.standard_normal(shape).astype(np.float32)


def _power_series(random, use_resource):
    """the coefficients of a polynomial, summed up in a loop"""
    x, make = _normal(random, 5)
    c = _variable('coefficients', (4,), use_resource)
    y = tf1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x + c[i]), [tf.constant(0), tf.zeros([5])])[1]
    return {x: make}, tf1.reduce_mean((y - tf1.sin(x)) ** 2)


def _branches(random, use_resource):
    """one of two layers, as a batch decides"""
    x, make = _normal(random, 4, 3)
    w, v = _variable('w', (3, 2), use_resource), _variable('v', (3, 2), use_resource)
    y = tf1.cond(tf1.reduce_sum(x) > 0, lambda: tf1.nn.relu(tf1.matmul(x, w)), lambda: tf1.tanh(tf1.matmul(x, v)))
    return {x: make}, tf1.reduce_mean((y - x[:, :2]) ** 2)


def _recurrent(cell, random, use_resource, **options):
    x, make = _normal(random, 2, 3, 3)
    y, _ = tf1.nn.dynamic_rnn(cell(1, None, use_resource), x, dtype=tf.float32, **options)
    return {x: make}, tf1.reduce_mean((y - tf1.cumsum(x, 1)[:, :, :2]) ** 2)


def _basic_rnn(random, use_resource):
    """a basic cell"""
    return _recurrent(Basic, random, use_resource)


def _lstm(random, use_resource):
    """an LSTM with sequence_length"""
    return _recurrent(LSTM, random, use_resource, sequence_length=[3, 2])


def _gru(random, use_resource):
    """a GRU"""
    return _recurrent(GRU, random, use_resource)


def _scan(random, use_resource):
    """a recurrence in scan"""
    x, make = _normal(random, 4, 2)
    w = _variable('w', (2, 2), use_resource)
    y = tf1.scan(lambda h, r: tf1.tanh(tf1.matmul([h], w)[0] + r), x, initializer=tf.zeros([2]))
    return {x: make}, tf1.reduce_mean((y - 0.5 * x) ** 2)


def _map(random, use_resource):
    """a layer in map_fn, with rows that are looked up"""
    i = tf1.placeholder(np.int32, [3], 'i')
    table, w = _variable('table', (5, 2), use_resource), _variable('w', (2, 2), use_resource)
    y = tf1.map_fn(lambda r: tf1.matmul([r], w)[0], tf1.nn.embedding_lookup(table, i))
    return {i: lambda: random.integers(0, 5, 3).astype(np.int32)}, tf1.reduce_mean((y - 1) ** 2)


def _nested(random, use_resource):
    """a conditional in a loop in a loop"""
    x, make = _normal(random, 3)
    w = _variable('w', (3,), use_resource)

    def inner(j, y):
        return j + 1, tf1.cond(tf1.reduce_sum(y) > 0, lambda: tf1.sin(y * w), lambda: y + w)

    def outer(i, y):
        return i + 1, tf1.while_loop(lambda j, y: j < 2, inner, [tf.constant(0), y])[1]
    y = tf1.while_loop(lambda i, y: i < 2, outer, [tf.constant(0), x])[1]
    return {x: make}, tf1.reduce_mean((y - 0.5) ** 2)


def _inside_a_loop(case, random):
    """a loop of which every round is a step of training"""
    w = _variable('w', (3,), False)
    x, make = _normal(random, 3)

    def body(i, last):
        now = w.read_value()
        loss = tf1.reduce_sum((now * x - 1) ** 2)
        with tf1.control_dependencies([loss]):
            update = tf1.train.GradientDescentOptimizer(0.05).apply_gradients([(2 * (now * x - 1) * x, w)])
        with tf1.control_dependencies([update]):
            return i + 1, tf1.identity(loss)
    loss = tf1.while_loop(lambda i, last: i < 4, body, [tf.constant(0), tf.constant(0.0)], parallel_iterations=1)[1]
    _train(case, loss, tf1.no_op(), {x: make})


def _every_other_step(case, random):
    """two optimizers that take turns"""
    x, make = _normal(random, 4, 3)
    w = _variable('w', (3,), True)
    step = tf1.get_variable('step', initializer=0, trainable=False, use_resource=True)
    loss = tf1.reduce_mean((tf1.reduce_sum(x * w, 1) - 1) ** 2)
    gradients = tf1.gradients(loss, w)
    one, other = tf1.train.GradientDescentOptimizer(0.1), tf1.train.MomentumOptimizer(0.1, 0.5)
    train = tf1.cond(tf1.equal(step % 2, 0), lambda: one.apply_gradients([(gradients[0], w)]), lambda: other.apply_gradients([(gradients[0], w)]))
    with tf1.control_dependencies([train]):
        count = step.assign_add(1, read_value=False)
    _train(case, loss, count, {x: make})


def _accumulated(case, random):
    """gradients that a loop over parts of a batch adds up"""
    x, make = _normal(random, 6, 2)
    w = _variable('w', (2,), True)
    parts = tf1.reshape(x, [3, 2, 2])

    def body(i, total, dw):
        loss = tf1.reduce_mean((tf1.reduce_sum(parts[i] * w, 1) - 1) ** 2)
        return i + 1, total + loss, dw + tf1.gradients(loss, w)[0]
    _, loss, dw = tf1.while_loop(lambda i, total, dw: i < 3, body, [tf.constant(0), tf.constant(0.0), tf.zeros([2])])
    _train(case, loss, tf1.train.AdamOptimizer(0.05).apply_gradients([(dw / 3, w)]), {x: make})
