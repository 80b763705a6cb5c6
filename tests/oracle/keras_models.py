"""Small Keras models with what they compute: tests/data/models/keras.

`keras_models.py` writes those of Keras 3. `keras_models.py 2` writes those of Keras 2, and needs the package
tf_keras. Each adds to models.json: inputs, outputs, and the gradients of the sum of all squared outputs.
The layers models of TensorFlow.js are those of Keras 2 in TensorFlow.js' format.
"""
import json
import os
import pathlib
import sys
import zipfile

os.environ['CUDA_VISIBLE_DEVICES'] = ''
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import numpy as np
import tensorflow as tf

IS_2 = sys.argv[1:] == ['2']
if IS_2:
    import tf_keras as keras
else:
    import keras

ROOT = pathlib.Path(__file__).parent.parent / 'data/models/keras'
L = keras.layers
rng = np.random.default_rng(11)
records = {}


def described(value):
    array = np.asarray(value)
    return dict(dtype=array.dtype.name, shape=list(array.shape),
                values=[float(f'{x:.9g}') if array.dtype.kind == 'f' else int(x) for x in array.ravel()])


def values(*shape):
    return rng.normal(0, 1, shape).astype('float32')


TOKENS = np.array([[3, 1, 2, 0], [4, 4, 0, 0]], 'float32')


def vision():
    x = L.Input((8, 8, 2), name='image')
    y = L.Conv2D(3, 3, strides=2, padding='same', activation='relu', name='conv')(x)
    y = L.BatchNormalization(name='norm')(y)
    y = L.DepthwiseConv2D(2, name='depthwise')(y)
    y = L.UpSampling2D(2, interpolation='bilinear')(y)
    y = L.Conv2DTranspose(2, 2, strides=2, padding='same', name='up')(y)
    y = L.MaxPooling2D(2)(y)
    y = L.SeparableConv2D(2, 2, activation='swish', name='separable')(y)
    y = L.PReLU(shared_axes=[1, 2], name='prelu')(y)
    y = L.GlobalAveragePooling2D()(y)
    return keras.Model(x, L.Dense(3, activation='softmax', name='classes')(y)), [values(2, 8, 8, 2)]


def sequential():
    model = keras.Sequential([L.Input((6, 2)), L.Conv1D(3, 2, padding='causal'), L.LeakyReLU(),
                              L.LayerNormalization(), L.AveragePooling1D(2), L.Dropout(.5), L.Flatten(),
                              L.Dense(4, activation='gelu'), L.Dense(2)], name='line')
    model.layers[0].trainable = False
    return model, [values(3, 6, 2)]


def branches():
    """Several inputs and outputs, a layer that is shared, and models inside of the model."""
    a, b = L.Input((3,), name='a'), L.Input((4,), name='b')
    shared = L.Dense(2, name='shared')
    own = L.Input((2,))
    inner = keras.Model(own, [L.Dense(2)(own), L.BatchNormalization()(own)], name='inner')
    tower = keras.Sequential([L.Input((2,)), L.Dense(3, activation='tanh')], name='tower')
    p, q = shared(L.Dense(2)(a)), shared(L.Dense(2)(b))
    first, second = inner(L.Add()([p, q]))
    third, _ = inner(p)
    sums = L.Concatenate(name='joined')([first, second, third])
    return keras.Model([a, b], [tower(L.Multiply()([p, q])), sums], name='branches'), [values(2, 3), values(2, 4)]


def text():
    """A mask passes through recurrent layers."""
    x = L.Input((None,), name='tokens')
    y = L.Embedding(6, 3, mask_zero=True, name='embedding')(x)
    y = L.Bidirectional(L.LSTM(3, return_sequences=True), name='both')(y)
    y = L.TimeDistributed(L.Dense(3), name='each')(y)
    y, state = L.GRU(2, return_state=True, name='gru')(y)
    return keras.Model(x, [y, state, L.SimpleRNN(2, go_backwards=True, name='back')(L.Embedding(6, 2, name='other')(x))]), [TOKENS]


def attention():
    x, memory = L.Input((3, 4), name='x'), L.Input((5, 4), name='memory')
    y = L.MultiHeadAttention(2, 3, name='heads')(x, memory)
    y = L.LayerNormalization(name='norm')(L.Add()([x, y]))
    y = L.Attention(use_scale=True, name='plain')([y, memory])
    return keras.Model([x, memory], L.AdditiveAttention(name='additive')([y, memory])), [values(2, 3, 4), values(2, 5, 4)]


def operations():
    """Functions as layers: of keras.ops, or in Keras 2 of TensorFlow."""
    x = L.Input((3,), name='x')
    y = L.Dense(3, name='dense')(x) * 2. - x
    if IS_2:
        y = tf.concat([.25 - tf.nn.relu(y)[:, 1:], tf.square(y)], axis=-1)
        return keras.Model(x, tf.reduce_mean(tf.transpose(tf.reshape(y, [-1, 5, 1]), [0, 2, 1]), axis=1)), [values(2, 3)]
    y = keras.ops.where(y > 0., keras.ops.exp(-y), 1. / (2. + keras.ops.abs(y)))
    return keras.Model(x, keras.ops.mean(keras.ops.expand_dims(y[:, 1:], 1), axis=-1)), [values(2, 3)]


def volumes():
    """Three dimensions, with and without a format of its own."""
    x = L.Input((5, 6, 4, 2), name='volume')
    y = L.Conv3D(4, (2, 3, 2), strides=(1, 2, 1), padding='same', activation='relu', name='conv')(x)
    y = L.BatchNormalization(name='norm')(y)
    y = L.Conv3D(2, 2, groups=2, name='groups')(L.ZeroPadding3D(((1, 0), (0, 1), (1, 1)))(y))
    y = L.Conv3DTranspose(3, (2, 3, 2), strides=2, padding='same', name='up')(L.MaxPooling3D((2, 2, 1), padding='same')(y))
    y = L.Conv3DTranspose(2, 3, strides=2, output_padding=1, use_bias=False, name='more')(L.AveragePooling3D(2)(y))
    y = L.Cropping3D(((1, 1), (0, 2), (2, 0)))(L.UpSampling3D((1, 2, 1))(y))
    return keras.Model(x, [L.GlobalAveragePooling3D()(y), L.GlobalMaxPooling3D(keepdims=True)(y)]), [values(2, 5, 6, 4, 2)]


def resized():
    """Every interpolation, larger and smaller, and what keeps proportions."""
    image = L.Input((5, 8, 2), name='image')
    x = L.Conv2D(2, 1, name='mixed')(image)
    y = [L.Resizing(7, 4, interpolation=how)(x) for how in ('nearest', 'bilinear', 'bicubic', 'lanczos3', 'lanczos5')]
    y.append(L.Resizing(4, 4, crop_to_aspect_ratio=True)(x))
    if IS_2:
        y += [L.Resizing(7, 4, interpolation=how)(x) for how in ('area', 'gaussian', 'mitchellcubic')]
        y.append(L.RandomCrop(4, 3)(x))
    else:
        y += [L.Resizing(3, 6, interpolation=how, antialias=True)(x) for how in ('nearest', 'bilinear', 'bicubic', 'lanczos3')]
        y.append(L.Resizing(6, 6, pad_to_aspect_ratio=True, fill_value=.5)(x))
        y += [L.Resizing(5, 8)(x), L.RandomCrop(4, 3)(x), L.RandAugment()(x), L.RandomElasticTransform()(x)]
        y.append(L.UpSampling2D(2, interpolation='lanczos3')(x))
    return keras.Model(image, y), [values(1, 5, 8, 2)]


def input_names(model):
    if isinstance(model, keras.Sequential):
        return [model.get_config()['layers'][0]['config']['name']]
    return [x.name.split(':')[0] for x in model.inputs]


def record(name, model, inputs, formats):
    weights = []
    for weight in model.weights:
        value = values(*weight.shape)
        weights.append(abs(value) + .5 if 'variance' in weight.name else value)
    model.set_weights(weights)
    given = inputs if len(inputs) > 1 else inputs[0]
    with tf.GradientTape() as tape:
        outputs = model(given, training=False)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        loss = sum(tf.reduce_sum(output ** 2) for output in outputs)
    trained = [variable if IS_2 else variable.value for variable in model.trainable_variables]
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, trained)]
    files = []
    for suffix in formats:
        files.append(f'{name}{"2" if IS_2 else ""}.{suffix}')
        model.save(ROOT / files[-1])
        if suffix == 'keras' and name != 'sequential':
            pack(ROOT / files[-1])
    if IS_2:
        files.append(f'{name}-layers/model.json')
        write_layers_model(model, ROOT / f'{name}-layers')
    records[f'{name}{"2" if IS_2 else ""}'] = dict(
        files=files,
        inputs={name: described(value) for name, value in zip(input_names(model), inputs)},
        outputs=[described(output) for output in outputs],
        output_names=getattr(model, 'output_names', None) or [model.layers[-1].name],
        gradients=[described(gradient) for gradient in gradients])


def pack(path):
    """Keras stores the files of an archive as they are. HDF5 files shrink to a fifth."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def write_layers_model(model, folder):
    """TensorFlow.js' format: names of weights without ':0', and their bytes one after the other."""
    folder.mkdir(exist_ok=True)
    weights = [(weight.name.removesuffix(':0'), weight.numpy()) for weight in model.weights]
    (folder / 'weights.bin').write_bytes(b''.join(value.tobytes() for _, value in weights))
    topology = dict(keras_version=keras.__version__, backend='tensorflow',
                    model_config=json.loads(model.to_json()))
    manifest = [dict(paths=['weights.bin'], weights=[
        dict(name=name, shape=list(value.shape), dtype=value.dtype.name) for name, value in weights])]
    (folder / 'model.json').write_text(json.dumps(dict(
        format='layers-model', generatedBy='keras', modelTopology=topology, weightsManifest=manifest)))


def foreign():
    """Two layers that Keras does not have."""
    class Twice(L.Layer):
        def call(self, x):
            return 2 * x

    class Scale(L.Layer):
        def __init__(self, start=1., **kwargs):
            super().__init__(**kwargs)
            self.start = start

        def build(self, shape):
            self.scale = self.add_weight(name='scale', shape=(shape[-1],))

        def call(self, x):
            return x * self.scale + self.start

        def get_config(self):
            return {**super().get_config(), 'start': self.start}

    x = L.Input((3,), name='x')
    return keras.Model(x, Scale(start=.5, name='scaled')(Twice(name='twice')(x))), [values(2, 3)]


def main():
    ROOT.mkdir(parents=True, exist_ok=True)
    record('vision', *vision(), ['h5'] if IS_2 else ['keras'])
    record('sequential', *sequential(), ['h5'] if IS_2 else ['keras'])
    record('branches', *branches(), ['keras', 'h5'])
    record('text', *text(), ['keras', 'h5'])
    record('operations', *operations(), ['keras'] if IS_2 else ['keras', 'h5'])
    if not IS_2:
        record('attention', *attention(), ['keras'])
        record('foreign', *foreign(), ['keras'])
    record('volumes', *volumes(), ['keras'])
    record('resized', *resized(), ['keras'])
    path = ROOT / 'models.json'
    before = json.loads(path.read_text()) if path.exists() else {}
    kept = {name: record for name, record in before.items() if name.endswith('2') != IS_2}
    path.write_text(json.dumps(kept | records, indent=None) + '\n')


main()
