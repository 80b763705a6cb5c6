"""Sources of values: constants in all encodings, placeholders, reads of variables; and ops that only order other ops."""
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow.python.framework import op_def_library

from data import extremes, numbers
from training import variable
from writer import ALL_DTYPES, NoKernel, dtypes, kind, tf1

FIELDS = {'float32': 'float_val', 'float64': 'double_val', 'float16': 'half_val', 'bfloat16': 'half_val', 'int8': 'int_val', 'uint8': 'int_val', 'int16': 'int_val',
          'uint16': 'int_val', 'int32': 'int_val', 'int64': 'int64_val', 'uint32': 'uint32_val', 'uint64': 'uint64_val', 'complex64': 'scomplex_val',
          'complex128': 'dcomplex_val', 'bool': 'bool_val', 'string': 'string_val'}


def apply(op, **values):
    return op_def_library.apply_op(op, **values)


def numpy_type(name):
    return np.dtype(object) if name == 'string' else np.dtype(tf.as_dtype(name).as_numpy_dtype)


def cases(golden):
    random = golden.random
    for name in ALL_DTYPES:
        dtype = numpy_type(name)
        for shape in [(), (0,), (3, 5), (2, 0, 3), (1, 2, 1, 2, 1, 2), (17,)]:
            _constant(golden, f'{name}{list(shape)}', tf.make_tensor_proto(numbers(random, shape, dtype)))
        if kind(dtype) in 'fiu':
            _constant(golden, f'extremes of {name}', tf.make_tensor_proto(extremes(dtype)))
        # The last element is repeated for the missing ones.
        for count, shape in [(0, (3,)), (1, ()), (1, (2, 3)), (2, (5,)), (3, (3,))]:
            proto = tensor_pb2.TensorProto(dtype=tf.as_dtype(name).as_datatype_enum, tensor_shape=tf.TensorShape(shape).as_proto())
            values = numbers(random, (count,), dtype)
            if name in ('float16', 'bfloat16'):
                values = values.view(np.uint16)
            elif kind(dtype) == 'c':
                values = values.view(values.real.dtype)
            getattr(proto, FIELDS[name]).extend(values.tolist())
            _constant(golden, f'{name}{list(shape)} of {count} elements', proto)
        for op in ('Identity', 'PlaceholderWithDefault'):
            for shape in [(2, 3)] if name != 'float32' else [(), (0,), (2, 1, 3, 1, 2, 1)]:
                with golden.graph(f'{op} {name}{list(shape)}') as case:
                    default = tf.constant(numbers(random, shape, dtype), name='default')
                    made = apply(op, input=default, name='op', **({'shape': [None] * len(shape)} if op != 'Identity' else {}))
                    copy = tf.identity(made, 'copy')
                    case.step({'op:0': made})
                    case.step({'copy:0': copy}, {made: numbers(random, shape, dtype)})
        for op in ('PreventGradient',):
            golden.op(op, [numbers(random, (2, 3), dtype)], {'message': 'no'})
    for shape in [(), (0,), (17,), (1, 2, 1, 2, 1, 2)]:
        golden.op('PreventGradient', [numbers(random, shape, np.float32)])
    _placeholders(golden)
    _orders(golden)
    for name in ALL_DTYPES:
        _variables(golden, numpy_type(name))
    _gathers(golden)
    for name in ALL_DTYPES:
        _shared(golden, numpy_type(name))
        _values_kept(golden, numpy_type(name))
        _references(golden, numpy_type(name))
    _wrong_name(golden)
    _order_orders(golden)


def _constant(golden, name, proto):
    with golden.graph(f'Const {name}') as case:
        made = apply('Const', value=proto, dtype=tf.as_dtype(proto.dtype), name='op')
        case.step({'op:0': made})
        case.expect_success()


def _placeholders(golden):
    random = golden.random
    for name in ALL_DTYPES:
        with golden.graph(f'Placeholder {name}') as case:
            made = apply('Placeholder', dtype=tf.as_dtype(name), shape=None, name='op')
            case.step({'copy:0': tf.identity(made, 'copy')}, {made: numbers(random, (2, 3), numpy_type(name))})
            case.step({'copy:0': case.graph.get_tensor_by_name('copy:0')})
    for shape, given in [([2, 3], (2, 3)), ([None, 3], (5, 3)), ([], ()), ([None], (0,)), (None, (2, 2))]:
        with golden.graph(f'Placeholder of shape {shape}, {given} given') as case:
            made = apply('Placeholder', dtype=tf.float32, shape=shape, name='op')
            case.step({'copy:0': tf.identity(made, 'copy')}, {made: numbers(random, given, np.float32)})
            case.step({'copy:0': case.graph.get_tensor_by_name('copy:0')})


def _orders(golden):
    """Control edges, through a NoOp."""
    for inputs in (0, 1, 2, 5):
        with golden.graph(f'NoOp after {inputs} assignments') as case:
            made = [variable(True, f'v{i}', np.float32([i])) for i in range(inputs)]
            with tf.control_dependencies([assign for _, (assign, _) in made]):
                order = tf.no_op('op')
            case.step({}, targets=[order])
            case.step({read.name: read for _, (_, read) in made}, targets=[order])
    for by_reference in (True, False):
        with golden.graph(f'NoOp, then a read, {"reference" if by_reference else "resource"}') as case:
            handle, (assign, read) = variable(by_reference, 'v', np.float32([1, 2]))
            with tf.control_dependencies([assign]):
                ready = tf.no_op('op')
            with tf.control_dependencies([ready]):
                after = tf.identity(handle, 'after') if by_reference else tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32, name='after')
                passed = tf.identity(tf.constant(3.0), 'passed')
            case.step({'after:0': after, 'passed:0': passed})
    for condition, reads in [(True, True), (True, False), (False, True), (False, False)]:
        with golden.graph(f'NoOp after an assertion of {condition}{", a value after it" if reads else ""}') as case:
            asserted = apply('Assert', condition=tf.constant(condition), data=[tf.constant([1, 2])], summarize=3, name='asserted')
            with tf.control_dependencies([asserted]):
                order = tf.no_op('op')
            with tf.control_dependencies([order]):
                passed = tf.identity(tf.constant(3.0), 'passed')
            case.step({'passed:0': passed} if reads else {}, targets=[] if reads else [order])


def _variables(golden, dtype):
    random = golden.random
    value, other = numbers(random, (2, 3), dtype), numbers(random, (2, 3), dtype)
    type_ = tf.string if dtype == object else tf.as_dtype(dtype)
    for op in ('Variable', 'VariableV2'):
        try:
            with golden.graph(f'{op} {type_.name}') as case:
                made = apply(op, name='v', shape=[2, 3], dtype=type_, container='', shared_name='')
                given = tf1.placeholder(type_, None, 'given')
                assign = apply('Assign', ref=made, value=given, validate_shape=True, use_locking=True, name='assign')
                there = apply('IsVariableInitialized', ref=made, name='there')
                read = tf.identity(made, 'read')
                case.step({'there:0': there})
                case.step({'read:0': read})
                case.step({'assign:0': assign}, {given: value})
                case.step({'there:0': there, 'read:0': read})
                case.step({}, {given: other[:1]}, targets=[assign.op])
                case.step({'read:0': read})
        except NoKernel:
            pass
    try:
        with golden.graph(f'VarIsInitializedOp {type_.name}') as case:
            handle, (assign, read) = variable(False, 'v', value)
            there = tf.raw_ops.VarIsInitializedOp(resource=handle, name='there')
            case.step({'there:0': there})
            case.step({}, targets=[assign])
            case.step({'there:0': there, 'v/read:0': read})
    except NoKernel:
        pass
    try:
        with golden.graph(f'TemporaryVariable {type_.name}') as case:
            temporary = apply('TemporaryVariable', shape=[2, 3], dtype=type_, var_name='', name='t')
            assigned = apply('Assign', ref=temporary, value=tf.constant(value, type_), validate_shape=True, use_locking=True, name='assigned')
            last = apply('DestroyTemporaryVariable', ref=assigned, var_name='t', name='last')
            case.step({'last:0': last})
            case.step({'last:0': last})
    except NoKernel:
        pass


def _gathers(golden):
    random = golden.random
    for dtype in dtypes('ResourceGather', 'dtype'):
        shapes = [((5,), ()), ((5, 3), (4,)), ((5, 3), (2, 2)), ((5, 2, 3), (0,)), ((5, 17), (7,))] if dtype == np.float32 else [((5, 3), (4,))]
        for shape, indices in shapes:
            for index in (np.int32, np.int64):
                try:
                    with golden.graph(f'ResourceGather {dtype}{list(shape)} {np.dtype(index)}{list(indices)}') as case:
                        handle, (assign, _) = variable(False, 'v', numbers(random, shape, dtype))
                        rows = tf1.placeholder(index, None, 'rows')
                        gathered = apply('ResourceGather', resource=handle, indices=rows, name='op', batch_dims=0, validate_indices=True,
                                         dtype=tf.string if dtype == object else tf.as_dtype(dtype))
                        case.step({}, targets=[assign])
                        case.step({'op:0': gathered}, {rows: random.integers(0, 5, indices).astype(index)})
                        if indices == (4,):
                            for bad in (5, -1):
                                case.step({'op:0': gathered}, {rows: np.array([0, bad], index)})
                except NoKernel:
                    pass


def _tf_type(dtype):
    return tf.string if dtype == object else tf.as_dtype(dtype)


def _shared(golden, dtype):
    """Handles with the same name refer to the same variable, but each container has its own variables."""
    value, type_ = numbers(golden.random, (2, 2), dtype), _tf_type(dtype)
    try:
        with golden.graph(f'VarHandleOp {type_.name}') as case:
            first, second, other = (tf.raw_ops.VarHandleOp(dtype=type_, shape=[2, 2], shared_name='s', container=container, name=name)
                                    for name, container in (('first', ''), ('second', ''), ('other', 'box')))
            assign = apply('AssignVariableOp', resource=first, value=tf.constant(value, type_), validate_shape=False, name='assign')
            read, elsewhere = (apply('ReadVariableOp', resource=handle, dtype=type_, name=name) for name, handle in (('read', second), ('elsewhere', other)))
            case.step({'read:0': read})
            case.step({}, targets=[assign])
            case.step({'read:0': read})
            case.step({'elsewhere:0': elsewhere})
    except NoKernel:
        pass


def _values_kept(golden, dtype):
    """A value that was read does not change when the variable changes later in the same step."""
    values, type_ = [numbers(golden.random, (17,), dtype) for _ in range(2)], _tf_type(dtype)
    try:
        with golden.graph(f'ReadVariableOp {type_.name}') as case:
            handle, (assign, read) = variable(False, 'v', values[0])
            with tf.control_dependencies([read]):
                again = apply('AssignVariableOp', resource=handle, value=tf.constant(values[1], type_), validate_shape=False, name='again')
            with tf.control_dependencies([again]):
                after = apply('ReadVariableOp', resource=handle, dtype=type_, name='after')
                before = tf.identity(read, 'before')
            case.step({}, targets=[assign])
            case.step({'before:0': before, 'after:0': after})
            case.expect_success()
            case.step({'v/read:0': read})
    except NoKernel:
        pass


def _references(golden, dtype):
    type_ = _tf_type(dtype)
    for shape in [(), (0, 3), (2, 1, 3, 1, 2, 1)] if type_ == tf.float32 else [(2, 2)]:
        value = numbers(golden.random, shape, dtype)
        try:
            with golden.graph(f'IsVariableInitialized {type_.name}{list(shape)}') as case:
                first, second = (apply('VariableV2', shape=shape, dtype=type_, container='', shared_name=shared, name=shared) for shared in ('v', 'w'))
                there = [apply('IsVariableInitialized', ref=ref, name=f'there{i}') for i, ref in enumerate((first, second))]
                assign = apply('Assign', ref=first, value=tf.constant(value, type_), validate_shape=True, use_locking=True, name='assign')
                for targets in ([], [assign.op], []):
                    fetches = {} if targets else {f'there{i}:0': yes for i, yes in enumerate(there)}
                    case.step(fetches, targets=targets)
                    case.expect_success()
        except NoKernel:
            pass
        try:
            with golden.graph(f'DestroyTemporaryVariable {type_.name}{list(shape)}') as case:
                given = tf1.placeholder(type_, None, 'given')
                temporaries = [apply('TemporaryVariable', shape=shape, dtype=type_, var_name=name, name=f't{i}') for i, name in enumerate(('one', 'two'))]
                assigned = [apply('Assign', ref=ref, value=given, validate_shape=True, use_locking=True, name=f'a{i}') for i, ref in enumerate(temporaries)]
                last = [apply('DestroyTemporaryVariable', ref=ref, var_name=name, name=f'last{i}') for i, (ref, name) in enumerate(zip(assigned, ('one', 'two')))]
                for value in (numbers(golden.random, shape, dtype) for _ in range(2)):
                    case.step({f'last{i}:0': value for i, value in enumerate(last)}, {given: value})
                    case.expect_success()
        except NoKernel:
            pass


def _wrong_name(golden):
    with golden.graph('DestroyTemporaryVariable fails: another name') as case:
        temporary = apply('TemporaryVariable', shape=[2], dtype=tf.float32, var_name='one', name='t')
        assigned = apply('Assign', ref=temporary, value=tf.constant([1.0, 2.0]), validate_shape=True, use_locking=True, name='a')
        case.step({'last:0': apply('DestroyTemporaryVariable', ref=assigned, var_name='two', name='last')}, message='does not exist.')


def _order_orders(golden):
    """NoOps in sequence and in parallel, between updates whose order affects the result."""
    def behind(before, name):
        with tf.control_dependencies(before):
            return tf.no_op(name)

    shapes = {'in a chain': lambda op: behind([behind([op], 'first')], 'op'),
              'in a diamond': lambda op: behind([behind([op], 'left'), behind([op], 'right'), op], 'op'),
              'on every one of many': lambda op: behind([behind([op], f'n{i}') for i in range(9)], 'op'),
              'after a failure that is not asked for': lambda op: behind([op], 'op')}
    for name, between in shapes.items():
        with golden.graph(f'NoOp {name}') as case:
            handle, (assign, read) = variable(False, 'v', np.float32([1, 2]))
            order = between(assign)
            if name.startswith('after'):
                apply('Assert', condition=tf.constant(False), data=[tf.constant(1)], summarize=3, name='apart')
            with tf.control_dependencies([order]):
                double = tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.constant([1.0, 2.0]), name='double')
            with tf.control_dependencies([behind([double], 'last')]):
                after = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32, name='after')
            for _ in range(2):
                case.step({'after:0': after}, targets=[order])
                case.expect_success()
            case.step({'v/read:0': read})
