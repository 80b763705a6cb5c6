"""Convolutions, pooling, normalisation and resizing of images."""
import numpy as np

from data import FLOATS, numbers
from writer import ELEMENTWISE, EXACT, SUMMED, TO_LARGEST, Tolerance, dtypes, kind

FLOAT = np.dtype(np.float32)
# TensorFlow computes in float and adds that up in double.
OF_FLOATS = Tolerance(**{**TO_LARGEST.by_dtype, 'float64': TO_LARGEST.by_dtype['float32']})


def cases(golden):
    random = golden.random

    def x(shape, dtype=FLOAT):
        return numbers(random, shape, dtype)

    def nchw(shape):
        return (shape[0], shape[3], shape[1], shape[2])

    # x, filter, and attrs.
    layers = [((1, 4, 4, 1), (1, 1, 1, 1), {}), ((2, 5, 6, 3), (3, 2, 3, 4), {}), ((2, 5, 6, 3), (3, 3, 3, 4), {'padding': 'VALID'}), ((2, 7, 7, 3), (3, 3, 3, 5), {'strides': [1, 2, 2, 1]}),
              ((1, 8, 9, 2), (3, 3, 2, 4), {'strides': [1, 2, 3, 1], 'padding': 'VALID'}), ((1, 5, 5, 4), (5, 5, 4, 2), {}), ((1, 17, 13, 3), (3, 3, 3, 7), {}),
              ((2, 6, 6, 3), (3, 3, 3, 4), {'padding': 'EXPLICIT', 'explicit_paddings': [0, 0, 2, 1, 0, 3, 0, 0]}), ((2, 6, 6, 8), (1, 1, 8, 16), {}),
              ((1, 6, 6, 3), (2, 2, 3, 4), {'padding': 'EXPLICIT', 'explicit_paddings': [0, 0, 1, 0, 1, 1, 0, 0], 'strides': [1, 2, 1, 1]}), ((3, 4, 4, 17), (3, 3, 17, 9), {}),
              ((0, 4, 4, 3), (3, 3, 3, 2), {}), ((1, 3, 3, 2), (2, 2, 2, 3), {'strides': [1, 3, 3, 1]})]
    for shape, filters, attrs in layers:
        attrs = {'strides': [1, 1, 1, 1], 'padding': 'SAME'} | attrs
        golden.op('Conv2D', [x(shape), x(filters)], attrs, tolerance=SUMMED, gradient=shape[0] > 0)
        if shape[0] == 0:
            continue
        case_output = _shape_of('Conv2D', [x(shape), x(filters)], attrs)
        dy = x(case_output)
        golden.op('Conv2DBackpropInput', [np.int32(shape), x(filters), dy], attrs, tolerance=SUMMED, gradient=True)
        golden.op('Conv2DBackpropFilter', [x(shape), np.int32(filters), dy], attrs, tolerance=SUMMED, gradient=True)
    for shape, filters, dilations, padding in [((1, 9, 9, 2), (3, 3, 2, 3), [1, 2, 2, 1], 'SAME'), ((2, 9, 8, 3), (3, 2, 3, 4), [1, 3, 2, 1], 'VALID'),
                                               ((1, 7, 7, 1), (2, 2, 1, 1), [1, 2, 3, 1], 'SAME')]:
        golden.op('Conv2D', [x(shape), x(filters)], {'strides': [1, 1, 1, 1], 'padding': padding, 'dilations': dilations}, tolerance=SUMMED)
    for dtype in FLOATS:
        golden.op('Conv2D', [x((1, 5, 5, 3), dtype), x((3, 3, 3, 2), dtype)], {'strides': [1, 1, 1, 1], 'padding': 'SAME'}, tolerance=SUMMED, gradient=True)
        golden.op('DepthwiseConv2dNative', [x((1, 5, 5, 3), dtype), x((3, 3, 3, 2), dtype)], {'strides': [1, 1, 1, 1], 'padding': 'SAME'}, tolerance=SUMMED, gradient=True)
    golden.op('Conv2D', [x((1, 4, 4, 6)), x((2, 2, 3, 4))], {'strides': [1, 1, 1, 1], 'padding': 'SAME'}, name='groups', tolerance=SUMMED)
    same = {'strides': [1, 1, 1, 1], 'padding': 'SAME'}
    golden.fails('Conv2D', [x((1, 4, 4, 3)), x((2, 2, 2, 4))], same)
    golden.fails('Conv2D', [x((4, 4, 3)), x((2, 2, 3, 4))], same)
    golden.fails('Conv2D', [x((1, 4, 4, 3)), x((2, 3, 4))], same)
    golden.fails('Conv2DBackpropInput', [np.int32([1, 4, 4, 3]), x((2, 2, 3, 4)), x((1, 3, 3, 4))], same)
    golden.fails('Conv2DBackpropInput', [np.int32([4, 4, 3]), x((2, 2, 3, 4)), x((1, 4, 4, 4))], same)
    golden.fails('Conv2DBackpropFilter', [x((1, 4, 4, 3)), np.int32([2, 2, 3, 4]), x((1, 4, 3, 4))], same)

    for shape, filters, attrs in [((1, 4, 4, 1), (1, 1, 1, 1), {}), ((2, 5, 6, 3), (3, 2, 3, 2), {}), ((2, 5, 6, 3), (3, 3, 3, 1), {'padding': 'VALID'}), ((2, 7, 7, 5), (3, 3, 5, 1), {'strides': [1, 2, 2, 1]}),
                                  ((1, 8, 8, 4), (5, 5, 4, 1), {}), ((1, 17, 9, 8), (3, 3, 8, 1), {}), ((1, 6, 6, 17), (3, 3, 17, 1), {'strides': [1, 2, 2, 1], 'padding': 'VALID'}),
                                  ((1, 3, 3, 2), (3, 3, 2, 3), {})]:
        attrs = {'strides': [1, 1, 1, 1], 'padding': 'SAME'} | attrs
        golden.op('DepthwiseConv2dNative', [x(shape), x(filters)], attrs, tolerance=SUMMED, gradient=True)
        dy = x(_shape_of('DepthwiseConv2dNative', [x(shape), x(filters)], attrs))
        golden.op('DepthwiseConv2dNativeBackpropInput', [np.int32(shape), x(filters), dy], attrs, tolerance=SUMMED, gradient=True)
        golden.op('DepthwiseConv2dNativeBackpropFilter', [x(shape), np.int32(filters), dy], attrs, tolerance=SUMMED, gradient=True)
    golden.fails('DepthwiseConv2dNative', [x((1, 4, 4, 3)), x((2, 2, 2, 1))], same)

    windows = [((1, 4, 4, 1), [1, 2, 2, 1], [1, 2, 2, 1], 'VALID'), ((2, 5, 6, 3), [1, 3, 2, 1], [1, 2, 1, 1], 'SAME'), ((2, 5, 6, 3), [1, 3, 3, 1], [1, 1, 1, 1], 'VALID'),
               ((1, 7, 7, 4), [1, 3, 3, 1], [1, 2, 2, 1], 'SAME'), ((1, 3, 3, 2), [1, 3, 3, 1], [1, 3, 3, 1], 'SAME'), ((1, 9, 5, 17), [1, 2, 3, 1], [1, 3, 2, 1], 'VALID'),
               ((2, 4, 4, 8), [1, 1, 1, 1], [1, 1, 1, 1], 'VALID'), ((1, 5, 5, 1), [1, 4, 4, 1], [1, 2, 2, 1], 'SAME')]
    for shape, ksize, strides, padding in windows:
        attrs = {'ksize': ksize, 'strides': strides, 'padding': padding}
        golden.op('MaxPool', [x(shape)], attrs, gradient=True, gradient_tolerance=SUMMED)
        golden.op('AvgPool', [x(shape)], attrs, tolerance=SUMMED, gradient=True)
        value = x(shape)
        pooled = _run('MaxPool', [value], attrs)
        golden.op('MaxPoolGrad', [value, pooled, x(pooled.shape)], attrs, tolerance=SUMMED)
        golden.op('AvgPoolGrad', [np.int32(shape), x(pooled.shape)], attrs, tolerance=SUMMED, gradient=True)
    for op in ('MaxPool', 'AvgPool'):
        for dtype in dtypes(op, of='fiu'):
            golden.op(op, [x((1, 5, 5, 3), dtype)], {'ksize': [1, 3, 2, 1], 'strides': [1, 2, 2, 1], 'padding': 'SAME'}, tolerance=SUMMED if op == 'AvgPool' else EXACT,
                      gradient=kind(dtype) == 'f', gradient_tolerance=SUMMED)
        golden.fails(op, [x((5, 5, 3))], {'ksize': [1, 2, 2, 1], 'strides': [1, 1, 1, 1], 'padding': 'SAME'},
                     message='tensor_in_shape must have 2 spatial dimensions. 3')  # then a number that was never set
    golden.op('MaxPool', [x((1, 4, 4, 4))], {'ksize': [1, 1, 1, 2], 'strides': [1, 1, 1, 2], 'padding': 'SAME'}, name='across channels')

    for radius, bias, alpha, beta in [(5, 1, 1, 0.5), (1, 2, 0.5, 0.75), (2, 1, 1e-2, 1), (9, 1.5, 0.3, 0.5)]:
        attrs = {'depth_radius': radius, 'bias': bias, 'alpha': alpha, 'beta': beta}
        for shape in [(1, 2, 2, 1), (2, 3, 2, 7), (1, 2, 2, 17)]:
            value = x(shape)
            golden.op('LRN', [value], attrs, tolerance=TO_LARGEST, gradient=True)
            golden.op('LRNGrad', [x(shape), value, _run('LRN', [value], attrs)], attrs, tolerance=TO_LARGEST)
    golden.fails('LRN', [x((2, 3, 4))])

    for op in ('FusedBatchNorm', 'FusedBatchNormV2', 'FusedBatchNormV3'):
        for data_format, shape in [('NHWC', (2, 3, 4, 5)), ('NHWC', (1, 1, 1, 3)), ('NHWC', (4, 1, 2, 17)), ('NHWC', (3, 5, 5, 1)), ('NHWC', (0, 3, 3, 2))]:
            channels = (shape[-1],)
            scale, offset = random.uniform(0.5, 2, channels).astype(np.float32), x(channels)
            for dtype in dtypes(op, 'T') if shape == (2, 3, 4, 5) else [FLOAT]:
                if min(shape) == 0 and op != 'FusedBatchNormV3':
                    continue
                training = {'is_training': True, 'data_format': data_format, 'epsilon': 1e-3}
                differentiable = dtype == FLOAT and min(shape) > 0 and shape != (1, 1, 1, 3)
                golden.op(op, [x(shape, dtype), scale, offset, np.float32([]), np.float32([])], training, outputs=[0, 1, 2], name='training', tolerance=TO_LARGEST,
                          gradient=differentiable, differentiable=[0])
                mean, variance = x(channels), random.uniform(0.5, 2, channels).astype(np.float32)
                golden.op(op, [x(shape, dtype), scale, offset, mean, variance], training | {'is_training': False}, outputs=[0, 1, 2], name='inference', tolerance=TO_LARGEST,
                          gradient=differentiable and op == 'FusedBatchNormV3', differentiable=[0])
        golden.fails(op, [x((2, 3, 4, 5)), x((4,)), x((5,)), np.float32([]), np.float32([])], {'is_training': True})
        golden.fails(op, [x((3, 4, 5)), x((5,)), x((5,)), np.float32([]), np.float32([])], {'is_training': True})
    for suffix in ('', 'V2', 'V3'):
        for shape in [(2, 3, 4, 5), (3, 1, 2, 1), (4, 2, 2, 17)]:
            channels = (shape[-1],)
            value, scale = x(shape), random.uniform(0.5, 2, channels).astype(np.float32)
            mean, variance = value.mean((0, 1, 2)).astype(np.float32), random.uniform(0.5, 2, channels).astype(np.float32)
            for training in (True, False):
                inputs = [x(shape), value, scale, mean, variance] + ([variance] if suffix == 'V3' else [])
                golden.op('FusedBatchNormGrad' + suffix, inputs, {'is_training': training, 'epsilon': 1e-3}, outputs=[0, 1, 2], tolerance=TO_LARGEST)

    sizes = [((1, 2, 2, 1), (4, 4)), ((1, 4, 4, 3), (2, 2)), ((2, 3, 5, 2), (7, 4)), ((1, 1, 1, 3), (3, 3)), ((1, 5, 4, 3), (1, 1)), ((1, 3, 3, 17), (5, 6)), ((1, 6, 6, 1), (6, 6)), ((0, 2, 2, 1), (3, 3))]
    for op, tolerance in (('ResizeBilinear', TO_LARGEST), ('ResizeNearestNeighbor', EXACT)):
        for shape, size in sizes:
            for attrs in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
                golden.op(op, [x(shape), np.int32(size)], attrs, tolerance=tolerance, gradient=shape[0] > 0, gradient_tolerance=TO_LARGEST)
                if shape[0] and op == 'ResizeBilinear':
                    golden.op('ResizeBilinearGrad', [x((shape[0], *size, shape[3])), x(shape)], attrs, tolerance=TO_LARGEST)
                elif shape[0]:
                    golden.op('ResizeNearestNeighborGrad', [x((shape[0], *size, shape[3])), np.int32(shape[1:3])], attrs, tolerance=TO_LARGEST)
        for dtype in dtypes(op, of='fiu'):
            golden.op(op, [x((1, 3, 4, 2), dtype), np.int32([5, 3])], tolerance=tolerance)
        golden.fails(op, [x((1, 2, 2, 1)), np.int32([0, 3])])
        golden.fails(op, [x((2, 2, 1)), np.int32([3, 3])])
        golden.fails(op, [x((1, 2, 2, 1)), np.int32([3, 3, 3])])

    _each_dtype(golden)
    _channels_first(golden)
    _normalized_gradients(golden)


def _each_dtype(golden):
    """The ops of gradients."""
    random = golden.random

    def x(shape, dtype):
        return numbers(random, shape, dtype)

    layer = {'strides': [1, 2, 1, 1], 'padding': 'SAME'}
    pool = {'ksize': [1, 3, 2, 1], 'strides': [1, 2, 2, 1], 'padding': 'SAME'}
    for dtype in FLOATS:
        for op, filters, dy in [('Conv2D', (3, 2, 3, 4), (2, 3, 6, 4)), ('DepthwiseConv2dNative', (3, 2, 3, 2), (2, 5, 6, 6))]:
            attrs = layer if op == 'Conv2D' else layer | {'strides': [1, 1, 1, 1]}
            differentiable = dtype.itemsize >= 4
            golden.op(op + 'BackpropInput', [np.int32([2, 5, 6, 3]), x(filters, dtype), x(dy, dtype)], attrs, tolerance=SUMMED, gradient=differentiable)
            golden.op(op + 'BackpropFilter', [x((2, 5, 6, 3), dtype), np.int32(filters), x(dy, dtype)], attrs, tolerance=SUMMED, gradient=differentiable)
        value = x((1, 3, 2, 7), dtype)
        golden.op('LRN', [value], {'depth_radius': 2, 'bias': 1.5}, tolerance=TO_LARGEST)
        golden.op('LRNGrad', [x(value.shape, dtype), value, _run('LRN', [value], {'depth_radius': 2, 'bias': 1.5}) if dtype == FLOAT else x(value.shape, dtype)],
                  {'depth_radius': 2, 'bias': 1.5}, tolerance=TO_LARGEST)
        golden.op('AvgPoolGrad', [np.int32([1, 5, 5, 3]), x((1, 3, 3, 3), dtype)], pool, tolerance=SUMMED, gradient=dtype.itemsize >= 4)
        golden.op('ResizeBilinearGrad', [x((1, 5, 3, 2), FLOAT), x((1, 3, 4, 2), dtype)], tolerance=OF_FLOATS)
    for dtype in dtypes('MaxPoolGrad', of='fiu'):
        value = x((1, 5, 5, 3), dtype)
        pooled = _pooled(value)
        golden.op('MaxPoolGrad', [value, pooled, x(pooled.shape, dtype)], pool, tolerance=SUMMED)
        golden.op('MaxPoolGradGrad', [value, pooled, x(value.shape, dtype)], pool)
    for dtype in dtypes('ResizeNearestNeighborGrad'):
        for attrs in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
            golden.op('ResizeNearestNeighborGrad', [x((1, 5, 3, 2), dtype), np.int32([3, 4])], attrs, tolerance=SUMMED)
    for shape, ksize, strides, padding in [((2, 5, 6, 3), [1, 3, 2, 1], [1, 2, 1, 1], 'SAME'), ((2, 5, 6, 3), [1, 2, 2, 1], [1, 2, 2, 1], 'VALID'), ((1, 9, 5, 17), [1, 2, 3, 1], [1, 3, 2, 1], 'VALID')]:
        attrs = {'ksize': ksize, 'strides': strides, 'padding': padding}
        value = x(shape, FLOAT)
        pooled = _run('MaxPool', [value], attrs)
        golden.op('MaxPoolGradGrad', [value, pooled, x(shape, FLOAT)], attrs, gradient=True, differentiable=[0], gradient_tolerance=SUMMED)
    for dtype in FLOATS:
        value, scale = x((3, 2, 4, 5), dtype), random.uniform(0.5, 2, (5,)).astype(np.float32)
        mean, variance = value.astype(np.float32).mean((0, 1, 2)), random.uniform(0.5, 2, (5,)).astype(np.float32)
        for op in ('FusedBatchNormGradV2', 'FusedBatchNormGradV3'):
            for training in (True, False):
                inputs = [x(value.shape, dtype), value, scale, mean, variance] + ([variance] if op.endswith('3') else [])
                golden.op(op, inputs, {'is_training': training, 'epsilon': 1e-3}, outputs=[0, 1, 2], tolerance=TO_LARGEST)
    golden.fails('MaxPoolGrad', [x((1, 4, 4, 1), FLOAT), x((1, 2, 2, 1), FLOAT), x((1, 3, 2, 1), FLOAT)], {'ksize': [1, 2, 2, 1], 'strides': [1, 2, 2, 1], 'padding': 'VALID'})
    golden.fails('AvgPoolGrad', [np.int32([1, 4, 4]), x((1, 2, 2, 1), FLOAT)], {'ksize': [1, 2, 2, 1], 'strides': [1, 2, 2, 1], 'padding': 'VALID'})
    golden.fails('MaxPoolGradGrad', [x((1, 4, 4, 1), FLOAT), x((1, 2, 2, 1), FLOAT), x((4, 4, 1), FLOAT)], {'ksize': [1, 2, 2, 1], 'strides': [1, 2, 2, 1], 'padding': 'VALID'})
    for op, shapes in [('LRNGrad', [(1, 2, 2, 3), (1, 2, 2, 3), (1, 2, 2, 4)]), ('ResizeBilinearGrad', [(2, 2, 1), (1, 2, 2, 1)])]:
        golden.fails(op, [x(shape, FLOAT) for shape in shapes])
    golden.fails('ResizeNearestNeighborGrad', [x((1, 2, 2, 1), FLOAT), np.int32([1, 2, 3])])
    same = {'strides': [1, 1, 1, 1], 'padding': 'SAME'}
    golden.fails('DepthwiseConv2dNativeBackpropInput', [np.int32([1, 4, 4, 3]), x((2, 2, 3, 2), FLOAT), x((1, 3, 4, 6), FLOAT)], same)
    golden.fails('DepthwiseConv2dNativeBackpropFilter', [x((1, 4, 4, 3), FLOAT), np.int32([2, 2, 3, 2]), x((1, 3, 4, 6), FLOAT)], same)


def _channels_first(golden):
    """Where TensorFlow has that on the CPU."""
    random = golden.random
    for op in ('FusedBatchNorm', 'FusedBatchNormV2', 'FusedBatchNormV3'):
        for shape in [(2, 5, 3, 4), (3, 1, 2, 2), (2, 17, 1, 2)]:
            value, scale, offset = numbers(random, shape, FLOAT), random.uniform(0.5, 2, shape[1:2]).astype(np.float32), numbers(random, shape[1:2], FLOAT)
            mean, variance = numbers(random, shape[1:2], FLOAT), random.uniform(0.5, 2, shape[1:2]).astype(np.float32)
            for training in (True, False):
                inputs = [value, scale, offset] + ([np.float32([]), np.float32([])] if training else [mean, variance])
                golden.op(op, inputs, {'is_training': training, 'data_format': 'NCHW', 'epsilon': 1e-3}, outputs=[0, 1, 2], tolerance=TO_LARGEST,
                          gradient=op.endswith('V3') or training, differentiable=[0])


def _normalized_gradients(golden):
    """Batch normalisation in both formats, and errors for shapes that do not match."""
    random = golden.random
    for shape, data_format in [((1, 1, 1, 3), 'NHWC'), ((5, 3, 3, 33), 'NHWC'), ((2, 5, 3, 4), 'NCHW'), ((3, 1, 2, 2), 'NCHW')]:
        channels = (shape[-1 if data_format == 'NHWC' else 1],)
        value, scale = numbers(random, shape, FLOAT), random.uniform(0.5, 2, channels).astype(np.float32)
        mean, variance = numbers(random, channels, FLOAT), random.uniform(0.5, 2, channels).astype(np.float32)
        for training in (True, False) if data_format == 'NHWC' else (True,):
            attrs = {'is_training': training, 'data_format': data_format, 'epsilon': 1e-2}
            golden.op('FusedBatchNormGrad', [numbers(random, shape, FLOAT), value, scale, mean, variance], attrs, outputs=[0, 1, 2], tolerance=TO_LARGEST)
    x, of = numbers(random, (2, 2, 3, 4), FLOAT), np.ones(4, np.float32)
    for inputs in ([x[:1], x, of, of, of], [x, x, of[:3], of, of], [x[0], x[0], of, of, of], [x, x, of[None], of, of]):
        golden.fails('FusedBatchNormGrad', inputs)
        golden.fails('FusedBatchNormGradV2', inputs)
        golden.fails('FusedBatchNormGradV3', inputs + inputs[4:])


def _pooled(value):
    """MaxPool for the types that TensorFlow pools only on other devices: 3 x 2 windows, two apart, SAME, of 5 x 5 pixels."""
    low = np.float64('-inf')
    padded = np.pad(value.astype(np.float64), [(0, 0), (1, 1), (0, 1), (0, 0)], constant_values=low)
    rows = np.stack([padded[:, i:i + 3].max(1) for i in (0, 2, 4)], 1)
    return np.stack([rows[:, :, j:j + 2].max(2) for j in (0, 2, 4)], 2).astype(value.dtype)


def _run(op, inputs, attrs):
    """TensorFlow's result, as an input for another op."""
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry
    names = [arg.name for arg in op_def_registry.get(op).input_arg]
    return getattr(tf.raw_ops, op)(**dict(zip(names, map(tf.constant, inputs))), **attrs).numpy()


def _shape_of(op, inputs, attrs):
    return _run(op, inputs, attrs).shape
