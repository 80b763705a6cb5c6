"""A Keras 3 model with layers that have tables or states: tests/data/models/keras/lookups.keras and lookups.json.

Recorded are the inputs, and the outputs of two calls that follow each other: stateful layers go on where they stopped.
"""
import json
import os
import pathlib
import zipfile

os.environ['CUDA_VISIBLE_DEVICES'] = ''
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import keras
import numpy as np
import tensorflow as tf

ROOT = pathlib.Path(__file__).parent.parent / 'data/models/keras'
L = keras.layers
rng = np.random.default_rng(12)

WORDS = np.array([['a', 'zebra', 'c'], ['b', 'b', 'ü']], object)
NUMBERS = np.array([[3, 1, 9], [4, 4, 0]], 'int64')
TEXTS = np.array([['Hello,  World! b c'], ['the b-c  the ']], object)


def adapted(layer, data):
    layer.adapt(data)
    return layer


def lookups(words, numbers):
    """Vocabularies in the configuration, and such that were learned, which are files of the archive."""
    abc = dict(vocabulary=['a', 'b', 'c'])
    for mode, x in (('int', words), ('one_hot', words[:, :1]), ('multi_hot', words), ('count', words)):
        yield f'words_{mode}', L.StringLookup(output_mode=mode, **abc)(x)
        yield f'numbers_{mode}', L.IntegerLookup(vocabulary=[1, 3, 4], output_mode=mode)(numbers[:, :1] if mode == 'one_hot' else numbers)
    yield 'words_weighted', L.StringLookup(output_mode='tf_idf', idf_weights=[.5, 1., 2.], **abc)(words)
    yield 'words_buckets', L.StringLookup(num_oov_indices=3, mask_token='zebra', **abc)(words)
    yield 'words_padded', L.StringLookup(max_tokens=6, pad_to_max_tokens=True, output_mode='count', mask_token='zebra', **abc)(words)
    yield 'words_learned', adapted(L.StringLookup(num_oov_indices=2), WORDS[:1])(words)
    yield 'words_back', L.StringLookup(invert=True, mask_token='m', **abc)(numbers)
    yield 'numbers_buckets', L.IntegerLookup(vocabulary=[1, 3], num_oov_indices=2, mask_token=0)(numbers)
    yield 'numbers_learned', adapted(L.IntegerLookup(), NUMBERS)(numbers)
    yield 'numbers_back', L.IntegerLookup(vocabulary=[7, 8], invert=True)(numbers)
    yield 'hashes', L.Hashing(7)(words)
    yield 'hashes_salted', L.Hashing(7, salt=[3, 5], mask_value='c')(words)
    yield 'hashes_salted_once', L.Hashing(7, salt=11)(words)
    yield 'hashes_of_numbers', L.Hashing(7)(numbers)
    yield 'hashes_one_hot', L.Hashing(4, output_mode='one_hot')(words[:, :1])


def texts(x):
    the = dict(vocabulary=['the', 'hello', 'b', 'c'])
    for mode in ('int', 'multi_hot', 'count'):
        yield f'texts_{mode}', L.TextVectorization(output_mode=mode, **the)(x)
    yield 'texts_weighted', L.TextVectorization(output_mode='tf_idf', idf_weights=[.5, 1., 2., 3.], **the)(x)
    yield 'texts_longer', L.TextVectorization(output_sequence_length=6, standardize='lower', **the)(x)
    yield 'texts_shorter', L.TextVectorization(output_sequence_length=2, standardize='strip_punctuation', **the)(x)
    yield 'texts_whole', L.TextVectorization(split=None, standardize=None, vocabulary=['the b-c  the '])(x)
    yield 'texts_learned', adapted(L.TextVectorization(max_tokens=5), TEXTS)(x)


def states(sequence, video, volume):
    for name in ('SimpleRNN', 'GRU', 'LSTM'):
        yield f'state_{name}', getattr(L, name)(2, stateful=True)(sequence)
    yield 'state_stacked', L.RNN([L.LSTMCell(3), L.GRUCell(2)], stateful=True, return_sequences=True)(sequence)
    yield 'state_both', L.Bidirectional(L.LSTM(2, stateful=True))(sequence)
    yield 'state_images', L.ConvLSTM2D(1, 2, stateful=True)(video)
    yield 'volumes', L.ConvLSTM3D(1, 2, return_sequences=True, padding='same')(volume)


def described(value):
    array = np.asarray(value)
    if array.dtype == object:
        texts = [x.decode() if isinstance(x, bytes) else x for x in array.ravel()]
        return dict(dtype='string', shape=list(array.shape), values=texts)
    return dict(dtype=array.dtype.name, shape=list(array.shape),
                values=[float(f'{x:.9g}') if array.dtype.kind == 'f' else int(x) for x in array.ravel()])


def main():
    keras.utils.set_random_seed(3)
    given = dict(words=WORDS, numbers=NUMBERS, texts=TEXTS)
    for name, shape in dict(sequence=(2, 4, 3), video=(1, 3, 4, 3, 1), volume=(1, 2, 3, 3, 2, 1)).items():
        given[name] = rng.normal(0, 1, shape).astype('float32')
    inputs = {name: L.Input(batch_shape=value.shape, name=name, dtype='string' if value.dtype == object else value.dtype.name)
              for name, value in given.items()}
    outputs = dict([*lookups(inputs['words'], inputs['numbers']), *texts(inputs['texts']),
                    *states(inputs['sequence'], inputs['video'], inputs['volume'])])
    model = keras.Model(inputs, list(outputs.values()))
    fed = {name: tf.constant(value.tolist() if value.dtype == object else value) for name, value in given.items()}
    calls = [[described(value) for value in model(fed, training=False)] for _ in range(2)]
    path = ROOT / 'lookups.keras'
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    path.with_suffix('.json').write_text(json.dumps(dict(
        inputs={name: described(value) for name, value in given.items()}, outputs=[value._keras_history.operation.name for value in outputs.values()], calls=calls)) + '\n')


main()
