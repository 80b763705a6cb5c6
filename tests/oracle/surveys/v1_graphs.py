"""Graphs of TensorFlow 1 programs, with the results of steps that follow each other.

A graph is stored as a GraphDef, or as a MetaGraphDef with a checkpoint. Steps that fail are recorded with their
code. Queues are filled by steps that run their runners' operations, in place of threads.
"""
import inspect

import numpy as np
import tensorflow as tf

import recorder

v1 = tf.compat.v1
v1.disable_v2_behavior()
GRAPHS = {}
V = v1.get_variable


def graph(make):
    GRAPHS[make.__name__] = make
    return make


def floats(*shape, seed=1):
    return np.random.default_rng(seed).normal(0, 1, shape).astype('float32')


def integers(high, *shape, seed=1, dtype='int32'):
    return np.random.default_rng(seed).integers(0, high, shape).astype(dtype)


def feed(dtype, *shape, name=None):
    return v1.placeholder(dtype, shape, name)


def is_resource_variable(x):
    return isinstance(x, tf.Variable) and x.dtype.base_dtype == x.dtype


class Steps:
    """Runs steps, and lists them with their results."""

    def __init__(self, folder):
        self.folder = folder
        self.session = v1.Session()
        self.steps = []
        self.files = {}
        self.checkpoint = None

    def run(self, *fetches, **feeds):
        """Feeds are the names of placeholders. Operations are targets."""
        return self.feed({f'{name}:0': value for name, value in feeds.items()}, *fetches)

    def feed(self, feeds, *fetches):
        fetches = [x.value() if is_resource_variable(x) else x for x in fetches]  # its name is that of the handle
        tensors = [x for x in fetches if not isinstance(x, tf.Operation)]
        targets = [x for x in fetches if isinstance(x, tf.Operation)]
        names = [x if isinstance(x, str) else x.name for x in tensors]
        step = dict(feeds=recorder.named(feeds), fetches=names, targets=[x.name for x in targets])
        try:
            results = self.session.run([names, targets], feeds)[0]
            step['results'] = [recorder.described(value) for value in results]
        except tf.errors.OpError as error:
            step['error'] = error.error_code
            results = None
        self.steps.append(step)
        return results

    def init(self):
        self.run(v1.global_variables_initializer())

    def save(self):
        """From here on the variables come from a checkpoint beside the MetaGraphDef."""
        saver = v1.train.Saver()
        saver.save(self.session, str(self.folder / 'model.ckpt'))
        self.steps = []
        self.checkpoint = True

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        self.files[str(path)] = name
        return str(path)


def record(make, folder):
    with tf.Graph().as_default() as made:
        v1.set_random_seed(3)
        steps = Steps(folder)
        with steps.session:
            make(steps)
        if not steps.checkpoint:
            (folder / 'graph.pb').write_bytes(made.as_graph_def().SerializeToString())
    return dict(graph='model.ckpt.meta' if steps.checkpoint else 'graph.pb', files=steps.files, steps=steps.steps)


# --- variables and training ---


def regression(g, optimizer, use_resource=False, steps=4):
    x, t = feed(tf.float32, None, 3, name='x'), feed(tf.float32, None, 1, name='t')
    w = V('w', initializer=floats(3, 1), use_resource=use_resource)
    b = V('b', [1], initializer=v1.zeros_initializer(), use_resource=use_resource)
    loss = tf.reduce_mean(tf.square(x @ w + b - t))
    step = v1.train.get_or_create_global_step()
    train = optimizer.minimize(loss, step)
    g.init()
    for seed in range(steps):
        g.run(loss, train, x=floats(6, 3, seed=seed), t=floats(6, 1, seed=seed + 9))
    g.run(w, b, step)


OPTIMIZERS = {
    'gradient_descent': lambda: v1.train.GradientDescentOptimizer(.1),
    'momentum': lambda: v1.train.MomentumOptimizer(.1, .9),
    'nesterov': lambda: v1.train.MomentumOptimizer(.1, .9, use_nesterov=True),
    'adagrad': lambda: v1.train.AdagradOptimizer(.1),
    'adagrad_da': lambda: v1.train.AdagradDAOptimizer(.1, v1.train.get_or_create_global_step(), l1_regularization_strength=.01),
    'adadelta': lambda: v1.train.AdadeltaOptimizer(1.),
    'adam': lambda: v1.train.AdamOptimizer(.1),
    'ftrl': lambda: v1.train.FtrlOptimizer(.1, l1_regularization_strength=.01, l2_regularization_strength=.01),
    'rmsprop': lambda: v1.train.RMSPropOptimizer(.1, momentum=.9),
    'rmsprop_centered': lambda: v1.train.RMSPropOptimizer(.1, centered=True),
    'proximal_gradient_descent': lambda: v1.train.ProximalGradientDescentOptimizer(.1, l1_regularization_strength=.01),
    'proximal_adagrad': lambda: v1.train.ProximalAdagradOptimizer(.1, l2_regularization_strength=.01),
}
for name, made in OPTIMIZERS.items():
    for is_resource in (False, True):
        def optimizer_of(g, made=made, is_resource=is_resource):
            regression(g, made(), is_resource)
        optimizer_of.source = inspect.getsource(regression) + inspect.getsource(made)
        GRAPHS[f'optimizer_{name}{"_resource" if is_resource else ""}'] = optimizer_of


def sparse_training(g, optimizer, use_resource):
    ids = feed(tf.int32, None, name='ids')
    table = V('table', initializer=floats(6, 2), use_resource=use_resource)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2)
    train = optimizer.minimize(loss)
    g.init()
    for wanted in ([1, 1, 3], [0, 5], [3]):
        g.run(loss, train, ids=np.int32(wanted))
    g.run(table)


for name in ('gradient_descent', 'momentum', 'adagrad', 'adam', 'ftrl', 'rmsprop', 'adadelta'):
    def sparse_of(g, made=OPTIMIZERS[name], is_resource=name in ('adam', 'adagrad', 'rmsprop')):
        sparse_training(g, made(), is_resource)
    sparse_of.source = inspect.getsource(sparse_training) + inspect.getsource(OPTIMIZERS[name])
    GRAPHS[f'sparse_{name}'] = sparse_of


@graph
def moving_averages(g):
    x = feed(tf.float32, name='x')
    w = V('w', initializer=1.)
    average = v1.train.ExponentialMovingAverage(.9, num_updates=None, zero_debias=False)
    with tf.control_dependencies([v1.assign(w, x)]):
        update = average.apply([w])
    g.init()
    for value in (2., 5., -1.):
        g.run(update, x=np.float32(value))
        g.run(average.average(w))


@graph
def debiased_averages(g):
    x = feed(tf.float32, 2, name='x')
    average = v1.train.ExponentialMovingAverage(.9)
    update = average.apply([x])
    with tf.control_dependencies([update]):
        value = tf.identity(average.average(x))
    g.init()
    for seed in range(3):
        g.run(value, x=floats(2, seed=seed))


@graph
def clipped_gradients(g):
    x = feed(tf.float32, None, 3, name='x')
    w, v = V('w', initializer=floats(3, 4)), V('v', initializer=floats(4, 1))
    loss = tf.reduce_mean(tf.nn.relu(x @ w) @ v)
    slopes, norm = tf.clip_by_global_norm(tf.gradients(loss, [w, v]), .5)
    train = v1.train.GradientDescentOptimizer(.1).apply_gradients(zip(slopes, [w, v]))
    g.init()
    for seed in range(3):
        g.run(loss, norm, train, x=floats(5, 3, seed=seed))
    g.run(w, v)


def decayed(g, rate):
    step = v1.train.get_or_create_global_step()
    value = rate(step)
    more = v1.assign_add(step, 3)
    g.init()
    for _ in range(5):
        g.run(value)
        g.run(more.op)


@graph
def learning_rate_exponential(g):
    decayed(g, lambda step: v1.train.exponential_decay(.1, step, 4, .5, staircase=True))


@graph
def learning_rate_piecewise(g):
    decayed(g, lambda step: v1.train.piecewise_constant(step, [2, 8], [.1, .01, .001]))


@graph
def learning_rate_polynomial(g):
    decayed(g, lambda step: v1.train.polynomial_decay(.1, step, 5, .01, 2., cycle=True))


@graph
def learning_rate_cosine(g):
    decayed(g, lambda step: v1.train.cosine_decay_restarts(.1, step, 5))


@graph
def learning_rate_others(g):
    decayed(g, lambda step: tf.stack([v1.train.natural_exp_decay(.1, step, 4, .5), v1.train.inverse_time_decay(.1, step, 4, .5),
                                      v1.train.linear_cosine_decay(.1, step, 10), v1.train.cosine_decay(.1, step, 9)]))


@graph
def batch_normalization(g):
    x = feed(tf.float32, None, 4, 4, 2, name='x')
    training = v1.placeholder_with_default(False, [], 'training')
    scale, offset = V('gamma', initializer=floats(2)), V('beta', initializer=floats(2))
    mean, variance = V('mean', [2], trainable=False, initializer=v1.zeros_initializer()), V('variance', initializer=np.ones(2, 'float32'), trainable=False)

    def train():
        y, m, s = v1.nn.fused_batch_norm(x, scale, offset, epsilon=.01)
        updates = [v1.assign_sub(mean, .1 * (mean - m)), v1.assign_sub(variance, .1 * (variance - s))]
        with tf.control_dependencies(updates):
            return tf.identity(y)

    y = v1.cond(training, train, lambda: v1.nn.fused_batch_norm(x, scale, offset, mean, variance, .01, is_training=False)[0])
    slopes = tf.gradients(tf.reduce_sum(y ** 2), [scale, offset, x])
    g.init()
    for seed in range(3):
        g.run(y, *slopes, x=floats(3, 4, 4, 2, seed=seed), training=True)
    g.run(y, mean, variance, x=floats(2, 4, 4, 2))


@graph
def batch_normalization_by_moments(g):
    x = feed(tf.float32, None, 3, name='x')
    mean, variance = tf.nn.moments(x, [0])
    moving = V('moving', [3], trainable=False, initializer=v1.zeros_initializer())
    v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign(moving, moving * .9 + mean * .1))
    y = tf.nn.batch_normalization(x, mean, variance, V('offset', [3]), V('scale', initializer=floats(3)), .001)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        loss = tf.reduce_sum(tf.identity(y) ** 2)
    g.init()
    g.session.run(v1.assign(v1.trainable_variables()[0], floats(3)))
    g.run(v1.assign(v1.trainable_variables()[0], floats(3)).op)
    for seed in range(2):
        g.run(loss, y, x=floats(5, 3, seed=seed))
    g.run(moving)


@graph
def dropout_without_effect(g):
    x = feed(tf.float32, None, 3, name='x')
    rate = v1.placeholder_with_default(0., [], 'rate')
    y = tf.nn.dropout(x @ tf.constant(floats(3, 3)), rate=rate, seed=4)
    kept = tf.reduce_all((tf.nn.dropout(x, rate=.5, seed=4) == 0.) | (tf.nn.dropout(x, rate=.5, seed=4) == 2. * x))
    g.run(y, x=floats(4, 3))
    g.run(tf.shape(kept), x=floats(4, 3))


@graph
def seeded_initializers(g):
    made = [V('truncated', [3, 2], initializer=v1.truncated_normal_initializer(stddev=.1, seed=1)),
            V('uniform', [4], initializer=v1.random_uniform_initializer(-1., 1., seed=2)),
            V('glorot', [3, 3], initializer=v1.glorot_uniform_initializer(seed=3)),
            V('scaling', [2, 2], initializer=v1.variance_scaling_initializer(seed=4)),
            V('constant', [2, 2], initializer=v1.constant_initializer([1., 2., 3., 4.]))]
    g.init()
    g.run(*made)


@graph
def orthogonal_initializer(g):
    w = V('w', [4, 3], initializer=v1.orthogonal_initializer(seed=5))
    g.init()
    g.run(tf.matmul(w, w, transpose_a=True))


@graph
def assignments(g):
    x = feed(tf.float32, 2, name='x')
    w = V('w', initializer=[1., 2.], use_resource=False)
    n = V('n', initializer=0, dtype=tf.int32, use_resource=False)
    with tf.control_dependencies([v1.assign_add(w, x), v1.assign_sub(n, 2)]):
        both = tf.stack([tf.reduce_sum(w), tf.cast(n, tf.float32)])
    counted = v1.count_up_to(n, 3)
    g.init()
    g.run(both, x=floats(2))
    g.run(both, x=floats(2))
    g.run(v1.assign(n, 2), w)
    g.run(counted)
    g.run(counted)
    g.run(n)


@graph
def scatters(g):
    for is_resource in (False, True):
        w = V(f'w{is_resource}', initializer=floats(5, 2), use_resource=is_resource)
        rows, ids = tf.constant(floats(2, 2, seed=2)), tf.constant([3, 1])
        steps = [v1.scatter_add(w, ids, rows), v1.scatter_sub(w, ids, rows), v1.scatter_mul(w, ids, rows),
                 v1.scatter_update(w, ids, rows), v1.scatter_max(w, ids, rows * 2), v1.scatter_min(w, ids, -rows),
                 v1.scatter_nd_add(w, [[0], [2]], rows), v1.scatter_nd_update(w, [[4], [0]], rows)]
        g.run(w.initializer)
        for step in steps:
            g.run(step)


@graph
def variable_scopes(g):
    x = feed(tf.float32, None, 2, name='x')

    def layer(value):
        return tf.tanh(value @ V('w', initializer=floats(2, 2)) + V('b', initializer=[.5, -.5]))

    with v1.variable_scope('shared') as scope:
        y = layer(x)
        scope.reuse_variables()
        z = layer(y)
    with v1.variable_scope('other', reuse=v1.AUTO_REUSE), v1.name_scope('names'):
        z = layer(layer(z))
    g.init()
    g.run(z, x=floats(3, 2))
    g.run(v1.report_uninitialized_variables())


@graph
def uninitialized(g):
    a, b = V('a', initializer=1.), V('b', initializer=2., use_resource=True)
    g.run(v1.report_uninitialized_variables())
    g.run(a)
    g.run(b.read_value())
    g.run(a.initializer)
    g.run(v1.is_variable_initialized(a), v1.is_variable_initialized(b))
    g.run(a + 1.)


def rows_of(values):
    """Initialises the parts of a partitioned variable."""
    return lambda shape, dtype, partition_info: tf.constant(values[partition_info.var_offset[0]:][:shape[0]])


@graph
def partitioned_embedding(g):
    ids = feed(tf.int64, None, name='ids')
    with v1.variable_scope('e', partitioner=v1.fixed_size_partitioner(3)):
        table = V('table', shape=[7, 2], initializer=rows_of(floats(7, 2)))
    parts = list(table)
    outputs = [v1.nn.embedding_lookup(parts, ids, partition_strategy='div'), v1.nn.embedding_lookup(parts, ids % 6, partition_strategy='mod')]
    slopes = tf.gradients(tf.reduce_sum(outputs[0] ** 2), parts)
    g.init()
    g.run(*outputs, *[tf.convert_to_tensor(slope) for slope in slopes], ids=np.int64([0, 6, 3, 3]))


@graph
def sparse_embedding(g):
    ids = v1.sparse_placeholder(tf.int64, [None, 4], 'ids')
    weights = tf.SparseTensor(ids.indices, tf.cast(ids.values, tf.float32) + .5, ids.dense_shape)
    table = V('table', initializer=floats(6, 3))
    outputs = [tf.nn.embedding_lookup_sparse(table, ids, given, combiner=kind)
               for kind in ('sum', 'mean', 'sqrtn') for given in (None, weights)]
    g.init()
    g.feed({ids.indices.name: np.int64([[0, 0], [0, 2], [1, 1]]), ids.values.name: np.int64([1, 4, 5]),
            ids.dense_shape.name: np.int64([2, 4])}, *outputs)


# --- control flow ---


@graph
def cond_v1(g):
    x = feed(tf.float32, None, name='x')
    w = V('w', initializer=3.)
    y = v1.cond(tf.reduce_sum(x) > 0, lambda: [x * w, tf.constant(1)], lambda: [tf.exp(x), tf.constant(2)])
    slopes = tf.gradients(y[0], [x, w])
    g.init()
    g.run(*y, *slopes, x=np.float32([1, 2]))
    g.run(*y, *slopes, x=np.float32([-1, -2]))


@graph
def nested_cond(g):
    x = feed(tf.float32, name='x')
    y = v1.cond(x > 0, lambda: v1.cond(x > 10, lambda: x * 2, lambda: x * 3), lambda: v1.cond(x < -10, lambda: -x, lambda: x * x))
    slope = tf.gradients(y, x)[0]
    for value in (20, 5, -3, -30):
        g.run(y, slope, x=np.float32(value))


@graph
def case_v1(g):
    x = feed(tf.float32, name='x')
    y = v1.case([(x < 0, lambda: tf.constant(-1.)), (x > 5, lambda: x - 5.)], default=lambda: x * x, exclusive=True)
    for value in (-2, 9, 3):
        g.run(y, x=np.float32(value))


@graph
def while_v1(g):
    n, x = feed(tf.int32, name='n'), feed(tf.float32, 2, name='x')
    w = V('w', initializer=floats(2, 2))
    y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.tanh(y @ w)), [0, x[None]])[1]
    slopes = tf.gradients(y, [x, w])
    g.init()
    for count in (0, 1, 4):
        g.run(y, *slopes, n=np.int32(count), x=floats(2))


@graph
def nested_while(g):
    n, x = feed(tf.int32, name='n'), feed(tf.float32, name='x')

    def outer(i, y):
        inner = v1.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * 1.1 + tf.sin(z)), [0, y])
        return i + 1, inner[1] + x

    y = v1.while_loop(lambda i, y: i < n, outer, [0, x])[1]
    slope = tf.gradients(y, x)[0]
    for count in (1, 4):
        g.run(y, slope, n=np.int32(count), x=np.float32(.5))


@graph
def while_with_cond(g):
    x = feed(tf.float32, None, name='x')
    y = v1.while_loop(lambda i, s: i < tf.size(x),
                      lambda i, s: (i + 1, v1.cond(x[i] > 0, lambda: s + x[i], lambda: s * 2.)), [0, 1.])[1]
    slope = tf.gradients(y, x)[0]
    g.run(y, slope, x=floats(5))


@graph
def while_with_tensor_array(g):
    x = feed(tf.float32, None, 3, name='x')
    n = tf.shape(x)[0]
    source = tf.TensorArray(tf.float32, n).unstack(x)
    made = v1.while_loop(lambda i, a, s: i < n, lambda i, a, s: (i + 1, a.write(i, s * source.read(i)), s + source.read(i)),
                         [0, tf.TensorArray(tf.float32, n, element_shape=[3]), tf.ones([3])])
    y = made[1].stack()
    slope = tf.gradients(tf.reduce_sum(y * y), x)[0]
    g.run(y, slope, x=floats(4, 3))


@graph
def tensor_array_ops(g):
    x = feed(tf.float32, 4, 2, name='x')
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False).scatter([2, 0, 1, 3], x)
    split = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 2, 1])
    y = array.concat()
    g.run(array.gather([3, 0]), array.read(2), array.size(), y, split.read(1), tf.gradients(y * y, x)[0], x=floats(4, 2))


@graph
def while_shape_invariants(g):
    n = feed(tf.int32, name='n')
    y = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, a[-1:] * 2. + 1.], 0)),
                      [0, tf.constant([[1.]])], [tf.TensorShape([]), tf.TensorShape([None, 1])])[1]
    g.run(y, tf.shape(y), n=np.int32(4))


@graph
def while_with_assignment(g):
    n = feed(tf.int32, name='n')
    total = V('total', initializer=0.)

    def body(i):
        with tf.control_dependencies([v1.assign_add(total, tf.cast(i, tf.float32))]):
            return i + 1

    end = v1.while_loop(lambda i: i < n, body, [0], parallel_iterations=1)
    g.init()
    g.run(end, n=np.int32(5))
    g.run(total)


@graph
def functional_ops_v1(g):
    x = feed(tf.float32, None, 2, name='x')
    y = [tf.map_fn(lambda a: a * a, x), tf.scan(lambda a, b: a * .5 + b, x), tf.foldl(lambda a, b: a - b, x),
         tf.foldr(lambda a, b: a - b, x)]
    g.run(*y, tf.gradients(y[1], x)[0], x=floats(4, 2))


@graph
def control_flow_v2(g):
    v1.enable_control_flow_v2()
    x, n = feed(tf.float32, None, name='x'), feed(tf.int32, name='n')
    w = V('w', initializer=.5, use_resource=True)
    y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, v1.cond(tf.reduce_sum(y) > 0, lambda: y * w, lambda: y + 1.)), [0, x])[1]
    slopes = tf.gradients(y, [x, w])
    v1.disable_control_flow_v2()
    g.init()
    for count in (0, 3):
        g.run(y, *slopes, n=np.int32(count), x=floats(3))


@graph
def defun(g):
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def product(a, b):
        return a * b + tf.sin(a), a - b

    x, y = feed(tf.float32, 3, name='x'), feed(tf.float32, 3, name='y')
    p, q = product(x, product(y, x)[0])
    g.run(p, q, *tf.gradients(p * q, [x, y]), x=floats(3), y=floats(3, seed=2))


@graph
def defun_with_gradient(g):
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def slope(x, dy):
        return dy * 10.

    @function.Defun(tf.float32, grad_func=slope)
    def square(x):
        return x * x

    x = feed(tf.float32, 3, name='x')
    y = square(x)
    g.run(y, tf.gradients(y, x)[0], x=floats(3))


@graph
def tf_function_in_graph(g):
    w = V('w', initializer=floats(2, 2), use_resource=True)
    f = tf.function(lambda a: tf.nn.relu(a @ w), autograph=False)
    x = feed(tf.float32, None, 2, name='x')
    y = f(f(x))
    g.init()
    g.run(y, x=floats(3, 2))


@graph
def control_dependencies(g):
    a = V('a', initializer=1.)
    double = v1.assign(a, a * 2.)
    with tf.control_dependencies([double]):
        more = v1.assign_add(a, 1.)
    group = tf.group(more, name='both')
    with tf.control_dependencies([group]):
        y = tf.tuple([a * 1., tf.constant(2.)])
    g.init()
    for _ in range(3):
        g.run(*y)


@graph
def assert_and_print(g):
    x = feed(tf.float32, None, name='x')
    check = v1.Assert(tf.reduce_all(x > 0), [x], summarize=2)
    with tf.control_dependencies([check, v1.assert_less(x, 100.), v1.assert_rank(x, 1)]):
        y = v1.Print(tf.sqrt(x), [x], 'values ', first_n=1)
    g.run(y, x=np.float32([1, 4]))
    g.run(y, x=np.float32([1, -4]))
    g.run(y, x=np.float32([1, 400]))
    g.run(v1.verify_tensor_all_finite(tf.math.log(x), 'finite'), x=np.float32([1, 0]))
    g.run(tf.debugging.check_numerics(x, 'x'), x=np.float32([np.nan]))


# --- recurrent networks ---


def lstm(g, cell, x, lengths, size):
    """A loop as dynamic_rnn makes it: TensorArrays, and states that stay beyond a row's length."""
    steps = tf.shape(x)[1]
    source = tf.TensorArray(tf.float32, steps).unstack(tf.transpose(x, [1, 0, 2]))

    def body(t, out, *state):
        y, new = cell(source.read(t), state)
        alive = tf.tile((t < lengths)[:, None], [1, size])
        kept = [tf.where(alive, a, b) for a, b in zip(new, state)]
        return (t + 1, out.write(t, v1.where(alive, y, tf.zeros_like(y))), *kept)

    zeros = [tf.zeros([tf.shape(x)[0], size]) for _ in range(2)]
    made = v1.while_loop(lambda t, *_: t < steps, body, [0, tf.TensorArray(tf.float32, steps), *zeros], swap_memory=True)
    return tf.transpose(made[1].stack(), [1, 0, 2]), made[2:]


@graph
def dynamic_lstm(g):
    x, lengths = feed(tf.float32, None, None, 2, name='x'), feed(tf.int32, None, name='lengths')
    kernel, bias = V('kernel', initializer=floats(5, 12) / 2), V('bias', [12], initializer=v1.zeros_initializer())

    def cell(value, state):
        i, j, f, o = tf.split(tf.nn.bias_add(tf.concat([value, state[1]], 1) @ kernel, bias), 4, 1)
        c = state[0] * tf.sigmoid(f + 1.) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, (c, h)

    y, state = lstm(g, cell, x, lengths, 3)
    loss = tf.reduce_mean(y ** 2)
    train = v1.train.AdamOptimizer(.01).minimize(loss)
    g.init()
    for seed in range(3):
        g.run(loss, train, x=floats(2, 4, 2, seed=seed), lengths=np.int32([4, 2]))
    g.run(y, *state, x=floats(2, 5, 2), lengths=np.int32([1, 5]))


@graph
def bidirectional_rnn(g):
    x, lengths = feed(tf.float32, None, None, 2, name='x'), feed(tf.int32, None, name='lengths')

    def cell_of(name):
        with v1.variable_scope(name):
            gates, candidate = V('gates', initializer=floats(5, 6)), V('candidate', initializer=floats(5, 3))

        def cell(value, state):
            r, u = tf.split(tf.sigmoid(tf.concat([value, state[0]], 1) @ gates), 2, 1)
            c = tf.tanh(tf.concat([value, r * state[0]], 1) @ candidate)
            h = u * state[0] + (1. - u) * c
            return h, (h, state[1])

        return cell

    y, _ = lstm(g, cell_of('forward'), x, lengths, 3)
    z, _ = lstm(g, cell_of('backward'), tf.reverse_sequence(x, lengths, seq_axis=1), lengths, 3)
    both = tf.concat([y, tf.reverse_sequence(z, lengths, seq_axis=1)], 2)
    slopes = tf.gradients(tf.reduce_sum(both ** 2), v1.trainable_variables() + [x])
    g.init()
    g.run(both, *slopes, x=floats(2, 4, 2), lengths=np.int32([4, 2]))


@graph
def sequence_to_sequence(g):
    """An encoder, and a decoder that feeds its own outputs until all rows have ended."""
    x = feed(tf.float32, None, 4, 3, name='x')
    w, v, table = V('w', initializer=floats(5, 2)), V('v', initializer=floats(2, 6)), V('table', initializer=floats(6, 3))
    state = tf.zeros([tf.shape(x)[0], 2])
    for t in range(4):
        state = tf.tanh(tf.concat([x[:, t], state], 1) @ w)

    def step(t, state, token, done, out):
        state = tf.tanh(tf.concat([tf.gather(table, token), state], 1) @ w)
        token = tf.where(done, token * 0, tf.argmax(state @ v, 1, tf.int32))
        return t + 1, state, token, done | tf.equal(token, 3), out.write(t, token)

    begin = tf.fill([tf.shape(x)[0]], 1)
    made = v1.while_loop(lambda t, s, k, done, o: (t < 8) & ~tf.reduce_all(done), step,
                         [0, state, begin, begin < 0, tf.TensorArray(tf.int32, 0, dynamic_size=True)])
    g.init()
    g.run(made[4].stack(), made[1], x=floats(3, 4, 3))


@graph
def reverse_sequence(g):
    x, lengths = feed(tf.float32, None, None, 2, name='x'), feed(tf.int32, None, name='lengths')
    y = tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)
    mask = tf.sequence_mask(lengths, 4, tf.float32)
    g.run(y, mask, tf.gradients(y * y, x)[0], x=floats(2, 4, 2), lengths=np.int32([3, 1]))


# --- losses and metrics ---


@graph
def losses(g):
    y, t = feed(tf.float32, None, 3, name='y'), feed(tf.float32, None, 3, name='t')
    made = [v1.losses.mean_squared_error(t, y), v1.losses.absolute_difference(t, y), v1.losses.huber_loss(t, y),
            v1.losses.sigmoid_cross_entropy(t, y, label_smoothing=.1), v1.losses.softmax_cross_entropy(t, y),
            v1.losses.hinge_loss(t, y), v1.losses.log_loss(t, tf.sigmoid(y)), v1.losses.mean_pairwise_squared_error(t, y),
            v1.losses.cosine_distance(tf.nn.l2_normalize(t, 1), tf.nn.l2_normalize(y, 1), 1)]
    total = v1.losses.get_total_loss()
    labels = np.eye(3, dtype='float32')[[0, 2, 1, 0]]
    g.run(*made, total, tf.gradients(total, y)[0], y=floats(4, 3), t=labels)


@graph
def weighted_losses(g):
    y, t, w = (feed(tf.float32, None, 2, name=name) for name in 'ytw')
    made = [v1.losses.mean_squared_error(t, y, w, reduction=reduction) for reduction in
            ('none', 'weighted_sum', 'weighted_mean', 'weighted_sum_over_batch_size', 'weighted_sum_by_nonzero_weights')]
    g.run(*made, y=floats(3, 2), t=floats(3, 2, seed=2), w=np.float32([[1, 0], [0, 2], [1, 1]]))


@graph
def neural_losses(g):
    y, t = feed(tf.float32, None, 4, name='y'), feed(tf.float32, None, 4, name='t')
    labels = feed(tf.int32, None, name='labels')
    made = [tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=y), tf.nn.softmax_cross_entropy_with_logits(labels=t, logits=y),
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=y), tf.nn.l2_loss(y),
            tf.nn.weighted_cross_entropy_with_logits(labels=t, logits=y, pos_weight=2.), tf.nn.log_poisson_loss(t, y)]
    slopes = [tf.gradients(value, y)[0] for value in made]
    g.run(*made, *slopes, y=floats(3, 4), t=np.abs(floats(3, 4, seed=2)) / 4, labels=np.int32([0, 3, 1]))


@graph
def sampled_losses(g):
    x, labels = feed(tf.float32, None, 3, name='x'), feed(tf.int64, None, 1, name='labels')
    w, b = V('w', initializer=floats(6, 3)), V('b', initializer=floats(6))
    sampled = (tf.constant([1, 4], tf.int64), tf.fill([tf.shape(x)[0], 1], .3), tf.constant([.2, .5]))
    made = [tf.nn.sampled_softmax_loss(w, b, labels, x, 2, 6, sampled_values=sampled),
            tf.nn.nce_loss(w, b, labels, x, 2, 6, sampled_values=sampled)]
    g.init()
    g.run(*made, x=floats(2, 3), labels=np.int64([[3], [0]]))


@graph
def ctc_loss(g):
    y = feed(tf.float32, 5, 2, 4, name='y')
    labels = tf.SparseTensor(np.int64([[0, 0], [0, 1], [1, 0]]), np.int32([1, 2, 0]), [2, 2])
    loss = v1.nn.ctc_loss(labels, y, [5, 4])
    g.run(loss, tf.gradients(loss, y)[0], y=floats(5, 2, 4))


def metric(g, value, update, feeds):
    g.run(v1.local_variables_initializer())
    for given in feeds:
        g.run(update, **given)
        g.run(value)


def labelled(count=3):
    return [dict(t=integers(3, 4, seed=i, dtype='int64'), y=integers(3, 4, seed=i + 9, dtype='int64')) for i in range(count)]


def scored(count=3):
    return [dict(t=integers(2, 6, seed=i).astype('bool'), y=np.random.default_rng(i).random(6).astype('float32')) for i in range(count)]


@graph
def metric_accuracy(g):
    t, y = feed(tf.int64, None, name='t'), feed(tf.int64, None, name='y')
    metric(g, *v1.metrics.accuracy(t, y), labelled())


@graph
def metric_mean(g):
    y = feed(tf.float32, None, name='y')
    metric(g, *v1.metrics.mean(y, weights=tf.abs(y)), [dict(y=floats(3, seed=i)) for i in range(3)])


@graph
def metric_mean_iou(g):
    t, y = feed(tf.int64, None, name='t'), feed(tf.int64, None, name='y')
    metric(g, *v1.metrics.mean_iou(t, y, 3), labelled())


@graph
def metric_auc(g):
    t, y = feed(tf.bool, None, name='t'), feed(tf.float32, None, name='y')
    metric(g, *v1.metrics.auc(t, y, num_thresholds=20), scored())


@graph
def metric_precision_recall(g):
    t, y = feed(tf.bool, None, name='t'), feed(tf.float32, None, name='y')
    precision, recall = v1.metrics.precision(t, y > .5), v1.metrics.recall(t, y > .5)
    metric(g, tf.stack([precision[0], recall[0]]), tf.stack([precision[1], recall[1]]), scored())


@graph
def metric_errors(g):
    t, y = feed(tf.float32, None, name='t'), feed(tf.float32, None, name='y')
    made = [v1.metrics.mean_squared_error(t, y), v1.metrics.root_mean_squared_error(t, y), v1.metrics.mean_absolute_error(t, y),
            v1.metrics.mean_relative_error(t, y, tf.abs(t) + 1.)]
    metric(g, tf.stack([a for a, _ in made]), tf.stack([b for _, b in made]),
           [dict(t=floats(3, seed=i), y=floats(3, seed=i + 4)) for i in range(2)])


@graph
def metric_in_top(g):
    t, y = feed(tf.int64, None, name='t'), feed(tf.float32, None, 4, name='y')
    top = tf.reduce_mean(tf.cast(tf.math.in_top_k(predictions=y, targets=tf.cast(t, tf.int32), k=2), tf.float32))
    metric(g, *v1.metrics.recall_at_k(t[:, None], y, 2), [dict(t=np.int64([0, 3]), y=floats(2, 4, seed=i)) for i in range(2)])
    g.run(top, t=np.int64([0, 3]), y=floats(2, 4))


@graph
def confusion_matrix(g):
    t, y = feed(tf.int64, None, name='t'), feed(tf.int64, None, name='y')
    g.run(v1.confusion_matrix(t, y, 3), t=np.int64([0, 1, 2, 2]), y=np.int64([0, 2, 2, 1]))


# --- summaries and savers ---


@graph
def summaries(g):
    x = feed(tf.float32, None, name='x')
    v1.summary.scalar('mean', tf.reduce_mean(x))
    with v1.name_scope('inner'):
        v1.summary.scalar('largest', tf.reduce_max(x))
    merged = v1.summary.merge_all()
    g.run(merged, x=np.float32([1, 2, 6]))


@graph
def histogram_summaries(g):
    x = feed(tf.float32, None, name='x')
    g.run(v1.summary.histogram('values', x), x=floats(50))
    g.run(v1.summary.histogram('infinite', tf.math.log(x)), x=np.float32([1, 0]))


@graph
def tensor_summaries(g):
    x = feed(tf.string, None, name='x')
    g.run(v1.summary.text('words', x), x=np.array(['a', 'b'], object))


@graph
def saver(g):
    w, n = V('w', initializer=floats(3, 2)), V('n', initializer=np.int64(7), use_resource=True)
    keeper = v1.train.Saver()
    g.init()
    path = str(g.folder / 'saved')
    names = keeper.as_saver_def()
    g.feed({names.filename_tensor_name: path}, names.save_tensor_name)
    g.run(v1.assign(w, w * 0.).op, v1.assign(n, 0).op)
    g.run(w, n)
    g.feed({names.filename_tensor_name: path}, v1.get_default_graph().get_operation_by_name(names.restore_op_name))
    g.run(w, n)


@graph
def sharded_saver(g):
    w = V('w', initializer=floats(3, 2))
    v = V('v', initializer=['a', 'bc'])
    keeper = v1.train.Saver([w, v], sharded=True, write_version=2)
    g.init()
    names = keeper.as_saver_def()
    path = str(g.folder / 'sharded')
    g.feed({names.filename_tensor_name: path}, names.save_tensor_name)
    g.run(v1.assign(w, w * 0.).op)
    g.feed({names.filename_tensor_name: path}, v1.get_default_graph().get_operation_by_name(names.restore_op_name))
    g.run(w, v)


@graph
def meta_graph_for_training(g):
    x, t = feed(tf.float32, None, 3, name='x'), feed(tf.float32, None, 1, name='t')
    y = tf.nn.relu(x @ V('w', initializer=floats(3, 4))) @ V('v', initializer=floats(4, 1))
    loss = tf.reduce_mean((y - t) ** 2, name='loss')
    step = v1.train.get_or_create_global_step()
    train = v1.train.AdamOptimizer(.05).minimize(loss, step)
    v1.add_to_collection('train', train)
    g.init()
    for seed in range(2):
        g.run(train, x=floats(4, 3, seed=seed), t=floats(4, 1, seed=seed + 5))
    g.save()
    for seed in range(3):
        g.run(loss, step, train, x=floats(4, 3, seed=seed), t=floats(4, 1, seed=seed + 5))


@graph
def meta_graph_partitioned(g):
    ids = feed(tf.int64, None, name='ids')
    with v1.variable_scope('e', partitioner=v1.fixed_size_partitioner(2)):
        table = V('table', [6, 2], initializer=rows_of(floats(6, 2)))
    rows = v1.nn.embedding_lookup(list(table), ids, partition_strategy='div')
    train = v1.train.AdagradOptimizer(.1).minimize(tf.reduce_sum(rows ** 2))
    g.init()
    g.save()
    g.run(rows, train, ids=np.int64([5, 0]))
    g.run(rows, ids=np.int64([5, 0]))


@graph
def meta_graph_with_averages(g):
    x = feed(tf.float32, 2, name='x')
    w = V('w', initializer=floats(2), use_resource=True)
    average = v1.train.ExponentialMovingAverage(.5)
    train = v1.train.MomentumOptimizer(.1, .9).minimize(tf.reduce_sum(w * x))
    with tf.control_dependencies([train]):
        update = average.apply([w])
    values = [w.value(), average.average(w).value()]
    g.init()
    g.save()
    for seed in range(3):
        g.run(update, x=floats(2, seed=seed))
        g.run(*values)


# --- tables ---


@graph
def static_tables(g):
    keys, ids = feed(tf.string, None, name='keys'), feed(tf.int64, None, name='ids')
    forward = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([5, 6], tf.int64)), -1)
    back = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), ['a', 'b']), '?')
    found, texts = forward.lookup(keys), back.lookup(ids)
    g.run(found, keys=np.array(['a'], object))
    g.run(v1.tables_initializer())
    g.run(found, forward.size(), keys=np.array(['b', 'z'], object))
    g.run(texts, ids=np.int64([6, 7]))


@graph
def vocabulary_table(g):
    path = g.file('words.txt', b'red\ngreen\nblue\n')
    words = feed(tf.string, None, name='words')
    table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
        path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 3)
    ids = table.lookup(words)
    g.run(v1.tables_initializer())
    g.run(ids, table.size(), words=np.array(['blue', 'pink', 'red'], object))


@graph
def mutable_tables(g):
    keys, values = feed(tf.int64, None, name='keys'), feed(tf.float32, None, 2, name='values')
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0., -1.])
    insert, found = table.insert(keys, values), table.lookup(keys)
    g.run(insert, keys=np.int64([3, 9]), values=floats(2, 2))
    g.run(found, table.size(), keys=np.int64([9, 1]))
    g.run(table.remove(keys), keys=np.int64([9]))
    g.run(found, keys=np.int64([9, 3]))


@graph
def dense_table(g):
    keys, values = feed(tf.int64, None, name='keys'), feed(tf.int64, None, name='values')
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-5)
    g.run(table.insert(keys, values), keys=np.int64([3, 9]), values=np.int64([30, 90]))
    g.run(table.lookup(keys), table.size(), keys=np.int64([9, 1]))


# --- queues and readers ---


@graph
def fifo_queue(g):
    x = feed(tf.float32, 2, name='x')
    queue = v1.FIFOQueue(3, [tf.float32, tf.int32], [[2], []])
    put = queue.enqueue([x, tf.size(x)])
    one, many, up_to = queue.dequeue(), queue.dequeue_many(2), queue.dequeue_up_to(2)
    for seed in range(3):
        g.run(put, x=floats(2, seed=seed))
    g.run(*one)
    g.run(queue.size())
    g.run(*many)
    g.run(put, x=floats(2))
    g.run(queue.close())
    g.run(*up_to)
    g.run(one[0])
    g.run(put, x=floats(2))


@graph
def padding_queue(g):
    x = feed(tf.int32, None, name='x')
    queue = v1.PaddingFIFOQueue(5, [tf.int32], [[None]])
    put, get = queue.enqueue([x]), queue.dequeue_many(3)
    for values in ([1], [2, 3, 4], []):
        g.run(put, x=np.int32(values))
    g.run(get)


@graph
def priority_queue(g):
    priority, x = feed(tf.int64, name='priority'), feed(tf.string, name='x')
    queue = v1.PriorityQueue(5, [tf.string], [[]])
    put, get = queue.enqueue([priority, x]), queue.dequeue()
    for order, text in ((3, 'c'), (1, 'a'), (2, 'b')):
        g.run(put, priority=np.int64(order), x=text)
    for _ in range(3):
        g.run(*get)


@graph
def shuffle_queue(g):
    x = feed(tf.float32, None, name='x')
    queue = v1.RandomShuffleQueue(10, 0, [tf.float32], [[]], seed=3)
    put, get = queue.enqueue_many([x]), queue.dequeue_many(6)
    g.run(put, x=floats(6))
    g.run(tf.sort(get))
    g.run(queue.size())


def runners():
    return v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS)


@graph
def input_producer_and_batch(g):
    number = v1.train.range_input_producer(5, shuffle=False).dequeue()
    batch = v1.train.batch([number, tf.cast(number, tf.float32) / 2.], 4, capacity=8)
    producer, batcher = runners()
    for _ in range(2):
        g.run(*producer.enqueue_ops)
    for _ in range(8):
        g.run(*batcher.enqueue_ops)
    g.run(*batch)
    g.run(*batch)


@graph
def string_producer_with_epochs(g):
    text = v1.train.string_input_producer(['a', 'b', 'c'], num_epochs=1, shuffle=False).dequeue()
    (producer,) = runners()
    g.run(v1.local_variables_initializer())
    g.run(*producer.enqueue_ops)
    g.run(*producer.enqueue_ops)
    g.run(producer.close_op)
    for _ in range(4):
        g.run(text)


@graph
def shuffle_batch(g):
    x = v1.train.slice_input_producer([tf.constant(floats(6, 2)), tf.range(6)], shuffle=False)
    batch = v1.train.shuffle_batch(x, 6, 12, 0, seed=2)
    producer, batcher = runners()
    g.run(*producer.enqueue_ops)
    for _ in range(6):
        g.run(*batcher.enqueue_ops)
    order = tf.argsort(batch[1])
    g.run(tf.gather(batch[0], order), tf.gather(batch[1], order))


@graph
def bucketed_batch(g):
    number = v1.train.range_input_producer(4, shuffle=False).dequeue()
    batch = v1.train.batch([tf.range(number + 1)], 3, dynamic_pad=True, allow_smaller_final_batch=True)
    producer, batcher = runners()
    g.run(*producer.enqueue_ops)
    for _ in range(3):
        g.run(*batcher.enqueue_ops)
    g.run(batch)


@graph
def maybe_batch(g):
    keep = feed(tf.bool, name='keep')
    x = feed(tf.float32, name='x')
    batch = v1.train.maybe_batch([x], keep, 2)
    (batcher,) = runners()
    for value, kept in ((1., True), (2., False), (3., True)):
        g.run(*batcher.enqueue_ops, x=np.float32(value), keep=kept)
    g.run(batch)


@graph
def line_reader(g):
    path = g.file('lines.csv', b'1,2.5,a\n2,-1,b\n')
    names = v1.train.string_input_producer([path], shuffle=False)
    key, line = v1.TextLineReader().read(names)
    number, value, text = v1.decode_csv(line, [[0], [0.], ['']])
    (producer,) = runners()
    g.run(*producer.enqueue_ops)
    g.run(line, number, value, text)
    g.run(line, number, value, text)


@graph
def whole_files(g):
    path = g.file('some.bin', np.arange(6, dtype='int16').tobytes())
    names = v1.train.string_input_producer([path], shuffle=False)
    _, content = v1.WholeFileReader().read(names)
    (producer,) = runners()
    g.run(*producer.enqueue_ops)
    g.run(v1.decode_raw(content, tf.int16))
    g.run(v1.decode_raw(tf.io.read_file(path), tf.uint8))


@graph
def record_reader(g):
    path = str(g.folder / 'data.tfrecord')
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(2):
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                'x': tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + .5]))})).SerializeToString())
    g.files[path] = 'data.tfrecord'
    names = v1.train.string_input_producer([path], shuffle=False)
    _, example = v1.TFRecordReader().read(names)
    x = v1.parse_single_example(example, {'x': tf.io.FixedLenFeature([2], tf.float32)})['x']
    (producer,) = runners()
    g.run(*producer.enqueue_ops)
    g.run(x)
    g.run(x)


@graph
def staging_area(g):
    from tensorflow.python.ops import data_flow_ops
    x = feed(tf.float32, 2, name='x')
    area = data_flow_ops.StagingArea([tf.float32], [[2]])
    put, get = area.put([x]), area.get()
    g.run(put, x=floats(2))
    g.run(area.size())
    g.run(get[0] if isinstance(get, list) else get)


@graph
def barrier_and_accumulator(g):
    x = feed(tf.float32, 2, name='x')
    sums = v1.ConditionalAccumulator(tf.float32, [2])
    put, take = sums.apply_grad(x), sums.take_grad(2)
    for seed in range(2):
        g.run(put, x=floats(2, seed=seed))
    g.run(sums.num_accumulated())
    g.run(take)


# --- datasets ---


@graph
def dataset_one_shot(g):
    data = v1.data.Dataset.from_tensor_slices((floats(5, 2), np.arange(5))).batch(2).repeat(2)
    x, n = v1.data.make_one_shot_iterator(data).get_next()
    for _ in range(7):
        g.run(x, n)


@graph
def dataset_initializable(g):
    limit = feed(tf.int64, name='limit')
    w = V('w', initializer=2., use_resource=True)
    data = v1.data.Dataset.range(limit).map(lambda i: tf.cast(i, tf.float32) * 1.5).filter(lambda v: v > 1.)
    iterator = v1.data.make_initializable_iterator(data.padded_batch(2, []).prefetch(1))
    y = iterator.get_next() * w
    g.init()
    for count in (5, 3):
        g.run(iterator.initializer, limit=np.int64(count))
        for _ in range(3):
            g.run(y)


# --- everything else ---


@graph
def convolution_training(g):
    x, labels = feed(tf.float32, None, 8, 8, 1, name='x'), feed(tf.int32, None, name='labels')
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, V('k', initializer=floats(3, 3, 1, 4) / 3), 1, 'SAME'), V('b', initializer=floats(4))))
    y = v1.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
    y = v1.nn.lrn(y, 2) + v1.nn.depthwise_conv2d(y, V('d', initializer=floats(3, 3, 4, 1) / 3), [1, 1, 1, 1], 'SAME')
    logits = tf.reshape(y, [-1, 64]) @ V('w', initializer=floats(64, 3) / 8)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    train = v1.train.MomentumOptimizer(.05, .9).minimize(loss)
    g.init()
    for seed in range(3):
        g.run(loss, train, x=floats(4, 8, 8, 1, seed=seed), labels=integers(3, 4, seed=seed))


@graph
def convolutions_of_all_kinds(g):
    x = feed(tf.float32, None, 6, 6, 2, name='x')
    y = [v1.nn.conv2d_transpose(x, floats(3, 3, 3, 2), [2, 12, 12, 3], 2), v1.nn.atrous_conv2d(x, floats(3, 3, 2, 2), 2, 'SAME'),
         v1.nn.separable_conv2d(x, floats(3, 3, 2, 2), floats(1, 1, 4, 3), [1, 1, 1, 1], 'VALID'),
         v1.nn.conv1d(x[:, 0], floats(3, 2, 2), 2, 'SAME'), v1.nn.avg_pool(x, 2, 2, 'VALID'),
         v1.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], 'VALID')[0],
         v1.space_to_depth(x, 2), v1.depth_to_space(x[..., :1] * tf.ones([4]), 2), v1.image.resize_bilinear(x, [4, 9], align_corners=True)]
    slopes = [tf.gradients(value * value, x)[0] for value in y]
    g.run(*y, *slopes, x=floats(2, 6, 6, 2))


@graph
def second_gradients(g):
    x = feed(tf.float32, 3, name='x')
    y = tf.reduce_sum(tf.exp(tf.sin(x)) * x)
    first = tf.gradients(y, x)[0]
    g.run(first, tf.gradients(first, x)[0], *tf.hessians(y, x), x=floats(3))


@graph
def stopped_gradients(g):
    x = feed(tf.float32, 3, name='x')
    y = x * tf.stop_gradient(x) + tf.custom_gradient(lambda v: (v * v, lambda dy: dy * 100.))(x)
    z = tf.gradients(y, x, grad_ys=[tf.constant([1., 2., 3.])], stop_gradients=[x])
    g.run(y, *z, tf.gradients(tf.identity(y), x)[0], x=floats(3))


@graph
def gradient_override(g):
    graph_now = v1.get_default_graph()
    x = feed(tf.float32, 3, name='x')
    with graph_now.gradient_override_map({'Relu': 'Identity'}):
        y = tf.nn.relu(x)
    g.run(y, tf.gradients(y, x)[0], x=floats(3))


@graph
def array_tour(g):
    x, n = feed(tf.float32, None, 4, name='x'), feed(tf.int32, None, name='n')
    g.run(tf.unique(n)[1], v1.unique_with_counts(n)[2], v1.setdiff1d(n, [1])[0], tf.dynamic_partition(n, n % 2, 2)[0],
          tf.dynamic_stitch([[0, 2], [1]], [x[:2], x[:1]]), tf.boolean_mask(x, n > 1), v1.where(n > 1), v1.batch_to_space_nd(
              tf.reshape(x[:1], [4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]]), tf.math.invert_permutation(tf.argsort(n)),
          tf.nn.top_k(x, 2).indices, tf.linalg.diag(n), tf.linalg.trace(x[:4]), v1.strided_slice(x, [0, -1], [2, 0], [1, -2]),
          tf.gather_nd(x, [[0, 1], [1, 3]]), tf.broadcast_to(n, [2, 3]), tf.edit_distance(
              tf.SparseTensor([[0, 0]], ['a'], [1, 1]), tf.SparseTensor([[0, 0], [0, 1]], ['a', 'b'], [1, 2])),
          x=floats(3, 4), n=np.int32([2, 1, 3]))


@graph
def segments(g):
    x, ids = feed(tf.float32, None, 2, name='x'), feed(tf.int32, None, name='ids')
    y = [tf.math.segment_sum(x, ids), tf.math.segment_mean(x, ids), tf.math.segment_max(x, ids), tf.math.segment_prod(x, ids),
         tf.math.unsorted_segment_mean(x, ids, 4), v1.sparse_segment_sum(x, [0, 2], [0, 0]), v1.sparse_segment_mean(x, [0, 2], [0, 1])]
    g.run(*y, *[tf.gradients(value, x)[0] if i not in (5, 6) else tf.convert_to_tensor(tf.gradients(value, x)[0]) for i, value in enumerate(y)],
          x=floats(4, 2), ids=np.int32([0, 0, 1, 2]))


@graph
def string_pipeline(g):
    x = feed(tf.string, None, name='x')
    parts = v1.string_split(x, ' ')
    g.run(parts.values, parts.indices, v1.string_to_hash_bucket_fast(x, 10), v1.string_to_hash_bucket_strong(x, 10, [1, 2]),
          v1.string_to_number(tf.strings.substr(x, 0, 1)), v1.reduce_join(x, 0), v1.as_string(tf.strings.length(x)),
          v1.regex_replace(x, '[0-9]', '#'), v1.encode_base64(x), x=np.array(['1 two', '3'], object))


@graph
def batch_and_quantize(g):
    x = feed(tf.float32, None, 3, name='x')
    y = tf.quantization.fake_quant_with_min_max_args(x, -1., 1.)
    z = tf.quantization.quantize_and_dequantize_v2(x, -2., 2.)
    g.run(y, z, tf.gradients(y, x)[0], x=floats(2, 3))


@graph
def devices(g):
    with v1.device('/cpu:0'):
        w = V('w', initializer=floats(2, 2))
    with v1.device('/gpu:1'):
        x = feed(tf.float32, None, 2, name='x')
        y = x @ w
    with v1.colocate_with(w):
        z = tf.tanh(y)
    g.session.close()
    g.session = v1.Session(config=v1.ConfigProto(allow_soft_placement=True))
    g.init()
    g.run(z, x=floats(3, 2))


@graph
def session_handles(g):
    x = feed(tf.float32, 2, name='x')
    area = V('area', initializer=floats(2), collections=[v1.GraphKeys.LOCAL_VARIABLES])
    fixed = v1.placeholder_with_default(tf.constant([1., 2.]), [2], 'fixed')
    g.run(v1.local_variables_initializer())
    g.run(x + area + fixed, x=floats(2))
    g.feed({'x:0': floats(2), 'fixed:0': floats(2, seed=5), 'area/read:0': floats(2, seed=6)}, x + area + fixed)


@graph
def word2vec(g):
    centers, contexts = feed(tf.int32, None, name='centers'), feed(tf.int64, None, 1, name='contexts')
    table = V('embeddings', initializer=floats(10, 4) / 4)
    w, b = V('nce_w', initializer=floats(10, 4) / 4), V('nce_b', [10], initializer=v1.zeros_initializer())
    sampled = (tf.constant([0, 3, 7], tf.int64), tf.fill([tf.shape(centers)[0], 1], .3), tf.constant([.4, .3, .1]))
    loss = tf.reduce_mean(tf.nn.nce_loss(w, b, contexts, tf.nn.embedding_lookup(table, centers), 3, 10, sampled_values=sampled))
    train = v1.train.GradientDescentOptimizer(.5).minimize(loss)
    norm = table / tf.sqrt(tf.reduce_sum(tf.square(table), 1, keepdims=True))
    g.init()
    for seed in range(4):
        g.run(loss, train, centers=integers(10, 5, seed=seed), contexts=integers(10, 5, 1, seed=seed + 9, dtype='int64'))
    g.run(tf.matmul(norm[:2], norm, transpose_b=True))


@graph
def autoencoder(g):
    x = feed(tf.float32, None, 6, name='x')
    with v1.variable_scope('encoder'):
        mean = tf.nn.elu(x @ V('w', initializer=floats(6, 2))) + V('b', initializer=floats(2))
        deviation = tf.nn.softplus(x @ V('s', initializer=floats(6, 2)))
    noise = feed(tf.float32, None, 2, name='noise')
    with v1.variable_scope('decoder'):
        y = tf.sigmoid((mean + deviation * noise) @ V('w', initializer=floats(2, 6)))
    divergence = .5 * tf.reduce_sum(mean ** 2 + deviation ** 2 - tf.math.log(1e-8 + deviation ** 2) - 1., 1)
    loss = tf.reduce_mean(tf.reduce_sum((x - y) ** 2, 1) + divergence)
    train = v1.train.RMSPropOptimizer(.01, momentum=.5).minimize(loss)
    g.init()
    for seed in range(3):
        g.run(loss, train, x=floats(4, 6, seed=seed), noise=floats(4, 2, seed=seed + 5))


@graph
def adversarial(g):
    noise, real = feed(tf.float32, None, 2, name='noise'), feed(tf.float32, None, 3, name='real')

    def discriminator(x):
        with v1.variable_scope('d', reuse=v1.AUTO_REUSE):
            return tf.nn.leaky_relu(x @ V('w', initializer=floats(3, 4))) @ V('v', initializer=floats(4, 1))

    with v1.variable_scope('g'):
        fake = noise @ V('w', initializer=floats(2, 3))
    entropy = lambda logits, label: tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=label * tf.ones_like(logits)))
    d_loss = entropy(discriminator(real), .9) + entropy(discriminator(fake), 0.)
    g_loss = entropy(discriminator(fake), 1.)
    scoped = lambda name: v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, name)
    trains = [v1.train.AdamOptimizer(.02).minimize(d_loss, var_list=scoped('d')),
              v1.train.AdamOptimizer(.02, name='other').minimize(g_loss, var_list=scoped('g'))]
    g.init()
    for seed in range(3):
        for loss, train in zip((d_loss, g_loss), trains):
            g.run(loss, train, noise=floats(4, 2, seed=seed), real=floats(4, 3, seed=seed))


@graph
def q_learning(g):
    state, action = feed(tf.float32, None, 3, name='state'), feed(tf.int32, None, name='action')
    reward, after = feed(tf.float32, None, name='reward'), feed(tf.float32, None, 3, name='after')

    def network(x, scope):
        with v1.variable_scope(scope):
            return tf.nn.relu(x @ V('w', initializer=floats(3, 8, seed=len(scope)))) @ V('v', initializer=floats(8, 2, seed=len(scope)))

    q, target = network(state, 'online'), network(after, 'target')
    taken = tf.reduce_sum(q * tf.one_hot(action, 2), 1)
    loss = v1.losses.huber_loss(tf.stop_gradient(reward + .9 * tf.reduce_max(target, 1)), taken)
    train = v1.train.AdamOptimizer(.01).minimize(loss)
    scoped = lambda name: v1.get_collection(v1.GraphKeys.GLOBAL_VARIABLES, name + '/')
    sync = tf.group(*[v1.assign(b, a) for a, b in zip(scoped('online')[:2], scoped('target')[:2])])
    g.init()
    for seed in range(3):
        g.run(loss, train, state=floats(4, 3, seed=seed), after=floats(4, 3, seed=seed + 1), action=integers(2, 4, seed=seed),
              reward=floats(4, seed=seed))
    g.run(sync)
    g.run(tf.reduce_max(target, 1), after=floats(4, 3))


if __name__ == '__main__':
    recorder.run('v1_graphs', GRAPHS, record)
