"""LSTM and GRU cells as single ops, and LSTMs over time."""
import numpy as np

from writer import TO_LARGEST, Tolerance

# TensorFlow rounds the result of every operation to half, here only the outputs are rounded: four roundings may add up.
ROUNDED = Tolerance(**{**TO_LARGEST.by_dtype, 'float16': dict(to_largest=4e-3)})


def cases(golden):
    def x(*shape, dtype=np.float32):
        return (golden.random.integers(-32, 33, shape) / 32).astype(dtype)

    def weights(inputs, size, dtype):
        return [x(inputs + size, 4 * size, dtype=dtype), *[x(size, dtype=dtype) for _ in range(3)], x(4 * size, dtype=dtype)]

    for batch, inputs, size, dtype in [(2, 3, 2, np.float32), (2, 0, 3, np.float32), (2, 3, 2, np.float16)]:
        for attrs in [{'forget_bias': 0.5, 'cell_clip': 0.25}, {'cell_clip': -1.0, 'use_peephole': True}]:
            values = [x(batch, inputs, dtype=dtype), x(batch, size, dtype=dtype), x(batch, size, dtype=dtype), *weights(inputs, size, dtype)]
            golden.op('LSTMBlockCell', values, attrs, tolerance=ROUNDED)
            more = [x(batch, size, dtype=dtype) for _ in range(8)]
            golden.op('LSTMBlockCellGrad', values + more, {'use_peephole': attrs.get('use_peephole', False)}, name=str(attrs) + str((batch, inputs, size, dtype)), tolerance=ROUNDED)

    for op in ['BlockLSTM', 'BlockLSTMV2']:
        for steps, length, batch, inputs, size, dtype in [(3, 3, 2, 3, 2, np.float32), (1, 2, 3, 1, 3, np.float32), (0, 2, 1, 2, 2, np.float32), (1, 2, 2, 3, 2, np.float16)]:
            for attrs in [{'use_peephole': True}, {'cell_clip': 0.25}][:1 if steps == 0 else 2]:
                values = [np.int64(steps), x(length, batch, inputs, dtype=dtype), x(batch, size, dtype=dtype), x(batch, size, dtype=dtype), *weights(inputs, size, dtype)]
                # TensorFlow leaves the other outputs of the steps that are not computed without values. Its gradient of
                # BlockLSTMV2 takes the gates in the order of BlockLSTM.
                all_steps, gradient = steps == length, op == 'BlockLSTM' and dtype == np.float32
                golden.op(op, values, attrs, name=f'{steps} of {length} {attrs} {dtype.__name__} {size}', tolerance=ROUNDED, gradient=all_steps and gradient, differentiable=[1, 6],
                          outputs=None if all_steps else [1, 6])
                more = [x(length, batch, size, dtype=dtype) for _ in range(9)]
                golden.op(op.replace('LSTM', 'LSTMGrad'), values + more, {'use_peephole': attrs.get('use_peephole', False)},
                          name=f'{steps} of {length} {attrs} {dtype.__name__} {size}', tolerance=ROUNDED)
    _gru(golden, x)
    _errors(golden, x)


def _gru(golden, x):
    for batch, inputs, size in [(2, 3, 2), (1, 1, 1), (2, 0, 3), (1, 2, 5)]:
        values = [x(batch, inputs), x(batch, size), x(inputs + size, 2 * size), x(inputs + size, size), x(2 * size), x(size)]
        golden.op('GRUBlockCell', values, tolerance=ROUNDED, name=f'{batch} {inputs} {size}')
        golden.op('GRUBlockCellGrad', values + [x(batch, size) for _ in range(4)], tolerance=ROUNDED, name=f'{batch} {inputs} {size}')


def _errors(golden, x):
    def changed(values, which, shape):
        return [x(*shape) if k == which else value for k, value in enumerate(values)]

    cell = [x(2, 3), x(2, 2), x(2, 2), x(5, 8), x(2), x(2), x(2), x(8)]
    for which, shape in [(1, (3, 2)), (2, (2, 3)), (3, (4, 8)), (3, (5, 7)), (4, (2, 1)), (7, (7,)), (0, (2, 3, 1))]:
        golden.fails('LSTMBlockCell', changed(cell, which, shape), name=f'{which} {shape}')
    golden.fails('LSTMBlockCell', [x(0, 3), x(0, 2), x(0, 2), *cell[3:]])
    for which, shape in [(8, (3, 2)), (14, (1, 2))]:
        golden.fails('LSTMBlockCellGrad', changed(cell + [x(2, 2) for _ in range(8)], which, shape), {'use_peephole': False}, name=f'{which} {shape}')

    block = [np.int64(2), x(2, 2, 3), *cell[1:]]
    for which, shape in [(1, (2, 3)), (3, (2, 3)), (4, (4, 8)), (6, (1, 2))]:
        golden.fails('BlockLSTM', changed(block, which, shape), name=f'{which} {shape}')
    golden.fails('BlockLSTMV2', [np.int64([2]), *block[1:]])  # TensorFlow does not survive lengths beyond those of x
    values = block + [x(2, 2, 2) for _ in range(9)]
    for which, shape in [(4, (5, 7)), (5, ()), (9, (2, 2))]:
        golden.fails('BlockLSTMGrad', changed(values, which, shape), {'use_peephole': False}, name=f'{which} {shape}')

    gru = [x(2, 3), x(2, 2), x(5, 4), x(5, 2), x(4), x(2)]
    for which, shape in [(0, (2,)), (1, (3, 2)), (2, (4, 4)), (3, (5, 1)), (4, ()), (5, (1,))]:
        golden.fails('GRUBlockCell', changed(gru, which, shape), name=f'{which} {shape}')
    for which, shape in [(6, (2,)), (7, (2, 3)), (8, (2,)), (9, (2, 3))]:
        golden.fails('GRUBlockCellGrad', changed(gru + [x(2, 2) for _ in range(4)], which, shape), name=f'{which} {shape}')
