"""Encodings, code points and scripts."""
import numpy as np
import tensorflow as tf

from text import scalar, text


def cases(golden):
    damaged = text('hé'.encode(), b'', b'\xff\xe2\x82', b'\xf0\x9f\x98\x80a\x01', b'\xed\xa0\x80x', b'\xef\xbb\xbfhi', b'a\0b', b'\xc0\x80', b'\xf4\x90\x80\x80', b'\xe2\x82x', b'\xf0\x9f\x98', b'\xc2\x85\x7f')
    attrs = [{}, {'errors': 'ignore'}, {'replacement_char': 63, 'replace_control_characters': True}, {'errors': 'ignore', 'replace_control_characters': True}]
    for op in ('UnicodeDecode', 'UnicodeDecodeWithOffsets'):
        for attr in attrs:
            for splits in (tf.int32, tf.int64) if op == 'UnicodeDecode' else (tf.int64,):  # TensorFlow aborts for int32 with offsets
                golden.op(op, [damaged], attr | {'input_encoding': 'UTF-8', 'Tsplits': splits})
        for encoding in ('UTF-16-BE', 'UTF-16LE', 'UTF-16', 'UTF-32-BE', 'UTF-32LE', 'latin1', 'US-ASCII', 'utf8'):
            golden.op(op, [text(b'a\xe9b\xd8', b'\0h\xd8\x3d\xde\x00', b'\0\0\0h\0\x10\0\0')], {'input_encoding': encoding})
        golden.op(op, [np.reshape(damaged[:2], (2, 1))], {'input_encoding': 'UTF-8'})
        golden.op(op, [text()], {'input_encoding': 'UTF-8'})
        golden.op(op, [scalar(b'ab')], {'input_encoding': 'UTF-8', 'errors': 'strict'})
        golden.fails(op, [damaged], {'input_encoding': 'UTF-8', 'errors': 'strict'})
        golden.fails(op, [damaged], {'input_encoding': 'nope'})
        golden.fails(op, [damaged], {'input_encoding': 'UTF-8', 'replacement_char': 0x110000})
    for output in ('UTF-8', 'UTF-16-BE', 'UTF-32-BE'):
        for attr in attrs:
            golden.op('UnicodeTranscode', [damaged], attr | {'input_encoding': 'UTF-8', 'output_encoding': output})
        golden.op('UnicodeTranscode', [text(b'\0h\xd8\x3d\xde\x00')], {'input_encoding': 'UTF-16-BE', 'output_encoding': output})
        golden.fails('UnicodeTranscode', [damaged], {'input_encoding': 'UTF-8', 'output_encoding': output, 'errors': 'strict'})
        for dtype in (np.int32, np.int64):
            for errors in ('replace', 'ignore'):
                golden.op('UnicodeEncode', [np.int32([104, 0x1f600, 0xd800, 0x110000, -1, 0, 0xfffe]), dtype([0, 2, 2, 7])], {'output_encoding': output, 'errors': errors})
        golden.fails('UnicodeEncode', [np.int32([104, 0xd800]), np.int64([0, 2])], {'output_encoding': output, 'errors': 'strict'})
    golden.op('UnicodeEncode', [np.int32([104, 0xd800]), np.int64([0, 2])], {'output_encoding': 'UTF-8', 'replacement_char': 63})
    for wrong in ([], [0, 1], [1, 2], [0, 3], [0, 2, 1, 2], [0]):
        golden.fails('UnicodeEncode', [np.int32([104, 105]), np.int64(wrong)], {'output_encoding': 'UTF-8'}, name=str(wrong))
    for first in range(0, 0x30000, 0x4000):
        golden.op('UnicodeScript', [np.arange(first, first + 0x4000, 61, np.int32)], name=hex(first))
    golden.op('UnicodeScript', [np.int32([[-1, 0x10ffff], [0x110000, 0xd800]])])
    golden.op('UnicodeScript', [np.int32(65)])
