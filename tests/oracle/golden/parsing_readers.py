"""Readers of files and input pipelines over them. The files are in memory, written by the case itself. As in queues.py a step runs
what the thread of a QueueRunner would."""
import numpy as np
import tensorflow as tf

from control_flow import record
from parsing import example, strings, text
from queues import _run_pipeline
from writer import tf1

raw = tf.raw_ops
LINES = b'one\ntw\ro\r\n\nlast'


def cases(golden):
    for version in ('V2', ''):
        for name, maker, attrs, files in _readers():
            if maker + version == 'FixedLengthRecordReader':
                continue  # TensorFlow 2.21 refuses it: it wants an attr that the op does not have
            with golden.graph(f'{maker}{version} {name}') as case:
                if not version:
                    _as_of_tensorflow_1()
                _read_all(case, maker + version, version, attrs, f'{name}{version}', files, brief=not version and name not in ('lines', 'files'))
    for name, maker, attrs, contents in _damaged():
        with golden.graph(f'{maker} {name}') as case:
            _read_all(case, maker + 'V2', 'V2', attrs, name, [contents], brief=True)
    record(golden, [_identity_state, _queue_types, _text_pipeline, _record_pipeline])


def _as_of_tensorflow_1():
    """The default graph gets a version in which the older ops are not deprecated."""
    graph_def = tf1.GraphDef()
    graph_def.node.add(name='old', op='NoOp')
    graph_def.versions.producer = 24
    tf.import_graph_def(graph_def, name='')


def records(values):
    path = 'ram://records_of_readers'
    with tf.io.TFRecordWriter(path) as writer:
        for value in values:
            writer.write(value)
    with tf.io.gfile.GFile(path, 'rb') as file:
        return file.read()


def _readers():
    fixed = bytes(range(40, 70))
    yield 'lines', 'TextLineReader', {}, [LINES, b'', b'x\n']
    yield 'lines behind headers', 'TextLineReader', {'skip_header_lines': 2}, [LINES, b'', b'x\n']
    yield 'files', 'WholeFileReader', {}, [LINES, b'']
    yield 'fixed', 'FixedLengthRecordReader', {'header_bytes': 2, 'record_bytes': 5, 'footer_bytes': 3}, [fixed, fixed[:10]]
    yield 'hops', 'FixedLengthRecordReader', {'header_bytes': 2, 'record_bytes': 5, 'hop_bytes': 8}, [fixed, fixed[:6]]
    yield 'near hops', 'FixedLengthRecordReader', {'record_bytes': 9, 'hop_bytes': 4, 'footer_bytes': 2}, [fixed[:20]]
    yield 'records', 'TFRecordReader', {}, [records([b'one', b'', b'\x00' * 30]), b'', records([b'x'])]


def _damaged():
    whole = records([b'one', b'two'])
    for length in (3, 9, 14, 21):
        yield f'{length} bytes', 'TFRecordReader', {}, whole[:length]
    for at in (0, 9, 13, 16):
        yield f'byte {at}', 'TFRecordReader', {}, whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]
    yield 'a short header', 'FixedLengthRecordReader', {'header_bytes': 40, 'record_bytes': 1}, b'abc'
    for attrs in ({'record_bytes': -1}, {'record_bytes': 4, 'hop_bytes': -2}, {'record_bytes': 4, 'header_bytes': -3}, {'record_bytes': 4, 'footer_bytes': -4}):
        yield f'{attrs}', 'FixedLengthRecordReader', attrs, b'abc'
    yield 'negative', 'TextLineReader', {'skip_header_lines': -1}, b'abc'


def _first_words(message):
    """Without what TensorFlow 1.15 does not say."""
    return message.split("' failed")[0].split(' (Is this')[0]


def _read_all(case, maker, version, attrs, folder, files, brief=False):
    """Reads one by one until the first queue is at its end; then, unless `brief`, starts again and reads several at once from the
    second one, which names a missing file too."""
    folder = ''.join(letter for letter in folder if letter.isalnum())
    names = [f'ram://readers/{folder}/{i}'.encode() for i in range(len(files))]
    name, contents, many = tf1.placeholder(tf.string, None, 'name'), tf1.placeholder(tf.string, None, 'contents'), tf1.placeholder(tf.int64, None, 'many')
    write = raw.WriteFile(filename=name, contents=contents)
    reader = getattr(raw, maker)(**attrs)

    def op(kind, **inputs):
        return getattr(raw, kind + version)(**inputs)

    def queue(shared_name, elements):
        made = getattr(raw, 'FIFOQueue' + version)(component_types=[tf.string], shared_name=shared_name)
        return made, op('QueueEnqueueMany', handle=made, components=[tf.constant(elements)]), op('QueueClose', handle=made)

    first, fill, close = queue('first', names)
    second, fill_second, close_second = queue('second', names + [b'ram://readers/none'])
    one, several = op('ReaderRead', reader_handle=reader, queue_handle=first), op('ReaderReadUpTo', reader_handle=reader, queue_handle=second, num_records=many)
    counts = op('ReaderNumRecordsProduced', reader_handle=reader), op('ReaderNumWorkUnitsCompleted', reader_handle=reader)
    state, reset = op('ReaderSerializeState', reader_handle=reader), op('ReaderReset', reader_handle=reader)

    def fetch(tensors, feeds=None):
        case.step({f'{tensor.op.name}:{tensor.value_index}': tensor for tensor in tensors}, feeds, message=_first_words)

    for file, bytes_ in zip(names, files):
        case.step({}, {name: text(file), contents: text(bytes_)}, targets=[write])
    for target in (fill, close, fill_second, close_second):
        case.step({}, targets=[target])
    for _ in range(2 if brief else 6):
        fetch(one)
    fetch(counts)
    if brief:
        return
    fetch([state])
    case.step({}, targets=[reset])
    for count in (0, 3, 9, 9, 9):
        fetch(several, {many: np.int64(count)})
    fetch(counts)


def _identity_state(case, random):
    """The state of an IdentityReader is saved and restored"""
    reader, state = raw.IdentityReaderV2(), tf1.placeholder(tf.string, None, 'state')
    queue = raw.FIFOQueueV2(component_types=[tf.string], shared_name='work')
    fill, key = raw.QueueEnqueueManyV2(handle=queue, components=[tf.constant([b'a', b'', b'\xff'])]), raw.ReaderReadV2(reader_handle=reader, queue_handle=queue)
    restore, saved = raw.ReaderRestoreStateV2(reader_handle=reader, state=state), raw.ReaderSerializeStateV2(reader_handle=reader)
    old = raw.WholeFileReader(), raw.FIFOQueue(component_types=[tf.string], shared_name='old')
    old_fill, old_key = raw.QueueEnqueue(handle=old[1], components=[tf.constant(b'ram://readers/old')]), raw.ReaderRead(reader_handle=old[0], queue_handle=old[1])
    old_restore, old_saved = raw.ReaderRestoreState(reader_handle=old[0], state=state), raw.ReaderSerializeState(reader_handle=old[0])
    counts = {'ReaderNumRecordsProducedV2:0': raw.ReaderNumRecordsProducedV2(reader_handle=reader), 'ReaderNumWorkUnitsCompletedV2:0': raw.ReaderNumWorkUnitsCompletedV2(reader_handle=reader)}
    write = raw.WriteFile(filename='ram://readers/old', contents='v1')
    for target in (fill, old_fill, write):
        case.step({}, targets=[target])
    case.step({'ReaderRead:0': old_key.key, 'ReaderRead:1': old_key.value})
    for _ in range(3):
        case.step({'ReaderReadV2:0': key.key, 'ReaderReadV2:1': key.value})
        case.step({'ReaderSerializeStateV2:0': saved})
    for bytes_ in (b'\x08\x02\x10\x02\x18\x05\x22\x01p', b'', b'\x08\x03\x10\x02', b'\x08', b'\x08' + b'\xff' * 9 + b'\x01'):
        case.step({}, {state: text(bytes_)}, targets=[restore], message=lambda message: message.split(': ')[0])
        case.step(counts)
        case.step({}, {state: text(bytes_)}, targets=[old_restore], message=lambda message: message.split(': ')[0])
        case.step({'ReaderSerializeState:0': old_saved})
    case.step({}, {state: strings([b''])}, targets=[restore])


def _queue_types(case, random):
    """Readers take one string from a queue with one component"""
    reader = raw.IdentityReaderV2()
    steps = []
    for i, components in enumerate(([1], [b'a', b'b'], [[b'a', b'b']])):
        tensors = [tf.constant(value) for value in components]
        queue = raw.FIFOQueueV2(component_types=[tensor.dtype for tensor in tensors], shared_name=f'queue{i}')
        steps.append((raw.QueueEnqueueV2(handle=queue, components=tensors), raw.ReaderReadV2(reader_handle=reader, queue_handle=queue).key))
    for fill, key in steps:
        case.step({}, targets=[fill])
        case.step({key.op.name + ':0': key})


def _written(case, files):
    """Files of a case, which its first steps write."""
    paths = [f'ram://pipelines/{name}' for name in files]
    writes = [raw.WriteFile(filename=path, contents=contents) for path, contents in zip(paths, files.values())]
    return paths, writes


def _text_pipeline(case, random):
    """string_input_producer, TextLineReader, decode_csv and batch"""
    paths, writes = _written(case, {'a.csv': b'x,y,label\n1,0.5,one\n2,,two\n', 'b.csv': b'x,y,label\n', 'c.csv': b'x,y,label\n3,-1.5,"th,ree"\n4,2,four'})
    files = tf1.train.string_input_producer(paths, shuffle=False, num_epochs=3)
    _, line = tf1.TextLineReader(skip_header_lines=1).read(files)
    x, y, label = tf1.decode_csv(line, [[0], [9.5], ['']])
    batch = tf1.train.batch([x * 2, y, label], 3, capacity=20, allow_smaller_final_batch=True)
    _run_files(case, batch, writes)


def _record_pipeline(case, random):
    """string_input_producer, TFRecordReader, shuffle_batch and parse_example"""
    first, second = [records([example(a=f'i{i}', b='f2') for i in several]) for several in ((1, 2), (0, 3, 4))]
    paths, writes = _written(case, {'a.tfrecord': first, 'b.tfrecord': second})
    files = tf1.train.string_input_producer(paths, num_epochs=2, seed=5)
    _, value = tf1.TFRecordReader().read(files)
    batch = tf1.train.shuffle_batch([value], 2, capacity=9, min_after_dequeue=2, seed=3)
    parsed = tf1.parse_example(batch, {'a': tf1.VarLenFeature(tf.int64), 'b': tf1.FixedLenFeature([2], tf.float32)})
    _run_files(case, [parsed['a'].indices, parsed['a'].values, parsed['a'].dense_shape, parsed['b']], writes)


def _run_files(case, fetches, writes):
    for write in writes:
        case.step({}, targets=[write])
    _run_pipeline(case, fetches, 2, 4)
