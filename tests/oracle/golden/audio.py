"""WAV files, spectrograms and their cepstral coefficients."""
import struct

import numpy as np

from writer import ELEMENTWISE, TO_LARGEST


def _wav(samples, channels=1, rate=8000, bits=16, code=1, size=16, before=b'', after=b'', frame=None, per_second=None, data_size=None):
    frame = 2 * channels if frame is None else frame
    data = np.int16(samples).tobytes()
    fmt = struct.pack('<HHIIHH', code, channels, rate, rate * frame % 2**32 if per_second is None else per_second, frame, bits) + bytes(max(size - 16, 0))
    body = b'WAVE' + before + b'fmt ' + struct.pack('<I', size) + fmt + after + b'data' + struct.pack('<I', len(data) if data_size is None else data_size) + data
    return b'RIFF' + struct.pack('<I', len(body)) + body


def cases(golden):
    def text(value):
        return np.array(value, object)

    samples = [0, 1, -1, 32767, -32768, 12345]
    wav = _wav(samples)
    for value, attrs in [(wav, {}), (_wav(samples, 2), {}), (_wav([]), {}), (_wav(samples, 3), {'desired_channels': 2}), (wav, {'desired_channels': 2, 'desired_samples': 8}), (wav, {'desired_samples': 2}),
                         (_wav(samples, size=18), {}), (_wav(samples, before=b'JUNK\x03\x00\x00\x00abcLIST'[:11]), {}), (_wav(samples, after=b'LIST\x02\x00\x00\x00ab'), {}),
                         (wav + b'LIST\xff\x00\x00\x00a', {}), (_wav(samples, 2, data_size=7), {}), (wav, {'desired_channels': 0})]:
        golden.op('DecodeWav', [text(value)], attrs, name=f'{len(golden.cases)}')
    bad = [b'', b'RIF', b'RIFX' + wav[4:], b'RIFF', wav[:20], b'RIFF\0\0\0\0WAVX', _wav(samples, before=b'XXXX\0\0\0\0'), _wav(samples, before=b'JUNK\xff\xff\xff\x7f'), _wav(samples, size=17),
           _wav(samples, code=3), _wav(samples, 0), _wav(samples, bits=8), _wav(samples, frame=4), _wav(samples, per_second=5), wav[:36], wav[:-1], wav + wav[36:], _wav(samples, data_size=2**31),
           _wav(samples, data_size=2**31 - 1), wav + b'LIS', wav + b'LIST\0']
    for i, value in enumerate(bad):
        golden.fails('DecodeWav', [text(value)], name=f'{i}')
    golden.fails('DecodeWav', [text([wav])])
    audio = np.float32([[0, 1], [-1, 0.5], [2, -2], [1e-5, 0.25000763]])
    for value, rate in [(audio, 44100), (audio[:, :1], 1), (audio[:0], 8000), (np.float32([[np.inf, -np.inf]]), 8000)]:
        golden.op('EncodeWav', [value, np.int32(rate)], name=f'{value.shape} {rate}')
    for value, rate in [(audio[0], 8000), (audio, [8000]), (audio, 0), (audio[:, :0], 8000)]:
        golden.fails('EncodeWav', [value, np.int32(rate)], name=f'{value.shape} {rate}')

    sound = golden.random.standard_normal((60, 2)).astype(np.float32)
    for window, stride in [(16, 8), (20, 7), (2, 1), (61, 1), (60, 100), (33, 20)]:
        golden.op('AudioSpectrogram', [sound], {'window_size': window, 'stride': stride, 'magnitude_squared': window % 2 == 0}, tolerance=TO_LARGEST)
    golden.op('AudioSpectrogram', [sound[:, :0]], {'window_size': 16, 'stride': 8})
    golden.fails('AudioSpectrogram', [sound[0]], {'window_size': 16, 'stride': 8})
    spectra = np.abs(golden.random.standard_normal((2, 3, 65))).astype(np.float32)
    for attrs in [{}, {'dct_coefficient_count': 3, 'filterbank_channel_count': 5}, {'lower_frequency_limit': 0.0, 'upper_frequency_limit': 3000.0}, {'filterbank_channel_count': 13}]:
        golden.op('Mfcc', [spectra, np.int32(16000)], attrs, tolerance=TO_LARGEST)
    golden.op('Mfcc', [spectra, np.int32(8000)], tolerance=TO_LARGEST)
    golden.op('Mfcc', [spectra * 0, np.int32(16000)], tolerance=TO_LARGEST)
    golden.op('Mfcc', [spectra[:0], np.int32(16000)], tolerance=ELEMENTWISE)
    for inputs, attrs in [([spectra, 0], {}), ([spectra[..., :1], 8000], {}), ([spectra, 8000], {'dct_coefficient_count': 41}), ([spectra, 8000], {'lower_frequency_limit': 5000.0}), ([spectra[0], 8000], {}), ([spectra, [8000]], {})]:
        golden.fails('Mfcc', [inputs[0], np.int32(inputs[1])], attrs, name=str(attrs))
