"""Loops and conditionals with the gradients that TensorFlow 1.x's Python writes: backward loops, and stacks of the values that they
need."""
import numpy as np
import tensorflow as tf

from control_flow import CLOSE, gives, record
from writer import tf1


def cases(golden):
    record(golden, [_power, _one_at_a_time, _no_rounds, _maximum, _matrix, _several, _unused, _counter, _captured_in_condition, _nested, _nested_triangle,
                    _cond_in_loop, _nested_cond_in_loop, _loop_in_cond, _loop_in_cond_in_loop, _two_loops, _loop_after_loop, _growing, _swapped,
                    _reduced, _arrays, _arrays_nested, _arrays_read_twice, _variables, _gathered, _stopped, _weighted, _shape_of_loop, _norms, _cumulative], shortens=True)


def _x(shape=(3,)):
    return tf1.placeholder(np.float32, shape, 'x')


X = np.float32([0.5, -1.25, 2])


def _with_gradients(case, y, feeds, steps=None):
    """The values and the gradients with regard to all floating feeds; `steps`: other feeds of further steps."""
    xs = [x for x in feeds if x.dtype.is_floating]
    fetches = [y, *[tf.convert_to_tensor(dx) for dx in tf1.gradients(y, xs)]]
    for more in [{}] + (steps or []):
        gives(case, fetches, {**feeds, **more}, tolerance=CLOSE)


def _power(case, random):
    """the gradient of a power"""
    x, n = _x(), tf1.placeholder(np.int32, [], 'n')
    y = tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [tf.constant(0), tf.ones([3])])[1]
    _with_gradients(case, y, {x: X, n: np.int32(3)}, [{n: np.int32(1)}, {n: np.int32(15)}])


def _one_at_a_time(case, random):
    """the gradient of a loop of one parallel iteration"""
    x = _x()
    y = tf1.while_loop(lambda i, y: i < 6, lambda i, y: (i + 1, tf1.sin(y) * 2), [tf.constant(0), x], parallel_iterations=1)[1]
    _with_gradients(case, y, {x: X})


def _no_rounds(case, random):
    """the gradient of a loop of no rounds"""
    x, n = _x(), tf1.placeholder(np.int32, [], 'n')
    y = tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [tf.constant(0), x])[1]
    _with_gradients(case, y, {x: X, n: np.int32(0)}, [{n: np.int32(2)}, {n: np.int32(0)}])


def _maximum(case, random):
    """the gradient of a loop with maximum_iterations"""
    x = _x()
    y = tf1.while_loop(lambda y: tf1.reduce_sum(tf1.abs(y)) < 100, lambda y: y * y + x, [x], maximum_iterations=4)
    _with_gradients(case, y, {x: X}, [{x: 10 * X}])


def _matrix(case, random):
    """the gradient with regard to a matrix that every round reads"""
    x, w, b = _x((2, 3)), tf1.placeholder(np.float32, [3, 3], 'w'), tf1.placeholder(np.float32, [3], 'b')
    y = tf1.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf1.tanh(tf1.matmul(h, w) + b)), [tf.constant(0), x])[1]
    _with_gradients(case, y * y, {x: random.standard_normal((2, 3)).astype(np.float32), w: random.standard_normal((3, 3)).astype(np.float32), b: X})


def _several(case, random):
    """the gradient of variables that depend on each other"""
    x = _x()
    loop = tf1.while_loop(lambda i, a, b: i < 5, lambda i, a, b: (i + 1, a * b, tf1.cos(a)), [tf.constant(0), x, 2 * x])
    _with_gradients(case, loop[1] + loop[2], {x: X})


def _unused(case, random):
    """the gradient of one variable of several"""
    x = _x()
    loop = tf1.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * a, b + a), [tf.constant(0), x, 2 * x])
    _with_gradients(case, loop[1], {x: X})


def _counter(case, random):
    """the gradient of a body that computes with the counter"""
    x = _x()
    y = tf1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x + tf1.cast(i, tf.float32) * x), [tf.constant(0), x])[1]
    _with_gradients(case, y, {x: X})


def _captured_in_condition(case, random):
    """the gradient of a loop whose rounds the values decide"""
    x = _x()
    y = tf1.while_loop(lambda y: tf1.reduce_sum(y) > tf1.reduce_max(x), lambda y: y / 3 - 1, [tf1.abs(x) * 10])
    _with_gradients(case, y, {x: X}, [{x: X * 9}])


def _nested(case, random):
    """the gradient of a loop in a loop"""
    x = _x()

    def outer(i, y):
        return i + 1, tf1.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x + y), [tf.constant(0), y])[1]
    _with_gradients(case, tf1.while_loop(lambda i, y: i < 3, outer, [tf.constant(0), x])[1], {x: X})


def _nested_triangle(case, random):
    """the gradient of a loop whose rounds depend on the round of the loop around it"""
    x, n = _x(), tf1.placeholder(np.int32, [], 'n')

    def outer(i, y):
        return i + 1, tf1.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, tf1.sin(z) + x), [tf.constant(0), y])[1]
    _with_gradients(case, tf1.while_loop(lambda i, y: i < n, outer, [tf.constant(0), x])[1], {x: X, n: np.int32(4)}, [{n: np.int32(0)}, {n: np.int32(1)}])


def _cond_in_loop(case, random):
    """the gradient of a conditional in a loop"""
    x = _x()

    def body(i, y):
        return i + 1, tf1.cond(tf1.equal(i % 2, 0), lambda: y * x, lambda: tf1.sin(y))
    _with_gradients(case, tf1.while_loop(lambda i, y: i < 5, body, [tf.constant(0), x])[1], {x: X})


def _nested_cond_in_loop(case, random):
    """the gradient of conditionals in a conditional in a loop"""
    x = _x()

    def body(i, y):
        return i + 1, tf1.cond(i < 3, lambda: tf1.cond(tf1.reduce_sum(y) > 0, lambda: y * x, lambda: y * y), lambda: y + x)
    _with_gradients(case, tf1.while_loop(lambda i, y: i < 5, body, [tf.constant(0), x])[1], {x: X}, [{x: -X}])


def _loop_in_cond(case, random):
    """the gradient of a loop in a conditional"""
    x, p = _x(), tf1.placeholder(np.bool_, [], 'p')
    y = tf1.cond(p, lambda: tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [tf.constant(0), x])[1], lambda: tf1.exp(x))
    _with_gradients(case, y, {x: X, p: np.bool_(True)}, [{p: np.bool_(False)}])


def _loop_in_cond_in_loop(case, random):
    """the gradient of a loop in a conditional in a loop"""
    x = _x()

    def body(i, y):
        return i + 1, tf1.cond(tf1.equal(i, 1), lambda: tf1.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x), [tf.constant(0), y])[1], lambda: y * 0.5)
    _with_gradients(case, tf1.while_loop(lambda i, y: i < 3, body, [tf.constant(0), x])[1], {x: X})


def _two_loops(case, random):
    """the gradient of two loops side by side"""
    x = _x()
    one = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [tf.constant(0), x])[1]
    other = tf1.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf1.exp(y * 0.1)), [tf.constant(0), x])[1]
    _with_gradients(case, one * other, {x: X})


def _loop_after_loop(case, random):
    """the gradient of a loop that begins with the result of another"""
    x = _x()
    first = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [tf.constant(0), x])[1]
    _with_gradients(case, tf1.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf1.sin(y) + first), [tf.constant(0), first])[1], {x: X})


def _growing(case, random):
    """the gradient of a tensor that grows"""
    x = _x()
    y = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf1.concat([y * 2, x], 0)), [tf.constant(0), x],
                       shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]
    _with_gradients(case, y * y, {x: X})


def _swapped(case, random):
    """the gradient of a loop with swap_memory"""
    x = _x((2, 2))
    y = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf1.matmul(y, y)), [tf.constant(0), x], swap_memory=True)[1]
    _with_gradients(case, y, {x: np.float32([[0.5, 1], [0.25, -0.5]])})


def _reduced(case, random):
    """the gradient of sums of shapes that broadcast"""
    x, m = _x(), tf1.placeholder(np.float32, [None, 3], 'm')
    y = tf1.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf1.reduce_mean(m * x + s)), [tf.constant(0), tf.constant(1.0)])[1]
    _with_gradients(case, y, {x: X, m: random.standard_normal((2, 3)).astype(np.float32)}, [{m: random.standard_normal((4, 3)).astype(np.float32)}])


def _arrays(case, random):
    """the gradient of a loop that reads one array and writes another"""
    x = _x((None, 2))
    n = tf1.shape(x)[0]
    source, result = tf.TensorArray(tf.float32, n).unstack(x), tf.TensorArray(tf.float32, n)
    loop = tf1.while_loop(lambda i, s, ta: i < n, lambda i, s, ta: (i + 1, s + source.read(i) ** 2, ta.write(i, s * 2)), [tf.constant(0), tf.zeros([2]), result])
    _with_gradients(case, loop[2].stack() * 3 + loop[1], {x: random.standard_normal((4, 2)).astype(np.float32)}, [{x: np.ones((1, 2), np.float32)}])


def _arrays_nested(case, random):
    """the gradient of arrays in a loop in a loop"""
    x = _x((3, 2))

    def row(i, ta):
        inner = tf1.while_loop(lambda j, s, t: j < 2, lambda j, s, t: (j + 1, s * x[i, j], t.write(j, s + x[i])),
                               [tf.constant(0), tf.constant(2.0), tf.TensorArray(tf.float32, 2)])
        return i + 1, ta.write(i, inner[2].stack() * inner[1])
    loop = tf1.while_loop(lambda i, ta: i < 3, row, [tf.constant(0), tf.TensorArray(tf.float32, 3)])
    _with_gradients(case, loop[1].stack(), {x: random.standard_normal((3, 2)).astype(np.float32)})


def _arrays_read_twice(case, random):
    """the gradient of elements that several rounds read"""
    x = _x()
    source = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    y = tf1.while_loop(lambda i, s: i < 6, lambda i, s: (i + 1, s * source.read(i % 3) + source.read(0)), [tf.constant(0), tf.constant(1.0)])[1]
    _with_gradients(case, y, {x: X})


def _variables(case, random):
    """the gradient with regard to variables of both kinds"""
    v = tf1.get_variable('v', initializer=X, use_resource=False)
    r = tf1.get_variable('r', initializer=X * 2, use_resource=True)
    y = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v + r), [tf.constant(0), tf.ones([3])])[1]
    gradients = tf1.gradients(y, [v, r])
    case.freeze()
    gives(case, [], targets=[v.initializer, r.initializer])
    gives(case, [y, *gradients], tolerance=CLOSE)


def _gathered(case, random):
    """the gradient of rows that the rounds look up"""
    x, i = _x((4, 2)), tf1.placeholder(np.int32, [None], 'i')
    y = tf1.while_loop(lambda k, s: k < tf1.size(i), lambda k, s: (k + 1, s * tf1.gather(x, i[k]) + 1), [tf.constant(0), tf.ones([2])])[1]
    _with_gradients(case, y, {x: random.standard_normal((4, 2)).astype(np.float32), i: np.int32([0, 2, 2])})


def _stopped(case, random):
    """the gradient stops in a body"""
    x = _x()
    y = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf1.stop_gradient(y) * x + y), [tf.constant(0), x])[1]
    _with_gradients(case, y, {x: X})


def _weighted(case, random):
    """the gradient of a loop with a given gradient of its result"""
    x, dy = _x(), tf1.placeholder(np.float32, [3], 'dy')
    y = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), [tf.constant(0), x])[1]
    gives(case, [y, *tf1.gradients(y, x, dy)], {x: X, dy: np.float32([1, 10, 100])}, tolerance=CLOSE)


def _shape_of_loop(case, random):
    """the gradient of reductions and shapes in a body"""
    x = _x((None, 3))
    y = tf1.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y / tf1.reduce_sum(tf1.exp(y), 1, keepdims=True) + tf1.reshape(x, tf1.shape(y))),
                       [tf.constant(0), x])[1]
    _with_gradients(case, y, {x: random.standard_normal((2, 3)).astype(np.float32)})


def _norms(case, random):
    """the gradient of a softmax that rounds sharpen"""
    x = _x((2, 3))
    y = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf1.nn.softmax(y * 3)), [tf.constant(0), x])[1]
    _with_gradients(case, y[:, 0], {x: random.standard_normal((2, 3)).astype(np.float32)})


def _cumulative(case, random):
    """the gradient of slices and joins in a body"""
    x = _x((4, 2))

    def body(i, y):
        first, second = tf1.split(y, 2)
        return i + 1, tf1.concat([second * x[:2], tf1.transpose(tf1.transpose(first) + 1)], 0)
    _with_gradients(case, tf1.while_loop(lambda i, y: i < 3, body, [tf.constant(0), x])[1], {x: random.standard_normal((4, 2)).astype(np.float32)})
