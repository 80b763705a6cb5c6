"""Samples of gamma, Poisson and binomial distributions for given seeds, and shuffled indices."""
import numpy as np
import tensorflow as tf

from random_numbers import SEEDS
from writer import EXACT, Tolerance, tf1

CLOSE = Tolerance(float16=dict(ulps=1), float32=dict(ulps=4), float64=dict(relative=1e-12))
SLOPE = Tolerance(float32=dict(relative=1e-4, to_largest=1e-4), float64=dict(relative=1e-8, to_largest=1e-8))
FLOATS = [np.float16, np.float32, np.float64]
COUNTED = [*FLOATS, np.int32, np.int64]
SEED = np.int64([37, 48])
KEYED = [np.uint64([10413732777507651514]), np.uint64([3, 17830669156045600267]), np.int32(1)]


def cases(golden):
    _gamma(golden)
    _poisson(golden)
    _binomial(golden)
    _shuffled(golden)


def _twice(golden, op, inputs, attrs, tolerance=EXACT):
    with golden.graph(f'{op} {golden._describe(inputs, attrs)}') as case:
        feeds, (result,) = golden._build(op, inputs, attrs)
        for _ in range(2):
            case.step({'op:0': result}, feeds, tolerance=tolerance)
            case.expect_success()


def _gamma(golden):
    alphas = [1, 0.5, 3, 0, 40]
    for seed, seed2 in SEEDS:
        _twice(golden, 'RandomGamma', [np.int32([4]), np.float32(alphas)], {'seed': seed, 'seed2': seed2}, CLOSE)
    for dtype in FLOATS:
        _twice(golden, 'RandomGamma', [np.int64([3]), np.array(alphas, dtype)], {'seed': 1}, CLOSE)
        golden.op('StatelessRandomGammaV2', [np.int32([3, 5]), SEED, np.array(alphas, dtype)], tolerance=CLOSE)
        golden.op('StatelessRandomGammaV2', [np.int32([2, 4]), SEED, np.array([1, 0.5, 3, 40], dtype)], tolerance=CLOSE, gradient=dtype != np.float16,
                  gradient_tolerance=SLOPE)
        golden.op('StatelessRandomGammaV3', [np.int64([2, 5]), *KEYED, np.array(alphas, dtype)], tolerance=CLOSE)
    for shape, alpha in [([], [1, 2]), ([0], [1]), ([3], []), ([2, 2], 5)]:
        _twice(golden, 'RandomGamma', [np.int32(shape), np.float32(alpha)], {'seed': 2}, CLOSE)
    golden.fails('RandomGamma', [np.int32(3), np.float32([1])], {'seed': 1})
    golden.fails('RandomGamma', [np.int32([-1]), np.float32([1])], {'seed': 1})
    for shape, seed in [([4, 3], [1, 2]), ([], [1, 2]), ([2], [1, 2, 3]), ([[2]], [1, 2])]:
        golden.fails('StatelessRandomGammaV2', [np.int32(shape), np.int64(seed), np.float32([1, 2])])


    with golden.graph('RandomGamma gradient') as case:  # of the samples that the step draws
        alpha = tf1.placeholder(tf.float32, [3], 'alpha')
        x = tf.raw_ops.RandomGamma(shape=tf.constant([2]), alpha=alpha, seed=3, seed2=4, name='x')
        dy = tf1.placeholder(tf.float32, [2, 3], 'dy')
        case.freeze()
        slope, = case.add_gradients([x], [alpha], [dy])
        for _ in range(2):
            case.step({'x:0': x, 'dx:0': slope}, {alpha: np.float32([0.5, 1, 7]), dy: np.float32([[1, 2, 3], [4, 5, 6]])}, tolerance=SLOPE)
            case.expect_success()


def _poisson(golden):
    rates = [3, 30, 0, 9, 1000]
    for seed, seed2 in SEEDS:
        _twice(golden, 'RandomPoissonV2', [np.int32([4]), np.float64(rates)], {'seed': seed, 'seed2': seed2, 'dtype': tf.int64})
    for dtype in COUNTED:
        _twice(golden, 'RandomPoissonV2', [np.int64([3]), np.array(rates, dtype)], {'seed': 1, 'dtype': tf.float32})
        _twice(golden, 'RandomPoissonV2', [np.int64([3]), np.float32(rates)], {'seed': 1, 'dtype': tf.as_dtype(dtype)})
        golden.op('StatelessRandomPoisson', [np.int32([3, 5]), SEED, np.array(rates, dtype)], {'dtype': tf.as_dtype(dtype)})
    _twice(golden, 'RandomPoissonV2', [np.int64([3]), np.float32([-1, np.inf])], {'seed': 1, 'dtype': tf.float32})
    for shape in ([0], []):
        _twice(golden, 'RandomPoissonV2', [np.int32(shape), np.float32([1])], {'seed': 1, 'dtype': tf.int32})
    golden.fails('RandomPoissonV2', [np.int32(3), np.float32([1])], {'seed': 1})
    golden.fails('RandomPoissonV2', [np.int32([-3]), np.float32([1])], {'seed': 1})
    for shape, seed in [([4, 3], [1, 2]), ([], [1, 2]), ([2], [1, 2, 3]), ([[2]], [1, 2])]:
        golden.fails('StatelessRandomPoisson', [np.int32(shape), np.int64(seed), np.float32([1, 2])], {'dtype': tf.int32})


def _binomial(golden):
    counts, probs = [10, 100, 5, 0, 200], [0.25, 0.75, 1.5, 0.5, 0.125]
    for dtype in FLOATS:
        for out in COUNTED:
            golden.op('StatelessRandomBinomial', [np.int32([3, 5]), SEED, np.array(counts, dtype), np.array(probs, dtype)], {'dtype': tf.as_dtype(out)})
    golden.op('StatelessRandomBinomial', [np.int64([2, 3, 5]), SEED, np.float32([[10], [100], [1000]]), np.float32(probs)])
    golden.op('StatelessRandomBinomial', [np.int32([2]), SEED, np.float32(3), np.float32(np.nan)], {'dtype': tf.float32})
    for shape, probs, seed in [([4, 2], [.5, .5, .5], [1, 2]), ([4, 3], [.5, .5], [1, 2]), ([[3]], [.5], [1, 2]), ([2], [.5], [1, 2, 3]), ([2, -1], [.5], [1, 2])]:
        golden.fails('StatelessRandomBinomial', [np.int32(shape), np.int64(seed), np.float32([10, 1]), np.float32(probs)])
    for algorithm in (1, 2, 3):
        with golden.graph(f'StatefulRandomBinomial algorithm {algorithm}') as case:
            handle = tf.raw_ops.VarHandleOp(dtype=tf.int64, shape=[3], shared_name='v', name='v')
            init = tf.raw_ops.AssignVariableOp(resource=handle, value=tf.raw_ops.AddV2(x=tf.constant([1, 2, 3], tf.int64), y=tf.constant([0, 0, 0], tf.int64)), name='init')
            drawn = tf.raw_ops.StatefulRandomBinomial(resource=handle, algorithm=tf.constant(algorithm, tf.int64), shape=[4, 2], counts=np.float32([10, 100]),
                                                      probs=np.float32([.3, .7]), name='drawn')
            state = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.int64, name='state')
            case.step({}, targets=[init])
            for _ in range(2):
                case.step({'drawn:0': drawn})
                case.step({'state:0': state})


def _shuffled(golden):
    for dtype in (np.int32, np.uint32, np.int64, np.uint64):
        for rounds in (4, 8):
            golden.op('RandomIndexShuffle', [np.arange(5, dtype=dtype), np.int32([1, 2, -3]), np.array(4, dtype)], {'rounds': rounds})
    for seed in ([5, 6, 7], [[1, 2, 3], [4, 5, 6]]):
        golden.op('RandomIndexShuffle', [np.int64([0, 12345]), np.uint64(seed), np.int64([2 ** 40, 2 ** 62])])
    golden.op('RandomIndexShuffle', [np.uint32(7), np.uint32([1, 2, 3]), np.uint32(65536)])
    golden.op('RandomIndexShuffle', [np.int32(0), np.int64([1, 2, 3]), np.int32(0)])
    for index, seed, limit in [(10, [1, 2, 3], 9), (1, [1, 2], 9), ([[1]], [1, 2, 3], 9), ([1], [1, 2, 3], [[9]]), ([1, 2], [[1, 2, 3]] * 3, 9),
                               (0, [1, 2, 3], -1), (-1, [1, 2, 3], 5)]:
        golden.fails('RandomIndexShuffle', [np.int32(index), np.int32(seed), np.int32(limit)], name=f'{index} {limit}')
