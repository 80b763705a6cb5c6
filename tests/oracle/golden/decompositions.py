"""Decompositions: QR with TensorFlow's signs; singular values, eigenvalues and their vectors.

Signs and phases of vectors are not compared where they are free. Instead whole graphs compare what does not depend on them: values,
products that give back the matrix, and products of vectors with each other. Gradients are those of such products.
"""
import numpy as np
import tensorflow as tf

from data import numbers
from writer import TO_LARGEST, Tolerance

tf1 = tf.compat.v1
raw = tf.raw_ops
REAL = [np.float32, np.float64]
TYPES = REAL + [np.complex64, np.complex128]
# TensorFlow's own results in single precision are further away, and more so their gradients.
ROUGH = Tolerance(**{name: dict(to_largest=limit) for name, limit in
                     (('float32', 1e-4), ('float64', 1e-12), ('complex64', 1e-4), ('complex128', 1e-12), ('float16', 4e-3))})
SHAPES = [(1, 1), (4, 2), (2, 4), (3, 3), (2, 3, 2), (2, 1, 2, 3)]


def cases(golden):
    def x(shape, dtype=np.float32):
        return numbers(golden.random, shape, dtype)

    _qr(golden, x)
    _svd(golden, x)
    _self_adjoint(golden, x)
    _eig(golden, x)
    _functions(golden, x)


def _composed(golden, name, value, build, gradient=False):
    """The results of `build`, a function of a placeholder, and with `gradient` the gradient of the last one."""
    with golden.graph(name) as case:
        at = tf1.placeholder(value.dtype, value.shape, 'x')
        results = build(at)
        fetches = {f'{result.op.name}:{result.value_index}': result for result in results}
        feeds = {at: value}
        if gradient:
            y = results[-1]
            dy = tf1.placeholder(y.dtype, y.shape, 'dy')
            feeds[dy] = numbers(golden.random, y.shape, y.dtype.as_numpy_dtype)
            case.freeze()
            case.add_gradients([y], [at], [dy])
            fetches['dx:0'] = case.dx[0]
        case.step(fetches, feeds, tolerance=ROUGH)
        case.expect_success()


def _real(values):
    """Without the imaginary parts, so that their gradients have none: TensorFlow's ops do not drop these themselves."""
    return tf.cast(raw.Real(input=values, Tout=values.dtype.real_dtype), values.dtype) if values.dtype.is_complex else values


def _product(x, y, **adjoint):
    return raw.BatchMatMulV2(x=x, y=y, **adjoint)


def _qr(golden, x):
    for full in [False, True]:
        for dtype in TYPES:
            for shape in [(3, 2), (2, 3)]:
                golden.op('Qr', [x(shape, dtype)], {'full_matrices': full}, tolerance=ROUGH)
        for shape in SHAPES + [(0, 3), (3, 0), (0, 2, 2), (9, 7)]:
            golden.op('Qr', [x(shape)], {'full_matrices': full}, tolerance=ROUGH)
    golden.op('Qr', [x((3, 3), np.float16)], tolerance=ROUGH)
    golden.op('Qr', [np.float32([[0, 2], [0, 4], [0, 7]])], name='of a column of zeros', tolerance=ROUGH)
    for dtype, shapes in ((np.float64, SHAPES), (np.complex128, [(2, 2), (3, 2), (2, 3)])):
        for shape in shapes:
            for last in [0, 1]:
                _composed(golden, f'Qr gradient {last} {np.dtype(dtype).name} {shape}', x(shape, dtype), lambda at, last=last: [raw.Qr(input=at)[last]], gradient=True)
    golden.fails('Qr', [x((3,))])


def _svd(golden, x):
    for dtype in TYPES:
        golden.op('Svd', [x((3, 2), dtype)], {'compute_uv': False}, tolerance=ROUGH, gradient=dtype in REAL, outputs=[0], differentiable=[0])
        for full in [False, True]:
            for shape in [(3, 2), (2, 3)]:
                k = min(shape)

                def build(at, full=full, k=k):
                    s, u, v = raw.Svd(input=at, full_matrices=full)
                    s = _real(s)
                    back = _product(_product(u[..., :k], raw.MatrixDiag(diagonal=s)), v[..., :k], adj_y=True)
                    root = raw.MatrixDiag(diagonal=raw.Mul(x=s, y=s + 1))
                    return [s, _product(u, u, adj_x=True), _product(v, v, adj_x=True), back, _product(_product(u[..., :k], root), v[..., :k], adj_y=True)]

                _composed(golden, f'Svd {np.dtype(dtype).name} {shape} full={full}', x(shape, dtype), build, gradient=not full)
    for shape in SHAPES + [(9, 7)]:
        golden.op('Svd', [x(shape)], {'compute_uv': False}, tolerance=ROUGH, outputs=[0])
    golden.op('Svd', [x((0, 3))], {'full_matrices': True})
    golden.op('Svd', [x((3, 0))], {'full_matrices': False})
    golden.op('Svd', [np.float32([[np.nan, 2], [0, 4]])], name='of NaN')
    golden.op('Svd', [np.float64([[1, 2], [2, 4], [3, 6]])], {'compute_uv': False}, name='of rank 1', tolerance=ROUGH, outputs=[0])
    golden.op('Svd', [np.zeros((2, 3), np.float32)], {'compute_uv': False}, name='of zeros', outputs=[0])
    golden.fails('Svd', [x((3,))])


def _hermitian(x, shape, dtype):
    a = x(shape, dtype)
    return (a + np.conj(np.swapaxes(a, -1, -2))).astype(dtype)


def _self_adjoint(golden, x):
    for dtype in TYPES:
        a = _hermitian(x, (3, 3), dtype)
        golden.op('SelfAdjointEigV2', [a], {'compute_v': False}, tolerance=ROUGH, gradient=True, outputs=[0], differentiable=[0])

        def build(at):
            e, v = raw.SelfAdjointEigV2(input=at)
            e = _real(e)
            function = raw.MatrixDiag(diagonal=raw.Mul(x=e, y=e + 1))
            return [e, _product(v, v, adj_x=True), _product(_product(v, raw.MatrixDiag(diagonal=e)), v, adj_y=True), _product(_product(v, function), v, adj_y=True)]

        _composed(golden, f'SelfAdjointEigV2 {np.dtype(dtype).name}', a, build, gradient=True)
    for shape in [(1, 1), (2, 3, 3), (2, 1, 2, 2), (0, 0), (0, 2, 2), (9, 9)]:
        golden.op('SelfAdjointEigV2', [_hermitian(x, shape, np.float32)], {'compute_v': False}, tolerance=ROUGH, outputs=[0])
    golden.op('SelfAdjointEigV2', [np.float32([[1, 200], [7, 4]])], {'compute_v': False}, name='of the lower triangle', tolerance=ROUGH, outputs=[0])
    golden.op('SelfAdjointEigV2', [np.eye(3, dtype=np.float32)], {'compute_v': False}, name='of the identity', tolerance=ROUGH, outputs=[0])
    golden.fails('SelfAdjointEigV2', [np.float32([[np.nan, 2], [0, 4]])], name='of NaN')
    for shape in [(2, 3), (3,)]:
        golden.fails('SelfAdjointEigV2', [x(shape)])


def _eig(golden, x):
    for dtype in TYPES:
        out = tf.complex64 if dtype in (np.float32, np.complex64) else tf.complex128
        for shape in [(3, 3), (2, 4, 4)]:
            def build(at, out=out):
                e, v = raw.Eig(input=at, Tout=out)
                inverse = raw.MatrixInverse(input=v)
                back = _product(_product(v, raw.MatrixDiag(diagonal=e)), inverse)
                lengths = raw.Real(input=raw.MatrixDiagPart(input=_product(v, v, adj_x=True)), Tout=out.real_dtype)
                function = raw.MatrixDiag(diagonal=raw.Mul(x=e, y=e + 1))
                return [lengths, back, _product(_product(v, function), inverse)]

            _composed(golden, f'Eig {np.dtype(dtype).name} {shape}', x(shape, dtype), build)
            # The eigenvalues' order is free: their power sums.
            _composed(golden, f'Eig values {np.dtype(dtype).name} {shape}', x(shape, dtype), lambda at, out=out: [
                raw.Sum(input=raw.Pow(x=raw.Eig(input=at, Tout=out, compute_v=False)[0], y=tf.cast(power, out)), axis=-1) for power in (1., 2., 3.)], gradient=True)
    golden.fails('Eig', [np.float32([[np.nan, 2], [0, 4]])], {'Tout': tf.complex64}, name='of NaN')
    golden.fails('Eig', [x((2, 3))], {'Tout': tf.complex64})
    golden.fails('Eig', [x((2, 2))], {'Tout': tf.complex128})


def _functions(golden, x):
    for dtype in TYPES:
        a = x((3, 3), dtype) / 4
        good = (a @ np.conj(a.T) + a / 2 + np.eye(3)).astype(dtype)
        golden.op('MatrixSquareRoot', [good], tolerance=ROUGH, gradient=dtype in REAL)
        if dtype not in REAL:
            golden.op('MatrixLogarithm', [good], tolerance=ROUGH)
            golden.op('MatrixLogarithm', [np.stack([good, 4 * good])], tolerance=ROUGH)
        golden.op('MatrixSolveLs', [x((4, 2), dtype), x((4, 2), dtype), np.float64(0.5)], tolerance=ROUGH, gradient=dtype in REAL)
        golden.op('MatrixSolveLs', [x((2, 4), dtype), x((2, 3), dtype), np.float64(0.25)], tolerance=ROUGH, gradient=dtype in REAL)
        golden.op('MatrixSolveLs', [x((4, 2), dtype), x((4, 2), dtype), np.float64(0.)], {'fast': False}, tolerance=ROUGH)
        for pivots in [False, True]:
            golden.op('TridiagonalSolve', [x((3, 4), dtype) + 2, x((4, 2), dtype)], {'partial_pivoting': pivots}, tolerance=ROUGH, gradient=dtype in REAL)
        golden.op('TridiagonalMatMul', [x((1, 4), dtype), x((1, 4), dtype), x((1, 4), dtype), x((4, 2), dtype)], tolerance=TO_LARGEST, gradient=True)
    for shape in [(1, 1), (0, 0), (2, 2, 2)]:
        a = x(shape) / 4
        golden.op('MatrixSquareRoot', [a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1], dtype=np.float32)], tolerance=ROUGH, gradient=0 not in shape)
    golden.op('MatrixSquareRoot', [np.float32([[-1, 0], [0, 4]])], name='of a negative eigenvalue')
    golden.op('MatrixSquareRoot', [np.float32([[0, 0], [0, 4]])], name='of a singular matrix')
    golden.op('MatrixSquareRoot', [np.float32([[0, -1], [1, 0]])], name='of a rotation', tolerance=ROUGH)
    golden.op('MatrixLogarithm', [np.complex64([[-1, 0], [0, 4]])], name='of a negative eigenvalue', tolerance=ROUGH)
    for op in ['MatrixSquareRoot', 'MatrixLogarithm']:
        for shape in [(2, 3), (3,)]:
            golden.fails(op, [x(shape, np.complex64)])
    golden.op('MatrixSolveLs', [x((2, 3, 2)), x((2, 3, 1)), np.float64(1)], tolerance=ROUGH, gradient=True)
    golden.op('MatrixSolveLs', [np.float64([[1, 2], [2, 4], [3, 6]]), np.float64([[1], [2], [4]]), np.float64(0)], {'fast': False}, name='of rank 1', tolerance=ROUGH)
    for left, right, l2 in [((3, 2), (2, 1), 0.), ((3, 2), (3, 1), -1.), ((3, 2), (3, 1), [1.]), ((3,), (3, 1), 0.)]:
        golden.fails('MatrixSolveLs', [x(left), x(right), np.float64(l2)])
    for shape in [(2, 3, 3), (3, 1), (3, 0), (2, 1, 3, 2)]:
        golden.op('TridiagonalSolve', [x(shape) + np.float32([[1], [9], [2]]), x(shape[:-2] + (shape[-1], 2))], tolerance=ROUGH)
    for left, right in [((2, 2), (2, 1)), ((3, 2), (3, 1)), ((2, 3, 2), (2, 1)), ((3,), (3, 1))]:
        golden.fails('TridiagonalSolve', [x(left), x(right)])
    golden.fails('TridiagonalSolve', [x((3, 2)), x((2, 1))], {'partial_pivoting': False, 'perturb_singular': True})
    for shape in [(2, 1, 3), (1, 1), (1, 0)]:
        golden.op('TridiagonalMatMul', [x(shape), x(shape), x(shape), x(shape[:-2] + (shape[-1], 2))], tolerance=TO_LARGEST, gradient=0 not in shape)
    for place in range(3):
        golden.fails('TridiagonalMatMul', [x((1, 2 if i == place else 3)) for i in range(3)] + [x((3, 1))], name=str(place))
    golden.fails('TridiagonalMatMul', [x((3,)), x((3,)), x((3,)), x((3, 1))])
    for dtype in REAL + [np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint32, np.uint64]:
        golden.op('Cross', [x((2, 3), dtype), x((2, 3), dtype)], tolerance=TO_LARGEST, gradient=np.dtype(dtype).kind == 'f' and dtype != np.float16)
    golden.op('Cross', [x((0, 3)), x((0, 3))])
    for left, right in [((2,), (2,)), ((1, 3), (3,)), ((), ())]:
        golden.fails('Cross', [x(left), x(right)])
