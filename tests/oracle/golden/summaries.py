"""Summaries, which are messages: equal byte for byte."""
import struct
import zlib

import numpy as np
import tensorflow as tf

from data import bfloat16, numbers
from writer import ALL_DTYPES, dtypes, kind


def text(value):
    return np.array(value, object)


def cases(golden):
    random = golden.random
    for dtype in dtypes('ScalarSummary', of='fiu'):
        golden.op('ScalarSummary', [text(b'loss'), numbers(random, (), dtype)])
        golden.op('ScalarSummary', [text([b'a', b'b/c', b'a']), numbers(random, (3,), dtype)])
    golden.op('ScalarSummary', [text([[b'a', b''], [b'c', b'd']]), np.float32([[np.nan, np.inf], [-np.inf, 1e38]])])
    golden.op('ScalarSummary', [text(np.empty(0, object)), np.float32([])])
    golden.op('ScalarSummary', [text(b'large'), np.float64(1e300)], name='beyond float')
    golden.fails('ScalarSummary', [text(b'a'), np.float32([1])])
    golden.fails('ScalarSummary', [text([b'a', b'b']), np.float32([1, 2, 3])])

    for dtype in dtypes('HistogramSummary', of='fiu'):
        for shape in [(), (0,), (17,), (3, 5)] if dtype == np.float32 else [(9,)]:
            golden.op('HistogramSummary', [text(b'weights'), numbers(random, shape, dtype)])
    golden.op('HistogramSummary', [text(b'normal'), random.standard_normal((300,)).astype(np.float32)], name='normal')
    golden.op('HistogramSummary', [text(b'steps'), np.float64([0, 1e-12, -1e-12, 1e-13, 1.1e-12, 1, 1.1, 1e20, -1e20, 1e25, 1e300, -1e300])], name='ends of buckets')
    for bad in (np.nan, np.inf, -np.inf):
        for dtype in (np.float32, np.float64, np.float16, bfloat16):
            golden.fails('HistogramSummary', [text(b'weights'), np.array([1, bad], dtype)], name=f'{bad} {np.dtype(dtype)}')
    golden.fails('HistogramSummary', [text([b'a', b'b']), np.float32([1])])

    def scalar(tag, value):
        return tf.raw_ops.ScalarSummary(tags=[tag], values=[np.float32(value)]).numpy()

    for parts in [[scalar('a', 1)], [scalar('a', 1), scalar('b', 2)], [b''], [b'', scalar('a', 1), b''], [scalar(f't{i}', i) for i in range(9)], [scalar('', 1), scalar('', 2)]]:
        golden.op('MergeSummary', [[text(part) for part in parts]], name=str(len(parts)))
    golden.op('MergeSummary', [[text([scalar('a', 1), scalar('b', 2)]), text(scalar('c', 3)), text([[scalar('d', 4)]])]])
    golden.op('MergeSummary', [[text(tf.raw_ops.HistogramSummary(tag='h', values=np.float32([1, 2])).numpy()), text(scalar('a', 1))]], name='histogram')
    golden.op('MergeSummary', [[text(np.empty(0, object)), text([[scalar('a', 1)], [scalar('b', np.nan)]]), text(b'')]], name='none, two and an empty one')
    golden.fails('MergeSummary', [[text(scalar('a', 1)), text([scalar('b', 1), b'no message'])]])
    golden.fails('MergeSummary', [[text(scalar('a', 1)), text(scalar('a', 2))]])
    golden.fails('MergeSummary', [[text([scalar('a', 1), scalar('b', 1), scalar('a', 2)])]])
    golden.fails('MergeSummary', [[text(b'\x0a\x7f')]])

    for dtype in dtypes('ImageSummary', of='fu'):
        for shape in [(1, 2, 3, 1), (2, 3, 2, 3), (1, 5, 5, 4), (5, 1, 1, 1), (0, 2, 2, 3)]:
            _images(golden, np.array(numbers(random, shape, dtype, -4, 250)), {})
    for low, high in [(0, 1), (-1, 1), (0, 0), (-3, -1), (-2, 0)]:
        for dtype in (np.float32, np.float64, np.float16):
            _images(golden, random.uniform(low, high, (2, 9, 9, 3)).astype(dtype), {}, f'{low} to {high}')
    for most in (1, 2, 9):
        _images(golden, numbers(random, (3, 2, 2, 1), np.float32), {'max_images': most})
    bad = random.uniform(0, 1, (1, 3, 3, 3)).astype(np.float32)
    bad[0, 0, 1, 1], bad[0, 2, 0, 2], bad[0, 1, 1, 0] = np.nan, np.inf, -np.inf
    for dtype in (np.float32, np.float64, np.float16):
        _images(golden, bad.astype(dtype), {}, 'not finite')
        _images(golden, bad.astype(dtype), {'bad_color': tf.make_tensor_proto(np.uint8([1, 2, 3]))}, 'not finite, another color')
    _images(golden, np.full((1, 2, 2, 1), np.nan, np.float32), {}, 'nothing finite')
    image = numbers(random, (1, 2, 2, 3), np.float32)
    for tag, value, attrs in [(text([b'a', b'b']), image, {}), (text(b'a'), image[0], {}), (text(b'a'), image[..., :2], {}), (text(b'a'), image[:, :0], {}),
                              (text(b'a'), image, {'bad_color': tf.make_tensor_proto(np.uint8([1]))})]:
        golden.fails('ImageSummary', [tag, value], attrs, name='one color' if attrs else '')
    golden.fails('ImageSummary', [text(b'a'), image], {'bad_color': tf.make_tensor_proto(np.float32([1, 2, 3, 4]))}, name='color of floats')
    _tensors(golden)


def _tensors(golden):
    metadata = tf.compat.v1.SummaryMetadata(display_name='name', summary_description='it', data_class=2)
    metadata.plugin_data.plugin_name, metadata.plugin_data.content = 'plugin', b'\xff\x00'
    for name in ALL_DTYPES:
        dtype = np.dtype(object) if name == 'string' else np.dtype(tf.as_dtype(name).as_numpy_dtype)
        golden.op('TensorSummary', [numbers(golden.random, (2,), dtype)], {'description': 'it', 'labels': ['a'], 'display_name': 'name'})
        golden.op('TensorSummaryV2', [text(b'tag'), numbers(golden.random, (), dtype), text(metadata.SerializeToString())])
    golden.op('TensorSummaryV2', [text(b''), np.zeros((0, 3), np.float32), text(b'')])
    for at in (0, 2):
        inputs = [text(b'tag'), np.float32([1]), text(b'')]
        inputs[at] = text([b'tag'])
        golden.fails('TensorSummaryV2', inputs)
    summary = tf.raw_ops.TensorSummaryV2(tag='t', tensor=np.float32([1, 2]), serialized_summary_metadata=metadata.SerializeToString()).numpy()
    golden.op('MergeSummary', [[text(summary), text(tf.raw_ops.TensorSummary(tensor=3).numpy())]], name='tensors')


def _images(golden, value, attrs, name=''):
    """The pixels that TensorFlow's pictures have, in PNG files without compression, as ours are."""
    with golden.graph(f'ImageSummary {value.dtype}{list(value.shape)} {name or attrs}') as case:
        feeds, (result,) = golden._build('ImageSummary', [text(b'image'), value], attrs)
        case.freeze()
        summary = tf.compat.v1.Summary.FromString(case.run(result, feeds))
        for entry in summary.value:
            entry.image.encoded_image_string = _png(_pixels(entry.image.encoded_image_string))
        case.record({tensor.op.name: given for tensor, given in feeds.items()}, {'op:0': text(summary.SerializeToString(deterministic=True))})


def _pixels(png):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(tf.io.decode_png(png))


def _png(pixels):
    height, width, channels = pixels.shape
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)
    stored = b'\x78\x01\x01' + struct.pack('<HH', len(rows), len(rows) ^ 0xFFFF) + rows + struct.pack('>I', zlib.adler32(rows))
    header = struct.pack('>IIBBBBB', width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    chunks = [(b'IHDR', header), (b'IDAT', stored), (b'IEND', b'')]
    return b'\x89PNG\r\n\x1a\n' + b''.join(struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data)) for name, data in chunks)
