"""Writes tests/data/oracle/random.json: numbers that TensorFlow's random ops give for fixed seeds.

Run with any Python that has TensorFlow 2 (package tensorflow-cpu). Each record holds two runs of one node in one session, because
the second goes on where the first ended; of long outputs only the elements in `at` are kept. The session has one thread: the rows
of a large Multinomial depend on how many there are.
"""
import json
import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import tensorflow as tf

tf1 = tf.compat.v1
FLOATS = ('float32', 'float64', 'float16', 'bfloat16')
BOUNDS = {'int32': (-10, 1000), 'int64': (-10, 5000000000)}
SEEDS = [(37, 48), (0, 7), (123456789012, -5)]
SIZES = [(7, list(range(7))), (3000, [0, 1, 2, 1021, 1022, 1023, 1024, 2999])]
# Logits of three classes; the rows of a matrix repeat them.
LOGITS = [0.0, 1.5, -1.0]


def run(op, inputs, attrs, at=None):
    """One node, run twice. `inputs`: by TensorFlow's names, pairs of dtype and value."""
    with tf.Graph().as_default(), tf1.Session(config=tf1.ConfigProto(intra_op_parallelism_threads=1)) as session:
        output = getattr(tf.raw_ops, op)(**{name: tf.constant(value, dtype) for name, (dtype, value) in inputs.items()}, **attrs)
        runs = [session.run(output).flatten() for _ in range(2)]
    at = at or list(range(len(runs[0])))
    return {'node': node_text(output.op.node_def), 'inputs': '; '.join(tensor_text(*value) for value in inputs.values()),
            'dtype': type_name(output.dtype), 'size': len(runs[0]), 'at': at, 'runs': [[number(values[i]) for i in at] for values in runs]}


def type_name(dtype):
    name = tf.as_dtype(dtype).name
    return {'float16': 'half', 'float32': 'float', 'float64': 'double'}.get(name, name)


def node_text(node):
    attrs = [f'{name}={type_name(attr.type) if attr.WhichOneof("value") == "type" else attr.i}' for name, attr in node.attr.items()
             if attr.WhichOneof('value') in ('type', 'i')]
    return f"{node.op}[{', '.join(sorted(attrs))}]"


def number(value):
    """Floats with all their bits; everything of less precision than float is exact in it."""
    return float(value) if 'float' in str(value.dtype) else int(value)


def tensor_text(dtype, value):
    array = tf.constant(value, dtype)
    values = ' '.join(repr(number(v)) for v in array.numpy().flatten())
    return f"{type_name(dtype)}[{','.join(map(str, array.shape))}] {values}"


def stateful():
    for seed, seed2 in SEEDS:
        seeds = {'seed': seed, 'seed2': seed2}
        for size, at in SIZES:
            shape = ('int32', [size])
            for op in ('RandomUniform', 'RandomStandardNormal', 'TruncatedNormal'):
                for dtype in FLOATS:
                    yield run(op, {'shape': shape}, {**seeds, 'dtype': dtype}, at)
            for dtype, (low, high) in BOUNDS.items():
                yield run('RandomUniformInt', {'shape': shape, 'minval': (dtype, low), 'maxval': (dtype, high)}, seeds, at)
        for rows in (2, 3, 4, 5, 6, 17):
            yield run('RandomShuffle', {'value': ('int32', list(range(rows)))}, seeds)
        yield run('RandomShuffle', {'value': ('int64', [[[i, 10 + i], [20 + i, 30 + i]] for i in range(7)])}, seeds)
        for dtype in FLOATS:
            for rows, samples in ((1, 1), (1, 9), (3, 5), (4, 4)):
                inputs = {'logits': (dtype, [LOGITS] * rows), 'num_samples': ('int32', samples)}
                yield run('Multinomial', inputs, {**seeds, 'output_dtype': 'int64' if samples > 4 else 'int32'})


def stateless():
    for seed_dtype, seed in (('int64', [37, 48]), ('int32', [0, 0]), ('int64', [123456789012, -5]), ('int32', [-1, 2])):
        seeds = (seed_dtype, seed)
        for size, at in SIZES:
            shape = ('int64', [size])
            for op in ('StatelessRandomUniform', 'StatelessRandomNormal', 'StatelessTruncatedNormal'):
                for dtype in FLOATS:
                    yield run(op, {'shape': shape, 'seed': seeds}, {'dtype': dtype}, at)
            for dtype, (low, high) in BOUNDS.items():
                inputs = {'shape': shape, 'seed': seeds, 'minval': (dtype, low), 'maxval': (dtype, high)}
                yield run('StatelessRandomUniformInt', inputs, {}, at)
        for rows, samples in ((1, 9), (3, 5), (4, 4)):
            inputs = {'logits': ('float32', [LOGITS] * rows), 'num_samples': ('int32', samples), 'seed': seeds}
            yield run('StatelessMultinomial', inputs, {'output_dtype': 'int64' if samples > 4 else 'int32'})


def main():
    records = [*stateful(), *stateless()]
    path = os.path.join(os.path.dirname(__file__), '..', 'data', 'oracle', 'random.json')
    with open(path, 'w') as file:
        file.write('{"tensorflow": "%s", "records": [\n' % tf.__version__)
        file.write(',\n'.join(json.dumps(r) for r in records))
        file.write('\n]}\n')


if __name__ == '__main__':
    main()
