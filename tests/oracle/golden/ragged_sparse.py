"""Ragged and sparse tensors: made dense, filled, reshaped."""
import numpy as np
import tensorflow as tf

from data import numbers
from writer import ALL_DTYPES

I64 = np.int64
TYPES = [np.dtype(object) if name == 'string' else np.dtype(tf.as_dtype(name).as_numpy_dtype) for name in ALL_DTYPES]


def cases(golden):
    _ragged(golden)
    _to_dense(golden)
    _fill(golden)
    _reshape(golden)


def _ragged(golden):
    random = golden.random

    def ragged(call, shape, values, default, parts, types, dtype=I64, name='', **more):
        values, default = np.asarray(values), np.asarray(default, np.asarray(values).dtype)
        call('RaggedTensorToTensor', [dtype(shape), values, default, [dtype(part) for part in parts]], {'row_partition_types': types},
             name=f'{name} {shape} {values.dtype} {values.shape} {default.shape} {types} {dtype.__name__}', **more)

    split, both, rowids = ['ROW_SPLITS'], ['ROW_SPLITS'] * 2, ['FIRST_DIM_SIZE', 'VALUE_ROWIDS']
    for dtype in TYPES:
        ragged(golden.op, [-1, -1], numbers(random, (4,), dtype), numbers(random, (), dtype), [[0, 2, 2, 4]], split)
    flat = np.float32([1, 2, 3, 4])
    for dtype in (np.int32, I64):
        for shape in (-1, [2, 3], [5, 1], [-1, 1], [0, -1]):
            ragged(golden.op, shape, flat, 9, [[0, 2, 2, 4]], split, dtype)
        ragged(golden.op, [-1, -1], flat, 9, [4, [0, 0, 2, 3]], rowids, dtype)
        ragged(golden.op, [-1, -1, -1], flat, 9, [[0, 2, 3], [0, 1, 2, 4]], both, dtype)
        ragged(golden.op, [1, 3, 1], flat, 9, [[0, 2, 3], [0, 1, 2, 4]], both, dtype)
        ragged(golden.op, [-1, -1, -1], flat, 9, [3, [0, 2, 2], [0, 1, 1, 2]], ['FIRST_DIM_SIZE', 'VALUE_ROWIDS', 'VALUE_ROWIDS'], dtype)
    rows = np.float32([[1, 2], [3, 4], [5, 6]])
    for default in (8, [8], [8, 9]):
        ragged(golden.op, [-1, -1, 2], rows, default, [[0, 1, 3, 3]], split)
    for shape, default in (([-1, -1, 3], 8), ([-1, -1], 8), ([-1, -1, 2], [8, 9, 7])):
        ragged(golden.fails, shape, rows, default, [[0, 1, 3]], split)
    for part in ([1, 2, 4], [0, 3, 2, 4], []):
        ragged(golden.fails, [-1, -1], flat, 0, [part], split, name=str(part))
    ragged(golden.fails, [-1, -1], flat, 0, [3, [0, 0, 2, 3]], rowids)


def _to_dense(golden):
    random = golden.random
    for dtype in TYPES:
        golden.op('SparseToDense', [I64([[0, 1], [1, 0]]), I64([2, 3]), numbers(random, (2,), dtype), numbers(random, (), dtype)])
    for index in (np.int32, I64):
        for indices, shape, values in (([[0, 1], [1, 0]], [2, 3], 7), ([1, 3], [5], [1, 2]), (1, [5], 4), ([[0, 1, 2], [1, 0, 0]], [2, 2, 3], [1, 2]), (np.zeros((0, 2)), [2, 3], np.zeros(0))):
            values = np.float32(values)
            golden.op('SparseToDense', [index(indices), index(shape), values, np.float32(-1)], gradient=np.asarray(indices).ndim == 2 and values.ndim == 1)
    golden.op('SparseToDense', [I64([[1, 0], [0, 1], [1, 0]]), I64([2, 3]), np.float32([1, 2, 3]), np.float32(0)], {'validate_indices': False})
    for indices, shape, values in (([[1, 0], [0, 1]], [2, 3], [1, 2]), ([[1, 0], [1, 0]], [2, 3], [1, 2]), ([[0, 3]], [2, 3], [1]), ([[0, -1]], [2, 3], [1]), ([[0, 1, 1]], [2, 3], [1]),
                                   ([[0, 1]], [2, 3], [1, 2]), ([[0, 1]], [2, 3], [[1]]), ([[[0, 1]]], [2, 3], [1]), ([[0, 1]], [[2, 3]], [1]), ([[0, 1]], [2, -3], [1])):
        golden.fails('SparseToDense', [I64(indices), I64(shape), np.float32(values), np.float32(0)], name=str(indices))
    golden.fails('SparseToDense', [I64([[0, 3]]), I64([2, 3]), np.float32([1]), np.float32(0)], {'validate_indices': False})
    golden.fails('SparseToDense', [I64([[0, 1]]), I64([2, 3]), np.float32([1]), np.float32([0])])


def _fill(golden):
    random = golden.random
    for dtype in TYPES:
        golden.op('SparseFillEmptyRows', [I64([[2, 1], [0, 0]]), numbers(random, (2,), dtype), I64([4, 3]), numbers(random, (), dtype)])
    for indices, shape in (([[0, 1], [1, 0]], [2, 3]), (np.zeros((0, 2)), [3, 3]), (np.zeros((0, 2)), [0, 3]), ([[2], [2], [0]], [4]), ([[1, 2, 3], [1, 0, 0]], [3, 4, 5])):
        golden.op('SparseFillEmptyRows', [I64(indices), np.float32(np.arange(len(indices))), I64(shape), np.float32(-1)], gradient=True, differentiable=[1])
    for indices, values, shape, default in (([[4, 1]], [1], [4, 3], 0), ([[-1, 1]], [1], [4, 3], 0), ([[0, 1]], [1, 2], [4, 3], 0), ([[0, 1]], [1], [4, 3], [0]), ([[0, 1]], [1], [0, 3], 0),
                                            ([[0, 1]], [1], [4, 3, 2], 0)):
        golden.fails('SparseFillEmptyRows', [I64(indices), np.float32(values), I64(shape), np.float32(default)], name=str(indices))
    for dtype in (np.float32, np.float64):
        for index_map, count in (([2, 1], 4), ([], 3), ([0], 1), ([3, 0, 1, 2], 5), ([], 0)):
            golden.op('SparseFillEmptyRowsGrad', [I64(index_map), numbers(random, (count,), dtype)])
        golden.fails('SparseFillEmptyRowsGrad', [I64([2, 4]), numbers(random, (4,), dtype)])
        golden.fails('SparseFillEmptyRowsGrad', [I64([[2]]), numbers(random, (4,), dtype)])


def _reshape(golden):
    indices = I64([[0, 1], [1, 2]])
    for shape in ([3, -1], [6], [2, 3], [1, 6, 1], [-1], [3, 2], [2, 1, 3]):
        golden.op('SparseReshape', [indices, I64([2, 3]), I64(shape)], name=str(shape))
    golden.op('SparseReshape', [np.zeros((0, 2), I64), I64([0, 3]), I64([3, -1])])
    golden.op('SparseReshape', [I64([[0, 0, 4], [2, 1, 0]]), I64([3, 2, 5]), I64([5, 6])])
    for shape in ([4, -1], [-1, -1], [5], [-2, 3], [[6]]):
        golden.fails('SparseReshape', [indices, I64([2, 3]), I64(shape)], name=str(shape))
    golden.fails('SparseReshape', [indices, I64([2, 3, 1]), I64([6])])
    golden.fails('SparseReshape', [indices, I64([2, 0]), I64([-1, 3])])
    golden.fails('SparseReshape', [I64([0]), I64([2]), I64([2])])
    golden.fails('SparseReshape', [indices, I64([[2, 3]]), I64([6])])
