"""Candidate samplers, and losses over what they draw."""
import numpy as np
import tensorflow as tf

from writer import Tolerance

tf1 = tf.compat.v1
CLASSES = np.int64([[1, 0], [3, 2], [1, 4]])
# Logarithms of different C libraries.
COUNTS = Tolerance(float32=dict(ulps=2))
SAMPLERS = {
    'UniformCandidateSampler': {'range_max': 9},
    'LogUniformCandidateSampler': {'range_max': 9},
    'LearnedUnigramCandidateSampler': {'range_max': 9},
    'ThreadUnsafeUnigramCandidateSampler': {'range_max': 7},
    'FixedUnigramCandidateSampler': {'range_max': 8, 'num_reserved_ids': 2, 'unigrams': [1.0, 4.0, 2.0, 0.5, 3.0, 1.5], 'distortion': 0.75},
    'AllCandidateSampler': {},
}


def cases(golden):
    for op, attrs in SAMPLERS.items():
        for unique in (False, True):
            attrs = attrs | {'num_true': 2, 'num_sampled': 5, 'unique': unique, 'seed': 7, 'seed2': 3}
            with golden.graph(f'{op} {"unique" if unique else ""}') as case:
                feeds, outputs = golden._build(op, [CLASSES], attrs)
                for _ in range(3):
                    case.step({f'op:{i}': y for i, y in enumerate(outputs)}, feeds, tolerance=COUNTS)
        golden.fails(op, [CLASSES[0]], attrs)
        golden.fails(op, [CLASSES[:, :1]], attrs, name='columns')
        golden.fails(op, [CLASSES + 5], attrs, name='range')
    golden.fails('UniformCandidateSampler', [CLASSES], {'range_max': 5, 'num_true': 2, 'num_sampled': 6, 'unique': True}, name='too many')
    golden.op('UniformCandidateSampler', [CLASSES], {'range_max': 2**40, 'num_true': 2, 'num_sampled': 4, 'unique': True, 'seed': 1}, name='wide')
    golden.op('LogUniformCandidateSampler', [CLASSES], {'range_max': 10**9, 'num_true': 2, 'num_sampled': 4, 'unique': True, 'seed': 1},
              name='wide', tolerance=COUNTS)
    weights = {'num_true': 2, 'num_sampled': 4, 'unique': False, 'seed': 1}
    golden.op('FixedUnigramCandidateSampler', [CLASSES % 2], weights | {'range_max': 2, 'unigrams': [1.0, 2.0, 3.0, 4.0], 'num_shards': 2, 'shard': 1},
              name='shard', tolerance=COUNTS)
    golden.fails('FixedUnigramCandidateSampler', [CLASSES], weights | {'range_max': 5})
    golden.fails('FixedUnigramCandidateSampler', [CLASSES], weights | {'range_max': 5, 'unigrams': [1.0]}, name='too few')
    for sampled in ([1, 3, 7], [], [4, 1, 1]):
        golden.op('ComputeAccidentalHits', [CLASSES, np.int64(sampled)], {'num_true': 2}, name=str(sampled))
    golden.fails('ComputeAccidentalHits', [CLASSES, np.int64([[1]])], {'num_true': 2})
    golden.fails('ComputeAccidentalHits', [CLASSES, np.int64([1])], {'num_true': 3})
    for loss in (tf1.nn.nce_loss, tf1.nn.sampled_softmax_loss):
        _loss(golden, loss)


def _loss(golden, loss):
    random = np.random.default_rng(5)
    with golden.graph(loss.__name__) as case:
        case.shortens = True
        weights, biases, inputs = (tf1.placeholder(tf.float32, shape, name) for name, shape in (('w', [9, 4]), ('b', [9]), ('x', [3, 4])))
        sampled = tf.raw_ops.LogUniformCandidateSampler(true_classes=CLASSES, num_true=2, num_sampled=5, unique=True, range_max=9, seed=4, seed2=2)
        y = tf.reduce_sum(loss(weights, biases, CLASSES, inputs, 5, 9, num_true=2, sampled_values=sampled), name='y')
        feeds = {x: random.standard_normal(x.shape).astype(np.float32) for x in (weights, biases, inputs)}
        case.freeze()
        case.add_gradients([y], [inputs, biases], None)
        fetches = {f'{case.name_of(y.op)}:0': y} | {f'dx:{i}': dx for i, dx in enumerate(case.dx)}
        case.step(fetches, feeds, tolerance=Tolerance(float32=dict(relative=2e-5, ulps=4)))
        case.expect_success()
