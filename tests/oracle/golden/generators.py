"""Random ops of TensorFlow 2: keys and counters, and generators in variables."""
import numpy as np
import tensorflow as tf

from data import FLOATS
from random_numbers import NORMAL
from writer import EXACT

tf1 = tf.compat.v1
KEY, COUNTER = np.uint64([10413732777507651514]), np.uint64([3, 17830669156045600267])
INTS = [np.int32, np.int64, np.uint32, np.uint64]


def cases(golden):
    _keys(golden)
    _keyed(golden)
    _stateful(golden)
    _shuffles(golden)


def _keys(golden):
    for seed in (np.int64([37, 48]), np.int32([0, 0]), np.int64([123456789012, -5]), np.int32([-1, 2])):
        golden.op('StatelessRandomGetKeyCounter', [seed], name=str(seed))
        golden.op('StatelessRandomGetKeyCounterAlg', [seed], name=str(seed))
        for dtype in INTS:
            golden.op('StatelessRandomUniformFullInt', [np.int32([5]), seed], {'dtype': tf.as_dtype(dtype)}, name=f'{seed} {dtype.__name__}')
    golden.op('StatelessRandomGetAlg', [])
    for op in ('StatelessRandomGetKeyCounter', 'StatelessRandomGetKeyCounterAlg', ):
        golden.fails(op, [np.int32([1, 2, 3])])
        golden.fails(op, [np.int32(1)])


def _keyed(golden):
    generator = [KEY, COUNTER, np.int32(1)]
    for op in ('StatelessRandomUniformV2', 'StatelessRandomNormalV2', 'StatelessTruncatedNormalV2'):
        tolerance = EXACT if 'Uniform' in op else NORMAL
        for dtype in FLOATS:
            for size in ([9], [2, 0], []):
                golden.op(op, [np.int32(size), *generator], {'dtype': tf.as_dtype(dtype)}, tolerance=tolerance,
                          name=f'{tf.as_dtype(dtype).name} {size}')
        golden.op(op, [np.int64([3]), KEY, np.uint64([1, 2, 3]), np.int32(3)], tolerance=tolerance)
        for wrong in ([KEY[0], COUNTER, np.int32(1)], [np.uint64([1, 2]), COUNTER, np.int32(1)], [KEY, COUNTER, np.int32(0)],
                      [KEY, COUNTER, np.int32(2)], [KEY, COUNTER, np.int32([1])]):
            golden.fails(op, [np.int32([3]), *wrong], name=str(wrong[2]))
        golden.fails(op, [np.int32([-3]), *generator])
    for dtype in INTS:
        low, high = np.array(3, dtype), np.array(1000 if dtype().itemsize == 4 else 5000000000, dtype)
        for size in ([9], [0]):
            golden.op('StatelessRandomUniformIntV2', [np.int32(size), *generator, low, high])
            golden.op('StatelessRandomUniformFullIntV2', [np.int32(size), *generator], {'dtype': tf.as_dtype(dtype)})
        golden.op('StatelessRandomUniformIntV2', [np.int32([0]), *generator, high, low], name='empty')
        if dtype().dtype.kind == 'i':  # TensorFlow has no kernel for others
            golden.fails('StatelessRandomUniformIntV2', [np.int32([2]), *generator, high, low])
    golden.fails('StatelessRandomUniformIntV2', [np.int32([2]), *generator, np.int32([1]), np.int32(4)])


def _state(values):
    """The handle of a variable, and the op that sets it."""
    values = np.asarray(values)
    handle = tf.raw_ops.VarHandleOp(dtype=values.dtype, shape=values.shape, shared_name='v', name='v')
    return handle, tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(values), name='init')


def _run(golden, name, state, make, tolerance=EXACT):
    """Two steps of the op and then the state."""
    with golden.graph(name) as case:
        handle, init = _state(state)
        made = make(handle)
        operation = made if isinstance(made, tf.Operation) else made.op
        after = tf.raw_ops.ReadVariableOp(resource=handle, dtype=np.asarray(state).dtype, name='after')
        outputs = {f'{operation.name}:{i}': output for i, output in enumerate(operation.outputs)}
        case.step({}, targets=[init])
        for _ in range(2):
            case.step(outputs, targets=[operation], tolerance=tolerance)
        case.step({'after:0': after})


def _stateful(golden):
    raw, states = tf.raw_ops, [np.int64([1, 2, 3]), np.int64([-1, -1, -7, 5])]
    for state in states:
        for dtype in FLOATS:
            dtype = tf.as_dtype(dtype)
            for op, tolerance in (('StatefulUniform', EXACT), ('StatefulStandardNormalV2', NORMAL), ('StatefulTruncatedNormal', NORMAL)):
                _run(golden, f'{op} {dtype.name} {state}', state,
                     lambda v: getattr(raw, op)(resource=v, algorithm=1, shape=[5], dtype=dtype, name='op'), tolerance)
        for dtype in INTS:
            dtype = tf.as_dtype(dtype)
            if not dtype.is_unsigned:  # TensorFlow has no kernel
                _run(golden, f'StatefulUniformInt {dtype.name} {state}', state, lambda v: raw.StatefulUniformInt(
                    resource=v, algorithm=1, shape=[5], minval=tf.constant(2, dtype), maxval=tf.constant(77, dtype), name='op'))
            _run(golden, f'StatefulUniformFullInt {dtype.name} {state}', state,
                 lambda v: raw.StatefulUniformFullInt(resource=v, algorithm=1, shape=[5], dtype=dtype, name='op'))
        _run(golden, f'RngSkip {state}', state, lambda v: raw.RngSkip(resource=v, algorithm=1, delta=5, name='op'))
        if len(state) == 3:  # TensorFlow writes past its output otherwise
            _run(golden, f'RngReadAndSkip {state}', state, lambda v: raw.RngReadAndSkip(resource=v, alg=1, delta=tf.constant(5, tf.uint64), name='op'))
    wrong = [(np.int64([1, 2]), 1), (np.int64([1, 2, 3]), 2), (np.int64([1, 2, 3]), 7), (np.int64([[1, 2, 3]]), 1), (np.int32([1, 2, 3]), 1)]
    for state, algorithm in wrong:
        _run(golden, f'StatefulUniform fails {state} {state.dtype} {algorithm}', state,
             lambda v: raw.StatefulUniform(resource=v, algorithm=algorithm, shape=[5], name='op'))
        _run(golden, f'RngReadAndSkip fails {state} {state.dtype} {algorithm}', state,
             lambda v: raw.RngReadAndSkip(resource=v, alg=algorithm, delta=tf.constant(5, tf.uint64), name='op'))


def _shuffles(golden):
    generator = [KEY, COUNTER, np.int32(1)]
    for rows in (0, 1, 2, 4, 17):
        golden.op('StatelessShuffle', [np.arange(rows, dtype=np.int32), *generator])
    golden.op('StatelessShuffle', [np.float32([[1, 2], [3, 4], [5, 6]]), *generator])
    golden.op('StatelessShuffle', [np.array([b'a', b'b', b'c'], object), *generator])
    golden.op('StatelessShuffle', [np.float64(3), *generator])
    golden.fails('StatelessShuffle', [np.int32([1, 2]), KEY, COUNTER, np.int32(2)])
