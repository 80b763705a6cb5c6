"""Counts of values by row, and ragged tensors: ranges, gathered rows, filled rows, as sparse tensors and as variants."""
import numpy as np
import tensorflow as tf

from data import numbers
from writer import ELEMENTWISE

I64, tf1 = np.int64, tf.compat.v1
ANY = [np.dtype(t) for t in (np.float32, np.int8, np.complex64, object)]


def cases(golden):
    _bincount(golden)
    _counts(golden)
    _range(golden)
    _gather(golden)
    _to_sparse(golden)
    _fill(golden)
    _variants(golden)


def _with(good, at, wrong):
    return [np.asarray(wrong, old.dtype) if i == at else old for i, old in enumerate(good)]


def _bincount(golden):
    good = [I64([[0, 0], [0, 1], [1, 0]]), np.int32([1, 2, 1]), I64([2, 2]), np.int32(3), np.float32([])]
    for dtype in (np.int32, I64, np.float32, np.float64):
        golden.op('SparseBincount', [*good[:4], dtype([1, 2, 3])])
        golden.op('SparseBincount', [*good[:4], dtype([1, 2, 3])], {'binary_output': True})
    for at, value in ((4, []), (3, 2), (1, [1, -2, 1]), (2, [3, 2])):
        golden.op('SparseBincount', _with(good, at, value), name=str(value))
    golden.op('SparseBincount', [I64([[0], [1], [5]]), I64([1, 2, 1]), I64([6]), I64(4), np.float32([1, 2, 3])])
    for at, wrong in ((3, -1), (3, [1]), (1, [1, 1]), (1, [[1, 1, 1]]), (0, [[0, 0], [0, 1], [5, 0]]), (0, [[0, 0], [0, -1], [1, 0]]), (0, [0]), (2, [2]), (2, 2)):
        golden.fails('SparseBincount', _with(good, at, wrong), name=f'{at} {wrong}')


def _counts(golden):
    values, none = np.int32([1, 2, 1]), np.float32([])
    sparse = [I64([[0, 0], [0, 1], [1, 0]]), values, I64([2, 2]), none]
    dense, ragged = [np.int32([[1, 2], [1, 1]]), none], [I64([0, 2, 3]), values, none]
    for op, good in (('Sparse', sparse), ('Dense', dense), ('Ragged', ragged)):
        op = f'{op}CountSparseOutput'
        for dtype in (np.int32, I64, np.float32, np.float64):
            golden.op(op, [*good[:-1], np.arange(values.size if op[0] != 'D' else 4).astype(dtype).reshape(good[-2 if op[0] != 'S' else 1].shape)], {'binary_output': False})
        for attrs in ({}, {'minlength': 5}, {'maxlength': 2}, {'maxlength': 0}, {'binary_output': True}):
            golden.op(op, good, {'binary_output': False} | attrs)
        wide = [*good]
        wide[1 if op[0] != 'D' else 0] = wide[1 if op[0] != 'D' else 0].astype(I64) * 2**33
        golden.op(op, wide, {'binary_output': False})
    golden.op('SparseCountSparseOutput', [I64([[0], [1], [5]]), values, I64([6]), none], {'binary_output': False})
    golden.op('DenseCountSparseOutput', [values, none], {'binary_output': False})
    golden.op('DenseCountSparseOutput', [np.zeros((2, 0), np.int32), none], {'binary_output': False})
    for splits in ([0, 5, 3], [0, 2, 1, 3], [0, 0, 3, 3], [0, -1, 3]):
        golden.op('RaggedCountSparseOutput', [I64(splits), values, none], {'binary_output': False}, name=str(splits))
    for op, good, wrong in (('Sparse', sparse, ((3, [1, 2]), (1, [1, -2, 1]), (1, [1, 1]), (1, [[1, 1, 1]]), (0, [[0, 0], [0, 7], [1, 0]]), (0, [[0, 0], [0, 1], [-1, 0]]), (0, [0]), (2, [2]), (2, 2), (2, [-2, 2]))),
                            ('Dense', dense, ((0, [[[1]]]), (0, 1), (1, [1, 2]), (0, [[1, -2], [1, 1]]))),
                            ('Ragged', ragged, ((0, [0]), (0, []), (0, [1, 3]), (0, [0, 2]), (2, [1]), (1, [1, -2, 1])))):
        for at, value in wrong:
            golden.fails(f'{op}CountSparseOutput', _with(good, at, value), {'binary_output': False}, name=f'{at} {value}')
    golden.fails('DenseCountSparseOutput', [np.zeros((0, 2), np.int32), none], {'binary_output': False})


def _range(golden):
    for dtype in (np.int32, I64, np.float32, np.float64):
        golden.op('RaggedRange', [dtype([0, 5, 8]), dtype([3, 7, 5]), dtype(1)])
        golden.op('RaggedRange', [dtype([0, 5, 8]), dtype([3, 8, 5]), dtype([1, 2, -1])], {'Tsplits': tf.int32})
    golden.op('RaggedRange', [np.float32(0), np.float32([1, 2.1]), np.float32(.3)])
    golden.op('RaggedRange', [np.int32([]), np.int32(3), np.int32(1)])
    golden.op('RaggedRange', [np.int32(-2**31), np.int32(2**31 - 1), np.int32(2**30)])
    for starts, limits, deltas, dtype in (([0, 5, 8], [3, 7], [1, 2, -1], np.int32), ([0, 5], 3, [1, 0], np.int32), ([[0]], 3, 1, np.int32), (0, [[3]], 1, np.int32), (0, 3, [[1]], np.int32), (0, np.inf, 1, np.float32),
                                          (0, np.nan, 1, np.float32), (-2**63, 2**63 - 1, 1, I64)):
        golden.fails('RaggedRange', [dtype(starts), dtype(limits), dtype(deltas)], name=f'{starts} {limits} {deltas}')
    golden.fails('RaggedRange', [I64([0, 0]), I64(2**31 - 1), I64(1)], {'Tsplits': tf.int32})
    golden.fails('RaggedRange', [np.float32(0), np.float32(1e15), np.float32(1)], {'Tsplits': tf.int32})


def _gather(golden):
    random = golden.random
    splits, nested = [I64([0, 2, 2, 3])], [I64([0, 1, 2]), I64([0, 2, 3])]
    for dtype in ANY:
        golden.op('RaggedGather', [splits, numbers(random, (3,), dtype), np.int32([2, 0, 2])], {'OUTPUT_RAGGED_RANK': 1}, gradient=dtype == np.float32, differentiable=[1])
    values = numbers(random, (3, 2), np.float32)
    golden.op('RaggedGather', [splits, values, I64([[2, 0], [1, 1]])], {'OUTPUT_RAGGED_RANK': 2}, gradient=True, differentiable=[2])
    golden.op('RaggedGather', [splits, values, np.int32(0)], {'OUTPUT_RAGGED_RANK': 0}, gradient=True)
    golden.op('RaggedGather', [nested, values, np.int32([1, 0, 1])], {'OUTPUT_RAGGED_RANK': 2}, gradient=True, differentiable=[2])
    golden.op('RaggedGather', [[np.int32(x) for x in nested], values, I64([])], {'OUTPUT_RAGGED_RANK': 2})
    golden.op('RaggedGather', [[I64([1, 2, 2, 3])], values, np.int32([2, 0])], {'OUTPUT_RAGGED_RANK': 1})
    for splits, values, indices in (([0, 2, 2, 3], [1, 2, 3], [3]), ([0, 2, 2, 3], [1, 2, 3], [-1]), ([0, 2, 1, 3], [1, 2, 3], [0]), ([0, 2, 2, 4], [1, 2, 3], [0]), ([-1, 2, 2, 3], [1, 2, 3], [0]), ([], [1, 2, 3], [0]), ([0, 2, 2, 3], 1, [0]),
                                    ([0, 2, 2, 3], [1, 2, 3], [[2, 0], [1, 5]])):
        golden.fails('RaggedGather', [[I64(splits)], np.float32(values), np.int32(indices)], {'OUTPUT_RAGGED_RANK': np.ndim(indices)}, name=f'{splits} {values} {indices}')


def _to_sparse(golden):
    random = golden.random
    splits, nested = [I64([0, 2, 2, 3])], [np.int32([0, 1, 2]), np.int32([0, 2, 3])]
    for dtype in ANY:
        golden.op('RaggedTensorToSparse', [splits, numbers(random, (3,), dtype)])
    golden.op('RaggedTensorToSparse', [splits, numbers(random, (3, 2, 2), np.float32)], gradient=True, differentiable=[1])
    golden.op('RaggedTensorToSparse', [nested, numbers(random, (3, 2), np.float32)], gradient=True, differentiable=[1])
    golden.op('RaggedTensorToSparse', [[I64([0, 0])], np.float32([])])
    golden.op('RaggedTensorToSparse', [[I64([0])], np.float32([])])
    for splits in ([[0, 2]], [[1, 3]], [[]], [[0, 2, 1, 3]], [[0, 1, 3], [0, 2, 3]], [[0, 1, 2], [1, 3]]):
        golden.fails('RaggedTensorToSparse', [[I64(x) for x in splits], np.float32([1, 2, 3])], name=str(splits))


def _fill(golden):
    random = golden.random
    for dtype in ANY:
        golden.op('RaggedFillEmptyRows', [I64([2, 0]), numbers(random, (2,), dtype), I64(4), numbers(random, (), dtype)])
    for rows, count in (([0, 1], 2), ([], 3), ([2, 2, 0], 4)):  # without rows TensorFlow gives a matrix of row numbers
        golden.op('RaggedFillEmptyRows', [I64(rows), np.float32(np.arange(len(rows))), I64(count), np.float32(-1)], gradient=True, differentiable=[1])
    good = [I64([2, 0]), np.float32([1, 2]), I64(4), np.float32(0)]
    for at, wrong in ((0, [4, 0]), (0, [-1, 0]), (0, [[1, 0]]), (1, [1]), (1, [[1, 2]]), (2, [4]), (2, 0), (3, [0])):
        golden.fails('RaggedFillEmptyRows', _with(good, at, wrong), name=f'{at} {wrong}')
    golden.op('RaggedFillEmptyRowsGrad', [I64([2, 1]), numbers(random, (4,), np.float32)], tolerance=ELEMENTWISE)
    golden.op('RaggedFillEmptyRowsGrad', [I64([]), numbers(random, (3,), np.float64)], tolerance=ELEMENTWISE)
    golden.fails('RaggedFillEmptyRowsGrad', [I64([2, 4]), np.float32([1, 2, 3, 4])])
    golden.fails('RaggedFillEmptyRowsGrad', [I64([[2]]), np.float32([1, 2, 3, 4])])


def _variants(golden):
    """To variants and back: `batched`, the input's and the output's ragged rank."""
    splits, nested = [[0, 2, 2, 3]], [[0, 1, 3], [0, 2, 2, 3]]
    flat, rows = np.float32([1, 2, 3]), np.float32([[1, 2], [3, 4], [5, 6]])

    def both(name, parts, values, batched, input_rank, output_rank, kind=I64, back=None, gradient=False, shape=None, fails=False):
        with golden.graph(f'variants {name}') as case:
            feeds = {tf1.placeholder(kind, None, f's{i}'): kind(part) for i, part in enumerate(parts)}
            fed = list(feeds)
            x = tf1.placeholder(tf.string if values.dtype == object else values.dtype, values.shape, 'x')
            feeds[x] = values
            raw = tf.raw_ops
            encoded = raw.RaggedTensorToVariant(rt_nested_splits=fed, rt_dense_values=x, batched_input=batched, name='encoded')
            if shape:
                encoded = tf.reshape(encoded, shape)
            decoded = raw.RaggedTensorFromVariant(encoded_ragged=encoded, input_ragged_rank=input_rank, output_ragged_rank=output_rank, Tvalues=x.dtype, Tsplits=back or kind, name='op')
            outputs = case.graph.get_operation_by_name('op').outputs
            fetches = {f'op:{i}': y for i, y in enumerate(outputs)}
            if gradient:
                dy = tf1.placeholder(x.dtype, None, 'dy')
                feeds[dy] = (np.arange(values.size, dtype=np.float32) - 1.5).reshape(values.shape)
                case.freeze()
                case.add_gradients([outputs[-1]], [x], [dy])
                fetches |= {f'dx:{i}': dx for i, dx in enumerate(case.dx)}
            case.step(fetches, feeds)
            if case.succeeded == fails:
                golden.wrong.append(f'{case.name}: {case.words}')

    both('of rows', splits, flat, True, 0, 1, gradient=True)
    both('of rows, of unknown rank', splits, flat, True, -1, 1, np.int32)
    both('of the whole', splits, rows, False, 1, 1)
    both('of nested rows', nested, rows, True, 1, 2, gradient=True)
    both('of the nested whole', nested, flat, False, 2, 2, np.int32)
    both('of dense rows', [], rows, True, 0, 1)
    both('in a matrix', [[0, 1, 2, 3, 3]], flat, True, 0, 2, shape=[2, 2])
    both('of no rows', [[0]], flat[:0], True, 0, 1)
    both('of strings', splits, np.array([b'a', b'', b'x' * 40], object), True, 0, 1)
    for name, parts, batched, input_rank, output_rank, back in (('of another rank', nested, True, 0, 1, None),
                                                                 ('of other splits', nested, True, 1, 2, np.int32), ('that end early', [[0, 2]], True, 0, 1, None), ('that begin late', [[1, 3]], True, 0, 1, None),
                                                                 ('without splits', [[]], True, 0, 1, None), ('of unsorted splits', [[0, 2, 1, 3]], True, 0, 1, None), ('of a matrix of splits', [[[0, 3]]], True, 0, 1, None)):
        both(f'{name} fail', parts, flat, batched, input_rank, output_rank, back=back, fails=True)
