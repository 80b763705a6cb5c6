"""Ops that make, shape, join, split and repeat tensors, and what their gradients are made of."""
import numpy as np
import tensorflow as tf

from data import SHAPES, numbers
from writer import EXACT, SUMMED, dtypes, kind, tf1

ALL = dtypes('Reshape')
FLOAT = np.dtype(np.float32)
INDEX = [np.dtype(np.int32), np.dtype(np.int64)]


def cases(golden):
    random = golden.random

    def each(op, make, attrs=None, types=ALL, shapes=((3, 5),), gradient=True, tolerance=EXACT):
        """`make(shape, dtype)` gives the inputs; floats in all shapes, others in the last."""
        for dtype in types:
            for shape in SHAPES if dtype == FLOAT and shapes == 'all' else [(2, 3, 5)] if shapes == 'all' else shapes:
                golden.op(op, make(shape, dtype), attrs, gradient=gradient and kind(dtype) in 'fc', tolerance=tolerance, gradient_tolerance=SUMMED)

    def x(shape, dtype=FLOAT):
        return numbers(random, shape, dtype)

    # Shapes.
    for shape, to in [((), []), ((), [1, 1]), ((6,), [2, 3]), ((2, 3), [-1]), ((2, 3, 5), [5, -1]), ((0, 3), [3, 0]), ((0, 3), [-1, 3]), ((2, 3, 1, 4), [4, 1, 6]),
                      ((1, 1), [])]:
        for index in INDEX:
            golden.op('Reshape', [x(shape), np.array(to, index)], gradient=True)
    each('Reshape', lambda shape, dtype: [x(shape, dtype), np.int32([5, 3])])
    for shape, to in [((6,), [4]), ((6,), [-1, 4]), ((6,), [-1, -1]), ((6,), [-2, 3]), ((6,), [[6]]), ((4,), [2**20, 2**20])]:
        golden.fails('Reshape', [x(shape), np.int32(to)], name=f'{shape} to {to}')
    for shape, dims in [((1, 3, 1), []), ((1, 3, 1), [0]), ((1, 3, 1), [-1]), ((1, 3, 1), [0, 2]), ((1, 1, 1), []), ((2, 0, 1), [2]), ((5,), [])]:
        golden.op('Squeeze', [x(shape)], {'squeeze_dims': dims}, gradient=True)
    each('Squeeze', lambda shape, dtype: [x((1, 3, 1, 2), dtype)])
    for shape, dims in [((2, 3), [0]), ((1, 3), [2]), ((1, 3), [-3])]:
        golden.fails('Squeeze', [x(shape)], {'squeeze_dims': dims})
    for shape, axis in [((), 0), ((), -1), ((3,), 0), ((3,), 1), ((3,), -1), ((2, 3), 1), ((2, 0), -3), ((2, 3, 4, 5), 2)]:
        for index in INDEX:
            golden.op('ExpandDims', [x(shape), index.type(axis)], gradient=True)
    each('ExpandDims', lambda shape, dtype: [x(shape, dtype), np.int32(1)])
    for axis in (3, -4):
        golden.fails('ExpandDims', [x((2, 3)), np.int32(axis)], name=str(axis))
    for op in ('Shape', 'Size', 'Rank', 'ZerosLike', 'OnesLike', 'Identity'):
        each(op, lambda shape, dtype: [x(shape, dtype)], types=dtypes(op), shapes='all', gradient=op == 'Identity')
    for op in ('Shape', 'Size'):
        for shape in SHAPES:
            golden.op(op, [x(shape)], {'out_type': np.int64})
    for out_type in INDEX:
        for shapes in ([(2, 3)], [(), (4,), (0, 2)], [(1, 2, 3, 4, 5, 6), (7,), (2,), ()]):
            golden.op('ShapeN', [[x(shape) for shape in shapes]], {'out_type': out_type})
    each('ShapeN', lambda shape, dtype: [[x((2,), dtype), x((), dtype)]], gradient=False)
    each('PlaceholderWithDefault', lambda shape, dtype: [x(shape, dtype)], {'shape': None}, shapes='all')

    # Joining.
    for shape, axis, count in [((), 0, 3), ((3,), 0, 2), ((3,), 1, 2), ((3,), -1, 1), ((2, 3), -3, 3), ((2, 3), 1, 4), ((2, 0), 2, 2), ((1, 2, 3, 2, 1), 4, 3)]:
        golden.op('Pack', [[x(shape) for _ in range(count)]], {'axis': axis}, gradient=True)
    each('Pack', lambda shape, dtype: [[x(shape, dtype), x(shape, dtype)]], {'axis': 1})
    golden.fails('Pack', [[x((2,)), x((3,))]])
    golden.fails('Pack', [[x((2,)), x((2,))]], {'axis': 2})
    for shape, axis in [((3,), 0), ((3, 2), 0), ((3, 2), 1), ((3, 2), -1), ((2, 0, 3), 2), ((1, 2, 3, 2, 1, 2), 3)]:
        golden.op('Unpack', [x(shape)], {'num': shape[axis], 'axis': axis}, gradient=True)
    each('Unpack', lambda shape, dtype: [x((2, 3), dtype)], {'num': 3, 'axis': 1})
    golden.fails('Unpack', [x((2, 3))], {'num': 4, 'axis': 1})
    golden.fails('Unpack', [x((2, 3))], {'num': 2, 'axis': 2})
    joined = [([(3,), (2,)], 0), ([(3,), (0,), (2,)], 0), ([(2, 3), (2, 1)], 1), ([(2, 3), (1, 3), (4, 3)], 0), ([(2, 3), (2, 4)], -1), ([(1, 2, 1, 3, 2), (1, 2, 5, 3, 2)], 2),
              ([(0, 3), (2, 3)], 0), ([(17, 2), (17, 3), (17, 1)], 1)]
    for shapes, axis in joined:
        for index in INDEX:
            golden.op('ConcatV2', [[x(shape) for shape in shapes], index.type(axis)], gradient=True)
        if axis >= 0:
            golden.op('Concat', [np.int32(axis), [x(shape) for shape in shapes]], gradient=True)
            golden.op('ConcatOffset', [np.int32(axis), [np.int32(shape) for shape in shapes]])
    each('ConcatV2', lambda shape, dtype: [[x((2, 3), dtype), x((2, 2), dtype)], np.int32(1)])
    each('Concat', lambda shape, dtype: [np.int32(1), [x((2, 3), dtype), x((2, 2), dtype)]])
    golden.fails('ConcatV2', [[x((2, 3)), x((3, 3))], np.int32(1)], message='shape[0] = [2,3] vs. shape[1] = [3,3]')  # 1.15 begins otherwise
    golden.fails('ConcatV2', [[x((2, 3)), x((2,))], np.int32(0)])
    golden.fails('ConcatV2', [[x((2, 3)), x((2, 3))], np.int32(2)])
    golden.fails('Concat', [np.int32(2), [x((2, 3)), x((2, 3))]])
    golden.fails('ConcatOffset', [np.int32(0), [np.int32([2, 3]), np.int32([2, 4])]])

    # Splitting.
    for shape, axis, count in [((6,), 0, 3), ((6, 2), 0, 2), ((2, 6), 1, 3), ((2, 6), -1, 6), ((0, 4), 1, 2), ((2, 3, 8), 2, 4), ((3,), 0, 1)]:
        golden.op('Split', [np.int32(axis), x(shape)], {'num_split': count}, gradient=True)
    each('Split', lambda shape, dtype: [np.int32(1), x((2, 4), dtype)], {'num_split': 2})
    golden.fails('Split', [np.int32(0), x((5,))], {'num_split': 2})
    golden.fails('Split', [np.int32(1), x((4,))], {'num_split': 2})
    for shape, sizes, axis in [((6,), [1, 5], 0), ((6,), [1, -1, 2], 0), ((2, 6), [2, 2, 2], 1), ((2, 6), [0, 6], -1), ((3, 2), [3], 0)]:
        for index in INDEX:
            golden.op('SplitV', [x(shape), np.array(sizes, index), np.int32(axis)], {'num_split': len(sizes)}, gradient=True)
    each('SplitV', lambda shape, dtype: [x((2, 4), dtype), np.int32([1, 3]), np.int32(1)], {'num_split': 2})
    golden.fails('SplitV', [x((6,)), np.int32([1, 2]), np.int32(0)], {'num_split': 2})
    golden.fails('SplitV', [x((6,)), np.int32([-1, -1]), np.int32(0)], {'num_split': 2})

    # Repeating.
    for shape, multiples in [((), []), ((3,), [2]), ((3,), [0]), ((2, 3), [3, 2]), ((2, 3), [1, 1]), ((1, 3, 1), [4, 1, 5]), ((2, 0), [2, 3]), ((2, 1, 2, 1), [1, 3, 2, 2])]:
        for index in INDEX:
            golden.op('Tile', [x(shape), np.array(multiples, index)], gradient=True, gradient_tolerance=SUMMED)
    each('Tile', lambda shape, dtype: [x((2, 3), dtype), np.int32([2, 2])])
    golden.fails('Tile', [x((2, 3)), np.int32([2])])
    golden.fails('Tile', [x((2, 3)), np.int32([2, -1])])
    for dims in ([], [0], [3], [2, 3], [2, 0, 3], [17], [1, 2, 3, 4, 5, 2]):
        for index in INDEX:
            golden.op('Fill', [np.array(dims, index), np.float32(2.5)], gradient=True)
    each('Fill', lambda shape, dtype: [np.int32([2, 3]), x((), dtype)])
    golden.fails('Fill', [np.int32([2, -1]), np.float32(1)])
    golden.fails('Fill', [np.int32([[2]]), np.float32(1)])
    golden.fails('Fill', [np.int32([2]), np.float32([1, 2])])
    for dtype in dtypes('Range', 'Tidx'):
        for values in [(0, 5, 1), (5, 0, -1), (0, 0, 1), (3, 10, 4), (-4, 4, 3)] + ([(0, 1, 0.25), (1, 0, -0.125), (0.5, 20, 1.5)] if kind(dtype) == 'f' else []):
            golden.op('Range', [np.array(value, dtype) for value in values])
        for values in [(0, 5, 0), (0, 5, -1), (5, 0, 1)]:
            golden.fails('Range', [np.array(value, dtype) for value in values], name=f'{values} {dtype}')

    # One-hot, permutations, and where gradients of broadcasts are summed.
    for index in dtypes('OneHot', 'TI'):
        for shape, depth, axis in [((), 3, -1), ((4,), 3, -1), ((4,), 3, 0), ((2, 3), 4, 1), ((2, 3), 4, -1), ((0,), 2, -1), ((3,), 0, -1)]:
            golden.op('OneHot', [numbers(random, shape, index, 0, 4), np.int32(depth), np.float32(1.5), np.float32(-0.5)], {'axis': axis})
    golden.op('OneHot', [np.int32([-1, 0, 5, 2]), np.int32(3), np.float32(1), np.float32(0)])
    for dtype in dtypes('OneHot', 'T'):
        golden.op('OneHot', [np.int64([0, 2, 1]), np.int32(3), *(x((1,), dtype)[0:1].reshape(()) for _ in range(2))])
    golden.fails('OneHot', [np.int32([0]), np.int32(-1), np.float32(1), np.float32(0)])
    golden.fails('OneHot', [np.int32([0]), np.int32([2, 3]), np.float32(1), np.float32(0)])
    for index in INDEX:
        for count in (0, 1, 5, 17):
            golden.op('InvertPermutation', [random.permutation(count).astype(index)])
        for bad in ([0, 0, 1], [0, 3, 1], [-1, 0, 1], [[0, 1]]):
            golden.fails('InvertPermutation', [np.array(bad, index)], name=f'{bad} {index}')
        for a, b in [([], []), ([2, 3], [2, 3]), ([2, 3], [3]), ([3], [2, 3]), ([2, 1], [1, 3]), ([1], []), ([1, 1, 4], [2, 1, 4]), ([0, 3], [1, 3]), ([2, 1, 3, 1], [4, 1, 5])]:
            golden.op('BroadcastGradientArgs', [np.array(a, index), np.array(b, index)])
        golden.fails('BroadcastGradientArgs', [np.array([2, 3], index), np.array([4], index)])

    # Stitching.
    for indices, shape in [([[0, 2], [1, 3]], ()), ([[0, 2, 4], [1, 3, 2]], (3,)), ([[5], [0, 1, 2]], (2, 2)), ([[[0, 1], [2, 3]], [4]], (2,)), ([2, [0, 1]], (3,))]:
        golden.op('DynamicStitch', [[np.int32(i) for i in indices], [x(np.shape(i) + shape) for i in indices]], gradient=True)
    each('DynamicStitch', lambda shape, dtype: [[np.int32([0, 2]), np.int32([1])], [x((2, 2), dtype), x((1, 2), dtype)]])
    golden.fails('DynamicStitch', [[np.int32([0, -1])], [x((2,))]])
    golden.fails('DynamicStitch', [[np.int32([0, 1])], [x((3,))]])
    for dtype in dtypes('AddN', of='fiuc'):
        for shape, count in [((), 1), ((3, 5), 2), ((17,), 9), ((0,), 3)]:
            golden.op('AddN', [[x(shape, dtype) for _ in range(count)]], gradient=kind(dtype) in 'fc')
    golden.fails('AddN', [[x((2,)), x((3,))]])
    for dtype in dtypes('Select', of='fiucb'):
        golden.op('Select', [numbers(random, (3, 5), bool), x((3, 5), dtype), x((3, 5), dtype)], gradient=kind(dtype) in 'fc')
    for shape, condition in [((), ()), ((3,), ()), ((3,), (3,)), ((3, 2), (3,)), ((0,), (0,)), ((2, 3, 5), (2, 3, 5)), ((2, 3, 5), (2,)), ((17,), (17,))]:
        golden.op('Select', [numbers(random, condition, bool), x(shape), x(shape)], gradient=True)
    golden.fails('Select', [np.array([True, False]), x((3,)), x((3,))])
    golden.fails('Select', [np.array([True, False]), x((2,)), x((3,))])
    golden.fails('DynamicStitch', [[np.int32([[0, 1], [-1, 2]])], [x((2, 2))]])
    golden.fails('DynamicStitch', [[np.int32([0]), np.int32(-1)], [x((1,)), x(())]])
    for axis, shapes in [(1, [(2, 0), (2, 5), (2, 0)]), (3, [(1, 2, 3, 4, 5, 6)] * 2), (0, [(i, 2) for i in range(9)])]:
        golden.op('ConcatOffset', [np.int32(axis), [np.int32(shape) for shape in shapes]])
    for axis, shapes in [(2, [[2, 3], [2, 3]]), (-3, [[2, 3], [2, 3]]), (0, [[2, 3], [2, 3, 4]]), ([0, 0], [[2], [3]]), (0, [[[2, 3]], [[2, 3]]])]:
        golden.fails('ConcatOffset', [np.int32(axis), [np.int32(shape) for shape in shapes]], name=f'{axis} {shapes}')
    for count in (1, 2, 5):
        with golden.graph(f'AddN of {count} lists') as case:
            feeds = {tf1.placeholder(np.float32, None, f'x{i}'): x((3, 2)) for i in range(count)}
            lists = [tf.raw_ops.TensorListFromTensor(tensor=given, element_shape=np.int32([2])) for given in feeds]
            total = tf.raw_ops.AddN(inputs=lists, name='op')
            made = tf.raw_ops.TensorListStack(input_handle=total, element_shape=np.int32([2]), element_dtype=tf.float32, name='stack')
            case.step({'stack:0': made}, feeds, tolerance=SUMMED)
            case.expect_success()
