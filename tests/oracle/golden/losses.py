"""Softmax and the losses based on it, and the choice of the largest elements."""
import numpy as np

from data import FLOATS, numbers
from writer import EXACT, SUMMED, Tolerance, dtypes, kind

# Sums of exponentials, divided: to the largest of a row, which is 1 or near it.
ROWS = Tolerance(float32=dict(relative=1e-5, to_largest=1e-6), float64=dict(relative=1e-13, to_largest=1e-15), float16=dict(relative=4e-3, to_largest=4e-3),
                 bfloat16=dict(relative=3e-2, to_largest=3e-2))


def cases(golden):
    random = golden.random

    def x(shape, dtype=np.float32):
        return numbers(random, shape, dtype)

    for op in ('Softmax', 'LogSoftmax'):
        for dtype in FLOATS:
            for shape in [(5,), (3, 5), (2, 3, 4), (4, 1), (0, 3), (7, 17), (3, 33), (2, 2, 2, 2, 3)] if dtype == np.float32 else [(3, 5), (4, 17)]:
                golden.op(op, [x(shape, dtype)], tolerance=ROWS, gradient=True)
        golden.op(op, [np.float32([[1000, 1001, 999], [-1000, 0, 1], [88, -88, 0]])], name='large', tolerance=ROWS)
        golden.op(op, [np.float32([[-np.inf, 0, 1], [np.nan, 0, 1], [np.inf, 0, 1]])], name='not finite', tolerance=ROWS)
        golden.fails(op, [np.float32(1)])

    def labels(shape, dtype):
        weights = random.uniform(0.1, 1, shape)
        return (weights / weights.sum(-1, keepdims=True)).astype(dtype)

    for dtype in FLOATS:
        for shape in [(3, 5), (1, 2), (7, 17), (0, 4), (4, 1)] if dtype == np.float32 else [(3, 5)]:
            golden.op('SoftmaxCrossEntropyWithLogits', [x(shape, dtype), labels(shape, dtype)], tolerance=ROWS, gradient=True, differentiable=[0])
            for index in dtypes('SparseSoftmaxCrossEntropyWithLogits', 'Tlabels'):
                chosen = random.integers(0, shape[1], shape[0]).astype(index)
                golden.op('SparseSoftmaxCrossEntropyWithLogits', [x(shape, dtype), chosen], tolerance=ROWS, gradient=True, differentiable=[0])
    for left, right in [((3, 5), (1, 5)), ((1, 5), (3, 5)), ((3, 1), (3, 5))]:
        golden.op('SoftmaxCrossEntropyWithLogits', [x(left), labels(right, np.float32)], tolerance=ROWS)
    golden.op('SoftmaxCrossEntropyWithLogits', [np.float32([[1000, 0], [-1000, 0]]), np.float32([[1, 0], [0.5, 0.5]])], name='large', tolerance=ROWS, gradient=True,
              differentiable=[0])
    golden.fails('SoftmaxCrossEntropyWithLogits', [x((3, 5)), x((2, 5))])
    golden.fails('SoftmaxCrossEntropyWithLogits', [x((5,)), x((5,))])
    golden.fails('SparseSoftmaxCrossEntropyWithLogits', [x((3, 5)), np.int32([0, 5, 1])])
    golden.fails('SparseSoftmaxCrossEntropyWithLogits', [x((3, 5)), np.int64([0, -1, 1])])
    golden.fails('SparseSoftmaxCrossEntropyWithLogits', [x((3, 5)), np.int32([0, 1])])
    golden.fails('SparseSoftmaxCrossEntropyWithLogits', [x((5,)), np.int32([0])])

    for dtype in dtypes('TopKV2'):
        for shape, k in [((5,), 2), ((3, 5), 1), ((3, 5), 5), ((3, 5), 0), ((2, 3, 17), 4), ((2, 100), 7), ((0, 3), 2)] if dtype == np.float32 else [((3, 5), 3), ((70,), 9)]:
            for is_sorted in (True,):
                golden.op('TopKV2', [x(shape, dtype), np.int32(k)], {'sorted': is_sorted}, gradient=kind(dtype) == 'f', differentiable=[0])
    golden.op('TopKV2', [np.float32([1, 3, 3, 1, 3]), np.int32(4)], name='ties')
    golden.fails('TopKV2', [x((3, 5)), np.int32(6)])
    golden.fails('TopKV2', [x((3, 5)), np.int32(-1)])
    golden.fails('TopKV2', [np.float32(1), np.int32(1)])
    for dtype in (np.int32, np.int64):
        for rows, classes, k in [(4, 5, 1), (4, 5, 3), (7, 9, 9), (3, 4, 20), (0, 5, 2), (6, 17, 5)]:
            predictions, targets = random.standard_normal((rows, classes)).astype(np.float32), random.integers(0, classes, rows).astype(dtype)
            golden.op('InTopK', [predictions, targets], {'k': k})
            golden.op('InTopKV2', [predictions, targets, np.array(k, dtype)])
        predictions = np.float32([[0.1, 0.5, 0.5, 0.2], [np.nan, 1, 2, 3], [1, np.inf, 2, 3], [0, 1, 2, 3]])
        for targets in ([1, 1, 1, 3], [2, 0, 0, -1], [0, 3, 2, 4]):
            golden.op('InTopKV2', [predictions, np.array(targets, dtype), np.array(2, dtype)], name=f'ties, not finite, {targets}')
            golden.op('InTopK', [predictions, np.array(targets, dtype)], {'k': 2}, name=f'ties, not finite, {targets}')
        golden.fails('InTopKV2', [x((3, 5)), np.array([0, 1], dtype), np.array(1, dtype)])
        golden.fails('InTopK', [x((5,)), np.array([0, 1], dtype)], {'k': 1})
    for dtype in FLOATS:
        logits = np.array([[-np.inf, 0, 1], [0, 1, 2]], dtype)
        golden.op('SoftmaxCrossEntropyWithLogits', [logits, np.array([[0, 1, 0], [0, 1, 0]], dtype)], name='an infinite logit without weight', tolerance=ROWS)
