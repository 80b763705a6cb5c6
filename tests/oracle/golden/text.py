"""Ops on strings: splitting, case, lengths, joins, n-grams, base64."""
import numpy as np


def text(*values):
    return np.array(values, object)


def scalar(value):
    return np.array(value, object)


WORDS = text(b'', b' ', b'a b  c', b'A-B', 'Größe ΣΑΣ'.encode(), b'\x00\xff', b'x' * 70)
GREEK = text('ΑΣ ΑΣΑ Σ ΑΣ. ὈΔΥΣΣΕΎΣ'.encode(), 'Straße ŉ ǰ ﬁ ΐ'.encode(), 'İIıi'.encode(), 'ǅ Ǆ ǆ'.encode(), b'a\xffB\xe2\x82C', b'x\x00Y', 'ᾳ ᾼ'.encode(), 'Ⅷⓐ𐐀𐐨'.encode())


def splits(golden):
    for op in ('StringSplit', 'StringSplitV2'):
        for delimiter in (b' ', b'', b',', b', ', b'ab'):
            golden.op(op, [text(b'a b  c', b'', b' , a, b ,', b'abcab', b',,'), scalar(delimiter)])
        golden.op(op, [text(), scalar(b' ')])
        golden.op(op, [text(b''), scalar(b' ')])
        golden.fails(op, [scalar(b'a'), scalar(b' ')])
        golden.fails(op, [text(b'a'), text(b' ')])
    for delimiter in (b' ', b'', b', '):
        golden.op('StringSplit', [text(b'a b  c', b'', b', a, b ,', b'  '), scalar(delimiter)], {'skip_empty': False})
    for maxsplit in (0, 1, 2, 5):
        for separator in (b'', b' ', b'::'):
            golden.op('StringSplitV2', [text(b' a b  c ', b'a::b::::c', b''), scalar(separator)], {'maxsplit': maxsplit})


def cases_of_letters(golden):
    for op in ('StringLower', 'StringUpper'):
        for encoding in ('', 'utf-8'):
            golden.op(op, [WORDS], {'encoding': encoding})
            golden.op(op, [GREEK], {'encoding': encoding})
            golden.op(op, [np.reshape(WORDS[:6], (2, 3))], {'encoding': encoding})
            golden.op(op, [text()], {'encoding': encoding})
            golden.op(op, [scalar(b'Hello, World 123 [@`{]')], {'encoding': encoding})
        everything = text(*(' '.join(map(chr, range(first, first + 128))).encode() for first in range(0x80, 0x600, 128)))
        golden.op(op, [everything], {'encoding': 'utf-8'}, name='a part of Unicode')
        golden.fails(op, [WORDS], {'encoding': 'latin-1'})
    for value in (WORDS, text(b'  a b ', b'\t\n\v\f\ra\r\n', b'', b'   '), text(), scalar(b' x'), scalar('\u00a0x\u2003'.encode()), text(b'\x00 a \x00')):
        golden.op('StringStrip', [value])
    for i, value in enumerate((b'x', b' y', b'z ', b' a\x1f ', b'\x85 ', b' ' * 40)):
        golden.op('StringStrip', [scalar(value)], name=str(i))


def lengths(golden):
    for unit in ('BYTE', 'UTF8_CHAR'):
        for value in (WORDS, GREEK, text(), scalar('größer'.encode()), np.reshape(WORDS[:6], (2, 3)), text(b'\x80\x80', b'\xf0\x9f')):
            golden.op('StringLength', [value], {'unit': unit})
        for dtype in (np.int32, np.int64):
            whole = text('größer'.encode(), b'tensor', '𐐀abc'.encode())
            for pos, length in [(0, 2), (2, 10), (-2, 1), (-3, 3), (1, 0), (1, -1), (3, 1)]:
                golden.op('Substr', [whole, dtype(pos), dtype(length)], {'unit': unit}, name=f'{pos} {length}')
            golden.op('Substr', [whole, dtype([0, 1, 2]), dtype([2, 3, 1])], {'unit': unit})
        golden.op('Substr', [np.reshape(whole, (3, 1)), np.int32([[0, 1]]), np.int32([[2, 1]])], {'unit': unit})
        golden.op('Substr', [scalar(b'abcdef'), np.int32([0, 2]), np.int32([2, 3])], {'unit': unit})
        for pos in (7, -7):
            golden.fails('Substr', [text(b'abcdef', b'q"\n'), np.int32(pos), np.int32(1)], {'unit': unit}, name=str(pos))
        golden.fails('Substr', [text(b'abcdef', b'qx'), np.int32([1, 3]), np.int32([1, 1])], {'unit': unit})
    golden.fails('Substr', [whole, np.int32([0, 1]), np.int32([2, 3])])
    golden.fails('Substr', [whole, np.int32([0, 1]), np.int32(1)])


def ngrams(golden):
    attrs = {'separator': '|', 'left_pad': 'L', 'right_pad': 'RR', 'pad_width': 0, 'preserve_short_sequences': False}
    data = text(b'a', b'b', b'c', b'd')
    for dtype in (np.int32, np.int64):
        for widths in ([2], [1, 2], [3], []):
            for pad in (-1, 0, 1, 5):
                for keep in (False, True):
                    call = golden.fails if not widths and keep and pad < 0 else golden.op
                    call('StringNGrams', [data, dtype([0, 3, 3, 4])], attrs | {'ngram_widths': widths, 'pad_width': pad, 'preserve_short_sequences': keep})
    for wrong in ([1, 4], [0, 5], [0, 3, 2, 4], [0, 3], [0]):
        golden.fails('StringNGrams', [data, np.int64(wrong)], attrs | {'ngram_widths': [2]}, name=str(wrong))
    golden.fails('StringNGrams', [data, np.int64([0, 4])], attrs | {'ngram_widths': [2, 0]})
    golden.op('StringNGrams', [text(), np.int64([0, 0])], attrs | {'ngram_widths': [2]})


def joins(golden):
    words = np.array([b'abcdefghijklmnopqrstuvwxyz'[i:i + 1] for i in range(24)], object)
    cube = words.reshape(2, 3, 4)
    for axes in ([0], [1], [2], [-1], [0, 1], [1, 0], [2, 0, 1], [], [0, 1, 2]):
        for keep in (False, True):
            golden.op('ReduceJoin', [cube, np.int32(axes)], {'keep_dims': keep, 'separator': ', '}, name=str(axes))
    golden.op('ReduceJoin', [cube, np.int32(1)])
    golden.op('ReduceJoin', [text(), np.int32([0])])
    golden.op('ReduceJoin', [scalar(b'a'), np.int32([])])
    for axes in ([3], [-4], [0, 0], [1, -2]):
        golden.fails('ReduceJoin', [cube, np.int32(axes)], name=str(axes))
    for ids_type in (np.int32,):  # TensorFlow aborts for int64
        for number_type in (np.int32,):
            golden.op('UnsortedSegmentJoin', [words[:5], ids_type([2, 0, 2, 3, 0]), number_type(4)], {'separator': '+'})
            golden.op('UnsortedSegmentJoin', [words[:12].reshape(4, 3), ids_type([1, 0, 1, 1]), number_type(2)], {'separator': ''})
            golden.op('UnsortedSegmentJoin', [words[:12].reshape(2, 2, 3), ids_type([[1, 0], [0, 0]]), number_type(3)], {'separator': ' '})
    golden.op('UnsortedSegmentJoin', [text(), np.int32([]), np.int32(2)])
    for ids, number in (([0, 1, 2, 3, 4], 4), ([0, 1, -1, 3, 0], 4), ([0, 2], 4), ([0] * 5, -1)):
        golden.fails('UnsortedSegmentJoin', [words[:5], np.int32(ids), np.int32(number)], name=str(ids))
    golden.fails('UnsortedSegmentJoin', [words[:5], np.int32([0] * 5), np.int32([1])])


def base64(golden):
    values = [text(b'', b'a', b'ab', b'abc', b'abcd', bytes(range(256))), WORDS, scalar(b'\xff\xfe\xfd'), text(), np.reshape(WORDS[:6], (3, 2)), text(b'>>>???')]
    for value in values:
        for pad in (False, True):
            golden.op('EncodeBase64', [value], {'pad': pad})
    for i, value in enumerate((text(b'', b'YQ', b'YQ==', b'YWI', b'YWI=', b'YWJj', b'__79-_'), text(), scalar(b'YWJjZA'), np.reshape(text(b'YQ', b'YWJj'), (2, 1)))):
        golden.op('DecodeBase64', [value])
    for wrong in (b'Y', b'YQ=', b'Y===', b'YW=j', b'YW+/', b'YWJj\n', b'====', b'YQ=a', b' YQ=', b'=', b'A=='):
        golden.fails('DecodeBase64', [scalar(wrong)], name=repr(wrong))
    golden.op('DecodeBase64', [text(b'YR', b'YWJ')])


def cases(golden):
    splits(golden)
    cases_of_letters(golden)
    lengths(golden)
    ngrams(golden)
    joins(golden)
    base64(golden)
