"""Files of images, decoded and encoded.

TensorFlow's numbers are exact here, but for damaged JPEG files: what a decoder makes of them depends on the width of its buffer.
"""
import numpy as np
import tensorflow as tf

from image_files import (PNG_START, adobe, bmp, chunk, frame, gif, jpeg, png, png_body, png_header)

tf1 = tf.compat.v1
RAW = tf.raw_ops


def text(value):
    return np.array(value, object)


def _fails(op, file, attrs, *more):
    try:
        getattr(RAW, op)(contents=file, **attrs, **({'crop_window': more[0]} if more else {}))
        return False
    except tf.errors.OpError:
        return True


def decoded(golden, name, file, *ways):
    """One graph for all ways (op, attrs) that succeed, and a case for each that fails."""
    sound = [way for way in ways if not _fails(way[0], file, way[1])]
    with golden.graph(name) as case:
        contents = tf1.placeholder(tf.string, None, 'x0')
        fetches = {}
        for i, (op, attrs) in enumerate(sound):
            getattr(RAW, op)(contents=contents, name=f'op{i}', **attrs)
            fetches[f'op{i}:0'] = case.graph.get_tensor_by_name(f'op{i}:0')
        if sound:
            case.step(fetches, {contents: text(file)})
            case.expect_success()
        else:
            case.freeze()
    for way in ways:
        if way not in sound:
            golden.fails(way[0], [text(file)], way[1], name=name)


def smooth(golden, height, width, channels, dtype=np.uint8):
    """Gradients with some noise."""
    y, x, c = np.mgrid[:height, :width, :channels]
    most = np.iinfo(dtype).max
    wave = 0.5 + 0.25 * np.sin(x / 5 + c) + 0.2 * np.cos(y / 3 - c) + golden.random.uniform(-0.05, 0.05, x.shape)
    return (wave * most).astype(dtype)


# --- PNG ---

PNG_WAYS = [('DecodePng', dict(channels=channels, dtype=dtype)) for channels, dtype in
            ((0, tf.uint8), (1, tf.uint8), (3, tf.uint8), (4, tf.uint8), (1, tf.uint16), (4, tf.uint16))]
PALETTE = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (10, 20, 30), (200, 100, 50), (7, 7, 7), (255, 255, 255), (0, 0, 0)]


def png_kinds(golden):
    random = golden.random
    for channels in (1, 2, 3, 4):
        for dtype in (np.uint8, np.uint16):
            samples = random.integers(0, np.iinfo(dtype).max + 1, (6, 5, channels)).astype(dtype)
            for interlaced in (False, True):
                decoded(golden, f'png {channels} {dtype.__name__} {interlaced=}', png(samples, interlaced=interlaced), *PNG_WAYS)
    for bits in (1, 2, 4):
        samples = random.integers(0, 1 << bits, (5, 9))
        decoded(golden, f'png grey {bits}', png(samples, bits=bits), *PNG_WAYS)
        decoded(golden, f'png grey {bits} transparent', png(samples, bits=bits, transparent=b'\0\1', interlaced=bits == 2), *PNG_WAYS)
    for bits in (1, 2, 4, 8):
        indices, palette = random.integers(0, min(1 << bits, 8), (5, 6)), PALETTE[:1 << bits]
        decoded(golden, f'png palette {bits}', png(indices, bits=bits, palette=palette, interlaced=bits == 4), *PNG_WAYS)
        decoded(golden, f'png palette {bits} transparent', png(indices, bits=bits, palette=palette, transparent=b'\0\x80'), *PNG_WAYS)
    decoded(golden, 'png index beyond the palette', png(np.array([[0, 1], [3, 2]]), bits=8, palette=PALETTE[:2]), *PNG_WAYS)
    for dtype in (np.uint8, np.uint16):
        samples = random.integers(0, 3, (5, 5, 3)).astype(dtype) * (77 if dtype == np.uint8 else 7777)
        clear = np.array(samples[2, 2], '>u2').tobytes()
        decoded(golden, f'png color {dtype.__name__} transparent', png(samples, transparent=clear), *PNG_WAYS)
        decoded(golden, f'png grey {dtype.__name__} transparent', png(samples[:, :, :1], transparent=clear[:2]), *PNG_WAYS)


def png_chunks(golden):
    """Chunks that are not pixels: gamma decides how colours become grey."""
    samples = smooth(golden, 4, 5, 3)
    for name, more in {'gamma': chunk(b'gAMA', (45455).to_bytes(4, 'big')), 'linear gamma': chunk(b'gAMA', (100000).to_bytes(4, 'big')),
                       'sRGB': chunk(b'sRGB', b'\0'), 'text': chunk(b'tEXt', b'Title\0words'), 'packed text': chunk(b'zTXt', b'Title\0\0damaged'),
                       'unknown': chunk(b'abCd', b'123'), 'suggested palette': chunk(b'sPLT', b'name\0\x08')}.items():
        decoded(golden, f'png with {name}', png(samples, before=more), *PNG_WAYS)
    decoded(golden, 'png with text behind', png(samples, after=chunk(b'tEXt', b'a\0b') + chunk(b'tIME', bytes(7))), *PNG_WAYS[:1])
    decoded(golden, 'png with bytes behind', png(samples) + b'more', *PNG_WAYS[:1])


def png_damage(golden):
    samples = smooth(golden, 6, 7, 3)
    whole = png(samples)
    ways = [('DecodePng', {})]
    for length in (8, 20, 33, 40, 60, len(whole) - 30, len(whole) - 12, len(whole) - 4):
        decoded(golden, f'png of {length} bytes', whole[:length], *ways)
    wrong = bytearray(whole)
    wrong[60] ^= 1
    decoded(golden, 'png with a wrong bit', bytes(wrong), *ways)
    decoded(golden, 'png without pixels', PNG_START + png_header(4, 4, 8, 2) + chunk(b'IEND', b''), *ways)
    decoded(golden, 'png with a header of wrong checksum', PNG_START + chunk(b'IHDR', bytes([0, 0, 0, 1] * 2 + [8, 2, 0, 0, 0]), 1), *ways)
    decoded(golden, 'png with unknown critical chunk', png(samples, before=chunk(b'ABCD', b'')), *ways)
    body = chunk(b'IDAT', b'x\x9c' + bytes(20)) + chunk(b'IEND', b'')
    for width, height in ((0, 1), (1, 0), (65535, 65535), (999999, 999999), (1000001, 1), (1 << 27, 1), (1 << 31, 1), (23170, 23171)):
        decoded(golden, f'png that claims {width} x {height}', PNG_START + png_header(width, height, 8, 2) + body, *ways)
    for bits, color_type in ((3, 0), (16, 3), (4, 2), (8, 1), (8, 7)):
        decoded(golden, f'png with {bits} bits of kind {color_type}', PNG_START + png_header(2, 2, bits, color_type) + body, *ways)


def png_encoded(golden):
    """The pixels count, not the bytes, which depend on the version of zlib."""
    for dtype in (np.uint8, np.uint16):
        for shape in ((1, 1, 1), (4, 9, 2), (17, 33, 3), (3, 5, 4), (2, 3, 4, 3), (2, 2, 3, 3, 1), (0, 3, 3, 3)):
            value = golden.random.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
            for compression in ((-1, 0, 1, 9) if shape == (3, 5, 4) else (-1,)):
                with golden.graph(f'EncodePng {dtype.__name__}{list(shape)} {compression=}') as case:
                    image = tf1.placeholder(value.dtype, None, 'x0')
                    files = tf.reshape(RAW.EncodePng(image=image, compression=compression, name='op'), [-1])
                    count = int(np.prod(shape[:-3]))
                    back = [RAW.DecodePng(contents=files[i], dtype=value.dtype, name=f'back{i}') for i in range(count)]
                    case.step({f'back{i}:0': one for i, one in enumerate(back)} | {'Reshape:0': files} if not count else
                              {f'back{i}:0': one for i, one in enumerate(back)}, {image: value})
                    case.expect_success()
    for shape in ((3,), (3, 3), (3, 3, 5), (3, 3, 0), (0, 3, 3), (2, 3, 0, 3)):
        golden.fails('EncodePng', [np.zeros(shape, np.uint8)])
    for compression in (-2, 10):
        golden.fails('EncodePng', [np.zeros((2, 2, 1), np.uint8)], dict(compression=compression))


# --- JPEG ---

JPEG_WAYS = [('DecodeJpeg', attrs) for attrs in ({}, dict(channels=1), dict(channels=3, dct_method='INTEGER_ACCURATE'), dict(fancy_upscaling=False))]
SCALED = [('DecodeJpeg', dict(ratio=2)), ('DecodeJpeg', dict(ratio=4, dct_method='INTEGER_ACCURATE', fancy_upscaling=False)), ('DecodeJpeg', dict(ratio=8))]
SAMPLINGS = {'444': [(1, 1)] * 3, '420': [(2, 2), (1, 1), (1, 1)], '422': [(2, 1), (1, 1), (1, 1)], '440': [(1, 2), (1, 1), (1, 1)],
             '411': [(4, 1), (1, 1), (1, 1)]}


def planes_of(golden, height, width, sampling):
    across, down = (max(s[i] for s in sampling) for i in range(2))
    sizes = [(-(-height * v // down), -(-width * h // across)) for h, v in sampling]
    return [smooth(golden, h, w, len(sampling))[:, :, i] for i, (h, w) in enumerate(sizes)]


def jpeg_kinds(golden):
    files = {}
    for name, sampling in SAMPLINGS.items():
        height, width = (17, 33) if name == '420' else (9, 18)
        files[name] = jpeg(planes_of(golden, height, width, sampling), sampling, restart=2 if name == '422' else 0, size=(width, height))
    files['grey'] = jpeg(planes_of(golden, 13, 9, [(1, 1)]))
    files['grey with sampling'] = jpeg(planes_of(golden, 13, 9, [(1, 1)]), [(2, 2)])
    files['rgb by Adobe'] = jpeg(planes_of(golden, 9, 10, [(1, 1)] * 3), markers=adobe(0))
    four = planes_of(golden, 12, 11, [(1, 1)] * 4)
    files['cmyk'], files['cmyk by Adobe'], files['ycck'] = jpeg(four), jpeg(four, markers=adobe(0)), jpeg(four, markers=adobe(2))
    four = [(2, 2), (1, 1), (1, 1), (2, 2)]
    files['ycck 420'] = jpeg(planes_of(golden, 9, 17, four), four, markers=adobe(2))
    files['two planes'] = jpeg(planes_of(golden, 8, 8, [(1, 1)] * 2))
    image = smooth(golden, 19, 18, 3)
    for name, attrs in {'encoded': {}, 'progressive': dict(progressive=True), 'progressive grey': dict(progressive=True), 'coarse': dict(quality=5)}.items():
        files[name] = RAW.EncodeJpeg(image=image[:, :, :1] if 'grey' in name else image, **attrs).numpy()
    for name, file in files.items():
        decoded(golden, f'jpeg {name}', file, *JPEG_WAYS, *SCALED)
        for dtype in (np.int32,) if name != 'cmyk' else (np.int32, np.int64):
            golden.op('ExtractJpegShape', [text(file)], dict(output_type=tf.as_dtype(dtype)), name=f'{name} {dtype.__name__}')
    return files


def jpeg_windows(golden, files):
    for name in ('420', 'cmyk', 'progressive grey'):
        height, width = RAW.ExtractJpegShape(contents=files[name]).numpy()[:2]
        for window in ([0, 0, height, width], [1, 2, 3, 4], [height - 2, width - 3, 2, 3], [0, 7, height, 1]):
            for attrs in ({}, dict(channels=1, dct_method='INTEGER_ACCURATE', fancy_upscaling=False)):
                call = golden.fails if _fails('DecodeAndCropJpeg', files[name], attrs, window) else golden.op
                call('DecodeAndCropJpeg', [text(files[name]), np.int32(window)], attrs, name=f'{name} {window} {attrs}')
    for window in ([0, 0, 0, 1], [0, 0, 1, 0], [-1, 0, 2, 2], [0, -1, 2, 2], [0, 0, 20, 2], [0, 0, 2, 19], [0, 0, 1],
                   [[0, 0, 1, 1]]):
        golden.fails('DecodeAndCropJpeg', [text(files['encoded']), np.int32(window)], name=str(window))
    golden.op('DecodeAndCropJpeg', [text(files['encoded']), np.int32([2, 1, 5, 4])], dict(ratio=2), name='half the size')


def jpeg_damage(golden, files):
    ways = [('DecodeJpeg', {}), ('DecodeJpeg', dict(acceptable_fraction=0.1)), ('DecodeJpeg', dict(try_recover_truncated=True))]
    for name in ('444', 'progressive grey'):
        whole = files[name]
        for length in (3, 12, 80, len(whole) - 2, len(whole) - 1):
            # Where a file ends in the middle, TensorFlow's recovery reads the last bytes again, in headers for ever.
            decoded(golden, f'jpeg {name} of {length} bytes', whole[:length], *ways[:3 if length == len(whole) - 2 else 2])
            if length < 100:
                golden.fails('ExtractJpegShape', [text(whole[:length])], name=name)
    golden.fails('ExtractJpegShape', [text(b'')])
    golden.fails('ExtractJpegShape', [text([b'a'])])
    golden.fails('ExtractJpegShape', [text(b'\x89PNG')])
    flat = np.zeros((8, 8), np.uint8)
    for width, height in ((65500, 65500), (0, 8), (8, 0), (65535, 1), (23171, 23171)):
        decoded(golden, f'jpeg that claims {width} x {height}', jpeg([flat], size=(width, height)) if width * height < 100 else
                jpeg([flat]).replace(b'\x08\0\x08\0\x08\x01', bytes([8, height >> 8, height & 255, width >> 8, width & 255, 1])), ways[0])
    for attrs in (dict(ratio=3), dict(ratio=0), dict(dct_method='FLOAT'), dict(channels=2), dict(channels=4)):
        golden.fails('DecodeJpeg', [text(files['grey'])], attrs)


def jpeg_encoded(golden):
    for shape in ((1, 1, 1), (9, 8, 1), (17, 33, 3), (5, 1, 3)):
        image = smooth(golden, *shape)
        for attrs in (dict(), dict(quality=30), dict(progressive=True), dict(optimize_size=True), dict(chroma_downsampling=False),
                      dict(format='grayscale' if shape[2] == 1 else 'rgb', density_unit='cm', x_density=72, y_density=1200)):
            golden.op('EncodeJpeg', [image], attrs)
        for quality in (0, 1, 75, 100):
            golden.op('EncodeJpegVariableQuality', [image, np.int32(quality)], name=f'{shape} {quality}')
    image = smooth(golden, 8, 8, 3)
    golden.op('EncodeJpeg', [image], dict(xmp_metadata='<x:xmpmeta/>', x_density=70000))
    for quality in (0, 100):
        golden.op('EncodeJpeg', [image], dict(quality=quality))
    for quality in (-1, 101):
        golden.fails('EncodeJpeg', [image], dict(quality=quality))
        golden.fails('EncodeJpegVariableQuality', [image, np.int32(quality)], name=str(quality))
    golden.fails('EncodeJpegVariableQuality', [image, np.int32([1])])
    for shape, form in (((2, 2), ''), ((1, 2, 2, 3), ''), ((2, 2, 2), ''), ((2, 2, 4), ''), ((2, 2, 3), 'grayscale'), ((2, 2, 1), 'rgb'), ((0, 8, 3), ''),
                        ((8, 0, 1), '')):
        golden.fails('EncodeJpeg', [np.zeros(shape, np.uint8)], dict(format=form))
        if not form:
            golden.fails('EncodeJpegVariableQuality', [np.zeros(shape, np.uint8), np.int32(50)])


# --- GIF ---

COLORS = PALETTE[:4]
GIF_WAYS = [('DecodeGif', {}), ('DecodeImage', dict(dtype=tf.float32)), ('DecodeImage', dict(expand_animations=False, dtype=tf.uint16)), ('DecodePng', {}),
            ('DecodeJpeg', {}), ('DecodeImage', dict(channels=1))]


def gif_kinds(golden):
    full = np.array([[0, 1, 2], [3, 0, 1]])
    large = golden.random.integers(0, 4, (17, 13))
    files = {
        'of one frame': gif(3, 2, [frame(full)], COLORS),
        'of two frames': gif(13, 17, [frame(large), frame(large[::-1])], COLORS),
        'with a transparent first frame': gif(3, 2, [frame(full, transparent=1)], COLORS),
        'with a transparent frame': gif(3, 2, [frame(full), frame(full[::-1], transparent=0)], COLORS),
        'with a part': gif(3, 2, [frame(full), frame([[3, 3]], left=1)], COLORS),
        'that begins with a part': gif(3, 2, [frame([[3, 3]], 1, 1), frame(full)], COLORS),
        'larger than its frame': gif(6, 5, [frame(full)], COLORS),
        'smaller than its frame': gif(2, 1, [frame(full)], COLORS),
        'with a frame across the edge': gif(3, 2, [frame(full), frame(full, 2, 1)], COLORS),
        'with a frame outside': gif(3, 2, [frame(full), frame(full, 9, 9), frame([[2]], 65535, 0)], COLORS),
        'with first frame outside': gif(3, 2, [frame(full, 2, 1)], COLORS),
        'with growing frames': gif(3, 2, [frame([[1, 2]]), frame(full), frame([[3]], 1)], COLORS),
        'with disposal': gif(3, 2, [frame(full, disposal=2), frame([[3]], 1, disposal=3), frame([[3]], 0, 1, disposal=1, transparent=2)], COLORS),
        'interlaced': gif(13, 17, [frame(large, interlaced=True), frame(large[:9, :5], 4, 3, interlaced=True, transparent=1)], COLORS),
        'with maps of frames': gif(3, 2, [frame(full, palette=COLORS[::-1]), frame(full, palette=PALETTE)]),
        'without map': gif(3, 2, [frame(full)]),
        'without a second map': gif(3, 2, [frame(full, palette=COLORS), frame(full)]),
        'with a color outside': gif(3, 2, [frame(full)], COLORS[:2]),
        'with a transparent color outside': gif(3, 2, [frame(full % 3, transparent=2)], COLORS[:2]),
        'without frames': gif(3, 2, [], COLORS),
        'with comment': gif(3, 2, [b'\x21\xfe\x05hello\0', frame(full), b'\x21\xff\x0bNETSCAPE2.0\x03\1\0\0\0'], COLORS),
        'with a short control': gif(3, 2, [b'\x21\xf9\x02\1\0\0', frame(full)], COLORS),
        'with two controls': gif(3, 2, [b'\x21\xf9\x04\1\0\0\1\0', frame(full, transparent=2)], COLORS),
        'without end': gif(3, 2, [frame(full)], COLORS, b''),
        'with wrong end': gif(3, 2, [frame(full)], COLORS, b'Q'),
        'with bytes behind': gif(3, 2, [frame(full)], COLORS) + b'more',
        'without pixels': gif(0, 0, [frame(np.zeros((0, 0), int))], COLORS),
        'with an empty second frame': gif(3, 2, [frame(full), frame(full, size=(0, 2))], COLORS),
        'with too few pixels': gif(3, 2, [frame(full[:1], size=(3, 2))], COLORS),
        'with too many pixels': gif(3, 2, [frame(np.vstack([full, full]), size=(3, 2))], COLORS),
        'with damage': gif(3, 2, [frame(full, raw=b'\x02\x02\xff\xff\0')], COLORS),
        'with damage behind': gif(3, 2, [frame(full), frame(full, raw=b'\x02\x02\xff\xff\0')], COLORS),
        'that claims 65535 x 65535': gif(65535, 65535, [frame(full, size=(65535, 65535))], COLORS),
    }
    for name, file in files.items():
        decoded(golden, f'gif {name}', file, *GIF_WAYS[:None if name in ('of one frame', 'with a part', 'with maps of frames') else 1])
    whole = files['of two frames']
    for length in (4, 6, 12, 30, 60, len(whole) // 2 + 5, len(whole) - 2, len(whole) - 1):
        decoded(golden, f'gif of {length} bytes', whole[:length], *GIF_WAYS[:1])
    return files


# --- BMP and the ops beside each other ---

def bmp_kinds(golden):
    ways = [(op, dict(channels=channels)) for op in ('DecodeBmp', 'DecodeImage') for channels in (0, 3, 4)] + [('DecodeBmp', dict(channels=1))]
    ways += [('DecodeImage', dict(dtype=dtype)) for dtype in (tf.uint16, tf.float32)] + [('DecodeGif', {}), ('DecodePng', {}), ('DecodeJpeg', {})]
    for channels in (1, 3, 4):
        for height, width in ((1, 1), (5, 3), (2, 4)):
            samples = golden.random.integers(0, 256, (height, width, channels))
            decoded(golden, f'bmp {height} x {width} x {channels}', bmp(samples), *ways[:None if height == 5 else 6])
    samples = golden.random.integers(0, 256, (3, 5, 3))
    decoded(golden, 'bmp from the top', bmp(samples, top_down=True), *ways[:5])
    decoded(golden, 'bmp with a long header', bmp(samples, header_size=70), *ways[:5])
    wrong = {'width 0': bmp(samples, width=0), 'negative width': bmp(samples, width=-5), 'height 0': bmp(samples, height=0), '16 bits': bmp(samples, bits=16),
             '1 bit': bmp(samples, bits=1), 'large': bmp(samples, width=65536, height=65536), 'long': bmp(samples, trailing=b'x'), 'wide': bmp(samples, width=6),
             'short': bmp(samples)[:-1], 'of 31 bytes': bmp(samples)[:31], 'of 2 bytes': b'BM', 'with an offset beyond': bmp(samples)[:10] + b'\xff\xff\xff\x7f' + bmp(samples)[14:],
             'with a negative offset': bmp(samples)[:10] + b'\xff\xff\xff\xff' + bmp(samples)[14:], 'with the least height': bmp(samples, height=-2 ** 31)}
    for name, file in wrong.items():
        golden.fails('DecodeBmp', [text(file)], name=name)


def dispatch(golden, jpegs, gifs):
    files = {'png': png(smooth(golden, 4, 5, 3)), 'wide png': png(smooth(golden, 4, 5, 4, np.uint16)), 'jpeg': jpegs['420'], 'gif': gifs['of one frame'],
             'bmp': bmp(smooth(golden, 4, 5, 3)), 'grey': jpegs['grey']}
    ways = [(op, {}) for op in ('DecodeImage', 'DecodePng', 'DecodeJpeg', 'DecodeGif', 'DecodeBmp')]
    ways += [('DecodeImage', dict(channels=channels, dtype=dtype)) for channels in (1, 3, 4) for dtype in (tf.uint16, tf.float32)]
    ways += [('DecodeImage', dict(expand_animations=False))]
    for name, file in files.items():
        decoded(golden, name, file, *ways)
        golden.op('DecodeAndCropJpeg', [text(file), np.int32([1, 1, 2, 2])], name=name) if file[:1] == b'\xff' else \
            golden.fails('DecodeAndCropJpeg', [text(file), np.int32([1, 1, 2, 2])], name=name)
    for name, file in {'nothing': b'', 'words': b'no image', 'beginning': b'\x89PN', 'RIFF': b'RIFF1234WAVEabcd'}.items():
        for op in ('DecodeImage', 'DecodePng', 'DecodeGif', 'DecodeBmp'):
            golden.fails(op, [text(file)], name=name)
    golden.fails('DecodeImage', [text([b'a', b'b'])])
    for op in ('DecodeImage', 'DecodePng', 'DecodeBmp'):
        for channels in (2, 5):
            golden.fails(op, [text(files['png'])], dict(channels=channels))


def cases(golden):
    png_kinds(golden)
    png_chunks(golden)
    png_damage(golden)
    png_encoded(golden)
    files = jpeg_kinds(golden)
    jpeg_windows(golden, files)
    jpeg_damage(golden, files)
    jpeg_encoded(golden)
    gifs = gif_kinds(golden)
    bmp_kinds(golden)
    dispatch(golden, files, gifs)
