"""Joins, sums, norms and sizes of quantised types."""
import numpy as np
import tensorflow as tf

from quantized import of_type
from writer import ELEMENTWISE

f, q = np.float32, tf.quint8


def cases(golden):
    def numbers(dtype, *shape, spread=1):
        return of_type(golden.random, dtype, *shape, spread=spread)

    _joins(golden, numbers)
    _arithmetic(golden, numbers)
    _instance_norms(golden, numbers)
    _batch_norms(golden, numbers)
    _sizes(golden, numbers)
    _channels(golden, numbers)


def _joins(golden, numbers):
    for dtype in [q, tf.qint32]:
        for axis, shapes, ranges in [(0, [(2, 3), (1, 3)], [(-1, 1), (-1, 1)]), (1, [(2, 3), (2, 2)], [(-1, 1), (0, 3)]), (2, [(2, 1, 3), (2, 1, 0), (2, 1, 2)], [(-5, 1), (-1, 2), (0, 0.5)]),
                                     (1, [(0, 2), (0, 3)], [(-1, 2), (-3, 1)]), (0, [(17,), (3,)], [(0, 2), (0.5, 6)]), (0, [(3,), (2,)], [(1, 1), (0, 2)])]:
            lows, highs = ([f(limits[i]) for limits in ranges] for i in range(2))
            golden.op('QuantizedConcat', [np.int32(axis), [numbers(dtype, *shape) for shape in shapes], lows, highs], name=f'{dtype.name} {axis} {shapes} {ranges}', tolerance=ELEMENTWISE)
    ones = [[f(-1), f(-1)], [f(1), f(1)]]
    for axis, shapes in [(2, [(2, 3), (2, 3)]), (-1, [(2, 3), (2, 3)]), (0, [(2, 3), (2, 2)]), (0, [(2, 3), (3,)]), ([0], [(2, 3), (2, 3)]), (0, [(), ()])]:
        golden.fails('QuantizedConcat', [np.int32(axis), [numbers(q, *shape) for shape in shapes], *ones], name=f'{axis} {shapes}')
    golden.fails('QuantizedConcat', [np.int32(0), [numbers(q, 2), numbers(q, 2)], [f([-1, 0]), f(-1)], ones[1]])


def _arithmetic(golden, numbers):
    ones = [f(-1), f(1), f(-2), f(2)]
    for op in ['QuantizedAdd', 'QuantizedMul']:
        for ranges in [(-1, 1, -2, 2), (0, 5, -0.5, 0.25), (1, 2, -7, -3), (-1e-3, 1e-3, 0, 1e5)]:
            golden.op(op, [numbers(q, 2, 9), numbers(q, 2, 9), *map(f, ranges)], {'Toutput': tf.qint32}, name=f'{ranges}', tolerance=ELEMENTWISE)
        # A column is repeated as if it were a row.
        for x, y in [((2, 3), (3,)), ((4,), (2, 1, 4)), ((), (5,)), ((2, 3), (1, 1)), ((2, 3), (2, 1)), ((2, 1, 3), (3,)), ((0,), (0,)), ((0, 3), ())]:
            golden.op(op, [numbers(q, *x), numbers(q, *y), *ones], {'Toutput': tf.qint32}, name=f'{x} {y}', tolerance=ELEMENTWISE)
        for x, y in [((2, 3), (2,)), ((2, 1, 3), (1, 2, 1)), ((0, 3), (3,))]:
            golden.fails(op, [numbers(q, *x), numbers(q, *y), *ones], {'Toutput': tf.qint32}, name=f'{x} {y}')
        for i, wrong in [(0, f([-1])), (0, f(1)), (3, f(-2)), (3, f([1, 2]))]:
            golden.fails(op, [numbers(q, 2), numbers(q, 2), *ones[:i], wrong, *ones[i + 1:]], {'Toutput': tf.qint32}, name=f'{i}')


def _instance_norms(golden, numbers):
    for shape, ranges, attrs in [((1, 2, 3, 2), (-1, 1), {}), ((2, 4, 4, 3), (0, 6), {'variance_epsilon': 0.1}), ((1, 3, 1, 16), (-2, 5), {'output_range_given': True, 'given_y_min': -1.0, 'given_y_max': 2.0}),
                                 ((1, 1, 1, 3), (-1, 1), {}), ((2, 1, 2, 2), (-1, 1), {'min_separation': 10.0}), ((0, 2, 2, 3), (-1, 1), {})]:
        golden.op('QuantizedInstanceNorm', [numbers(q, *shape), *map(f, ranges)], attrs, tolerance=ELEMENTWISE)
    for low, high in [(1, 1), (2, -1), ([-1], 1), (-1, [1])]:
        golden.fails('QuantizedInstanceNorm', [numbers(q, 1, 2, 2, 1), f(low), f(high)], name=f'{low} {high}')


def _batch_norms(golden, numbers):
    def inputs(shape=(1, 2, 2, 3), sizes=(3, 3, 3, 3)):
        ranges = [(-1, 1), (-0.5, 2), (0, 3), (-1, 0.25), (-2, 2)]
        return [part for size, limits in zip([shape, *sizes], ranges) for part in (numbers(q, *np.atleast_1d(size)), f(limits[0]), f(limits[1]))]

    attrs = {'out_type': tf.qint32, 'variance_epsilon': 0.01, 'scale_after_normalization': True}
    for shape in [(1, 2, 2, 3), (2, 3, 1, 5), (0, 2, 2, 3)]:
        for more in [{}, {'scale_after_normalization': False}]:
            golden.op('QuantizedBatchNormWithGlobalNormalization', [*inputs(shape, (shape[3],) * 4)], attrs | more)
    for wrong in [inputs((2, 2, 3)), inputs(sizes=((1, 3), 3, 3, 3)), inputs(sizes=(3, 3, 3, (3, 1))), inputs(sizes=(2, 2, 2, 2)), inputs(sizes=(3, 2, 3, 3)), inputs(sizes=(3, 3, 4, 3)), inputs(sizes=(3, 3, 3, 1))]:
        golden.fails('QuantizedBatchNormWithGlobalNormalization', wrong, attrs)
    good = inputs()
    golden.fails('QuantizedBatchNormWithGlobalNormalization', good[:4] + [f([0, 1])] + good[5:], attrs)


def _sizes(golden, numbers):
    images = {q: lambda *shape: numbers(q, *shape), tf.qint32: lambda *shape: numbers(tf.qint32, *shape), tf.float32: lambda *shape: golden.random.standard_normal(shape).astype(f)}
    for dtype, made in images.items():
        for shape, size, attrs in [((1, 2, 3, 1), (5, 7), {}), ((2, 3, 2, 3), (2, 9), {'align_corners': True}), ((1, 4, 4, 2), (3, 2), {'half_pixel_centers': True}), ((1, 2, 2, 1), (2, 2), {})]:
            golden.op('QuantizedResizeBilinear', [made(*shape), np.int32(size), f(-1), f(2)], attrs, name=f'{dtype.name} {shape} {size} {attrs}', tolerance=ELEMENTWISE)
    for shape, size, low in [((2, 2, 1), (2, 2), -1), ((1, 2, 2, 1), (2, 0), -1), ((1, 2, 2, 1), (2,), -1), ((1, 0, 2, 1), (2, 2), -1), ((1, 2, 2, 1), (2, 2), [-1])]:
        golden.fails('QuantizedResizeBilinear', [numbers(q, *shape), np.int32(size), f(low), f(1)], name=f'{shape} {size} {low}')


def _channels(golden, numbers):
    for spread in [1, 64]:
        for ranges in [([-1, -2, -3], [1, 2, 3]), ([0, -5, 1], [0.5, 1, 7])]:
            value, limits = numbers(tf.qint32, 1, 2, 2, 3, spread=spread), [f(limit) for limit in ranges]
            for dtype in [tf.qint8, q]:
                golden.op('RequantizePerChannel', [value, *limits, f(-1), f(3)], {'out_type': dtype}, name=f'{dtype.name} {spread} {ranges}')
            golden.op('RequantizationRangePerChannel', [value, *limits], {'clip_value_max': 2.5}, name=f'{spread} {ranges}', tolerance=ELEMENTWISE)
    golden.op('RequantizationRangePerChannel', [abs(value.view(np.int32)).view(tf.qint32.as_numpy_dtype), *limits], {'clip_value_max': 1e30}, tolerance=ELEMENTWISE)
    golden.fails('RequantizePerChannel', [value, limits[0], f([1, 2]), f(-1), f(1)], {'out_type': q})
    golden.fails('RequantizePerChannel', [value, *limits, f(1), f(2)], {'out_type': tf.qint8})
    for wrong in [[value, limits[0], f([1, 2])], [value[:0], *limits], [value[0], *limits], [value[..., :2], *limits]]:
        golden.fails('RequantizationRangePerChannel', wrong, {'clip_value_max': 1.0})
