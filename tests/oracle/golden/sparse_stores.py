"""Sparse tensors as strings and variants, and in maps."""
import numpy as np
import tensorflow as tf

I64, tf1 = np.int64, tf.compat.v1
INDICES, VALUES, SIZES = I64([[0, 1], [1, 0], [1, 2]]), np.float32([1, 2, 3]), I64([2, 3])
NAMES = ('sparse_indices', 'sparse_values', 'sparse_shape')


def cases(golden):
    _serialize(golden)
    _deserialize(golden)
    _maps(golden)


def _serialize(golden):
    for dtype in (np.float32, np.int8, np.complex64, object):
        values = np.array([b'a', b'', b'x' * 40], object) if dtype is object else VALUES.astype(dtype)
        golden.op('SerializeSparse', [INDICES, values, SIZES])
        golden.op('SerializeManySparse', [INDICES, values, SIZES])
    golden.op('SerializeManySparse', [np.zeros((0, 3), I64), VALUES[:0], I64([2, 3, 4])])
    golden.op('SerializeManySparse', [np.zeros((0, 2), I64), VALUES[:0], I64([0, 3])])
    golden.op('SerializeSparse', [INDICES, VALUES[:1], I64([-2])])
    for at, wrong in ((0, [0]), (1, [[1]]), (2, 2)):
        golden.fails('SerializeSparse', _with(at, wrong), name=f'{at} {wrong}')
    for at, wrong in ((0, [0]), (1, [[1]]), (2, 2), (1, [1]), (2, [2]), (0, [[0, 1], [1, 0], [5, 2]]), (0, [[1, 1], [1, 0], [0, 2]]), (2, [-2, 3]), (2, [2**40, 2**40])):
        golden.fails('SerializeManySparse', _with(at, wrong), name=f'{at} {wrong}')


def _with(at, wrong):
    return [np.asarray(wrong, old.dtype) if i == at else old for i, old in enumerate((INDICES, VALUES, SIZES))]


def _proto(x):
    return tf.make_tensor_proto(x).SerializeToString()


def _row(indices, values, sizes):
    return [_proto(I64(indices)), _proto(values), _proto(I64(sizes))]


def _strings(rows):
    made = np.empty(np.shape(rows), object)
    made[...] = rows
    return made


def _deserialize(golden):
    one, other = _row([[0], [2]], np.float32([1, 2]), [3]), _row([[4]], np.float32([3]), [5])
    for rows in ([one, other], [other], [one, other, one]):
        golden.op('DeserializeManySparse', [_strings(rows)], {'dtype': tf.float32})
        golden.op('DeserializeSparse', [_strings(rows)], {'dtype': tf.float32})
    golden.op('DeserializeSparse', [_strings(one)], {'dtype': tf.float32})
    golden.op('DeserializeSparse', [_strings([[one, other], [other, other]])], {'dtype': tf.float32})
    golden.op('DeserializeSparse', [_strings(_row([[9]], np.float32([1]), [-2]))], {'dtype': tf.float32})
    golden.op('DeserializeSparse', [_strings(_row(np.zeros((1, 0)), np.array([b'a'], object), []))], {'dtype': tf.string})
    wrong = [[one, _row([[0, 0]], np.float32([1]), [2, 2])], [_row([0], np.float32([1]), [2])], [_row([[0]], np.float32([[1]]), [2])], [_row([[0]], np.float32([1]), 2)], [_row([[0]], np.float32([1, 2]), [2])],
             [_row([[0]], np.float32([1]), [2, 2])], [_row([[0]], np.int32([1]), [2])], [[b'a', b'b', b'c']], [[b''] * 3], [[b''] * 2], np.empty((0, 3))]
    for i, rows in enumerate(wrong):
        golden.fails('DeserializeManySparse', [_strings(rows)], {'dtype': tf.float32}, name=str(i))
    golden.fails('DeserializeSparse', [np.array(b'', object)], {'dtype': tf.float32})
    for shape in ((), (2,)):
        with golden.graph(f'sparse tensors as variants {shape}') as case:
            feeds = {tf1.placeholder(x.dtype, None, name): x for name, x in zip(NAMES, (INDICES, VALUES, SIZES))}
            make = tf.raw_ops.SerializeManySparse if shape else tf.raw_ops.SerializeSparse
            stored = make(**dict(zip(NAMES, feeds)), out_type=tf.variant, name='stored')
            read = tf.raw_ops.DeserializeSparse(serialized_sparse=stored, dtype=tf.float32, name='op')
            case.step({f'op:{i}': x for i, x in enumerate(read)}, feeds)
            case.expect_success()


def _maps(golden):
    with golden.graph('sparse tensors in maps') as case:
        inputs = [tf1.placeholder(x.dtype, None, name) for name, x in zip(NAMES, (INDICES, VALUES, SIZES))]
        handles = tf1.placeholder(tf.int64, None, 'handles')
        named = {'container': '', 'shared_name': 'map'}
        one = tf.raw_ops.AddSparseToTensorsMap(**dict(zip(NAMES, inputs)), **named, name='one')
        many = tf.raw_ops.AddManySparseToTensorsMap(**dict(zip(NAMES, inputs)), **named, name='many')
        taken = tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=handles, dtype=tf.float32, **named, name='taken')
        ints = tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=handles, dtype=tf.int32, **named, name='ints')
        take = {f'taken:{i}': x for i, x in enumerate(taken)}

        def feed(indices=INDICES, values=VALUES, sizes=SIZES):
            return dict(zip(inputs, (I64(indices), np.float32(values), I64(sizes))))

        case.step({'many:0': many}, feed())
        case.step({'one:0': one}, feed([[3]], [5], [4]))
        case.step(take, {handles: I64([2, 0])})
        case.step(take, {handles: I64([0])})
        case.step({'one:0': one}, feed())
        case.step({'one:0': one}, feed(sizes=[4, 2]))
        case.step(take, {handles: I64([4, 3])})
        for wrong in ([[1]], [], [99]):
            case.step(take, {handles: I64(wrong)})
        case.step({'one:0': one}, feed())
        case.step({'ints:0': ints[0]}, {handles: I64([5])})
        case.step({'one:0': one}, feed())
        case.step(take, {handles: I64([1, 6])})
        for changes in ({'indices': [0]}, {'values': [[1]]}, {'sizes': 2}, {'values': [1]}, {'sizes': [2]}, {'indices': [[0, 1], [1, 0], [5, 2]]}, {'indices': [[1, 1], [1, 0], [0, 2]]}, {'sizes': [-2, 3]}, {'sizes': [2**40, 2**40]}):
            case.step({'many:0': many}, feed(**changes))
            case.step({'one:0': one}, feed(**changes))
