"""Resizing with cubic and other kernels, and crops of boxes."""
import numpy as np

from data import numbers
from windows import OF_FLOATS
from writer import TO_LARGEST, dtypes

FLOAT = np.dtype(np.float32)


def ones(shape):
    return np.ones(shape, FLOAT)


def cases(golden):
    def x(shape, dtype=FLOAT):
        return numbers(golden.random, shape, dtype)

    sizes = [((1, 2, 3, 1), (5, 4)), ((1, 5, 4, 3), (2, 3)), ((2, 1, 1, 2), (2, 3)), ((1, 3, 4, 1), (3, 4)), ((1, 6, 5, 1), (1, 1)), ((0, 2, 2, 1), (3, 3))]
    for shape, size in sizes:
        for attrs in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
            golden.op('ResizeBicubic', [x(shape), np.int32(size)], attrs, tolerance=TO_LARGEST, gradient=shape[0] > 0, gradient_tolerance=TO_LARGEST)
            if 'half_pixel_centers' not in attrs:
                golden.op('ResizeArea', [x(shape), np.int32(size)], attrs, tolerance=TO_LARGEST)
    for dtype in dtypes('ResizeBicubic', of='fiu'):
        golden.op('ResizeBicubic', [x((1, 3, 2, 2), dtype), np.int32([2, 5])], {'half_pixel_centers': True}, tolerance=TO_LARGEST)
        golden.op('ResizeArea', [x((1, 3, 5, 2), dtype), np.int32([2, 3])], tolerance=TO_LARGEST)
    for dtype in (FLOAT, np.dtype(np.float64)):
        for attrs in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
            golden.op('ResizeBicubicGrad', [x((1, 4, 3, 2)), x((1, 2, 5, 2), dtype)], attrs, tolerance=OF_FLOATS)
    golden.fails('ResizeBicubicGrad', [ones((2, 2, 1)), ones((1, 2, 2, 1))])
    golden.fails('ResizeBicubicGrad', [ones((1, 2, 2, 1)), ones((2, 2, 1))])
    golden.fails('ResizeBicubicGrad', [ones((1, 2, 2, 1)), ones((1, 0, 2, 1))])
    for op in ('ResizeBicubic', 'ResizeArea'):
        for image, size in [(ones((2, 2, 1)), [2, 2]), (ones((1, 2, 2, 1)), [2, 0]), (ones((1, 2, 2, 1)), [2, 2, 2]), (ones((1, 0, 2, 1)), [2, 2])]:
            golden.fails(op, [image, np.int32(size)])
    _scaled(golden, x)
    _crops(golden, x)


def _scaled(golden, x):
    for kernel in ('lanczos1', 'lanczos3', 'lanczos5', 'gaussian', 'box', 'triangle', 'keyscubic', 'mitchellcubic'):
        for antialias in (True, False):
            for shape, size, scale, translation in [((1, 5, 7, 1), (3, 2), (0.6, 0.3), (0, 0)), ((1, 3, 2, 2), (4, 5), (1.3, 2.5), (0.25, -1.5))]:
                golden.op('ScaleAndTranslate', [x(shape), np.int32(size), np.float32(scale), np.float32(translation)], {'kernel_type': kernel, 'antialias': antialias},
                          tolerance=TO_LARGEST, gradient=kernel != 'box')
    for dtype in dtypes_of_images():
        golden.op('ScaleAndTranslate', [x((1, 3, 2, 1), dtype), np.int32([2, 3]), np.float32([0.7, 1.5]), np.float32([0, 0.5])], tolerance=TO_LARGEST)
    golden.op('ScaleAndTranslateGrad', [x((1, 2, 3, 1)), x((1, 4, 2, 1)), np.float32([0.5, 1.5]), np.float32([0, 0])], tolerance=TO_LARGEST)
    image, size, pair = ones((1, 2, 2, 1)), np.int32([2, 2]), np.float32([1, 1])
    for wrong in [[ones((2, 2, 1)), size, pair, pair], [image, np.int32([2, 0]), pair, pair], [image, np.int32([2]), pair, pair], [image, np.int32([[2, 2]]), pair, pair],
                  [image, size, np.float32([1]), pair], [image, size, pair, np.float32([1])], [image, size, np.float32([1, 0]), pair], [ones((1, 0, 2, 1)), size, pair, pair]]:
        golden.fails('ScaleAndTranslate', wrong)
    golden.fails('ScaleAndTranslate', [image, size, pair, pair], {'kernel_type': 'foo'})
    for wrong in [[ones((2, 2, 1)), image, pair, pair], [image, ones((2, 2, 1)), pair, pair], [image, image, np.float32([0, 1]), pair]]:
        golden.fails('ScaleAndTranslateGrad', wrong)


def dtypes_of_images():
    return dtypes('ResizeBicubic', of='fiu')


def _crops(golden, x):
    boxes = np.float32([[0, 0, 1, 1], [0.1, 0.25, 0.8, 0.7], [0.9, 0.6, 0.2, 0.1], [-0.2, 0.3, 0.6, 1.4]])
    index = np.int32([0, 1, 1, 0])
    for method in ('bilinear', 'nearest'):
        for size in [(2, 3), (1, 4), (3, 1)]:
            attrs = {'method': method, 'extrapolation_value': 0.5}
            golden.op('CropAndResize', [x((2, 4, 5, 2)), boxes, index, np.int32(size)], attrs, tolerance=TO_LARGEST, gradient=True)
    for dtype in dtypes('CropAndResize', of='fiu'):
        golden.op('CropAndResize', [x((1, 3, 2, 1), dtype), boxes[:2], index[:1].repeat(2), np.int32([2, 2])], tolerance=TO_LARGEST)
        golden.op('CropAndResizeGradBoxes', [x((2, 2, 2, 1)), x((1, 3, 2, 1), dtype), boxes[:2], index[:1].repeat(2)], tolerance=TO_LARGEST)
    for dtype in dtypes('CropAndResizeGradImage'):
        for method in ('bilinear', 'nearest'):
            golden.op('CropAndResizeGradImage', [x((2, 2, 3, 2)), boxes[:2], index[:1].repeat(2), np.int32([2, 3, 4, 2])], {'T': dtype.type, 'method': method}, tolerance=OF_FLOATS)
    golden.op('CropAndResize', [x((1, 3, 2, 1)), boxes[:0], index[:0], np.int32([2, 2])])
    image, box, one, size = ones((1, 3, 3, 1)), boxes[:1], index[:1], np.int32([2, 2])
    for wrong in [[ones((3, 3, 1)), box, one, size], [image, box[0], one, size], [image, box[:, :3], one, size], [image, box, np.int32([0, 0]), size], [image, box, one + 1, size],
                  [image, box, one - 1, size], [image, box, np.int32([[0]]), size], [image, box, one, np.int32([2])], [image, box, one, np.int32([[2, 2]])],
                  [image, box, one, np.int32([0, 2])], [ones((1, 0, 3, 1)), box, one, size], [image, box * np.float32(np.nan), one, size]]:
        golden.fails('CropAndResize', wrong)
    grads, sizes = ones((1, 2, 2, 1)), np.int32([1, 3, 3, 1])
    for wrong in [[ones((2, 2, 1)), box, one, sizes], [grads, box, one, sizes[1:]], [grads, box, one, np.int32([1, 0, 3, 1])], [grads, box, one, np.int32([1, 3, 3, 2])],
                  [ones((2, 2, 2, 1)), box, one, sizes], [ones((1, 0, 2, 1)), box, one, sizes], [grads, box, one + 1, sizes]]:
        golden.fails('CropAndResizeGradImage', wrong, {'T': np.float32})
    for wrong in [[ones((2, 2, 1)), image, box, one], [ones((1, 0, 2, 1)), image, box, one], [grads, ones((3, 3, 1)), box, one], [ones((1, 2, 2, 2)), image, box, one],
                  [ones((2, 2, 2, 1)), image, box, one], [grads, image, box, one + 1]]:
        golden.fails('CropAndResizeGradBoxes', wrong)
