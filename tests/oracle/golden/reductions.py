"""Reductions, positions of extremes, sums by row, and matrix products."""
import numpy as np

from data import FLOATS, numbers
from writer import ELEMENTWISE, EXACT, SUMMED, dtypes, kind

FLOAT = np.dtype(np.float32)
INDEX = [np.dtype(np.int32), np.dtype(np.int64)]
AXES = [((), []), ((5,), 0), ((5,), [0]), ((17,), -1), ((3, 5), []), ((3, 5), [0]), ((3, 5), 1), ((3, 5), [0, 1]), ((3, 5), [-1, 0]), ((2, 3, 5), [1]), ((2, 3, 5), [0, 2]),
        ((2, 3, 5), [-1, -2]), ((0, 3), [0]), ((0, 3), [1]), ((2, 0, 3), [0, 2]), ((2, 3, 2, 2, 3), [1, 3]), ((2, 1, 3, 1, 2, 2), [0, 2, 5]), ((13, 33), [0]), ((13, 33), [1])]


def cases(golden):
    random = golden.random

    def x(shape, dtype=FLOAT):
        return numbers(random, shape, dtype)

    def distinct(shape, dtype=FLOAT):
        """No two equal numbers, none of them 0."""
        count = int(np.prod(shape))
        return ((random.permutation(count) - count // 2 + 0.5) / 4).reshape(shape).astype(dtype)

    for op in ('Sum', 'Mean', 'Max', 'Min', 'Prod'):
        tolerance = EXACT if op in ('Max', 'Min') else SUMMED
        make = (lambda shape, dtype=FLOAT: (distinct(shape, dtype) / 2 + np.asarray(0, dtype)).astype(dtype)) if op == 'Prod' else \
            distinct if op in ('Max', 'Min') else x
        for shape, axes in AXES:
            if op == 'Prod' and np.prod(shape) > 40:
                continue
            for keep_dims in (False, True):
                index = INDEX[int(keep_dims)]
                empty = 0 in shape
                golden.op(op, [make(shape), np.array(axes, index)], {'keep_dims': keep_dims}, tolerance=tolerance, gradient=not (empty and op in ('Mean', 'Max', 'Min')),
                          gradient_tolerance=SUMMED)
        for dtype in dtypes(op, of='fiuc'):
            small = x((3, 5), dtype) if kind(dtype) != 'f' else make((3, 5), dtype)
            golden.op(op, [small, np.int32([1])], tolerance=tolerance, gradient=kind(dtype) in 'fc' and op != 'Prod', gradient_tolerance=SUMMED)
            golden.op(op, [small, np.int32([0])], tolerance=tolerance)
        for axes in ([2], [-3], [0, 0], [0, -2]):
            golden.fails(op, [x((2, 3)), np.int32(axes)], name=str(axes))
        for bad in ([np.nan, 1, 2], [1, np.inf, 2], [np.inf, -np.inf, 1], [np.nan, np.inf, np.nan]):
            golden.op(op, [np.float32([bad, [1, 2, 3]]), np.int32([1])], name=str(bad), tolerance=tolerance)
    for op in ('Max', 'Min'):  # ties share the gradient
        golden.op(op, [np.float32([[1, 2, 2], [3, 3, 3]]), np.int32([1])], name='ties', gradient=True)
    golden.op('Prod', [np.float32([[1, 0, 2], [0, 3, 0]]), np.int32([1])], name='zeros', gradient=True)
    for op in ('All', 'Any'):
        for shape, axes in AXES:
            golden.op(op, [numbers(random, shape, bool), np.array(axes, np.int32)], {'keep_dims': len(shape) % 2 == 0})
        golden.fails(op, [numbers(random, (2, 3), bool), np.int32([2])])

    for op in ('ArgMax', 'ArgMin'):
        for shape, axis in [((5,), 0), ((3, 5), 0), ((3, 5), 1), ((3, 5), -1), ((2, 3, 5), 1), ((17,), 0), ((1, 1), 1), ((0, 3), 1), ((2, 3, 2, 2, 3), 3), ((9, 33), 1), ((9, 33), 0)]:
            for index in INDEX:
                for output in INDEX:
                    golden.op(op, [x(shape), index.type(axis)], {'output_type': output})
        for dtype in dtypes(op, of='fiu'):
            golden.op(op, [x((4, 5), dtype), np.int32(1)])
        golden.op(op, [np.float32([[1, np.nan, 3], [np.inf, 2, -np.inf]]), np.int32(1)], name='not finite')
        for axis in (2, -3):
            golden.fails(op, [x((2, 3)), np.int32(axis)], name=str(axis))
        golden.fails(op, [x((2, 0)), np.int32(1)])

    for op in ('MatMul', 'BatchMatMul', 'BatchMatMulV2'):
        a_name, b_name = ('transpose_a', 'transpose_b') if op == 'MatMul' else ('adj_x', 'adj_y')
        sizes = [(1, 1, 1), (2, 3, 4), (5, 1, 7), (1, 17, 3), (7, 9, 1), (13, 17, 11), (33, 5, 35), (0, 3, 2), (2, 0, 3), (2, 3, 0)]
        for m, k, n in sizes:
            for ta in (False, True):
                for tb in (False, True):
                    if op != 'MatMul' and (m, k, n) not in sizes[1:4]:
                        continue
                    golden.op(op, [x((k, m) if ta else (m, k)), x((n, k) if tb else (k, n))], {a_name: ta, b_name: tb}, tolerance=SUMMED, gradient=True)
        for dtype in dtypes(op, of='fic'):
            for ta, tb in ((False, False), (True, True)):
                golden.op(op, [x((4, 3) if ta else (3, 4), dtype), x((5, 4) if tb else (4, 5), dtype)], {a_name: ta, b_name: tb},
                          tolerance=SUMMED if kind(dtype) != 'i' else EXACT, gradient=kind(dtype) in 'fc')
        golden.fails(op, [x((2, 3)), x((2, 3))])
        golden.fails(op, [x((2,)), x((2, 3))], message='In[0]')  # 1.15: is not a matrix
    for op in ('BatchMatMul', 'BatchMatMulV2'):
        for batch in [(2,), (2, 3), (0,), (1, 2, 2)]:
            golden.op(op, [x((*batch, 3, 4)), x((*batch, 4, 5))], tolerance=SUMMED, gradient=True)
            golden.op(op, [x((*batch, 4, 3)), x((*batch, 5, 4))], {'adj_x': True, 'adj_y': True}, tolerance=SUMMED, gradient=True)
    for left, right in [((2,), ()), ((), (2, 3)), ((2, 1), (3,)), ((1, 3), (2, 1)), ((1,), (4,))]:
        golden.op('BatchMatMulV2', [x((*left, 3, 4)), x((*right, 4, 2))], tolerance=SUMMED, gradient=True)
    golden.fails('BatchMatMulV2', [x((2, 3, 4)), x((3, 4, 5))])
    golden.fails('BatchMatMul', [x((2, 3, 4)), x((3, 4, 5))])

    for op, shapes in (('BiasAdd', None), ('BiasAddGrad', None)):
        for data_format, shape in [('NHWC', (3, 5)), ('NHWC', (2, 3, 4)), ('NHWC', (2, 3, 4, 5)), ('NHWC', (0, 3)), ('NHWC', (2, 17)), ('NCHW', (2, 3, 4, 5)),
                                   ('NCHW', (2, 3, 4)), ('NHWC', (2, 1, 3, 2, 4))]:
            channels = shape[1 if data_format == 'NCHW' else -1]
            inputs = [x(shape), x((channels,))] if op == 'BiasAdd' else [x(shape)]
            golden.op(op, inputs, {'data_format': data_format}, tolerance=SUMMED if op == 'BiasAddGrad' else EXACT, gradient=True, gradient_tolerance=SUMMED)
        for dtype in dtypes(op, of='fiuc'):
            inputs = [x((3, 5), dtype), x((5,), dtype)] if op == 'BiasAdd' else [x((3, 5), dtype)]
            golden.op(op, inputs, tolerance=SUMMED if op == 'BiasAddGrad' else EXACT, gradient=kind(dtype) == 'f', gradient_tolerance=SUMMED)
    golden.fails('BiasAdd', [x((3, 5)), x((4,))])
    golden.fails('BiasAdd', [x((5,)), x((5,))])
    golden.fails('BiasAdd', [x((3, 5)), x((5, 1))])
    golden.fails('BiasAddGrad', [x((5,))])
    for op in ('Cumsum', 'Cumprod'):
        for axis in (3, -4):
            golden.fails(op, [x((2, 3, 4)), np.int32(axis)], name=str(axis))
