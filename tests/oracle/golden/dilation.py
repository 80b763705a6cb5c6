"""Dilations of images and their gradients."""
import numpy as np

from data import extremes, numbers
from writer import SUMMED, dtypes

FLOAT = np.dtype(np.float32)
UNIT = [1, 1, 1, 1]


def ones(*shape):
    return np.ones(shape, FLOAT)


def cases(golden):
    def x(shape, dtype=FLOAT):
        return numbers(golden.random, shape, dtype, -100, 100) if dtype == FLOAT else numbers(golden.random, shape, dtype)

    # Image, filter, result, strides, rates, padding. Rates below 1 are allowed.
    layers = [((2, 4, 5, 2), (2, 3, 2), (2, 4, 5, 2), UNIT, UNIT, 'SAME'), ((1, 5, 4, 3), (2, 2, 3), (1, 4, 3, 3), UNIT, UNIT, 'VALID'),
              ((1, 7, 6, 1), (3, 2, 1), (1, 2, 2, 1), [1, 2, 3, 1], [1, 2, 1, 1], 'VALID'), ((1, 7, 6, 1), (3, 2, 1), (1, 3, 6, 1), [1, 3, 1, 1], [1, 2, 3, 1], 'SAME'),
              ((1, 3, 4, 35), (2, 2, 35), (1, 2, 2, 35), [1, 2, 2, 1], UNIT, 'SAME'), ((1, 4, 4, 1), (2, 3, 1), (1, 4, 4, 1), UNIT, [1, 0, -1, 1], 'SAME'),
              ((1, 4, 4, 1), (2, 3, 1), (1, 4, 6, 1), UNIT, [1, 0, -1, 1], 'VALID'), ((1, 2, 3, 2), (0, 2, 2), (1, 2, 3, 2), UNIT, UNIT, 'SAME'),
              ((1, 2, 3, 2), (0, 2, 2), (1, 5, 1, 2), UNIT, [1, 3, 2, 1], 'VALID'), ((0, 3, 3, 2), (2, 2, 2), (0, 2, 2, 2), UNIT, UNIT, 'VALID'),
              ((1, 2, 2, 1), (3, 3, 1), (1, 0, 0, 1), UNIT, UNIT, 'VALID')]
    for image, filters, result, strides, rates, padding in layers:
        attrs = {'strides': strides, 'rates': rates, 'padding': padding}
        value, weights, dy = x(image), x(filters), x(result)
        golden.op('Dilation2D', [value, weights], attrs, gradient=0 not in (*image, *filters, *result), gradient_tolerance=SUMMED)
        for op in ['Dilation2DBackpropInput', 'Dilation2DBackpropFilter']:
            golden.op(op, [value, weights, dy], attrs)
    same = {'strides': UNIT, 'rates': UNIT, 'padding': 'SAME'}
    for dtype in dtypes('Dilation2D'):
        # Equal sums, sums that wrap around, infinities and NaN.
        value = extremes(dtype)[:6].reshape(1, 2, 3, 1)
        weights = np.append(extremes(dtype)[-4:], x((2,), dtype)).reshape(2, 3, 1)
        golden.op('Dilation2D', [value, weights], same)
        for op in ['Dilation2DBackpropInput', 'Dilation2DBackpropFilter']:
            golden.op(op, [value, weights, x(value.shape, dtype)], same)
        golden.op('Dilation2DBackpropInput', [np.zeros((1, 3, 3, 1), dtype), np.zeros((2, 2, 1), dtype), np.ones((1, 3, 3, 1), dtype)], same, name=f'of zeros of {dtype}')
    _wrong(golden, same)


def _wrong(golden, same):
    value, weights, dy = ones(1, 4, 4, 2), ones(2, 2, 2), ones(1, 4, 4, 2)
    for wrong in [{'strides': [2, 1, 1, 1]}, {'rates': [1, 1, 1, 2]}, {'strides': [1, 0, 1, 1]}, {'strides': [1, 1, -1, 1]}]:
        golden.fails('Dilation2D', [value, weights], same | wrong)
    for image, filters in [(ones(4, 4, 2), weights), (value, ones(2, 2)), (value, ones(2, 2, 3)), (value, ones(6, 2, 2))]:
        golden.fails('Dilation2D', [image, filters], same | {'padding': 'VALID'})
    for op in ['Dilation2DBackpropInput', 'Dilation2DBackpropFilter']:
        golden.fails(op, [value, ones(2, 2), dy], same)
        for wrong in [ones(1, 4, 4), ones(1, 4, 3, 2), ones(2, 4, 4, 2), ones(1, 4, 4, 1)]:
            golden.fails(op, [value, weights, wrong], same)
