"""Loops, branches, TensorArrays and functions of both generations, and gradients through them."""
import tensorflow.compat.v1 as tf
from report import NODES, fails, show


def loops():
    i, total = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)), [0, 0.0])
    x = tf.constant([1.0, 2.0])
    power = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
    nested = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + 2), [0, s])[1]), [0, 0])[1]
    grown = tf.while_loop(lambda v: tf.size(v) < 9, lambda v: tf.concat([v, v], 0), [tf.ones([2])],
                          shape_invariants=[tf.TensorShape([None])])
    return {'counted': [i, total], 'power': power, 'gradient': tf.gradients(power, x), 'nested': nested,
            'grown': grown}


def branches(flag):
    a, b = tf.constant(2.0), tf.constant(3.0)
    value = tf.cond(flag, lambda: a * b, lambda: tf.cond(b > 5.0, lambda: a, lambda: a - b))
    chosen = tf.switch_case(tf.cast(flag, tf.int32) + 1, [lambda: a, lambda: b, lambda: a + 10.0])
    case = tf.case([(a > b, lambda: a), (flag, lambda: b * 5.0)], default=lambda: tf.constant(-1.0))
    return {'cond': value, 'gradients': tf.gradients(value, [a, b]), 'switch': chosen, 'case': case}


def arrays():
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False)
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    array = array.unstack(x * 2)
    out = tf.while_loop(
        lambda i, t: i < 4, lambda i, t: (i + 1, t.write(i, array.read(3 - i) ** 2)),
        [0, tf.TensorArray(tf.float32, 4)])[1]
    mapped = tf.map_fn(lambda v: v * v + 1, x)
    scanned = tf.scan(lambda s, v: s * 0.5 + v, x)
    folded = tf.foldl(lambda s, v: s + v, x)
    return {'stacked': out.stack(), 'gradients': tf.gradients(out.stack(), x), 'mapped': mapped,
            'mapped gradient': tf.gradients(mapped, x), 'scanned': scanned, 'scanned gradient': tf.gradients(scanned, x),
            'folded': folded, 'sizes': array.size()}


@tf.function
def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@tf.function
def cube(x):
    return x * x * x


def functions():
    x = tf.constant([1.0, -2.0])
    y = cube(x) + cube(2 * x)
    return {'collatz': collatz(tf.constant(27)), 'cubes': y, 'gradient': tf.gradients(y, x),
            'second': tf.gradients(tf.gradients(y, x), x), 'numbers': tf.map_fn(lambda n: n * 2, tf.range(5))}


def run(target, is_v2):
    (tf.enable_control_flow_v2 if is_v2 else tf.disable_control_flow_v2)()
    with tf.Graph().as_default(), tf.Session(target) as session:
        for label, fetches in ('loops', loops()), ('arrays', arrays()), ('functions', functions()):
            show(label, session.run(fetches))
        flag = tf.placeholder(tf.bool, [])
        taken = branches(flag)
        show('true', session.run(taken, {flag: True}))
        show('false', session.run(taken, {flag: False}))
        bad = tf.while_loop(lambda i: i < 5, lambda i: 1 + tf.gather([0, 1], i), [0], name='bad')
        fails('inside a loop', session.run, bad, end=NODES)


def main(target, folder):
    run(target, False)
    run(target, True)
    tf.disable_control_flow_v2()
