"""The ops that update resource variables where the cases of resource_updates do not go: complex variables, scalars that change the path, and what
they refuse."""
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
# What changes the path: scalars in place of those above.
OTHERS = {'Ftrl': [dict(lr_power=-0.25), dict(l1=0.0, l2=0.0)], 'FtrlV2': [dict(lr_power=-0.25), dict(lr_power=-1.0)], 'AdagradDA': [dict(l1=0.0), dict(l1=-0.25)],
          'ProximalGradientDescent': [dict(l1=0.0), dict(l1=-0.25)], 'ProximalAdagrad': [dict(l1=0.0)]}


def cases(golden):
    for op in sorted(name for name in OPS if name.startswith(('ResourceApply', 'ResourceSparseApply'))):
        family = op.replace('ResourceSparseApply', '').replace('ResourceApply', '')
        for other in OTHERS.get(family, []):
            _steps(golden, op, np.float32, other)
        for dtype in dtypes(op, of='c'):
            _steps(golden, op, dtype, {})
    _refusals(golden)
    _slots_of_other_shapes(golden)
    _gradients_of_nan(golden)


def _inputs(op):
    """(name, is it a variable) of the op's inputs."""
    return [(arg.name, arg.type == tf.resource.as_datatype_enum) for arg in OPS[op].input_arg]


def _values(random, shape, dtype, positive=False):
    values = np.asarray(random.integers(4, 8, shape) / 4 if positive else random.integers(-8, 9, shape) / 4)
    if kind(dtype) == 'c':
        values = values + 1j * random.integers(-2, 3, shape) / 8
    return np.asarray(values).astype(dtype)


def _steps(golden, op, dtype, other, shape=(4, 3)):
    random, sparse = golden.random, 'Sparse' in op
    rows = np.int32(ROWS) if sparse else None
    name = f'{op} {np.dtype(dtype).name} {list(shape)} {other or ""}'
    try:
        with golden.graph(name) as case:
            given, starts, variables = {}, {}, {}
            for arg, is_variable in _inputs(op):
                if is_variable:
                    given[arg] = tf.raw_ops.VarHandleOp(dtype=dtype, shape=shape, shared_name=arg, name=arg)
                    variables[arg] = given[arg]
                    start = tf1.placeholder(dtype, shape, f'{arg}/start')
                    # A slot that holds means has squares below those that another one holds.
                    starts[start] = _values(random, shape, dtype, arg != 'var') * np.asarray(0.25 if arg == 'mg' else 1, dtype)
                elif arg in ('grad', 'delta'):
                    grad = given[arg] = tf1.placeholder(dtype, (len(ROWS),) + shape[1:] if sparse else shape, arg)
                elif arg == 'indices':
                    given[arg] = tf.constant(rows, name=arg)
                else:
                    value = other.get(arg, SCALARS[arg])
                    given[arg] = tf.constant(value, tf.int64 if arg == 'global_step' else dtype, name=arg)
            assign = [tf.raw_ops.AssignVariableOp(resource=handle, value=start) for handle, start in zip(variables.values(), starts)]
            update = getattr(tf.raw_ops, op)(**given, name='update')
            with tf.control_dependencies([update]):
                reads = {f'{arg}/after:0': tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype, name=f'{arg}/after') for arg, handle in variables.items()}
            case.step({}, starts, targets=assign)
            for step in range(1, STEPS + 1):
                fetches = reads if step == STEPS else {'var/after:0': reads['var/after:0']}
                case.step(fetches, {grad: _values(random, grad.shape.as_list(), dtype)}, tolerance=STEPPED)
                case.expect_success()
    except NoKernel:
        pass


def _refusals(golden):
    """One variable of shape [3,2], slots as it, and one input that does not fit."""
    for op, wrong in [('ResourceApplyGradientDescent', dict(alpha=[1., 2.])), ('ResourceApplyGradientDescent', dict(delta=[1., 2.])),
                      ('ResourceApplyAdam', dict(epsilon=[1.])), ('ResourceApplyAdam', dict(grad=[[1., 2.]])), ('ResourceApplyAdagrad', dict(lr=[[1.]])),
                      ('ResourceApplyProximalAdagrad', dict(l1=[1.])), ('ResourceApplyProximalAdagrad', dict(lr=0.)), ('ResourceSparseApplyProximalAdagrad', dict(l2=-1.)), ('ResourceApplyFtrlV2', dict(l2_shrinkage=[1.])), ('ResourceApplyFtrl', dict(l2=[1.])),
                      ('ResourceSparseApplyAdagrad', dict(indices=[0, 3])), ('ResourceSparseApplyRMSProp', dict(indices=[-1, 0])),
                      ('ResourceSparseApplyMomentum', dict(indices=[[0, 1]])), ('ResourceSparseApplyAdadelta', dict(indices=[0])),
                      ('ResourceSparseApplyMomentum', dict(grad=[[1.], [2.]])), ('ResourceSparseApplyFtrl', dict(lr=0.)),
                      ('ResourceSparseApplyFtrl', dict(l1=-1.)), ('ResourceSparseApplyFtrlV2', dict(l2_shrinkage=-1.)), ('ResourceSparseApplyFtrlV2', dict(lr_power=1.)),
                      ('ResourceSparseApplyProximalGradientDescent', dict(l2=[1.])), ('ResourceSparseApplyProximalGradientDescent', dict(alpha=[1., 2.])),
                      ('ResourceApplyAdam', dict(lr=[1., 2.])), ('ResourceApplyAdaMax', dict(lr=[1., 2.])), ('ResourceApplyRMSProp', dict(lr=[1., 2.])),
                      ('ResourceApplyCenteredRMSProp', dict(lr=[1., 2.])), ('ResourceSparseApplyRMSProp', dict(lr=[1., 2.])),
                      ('ResourceSparseApplyMomentum', dict(lr=[1., 2.])), ('ResourceApplyFtrl', dict(lr_power=[1., 2.])), ('ResourceSparseApplyKerasMomentum', dict(indices=[0, 3]))]:
        with golden.graph(f'{op} refuses {wrong}') as case:
            given, assign = {}, []
            for arg, is_variable in _inputs(op):
                value = wrong.get(arg, np.ones((2, 2) if 'Sparse' in op else (3, 2)) if arg in ('grad', 'delta') else [0, 1] if arg == 'indices' else SCALARS.get(arg))
                if is_variable:
                    given[arg] = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[3, 2], shared_name=arg, name=arg)
                    assign.append(tf.raw_ops.AssignVariableOp(resource=given[arg], value=np.ones((3, 2), np.float32)))
                elif arg in wrong:
                    given[arg] = tf1.placeholder(tf.int32 if arg == 'indices' else tf.float32, None, arg)
                    feeds = {given[arg]: np.asarray(value, given[arg].dtype.as_numpy_dtype)}
                else:
                    given[arg] = tf.constant(value, tf.int32 if arg == 'indices' else tf.float32, name=arg)
            update = getattr(tf.raw_ops, op)(**given, name='update')
            case.step({}, {}, targets=assign)
            case.step({}, feeds, targets=[update])


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
    """Where the linear part is not beyond what l1 cuts off, the variable is 0; so it is where that part is NaN."""
    for op in ('ResourceApplyFtrl', 'ResourceApplyFtrlV2'):
        with golden.graph(f'{op}, gradients of NaN and infinity') as case:
            handles, assign, reads = {}, [], {}
            for arg, is_variable in _inputs(op):
                if is_variable:
                    handles[arg], (first, reads[f'{arg}/read:0']) = variable(False, arg, np.float32([1, 2, 3, 4]))
                    assign.append(first)
            scalars = {arg: tf.constant(SCALARS[arg]) for arg, is_variable in _inputs(op) if not is_variable and arg != 'grad'}
            update = getattr(tf.raw_ops, op)(**handles, **scalars, grad=tf.constant([np.nan, np.inf, -np.inf, 1]))
            case.step({}, targets=assign)
            case.step({}, targets=[update])
            case.step(reads, tolerance=STEPPED)
