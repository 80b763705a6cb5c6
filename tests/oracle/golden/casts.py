"""Cast from every dtype to every other."""
import numpy as np
import tensorflow as tf

from data import numbers
from writer import EXACT, ELEMENTWISE, dtypes, kind

TYPES = [t for t in dtypes('Cast', 'SrcT') if kind(t) != 'S']


def cases(golden):
    random = golden.random
    for source in TYPES:
        for target in TYPES:
            attrs = {'DstT': tf.as_dtype(target)}
            values = numbers(random, (17,), source, -100, 100) if kind(target) not in 'u' else abs(numbers(random, (17,), source, 0, 100)).astype(source)
            golden.op('Cast', [values], attrs, name=f'{source} to {target}', gradient=kind(source) in 'fc' and kind(target) in 'fc')
    for source in (np.float32, np.float64):
        for target in (np.float16, tf.bfloat16.as_numpy_dtype, np.float32, np.float64, bool):
            values = np.array([0, -0.0, 1e-3, 65504, 65520, 1e30, np.inf, -np.inf, np.nan, 1 + 2**-8, 1 + 3 * 2**-9, 1 + 2**-11, 1 + 3 * 2**-12], source)
            golden.op('Cast', [values], {'DstT': tf.as_dtype(target)}, name=f'edges of {np.dtype(source)} to {target}')
    for source, target in ((np.int64, np.int32), (np.int32, np.int8), (np.int32, np.uint8), (np.int64, np.uint16), (np.uint32, np.int32), (np.int32, np.uint64)):
        ends = np.array([np.iinfo(source).min, np.iinfo(source).max, 0, 1, 300, 70000], source)
        golden.op('Cast', [ends], {'DstT': tf.as_dtype(target)}, name=f'ends of {np.dtype(source)} to {np.dtype(target)}')
    for shape in [(), (0,), (2, 3), (2, 0, 3), (1, 2, 3, 2, 1, 2), (5, 33)]:
        golden.op('Cast', [numbers(random, shape, np.float32)], {'DstT': tf.int32})
        golden.op('Cast', [numbers(random, shape, np.int32)], {'DstT': tf.float32})
    golden.fails('Cast', [np.array([b'1'], object)], {'DstT': tf.float32})
    golden.fails('Cast', [np.float32([1])], {'DstT': tf.string})
    for shape in [(), (0,), (2, 3)]:
        golden.op('Cast', [numbers(random, shape, object)], {'DstT': tf.string})
    for source in (np.float32, np.float64, np.complex64, np.complex128):
        values = np.array([1.99999, 0.0380738, 5.87, -5.87, 65519.9, 1 + 2**-8 + 2**-9], source)
        for target in (np.float16, tf.bfloat16.as_numpy_dtype, np.float32):
            golden.op('Cast', [values], {'DstT': tf.as_dtype(target), 'Truncate': True}, name=f'{np.dtype(source)}')
