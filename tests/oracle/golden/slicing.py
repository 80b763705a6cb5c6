"""Ops that take parts of tensors, move elements, or put them somewhere."""
import itertools

import numpy as np

from data import SHAPES, numbers
from writer import EXACT, SUMMED, dtypes, kind

ALL = dtypes('Reshape')
FLOAT = np.dtype(np.float32)
INDEX = [np.dtype(np.int32), np.dtype(np.int64)]
# x shape, begin, end, strides, and masks: begin, end, ellipsis, new_axis, shrink_axis.
STRIDED = [((7,), [1], [5], [1], {}), ((7,), [1], [6], [2], {}), ((7,), [-1], [-8], [-1], {}), ((7,), [5], [0], [-3], {}), ((7,), [3], [3], [1], {}),
           ((7,), [-100], [100], [1], {}), ((7,), [100], [-100], [-2], {}), ((5, 6), [1, 2], [4, 5], [1, 1], {}), ((5, 6), [0, 5], [5, 0], [2, -2], {}),
           ((5, 6), [1, 0], [0, 4], [1, 2], {'begin_mask': 2, 'end_mask': 1}), ((5, 6), [3], [4], [1], {'shrink_axis_mask': 1}),
           ((5, 6), [-1, -2], [0, 0], [1, 1], {'shrink_axis_mask': 3}), ((2, 3, 4), [0, 1], [0, 3], [1, 1], {'ellipsis_mask': 1}),
           ((2, 3, 4), [1, 0, 2], [2, 0, 3], [1, 1, 1], {'ellipsis_mask': 2, 'shrink_axis_mask': 4}), ((3,), [0, 0], [0, 3], [1, 1], {'new_axis_mask': 1}),
           ((2, 3), [0, 0, 1], [2, 0, 3], [1, 1, 1], {'new_axis_mask': 2}), ((2, 3, 4, 5), [0, 1, 0, 0], [2, 3, 0, 5], [1, 1, 1, 2], {'end_mask': 4, 'begin_mask': 4}),
           ((2, 3), [], [], [], {}), ((), [0], [0], [1], {'new_axis_mask': 1}), ((0, 3), [0, 1], [0, 2], [1, 1], {}), ((17,), [16], [0], [-1], {'end_mask': 1})]


def cases(golden):
    random = golden.random

    def x(shape, dtype=FLOAT):
        return numbers(random, shape, dtype)

    def each(op, make, attrs=None, types=ALL):
        for dtype in types:
            golden.op(op, make(dtype), attrs, gradient=kind(dtype) in 'fc', gradient_tolerance=SUMMED)

    for shape, begin, end, strides, masks in STRIDED:
        for index in INDEX:
            bounds = [np.array(value, index) for value in (begin, end, strides)]
            golden.op('StridedSlice', [x(shape), *bounds], masks, gradient=True)
            if shape and index == np.int32:
                taken = np.empty(shape)[_python_slice(begin, end, strides, masks)]
                golden.op('StridedSliceGrad', [np.array(shape, index), *bounds, x(taken.shape)], masks, gradient=True)
    each('StridedSlice', lambda dtype: [x((5, 6), dtype), np.int32([1, 5]), np.int32([4, 0]), np.int32([2, -1])])
    for begin, end, strides, masks in [([0], [1], [0], {}), ([7], [8], [1], {'shrink_axis_mask': 1}), ([0], [1], [-1], {'shrink_axis_mask': 1}), ([0, 0], [1, 1], [1, 1], {}),
                                       ([0], [1, 2], [1], {}), ([-8], [0], [1], {'shrink_axis_mask': 1})]:
        golden.fails('StridedSlice', [x((7,)), np.int32(begin), np.int32(end), np.int32(strides)], masks, name=f'{begin} {end} {strides}')

    for shape, begin, size in [((7,), [2], [3]), ((7,), [2], [-1]), ((7,), [7], [0]), ((2, 3), [0, 1], [2, 2]), ((2, 3, 4), [1, 0, 1], [1, -1, 3]), ((), [], []),
                               ((0, 3), [0, 1], [0, 2]), ((2, 1, 3, 2, 2, 1), [1, 0, 1, 0, 0, 0], [1, 1, 2, 2, 1, 1]), ((17, 3), [5, 0], [12, 3])]:
        for index in INDEX:
            golden.op('Slice', [x(shape), np.array(begin, index), np.array(size, index)], gradient=True)
    each('Slice', lambda dtype: [x((3, 4), dtype), np.int32([1, 1]), np.int32([2, 2])])
    for begin, size in [([0, 0], [3, 4]), ([-1, 0], [1, 1]), ([0], [1]), ([0, 4], [1, 1]), ([0, 0], [-2, 1])]:
        golden.fails('Slice', [x((2, 3)), np.int32(begin), np.int32(size)], name=f'{begin} {size}')

    for shape in [(2, 3), (2, 3, 4), (3, 1, 2, 4)]:
        for perm in itertools.permutations(range(len(shape))):
            golden.op('Transpose', [x(shape), np.int32(perm)], gradient=len(shape) < 4)
    for shape, perm in [((), []), ((5,), [0]), ((0, 3), [1, 0]), ((2, 3, 2, 1, 3), [4, 0, 2, 1, 3]), ((2, 1, 2, 3, 2, 2), [5, 3, 1, 0, 2, 4]), ((17, 13), [1, 0]), ((33, 65), [1, 0]),
                        ((5, 17, 9), [1, 2, 0]), ((2, 3, 4), [-1, 0, 1])]:
        for index in INDEX:
            golden.op('Transpose', [x(shape), np.array(perm, index)], gradient=-1 not in perm)
    each('Transpose', lambda dtype: [x((3, 4), dtype), np.int32([1, 0])])
    for perm in ([0], [0, 0], [0, 2], [1, -3]):
        golden.fails('Transpose', [x((2, 3)), np.int32(perm)], name=str(perm))

    for shape, paddings in [((), np.zeros((0, 2))), ((3,), [[1, 2]]), ((3,), [[0, 0]]), ((2, 3), [[1, 0], [0, 2]]), ((2, 3, 4), [[0, 0], [2, 1], [1, 1]]), ((0, 2), [[1, 1], [0, 1]]),
                            ((1, 2, 3, 2), [[0, 0], [1, 1], [1, 2], [0, 0]]), ((1, 2, 1, 2, 1, 2), [[1, 0], [0, 1], [1, 1], [0, 0], [2, 0], [0, 1]])]:
        for index in INDEX:
            golden.op('Pad', [x(shape), np.array(paddings, index)], gradient=True)
        golden.op('PadV2', [x(shape), np.array(paddings, np.int32), np.float32(-1.5)])
    each('Pad', lambda dtype: [x((2, 3), dtype), np.int32([[1, 0], [0, 2]])], types=dtypes('Pad', of='fiucb'))
    golden.fails('Pad', [x((2, 3)), np.int32([[1, 0]])])
    golden.fails('Pad', [x((2, 3)), np.int32([[-1, 0], [0, 0]])])
    golden.fails('Pad', [x((2, 3)), np.int32([1, 0])])
    for mode in ('REFLECT', 'SYMMETRIC'):
        for shape, paddings in [((4,), [[1, 2]]), ((3, 4), [[1, 2], [3, 0]]), ((2, 3, 4), [[0, 1], [2, 1], [1, 1]]), ((1, 3, 3, 2), [[0, 0], [1, 1], [2, 2], [0, 0]])]:
            for index in INDEX:
                golden.op('MirrorPad', [x(shape), np.array(paddings, index)], {'mode': mode}, gradient=True, gradient_tolerance=SUMMED)
                padded = tuple(np.array(shape) + np.sum(paddings, 1))
                golden.op('MirrorPadGrad', [x(padded), np.array(paddings, index)], {'mode': mode}, gradient=True, tolerance=SUMMED)
        for dtype in dtypes('MirrorPad', of='fiucb'):
            golden.op('MirrorPad', [x((3, 4), dtype), np.int32([[1, 2], [2, 0]])], {'mode': mode})
        golden.fails('MirrorPad', [x((3,)), np.int32([[4, 0]])], {'mode': mode})
        golden.fails('MirrorPad', [x((3,)), np.int32([[-1, 0]])], {'mode': mode})

    for shape, indices, axis in [((5,), (), 0), ((5,), (3,), 0), ((5, 3), (4,), 0), ((5, 3), (2, 2), 0), ((5, 3), (0,), 0), ((2, 5), (3,), 1), ((2, 5, 3), (2, 2), 1), ((2, 5, 3), (4,), -2),
                                 ((2, 3, 5), (17,), 2), ((5, 0), (2,), 0), ((5, 17), (7,), 0)]:
        size = shape[axis]
        for index in INDEX:
            chosen = random.integers(0, size, indices).astype(index)
            golden.op('GatherV2', [x(shape), chosen, np.int32(axis)], gradient=True, gradient_tolerance=SUMMED)
            if axis == 0:
                golden.op('Gather', [x(shape), chosen], gradient=True, gradient_tolerance=SUMMED)
    each('GatherV2', lambda dtype: [x((3, 2), dtype), np.int32([2, 0, 2]), np.int32(0)])
    each('Gather', lambda dtype: [x((3, 2), dtype), np.int32([2, 0, 2])])
    for op, rest in (('GatherV2', [np.int32(0)]), ('Gather', [])):
        golden.fails(op, [x((5, 2)), np.int32([0, 5]), *rest], name='5')
        golden.fails(op, [x((5, 2)), np.int32([[0, -1]]), *rest], name='-1')
        golden.fails(op, [x(()), np.int32([0]), *rest])

    for index in INDEX:
        for shape, ids, count in [((5,), [0, 2, 1, 0, 2], 3), ((5, 2), [0, 2, 1, 0, 2], 3), ((2, 3), [[0, 1, 0], [2, 2, 1]], 4), ((5,), [-1, 2, 1, 0, -1], 3), ((0, 2), [], 3),
                                  ((4, 17), [1, 1, 1, 1], 2), ((), 1, 2)]:
            golden.op('UnsortedSegmentSum', [x(shape), np.array(ids, index), np.int32(count)], gradient=True, tolerance=SUMMED)
        golden.fails('UnsortedSegmentSum', [x((3,)), np.array([0, 3, 1], index), np.int32(3)])
        golden.fails('UnsortedSegmentSum', [x((3,)), np.array([0, 1], index), np.int32(3)])
        golden.fails('UnsortedSegmentSum', [x((3,)), np.array([0, 1, 1], index), np.int32(-1)])
        golden.fails('UnsortedSegmentSum', [np.float32(1), index.type(2), np.int32(2)])
    golden.op('UnsortedSegmentSum', [np.zeros((2, 0), np.float32), np.int32([0, 5]), np.int32(3)])
    for ids in ([2, 2, 0], [0, 0, 3, 3, 1], [1, 1, 0, 2]):
        golden.fails('SegmentSum', [np.ones((len(ids), 2), np.float32), np.int32(ids)], name=str(ids))
    for dtype in dtypes('UnsortedSegmentSum'):
        golden.op('UnsortedSegmentSum', [x((4, 2), dtype), np.int32([1, 0, 1, 2]), np.int32(3)], gradient=kind(dtype) in 'fc', tolerance=SUMMED)

    for dtype in ALL:
        bounds = [np.int32(value) for value in ([1, 5], [4, 0], [2, -1])]
        golden.op('StridedSliceGrad', [np.int32([5, 6]), *bounds, x((2, 5), dtype)], gradient=kind(dtype) in 'fc')
    golden.fails('StridedSliceGrad', [np.int32([5, 6]), *bounds, x((2, 4))])
    golden.fails('StridedSliceGrad', [np.int32([5, 6]), *bounds, x((2, 5, 1))])
    golden.fails('StridedSliceGrad', [np.int32([[5, 6]]), *bounds, x((2, 5))])
    for mode in ('REFLECT', 'SYMMETRIC'):
        for dtype in dtypes('MirrorPadGrad', of='fiuc'):
            golden.op('MirrorPadGrad', [x((6, 6), dtype), np.int32([[1, 2], [2, 0]])], {'mode': mode}, tolerance=SUMMED, gradient=kind(dtype) in 'fc')
        golden.fails('MirrorPadGrad', [x((3,)), np.int32([[4, 0]])], {'mode': mode})
        golden.fails('MirrorPadGrad', [x((3,)), np.int32([[1, 0], [0, 0]])], {'mode': mode})
    for perm in ([0, -5], [-4, -3]):
        golden.fails('Transpose', [x((2, 3)), np.int32(perm)], name=str(perm))
    golden.fails('UnsortedSegmentSum', [x(()), np.int32(3), np.int32(3)])
    golden.fails('UnsortedSegmentSum', [x((2, 2)), np.int32([[0, 1], [3, 0]]), np.int32(3)])
    for shape, paddings in [((2, 3), [[1, 0], [0, 2]]), ((), np.zeros((0, 2))), ((0,), [[2, 1]])]:
        golden.op('Pad', [x(shape, np.dtype(object)), np.array(paddings, np.int32)])


def _python_slice(begin, end, strides, masks):
    """The same slice as numpy writes it."""
    def has(mask, i):
        return masks.get(mask, 0) >> i & 1

    parts = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides)):
        parts.append(Ellipsis if has('ellipsis_mask', i) else np.newaxis if has('new_axis_mask', i) else b if has('shrink_axis_mask', i)
                     else slice(None if has('begin_mask', i) else b, None if has('end_mask', i) else e, s))
    return tuple(parts)
