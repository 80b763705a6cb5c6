"""Distinct slices, bins and buckets, norms, and bands of diagonals."""
import numpy as np

from data import bfloat16, numbers
from writer import TO_LARGEST

EVERY = [np.float32, np.float64, np.float16, bfloat16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint32, np.uint64]


def cases(golden):
    def x(shape, dtype=np.float32):
        return numbers(golden.random, shape, dtype)

    _unique(golden)
    _bins(golden)
    _norms(golden, x)
    _diagonals(golden, x)


def _unique(golden):
    rows = np.float32([[1, 2], [1, 2], [3, 2], [1, 2]])
    for op in ['UniqueV2', 'UniqueWithCountsV2']:
        for axis in [0, 1, -1]:
            golden.op(op, [rows, np.int64([axis])], name=f'axis {axis}')
        golden.op(op, [np.int32([[[1], [2], [1]], [[0], [1], [0]]]), np.int32([1])])
        golden.op(op, [np.int32([3, 1, 3]), np.int64([])])
        golden.op(op, [np.array([[b'a', b'b'], [b'a', b'b']], object), np.int64([0])])
        golden.op(op, [np.zeros((0, 2), np.float32), np.int64([0])])
        golden.op(op, [np.float32([[0, np.nan], [-0.0, np.nan], [0, 1], [-0.0, 1]]), np.int64([0])])
        for axis in [[], [0, 0], 0, [2], [-3]]:
            golden.fails(op, [rows, np.int64(axis)], name=f'axis {axis}')
    for dtype in [np.float64, np.int64]:
        golden.op('UniqueV2', [np.array([2, 1, 2, 0], dtype), np.int64([0])])
        golden.op('UniqueWithCounts', [np.array([2, 1, 2, 0], dtype)])
        golden.op('UniqueWithCountsV2', [np.array([2, 1, 2, 0], dtype), np.int64([])])


def _bins(golden):
    vector, matrix = np.int32([1, 1, 5, 0]), np.int64([[1, 1, 0], [2, 3, 9]])
    for binary in [False, True]:
        attrs = {'binary_output': binary}
        for weight_type in [np.float32, np.float64, np.int32, np.int64]:
            for weights in [[3, 4, 5, 6]]:
                golden.op('DenseBincount', [vector, np.int32(4), np.array(weights, weight_type)], attrs)
            golden.op('RaggedBincount', [np.int64([0, 2, 2, 4]), vector, np.int32(4), np.array([3, 4, 5, 6], weight_type)], attrs)
        golden.op('DenseBincount', [matrix, np.int64(4), np.float32([])], attrs)
        golden.op('DenseBincount', [matrix, np.int64(4), np.float32([[1, 2, 3], [4, 5, 6]])], attrs)
        golden.op('DenseBincount', [np.int32(2), np.int32(3), np.float32([])], attrs)
        golden.op('RaggedBincount', [np.int64([0, 0, 3]), np.int64([2, 2, 0]), np.int64(3), np.float32([])], attrs)
    for bad in [[np.int32([1, -1]), np.int32(4), np.float32([])], [np.int32([[1, -1]]), np.int32(4), np.float32([])], [vector, np.int32(-4), np.float32([])],
                [vector, np.int32([4]), np.float32([])], [np.int32([[[1]]]), np.int32(4), np.float32([])], [vector, np.int32(4), np.float32([1])]]:
        golden.fails('DenseBincount', bad, name=f'{bad[0].tolist()} {bad[1].tolist()}')
    for splits in [[1, 4], [0, 5], []]:
        golden.fails('RaggedBincount', [np.int64(splits), vector, np.int32(4), np.float32([])], name=f'{splits}')
    golden.fails('RaggedBincount', [np.int64([0, 1]), np.int32([-1]), np.int32(4), np.float32([])])
    golden.fails('RaggedBincount', [np.int64([0, 1]), np.int32([1]), np.int32(-4), np.float32([])], name='negative size')
    for dtype in [np.float32, np.float64, np.int32, np.int64]:
        golden.op('Bucketize', [np.array([[-3, 0], [1, 2], [3, 100]], dtype)], {'boundaries': [0, 1, 1, 2.5]})
    golden.op('Bucketize', [np.float32([np.nan, np.inf, -np.inf, 1])], {'boundaries': [0, 1, 2]})
    golden.op('Bucketize', [np.float32([1, 2])], {'boundaries': []})
    golden.fails('Bucketize', [np.float32([1, 2])], {'boundaries': [2, 1]})


def _norms(golden, x):
    for dtype in EVERY + [np.complex64, np.complex128]:
        golden.op('EuclideanNorm', [np.array([[3, 1], [4, 2]], dtype), np.int32([0])], tolerance=TO_LARGEST)
    for shape, axes in [((2, 3), [1]), ((2, 3), [0, 1]), ((2, 1, 3), [1, -1]), ((3,), [0]), ((2, 3), [])]:
        for keep_dims in [False, True]:
            golden.op('EuclideanNorm', [x(shape) + np.float32(5), np.int32(axes)], {'keep_dims': keep_dims}, name=f'{axes}', tolerance=TO_LARGEST, gradient=len(axes) > 0)
    golden.op('EuclideanNorm', [x((2, 3), np.float64), np.int32([1])], tolerance=TO_LARGEST, gradient=True)
    golden.op('EuclideanNorm', [np.zeros((0, 2), np.float32), np.int32([0])])
    for dtype in [np.int8, np.uint8]:
        golden.op('EuclideanNorm', [np.array([100, 100], dtype), np.int32([0])], name='that wraps around')


def _diagonals(golden, x):
    zero = np.float32(9)
    for align in ['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT']:
        golden.op('MatrixDiagPartV3', [x((2, 3, 4)), np.int32([-1, 2]), zero], {'align': align}, gradient=True)
        golden.op('MatrixDiagV3', [x((2, 3)), np.int32([-1, 0]), np.int32(-1), np.int32(-1), zero], {'align': align}, gradient=True)
        golden.op('MatrixSetDiagV3', [x((3, 4)), x((4, 3)), np.int32([-1, 2])], {'align': align}, gradient=True)
    golden.op('MatrixDiagPartV2', [x((3, 4)), np.int32([-1, 2]), zero])
    golden.op('MatrixDiagV2', [x((2, 3)), np.int32([-1, 0]), np.int32(-1), np.int32(-1), zero])
    golden.op('MatrixSetDiagV2', [x((3, 4)), x((4, 3)), np.int32([-1, 2])])
    for shape, k in [((3, 4), 0), ((3, 4), 3), ((3, 4), -2), ((2, 3, 3), [1]), ((3, 2), [-2, -1]), ((4, 2), [0, 1]), ((0, 3, 3), [0, 1])]:
        golden.op('MatrixDiagPartV3', [x(shape), np.int32(k), zero], name=f'{k}', gradient=True)
    for shape, k, rows, columns in [((2,), 0, -1, -1), ((2,), 1, -1, -1), ((2,), -1, 3, 4), ((2,), 0, 2, 5), ((2, 2), [1], -1, 4), ((1, 2, 2), [0, 1], 2, -1)]:
        golden.op('MatrixDiagV3', [x(shape), np.int32(k), np.int32(rows), np.int32(columns), zero], name=f'{k} {rows} {columns}', gradient=True)
    for shape, diagonal, k in [((3, 4), (3,), 0), ((3, 4), (2,), -1), ((2, 3, 3), (2, 2, 2), [1, 2]), ((3, 3), (2,), [1])]:
        golden.op('MatrixSetDiagV3', [x(shape), x(diagonal), np.int32(k)], name=f'{k}', gradient=True)
    for dtype in [np.float64, bfloat16, np.int32, np.complex64, bool]:
        golden.op('MatrixDiagPartV3', [x((2, 3), dtype), np.int32([0, 1]), np.array(1, dtype)])
        golden.op('MatrixDiagV3', [x((2,), dtype), np.int32(0), np.int32(-1), np.int32(-1), np.array(1, dtype)])
        golden.op('MatrixSetDiagV3', [x((2, 3), dtype), x((2,), dtype), np.int32(0)])
    for k in [[2, 1], [5], [-3, 0], [0, 1, 2], [[0, 1]]]:
        golden.fails('MatrixDiagPartV3', [x((3, 4)), np.int32(k), zero], name=f'{k}')
    golden.fails('MatrixDiagPartV3', [x((4,)), np.int32(0), zero])
    for shape, k, rows, columns in [((2,), 1, 2, 2), ((2,), 0, 5, 5), ((2, 2), [0, 2], -1, -1)]:
        golden.fails('MatrixDiagV3', [x(shape), np.int32(k), np.int32(rows), np.int32(columns), zero], name=f'{k} {rows} {columns}')
    golden.fails('MatrixSetDiagV3', [x((3, 4)), x((3,)), np.int32(7)])
