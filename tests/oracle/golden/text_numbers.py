"""Numbers from strings, strings from numbers, and hashes of strings."""
import numpy as np
import tensorflow as tf

from text import GREEK, WORDS, scalar, text
from writer import kind


def numbers_and_text(golden):
    floats = [b'1', b'+1', b' 1 ', b'1e3', b'inf', b'-INF', b'nan', b'.5', b'5.', b'1e400', b'-1e400', b'1e-400', b'0.1', b'16777217', b'-0', b'123456789.123456789', b'1e40',
              b'0x10', b'infinity', b'0x1.8p3']
    for dtype in (tf.float32, tf.float64):
        golden.op('StringToNumber', [text(*floats)], {'out_type': dtype})
        for wrong in (b'', b'1.5f', b'1_0', b'- 1', b'1 2', b'1e', b'abc', b'1\x002'):
            golden.fails('StringToNumber', [text(b'1', wrong)], {'out_type': dtype}, name=repr(wrong))
    for dtype, values in [(tf.int32, [b'1', b'+1', b' -7 ', b'2147483647', b'-2147483648', b'007']), (tf.int64, [b'9223372036854775807', b'-9223372036854775808', b'0']),
                          (tf.uint32, [b'4294967295', b'+5']), (tf.uint64, [b'18446744073709551615', b' 7'])]:
        golden.op('StringToNumber', [text(*values)], {'out_type': dtype})
        golden.op('StringToNumber', [scalar(values[0])], {'out_type': dtype})
        for wrong in (b'', b'1.0', b'-', b'99999999999999999999', b'--1', b'0x1') + ((b'-1',) if not dtype.is_integer or dtype in (tf.uint32, tf.uint64) else (b'9223372036854775808',)):
            golden.fails('StringToNumber', [scalar(wrong)], {'out_type': dtype}, name=repr(wrong))
    formats = [{}, {'precision': 2}, {'scientific': True}, {'shortest': True}, {'width': 10}, {'width': 10, 'fill': '0'}, {'width': 9, 'fill': '-'}, {'fill': '+'}, {'fill': ' '},
               {'fill': '#'}, {'precision': 0}, {'width': 0}]
    values = [np.float32([3.14159, -1e20, 1e-10, np.inf, np.nan]), np.float64([1 / 3, -2.5]), np.float16([0.1]), np.complex64([1.5 - 2j]), np.complex128([1 / 3 + 1e9j]), text(b'hi', b''),
              np.int32([-42, 7]), np.int64([2**62]), np.uint8([200]), np.int8([-128]), np.int16([-5]), np.uint16([65535]), np.uint32([2**32 - 1]), np.uint64([2**64 - 1]),
              np.array([True, False]), np.array([0.1], tf.bfloat16.as_numpy_dtype)]
    for value in values:
        for attrs in formats if kind(value.dtype) in 'fcS' else [f for f in formats if 'precision' not in f and 'scientific' not in f and 'shortest' not in f]:
            golden.op('AsString', [value], attrs)
    for attrs in ({'fill': 'ab'}, {'fill': 'x'}, {'scientific': True, 'shortest': True}, {'precision': 2}, {'scientific': True}):
        golden.fails('AsString', [np.int32(1)], attrs)
    golden.fails('AsString', [np.float32(1)], {'scientific': True, 'shortest': True})
    tensors = [np.float32([1.5, 2, 3, 4, 5, 6, 7, 8]), np.arange(8, dtype=np.int32).reshape(2, 2, 2), np.arange(100).reshape(10, 10), text(b'a', b'b"\n'), scalar(b'x'), np.array(True),
               np.float64(1 / 3), np.float32(0.1), np.float16([0.1]), np.zeros(0), np.int8([1, -1]), np.arange(7), np.complex64([1, 2])]
    for tensor in tensors:
        for summarize in (3, 1, -1):
            golden.op('StringFormat', [[tensor]], {'template': 'v: %s!', 'placeholder': '%s', 'summarize': summarize})
    golden.op('StringFormat', [[np.int32(1), scalar(b'q')]], {'template': 'a{}b{}', 'placeholder': '{}'})
    golden.op('StringFormat', [[]], {'template': 'abc', 'placeholder': 'x'})


def hashes(golden):
    lines = [text(*(bytes((i * 37 + k) % 256 for k in range(n)) for i, n in enumerate(range(first, first + 12)))) for first in (0, 12, 24, 36, 56, 120, 180)]
    for op, attrs in [('StringToHashBucket', {}), ('StringToHashBucketFast', {}), ('StringToHashBucketStrong', {'key': [1, -2]}), ('StringToHashBucketStrong', {'key': [12345, 67890]})]:
        for line in lines:
            golden.op(op, [line], attrs | {'num_buckets': 2**62}, name=f'{len(line[0])} {attrs}')
        for value in (scalar(b'a'), text(), np.reshape(WORDS[:6], (2, 3)), WORDS, GREEK):
            golden.op(op, [value], attrs | {'num_buckets': 10})
            golden.op(op, [value], attrs | {'num_buckets': 1})
    golden.fails('StringToHashBucketStrong', [WORDS], {'num_buckets': 10, 'key': [1]})


def cases(golden):
    numbers_and_text(golden)
    hashes(golden)
