"""Partial runs, callables, timeouts, and graphs that grow between runs."""
import tensorflow.compat.v1 as tf
from report import fails, show


def partial(session):
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in 'abc')
    first, second = tf.add(a, b, name='first'), None
    second = tf.multiply(first, c, name='second')
    handle = session.partial_run_setup([first, second], [a, b, c])
    show('first', session.partial_run(handle, first, {a: 1.0, b: 2.0}))
    show('second', session.partial_run(handle, second, {c: 17.0}))
    fails('again', session.partial_run, handle, second, {c: 18.0})
    handle = session.partial_run_setup([second], [a, b, c])
    fails('too early', session.partial_run, handle, second, {a: 1.0, b: 2.0})
    fails('not in the setup', session.partial_run, handle, first, {})
    fails('unknown handle', session.partial_run, 'none', first, {a: 1.0, b: 1.0})


def callables(session):
    x, y = tf.placeholder(tf.float32, [2], name='x'), tf.placeholder(tf.float32, [2], name='y')
    call = session.make_callable([x + y, {'product': x * y}], [x, y])
    show('call', call([1.0, 2.0], [3.0, 4.0]))
    show('call again', call([5.0, 6.0], [7.0, 8.0]))
    fails('too few', call, [1.0, 2.0])
    options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
    traced = session.make_callable(tf.reduce_sum(x), [x], accept_options=True)
    show('with options', traced([1.0, 2.0], options=options, run_metadata=metadata))
    show('its devices', sorted({device.device for device in metadata.step_stats.dev_stats}))
    show('many', [session.make_callable(x * i, [x])([1.0, 1.0]) for i in range(3)])


def timeouts(session):
    forever = tf.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 1000, [0])
    # The client and the server both watch the deadline, and their words differ.
    fails('timeout', session.run, forever, options=tf.RunOptions(timeout_in_ms=200), wording=False)
    show('still there', session.run(tf.constant(1)))


def growth(session):
    a = tf.constant([1.0, 2.0], name='base')
    show('1', session.run(a))
    for i in range(5):
        a = tf.identity(a * 2.0, name=f'step{i}')
        show(f'{i + 2}', session.run(a))
    v = tf.get_variable('grown', initializer=a)
    session.run(v.initializer)
    show('colocated', session.run(tf.assign_add(v, a)))

    @tf.function
    def square(x):
        return x * x

    show('function', session.run(square(v)))
    show('gradient', session.run(tf.gradients(square(v) + v, v)))
    show('again', session.run(square(square(a))))


def main(target, folder):
    for part in partial, callables, timeouts, growth:
        with tf.Graph().as_default(), tf.Session(target) as session:
            part(session)
