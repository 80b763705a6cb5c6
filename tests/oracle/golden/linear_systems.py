"""Factorizations of square matrices, determinants, inverses and solutions of linear systems.

Where the message for a singular matrix is 1.15's, 2.21 gives NaN instead: Cholesky, MatrixTriangularSolve.
"""
import numpy as np
import tensorflow as tf

from data import numbers
from writer import TO_LARGEST

REAL = [np.float32, np.float64]
TYPES = REAL + [np.complex64, np.complex128]


def cases(golden):
    def x(shape, dtype=np.float32):
        return numbers(golden.random, shape, dtype)

    def regular(shape, dtype=np.float32):
        """With a heavy diagonal."""
        return (x(shape, dtype) / 4 + 3 * np.eye(shape[-1])).astype(dtype)

    def positive(shape, dtype=np.float32):
        a = x(shape, dtype).astype(np.complex128 if np.dtype(dtype).kind == 'c' else np.float64) / 4
        return (a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(shape[-1])).astype(dtype)

    _square(golden, x, regular)
    _cholesky(golden, x, positive)
    _solve(golden, x, regular)
    _triangular(golden, x, regular)


SQUARE = [(1, 1), (2, 2), (5, 5), (2, 3, 3), (2, 1, 4, 4), (0, 0), (2, 0, 0), (0, 3, 3)]


def _square(golden, x, regular):
    for op in ['MatrixDeterminant', 'LogMatrixDeterminant', 'MatrixInverse', 'Lu']:
        different = op != 'Lu'
        for dtype in TYPES:
            golden.op(op, [regular((3, 3), dtype)], tolerance=TO_LARGEST, gradient=different and np.dtype(dtype).kind == 'f',
                      differentiable=[1] if op == 'LogMatrixDeterminant' else None)
        for shape in SQUARE:
            golden.op(op, [regular(shape)], tolerance=TO_LARGEST, gradient=different and len(shape) == 3 and 0 not in shape,
                      differentiable=[1] if op == 'LogMatrixDeterminant' else None)
        golden.op(op, [np.float32([[0, 2, 1], [1, 0, 3], [4, 1, 0]])], name='that exchanges rows', tolerance=TO_LARGEST)
        for shape in [(2, 3), (3,)]:
            golden.fails(op, [x(shape)])
    for op in ['MatrixInverse', 'Lu']:
        golden.fails(op, [np.float32([[1, 2], [2, 4]])], name='of a singular matrix')
    golden.op('MatrixDeterminant', [np.float32([[1, 2], [2, 4]])], name='of a singular matrix')
    golden.op('MatrixDeterminant', [np.float32([[1, np.nan], [2, 4]])], name='of NaN')
    for dtype in TYPES:
        golden.op('MatrixInverse', [regular((2, 3, 3), dtype)], {'adjoint': True}, tolerance=TO_LARGEST, gradient=True)
        golden.op('Lu', [regular((2, 3, 3), dtype)], {'output_idx_type': tf.int64}, tolerance=TO_LARGEST)
    golden.op('MatrixInverse', [regular((3, 3), np.float16)], tolerance=TO_LARGEST)


def _cholesky(golden, x, positive):
    for dtype in TYPES:
        golden.op('Cholesky', [positive((3, 3), dtype)], tolerance=TO_LARGEST, gradient=True)
    for shape in SQUARE:
        golden.op('Cholesky', [positive(shape)], tolerance=TO_LARGEST, gradient=0 not in shape)
    golden.op('Cholesky', [np.float32([[4, 100], [2, 5]])], name='of the lower triangle', tolerance=TO_LARGEST)
    golden.fails('Cholesky', [x((2, 3))])
    golden.fails('Cholesky', [x((3,))])
    for dtype in REAL:
        for shape in [(3, 3), (2, 2, 2), (0, 0)]:
            lower = np.tril(x(shape, dtype)) + 5 * np.eye(shape[-1], dtype=dtype)
            golden.op('CholeskyGrad', [lower, x(shape, dtype)], tolerance=TO_LARGEST)
    golden.fails('CholeskyGrad', [x((2, 2)), x((2, 3))])
    golden.fails('CholeskyGrad', [x((2, 2)), x((1, 2, 2))])


def _solve(golden, x, regular):
    for dtype in TYPES:
        for adjoint in [False, True]:
            golden.op('MatrixSolve', [regular((3, 3), dtype), x((3, 2), dtype)], {'adjoint': adjoint}, tolerance=TO_LARGEST, gradient=True)
    for left, right in [((1, 1), (1, 4)), ((2, 3, 3), (2, 3, 1)), ((2, 1, 2, 2), (2, 1, 2, 3)), ((3, 3), (3, 0)), ((0, 0), (0, 2)), ((0, 2, 2), (0, 2, 1))]:
        golden.op('MatrixSolve', [regular(left), x(right)], tolerance=TO_LARGEST, gradient=0 not in left + right)
    for left, right in [((2, 2, 2), (3, 2, 1)), ((2, 2, 2), (2, 1)), ((2, 2), (3, 1)), ((2, 3), (2, 1)), ((2,), (2,))]:
        golden.fails('MatrixSolve', [x(left), x(right)])
    golden.fails('MatrixSolve', [np.float32([[1, 2], [2, 4]]), np.float32([[1], [2]])], name='singular')


def _triangular(golden, x, regular):
    for dtype in TYPES:
        for lower in [False, True]:
            for adjoint in [False, True]:
                golden.op('MatrixTriangularSolve', [regular((3, 3), dtype), x((3, 2), dtype)], {'lower': lower, 'adjoint': adjoint}, tolerance=TO_LARGEST,
                          gradient=lower or dtype == np.float32)
                golden.op('BandedTriangularSolve', [x((2, 4), dtype) + dtype(6), x((4, 2), dtype)], {'lower': lower, 'adjoint': adjoint}, tolerance=TO_LARGEST,
                          gradient=lower or dtype == np.float32)
    for left, right in [((1, 1), (1, 4)), ((2, 3, 3), (3, 2)), ((2, 1, 2, 2), (3, 2, 1)), ((3, 3), (2, 3, 1)), ((0, 0), (0, 2)), ((0, 2, 2), (2, 1)), ((3, 3), (3, 0))]:
        golden.op('MatrixTriangularSolve', [regular(left), x(right)], tolerance=TO_LARGEST, gradient=0 not in left + right)
    for left, right in [((1, 3), (3, 2)), ((3, 4), (4, 1)), ((2, 2, 3), (3, 1)), ((2, 3), (2, 3, 2))]:
        for lower in [False, True]:
            golden.op('BandedTriangularSolve', [x(left) + np.float32(8), x(right)], {'lower': lower}, tolerance=TO_LARGEST, gradient=True)
    for left, right in [((2, 2, 2), (3, 2, 1)), ((2, 2), (3, 1)), ((2, 3), (2, 1)), ((2,), (2, 1)), ((2, 2), (2,))]:
        golden.fails('MatrixTriangularSolve', [regular(left) if left[-2:-1] == left[-1:] else x(left), x(right)])
    for left, right in [((2, 2, 3), (3, 3, 1)), ((2, 3), (2, 1)), ((0, 3), (3, 1)), ((3,), (3, 1)), ((2, 3), (3,))]:
        golden.fails('BandedTriangularSolve', [x(left) + np.float32(8), x(right)])
    golden.fails('BandedTriangularSolve', [np.float32([[1, 0]]), np.float32([[1], [2]])], name='singular')
