"""Searches in sorted rows, and histograms."""
import numpy as np

from data import FLOATS, numbers
from writer import dtypes

F = np.float32
TYPES = FLOATS + [np.dtype(t) for t in (np.int32, np.int64, np.uint8, np.int8, np.int16, np.uint16, np.uint32, np.uint64)]


def cases(golden):
    for op in ['LowerBound', 'UpperBound']:
        for i, dtype in enumerate(TYPES):
            rows = np.sort(numbers(golden.random, (2, 9), dtype), axis=1)
            golden.op(op, [rows, numbers(golden.random, (2, 7), dtype)], {'out_type': [np.int32, np.int64][i % 2]})
        for rows, values in [((1, 0), (1, 3)), ((3, 1), (3, 0)), ((0, 4), (0, 2)), ((1, 17), (1, 5))]:
            golden.op(op, [np.sort(numbers(golden.random, rows, np.dtype(F)), axis=1), numbers(golden.random, values, np.dtype(F))])
        golden.op(op, [F([[-np.inf, 0, 1, 1, np.inf, np.nan]]), F([[np.nan, np.inf, -np.inf, 1, 2]])], name='of infinities and NaN')
        for rows, values in [((3,), (1, 3)), ((1, 3), (3,)), ((1, 2, 3), (1, 2, 3)), ((2, 3), (3, 3))]:
            golden.fails(op, [np.zeros(rows, F), np.zeros(values, F)])
    _histograms(golden)


def _histograms(golden):
    op = 'HistogramFixedWidth'
    for i, dtype in enumerate(dtypes(op)):
        for limits, bins in [((-3, 3), 5), ((0, 4), 1), ((-2, 1), 7)]:
            golden.op(op, [numbers(golden.random, (4, 9), dtype), np.array(limits, dtype), np.int32(bins)], {'dtype': [np.int32, np.int64][i % 2]}, name=f'{dtype} {limits} {bins}')
    for values, limits in [([np.inf, -np.inf, 0], (-1, 1)), ([], (0, 1)), ([1e30, -1e30, 3], (-1, 1e-30)), ([0.1, 0.2, 0.3, 0.7], (0, 1))]:
        golden.op(op, [F(values), F(limits), np.int32(10)], name=f'{values} {limits}')
    golden.op(op, [np.int64([2**62, -2**62, 5, 0]), np.int64([-2**40, 2**40]), np.int32(3)])
    for values, limits, bins in [([1], [5, 0], 5), ([1], [1, 1], 5), ([1], [0, 5], 0), ([1], [0, 5], -1), ([1], [0, 5], [5]), ([1], [0, 5, 6], 5), ([1], [[0, 5]], 5), ([np.nan, 1], [0, 5], 5)]:
        golden.fails(op, [F(values), F(limits), np.int32(bins)], name=f'{values} {limits} {bins}')
