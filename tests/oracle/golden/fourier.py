"""Fourier transforms."""
import numpy as np
import tensorflow as tf

from writer import Tolerance

# To the largest element: a small multiple of the rounding error.
FOURIER = Tolerance(complex64=dict(to_largest=4e-7), complex128=dict(to_largest=1e-15), float32=dict(to_largest=4e-7), float64=dict(to_largest=1e-15))
GRADIENT = Tolerance(complex64=dict(to_largest=2e-6), complex128=dict(to_largest=4e-15), float32=dict(to_largest=2e-6), float64=dict(to_largest=4e-15))


def cases(golden):
    def real(*shape, dtype=np.float32):
        return golden.random.standard_normal(shape).astype(dtype)

    def complex_(*shape, dtype=np.complex64):
        return (golden.random.standard_normal(shape) + 1j * golden.random.standard_normal(shape)).astype(dtype)

    def op(which, inputs, attrs=None, **more):
        golden.op(which, inputs, attrs, tolerance=FOURIER, gradient_tolerance=GRADIENT, **more)

    shapes = {'': [(1,), (8,), (3, 5), (2, 0), (0, 4), (13,), (17,), (60,), (2, 3, 16)], '2D': [(4, 4), (2, 3, 5), (1, 7), (0, 3), (16, 1)], '3D': [(2, 3, 4), (2, 1, 4, 2), (3, 3, 0)]}
    for which, of in shapes.items():
        for shape in of:
            for name in ['FFT', 'IFFT']:
                op(name + which, [complex_(*shape)], gradient=0 not in shape)
        for name in ['FFT', 'IFFT']:
            op(name + which, [complex_(*of[1], dtype=np.complex128)], gradient=True)
            golden.fails(name + which, [complex_(*of[1][:len(which) and int(which[0]) - 1])])

    # Of inputs with the shape of the transform TensorFlow has a gradient in one and two dimensions.
    lengths = {'': [((8,), [8]), ((2, 5), [5]), ((9,), [6]), ((7,), [1]), ((34,), [34]), ((2, 3), [2]), ((23,), [23])], '2D': [((4, 6), [4, 6]), ((2, 3, 5), [3, 5]), ((5, 5), [4, 3])],
               '3D': [((2, 3, 4), [2, 3, 4]), ((3, 3, 3), [2, 3, 1])]}
    for which, of in lengths.items():
        rank = int(which[0]) if which else 1
        for shape, length in of:
            whole = list(shape[-rank:]) == length and rank < 3
            op('RFFT' + which, [real(*shape), np.int32(length)], name=f'{shape} {length}', gradient=whole)
            half = shape[:-1] + (shape[-1] // 2 + 1,)
            op('IRFFT' + which, [complex_(*half), np.int32(length)], name=f'{shape} {length}', gradient=whole and length[-1] > 1)
        shape, length = of[0]
        op('RFFT' + which, [real(*shape, dtype=np.float64), np.int32(length)], {'Tcomplex': tf.complex128}, gradient=rank < 3)
        op('IRFFT' + which, [complex_(*shape[:-1], shape[-1] // 2 + 1, dtype=np.complex128), np.int32(length)], {'Treal': tf.float64}, gradient=rank < 3)
        golden.fails('RFFT' + which, [real(*shape), np.int32(length[:-1] + [length[-1] + 1])], name='longer')
        golden.fails('IRFFT' + which, [complex_(*shape[:-1], shape[-1] // 2), np.int32(length)], name='longer')
        golden.fails('RFFT' + which, [real(*shape), np.int32(length + [1])], name='lengths')
        golden.fails('RFFT' + which, [real(*shape), np.int32([-1] * rank)], name='negative')
    golden.fails('RFFT', [real(4), np.int32([4])], {'Tcomplex': tf.complex128})
    golden.fails('IRFFT', [complex_(4), np.int32([4])], {'Treal': tf.float64})
