"""Operations on the bits of integers."""
import numpy as np

from data import BROADCAST, extremes, numbers
from writer import dtypes, kind


def cases(golden):
    random = golden.random
    for op in ['BitwiseAnd', 'BitwiseOr', 'BitwiseXor', 'LeftShift', 'RightShift']:
        for dtype in dtypes(op):
            ends = extremes(dtype)
            # TensorFlow takes a count beyond the last bit as the last, and a negative one as 0.
            bits = 8 * dtype.itemsize
            counts = [0, 1, bits - 1, bits, bits + 1, 100] + ([-1, -bits, -100] if kind(dtype) == 'i' else [])
            golden.op(op, [ends[:, None], np.append(np.array(counts).astype(dtype), ends)], name=f'extremes of {dtype}')
        for shapes in BROADCAST[1:5] if 'Shift' in op else BROADCAST[:1]:
            golden.op(op, [numbers(random, shape, np.int32) for shape in shapes])
        golden.fails(op, [np.int32([[1, 2, 3], [4, 5, 6]]), np.int32([1, 2])])
    for op in ['Invert', 'PopulationCount']:
        for dtype in dtypes(op):
            golden.op(op, [np.append(extremes(dtype), numbers(random, (5,), dtype, -100, 100))], name=f'{dtype}')
        for shape in [(), (0, 3), (17,)]:
            golden.op(op, [numbers(random, shape, np.int16)])
