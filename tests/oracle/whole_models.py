"""Whole models of several fields as SavedModels: tests/data/models/whole.

Each archive is a model with the signatures serving_default and loss. models.json holds what TensorFlow computes
with them: results, the gradients of the loss, the losses of 20 training steps, and the results after these.
`whole_models.py NAMES` writes some of them.
"""
import itertools
import json
import os
import pathlib
import sys
import tempfile
import zipfile

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')
import environment  # noqa: F401: TensorFlow, or an environment that has it

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

v1 = tf.compat.v1
L = keras.layers
Spec = tf.TensorSpec
ROOT = pathlib.Path(__file__).resolve().parent.parent / 'data/models/whole'
STEPS = 20
OPTIMIZERS = dict(
    gradientDescent=lambda rate: v1.train.GradientDescentOptimizer(rate),
    momentum=lambda rate, momentum: v1.train.MomentumOptimizer(rate, momentum),
    adagrad=lambda rate: v1.train.AdagradOptimizer(rate),
    adam=lambda rate: v1.train.AdamOptimizer(rate),
    rmsProp=lambda rate: v1.train.RMSPropOptimizer(rate))


def described(value):
    array = np.asarray(value)
    if array.dtype.kind in 'OSU':
        return dict(dtype='string', shape=list(array.shape), values=[
            x.decode() if isinstance(x, bytes) else str(x) for x in array.ravel()])
    return dict(dtype=array.dtype.name, shape=list(array.shape), values=[
        float(f'{x:.8g}') if array.dtype.kind == 'f' else int(x) for x in array.ravel()])


def described_all(values):
    return {name: described(value) for name, value in values.items()}


def randomized(variables, rng):
    """Gives every weight random values, those that start as zeros or ones too."""
    for variable in variables:
        if 'float' in str(variable.dtype):
            value = np.asarray(variable) + rng.normal(0, .1, variable.shape)
            variable.assign(np.abs(value) if 'variance' in variable.name else value)


def tensorflow_variable(variable):
    return variable.value if isinstance(variable, keras.Variable) else variable


class Whole:
    """A model: its functions, their inputs, and how it is trained."""

    def __init__(self, title, model, serve, serve_inputs, loss, loss_inputs, optimizer, rate, **options):
        self.title = title
        self.model = model  # a Keras model, or a tf.Module
        self.serve, self.serve_inputs = serve, serve_inputs
        self.loss, self.loss_inputs = loss, loss_inputs
        self.optimizer, self.rate, self.options = optimizer, rate, options

    @property
    def variables(self):
        """Those that are trainable in the saved file: also those of layers that Keras does not train."""
        variables = [tensorflow_variable(variable) for variable in self.model.variables]
        return [variable for variable in variables if variable.trainable and variable.dtype.is_floating]

    @property
    def trained(self):
        chosen = {tensorflow_variable(variable)._unique_id for variable in self.model.trainable_variables}
        return [variable._unique_id in chosen for variable in self.variables]


def specs(inputs):
    """The first dimension of an input of rank 1 and more is the batch's, whatever its size."""
    return [Spec([None, *np.shape(value)[1:]] if np.ndim(value) else [], tf.as_dtype(np.asarray(value).dtype), name=name)
            for name, value in inputs.items()]



def text():
    words = ['[UNK]', 'a', 'bad', 'dull', 'film', 'fine', 'good', 'is', 'not', 'the', 'very']
    vectors = L.TextVectorization(output_sequence_length=7, vocabulary=words[1:])
    x = L.Input((), dtype='string', name='text')
    y = L.Embedding(len(words) + 1, 6, mask_zero=True, name='embedding')(vectors(x))
    y = L.GRU(7, name='gru')(y)
    model = keras.Model(x, L.Dense(1, activation='sigmoid', name='score')(y))
    lines = np.array(['A good film.', 'The film is NOT good!', 'very, very dull', 'fine', 'Bad bad plot'], object)
    labels = np.array([1, 0, 0, 1, 0], np.float32)

    def loss(text, label):
        score = tf.clip_by_value(model(text, training=True)[:, 0], 1e-6, 1 - 1e-6)
        return -tf.reduce_mean(label * tf.math.log(score) + (1 - label) * tf.math.log(1 - score))
    return Whole('Review text: TextVectorization, GRU', model, lambda text: dict(score=model(text)), dict(text=lines),
                 loss, dict(text=lines, label=labels), 'adam', .02)


def encoder():
    vocabulary, length, width = 23, 8, 8
    tokens = L.Input((length,), dtype='int32', name='tokens')
    types = L.Input((length,), dtype='int32', name='types')
    mask = L.Input((length,), dtype='int32', name='mask')
    table = L.Embedding(vocabulary, width, name='words')
    places = L.Embedding(length, width, name='places')
    x = table(tokens) + L.Embedding(2, width, name='types_table')(types) + places(np.arange(length)[None])
    x = L.LayerNormalization(epsilon=1e-6, name='norm')(x)
    seen = L.Reshape((1, length))(mask)
    for i in range(2):
        heads = L.MultiHeadAttention(2, 4, name=f'attention{i}')(x, x, attention_mask=seen)
        x = L.LayerNormalization(epsilon=1e-6, name=f'attention_norm{i}')(L.Add()([x, heads]))
        inner = L.Dense(width, name=f'out{i}')(L.Dense(2 * width, activation='gelu', name=f'inner{i}')(x))
        x = L.LayerNormalization(epsilon=1e-6, name=f'norm{i}')(L.Add()([x, inner]))
    pooled = L.Dense(width, activation='tanh', name='pooler')(x[:, 0])
    model = keras.Model([tokens, types, mask], [x, pooled])
    rng = np.random.default_rng(2)
    given = dict(tokens=rng.integers(1, vocabulary, (3, length)).astype(np.int32),
                 types=np.repeat(np.arange(2, dtype=np.int32), length // 2)[None].repeat(3, 0),
                 mask=(np.arange(length) < np.array([[8], [6], [5]])).astype(np.int32))
    labels = rng.integers(0, vocabulary, (3, length)).astype(np.int32)

    def serve(tokens, types, mask):
        sequence, pooled = model([tokens, types, mask])
        return dict(sequence=sequence, pooled=pooled)

    def loss(tokens, types, mask, labels):
        """Of masked words: the table of the words gives the logits too."""
        sequence, pooled = model([tokens, types, mask], training=True)
        logits = tf.einsum('btd,vd->btv', sequence, tf.convert_to_tensor(table.embeddings))
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        weights = tf.cast(mask, tf.float32)
        return tf.reduce_sum(each * weights) / tf.reduce_sum(weights) + .1 * tf.reduce_mean(pooled ** 2)
    return Whole('BERT-like encoder', model, serve, given, loss, dict(given, labels=labels), 'momentum', .02, momentum=.9)


def detector():
    classes = 3
    image = L.Input((16, 16, 3), name='image')
    x = L.Conv2D(4, 3, strides=2, padding='same', activation='relu', name='conv0')(image)
    x = L.SeparableConv2D(6, 3, strides=2, padding='same', activation='relu6', name='conv1')(x)
    y = L.Conv2D(8, 3, strides=2, padding='same', activation='relu6', name='conv2')(x)
    codes, scores = [], []
    for i, features in enumerate([x, y]):
        codes.append(L.Reshape((-1, 4))(L.Conv2D(8, 3, padding='same', name=f'boxes{i}')(features)))
        scores.append(L.Reshape((-1, classes))(L.Conv2D(2 * classes, 3, padding='same', name=f'classes{i}')(features)))
    model = keras.Model(image, [L.Concatenate(axis=1)(codes), L.Concatenate(axis=1)(scores)])
    anchors = []  # y, x, height, width
    for cells in (4, 2):
        for row in range(cells):
            for column in range(cells):
                for height, width in ((1.5, 1), (1, 1.5)):
                    anchors.append([(row + .5) / cells, (column + .5) / cells, height / cells, width / cells])
    anchors = np.array(anchors, np.float32)
    rng = np.random.default_rng(3)
    images = rng.integers(0, 256, (2, 16, 16, 3)).astype(np.uint8)
    targets = rng.normal(0, 1, (2, len(anchors), 4)).astype(np.float32)
    labels = (rng.random((2, len(anchors), classes)) < .2).astype(np.float32)
    scaled = lambda image: tf.cast(image, tf.float32) / 127.5 - 1

    def serve(image):
        codes, scores = model(scaled(image))
        centers = codes[..., :2] / 10 * anchors[:, 2:] + anchors[:, :2]
        sizes = tf.exp(codes[..., 2:] / 5) * anchors[:, 2:]
        boxes = tf.concat([centers - sizes / 2, centers + sizes / 2], -1)
        found = tf.image.combined_non_max_suppression(
            boxes[:, :, None], tf.sigmoid(scores), max_output_size_per_class=4, max_total_size=8, iou_threshold=.4,
            score_threshold=.5)
        return dict(detection_boxes=found[0], detection_scores=found[1], detection_classes=found[2] + 1,
                    num_detections=found[3])

    def loss(image, boxes, labels):
        codes, scores = model(scaled(image), training=True)
        positive = tf.reduce_max(labels, -1)
        off = tf.abs(codes - boxes)
        each = tf.reduce_sum(tf.where(off < 1., .5 * off ** 2, off - .5), -1)
        located = tf.math.divide_no_nan(tf.reduce_sum(each * positive), tf.reduce_sum(positive))
        probability = tf.sigmoid(scores)
        focal = tf.where(labels > 0., (1 - probability) ** 2, probability ** 2)
        entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=scores)
        return located + tf.reduce_mean(tf.reduce_sum(focal * entropy, [1, 2])) / tf.reduce_sum(positive)
    return Whole('Detector with SSD post-processing', model, serve, dict(image=images), loss,
                 dict(image=images, boxes=targets, labels=labels), 'momentum', .01, momentum=.9)


def unet():
    def block(x, units, name):
        for i in range(2):
            x = L.Conv2D(units, 3, padding='same', use_bias=False, name=f'{name}_conv{i}')(x)
            x = L.Activation('relu')(L.BatchNormalization(momentum=.9, name=f'{name}_norm{i}')(x))
        return x

    image = L.Input((16, 16, 1), name='image')
    first = block(image, 3, 'down0')
    second = block(L.MaxPooling2D()(first), 4, 'down1')
    x = block(L.MaxPooling2D()(second), 6, 'middle')
    x = block(L.Concatenate()([L.Conv2DTranspose(4, 2, strides=2, name='up1')(x), second]), 4, 'join1')
    x = block(L.Concatenate()([L.UpSampling2D(interpolation='bilinear')(x), first]), 3, 'join0')
    model = keras.Model(image, L.Conv2D(1, 1, activation='sigmoid', name='mask')(x))
    rows, columns = np.mgrid[:16, :16]
    masks = np.stack([(rows - 6) ** 2 + (columns - 7) ** 2 < 20, (rows > 4) & (columns > 9)])[..., None].astype(np.float32)
    images = (masks + np.random.default_rng(4).normal(0, .5, masks.shape)).astype(np.float32)

    def loss(image, mask):
        got = tf.clip_by_value(model(image, training=True), 1e-6, 1 - 1e-6)
        entropy = -tf.reduce_mean(mask * tf.math.log(got) + (1 - mask) * tf.math.log(1 - got))
        dice = (2 * tf.reduce_sum(got * mask, [1, 2, 3]) + 1) / (tf.reduce_sum(got + mask, [1, 2, 3]) + 1)
        return entropy + 1 - tf.reduce_mean(dice)
    return Whole('U-Net', model, lambda image: dict(mask=model(image)), dict(image=images), loss,
                 dict(image=images, mask=masks), 'momentum', .02, momentum=.9)


def generator():
    noise = L.Input((5,), name='noise')
    x = L.Reshape((3, 3, 6))(L.LeakyReLU(.2)(L.BatchNormalization(name='norm0')(
        L.Dense(54, use_bias=False, name='dense')(noise))))
    x = L.Conv2DTranspose(4, 4, strides=2, padding='same', use_bias=False, name='up0')(x)
    x = L.LeakyReLU(.2)(L.BatchNormalization(name='norm1')(x))
    model = keras.Model(noise, L.Conv2DTranspose(1, 4, strides=2, padding='same', activation='tanh', name='up1')(x))
    judge = keras.Sequential([
        L.Input((12, 12, 1)), L.Conv2D(4, 4, strides=2, padding='same', name='judge0'), L.LeakyReLU(.2),
        L.Conv2D(4, 4, strides=2, padding='same', name='judge1'), L.LeakyReLU(.2), L.Flatten(), L.Dense(1, name='verdict')])
    judge.trainable = False
    both = keras.Model(noise, [model.output, judge(model.output)])
    given = dict(noise=np.random.default_rng(5).normal(0, 1, (4, 5)).astype(np.float32))
    return Whole("GAN's generator", both, lambda noise: dict(image=both(noise)[0]), given,
                 lambda noise: tf.reduce_mean(tf.nn.softplus(-both(noise, training=True)[1])), given, 'rmsProp', .005)


def speech():
    class Emphasis(L.Layer):
        """A filter that is learned, so that gradients flow through the spectrogram."""

        def build(self, shape):
            self.factor = self.add_weight(name='factor', shape=(), initializer='ones')

        def call(self, wave):
            return wave[:, 1:] - .9 * self.factor * wave[:, :-1]

    class Cepstrum(L.Layer):
        def call(self, wave):
            power = tf.abs(tf.signal.stft(wave, 128, 64, 128)) ** 2
            scale = tf.signal.linear_to_mel_weight_matrix(12, 65, 8000, 80., 3800.)
            return tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(power @ scale + 1e-3))[..., :8, None]

        def compute_output_shape(self, shape):
            return (shape[0], (shape[1] - 128) // 64 + 1, 8, 1)

    wave = L.Input((1025,), name='wave')
    x = L.Conv2D(4, 3, activation='relu', name='conv')(Cepstrum(name='cepstrum')(Emphasis(name='emphasis')(wave)))
    x = L.Flatten()(L.MaxPooling2D(2)(x))
    model = keras.Model(wave, L.Dense(4, name='commands')(x))
    time = np.arange(1025) / 8000
    rng = np.random.default_rng(6)
    waves = np.stack([np.sin(2 * np.pi * f * time * (1 + time)) for f in (300, 700, 1500)])
    waves = (np.round((waves * .7 + rng.normal(0, .05, waves.shape)) * 2048) / 2048).astype(np.float32)
    labels = np.array([0, 2, 3], np.int32)

    def serve(wave):
        """The answer, and the cepstrum as the op Mfcc of the first speech command models computes it."""
        spectrum = tf.raw_ops.AudioSpectrogram(
            input=tf.transpose(wave), window_size=128, stride=64, magnitude_squared=True)
        cepstrum = tf.raw_ops.Mfcc(
            spectrogram=spectrum, sample_rate=8000, upper_frequency_limit=3800., lower_frequency_limit=80.,
            filterbank_channel_count=12, dct_coefficient_count=8)
        return dict(command=tf.nn.softmax(model(wave)), cepstrum=cepstrum[:, ::4])

    def loss(wave, label):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, model(wave, training=True)))
    return Whole('Speech commands: spectrogram', model, serve, dict(wave=waves), loss, dict(wave=waves, label=labels),
                 'gradientDescent', .005)


class Tables(tf.Module):
    def __init__(self):
        super().__init__()
        make = lambda name, *shape: tf.Variable(np.zeros(shape, np.float32), name=name)
        self.users = make('users', 12, 5)
        self.items = make('items', 20, 5)
        self.genres = make('genres', 9, 5)
        self.wide = make('wide', 20, 1)
        self.deep = make('deep', 15, 6)
        self.bias = make('bias', 6)
        self.out = make('out', 6, 1)


def recommender():
    model = Tables()

    def logits(user, indices, items, ratings, genre):
        size = tf.stack([tf.size(user, tf.int64), 4])
        history = tf.SparseTensor(indices, items, size)
        weights = tf.SparseTensor(indices, ratings, size)
        seen = tf.nn.safe_embedding_lookup_sparse(model.items, history, weights, combiner='mean')
        kinds = tf.strings.split(genre, '|').to_sparse()
        kinds = tf.SparseTensor(kinds.indices, tf.strings.to_hash_bucket_fast(kinds.values, 9), kinds.dense_shape)
        kinds = tf.nn.safe_embedding_lookup_sparse(model.genres, kinds, combiner='sqrtn')
        counts = tf.SparseTensor(tf.stack([indices[:, 0], items], 1), ratings, tf.stack([size[0], 20]))
        wide = tf.sparse.sparse_dense_matmul(tf.sparse.reorder(counts), model.wide)
        deep = tf.concat([tf.nn.embedding_lookup(model.users, user), seen, kinds], 1)
        return (wide + tf.nn.relu(deep @ model.deep + model.bias) @ model.out)[:, 0]

    def loss(user, indices, items, ratings, genre, liked):
        got = logits(user, indices, items, ratings, genre)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=liked, logits=got)) + 1e-3 * sum(
            tf.nn.l2_loss(table) for table in (model.users, model.items))
    given = dict(
        user=np.array([3, 0, 11, 3], np.int64), indices=np.array([[0, 0], [0, 1], [0, 3], [2, 0], [3, 1], [3, 2]], np.int64),
        items=np.array([4, 17, 5, 4, 0, 19], np.int64), ratings=np.array([1, .5, 2, 1, .25, 3], np.float32),
        genre=np.array(['drama|war', 'comedy', '', 'war|crime|drama'], object))

    def serve(user, indices, items, ratings, genre):
        score, best = tf.math.top_k(tf.sigmoid(logits(user, indices, items, ratings, genre)), 3)
        return dict(score=score, best=best)
    return Whole('Recommender: sparse embeddings', model, serve, given, loss,
                 dict(given, liked=np.array([1, 0, 1, 0], np.float32)), 'adagrad', .1)


class Decoder(tf.Module):
    VOCABULARY, LENGTH, WIDTH, HEADS, BLOCKS = 19, 12, 8, 2, 2

    def __init__(self):
        super().__init__()
        w = self.WIDTH
        make = lambda name, *shape: tf.Variable(np.zeros(shape, np.float32), name=name)
        self.tokens, self.places = make('tokens', self.VOCABULARY, w), make('places', self.LENGTH, w)
        self.blocks = [dict(
            mix=make(f'mix{i}', w, 3 * w), project=make(f'project{i}', w, w), grow=make(f'grow{i}', w, 4 * w),
            bias=make(f'bias{i}', 4 * w), shrink=make(f'shrink{i}', 4 * w, w), scales=make(f'scales{i}', 2, w))
            for i in range(self.BLOCKS)]

    @staticmethod
    def normal(x, scale):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * (1 + scale)

    def logits(self, tokens):
        batch, length = tf.unstack(tf.shape(tokens))
        x = 5 * (tf.gather(self.tokens, tokens) + self.places[:length])
        mask = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
        for block in self.blocks:
            mixed = tf.reshape(self.normal(x, block['scales'][0]) @ block['mix'], [batch, length, 3, self.HEADS, -1])
            query, key, value = tf.unstack(tf.transpose(mixed, [2, 0, 3, 1, 4]))
            scores = tf.matmul(query, key, transpose_b=True) * (self.WIDTH // self.HEADS) ** -.5
            scores = tf.nn.softmax(tf.where(mask > 0, scores, -1e9))
            joined = tf.reshape(tf.transpose(scores @ value, [0, 2, 1, 3]), [batch, length, self.WIDTH])
            x += joined @ block['project']
            inner = tf.nn.gelu(self.normal(x, block['scales'][1]) @ block['grow'] + block['bias'], approximate=True)
            x += inner @ block['shrink']
        return tf.matmul(self.normal(x, 0.), self.tokens, transpose_b=True) * 5


def language():
    model = Decoder()

    def serve(prompt, seed, temperature):
        """Draws token after token, each from the five likeliest, until the text is as long as it can be."""
        def step(length, tokens):
            last = model.logits(tokens)[:, -1] / temperature
            best, at = tf.math.top_k(last, 5)
            drawn = tf.random.stateless_categorical(best, 1, seed + tf.stack([0, length]), dtype=tf.int32)
            return length + 1, tf.concat([tokens, tf.gather(at, drawn, batch_dims=1)], 1)
        _, tokens = tf.while_loop(
            lambda length, _: length < model.LENGTH, step, [tf.shape(prompt)[1], prompt],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])])
        return dict(tokens=tokens)

    def loss(tokens):
        logits = model.logits(tokens[:, :-1])
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, 1:], logits))
    rng = np.random.default_rng(8)
    return Whole('Small GPT with a sampling loop', model, serve, dict(
        prompt=rng.integers(0, model.VOCABULARY, (3, 4)).astype(np.int32), seed=np.array([7, 31], np.int32),
        temperature=np.float32(.9)), loss, dict(tokens=rng.integers(0, model.VOCABULARY, (3, 12)).astype(np.int32)),
        'adam', .01)


def autoencoder():
    image, code = L.Input((8, 8, 1), name='image'), L.Input((3,), name='code')
    x = L.Conv2D(4, 3, strides=2, padding='same', activation='elu', name='conv')(image)
    encode = keras.Model(image, L.Dense(6, name='moments')(L.Flatten()(x)))
    y = L.Reshape((4, 4, 3))(L.Dense(48, activation='softplus', name='dense')(code))
    decode = keras.Model(code, L.Conv2DTranspose(1, 3, strides=2, padding='same', name='up')(y))
    both = keras.Model([image, code], [encode(image), decode(code)])
    images = np.random.default_rng(9).random((4, 8, 8, 1)).astype(np.float32)
    seed = np.array([3, 5], np.int32)

    def drawn(image, seed):
        mean, variance = tf.split(encode(image), 2, 1)
        return mean + tf.exp(.5 * variance) * tf.random.stateless_normal(tf.shape(mean), seed), mean, variance

    def serve(image, seed):
        code, mean, _ = drawn(image, seed)
        return dict(image=tf.sigmoid(decode(code)), mean=mean)

    def loss(image, seed):
        code, mean, variance = drawn(image, seed)
        entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=image, logits=decode(code))
        divergence = -.5 * tf.reduce_sum(1 + variance - mean ** 2 - tf.exp(variance), 1)
        return tf.reduce_mean(tf.reduce_sum(entropy, [1, 2, 3]) + divergence)
    return Whole('Variational autoencoder', both, serve, dict(image=images, seed=seed), loss,
                 dict(image=images, seed=seed), 'adam', .01)


def functions_of(whole):
    """The signatures as functions of TensorFlow: a seed and a scalar keep their shapes."""
    def made(function, inputs):
        fixed = [Spec([2], tf.int32, name='seed') if spec.name == 'seed' else spec for spec in specs(inputs)]
        return tf.function(function, input_signature=fixed, autograph=False)
    return dict(serving_default=made(whole.serve, whole.serve_inputs),
                loss=made(lambda *inputs: dict(loss=whole.loss(*inputs)), whole.loss_inputs))


def save(whole, functions, folder):
    """Keras models as Keras exports them, others as TensorFlow saves them. Every variable has a name of its own."""
    variables = whole.model.variables
    for variable in variables:
        tensorflow_variable(variable)._handle_name = f'{getattr(variable, "path", variable.name.split(":")[0])}:0'
    if not isinstance(whole.model, keras.Model):
        return tf.saved_model.save(whole.model, str(folder), signatures=functions)
    archive = keras.export.ExportArchive()
    archive.track(whole.model)
    for name, function in functions.items():
        archive.add_endpoint(name, function)
    archive.write_out(str(folder), verbose=False)


def archived(folder, path):
    """Packs the files of a folder, all with the same date."""
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(folder.rglob('*')):
            if file.is_file() and file.name != 'fingerprint.pb':
                archive.writestr(zipfile.ZipInfo(str(file.relative_to(folder))), file.read_bytes(), zipfile.ZIP_DEFLATED, 9)


def saved_names(whole, folder):
    """Keras exports copies of its variables beside them; the functions use the copies."""
    saved = saved_model_pb2.SavedModel.FromString((folder / 'saved_model.pb').read_bytes())
    handles = {node.name for node in saved.meta_graphs[0].graph_def.node if node.op == 'VarHandleOp'}
    names = [variable._shared_name for variable in whole.variables]
    return [f'{name}_1' if f'{name}_1' in handles else name for name in names]


def record(whole, functions, names):
    variables, trained = whole.variables, whole.trained
    serve_inputs = [tf.constant(value) for value in whole.serve_inputs.values()]
    loss_inputs = [tf.constant(value) for value in whole.loss_inputs.values()]
    outputs = described_all(functions['serving_default'](*serve_inputs))
    optimizer = OPTIMIZERS[whole.optimizer](whole.rate, **whole.options)
    losses, first = [], None
    for _ in range(STEPS):
        with tf.GradientTape() as tape:
            loss = functions['loss'](*loss_inputs)['loss']
        gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
        first = first or described_all(dict(zip(names, gradients)))
        losses.append(float(f'{float(loss):.8g}'))
        optimizer.apply_gradients(itertools.compress(zip(gradients, variables), trained))
    return dict(
        title=whole.title, inputs=described_all(whole.serve_inputs | whole.loss_inputs), outputs=outputs, gradients=first,
        training=dict(optimizer=whole.optimizer, rate=whole.rate, **whole.options, losses=losses,
                      variables=list(itertools.compress(names, trained))),
        trained=described_all(functions['serving_default'](*serve_inputs)))


def written(name, maker):
    keras.utils.set_random_seed(1)
    whole = maker()
    randomized(whole.model.variables, np.random.default_rng(10))
    functions = functions_of(whole)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        save(whole, functions, folder)
        archived(folder, ROOT / f'{name}.zip')
        names = saved_names(whole, folder)
    noted = record(whole, functions, names)
    print(name, *(f'{loss:.5g}' for loss in noted['training']['losses']), flush=True)
    return noted


def main():
    makers = dict(text=text, encoder=encoder, detector=detector, unet=unet, generator=generator, speech=speech,
                  recommender=recommender, language=language, autoencoder=autoencoder)
    ROOT.mkdir(parents=True, exist_ok=True)
    path = ROOT / 'models.json'
    for name in sys.argv[1:] or makers:
        noted = written(name, makers[name])
        records = json.loads(path.read_text()) if path.exists() else {}
        records[name] = noted
        lines = (f'{json.dumps(name)}: {json.dumps(records[name])}' for name in makers if name in records)
        path.write_text('{\n' + ',\n'.join(lines) + '\n}\n')


main()
