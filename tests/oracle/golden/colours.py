"""Colours, outlines of boxes, patches, and projective maps."""
import numpy as np
import tensorflow as tf

from data import FLOATS, numbers
from windows import OF_FLOATS
from writer import SUMMED, TO_LARGEST, dtypes

FLOAT = np.dtype(np.float32)
tf1 = tf.compat.v1


def ones(shape):
    return np.ones(shape, FLOAT)


def cases(golden):
    def x(shape, dtype=FLOAT):
        """Numbers of 0 to 1, among them grey, black, and colours of which two channels are equal."""
        return numbers(golden.random, shape, dtype, 0, 1)

    for dtype in FLOATS:
        for shape in [(3,), (2, 3, 3), (0, 3)] if dtype == FLOAT else [(7, 3)]:
            golden.op('RGBToHSV', [x(shape, dtype)], tolerance=TO_LARGEST, gradient=dtype.itemsize >= 4 and shape[0] > 0, gradient_tolerance=TO_LARGEST)
            golden.op('HSVToRGB', [x(shape, dtype)], tolerance=TO_LARGEST)
    for op in ('RGBToHSV', 'HSVToRGB'):
        golden.fails(op, [ones((2, 4))])
        golden.fails(op, [np.float32(1)])
    for op, values in [('AdjustHue', [0, 0.3, -0.55, 1.7]), ('AdjustSaturation', [0, 0.5, 3]), ('AdjustContrastv2', [0, 0.5, -1.5, 3])]:
        for i, value in enumerate(values):
            golden.op(op, [x([(2, 2, 3), (1, 5, 3, 3), (2, 2, 1, 3, 3), (0, 1, 2, 3)][i]), np.float32(value)], tolerance=TO_LARGEST)
        golden.fails(op, [ones((2, 3)), np.float32(1)])
        golden.fails(op, [ones((2, 2, 4)) if op != 'AdjustContrastv2' else ones((4,)), np.float32(1)])
        golden.fails(op, [ones((2, 2, 3)), np.float32([1])])
    golden.op('AdjustContrastv2', [x((2, 3, 2, 5)), np.float32(1.5)], tolerance=SUMMED)
    boxes = np.float32([[[0.1, 0.2, 0.8, 0.9], [-0.5, 0, 0.5, 1.5], [0.6, 0.1, 0.3, 0.7]], [[0, 0, 1, 1], [1.5, 0, 2, 1], [0.4, 0.4, 0.4, 0.4]]])
    for dtype in (FLOATS[0], FLOATS[2]):
        for channels in (1, 3, 4):
            golden.op('DrawBoundingBoxes', [x((2, 5, 6, channels), dtype), boxes])
            golden.op('DrawBoundingBoxesV2', [x((2, 5, 4, channels), dtype), boxes, x((2, 4))])
    golden.op('DrawBoundingBoxesV2', [x((2, 3, 4, 3)), boxes, x((0, 3))])
    golden.op('DrawBoundingBoxes', [x((1, 7, 7, 4)), np.float32([[[i / 12, i / 12, 1 - i / 12, 1 - i / 12] for i in range(6)] * 2])])
    image, box = ones((1, 2, 2, 3)), boxes[:1, :1]
    for wrong in [[image[0], box], [ones((1, 2, 2, 2)), box], [image, box[0]], [image, box[:, :, :3]], [image, boxes]]:
        golden.fails('DrawBoundingBoxes', wrong)
    for wrong in [ones((1, 2)), ones((3,))]:
        golden.fails('DrawBoundingBoxesV2', [image, box, wrong])
    _patches(golden)
    _transforms(golden, x)


def _gradient(golden, op, inputs, attrs):
    """The result and its gradient with regard to the first input. TensorFlow must know the shapes."""
    with golden.graph(f'{op} gradient {[x.shape for x in inputs]} {attrs}') as case:
        feeds, (result,) = golden._build(op, inputs, attrs, static_shapes=True)
        image, *_ = feeds
        dy = tf1.placeholder(image.dtype, result.shape, 'dy0')
        case.freeze()
        case.add_gradients([result], [image], [dy])
        made = case.run(result, feeds)
        feeds[dy] = numbers(golden.random, made.shape, made.dtype)
        case.step({'op:0': result, 'dx:0': case.dx[0]}, feeds, tolerance=[TO_LARGEST, TO_LARGEST])


def _patches(golden):
    def x(shape, dtype=FLOAT):
        return numbers(golden.random, shape, dtype)

    for shape, sizes, strides, rates, padding in [((1, 4, 3, 2), (2, 2), (1, 1), (1, 1), 'SAME'), ((2, 5, 4, 1), (3, 2), (2, 1), (1, 2), 'VALID'), ((1, 5, 5, 2), (2, 3), (2, 3), (2, 1), 'SAME'),
                                                  ((0, 3, 3, 1), (2, 2), (1, 1), (1, 1), 'SAME')]:
        attrs = {'ksizes': [1, *sizes, 1], 'strides': [1, *strides, 1], 'rates': [1, *rates, 1], 'padding': padding}
        for dtype in [d for d in dtypes('ExtractImagePatches')] if shape[-1] == 1 and shape[0] else [FLOAT]:
            golden.op('ExtractImagePatches', [x(shape, dtype)], attrs)
        if shape[0]:
            _gradient(golden, 'ExtractImagePatches', [x(shape)], attrs)
    attrs = {'ksizes': [1, 2, 2, 1], 'strides': [1, 1, 1, 1], 'rates': [1, 1, 1, 1], 'padding': 'VALID'}
    golden.fails('ExtractImagePatches', [ones((3, 3, 1))], attrs)
    for more in [{'ksizes': [2, 2, 2, 1]}, {'ksizes': [1, 0, 2, 1]}, {'strides': [1, 1, 1, 2]}, {'strides': [1, 0, 1, 1]}, {'rates': [1, 1, 1, 2]}, {'rates': [1, 0, 1, 1]}, {'ksizes': [1, 5, 5, 1]}]:
        golden.fails('ExtractImagePatches', [ones((1, 3, 3, 1))], attrs | more)
    for shape, sizes, strides, padding in [((1, 3, 2, 2, 2), (2, 2, 1), (1, 1, 1), 'SAME'), ((2, 3, 4, 2, 1), (2, 3, 2), (1, 1, 1), 'VALID'), ((1, 4, 3, 3, 1), (2, 2, 2), (2, 1, 2), 'SAME')]:
        attrs = {'ksizes': [1, *sizes, 1], 'strides': [1, *strides, 1], 'padding': padding}
        for dtype in dtypes('ExtractVolumePatches', of='fiu') if shape[0] == 2 else [FLOAT]:
            golden.op('ExtractVolumePatches', [x(shape, dtype)], attrs)
        _gradient(golden, 'ExtractVolumePatches', [x(shape)], attrs)
    golden.fails('ExtractVolumePatches', [ones((3, 3, 3, 1))], attrs)
    for more in [{'ksizes': [2, 2, 2, 2, 1]}, {'ksizes': [1, 0, 2, 2, 1]}, {'strides': [1, 1, 1, 1, 2]}, {'ksizes': [1, 5, 5, 5, 1], 'padding': 'VALID'}]:
        golden.fails('ExtractVolumePatches', [ones((1, 3, 3, 3, 1))], attrs | more)


def _transforms(golden, x):
    maps = np.float32([[1.1, 0.2, -0.7, -0.1, 0.9, 0.4, 0.01, -0.02], [0.5, 0, -3.3, 0.25, 1.5, 4.2, 0, 0]])
    for mode in ('CONSTANT', 'REFLECT', 'WRAP', 'NEAREST'):
        for how in ('NEAREST', 'BILINEAR'):
            attrs = {'interpolation': how, 'fill_mode': mode}
            _gradient(golden, 'ImageProjectiveTransformV2', [x((2, 4, 5, 1)), maps, np.int32([3, 6])], attrs)
            _gradient(golden, 'ImageProjectiveTransformV3', [x((2, 3, 4, 2)), maps[1:], np.int32([2, 5]), np.float32(0.5)], attrs)
    for dtype in FLOATS + [np.dtype(t) for t in (np.uint8, np.int32, np.int64)]:
        image = numbers(golden.random, (1, 3, 4, 1), dtype, 0, 40)
        golden.op('ImageProjectiveTransformV2', [image, maps[:1], np.int32([3, 4])], {'interpolation': 'BILINEAR'}, tolerance=OF_FLOATS)
        golden.op('ImageProjectiveTransformV3', [image, maps[:1], np.int32([3, 4]), np.float32(2)], {'interpolation': 'NEAREST'}, tolerance=TO_LARGEST)
    image, size, value = ones((1, 2, 2, 1)), np.int32([2, 2]), np.float32(0)
    for wrong in [[image[0], maps[:1], size, value], [image, maps[0], size, value], [image, maps[:1, :7], size, value], [image, maps, size, value], [image, maps[:1], np.int32([2]), value],
                  [image, maps[:1], np.int32([[2, 2]]), value], [image, maps[:1], np.int32([0, 2]), value], [image, maps[:1], size, np.float32([0])]]:
        golden.fails('ImageProjectiveTransformV3', wrong, {'interpolation': 'BILINEAR'})
