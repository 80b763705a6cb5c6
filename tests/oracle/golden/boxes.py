"""Non-maximum suppression."""
import numpy as np

from writer import ELEMENTWISE

NOTHING = np.int32(0)


def cases(golden):
    random = golden.random

    def boxes(count, dtype=np.float32):
        """Boxes around few places, so that many overlap; some have swapped corners, and the last has no area."""
        center, size = random.integers(0, 3, (count, 2)) / 2, random.uniform(0.2, 1, (count, 2))
        center = center + random.uniform(-0.15, 0.15, (count, 2))
        made = np.concatenate([center - size / 2, center + size / 2], 1)
        made[::3] = made[::3][:, [2, 1, 0, 3]]
        made[-1, 2] = made[-1, 0]
        return made.astype(dtype)

    def scores(count, dtype=np.float32):
        return random.permutation(np.linspace(-0.2, 1, count)).astype(dtype)

    def nms(version, x, s, size, *thresholds, attrs=None, name='', outputs=None):
        thresholds = [np.asarray(t, x.dtype) if isinstance(t, float) else t for t in thresholds]
        golden.op(f'NonMaxSuppression{version}', [x, s, np.int32(size), *thresholds], attrs, name=f'{name} {size} {[float(t) for t in thresholds]}{attrs or ""}',
                  tolerance=ELEMENTWISE, outputs=outputs)

    for dtype in (np.float32, np.float16):
        x, s = boxes(11, dtype), scores(11, dtype)
        tied = np.array([0.5, 0.9, 0.5, 0.9, 0.5, 0.1, 0.1, 0.9, 0.5, 0.1, 0.5], dtype)
        if dtype == np.float32:
            for threshold in (0.5, 0.0):
                nms('', x, s, 7, attrs={'iou_threshold': threshold})
            nms('', x, tied, 20, name='ties')
        for size, threshold in [(20, 0.3), (3, 0.6), (0, 0.5)]:
            nms('V2', x, s, size, threshold)
            nms('V3', x, tied, size, threshold, 0.4, name='ties')
        nms('V2', x, s, 11, np.float16(0.3) if dtype == np.float32 else np.float32(0.3), name='thresholds of another type')
        for pad in (False, True):
            nms('V4', x, s, 9, 0.4, 0.2, attrs={'pad_to_max_output_size': pad})
            for sigma in ((0.0, 0.3) if pad else (2.0,)):
                nms('V5', x, s, 13, 0.4, 0.1, sigma, attrs={'pad_to_max_output_size': pad})
        nms('V5', x, tied, 11, 0.4, 0.3, 0.5, name='ties')
        nms('V5', x, tied, 11, 0.4, -np.inf, 0.1, name='no least score')
        for version, thresholds, count in [('V2', [0.5], 1), ('V4', [0.5, 0.0], 2), ('V5', [0.5, 0.0, 1.0], 3)]:
            nms(version, np.zeros((0, 4), dtype), np.zeros(0, dtype), 3, *thresholds, attrs={'pad_to_max_output_size': True} if count > 1 else None, name='nothing')
    x = np.float32([[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 0, np.inf, 1], [np.nan, 0, 1, 1], [-1, -1, 0, 0], [0, 0, 1, 1]])
    nms('V3', x, np.float32([1, 0.9, 0.8, 0.7, np.inf, -np.inf]), 6, 0.5, -1.0, name='at the threshold, not finite')
    nms('V3', x, np.float32([1, np.nan, 0.8, 0.7, 0.6, 0.5]), 6, 0.5, 0.5, name='a score that is no number, and one at the threshold')

    overlaps = np.float32(random.uniform(0, 1, (8, 8)))
    for size, threshold, least in [(8, 0.5, 0), (3, 0.8, 0.3), (8, -1, -1)]:
        nms('WithOverlaps', overlaps, scores(8), size, np.float32(threshold), np.float32(least))

    x, s, half = boxes(3), scores(3), np.float32(0.5)
    one = np.float32([0.5])
    golden.fails('NonMaxSuppression', [x, s, NOTHING], {'iou_threshold': 1.5})
    golden.fails('NonMaxSuppression', [x, s, np.int32(-1)], name='negative')
    for version, more in [('V3', [half, half]), ('V5', [half, half, half])]:
        op = f'NonMaxSuppression{version}'
        golden.fails(op, [x, s, np.int32([1, 2]), *more])
        for i in range(len(more)):
            golden.fails(op, [x, s, NOTHING, *more[:i], one, *more[i + 1:]], name=f'threshold {i}')
    golden.fails('NonMaxSuppressionV5', [x, s, NOTHING, half, half, np.float32(-1)], name='a negative sigma')
    golden.fails('NonMaxSuppressionV2', [x[0], s, NOTHING, half])
    golden.fails('NonMaxSuppressionV2', [x[:, :3], s, NOTHING, half])
    golden.fails('NonMaxSuppressionV2', [x, s[:2], NOTHING, half])
    golden.fails('NonMaxSuppressionWithOverlaps', [overlaps[0], s, NOTHING, half, half])
    golden.fails('NonMaxSuppressionWithOverlaps', [overlaps[:3], s, NOTHING, half, half])
    golden.fails('NonMaxSuppressionWithOverlaps', [overlaps[:3, :3], s, NOTHING, one, half], name='overlap')
    combined(golden, boxes)


def combined(golden, boxes):
    random, half = golden.random, np.float32(0.5)

    def detect(x, s, per_class, total, iou, least, **attrs):
        golden.op('CombinedNonMaxSuppression', [x, s, np.int32(per_class), np.int32(total), np.float32(iou), np.float32(least)], attrs, name=f'{x.shape} {per_class} {total} {iou} {least} {attrs}')

    def images(count, anchors, classes):
        return np.stack([boxes(anchors * classes).reshape(anchors, classes, 4) for _ in range(count)])

    shared, own, s = images(2, 4, 1), images(2, 4, 2), np.float32(random.permutation(16).reshape(2, 4, 2) / 16)
    detect(shared, s, 3, 6, 0.4, 0.1)
    detect(shared, s, 2, 20, 0.4, 0.2, pad_per_class=True)
    detect(own, s, 2, 4, 0.4, 0.2, pad_per_class=True, clip_boxes=False)
    ties = np.float32(random.integers(1, 3, (2, 4, 2)) / 4)
    detect(shared, ties, 5, 8, 0.9, 0.1)
    detect(own[:, :0], s[:, :0], 2, 3, 0.5, 0.1)
    good = [own, s, np.int32(1), np.int32(1), half, half]
    for i, bad in [(0, own[:, 0]), (0, own[:1]), (1, s[:, :3]), (4, np.float32(2))]:
        golden.fails('CombinedNonMaxSuppression', [*good[:i], bad, *good[i + 1:]], name=f'input {i}')
