"""Datasets that leave out elements of others, or take turns among them, as tf.data writes them in graphs."""
import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops

from datasets import _pipeline
from writer import tf1

raw, data = tf.raw_ops, tf1.data.Dataset
TYPES = dict(output_types=[tf.int64], output_shapes=[[]])


def cases(golden):
    for name, make in CHOICES.items():
        _pipeline(golden, name, make, most=12)
    with golden.graph('filter in parallel') as case:  # iterators of TensorFlow cannot copy the dataset
        only = raw.DatasetToSingleElement(dataset=_parallel_filter(), name='only', output_types=[tf.int64], output_shapes=[[]])
        case.step({'only:0': only[0]})
        case.expect_success()
    # Kernels that do not make the dataset.
    for name, make in REFUSED.items():
        with golden.graph(f'{name} refused') as case:
            size = raw.DatasetCardinality(input_dataset=make(), name='size')
            case.step({'size:0': size})


def _numbers(variant):
    return dataset_ops._VariantDataset(variant, tf.TensorSpec([], tf.int64))


def _range(*limits):
    return data.range(*limits)._variant_tensor


def _shard(length, count, index, required=False):
    return raw.ShardDataset(input_dataset=_range(length), num_shards=tf.constant(count, tf.int64), index=tf.constant(index, tf.int64),
                            require_non_empty=required, **TYPES)


def _directed(numbers, limits, stops=False):
    selector = data.from_tensor_slices(np.int64(numbers))._variant_tensor
    return raw.DirectedInterleaveDataset(selector_input_dataset=selector, data_input_datasets=[_range(*pair) for pair in limits],
                                         stop_on_empty_dataset=stops, **TYPES)


def _asserted(length, count):
    return raw.AssertCardinalityDataset(input_dataset=_range(length), cardinality=tf.constant(count, tf.int64), **TYPES)


CHOICES = {
    'shard': lambda: data.range(8).shard(3, 1),
    'shard of few': lambda: data.range(1).shard(3, 1),
    'shard with an element': lambda: _numbers(_shard(7, 3, 1, True)),
    'shard without an element': lambda: _numbers(_shard(2, 3, 0, True)),
    'take while': lambda: data.range(6).take_while(lambda x: x < 3),
    'take while all': lambda: data.range(3).take_while(lambda x: x < 5),
    'take while in a loop': lambda: data.range(4).take_while(lambda x: x < 2).repeat(2),
    'unique numbers': lambda: data.from_tensor_slices(np.int64([3, 1, 3, 2, 1])).unique(),
    'unique texts': lambda: data.from_tensor_slices(np.array([b'a', b'', b'ab', b'a', b''], object)).unique(),
    'unique rows': lambda: data.from_tensor_slices(np.int32([[1, 2], [2, 1], [1, 2]])).unique(),
    'ignore errors': lambda: data.range(6).map(lambda x: 60 // (x % 3)).apply(tf.data.experimental.ignore_errors()),
    'choose': lambda: data.choose_from_datasets([data.range(3), data.range(10, 12)], data.from_tensor_slices(np.int64([0, 1, 0, 0, 1, 1, 0])),
                                                stop_on_empty_dataset=False),
    'choose until one ends': lambda: _numbers(_directed([0, 1, 1, 1, 0], [(3,), (10, 12)], True)),
    'choose what is not there': lambda: _numbers(_directed([0, 2], [(3,), (10, 12)])),
    'choose below 0': lambda: _numbers(_directed([-1], [(3,)])),
    'as many as said': lambda: _numbers(_asserted(3, 3)),
    'fewer than said': lambda: _numbers(_asserted(3, 4)),
    'more than said': lambda: _numbers(_asserted(3, 1)),
    'fewer than infinitely many': lambda: _numbers(_asserted(1, -1)),
    'batch in parallel': lambda: data.range(7).batch(3, num_parallel_calls=2),
    'batch in parallel without remainder': lambda: data.range(7).batch(3, drop_remainder=True, num_parallel_calls=2),
    'thread pools': lambda: _numbers(raw.PrivateThreadPoolDataset(
        input_dataset=raw.MaxIntraOpParallelismDataset(input_dataset=_range(2), max_intra_op_parallelism=tf.constant(1, tf.int64), **TYPES),
        num_threads=tf.constant(2, tf.int64), **TYPES)),
}


def _parallel_filter():
    made = data.range(3).filter(lambda x: tf.equal(x, 1))
    predicate = made._dataset._predicate.function
    return raw.ParallelFilterDataset(input_dataset=_range(3), other_arguments=[], num_parallel_calls=tf.constant(2, tf.int64), predicate=predicate, **TYPES)


REFUSED = {
    'no shards': lambda: _shard(3, 0, 0),
    'a shard behind the last': lambda: _shard(3, 2, 2),
    'a shard below 0': lambda: _shard(3, 2, -1),
    'a number of threads': lambda: raw.PrivateThreadPoolDataset(input_dataset=_range(2), num_threads=tf.constant(-1, tf.int64), **TYPES),
    'a number of threads of an op': lambda: raw.MaxIntraOpParallelismDataset(input_dataset=_range(2), max_intra_op_parallelism=tf.constant(-1, tf.int64),
                                                                              **TYPES),
    'unique pairs': lambda: raw.UniqueDataset(input_dataset=data.from_tensors((1, 2))._variant_tensor, **TYPES),
    'unique floats': lambda: raw.UniqueDataset(input_dataset=data.from_tensors(1.0)._variant_tensor, **TYPES),
    'numbers that are floats': lambda: raw.DirectedInterleaveDataset(selector_input_dataset=data.from_tensors(1.0)._variant_tensor,
                                                                     data_input_datasets=[_range(2)], **TYPES),
    'choices of different types': lambda: raw.DirectedInterleaveDataset(
        selector_input_dataset=_range(2), data_input_datasets=[_range(2), data.from_tensors((1.0, 2))._variant_tensor], **TYPES),
}
