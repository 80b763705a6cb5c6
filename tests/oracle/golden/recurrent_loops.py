"""Recurrent cells in loops over the rows of a tensor: what the optimizer makes one node of (src/optimizer/fuse_recurrences.h), and
cells that are near that. Keras' own cells are in its surveys."""
import tensorflow as tf

from writer import TO_LARGEST, tf1

ROUNDS, DEPTH, UNITS = 4, 3, 5


class Cell:
    """A cell's weights are constants; `units` are the widths of its states."""

    def __init__(self, random, depth, units):
        self.random, self.depth, self.units = random, depth, units

    def weights(self, *shape):
        return tf.constant(self.random.standard_normal(shape).astype('f') * 0.5)

    def step(self, x, states):
        """The output and the next states."""
        raise NotImplementedError


class Simple(Cell):
    def __init__(self, random, depth, units):
        super().__init__(random, depth, [units])
        self.w, self.u, self.b = self.weights(depth, units), self.weights(units, units), self.weights(units)

    def step(self, x, states):
        h = tf.tanh(tf.matmul(x, self.w) + tf.matmul(states[0], self.u) + self.b)
        return h, [h]


class Lstm(Cell):
    """With peepholes."""

    def __init__(self, random, depth, units):
        super().__init__(random, depth, [units, units])
        self.w, self.u, self.b = self.weights(depth, 4 * units), self.weights(units, 4 * units), self.weights(4 * units)
        self.peepholes = self.weights(3, units)

    def step(self, x, states):
        h, c = states
        i, f, g, o = tf.split(tf.matmul(x, self.w) + tf.matmul(h, self.u) + self.b, 4, 1)
        p = self.peepholes
        c = tf.sigmoid(f + c * p[1]) * c + tf.sigmoid(i + c * p[0]) * tf.tanh(g)
        h = tf.sigmoid(o + c * p[2]) * tf.tanh(c)
        return h, [h, c]


class Gru(Cell):
    def __init__(self, random, depth, units, activation=tf.tanh, sizes=3):
        super().__init__(random, depth, [units])
        self.w, self.u, self.b = self.weights(depth, 3 * units), self.weights(units, 3 * units), self.weights(3 * units)
        self.activation, self.sizes = activation, sizes

    def step(self, x, states):
        h, = states
        xz, xr, xh = tf.split(tf.matmul(x, self.w) + self.b, self.sizes, -1)
        hz, hr, hh = tf.split(tf.matmul(h, self.u), self.sizes, -1)
        z = tf.sigmoid(xz + hz)
        h = z * h + (1 - z) * self.activation(xh + tf.sigmoid(xr + hr) * hh)
        return h, [h]


class ResetInFront(Gru):
    def step(self, x, states):
        h, = states
        units = self.units[0]
        xz, xr, xh = tf.split(tf.matmul(x, self.w) + self.b, 3, -1)
        hz, hr = tf.split(tf.matmul(h, self.u[:, :2 * units]), [units, units], -1)
        z = tf.sigmoid(xz + hz)
        h = z * h + (1 - z) * tf.tanh(xh + tf.matmul(tf.sigmoid(xr + hr) * h, self.u[:, 2 * units:]))
        return h, [h]


class Gated(Cell):
    """A gate of one column, and a state of one."""

    def __init__(self, random, depth, units):
        super().__init__(random, depth, [units, 1])
        self.w, self.u, self.v = self.weights(depth, units), self.weights(units, units), self.weights(units, 1)

    def step(self, x, states):
        h, t = states
        gate = tf.sigmoid(tf.matmul(h, self.v))
        h = gate * tf.tanh(tf.matmul(x, self.w) + tf.matmul(h, self.u)) + (1 - gate) * h + t * 0.1
        return h, [h, t * 0.9 + gate]


class Stack(Cell):
    def __init__(self, random, depth, cells):
        self.cells = []
        for make in cells:
            self.cells.append(make(random, depth, UNITS - len(self.cells)))
            depth = self.cells[-1].units[0]
        super().__init__(random, depth, [width for cell in self.cells for width in cell.units])

    def step(self, x, states):
        after = []
        for cell in self.cells:
            x, own = cell.step(x, states[len(after):len(after) + len(cell.units)])
            after += own
        return x, after


CELLS = {
    'LSTM with peepholes': Lstm,
    'GRU, cut by SplitV': lambda *sizes: Gru(*sizes, sizes=[UNITS] * 3),
    'GRU, swish': lambda *sizes: Gru(*sizes, activation=tf.nn.silu),
    'GRU, reset in front of the product': ResetInFront,
    'a gate of one column': Gated,
    'a stack of three': lambda random, depth, units: Stack(random, depth, [Lstm, Gru, Simple]),
}


def record(golden, name, make):
    with golden.graph(name) as case:
        case.shortens = True
        cell = make(golden.random, DEPTH, UNITS)
        x = tf1.placeholder(tf.float32, [ROUNDS, 1, DEPTH], name='x')
        first = [tf1.placeholder(tf.float32, [1, width], name=f'state{i}') for i, width in enumerate(cell.units)]
        rows = tf.TensorArray(tf.float32, ROUNDS).unstack(x)

        def body(i, out, *states):
            y, states = cell.step(rows.read(i), states)
            return (i + 1, out.write(i, y), *states)

        _, out, *last = tf.while_loop(lambda i, *_: i < ROUNDS, body, (0, tf.TensorArray(tf.float32, ROUNDS), *first))
        fetches = [out.stack(), *last]
        feeds = {tensor: golden.random.standard_normal(tensor.shape).astype('f') for tensor in (x, *first)}
        case.freeze()
        case.step({f'{case.name_of(t.op)}:{t.value_index}': t for t in fetches}, feeds, tolerance=TO_LARGEST)
        case.expect_success()


def cases(golden):
    first_control_flow = not tf1.control_flow_v2_enabled()
    tf1.enable_control_flow_v2()
    for name, make in CELLS.items():
        record(golden, name, make)
    if first_control_flow:
        tf1.disable_control_flow_v2()
