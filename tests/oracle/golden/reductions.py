"""Sum, Mean, Max, Min, Prod, All, Any."""
import numpy as np
import tensorflow as tf

from writer import EXACT, SUMMED, TO_LARGEST

FLOATS = [np.float32, np.float64, np.float16, tf.bfloat16.as_numpy_dtype]


def cases(golden):
    def numbers(shape, dtype):
        return np.asarray(golden.random.integers(-40, 41, shape) / 8.0).astype(dtype)

    for op in ('Sum', 'Mean'):
        for dtype in FLOATS:
            golden.op(op, [numbers((3, 5), dtype), np.int32(1)], tolerance=SUMMED, gradient=True)
        golden.op(op, [numbers((2, 3, 4), np.float32), np.int32([0, -1])], {'keep_dims': True}, tolerance=SUMMED, gradient=True)
        golden.op(op, [numbers((0, 3), np.float32), np.int32(0)], tolerance=SUMMED)
        golden.fails(op, [numbers((2, 3), np.float32), np.int32(2)])
        golden.fails(op, [numbers((2, 3), np.float32), np.int32([0, 0])])
