"""Sums, products, reductions and the softmax of sparse tensors."""
import numpy as np
import tensorflow as tf

from data import nonzero, numbers
from writer import ELEMENTWISE, SUMMED

I64 = np.int64
# One dtype of each kind; the loops of the others are the same template.
NUMBERS = [np.dtype(tf.as_dtype(name).as_numpy_dtype) for name in ('float32', 'float16', 'bfloat16', 'int8', 'uint16', 'int64', 'complex64')]
REALS = [dtype for dtype in NUMBERS if dtype.kind != 'c']
A, B, SIZES = I64([[0, 1], [1, 2]]), I64([[0, 1], [1, 0]]), I64([2, 3])


def cases(golden):
    _add(golden)
    _add_grad(golden)
    _extremes(golden)
    _dense_add(golden)
    _cwise(golden)
    _reduce(golden)
    _softmax(golden)
    _matmul(golden)


def _with(good, at, wrong):
    return [np.asarray(wrong, old.dtype) if i == at else old for i, old in enumerate(good)]


def _add(golden):
    random = golden.random
    for dtype in NUMBERS:
        limit = np.zeros((), dtype).real
        golden.op('SparseAdd', [A, numbers(random, (2,), dtype), SIZES, B, numbers(random, (2,), dtype), SIZES, limit], gradient=dtype == np.float32, differentiable=[1])
    x, y = np.float32([1, -0.0]), np.float32([-1.5, 2])
    for limit in (0.25, 0.5, 0.75):
        golden.op('SparseAdd', [A, x, SIZES, B, y, SIZES, np.float32(limit)], gradient=True, differentiable=[1], name=str(limit))
    golden.op('SparseAdd', [A, np.complex64([3 + 4j, 1]), SIZES, B, np.complex64([0, 1]), SIZES, np.float32(5)])
    golden.op('SparseAdd', [A, np.complex64([3 + 4j, 1]), SIZES, B, np.complex64([0, 1]), SIZES, np.float32(5.1)])
    golden.op('SparseAdd', [np.zeros((0, 2), I64), x[:0], SIZES, B, y, SIZES, np.float32(0)], gradient=True, differentiable=[1])
    golden.op('SparseAdd', [I64([[1, 1], [0, 2]]), x, SIZES, I64([[0, 7], [1, -2]]), y, SIZES, np.float32(0)])
    good = [A, x, SIZES, B, y, SIZES, np.float32(0)]
    for at, wrong in ((0, [[0, 1, 1], [1, 2, 1]]), (2, [2, 4]), (2, [2, 4, 1]), (6, [0]), (1, [1]), (4, [[1]]), (0, [1]), (2, 1)):
        golden.fails('SparseAdd', _with(good, at, wrong), name=f'{at} {wrong}')


def _add_grad(golden):
    random = golden.random
    union = I64([[0, 1], [1, 0], [1, 2]])
    for dtype in NUMBERS:
        golden.op('SparseAddGrad', [numbers(random, (3,), dtype), A, B, union])
    grads = np.float32([1, 2, 3])
    golden.op('SparseAddGrad', [grads, A, B, I64([[0, 1], [1, 0], [1, 1]])])
    golden.op('SparseAddGrad', [grads[:2], A, B, union[1:]])
    golden.op('SparseAddGrad', [grads[:2], np.zeros((0, 2), I64), B, B])
    good = [grads, A, B, union]
    for at, wrong in ((3, [[0, 1], [1, 0]]), (3, [[0], [1], [1]]), (1, [0]), (1, [[0]]), (0, [[0]])):
        golden.fails('SparseAddGrad', _with(good, at, wrong), name=f'{at} {wrong}')


def _extremes(golden):
    random = golden.random
    for op in ('SparseSparseMaximum', 'SparseSparseMinimum'):
        for dtype in REALS:
            golden.op(op, [A, numbers(random, (2,), dtype), SIZES, B, numbers(random, (2,), dtype), SIZES])
        golden.op(op, [A, np.float32([1, 2]), SIZES, np.zeros((0, 2), I64), np.float32([]), SIZES])
    good = [A, np.float32([1, 2]), SIZES, B, np.float32([3, -4]), SIZES]
    for at, wrong in ((0, [[0, 1, 1], [1, 2, 1]]), (2, [2, 4]), (5, [2, 4, 1]), (1, [1]), (4, [[1]]), (0, [1]), (2, 1), (0, [[0, 7], [1, -2]])):
        golden.fails(op, _with(good, at, wrong), name=f'{at} {wrong}')


def _dense_add(golden):
    random = golden.random
    for dtype in NUMBERS:
        golden.op('SparseTensorDenseAdd', [np.int32(A), numbers(random, (2,), dtype), np.int32(SIZES), numbers(random, (2, 3), dtype)], gradient=dtype in (np.float32, np.complex64))
    for indices, shape in (([[2], [0], [2]], (4,)), ([[0, 1, 2], [1, 0, 0]], (2, 2, 3)), (np.zeros((0, 2)), (2, 3))):
        golden.op('SparseTensorDenseAdd', [I64(indices), numbers(random, (len(indices),), np.float32), I64(shape), numbers(random, shape, np.float32)], gradient=True)
    good = [A, np.float32([1, 2]), SIZES, np.zeros((2, 3), np.float32)]
    for at, wrong in ((0, [[0, 1], [1, 3]]), (0, [[0, 1], [1, -3]]), (2, [3, 3]), (2, [3, 3, 1]), (2, 1), (1, 1), (0, [1]), (3, [1])):
        golden.fails('SparseTensorDenseAdd', _with(good, at, wrong), name=f'{at} {wrong}')
    golden.fails('SparseTensorDenseAdd', [np.zeros((2, 0), I64), np.float32([1, 2]), I64([]), np.float32(3)])


def _cwise(golden):
    random = golden.random
    for op in ('SparseDenseCwiseAdd', 'SparseDenseCwiseMul', 'SparseDenseCwiseDiv'):
        gradient = op != 'SparseDenseCwiseAdd'
        for dtype in REALS:
            golden.op(op, [A, nonzero(random, (2,), dtype), SIZES, nonzero(random, (3,), dtype)], gradient=gradient and dtype == np.float32, tolerance=ELEMENTWISE)
        for shape in ((2, 3), (2, 1), (1, 3), (1,), ()):
            golden.op(op, [A, nonzero(random, (2,), np.float32), SIZES, nonzero(random, shape, np.float32)], gradient=gradient and shape != (), tolerance=ELEMENTWISE)
        golden.op(op, [np.zeros((0, 1), I64), np.float32([]), I64([3]), np.float32([1, 2, 3])])
    good = [A, np.float32([1, 2]), SIZES, np.float32([1, 2, 3])]
    for op in ('SparseDenseCwiseMul',):
        for at, wrong in ((3, [[[1]]]), (3, [1, 2]), (3, [1, 2, 3, 4]), (0, [1]), (1, [[1]]), (2, 1), (2, [2, 3, 1]), (1, [1]), (0, [[0, 1], [1, 3]]), (2, [2**40, 2**40]), (2, [-2, 3])):
            golden.fails(op, _with(good, at, wrong), name=f'{at} {wrong}')
        golden.fails(op, [np.zeros((1, 6), I64), np.float32([1]), I64([1] * 6), np.float32(1)])
        golden.fails(op, [np.zeros((1, 0), I64), np.float32([1]), I64([]), np.float32(1)])
    golden.fails('SparseDenseCwiseDiv', [A, np.float32([1, 2]), SIZES, np.float32([1, 2, 0])])


def _reduce(golden):
    random = golden.random
    indices, sizes = I64([[0, 1, 0], [0, 2, 1], [1, 0, 0], [1, 2, 1], [1, 2, 0]]), I64([2, 3, 2])
    for name, dtypes in (('Sum', NUMBERS), ('Max', REALS)):
        tolerance = SUMMED if name == 'Sum' else ELEMENTWISE
        for op in (f'SparseReduce{name}', f'SparseReduce{name}Sparse'):
            gradient = op == 'SparseReduceSum'
            for dtype in dtypes:
                golden.op(op, [indices, numbers(random, (5,), dtype), sizes, np.int32([1])], tolerance=tolerance, gradient=gradient and dtype in (np.float32, np.complex64))
            for axes in ([], [0, 2], [-1], [1, 1], [0, 1, 2], 2) if name == 'Sum' else ([0, -1],):
                for keep in (False, True):
                    golden.op(op, [indices, numbers(random, (5,), np.float32), sizes, np.int32(axes)], {'keep_dims': keep}, tolerance=tolerance, gradient=gradient and axes != [] and axes != [1, 1],
                              name=f'{axes} {keep}')
            golden.op(op, [np.zeros((0, 2), I64), np.float32([]), I64([2, 3]), np.int32([0])])
            if op.endswith('MaxSparse') or op == 'SparseReduceMax':
                continue
            good = [indices[:, :2], np.float32([1, 2, 3, 4, 5]), I64([2, 3]), np.int32([1])]
            for at, wrong in ((3, [2]), (3, [-3]), (3, [[1]]), (2, [2]), (2, [2, -3]), (2, 2), (2, [2**40, 2**40]), (1, [2]), (1, [[2]]), (0, [[2, 2]])):
                golden.fails(op, _with(good, at, wrong), name=f'{at} {wrong}')
    golden.fails('SparseReduceSum', [I64([[3, 2]]), np.float32([1]), I64([2, 3]), np.int32([1])])
    golden.fails('SparseReduceMax', [I64([[-1, 2]]), np.float32([1]), I64([2, 3]), np.int32([1])])


def _softmax(golden):
    random = golden.random
    indices = I64([[0, 1], [0, 2], [1, 0]])
    for dtype in (np.float32, np.float64, np.float16):
        golden.op('SparseSoftmax', [indices, numbers(random, (3,), dtype), SIZES], tolerance=ELEMENTWISE, gradient=True)
    golden.op('SparseSoftmax', [I64([[0, 0, 1], [0, 1, 0], [0, 1, 2], [1, 0, 0]]), numbers(random, (4,), np.float32), I64([2, 2, 3])], tolerance=ELEMENTWISE, gradient=True)
    golden.op('SparseSoftmax', [I64([[0, 0], [0, 1], [0, 2]]), np.float32([1000, -1000, 999]), I64([1, 3])], tolerance=ELEMENTWISE, gradient=True)
    golden.op('SparseSoftmax', [np.zeros((0, 2), I64), np.float32([]), SIZES])
    good = [indices, np.float32([1, 2, 3]), SIZES]
    for at, wrong in ((0, [0]), (1, [0]), (1, [[0]]), (2, 2), (2, [2, 3, 4]), (2, [2**40, 2**40])):
        golden.fails('SparseSoftmax', _with(good, at, wrong), name=f'{at} {wrong}')
    golden.fails('SparseSoftmax', [I64([[0], [1]]), np.float32([1, 2]), I64([2])])


def _matmul(golden):
    random = golden.random
    indices = I64([[0, 1], [1, 2], [1, 0], [0, 1]])
    for dtype in [*(dtype for dtype in NUMBERS if dtype.kind in 'fcV'), np.dtype(np.float64), np.dtype(np.int32)]:
        golden.op('SparseTensorDenseMatMul', [indices, numbers(random, (4,), dtype), SIZES, numbers(random, (3, 5), dtype)], tolerance=SUMMED, gradient=dtype.kind in 'fcV')
    for dtype in (np.float32, np.complex64):
        for a in (False, True):
            for b in (False, True):
                shape = (2 if a else 3, 4)
                golden.op('SparseTensorDenseMatMul', [np.int32(indices), numbers(random, (4,), dtype), SIZES, numbers(random, shape[::-1] if b else shape, dtype)], {'adjoint_a': a, 'adjoint_b': b},
                          tolerance=SUMMED, gradient=True)
    for columns in (0, 1, 33):
        golden.op('SparseTensorDenseMatMul', [indices, numbers(random, (4,), np.float32), SIZES, numbers(random, (3, columns), np.float32)], tolerance=SUMMED, gradient=columns > 0)
    golden.op('SparseTensorDenseMatMul', [np.zeros((0, 2), I64), np.float32([]), I64([2, 0]), np.zeros((0, 3), np.float32)])
    golden.op('SparseTensorDenseMatMul', [np.zeros((0, 2), I64), np.float32([]), SIZES, np.ones((3, 2), np.float32)])
    good = [A, np.float32([1, 2]), SIZES, np.ones((3, 2), np.float32)]
    for at, wrong in ((0, [[0, 1], [1, 3]]), (0, [[0, 1], [2, 2]]), (0, [[0, 1], [-2, 2]]), (0, [[0, 1], [1, -2]]), (2, [2, 2]), (2, [2]), (2, [[2, 3]]), (1, [1]), (1, [[1]]), (0, [1]), (0, [[1], [2]]), (3, [1])):
        golden.fails('SparseTensorDenseMatMul', _with(good, at, wrong), name=f'{at} {wrong}')
    golden.fails('SparseTensorDenseMatMul', [I64([[0, 3]]), np.float32([1]), SIZES, np.ones((2, 40), np.float32)], {'adjoint_a': True})
