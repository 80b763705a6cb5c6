"""Input pipelines of TensorFlow 1: datasets and iterators in graphs, as tf.compat.v1.data writes them."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
data = tf1.data.Dataset


def cases(golden):
    for name, make in ONE_SHOT.items():
        _pipeline(golden, name, make)
    _initializable(golden)
    _reinitializable(golden)
    _feedable(golden)
    _variables(golden)
    _whole(golden)
    with golden.graph('an iterator that finds nothing ends with its step', threads=1) as case:
        following = tf1.data.make_one_shot_iterator(data.range(2**60).filter(lambda x: x < 0)).get_next(name='next')
        case.freeze()
        case.record_code({}, [following.name], [], tf.errors.DEADLINE_EXCEEDED)


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
    'shuffle': lambda: data.range(9).shuffle(4, seed=3),
    'shuffle all': lambda: data.range(6).shuffle(100, seed=7),
    'shuffle again and again': lambda: data.range(5).shuffle(3, seed=3).repeat(3),
    'shuffle the same': lambda: data.range(5).shuffle(5, seed=3, reshuffle_each_iteration=False).repeat(2),
    'shuffle nothing': lambda: data.range(0).shuffle(5, seed=3).repeat(),
    'cache': lambda: data.range(4).cache().repeat(2),
    'cache random numbers': lambda: data.range(4).shuffle(4, seed=5).cache().repeat(2),
    'padded batch': lambda: data.range(1, 6).map(lambda x: (tf.fill([x, 2], x), tf.fill([x], 'a'))).padded_batch(
        2, ([-1, 3], [None]), (tf.constant(-1, tf.int64), 'pad')),
    'padded batch without remainder': lambda: data.range(5).map(lambda x: tf.ones([x])).padded_batch(2, [4], drop_remainder=True),
    'padded batch too small': lambda: data.range(4).map(lambda x: tf.ones([x])).padded_batch(4, [2]),
    'windows': lambda: data.range(7).window(3).flat_map(lambda x: x.batch(5)),
    'windows with shift and stride': lambda: data.range(9).window(3, 2, 2, True).flat_map(lambda x: x.batch(5)),
    'windows far apart': lambda: data.range(20).window(2, 5).flat_map(lambda x: x.batch(2)),
    'windows of pairs': lambda: data.zip((data.range(5), data.range(10, 15))).window(2).flat_map(lambda x, y: data.zip((x, y))),
    'scan': lambda: data.range(1, 6).scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total * x)),
    'map and batch at once': lambda: data.range(5).apply(tf.data.experimental.map_and_batch(lambda x: (x, x + 1), 2)),
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


def _initializable(golden):
    """The dataset depends on a placeholder; the second initialization begins again."""
    with golden.graph('initializable', threads=1) as case:
        size = tf1.placeholder(tf.int64, [], 'size')
        iterator = tf1.data.make_initializable_iterator(data.range(size).map(lambda x: x * size))
        following = {'out:0': tf.identity(iterator.get_next(), 'out')}
        case.freeze()
        case.step(following)  # not initialized yet
        for value, steps in ((2, 3), (3, 1), (1, 2)):
            case.step({}, {size: np.int64(value)}, targets=[iterator.initializer])
            for _ in range(steps):
                case.step(following)


def _reinitializable(golden):
    with golden.graph('reinitializable', threads=1) as case:
        training, validation = data.from_tensor_slices(_numbers(4, 2)), data.from_tensor_slices(_numbers(2, 2) - 10)
        iterator = tf1.data.Iterator.from_structure(tf1.data.get_output_types(training), tf1.data.get_output_shapes(training))
        initializers = [iterator.make_initializer(training), iterator.make_initializer(validation)]
        wrong = tf.raw_ops.MakeIterator(dataset=data.range(3)._variant_tensor, iterator=iterator._iterator_resource, name='wrong')
        following = {'out:0': tf.identity(iterator.get_next(), 'out')}
        case.freeze()
        for initializer, steps in ((initializers[0], 2), (initializers[1], 3), (initializers[0], 5)):
            case.step({}, targets=[initializer])
            for _ in range(steps):
                case.step(following)
        case.step({}, targets=[wrong])


def _feedable(golden):
    """One step fetches the handles of both iterators as strings, and selects between them."""
    with golden.graph('feedable', threads=1) as case:
        first, second = (tf1.data.make_one_shot_iterator(dataset) for dataset in (data.range(5), data.range(10, 15)))
        chosen = tf1.placeholder(tf.bool, [], 'chosen')
        handle = tf.where(chosen, first.string_handle(), second.string_handle())
        iterator = tf1.data.Iterator.from_string_handle(handle, tf.int64, tf.TensorShape([]))
        following = {'out:0': tf.identity(iterator.get_next(), 'out')}
        for value in (True, False, False, True):
            case.step(following, {chosen: np.array(value)})


def _variables(golden):
    """Functions of a dataset capture the handles of a variable and of a table."""
    with golden.graph('captured resources', threads=1) as case:
        variable = tf1.get_variable('variable', initializer=tf.constant(10, tf.int64), use_resource=True)
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), ['zero', 'one']), '?')
        dataset = data.range(4).map(lambda x: (x + variable.read_value(), table.lookup(x)))
        iterator = tf1.data.make_initializable_iterator(dataset)
        values = iterator.get_next()
        following = {'sum:0': tf.identity(values[0], 'sum'), 'word:0': tf.identity(values[1], 'word')}
        add = tf.raw_ops.AssignAddVariableOp(resource=variable.handle, value=tf.constant(5, tf.int64), name='add')
        case.step({}, targets=[variable.initializer, table._init_op])
        case.step({}, targets=[iterator.initializer])
        case.step(following)
        case.step({}, targets=[add])
        case.step({}, targets=[iterator.initializer])  # TensorFlow reads ahead
        for _ in range(5):
            case.step(following)


def _whole(golden):
    """Datasets without iterators."""
    with golden.graph('reduce', threads=1) as case:
        total = data.range(5).reduce(tf.constant(0, tf.int64), lambda sum, x: sum + x)
        case.step({'out:0': tf.identity(total, 'out')})
    for size in (0, 1, 2):
        with golden.graph(f'single element of {size}', threads=1) as case:
            case.step({'out:0': tf.identity(tf.data.experimental.get_single_element(data.range(size)), 'out')})
    for name, make in {'range': lambda: data.range(7, 0, -2), 'repeat': lambda: data.range(3).repeat(), 'filter': lambda: data.range(3).filter(lambda x: x > 1),
                       'batch': lambda: data.range(7).batch(3), 'zip': lambda: data.zip((data.range(3), data.range(3).repeat())),
                       'take': lambda: data.range(3).repeat().take(5), 'skip': lambda: data.range(7).skip(2)}.items():
        with golden.graph(f'cardinality, {name}', threads=1) as case:
            case.step({'out:0': tf.identity(tf.data.experimental.cardinality(make()), 'out')})
    with golden.graph('optional', threads=1) as case:
        optional = tf.raw_ops.IteratorGetNextAsOptional(iterator=tf1.data.make_one_shot_iterator(data.range(1))._iterator_resource, output_types=[tf.int64], output_shapes=[[]])
        there = tf.raw_ops.OptionalHasValue(optional=optional, name="there")
        for _ in range(2):
            case.step({'there:0': there})
