"""Code shared by the families of ops that update variables: five steps of each op."""
import re

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_library, op_def_registry

from data import FLOATS
from writer import OPS, NoKernel, Tolerance, tf1

STEPS = 5
# Five steps of rounding.
STEPPED = Tolerance(float32=dict(relative=2e-5, to_largest=2e-6), float64=dict(relative=1e-13, to_largest=1e-14), float16=dict(relative=2e-2, to_largest=5e-3),
                    bfloat16=dict(relative=0.1, to_largest=4e-2))
SCALARS = dict(lr=0.1, alpha=0.1, rho=0.9, momentum=0.8, epsilon=1e-2, l1=0.01, l2=0.02, beta1=0.9, beta2=0.99, beta1_power=0.81, beta2_power=0.98, l2_shrinkage=0.03,
               lr_power=-0.5, logbase=0.7, sign_decay=0.9, beta=0.9, gradient_accumulator=0.5)
# Where variables begin. The mean of squares is well above the square of the mean, as their difference is a divisor.
RANGES = dict(var=(-1, 1), linear=(-1, 1), ms=(2, 3))
GRADIENTS = ('grad', 'delta')


def record(golden, pattern):
    """The cases of the ops with this name."""
    for name in sorted(OPS):
        if re.fullmatch(pattern, name) and op_def_registry.get(name):
            _op(golden, name)


def _op(golden, name):
    flags = [attr.name for attr in OPS[name].attr if attr.type == 'bool' and attr.name != 'use_locking']
    for dtype in FLOATS:
        shapes = [(), (5,), (3, 5), (33,)] if dtype == np.float32 else [(3, 5)]
        for shape in [(4, 3)] if 'Sparse' in name else shapes:
            for flag in [None, *flags] if len(shape) == 2 else [None]:
                for index in (np.int32, np.int64) if 'Sparse' in name else [None]:
                    try:
                        _steps(golden, name, dtype, shape, flag, index)
                    except NoKernel:
                        pass


def _steps(golden, name, dtype, shape, flag, index):
    random = golden.random
    op_def = OPS[name]
    with golden.graph(f'{name} {np.dtype(dtype)}{list(shape)}{" not default: " + flag if flag else ""}{" " + index.__name__ if index else ""}') as case:
        inputs, variables, fed = {}, {}, {}
        for arg in op_def.input_arg:
            if arg.is_ref or arg.type == tf.resource.as_datatype_enum:
                low, high = RANGES.get(arg.name, (0.1, 1))
                inputs[arg.name], variables[arg.name] = variable(arg.is_ref, arg.name, random.uniform(low, high, shape).astype(dtype))
            elif arg.name in GRADIENTS:
                inputs[arg.name] = fed['gradient'] = tf1.placeholder(dtype, name='gradient')
            elif arg.name == 'indices':
                inputs[arg.name] = fed['indices'] = tf1.placeholder(index, name='indices')
            elif arg.name == 'global_step':
                inputs[arg.name] = tf.constant(4, tf.int64)
            else:
                inputs[arg.name] = tf.constant(np.asarray(SCALARS[arg.name]).astype(dtype), name=arg.name)
        defaults = {attr.name: attr.default_value.b for attr in op_def.attr if attr.type == 'bool'}
        chosen = {key: not value if key == flag else value for key, value in defaults.items()}
        known = {attr.name for attr in op_def_registry.get(name).attr}
        later = {attr.name: False for attr in op_def_registry.get(name).attr if attr.type == 'bool' and attr.name not in defaults}
        op_def_library.apply_op(name, name='update', **inputs, **{key: value for key, value in chosen.items() if key in known}, **later)
        update = case.graph.get_operation_by_name('update')
        case.step({}, targets=[assign for assign, _ in variables.values()])
        for _ in range(STEPS):
            feeds = {}
            rows = random.integers(0, shape[0], 3).astype(index) if index else None
            if index:
                feeds[fed['indices']] = rows
            feeds[fed['gradient']] = random.standard_normal(shape if rows is None else (3, *shape[1:])).astype(dtype)
            case.step({}, feeds, targets=[update])
            case.expect_success()
            case.step({read.name: read for _, read in variables.values()}, tolerance=STEPPED)


def variable(by_reference, name, initial, **other_shape):
    """A reference or a handle, and (its first assignment, its value); a reference may have been declared with another shape."""
    dtype = tf.string if initial.dtype == object else tf.as_dtype(initial.dtype)
    if by_reference:
        made = op_def_library.apply_op('VariableV2', name=name, shape=other_shape.get('shape', initial.shape), dtype=dtype, container='', shared_name='')
        assign = op_def_library.apply_op('Assign', name=f'{name}/assign', ref=made, value=tf.constant(initial, dtype), validate_shape=not other_shape, use_locking=True)
        return made, (assign.op, tf.identity(made, f'{name}/read'))
    made = tf.raw_ops.VarHandleOp(dtype=dtype, shape=initial.shape, shared_name=name, name=name)
    assign = tf.raw_ops.AssignVariableOp(resource=made, value=tf.constant(initial, dtype), name=f'{name}/assign')
    return made, (assign, tf.raw_ops.ReadVariableOp(resource=made, dtype=dtype, name=f'{name}/read'))
