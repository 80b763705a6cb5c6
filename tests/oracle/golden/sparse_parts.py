"""Sparse tensors reordered, joined, sliced and split."""
import numpy as np

from data import numbers

I64 = np.int64
ANY = [np.dtype(t) for t in (np.float32, np.int8, np.complex64, bool, object)]
INDICES, SIZES = I64([[0, 1], [1, 2], [1, 4]]), I64([2, 5])


def cases(golden):
    _reorder(golden)
    _concat(golden)
    _slice(golden)
    _slice_grad(golden)
    _split(golden)


def _reorder(golden):
    random = golden.random
    for dtype in ANY:
        golden.op('SparseReorder', [I64([[1, 0], [0, 2], [0, 1]]), numbers(random, (3,), dtype), I64([2, 3])])
    cube = [[1, 0, 1], [0, 2, 0], [0, 1, 3], [0, 1, 2], [1, 0, 0]]
    for indices, sizes in (([[3], [0], [2]], [5]), (cube, [2, 3, 4]), (np.zeros((0, 2)), [2, 3]), (np.zeros((2, 0)), []), ([[0, 5], [-1, 1]], [2, 3]), ([[0, 1]], [2**40, 2**40])):
        golden.op('SparseReorder', [I64(indices), numbers(random, (len(indices),), np.float32), I64(sizes)], gradient=True, name=str(sizes))
    for indices, values, sizes in (([0, 1], [1], [2, 3]), ([[0, 1]], [[1]], [2, 3]), ([[0, 1]], [1], 2), ([[0, 1]], [1, 2], [2, 3]), ([[0, 1]], [1], [2, 3, 4])):
        golden.fails('SparseReorder', [I64(indices), np.float32(values), I64(sizes)])


def _concat(golden):
    random = golden.random

    def concat(call, axis, *parts, dtype=np.float32, **more):
        values = [numbers(random, (np.shape(indices)[0],), dtype) for indices, _ in parts]
        call('SparseConcat', [[I64(indices) for indices, _ in parts], values, [I64(sizes) for _, sizes in parts]], {'concat_dim': axis},
             name=f'{axis} {parts} {dtype.__name__}', **more)

    a, b = (INDICES, [2, 5]), ([[0, 0], [1, 1], [0, 1]], [2, 3])
    for dtype in (np.float32, np.int8, np.complex64, bool, object):
        concat(golden.op, 1, a, b, dtype=dtype)
    concat(golden.op, -1, a, b, a)
    concat(golden.op, 0, a, (np.zeros((0, 2)), [4, 5]), a)
    concat(golden.op, 0, ([[2]], [3]), ([[1]], [2]))
    concat(golden.op, 1, ([[0, 7]], [2, 3]), ([[0, -1]], [2, 3]))
    concat(golden.fails, 1, a, ([[0, 0]], [3, 3]))
    concat(golden.fails, 1, a, ([[0, 0, 0]], [2, 5, 1]))
    concat(golden.fails, 1, a, ([[0, 0, 0]], [2, 5]))
    concat(golden.fails, 2, a, b)
    concat(golden.fails, -3, a, b)
    concat(golden.fails, 1, a, ([0, 0], [2, 5]))
    concat(golden.fails, 1, a, ([[0, 0]], [[2, 5]]))
    concat(golden.fails, 1, ([[0, 1]], [2, 2**62]), ([[0, 1]], [2, 2**62]))
    concat(golden.fails, 1, ([[0, 1]], [2, -2]), ([[0, 1]], [2, 2]))
    golden.fails('SparseConcat', [[INDICES, INDICES], [np.float32([1, 2, 3]), np.float32([1, 2])], [SIZES, SIZES]], {'concat_dim': 0})
    golden.fails('SparseConcat', [[INDICES, INDICES], [np.float32([1, 2, 3]), np.float32([[1, 2, 3]])], [SIZES, SIZES]], {'concat_dim': 0})


def _slice(golden):
    random = golden.random
    for dtype in ANY:
        golden.op('SparseSlice', [INDICES, numbers(random, (3,), dtype), SIZES, I64([0, 1]), I64([2, 3])])
    values = np.float32([1, 2, 3])
    for start, size in (([0, 0], [2, 5]), ([1, 2], [9, 9]), ([0, 7], [2, 4]), ([0, -1], [2, 4]), ([5, 5], [1, 1]), ([0, 1], [2**62, 2**62]), ([1, 0], [0, 3])):
        golden.op('SparseSlice', [INDICES, values, SIZES, I64(start), I64(size)], gradient=True, differentiable=[1], name=f'{start} {size}')
    golden.op('SparseSlice', [I64([[1, 0, 2], [1, 1, 1]]), values[:2], I64([2, 2, 3]), I64([1, 0, 1]), I64([1, 2, 2])], gradient=True, differentiable=[1])
    golden.op('SparseSlice', [np.zeros((0, 1), I64), values[:0], I64([3]), I64([1]), I64([1])])
    for start, size, sizes, indices in (([0], [2, 4], SIZES, INDICES), ([0, 1], [2], SIZES, INDICES), ([[0, 1]], [2, 2], SIZES, INDICES), ([0, 1], [[2, 2]], SIZES, INDICES), ([0, 1], [2, -4], SIZES, INDICES),
                                        ([0, 1], [1, 1], [2**40, 2**40], INDICES), ([0, 1], [1, 1], [2, -3], INDICES), ([0, 1], [1, 1], SIZES, [0, 1]), ([0, 1], [1, 1], SIZES, [[0, 1]]), ([0], [1], [2], INDICES)):
        golden.fails('SparseSlice', [I64(indices), values, I64(sizes), I64(start), I64(size)], name=f'{start} {size} {sizes}')


def _slice_grad(golden):
    random = golden.random
    for dtype in (np.float32, np.float64, np.float16, np.int8, np.uint32, np.complex64):
        golden.op('SparseSliceGrad', [numbers(random, (2,), dtype), INDICES, I64([0, 1]), I64([[0, 0], [1, 1]])])
    golden.op('SparseSliceGrad', [np.float32([]), INDICES, I64([0, 1]), np.zeros((0, 2), I64)])
    golden.op('SparseSliceGrad', [np.float32([5]), INDICES, I64([1, 4]), I64([[0, 0]])])
    good = [np.float32([1, 2]), INDICES, I64([0, 1]), I64([[0, 0], [1, 1]])]
    for at, wrong in ((3, [[0, 0], [1, 0]]), (3, [[0, 0]]), (0, [[1]]), (2, [1]), (2, [[1, 1]]), (1, [1]), (3, [1]), (3, [[0], [1]])):
        golden.fails('SparseSliceGrad', [np.asarray(wrong, old.dtype) if i == at else old for i, old in enumerate(good)], name=f'{at} {wrong}')


def _split(golden):
    random = golden.random
    for dtype in ANY:
        golden.op('SparseSplit', [I64(1), INDICES, numbers(random, (3,), dtype), SIZES], {'num_split': 2})
    values = np.float32([1, 2, 3])
    for axis, parts in ((1, 1), (1, 3), (1, 5), (0, 2), (-1, 4)):
        golden.op('SparseSplit', [I64(axis), INDICES, values, SIZES], {'num_split': parts}, name=f'{axis} {parts}')
    golden.op('SparseSplit', [I64(0), np.zeros((0, 1), I64), values[:0], I64([3])], {'num_split': 2})
    golden.op('SparseSplit', [I64(2), I64([[1, 0, 2], [1, 1, 0]]), values[:2], I64([2, 2, 3])], {'num_split': 2})
    for axis, parts, indices, sizes in ((5, 2, INDICES, SIZES), (-3, 2, INDICES, SIZES), (1, 6, INDICES, SIZES), ([1, 1], 2, INDICES, SIZES), (0, 1, [[5, 1], [0, 0], [0, 1]], SIZES), (0, 1, [[0, -1], [0, 0], [0, 1]], SIZES),
                                        (0, 1, [[0, 1]], SIZES), (0, 1, [0, 1, 2], SIZES), (0, 1, INDICES, [2]), (0, 1, INDICES, [[2, 5]]), (0, 1, INDICES, [2**40, 2**40])):
        golden.fails('SparseSplit', [I64(axis), I64(indices), values, I64(sizes)], {'num_split': parts}, name=f'{axis} {sizes} {indices}')
