"""Lookup tables: made, filled, asked, exported, shared, and misused."""
import numpy as np
import tensorflow as tf

from writer import NoKernel, tf1

raw = tf.raw_ops
DTYPES = {tf.int32: np.int32([3, -1, 7]), tf.int64: np.int64([2**40, 0, -5]), tf.string: np.array([b'one', b'', b'x' * 40], object),
          tf.float32: np.float32([0.5, -1, 3]), tf.float64: np.float64([1 / 3, 0, -2]), tf.bool: np.array([True, False, True])}
# The pairs of dtypes that TensorFlow has kernels for.
FIXED = [(tf.int32, tf.float64), (tf.int32, tf.float32), (tf.int32, tf.int32), (tf.int32, tf.string), (tf.int64, tf.float64), (tf.int64, tf.float32), (tf.int64, tf.int32),
         (tf.int64, tf.int64), (tf.int64, tf.string), (tf.string, tf.bool), (tf.string, tf.float64), (tf.string, tf.float32), (tf.string, tf.int32), (tf.string, tf.int64), (tf.string, tf.string)]
MUTABLE = [pair for pair in FIXED if pair not in ((tf.int32, tf.string), (tf.string, tf.string))]


def _spare(dtype):
    return {tf.string: b'none', tf.bool: True}.get(dtype, -9)


def _values(dtype, shape=None):
    value = DTYPES[dtype]
    return value if shape is None else np.broadcast_to(value[:, None], (3, *shape)).copy()


def _make(op, key, value, **more):
    return getattr(raw, op)(key_dtype=key, value_dtype=value, **more)


def _placeholders(key, value):
    return tf1.placeholder(key, None, 'keys'), tf1.placeholder(value, None, 'values'), tf1.placeholder(value, None, 'spare')



def _fixed(golden, make, suffix):
    for key, value in FIXED:
        name = f'{make} {key.name} {value.name}'
        try:
            with golden.graph(name) as case:
                keys, values, spare = _placeholders(key, value)
                table = _make(make, key, value, shared_name='t')
                initialize = getattr(raw, 'InitializeTable' + suffix)(table_handle=table, keys=keys, values=values)
                found = getattr(raw, 'LookupTableFind' + suffix)(table_handle=table, keys=keys, default_value=spare)
                size = getattr(raw, 'LookupTableSize' + suffix)(table_handle=table)
                case.step({size.name: size}, {})
                asked = {keys: DTYPES[key], spare: np.array(_spare(value), value.as_numpy_dtype)}
                case.step({found.name: found}, asked)
                case.step({}, {keys: DTYPES[key][:2], values: DTYPES[value][:2]}, targets=[initialize])
                case.step({found.name: found, size.name: size}, asked)
                case.step({found.name: found}, {keys: DTYPES[key].reshape(3, 1), spare: np.array(_spare(value), value.as_numpy_dtype)})
                case.step({}, {keys: DTYPES[key][:2], values: DTYPES[value][:2]}, targets=[initialize])
                case.step({}, {keys: DTYPES[key], values: DTYPES[value]}, targets=[initialize])
        except NoKernel:
            pass


def cases(golden):
    _fixed(golden, 'HashTableV2', 'V2')
    _fixed(golden, 'HashTable', '')
    for make, suffix in (('MutableHashTableV2', 'V2'), ('MutableHashTable', ''), ('MutableHashTableOfTensorsV2', 'V2'), ('MutableHashTableOfTensors', ''), ('MutableDenseHashTableV2', 'V2')):
        for key, value in MUTABLE if suffix else MUTABLE[::3]:
            _mutable(golden, make, suffix, key, value)
    _errors(golden)


def _mutable(golden, make, suffix, key, value):
    more = {'value_shape': [2]} if 'Tensors' in make or 'Dense' in make else {}
    shape = (2,) if more else None
    try:
        with golden.graph(f'{make} {key.name} {value.name}') as case:
            keys, values, spare = _placeholders(key, value)
            if 'Dense' in make:
                odd = {tf.string: [b'empty', b'deleted'], tf.int32: [100, 101], tf.int64: [100, 101]}[key]
                del more['value_shape']
                table = raw.MutableDenseHashTableV2(empty_key=tf.constant(odd[0], key), deleted_key=tf.constant(odd[1], key), value_dtype=value, value_shape=[2], initial_num_buckets=8, shared_name='t')
            else:
                table = _make(make, key, value, shared_name='t', **more)
            insert = getattr(raw, 'LookupTableInsert' + suffix)(table_handle=table, keys=keys, values=values)
            bring = getattr(raw, 'LookupTableImport' + suffix)(table_handle=table, keys=keys, values=values)
            found = getattr(raw, 'LookupTableFind' + suffix)(table_handle=table, keys=keys, default_value=spare)
            size = getattr(raw, 'LookupTableSize' + suffix)(table_handle=table)
            export = getattr(raw, 'LookupTableExport' + suffix)(table_handle=table, Tkeys=key, Tvalues=value)
            one = np.full(shape or (), _spare(value), object if value == tf.string else value.as_numpy_dtype)
            case.freeze() if not suffix else None
            remove = raw.LookupTableRemoveV2(table_handle=table, keys=keys) if suffix else None
            case.step({}, {keys: DTYPES[key][:2], values: _values(value, shape)[:2]}, targets=[insert])
            case.step({found.name: found, size.name: size}, {keys: DTYPES[key], spare: one})
            each = _values(value, shape)[::-1].copy()
            case.step({found.name: found}, {keys: DTYPES[key], spare: each})
            case.step({}, {keys: DTYPES[key], values: each}, targets=[insert])
            case.step({found.name: found, size.name: size}, {keys: DTYPES[key], spare: one})
            if remove is not None:
                case.step({}, {keys: DTYPES[key][:2]}, targets=[remove])
                case.step({found.name: found, size.name: size}, {keys: DTYPES[key], spare: one})
            if 'Dense' not in make:  # TensorFlow imports and exports its buckets
                case.step({}, {keys: DTYPES[key][1:2], values: _values(value, shape)[1:2]}, targets=[bring])
                case.step({export.keys.name: export.keys, export.values.name: export.values}, {})
            case.step({found.name: found, size.name: size}, {keys: DTYPES[key], spare: one})
            case.step({}, {keys: DTYPES[key], values: _values(value, shape)[:2]}, targets=[insert])
            case.step({found.name: found}, {keys: DTYPES[key], spare: each[:2]})
    except NoKernel:
        pass


def _failing(golden, name, build):
    with golden.graph(f'{name} fails') as case:
        target = build()
        case.step({}, {}, targets=[target])


def _errors(golden):
    numbers = lambda *x: tf.constant(x, tf.int64)

    def fixed(**more):
        return raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='e', **more)

    def mutable(**more):
        return raw.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='e', **more)

    _failing(golden, 'InitializeTableV2 two values', lambda: raw.InitializeTableV2(table_handle=fixed(), keys=[b'x', b'y', b'x'], values=numbers(1, 2, 3)))
    _failing(golden, 'InitializeTableV2 dtype', lambda: raw.InitializeTableV2(table_handle=fixed(), keys=[b'x'], values=tf.constant([1.0])))
    _failing(golden, 'InitializeTableV2 mutable', lambda: raw.InitializeTableV2(table_handle=mutable(), keys=[b'x'], values=numbers(1)))
    _failing(golden, 'LookupTableInsertV2 fixed', lambda: raw.LookupTableInsertV2(table_handle=fixed(), keys=[b'x'], values=numbers(1)))
    _failing(golden, 'LookupTableRemoveV2 fixed', lambda: raw.LookupTableRemoveV2(table_handle=fixed(), keys=[b'x']))
    _failing(golden, 'LookupTableRemoveV2 dtype', lambda: raw.LookupTableRemoveV2(table_handle=mutable(), keys=numbers(1)))
    _failing(golden, 'LookupTableInsertV2 dtype', lambda: raw.LookupTableInsertV2(table_handle=mutable(), keys=[b'x'], values=tf.constant([1.0])))
    _failing(golden, 'LookupTableFindV2 default', lambda: _in_order(raw.InitializeTableV2, fixed(), lambda t: raw.LookupTableFindV2(table_handle=t, keys=[b'x', b'y'], default_value=numbers(1)).op))
    _failing(golden, 'LookupTableExportV2 not initialized', lambda: raw.LookupTableExportV2(table_handle=fixed(), Tkeys=tf.string, Tvalues=tf.int64).keys.op)
    _failing(golden, 'HashTableV2 other dtypes', lambda: _two_tables(fixed))
    for buckets, load in ((3, 0.8), (6, 0.8), (8, 1.5), (8, 0.0)):
        _failing(golden, f'MutableDenseHashTableV2 {buckets} {load}', lambda: raw.MutableDenseHashTableV2(empty_key=numbers(0)[0], deleted_key=numbers(1)[0], value_dtype=tf.int64, initial_num_buckets=buckets, max_load_factor=load).op)
    _failing(golden, 'MutableDenseHashTableV2 equal', lambda: raw.MutableDenseHashTableV2(empty_key=numbers(1)[0], deleted_key=numbers(1)[0], value_dtype=tf.int64).op)
    _failing(golden, 'MutableDenseHashTableV2 shapes', lambda: raw.MutableDenseHashTableV2(empty_key=numbers(1)[0], deleted_key=numbers(1), value_dtype=tf.int64).op)
    for key in (0, 1):
        _failing(golden, f'LookupTableInsertV2 dense {key}', lambda: raw.LookupTableInsertV2(table_handle=raw.MutableDenseHashTableV2(empty_key=numbers(0)[0], deleted_key=numbers(1)[0], value_dtype=tf.int64), keys=numbers(key), values=numbers(1)))
    _failing(golden, 'MutableHashTableOfTensorsV2 shape', lambda: raw.MutableHashTableOfTensorsV2(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[2, 2]).op)


def _in_order(initialize, table, ask):
    with tf.control_dependencies([initialize(table_handle=table, keys=[b'x'], values=tf.constant([1], tf.int64))]):
        return ask(table)


def _two_tables(fixed):
    with tf.control_dependencies([fixed()]):
        return raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.float32, shared_name='e').op
