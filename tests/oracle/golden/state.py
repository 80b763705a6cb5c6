"""Variables, by reference and by resource: assignments, sums, scattered rows, uninitialised variables."""
import re

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_library

from data import numbers
from training import variable
from writer import EXACT, OPS, SUMMED, NoKernel, dtypes, kind, tf1

FLOAT = np.dtype(np.float32)


def apply(op, **values):
    return op_def_library.apply_op(op, **values)


def cases(golden):
    random = golden.random
    for op in ('AssignAdd', 'AssignSub', 'AssignAddVariableOp', 'AssignSubVariableOp'):
        by_reference = not op.endswith('Op')
        for dtype in dtypes(op, 'T' if by_reference else 'dtype', of='fiuc'):
            for shape in [(), (0,), (5,), (3, 5), (2, 1, 3), (33,)] if dtype == FLOAT else [(3, 5)]:
                _steps(golden, op, by_reference, numbers(random, shape, dtype), [numbers(random, shape, dtype) for _ in range(3)])
    for dtype in dtypes('Assign', of='fiucbS'):
        for shape in [(), (0,), (3, 5)] if dtype == FLOAT else [(3, 5)]:
            for by_reference in (True, False):
                values = [numbers(random, shape, dtype) for _ in range(2)]
                _steps(golden, 'Assign' if by_reference else 'AssignVariableOp', by_reference, numbers(random, shape, dtype), values)
    for op in sorted(OPS):
        if re.fullmatch('(Resource)?Scatter(Add|Sub|Mul|Div|Min|Max|Update)', op):
            _scatters(golden, op)
        if re.fullmatch('(Resource)?ScatterNd(Add|Sub|Update)', op):
            _slices(golden, op)
    _counters(golden)
    _variable_shapes(golden)
    _uninitialized(golden)
    _shapes(golden)
    for op in ('AssignAdd', 'AssignSub', 'AssignAddVariableOp', 'AssignSubVariableOp'):
        for shape in [(3,), (), (2, 2), (0, 3)]:
            _mismatch(golden, op, numbers(random, shape, FLOAT))
    for op in ('ScatterUpdate', 'ResourceScatterUpdate'):
        for dtype in dtypes(op, 'T' if op == 'ScatterUpdate' else 'dtype', of='bS'):
            for shape, indices in [((4, 3), (2,)), ((5,), ())]:
                rows = random.permutation(shape[0])[:int(np.prod(indices))].reshape(indices).astype(np.int32)
                _scatter(golden, op, op == 'ScatterUpdate', numbers(random, shape, dtype), rows, np.asarray(numbers(random, (*indices, *shape[1:]), dtype), dtype))


def _steps(golden, op, by_reference, initial, values):
    try:
        with golden.graph(f'{op} {initial.dtype}{list(initial.shape)}') as case:
            handle, (assign, read) = variable(by_reference, 'var', initial)
            dtype = tf.string if initial.dtype == object else initial.dtype
            value = tf1.placeholder(dtype, initial.shape, 'value')
            if op == 'AssignVariableOp':
                update = apply(op, resource=handle, value=value, name='update', validate_shape=False)
            else:
                known = {'use_locking': False} | ({'validate_shape': True} if op == 'Assign' else {}) if by_reference else {}
                update = apply(op, value=value, name='update', **{'ref' if by_reference else 'resource': handle}, **known)
            case.step({}, targets=[assign])
            for given in values:
                if by_reference:  # the result of an update is the variable
                    case.step({'update:0': update}, {value: given})
                else:
                    case.step({}, {value: given}, targets=[update])
                case.expect_success()
                case.step({'var/read:0': read})
    except NoKernel:
        pass


def _mismatch(golden, op, given):
    """The variable is [2,3]; after the failure it is as before."""
    by_reference = not op.endswith('Op')
    with golden.graph(f'{op} fails: {list(given.shape)}') as case:
        handle, (assign, read) = variable(by_reference, 'var', numbers(golden.random, (2, 3), FLOAT))
        value = tf1.placeholder(FLOAT, None, 'value')
        apply(op, value=value, name='update', **({'ref': handle, 'use_locking': False} if by_reference else {'resource': handle}))
        case.step({}, targets=[assign])
        case.step({}, {value: given}, targets=[case.graph.get_operation_by_name('update')])
        case.step({'var/read:0': read})


def _scatters(golden, op):
    random = golden.random
    by_reference = not op.startswith('Resource')
    attr = 'T' if by_reference else 'dtype'
    for dtype in dtypes(op, attr, of='fiuc'):
        if kind(dtype) == 'c' and re.search('Min|Max', op):
            continue
        variants = [((5,), (3,), None), ((5, 2), (), None), ((4, 3), (2, 2), None), ((5, 2), (0,), None), ((4, 3), (3,), ()), ((9, 17), (6,), None)]
        for shape, indices, updates in variants if dtype == FLOAT else variants[:1]:
            for index in (np.int32, np.int64) if dtype == FLOAT else (np.int32,):
                rows = random.integers(0, shape[0], indices).astype(index)
                if 'Update' in op:  # which of two updates of a row comes last is not said
                    rows = random.permutation(shape[0])[:int(np.prod(indices))].reshape(indices).astype(index)
                given = numbers(random, (*indices, *shape[1:]) if updates is None else updates, dtype, 1, 4)
                _scatter(golden, op, by_reference, numbers(random, shape, dtype, 1, 9), rows, given)
    whole = np.float32([[1, 2], [3, 4], [5, 6]])
    for rows, given in [([0, 3], whole[:2]), ([[0, -1]], whole[None, :2]), ([0, 1], whole), ([0], whole[0])]:
        _scatter(golden, op, by_reference, whole, np.int32(rows), given, 'updates' if not by_reference and len(given) == 3 else None)


def _slices(golden, op):
    """Rows, elements and whole blocks at indices of one or more axes."""
    random = golden.random
    by_reference = not op.startswith('Resource')
    for dtype in dtypes(op, of='fiucbS' if 'Update' in op else 'fiuc'):
        variants = [((5,), (3, 1)), ((4, 3), (2, 1)), ((4, 3), (2, 2)), ((2, 3, 4), (2, 2, 2)), ((3, 5), (0, 1)), ((9, 17), (6, 1))]
        for shape, at in variants if dtype == FLOAT else variants[1:2]:
            depth = at[-1]
            for index in (np.int32, np.int64) if dtype == FLOAT else (np.int32,):
                count = int(np.prod(at[:-1]))
                if 'Update' in op:  # which of two updates of a place comes last is not said
                    places = random.permutation(int(np.prod(shape[:depth])))[:count]
                    rows = np.stack(np.unravel_index(places, shape[:depth]), -1).reshape(at).astype(index)
                else:
                    rows = np.stack([random.integers(0, size, at[:-1]) for size in shape[:depth]], -1).astype(index)
                _scatter(golden, op, by_reference, numbers(random, shape, dtype), rows, numbers(random, (*at[:-1], *shape[depth:]), dtype))
    whole = np.float32([[1, 2], [3, 4], [5, 6]])
    for rows, given in [([[1], [3]], whole[:2]), ([[0], [2]], whole[:1]), ([[0]], [[1, 1, 1]]), ([[0]], [1]), ([[0, 0, 0]], [1]), ([[0, -1]], [1])]:
        _scatter(golden, op, by_reference, whole, np.int32(rows), np.float32(given))
    _scatter(golden, op, by_reference, whole[:0], np.int32([[0]]), whole[:1])


def _counters(golden):
    for dtype in (np.int32, np.int64):
        for by_reference in (True, False):
            with golden.graph(f'counting, {dtype.__name__}, {"reference" if by_reference else "resource"}') as case:
                handle, (assign, read) = variable(by_reference, 'var', np.asarray(3, dtype))
                count = apply('CountUpTo', ref=handle, limit=5, name='count') if by_reference else apply('ResourceCountUpTo', resource=handle, limit=5, T=dtype, name='count')
                case.step({}, targets=[assign])
                for _ in range(3):
                    case.step({'count:0': count})
                case.step({'var/read:0': read})
    with golden.graph('counting what is no scalar') as case:
        handle, (assign, _) = variable(True, 'var', np.int32([1, 2]), shape=None)
        count = apply('CountUpTo', ref=handle, limit=5, name='count')
        case.step({'count:0': count})
        case.step({}, targets=[assign])
        case.step({'count:0': count})


def _variable_shapes(golden):
    for shape in [(), (0,), (3, 5), (2, 1, 3)]:
        for out_type in (tf.int32, tf.int64):
            with golden.graph(f'VariableShape {list(shape)} {out_type.name}') as case:
                handle, (assign, _) = variable(False, 'var', np.zeros(shape, np.float32))
                out = tf.raw_ops.VariableShape(input=handle, out_type=out_type, name='shape')
                case.step({}, targets=[assign])
                case.step({'shape:0': out})


def _scatter(golden, op, by_reference, initial, rows, updates, message=None):
    try:
        with golden.graph(f'{op} {initial.dtype}{list(initial.shape)} {rows.dtype}{list(rows.shape)} {list(updates.shape)}') as case:
            handle, (assign, read) = variable(by_reference, 'var', initial)
            indices, given = tf1.placeholder(rows.dtype, None, 'indices'), tf1.placeholder(tf.string if updates.dtype == object else updates.dtype, None, 'updates')
            inputs = {'ref': handle, 'use_locking': False} if by_reference else {'resource': handle}
            if 'Nd' in op:
                inputs |= {'use_locking': False, 'bad_indices_policy': ''}
                inputs['ref'] = handle
                inputs.pop('resource', None)
            apply(op, indices=indices, updates=given, name='update', **inputs)
            case.step({}, targets=[assign])
            # TensorFlow 2 has other words for resources when shapes disagree.
            case.step({}, {indices: rows, given: updates}, targets=[case.graph.get_operation_by_name('update')], message=message)
            if case.succeeded:  # else TensorFlow may have done a part of it
                case.step({'var/read:0': read}, tolerance=SUMMED)
    except NoKernel:
        pass


def _uninitialized(golden):
    for by_reference in (True, False):
        with golden.graph(f'not initialized, {"reference" if by_reference else "resource"}') as case:
            handle, (assign, read) = variable(by_reference, 'var', np.float32([1, 2]))
            rows = {'indices': [0], 'updates': [1.0], 'use_locking': False}
            updates = [apply('ScatterAdd', ref=handle, name='add', **rows), apply('AssignSub', ref=handle, value=[1.0, 1.0], use_locking=False, name='sub'),
                       apply('ApplyGradientDescent', var=handle, alpha=1.0, delta=[1.0, 1.0], use_locking=False, name='descend')] if by_reference else []
            updates = [update.op for update in updates]
            there = apply('IsVariableInitialized', ref=handle, name='there') if by_reference else tf.raw_ops.VarIsInitializedOp(resource=handle, name='there')
            case.step({'there:0': there})
            message = 'Attempting to use uninitialized value var' if by_reference else None
            case.step({'var/read:0': read}, message=message)
            for update in updates:
                case.step({}, targets=[update], message=message)
            case.step({}, targets=[assign])
            case.step({'there:0': there, 'var/read:0': read})
    with golden.graph('a temporary variable') as case:
        temporary = apply('TemporaryVariable', shape=[2], dtype=tf.float32, var_name='t', name='t')
        assigned = apply('Assign', ref=temporary, value=tf.constant([1.0, 2.0]), validate_shape=True, use_locking=True, name='assigned')
        more = apply('AssignAdd', ref=assigned, value=tf.constant([3.0, 4.0]), use_locking=False, name='more')
        last = apply('DestroyTemporaryVariable', ref=more, var_name='t', name='last')
        case.step({'last:0': last})
        case.step({'last:0': last})


def _shapes(golden):
    for validate in (True, False):
        with golden.graph(f'Assign of another shape, validate_shape={validate}') as case:
            handle, (first, read) = variable(True, 'var', np.float32([1, 2]))
            value = tf1.placeholder(np.float32, None, 'value')
            again = apply('Assign', ref=handle, value=value, validate_shape=validate, use_locking=True, name='again')
            case.step({}, {value: np.float32([1, 2, 3])}, targets=[again.op])
            case.step({}, targets=[first])
            case.step({}, {value: np.float32([[5]])}, targets=[again.op])
            case.step({'var/read:0': read})
