"""SequenceExamples: context features and feature lists, for batches and for one of them, and what is refused."""
import tensorflow as tf

from parsing import TYPES, VALUES, fallback, feature, strings, text

import numpy as np


def sequence(context=None, lists=None):
    """sequence({'a': 'i3'}, {'b': ['i1', '', 'i2']})"""
    def made(spec):
        return feature(spec[:1], int(spec[1:] or 0))

    features = tf.train.Features(feature={key: made(spec) for key, spec in (context or {}).items()})
    steps = {key: tf.train.FeatureList(feature=[made(spec) for spec in specs]) for key, specs in (lists or {}).items()}
    return tf.train.SequenceExample(context=features, feature_lists=tf.train.FeatureLists(feature_list=steps)).SerializeToString(deterministic=True)


def cases(golden):
    for kind in 'ifs':
        _each_kind(golden, kind)
    _refused(golden)
    _damaged(golden)


class Wanted:
    """What is asked for: sparse (key, kind), dense (key, kind, shape[, fallback]), ragged (key, kind, splits)."""

    def __init__(self, sparse=(), dense=(), ragged=()):
        self.sparse, self.dense, self.ragged = sparse, dense, ragged

    def keys(self):
        return [[key.encode() for key, *_ in group] for group in (self.sparse, self.dense, self.ragged)]

    def attrs(self, prefix, ragged):
        made = {f'N{prefix}sparse': len(self.sparse), f'{prefix}sparse_types': [TYPES[kind] for _, kind in self.sparse], f'{prefix}dense_shapes': [tf.TensorShape(item[2]) for item in self.dense]}
        if ragged:
            made |= {f'{prefix}ragged_value_types': [TYPES[kind] for _, kind, _ in self.ragged], f'{prefix}ragged_split_types': [splits for _, _, splits in self.ragged]}
        return made

    def fallbacks(self):
        return [item[3] for item in self.dense]


def many(call, examples, context=Wanted(), lists=Wanted(), missing=(), names=(), version=2, shape=None, **more):
    attrs = context.attrs('context_', version == 2) | lists.attrs('feature_list_', version == 2)
    attrs |= {'Nfeature_list_dense': len(lists.dense), 'feature_list_dense_types': [TYPES[item[1]] for item in lists.dense]}
    inputs = [strings(examples, shape), strings(names, shape if names else None)]
    if version == 1:
        attrs |= {'feature_list_dense_missing_assumed_empty': [key.encode() for key in missing], 'Ncontext_dense': len(context.dense),
                  'context_sparse_keys': context.keys()[0], 'context_dense_keys': context.keys()[1], 'feature_list_sparse_keys': lists.keys()[0], 'feature_list_dense_keys': lists.keys()[1]}
    else:
        inputs += [strings(keys) for keys in (*context.keys(), *lists.keys())] + [np.array([key in missing for key, *_ in lists.dense], bool)]
    call('ParseSequenceExample' + ('V2' if version == 2 else ''), [*inputs, context.fallbacks()], attrs, **more)


def one(call, example, context=Wanted(), lists=Wanted(), missing=(), name=b'row', **more):
    attrs = {'context_sparse_types': [TYPES[kind] for _, kind in context.sparse], 'context_dense_shapes': [tf.TensorShape(item[2]) for item in context.dense],
             'feature_list_sparse_types': [TYPES[kind] for _, kind in lists.sparse], 'feature_list_dense_types': [TYPES[item[1]] for item in lists.dense],
             'feature_list_dense_shapes': [tf.TensorShape(item[2]) for item in lists.dense]}
    keys = [[text(key) for key in group] for group in (*context.keys()[:2], *lists.keys()[:2])]
    more['name'] = more.pop('case', '')
    call('ParseSingleSequenceExample', [text(example), strings([key.encode() for key in missing]), *keys, context.fallbacks(), text(name)], attrs, **more)


def _each_kind(golden, kind):
    context = Wanted([('s', kind), ('t', kind)], [('d', kind, [2], fallback(kind)), ('e', kind, [], fallback(kind, VALUES[kind][4], shape=()))])
    lists = Wanted([('s', kind), ('t', kind)], [('d', kind, [2]), ('e', kind, [])])
    full = sequence({'s': kind + '3', 'd': kind + '2', 'x': 'i1'}, {'s': [kind + '1', kind, '', kind + '3'], 'd': [kind + '2', kind + '2'], 'e': [kind + '1'] * 3})
    short = sequence({'d': kind + '2', 'e': kind + '1'}, {'d': [kind + '2'], 's': []})
    for version in (1, 2):
        many(golden.op, [short, full, short], context, lists, missing=['e'], version=version, name=kind)
        many(golden.op, [], Wanted(context.sparse), lists, version=version, name=f'{kind} without examples')
    many(golden.op, [full], context, lists, missing=['e'], shape=(), name=f'{kind} scalar')
    for i, example in enumerate((full, short)):
        one(golden.op, example, context, lists, missing=['e'], case=f'{kind}{i}')
    for splits in (tf.int32, tf.int64):
        ragged = Wanted(ragged=[('s', kind, splits), ('t', kind, splits)])
        for examples in ([full, short], []):
            many(golden.op, examples, ragged, ragged, name=f'{kind}{len(examples)} {splits.name}')
    # The row splits of one example have no meaning.
    many(golden.op, [full], Wanted(ragged=[('s', kind, tf.int32)]), Wanted(ragged=[('s', kind, tf.int32)]), shape=(), name=f'{kind} ragged scalar', outputs=[0, 2, 4])


def _refused(golden):
    none = fallback('i')
    dense, dense_list = Wanted(dense=[('a', 'i', [2], none)]), Wanted(dense=[('a', 'i', [2])])
    sparse = Wanted([('a', 'i')])
    asked = [({'a': 'i3'}, {}, dense, Wanted()), ({'a': 'f2'}, {}, dense, Wanted()), ({}, {}, dense, Wanted()), ({'a': ''}, {}, dense, Wanted()), ({'a': 'f2'}, {}, sparse, Wanted()), ({}, {}, Wanted(), dense_list),
             ({}, {'a': ['i2', 'i1']}, Wanted(), dense_list), ({}, {'a': ['i2', 'i3', 'i1']}, Wanted(), dense_list), ({}, {'a': ['i2', 'f2']}, Wanted(), dense_list), ({}, {'a': ['i2', '']}, Wanted(), dense_list), ({}, {'a': ['i2', 'f2']}, Wanted(), sparse),
             ({}, {}, Wanted(dense=[('a', 'i', [2], fallback('i', 1))]), Wanted())]

    def without_feature(message):
        return message.split('goo.gle')[0].strip()

    for i, (context, lists, wanted, wanted_lists) in enumerate(asked):
        example = sequence(context, lists)
        for version in (1, 2):
            many(golden.fails, [example], wanted, wanted_lists, version=version, names=[b'n'] if version == 1 else (), name=str(i))
        one(golden.fails, example, wanted, wanted_lists, case=str(i), message=without_feature)
    for kind, count in (('f', 1), ('s', 3)):
        one(golden.fails, sequence({'a': f'{kind}{count}'}), Wanted(dense=[('a', kind, [2], fallback(kind))]), case=kind)
    many(golden.fails, [sequence({'a': 'i2'}), sequence({'a': 'i1'})], dense)
    many(golden.fails, [sequence()], shape=(1, 1))
    many(golden.fails, [sequence(), sequence()], names=[b'n'])
    many(golden.fails, [sequence()], Wanted([('a', 'i')], ragged=[('a', 'i', tf.int32)]))
    many(golden.fails, [sequence()], Wanted([('a', 'i')], [('a', 'i', [1], none)]))
    many(golden.fails, [sequence()], lists=Wanted(dense=[('a', 'i', [1])], ragged=[('a', 'i', tf.int32)]))


def _damaged(golden):
    contents = tf.train.Features(feature={'a': tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 70]))})
    steps = tf.train.FeatureLists(feature_list={'b': tf.train.FeatureList(feature=[feature('s', 2), feature('s', 1), feature('', 0)])})
    whole = tf.train.SequenceExample(context=contents, feature_lists=steps).SerializeToString(deterministic=True)
    context, lists = Wanted([('a', 'i')]), Wanted([('b', 's')])

    def text_only(message):
        return message.split("value: '")[0].split('goo.gle')[0].strip()

    for length in range(1, len(whole), 9):
        many(golden.either, [whole[:length]], context, lists, name=f'{length} bytes')
        one(golden.either, whole[:length], context, lists, case=f'{length} bytes', message=text_only)
