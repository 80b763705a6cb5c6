"""Gradients that a round of a loop of TensorFlow 1.x asks for: of one of its values with respect to others, or to what all rounds
share. The graphs have no gradients yet: where TensorFlow's loop reads one, that of the file reads the value itself (its `readers`)."""
import numpy as np
import tensorflow as tf

from flow_gradients import NEAR
from writer import _message, tf1


class _Program:
    """Builds a loop for TensorFlow, or without its gradients for the file."""

    def __init__(self, differentiates):
        self.differentiates = differentiates

    def gradients(self, y, xs):
        if self.differentiates:
            return [tf.convert_to_tensor(dx) for dx in tf1.gradients(y, xs)]
        self.y, self.xs = tf1.identity(y), xs
        self.readers = [tf1.identity(x) for x in xs]
        return self.readers


def cases(golden):
    tf1.disable_control_flow_v2()
    tf1.disable_resource_variables()
    random = golden.random

    def descent(g, x, n):
        def body(i, y):
            return i + 1, y - 0.1 * g.gradients(tf1.reduce_sum(tf1.sin(y) * y), [y])[0]
        return tf1.while_loop(lambda i, y: i < n, body, (0, x))[1]

    def invariant(g, x, w):
        def body(i, s):
            dw, = g.gradients(tf1.reduce_sum(tf1.tanh(s * w)), [w])
            return i + 1, s + dw
        return tf1.while_loop(lambda i, s: i < 3, body, (0, x))[1]

    def both(g, x, w):
        def body(i, a, b):
            da, dw = g.gradients(tf1.tanh(tf1.matmul(a, w)) * b, [a, w])
            return i + 1, a - da, b + dw
        return tf1.add_n(tf1.while_loop(lambda i, *_: i < 3, body, (0, x, tf1.ones_like(w)))[1:])

    def hessian(g, x):
        """As tf.hessians does it: the rounds differentiate what is computed around the loop."""
        first = tf1.gradients(tf1.reduce_prod(x) * tf1.reduce_sum(tf1.exp(x)), x)[0]

        def body(i, rows):
            return i + 1, rows.write(i, g.gradients(first[i], [x])[0])
        n = tf1.size(x)
        return tf1.while_loop(lambda i, _: i < n, body, (0, tf.TensorArray(x.dtype, n)))[1].stack()

    def branch(g, x, n):
        def body(i, y):
            z = tf1.cond(tf1.equal(i % 2, 0), lambda: y * y * x, lambda: tf1.sin(y) + x)
            dy, dx = g.gradients(z, [y, x])
            return i + 1, y - 0.1 * dy + 0.2 * dx
        return tf1.while_loop(lambda i, y: i < n, body, (0, tf1.ones_like(x)))[1]

    def inside_of_branch(g, x, n):
        def body(i, y):
            def gradient():
                here = tf1.identity(y)
                return g.gradients(here * here * x, [here])[0]
            return i + 1, tf1.cond(i < 2, gradient, lambda: tf1.sin(y))
        return tf1.while_loop(lambda i, y: i < n, body, (0, tf1.ones_like(x)))[1]

    def inner_loop(g, x, n):
        def body(i, y):
            z = tf1.while_loop(lambda k, z: k < i + 1, lambda k, z: (k + 1, tf1.sin(z) * y * x), (0, y))[1]
            dy, dx = g.gradients(z, [y, x])
            return i + 1, y + 0.3 * dy - 0.1 * dx
        return tf1.while_loop(lambda i, y: i < n, body, (0, tf1.ones_like(x)))[1]

    def in_inner_loop(g, x, n):
        """With respect to values of the inner loop, of the outer one, and of neither."""
        def body(i, y):
            def inner(k, z):
                dx, dy, dz = g.gradients(tf1.tanh(z * y) * x, [x, y, z])
                return k + 1, z - 0.1 * dz + 0.2 * dy - 0.3 * dx
            return i + 1, y + tf1.while_loop(lambda k, z: k < 2, inner, (0, tf1.ones_like(x)))[1]
        return tf1.while_loop(lambda i, y: i < n, body, (0, tf1.ones_like(x)))[1]

    def mapped(g, x, w):
        return tf1.map_fn(lambda row: g.gradients(tf1.reduce_sum(tf1.sin(row * w) * row), [row])[0], x)

    def arrays(g, x, n):
        def body(i, y):
            z = tf1.reduce_sum(tf1.map_fn(lambda v: v * v * tf1.sin(x), y))
            dy, dx = g.gradients(z, [y, x])
            return i + 1, y - 0.1 * dy + 0.1 * dx
        return tf1.while_loop(lambda i, y: i < n, body, (0, tf1.ones([2], x.dtype)))[1]

    def loop_before(g, x, n):
        """The gradient leads out of the loop and through another one; TensorFlow's Python fails to build that."""
        power = tf1.while_loop(lambda k, z: k < 3, lambda k, z: (k + 1, z * x), (0, x))[1]

        def body(i, y):
            return i + 1, y + 0.1 * g.gradients(y * power, [x])[0]
        return tf1.while_loop(lambda i, y: i < n, body, (0, tf1.ones_like(x)))[1]

    def in_condition(g, x, w):
        def go(y):
            return g.gradients(y * y * w, [w])[0] < 50
        return tf1.while_loop(go, lambda y: y * x, (x,))

    vector, matrix = random.normal(size=3), random.normal(size=(2, 2))
    _record(golden, 'descent', descent, [(vector, 4), (vector, 0)])
    _record(golden, 'with respect to what all rounds share', invariant, [(vector, random.normal(size=3))])
    _record(golden, 'with respect to both', both, [(matrix, random.normal(size=(2, 2)))])
    _record(golden, 'hessian', hessian, [(vector,)])
    _record(golden, 'through a branch', branch, [(0.5, 3), (1.5, 1)])
    _record(golden, 'inside of a branch', inside_of_branch, [(0.5, 4)])
    _record(golden, 'through a loop in the round', inner_loop, [(0.5, 3), (0.75, 1)])
    _record(golden, 'in a loop in a loop', in_inner_loop, [(0.5, 3)])
    _record(golden, 'map_fn', mapped, [(random.normal(size=(3, 2)), random.normal(size=2))])
    _record(golden, 'through arrays', arrays, [(0.5, 3)])
    _record(golden, 'through a loop before the loop', loop_before, [(0.75, 3)], closed_form=lambda x, n: (1 + 0.1 * 4 * x ** 3) ** n)
    _record(golden, 'in the condition', in_condition, [(1.5, 2.0)])


def _built(program, build, values):
    xs = [tf1.placeholder(value.dtype, value.shape, f'x{i}') for i, value in enumerate(values)]
    return xs, tf1.identity(build(program, *xs), 'y')


def _record(golden, name, build, steps, closed_form=None):
    steps = [[np.int32(value) if isinstance(value, int) else np.asarray(value) for value in step] for step in steps]
    with golden.graph(name) as case:
        program = _Program(False)
        _built(program, build, steps[0])
        case.freeze()
        names = [[f'{value.op.name}:{value.value_index}' for value in values] for values in ([program.y], [], program.xs)]
        case.gradients = _message(*enumerate(names, 1), (4, [reader.op.name for reader in program.readers]))
    with tf1.Graph().as_default(), tf1.Session() as session:
        xs, y = _built(_Program(not closed_form), build, steps[0])
        for step in steps:
            value = closed_form(*step) if closed_form else session.run(y, dict(zip(xs, step)))
            case.record({f'x{i}': value for i, value in enumerate(step)}, {'y:0': value}, tolerance=NEAR)
    golden.cases[-1] = case.message()
