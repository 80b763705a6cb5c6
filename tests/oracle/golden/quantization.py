"""Fake quantisation, and quantising with a way back."""
import numpy as np

from data import bfloat16
from writer import ELEMENTWISE, TO_LARGEST


def cases(golden):
    def x(*shape, dtype=np.float32):
        return (golden.random.standard_normal(shape) * 2).astype(dtype)

    _fake(golden, x)
    _round_trips(golden, x)


def _fake(golden, x):
    for attrs in [{}, {'min': -1.0, 'max': 2.0, 'num_bits': 4}, {'min': 0.5, 'max': 3.0, 'narrow_range': True}, {'min': -3.0, 'max': -1.0, 'num_bits': 2}, {'num_bits': 16}]:
        golden.op('FakeQuantWithMinMaxArgs', [x(2, 7)], attrs, tolerance=ELEMENTWISE, gradient=True)
    golden.fails('FakeQuantWithMinMaxArgs', [x(2)], {'min': 2.0, 'max': 2.0})
    golden.fails('FakeQuantWithMinMaxArgs', [x(2)], {'num_bits': 17})
    for low, high in [(-1, 2), (0, 0), (0.5, 2), (-2, -1), (-0.1, 3)]:
        for attrs in [{}, {'num_bits': 3, 'narrow_range': True}]:
            golden.op('FakeQuantWithMinMaxVars', [x(5, 3), np.float32(low), np.float32(high)], attrs, name=f'{low} {high} {attrs}', tolerance=ELEMENTWISE, gradient=True, gradient_tolerance=TO_LARGEST)
    lows, highs = np.float32([-1, 0, -2, 1]), np.float32([1, 0, -1, 3])
    for shape in [(4,), (3, 4), (2, 2, 1, 4)]:
        golden.op('FakeQuantWithMinMaxVarsPerChannel', [x(*shape), lows, highs], {'num_bits': 5}, tolerance=ELEMENTWISE, gradient=True, gradient_tolerance=TO_LARGEST)
    golden.fails('FakeQuantWithMinMaxVars', [x(2), np.float32(-1), np.float32(1)], {'num_bits': 1})
    golden.fails('FakeQuantWithMinMaxVars', [x(2), np.float32([-1]), np.float32(1)])
    golden.fails('FakeQuantWithMinMaxVarsGradient', [x(2), x(3), np.float32(-1), np.float32(1)])
    for low, high in [(lows[:1], highs), (lows, highs[:1]), (lows[0], highs)]:
        golden.fails('FakeQuantWithMinMaxVarsPerChannel', [x(2, 4), low, high], name=f'{low.shape} {high.shape}')
    golden.fails('FakeQuantWithMinMaxVarsPerChannelGradient', [x(2, 4), x(3, 4), lows, highs])


def _round_trips(golden, x):
    ranges = [(-1, 2), (0, 1.5), (-3, 0.25)]
    for op in ['QuantizeAndDequantizeV2', 'QuantizeAndDequantizeV3', 'QuantizeAndDequantizeV4']:
        third = op.endswith('3')
        for low, high in ranges:
            for attrs in [{'range_given': True}, {'range_given': False}, {'range_given': True, 'signed_input': False, 'num_bits': 4}, {'range_given': True, 'narrow_range': True, 'round_mode': 'HALF_UP'}]:
                attrs = dict(attrs)
                bits = attrs.pop('num_bits', 8) if third else None
                if third:
                    attrs.pop('round_mode', None)
                inputs = [x(3, 4), np.float32(low), np.float32(high)] + ([np.int32(bits)] if third else [])
                golden.op(op, inputs, attrs, name=f'{low} {high} {attrs} {bits}', tolerance=ELEMENTWISE, gradient=True)
        for dtype in [np.float64, np.float16, bfloat16]:
            golden.op(op, [x(3, 4, dtype=dtype), dtype(-1), dtype(2)] + ([np.int32(6)] if third else []), {'range_given': True}, tolerance=ELEMENTWISE)
        golden.op(op, [x(2, 3, 2), np.zeros(3, np.float32), np.zeros(3, np.float32)] + ([np.int32(8)] if third else []), {'range_given': False, 'axis': 1}, tolerance=ELEMENTWISE)
        golden.op(op, [x(0, 3), np.float32(0), np.float32(0)] + ([np.int32(8)] if third else []), {'range_given': False})
        golden.fails(op, [x(2, 3), np.float32(1), np.float32(-1)] + ([np.int32(8)] if third else []), {'range_given': True})
        golden.fails(op, [x(2, 3), np.float32(-1), np.float32(1)] + ([np.int32(8)] if third else []), {'range_given': True, 'axis': 2})
    golden.fails('QuantizeAndDequantizeV2', [x(2), np.float32(-1), np.float32(1)], {'num_bits': 0})
    golden.fails('QuantizeAndDequantizeV2', [x(2), np.float32([-1]), np.float32(1)], {'range_given': True})
    golden.fails('QuantizeAndDequantizeV2', [x(2), np.float32(-1), np.float32(1)], {'range_given': True, 'axis': 0})
    golden.fails('QuantizeAndDequantizeV3', [x(2), np.float32(-1), np.float32(1), np.int32(63)])
    golden.fails('QuantizeAndDequantizeV3', [x(2), np.float32(-1), np.float32(1), np.int32([8])])
    golden.op('QuantizeAndDequantizeV4Grad', [x(2, 3), x(2, 3), np.float32([-1, -1, 0]), np.float32([1, 0, 2])], {'axis': 1})
    for inputs, axis in [([x(2), x(2, 3), np.float32(-1), np.float32(1)], -1), ([x(2, 3), x(2, 3), np.float32([-1]), np.float32(1)], -1), ([x(2, 3), x(2, 3), np.float32([-1]), np.float32([1])], 1),
                         ([x(2, 3), x(2, 3), np.float32(-1), np.float32(1)], 1), ([x(2, 3), x(2, 3), np.float32(-1), np.float32(1)], 3)]:
        golden.fails('QuantizeAndDequantizeV4Grad', inputs, {'axis': axis})
