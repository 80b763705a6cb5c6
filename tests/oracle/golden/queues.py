"""Queues: the order in which they give elements, padding, and what they refuse. What a step adds, a later step of the same session
takes. The queues have shared names, because errors contain the name. Input pipelines as TensorFlow 1.x writes them run without
threads: a step runs what the thread of a QueueRunner would."""
import re

import numpy as np
import tensorflow as tf

from control_flow import record
from data import numbers
from writer import ALL_DTYPES, tf1

raw = tf.raw_ops


def cases(golden):
    record(golden, [_random_order, _random_leaves_some, _random_refuses, _random_sizes, _priority_ties, _priority_refuses, _priority_closed, _priority_mixed,
                    _padding, _padding_of_strings, _padding_closed, _padding_refuses, _padding_types, _shared_names, _versions])
    record(golden, [_batch, _dynamic_batch, _shuffle_batch, _string_producer, _slice_producer])


class _Script:
    """Steps whose nodes are made before the first one runs, because the file has the graph of that moment."""

    def __init__(self, case, queue, types):
        self.case, self.queue, self.types, self.steps = case, queue, types, []

    def add(self, *components):
        self._target(raw.QueueEnqueueV2(handle=self.queue, components=self._tensors(components)))

    def add_many(self, *components):
        self._target(raw.QueueEnqueueManyV2(handle=self.queue, components=self._tensors(components)))

    def close(self):
        self._target(raw.QueueCloseV2(handle=self.queue))

    def take(self):
        self._fetch(raw.QueueDequeueV2(handle=self.queue, component_types=self.types))

    def take_many(self, count):
        self._fetch(raw.QueueDequeueManyV2(handle=self.queue, n=count, component_types=self.types))

    def up_to(self, count):
        self._fetch(raw.QueueDequeueUpToV2(handle=self.queue, n=count, component_types=self.types))

    def size(self):
        self._fetch([raw.QueueSizeV2(handle=self.queue), raw.QueueIsClosedV2(handle=self.queue)])

    def run(self):
        for fetches, targets in self.steps:
            self.case.step(fetches, targets=targets)

    def _tensors(self, components):
        return [value if tf.is_tensor(value) else tf.constant(value) for value in components]

    def _target(self, operation):
        self.steps.append(({}, [operation]))

    def _fetch(self, tensors):
        self.steps.append(({_full_name(tensor): tensor for tensor in tensors}, []))


def _full_name(tensor):
    return tensor.op.name + (f':{tensor.value_index}' if tensor.value_index else '')


def _random(types, shapes, **attrs):
    return raw.RandomShuffleQueueV2(component_types=types, shapes=shapes, **({'shared_name': 'queue', 'seed': 3, 'seed2': 5} | attrs))


def _random_order(case, random):
    """a RandomShuffleQueue gives elements in the order of its seeds"""
    s = _Script(case, _random([tf.int32, tf.string], [[], [2]]), [tf.int32, tf.string])
    s.add_many(np.arange(13, dtype=np.int32), numbers(random, (13, 2), np.dtype(object)))
    s.take_many(5)
    s.take()
    s.add(np.int32(20), np.array([b'a', b'b'], object))
    s.up_to(3)
    s.add_many(np.arange(30, 40, dtype=np.int32), numbers(random, (10, 2), np.dtype(object)))
    s.take_many(7)
    s.take_many(0)
    s.size()
    s.close()
    s.take_many(20)
    s.up_to(20)
    s.run()


def _random_leaves_some(case, random):
    """a RandomShuffleQueue keeps some elements until it is closed"""
    s = _Script(case, _random([tf.float32], [[]], min_after_dequeue=4, capacity=9, seed=0, seed2=7), [tf.float32])
    s.add_many(np.arange(9, dtype=np.float32))
    s.take_many(3)
    s.take()
    s.take()
    s.size()
    s.close()
    s.take_many(5)
    s.take()
    s.up_to(5)
    s.up_to(5)
    s.take()
    s.add(np.float32(1))
    s.close()
    s.size()
    s.run()


def _random_refuses(case, random):
    """a RandomShuffleQueue refuses other components"""
    s = _Script(case, _random([tf.float32, tf.int64], []), [tf.float32, tf.int64])
    s.add(np.float32(1), np.int64([2, 3]))
    s.add(np.float32(1), np.int32(2))
    s.add(np.float32(1))
    s.take_many(1)
    s.take()
    s.run()


def _random_sizes(case, random):
    """min_after_dequeue is below the capacity"""
    queues = [_random([tf.int32], [[]], capacity=capacity, min_after_dequeue=least, shared_name=f'queue{capacity}_{least}')
              for capacity, least in ((10, 10), (10, 11), (10, -1), (-1, 5), (1, 0))]
    sizes = [raw.QueueSizeV2(handle=queue) for queue in queues]
    for size in sizes:
        case.step({_full_name(size): size})


def _priority(types, shapes, **attrs):
    return raw.PriorityQueueV2(component_types=types, shapes=shapes, **({'shared_name': 'queue'} | attrs))


def _priority_ties(case, random):
    """a PriorityQueue gives the smallest first, and equal ones in TensorFlow's order"""
    s = _Script(case, _priority([tf.int32], [[]]), [tf.int64, tf.int32])
    for length in (1, 2, 3, 7, 40):
        s.add_many(random.integers(0, 4, length), np.arange(length, dtype=np.int32) + 100 * length)
        s.take_many(length // 2)
        s.take()
    s.size()
    s.close()
    s.up_to(5)
    s.run()


def _priority_mixed(case, random):
    """a PriorityQueue between additions"""
    s = _Script(case, _priority([tf.string, tf.float32], [[], [2]]), [tf.int64, tf.string, tf.float32])
    for i in range(9):
        s.add(np.int64(random.integers(-3, 3)), np.array(b'%d' % i, object), np.float32([i, -i]))
        if i % 3 == 2:
            s.take()
    s.up_to(3)
    s.take_many(3)
    s.size()
    s.run()


def _priority_refuses(case, random):
    """a PriorityQueue refuses priorities that are no int64 scalars"""
    s = _Script(case, _priority([tf.string], [[]]), [tf.int64, tf.string])
    text = np.array(b'x', object)
    s.add(np.int64([5]), text)
    s.add(text)
    s.add(np.int32(5), text)
    s.add_many(np.int64([5]), np.array([b'a', b'b'], object))
    s.add_many(np.int64([[5], [6]]), np.array([b'a', b'b'], object))
    s.add(np.int64(5), text)
    s.take()
    for name, types, shapes in (('no_shapes', [tf.string], []), ('nothing', [], []), ('one_shape', [tf.string, tf.int32], [[]]),
                                ('three', [tf.string, tf.int32], [[], [], []]), ('partial', [tf.string], [[None]])):
        size = raw.QueueSizeV2(handle=_priority(types, shapes, shared_name=name))
        s._fetch([size])
    s.run()


def _priority_closed(case, random):
    """a closed PriorityQueue"""
    s = _Script(case, _priority([tf.int32], [[]], capacity=4), [tf.int64, tf.int32])
    s.add_many(np.int64([3, 1, 2]), np.int32([30, 10, 20]))
    s.close()
    s.take_many(9)
    s.size()
    s.up_to(9)
    s.size()
    s.take()
    s.add(np.int64(1), np.int32(1))
    s.run()


def _padding_queue(types, shapes, **attrs):
    return raw.PaddingFIFOQueueV2(component_types=types, shapes=shapes, **({'shared_name': 'queue'} | attrs))


def _padding(case, random):
    """a PaddingFIFOQueue pads with zeros"""
    s = _Script(case, _padding_queue([tf.int32, tf.float32], [[2, None], [None, None, 3]]), [tf.int32, tf.float32])
    for shape in ((1, 2, 2), (3, 1, 4), (0, 2, 0), (2, 1, 1), (2, 3, 1)):
        s.add(numbers(random, (2, shape[0]), np.int32), numbers(random, (*shape[1:], 3), np.float32))
    s.add_many(numbers(random, (3, 2, 2), np.int32), numbers(random, (3, 1, 4, 3), np.float32))
    s.take()
    s.take_many(3)
    s.take_many(2)
    s.take_many(0)
    s.up_to(0)
    s.up_to(1)
    s.size()
    s.run()


def _padding_of_strings(case, random):
    """a PaddingFIFOQueue pads with empty strings and false"""
    s = _Script(case, _padding_queue([tf.string, tf.bool], [[None], [None, 2]]), [tf.string, tf.bool])
    for length in (2, 0, 5):
        s.add(numbers(random, length, np.dtype(object)), numbers(random, (length + 1, 2), np.bool_))
    s.up_to(3)
    s.run()


def _padding_closed(case, random):
    """a closed PaddingFIFOQueue"""
    s = _Script(case, _padding_queue([tf.float32], [[None]]), [tf.float32])
    s.add(np.float32([1, 2]))
    s.add(np.float32([3]))
    s.close()
    s.take_many(3)
    s.up_to(3)
    s.up_to(3)
    s.take_many(3)
    s.take()
    s.add(np.float32([1]))
    s.close()
    s.run()


def _padding_refuses(case, random):
    """a PaddingFIFOQueue refuses other shapes"""
    s = _Script(case, _padding_queue([tf.int32, tf.float32], [[2, None], [None, 3]]), [tf.int32, tf.float32])
    i, f = np.ones((2, 2), np.int32), np.ones((2, 3), np.float32)
    s.add(i, f)
    s.add(np.ones((1, 2), np.int32), f)
    s.add(i, f[:, :2])
    s.add(i, f[0])
    s.add_many(i[None], f[None, :, :2])
    s.add_many(np.stack([i, i]), f[None])
    s.add_many(i, f)
    s.take()
    for name, types, shapes in (('none', [tf.int32], []), ('two', [tf.int32], [[None], [2]]), ('one', [tf.int32, tf.string], [[]]),
                                ('rank', [tf.int32], [None])):
        s._fetch([raw.QueueSizeV2(handle=_padding_queue(types, shapes, shared_name=name))])
    s.run()


def _padding_types(case, random):
    """a PaddingFIFOQueue of every type"""
    types = [tf.as_dtype(name) for name in ALL_DTYPES]
    s = _Script(case, _padding_queue(types, [[None]] * len(types)), types)
    for length in (1, 3):
        s.add(*(numbers(random, length, np.dtype(object) if t == tf.string else t.as_numpy_dtype) for t in types))
    s.take_many(2)
    s.run()


def _shared_names(case, random):
    """a shared name belongs to queues of one kind, with the same attrs"""
    queues = [_random([tf.int32], [[]], capacity=10), *(_random([tf.int32], [[]], **({'capacity': 10} | attrs)) for attrs in (
        {}, {'capacity': 5}, {'min_after_dequeue': 2}, {'seed': 9}, {'seed': 0, 'seed2': 0}))]
    queues += [_random([tf.int64], [[]], capacity=10), _random([tf.int32], [[2]], capacity=10), _random([tf.int32], [], capacity=10)]
    queues += [raw.FIFOQueueV2(component_types=[tf.int32], shapes=[[]], capacity=10, shared_name='queue'),
               _padding_queue([tf.int32], [[]], capacity=10), _priority([tf.int32], [[]], capacity=10)]
    queues += [_padding_queue([tf.int32], shapes, capacity=10, shared_name='padding') for shapes in ([[None]], [[2]], [[None, None]])]
    queues += [_priority([tf.int32], shapes, shared_name='priority') for shapes in ([[]], [[2]], [])]
    queues += [raw.FIFOQueueV2(component_types=[tf.int32], shapes=[[]], capacity=capacity, shared_name='fifo') for capacity in (3, -1)]
    queues += [_random([tf.int32], [[]], shared_name='fifo'), raw.FIFOQueue(component_types=[tf.int32], shapes=[[]], shared_name='padding')]
    sizes = [raw.QueueSizeV2(handle=queue) for queue in queues[:-1]] + [raw.QueueSize(handle=queues[-1])]
    for size in sizes:
        case.step({_full_name(size): size})


def _versions(case, random):
    """the ops without V2"""
    queues = [raw.RandomShuffleQueue(component_types=[tf.int64, tf.float32], shapes=[[], [2]], seed=1, seed2=2, min_after_dequeue=1, shared_name='random'),
              raw.PaddingFIFOQueue(component_types=[tf.int64, tf.float32], shapes=[[], [None]], shared_name='padding'),
              raw.PriorityQueue(component_types=[tf.float32], shapes=[[2]], shared_name='priority')]
    steps = []
    for queue in queues:
        steps.append(({}, [raw.QueueEnqueueMany(handle=queue, components=[tf.constant(np.int64([5, 3, 4])), tf.constant(numbers(random, (3, 2), np.float32))])]))
        taken = raw.QueueDequeueMany(handle=queue, n=2, component_types=[tf.int64, tf.float32])
        steps.append(({_full_name(tensor): tensor for tensor in taken}, []))
        size = raw.QueueSize(handle=queue)
        steps.append(({_full_name(size): size}, []))
    for fetches, targets in steps:
        case.step(fetches, targets=targets)


# --- input pipelines ---

def _run_pipeline(case, batches, takes, fills=1):
    """Before each of the takes each runner adds `fills` times; at the end it closes its queue, and the rest is taken."""
    runners = tf1.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)
    initializers = [tf1.global_variables_initializer(), tf1.local_variables_initializer()]
    batches = batches if isinstance(batches, (list, tuple)) else [batches]
    fetches = {_full_name(batch): batch for batch in batches}
    case.freeze()
    case.step({}, targets=initializers)
    for i in range(takes):
        for runner in runners:
            for _ in range(fills):
                case.step({}, targets=runner.enqueue_ops)
        case.step(fetches)
    for runner in runners:
        case.step({}, targets=[runner.close_op])
    case.step(fetches, message=_after_name)


def _after_name(message):
    """Queues without a shared name have one with a number that depends on the process."""
    return re.sub(r"^\w+ '_\d+_[^']*' ", '', message)


def _batch(case, random):
    """train.batch"""
    x = tf1.get_local_variable('x', initializer=np.float32([0, 0]))
    moved = tf1.assign_add(x, [1, 2])
    _run_pipeline(case, tf1.train.batch([moved, tf.reduce_sum(moved)], 3, capacity=7, allow_smaller_final_batch=True), 2, 3)


def _dynamic_batch(case, random):
    """train.batch with dynamic_pad"""
    count = tf1.get_local_variable('count', initializer=np.int32(0))
    rows = tf.range(tf1.assign_add(count, 1)) * 10
    _run_pipeline(case, tf1.train.batch([rows, tf.size(rows)], 4, capacity=9, dynamic_pad=True), 2, 4)


def _shuffle_batch(case, random):
    """train.shuffle_batch"""
    count = tf1.get_local_variable('count', initializer=np.int32(0))
    pairs = tf1.train.shuffle_batch([tf1.assign_add(count, 1), tf.constant('text')], 4, capacity=20, min_after_dequeue=3, seed=11)
    _run_pipeline(case, pairs, 2, 8)


def _string_producer(case, random):
    """train.string_input_producer, two epochs in the order of a seed"""
    queue = tf1.train.string_input_producer(['a', 'bb', 'ccc', 'dddd', 'e'], num_epochs=2, seed=4)
    _run_pipeline(case, queue.dequeue_many(4), 2)


def _slice_producer(case, random):
    """train.slice_input_producer into train.batch"""
    data = numbers(random, (6, 2), np.float32)
    slices = tf1.train.slice_input_producer([tf.constant(data), tf.range(6) * 100], seed=9)
    _run_pipeline(case, tf1.train.batch(slices, 2, capacity=8), 2, 2)
