"""Every layer class of Keras 3, and of Keras 2 (tf_keras) where it is installed, frozen with and without lowering.

Each class has at least two configurations. Recorded are the outputs, and the gradients of the sum of all squared
outputs with respect to the inputs of floating-point numbers.
"""
import inspect

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

import recorder

import keras

try:
    import tf_keras
except ImportError:
    tf_keras = None

LAYERS = {}
#: Classes without a computation of their own: bases, wrappers of other frameworks, and what needs a saved model.
#: Tables of vocabularies are no constants, so that frozen graphs lack them: saved_models.py has these layers.
LEFT_OUT = {'Layer', 'Wrapper', 'FlaxLayer', 'JaxLayer', 'TorchModuleWrapper', 'TFSMLayer', 'InputLayer', 'AbstractRNNCell',
            'StringLookup', 'IntegerLookup', 'TextVectorization'}


def floats(*shape, seed=1):
    return np.random.default_rng(seed).normal(0, 1, shape).astype('float32')


def integers(high, *shape, seed=1):
    return np.random.default_rng(seed).integers(0, high, shape).astype('int32')


def images(*shape):
    return np.random.default_rng(2).uniform(0, 255, shape).astype('float32')


def strings(*texts):
    return np.array(texts, object)


def configurations(L, K):
    """Pairs of a layer and its inputs by the names of classes. A function may stand for a layer."""
    line, plane, space, flat = floats(2, 7, 4), floats(2, 6, 7, 4), floats(1, 4, 5, 6, 2), floats(3, 5)
    video, words = floats(1, 3, 6, 6, 2), integers(9, 2, 6)
    photo = images(2, 8, 9, 3)

    table = {}

    def of(name, *pairs):
        table[name] = list(pairs)

    def each(name, value, *options):
        of(name, *[(lambda o=o: getattr(L, name)(**o), list(value) if isinstance(value, (list, tuple)) else [value])
                   for o in options])

    for name in ('Conv1D', 'Conv2D', 'Conv3D'):
        value = {'1': line, '2': plane, '3': space}[name[4]]
        each(name, value, dict(filters=3, kernel_size=3, activation='relu'), dict(filters=4, kernel_size=2, strides=2, padding='same'),
             dict(filters=2, kernel_size=2, dilation_rate=2, use_bias=False), dict(filters=4, kernel_size=2, groups=2))
        each(f'{name}Transpose', value, dict(filters=3, kernel_size=3), dict(filters=2, kernel_size=3, strides=2, padding='same'))
    each('DepthwiseConv1D', line, dict(kernel_size=3), dict(kernel_size=2, strides=2, depth_multiplier=2, padding='same'))
    each('DepthwiseConv2D', plane, dict(kernel_size=3), dict(kernel_size=2, strides=2, depth_multiplier=2, padding='same'))
    each('SeparableConv1D', line, dict(filters=3, kernel_size=3), dict(filters=2, kernel_size=2, dilation_rate=2))
    each('SeparableConv2D', plane, dict(filters=3, kernel_size=3), dict(filters=2, kernel_size=2, strides=2, padding='same'))
    each('LocallyConnected1D', line, dict(filters=3, kernel_size=3), dict(filters=2, kernel_size=2, implementation=2))
    each('LocallyConnected2D', plane, dict(filters=3, kernel_size=3), dict(filters=2, kernel_size=2, implementation=3))
    for dims, value in ((1, line), (2, plane), (3, space)):
        for kind in ('Max', 'Average'):
            each(f'{kind}Pooling{dims}D', value, dict(pool_size=2), dict(pool_size=3, strides=2, padding='same'))
            each(f'Adaptive{kind}Pooling{dims}D', value, dict(output_size=2), dict(output_size=3))
            each(f'Global{kind}Pooling{dims}D', value, dict(), dict(keepdims=True))
        each(f'UpSampling{dims}D', value, dict(size=2), dict(size=3 if dims < 3 else (1, 2, 3)))
        each(f'ZeroPadding{dims}D', value, dict(padding=1), dict(padding=2))
        each(f'Cropping{dims}D', value, dict(cropping=1), dict(cropping=(1, 0) if dims == 1 else ((1, 0),) + ((0, 1),) * (dims - 1)))
        each(f'SpatialDropout{dims}D', value, dict(rate=.3), dict(rate=0.))
    table['UpSampling2D'] += [(lambda: L.UpSampling2D(2, interpolation='bilinear'), [plane])]

    each('Dense', flat, dict(units=4, activation='gelu'), dict(units=2, use_bias=False, kernel_regularizer='l2'))
    table['Dense'] += [(lambda: L.Dense(3, activation='softmax'), [line])]
    of('EinsumDense', (lambda: L.EinsumDense('abc,cd->abd', (None, 6), bias_axes='d'), [line]),
       (lambda: L.EinsumDense('...x,xy->...y', 3, activation='tanh'), [plane]))
    each('Embedding', words, dict(input_dim=9, output_dim=3), dict(input_dim=9, output_dim=2, mask_zero=True))
    each('ReversibleEmbedding', words, dict(input_dim=9, output_dim=3), dict(input_dim=9, output_dim=2, tie_weights=False))
    for name, options in dict(
            Activation=[dict(activation=name) for name in ('relu', 'softsign', 'selu', 'elu', 'swish', 'mish', 'hard_sigmoid',
                                                           'exponential', 'log_softmax', 'relu6', 'softplus')],
            ReLU=[dict(), dict(max_value=1., negative_slope=.1, threshold=.2)], LeakyReLU=[dict(), dict(negative_slope=.5)],
            ELU=[dict(), dict(alpha=.3)], Softmax=[dict(), dict(axis=1)], PReLU=[dict(), dict(shared_axes=[1])],
            ThresholdedReLU=[dict(), dict(theta=.3)], Identity=[dict(), dict(dtype='float32')],
            ActivityRegularization=[dict(l1=.1), dict(l2=.1)], Dropout=[dict(rate=.5), dict(rate=.1, noise_shape=(None, 1, 4))],
            AlphaDropout=[dict(rate=.5), dict(rate=.1)], GaussianDropout=[dict(rate=.5), dict(rate=.1)],
            GaussianNoise=[dict(stddev=1.), dict(stddev=.1)], Flatten=[dict(), dict(data_format='channels_first')],
            Reshape=[dict(target_shape=(4, 7)), dict(target_shape=(-1, 2))], Permute=[dict(dims=(2, 1)), dict(dims=(1, 2))],
            Masking=[dict(), dict(mask_value=1.)], LayerNormalization=[dict(), dict(axis=[1, 2], scale=False), ],
            RMSNormalization=[dict(), dict(epsilon=.1)], UnitNormalization=[dict(), dict(axis=1)],
            GroupNormalization=[dict(groups=2), dict(groups=-1)], BatchNormalization=[dict(), dict(axis=1, scale=False)],
            Normalization=[dict(mean=.5, variance=2.), dict(mean=.5, variance=2., invert=True)],
            Rescaling=[dict(scale=2.), dict(scale=.5, offset=-1.)]).items():
        each(name, line, *options)
    of('Lambda', (lambda: L.Lambda(lambda v: v * 2. + 1.), [flat]), (lambda: L.Lambda(lambda v: tf.reduce_sum(v, -1)), [line]))
    each('RepeatVector', flat, dict(n=3), dict(n=1))
    of('SpectralNormalization', (lambda: L.SpectralNormalization(L.Dense(3)), [flat]),
       (lambda: L.SpectralNormalization(L.Conv2D(2, 3)), [plane]))
    for name in ('Add', 'Subtract', 'Multiply', 'Average', 'Maximum', 'Minimum'):
        table[name] = [(lambda name=name: getattr(L, name)(), [[flat, floats(3, 5, seed=4)]]),
                       (lambda name=name: getattr(L, name)(), [[line, floats(2, 7, 1, seed=4)]])]
    of('Concatenate', (lambda: L.Concatenate(), [[flat, flat * 2]]), (lambda: L.Concatenate(axis=1), [[line, line + 1, line]]))
    of('Dot', (lambda: L.Dot(axes=2), [[line, floats(2, 3, 4)]]), (lambda: L.Dot(axes=1, normalize=True), [[flat, flat + 1]]))

    sequence = floats(2, 4, 3)
    for name in ('SimpleRNN', 'GRU', 'LSTM'):
        each(name, sequence, dict(units=3), dict(units=2, return_sequences=True, return_state=True, go_backwards=True),
             dict(units=2, unroll=True, activation='relu'))
    table['GRU'] += [(lambda: L.GRU(2, reset_after=False, recurrent_activation='hard_sigmoid'), [sequence])]
    table['LSTM'] += [(lambda: K.Sequential([L.Embedding(9, 3, mask_zero=True), L.LSTM(2)]), [integers(3, 2, 5)])]
    for name in ('SimpleRNNCell', 'GRUCell', 'LSTMCell'):
        states = [floats(2, 3, seed=8)] * (2 if name[0] == 'L' else 1)
        of(name, (lambda name=name: with_states(getattr(L, name)(3), 2 if name[0] == 'L' else 1), [sequence[:, 0], *states]),
           (lambda name=name: L.RNN(getattr(L, name)(2), return_sequences=True), [sequence]))
    of('RNN', (lambda: L.RNN(L.LSTMCell(2), return_state=True), [sequence]), (lambda: L.RNN(L.SimpleRNNCell(3), go_backwards=True), [sequence]))
    of('StackedRNNCells', (lambda: L.RNN(L.StackedRNNCells([L.LSTMCell(3), L.GRUCell(2)])), [sequence]),
       (lambda: L.RNN(L.StackedRNNCells([L.SimpleRNNCell(2)]), return_sequences=True), [sequence]))
    of('Bidirectional', (lambda: L.Bidirectional(L.LSTM(2)), [sequence]),
       (lambda: L.Bidirectional(L.GRU(2, return_sequences=True), merge_mode='mul'), [sequence]))
    of('TimeDistributed', (lambda: L.TimeDistributed(L.Dense(2)), [sequence]), (lambda: L.TimeDistributed(L.Conv2D(2, 3)), [video]))
    each('ConvLSTM1D', floats(2, 3, 6, 2), dict(filters=2, kernel_size=3), dict(filters=1, kernel_size=2, return_sequences=True, padding='same'))
    each('ConvLSTM2D', video, dict(filters=2, kernel_size=3), dict(filters=1, kernel_size=2, return_sequences=True, padding='same'))
    each('ConvLSTM3D', floats(1, 2, 4, 4, 4, 1), dict(filters=2, kernel_size=3), dict(filters=1, kernel_size=2, padding='same'))
    query, value = floats(2, 4, 6), floats(2, 5, 6, seed=3)
    each('Attention', [[query, value]], dict(use_scale=True), dict(score_mode='concat'))
    each('AdditiveAttention', [[query, value]], dict(), dict(use_scale=False))
    each('MultiHeadAttention', [query, value], dict(num_heads=2, key_dim=3), dict(num_heads=3, key_dim=2, value_dim=4, output_shape=5))
    table['MultiHeadAttention'] += [(lambda: causal(L.MultiHeadAttention(2, 3)), [query])]
    each('GroupQueryAttention', [query, value], dict(head_dim=3, num_query_heads=4, num_key_value_heads=2),
         dict(head_dim=2, num_query_heads=2, num_key_value_heads=1, use_bias=False))

    each('CategoryEncoding', integers(5, 2, 3), dict(num_tokens=5, output_mode='multi_hot'), dict(num_tokens=5, output_mode='count'))
    each('Discretization', flat, dict(bin_boundaries=[-1., 0., 1.]), dict(bin_boundaries=[0.], output_mode='multi_hot'))
    text = strings(['a', 'zebra', 'c'], ['b', 'b', ''])
    each('Hashing', text, dict(num_bins=7), dict(num_bins=9, salt=[3, 5], mask_value=''))
    each('HashedCrossing', [(strings('a', 'b'), strings('x', 'y'))], dict(num_bins=9), dict(num_bins=5, output_mode='one_hot'))
    each('STFTSpectrogram', floats(2, 40), dict(frame_length=16, frame_step=8, fft_length=16), dict(mode='psd', frame_length=8, frame_step=4, fft_length=16))
    each('MelSpectrogram', floats(2, 400), dict(fft_length=64, sequence_stride=32, num_mel_bins=6, sampling_rate=4000, max_freq=2000),
         dict(fft_length=32, sequence_stride=16, num_mel_bins=4, mag_exp=1., sampling_rate=4000, max_freq=2000, power_to_db=False))

    each('Resizing', photo, dict(height=4, width=5), dict(height=12, width=7, interpolation='nearest', crop_to_aspect_ratio=True))
    table['Resizing'] += [(lambda: L.Resizing(5, 4, interpolation='bicubic'), [photo]), (lambda: L.Resizing(5, 4, interpolation='area'), [photo])]
    each('CenterCrop', photo, dict(height=4, width=5), dict(height=12, width=7))
    each('RandomCrop', photo, dict(height=4, width=5), dict(height=8, width=9))
    for name, options in dict(
            RandomFlip=[dict(), dict(mode='vertical')], RandomRotation=[dict(factor=.2), dict(factor=.1, fill_mode='constant')],
            RandomTranslation=[dict(height_factor=.1, width_factor=.1), dict(height_factor=.2, width_factor=0.)],
            RandomZoom=[dict(height_factor=.2), dict(height_factor=.1, width_factor=.3)], RandomContrast=[dict(factor=.2), dict(factor=.5)],
            RandomBrightness=[dict(factor=.2), dict(factor=.1, value_range=[0., 1.])], RandomHeight=[dict(factor=.2), dict(factor=.3)],
            RandomWidth=[dict(factor=.2), dict(factor=.3)], RandomShear=[dict(x_factor=.2, y_factor=.1), dict(x_factor=.1)],
            RandomHue=[dict(factor=.2), dict(factor=.3)], RandomSaturation=[dict(factor=.2), dict(factor=.8)],
            RandomSharpness=[dict(factor=.2), dict(factor=.3)], RandomInvert=[dict(), dict(factor=.2)],
            RandomGrayscale=[dict(), dict(factor=.2)], RandomPosterization=[dict(factor=4), dict(factor=2)],
            RandomGaussianBlur=[dict(), dict(kernel_size=5)], RandomErasing=[dict(), dict(factor=.4)],
            RandomElasticTransform=[dict(), dict(factor=.4)], RandomPerspective=[dict(), dict(factor=.4)],
            RandomColorDegeneration=[dict(factor=.2), dict(factor=.3)],
            RandomColorJitter=[dict(brightness_factor=.1, contrast_factor=.1), dict(hue_factor=.1, saturation_factor=.1)],
            AugMix=[dict(), dict(num_chains=2)], RandAugment=[dict(), dict(num_ops=1)], AutoContrast=[dict(), dict(value_range=(0, 255))],
            Equalization=[dict(), dict(bins=64)], Solarization=[dict(), dict(threshold_factor=.3)],
            ContrastLimitedAdaptiveHistogramEqualization=[dict(), dict(tile_grid_size=(2, 2))]).items():
        each(name, photo, *options)
    labels = np.eye(3, dtype='float32')[[0, 2]]
    for name in ('MixUp', 'CutMix'):
        of(name, *[(lambda name=name, factor=factor: pair_of(getattr(L, name)(factor)), [photo, labels]) for factor in (.2, .5)])
    boxes = dict(boxes=floats(2, 3, 4), labels=floats(2, 3))
    of('MaxNumBoundingBoxes', (lambda: boxes_of(L.MaxNumBoundingBoxes(2)), [boxes['boxes'], boxes['labels']]),
       (lambda: boxes_of(L.MaxNumBoundingBoxes(5)), [boxes['boxes'], boxes['labels']]))
    of('Pipeline', (lambda: L.Pipeline([L.Rescaling(.1), L.RandomFlip()]), [photo]), (lambda: L.Pipeline([L.CenterCrop(4, 4)]), [photo]))
    if K is tf_keras:
        column = tf.feature_column.numeric_column('x', (5,)) if hasattr(tf, 'feature_column') else None
        of('DenseFeatures', (lambda: features_of(L.DenseFeatures([column])), [flat]),
           (lambda: features_of(L.DenseFeatures([tf.feature_column.bucketized_column(tf.feature_column.numeric_column('x'), [0.])])), [flat[:, :1]]))
    return table


def with_states(cell, count):
    """A cell with its states as inputs."""
    return lambda x, *states: tf.nest.flatten(cell(x, list(states) if count > 1 else states[0]))


def causal(layer):
    return lambda x: layer(x, x, use_causal_mask=True)


def pair_of(layer):
    return lambda image, label: [layer({'images': image, 'labels': label}, training=False)[key] for key in ('images', 'labels')]


def boxes_of(layer):
    return lambda boxes, labels: [layer({'bounding_boxes': {'boxes': boxes, 'labels': labels}})['bounding_boxes'][key] for key in ('boxes', 'labels')]


def features_of(layer):
    return lambda x: layer({'x': x})


def takes_training(layer):
    return hasattr(layer, '_call_has_training_arg') and layer._call_has_training_arg or \
        'training' in getattr(layer, '_call_signature_parameters', getattr(layer, 'call_signature_parameters', ()))


def record(make, folder):
    layer, inputs = make()
    structure = inputs
    flat = tf.nest.flatten(structure)

    def call(*values):
        args = tf.nest.pack_sequence_as(structure, list(values))
        kwargs = dict(training=False) if isinstance(layer, (keras.layers.Layer, *([tf_keras.layers.Layer] if tf_keras else []))) \
            and takes_training(layer) else {}
        return [tf.identity(x) for x in tf.nest.flatten(layer(*args, **kwargs)) if x is not None]

    tensors = [tf.constant(value, tf.string if value.dtype == object else None) for value in flat]
    call(*tensors)  # makes the weights
    owner = layer
    if not hasattr(layer, 'weights'):
        owner = next((cell.cell_contents for cell in layer.__closure__ if hasattr(cell.cell_contents, 'weights')), None)
    for i, weight in enumerate(getattr(owner, 'weights', [])):
        if 'float' in str(weight.dtype) and 'seed' not in weight.name:
            value = floats(*weight.shape, seed=i + 20) / 2
            weight.assign(abs(value) + .5 if 'variance' in weight.name else value)
    with tf.GradientTape() as tape:
        differentiable = [x for x in tensors if x.dtype.is_floating]
        tape.watch(differentiable)
        outputs = call(*tensors)
        losses = [tf.reduce_sum(y ** 2) for y in outputs if y.dtype.is_floating]
        loss = tf.add_n(losses) if losses else None
    try:
        slopes = tape.gradient(loss, differentiable) if losses and differentiable else []
    except LookupError:  # of ops that have no gradient
        slopes = [None] * len(differentiable)
    specs = [tf.TensorSpec([None, *x.shape[1:]], x.dtype, f'x{i}') for i, x in enumerate(tensors)]
    function = tf.function(call, input_signature=specs).get_concrete_function()
    names = {}
    for lower in (True, False):
        frozen = convert_variables_to_constants_v2(function, lower_control_flow=lower)
        names[str(lower)] = dict(inputs=[x.name for x in frozen.inputs], outputs=[y.name for y in frozen.outputs])
        path = folder / ('lowered.pb' if lower else 'functional.pb')
        path.write_bytes(frozen.graph.as_graph_def().SerializeToString())
    return dict(names=names, inputs=[recorder.described(x) for x in tensors], outputs=[recorder.described(y) for y in outputs],
                gradients=[None if slope is None else recorder.described(tf.convert_to_tensor(slope)) for slope in slopes],
                differentiable=[i for i, x in enumerate(tensors) if x.dtype.is_floating])


def add_all(prefix, K):
    L = K.layers
    table = configurations(L, K)
    classes = {}
    for name in sorted(dir(L)):
        made = getattr(L, name)
        if isinstance(made, type) and issubclass(made, L.Layer) and made.__name__ not in LEFT_OUT:
            classes.setdefault(made.__name__, name)
    for name in sorted(set(classes) - set(table)):
        print(f'{prefix}: {name} has no configuration')
    for name in sorted(set(classes) & set(table)):
        for i, (make, inputs) in enumerate(table[name]):
            def made(make=make, inputs=inputs):
                return make(), inputs
            made.source = inspect.getsource(make) + repr(make.__defaults__)
            LAYERS[f'{prefix}_{name}_{i}'] = made


add_all('keras3', keras)
if tf_keras:
    add_all('keras2', tf_keras)

if __name__ == '__main__':
    recorder.run('keras_layers', LAYERS, record)
