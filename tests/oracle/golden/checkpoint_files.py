"""Saving and restoring. File names are relative to the folder in which a case runs, which is empty at first."""
import contextlib
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_library

from data import numbers
from writer import ALL_DTYPES, tf1

# What TensorFlow 1.15 has in files of version 1.
IN_V1 = {'float32', 'float64', 'float16', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'int64', 'complex64', 'complex128', 'bool', 'string'}


def apply(op, **values):
    return op_def_library.apply_op(op, **values)


def text(values):
    return np.array(values, object)


@contextlib.contextmanager
def folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        try:
            yield
        finally:
            os.chdir(before)


def cases(golden):
    random = golden.random
    for name in ALL_DTYPES:
        dtype = np.dtype(object) if name == 'string' else np.dtype(tf.as_dtype(name).as_numpy_dtype)
        for shape in [(), (0,), (3, 5), (1, 2, 1, 2, 1, 2)] if name == 'float32' else [(2, 3)]:
            _round_trip(golden, 'V2', {'a': numbers(random, shape, dtype)})
            if name in IN_V1:
                _round_trip(golden, '', {'a': numbers(random, shape, dtype)})
    many = {'b/weights': numbers(random, (3, 5), np.float32), 'a': numbers(random, (17,), np.int64), 'words': numbers(random, (4,), object), 'A': np.array(True)}
    _round_trip(golden, 'V2', many)
    _round_trip(golden, '', many)
    _slices(golden, 'V2')
    _slices(golden, '')
    _wrong(golden)
    _merged(golden)
    _merged_slices(golden)
    _restored(golden)


def _save(version, names, slices, values, file='model', name='save'):
    inputs = dict(tensor_names=names, name=name)
    if version:
        return apply('SaveV2', prefix=file, shape_and_slices=slices, tensors=values, **inputs)
    if any(slices):
        return apply('SaveSlices', filename=file, shapes_and_slices=slices, data=values, **inputs)
    return apply('Save', filename=file, data=values, **inputs)


def _restore(version, names, slices, types, file='model', name='load'):
    if version:
        return apply('RestoreV2', prefix=file, tensor_names=names, shape_and_slices=slices, dtypes=types, name=name)
    if any(slices):
        return [apply('RestoreSlice', file_pattern=file, tensor_name=names[0], shape_and_slice=slices[0], dt=types[0], preferred_shard=-1, name=name)]
    return [apply('Restore', file_pattern=file, tensor_name=names[0], dt=types[0], preferred_shard=-1, name=name)]


def _round_trip(golden, version, values):
    shown = ', '.join(f'{value.dtype}{list(value.shape)}' for value in values.values())
    with folder(), golden.graph(f'Save{version} and Restore{version} {shown}') as case:
        names = list(values)
        fed = [tf1.placeholder(tf.string if value.dtype == object else value.dtype, None, f'x{i}') for i, value in enumerate(values.values())]
        save = _save(version, names, [''] * len(names), fed)
        if version:
            loaded = _restore(version, names[::-1], [''] * len(names), [x.dtype for x in fed][::-1])
        else:
            loaded = [_restore(version, [name], [''], [x.dtype], name=f'load{i}')[0] for i, (name, x) in enumerate(zip(names, fed))]
        case.step({}, dict(zip(fed, values.values())), targets=[save])
        case.expect_success()
        case.step({loaded.name: loaded for loaded in loaded})
        case.expect_success()


def _slices(golden, version):
    """Saves parts of a tensor, and restores other parts or the whole tensor."""
    whole = numbers(golden.random, (4, 6), np.float32)
    for saved in (['4 6 -:-'], ['4 6 0,2:-', '4 6 2,2:-'], ['4 6 -:0,1', '4 6 -:1,5'], ['4 6 0,3:-']):
        for wanted in ('4 6 -:-', '4 6 1,2:2,3', '4 6 3,1:5,1'):
            with folder(), golden.graph(f'Save{version} {saved} and Restore{version} {wanted}') as case:
                parts = [tf.constant(whole[_part(part)]) for part in saved]
                save = _save(version, ['a'] * len(saved), saved, parts)
                loaded, = _restore(version, ['a'], [wanted], [tf.float32])
                case.step({}, targets=[save])
                case.step({loaded.name: loaded}, message=None if version else 'a')


def _part(spec):
    return tuple(slice(None) if part == '-' else slice(int(part.split(',')[0]), sum(map(int, part.split(',')))) for part in spec.split()[-1].split(':'))


def _wrong(golden):
    value = np.float32([[1, 2], [3, 4]])
    for names, slices, types in [(['b'], [''], [tf.float32]), (['a'], [''], [tf.int32]), (['a'], ['3 2 -:-'], [tf.float32]), (['a'], ['nonsense'], [tf.float32]),
                                 (['a'], ['2 2 0,3:-'], [tf.float32]), (['a', 'a'], ['', ''], [tf.float32]), (['a'], ['', ''], [tf.float32]), (['a'], ['2 2 -:-:-'], [tf.float32])]:
        with folder(), golden.graph(f'RestoreV2 fails: {names} {slices} {types[0].name}') as case:
            save = _save('V2', ['a'], [''], [tf.constant(value)])
            given = [tf1.placeholder(tf.string, None, name) for name in ('names', 'slices')]
            loaded = _restore('V2', given[0], given[1], types)
            case.step({}, targets=[save])
            case.step({loaded[0].name: loaded[0]}, {given[0]: text(names), given[1]: text(slices)})
    for names, slices in [(['a', 'a'], ['', '']), (['a'], ['', '']), (['a', 'b', 'c'], ['', '', '']), (['a', 'b'], ['2 3 -:-', '']), (['a', 'b'], ['x', '']), ([['a', 'b']], [['', '']])]:
        with folder(), golden.graph(f'SaveV2 fails: {names} {slices}') as case:
            given = [tf1.placeholder(tf.string, None, name) for name in ('names', 'slices')]
            save = _save('V2', given[0], given[1], [tf.constant(value), tf.constant(value)])
            case.step({}, {given[0]: text(names), given[1]: text(slices)}, targets=[save])
    with folder(), golden.graph('SaveV2 fails: two files') as case:
        given = tf1.placeholder(tf.string, None, 'file')
        save = _save('V2', ['a'], [''], [tf.constant(value)], file=given)
        case.step({}, {given: text(['a', 'b'])}, targets=[save])
    for version in ('V2', ''):
        with folder(), golden.graph(f'Restore{version} fails: no file') as case:
            loaded, = _restore(version, ['a'], [''], [tf.float32], file='missing')
            case.step({loaded.name: loaded})


def _merged(golden):
    values = [numbers(golden.random, (3,), np.float32), numbers(golden.random, (2, 2), np.int32), numbers(golden.random, (2,), object)]
    for count in (1, 2, 3):
        with folder(), golden.graph(f'MergeV2Checkpoints of {count}') as case:
            shards = [f'part-{i}' for i in range(count)]
            types = [tf.string if value.dtype == object else tf.as_dtype(value.dtype) for value in values]
            saves = [_save('V2', [f't{i}'], [''], [tf.constant(values[i], types[i])], file=shard, name=f'save{i}') for i, shard in enumerate(shards)]
            merge = apply('MergeV2Checkpoints', checkpoint_prefixes=shards, destination_prefix='model', delete_old_dirs=False, allow_missing_files=False, name='merge')
            loaded = _restore('V2', [f't{i}' for i in range(count)], [''] * count, types[:count])
            gone = _restore('V2', ['t0'], [''], types[:1], file='part-0', name='gone')[0]
            case.step({}, targets=saves)
            case.step({}, targets=[merge])
            case.expect_success()
            case.step({tensor.name: tensor for tensor in loaded})
            case.step({gone.name: gone})
    for shards, destination in [(['part-0', 'missing'], 'model'), (['missing'], 'model'), ([['part-0']], 'model'), (['part-0'], ['model']), (['part-0', 'part-0'], 'model')]:
        with folder(), golden.graph(f'MergeV2Checkpoints fails: {shards} {destination}') as case:
            given = [tf1.placeholder(tf.string, None, name) for name in ('shards', 'destination')]
            save = _save('V2', ['t'], [''], [tf.constant(values[0])], file='part-0')
            merge = apply('MergeV2Checkpoints', checkpoint_prefixes=given[0], destination_prefix=given[1], delete_old_dirs=False, allow_missing_files=False, name='merge')
            case.step({}, targets=[save])
            case.step({}, {given[0]: text(shards), given[1]: text(destination)}, targets=[merge])


def _merged_slices(golden):
    """Several files hold parts of one tensor; their folder is deleted or kept."""
    whole = numbers(golden.random, (4, 3), np.float32)
    specs = ['4 3 0,2:-', '4 3 2,1:-', '4 3 3,1:-']
    for delete in (True, False):
        with folder(), golden.graph(f'MergeV2Checkpoints of slices, delete_old_dirs={delete}') as case:
            shards = [f'parts/part-{i}' for i in range(len(specs))]
            saves = [_save('V2', ['a'], [spec], [tf.constant(whole[_part(spec)])], file=shard, name=f'save{i}') for i, (spec, shard) in enumerate(zip(specs, shards))]
            merge = apply('MergeV2Checkpoints', checkpoint_prefixes=shards, destination_prefix='model', delete_old_dirs=delete, allow_missing_files=False, name='merge')
            loaded, = _restore('V2', ['a'], [''], [tf.float32])
            row, = _restore('V2', ['a'], ['4 3 1,2:-'], [tf.float32], name='row')
            os.makedirs('parts')
            case.step({}, targets=saves)
            case.step({}, targets=[merge])
            case.expect_success()
            case.step({loaded.name: loaded})
            case.step({row.name: row})
            case.step({}, targets=[merge])
    with folder(), golden.graph('MergeV2Checkpoints onto a file that is there, of a shape that changes') as case:
        fed = tf1.placeholder(tf.float32, None, 'x')
        saves = _save('V2', ['a'], [''], [fed], file='part')
        merge = apply('MergeV2Checkpoints', checkpoint_prefixes=['part'], destination_prefix='model', delete_old_dirs=False, allow_missing_files=False, name='merge')
        loaded, = _restore('V2', ['a'], [''], [tf.float32])
        for value in (whole, whole[0]):
            case.step({}, {fed: value}, targets=[saves])
            case.step({}, targets=[merge])
            case.step({loaded.name: loaded})
            case.expect_success()
    with folder(), golden.graph('MergeV2Checkpoints of none') as case:
        given = tf1.placeholder(tf.string, None, 'shards')
        merge = apply('MergeV2Checkpoints', checkpoint_prefixes=given, destination_prefix='model', delete_old_dirs=False, allow_missing_files=False, name='merge')
        case.step({}, {given: text([])}, targets=[merge])


def _restored(golden):
    """Names in another order, as patterns, twice, or wrong."""
    values = [numbers(golden.random, (2, 3), np.float32), numbers(golden.random, (5,), np.int64), numbers(golden.random, (), object)]
    types = [tf.float32, tf.int64, tf.string]
    names = ['b', 'a', 'c/d']
    for order in ([2, 0, 1], [1], [0, 0], [1, 2, 1, 0]):
        with folder(), golden.graph(f'RestoreV2 in the order {order}') as case:
            save = _save('V2', names, [''] * 3, [tf.constant(value, of) for value, of in zip(values, types)])
            loaded = _restore('V2', [names[i] for i in order], [''] * len(order), [types[i] for i in order])
            case.step({}, targets=[save])
            case.step({value.name: value for value in loaded})
            case.expect_success()
    for i, (name, type_) in enumerate(zip(names, types)):
        with folder(), golden.graph(f'Restore {type_.name}{list(np.shape(values[i]))} of three') as case:
            save = _save('', names, [''] * 3, [tf.constant(value, of) for value, of in zip(values, types)])
            loaded, = _restore('', [name], [''], [type_])
            case.step({}, targets=[save])
            case.step({loaded.name: loaded})
            case.expect_success()
    for pattern, preferred in [('model-?????-of-00002', -1), ('model-0000*', 1), ('model-00001-of-00002', 0), ('*', 0)]:
        with folder(), golden.graph(f'Restore by the pattern {pattern}, preferred_shard={preferred}') as case:
            saves = [_save('', [names[i]], [''], [tf.constant(values[i], types[i])], file=f'model-0000{i}-of-00002', name=f'save{i}') for i in range(2)]
            loaded = apply('Restore', file_pattern=pattern, tensor_name='a', dt=tf.int64, preferred_shard=preferred, name='load')
            case.step({}, targets=saves)
            case.step({loaded.name: loaded})
    for file, name, type_ in [('model', 'x', tf.float32), ('model', 'b', tf.int32), ('other*', 'b', tf.float32), (['model', 'model'], 'b', tf.float32)]:
        with folder(), golden.graph(f'Restore fails: {file} {name} {type_.name}') as case:
            save = _save('', names, [''] * 3, [tf.constant(value, of) for value, of in zip(values, types)])
            given = [tf1.placeholder(tf.string, None, key) for key in ('file', 'name')]
            loaded = apply('Restore', file_pattern=given[0], tensor_name=given[1], dt=type_, preferred_shard=-1, name='load')
            case.step({}, targets=[save])
            case.step({loaded.name: loaded}, {given[0]: text(file), given[1]: text(name)})
