"""Writes tests/data/oracle/random.json: numbers that TensorFlow's random ops give for fixed seeds.

Run with any Python that has TensorFlow 2 (package tensorflow-cpu). Each record holds two runs of one node in one session, because
the second goes on where the first ended; of long outputs only the elements in `at` are kept.
"""
import json
import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import tensorflow as tf

tf1 = tf.compat.v1
FLOATING = ('RandomUniform', 'RandomStandardNormal', 'TruncatedNormal')
SEEDS = [(37, 48), (0, 7), (123456789012, -5)]
SIZES = [(7, range(7)), (3000, [0, 1, 2, 1021, 1022, 1023, 1024, 2999])]


def node(op, dtype, seed, seed2, count):
    if op == 'RandomUniformInt':
        low, high = (tf.constant(v, dtype) for v in BOUNDS[dtype])
        return tf.raw_ops.RandomUniformInt(shape=[count], minval=low, maxval=high, seed=seed, seed2=seed2)
    return getattr(tf.raw_ops, op)(shape=[count], dtype=dtype, seed=seed, seed2=seed2)


BOUNDS = {'int32': (-10, 1000), 'int64': (-10, 5000000000)}


def record(op, dtype, seed, seed2, count, at):
    with tf.Graph().as_default(), tf1.Session() as session:
        output = node(op, dtype, seed, seed2, count)
        runs = [session.run(output) for _ in range(2)]
    made = {'op': op, 'dtype': dtype, 'seed': seed, 'seed2': seed2, 'count': count, 'at': list(at),
            'runs': [[run[i].item() for i in at] for run in runs]}
    if dtype in BOUNDS:
        made['minval'], made['maxval'] = BOUNDS[dtype]
    return made


def main():
    cases = [(op, dtype) for op in FLOATING for dtype in ('float32', 'float64')]
    cases += [('RandomUniformInt', dtype) for dtype in BOUNDS]
    records = [record(op, dtype, *seeds, *size) for op, dtype in cases for seeds in SEEDS for size in SIZES]
    path = os.path.join(os.path.dirname(__file__), '..', 'data', 'oracle', 'random.json')
    with open(path, 'w') as file:
        file.write('{"tensorflow": "%s", "records": [\n' % tf.__version__)
        file.write(',\n'.join(json.dumps(r) for r in records))
        file.write('\n]}\n')


if __name__ == '__main__':
    main()
