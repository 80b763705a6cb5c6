"""Accumulators of gradients: means and sums, gradients that come too late, rows, and what they refuse. What a step adds, a later step of
the same session takes."""
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_data_flow_ops as ops

from control_flow import CLOSE, record
from writer import tf1

REFERENCE = (ops.conditional_accumulator, ops.accumulator_apply_gradient, ops.accumulator_take_gradient, ops.accumulator_set_global_step,
             ops.accumulator_num_accumulated)
RESOURCE = (ops.resource_conditional_accumulator, ops.resource_accumulator_apply_gradient, ops.resource_accumulator_take_gradient,
            ops.resource_accumulator_set_global_step, ops.resource_accumulator_num_accumulated)


def cases(golden):
    for kind, functions in (('references', REFERENCE), ('resources', RESOURCE)):
        for dtype in (tf.float16, tf.float32, tf.float64):
            for reduction in ('MEAN', 'SUM'):
                _case(golden, f'{reduction} of {dtype.name} by {kind}', functions, _summed, dtype=dtype, reduction_type=reduction)
        for shape in (None, [None], [2]):
            _case(golden, f'gradients that come late, {shape} by {kind}', functions, _late, shape=tf.TensorShape(shape))
        for number, refused in enumerate([([3], [[1, 2]]), ([None, 3], [[1, 2]]), (None, [[1, 2], [1, 2, 3]]), ([2, 2], [[1, 2]])]):
            _case(golden, f'shape {number} refused by {kind}', functions, _refused, shape=tf.TensorShape(refused[0]), values=refused[1])
        _case(golden, f'none required of {kind}', functions, _none_required)
    _rows(golden)
    record(golden, [_replicas], shortens=True)


def _case(golden, name, functions, build, values=None, **attrs):
    with golden.graph(name) as case:
        case.shortens = True
        make, *others = functions
        handle = make(shared_name='accumulator', **{'dtype': tf.float32, 'shape': tf.TensorShape(None), **attrs})
        build(case, handle, others, *([values] if values else []))


def _step(case, tensors=(), feeds=None, targets=()):
    if not hasattr(case, 'graph_def'):
        case.freeze()
    case.step({f'{case.name_of(tensor.op)}:{tensor.value_index}': tensor for tensor in tensors}, feeds, targets, CLOSE)


def _nodes(handle, others, dtype):
    """Nodes that apply the gradient x of time step t, take n gradients, set the step to t, and count."""
    apply, take, set_step, count = others
    x, t, n = tf1.placeholder(dtype, None, 'x'), tf1.placeholder(tf.int64, [], 't'), tf1.placeholder(tf.int32, [], 'n')
    return x, t, n, apply(handle, t, x), take(handle, n, dtype), set_step(handle, t), count(handle)


def _summed(case, handle, others):
    dtype = tf.as_dtype(case.graph.get_operations()[0].get_attr('dtype'))
    x, t, n, apply, take, set_step, count = _nodes(handle, others, dtype)
    for round in range(2):
        for value in ([1, 2], [4, 8.5], [9, -9]):
            _step(case, targets=[apply], feeds={x: np.array(value, dtype.as_numpy_dtype), t: np.int64(round)})
        _step(case, [count])
        _step(case, [take], {n: np.int32(2)})
        _step(case, [count])


def _late(case, handle, others):
    x, t, n, apply, take, set_step, count = _nodes(handle, others, tf.float32)
    _step(case, targets=[set_step], feeds={t: np.int64(5)})
    for step in (4, 5, 6):
        _step(case, targets=[apply], feeds={x: np.float32([step, 1]), t: np.int64(step)})
        _step(case, [count])
    _step(case, [take], {n: np.int32(1)})
    _step(case, targets=[apply], feeds={x: np.float32([1, 1]), t: np.int64(5)})
    _step(case, [count])


def _refused(case, handle, others, values):
    x, t, n, apply, take, set_step, count = _nodes(handle, others, tf.float32)
    for value in values:
        _step(case, targets=[apply], feeds={x: np.float32(value), t: np.int64(0)})
    _step(case, [count])


def _none_required(case, handle, others):
    x, t, n, apply, take, set_step, count = _nodes(handle, others, tf.float32)
    for number in (0, -1):
        _step(case, [take], {n: np.int32(number)})


def _rows(golden):
    def rows(shape, steps, known=False, reduction='MEAN', dtype=tf.float32):
        with golden.graph(f'rows of {shape} {reduction} {dtype.name} {len(golden.cases)}') as case:
            case.shortens = True
            handle = ops.sparse_conditional_accumulator(dtype=dtype, shape=tf.TensorShape(shape), shared_name='rows', reduction_type=reduction)
            i, x, s = tf1.placeholder(tf.int64, None, 'i'), tf1.placeholder(dtype, None, 'x'), tf1.placeholder(tf.int64, None, 's')
            apply = ops.sparse_accumulator_apply_gradient(handle, tf.constant(0, tf.int64), i, x, s, has_known_shape=known)
            take = ops.sparse_accumulator_take_gradient(handle, 1, dtype)
            for indices, values, stated in steps:
                _step(case, targets=[apply], feeds={i: np.int64(indices), x: np.array(values, dtype.as_numpy_dtype), s: np.int64(stated)})
            if case.succeeded:
                _step(case, list(take))
    two = [([0, 2], [[1, 2], [3, 4]], []), ([1, 2, 7], [[10, 20], [30, 40], [1, 1]], []), ([2], [[5, 6]], [])]
    for reduction in ('MEAN', 'SUM'):
        for dtype in (tf.float16, tf.float32, tf.float64):
            rows(None, two, reduction=reduction, dtype=dtype)
    rows([None, 2], two)
    rows([8, 2], two)
    rows(None, [([], np.zeros((0, 2)), []), ([3], [[1, 2]], [])])
    rows(None, [([2, 0], [[1, 2], [3, 4]], []), ([0, 2], [[1, 2], [3, 4]], [])])
    rows([3, 2], [([0], [[1, 2]], [3, 2])], known=True)
    rows([3, 2], [([0], [[1, 2]], [3])], known=True)
    rows([3, 2], [([0], [[1, 2]], [3, 4])], known=True)
    for indices, values in [([3], [[1, 2]]), ([[3]], [[1, 2]]), ([0], 1), ([0], [[1], [2]]), ([1], [1]), ([1], [[1]])]:
        rows([3, 2], [(indices, values, [])])
    for later in ([1], [[1]]):
        rows(None, [([0], [[1, 2]], []), ([0], later, [])])


def _replicas(case, random):
    """the optimizer that waits for several replicas"""
    x, y = tf1.placeholder(tf.float32, [None, 2], 'x'), tf1.placeholder(tf.float32, [None], 'y')
    w = tf1.Variable(np.float32([1, -1]), use_resource=False, name='w')
    step = tf1.Variable(np.int64(0), trainable=False, use_resource=False, name='step')
    loss = tf.reduce_mean(tf.square(tf.linalg.matvec(x, w) - y))
    optimizer = tf1.train.SyncReplicasOptimizer(tf1.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=1, total_num_replicas=1)
    train = optimizer.minimize(loss, global_step=step)
    runner = optimizer.get_chief_queue_runner()
    tokens = optimizer.get_init_tokens_op(num_tokens=1)
    init = [tf1.global_variables_initializer(), tf1.local_variables_initializer()]
    feeds = {x: random.standard_normal((4, 2)).astype(np.float32), y: random.standard_normal(4).astype(np.float32)}
    case.freeze()
    for targets, given in ((init, {}), ([optimizer.chief_init_op], {}), ([tokens], {}), ([train], feeds), (runner.enqueue_ops, {})):
        _step(case, targets=targets, feeds=given)
        case.expect_success()
    _step(case, [case.graph.get_tensor_by_name('w/read:0'), case.graph.get_tensor_by_name('step/read:0')])
    case.expect_success()
