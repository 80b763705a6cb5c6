"""The ops that update variables where the cases of resource_updates and reference_updates do not go: complex variables, scalars that change the
path, other shapes, gradients that are not finite, and errors."""
import re

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_library

from training import variable
from writer import OPS, NoKernel, Tolerance, dtypes, kind, tf1

STEPS = 5
# To the largest element: small ones come out of differences.
STEPPED = Tolerance(float32=dict(to_largest=2e-6), complex64=dict(to_largest=4e-6), complex128=dict(to_largest=2e-14))
ROWS = [2, 0, 2, 3]
# Scalars by their names. Every type holds them, so that no rounding of theirs is compared.
SCALARS = dict(alpha=0.25, lr=0.125, momentum=0.75, beta1_power=0.75, beta2_power=0.875, beta1=0.75, beta2=0.875, epsilon=0.125, rho=0.75, l1=0.25,
               l2=0.5, l2_shrinkage=0.0625, lr_power=-0.5, logbase=1.25, sign_decay=0.5, beta=0.75, global_step=3)
# Those of the tiers.
DENSE = ['GradientDescent', 'Momentum', 'KerasMomentum', 'Adam', 'Adagrad', 'RMSProp', 'Ftrl', 'Adadelta']
# What changes the path: scalars in place of those above.
OTHERS = {'Ftrl': [dict(lr_power=-0.25), dict(l1=0.0, l2=0.0)], 'FtrlV2': [dict(lr_power=-0.25), dict(lr_power=-1.0)], 'AdagradDA': [dict(l1=0.0), dict(l1=-0.25)],
          'ProximalGradientDescent': [dict(l1=0.0), dict(l1=-0.25)], 'ProximalAdagrad': [dict(l1=0.0)]}


def cases(golden):
    for op in sorted(name for name in OPS if name.startswith(('ResourceApply', 'ResourceSparseApply'))):
        for other in OTHERS.get(_family(op), []):
            _steps(golden, op, np.float32, other)
        for dtype in dtypes(op, of='c'):
            _steps(golden, op, dtype, {})
    _refusals(golden, 'Resource')
    for op in sorted(name for name in OPS if name.startswith(('Apply', 'SparseApply'))):
        for other in OTHERS.get(_family(op), []):
            _steps(golden, op, np.float32, other)
        for dtype in dtypes(op, of='c'):
            _steps(golden, op, dtype, {})
    for family in DENSE:
        for op in ('Apply' + family, 'ResourceApply' + family):
            if op in OPS:
                for shape in [(0, 3), (2, 1, 2, 1, 2, 1)]:
                    _steps(golden, op, np.float32, {}, shape)
                _steps(golden, op, np.float32, {}, (7,), np.float32([1, np.inf, -1, -np.inf, 0, np.nan, -0.0]))
    _refusals(golden, '')
    _slots_of_other_shapes(golden)
    _gradients_of_nan(golden)


def _family(op):
    return re.sub('^(Resource)?(Sparse)?Apply', '', op)


def _inputs(op):
    """(name, is it a variable) of the op's inputs."""
    return [(arg.name, arg.is_ref or arg.type == tf.resource.as_datatype_enum) for arg in OPS[op].input_arg]


def _variable(op, name, dtype, shape, start):
    """The variable, what gives it a value, and a function that makes its reads."""
    if op.startswith('Resource'):
        handle = tf.raw_ops.VarHandleOp(dtype=dtype, shape=shape, shared_name=name, name=name)
        return handle, tf.raw_ops.AssignVariableOp(resource=handle, value=start), lambda name: tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype, name=name)
    made = tf.raw_ops.VariableV2(shape=shape, dtype=dtype, name=name)
    return made, tf.raw_ops.Assign(ref=made, value=start, validate_shape=True).op, lambda name: tf.raw_ops.Identity(input=made, name=name)


def _values(random, shape, dtype, positive=False):
    values = np.asarray(random.integers(4, 8, shape) / 4 if positive else random.integers(-8, 9, shape) / 4)
    if kind(dtype) == 'c':
        values = values + 1j * random.integers(-2, 3, shape) / 8
    return np.asarray(values).astype(dtype)


def _steps(golden, op, dtype, other, shape=(4, 3), gradient=None):
    random, sparse = golden.random, 'Sparse' in op
    rows = np.int32(ROWS) if sparse else None
    name = f'{op} {np.dtype(dtype).name} {list(shape)} {other or ""}{"" if gradient is None else " not finite"}'
    try:
        with golden.graph(name) as case:
            given, starts, readers, assign = {}, {}, {}, []
            for arg, is_variable in _inputs(op):
                if is_variable:
                    start = tf1.placeholder(dtype, shape, f'{arg}/start')
                    given[arg], first, reader = _variable(op, arg, dtype, shape, start)
                    assign.append(first)
                    readers[arg] = reader
                    # A slot that holds means has squares below those that another one holds.
                    starts[start] = _values(random, shape, dtype, arg != 'var') * np.asarray(0.25 if arg == 'mg' else 1, dtype)
                elif arg in ('grad', 'delta'):
                    grad = given[arg] = tf1.placeholder(dtype, (len(ROWS),) + shape[1:] if sparse else shape, arg)
                elif arg == 'indices':
                    given[arg] = tf.constant(rows, name=arg)
                else:
                    value = other.get(arg, SCALARS[arg])
                    given[arg] = tf.constant(value, tf.int64 if arg == 'global_step' else dtype, name=arg)
            update = getattr(tf.raw_ops, op)(**given, name='update')
            with tf.control_dependencies([update]):
                reads = {f'{arg}/after:0': reader(f'{arg}/after') for arg, reader in readers.items()}
            case.step({}, starts, targets=assign)
            steps = 1 if gradient is not None else STEPS
            for step in range(1, steps + 1):
                fetches = reads if step == steps else {'var/after:0': reads['var/after:0']}
                case.step(fetches, {grad: _values(random, grad.shape.as_list(), dtype) if gradient is None else gradient}, tolerance=STEPPED)
                case.expect_success()
    except NoKernel:
        pass


def _refusals(golden, prefix):
    """One variable of shape [3,2], slots as it, and one input that does not fit."""
    for name, wrong in [('ApplyGradientDescent', dict(alpha=[1., 2.])), ('ApplyGradientDescent', dict(delta=[1., 2.])), ('ApplyMomentum', dict(momentum=[1.])),
                      ('ApplyAdam', dict(epsilon=[1.])), ('ApplyAdam', dict(grad=[[1., 2.]])), ('ApplyAdagrad', dict(lr=[[1.]])),
                      ('ApplyProximalAdagrad', dict(l1=[1.])), ('ApplyProximalAdagrad', dict(lr=0.)), ('SparseApplyProximalAdagrad', dict(l2=-1.)), ('ApplyFtrlV2', dict(l2_shrinkage=[1.])), ('ApplyFtrl', dict(l2=[1.])),
                      ('SparseApplyAdagrad', dict(indices=[0, 3])), ('SparseApplyRMSProp', dict(indices=[-1, 0])),
                      ('SparseApplyMomentum', dict(indices=[[0, 1]])), ('SparseApplyAdadelta', dict(indices=[0])),
                      ('SparseApplyMomentum', dict(grad=[[1.], [2.]])), ('SparseApplyFtrl', dict(lr=0.)),
                      ('SparseApplyFtrl', dict(l1=-1.)), ('SparseApplyFtrlV2', dict(l2_shrinkage=-1.)), ('SparseApplyFtrlV2', dict(lr_power=1.)),
                      ('SparseApplyProximalGradientDescent', dict(l2=[1.])), ('SparseApplyProximalGradientDescent', dict(alpha=[1., 2.])),
                      ('ApplyAdam', dict(lr=[1., 2.])), ('ApplyAdaMax', dict(lr=[1., 2.])), ('ApplyRMSProp', dict(lr=[1., 2.])),
                      ('ApplyCenteredRMSProp', dict(lr=[1., 2.])), ('SparseApplyRMSProp', dict(lr=[1., 2.])),
                      ('SparseApplyMomentum', dict(lr=[1., 2.])), ('ApplyFtrl', dict(lr_power=[1., 2.])), ('SparseApplyKerasMomentum', dict(indices=[0, 3]))]:
        op = prefix + name
        if op not in OPS:
            continue
        with golden.graph(f'{op} refuses {wrong}') as case:
            given, assign = {}, []
            for arg, is_variable in _inputs(op):
                value = wrong.get(arg, np.ones((2, 2) if 'Sparse' in op else (3, 2)) if arg in ('grad', 'delta') else [0, 1] if arg == 'indices' else SCALARS.get(arg))
                if is_variable:
                    given[arg], first, _ = _variable(op, arg, tf.float32, [3, 2], np.ones((3, 2), np.float32))
                    assign.append(first)
                elif arg in wrong:
                    given[arg] = tf1.placeholder(tf.int32 if arg == 'indices' else tf.float32, None, arg)
                    feeds = {given[arg]: np.asarray(value, given[arg].dtype.as_numpy_dtype)}
                else:
                    given[arg] = tf.constant(value, tf.int32 if arg == 'indices' else tf.float32, name=arg)
            update = getattr(tf.raw_ops, op)(**given, name='update')
            case.step({}, {}, targets=assign)
            case.step({}, feeds, targets=[update if prefix else update.op])


def _slots_of_other_shapes(golden):
    """Only slots that are referred to can have them."""
    for op, slot in [('ApplyAdagradDA', 'gradient_accumulator'), ('SparseApplyAdagradDA', 'gradient_squared_accumulator'),
                     ('SparseApplyAdadelta', 'accum'), ('ApplyFtrl', 'linear')]:
        with golden.graph(f'{op} refuses {slot} of another shape') as case:
            given, assign = {}, []
            for arg in OPS[op].input_arg:
                if arg.is_ref:
                    start = np.ones((3, 3) if arg.name == slot else (3, 2), np.float32)
                    given[arg.name], (first, _) = variable(True, arg.name, start, shape=None)
                    assign.append(first)
                elif arg.name == 'grad':
                    given[arg.name] = tf.constant(np.ones((2, 2) if 'Sparse' in op else (3, 2), np.float32))
                else:
                    given[arg.name] = tf.constant([0, 1]) if arg.name == 'indices' else tf.constant(SCALARS[arg.name], tf.int64 if arg.name == 'global_step' else tf.float32)
            op_def_library.apply_op(op, name='update', use_locking=False, **given, **({'multiply_linear_by_lr': False} if op == 'ApplyFtrl' else {}))
            case.step({}, targets=assign)
            case.step({}, targets=[case.graph.get_operation_by_name('update')])


def _gradients_of_nan(golden):
    """Dense and sparse ops differ in what becomes of them."""
    for op in ('ResourceApplyFtrl', 'ResourceApplyFtrlV2', 'ResourceSparseApplyFtrl', 'ResourceApplyRMSProp', 'ResourceSparseApplyRMSProp', 'ResourceSparseApplyCenteredRMSProp'):
        with golden.graph(f'{op}, gradients of NaN and infinity') as case:
            handles, assign, reads = {}, [], {}
            for arg, is_variable in _inputs(op):
                if is_variable:
                    handles[arg], (first, reads[f'{arg}/read:0']) = variable(False, arg, np.float32([1, 2, 3, 4]) * (0.25 if arg == 'mg' else 1))
                    assign.append(first)
            scalars = {arg: tf.constant(SCALARS[arg]) for arg, is_variable in _inputs(op) if not is_variable and arg not in ('grad', 'indices')}
            if 'Sparse' in op:
                scalars['indices'] = tf.constant([0, 1, 2, 3])
            update = getattr(tf.raw_ops, op)(**handles, **scalars, grad=tf.constant([np.nan, np.inf, -np.inf, 1]))
            case.step({}, targets=assign)
            for _ in range(2):
                case.step({}, targets=[update])
                case.step(reads, tolerance=STEPPED)
