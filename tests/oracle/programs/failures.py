"""Errors of each class, of old sessions, of devices and of graphs that cannot be extended."""
import threading
import time

import tensorflow.compat.v1 as tf
from report import fails, show


def classes(session, folder):
    index = tf.placeholder(tf.int32, [])
    fails('index', session.run, tf.gather([1, 2], index), {index: 5})
    fails('assertion', session.run, tf.debugging.assert_equal(index, 2, message='not two', summarize=3), {index: 1})
    fails('division', session.run, 1 // index, {index: 0})
    fails('matrices', session.run, tf.placeholder_with_default(tf.ones([2, 3]), None) @ tf.ones([2, 3]))
    fails('shapes', session.run, tf.placeholder_with_default(tf.ones([2]), None) + tf.ones([3]))
    fails('reshape', session.run, tf.reshape(tf.range(6), [index, -1]), {index: 4})
    fails('not a number', session.run, tf.debugging.check_numerics(tf.cast(index, tf.float32) / 0.0, 'bad'), {index: 0})
    fails('text', session.run, tf.strings.to_number([tf.strings.as_string(index) + 'x']), {index: 1})
    for shape in [None], [], None, [2, None]:
        fails(f'not fed: {shape}', session.run, tf.placeholder(tf.int32, shape) + 1)
    fails('no file', session.run, tf.io.read_file(folder + '/none'))
    fails('no checkpoint', session.run, tf.raw_ops.RestoreV2(
        prefix=folder + '/none', tensor_names=['a'], shape_and_slices=[''], dtypes=[tf.float32]))
    empty = tf.data.make_one_shot_iterator(tf.data.Dataset.range(0)).get_next()
    fails('end', session.run, empty)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a'], [1]), -1)
    fails('table', session.run, table.lookup(tf.constant(['a'])))
    with open(folder + '/broken', 'wb') as file:
        file.write(b'\x05\0\0\0\0\0\0\0wrong crc')
    broken = tf.data.make_one_shot_iterator(tf.data.TFRecordDataset(folder + '/broken')).get_next()
    fails('data loss', session.run, broken, end=' at 0')  # words of a later release
    fails('several', session.run, [tf.gather([1], index + 7), tf.gather([1], index + 7)], {index: 0})


def names(session):
    a = tf.constant(1.0, name='known')
    fails('unknown fetch', session.run, 'unknown:0')
    fails('unknown output', session.run, 'known:1')
    session.run(a)
    other = tf.Graph()
    with other.as_default():
        stranger = tf.constant(2.0, name='stranger')
    fails('of another graph', session.run, stranger)


def old_sessions(target):
    with tf.Graph().as_default():
        a = tf.constant(1.0)
        session = tf.Session(target)
        show('before', session.run(a))
        session.close()
        fails('closed', session.run, a)
        queue = tf.FIFOQueue(1, tf.int32, [[]], shared_name='old')
        waiting = tf.Session(target)
        taken = queue.dequeue()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(type(attempt(waiting, taken)).__name__))
        thread.start()
        time.sleep(0.2)
        waiting.close()
        thread.join(10)
        show('closed under way', seen)


def attempt(session, fetch):
    try:
        return session.run(fetch)
    except tf.errors.OpError as error:
        return error


def main(target, folder):
    with tf.Graph().as_default(), tf.Session(target) as session:
        classes(session, folder)
        names(session)
    old_sessions(target)
