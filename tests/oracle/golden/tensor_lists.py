"""Lists of tensors whose rows are gathered and scattered, whose items are joined and split, and lists that are joined and resized."""
import numpy as np
import tensorflow as tf

from control_flow import CLOSE, fails, gives, record
from writer import tf1

raw = tf.raw_ops


def cases(golden):
    record(golden, [_gathered, _gathered_zeros, _gathered_strings, _gathered_nothing, _scattered, _scattered_into_length, _scattered_into_list,
                    _concatenated, _concatenated_zeros, _concatenated_empty, _split, _pushed, _joined, _resized], shortens=True)
    record(golden, [_gradient_of_gather, _gradient_of_scatter, _gradient_of_scatter_into_list, _gradient_of_concat, _gradient_of_split,
                    _gradient_of_resize, _gradient_of_tensor_array], shortens=True)
    for build in [_refuse_gather, _refuse_scatter, _refuse_scatter_into_list, _refuse_concat, _refuse_split, _refuse_joins]:
        build(golden)


def _list(x, shape=-1):
    return raw.TensorListFromTensor(tensor=x, element_shape=tf.constant(shape, tf.int32))


def _reserve(shape, length):
    return raw.TensorListReserve(element_shape=tf.constant(shape, tf.int32), num_elements=length, element_dtype=tf.float32)


def _gather(handle, indices, shape=-1, dtype=tf.float32):
    return raw.TensorListGather(input_handle=handle, indices=indices, element_shape=tf.constant(shape, tf.int32), element_dtype=dtype)


def _scatter(x, indices, shape=-1):
    return raw.TensorListScatter(tensor=x, indices=indices, element_shape=tf.constant(shape, tf.int32))


def _scatter_v2(x, indices, length, shape=-1):
    return raw.TensorListScatterV2(tensor=x, indices=indices, element_shape=tf.constant(shape, tf.int32), num_elements=length)


def _into(handle, x, indices):
    return raw.TensorListScatterIntoExistingList(input_handle=handle, tensor=x, indices=indices)


def _concat(handle, shape=None, dtype=tf.float32):
    return raw.TensorListConcat(input_handle=handle, element_dtype=dtype, element_shape=tf.TensorShape(shape))


def _concat_v2(handle, shape=-1, leading=(), dtype=tf.float32):
    return raw.TensorListConcatV2(input_handle=handle, element_dtype=dtype, element_shape=tf.constant(shape, tf.int32),
                                  leading_dims=tf.constant(leading, tf.int64))


def _cut(x, lengths, shape=-1):
    return raw.TensorListSplit(tensor=x, element_shape=tf.constant(shape, tf.int32), lengths=tf.constant(lengths, tf.int64))


def _stack(handle, shape=-1):
    return raw.TensorListStack(input_handle=handle, element_shape=tf.constant(shape, tf.int32), element_dtype=tf.float32)


def _length(handle):
    return raw.TensorListLength(input_handle=handle)


def _matrix(rows=3):
    return tf1.placeholder(np.float32, [None, 2], 'x'), np.arange(1, 2 * rows + 1, dtype=np.float32).reshape(rows, 2)


def _gathered(case, random):
    """gathered items"""
    x, value = _matrix()
    i = tf1.placeholder(np.int32, None, 'i')
    made = [_gather(_list(x), i), _gather(_list(x, [2]), i, [-1])]
    gives(case, made, {x: value, i: np.int32([2, 0, 2])})
    gives(case, made, {x: value, i: np.int32([[1], [0]])})


def _gathered_zeros(case, random):
    """items that are not initialised are gathered as zeros"""
    x, value = _matrix(1)
    made = _into(_reserve(-1, 3), x, [1])
    gives(case, _gather(made, [0, 1, 2]), {x: value})


def _gathered_strings(case, random):
    """gathered strings"""
    words = tf1.placeholder(tf.string, [None], 'words')
    handle = raw.TensorListFromTensor(tensor=words, element_shape=-1)
    gives(case, _gather(handle, [1, 1, 0], dtype=tf.string), {words: np.array([b'a', b'bc'], object)})


def _gathered_nothing(case, random):
    """no item of a known shape is gathered"""
    x, value = _matrix()
    gives(case, _gather(_list(x, [2]), np.int32([])), {x: value})


def _scattered(case, random):
    """scattered rows"""
    x, value = _matrix()
    made = _scatter(x, [4, 0, 1], [2])
    gives(case, [_stack(made), _length(made)], {x: value})


def _scattered_into_length(case, random):
    """scattered rows of a list with a length"""
    x, value = _matrix(2)
    made, free = _scatter_v2(x, [2, 1], 5), _scatter_v2(x, [2, 1], -1)
    gives(case, [_stack(made), _length(made), _length(free)], {x: value})


def _scattered_into_list(case, random):
    """rows are scattered into a list, which may grow"""
    x, value = _matrix()
    made, longer = _into(_list(x), x[:2], [2, 0]), _into(_list(x), x[:2], [5, 0])
    gives(case, [_stack(made), _gather(longer, [5, 1, 0]), _length(longer)], {x: value})


def _uneven(x):
    """A list of items with one and two rows."""
    made = raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.float32)
    made = raw.TensorListPushBack(input_handle=made, tensor=x[:1])
    return raw.TensorListPushBack(input_handle=made, tensor=x[1:])


def _concatenated(case, random):
    """concatenated items"""
    x, value = _matrix()
    made = [*_concat(_uneven(x)), *_concat_v2(_uneven(x)), *_concat_v2(_uneven(x), [-1, 2])]
    gives(case, made, {x: value})


def _concatenated_zeros(case, random):
    """items that are not initialised are concatenated as zeros"""
    x, value = _matrix(2)
    some = _into(_reserve(-1, 3), tf.reshape(x, [2, 1, 2]), [0, 2])
    gives(case, [*_concat(some), *_concat_v2(some), *_concat_v2(some, -1, [7, 2]), *_concat_v2(_reserve([2, 3], 2))], {x: value})


def _concatenated_empty(case, random):
    """no items are concatenated"""
    x, value = _matrix(0)
    gives(case, [*_concat_v2(_reserve([-1, 3], 0)), *_concat(_list(x), [None, 3])], {x: value})


def _split(case, random):
    """a matrix is split into items"""
    x, value = _matrix()
    made = _cut(x, [2, 0, 1], [-1, 2])
    shape = raw.TensorListElementShape(input_handle=made, shape_type=tf.int64)
    gives(case, [raw.TensorListGetItem(input_handle=made, index=i, element_shape=-1, element_dtype=tf.float32) for i in range(3)] + [shape], {x: value})


def _pushed(case, random):
    """rows are pushed on several lists"""
    x, value = _matrix()
    made = raw.TensorListPushBackBatch(input_handles=tf.stack([_list(x), _list(x[:1])]), tensor=x[1:] * 10)
    gives(case, [_stack(made[0]), _stack(made[1])], {x: value})


def _joined(case, random):
    """lists are joined"""
    x, value = _matrix()
    made = raw.TensorListConcatLists(input_a=_list(x, [2]), input_b=_reserve([2], 2), element_dtype=tf.float32)
    several = raw.TensorListConcatLists(input_a=tf.stack([_list(x), _list(x[1:])]), input_b=tf.stack([_list(x[:1]), _list(x)]),
                                        element_dtype=tf.float32)
    gives(case, [_stack(made), _stack(several[0]), _stack(several[1])], {x: value})


def _resized(case, random):
    """lists are resized"""
    x, value = _matrix()
    gives(case, [_stack(raw.TensorListResize(input_handle=_list(x), size=size)) for size in [2, 3, 5]], {x: value})


def _gradient(case, random, build):
    x, value = _matrix()
    y = build(x)
    dy = tf1.placeholder(np.float32, [None, None], 'dy')
    case.freeze()
    dx, = case.add_gradients([y], [x], [dy])
    given = random.standard_normal(case.run(y, {x: value}).shape).astype(np.float32)
    case.step({f'{case.name_of(y.op)}:{y.value_index}': y, 'dx:0': dx}, {x: value, dy: given}, tolerance=CLOSE)
    case.expect_success()


def _gradient_of_gather(case, random):
    """gradient of gathered items"""
    _gradient(case, random, lambda x: _gather(_list(x), [2, 0]))


def _gradient_of_scatter(case, random):
    """gradient of scattered rows"""
    _gradient(case, random, lambda x: _stack(_scatter(x, [3, 0, 1])) * _stack(_scatter_v2(x, [1, 3, 0], 4)))


def _gradient_of_scatter_into_list(case, random):
    """gradient of rows scattered into a list"""
    _gradient(case, random, lambda x: _stack(_into(_list(x), x[:2] * 3, [2, 0])))


def _gradient_of_concat(case, random):
    """gradient of concatenated items"""
    _gradient(case, random, lambda x: _concat(_uneven(x))[0] * _concat_v2(_uneven(x * 2))[0])


def _gradient_of_split(case, random):
    """gradient of a matrix that is split"""
    _gradient(case, random, lambda x: raw.TensorListGetItem(input_handle=_cut(x, [2, 1]), index=0, element_shape=-1, element_dtype=tf.float32))


def _gradient_of_resize(case, random):
    """gradient of a list that is resized"""
    _gradient(case, random, lambda x: _stack(raw.TensorListResize(input_handle=_list(x), size=2)))


def _gradient_of_tensor_array(case, random):
    """TensorArrays of TensorFlow 2 with their gradients"""
    tf1.enable_control_flow_v2()

    def build(x):
        array = tf.TensorArray(tf.float32, size=3, element_shape=[2]).scatter([2, 0, 1], x)
        return array.gather([0, 2]) * tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2]).concat()[:2]
    _gradient(case, random, build)


def _refuse(golden, what, results):
    """A case for each of the functions, which give tensors."""
    for number, build in enumerate(results):
        def refused(case, random, build=build):
            x = tf1.placeholder(np.float32, None, 'x')
            fails(case, build(x), {x: np.float32([[1, 2], [3, 4]])})
        refused.__doc__ = f'{what} {number} refused'
        record(golden, [refused], shortens=True)


def _refuse_gather(golden):
    _refuse(golden, 'TensorListGather', [
        lambda x: _gather(_list(x), [-1]), lambda x: _gather(_list(x), [2]), lambda x: _gather(_list(x, [2]), [0, 2]),
        lambda x: _gather(_list(x), np.int32([])), lambda x: _gather(_reserve(-1, 2), [0]), lambda x: _gather(_list(x), [0], [3]),
        lambda x: _gather(_list(x), [0], [3, 3]), lambda x: _gather(raw.TensorListPushBack(input_handle=_list(x), tensor=x[0, :1]), [0, 2])])


def _refuse_scatter(golden):
    _refuse(golden, 'TensorListScatter', [
        lambda x: _length(_scatter(x, [0, -1])), lambda x: _length(_scatter(x, [0])), lambda x: _length(_scatter(x[0, 0], [0])),
        lambda x: _length(_scatter(x, [0, 1], [3])), lambda x: _length(_scatter_v2(x, [0, 2], 2)), lambda x: _length(_scatter_v2(x, [0, 1], -2)),
        lambda x: _length(_scatter_v2(x, [0, 1], [2]))])


def _refuse_scatter_into_list(golden):
    _refuse(golden, 'TensorListScatterIntoExistingList', [
        lambda x: _length(_into(_list(x), x[0, 0], [0])), lambda x: _length(_into(_list(x), x, tf1.placeholder_with_default([[0, 1]], None))),
        lambda x: _length(_into(_list(x), x, [0])), lambda x: _length(_into(tf1.placeholder_with_default(_list(x), None), tf.cast(x, tf.int32), [0, 1]))])


def _refuse_concat(golden):
    _refuse(golden, 'TensorListConcat', [
        lambda x: _concat(_list(x[:0]))[0], lambda x: _concat(_list(x[0]))[0], lambda x: _concat(_list(x, [2]))[0], lambda x: _concat(_reserve(-1, 2))[0],
        lambda x: _concat(_list(x), [None, 3])[0], lambda x: _concat_v2(_list(x[0], []))[0], lambda x: _concat_v2(_list(x), [3])[0],
        lambda x: _concat_v2(_list(x), [-1, 3])[0], lambda x: _concat_v2(_reserve([-1, 2], 2))[0], lambda x: _concat_v2(_reserve([-1, 2], 2), -1, [1])[0],
        lambda x: _concat(raw.TensorListResize(input_handle=_uneven(tf.concat([x, x], 0)), size=3))[0]])


def _refuse_split(golden):
    _refuse(golden, 'TensorListSplit', [
        lambda x: _length(_cut(x[0, 0], [1])), lambda x: _length(_cut(x, [1, 1], [])), lambda x: _length(_cut(x, [1, 1], [-1, 3])),
        lambda x: _length(_cut(x, [1])), lambda x: _length(_cut(x, [1, 2])), lambda x: _length(_cut(x, [3, -1])), lambda x: _length(_cut(x, [-1, 3])),
        lambda x: _length(_cut(x, [1, 1], [1]))])


def _refuse_joins(golden):
    def pushed(handles, x):
        return raw.TensorListPushBackBatch(input_handles=tf1.placeholder_with_default(handles, None), tensor=x)

    def joined(a, b, dtype=tf.float32):
        return raw.TensorListConcatLists(input_a=tf1.placeholder_with_default(a, None), input_b=tf1.placeholder_with_default(b, None), element_dtype=dtype)
    _refuse(golden, 'a change of lists', [
        lambda x: _length(raw.TensorListResize(input_handle=_list(x), size=-1)),
        lambda x: _length(pushed(_list(x), x)), lambda x: _length(pushed([_list(x)], x[0, 0])[0]), lambda x: _length(pushed([_list(x)], x)[0]),
        lambda x: _length(pushed([_list(x)], tf.cast(x[:1], tf.int32))[0]), lambda x: _length(pushed([_list(x, [2])], x[:1, :1])[0]),
        lambda x: _length(joined(_list(x), [_list(x)])), lambda x: _length(joined(_list(x), _list(x), tf.int32)),
        lambda x: _length(joined(_list(x), _list(tf.cast(x, tf.int32)))), lambda x: _length(joined(_list(x, [2]), _list(x, [-1])))])
