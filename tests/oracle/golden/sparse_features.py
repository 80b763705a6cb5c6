"""Crosses of features, operations on sets, and edit distances."""
import numpy as np
import tensorflow as tf

from writer import ELEMENTWISE

I64 = np.int64
WORDS = lambda *words: np.array(words, object)
SPARSE = (I64([[0, 0], [1, 0], [1, 1]]), WORDS(b'a', b'b', b'c'), I64([2, 2]))
NUMBERS = (I64([[0, 0], [1, 0]]), I64([5, -7]), I64([2, 1]))
DENSE, DENSE_NUMBERS = WORDS(b'f', b'g').reshape(2, 1), I64([[3, 2**40], [4, 5]])


def cases(golden):
    _cross(golden)
    _ragged_cross(golden)
    _set_size(golden)
    _sets(golden)
    _distance(golden)


def _columns(*sparse, dense=()):
    return [[part[i] for part in sparse] for i in range(3)] + [list(dense)]


def _cross(golden):
    def attrs(out, internal, buckets=0, key=0xDECAFCAFFE):
        return {'hashed_output': out == tf.int64, 'num_buckets': buckets, 'hash_key': key, 'out_type': out, 'internal_type': internal}

    words, mixed = _columns(SPARSE, dense=[DENSE]), _columns(SPARSE, NUMBERS, dense=[DENSE, DENSE_NUMBERS])
    for i, columns in enumerate((words, mixed, _columns(dense=[DENSE]), _columns(SPARSE, SPARSE))):
        for out in (tf.string, tf.int64):
            golden.op('SparseCross', columns, attrs(out, tf.int64), name=str(i))
        golden.op('SparseCross', columns, attrs(tf.int64, tf.int64, 10, 7), name=str(i))
        golden.op('SparseCrossV2', [*columns, WORDS(b'-')[0]], name=str(i))
        golden.op('SparseCrossHashed', [*columns, I64(0), np.bool_(False), I64([137, 173])], name=str(i))
        golden.op('SparseCrossHashed', [*columns, I64(100), np.bool_(False), I64([137, 173])], name=str(i))
    golden.op('SparseCross', words, attrs(tf.string, tf.string))
    golden.op('SparseCross', _columns(), attrs(tf.string, tf.string))
    for indices in ([[1, 0], [0, 0], [1, 1]], [[0, 0], [1, 0], [7, 1]], [[-1, 0], [0, 0], [1, 1]]):
        golden.op('SparseCrossV2', [*_columns((I64(indices), *SPARSE[1:]), dense=[DENSE]), WORDS(b'-')[0]], name=str(indices))
    golden.fails('SparseCross', mixed, attrs(tf.string, tf.string))
    golden.fails('SparseCrossV2', [*words, WORDS(b'-')])
    for salt in ([1], [1, 2, 3]):
        golden.fails('SparseCrossHashed', [*words, I64(0), np.bool_(False), I64(salt)])
    for at, wrong in ((0, I64([0])), (0, np.zeros((3, 3), I64)), (1, WORDS(b'a').reshape(1, 1)), (1, WORDS(b'a')), (2, I64(2)), (2, I64([2, 2, 2])), (3, WORDS(b'a')), (3, DENSE[:1]), (2, I64([-2, 2]))):
        golden.fails('SparseCrossV2', [*([wrong] if i == at else column for i, column in enumerate(words)), WORDS(b'-')[0]], name=f'{at} {wrong}')


def _ragged_cross(golden):
    good = {'ragged_values': [SPARSE[1], I64([1, 2, 3])], 'ragged_row_splits': [I64([0, 1, 3]), I64([0, 2, 3])], 'sparse_indices': [SPARSE[0]], 'sparse_values': [SPARSE[1]], 'sparse_shape': [SPARSE[2]],
            'dense_inputs': [DENSE]}

    def cross(call, out=tf.string, splits=tf.int64, order='RDSR', buckets=0, name='', **changes):
        call('RaggedCross', list((good | changes).values()), {'input_order': order, 'hashed_output': out == tf.int64, 'num_buckets': buckets, 'hash_key': 99, 'out_values_type': out, 'out_row_splits_type': splits},
             name=f'{order} {name} {changes}')

    for out in (tf.string, tf.int64):
        cross(golden.op, out)
        cross(golden.op, out, order='SRRD')
        cross(golden.op, out, tf.int32, ragged_row_splits=[np.int32([0, 1, 3]), np.int32([0, 2, 3])])
    cross(golden.op, tf.int64, buckets=10)
    cross(golden.op, order='', **dict.fromkeys(good, []))
    cross(golden.op, ragged_row_splits=[I64([0, 1, 3]), I64([0, 0, 3])])
    for order in ('RDS', 'RDSX', 'RRRR', 'SSRR', 'DDRR'):
        cross(golden.fails, order=order)
    for splits in ([0, 2, 2], [1, 2, 3], [0, 3], [0, 4, 3], []):
        cross(golden.fails, ragged_row_splits=[I64([0, 1, 3]), I64(splits)])
    for wrong in ({'sparse_shape': [I64([3, 2])]}, {'sparse_shape': [I64([2])]}, {'sparse_shape': [I64([[2, 2]])]}, {'dense_inputs': [DENSE[:1]]}, {'dense_inputs': [DENSE[0]]}, {'sparse_indices': [I64([0])]}):
        cross(golden.fails, **wrong)


def _with(good, at, wrong):
    return [np.asarray(wrong, old.dtype) if i == at else old for i, old in enumerate(good)]


def _set_size(golden):
    good = [I64([[0, 0], [0, 1], [1, 0]]), np.int32([1, 1, 3]), I64([2, 2])]
    for dtype in (np.int8, np.int16, np.int32, I64, np.uint8, np.uint16):
        golden.op('SetSize', [good[0], dtype([1, 1, 3]), good[2]])
    golden.op('SetSize', [good[0], WORDS(b'a', b'b', b'b'), I64([3, 2])])
    golden.op('SetSize', [I64([[0, 2, 0], [1, 0, 3]]), np.int32([1, 2]), I64([2, 3, 4])])
    golden.op('SetSize', [np.zeros((0, 2), I64), np.int32([]), I64([2, 2])])
    for indices in ([[0, 1], [0, 0], [1, 0]], [[0, 0], [0, 0], [1, 0]]):
        golden.op('SetSize', _with(good, 0, indices), {'validate_indices': False}, name=str(indices))
        golden.fails('SetSize', _with(good, 0, indices), name=str(indices))
    for at, wrong in ((0, [[0, 0], [0, 5], [1, 0]]), (0, [[0, 0], [0, 1], [-1, 0]]), (2, [2]), (2, 2), (2, [2, 2, 2]), (2, [2, -2]), (2, [2**40, 2**40]), (1, [1]), (1, [[1]])):
        golden.fails('SetSize', _with(good, at, wrong), name=f'{at} {wrong}')
    golden.fails('SetSize', _with(good, 0, [[0, 0], [0, 5], [1, 0]]), {'validate_indices': False})


def _sets(golden):
    a, b = [[3, 1, 1], [2, 2, 5]], [[1, 4], [9, 2]]
    sparse = [I64([[0, 0], [1, 0], [1, 1]]), np.int32([1, 7, 2]), I64([2, 2])]
    other = [I64([[0, 0], [1, 1], [1, 2]]), np.int32([5, 7, 3]), I64([2, 3])]
    for name in ('a-b', 'b-a', 'INTERSECTION', 'union'):
        golden.op('DenseToDenseSetOperation', [np.int32(a), np.int32(b)], {'set_operation': name})
        golden.op('DenseToSparseSetOperation', [np.int32(a), *sparse], {'set_operation': name})
        golden.op('SparseToSparseSetOperation', [*sparse, *other], {'set_operation': name})
        for dtype in (np.int8, I64, np.uint16):
            golden.op('DenseToDenseSetOperation', [dtype(a), dtype(b)], {'set_operation': name})
    union, loose = {'set_operation': 'union'}, {'set_operation': 'union', 'validate_indices': False}
    words = [WORDS(b'b', b'a', b'').reshape(1, 3), WORDS(b'ab', b'a\0', b'\xff').reshape(1, 3)]
    golden.op('DenseToDenseSetOperation', words, union)
    golden.op('DenseToDenseSetOperation', [np.arange(8, dtype=np.int32).reshape(2, 2, 2) % 3, np.ones((2, 2, 1), np.int32)], union)
    golden.op('DenseToDenseSetOperation', [np.zeros((0, 2), np.int32), np.zeros((0, 3), np.int32)], union)
    golden.op('SparseToSparseSetOperation', [np.zeros((0, 2), I64), np.int32([]), I64([2, 2]), *other], union)
    for indices in ([[0, 0], [1, 2], [1, 1]], [[1, 0], [0, 0], [0, 1]]):
        golden.op('SparseToSparseSetOperation', _with([*sparse, *other], 3, indices), loose, name=str(indices))
        golden.op('DenseToSparseSetOperation', _with([np.int32(a), *sparse], 1, [[i, k % 2] for i, k in indices]), loose, name=str(indices))
    golden.fails('DenseToDenseSetOperation', [np.int32(a), np.int32(b)], {'set_operation': 'bad'})
    for x, y in (([1, 2], [1]), ([[1, 2]], [[1], [2]]), ([[1, 2]], [[[1], [2]]])):
        golden.fails('DenseToDenseSetOperation', [np.int32(x), np.int32(y)], union)
    for at, wrong in ((3, [3, 2]), (3, [2]), (0, [1]), (1, [[0, 0], [1, 1], [1, 0]]), (1, [[0, 0], [1, 0], [2, 0]])):
        golden.fails('DenseToSparseSetOperation', _with([np.int32(a), *sparse], at, wrong), union, name=f'{at} {wrong}')
    for at, wrong in ((5, [3, 3]), (5, [2]), (3, [[0, 0], [1, 0], [2, 0]])):
        golden.fails('SparseToSparseSetOperation', _with([*sparse, *other], at, wrong), union, name=f'{at} {wrong}')


def _distance(golden):
    indices = [I64([[0, 0], [0, 1], [1, 0]]), I64([[0, 0], [1, 0], [1, 1]])]
    for dtype in (np.float32, np.int8, np.uint16, I64, np.complex64, bool, object):
        values = [WORDS(b'a', b'b', b'c') if dtype is object else np.array([1, 0, 3]).astype(dtype), WORDS(b'a', b'x', b'c') if dtype is object else np.array([1, 2, 3]).astype(dtype)]
        golden.op('EditDistance', [indices[0], values[0], I64([2, 2]), indices[1], values[1], I64([2, 2])])
    good = [indices[0], np.float32([1, 2, 3]), I64([2, 2]), indices[1], np.float32([1, 2, np.nan]), I64([2, 2])]
    golden.op('EditDistance', good, {'normalize': False})
    text = [np.frombuffer(word, np.uint8) for word in (b'kitten', b'sitting', b'saturday', b'sunday')]
    for normalize in (False, True):
        golden.op('EditDistance', [I64([(0, 0, i) for i in range(6)] + [(1, 1, i) for i in range(8)]), np.concatenate([text[0], text[2]]).astype(np.int32), I64([2, 2, 9]),
                                   I64([(0, 0, i) for i in range(7)] + [(1, 1, i) for i in range(6)] + [(2, 0, 0)]), np.concatenate([text[1], text[3], [9]]).astype(np.int32), I64([3, 2, 9])],
                  {'normalize': normalize}, tolerance=ELEMENTWISE)
        golden.op('EditDistance', [np.zeros((0, 2), I64), np.float32([]), I64([2, 2]), *good[3:]], {'normalize': normalize})
        golden.op('EditDistance', [*good[:3], np.zeros((0, 2), I64), np.float32([]), I64([1, 2])], {'normalize': normalize})
    golden.op('EditDistance', _with(good, 0, [[0, 0], [1, 0], [0, 1]]))
    for at, wrong in ((0, [0]), (3, [0]), (1, [[1]]), (4, [[1]]), (2, 2), (5, 2), (2, [2, 2, 2]), (5, [2, 2, 2]), (4, [1]), (1, [1]), (3, [[0, 0], [3, 0], [1, 1]]), (0, [[0, 0], [-1, 0], [0, 1]]), (5, [2, -2]), (5, [2**40, 2**40])):
        golden.fails('EditDistance', _with(good, at, wrong), name=f'{at} {wrong}')
    golden.fails('EditDistance', [I64([[0]]), np.float32([1]), I64([2]), I64([[0]]), np.float32([1]), I64([2])])
