"""Steps whose nodes are on two tasks: loops, branches, strings, large tensors, and variables of either task.

The second task is that of DEVICE; without it there is one.
"""
import os

import numpy as np
import tensorflow.compat.v1 as tf
from report import show

HERE = '/job:worker/task:0'


def there():
    return tf.device(os.environ.get('DEVICE') or HERE)


def here():
    return tf.device(HERE)


def loops(session):
    def body(i, a, b):
        with there():
            c = a * 2.0 + b
        with here():
            d = c - tf.cast(i, tf.float32)
        with there():
            e = tf.sqrt(tf.abs(d))
        return i + 1, d, e

    for name, device in (('here', here), ('there', there)):
        with device():
            start = [tf.constant(0), tf.constant(1.0), tf.constant(0.5)]
            show(f'loop from {name}', session.run(tf.while_loop(lambda i, a, b: i < 7, body, start)))
            never = tf.while_loop(lambda i, a, b: i < 0, body, start)
            show(f'loop that is not entered from {name}', session.run(never))

    def outer(i, total):
        def inner(j, sum_):
            with there():
                return j + 1, sum_ + j * i
        with here():
            _, sum_ = tf.while_loop(lambda j, s: j < 4, inner, [tf.constant(0), tf.constant(0)])
        return i + 1, total + sum_

    with here():
        show('nested', session.run(tf.while_loop(lambda i, t: i < 5, outer, [tf.constant(0), tf.constant(0)])))


def streams(session):
    """Two chains go through both tasks in opposite orders, and meet at the end."""
    x = tf.placeholder(tf.float32, [], name='x')
    chains = []
    for first, second in ((here, there), (there, here)):
        value = x
        for i in range(6):
            with (first if i % 2 == 0 else second)():
                value = tf.sin(value) + i
        chains.append(value)
    with here():
        met = tf.add_n(chains)
    show('chains', session.run([met, *chains], {x: 0.25}))


def branches(session):
    p = tf.placeholder(tf.bool, [], name='p')
    with there():
        a = tf.constant([1.0, 2.0])

    def yes():
        with here():
            return tf.reduce_sum(a) * 10.0

    def no():
        with there():
            return tf.reduce_prod(a) - 1.0

    with here():
        chosen = tf.cond(p, yes, no)
        also = tf.cond(p, no, lambda: chosen + 1.0)
    for value in (True, False):
        show(f'branch of {value}', session.run([chosen, also], {p: value}))


def variables(session):
    with there():
        v = tf.get_variable('far', initializer=tf.constant([1.0, 2.0, 3.0]), use_resource=False)
        r = tf.get_variable('far_resource', initializer=tf.constant([[1.0], [2.0]]), use_resource=True)
        slots = tf.get_variable('rows', [4, 2], initializer=tf.zeros_initializer())
    with here():
        w = tf.get_variable('near', initializer=tf.constant(2.0))
    session.run(tf.global_variables_initializer())
    with here():
        product = tf.reduce_sum(v * w)
        with tf.control_dependencies([product]):
            update = tf.assign_add(v, tf.fill([3], w))
        with tf.control_dependencies([update]):
            after = tf.identity(v) * 1.0
    show('before and after', session.run([product, after]))
    loss = tf.reduce_sum(tf.square(tf.matmul([[1.0, 2.0]], r) * w - 1.0))
    train = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=[r, w])
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(train)
    show('trained', session.run([r, w, loss]))
    with here():
        rows = tf.IndexedSlices(tf.ones([2, 2]) * w, tf.constant([3, 1]), dense_shape=tf.constant([4, 2]))
    session.run(tf.scatter_add(slots, rows.indices, rows.values))
    show('rows', session.run(slots))


def values(session):
    with there():
        texts = tf.constant(['', 'a', 'longer than a few bytes', 'zero \0 inside'])
        numbers = [tf.constant(value) for value in (np.int8([-1]), np.complex64([1 + 2j]), np.bool_([True, False]))]
        none = tf.zeros([0, 3])
        large = tf.tile(tf.range(1000.0), [500])
    with here():
        show('texts', session.run(tf.strings.join([texts, '!'])))
        show('numbers', session.run([tf.identity(value) for value in numbers]))
        show('no elements', session.run(tf.concat([none, none], 0)))
        show('large', session.run(tf.reduce_sum(tf.cast(large, tf.float64))))
    with there():
        bad = tf.gather(tf.constant([1.0, 2.0]), tf.cast(tf.reduce_sum(large), tf.int32))
    with here():
        doubled = bad * 2.0
    try:
        session.run(doubled)
    except tf.errors.InvalidArgumentError as error:  # whose words name the task that noticed it first
        show('error there', 'indices = 249750000 is not in [0, 2)' in error.message)


def queues(session):
    with there():
        queue = tf.FIFOQueue(4, [tf.float32], shapes=[[]], shared_name='far_queue')
        size = queue.size()
    with here():
        put = queue.enqueue_many([tf.constant([1.0, 2.0, 3.0])])
        taken = queue.dequeue() * 10.0
    session.run(put)
    show('taken', [session.run(taken), session.run(taken)])
    show('left', session.run(size))


def main(target, folder):
    for part in (loops, streams, branches, variables, values, queues):
        with tf.Graph().as_default(), tf.Session(target) as session:
            part(session)
