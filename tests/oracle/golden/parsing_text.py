"""Numbers from bytes, records of comma-separated values, serialized tensors, and files."""
import numpy as np
import tensorflow as tf

from data import numbers
from parsing import strings, text
from writer import ALL_DTYPES, tf1

raw = tf.raw_ops


def cases(golden):
    _raw(golden)
    _csv(golden)
    _tensors(golden)
    _files(golden)
    _json(golden)


def _raw(golden):
    data = strings([bytes([1, 0, *range(2, 16)]), bytes(range(240, 256))])
    for name in ('half', 'float32', 'float64', 'int32', 'uint16', 'uint8', 'int16', 'int8', 'int64', 'complex64', 'complex128', 'bool', 'bfloat16'):
        given = strings([b'\x01\x00\x00\x01', b'\x00' * 4]) if name == 'bool' else data
        for little in (True, False):
            attrs = {'out_type': tf.as_dtype(name), 'little_endian': little}
            golden.op('DecodeRaw', [given], attrs)
            if name not in ('complex64', 'complex128', 'bool'):
                golden.op('DecodePaddedRaw', [strings([given[0], b'abc', b'', given[1]], (2, 2)), np.int32(16)], attrs)
    for given in (strings([]), strings([b'', b'']), text(b'abcdefgh'), strings([b'abcd'], (1, 1))):
        golden.op('DecodeRaw', [given], {'out_type': tf.int16}, name=str(given.shape))
    golden.fails('DecodeRaw', [strings([b'ab', b'abcd'])], {'out_type': tf.int16})
    golden.fails('DecodeRaw', [strings([b'abc'])], {'out_type': tf.half})
    golden.op('DecodePaddedRaw', [strings([]), np.int32(4)], {'out_type': tf.int16})
    for length in (0, -4, 3, [4]):
        golden.fails('DecodePaddedRaw', [strings([b'abc']), np.int32(length)], {'out_type': tf.int16}, name=str(length))


def _csv(golden):
    none, number, word = np.zeros(0, np.int32), np.int32([7]), strings([b'x'])

    def csv(call, records, defaults, **attrs):
        call('DecodeCSV', [strings(records), defaults], attrs, name=f'{records} {attrs}')

    all_types = [np.float32([0.5]), np.float64(0.25), np.int32([-1]), np.int64([-2]), strings([b'none'])]
    csv(golden.op, [b'1.5,2.5,3,4,five', b',,,,', b' 1e3 , -2 , +3 , -4 , five ', b'"1","2","3","4","5,""x"",\r\n6"'], all_types)
    csv(golden.op, [], all_types)
    for record in (b'1,"a""b"', b'\n1,\r\nab', b'1,', b'"1",""'):
        csv(golden.op, [record], [number, word])
    csv(golden.op, [b'1|a,b|"|"'], [none, word, word], field_delim=b'|')
    csv(golden.op, [b'1,a"b,"'], [none, word, word], use_quote_delim=False)
    csv(golden.op, [b'NA,NA', b'2,3'], [number, word], na_value=b'NA')
    csv(golden.op, [b'0,1,2,"3",4', b'"5",6,,,'], [number, word], select_cols=[1, 3])
    csv(golden.op, [b'0,1,'], [number, word], select_cols=[0, 2])
    csv(golden.op, [b'3'], [np.zeros((), np.int32)])
    for record in (b'1,2,3', b'1', b'', b'1,"2', b'1,"a"b"', b'1,a"b', b'x,2', b'99999999999,2', b'1\n,2', b'1,2\n', b'1,"', b'"1"2,3', b',2', b'1,\n', b'1.5,2'):
        csv(golden.fails, [b'1,2', record], [none, word])
    csv(golden.fails, [b'1,'], [number, strings([])])
    csv(golden.fails, [b'1,2'], [number, word], select_cols=[0, 2])
    csv(golden.fails, [b'x'], [np.float32([1])])


def _tensors(golden):
    random = golden.random
    for name in ALL_DTYPES:
        dtype = np.dtype(object) if name == 'string' else np.dtype(tf.as_dtype(name).as_numpy_dtype)
        for shape in ((2, 3), ()):
            value = numbers(random, shape, dtype)
            golden.op('SerializeTensor', [value])
            with tf.Graph().as_default():
                proto = tf.make_tensor_proto(value, tf.as_dtype(name)).SerializeToString()
            golden.op('ParseTensor', [text(proto)], {'out_type': tf.as_dtype(name)}, name=f'{name} {shape}')
    golden.op('SerializeTensor', [np.zeros((0, 2), np.float32)])
    whole = tf.make_tensor_proto(np.int32([1, 2])).SerializeToString()
    golden.fails('ParseTensor', [text(whole)], {'out_type': tf.float32})
    golden.fails('ParseTensor', [strings([whole])], {'out_type': tf.int32})
    golden.fails('ParseTensor', [text(b'\x08')], {'out_type': tf.int32}, message='Could not parse `serialized` as TensorProto')
    golden.fails('ParseTensor', [text(whole[:-1].replace(b'\x22\x08', b'\x22\x07'))], {'out_type': tf.int32}, message='Cannot parse tensor from proto: ')


def _files(golden):
    folder = b'ram://parsing_text/'
    with golden.graph('WriteFile ReadFile MatchingFiles') as case:
        name, contents, pattern = tf1.placeholder(tf.string, None, 'name'), tf1.placeholder(tf.string, None, 'contents'), tf1.placeholder(tf.string, None, 'pattern')
        write, read, match = raw.WriteFile(filename=name, contents=contents), raw.ReadFile(filename=name), raw.MatchingFiles(pattern=pattern)
        for file, bytes_ in ((b'a', b'one\n'), (b'b.txt', b''), (b'deep/er/c.txt', bytes(range(256)))):
            case.step({}, {name: text(folder + file), contents: text(bytes_)}, targets=[write])
            case.step({'ReadFile:0': read}, {name: text(folder + file)})
        for patterns in (text(folder + b'[^d]*'), strings([folder + b'?.txt', folder + b'[a-c]']), strings([folder + b'no*', folder + b'deep/er/*']), strings([]), text(folder + b'none/x')):
            case.step({'MatchingFiles:0': match}, {pattern: patterns})
        case.step({'ReadFile:0': read}, {name: text(folder + b'none')})
        case.step({'ReadFile:0': read}, {name: strings([folder + b'a'])})
        case.step({}, {name: strings([folder + b'a']), contents: text(b'x')}, targets=[write])
        case.step({}, {name: text(folder + b'a'), contents: strings([b'x'])}, targets=[write])
        case.step({'MatchingFiles:0': match}, {pattern: strings([b'a'], (1, 1))})


def _json(golden):
    """Examples as JSON. TensorFlow's messages contain blanks at random."""
    def feature(value):
        return '{"features":{"feature":{"a":%s}}}' % value

    def values(kind, several):
        return [feature('{"%s":{"value":[%s]}}' % (kind, value)) for value in several]

    good = values('int64List', ['-0', '1e2, "1.0"', '-9223372036854775808, "9223372036854775807"', '1,', '', '[[1],[]], null', '1.0'])
    good += values('floatList', ['1, "1.5", -2e-3', '"-Infinity", "Infinity", "NaN"', '1e-50, null', '9007199254740993'])
    good += values('bytesList', ['"aGk", "aGk=", ""', '"_-8", "/+8=", "aGl"', "null, 'aGk='", '"\\u0061Gk="'])
    good += [feature(value) for value in ('{}', 'null', '{"int64List":null}', '{"int64_list":{"value":7}}', '{"int64List":{"value":null}}', '{"int64List":{"value":[1],"value":[2]}}', '{"int64List":{},"floatList":null}')]
    good += ['{}', ' {"features" : { } } ', '{"features":null}', '{"features":{"feature":null}}', '{"features":{},"features":{},}', "{'features':{feature:{b_1:{},\"\":{}}}}", '{"features":{"feature":{"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\u00e9":{}}}}',
             '{"features":{"feature":{"x":{"floatList":{"value":[0.5]}},"b":{"int64List":{"value":["3"]}}}}}']
    golden.op('DecodeJSONExample', [strings([value.encode() for value in good])], name='good')
    golden.op('DecodeJSONExample', [text(b'{}')])
    golden.op('DecodeJSONExample', [strings([], (0, 2))])
    bad = values('int64List', ['01', 'true', '{}', '"-9223372036854775809"', '9223372036854775808', '1.', '1.5', '+1', '1 2', '""', '"x"', '" 1"', 'NaN', '1e99'])
    bad += values('floatList', ['Infinity', '3.5e38', '"3.5e38"', 'false', '.5', '-', '"1.5x"'])
    bad += values('bytesList', ['"aGk=="', '"a"', '"aG k"', '5', '"aGk=aGk="', '"!!"'])
    bad += [feature(value) for value in ('{"kind":1}', '[]', '1', '{"int64List":{},"floatList":{}}', '{"int64List":{"values":[]}}', '{} x')]
    bad += ['', '[]', 'null', '{,}', '{"features":{} "features":{}}', '{"features"}', '{"features":}', '{"a', '{"x":1}', '{"features":{}', '{"features":{}}{}', '{"features":{"feature":{"a":{},"a":{}}}}', '// c\n{}',
            '{"features":{"feature":{"\\ud83d":{}}}}', '{"features":{"feature":{"\\x":{}}}}', '{"features":{"feature":{"a":{"int64List":{"value":[1,2']
    for value in bad:
        golden.fails('DecodeJSONExample', [text(value.encode())], name=value, message='Error while parsing JSON: ')
