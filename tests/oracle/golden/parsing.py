"""Examples and SequenceExamples: dense, padded, sparse and ragged features, and what is refused, damaged bytes too."""
import numpy as np
import tensorflow as tf

Feature, Features = tf.train.Feature, tf.train.Features
TYPES = {'i': tf.int64, 'f': tf.float32, 's': tf.string}
VALUES = {'i': [3, -1, 2**62, 0, 7, -2**63], 'f': [0.5, -1.25, 3e38, 0.0, 7.0, 1e-40], 's': [b'one', b'', b'\xff\x00\x01', b'x' * 40, b'e', b'last']}


def feature(kind, count):
    """A feature with the first values of a kind; kind '': without any."""
    values = (VALUES.get(kind, []) * 3)[:count]
    return {'i': lambda: Feature(int64_list=tf.train.Int64List(value=values)), 'f': lambda: Feature(float_list=tf.train.FloatList(value=values)),
            's': lambda: Feature(bytes_list=tf.train.BytesList(value=values)), '': Feature}[kind]()


def example(**features):
    """example(a='i3') has the feature a with three integers."""
    return tf.train.Example(features=Features(feature={key: feature(text[:1], int(text[1:] or 0)) for key, text in features.items()})).SerializeToString(deterministic=True)


def strings(values, shape=None):
    made = np.empty(len(values), object)
    made[:] = values
    return made.reshape(shape) if shape is not None else made


def text(value):
    return np.array(value, object)


def fallback(kind, *values, shape=None):
    made = strings(values) if kind == 's' else np.array(values, TYPES[kind].as_numpy_dtype)
    return made.reshape(shape) if shape is not None else made


def cases(golden):
    for kind in 'ifs':
        _each_kind(golden, kind)
    _several(golden)
    _refused(golden)
    _damaged(golden)


def batch(call, examples, sparse=(), dense=(), ragged=(), names=(), version=2, shape=None, **more):
    """sparse: (key, kind); dense: (key, kind, shape, fallback); ragged: (key, kind, splits)."""
    serialized = strings(examples, shape)
    keys = [[key.encode() for key, *_ in group] for group in (sparse, dense, ragged)]
    attrs = {'sparse_types': [TYPES[kind] for _, kind in sparse], 'dense_shapes': [tf.TensorShape(size) for _, _, size, _ in dense]}
    inputs = [serialized, strings(names)]
    if version == 1:
        inputs += [[text(key) for key in keys[0]], [text(key) for key in keys[1]]]
    else:
        attrs |= {'num_sparse': len(sparse), 'ragged_value_types': [TYPES[kind] for _, kind, _ in ragged], 'ragged_split_types': [splits for _, _, splits in ragged]}
        inputs += [strings(group) for group in keys]
    call('ParseExample' if version == 1 else 'ParseExampleV2', [*inputs, [value for *_, value in dense]], attrs, **more)


def single(call, serialized, sparse=(), dense=(), **more):
    attrs = {'num_sparse': len(sparse), 'sparse_keys': [key.encode() for key, _ in sparse], 'dense_keys': [key.encode() for key, *_ in dense],
             'sparse_types': [TYPES[kind] for _, kind in sparse], 'dense_shapes': [tf.TensorShape(size) for _, _, size, _ in dense]}
    call('ParseSingleExample', [text(serialized), [value for *_, value in dense]], attrs, **more)


def _each_kind(golden, kind):
    none, one, two = fallback(kind), fallback(kind, VALUES[kind][4]), fallback(kind, *VALUES[kind][4:6])
    full, short = example(a=kind + '2', b=kind + '4', d=kind + '4'), example(a=kind + '2', b=kind + '1', d=kind + '2')
    for version in (1, 2):
        for examples in ([full], [short, full, example(a=kind + '2')], []):
            batch(golden.op, examples, [('b', kind)], [('a', kind, [2], none), ('d', kind, [None, 2], one)], version=version, name=f'{kind}{len(examples)}')
        batch(golden.op, [example(), full], [('c', kind)], [('a', kind, [1, 2], two.reshape(1, 2)), ('e', kind, [], one.reshape(()))], version=version, names=[b'n', b'm'], name=f'{kind} missing')
    for splits in (tf.int32, tf.int64):
        for examples in ([short, example(), full], []):
            batch(golden.op, examples, ragged=[('b', kind, splits), ('c', kind, tf.int64)], name=f'{kind}{len(examples)} {splits.name}')
        batch(golden.op, [full], ragged=[('b', kind, splits), ('c', kind, splits)], shape=(), name=f'{kind} scalar {splits.name}')
    wanted = [('b', kind), ('c', kind)], [('a', kind, [2], none), ('b2', kind, [None, 2], one), ('d', kind, [2], two)]
    for features in ({'b': kind + '3', 'b2': kind + '4'}, {'b': '', 'b2': ''}, {'b': kind, 'd': kind + '2', 'x': 'f1'}):
        for parse in (single, lambda call, serialized, *groups, **more: batch(call, [serialized], *groups, shape=(), **more)):
            parse(golden.op, example(a=kind + '2', **features), *wanted, name=f'{kind} {features}')


def _several(golden):
    pair = example(a='i2', b='s1')
    dense = [('a', 'i', [2], fallback('i'))]
    batch(golden.op, [pair + example(a='i2', c='f1')], [('c', 'f'), ('b', 's')], dense, name='joined')
    batch(golden.op, [example(a='i1') + pair], dense=dense, name='the last one counts')
    batch(golden.op, [b'\x10\x05' + pair + b'\x1a\x02hi' + b'\x25abcd' + b'\x29abcdefgh'], dense=dense, name='unknown fields')
    batch(golden.op, [example(a='') + pair + example(a='')], [('b', 's')], dense, name='no value')
    for numbers in (b'\x08\x03\x08\x04', b'\x0a\x02\x03\x04', b'\x0a\x00', b''):
        size = bytes([len(numbers)])
        inner = b'\x0a\x01a\x12' + bytes([len(numbers) + 2]) + b'\x1a' + size + numbers
        packed = b'\x0a' + bytes([len(inner) + 2]) + b'\x0a' + bytes([len(inner)]) + inner
        batch(golden.op, [packed], [('a', 'i')], name=str(numbers))
        single(golden.op, packed, [('a', 'i')], name=str(numbers))
    swapped = b'\x0a\x0d\x0a\x0b\x12\x06\x1a\x04\x0a\x02\x05\x06\x0a\x01a'
    batch(golden.op, [swapped], dense=dense, name='value before key')
    for floats in (b'\x0d\x00\x00\x80\x3f\x0d\x00\x00\x00\x40', b'\x0a\x08\x00\x00\x80\x3f\x00\x00\x00\x40', b'\x0a\x06\x00\x00\x80\x3f\x00\x00'):
        inner = b'\x0a\x01a\x12' + bytes([len(floats) + 2]) + b'\x12' + bytes([len(floats)]) + floats
        packed = b'\x0a' + bytes([len(inner) + 2]) + b'\x0a' + bytes([len(inner)]) + inner
        batch(golden.op, [packed], [('a', 'f')], name=str(floats))


def _refused(golden):
    parses = (lambda serialized, *groups, **more: batch(golden.fails, [serialized], *groups, **more), lambda serialized, *groups, **more: single(golden.fails, serialized, *groups, **more),
              lambda serialized, *groups, **more: batch(golden.fails, [serialized], *groups, names=[b'row'], version=1, **more))
    kinds = [('i', 3, 'f'), ('f', 1, 's'), ('s', 1, 'i'), ('s', 3, 'f')]
    for i, parse in enumerate(parses):
        for kind, count, other in kinds if i == 0 else kinds[i::2]:
            parse(example(a=f'{kind}{count}'), [], [('a', kind, [2], fallback(kind))], name=f'{i} size')
            parse(example(a=f'{kind}{count}'), [], [('a', kind, [None, 2], fallback(kind, VALUES[kind][0]))], name=f'{i} rows')
            parse(example(a=other + '2'), [], [('a', kind, [2], fallback(kind))], name=f'{i} dtype')
            parse(example(a=other + '2'), [('a', kind)], [], name=f'{i} sparse dtype')
            parse(example(b=kind + '2'), [], [('a', kind, [2], fallback(kind))], name=f'{i} missing')
        parse(example(), [], [('a', 'i', [2], fallback('i', 1))], name=f'{i} fallback')
        parse(example(), [], [('a', 'i', [None, 2], fallback('i', 1, 2))], name=f'{i} padding')
        parse(example(a='i1'), [('a', 'i')], [('a', 'i', [1], fallback('i'))], name=f'{i} key twice')
    batch(golden.fails, [example(), example(a='i1')], dense=[('a', 'i', [2], fallback('i'))], names=[b'n', b'm'])
    batch(golden.fails, [example(a='i2'), example(a='i1')], dense=[('a', 'i', [2], fallback('i'))], names=[b'n', b'm'])
    batch(golden.fails, [example(), example()], names=[b'n'])
    batch(golden.fails, [example(), example()], names=[b'n'], version=1)
    batch(golden.fails, [example()], version=1, shape=())
    batch(golden.fails, [example()], shape=(1, 1))
    batch(golden.fails, [example(a='i2')], ragged=[('a', 'f', tf.int32)])
    attrs = {'sparse_types': [tf.int64], 'dense_shapes': [], 'num_sparse': 1, 'ragged_value_types': [tf.int64], 'ragged_split_types': [tf.int32]}
    for keys in (([b'a', b'b'], [], [b'c']), ([b'a'], [b'b'], [b'c']), ([b'a'], [], [])):
        golden.fails('ParseExampleV2', [strings([]), strings([]), *map(strings, keys), []], attrs, name=str(keys))


def _damaged(golden):
    lists = {'a': Feature(int64_list=tf.train.Int64List(value=[3, 70, 12])), 'b': Feature(float_list=tf.train.FloatList(value=[0.5, 2])), 'c': feature('s', 2)}
    whole = tf.train.Example(features=Features(feature=lists)).SerializeToString(deterministic=True)
    wanted = [('a', 'i'), ('b', 'f'), ('c', 's')]
    _each_damage(golden, whole, lambda damaged, **more: (batch(golden.either, [damaged], wanted, **more), single(golden.either, damaged, wanted, **more)))


def _each_damage(golden, whole, parse):
    """Bytes that end early, and bytes that are changed. They are ASCII, because TensorFlow puts them into messages, which Python reads
    as UTF-8; here they are left out."""
    def text_only(message):
        return message.split("value: '")[0]

    for length in range(1, len(whole), 11):
        parse(whole[:length], name=f'{length} bytes', message=text_only)
    for _ in range(8):
        at, byte = golden.random.integers(len(whole)), golden.random.integers(128)
        parse(whole[:at] + bytes([byte]) + whole[at + 1:], name=f'byte {at} is {byte}', message=text_only)
