"""Input pipelines of TensorFlow 1: datasets and iterators in graphs, as tf.compat.v1.data writes them."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
data = tf1.data.Dataset


def cases(golden):
    for name, make in ONE_SHOT.items():
        _pipeline(golden, name, make)


def _pipeline(golden, name, make, most=40):
    """A one-shot iterator from which elements are taken until it fails or ends, and the number of elements."""
    with golden.graph(f'one shot, {name}', threads=1) as case:
        dataset = make()
        following = tf1.data.make_one_shot_iterator(dataset).get_next()
        tensors = tf.nest.flatten(following)
        outputs = {f'out{i}:0': tf.identity(tensor, f'out{i}') for i, tensor in enumerate(tensors)}
        case.freeze()
        for _ in range(most):
            case.step(outputs, message=MESSAGES.get(name))
            if not case.succeeded:
                break


def _numbers(*shape, dtype=np.float32):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


ONE_SHOT = {
    'tensors': lambda: data.from_tensors((_numbers(2, 3), np.array(b'text', object))),
    'slices': lambda: data.from_tensor_slices({'a': _numbers(3, 2), 'b': np.array([b'x', b'', b'long enough to be allocated'], object)}),
    'range': lambda: data.range(5),
    'range with steps': lambda: data.range(10, -5, -4),
    'range of no numbers': lambda: data.range(3, 3),
    'repeat': lambda: data.range(3).repeat(2),
    'repeat never': lambda: data.range(3).repeat(0),
    'repeat nothing': lambda: data.range(0).repeat(),
    'take': lambda: data.range(5).repeat().take(7),
    'take all': lambda: data.range(3).take(-1),
    'skip': lambda: data.range(5).skip(3),
    'skip all': lambda: data.range(5).skip(-1),
    'skip more': lambda: data.range(5).skip(8),
    'concatenate': lambda: data.range(2).concatenate(data.range(5, 8)),
    'zip': lambda: data.zip((data.range(3), data.from_tensor_slices(_numbers(4, 2)))),
    'batch': lambda: data.range(7).batch(3),
    'batch without remainder': lambda: data.range(7).batch(3, drop_remainder=True),
    'batch of strings': lambda: data.from_tensor_slices([b'a', b'bc', b'']).batch(2),
    'batch of different shapes': lambda: data.range(1, 4).map(lambda x: tf.zeros([x // 2])).batch(3),
    'unbatch': lambda: data.from_tensor_slices((_numbers(2, 3, 2), _numbers(2, 3))).unbatch(),
    'prefetch': lambda: data.range(3).prefetch(2),
    'map': lambda: data.range(4).map(lambda x: (x * x, tf.strings.as_string(x))),
    'map in parallel': lambda: data.range(4).map(lambda x: x + 1, num_parallel_calls=3),
    'map with captured tensors': lambda: _captured(),
    'map that fails': lambda: data.range(4).map(lambda x: 6 // (2 - x)),
    'map and batch': lambda: data.range(5).map(lambda x: x + 1).batch(2),
    'filter': lambda: data.range(9).filter(lambda x: x % 3 == 1),
    'filter out all': lambda: data.range(9).filter(lambda x: x > 10),
    'flat map': lambda: data.range(4).flat_map(lambda x: data.range(x).map(lambda y: y + 10 * x)),
    'flat map of nothing': lambda: data.range(3).flat_map(lambda x: data.range(0)),
    'interleave': lambda: data.range(1, 5).interleave(lambda x: data.from_tensors(x).repeat(x + 2), cycle_length=2, block_length=3),
    'interleave many': lambda: data.range(3).interleave(lambda x: data.range(10 * x, 10 * x + 3), cycle_length=7, block_length=1),
    'interleave in parallel': lambda: data.range(4).interleave(lambda x: data.range(x).map(lambda y: y + 10 * x), cycle_length=3, block_length=2,
                                                               num_parallel_calls=2),
    'nested': lambda: data.range(6).map(lambda x: x * 2).filter(lambda x: x > 1).batch(2).repeat(2).map(lambda x: tf.reduce_sum(x)),
    'options': lambda: data.range(3).with_options(tf.data.Options()),
}


# TensorFlow 2's words tell how it has rewritten the dataset. These are 1.15's.
MESSAGES = {
    'batch of different shapes': 'Cannot batch tensors with different shapes in component 0. First element had shape [0] and element 1 had shape [1].',
    'map that fails': lambda words: words.rsplit(': ', 1)[1],
}


def _captured():
    offset = tf.constant(100, tf.int64)
    return data.range(3).map(lambda x: x + offset)
