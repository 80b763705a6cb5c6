"""Gradients through tf.cond and tf.while_loop as TensorFlow 1.x writes them: with Switch and Merge, and frames. The graphs have no
gradients yet; both sides add them."""
import numpy as np

from writer import Tolerance, tf1

NEAR = Tolerance(float64=dict(relative=1e-12), float32=dict(to_largest=1e-5))


def cases(golden):
    tf1.disable_control_flow_v2()
    tf1.disable_resource_variables()
    for function in (_conditionals, _loops, _nested, _programs):
        function(golden)


def record(golden, name, build, feeds):
    """`build` makes y of placeholders for the first set of feeds; each set is a step, with a random gradient of y."""
    with golden.graph(name) as case:
        feeds = [[np.int32(value) if isinstance(value, int) and value is not True and value is not False else np.asarray(value) for value in step]
                 for step in feeds]
        xs = [tf1.placeholder(value.dtype, value.shape, f'x{i}') for i, value in enumerate(feeds[0])]
        y = tf1.identity(build(*xs), 'y')
        floating = [x for x in xs if x.dtype.is_floating]
        values = [dict(zip(xs, step)) for step in feeds]
        dy = tf1.placeholder(y.dtype, None, 'dy')
        case.freeze()
        case.add_gradients([y], floating, [dy])
        fetches = {'y:0': y} | {f'dx:{i}': dx for i, dx in enumerate(case.dx)}
        for step in values:
            shape = np.shape(case.run(y, step))
            case.step(fetches, step | {dy: golden.random.uniform(0.5, 2, shape).astype(y.dtype.as_numpy_dtype)}, tolerance=NEAR)
            case.expect_success()


def _conditionals(golden):
    def simple(x, z):
        return tf1.cond(x < z, lambda: x * x * z, lambda: tf1.sin(x) + z)

    def one_side(x, z):
        return tf1.cond(x < z, lambda: tf1.exp(x), lambda: z)

    def constant(x):
        return tf1.cond(x < 1, lambda: tf1.constant(3.0, tf1.float64), lambda: x * x)

    def matrices(flag, a, b):
        return tf1.cond(flag, lambda: tf1.matmul(a, b), lambda: tf1.matmul(a, a) + tf1.matmul(b, b, transpose_b=True))

    def several(x, z):
        first, second = tf1.cond(x < z, lambda: (x * z, tf1.sin(z)), lambda: (x + z, x * x))
        return first * second * x

    def nested(x, z):
        return tf1.cond(x < 1, lambda: tf1.cond(z < 1, lambda: x * z, lambda: x * x * z) * x,
                        lambda: tf1.cond(z < x, lambda: tf1.sin(x) * z, lambda: x))

    def chained(x, z):
        a = tf1.cond(x < 1, lambda: x * z, lambda: x + z)
        return tf1.cond(a < 1.1, lambda: a * x, lambda: a * a * z)

    def broadcast(flag, x, z):
        return tf1.cond(flag, lambda: x * z, lambda: z - x)

    def case(k, x):
        return tf1.case([(tf1.equal(k, 0), lambda: x * x), (tf1.equal(k, 1), lambda: tf1.sin(x)), (k > 5, lambda: x * 3)],
                        default=lambda: tf1.exp(x), exclusive=False)

    pairs = [(0.5, 2.0), (2.0, 0.5), (0.25, 0.5), (3.0, 4.0)]
    record(golden, 'cond', simple, pairs)
    record(golden, 'cond, each branch reads another value', one_side, pairs)
    record(golden, 'cond with a constant branch', constant, [(0.5,), (2.0,)])
    a, b = golden.random.normal(size=(2, 3, 3))
    record(golden, 'cond of matrix products', matrices, [(True, a, b), (False, a, b)])
    record(golden, 'cond with two results', several, pairs)
    record(golden, 'cond in cond', nested, pairs)
    record(golden, 'cond after cond', chained, pairs)
    x, z = golden.random.normal(size=(2, 3)), golden.random.normal(size=3)
    record(golden, 'cond that broadcasts', broadcast, [(True, x, z), (False, x, z)])
    record(golden, 'case', case, [(0, 1.5), (1, 1.5), (2, 1.5), (7, 1.5)])


def _loops(golden):
    def power(x, n):
        return tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, tf1.constant(1.0, tf1.float64)))[1]

    def several(x, z, n):
        def body(i, a, b, c):
            return i + 1, a * b, b + tf1.sin(c), c * x
        _, a, b, _ = tf1.while_loop(lambda i, a, b, c: i < n, body, (0, x, z, x * z))
        return a + b * z

    def until(x):
        return tf1.while_loop(lambda y: y < 100, lambda y: y * x + 1, (x,))

    def floats(x, z):
        """The counter is a float, which the value depends on."""
        def body(t, y):
            return t + 0.5, y * z + t * x
        return tf1.while_loop(lambda t, y: t < 3, body, (tf1.constant(0.0, tf1.float64), x))[1]

    def cell(inputs, w, u, b):
        steps = tf1.shape(inputs)[0]

        def body(t, h):
            return t + 1, tf1.tanh(tf1.matmul(inputs[t], w) + tf1.matmul(h, u) + b)
        start = tf1.zeros([2, 3], inputs.dtype)
        return tf1.reduce_sum(tf1.square(tf1.while_loop(lambda t, h: t < steps, body, (0, start))[1]))

    def unused(x, z, n):
        """One result is not read, one variable does not change."""
        _, y, kept, _ = tf1.while_loop(lambda i, a, b, c: i < n, lambda i, a, b, c: (i + 1, a * b + tf1.cos(a), b, c * 2), (0, x, z, z))
        return y * kept

    def growing(x, n):
        y = tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf1.concat([y, y * 2 + x], 0)), (0, tf1.reshape(x, [1])),
                           shape_invariants=(tf1.TensorShape([]), tf1.TensorShape([None])))[1]
        return tf1.reduce_sum(y * y)

    def two(x, n):
        y = tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, x))[1]
        return tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf1.sin(y) + x), (0, y))[1]

    def invariant(x, z, n):
        """What depends on nothing that changes is computed in the loop."""
        return tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * tf1.exp(-x * z) + x), (0, x))[1]

    counts = [(1.5, 3), (0.75, 0), (1.25, 1), (-0.5, 6)]
    record(golden, 'power', power, counts)
    record(golden, 'loop with four variables', several, [(0.5, 0.75, 4), (1.5, -0.5, 1), (0.5, 2.0, 0)])
    record(golden, 'loop until a bound', until, [(2.0,), (1.5,), (200.0,)])
    record(golden, 'loop with a counter of floats', floats, [(0.5, 0.75), (1.5, 2.0)])
    inputs = golden.random.normal(size=(5, 2, 4))
    record(golden, 'recurrent cell', cell, [(inputs, golden.random.normal(size=(4, 3)), golden.random.normal(size=(3, 3)), golden.random.normal(size=3))])
    record(golden, 'loop with what is not read', unused, [(0.5, 0.75, 3), (0.5, 0.75, 0)])
    record(golden, 'loop whose value grows', growing, [(0.5, 3), (0.5, 0)])
    record(golden, 'loop after loop', two, [(0.5, 3), (1.5, 1)])
    record(golden, 'loop with an invariant of its own', invariant, [(0.5, 1.5, 3), (0.5, 1.5, 1)])
    record(golden, 'power of matrices', lambda a, n: tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf1.matmul(y, a)), (0, a))[1],
            [(golden.random.normal(size=(3, 3)), 3)])
    inputs, *weights = [golden.random.normal(size=size).astype(np.float32) for size in [(5, 2, 4), (4, 3), (3, 3), 3]]
    record(golden, 'recurrent cell, float32', cell, [(inputs, *weights)])
    record(golden, 'power, float32', lambda x, n: tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, x))[1],
            [(np.float32(1.5), 3), (np.float32([1, 2, 3]).max(), 2)])


def _nested(golden):
    def cond_in_loop(x, n):
        def body(i, y):
            return i + 1, tf1.cond(tf1.equal(i % 2, 0), lambda: y * x, lambda: tf1.sin(y) + x * x)
        return tf1.while_loop(lambda i, y: i < n, body, (0, x))[1]

    def conds_in_loop(x, n):
        def body(i, y):
            def other():
                square = y * y
                return tf1.cond(y < 2, lambda: tf1.exp(square) * x, lambda: tf1.sqrt(square) / x)
            return i + 1, tf1.cond(tf1.equal(i % 3, 0), lambda: tf1.sin(y * x), other)
        return tf1.while_loop(lambda i, y: i < n, body, (0, x))[1]

    def loop_in_cond(x, n):
        def loop():
            return tf1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, x))[1]
        return tf1.cond(x < 1, loop, lambda: tf1.sin(x))

    def loop_in_loop(x, z, n):
        def body(i, y):
            inner = tf1.while_loop(lambda k, v: k < i, lambda k, v: (k + 1, v * x + tf1.sin(y)), (0, y * z))[1]
            return i + 1, inner * z
        return tf1.while_loop(lambda i, y: i < n, body, (0, x))[1]

    def three_loops(x, n):
        def innermost(k, v):
            return k + 1, tf1.while_loop(lambda m, w: m < 2, lambda m, w: (m + 1, w * x + tf1.sin(w)), (0, v))[1]

        def body(i, y):
            return i + 1, tf1.while_loop(lambda k, v: k <= i, innermost, (0, y))[1] * 0.5
        return tf1.while_loop(lambda i, y: i < n, body, (0, x))[1]

    def loop_in_cond_in_loop(x, n):
        def body(i, y):
            def loop():
                return tf1.while_loop(lambda k, v: k < i, lambda k, v: (k + 1, tf1.sin(v) * x), (0, y))[1]
            return i + 1, tf1.cond(tf1.equal(i % 2, 1), loop, lambda: y * x + 1)
        return tf1.while_loop(lambda i, y: i < n, body, (0, x))[1]

    def weights_in_branch(w, v, n):
        def body(i, h):
            return i + 1, tf1.cond(i < 2, lambda: tf1.tanh(tf1.matmul(h, w)), lambda: h + v)
        return tf1.while_loop(lambda i, h: i < n, body, (0, v))[1]

    record(golden, 'cond in loop', cond_in_loop, [(0.5, 4), (1.5, 1), (1.5, 0)])
    record(golden, 'conds in loop', conds_in_loop, [(0.5, 5), (1.5, 4)])
    record(golden, 'cond in loop, float32', cond_in_loop, [(np.float32(0.5), 4), (np.float32(1.5), 1)])
    record(golden, 'loop in cond', loop_in_cond, [(0.5, 3), (1.5, 3), (0.5, 0)])
    record(golden, 'loop in loop', loop_in_loop, [(0.5, 0.75, 4), (1.5, 0.5, 1), (1.5, 0.5, 0)])
    record(golden, 'three loops', three_loops, [(0.5, 3)])
    record(golden, 'loop in cond in loop', loop_in_cond_in_loop, [(0.5, 5), (0.5, 1)])
    w, v = golden.random.normal(size=(2, 3, 3))
    record(golden, 'weights in a branch of a loop', weights_in_branch, [(w, v, 4), (w, v, 1)])


class _Program:
    """A random program of nested conds and loops over scalars; all values stay small."""

    def __init__(self, random):
        self.random = random

    def pick(self, values):
        return values[self.random.integers(len(values))]

    def simple(self, values):
        a, b = self.pick(values), self.pick(values)
        return [lambda: tf1.tanh(a * b), lambda: tf1.sin(a), lambda: a + tf1.tanh(b), lambda: a * 0.75, lambda: tf1.sin(a - b),
                lambda: tf1.constant(self.random.uniform(-1, 1), tf1.float64)][self.random.integers(6)]()

    def branch(self, values, depth):
        a, b = self.pick(values), self.pick(values)
        return tf1.cond(a < b + self.random.uniform(-1, 1), lambda: self.block(values, depth), lambda: self.block(values, depth))

    def loop(self, values, depth):
        rounds, count = self.random.integers(0, 4), self.random.integers(1, 3)
        starts = [self.pick(values) for _ in range(count)]

        def body(i, *variables):
            inside = values + list(variables)
            return (i + 1, *[self.block(inside, depth) for _ in variables])
        _, *ends = tf1.while_loop(lambda i, *_: i < rounds, body, (0, *starts))
        return sum(ends)

    def block(self, values, depth):
        values = list(values)
        for _ in range(self.random.integers(1, 4)):
            kind = self.random.integers(4) if depth > 0 else 0
            make = self.branch if kind == 1 else self.loop if kind == 2 else None
            values.append(make(values, depth - 1) if make else self.simple(values))
        return tf1.identity(tf1.tanh(values[-1] + self.pick(values)))


def _programs(golden):
    for i in range(12):
        program = _Program(golden.random)
        feeds = [tuple(golden.random.uniform(-2, 2, 3)) for _ in range(2)]
        record(golden, f'random program {i}', lambda *xs: program.block(list(xs), 3) + sum(xs), feeds)
