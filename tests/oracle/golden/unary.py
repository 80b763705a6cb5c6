"""Elementwise ops of one input, and the ops of their gradients."""
import numpy as np

from data import SHAPES, extremes, numbers
from writer import ELEMENTWISE, EXACT, SUMMED, Tolerance, dtypes, kind

# Where each is defined for real numbers: low, high, and whether TensorFlow has a gradient.
OPS = {
    'Neg': (-4, 4), 'Square': (-4, 4), 'Abs': (-4, 4), 'Sign': (-4, 4), 'Sqrt': (0.5, 9), 'Rsqrt': (0.5, 9), 'Exp': (-4, 4), 'Expm1': (-4, 4),
    'Log': (0.5, 9), 'Log1p': (-0.5, 9), 'Sigmoid': (-4, 4), 'Tanh': (-4, 4), 'Reciprocal': (0.5, 9), 'Inv': (0.5, 9), 'Floor': (-4, 4), 'Ceil': (-4, 4),
    'Round': (-4, 4), 'Rint': (-4, 4), 'Relu': (-4, 4), 'Relu6': (-9, 9), 'Elu': (-4, 4), 'Selu': (-4, 4), 'LeakyRelu': (-4, 4), 'Softplus': (-4, 4),
    'Softsign': (-4, 4), 'Sin': (-4, 4), 'Cos': (-4, 4), 'Tan': (-1.4, 1.4), 'Asin': (-0.9, 0.9), 'Acos': (-0.9, 0.9), 'Atan': (-4, 4), 'Sinh': (-4, 4),
    'Cosh': (-4, 4), 'Asinh': (-4, 4), 'Acosh': (1.5, 9), 'Atanh': (-0.9, 0.9), 'Erf': (-3, 3), 'Erfc': (-3, 3), 'Lgamma': (0.5, 9), 'Digamma': (0.5, 9),
    'Identity': (-4, 4), 'Snapshot': (-4, 4), 'StopGradient': (-4, 4), 'ZerosLike': (-4, 4), 'OnesLike': (-4, 4), 'IsNan': (-4, 4), 'IsInf': (-4, 4),
    'IsFinite': (-4, 4), 'LogicalNot': (-4, 4), 'L2Loss': (-4, 4),
}
MOVES = {'Neg', 'Abs', 'Sign', 'Floor', 'Ceil', 'Round', 'Rint', 'Relu', 'Relu6', 'Identity', 'Snapshot', 'StopGradient', 'ZerosLike', 'OnesLike', 'IsNan',
         'IsInf', 'IsFinite', 'LogicalNot', 'Square'}
# TensorFlow rounds to the dtype in between, or they go through 0.
IN_STEPS = {'Elu', 'Selu', 'Softplus', 'Digamma', 'Lgamma'}
NO_GRADIENT = {'StopGradient', 'ZerosLike', 'OnesLike', 'IsNan', 'IsInf', 'IsFinite', 'LogicalNot', 'Snapshot', 'Sign', 'Floor', 'Ceil', 'Round', 'Rint'}
# dy and y or x; the low and high of the second input.
GRADIENTS = {'SigmoidGrad': ('y', 0.1, 0.9), 'TanhGrad': ('y', -0.9, 0.9), 'SqrtGrad': ('y', 0.5, 4), 'RsqrtGrad': ('y', 0.5, 2), 'InvGrad': ('y', -2, 2),
             'ReciprocalGrad': ('y', -2, 2), 'ReluGrad': ('x', -4, 4), 'Relu6Grad': ('x', -9, 9), 'EluGrad': ('x', -0.9, 4), 'SeluGrad': ('x', -0.9, 4),
             'SoftplusGrad': ('x', -4, 4), 'SoftsignGrad': ('x', -4, 4), 'LeakyReluGrad': ('x', -4, 4)}
# The second derivatives that TensorFlow has.
GRADIENT_OF_GRADIENT = {'SigmoidGrad', 'TanhGrad', 'SqrtGrad', 'RsqrtGrad', 'InvGrad', 'ReciprocalGrad', 'ReluGrad', 'Relu6Grad', 'EluGrad', 'SeluGrad',
                        'SoftplusGrad', 'LeakyReluGrad'}
# What is made of a rounded y, such as y * (1 - y), is off by units in the last place of its largest parts.
ROUNDED = Tolerance(float32=dict(ulps=4, relative=1e-6, to_largest=1e-6), float64=dict(ulps=4, relative=1e-14, to_largest=2e-15),
                    float16=dict(ulps=2, to_largest=4e-3), bfloat16=dict(ulps=2, to_largest=3e-2), complex64=dict(relative=1e-5),
                    complex128=dict(relative=2e-13))


def between(random, shape, dtype, low, high):
    """Numbers in a range, none of them a kink."""
    of = kind(dtype)
    if of == 'c':
        made = random.uniform(0.2, 1.5, shape) + 1j * random.uniform(0.2, 1.5, shape)
    elif of in 'fb':
        made = random.uniform(low, high, shape)
        made = np.where(np.abs(made) < 0.05, 0.1, made)
        if of == 'b':
            made = made > 0
    else:
        return numbers(random, shape, dtype, int(np.ceil(low)), int(high))
    return np.asarray(made).astype(dtype)


def cases(golden):
    random = golden.random
    for op, (low, high) in OPS.items():
        attrs = [{}, {'alpha': 0.5}, {'alpha': 1.5}] if op == 'LeakyRelu' else [{}]
        for dtype in dtypes(op) if op != 'LogicalNot' else [np.dtype(bool)]:
            of = kind(dtype)
            if op == 'Round' and of == 'i':
                continue  # TensorFlow 2.21 gives 0 for all integers; 1.15 gives them back
            tolerance = SUMMED if op == 'L2Loss' else EXACT if op in MOVES and of != 'c' or of not in 'fc' else ROUNDED if of == 'c' or op in IN_STEPS else ELEMENTWISE
            gradient = of in 'fc' and op not in NO_GRADIENT
            for shape in SHAPES if dtype == np.float32 else [(3, 5), (17,)]:
                for chosen in attrs:
                    golden.op(op, [between(random, shape, dtype, low, high)], chosen, tolerance=tolerance, gradient=gradient,
                              gradient_tolerance=ROUNDED)
            if of in 'fiu' and op not in ('L2Loss', 'Lgamma', 'Digamma', 'Tan', 'Sin', 'Cos') and not (of in 'iu' and op in ('Inv', 'Reciprocal')):
                ends = extremes(dtype)
                if op in ('Inv', 'Reciprocal'):  # what they give for the largest number is subnormal
                    ends = ends[np.abs(ends) != np.max(ends[np.isfinite(ends)])]
                if op == 'Erf':  # TensorFlow 2.21 gives NaN for the ends in double
                    ends = ends[~(np.abs(ends) > 1)]
                golden.op(op, [ends], name=f'extremes of {dtype}', tolerance=tolerance)
    for op, (_, low, high) in GRADIENTS.items():
        for dtype in dtypes(op, of='fc'):
            for shape in SHAPES if dtype == np.float32 else [(3, 5), (17,)]:
                first, second = between(random, shape, dtype, low, high), numbers(random, shape, dtype)
                inputs = [first, second] if GRADIENTS[op][0] == 'y' else [second, first]
                golden.op(op, inputs, tolerance=ROUNDED if kind(dtype) == 'c' or op == 'SoftsignGrad' else ELEMENTWISE, gradient=op in GRADIENT_OF_GRADIENT and kind(dtype) == 'f',
                          gradient_tolerance=ROUNDED)
    for dtype in dtypes('CheckNumerics'):
        for shape in [(), (0,), (3, 5)]:
            golden.op('CheckNumerics', [numbers(random, shape, dtype)], {'message': 'checked'}, gradient=True)
        for bad in ([1, np.nan], [np.inf, 2], [np.nan, np.inf]):
            golden.fails('CheckNumerics', [np.array(bad, dtype)], {'message': 'checked'}, name=f'{bad} {dtype}')
    for op in ('ReluGrad', 'Relu6Grad'):
        for dtype in dtypes(op, of='iu'):
            golden.op(op, [numbers(random, (3, 5), dtype), numbers(random, (3, 5), dtype, -4, 9)])
    for op in GRADIENTS:
        for shapes in [((3,), (4,)), ((2, 3), (3,))]:
            golden.fails(op, [numbers(random, shape, np.float32) for shape in shapes])
    for shape in SHAPES:
        golden.op('LogicalNot', [numbers(random, shape, bool)])
    _not_finite(golden)


def _not_finite(golden):
    """Infinite gradients where the slope is 0, and arguments near a pole on either side."""
    for dtype in dtypes('ReluGrad', of='f'):
        dy = np.array([np.nan, np.inf, -np.inf, np.nan, np.inf, -np.inf, 1, -1], dtype)
        for op in ('ReluGrad', 'Relu6Grad'):
            golden.op(op, [dy, np.array([-1, -1, 0, 7, 7, 3, np.nan, np.inf], dtype)], name='gradients that are not finite')
    for dtype in (np.float32, np.float64):
        golden.op('Digamma', [np.array([1e-30, -1e-30, 1e-7, -1e-7, -1e-3, -0.5, -2.5], dtype)], name='near a pole', tolerance=ELEMENTWISE)
        golden.op('RsqrtGrad', [np.array([1e14 if dtype == np.float32 else 1e110], dtype), dtype([1e-20])], name='a cube that overflows', tolerance=ELEMENTWISE)
