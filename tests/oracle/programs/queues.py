"""Queues, runners in threads, coordinators, blocked steps, closing."""
import threading
import time

import tensorflow.compat.v1 as tf
from report import fails, show


def kinds(session):
    fifo = tf.FIFOQueue(3, [tf.int32, tf.string], [[], [2]], names=None, shared_name='fifo')
    session.run(fifo.enqueue_many([[1, 2], [['a', 'b'], ['c', 'd']]]))
    show('size', session.run(fifo.size()))
    show('dequeued', [session.run(fifo.dequeue()), session.run(fifo.dequeue_many(1))])
    fails('other shape', session.run, fifo.enqueue([tf.placeholder_with_default(1, []),
                                                   tf.placeholder_with_default(['x'], None)]))
    ordered = tf.PriorityQueue(10, tf.string, [[]])
    session.run(ordered.enqueue_many([[5, 1, 3], ['five', 'one', 'three']]))
    show('by priority', session.run(ordered.dequeue_many(3)))
    padded = tf.PaddingFIFOQueue(5, tf.int32, [[None]])
    for row in [1], [2, 3], [4, 5, 6]:
        session.run(padded.enqueue([row]))
    show('padded', session.run(padded.dequeue_many(3)))
    shuffled = tf.RandomShuffleQueue(10, 0, tf.int32, [[]], seed=3)
    session.run(shuffled.enqueue_many([list(range(8))]))
    show('shuffled', session.run(shuffled.dequeue_many(8)).tolist() != list(range(8)))
    session.run(fifo.close())
    fails('closed to enqueue', session.run, fifo.enqueue([1, ['a', 'b']]))
    fails('closed and empty', session.run, fifo.dequeue())
    show('up to', session.run(shuffled.size()))
    show('is closed', session.run([fifo.is_closed(), padded.is_closed()]))


def runners(session):
    counter = tf.get_variable('counter', initializer=0, use_resource=True)
    limited = tf.train.limit_epochs(tf.constant([1, 2, 3]), 2)
    source = tf.train.input_producer([10, 20, 30], num_epochs=2, shuffle=False, capacity=2)
    batch = tf.train.batch([source.dequeue()], 4, allow_smaller_final_batch=True)
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    try:
        while not coordinator.should_stop():
            show('batch', session.run(batch))
    except tf.errors.OutOfRangeError as error:
        show('end', error.message.splitlines()[0])
        coordinator.request_stop()
    coordinator.join(threads)
    show('limited', session.run(limited))
    show('counter', session.run(counter.assign_add(1)))


def blocked(session):
    queue = tf.FIFOQueue(2, tf.float32, [[]], shared_name='blocked')
    taken, place = queue.dequeue(), tf.placeholder(tf.float32, [])
    put = queue.enqueue(place)
    results = []
    waiting = threading.Thread(target=lambda: results.append(session.run(taken * 2)))
    waiting.start()
    time.sleep(0.5)
    show('others run', session.run(place + 1, {place: 1.0}))
    session.run(put, {place: 21.0})
    waiting.join()
    show('it got', results)
    # The client and the server both watch the deadline, and their words differ.
    fails('deadline', session.run, taken, options=tf.RunOptions(timeout_in_ms=100), wording=False)
    session.run(put, {place: 1.0})
    session.run(put, {place: 2.0})
    full = threading.Thread(target=lambda: fails('pending enqueue', session.run, put, {place: 3.0}))
    full.start()
    time.sleep(0.5)
    session.run(queue.close(cancel_pending_enqueues=True))
    full.join()
    show('the rest', session.run([queue.dequeue_up_to(5), queue.size()][0]))
    fails('nothing left', session.run, taken)


def between_sessions(target):
    graph = tf.Graph()
    with graph.as_default():
        queue = tf.FIFOQueue(5, tf.int32, [[]], shared_name='between')
        taken, put = queue.dequeue(), queue.enqueue(7)
    with tf.Session(target, graph=graph) as first, tf.Session(target, graph=graph) as second:
        results = []
        waiting = threading.Thread(target=lambda: results.append(first.run(taken)))
        waiting.start()
        time.sleep(0.5)
        second.run(put)
        waiting.join()
        show('from the other session', results)


def main(target, folder):
    for part in kinds, runners, blocked:
        with tf.Graph().as_default(), tf.Session(target) as session:
            part(session)
    between_sessions(target)
