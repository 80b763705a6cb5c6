"""Convolutions and pooling of volumes."""
import numpy as np
import tensorflow as tf

from data import FLOATS, numbers
from writer import EXACT, SUMMED, TO_LARGEST

FLOAT = np.dtype(np.float32)


def _run(golden, op, inputs, attrs):
    with golden.graph(op) as case:
        feeds, results = golden._build(op, inputs, attrs)
        value = case.run(results[0], feeds)
        case.freeze()
    golden.cases.pop()
    return value


def ones(shape):
    return np.ones(shape, FLOAT)


def cases(golden):
    def x(shape, dtype=FLOAT):
        return numbers(golden.random, shape, dtype)

    layers = [((1, 3, 3, 3, 1), (1, 1, 1, 1, 1), {}), ((2, 3, 2, 3, 2), (2, 2, 2, 2, 2), {}), ((1, 3, 3, 2, 3), (3, 2, 1, 3, 2), {'padding': 'VALID'}),
              ((1, 5, 2, 3, 1), (3, 1, 3, 1, 2), {'strides': [1, 2, 1, 2, 1]}), ((1, 5, 4, 2, 1), (2, 2, 1, 1, 3), {'strides': [1, 3, 2, 1, 1], 'padding': 'VALID'}),
              ((0, 3, 3, 3, 2), (2, 2, 2, 2, 3), {}), ((1, 2, 2, 1, 1), (4, 3, 1, 1, 2), {})]
    same = {'strides': [1, 1, 1, 1, 1], 'padding': 'SAME'}
    for i, (shape, filters, attrs) in enumerate(layers):
        attrs = same | attrs
        y = _run(golden, 'Conv3D', [x(shape), x(filters)], attrs)
        for dtype in FLOATS if i == 1 else [FLOAT]:
            small = dtype.itemsize >= 4
            golden.op('Conv3D', [x(shape, dtype), x(filters, dtype)], attrs, tolerance=SUMMED, gradient=shape[0] > 0 and small)
            golden.op('Conv3DBackpropInputV2', [np.int32(shape), x(filters, dtype), x(y.shape, dtype)], attrs, tolerance=SUMMED, gradient=shape[0] > 0 and small)
            golden.op('Conv3DBackpropFilterV2', [x(shape, dtype), np.int32(filters), x(y.shape, dtype)], attrs, tolerance=SUMMED, gradient=shape[0] > 0 and small)
    golden.op('Conv3DBackpropInputV2', [np.int64((1, 3, 2, 2, 2)), x((2, 2, 1, 2, 3)), x((1, 3, 2, 2, 3))], same, tolerance=SUMMED, gradient=True)
    value, filters, dy = ones((1, 3, 3, 3, 4)), ones((2, 2, 2, 4, 2)), ones((1, 3, 3, 3, 2))
    for wrong in [ones((3, 3, 3, 4)), ones((1, 3, 3, 3, 3)), ones((1, 3, 3, 3, 12))]:
        golden.fails('Conv3D', [wrong, filters], same)
    for wrong in [ones((2, 2, 4, 2)), ones((2, 0, 2, 4, 2)), ones((2, 2, 2, 0, 2))]:
        golden.fails('Conv3D', [value, wrong], same)
    golden.fails('Conv3D', [value, ones((6, 2, 2, 4, 2))], same | {'padding': 'VALID'})
    golden.fails('Conv3D', [value, filters], same | {'strides': [1, 1, 1, 1, 2]})
    golden.fails('Conv3D', [ones((1, 4, 3, 3, 3)), filters], same | {'data_format': 'NCDHW'})
    for sizes in [[1, 3, 3, 4], [1, 3, -3, 3, 4], [2, 3, 3, 3, 4], [1, 3, 2, 3, 4], [1, 3, 3, 3, 3], [[1, 3, 3, 3, 4]]]:
        golden.fails('Conv3DBackpropInputV2', [np.int32(sizes), filters, dy], same)
    golden.fails('Conv3DBackpropInputV2', [np.int32([1, 3, 3, 3, 4]), filters, ones((1, 3, 3, 2))], same)
    for sizes in [[2, 2, 4, 2], [2, 2, -2, 4, 2], [2, 2, 2, 4, 3], [2, 2, 2, 3, 2], [[2, 2, 2, 4, 2]]]:
        golden.fails('Conv3DBackpropFilterV2', [value, np.int32(sizes), dy], same)
    golden.fails('Conv3DBackpropFilterV2', [value, np.int32([2, 2, 2, 4, 2]), ones((1, 3, 3, 2, 2))], same)
    _pools(golden, x)
    _groups(golden, x)


def _pools(golden, x):
    windows = [((1, 4, 2, 4, 1), [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], 'VALID'), ((2, 3, 2, 4, 2), [1, 3, 2, 1, 1], [1, 2, 1, 3, 1], 'SAME'),
               ((1, 3, 2, 2, 1), [1, 3, 3, 3, 1], [1, 1, 1, 1, 1], 'SAME'), ((1, 1, 2, 2, 33), [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], 'VALID'),
               ((0, 2, 2, 2, 1), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], 'SAME')]
    for shape, ksize, strides, padding in windows:
        attrs = {'ksize': ksize, 'strides': strides, 'padding': padding}
        for dtype in [FLOATS[0], FLOATS[3]] if shape[0] == 2 else [FLOAT]:
            value, flows = x(shape, dtype), shape[0] > 0 and dtype == FLOAT
            pooled = _run(golden, 'MaxPool3D', [value], attrs)
            golden.op('MaxPool3D', [value], attrs, gradient=flows, gradient_tolerance=SUMMED)
            golden.op('MaxPool3DGrad', [value, pooled, x(pooled.shape, dtype)], attrs, tolerance=SUMMED, gradient=flows, gradient_tolerance=EXACT)
            if shape[0]:  # TensorFlow refuses empty ones
                golden.op('MaxPool3DGradGrad', [value, pooled, x(shape, dtype)], attrs, gradient=flows, gradient_tolerance=SUMMED)
            golden.op('AvgPool3D', [value], attrs, tolerance=SUMMED, gradient=flows)
            golden.op('AvgPool3DGrad', [np.int32(shape), x(pooled.shape, dtype)], attrs, tolerance=SUMMED, gradient=flows)
    attrs = {'ksize': [1, 2, 2, 2, 1], 'strides': [1, 2, 2, 2, 1], 'padding': 'VALID'}
    value, pooled = ones((1, 4, 4, 4, 2)), ones((1, 2, 2, 2, 2))
    for op in ('MaxPool3D', 'AvgPool3D'):
        golden.fails(op, [ones((4, 4, 4, 2))], attrs)
        for more in [{'ksize': [2, 2, 2, 2, 1]}, {'ksize': [1, 2, 2, 2, 2]}, {'strides': [1, 1, 1, 1, 2]}, {'data_format': 'NCDHW'}]:
            golden.fails(op, [value], attrs | more)
    for wrong in [[ones((4, 4, 4, 2)), pooled, pooled], [value, ones((1, 2, 2, 2)), pooled], [value, pooled, ones((1, 2, 2, 2))], [value, ones((1, 2, 1, 2, 2)), pooled],
                  [value, pooled, ones((1, 2, 1, 2, 2))]]:
        golden.fails('MaxPool3DGrad', wrong, attrs)
    for wrong in [[value, ones((1, 2, 2, 2)), value], [value, pooled, ones((4, 4, 4, 2))], [value, ones((1, 2, 1, 2, 2)), value], [value, pooled, ones((1, 4, 3, 4, 2))]]:
        golden.fails('MaxPool3DGradGrad', wrong, attrs)
    golden.fails('MaxPool3DGradGrad', [value, pooled, value], attrs | {'ksize': [1, 2, 2, 2, 2]})
    for sizes in [[1, 4, 4, 4], [1, 4, 4, -4, 2], [2, 4, 4, 4, 2], [1, 4, 4, 4, 3], [[1, 4, 4, 4, 2]]]:
        golden.fails('AvgPool3DGrad', [np.int32(sizes), pooled], attrs)


def _groups(golden, x):
    """Convolutions of groups of channels, which TensorFlow has where XLA compiles them; Keras has it do so."""
    for shape, filters, stride, padding in [((2, 3, 2, 3, 4), (2, 2, 2, 2, 6), 1, 'SAME'), ((1, 4, 3, 3, 3), (2, 1, 2, 1, 3), 1, 'VALID'), ((1, 3, 4, 3, 6), (1, 2, 1, 3, 2), 2, 'SAME')]:
        with golden.graph(f'Conv3D of groups {shape} {filters}') as case:
            value, weights = (tf.compat.v1.placeholder(tf.float32, sizes) for sizes in (shape, filters))

            @tf.function(jit_compile=True)
            def convolve(value, weights, stride=stride, padding=padding):
                return tf.nn.conv3d(value, weights, [1, stride, stride, stride, 1], padding)

            @tf.function(jit_compile=True)
            def differentiate(value, weights, dy, convolve=convolve):
                return tf.gradients(convolve(value, weights), [value, weights], [dy])

            y = convolve(value, weights)
            dy = tf.compat.v1.placeholder(tf.float32, y.shape)
            dx, dw = differentiate(value, weights, dy)
            case.step({result.name: result for result in (y, dx, dw)}, {value: x(shape), weights: x(filters), dy: x(y.shape)}, tolerance=TO_LARGEST)
            case.expect_success()
