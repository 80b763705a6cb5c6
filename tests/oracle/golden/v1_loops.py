"""Loops of tf.while_loop as TensorFlow 1.x writes them."""
import numpy as np
import tensorflow as tf

from control_flow import CLOSE, allow_all_fetches, fails, gives, record
from writer import tf1


def cases(golden):
    record(golden, [_counter, _one_at_a_time, _kinds_of_values, _fibonacci, _pairs, _three_deep, _triangle, _captured, _maximum, _no_rounds,
                    _nested_no_rounds, _growing, _limits, _collatz, _newton, _powers, _products, _sequence, _side_by_side, _waits_inside,
                    _waits_outside, _reference, _resource, _swapped, _strings, _same_twice, _from_loop_to_loop, _exit_of_zero_rounds,
                    _print, _invariant_expression, _rows, _cumulative, _empty_body, _fed_bound_int64])
    record(golden, [_division, _range, _assertion, _nan, _shapes, _uninitialized, _fetch_inside, _feed_inside])


def _counter(case, random):
    """a loop that counts"""
    gives(case, tf1.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)]))


def _one_at_a_time(case, random):
    """a loop of one parallel iteration"""
    x = tf1.placeholder(np.float32, [3], 'x')
    loop = tf1.while_loop(lambda i, y: i < 25, lambda i, y: (i + 1, y * 0.9 + x), [tf.constant(0), x], parallel_iterations=1)
    for _ in range(2):
        gives(case, loop, {x: random.standard_normal(3).astype(np.float32)}, tolerance=CLOSE)


def _kinds_of_values(case, random):
    """a loop with variables of several types"""
    start = [tf.constant(0), tf.constant(1.5, tf.float64), tf.constant([True, False]), tf.constant(1, tf.int64), tf.constant([[1 + 2j]], tf.complex64)]
    gives(case, tf1.while_loop(lambda i, d, b, l, c: tf1.logical_and(i < 7, l < 100),
                               lambda i, d, b, l, c: (i + 1, d * d / 2, tf1.logical_not(b), l * 3, c * (1 - 1j)), start), tolerance=CLOSE)


def _fibonacci(case, random):
    """Fibonacci numbers: variables change places"""
    n = tf1.placeholder(np.int32, [], 'n')
    loop = tf1.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + b), [tf.constant(0), tf.constant(0, tf.int64), tf.constant(1, tf.int64)])
    for count in (0, 1, 2, 30, 80):
        gives(case, loop[1], {n: np.int32(count)})


def _pairs(case, random):
    """a loop in a loop"""
    def row(i, total):
        return i + 1, tf1.while_loop(lambda j, t: j < 4, lambda j, t: (j + 1, t + i * j), [tf.constant(0), total])[1]
    gives(case, tf1.while_loop(lambda i, t: i < 5, row, [tf.constant(0), tf.constant(0)]))


def _three_deep(case, random):
    """a loop in a loop in a loop, one parallel iteration inside"""
    def inner(i, j):
        return lambda k, t: (k + 1, t + 100 * i + 10 * j + k)

    def middle(i):
        return lambda j, t: (j + 1, tf1.while_loop(lambda k, t: k < 2, inner(i, j), [tf.constant(0), t], parallel_iterations=1)[1])

    def outer(i, t):
        return i + 1, tf1.while_loop(lambda j, t: j < 3, middle(i), [tf.constant(0), t], parallel_iterations=2)[1]
    gives(case, tf1.while_loop(lambda i, t: i < 4, outer, [tf.constant(0), tf.constant(0)]))


def _triangle(case, random):
    """a loop whose rounds depend on the round of the loop around it"""
    n = tf1.placeholder(np.int32, [], 'n')

    def row(i, t):
        return i + 1, tf1.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + 1), [tf.constant(0), t])[1]
    loop = tf1.while_loop(lambda i, t: i < n, row, [tf.constant(0), tf.constant(0)])
    for count in (0, 1, 6, 12):
        gives(case, loop, {n: np.int32(count)})


def _captured(case, random):
    """a loop with captured constants and placeholders"""
    w, x = tf.constant(random.standard_normal((3, 3)).astype(np.float32)), tf1.placeholder(np.float32, [2, 3], 'x')
    bias = tf1.placeholder(np.float32, [3], 'bias')
    loop = tf1.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf1.tanh(tf1.matmul(h, w) + bias)), [tf.constant(0), x])
    gives(case, loop[1], {x: random.standard_normal((2, 3)).astype(np.float32), bias: np.float32([0.1, -0.2, 0.3])}, tolerance=CLOSE)


def _maximum(case, random):
    """a loop with maximum_iterations"""
    most = tf1.placeholder(np.int32, [], 'most')
    loop = tf1.while_loop(lambda x: x < 1000, lambda x: x * 2, [tf.constant(1)], maximum_iterations=most)
    for count in (0, 5, 50):
        gives(case, loop, {most: np.int32(count)})


def _no_rounds(case, random):
    """a loop of no rounds"""
    x = tf1.placeholder(np.float32, None, 'x')
    gives(case, tf1.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y * 2), [tf.constant(0), x]), {x: np.float32([1, 2])})


def _nested_no_rounds(case, random):
    """a loop in a loop of no rounds"""
    n = tf1.placeholder(np.int32, [], 'n')

    def row(i, t):
        return i + 1, tf1.while_loop(lambda j, t: j < 3, lambda j, t: (j + 1, t + i), [tf.constant(0), t])[1]
    loop = tf1.while_loop(lambda i, t: i < n, row, [tf.constant(0), tf.constant(5)])
    gives(case, loop[1], {n: np.int32(0)})
    gives(case, loop[1], {n: np.int32(2)})


def _growing(case, random):
    """a tensor that grows, with shape invariants"""
    n = tf1.placeholder(np.int32, [], 'n')
    loop = tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf1.concat([y, [[i, i * i]]], 0)), [tf.constant(0), tf.zeros([1, 2], tf.int32)],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])
    fetches = [loop[1], tf1.reshape(loop[1], [-1]), tf1.shape(loop[1])]
    for count in (0, 3, 8):
        gives(case, fetches, {n: np.int32(count)})


def _limits(case, random):
    """a loop whose condition reads a vector"""
    x = tf1.placeholder(np.float32, [None], 'x')
    loop = tf1.while_loop(lambda y: tf1.reduce_sum(tf1.abs(y)) > 1, lambda y: y / 2, [x])
    for size in (1, 4, 9):
        gives(case, loop, {x: random.uniform(-50, 50, size).astype(np.float32)}, tolerance=CLOSE)


def _collatz(case, random):
    """a conditional in a loop"""
    n = tf1.placeholder(np.int64, [], 'n')
    loop = tf1.while_loop(lambda n, rounds: n > 1,
                          lambda n, rounds: (tf1.cond(tf1.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), rounds + 1), [n, tf.constant(0)])
    for start in (1, 7, 27):
        gives(case, loop, {n: np.int64(start)})


def _newton(case, random):
    """square roots, until they are near enough"""
    x = tf1.placeholder(np.float64, [None], 'x')
    loop = tf1.while_loop(lambda y: tf1.reduce_any(tf1.abs(y * y - x) > 1e-9), lambda y: (y + x / y) / 2, [tf1.ones_like(x)], back_prop=False)
    gives(case, loop, {x: np.array([2.0, 9.0, 1e-2])}, tolerance=CLOSE)
    gives(case, loop, {x: np.array([])})


def _powers(case, random):
    """powers of a matrix by squaring"""
    m, n = tf1.placeholder(np.float64, [2, 2], 'm'), tf1.placeholder(np.int32, [], 'n')

    def body(n, base, result):
        return n // 2, tf1.matmul(base, base), tf1.cond(tf1.equal(n % 2, 1), lambda: tf1.matmul(result, base), lambda: tf1.identity(result))
    loop = tf1.while_loop(lambda n, b, r: n > 0, body, [n, m, tf.constant(np.eye(2))])
    for count in (0, 1, 10, 13):
        gives(case, loop[2], {m: np.array([[1.0, 1.0], [1.0, 0.0]]), n: np.int32(count)})


def _products(case, random):
    """a loop with many variables"""
    x = tf1.placeholder(np.float32, [8], 'x')
    loop = tf1.while_loop(lambda i, *v: i < 6, lambda i, *v: (i + 1, *[a * 0.5 + b for a, b in zip(v, v[1:] + v[:1])]), [tf.constant(0), *tf1.unstack(x)])
    gives(case, loop[1:], {x: random.standard_normal(8).astype(np.float32)}, tolerance=CLOSE)


def _sequence(case, random):
    """a loop that counts as far as another one came"""
    first = tf1.while_loop(lambda i: i * i < 50, lambda i: i + 1, [tf.constant(0)])
    gives(case, [first, tf1.while_loop(lambda i, s: i < first, lambda i, s: (i + 1, s + i), [tf.constant(0), tf.constant(0)])[1]])


def _side_by_side(case, random):
    """two loops that do not know of each other"""
    x = tf1.placeholder(np.float32, [2], 'x')
    one = tf1.while_loop(lambda i, y: i < 7, lambda i, y: (i + 1, y + x), [tf.constant(0), x], name='one')
    other = tf1.while_loop(lambda i, y: i < 9, lambda i, y: (i + 1, y - x), [tf.constant(0), x], name='other')
    gives(case, [one[1] + other[1]], {x: np.float32([1, 2])})
    gives(case, [other[1]], {x: np.float32([1, 2])})


def _waits_inside(case, random):
    """operations of a body that wait for others"""
    def body(i, s):
        square = tf1.multiply(i, i)
        with tf1.control_dependencies([square]):
            nothing = tf1.no_op()
        with tf1.control_dependencies([nothing]):
            return i + 1, tf1.identity(s + 2)
    gives(case, tf1.while_loop(lambda i, s: i < 6, body, [tf.constant(0), tf.constant(0)]))


def _waits_outside(case, random):
    """a loop that waits for an assignment, and one that a read waits for"""
    with tf1.variable_scope('', use_resource=True):
        v = tf1.get_variable('v', initializer=1.0)
    with tf1.control_dependencies([v.assign(5.0)]):
        loop = tf1.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + v.read_value()), [tf.constant(0), tf.constant(0.0)])
    with tf1.control_dependencies([loop[1].op]):
        after = v.assign_add(1.0, read_value=False)
    with tf1.control_dependencies([after]):
        last = v.read_value()
    gives(case, [], targets=[v.initializer])
    gives(case, [loop[1], last])


def _reference(case, random):
    """a reference variable that every round changes"""
    v = tf1.get_variable('v', initializer=[1.0, 2.0], use_resource=False)

    def body(i):
        with tf1.control_dependencies([tf1.assign_add(v, [0.5, 1.0])]):
            return i + 1
    loop = tf1.while_loop(lambda i: i < 5, body, [tf.constant(0)], parallel_iterations=1)
    case.freeze()
    gives(case, [], targets=[v.initializer])
    for _ in range(2):
        gives(case, loop)
        gives(case, v.value())


def _resource(case, random):
    """a resource variable that every round changes and reads"""
    v = tf1.get_variable('v', initializer=[1.0, 2.0], use_resource=True)

    def body(i, s):
        with tf1.control_dependencies([v.assign_add([0.5, 1.0])]):
            return i + 1, s + v.read_value()
    loop = tf1.while_loop(lambda i, s: i < 5, body, [tf.constant(0), tf.zeros([2])], parallel_iterations=1)
    read = v.read_value()
    gives(case, [], targets=[v.initializer])
    for _ in range(2):
        gives(case, loop[1])
        gives(case, read)


def _swapped(case, random):
    """a loop with swap_memory"""
    x = tf1.placeholder(np.float32, [2, 2], 'x')
    gives(case, tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf1.matmul(y, y)), [tf.constant(0), x], swap_memory=True)[1],
          {x: np.float32([[0.5, 1], [0.25, -0.5]])})


def _strings(case, random):
    """a string that becomes longer"""
    words = tf.constant(['a', 'bc', '', 'd'])
    gives(case, tf1.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, tf1.string_join([s, words[i]], '-')), [tf.constant(0), tf.constant('n')]))


def _same_twice(case, random):
    """one tensor begins two variables"""
    x = tf1.placeholder(np.float32, [2], 'x')
    gives(case, tf1.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a + 1, b * 2), [tf.constant(0), x, x]), {x: np.float32([3, 5])})


def _from_loop_to_loop(case, random):
    """a round begins with what the loop in it left in the round before"""
    def body(i, y):
        inner = tf1.while_loop(lambda j, z: j < 3, lambda j, z: (j + 1, z * 2 - tf1.cast(i, tf.float32)), [tf.constant(0), y])
        return i + inner[0], inner[1]
    gives(case, tf1.while_loop(lambda i, y: i < 10, body, [tf.constant(0), tf.constant([1.0, 3.0])]))


def _exit_of_zero_rounds(case, random):
    """a loop in the branch that is not taken"""
    p = tf1.placeholder(np.bool_, [], 'p')
    y = tf1.cond(p, lambda: tf1.while_loop(lambda i: i < 10, lambda i: i + 3, [tf.constant(0)]), lambda: tf.constant(-1))
    gives(case, y, {p: np.bool_(True)})
    gives(case, y, {p: np.bool_(False)})


def _print(case, random):
    """a loop that prints"""
    def body(i):
        return tf1.Print(i, [i], first_n=0) + 1
    gives(case, tf1.while_loop(lambda i: i < 3, body, [tf.constant(0)]))


def _invariant_expression(case, random):
    """what a body computes from captured values alone"""
    x = tf1.placeholder(np.float32, [3], 'x')
    gives(case, tf1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y + tf1.reduce_sum(x * x) * tf1.constant(2.0)), [tf.constant(0), tf.constant(0.0)])[1],
          {x: np.float32([1, 2, 3])})


def _rows(case, random):
    """a loop over the rows of a matrix"""
    x = tf1.placeholder(np.float32, [None, 3], 'x')
    loop = tf1.while_loop(lambda i, y: i < tf1.shape(x)[0], lambda i, y: (i + 1, tf1.maximum(y, x[i])), [tf.constant(0), tf.fill([3], -np.inf)])
    for rows in (0, 1, 5):
        gives(case, loop[1], {x: random.standard_normal((rows, 3)).astype(np.float32)})


def _cumulative(case, random):
    """a loop with a slice of what was computed"""
    x = tf1.placeholder(np.float32, [6], 'x')
    loop = tf1.while_loop(lambda i, y: i < 6, lambda i, y: (i + 1, tf1.concat([y[:i], [y[i] + y[i - 1]], y[i + 1:]], 0)), [tf.constant(1), x],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    gives(case, loop[1], {x: np.float32([1, 2, 3, 4, 5, 6])})


def _empty_body(case, random):
    """a body that returns a variable as it is"""
    x = tf1.placeholder(np.float32, [2], 'x')
    gives(case, tf1.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y), [tf.constant(0), x]), {x: np.float32([1, 2])})


def _fed_bound_int64(case, random):
    """many rounds"""
    n = tf1.placeholder(np.int64, [], 'n')
    loop = tf1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, (s * 31 + i) % 1000003), [tf.constant(0, tf.int64), tf.constant(7, tf.int64)])
    for count in (100, 5000):
        gives(case, loop[1], {n: np.int64(count)})


# --- loops that fail ---

def _division(case, random):
    """an integer divided by zero in the third round"""
    loop = tf1.while_loop(lambda i, y: i < 10, lambda i, y: (i + 1, y + 12 // (2 - i)), [tf.constant(0), tf.constant(0)])
    fails(case, loop[1])


def _range(case, random):
    """an index behind the end in the last round"""
    x, n = tf1.placeholder(np.float32, [None], 'x'), tf1.placeholder(np.int32, [], 'n')
    loop = tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + tf1.gather(x, i)), [tf.constant(0), tf.constant(0.0)])
    feed = np.float32([1, 2, 3])
    fails(case, loop[1], {x: feed, n: np.int32(4)})
    gives(case, loop[1], {x: feed, n: np.int32(3)})
    fails(case, loop[1], {x: feed, n: np.int32(5)})


def _assertion(case, random):
    """an assertion in a loop"""
    limit = tf1.placeholder(np.int32, [], 'limit')

    def body(i):
        with tf1.control_dependencies([tf1.Assert(i < limit, ['too far:', i])]):
            return i + 1
    loop = tf1.while_loop(lambda i: i < 5, body, [tf.constant(0)])
    fails(case, loop, {limit: np.int32(3)})
    gives(case, loop, {limit: np.int32(9)})


def _nan(case, random):
    """a number that is none in an inner loop"""
    def row(i, y):
        return i + 1, tf1.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf1.check_numerics(z / (2.0 - tf1.cast(i, tf.float32)), 'inner')),
                                     [tf.constant(0), y])[1]
    fails(case, tf1.while_loop(lambda i, y: i < 4, row, [tf.constant(0), tf.constant(1.0)])[1])


def _shapes(case, random):
    """shapes that fit for two rounds only"""
    x = tf1.placeholder(np.float32, None, 'x')
    loop = tf1.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, tf1.concat([tf1.add(y, x), y[:1]], 0)[:tf1.minimum(i + 3, 4)]), [tf.constant(0), x],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])
    fails(case, loop[1], {x: np.float32([1, 2, 3])})


def _uninitialized(case, random):
    """a variable without a value in a loop"""
    v = tf1.get_variable('v', initializer=1.0, use_resource=False)
    loop = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + v), [tf.constant(0), tf.constant(0.0)])
    fails(case, loop[1])
    gives(case, [], targets=[v.initializer])
    gives(case, loop[1])


def _fetch_inside(case, random):
    """a fetch inside of a loop"""
    loop = tf1.while_loop(lambda i: i < 3, lambda i: tf1.add(i, 1, name='next'), [tf.constant(0)])
    allow_all_fetches(case.graph)
    inside = next(op for op in case.graph.get_operations() if op.name.endswith('next')).outputs[0]
    fails(case, inside)
    gives(case, loop)


def _feed_inside(case, random):
    """a feed inside of a loop"""
    loop = tf1.while_loop(lambda i: i < 3, lambda i: tf1.add(i, 1, name='next'), [tf.constant(0)])
    allow_all_fetches(case.graph)
    inside = next(op for op in case.graph.get_operations() if op.name.endswith('next')).outputs[0]
    fails(case, loop, {inside: np.int32(7)})
    gives(case, loop)
