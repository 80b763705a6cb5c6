"""Inputs for the golden cases: numbers of every dtype, and shapes that reach every path."""
import ml_dtypes
import numpy as np
import tensorflow as tf

from writer import kind

bfloat16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.dtype(t) for t in (np.float32, np.float64, np.float16, bfloat16)]
# Scalars, empty ones, and odd sizes around the widths of vectors.
SHAPES = [(), (0,), (1,), (7,), (17,), (3, 5), (2, 0, 3), (2, 3, 5), (1, 2, 3, 4), (2, 1, 3, 1, 5), (2, 1, 2, 3, 1, 2)]
# Both ways, on both sides, and in the middle.
BROADCAST = [((), (5,)), ((3, 5), ()), ((3, 5), (5,)), ((3, 5), (3, 1)), ((1, 5), (3, 1)), ((17,), (17,)), ((2, 1, 3, 1), (4, 1, 5)), ((0, 3), (1, 3)),
             ((2, 3, 1, 2, 1, 3), (2, 1, 3))]


def numbers(random, shape, dtype, low=-4, high=4):
    """Numbers with few digits, so that half precision has them too; integers over `low` to `high`, cut at 0 for unsigned ones."""
    dtype = np.dtype(dtype)
    of = kind(dtype)
    if of == 'S':
        words = np.array([b'', b'a', b'tensor', b'\x00\xff', 'größer'.encode(), b'x' * 40], object)
        return words[random.integers(0, len(words), shape)]
    if of == 'b':
        return random.integers(0, 2, shape).astype(bool)
    if of in 'iu':
        return np.asarray(random.integers(max(low, 0) if of == 'u' else low, high + 1, shape)).astype(dtype)
    steps = 4 if dtype == bfloat16 else 16
    made = random.integers(int(low * steps), int(high * steps) + 1, shape) / steps
    if of == 'c':
        made = made + 1j * random.integers(int(low * steps), int(high * steps) + 1, shape) / steps
    return np.asarray(made).astype(dtype)


def nonzero(random, shape, dtype, low=-4, high=4):
    made = numbers(random, shape, dtype, low, high)
    return np.where(made == 0, np.asarray(1, made.dtype), made)


def extremes(dtype):
    """The ends of a type, infinities and NaN, and the zeros; no subnormal numbers, which TensorFlow takes as 0."""
    dtype = np.dtype(dtype)
    of = kind(dtype)
    if of in 'iu':
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.max, 0, 1, limits.max - 1, 2], dtype)
    limits = ml_dtypes.finfo(dtype if of == 'f' else np.empty(0, dtype).real.dtype)
    parts = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, float(limits.max), float(limits.min), 0.5]
    if of == 'f':
        return np.array(parts, dtype)
    return np.array([complex(a, b) for a in (0.0, 1.0, -2.0) for b in (0.0, -0.0, 3.0)], dtype)
