"""Pools over regions of fractional sizes, whose random numbers follow from the seeds."""
import numpy as np

from data import numbers
from writer import ELEMENTWISE, EXACT, dtypes

FLOAT = np.dtype(np.float32)


def _run(golden, op, inputs, attrs):
    with golden.graph(op) as case:
        feeds, results = golden._build(op, inputs, attrs)
        values = case.run(results, feeds)
        case.freeze()
    golden.cases.pop()
    return values


def cases(golden):
    def x(shape, dtype=FLOAT):
        return numbers(golden.random, shape, dtype)

    pools = [((2, 7, 9, 2), [1.0, 1.44, 1.73, 1.0], {}), ((1, 7, 9, 1), [1.0, 1.44, 1.73, 1.0], {'pseudo_random': True}), ((1, 10, 8, 3), [1.0, 3.7, 2.0, 1.0], {'overlapping': True}),
             ((1, 23, 5, 1), [1.0, 2.3, 1.0, 1.0], {'pseudo_random': True, 'overlapping': True}), ((1, 4, 3, 1), [1.0, 4.0, 1.6, 1.0], {}), ((1, 9, 6, 1), [1.0, 2.5, 6.0, 1.0], {'pseudo_random': True})]
    for i, (shape, ratios, attrs) in enumerate(pools):
        attrs = {'pooling_ratio': ratios, 'deterministic': True, 'seed': 5 + i, 'seed2': 3 * i} | attrs
        overlapping = {'overlapping': attrs.get('overlapping', False)}
        for dtype in dtypes('FractionalMaxPool') if i == 2 else [FLOAT]:
            value, floating = x(shape, dtype), dtype.kind == 'f'
            for op in ['FractionalMaxPool', 'FractionalAvgPool']:
                # The gradient of FractionalAvgPool needs a known shape in TensorFlow.
                golden.op(op, [value], attrs, tolerance=ELEMENTWISE, gradient=floating and op == 'FractionalMaxPool')
            y, rows, columns = _run(golden, 'FractionalMaxPool', [value], attrs)
            golden.op('FractionalMaxPoolGrad', [value, y, x(y.shape, dtype), rows, columns], overlapping, tolerance=ELEMENTWISE)
            golden.op('FractionalAvgPoolGrad', [np.int64(shape), 24 * x(y.shape, dtype), rows, columns], overlapping, tolerance=ELEMENTWISE if floating else EXACT)
    _wrong(golden)
    _wrong_gradients(golden)


def _wrong(golden):
    value = np.ones((2, 4, 4, 2), FLOAT)
    for op in ['FractionalMaxPool', 'FractionalAvgPool']:
        for image, ratios, attrs in [(value, [2.0, 1.5, 1.5, 1.0], {}), (value, [1.0, 1.5, 1.5, 1.5], {}), (value, [1.0, 100.0, 1.5, 1.0], {}), (value[0], [1.0, 1.5, 1.5, 1.0], {}), (value[:0], [1.0, 1.5, 1.5, 1.0], {}),
                                     (value, [1.0, 1.5, 1.5, 1.0], {'deterministic': False})]:
            golden.fails(op, [image], {'pooling_ratio': ratios, 'deterministic': True, 'seed': 3} | attrs)


def _wrong_gradients(golden):
    value, dy, rows, columns = np.arange(16, dtype=FLOAT).reshape(1, 4, 4, 1), np.ones((1, 2, 2, 1), FLOAT), np.int64([0, 2, 4]), np.int64([0, 1, 4])
    y = np.array([4, 7, 12, 15], FLOAT).reshape(1, 2, 2, 1)
    golden.op('FractionalMaxPoolGrad', [value, y, dy, rows, columns])
    no_tensor = {'message': 'should be a tensor of rank 4, got Tensor<type: float shape: ['}
    for inputs, more in [([value[0], y, dy, rows, columns], no_tensor), ([value, y[0], dy, rows, columns], no_tensor), ([value, dy, dy, rows, columns], {}), ([value, y, dy, rows[:2], columns], {}),
                         ([value, y, dy, np.int64([0, 3, 2]), columns], {}), ([value, y, dy, rows[None], columns], {}), ([value, y, dy, rows, columns[:2]], {})]:
        golden.fails('FractionalMaxPoolGrad', inputs, **more)
    sizes, negative = np.int64([1, 4, 4, 1]), {'message': 'sequence tensor values must not be negative, got'}
    for inputs, more in [([sizes[:3], dy, rows, columns], {}), ([sizes[None], dy, rows, columns], {}), ([sizes, dy[0], rows, columns], {}), ([sizes, dy, rows[:2], columns], {}), ([sizes, dy, rows, columns[:2]], {}),
                         ([sizes, dy, np.int64([0, -2, 4]), columns], negative), ([sizes, dy, rows, np.int64([-1, 2, 4])], negative), ([np.int64([1, -4, 4, 1]), dy, rows, columns], {}), ([sizes, dy[:0], rows, columns], {})]:
        golden.fails('FractionalAvgPoolGrad', inputs, **more)
    for more_rows in [np.int64([0, 2, 9]), np.int64([0, 3, 2]), np.int64([4, 4, 4]), np.int64([[0, 2, 4, 4]])]:
        golden.op('FractionalAvgPoolGrad', [sizes, dy, more_rows, columns], name=f'{more_rows}', tolerance=ELEMENTWISE)
