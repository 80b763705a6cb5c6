"""Checkpoints of the real TensorFlow, and the real TensorFlow reading ours.

Run with any Python that has TensorFlow 2 (package tensorflow-cpu):

  checkpoints.py                 writes tests/data/oracle/checkpoints/
  checkpoints.py check FOLDER    reads `all` and `v1` in that folder, and compares

tests/c/ops/io/save_restore_test.c lists the same tensors: it reads these files, and writes them again byte by byte. With
TFCORE_CHECKPOINT_DIR set it leaves what it wrote (`all`, `v1`) in that folder.
"""
import os
import shutil
import sys

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'oracle', 'checkpoints')
NUMBERS = ['float32', 'float64', 'float16', 'bfloat16', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']
NOT_IN_V1 = ['bfloat16', 'uint32', 'uint64']
raw = tf.raw_ops


def tensors():
    """Name and value of each tensor, in the order of saving."""
    listed = [(name, tf.cast(tf.constant([[1, 2, 3], [4, 5, 6]]), name)) for name in NUMBERS]
    listed.append(('bool', tf.constant([True, False, True])))
    listed.append(('complex64', tf.constant([1 + 2j, 3 - 1j], tf.complex64)))
    listed.append(('complex128', tf.constant([1 + 2j, 3 - 1j], tf.complex128)))
    listed.append(('scalar', tf.constant(7)))
    listed.append(('empty', tf.zeros([0, 3])))
    listed.append(('strings', tf.constant([['one', 'x' * 200], ['three', 'y']])))
    listed.append(('no_strings', tf.constant([], tf.string)))
    listed += [(f'layer/{i}/weights', tf.constant([float(i)])) for i in range(30)]
    return listed


def write():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    at = lambda name: os.path.join(FOLDER, name)
    names, values = zip(*tensors())
    blank = [''] * len(names)
    raw.SaveV2(prefix=at('all'), tensor_names=names, shape_and_slices=blank, tensors=values)
    names, values = zip(*[(name, value) for name, value in tensors() if name not in NOT_IN_V1])
    raw.Save(filename=at('v1'), tensor_names=names, data=values)
    rows = tf.reshape(tf.range(12.), [4, 3])
    words = tf.constant(['a', 'b', 'c', 'd'])
    raw.SaveV2(prefix=at('sliced'), tensor_names=['rows', 'rows', 'words', 'words', 'far'],
               shape_and_slices=['4 3 0,1:-', '4 3 1,3:-', '4 2,2', '4 0,2', '100000 70000,2'],
               tensors=[rows[:1], rows[1:], words[2:], words[:2], tf.constant([1., 2.])])
    raw.SaveV2(prefix=at('one'), tensor_names=['rows', 'a'], shape_and_slices=['4 3 0,4:0,1', ''], tensors=[rows[:, :1], tf.constant(1)])
    raw.SaveV2(prefix=at('two'), tensor_names=['rows', 'b'], shape_and_slices=['4 3 0,4:1,2', ''], tensors=[rows[:, 1:], tf.constant(2)])
    raw.MergeV2Checkpoints(checkpoint_prefixes=[at('one'), at('two')], destination_prefix=at('merged'), delete_old_dirs=False)
    raw.SaveSlices(filename=at('old-00000-of-00002'), tensor_names=['rows'], shapes_and_slices=['4 3 0,1:-'], data=[rows[:1]])
    raw.SaveSlices(filename=at('old-00001-of-00002'), tensor_names=['rows', 'zeros'], shapes_and_slices=['4 3 1,3:-', ''],
                   data=[rows[1:], tf.zeros([4, 4])])
    for name in sorted(os.listdir(FOLDER)):
        print(name, os.path.getsize(at(name)))


def check(prefix, left_out=()):
    names, values = zip(*[(name, value) for name, value in tensors() if name not in left_out])
    got = raw.RestoreV2(prefix=prefix, tensor_names=names, shape_and_slices=[''] * len(names), dtypes=[value.dtype for value in values])
    for name, want, have in zip(names, values, got):
        np.testing.assert_array_equal(have.numpy(), want.numpy(), name)
    print(f'{len(names)} tensors are equal')


if len(sys.argv) > 2 and sys.argv[1] == 'check':
    check(os.path.join(sys.argv[2], 'all'))
    check(os.path.join(sys.argv[2], 'v1'), NOT_IN_V1)
else:
    write()
