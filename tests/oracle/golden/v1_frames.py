"""Switch, Merge, Enter, Exit and NextIteration, wired by hand in ways that TensorFlow's Python never does: frames, dead values, and
graphs that TensorFlow refuses."""
import numpy as np
import tensorflow as tf

from control_flow import fails, gives, record
from writer import tf1

raw = tf.raw_ops
X = np.float32([1, -2, 3])


def cases(golden):
    record(golden, [_switch, _merge, _merge_of_three, _dead_merge, _merge_waits, _trigger, _constant_enter, _plain_enter, _nested_constant, _dead_enter,
                    _one_exit_of_two, _reference_switch, _reference_merge, _reference_select, _reference_loop, _numbered_switch, _same_frame_name, _dead_control, _abort,
                    _parallel_zero, _merge_of_switches])
    record(golden, [_no_frame_name, _different_frames, _exit_alone, _next_alone, _next_of_merge, _next_beside_merge, _dead_next, _two_conditions, _inputs_of_two_frames, _vector_condition])


def _p():
    return tf1.placeholder(np.bool_, None, 'p')


def _x():
    return tf1.placeholder(np.float32, None, 'x')


def _switch(case, random):
    """Switch gives one of its outputs"""
    p, x = _p(), _x()
    no, yes = raw.Switch(data=x, pred=p)
    gives(case, no, {p: np.bool_(False), x: X})
    gives(case, yes, {p: np.bool_(True), x: X})
    fails(case, [no, yes], {p: np.bool_(True), x: X})
    fails(case, no, {p: np.array([False]), x: X})


def _merge(case, random):
    """Merge says which input it took"""
    p, x = _p(), _x()
    no, yes = raw.Switch(data=x, pred=p)
    value, index = raw.Merge(inputs=[no * 2, yes + 1])
    for choice in (False, True):
        gives(case, [value, index], {p: np.bool_(choice), x: X})


def _merge_of_three(case, random):
    """a Merge of three inputs of which one is alive"""
    p, q, x = _p(), tf1.placeholder(np.bool_, [], 'q'), _x()
    no, yes = raw.Switch(data=x, pred=p)
    yes_no, yes_yes = raw.Switch(data=yes, pred=q)
    value, index = raw.Merge(inputs=[yes_yes + 1, no * 2, yes_no - 1])
    for choice in ((False, False), (False, True), (True, False), (True, True)):
        gives(case, [value, index], {p: np.bool_(choice[0]), q: np.bool_(choice[1]), x: X})


def _dead_merge(case, random):
    """a Merge whose inputs are all dead"""
    p, x = _p(), _x()
    no, _ = raw.Switch(data=x, pred=p)
    value, index = raw.Merge(inputs=[no * 2, no + 1])
    fails(case, [value, index], {p: np.bool_(True), x: X})
    gives(case, [], {p: np.bool_(True), x: X}, targets=[value.op])


def _merge_waits(case, random):
    """a Merge that waits for an operation"""
    p, x = _p(), _x()
    v = tf1.get_variable('v', initializer=1.0, use_resource=True)
    no, yes = raw.Switch(data=x, pred=p)
    with tf1.control_dependencies([v.assign_add(1.0, read_value=False)]):
        value, _ = raw.Merge(inputs=[no, yes])
    with tf1.control_dependencies([value.op]):
        after = v.read_value()
    gives(case, [], targets=[v.initializer])
    gives(case, [value, after], {p: np.bool_(True), x: X})


def _trigger(case, random):
    """a ControlTrigger is alive when what it waits for is dead"""
    p, x = _p(), _x()
    no, _ = raw.Switch(data=x, pred=p)
    with tf1.control_dependencies([no.op, tf1.negative(no)]):
        trigger = raw.ControlTrigger()
    with tf1.control_dependencies([trigger]):
        y = tf1.identity(x)
    for choice in (True, False):
        gives(case, y, {p: np.bool_(choice), x: X})


def _dead_control(case, random):
    """what waits for a dead operation is dead"""
    p, x = _p(), _x()
    no, _ = raw.Switch(data=x, pred=p)
    with tf1.control_dependencies([tf1.negative(no)]):
        y = tf1.identity(x)
    fails(case, y, {p: np.bool_(True), x: X})
    gives(case, y, {p: np.bool_(False), x: X})


def _inside(value, tensor):
    """A constant in the frame of a tensor."""
    with tf1.control_dependencies([tensor]):
        return tf.constant(value, tensor.dtype)


def _count(name, rounds, start, step=1, constant=True, parallel=10):
    """A loop that adds to `start`. Returns its exit."""
    i = raw.Enter(data=start, frame_name=name, parallel_iterations=parallel)
    limit = raw.Enter(data=rounds, frame_name=name, is_constant=constant, parallel_iterations=parallel)
    merge, _ = raw.Merge(inputs=[i, i])
    stop, go = raw.Switch(data=merge, pred=raw.LoopCond(input=merge < limit))
    merge.op._update_input(1, raw.NextIteration(data=go + _inside(step, go)))
    return raw.Exit(data=stop)


def _constant_enter(case, random):
    """a value that enters every round"""
    n = tf1.placeholder(np.int32, [], 'n')
    y = _count('frame', n, tf.constant(0), step=3)
    for count in (10, 0, 1):
        gives(case, y, {n: np.int32(count)})


def _plain_enter(case, random):
    """a value that enters the first round alone"""
    n = tf1.placeholder(np.int32, [], 'n')
    y = _count('frame', n, tf.constant(5), constant=False)
    gives(case, y, {n: np.int32(2)})
    fails(case, y, {n: np.int32(9)})


def _nested_constant(case, random):
    """a frame in a frame, without rounds"""
    x = _x()
    outer = raw.Enter(data=x, frame_name='outer', is_constant=True)
    inner = raw.Enter(data=outer + outer, frame_name='inner', is_constant=True)
    gives(case, raw.Exit(data=raw.Exit(data=inner * inner)), {x: X})


def _dead_enter(case, random):
    """a dead value enters a loop"""
    p = _p()
    no, yes = raw.Switch(data=tf.constant(0), pred=p)
    y = _count('frame', tf.constant(4), yes)
    merged, index = raw.Merge(inputs=[no - 1, y])
    fetches = [merged, index]
    for choice in (True, False):
        gives(case, fetches, {p: np.bool_(choice)})
    fails(case, y, {p: np.bool_(False)})


def _one_exit_of_two(case, random):
    """two loops of which one is fetched"""
    a, b = _count('one', tf.constant(5), tf.constant(0)), _count('two', tf.constant(9), tf.constant(1), step=3)
    gives(case, a)
    gives(case, [a, b])


def _same_frame_name(case, random):
    """two loops with the same frame name"""
    a = _count('frame', tf.constant(5), tf.constant(0))
    b = _count('frame', a, tf.constant(1), step=3)
    fails(case, b)


def _reference(name, value):
    v = tf1.get_variable(name, initializer=np.float32(value), use_resource=False)
    return v, v._ref()


def _reference_switch(case, random):
    """a reference goes through RefSwitch"""
    p = _p()
    v, ref = _reference('v', [1, 2])
    no, yes = _create('RefSwitch', [ref, p], [tf.float32._as_ref] * 2)
    added, doubled = tf1.assign_add(no, [1.0, 1.0]), tf1.assign(yes, [5.0, 6.0])
    gives(case, [], targets=[v.initializer])
    gives(case, added, {p: np.bool_(False)})
    gives(case, doubled, {p: np.bool_(True)})
    gives(case, added, {p: np.bool_(False)})
    fails(case, added, {p: np.array([False, True])})


def _create(op, inputs, outputs, **attrs):
    made = tf1.get_default_graph().create_op(op, inputs, outputs, name=op.strip('_'), input_types=[x.dtype for x in inputs], attrs={'T': tf1.AttrValue(type=1), **attrs})
    return made.outputs if len(made.outputs) > 1 else made.outputs[0]


def _reference_merge(case, random):
    """a reference goes through RefSwitch, RefIdentity and RefMerge"""
    p = _p()
    v, ref = _reference('v', [1, 2])
    no, yes = _create('RefSwitch', [ref, p], [tf.float32._as_ref] * 2)
    same, index = _create('RefMerge', [no, _create('RefIdentity', [yes], [tf.float32._as_ref])], [tf.float32._as_ref, tf.int32], N=tf1.AttrValue(i=2))
    added = tf1.assign_add(same, [1.0, 1.0])
    gives(case, [], targets=[v.initializer])
    for choice in (True, False):
        gives(case, [added, index], {p: np.bool_(choice)})


def _reference_select(case, random):
    """RefSelect picks one of several references"""
    i = tf1.placeholder(np.int32, None, 'i')
    variables = [_reference(f'v{k}', [k, k]) for k in range(3)]
    chosen = _create('RefSelect', [i, *[ref for _, ref in variables]], [tf.float32._as_ref], N=tf1.AttrValue(i=3))
    added = tf1.assign_add(chosen, [10.0, 20.0])
    reads = [v.value() for v, _ in variables]
    case.freeze()
    gives(case, [], targets=[v.initializer for v, _ in variables])
    gives(case, added, {i: np.int32(1)})
    gives(case, added, {i: np.int32(2)})
    gives(case, reads)
    for index in (3, -1, [1]):
        fails(case, added, {i: np.int32(index)})


def _reference_loop(case, random):
    """a reference goes around in a loop, through RefEnter, RefMerge, RefSwitch, RefNextIteration and RefExit"""
    v, ref = _reference('v', [1, 2])
    frame = {'frame_name': tf1.AttrValue(s=b'frame')}
    i, n = raw.Enter(data=tf.constant(0), frame_name='frame'), tf1.placeholder(np.int32, [], 'n')
    entered = _create('RefEnter', [ref], [tf.float32._as_ref], **frame)
    count, _ = raw.Merge(inputs=[i, i])
    around, _ = _create('RefMerge', [entered, entered], [tf.float32._as_ref, tf.int32], N=tf1.AttrValue(i=2))
    go = raw.LoopCond(input=count < raw.Enter(data=n, frame_name='frame', is_constant=True))
    stop, again = raw.Switch(data=count, pred=go)
    left, inside = _create('RefSwitch', [around, go], [tf.float32._as_ref] * 2)
    added = tf1.assign_add(inside, raw.Enter(data=tf.constant([10.0, 1.0]), frame_name='frame', is_constant=True))
    with tf1.control_dependencies([added]):
        count.op._update_input(1, raw.NextIteration(data=again + _inside(1, again)))
    around.op._update_input(1, _create('RefNextIteration', [added], [tf.float32._as_ref]))
    out = _create('RefExit', [left], [tf.float32._as_ref])
    doubled = tf1.assign_add(out, tf.constant([0.5, 0.5]))
    case.freeze()
    gives(case, [], targets=[v.initializer])
    for rounds in (3, 0):
        gives(case, doubled, {n: np.int32(rounds)})


def _numbered_switch(case, random):
    """_SwitchN gives the output of a number"""
    i, x = tf1.placeholder(np.int32, None, 'i'), _x()
    outputs = _create('_SwitchN', [x, i], [tf.float32] * 3, num_outs=tf1.AttrValue(i=3))
    value, index = raw.Merge(inputs=[y + k for k, y in enumerate(outputs)])
    for choice in (0, 1, 2, 3, -1):
        gives(case, [value, index], {i: np.int32(choice), x: X})
    fails(case, value, {i: np.int32([1]), x: X})


def _abort(case, random):
    """an Abort that is dead"""
    p, x = _p(), _x()
    no, yes = raw.Switch(data=x, pred=p)
    with tf1.control_dependencies([tf1.negative(no)]):
        dead = raw.Abort(error_msg='not in this branch')
    gives(case, yes, {p: np.bool_(True), x: X}, targets=[dead])


def _parallel_zero(case, random):
    """a loop whose parallel_iterations is 1"""
    gives(case, _count('frame', tf.constant(7), tf.constant(0), parallel=1))


def _merge_of_switches(case, random):
    """both sides of a Switch are merged and switched again"""
    p, q, x = _p(), tf1.placeholder(np.bool_, [], 'q'), _x()
    first, _ = raw.Merge(inputs=list(raw.Switch(data=x, pred=p)))
    no, yes = raw.Switch(data=first, pred=q)
    second, index = raw.Merge(inputs=[no + 1, yes * 2])
    for choice in ((False, False), (True, True)):
        gives(case, [first, second, index], {p: np.bool_(choice[0]), q: np.bool_(choice[1]), x: X})


# --- graphs that TensorFlow refuses ---

def _no_frame_name(case, random):
    """an Enter without a frame name"""
    x = _x()
    fails(case, raw.Exit(data=raw.Enter(data=x, frame_name='')), {x: X})


def _different_frames(case, random):
    """an operation with one input in a frame"""
    x = _x()
    fails(case, raw.Exit(data=raw.Enter(data=x, frame_name='frame') + x), {x: X})


def _inputs_of_two_frames(case, random):
    """an operation with inputs in two frames"""
    x = _x()
    fails(case, raw.Exit(data=raw.Enter(data=x, frame_name='one') + raw.Enter(data=x, frame_name='two')), {x: X})


def _exit_alone(case, random):
    """an Exit without an Enter"""
    x = _x()
    fails(case, raw.Exit(data=x) + 1, {x: X})


def _next_alone(case, random):
    """a NextIteration without an Enter"""
    x = _x()
    merge, _ = raw.Merge(inputs=[x, x])
    stop, go = raw.Switch(data=merge, pred=tf1.reduce_sum(merge) > 9)
    merge.op._update_input(1, raw.NextIteration(data=stop * 2))
    y = go + 1
    fails(case, y, {x: X})


def _merged_with_next(x, following=lambda m: m):
    """A Merge of x and a NextIteration of what follows from the Merge, or from x."""
    merge, _ = raw.Merge(inputs=[x, x])
    later = raw.NextIteration(data=following(merge))
    merge.op._update_input(1, later)
    return merge, later


def _next_of_merge(case, random):
    """a Merge outside of loops that reads its own NextIteration"""
    x = _x()
    merge, later = _merged_with_next(x)
    squares = [-x, -merge * merge]
    fails(case, merge, {x: X})
    fails(case, later, {x: X})
    fails(case, squares, {x: X})


def _next_beside_merge(case, random):
    """a Merge of a value and its NextIteration outside of loops"""
    x = _x()
    merge, later = _merged_with_next(x, lambda merge: x * 2)
    y, z = -merge, x + merge
    fails(case, y, {x: X})
    gives(case, [later, z], {x: X})


def _dead_next(case, random):
    """a Merge outside of loops whose NextIteration is dead"""
    x, p = _x(), _p()
    merge, later = _merged_with_next(x, lambda merge: raw.Switch(data=merge, pred=p)[1])
    y = -merge
    gives(case, y, {x: X, p: np.bool_(False)})
    fails(case, y, {x: X, p: np.bool_(True)})


def _two_conditions(case, random):
    """two LoopConds in one frame"""
    i = raw.Enter(data=tf.constant(0), frame_name='frame')
    merge, _ = raw.Merge(inputs=[i, i])
    stop, go = raw.Switch(data=merge, pred=raw.LoopCond(input=merge < _inside(3, merge)))
    _, again = raw.Switch(data=go, pred=raw.LoopCond(input=merge < _inside(9, merge)))
    merge.op._update_input(1, raw.NextIteration(data=again + _inside(1, again)))
    fails(case, raw.Exit(data=stop))


def _vector_condition(case, random):
    """a condition that is no scalar"""
    x = _x()
    i = raw.Enter(data=x, frame_name='frame')
    merge, _ = raw.Merge(inputs=[i, i])
    stop, go = raw.Switch(data=merge, pred=raw.LoopCond(input=merge < _inside(3, merge)))
    merge.op._update_input(1, raw.NextIteration(data=go + _inside(1, go)))
    fails(case, raw.Exit(data=stop), {x: X})
