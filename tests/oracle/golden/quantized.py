"""Ops on quantised types."""
import numpy as np
import tensorflow as tf

from writer import ELEMENTWISE

TYPES = [tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32]


def of_type(random, dtype, *shape, spread=1):
    limits = {tf.qint8: (-128, 128), tf.quint8: (0, 256), tf.qint16: (-2**15, 2**15), tf.quint16: (0, 2**16), tf.qint32: (-2**31, 2**31)}[dtype]
    # numpy has these types as records of one integer
    return (random.integers(*limits, shape) // spread).astype(dtype.as_numpy_dtype[0]).view(dtype.as_numpy_dtype)


def cases(golden):
    def x(*shape):
        return (golden.random.standard_normal(shape) * 2).astype(np.float32)

    def numbers(dtype, *shape, spread=1):
        return of_type(golden.random, dtype, *shape, spread=spread)

    _quantize(golden, x)
    _dequantize(golden, numbers)
    _ranges(golden, numbers)
    _activations(golden, numbers)
    _sums(golden, numbers)
    _windows(golden, numbers)


def _quantize(golden, x):
    f = np.float32
    for dtype in TYPES:
        for attrs in [{'mode': 'MIN_COMBINED'}, {'mode': 'MIN_FIRST'}, {'mode': 'SCALED'}, {'mode': 'SCALED', 'narrow_range': True, 'round_mode': 'HALF_TO_EVEN'}]:
            # Above half of the range of qint32 TensorFlow's conversion is that of the machine.
            values = np.minimum(x(3, 4), 0.5) if dtype == tf.qint32 else x(3, 4)
            golden.op('QuantizeV2', [values, f(-2), f(3)], {'T': dtype, **attrs}, tolerance=ELEMENTWISE)
    for low, high, attrs in [(1, 2, {}), (-3, -1, {}), (0, 0, {}), (5, 5, {'ensure_minimum_range': 0.5}), (-1, 1, {'mode': 'MIN_FIRST'})]:
        golden.op('QuantizeV2', [x(5), f(low), f(high)], {'T': tf.quint8, **attrs}, name=f'{low} {high} {attrs}', tolerance=ELEMENTWISE)
    for mode in ['MIN_COMBINED', 'SCALED']:
        golden.op('QuantizeV2', [x(2, 3), f([-1, 0, -3]), f([1, 2, 3])], {'T': tf.qint8, 'axis': 1, 'mode': mode}, tolerance=ELEMENTWISE)
        golden.op('QuantizeV2', [x(2, 3, 2), f([-1, 0, -3]), f([1, 2, 3])], {'T': tf.quint8, 'axis': 1, 'mode': mode}, tolerance=ELEMENTWISE)
    golden.op('QuantizeV2', [x(0, 3), f(-1), f(1)], {'T': tf.quint8})
    for low, high, attrs in [(1, -1, {}), ([-1, 0], 1, {}), (-1, [1, 2], {}), (-1, 1, {'axis': 1}), ([-1] * 3, [1], {'axis': 1}), ([-1], [1], {'axis': 2}), ([-1] * 3, [1] * 3, {'axis': 1, 'mode': 'MIN_FIRST'}),
                             (-1, 1, {'round_mode': 'HALF_TO_EVEN'})]:
        golden.fails('QuantizeV2', [x(2, 3), f(low), f(high)], {'T': tf.quint8, **attrs}, name=f'{low} {high}')


def _dequantize(golden, numbers):
    f = np.float32
    for dtype in TYPES:
        for attrs in [{'mode': 'MIN_COMBINED'}, {'mode': 'MIN_FIRST'}, {'mode': 'SCALED'}, {'mode': 'SCALED', 'narrow_range': True}, {'dtype': tf.bfloat16}]:
            golden.op('Dequantize', [numbers(dtype, 3, 4), f(-2), f(3)], attrs, tolerance=ELEMENTWISE)
    # TensorFlow infers no shape for an axis of an input of unknown rank, so that such cases are in quantization_test.c.
    for low, high, attrs in [([-1, 0], 1, {}), (-1, [1, 2], {}), (-1, 1, {'dtype': tf.bfloat16, 'mode': 'SCALED'})]:
        golden.fails('Dequantize', [numbers(tf.quint8, 2, 3), f(low), f(high)], attrs, name=f'{low} {high}')


def _ranges(golden, numbers):
    f, wide = np.float32, lambda *shape: numbers(tf.qint32, *shape, spread=64)
    for dtype in [tf.quint8, tf.qint8]:
        for ranges in [(-100, 100, -2, 3), (-1e4, 1e4, -1, 1), (-100, 100, 0, 1), (0, 1e3, -1, 5)]:
            golden.op('Requantize', [wide(2, 5), *map(f, ranges)], {'out_type': dtype}, name=f'{ranges}', tolerance=ELEMENTWISE)
    for ranges in [(-100, 100), (-1e4, 1e4), (0, 5), (3, 3)]:
        golden.op('RequantizationRange', [wide(2, 5), *map(f, ranges)], name=f'{ranges}', tolerance=ELEMENTWISE)
        golden.op('QuantizeDownAndShrinkRange', [wide(2, 5), *map(f, ranges)], {'out_type': tf.quint8}, name=f'{ranges}', tolerance=ELEMENTWISE)
    golden.fails('Requantize', [wide(3), *map(f, (-100, 100, 1, 2))], {'out_type': tf.quint8})
    golden.fails('Requantize', [wide(3), *map(f, (-100, 100, -1, -2))], {'out_type': tf.quint8})
    golden.fails('Requantize', [wide(3), f([-100]), *map(f, (100, -1, 2))], {'out_type': tf.quint8})
    golden.fails('QuantizeDownAndShrinkRange', [wide(3), f(-100), f([100])], {'out_type': tf.quint8})


def _activations(golden, numbers):
    f = np.float32
    for dtype in [tf.quint8, tf.qint32]:
        for op in ['QuantizedRelu', 'QuantizedRelu6']:
            for ranges in [(-2, 5), (-20, 20), (0, 10)]:
                golden.op(op, [numbers(dtype, 2, 7), *map(f, ranges)], {'out_type': dtype}, name=f'{dtype.name} {ranges}', tolerance=ELEMENTWISE)
            golden.fails(op, [numbers(dtype, 2), f([-1]), f(1)], {'out_type': dtype})


def _sums(golden, numbers):
    f, q = np.float32, tf.quint8
    for dtype in [tf.quint8, tf.qint8]:
        for ranges in [(-1, 1, -2, 2), (0, 5, -0.5, 0.25), (-3, 7, 0, 0)]:
            golden.op('QuantizedBiasAdd', [numbers(dtype, 2, 5, 3), numbers(dtype, 3), *map(f, ranges)], {'out_type': tf.qint32}, name=f'{dtype.name} {ranges}', tolerance=ELEMENTWISE)
    ones = [f(-1), f(1), f(-2), f(2)]
    for shape, bias in [((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (2,))]:
        golden.fails('QuantizedBiasAdd', [numbers(q, *shape), numbers(q, *bias), *ones], {'out_type': tf.qint32}, name=f'{shape} {bias}')
    golden.fails('QuantizedBiasAdd', [numbers(q, 2, 3), numbers(q, 3), f([-1]), *ones[1:]], {'out_type': tf.qint32})

    for m, k, n in [(2, 3, 4), (1, 1, 1), (5, 17, 3)]:
        for a in [False, True]:
            for ranges in [(-1, 1, -2, 2), (0, 5, -0.5, 0.25)]:
                golden.op('QuantizedMatMul', [numbers(q, *((k, m) if a else (m, k))), numbers(q, *((n, k) if a else (k, n))), *map(f, ranges)], {'Toutput': tf.qint32, 'transpose_a': a, 'transpose_b': a},
                          name=f'{m} {k} {n} {a} {ranges}', tolerance=ELEMENTWISE)
    for left, right in [((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (2, 3))]:
        golden.fails('QuantizedMatMul', [numbers(q, *left), numbers(q, *right), *ones], {'Toutput': tf.qint32}, name=f'{left} {right}')
    golden.fails('QuantizedMatMul', [numbers(q, 2, 3), numbers(q, 3, 2), f([-1]), *ones[1:]], {'Toutput': tf.qint32})
    golden.fails('QuantizedMatMul', [numbers(q, 2, 3), numbers(q, 3, 2), f(2), *ones[1:]], {'Toutput': tf.qint32})


def _windows(golden, numbers):
    f, q = np.float32, tf.quint8
    ones = [f(-1), f(1), f(-2), f(3)]
    for padding in ['SAME', 'VALID']:
        for image, window, stride in [((1, 3, 3, 2), (2, 2, 2, 1), 1), ((2, 5, 4, 1), (3, 3, 1, 4), 2), ((1, 4, 4, 3), (1, 1, 3, 2), 1)]:
            # TensorFlow's kernel for filters of qint8 gives nothing.
            golden.op('QuantizedConv2D', [numbers(q, *image), numbers(q, *window), *ones], {'out_type': tf.qint32, 'strides': [1, stride, stride, 1], 'padding': padding}, name=f'{image} {window} {stride} {padding}', tolerance=ELEMENTWISE)
    more = {'out_type': tf.qint32, 'padding': 'SAME'}
    for image, window, attrs in [((3, 3, 2), (2, 2, 2, 1), {}), ((1, 3, 3, 2), (2, 2, 2), {}), ((1, 3, 3, 2), (2, 2, 3, 1), {}), ((1, 3, 3, 2), (2, 2, 2, 1), {'strides': [1, 1, 2, 1]}),
                                 ((1, 3, 3, 2), (2, 2, 2, 1), {'strides': [2, 1, 1, 1]}), ((1, 3, 3, 2), (2, 2, 2, 1), {'dilations': [1, 2, 2, 1]})]:
        golden.fails('QuantizedConv2D', [numbers(q, *image), numbers(q, *window), *ones], {'strides': [1, 1, 1, 1], **more, **attrs}, name=f'{image} {window} {attrs}')
    golden.fails('QuantizedConv2D', [numbers(q, 1, 3, 3, 2), numbers(q, 2, 2, 2, 1), f([-1]), *ones[1:]], {'strides': [1, 1, 1, 1], **more})
    for op in ['QuantizedMaxPool', 'QuantizedAvgPool']:
        for dtype in [tf.quint8, tf.qint8]:
            for padding in ['SAME', 'VALID']:
                for size, stride in [(2, 1), (3, 2)]:
                    golden.op(op, [numbers(dtype, 1, 5, 4, 2), f(-1), f(1)], {'ksize': [1, size, size, 1], 'strides': [1, stride, stride, 1], 'padding': padding}, name=f'{dtype.name} {padding} {size} {stride}')
        golden.fails(op, [numbers(q, 1, 3, 3, 2), f([-1]), f(1)], {'ksize': [1, 2, 2, 1], 'strides': [1, 1, 1, 1], 'padding': 'SAME'})
    for shape in [[3, -1], [6], [2, 3, 1]]:
        golden.op('QuantizedReshape', [numbers(q, 2, 3), np.int32(shape), f(-1), f(2)], name=f'{shape}')
    for shape in [[4, -1], [7], [-1, -1], [[6]]]:
        golden.fails('QuantizedReshape', [numbers(q, 2, 3), np.int32(shape), f(-1), f(2)], name=f'{shape}')
