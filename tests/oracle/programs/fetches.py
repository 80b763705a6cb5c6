"""Fetch structures, all dtypes, strings, empty and large tensors."""
import collections

import numpy as np
import tensorflow.compat.v1 as tf
from report import fails, show

DTYPES = [
    'float32', 'float64', 'float16', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'bool',
    'complex64', 'complex128',
]
Pair = collections.namedtuple('Pair', 'first second')


def structures(session):
    a, b = tf.constant([1.0, 2.0], name='a'), tf.constant('text', name='b')
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 1]), tf.constant([4, 1]))
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    show('nested', session.run([a, (b, {'c': a, 'd': [b, a]}), Pair(a, b)]))
    show('names', session.run(['a:0', 'b:0']))
    show('operation', session.run(a.op))
    show('empty', session.run([]))
    got = session.run(slices)
    show('slices', [got.values, got.indices, got.dense_shape])
    got = session.run(sparse)
    show('sparse', [got.indices, got.values, got.dense_shape])
    ragged = session.run(tf.ragged.constant([[1, 2], [], [3]]))
    show('ragged', ragged.to_list())
    show('same twice', session.run([a, a]))
    place = tf.sparse_placeholder(tf.float32)
    fed = tf.SparseTensorValue([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])
    show('fed sparse', session.run(tf.sparse.to_dense(place), {place: fed}))
    show('fed constant', session.run(a + 1, {a: [10.0, 20.0]}))
    show('fed and fetched', session.run([a, a * 2], {a: [7.0, 8.0]}))


def types(session):
    for name in DTYPES:
        dtype = tf.as_dtype(name)
        value = np.array([[0, 1, 2], [3, 4, 100]]).astype(dtype.as_numpy_dtype)
        place = tf.placeholder(dtype, [2, None])
        show(name, session.run([tf.identity(place), tf.constant(value), tf.reshape(place, [-1])[2]], {place: value}))
    bfloat = tf.placeholder(tf.bfloat16)
    show('bfloat16', session.run(tf.cast(bfloat * 3, tf.float32), {bfloat: [1.5, -2.0]}))
    quantized = tf.bitcast(tf.constant([1, -2], tf.int8), tf.qint8)
    show('qint8', session.run(tf.bitcast(quantized, tf.int8)))
    strings = np.array([[b'', b'\0\xff'], ['π'.encode(), b'x' * 300]], object)
    place = tf.placeholder(tf.string)
    show('strings', session.run([place, tf.strings.length(place), tf.strings.join([place, '!'])], {place: strings}))


def shapes(session):
    for shape in [], [0], [3, 0, 2], [1, 1, 1, 1]:
        place = tf.placeholder(tf.float32, shape)
        show(str(shape), session.run([place + 1, tf.shape(place)], {place: np.zeros(shape)}))
    empty = tf.placeholder(tf.string, [0])
    show('no strings', session.run(empty, {empty: np.array([], object)}))


def large(session):
    place = tf.placeholder(tf.float32)
    data = np.arange(16 << 20, dtype=np.float32).reshape(4096, 4096)
    got = session.run(place + 1, {place: data})
    show('64 MB', [list(got.shape), bool((got == data + 1).all())])
    show('sum', session.run(tf.reduce_max(place), {place: data}))
    many = [tf.constant(i) for i in range(300)]
    show('many', sum(session.run(many)))


def main(target, folder):
    with tf.Session(target) as session:
        structures(session)
        types(session)
        shapes(session)
        large(session)
        fails('not fed', session.run, tf.placeholder(tf.float32, [2], name='two') + 1)
