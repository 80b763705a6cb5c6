"""Attrs, allowed values and dtypes that TensorFlow 2 added to ops of 1.15."""
import numpy as np
import tensorflow as tf

from data import bfloat16, nonzero, numbers
from writer import ELEMENTWISE, SUMMED, TO_LARGEST, tf1

SMALL = [np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64]


def cases(golden):
    random = golden.random

    def x(shape, dtype=np.float32):
        return numbers(random, shape, dtype)

    _dtypes(golden, x)
    _windows(golden, x)
    _equality(golden, x)
    _indices(golden, x)
    _segments(golden, x)
    _batch_norm(golden, x)
    _lists(golden)
    _variables(golden, x)
    _ftrl(golden, x)


def last(count):
    """The largest element is the last one."""
    return np.array([0] * (count - 1) + [1], np.uint8)


def named(*tensors):
    return {tensor.name: tensor for tensor in tensors}


def _dtypes(golden, x):
    for op, types in {'AddV2': [np.uint16, np.uint32, np.uint64], 'Sub': [np.uint32, np.uint64], 'Mul': [np.uint32, np.uint64], 'Maximum': SMALL, 'Minimum': SMALL}.items():
        for dtype in types:
            top = np.iinfo(dtype).max
            golden.op(op, [x((3, 1), dtype), x((1, 5), dtype)])
            golden.op(op, [np.array([top, top // 2 + 1, 3], dtype), np.array([2, top, top], dtype)], name=f'{np.dtype(dtype)} at its ends')
    for op in ['Div', 'FloorDiv', 'TruncateDiv', 'FloorMod']:
        for dtype in SMALL if op == 'FloorMod' else [np.uint32, np.uint64]:
            top = np.iinfo(dtype).max
            golden.op(op, [x((3, 1), dtype), nonzero(golden.random, (1, 5), dtype)])
            golden.op(op, [np.array([top, top // 2 + 1, 3], dtype), np.array([2, top, top], dtype)], name=f'{np.dtype(dtype)} at its ends')
            if op != 'TruncateDiv':  # INTERNAL in TensorFlow, which expects no error there
                golden.fails(op, [x((3,), dtype), np.zeros(3, dtype)])
    for op in ['DivNoNan', 'MulNoNan', 'Xdivy', 'Xlogy']:
        golden.op(op, [x((3, 1), bfloat16), np.abs(x((1, 5), bfloat16))], tolerance=ELEMENTWISE)
    for dtype in [np.int8, np.int16]:
        smallest = np.array([np.iinfo(dtype).min, -1, 0, 1, np.iinfo(dtype).max], dtype)
        for op in ['Abs', 'Neg', 'Sign', 'Square']:
            golden.op(op, [x((3, 5), dtype)])
            golden.op(op, [smallest], name=f'{np.dtype(dtype)} at its ends')
        golden.op('Pow', [x((3, 1), dtype), np.array([0, 1, 2, 3, 7], dtype)])
        golden.fails('Pow', [x((2,), dtype), np.array([1, -1], dtype)])
    for dtype in [np.uint8, np.uint16, np.uint32, np.uint64]:
        golden.op('Square', [x((17,), dtype) * np.array(60, dtype)])
    for dtype in [np.uint16, np.uint32, np.uint64]:
        for op in ['Equal', 'NotEqual']:
            golden.op(op, [x((3, 1), dtype), x((1, 9), dtype)])
        golden.op('OnesLike', [x((7,), dtype)])
        golden.op('ReverseV2', [x((2, 5), dtype), np.int32([1])])
    golden.op('Reverse', [x((2, 5), bfloat16), np.array([False, True])])
    golden.op('Range', [np.float16(1), np.float16(9), np.float16(3)])
    golden.op('Range', [np.float16(0), np.float16(3), np.float16(0.1)])
    golden.op('BatchMatMulV2', [x((2, 3, 5), np.int16) * np.int16(100), x((5, 4), np.int16) * np.int16(70)])
    golden.op('BatchMatMulV2', [x((2, 5, 3), np.int16), x((2, 4, 5), np.int16)], {'adj_x': True, 'adj_y': True})
    golden.op('ResizeNearestNeighbor', [x((1, 3, 2, 2), bfloat16), np.int32([5, 3])])
    golden.op('ResizeNearestNeighborGrad', [x((1, 5, 3, 2), bfloat16), np.int32([3, 2])])
    for op in ['ArgMax', 'ArgMin']:
        golden.op(op, [x((3, 5), bool), np.int32(1)])
        golden.op(op, [x((3, 5), bool), np.int32(0)])
    golden.op('ArgMax', [x((3, 5)), np.int32(-1)], {'output_type': tf.int16})  # TensorFlow reads an int16 dimension as int32
    golden.op('ArgMax', [last(70000), np.int32(0)], {'output_type': tf.uint16})
    golden.op('ArgMax', [last(40000), np.int32(0)], {'output_type': tf.int16})
    golden.op('ConcatOffset', [np.int32(1), [np.int64([2, 3]), np.int64([2, 2**40]), np.int64([2, 1])]])
    for index_type in [tf.int16, tf.int64]:
        golden.op('TopKV2', [x((3, 7)), np.asarray(2, index_type.as_numpy_dtype)], {'index_type': index_type}, gradient=True, differentiable=[0])
    golden.fails('TopKV2', [last(40000), np.int32(1)], {'index_type': tf.int16})
    for attrs, filters in [({'padding': 'SAME'}, (3, 3, 3, 4)), ({'padding': 'VALID', 'strides': [1, 2, 1, 1]}, (2, 3, 3, 2)),
                           ({'padding': 'EXPLICIT', 'explicit_paddings': [0, 0, 2, 1, 0, 3, 0, 0], 'dilations': [1, 1, 2, 1]}, (3, 2, 3, 2))]:
        attrs = {'strides': [1, 1, 1, 1]} | attrs
        golden.op('Conv2D', [x((2, 6, 5, 3), np.int32), x(filters, np.int32)], attrs)
    golden.op('Conv2DBackpropInput', [np.int32([2, 6, 5, 3]), x((3, 2, 3, 4), np.int32), x((2, 3, 5, 4), np.int32)],
              {'strides': [1, 2, 1, 1], 'padding': 'SAME'})


def _windows(golden, x):
    pads = [[0, 0, 1, 0, 0, 1, 0, 0], [0, 0, 2, 2, 2, 2, 0, 0], [0, 0, 0, 0, 0, 2, 0, 0]]
    for pad in pads:
        for strides in [[1, 1, 1, 1], [1, 2, 3, 1]]:
            attrs = {'ksize': [1, 3, 3, 1], 'strides': strides, 'padding': 'EXPLICIT', 'explicit_paddings': pad}
            golden.op('MaxPool', [x((2, 5, 6, 3))], attrs, gradient=True)
            layer = {'strides': [1, 2, 2, 1] if strides[1] == 2 else strides, 'padding': 'EXPLICIT', 'explicit_paddings': pad}
            for filters in [(3, 3, 3, 1), (2, 3, 3, 2)]:
                golden.op('DepthwiseConv2dNative', [x((2, 5, 6, 3)), x(filters)], layer, tolerance=SUMMED, gradient=True)
    for dtype in [np.float64, np.float16, bfloat16, np.int32]:
        golden.op('MaxPool', [x((1, 4, 4, 2), dtype)], {'ksize': [1, 2, 2, 1], 'strides': [1, 1, 1, 1], 'padding': 'EXPLICIT', 'explicit_paddings': pads[0]})
    wide = {'strides': [1, 1, 1, 1], 'padding': 'EXPLICIT', 'explicit_paddings': [0, 0, 5, 5, 5, 5, 0, 0]}
    golden.op('DepthwiseConv2dNative', [x((1, 4, 4, 2)), x((3, 3, 2, 1))], wide, tolerance=SUMMED, gradient=True)
    pool = {'ksize': [1, 3, 3, 1], 'strides': [1, 1, 1, 1], 'padding': 'EXPLICIT'}
    for pad in [[0, 0, 3, 0, 0, 0, 0, 0], [0, 0, 0, 3, 0, 0, 0, 0], [0, 0, 0, 0, 4, 0, 0, 0], [0, 0, 0, 0, 0, 3, 0, 0]]:
        golden.fails('MaxPool', [x((1, 4, 4, 1))], pool | {'explicit_paddings': pad})
    golden.fails('MaxPool', [x((1, 2, 2, 4))], {'ksize': [1, 1, 1, 2], 'strides': [1, 1, 1, 2], 'padding': 'EXPLICIT', 'explicit_paddings': [0] * 8})


def _equality(golden, x):
    for op in ['Equal', 'NotEqual']:
        for a, b in [((2,), (3,)), ((2, 3), (3,)), ((0,), (2,)), ((2, 3), (3, 2)), ((2, 1), (1, 3))]:
            golden.op(op, [x(a), x(b)], {'incompatible_shape_error': False})
        golden.op(op, [x((2,), object), x((3,), object)], {'incompatible_shape_error': False})
        golden.fails(op, [x((2,)), x((3,))], {'incompatible_shape_error': True})


def _indices(golden, x):
    one_bad, bad = np.int32([[0], [7], [1], [1]]), np.int32([[0], [7], [1], [-1]])
    for policy in ['', 'DEFAULT', 'ERROR', 'IGNORE']:
        attrs = {'bad_indices_policy': policy}
        run, at = (golden.op, bad) if policy == 'IGNORE' else (golden.fails, one_bad)
        # TensorFlow names the node behind the words of GatherNd, and its gradients of the others forget the policy.
        run('GatherNd', [x((3, 2)), at], attrs, **({} if policy == 'IGNORE' else {'message': 'indices[1] = [7] does not index into param shape [3,2]'}))
        run('ScatterNd', [at, x((4, 2)), np.int32([3, 2])], attrs)
        for op in ['TensorScatterUpdate', 'TensorScatterAdd', 'TensorScatterSub', 'ScatterNdNonAliasingAdd']:
            run(op, [x((3, 2)), at, x((4, 2))], attrs)
    golden.fails('ScatterNd', [one_bad, x((4,)), np.int32([3])], {'bad_indices_policy': 'NONE'})
    golden.op('GatherNd', [x((3, 2), object), bad], {'bad_indices_policy': 'IGNORE'})
    narrow = np.int16([2, 0, 1, 0])
    golden.op('GatherV2', [x((3, 2)), narrow, np.int32(0)], gradient=True)
    golden.op('GatherV2', [x((2, 3, 2)), narrow.reshape(2, 2), np.int64(1)], {'batch_dims': 1})
    golden.op('GatherNd', [x((3, 2)), narrow[:, None]], gradient=True)
    golden.fails('GatherV2', [x((3, 2)), np.int16([3]), np.int32(0)])
    golden.op('UnsortedSegmentSum', [x((4, 2)), narrow, np.int32(3)], gradient=True)
    golden.op('OneHot', [np.int8([1, -1, 2, 7]), np.int32(3), np.float32(1), np.float32(0)])
    golden.op('SplitV', [x((5, 2)), np.int8([1, -1, 2]), np.int32(0)], {'num_split': 3})
    golden.op('StridedSlice', [x((5, 4)), np.int16([1, -1]), np.int16([5, 0]), np.int16([2, -1])])


def _segments(golden, x):
    for dtype in [np.float32, np.float16, bfloat16]:
        for kind in ['Sum', 'Mean', 'SqrtN']:
            if kind == 'Sum' and dtype != np.float32:
                continue
            for ids_type in [np.int32, np.int64]:
                inputs = [x((5, 3), dtype), np.int32([4, 0, 2, 2, 1]), ids_type([0, 0, 0, 2, 2])]
                golden.op(f'SparseSegment{kind}', inputs, tolerance=SUMMED, gradient=dtype == np.float32)
                golden.op(f'SparseSegment{kind}WithNumSegments', inputs + [np.int32(4)], tolerance=SUMMED, gradient=dtype == np.float32)
                if kind != 'Sum':
                    golden.op(f'SparseSegment{kind}Grad', [x((3, 3), dtype), np.int32([4, 0, 2, 2, 1]), ids_type([0, 0, 0, 2, 2]), np.int32(5)], tolerance=SUMMED)


def _batch_norm(golden, x):
    for op in ['FusedBatchNorm', 'FusedBatchNormV2', 'FusedBatchNormV3']:
        for factor in [0.25, 0.0]:
            inputs = [x((2, 3, 2, 3)), x((3,)), x((3,)), x((3,)), np.abs(x((3,)))]
            golden.op(op, inputs, {'exponential_avg_factor': factor, 'is_training': True}, tolerance=TO_LARGEST, gradient=True, differentiable=[0], outputs=range(5))
        golden.fails(op, [x((2, 3, 2, 3)), x((3,)), x((3,)), x((0,)), x((0,))], {'exponential_avg_factor': 0.5})
    golden.op('FusedBatchNormV3', [x((0, 3, 2, 3)), x((3,)), x((3,)), x((3,)), x((3,))], {'exponential_avg_factor': 0.5}, outputs=range(3))


def _lists(golden):
    for index, length in [(1, 2), (2, 2), (5, 2), (0, 0)]:
        with golden.graph(f'TensorListSetItem {index} of {length} resizes') as case:
            item = tf1.placeholder(tf.float32, [2], 'item')
            at = tf1.placeholder(tf.int32, [], 'at')
            first = tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=length, element_dtype=tf.float32)
            longer = tf.raw_ops.TensorListSetItem(input_handle=first, index=at, item=item, resize_if_index_out_of_bounds=True)
            values = tf.raw_ops.TensorListStack(input_handle=longer, element_shape=[2], element_dtype=tf.float32)
            read = tf.raw_ops.TensorListGetItem(input_handle=longer, index=at, element_shape=tf.constant([2], tf.int64), element_dtype=tf.float32)
            case.step(named(values, read, tf.raw_ops.TensorListLength(input_handle=first)),
                      {item: np.float32([3, 4]), at: np.int32(index)})
            case.expect_success()
    with golden.graph('TensorListSetItem does not resize unasked') as case:
        first = tf.raw_ops.TensorListReserve(element_shape=tf.constant([], tf.int32), num_elements=2, element_dtype=tf.float32)
        same = tf.raw_ops.TensorListSetItem(input_handle=first, index=2, item=1.0)
        case.step(named(tf.raw_ops.TensorListLength(input_handle=same)))


def _variables(golden, x):
    for validate in [False, True]:
        with golden.graph(f'AssignVariableOp validate_shape={validate}') as case:
            value = tf1.placeholder(tf.float32, None, 'value')
            handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=tf.TensorShape(None), shared_name='v')
            assign = tf.raw_ops.AssignVariableOp(resource=handle, value=value, validate_shape=validate)
            with tf.control_dependencies([assign]):
                read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
            case.step(named(read), {value: x((2,))})
            case.step(named(read), {value: x((2,))})
            case.step(named(read), {value: x((3,))})
    bad = np.int32([[0], [7], [1]])
    for op in ['ResourceScatterNdUpdate', 'ResourceScatterNdAdd', 'ResourceScatterNdSub']:
        with golden.graph(f'{op} ignores bad indices') as case:
            handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[3], shared_name='v')
            start = tf.raw_ops.AssignVariableOp(resource=handle, value=tf1.placeholder(tf.float32, [3], 'start'))
            with tf.control_dependencies([start]):
                update = getattr(tf.raw_ops, op)(ref=handle, indices=bad, updates=tf1.placeholder(tf.float32, [3], 'updates'), bad_indices_policy='IGNORE')
            with tf.control_dependencies([update]):
                read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
            case.step(named(read), {case.graph.get_tensor_by_name('start:0'): x((3,)), case.graph.get_tensor_by_name('updates:0'): x((3,))})
            case.expect_success()


def _ftrl(golden, x):
    for op in ['ResourceApplyFtrl', 'ResourceApplyFtrlV2', 'ResourceSparseApplyFtrl', 'ResourceSparseApplyFtrlV2']:
        for dtype, power, rate in [(np.float32, -0.5, 0.1), (np.float64, -0.7, 0.1), (np.float32, -0.5, 0.0)]:
            _ftrl_step(golden, x, op, dtype, power, rate)
    _ftrl_step(golden, x, 'ResourceSparseApplyFtrl', np.float32, -0.5, -0.1)


def _ftrl_step(golden, x, op, dtype, power, rate):
    with golden.graph(f'{op} {np.dtype(dtype)} multiplies by lr {rate}, lr_power {power}') as case:
        feeds, handles, starts = {}, {}, []
        for name in ['var', 'accum', 'linear']:
            value = tf1.placeholder(dtype, [3, 2], f'{name}_start')
            feeds[value] = np.abs(x((3, 2), dtype)) + dtype(0.1) if name == 'accum' else x((3, 2), dtype)
            handles[name] = tf.raw_ops.VarHandleOp(dtype=dtype, shape=[3, 2], shared_name=name)
            starts.append(tf.raw_ops.AssignVariableOp(resource=handles[name], value=value))
        more = {'l2_shrinkage': dtype(0.2)} if op.endswith('V2') else {}
        rows = 2 if 'Sparse' in op else 3
        if rows == 2:
            more['indices'] = np.int32([2, 0])
        grad = tf1.placeholder(dtype, [rows, 2], 'grad')
        feeds[grad] = x((rows, 2), dtype)
        with tf.control_dependencies(starts):
            update = getattr(tf.raw_ops, op)(**handles, grad=grad, lr=dtype(rate), l1=dtype(0.05), l2=dtype(0.01), lr_power=dtype(power),
                                             multiply_linear_by_lr=True, **more)
        with tf.control_dependencies([update]):
            reads = named(*[tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype) for handle in handles.values()])
        case.step(reads, feeds, tolerance=ELEMENTWISE)
