"""Conditionals of tf.cond and tf.case as TensorFlow 1.x writes them, and their gradients."""
import numpy as np
import tensorflow as tf

from control_flow import CLOSE, allow_all_fetches, fails, gives, record
from writer import tf1


def cases(golden):
    record(golden, [_cond, _several, _nested, _constant_predicate, _computed, _strings, _case, _case_exclusive, _case_default, _reference,
                    _resource, _waits_outside, _waits_inside, _read_under_condition, _loop_in_branch, _cond_of_conds, _same_value, _empty_branches,
                    _shapes_differ, _heavy, _lowered])
    record(golden, [_gradient, _gradient_of_captured, _gradient_of_nested, _second, _third, _one_branch_ignores, _gradient_of_case, _gradient_of_sparse])
    record(golden, [_assertion, _failing_branch, _dead_fetch, _dead_among_others, _dead_target, _vector, _uninitialized])


def _both(case, fetches, p, feeds=None):
    for value in (True, False):
        gives(case, fetches, {p: np.bool_(value), **(feeds or {})}, tolerance=CLOSE)


def _inputs():
    return tf1.placeholder(np.bool_, [], 'p'), tf1.placeholder(np.float32, [3], 'x')


X = np.float32([1, -2, 3])


def _cond(case, random):
    """a conditional"""
    p, x = _inputs()
    _both(case, tf1.cond(p, lambda: x * 2, lambda: x - 1), p, {x: X})


def _several(case, random):
    """a conditional with several results of several types"""
    p, x = _inputs()
    a, (b, c), d = tf1.cond(p, lambda: (x + 1, (tf1.reduce_sum(x), tf.constant(1)), x > 0), lambda: (tf1.square(x), (tf.constant(0.5), tf1.size(x)), x < 0))
    _both(case, [a, b, c, d], p, {x: X})


def _nested(case, random):
    """conditionals in both branches of a conditional"""
    p, x = _inputs()
    q = tf1.placeholder(np.bool_, [], 'q')
    y = tf1.cond(p, lambda: tf1.cond(q, lambda: x + 1, lambda: x + 2), lambda: tf1.cond(q, lambda: x * 3, lambda: tf1.cond(p, lambda: x, lambda: -x)))
    for value in (True, False):
        _both(case, y, p, {x: X, q: np.bool_(value)})


def _constant_predicate(case, random):
    """a conditional whose predicate is constant"""
    x = tf1.placeholder(np.float32, [3], 'x')
    gives(case, tf1.cond(tf.constant(True), lambda: x * 2, lambda: x - 1), {x: X})


def _computed(case, random):
    """a conditional on what was computed"""
    x = tf1.placeholder(np.float32, [None], 'x')
    y = tf1.cond(tf1.reduce_sum(x) > 0, lambda: tf1.sqrt(x), lambda: tf1.zeros_like(x))
    for value in ([1, 4], [-1, -4, 0], []):
        gives(case, y, {x: np.float32(value)})


def _strings(case, random):
    """a conditional of strings"""
    p, s = tf1.placeholder(np.bool_, [], 'p'), tf1.placeholder(tf.string, [2], 's')
    _both(case, tf1.cond(p, lambda: tf1.string_join([s, 'yes'], '-'), lambda: s), p, {s: np.array([b'a', b''], object)})


def _picks(x, k):
    return [(k < 1, lambda: x + 1), (k < 3, lambda: x * 2), (tf1.equal(k, 5), lambda: tf1.reverse(x, [0]))]


def _case(case, random):
    """the first of several predicates that hold"""
    x, k = tf1.placeholder(np.float32, [3], 'x'), tf1.placeholder(np.int32, [], 'k')
    y = tf1.case(_picks(x, k), default=lambda: tf1.zeros_like(x))
    for value in (0, 1, 2, 3, 5):
        gives(case, y, {x: X, k: np.int32(value)})


def _case_exclusive(case, random):
    """predicates of which one may hold"""
    x, k = tf1.placeholder(np.float32, [3], 'x'), tf1.placeholder(np.int32, [], 'k')
    y = tf1.case(_picks(x, k), default=lambda: tf1.zeros_like(x), exclusive=True)
    gives(case, y, {x: X, k: np.int32(2)})
    gives(case, y, {x: X, k: np.int32(5)})
    fails(case, y, {x: X, k: np.int32(0)})


def _case_default(case, random):
    """predicates of which one must hold"""
    x, k = tf1.placeholder(np.float32, [3], 'x'), tf1.placeholder(np.int32, [], 'k')
    y = tf1.case(_picks(x, k))
    gives(case, y, {x: X, k: np.int32(5)})
    fails(case, y, {x: X, k: np.int32(4)})


def _reference(case, random):
    """a branch assigns to a reference variable"""
    p = tf1.placeholder(np.bool_, [], 'p')
    v = tf1.get_variable('v', initializer=[1.0, 2.0], use_resource=False)
    y = tf1.cond(p, lambda: tf1.identity(tf1.assign_add(v, [1.0, 1.0])), lambda: tf1.identity(tf1.assign(v, [0.0, 5.0])))
    case.freeze()
    gives(case, [], targets=[v.initializer])
    for value in (True, True, False, True):
        gives(case, y, {p: np.bool_(value)})
    gives(case, v.value())


def _resource(case, random):
    """a branch assigns to a resource variable, the other does nothing"""
    p = tf1.placeholder(np.bool_, [], 'p')
    v = tf1.get_variable('v', initializer=[1.0, 2.0], use_resource=True)
    done = tf1.cond(p, lambda: v.assign_add([1.0, 1.0], read_value=False), lambda: tf1.no_op())
    read = v.read_value()
    gives(case, [], targets=[v.initializer])
    for value in (True, True, False, True):
        gives(case, [], {p: np.bool_(value)}, targets=[done.op if isinstance(done, tf.Tensor) else done])
        gives(case, read)


def _waits_outside(case, random):
    """a branch waits for what is outside"""
    p, x = _inputs()
    v = tf1.get_variable('v', initializer=1.0, use_resource=True)
    count = v.assign_add(1.0, read_value=False)

    def branch():
        with tf1.control_dependencies([count]):
            return x * v.read_value()
    y, read = tf1.cond(p, branch, lambda: -x), v.read_value()
    gives(case, [], targets=[v.initializer])
    for value in (True, False):
        gives(case, y, {p: np.bool_(value), x: X})
        gives(case, read)


def _waits_inside(case, random):
    """operations of a branch wait for each other"""
    p = tf1.placeholder(np.bool_, [], 'p')
    v = tf1.get_variable('v', initializer=1.0, use_resource=True)

    def branch():
        with tf1.control_dependencies([v.assign(3.0, read_value=False)]):
            with tf1.control_dependencies([v.assign_add(4.0, read_value=False)]):
                return v.read_value()
    y = tf1.cond(p, branch, lambda: v.read_value() + 100)
    gives(case, [], targets=[v.initializer])
    for value in (False, True, False):
        gives(case, y, {p: np.bool_(value)})


def _read_under_condition(case, random):
    """initialised when it is not yet"""
    v = tf1.get_variable('v', initializer=[3.0], use_resource=False)
    y = tf1.cond(tf1.is_variable_initialized(v), lambda: v.read_value(), lambda: tf1.identity(tf1.constant([-1.0])))
    case.freeze()
    gives(case, y)
    gives(case, [], targets=[v.initializer])
    gives(case, y)


def _loop_in_branch(case, random):
    """loops in both branches"""
    p, x = _inputs()
    y = tf1.cond(p, lambda: tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), [tf.constant(0), x])[1],
                 lambda: tf1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y + x), [tf.constant(0), x])[1])
    _both(case, y, p, {x: X})


def _cond_of_conds(case, random):
    """a conditional on the result of a conditional"""
    p, x = _inputs()
    first = tf1.cond(p, lambda: x + 1, lambda: x - 10)
    _both(case, [first, tf1.cond(tf1.reduce_max(first) > 0, lambda: first, lambda: tf1.abs(first))], p, {x: X})


def _same_value(case, random):
    """both branches return the same"""
    p, x = _inputs()
    _both(case, tf1.cond(p, lambda: x, lambda: x), p, {x: X})


def _empty_branches(case, random):
    """branches of operations without results"""
    p = tf1.placeholder(np.bool_, [], 'p')
    done = tf1.cond(p, lambda: tf1.no_op(), lambda: tf1.group(tf1.no_op(), tf1.no_op()))
    _both(case, done, p)


def _shapes_differ(case, random):
    """branches of different shapes"""
    p, x = _inputs()
    y = tf1.cond(p, lambda: x, lambda: tf1.reshape(tf1.concat([x, x], 0), [2, 3]))
    _both(case, [y, tf1.shape(y), tf1.rank(y), tf1.reduce_sum(y, -1)], p, {x: X})


def _heavy(case, random):
    """many values go into a conditional"""
    p = tf1.placeholder(np.bool_, [], 'p')
    xs = [tf1.placeholder(np.float32, [2], f'x{i}') for i in range(6)]
    y = tf1.cond(p, lambda: tf1.add_n(xs), lambda: tf1.stack(xs, 1))
    _both(case, y, p, {x: random.standard_normal(2).astype(np.float32) for x in xs})


def _lowered(case, random):
    """If, While and Case that are to be lowered to Switch and Merge"""
    p, x = _inputs()
    k = tf1.placeholder(np.int32, [], 'k')
    tf1.enable_control_flow_v2()
    y = tf1.cond(p, lambda: x * 2, lambda: x - 1)
    z = tf1.while_loop(lambda i, z: i < k, lambda i, z: (i + 1, z + y), [tf.constant(0), x])[1]
    branches = [tf.function(lambda x: x + 1).get_concrete_function(z), tf.function(lambda x: x * x).get_concrete_function(z)]
    chosen = tf.raw_ops.Case(branch_index=k, input=[z], Tout=[tf.float32], branches=branches, output_shapes=[[3]])[0]
    chosen.op._set_attr('_lower_using_switch_merge', tf1.AttrValue(b=True))
    case.freeze(keep=['_lower_using_switch_merge'])
    lowered = [node.op for node in case.graph_def.node if '_lower_using_switch_merge' in node.attr]
    if len(lowered) != 3:
        raise ValueError(lowered)
    for value in (0, 1, 3):
        _both(case, [y, z, chosen], p, {x: X, k: np.int32(value)})


# --- gradients ---

def _gradient(case, random):
    """the gradient of a conditional"""
    p, x = _inputs()
    y = tf1.cond(p, lambda: x * x, lambda: tf1.exp(x))
    _both(case, [y, *tf1.gradients(y, x)], p, {x: X})


def _gradient_of_captured(case, random):
    """the gradient of a conditional with a matrix"""
    p = tf1.placeholder(np.bool_, [], 'p')
    x, w = tf1.placeholder(np.float32, [2, 3], 'x'), tf1.placeholder(np.float32, [3, 3], 'w')
    y = tf1.cond(p, lambda: tf1.tanh(tf1.matmul(x, w)), lambda: x)
    _both(case, [y, *tf1.gradients(y, [x, w])], p, {x: random.standard_normal((2, 3)).astype(np.float32), w: random.standard_normal((3, 3)).astype(np.float32)})


def _gradient_of_nested(case, random):
    """the gradient of nested conditionals"""
    p, x = _inputs()
    q = tf1.placeholder(np.bool_, [], 'q')
    y = tf1.cond(p, lambda: x * tf1.cond(q, lambda: tf1.sin(x), lambda: x * x), lambda: tf1.cond(q, lambda: tf1.exp(x), lambda: x * 3))
    gradients = tf1.gradients(y, x)
    for value in (True, False):
        _both(case, gradients, p, {x: X, q: np.bool_(value)})


def _second(case, random):
    """the second derivative of a conditional"""
    p, x = _inputs()
    y = tf1.cond(p, lambda: x * x * x, lambda: tf1.exp(2 * x))
    first = tf1.gradients(y, x)[0]
    _both(case, [first, *tf1.gradients(first, x)], p, {x: X})


def _third(case, random):
    """the third derivative of nested conditionals"""
    p, x = _inputs()
    y = tf1.cond(p, lambda: tf1.cond(x[0] > 0, lambda: tf1.sin(x), lambda: x), lambda: x ** 4)
    first = tf1.gradients(y, x)[0]
    second = tf1.gradients(first, x)[0]
    _both(case, [second, *tf1.gradients(second, x)], p, {x: X})


def _one_branch_ignores(case, random):
    """the gradient where one branch does not read the input"""
    p, x = _inputs()
    y = tf1.cond(p, lambda: tf1.reduce_sum(x * x), lambda: tf.constant(2.0))
    _both(case, [y, *tf1.gradients(y + tf1.reduce_sum(x), x)], p, {x: X})


def _gradient_of_case(case, random):
    """the gradient of one of several branches"""
    x, k = tf1.placeholder(np.float32, [3], 'x'), tf1.placeholder(np.int32, [], 'k')
    y = tf1.case([(k < 1, lambda: tf1.exp(x)), (k < 3, lambda: x * x), (tf1.equal(k, 5), lambda: tf1.reverse(x, [0]))], default=lambda: -x)
    gradients = tf1.gradients(y, x, tf.constant([1.0, 10.0, 100.0]))
    for value in (0, 2, 3, 5):
        gives(case, gradients, {x: X, k: np.int32(value)}, tolerance=CLOSE)


def _gradient_of_sparse(case, random):
    """the gradient of rows that a branch looks up"""
    p, i = tf1.placeholder(np.bool_, [], 'p'), tf1.placeholder(np.int32, [None], 'i')
    table = tf1.placeholder(np.float32, [4, 2], 'table')
    y = tf1.cond(p, lambda: tf1.gather(table, i), lambda: tf1.gather(table, i + 1) * 2)
    dy = tf.convert_to_tensor(tf1.gradients(y * y, table)[0])
    _both(case, [y, dy], p, {i: np.int32([0, 2, 0]), table: random.standard_normal((4, 2)).astype(np.float32)})


# --- conditionals that fail ---

def _assertion(case, random):
    """an assertion in a branch"""
    p, x = _inputs()

    def branch():
        with tf1.control_dependencies([tf1.Assert(x[0] > 0, ['first is', x[0]], name='positive')]):
            return tf1.Print(x, [x], first_n=0) + 1
    y = tf1.cond(p, branch, lambda: x)
    _both(case, y, p, {x: X})
    gives(case, y, {p: np.bool_(False), x: -X})
    fails(case, y, {p: np.bool_(True), x: -X})
    gives(case, y, {p: np.bool_(True), x: X})


def _failing_branch(case, random):
    """an error in the branch that is taken"""
    p, k = tf1.placeholder(np.bool_, [], 'p'), tf1.placeholder(np.int32, [], 'k')
    y = tf1.cond(p, lambda: 12 // k, lambda: k)
    fails(case, y, {p: np.bool_(True), k: np.int32(0)})
    gives(case, y, {p: np.bool_(False), k: np.int32(0)})
    gives(case, y, {p: np.bool_(True), k: np.int32(5)})


def _dead_fetch(case, random):
    """a fetch in the branch that is not taken"""
    p, x = _inputs()
    y = tf1.cond(p, lambda: tf1.multiply(x, 2, name='twice'), lambda: x - 1)
    allow_all_fetches(case.graph)
    twice = case.graph.get_tensor_by_name('cond/twice:0')
    gives(case, twice, {p: np.bool_(True), x: X})
    fails(case, twice, {p: np.bool_(False), x: X})
    gives(case, y, {p: np.bool_(False), x: X})


def _dead_among_others(case, random):
    """of several fetches the second has no value"""
    p, x = _inputs()
    no, yes = tf.raw_ops.Switch(data=x, pred=p, name='switch')
    fetches = [tf1.identity(x, 'same'), tf1.add(no, 1, 'more'), tf1.add(x, 5, 'most')]
    allow_all_fetches(case.graph)
    gives(case, fetches, {p: np.bool_(False), x: X})
    fails(case, fetches, {p: np.bool_(True), x: X})
    fails(case, [yes, no], {p: np.bool_(True), x: X})
    gives(case, yes, {p: np.bool_(True), x: X})


def _dead_target(case, random):
    """a target that is not run is no error"""
    p, x = _inputs()
    no, _ = tf.raw_ops.Switch(data=x, pred=p, name='switch')
    checked = tf1.check_numerics(no, 'a branch', name='checked')
    bad = np.float32([1, np.inf, 2])
    gives(case, [], {p: np.bool_(True), x: bad}, targets=[checked.op])
    fails(case, [], {p: np.bool_(False), x: bad}, targets=[checked.op])


def _vector(case, random):
    """a predicate that is no scalar"""
    p, x = tf1.placeholder(np.bool_, None, 'p'), tf1.placeholder(np.float32, [3], 'x')
    y = tf1.cond(p, lambda: x * 2, lambda: x - 1)
    fails(case, y, {p: np.array([True, False]), x: X})
    fails(case, y, {p: np.array([], bool), x: X})
    gives(case, y, {p: np.bool_(True), x: X})


def _uninitialized(case, random):
    """a branch reads a variable without a value"""
    p = tf1.placeholder(np.bool_, [], 'p')
    v = tf1.get_variable('v', initializer=[3.0], use_resource=False)
    y = tf1.cond(p, lambda: v.read_value(), lambda: tf.constant([1.0]))
    gives(case, y, {p: np.bool_(False)})
    fails(case, y, {p: np.bool_(True)})
