"""Connectionist temporal classification: losses and decoders."""
import numpy as np

from writer import Tolerance

I64 = np.int64
# TensorFlow adds logarithms in float, for double too.
SUMS = Tolerance(float32=dict(to_largest=1e-5), float64=dict(to_largest=1e-6))


def cases(golden):
    def logits(time, batch, classes, dtype=np.float32):
        return (golden.random.standard_normal((time, batch, classes)) * 2).astype(dtype)

    def loss(call, x, labels, lengths, attrs=None, **more):
        indices = [[b, k] for b, row in enumerate(labels) for k in range(len(row))]
        call('CTCLoss', [x, I64(indices).reshape(-1, 2), np.int32([label for row in labels for label in row]), np.int32(lengths)], attrs,
             name=f'{x.shape} {x.dtype} {labels} {lengths} {attrs}', **more)

    exact = dict(tolerance=SUMS, gradient=True, differentiable=[0])
    loss(golden.op, logits(5, 2, 4), [[0, 1], [2, 2]], [5, 4], **exact)
    loss(golden.op, logits(5, 2, 4, np.float64), [[0, 1], [2, 2]], [5, 4], **exact)
    for attrs in [{'preprocess_collapse_repeated': True}, {'ctc_merge_repeated': False}, {'ignore_longer_outputs_than_inputs': True}]:
        loss(golden.op, logits(5, 2, 4), [[0, 0, 1], [2, 2, 1]], [5, 3 if 'ignore' not in str(attrs) else 2], attrs, **exact)
    loss(golden.op, logits(3, 3, 5), [[3], [0, 4], [1]], [3, 2, 1], **exact)
    loss(golden.op, logits(2, 1, 3), [[0, 0]], [2], **exact)  # no valid path
    for labels, lengths in [([[0, 1], []], [3, 3]), ([[0, 1], [1]], [1, 3]), ([[0, 1], [1]], [4, 3]), ([[0, 1], [1]], [3, -1]), ([[3, 1], [1]], [3, 3]), ([[-1, 1], [1]], [3, 3]), ([[0], [1]], [3])]:
        loss(golden.fails, logits(3, 2, 4), labels, lengths)
    x = logits(3, 2, 4)
    for indices in [[[0, 0], [0, 0]], [[1, 0], [0, 0]], [[0, 0], [2, 0]], [[0, 0]]]:
        golden.fails('CTCLoss', [x, I64(indices), np.int32([1, 1]), np.int32([3, 3])], name=str(indices))
    golden.fails('CTCLoss', [x[0], I64([[0, 0]]), np.int32([1]), np.int32([3, 3])])
    golden.fails('CTCLoss', [x, I64([0, 0]), np.int32([1]), np.int32([3, 3])])
    golden.fails('CTCLoss', [x[:, :0], np.zeros((0, 2), I64), np.zeros(0, np.int32), np.zeros(0, np.int32)])

    for attrs in [{}, {'merge_repeated': True}, {'blank_index': 0}, {'blank_index': -2, 'merge_repeated': True}]:
        for dtype in [np.float32, np.float64]:
            golden.op('CTCGreedyDecoder', [logits(6, 3, 3, dtype), np.int32([6, 0, 4])], attrs, tolerance=SUMS)
    for lengths, attrs in [([4, 1], {}), ([1], {}), ([[1, 1]], {}), ([1, 1], {'blank_index': 4}), ([1, 1], {'blank_index': -5})]:
        golden.fails('CTCGreedyDecoder', [x, np.int32(lengths)], attrs, name=str(lengths))
    golden.fails('CTCGreedyDecoder', [x[:0], np.int32([0, 0])])
    golden.fails('CTCGreedyDecoder', [x[0], np.int32([0, 0])])

    for width, paths, merge in [(1, 1, False), (4, 2, False), (4, 4, True), (20, 3, False), (100, 1, True)]:
        for dtype in [np.float32, np.float64]:
            golden.op('CTCBeamSearchDecoder', [logits(7, 2, 4, dtype), np.int32([7, 5])], {'beam_width': width, 'top_paths': paths, 'merge_repeated': merge}, tolerance=SUMS)
    golden.op('CTCBeamSearchDecoder', [logits(3, 2, 3), np.int32([3, 0])], {'beam_width': 5, 'top_paths': 1}, tolerance=SUMS)
    for lengths, width, paths in [([3, 3], 1, 2), ([3, 0], 5, 2), ([4, 1], 5, 1), ([1], 5, 1)]:
        golden.fails('CTCBeamSearchDecoder', [x, np.int32(lengths)], {'beam_width': width, 'top_paths': paths}, name=str(lengths))
