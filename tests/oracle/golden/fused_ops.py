"""Ops that Grappler leaves in graphs: products, convolutions and batch norms, fused with what follows them.

On the CPU TensorFlow has no kernels of _FusedDepthwiseConv2dNative and _FusedBatchNormEx that give results, nor the
fusions with Add and Gelu.
"""
import numpy as np

from data import bfloat16, numbers
from writer import Tolerance

# TensorFlow's rational functions for activations are off by a few units in the last place.
NEAR = Tolerance(float32=dict(to_largest=1e-5), float64=dict(to_largest=1e-13), half=dict(to_largest=4e-3), float16=dict(to_largest=4e-3), bfloat16=dict(to_largest=3e-2))


def cases(golden):
    def x(*shape, dtype=np.float32):
        return numbers(golden.random, shape, dtype)

    image, filters, bias = x(1, 4, 3, 2), x(2, 2, 2, 3), x(3)
    conv = {'strides': [1, 1, 1, 1], 'padding': 'SAME'}
    for ops in [[], ['Relu'], ['Relu6'], ['Elu'], ['LeakyRelu']]:
        golden.op('_FusedConv2D', [image, filters, [bias], []], conv | {'num_args': 1, 'fused_ops': ['BiasAdd', *ops], 'leakyrelu_alpha': 0.3}, tolerance=NEAR)
        norm = [bias, x(3), x(3), np.abs(x(3))]
        golden.op('_FusedConv2D', [image, filters, norm, []],
                  conv | {'num_args': 4, 'fused_ops': ['FusedBatchNorm', *ops], 'epsilon': 0.01, 'padding': 'VALID', 'strides': [1, 2, 1, 1]}, tolerance=NEAR)
    golden.op('_FusedConv2D', [x(1, 4, 3, 2, dtype=np.float64), x(2, 2, 2, 3, dtype=np.float64), [x(3, dtype=np.float64)], []],
              {'strides': [1, 2, 1, 1], 'padding': 'EXPLICIT', 'explicit_paddings': [0, 0, 1, 0, 0, 2, 0, 0], 'num_args': 1, 'fused_ops': ['BiasAdd', 'Relu']},
              tolerance=NEAR)
    golden.fails('_FusedConv2D', [image, filters, [bias], []], conv | {'num_args': 1, 'fused_ops': []})
    golden.fails('_FusedConv2D', [image, filters, [bias], []], conv | {'num_args': 1, 'fused_ops': ['Foo']})

    a, b = x(2, 3), x(3, 4)
    for ops in [[], ['Relu'], ['Relu6'], ['Elu'], ['LeakyRelu'], ['Tanh'], ['Sigmoid']]:
        golden.op('_FusedMatMul', [a, b, [x(4)]], {'fused_ops': ['BiasAdd', *ops]}, tolerance=NEAR)
    golden.op('_FusedMatMul', [x(3, 2), x(4, 3), [x(4)]], {'fused_ops': ['BiasAdd'], 'transpose_a': True, 'transpose_b': True}, tolerance=NEAR)
    golden.op('_FusedMatMul', [a.astype(bfloat16), b.astype(bfloat16), [x(4, dtype=bfloat16)]], {'fused_ops': ['BiasAdd']}, tolerance=NEAR)
