"""Glimpses of images. Noise has no seeds, so that these are windows inside of images and zeros."""
import numpy as np

from data import numbers

F = np.float32


def cases(golden):
    def x(*shape):
        return numbers(golden.random, shape, np.dtype(F))

    zero = {'noise': 'zero', 'uniform_noise': False}
    for op in ['ExtractGlimpse', 'ExtractGlimpseV2']:
        for centered in [False, True]:
            for normalized in [False, True]:
                attrs = {'centered': centered, 'normalized': normalized}
                offsets = F([[0.3, -0.4], [0, 0.75], [-1.2, 0.1]]) * (1 if normalized else 5)
                golden.op(op, [x(3, 5, 7, 2), np.int32([2, 3]), offsets], attrs | zero)
        for size, offset in [((9, 8), (0, 0)), ((3, 3), (5, 5)), ((3, 3), (np.nan, 1e30)), ((0, 3), (0, 0)), ((1, 1), (-1, -1)), ((5, 4), (0, 0))]:
            golden.op(op, [x(1, 5, 4, 1), np.int32(size), F([offset])], zero, name=f'{size} {offset}')
        for attrs in [{}, {'noise': 'gaussian', 'uniform_noise': False}, {'noise': '', 'uniform_noise': False}]:
            golden.op(op, [x(1, 6, 6, 2), np.int32([3, 2]), F([[0.1, 0.2]])], attrs, name=f'inside {attrs}')
        image, window, offset = x(1, 4, 4, 1), np.int32([2, 2]), F([[0, 0]])
        for wrong in [[image[0], window, offset], [image, window[:1], offset], [image, window[None], offset], [image, -window, offset], [image, window, offset[0]], [image, window, F([[0, 0], [1, 1]])], [image, window, F([[0]])]]:
            golden.fails(op, wrong, zero)
        golden.fails(op, [image, window, offset], {'noise': 'none', 'uniform_noise': False})
