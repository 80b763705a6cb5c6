"""Gradients of SparseSegmentSum, Mean and SqrtN: of all rows, and of those that have one."""
import numpy as np

from data import FLOATS, numbers
from writer import SUMMED

INDICES, IDS = [3, 1, 3], [0, 0, 1]


def cases(golden):
    random = golden.random
    for op in ('SparseSegmentSumGrad', 'SparseSegmentSumGradV2', 'SparseSegmentMeanGradV2', 'SparseSegmentSqrtNGradV2'):
        for dtype in FLOATS:
            golden.op(op, [numbers(random, (2, 3), dtype), np.int32(INDICES), np.int32(IDS), np.int32(5)], tolerance=SUMMED)
        golden.op(op, [numbers(random, (3,), np.float32), np.int64([2, 0, 0, 2, 1]), np.int64([0, 2, 1, 1, 2]), np.int32(4)], tolerance=SUMMED)
        golden.op(op, [numbers(random, (2, 2), np.float32), np.int32([]), np.int32([]), np.int32(5)])
        golden.op(op, [numbers(random, (2, 2), np.float32), np.int32(INDICES), np.int32(IDS), np.int32(0)])
    for op in ('SparseSegmentSumGrad', 'SparseSegmentMeanGradV2'):
        good = [np.ones((2, 2), np.float32), np.int32(INDICES), np.int32(IDS), np.int32(5)]
        for at, wrong in ((1, [3, 1]), (1, [3, 1, 7]), (1, [3, 1, -1]), (2, [0, 0, 2]), (2, [0, 0, -1]), (1, [[3, 1, 3]]), (3, [5]), (3, -5)):
            golden.fails(op, [np.asarray(wrong, old.dtype) if i == at else old for i, old in enumerate(good)], name=f'{at} {wrong}')
