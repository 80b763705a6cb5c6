"""Random numbers for given seeds. Each node runs twice, as the second run goes on where the first ended."""
import numpy as np
import tensorflow as tf

from data import FLOATS, numbers
from writer import ALL_DTYPES, EXACT, NoKernel, Tolerance, dtypes, kind

SEEDS = [(37, 48), (0, 7), (123456789012, -5)]
BOUNDS = {np.dtype(np.int32): (-10, 1000), np.dtype(np.int64): (-10, 5000000000)}
# Of long results these are compared.
LONG, AT = 3000, [0, 1, 2, 1021, 1022, 1023, 1024, 2999]
# Logarithms and sines of different C libraries; what has 16 bits is rounded afterwards and is the same.
NORMAL = Tolerance(float32=dict(ulps=2), float64=dict(ulps=2))
LOGITS = [0.0, 1.5, -1.0]


def cases(golden):
    for seed, seed2 in SEEDS:
        seeds = {'seed': seed, 'seed2': seed2}
        for op in ('RandomUniform', 'RandomStandardNormal', 'TruncatedNormal'):
            for dtype in FLOATS:
                for index in (np.int32, np.int64):
                    _draw(golden, op, [np.array([7], index)], seeds | {'dtype': tf.as_dtype(dtype)})
                _draw(golden, op, [np.int32([LONG])], seeds | {'dtype': tf.as_dtype(dtype)})
        for dtype, bounds in BOUNDS.items():
            for size in (7, LONG):
                _draw(golden, 'RandomUniformInt', [np.int32([size]), *(np.array(bound, dtype) for bound in bounds)], seeds)
        for rows in (0, 1, 2, 3, 4, 5, 6, 17):
            _draw(golden, 'RandomShuffle', [np.arange(rows, dtype=np.int32)], seeds)
        for shape in [(), (5, 3), (7, 2, 2), (1, 4), (3, 0)]:
            _draw(golden, 'RandomShuffle', [np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)], seeds)
        for dtype in dtypes('Multinomial', of='fiu'):
            for rows, samples in ((1, 1), (1, 9), (3, 5), (4, 4), (0, 3), (2, 0)) if kind(dtype) == 'f' else ((3, 5),):
                logits = np.array([LOGITS] * rows).reshape(rows, 3) if kind(dtype) == 'f' else np.array([[0, 2, 1]] * rows)
                _draw(golden, 'Multinomial', [logits.astype(dtype), np.int32(samples)], seeds | {'output_dtype': tf.int64 if samples > 4 else tf.int32})
    for name in ALL_DTYPES:
        dtype = np.dtype(object) if name == 'string' else np.dtype(tf.as_dtype(name).as_numpy_dtype)
        _draw(golden, 'RandomShuffle', [numbers(golden.random, (6, 2), dtype)], {'seed': 5})
    for op in ('RandomUniform', 'RandomStandardNormal', 'TruncatedNormal'):
        for shape in ([], [0], [2, 3], [2, 0, 3], [1, 2, 1, 2, 1, 3]):
            _draw(golden, op, [np.int32(shape)], {'seed': 1, 'seed2': 2, 'dtype': tf.float32})
        golden.fails(op, [np.int32([2, -1])], {'seed': 1, 'dtype': tf.float32})
        golden.fails(op, [np.int32([[2]])], {'seed': 1, 'dtype': tf.float32})
    for shape in ([], [0], [2, 3]):
        _draw(golden, 'RandomUniformInt', [np.int64(shape), np.int32(-3), np.int32(4)], {'seed': 1, 'seed2': 2})
    for low, high in ((3, 3), (5, 2), ([1], 2), (1, [2])):
        golden.fails('RandomUniformInt', [np.int32([3]), np.int32(low), np.int32(high)], {'seed': 1}, name=f'{low} {high}')
    golden.fails('Multinomial', [np.float32(LOGITS), np.int32(2)], {'seed': 1})
    golden.fails('Multinomial', [np.float32([LOGITS]), np.int32([2])], {'seed': 1})
    golden.fails('Multinomial', [np.float32([LOGITS]), np.int32(-1)], {'seed': 1})
    golden.fails('Multinomial', [np.empty((2, 0), np.float32), np.int32(3)], {'seed': 1})
    _stateless(golden)


def _stateless(golden):
    for seed in (np.int64([37, 48]), np.int32([0, 0]), np.int64([123456789012, -5]), np.int32([-1, 2])):
        for size in (7, LONG):
            shape = np.int64([size])
            for op in ('StatelessRandomUniform', 'StatelessRandomNormal', 'StatelessTruncatedNormal'):
                for dtype in FLOATS:
                    _draw(golden, op, [shape, seed], {'dtype': tf.as_dtype(dtype)})
            for dtype, bounds in BOUNDS.items():
                _draw(golden, 'StatelessRandomUniformInt', [shape, seed, *(np.array(bound, dtype) for bound in bounds)], {})
        for rows, samples in ((1, 9), (3, 5), (4, 4)):
            inputs = [np.float32([LOGITS] * rows), np.int32(samples), seed]
            _draw(golden, 'StatelessMultinomial', inputs, {'output_dtype': tf.int64 if samples > 4 else tf.int32})
    for op in ('StatelessRandomUniform', 'StatelessRandomNormal', 'StatelessTruncatedNormal'):
        golden.fails(op, [np.int32([3]), np.int32([1, 2, 3])], {'dtype': tf.float32})
        golden.fails(op, [np.int32([-3]), np.int32([1, 2])], {'dtype': tf.float32})


def _draw(golden, op, inputs, attrs):
    tolerance = NORMAL if 'Normal' in op else EXACT
    name = f'{op} {golden._describe(inputs, attrs)} {inputs[0].ravel()[:8] if op.endswith(("Uniform", "Normal")) else ""}'
    try:
        with golden.graph(name, threads=1) as case:  # the rows of a large Multinomial depend on how many threads there are
            feeds, (result,) = golden._build(op, inputs, attrs)
            fetches = {'op:0': result}
            if inputs[0].tolist() == [LONG]:
                fetches = {'at:0': tf.raw_ops.GatherV2(params=result, indices=AT, axis=0, name='at')}
            for _ in range(2):
                case.step(fetches, feeds, tolerance=tolerance)
                case.expect_success()
    except NoKernel:
        pass
