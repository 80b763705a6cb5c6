"""TensorArrays and stacks: alone, in loops, in map_fn, scan, foldl and foldr, with the gradients that TensorFlow 1.x writes."""
import numpy as np
import tensorflow as tf

from control_flow import CLOSE, allow_all_fetches, fails, gives, record
from writer import tf1

raw = tf.raw_ops


def cases(golden):
    record(golden, [_written, _stacked, _unstacked, _scattered, _gathered, _split, _concatenated, _empty_rows, _sizes, _dynamic, _kept, _closed, _types,
                    _gradient_of_reads, _gradient_twice, _gradient_of_stack, _gradient_of_gather, _gradient_of_concat, _gradient_of_split,
                    _second_gradient, _grad_with_shape, _loop, _growing_in_loop, _dynamic_in_loop], shortens=True)
    record(golden, [_map_fn, _map_fn_of_two, _map_fn_gradient, _map_fn_in_map_fn, _scan, _scan_reverse, _scan_gradient, _foldl, _foldr, _fold_gradients,
                    _map_of_no_rows, _functional_in_cond], shortens=True)
    record(golden, [_stack, _stack_of_references, _stack_full, _stack_in_loop, _stack_types, _stack_closed], shortens=True)
    record(golden, [_read_twice, _write_twice, _out_of_bounds, _unwritten, _other_type, _other_shape, _split_lengths, _unequal_stack, _unequal_concat, _closed_read,
                    _vector_index, _negative_size, _missing_gradient, _no_elements], shortens=True)


def _array(x, size=3, **options):
    return tf.TensorArray(x.dtype, size=size, **options)


def _vector():
    return tf1.placeholder(np.float32, [3], 'x')


X = np.float32([1, -2, 3])


def _written(case, random):
    """what is written is read"""
    x = _vector()
    ta = _array(x).write(0, x).write(2, x * 2).write(1, x + 1)
    gives(case, [ta.read(2), ta.read(1), ta.read(0)], {x: X})


def _stacked(case, random):
    """elements are stacked"""
    x = _vector()
    ta = _array(x).write(0, x).write(2, x * 2).write(1, x + 1)
    gives(case, ta.stack(), {x: X})


def _unstacked(case, random):
    """a matrix is unstacked"""
    x = tf1.placeholder(np.float32, [None, 2], 'x')
    ta = _array(x, tf1.shape(x)[0]).unstack(x)
    value = random.standard_normal((4, 2)).astype(np.float32)
    gives(case, [ta.read(3), ta.size()], {x: value})
    gives(case, ta.size(), {x: np.zeros((0, 2), np.float32)})


def _scattered(case, random):
    """rows are scattered"""
    x, i = tf1.placeholder(np.int32, [3, 2], 'x'), tf1.placeholder(np.int32, [3], 'i')
    ta = _array(x).scatter(i, x)
    gives(case, [ta.stack()], {x: np.int32([[1, 2], [3, 4], [5, 6]]), i: np.int32([2, 0, 1])})


def _gathered(case, random):
    """elements are gathered"""
    x, i = tf1.placeholder(np.float64, [4, 2], 'x'), tf1.placeholder(np.int32, [None], 'i')
    ta = _array(x, 4, clear_after_read=False).unstack(x)
    gathered = ta.gather(i)
    for indices in ([3, 0], [1, 1, 2], [2]):
        gives(case, gathered, {x: random.standard_normal((4, 2)), i: np.int32(indices)})


def _split(case, random):
    """rows are split by lengths"""
    x, lengths = tf1.placeholder(np.float32, [None, 2], 'x'), tf1.placeholder(np.int64, [3], 'lengths')
    ta = _array(x, infer_shape=False).split(x, lengths)
    gives(case, [ta.read(0), ta.read(1), ta.read(2)], {x: random.standard_normal((6, 2)).astype(np.float32), lengths: np.int64([2, 0, 4])})


def _concatenated(case, random):
    """elements of different lengths are concatenated"""
    x = tf1.placeholder(np.float32, [None, 2], 'x')
    ta = _array(x, infer_shape=False).write(0, x).write(1, x[:1]).write(2, x[1:])
    value, lengths = raw.TensorArrayConcatV3(handle=ta.handle, flow_in=ta.flow, dtype=tf.float32)
    gives(case, [value, lengths], {x: random.standard_normal((3, 2)).astype(np.float32)})


def _empty_rows(case, random):
    """elements without rows are concatenated"""
    x = tf1.placeholder(np.float32, [None, 2], 'x')
    ta = _array(x, 2, infer_shape=False).write(0, x).write(1, x)
    gives(case, ta.concat(), {x: np.zeros((0, 2), np.float32)})


def _sizes(case, random):
    """the size of an array"""
    n = tf1.placeholder(np.int32, [], 'n')
    ta = tf.TensorArray(tf.float32, n)
    size = raw.TensorArraySizeV3(handle=ta.handle, flow_in=ta.flow)
    for count in (0, 7):
        gives(case, size, {n: np.int32(count)})


def _dynamic(case, random):
    """an array that grows"""
    x = _vector()
    ta = _array(x, 0, dynamic_size=True).write(1, x).write(4, x + 1)
    gives(case, [ta.size(), ta.read(4), ta.read(1)], {x: X})


def _kept(case, random):
    """elements that are read more than once"""
    x = _vector()
    ta = _array(x, 1, clear_after_read=False).write(0, x)
    first = ta.read(0)
    with tf1.control_dependencies([first]):
        gives(case, [first, ta.read(0), ta.stack()], {x: X})


def _closed(case, random):
    """an array is closed"""
    x = _vector()
    ta = _array(x).write(0, x)
    y = ta.read(0)
    with tf1.control_dependencies([y]):
        closed = ta.close()
    gives(case, y, {x: X}, targets=[closed])


def _types(case, random):
    """arrays of other types"""
    fetches, feeds = [], {}
    values = [np.array([True, False]), np.array([b'a', b'bc'], object), np.complex64([1 + 2j, -1j]), np.int64([5, -7]), np.float16([1, 2])]
    for i, value in enumerate(values):
        x = tf1.placeholder(tf.string if value.dtype == object else value.dtype, [2], f'x{i}')
        feeds[x] = value
        ta = _array(x, 2).write(0, x).write(1, tf1.reverse(x, [0]))
        fetches.append(ta.stack())
    gives(case, fetches, feeds)


def _gradient_of_reads(case, random):
    """the gradient of reads and writes"""
    x = _vector()
    ta = _array(x).write(0, x).write(1, x * x).write(2, tf1.exp(x))
    y = ta.read(0) * 3 + ta.read(1) * ta.read(2)
    gives(case, [y, *tf1.gradients(y, x)], {x: X}, tolerance=CLOSE)


def _gradient_twice(case, random):
    """gradients of several reads of one element are added"""
    x = _vector()
    ta = _array(x, 1, clear_after_read=False).write(0, x)
    y = ta.read(0) * ta.read(0) + ta.stack()[0]
    gives(case, [y, *tf1.gradients(y, x)], {x: X}, tolerance=CLOSE)


def _gradient_of_stack(case, random):
    """the gradient of unstack and stack"""
    x = tf1.placeholder(np.float32, [3, 2], 'x')
    ta = _array(x).unstack(x)
    other = _array(x)
    for i in range(3):
        other = other.write(i, ta.read(2 - i) * (i + 1))
    y = other.stack()
    value = random.standard_normal((3, 2)).astype(np.float32)
    gives(case, [y, *tf1.gradients(y * y, x)], {x: value}, tolerance=CLOSE)


def _gradient_of_gather(case, random):
    """the gradient of scatter and gather"""
    x = tf1.placeholder(np.float64, [3, 2], 'x')
    ta = _array(x, 4, clear_after_read=False).scatter([3, 0, 2], x)
    y = ta.gather([2, 3]) * tf.constant([[1.0], [2.0]], tf.float64)
    gives(case, [y, *tf1.gradients(y * y, x)], {x: random.standard_normal((3, 2))}, tolerance=CLOSE)


def _gradient_of_concat(case, random):
    """the gradient of a concatenation"""
    x = tf1.placeholder(np.float32, [3, 2], 'x')
    ta = _array(x, 2, infer_shape=False).write(0, x).write(1, x[1:] * 2)
    y = ta.concat()
    gives(case, [y, *tf1.gradients(y * y, x)], {x: random.standard_normal((3, 2)).astype(np.float32)}, tolerance=CLOSE)


def _gradient_of_split(case, random):
    """the gradient of a split"""
    x = tf1.placeholder(np.float32, [5, 2], 'x')
    ta = _array(x, 3, infer_shape=False).split(x, tf.constant([1, 0, 4], tf.int64))
    y = tf1.reduce_sum(ta.read(0)) * 2 + tf1.reduce_sum(ta.read(2) ** 2) + tf1.reduce_sum(ta.read(1))
    gives(case, [y, *tf1.gradients(y, x)], {x: random.standard_normal((5, 2)).astype(np.float32)}, tolerance=CLOSE)


def _second_gradient(case, random):
    """the second derivative through an array, which TensorFlow does not have"""
    x = _vector()
    ta = _array(x, 2).write(0, x * x).write(1, tf1.sin(x))
    y = ta.read(0) * ta.read(1)
    first = tf1.gradients(y, x)[0]
    second = tf1.gradients(first, x)
    gives(case, first, {x: X}, tolerance=CLOSE)
    fails(case, second, {x: X}, part='Wrong input container. _tensor_array_grads')


def _grad_with_shape(case, random):
    """an array of gradients with a shape in front"""
    x = tf1.placeholder(np.float32, [2, 3], 'x')
    ta = _array(x, 2).write(0, x[0]).write(1, x[1])
    handle, flow = raw.TensorArrayGradWithShape(handle=ta.handle, flow_in=ta.flow, shape_to_prepend=[2], source='wide')
    flow = raw.TensorArrayWriteV3(handle=handle, index=0, value=x, flow_in=flow)
    same, flow2 = raw.TensorArrayGradWithShape(handle=ta.handle, flow_in=flow, shape_to_prepend=[2], source='wide')
    flow2 = raw.TensorArrayWriteV3(handle=same, index=0, value=x * 10, flow_in=flow2)
    gives(case, [raw.TensorArrayReadV3(handle=same, index=0, flow_in=flow2, dtype=tf.float32), raw.TensorArraySizeV3(handle=handle, flow_in=flow)],
          {x: random.standard_normal((2, 3)).astype(np.float32)}, tolerance=CLOSE)


def _loop(case, random):
    """a loop that reads one array and writes another"""
    x = tf1.placeholder(np.float32, [None, 2], 'x')
    n = tf1.shape(x)[0]
    source = _array(x, n).unstack(x)
    loop = tf1.while_loop(lambda i, s, ta: i < n, lambda i, s, ta: (i + 1, s + source.read(i), ta.write(i, s * 2)), [tf.constant(0), tf.zeros([2]), _array(x, n)])
    y = loop[2].stack()
    for rows in (1, 5, 0):
        gives(case, [y, loop[1]], {x: random.standard_normal((rows, 2)).astype(np.float32)}, tolerance=CLOSE)


def _growing_in_loop(case, random):
    """a loop that writes elements of different lengths"""
    n = tf1.placeholder(np.int32, [], 'n')
    loop = tf1.while_loop(lambda i, ta: i < n, lambda i, ta: (i + 1, ta.write(i, tf1.range(i))),
                          [tf.constant(0), tf.TensorArray(tf.int32, n, infer_shape=False, element_shape=[None])])
    y = loop[1].concat()
    for count in (1, 4):
        gives(case, y, {n: np.int32(count)})


def _dynamic_in_loop(case, random):
    """a loop that makes an array longer, until a sum is reached"""
    limit = tf1.placeholder(np.float32, [], 'limit')
    loop = tf1.while_loop(lambda i, s, ta: s < limit, lambda i, s, ta: (i + 1, s + tf1.cast(i, tf.float32), ta.write(i, s)),
                          [tf.constant(0), tf.constant(0.0), tf.TensorArray(tf.float32, 0, dynamic_size=True)])
    y = loop[2].stack()
    for value in (5, 30):
        gives(case, [y, loop[0]], {limit: np.float32(value)})


# --- functions of rows ---

def _rows(case, random, count=4):
    x = tf1.placeholder(np.float32, [None, 3], 'x')
    return x, {x: random.standard_normal((count, 3)).astype(np.float32)}


def _map_fn(case, random):
    """map_fn"""
    x, feeds = _rows(case, random)
    gives(case, tf1.map_fn(lambda r: tf1.reduce_sum(r * r), x), feeds, tolerance=CLOSE)


def _map_fn_of_two(case, random):
    """map_fn of two tensors, to results of two types"""
    x, feeds = _rows(case, random)
    k = tf1.placeholder(np.int32, [None], 'k')
    y = tf1.map_fn(lambda row: (row[0] * tf1.cast(row[1], tf.float32), row[1] + 1), (x, k), dtype=(tf.float32, tf.int32), parallel_iterations=1)
    gives(case, y, {**feeds, k: np.int32([1, 0, 2, 5])}, tolerance=CLOSE)


def _map_fn_gradient(case, random):
    """the gradient of map_fn"""
    x, feeds = _rows(case, random)
    w = tf1.placeholder(np.float32, [3, 2], 'w')
    y = tf1.map_fn(lambda r: tf1.tanh(tf1.matmul([r], w)[0]), x)
    gives(case, [y, *tf1.gradients(y * y, [x, w])], {**feeds, w: random.standard_normal((3, 2)).astype(np.float32)}, tolerance=CLOSE)


def _map_fn_in_map_fn(case, random):
    """map_fn in map_fn, with its gradient"""
    x, feeds = _rows(case, random, 2)
    y = tf1.map_fn(lambda r: tf1.map_fn(lambda e: e * e * e, r), x)
    gives(case, [y, *tf1.gradients(y, x)], feeds, tolerance=CLOSE)


def _scan(case, random):
    """scan"""
    x, feeds = _rows(case, random)
    gives(case, tf1.scan(lambda a, r: a * 0.5 + r, x), feeds, tolerance=CLOSE)


def _scan_reverse(case, random):
    """scan from the end, with a beginning and two accumulators"""
    x, feeds = _rows(case, random)
    gives(case, tf1.scan(lambda a, r: (a[0] + r, tf1.maximum(a[1], r)), x, initializer=(tf.zeros([3]), tf.ones([3])), reverse=True), feeds, tolerance=CLOSE)


def _scan_gradient(case, random):
    """the gradient of scan"""
    x, feeds = _rows(case, random)
    start = tf1.placeholder(np.float32, [3], 'start')
    y = tf1.scan(lambda a, r: tf1.sin(a) * r + a, x, initializer=start)
    gives(case, [y, *tf1.gradients(y, [x, start])], {**feeds, start: X}, tolerance=CLOSE)


def _foldl(case, random):
    """foldl"""
    x, feeds = _rows(case, random)
    gives(case, tf1.foldl(lambda a, r: a * 2 + r, x), feeds, tolerance=CLOSE)


def _foldr(case, random):
    """foldr, with a beginning"""
    x, feeds = _rows(case, random)
    gives(case, tf1.foldr(lambda a, r: a * 2 - r, x, initializer=tf.ones([3])), feeds, tolerance=CLOSE)


def _fold_gradients(case, random):
    """the gradients of foldl and foldr"""
    x, feeds = _rows(case, random)
    y = tf1.foldl(lambda a, r: a * r, x) + tf1.foldr(lambda a, r: a * tf1.cos(r), x, initializer=tf.ones([3]))
    gives(case, [y, *tf1.gradients(y, x)], feeds, tolerance=CLOSE)


def _map_of_no_rows(case, random):
    """map_fn of no rows"""
    x, feeds = _rows(case, random, 0)
    gives(case, tf1.map_fn(lambda r: r * 2, x), feeds)


def _functional_in_cond(case, random):
    """map_fn in one branch, scan in the other, with their gradients"""
    x, feeds = _rows(case, random)
    p = tf1.placeholder(np.bool_, [], 'p')
    y = tf1.cond(p, lambda: tf1.map_fn(lambda r: r * r, x), lambda: tf1.scan(lambda a, r: a + r, x))
    fetches = [y, *tf1.gradients(y, x)]
    for value in (True, False):
        gives(case, fetches, {**feeds, p: np.bool_(value)}, tolerance=CLOSE)


# --- stacks ---

def _pushed(handle, values, after=()):
    """The results of pushing one after the other."""
    results = []
    for value in values:
        with tf1.control_dependencies([*after, *results[-1:]]):
            results.append(raw.StackPushV2(handle=handle, elem=value))
    return results


def _popped(handle, count, dtype, after):
    results = []
    for _ in range(count):
        with tf1.control_dependencies([*after, *results[-1:]]):
            results.append(raw.StackPopV2(handle=handle, elem_type=dtype))
    return results


def _stack(case, random):
    """a stack gives back what was pushed last"""
    x = _vector()
    handle = raw.StackV2(max_size=-1, elem_type=tf.float32)
    pushed = _pushed(handle, [x, x + 1, x * 2])
    gives(case, [*pushed[:1], *_popped(handle, 3, tf.float32, pushed)], {x: X})
    gives(case, pushed[:1], {x: X})


def _stack_of_references(case, random):
    """a stack of the older kind"""
    x = _vector()
    make = tf1.get_default_graph().create_op
    handle = make('Stack', [], [tf.as_dtype(tf.string)._as_ref], name='stack',
                  attrs={'elem_type': tf1.AttrValue(type=tf.float32.as_datatype_enum), 'stack_name': tf1.AttrValue(s=b'older')}).outputs[0]
    results = []
    for value in (x, x * 2):
        with tf1.control_dependencies(results[-1:]):
            results.append(make('StackPush', [handle, value], [tf.float32], input_types=[tf.as_dtype(tf.string)._as_ref, tf.float32]).outputs[0])
    for _ in range(2):
        with tf1.control_dependencies(results[-1:]):
            results.append(make('StackPop', [handle], [tf.float32], input_types=[tf.as_dtype(tf.string)._as_ref],
                                attrs={'elem_type': tf1.AttrValue(type=tf.float32.as_datatype_enum)}).outputs[0])
    with tf1.control_dependencies(results[-1:]):
        close = make('StackClose', [handle], [], input_types=[tf.as_dtype(tf.string)._as_ref])
    case.freeze()
    gives(case, results, {x: X}, targets=[close])


def _stack_full(case, random):
    """a stack holds as many as max_size says"""
    n, x = tf1.placeholder(np.int32, [], 'n'), _vector()
    handle = raw.StackV2(max_size=n, elem_type=tf.float32)
    pushed = _pushed(handle, [x, x])
    gives(case, pushed, {x: X, n: np.int32(2)})
    fails(case, pushed, {x: X, n: np.int32(1)})


def _stack_in_loop(case, random):
    """a loop fills a stack and another empties it"""
    x = _vector()
    handle = raw.StackV2(max_size=5, elem_type=tf.float32, stack_name='s')

    def push(i, y):
        with tf1.control_dependencies([raw.StackPushV2(handle=handle, elem=y)]):
            return i + 1, y * 2

    def pop(i, y):
        return i - 1, y * 0.5 + tf1.ensure_shape(raw.StackPopV2(handle=handle, elem_type=tf.float32), [3])
    filled = tf1.while_loop(lambda i, y: i < 5, push, [tf.constant(0), x], parallel_iterations=1)
    y = tf1.while_loop(lambda i, y: i > 0, pop, list(filled), parallel_iterations=1)
    gives(case, y, {x: X}, tolerance=CLOSE)


def _stack_types(case, random):
    """what is pushed must have the type of the stack"""
    handle = raw.StackV2(max_size=-1, elem_type=tf.int32)
    fails(case, raw.StackPushV2(handle=handle, elem=tf.constant(1.0)))


def _stack_closed(case, random):
    """an empty stack gives nothing, and a closed one takes nothing"""
    x = _vector()
    handle = raw.StackV2(max_size=-1, elem_type=tf.float32)
    empty = raw.StackPopV2(handle=handle, elem_type=tf.float32)
    pushed = raw.StackPushV2(handle=handle, elem=x)
    with tf1.control_dependencies([pushed]):
        close = raw.StackCloseV2(handle=handle)
    with tf1.control_dependencies([close]):
        late = raw.StackPushV2(handle=handle, elem=x)
    fails(case, empty)
    gives(case, pushed, {x: X}, targets=[close])
    fails(case, late, {x: X})


# --- arrays that fail ---

def _read_twice(case, random):
    """an element is read a second time"""
    x = _vector()
    ta = _array(x).write(0, x)
    first = ta.read(0)
    with tf1.control_dependencies([first]):
        second = ta.read(0)
    fails(case, second, {x: X})
    gives(case, first, {x: X})


def _write_twice(case, random):
    """an element is written a second time"""
    x = _vector()
    fails(case, _array(x).write(1, x).write(1, x).flow, {x: X})


def _out_of_bounds(case, random):
    """an index that an array does not have"""
    x, i, j = _vector(), tf1.placeholder(np.int32, [], 'i'), tf1.placeholder(np.int32, [], 'j')
    ta = _array(x).write(i, x)
    read = ta.read(j)
    gives(case, read, {x: X, i: np.int32(2), j: np.int32(2)})
    for i_value, j_value in ((3, 0), (-1, 0), (0, 3), (0, -1)):
        fails(case, read, {x: X, i: np.int32(i_value), j: np.int32(j_value)})


def _unwritten(case, random):
    """an element that was not written is read"""
    x = _vector()
    ta = _array(x, infer_shape=False).write(0, x)
    read, stacked = ta.read(1), ta.stack()
    fails(case, read, {x: X})
    fails(case, stacked, {x: X})


def _other_type(case, random):
    """elements of another type"""
    handle, flow = raw.TensorArrayV3(size=2, dtype=tf.float32)
    wrong = raw.TensorArrayWriteV3(handle=handle, index=0, value=tf.constant(1), flow_in=flow)
    flow = raw.TensorArrayWriteV3(handle=handle, index=0, value=tf.constant(1.0), flow_in=flow)
    read = raw.TensorArrayReadV3(handle=handle, index=0, flow_in=flow, dtype=tf.int32)
    gathered = raw.TensorArrayGatherV3(handle=handle, indices=[0], flow_in=flow, dtype=tf.int32)
    scattered = raw.TensorArrayScatterV3(handle=handle, indices=[1], value=tf.constant([2]), flow_in=flow)
    concat = raw.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=tf.int32)[0]
    split = raw.TensorArraySplitV3(handle=handle, value=tf.constant([2]), lengths=tf.constant([0, 1], tf.int64), flow_in=flow)
    for tensor in (wrong, read, gathered, scattered, concat, split):
        fails(case, tensor)


def _other_shape(case, random):
    """elements of another shape than the array's"""
    x, y = tf1.placeholder(np.float32, None, 'x'), tf1.placeholder(np.float32, None, 'y')
    handle, flow = raw.TensorArrayV3(size=2, dtype=tf.float32, element_shape=[None, 2])
    declared = raw.TensorArrayWriteV3(handle=handle, index=0, value=x, flow_in=flow)
    handle, flow = raw.TensorArrayV3(size=2, dtype=tf.float32, identical_element_shapes=True)
    flow = raw.TensorArrayWriteV3(handle=handle, index=0, value=x, flow_in=flow)
    identical = raw.TensorArrayWriteV3(handle=handle, index=1, value=y, flow_in=flow)
    gives(case, declared, {x: np.zeros((3, 2), np.float32)})
    fails(case, declared, {x: X})
    gives(case, identical, {x: X, y: X})
    fails(case, identical, {x: X, y: np.float32([1])})


def _split_lengths(case, random):
    """lengths that do not fit"""
    x, lengths = tf1.placeholder(np.float32, None, 'x'), tf1.placeholder(np.int64, None, 'lengths')
    handle, flow = raw.TensorArrayV3(size=2, dtype=tf.float32)
    flow = raw.TensorArraySplitV3(handle=handle, value=x, lengths=lengths, flow_in=flow)
    gives(case, flow, {x: X, lengths: np.int64([1, 2])})
    for value, sizes in ((X, [1, 1]), (X, [1, 1, 1]), (X, [4]), (np.float32(1), [0, 1]), (X, [[1, 2]])):  # negative ones abort TensorFlow
        fails(case, flow, {x: value, lengths: np.int64(sizes)})


def _unequal_stack(case, random):
    """elements of different shapes are stacked"""
    x = _vector()
    ta = _array(x, 2, infer_shape=False).write(0, x).write(1, x[:2])
    fails(case, ta.stack(), {x: X})


def _unequal_concat(case, random):
    """elements whose rows differ are concatenated"""
    x = tf1.placeholder(np.float32, None, 'x')
    y = tf1.placeholder(np.float32, None, 'y')
    z = _array(x, 2, infer_shape=False).write(0, x).write(1, y).concat()
    fails(case, z, {x: np.zeros((2, 2), np.float32), y: np.zeros((2, 3), np.float32)})
    fails(case, z, {x: np.float32(1), y: np.float32(1)})
    gives(case, z, {x: np.zeros((2, 2), np.float32), y: np.ones((1, 2), np.float32)})


def _closed_read(case, random):
    """a closed array is read"""
    x = _vector()
    ta = _array(x).write(0, x)
    with tf1.control_dependencies([ta.flow]):
        closed = ta.close()
    with tf1.control_dependencies([closed]):
        read = ta.read(0)
    fails(case, read, {x: X})


def _vector_index(case, random):
    """an index that is no scalar"""
    x, i, rows = _vector(), tf1.placeholder(np.int32, None, 'i'), tf1.placeholder(np.int32, None, 'rows')
    handle, flow = raw.TensorArrayV3(size=3, dtype=tf.float32)
    written = raw.TensorArrayWriteV3(handle=handle, index=i, value=x, flow_in=flow)
    gathered = raw.TensorArrayGatherV3(handle=handle, indices=rows, flow_in=written, dtype=tf.float32)
    fails(case, written, {x: X, i: np.int32([1])})
    for indices in ([[1]], 1, [3], [0, -1]):
        fails(case, gathered, {x: X, i: np.int32(1), rows: np.int32(indices)})
    gives(case, gathered, {x: X, i: np.int32(1), rows: np.int32([1])})


def _negative_size(case, random):
    """a size that no array has"""
    n = tf1.placeholder(np.int32, None, 'n')
    handle, flow = raw.TensorArrayV3(size=n, dtype=tf.float32)
    for size in (-1, [2]):
        fails(case, flow, {n: np.int32(size)})


def _missing_gradient(case, random):
    """gradients of elements that nothing was written to are zeros"""
    x = tf1.placeholder(np.float32, [3, 2], 'x')
    ta = _array(x, clear_after_read=False).unstack(x)
    y = ta.read(1) * 4
    gives(case, tf1.gradients(y, x), {x: np.ones((3, 2), np.float32)})


def _no_elements(case, random):
    """an array without elements is stacked and concatenated"""
    n = tf1.placeholder(np.int32, [], 'n')
    known, unknown = tf.TensorArray(tf.float32, n, element_shape=[2, 3]).stack(), tf.TensorArray(tf.float32, n, infer_shape=False)
    stacked, concat = unknown.stack(), unknown.concat()
    gives(case, known, {n: np.int32(0)})
    fails(case, stacked, {n: np.int32(0)})
    fails(case, concat, {n: np.int32(0)})
