"""Image files of every kind that the formats have, made here so that no other library is needed: PNG, GIF, BMP, baseline JPEG.

    png(samples)                          samples: height x width x channels, uint8 or uint16
    png(indices, palette=..., bits=4)     a palette of (r, g, b), or with `grey` less than 8 bits of grey
    gif(3, 2, [frame(indices)], palette)
    bmp(samples)
    jpeg(planes, sampling)                planes of samples as they are stored (Y, Cb, Cr for a colour image)
"""
import struct
import zlib

import numpy as np


# --- PNG ---

def chunk(name, data, wrong=0):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data) ^ wrong)


PNG_START = b'\x89PNG\r\n\x1a\n'
ADAM7 = [(0, 8, 0, 8), (0, 8, 4, 8), (4, 8, 0, 4), (0, 4, 2, 4), (2, 4, 0, 2), (0, 2, 1, 2), (1, 2, 0, 1)]
COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def png_header(width, height, bits, color_type, interlaced=False):
    return chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, bits, color_type, 0, 0, int(interlaced)))


def png_body(samples, bits, interlaced=False):
    """The uncompressed bytes of IDAT, with a different filter for each row."""
    passes = ADAM7 if interlaced else [(0, 1, 0, 1)]
    parts = [samples[y::dy, x::dx] for y, dy, x, dx in passes]
    return b''.join(_filtered(_packed(part, bits), max(1, samples.shape[2] * bits // 8)) for part in parts if part.size)


def _packed(part, bits):
    rows = part.reshape(len(part), -1)
    if bits == 16:
        return [row.astype('>u2').tobytes() for row in rows]
    if bits == 8:
        return [row.astype(np.uint8).tobytes() for row in rows]
    digits = ((rows[:, :, None] >> np.arange(bits - 1, -1, -1)) & 1).reshape(len(rows), -1).astype(np.uint8)
    return [np.packbits(row).tobytes() for row in digits]


def _filtered(rows, step):
    out, above = b'', None
    for y, row in enumerate(rows):
        row = np.frombuffer(row, np.uint8).astype(int)
        up = np.zeros_like(row) if above is None else above
        left, corner = (np.concatenate([np.zeros(step, int), line])[:len(line)] for line in (row, up))
        estimate = left + up - corner
        nearest = np.select([(abs(estimate - left) <= abs(estimate - up)) & (abs(estimate - left) <= abs(estimate - corner)),
                             abs(estimate - up) <= abs(estimate - corner)], [left, up], corner)
        kind = y % 5
        out += bytes([kind]) + ((row - [0 * row, left, up, (left + up) // 2, nearest][kind]) % 256).astype(np.uint8).tobytes()
        above = row
    return out


def png(samples, bits=None, palette=None, transparent=None, interlaced=False, before=b'', after=b''):
    """`transparent`: the data of tRNS; `before` and `after`: chunks beside IDAT."""
    samples = np.asarray(samples)
    samples = samples if samples.ndim == 3 else samples[:, :, None]
    bits = bits or samples.dtype.itemsize * 8
    color_type = 3 if palette else COLOR_TYPES[samples.shape[2]]
    colors = chunk(b'PLTE', bytes(sum(palette, ()))) if palette else b''
    clear = chunk(b'tRNS', transparent) if transparent else b''
    packed = zlib.compress(png_body(samples, bits, interlaced))
    data = b''.join(chunk(b'IDAT', packed[i:i + 50]) for i in range(0, len(packed), 50))
    header = png_header(samples.shape[1], samples.shape[0], bits, color_type, interlaced)
    return PNG_START + header + before + colors + clear + data + after + chunk(b'IEND', b'')


# --- GIF ---

def _lzw(indices, bits):
    """Codes of one width: the table is cleared before it grows."""
    clear, value, count = 1 << bits, 0, 0
    codes = [clear]
    for i, index in enumerate(indices):
        codes.append(int(index))
        if i % (clear - 2) == clear - 3:
            codes.append(clear)
    for code in codes + [clear + 1]:
        value |= code << count
        count += bits + 1
    data = value.to_bytes((count + 7) // 8, 'little')
    return bytes([bits]) + b''.join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b'\0'


def frame(indices, left=0, top=0, size=None, transparent=None, disposal=0, palette=None, interlaced=False, raw=None):
    """`indices`: height x width; `size`: (width, height) when the header tells another; `raw`: other image data."""
    indices = np.asarray(indices)
    width, height = size or indices.shape[::-1]
    out = b''
    if transparent is not None or disposal:
        out = b'\x21\xf9\x04' + struct.pack('<BHBB', disposal << 2 | (transparent is not None), 10, transparent or 0, 0)
    flags = (0x80 | len(palette).bit_length() - 2 if palette else 0) | 0x40 * interlaced
    out += b',' + struct.pack('<HHHHB', left, top, width, height, flags) + bytes(sum(palette or [], ()))
    order = [y for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, height, step)] if interlaced else slice(None)
    return out + (raw or _lzw(indices[order].ravel(), max(2, int(indices.max(initial=0)).bit_length())))


def gif(width, height, frames, palette=None, end=b';'):
    flags = 0x80 | len(palette).bit_length() - 2 if palette else 0
    return b'GIF89a' + struct.pack('<HHBBB', width, height, flags, 0, 0) + bytes(sum(palette or [], ())) + b''.join(frames) + end


# --- BMP ---

def bmp(samples, top_down=False, header_size=54, width=None, height=None, bits=None, trailing=b''):
    """Samples are stored as they are: blue, green, red."""
    samples = np.asarray(samples, np.uint8)
    rows, columns, channels = samples.shape
    lines = [row.tobytes() + b'\0' * (-row.size % 4) for row in (samples if top_down else samples[::-1])]
    body = b''.join(lines)
    header = b'BM' + struct.pack('<IHHI', header_size + len(body), 0, 0, header_size)
    header += struct.pack('<IiiHHIIiiII', 40, columns if width is None else width, (-rows if top_down else rows) if height is None else height,
                          1, bits or channels * 8, 0, len(body), 0, 0, 0, 0)
    return header + b'\0' * (header_size - len(header)) + body + trailing


# --- JPEG ---

ZIGZAG = sorted(range(64), key=lambda i: (i // 8 + i % 8, (i // 8 if (i // 8 + i % 8) % 2 else i % 8)))
_K = np.arange(8)
DCT = np.sqrt(np.where(_K == 0, 1, 2) / 8)[:, None] * np.cos((2 * _K + 1) * _K[:, None] * np.pi / 16)


def _marker(code, data):
    return bytes([0xFF, code]) + struct.pack('>H', len(data) + 2) + data


def _huffman(kind, symbols, bits):
    """Codes of one length, in the order of the symbols."""
    counts = [0] * 16
    counts[bits - 1] = len(symbols)
    return _marker(0xC4, bytes([kind]) + bytes(counts) + bytes(symbols))


class _Bits:
    def __init__(self):
        self.text = []

    def put(self, value, bits):
        if bits:
            self.text.append(format(value, f'0{bits}b'))

    def number(self, value, bits):
        self.put(value if value >= 0 else value + (1 << bits) - 1, bits)

    def bytes(self):
        text = ''.join(self.text)
        text += '1' * (-len(text) % 8)
        return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8)).replace(b'\xff', b'\xff\0')


AC_SYMBOLS = [run << 4 | size for run in range(16) for size in range(1, 11)] + [0x00, 0xF0]


def _blocks(plane, down, across, step):
    """Quantised blocks of a plane, padded to whole units: [row][column] -> 64 numbers in zigzag order."""
    height, width = (-(-size // (8 * n)) * 8 * n for size, n in zip(plane.shape, (down, across)))
    plane = np.pad(plane.astype(float), ((0, height - plane.shape[0]), (0, width - plane.shape[1])), 'edge') - 128
    blocks = plane.reshape(height // 8, 8, width // 8, 8).transpose(0, 2, 1, 3)
    return np.rint(DCT @ blocks @ DCT.T / step).astype(int).reshape(height // 8, width // 8, 64)[:, :, ZIGZAG]


def _put_block(bits, block, last):
    difference = int(block[0]) - last
    size = abs(difference).bit_length()
    bits.put(size, 4)
    bits.number(difference, size)
    run = 0
    for value in map(int, block[1:]):
        if value == 0:
            run += 1
            continue
        while run > 15:
            bits.put(AC_SYMBOLS.index(0xF0), 8)
            run -= 16
        size = abs(value).bit_length()
        bits.put(AC_SYMBOLS.index(run << 4 | size), 8)
        bits.number(value, size)
        run = 0
    if run:
        bits.put(AC_SYMBOLS.index(0), 8)
    return int(block[0])


def jpeg(planes, sampling=None, step=4, restart=0, markers=b'', size=None, end=b'\xff\xd9'):
    """Baseline. `sampling`: (across, down) of each plane; planes have the size that follows from it. `restart`: units between
    restart markers; `size`: (width, height) of the image, that of the first plane by default; `markers` come first."""
    sampling = sampling or [(1, 1)] * len(planes)
    width, height = size or planes[0].shape[::-1]
    across, down = (max(s[i] for s in sampling) for i in range(2))
    out = b'\xff\xd8' + markers + _marker(0xDB, b'\0' + bytes([step] * 64))
    out += _marker(0xC0, struct.pack('>BHHB', 8, height, width, len(planes)) +
                   b''.join(bytes([i + 1, s[0] << 4 | s[1], 0]) for i, s in enumerate(sampling)))
    out += _huffman(0, list(range(12)), 4) + _huffman(0x10, AC_SYMBOLS, 8)
    out += _marker(0xDD, struct.pack('>H', restart)) if restart else b''
    out += _marker(0xDA, bytes([len(planes)]) + b''.join(bytes([i + 1, 0]) for i in range(len(planes))) + b'\0\x3f\0')
    if len(planes) == 1:
        sampling, across, down = [(1, 1)], 1, 1
    blocks = [_blocks(np.asarray(plane), s[1], s[0], step) for plane, s in zip(planes, sampling)]
    units = [(y, x) for y in range(-(-height // (8 * down))) for x in range(-(-width // (8 * across)))]
    bits, last = _Bits(), [0] * len(planes)
    for i, (y, x) in enumerate(units):
        if restart and i and i % restart == 0:
            out += bits.bytes() + bytes([0xFF, 0xD0 + (i // restart - 1) % 8])
            bits, last = _Bits(), [0] * len(planes)
        for p, (h, v) in enumerate(sampling):
            for block in (blocks[p][y * v + j][x * h + k] for j in range(v) for k in range(h)):
                last[p] = _put_block(bits, block, last[p])
    return out + bits.bytes() + end


def adobe(transform):
    """Adobe's marker: 0 for CMYK and RGB, 1 for YCbCr, 2 for YCCK."""
    return _marker(0xEE, b'Adobe' + struct.pack('>HHHB', 100, 0, 0, transform))
