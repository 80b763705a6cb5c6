"""Elementwise ops of two inputs, with broadcasting: arithmetic, comparisons, logic."""
import numpy as np
import tensorflow as tf

from data import BROADCAST, extremes, nonzero, numbers
from writer import ELEMENTWISE, EXACT, SUMMED, dtypes, kind, tf1

ARITHMETIC = ['Add', 'AddV2', 'Sub', 'Mul', 'Maximum', 'Minimum', 'SquaredDifference']
DIVISION = ['RealDiv', 'Div', 'FloorDiv', 'FloorMod']
COMPARISONS = ['Equal', 'NotEqual', 'Less', 'LessEqual', 'Greater', 'GreaterEqual']
NOT_DIFFERENTIABLE = ['FloorDiv', 'FloorMod'] + COMPARISONS


def cases(golden):
    random = golden.random
    for op in ARITHMETIC + DIVISION + COMPARISONS:
        make_right = nonzero if op in DIVISION else numbers
        for dtype in dtypes(op, of='fiucbS' if op in COMPARISONS else 'fiucb'):
            of = kind(dtype)
            gradient = of in 'fc' and op not in NOT_DIFFERENTIABLE
            tolerance = ELEMENTWISE if op in DIVISION or of == 'c' else EXACT
            shapes = BROADCAST if dtype == np.float32 else [((3, 5), (3, 5)), ((2, 1, 3), (4, 1))]
            for left, right in shapes:
                golden.op(op, [numbers(random, left, dtype), make_right(random, right, dtype)], tolerance=tolerance, gradient=gradient,
                          gradient_tolerance=SUMMED)
            if of in 'fiu':
                ends = extremes(dtype)
                left, right = np.repeat(ends, len(ends)), np.tile(ends, len(ends))
                if op in DIVISION and of in 'iu':  # no division by 0, and not the quotient that does not fit
                    keep = (right != 0) & ~((left == ends[0]) & (right == np.array(-1).astype(dtype)))
                    left, right = left[keep], right[keep]
                if op in DIVISION and of == 'f':  # no quotient that is subnormal
                    keep = np.isnan(left) | (np.abs(right) != np.max(ends[np.isfinite(ends)])) | (np.abs(left) > 1) | (left == 0)
                    left, right = left[keep], right[keep]
                if not (op == 'FloorMod' and of == 'f'):
                    golden.op(op, [left, right], name=f'extremes of {dtype}', tolerance=tolerance)
        if op in ('Div', 'FloorDiv', 'FloorMod'):
            golden.fails(op, [np.int32([1, 2]), np.int32([1, 0])])
            golden.fails(op, [np.int64([1, 2]), np.int64(0)])
        golden.fails(op, [numbers(random, (2, 3), np.float32), numbers(random, (2,), np.float32)])
    for dtype in dtypes('Pow'):
        tolerance = EXACT if kind(dtype) == 'i' else ELEMENTWISE
        for left, right in [((3, 5), (3, 5)), ((7,), ()), ((3, 1), (5,))]:
            positive = np.abs(nonzero(random, left, dtype)) if kind(dtype) != 'c' else nonzero(random, left, dtype)
            golden.op('Pow', [positive.astype(dtype), numbers(random, right, dtype, 0 if kind(dtype) == 'i' else -2, 3)], tolerance=tolerance,
                      gradient=kind(dtype) in 'fc', gradient_tolerance=SUMMED)
    for dtype in (np.float32, np.float64):
        ends = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, 2, -3], dtype)
        golden.op('Pow', [np.repeat(ends, len(ends)), np.tile(ends, len(ends))], name='special values', tolerance=ELEMENTWISE)
    for dtype in dtypes('FloorDiv', of='f'):  # the quotient is rounded before
        golden.op('FloorDiv', [np.array([42.98, 3, -3, 10, 1], dtype), np.array([1, 0.1, 0.1, 0.3, 0.1], dtype)], name='near whole numbers')
    for dtype in (np.float32, np.float64):
        golden.op('ApproximateEqual', [np.array([0, 0.5, -0.5, 0.75, np.inf, np.nan], dtype), np.array([0, 0, 0, 0, np.inf, 0], dtype)], {'tolerance': 0.5})
    golden.fails('Pow', [np.int32([2, 3]), np.int32([1, -1])])
    for op in ('LogicalAnd', 'LogicalOr'):
        for left, right in BROADCAST:
            golden.op(op, [numbers(random, left, bool), numbers(random, right, bool)])
        golden.fails(op, [numbers(random, (2, 3), bool), numbers(random, (2,), bool)])
        for left, right in [((0,), (1,)), ((2, 1, 2, 1, 3, 1), (3, 3, 2)), ((3, 33), (3, 1)), ((1,), (2, 0, 3))]:
            golden.op(op, [numbers(random, left, bool), numbers(random, right, bool)])
    _quantized(golden)


def _quantized(golden):
    """Numbers that stand for others are equal when they are the same."""
    for op in ('Equal', 'NotEqual'):
        for dtype, of in ((np.uint8, tf.quint8), (np.int8, tf.qint8), (np.int32, tf.qint32)):
            for left, right in [((17,), (17,)), ((3, 1), (5,))]:
                with golden.graph(f'{op} {of.name}{list(left)}, {of.name}{list(right)}') as case:
                    feeds = {tf1.placeholder(dtype, None, f'x{i}'): numbers(golden.random, shape, dtype, 0, 2) for i, shape in enumerate((left, right))}
                    x, y = (tf.raw_ops.Bitcast(input=given, type=of) for given in feeds)
                    made = tf.raw_ops.Equal(x=x, y=y, name='op') if op == 'Equal' else tf.raw_ops.NotEqual(x=x, y=y, name='op')
                    case.step({'op:0': made}, feeds)
                    case.expect_success()
