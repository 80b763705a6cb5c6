"""Colours and outlines of boxes."""
import numpy as np

from data import FLOATS, numbers
from writer import SUMMED, TO_LARGEST

FLOAT = np.dtype(np.float32)


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
