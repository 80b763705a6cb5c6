"""Bessel functions, incomplete gamma and beta functions, and functions that are integrals.

TensorFlow's own results are up to 1e-5 (float) and 1e-12 (double) away from the functions; tests/data/oracle/special_functions.txt has
exact values. Left out: infinities of BesselI and BesselJ, where TensorFlow has NaN, and the gradient of BesselI1 at 0, 1 there.
"""
import numpy as np

from writer import Tolerance

NEAR = Tolerance(float32=dict(relative=3e-5, ulps=4), float64=dict(relative=1e-11, ulps=4), float16=dict(relative=2e-3, ulps=2))
TYPES = [np.float32, np.float64]


def cases(golden):
    everywhere, positive = [-3.25, -1.5, -0.25, 0.5, 1, 2.75, 6], [0.125, 0.5, 1, 2.75, 6, 9.5]
    for op in ['BesselI0', 'BesselI0e', 'BesselI1', 'BesselI1e', 'BesselJ0', 'BesselJ1', 'BesselK0', 'BesselK0e', 'BesselK1', 'BesselK1e', 'BesselY0', 'BesselY1']:
        points = everywhere if op[6] in 'IJ' else positive
        for dtype in TYPES + [np.float16]:
            golden.op(op, [np.array(points, dtype)], tolerance=NEAR, gradient=dtype != np.float16)
        golden.op(op, [np.zeros((0, 2), np.float32)])
        golden.op(op, [np.float32([[1, np.nan]])], tolerance=NEAR)
    for op, points in [('Dawsn', everywhere), ('Expint', positive), ('FresnelCos', everywhere), ('FresnelSin', everywhere), ('Spence', positive)]:
        for dtype in TYPES:
            golden.op(op, [np.array(points, dtype)], tolerance=NEAR, gradient=True)
        golden.op(op, [np.float32([[1, np.nan]])], tolerance=NEAR)
    for op in ['Igamma', 'Igammac', 'IgammaGradA', 'RandomGammaGrad', 'Zeta']:
        for dtype in TYPES:
            a, x = np.array([1.5, 2, 3.5, 8], dtype), np.array([0.5, 2.5, 3, 9], dtype)
            golden.op(op, [a, x], tolerance=NEAR, gradient=op in ('Igamma', 'Igammac', 'Zeta'))
            golden.op(op, [a[:, None], x[:2]], tolerance=NEAR, gradient=op in ('Igamma', 'Igammac', 'Zeta'))
        golden.op(op, [np.float32(2), np.zeros((0,), np.float32)])
        golden.fails(op, [np.float32([2, 3]), np.float32([1, 2, 3])])
    for dtype in TYPES:
        a, b, x = np.array([1.5, 2, 3.5, 8], dtype), np.array([0.5, 2.5, 3, 9], dtype), np.array([0, 0.25, 0.75, 1], dtype)
        golden.op('Betainc', [a, b, x], tolerance=NEAR, gradient=True)
        for scalar in range(3):
            golden.op('Betainc', [v[1] if i == scalar else v for i, v in enumerate((a, b, x))], tolerance=NEAR, gradient=scalar < 2)
    for shapes in [((2,), (3,), ()), ((1, 2), (), (2,)), ((), (2,), (3,))]:
        golden.fails('Betainc', [np.full(shape, 0.5, np.float32) for shape in shapes])
