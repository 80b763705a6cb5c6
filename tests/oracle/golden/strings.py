"""Strings, and ops that print or check their inputs."""
import numpy as np

from data import numbers
from writer import dtypes, kind

ALL = dtypes('Print')


def text(*values):
    return np.array(values, object)


def cases(golden):
    random = golden.random

    def words(shape):
        return np.array(numbers(random, shape, object), object)

    for separator in ('', ', ', '\0', 'größer'):
        for shapes in [[()], [(), ()], [(3,), (3,)], [(3,), ()], [(), (2, 3), ()], [(0,), (0,)], [(), (0,)], [(2, 1, 3)] * 5, [(1, 2, 1, 2, 1, 2), ()], [(17,)] * 9]:
            golden.op('StringJoin', [[words(shape) for shape in shapes]], {'separator': separator})
    for shapes in ([(2,), (3,)], [(2,), (2, 1)], [(), (1,), (2,)]):
        golden.fails('StringJoin', [[words(shape) for shape in shapes]], message='do not match' if len(shapes) == 3 else None)

    for name, shard, count in [(b'model', 0, 1), (b'', 0, 0), (b'/tmp/a.b', 3, 10), (b'model', 12345, 99999), (b'model', 123456, 1234567), (b'm', -1, 5), (b'm', 2**31 - 1, -2**31),
                               (b'm\xff', 1, 2), (b'x' * 100, 1, 2), (b'100%d', 7, 8), (b'-00001-of-00002', 1, 2), ('größer'.encode(), 9, 9)]:
        golden.op('ShardedFilename', [np.array(name, object), np.int32(shard), np.int32(count)], name=f'{name} {shard} {count}')
    for name, shard, count in [(text(b'a'), 0, 1), (np.array(b'a', object), [0], 1), (np.array(b'a', object), 0, [1, 2])]:
        golden.fails('ShardedFilename', [name, np.int32(shard), np.int32(count)])

    for dtype in ALL:
        golden.op('Assert', [np.array(True), [numbers(random, (3,), dtype)]])
        for shape in [(), (2, 3), (0,)]:
            golden.fails('Assert', [np.array(False), [numbers(random, shape, dtype, 1, 4)]], {'summarize': 10})
    for summarize in (1, 3, 100, 0, -1):
        golden.fails('Assert', [np.array(False), [text(b'x was', b'too large'), np.float32([[1.5, 2], [1e-10, 1e20]]), np.int32(7), np.array(True)]], {'summarize': summarize})
    golden.fails('Assert', [np.array(False), [np.float32([np.nan, np.inf, -np.inf, -0.0, 0.1, 100000, 1234567, 1e-5, 1 / 3])]], {'summarize': 9})
    golden.fails('Assert', [np.array(False), [np.float64([np.nan, np.inf, -np.inf, -0.0, 0.1, 100000, 1234567, 1e-5, 1 / 3])]], {'summarize': 9})
    golden.fails('Assert', [np.array([True]), [np.float32(1)]])

    for dtype in ALL:
        data = [numbers(random, (2,), dtype), text(b'and'), np.float32(1)]
        golden.op('Print', [numbers(random, (3, 2), dtype), data], {'message': 'golden: ', 'first_n': 0}, gradient=kind(dtype) in 'fc')
    for shape in [(), (0,), (17,)]:
        golden.op('Print', [numbers(random, shape, np.float32), []], {'first_n': 0, 'summarize': 1}, gradient=True)
    for op in ('Add', 'Equal', 'NotEqual'):
        for left, right in [((), ()), ((3,), (3,)), ((17,), ()), ((2, 1), (3,)), ((0,), (1,))]:
            golden.op(op, [words(left), words(right)])
    for dtype in (object,):
        golden.op('Snapshot', [words((3,))])
        golden.op('Select', [np.array([True, False, True]), words((3,)), words((3,))])
