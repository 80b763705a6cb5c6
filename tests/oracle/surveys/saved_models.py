"""SavedModels as programs write them, with the outputs of each of their signatures."""
import numpy as np
import tensorflow as tf

import recorder

try:
    import tf_keras
except ImportError:
    tf_keras = None

v1 = tf.compat.v1
keras = tf.keras
L = keras.layers
MODELS = {}
spec = tf.TensorSpec


def model(make):
    MODELS[make.__name__] = make
    return make


def floats(*shape, seed=1):
    return np.random.default_rng(seed).normal(0, 1, shape).astype('float32')


def integers(high, *shape, seed=1, dtype='int32'):
    return np.random.default_rng(seed).integers(0, high, shape).astype(dtype)


class Saving:
    """Saves one model, and lists the calls that the test repeats in this order."""

    def __init__(self, folder):
        self.folder = folder
        self.path = str(folder / 'model')
        self.calls = []

    def module(self, thing, signatures=None):
        tf.saved_model.save(thing, self.path, signatures)

    def call(self, signature='serving_default', *only, **inputs):
        self.calls.append((signature, only[0] if only else inputs))


def record(make, folder):
    saving = Saving(folder)
    make(saving)
    results = []
    for signature, inputs, outputs in (run_graph if make.__name__.startswith('v1_') else run_functions)(saving):
        results.append(dict(signature=signature, inputs=recorder.named(inputs), outputs=recorder.named(outputs)))
    return dict(calls=results)


def run_functions(saving):
    """As programs of TensorFlow 2 call signatures."""
    loaded = tf.saved_model.load(saving.path)
    for signature, inputs in saving.calls:
        function = loaded.signatures[signature]
        specs = function.structured_input_signature[1]
        if not isinstance(inputs, dict):
            inputs = {name: inputs for name in specs}
        yield signature, inputs, function(**{name: tf.constant(value, specs[name].dtype) for name, value in inputs.items()})


def run_graph(saving):
    """As programs of TensorFlow 1 run them, in one session."""
    with tf.Graph().as_default(), v1.Session() as session:
        loaded = v1.saved_model.load(session, ['serve'], saving.path)
        for signature, inputs in saving.calls:
            definition = loaded.signature_def[signature]
            if not isinstance(inputs, dict):
                inputs = {name: inputs for name in definition.inputs}
            feeds = {definition.inputs[name].name: value for name, value in inputs.items()}
            yield signature, inputs, session.run({name: info.name for name, info in definition.outputs.items()}, feeds)


# --- tf.Module ---


@model
def module_affine(saving):
    class Affine(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3, 2))
            self.b = tf.Variable(floats(2, seed=2))

        @tf.function(input_signature=[spec([None, 3], tf.float32, 'x')])
        def __call__(self, x):
            return {'y': x @ self.w + self.b}

    affine = Affine()
    saving.module(affine, affine.__call__)
    saving.call(x=floats(2, 3))
    saving.call(x=floats(5, 3, seed=9))


@model
def module_many_signatures(saving):
    class Many(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(2.)

        @tf.function(input_signature=[spec([None], tf.float32, 'x')])
        def double(self, x):
            return {'y': x * self.scale}

        @tf.function(input_signature=[spec([None], tf.float32, 'x'), spec([], tf.float32, 'k')])
        def shifted(self, x, k):
            return {'y': x + k, 'sum': tf.reduce_sum(x)}

        @tf.function(input_signature=[spec([None, None], tf.int64, 'ids')])
        def histogram(self, ids):
            return {'counts': tf.math.bincount(tf.reshape(ids, [-1]), minlength=5, maxlength=5, dtype=tf.int64)}

    many = Many()
    saving.module(many, {'double': many.double, 'shifted': many.shifted, 'histogram': many.histogram})
    saving.call('double', x=floats(4))
    saving.call('shifted', x=floats(4), k=np.float32(.5))
    saving.call('histogram', ids=integers(5, 3, 4, dtype='int64'))


@model
def module_counter(saving):
    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.count = tf.Variable(0, dtype=tf.int64, trainable=False)
            self.mean = tf.Variable(0., trainable=False)

        @tf.function(input_signature=[spec([None], tf.float32, 'x')])
        def add(self, x):
            n = tf.cast(self.count.assign_add(tf.size(x, out_type=tf.int64)), tf.float32)
            self.mean.assign_add(tf.reduce_sum(x - self.mean) / n)
            return {'count': self.count.read_value(), 'mean': self.mean.read_value()}

        @tf.function(input_signature=[])
        def reset(self):
            self.count.assign(0)
            self.mean.assign(0.)
            return {'count': self.count.read_value()}

    counter = Counter()
    saving.module(counter, {'add': counter.add, 'reset': counter.reset})
    saving.call('add', x=floats(4))
    saving.call('add', x=floats(3, seed=2))
    saving.call('reset')
    saving.call('add', x=floats(3, seed=2))


@model
def module_while_and_cond(saving):
    class Flow(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(2, 2) / 2)

        @tf.function(input_signature=[spec([None, 2], tf.float32, 'x'), spec([], tf.int32, 'n')])
        def power(self, x, n):
            for _ in tf.range(n):
                if tf.reduce_sum(x) > 0:
                    x = x @ self.w
                else:
                    x = tf.tanh(x) - self.w[0]
            return {'y': x}

    flow = Flow()
    saving.module(flow, flow.power)
    for n in (0, 1, 5):
        saving.call(x=floats(3, 2), n=np.int32(n))


@model
def module_break_and_continue(saving):
    class Search(tf.Module):
        @tf.function(input_signature=[spec([None], tf.int32, 'x'), spec([], tf.int32, 'wanted')])
        def find(self, x, wanted):
            at = -1
            skipped = 0
            for i in tf.range(tf.size(x)):
                if x[i] < 0:
                    skipped += 1
                    continue
                if x[i] == wanted:
                    at = i
                    break
            return {'at': at, 'skipped': skipped}

    search = Search()
    saving.module(search, search.find)
    saving.call(x=np.int32([3, -1, 4, 1, 5]), wanted=np.int32(4))
    saving.call(x=np.int32([3, -1, -4, 1, 5]), wanted=np.int32(9))


@model
def module_nested_functions(saving):
    class Nested(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [tf.Variable(floats(3, 3, seed=i)) for i in range(4)]

        @tf.function
        def layer(self, x, w):
            return self.activate(x @ w)

        @tf.function
        def activate(self, x):
            return tf.nn.elu(x) + tf.nn.softplus(x)

        @tf.function(input_signature=[spec([None, 3], tf.float32, 'x')])
        def call(self, x):
            for w in self.layers:
                x = self.layer(x, w) / 3.
            return x

    nested = Nested()
    saving.module(nested, nested.call)
    saving.call(x=floats(2, 3))


@model
def module_recursive_gradient(saving):
    class Gradient(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3))

        @tf.function(input_signature=[spec([3], tf.float32, 'x')])
        def call(self, x):
            with tf.GradientTape(persistent=True) as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = tf.reduce_sum(tf.sin(x * self.w) * x)
                first = tape.gradient(y, x)
                square = tf.reduce_sum(first ** 2)
            return {'first': first, 'second': outer.gradient(square, x), 'by_w': outer.gradient(square, self.w)}

    gradient = Gradient()
    saving.module(gradient, gradient.call)
    saving.call(x=floats(3, seed=4))


@model
def module_custom_gradient(saving):
    @tf.custom_gradient
    def clipped(x):
        return x * 2., lambda dy: tf.clip_by_value(dy, -1., 1.)

    class Custom(tf.Module):
        @tf.function(input_signature=[spec([None], tf.float32, 'x')])
        def call(self, x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(clipped(x) ** 2)
            return {'y': y, 'gradient': tape.gradient(y, x)}

    custom = Custom()
    saving.module(custom, custom.call)
    saving.call(x=floats(4))


@model
def module_training_sgd(saving):
    class Trained(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3, 1))
            self.b = tf.Variable([0.])

        @tf.function(input_signature=[spec([None, 3], tf.float32, 'x'), spec([None, 1], tf.float32, 't')])
        def train(self, x, t):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x @ self.w + self.b - t) ** 2)
            for variable, slope in zip((self.w, self.b), tape.gradient(loss, [self.w, self.b])):
                variable.assign_sub(.1 * slope)
            return {'loss': loss}

        @tf.function(input_signature=[spec([None, 3], tf.float32, 'x')])
        def predict(self, x):
            return {'y': x @ self.w + self.b}

    trained = Trained()
    saving.module(trained, {'train': trained.train, 'serving_default': trained.predict})
    saving.call(x=floats(2, 3))
    for seed in range(4):
        saving.call('train', x=floats(8, 3, seed=seed), t=floats(8, 1, seed=seed + 50))
    saving.call(x=floats(2, 3))


def trained_with(saving, optimizer):
    class Trained(tf.Module):
        def __init__(self):
            super().__init__()
            self.model = keras.Sequential([L.Input((3,)), L.Dense(4, activation='tanh'), L.Dense(1)])
            self.optimizer = optimizer
            self.optimizer.build(self.model.trainable_variables)

        @tf.function(input_signature=[spec([None, 3], tf.float32, 'x'), spec([None, 1], tf.float32, 't')])
        def train(self, x, t):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.model(x, training=True) - t) ** 2)
            variables = self.model.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return {'loss': loss}

        @tf.function(input_signature=[spec([None, 3], tf.float32, 'x')])
        def predict(self, x):
            return {'y': self.model(x)}

    trained = Trained()
    saving.module(trained, {'train': trained.train, 'serving_default': trained.predict})
    for seed in range(4):
        saving.call('train', x=floats(8, 3, seed=seed), t=floats(8, 1, seed=seed + 50))
    saving.call(x=floats(2, 3))


@model
def training_adam(saving):
    trained_with(saving, keras.optimizers.Adam(.01))


@model
def training_adamw_schedule(saving):
    schedule = keras.optimizers.schedules.CosineDecay(.05, 10, warmup_target=.1, warmup_steps=2)
    trained_with(saving, keras.optimizers.AdamW(schedule, weight_decay=.01))


@model
def training_rmsprop_clipped(saving):
    trained_with(saving, keras.optimizers.RMSprop(.01, momentum=.5, centered=True, clipnorm=.5))


@model
def training_momentum_average(saving):
    trained_with(saving, keras.optimizers.SGD(.05, momentum=.9, nesterov=True, use_ema=True, ema_momentum=.9))


@model
def training_nadam(saving):
    trained_with(saving, keras.optimizers.Nadam(.01))


@model
def training_adagrad_ftrl(saving):
    trained_with(saving, keras.optimizers.Ftrl(.05, l1_regularization_strength=.01))


@model
def training_adafactor(saving):
    trained_with(saving, keras.optimizers.Adafactor(.05))


@model
def training_lion(saving):
    trained_with(saving, keras.optimizers.Lion(.01))


@model
def training_loss_scale(saving):
    trained_with(saving, keras.optimizers.LossScaleOptimizer(keras.optimizers.Adadelta(.5), initial_scale=64.))


@model
def module_einsum(saving):
    class Einsum(tf.Module):
        @tf.function(input_signature=[spec([None, 4, 3], tf.float32, 'a'), spec([3, 2, 5], tf.float32, 'b')])
        def call(self, a, b):
            return {'projected': tf.einsum('btd,dhk->bhtk', a, b), 'trace': tf.einsum('bij,bij->b', a, a),
                    'outer': tf.einsum('...i,...j->...ij', a[:, 0], a[:, 1]), 'dot': tf.tensordot(a, b, 1)}

    einsum = Einsum()
    saving.module(einsum, einsum.call)
    saving.call(a=floats(2, 4, 3), b=floats(3, 2, 5, seed=2))


@model
def module_scan_map_fold(saving):
    class Higher(tf.Module):
        @tf.function(input_signature=[spec([None, 2], tf.float32, 'x')])
        def call(self, x):
            return {'scan': tf.scan(lambda a, b: a * .5 + b, x), 'map': tf.map_fn(lambda a: tf.reduce_sum(a ** 2), x),
                    'fold': tf.foldl(lambda a, b: a + b, x), 'cumulated': tf.cumsum(x, exclusive=True, reverse=True),
                    'vectorized': tf.vectorized_map(lambda a: tf.tensordot(a, a, 1), x)}

    higher = Higher()
    saving.module(higher, higher.call)
    saving.call(x=floats(4, 2))


@model
def module_tensor_array(saving):
    class Arrays(tf.Module):
        @tf.function(input_signature=[spec([None, 3], tf.float32, 'x')])
        def call(self, x):
            array = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
            for i in tf.range(tf.shape(x)[0]):
                array = array.write(i, x[i] * tf.cast(i, tf.float32))
            return {'stacked': array.stack(), 'first': array.read(0), 'gathered': array.gather([1, 0]),
                    'concatenated': array.concat()}

    arrays = Arrays()
    saving.module(arrays, arrays.call)
    saving.call(x=floats(3, 3))


@model
def module_switch_case(saving):
    class Cases(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([2., 3.])

        @tf.function(input_signature=[spec([], tf.int32, 'k'), spec([2], tf.float32, 'x')])
        def call(self, k, x):
            return tf.switch_case(k, [lambda: x * self.w, lambda: x - self.w, lambda: tf.exp(x)], default=lambda: -x)

    cases = Cases()
    saving.module(cases, cases.call)
    for k in (0, 1, 2, 7):
        saving.call(k=np.int32(k), x=floats(2))


@model
def module_strings(saving):
    class Strings(tf.Module):
        @tf.function(input_signature=[spec([None], tf.string, 'text')])
        def call(self, text):
            lower = tf.strings.lower(text)
            clean = tf.strings.regex_replace(lower, '[^a-z ]', '')
            words = tf.strings.split(clean)
            return {'clean': clean, 'length': tf.strings.length(text, unit='UTF8_CHAR'), 'words': words.to_tensor(),
                    'lengths': words.row_lengths(), 'hashed': tf.strings.to_hash_bucket_fast(clean, 1000),
                    'joined': tf.strings.reduce_join(words, axis=-1, separator='_'),
                    'begin': tf.strings.substr(text, 0, 2), 'is': tf.strings.regex_full_match(clean, '.*cat.*')}

    strings = Strings()
    saving.module(strings, strings.call)
    saving.call(text=np.array(['The Cat sat!', 'On  a mat', 'Grüße, Ω', ''], object))


@model
def module_string_numbers(saving):
    class Numbers(tf.Module):
        @tf.function(input_signature=[spec([None], tf.string, 'text'), spec([None], tf.float32, 'x')])
        def call(self, text, x):
            return {'number': tf.strings.to_number(text), 'text': tf.strings.as_string(x, precision=3),
                    'joined': tf.strings.join([text, tf.strings.as_string(tf.cast(x, tf.int32))], ':'),
                    'encoded': tf.io.encode_base64(text), 'format': tf.strings.format('x={}', x)}

    numbers = Numbers()
    saving.module(numbers, numbers.call)
    saving.call(text=np.array(['1.5', '-2', '3e4'], object), x=np.float32([1, -2.25, 1e6]))


@model
def module_static_table(saving):
    class Table(tf.Module):
        def __init__(self):
            super().__init__()
            values = tf.lookup.KeyValueTensorInitializer(['a', 'b', 'c'], np.int64([10, 20, 30]))
            self.table = tf.lookup.StaticHashTable(values, -1)

        @tf.function(input_signature=[spec([None], tf.string, 'keys')])
        def call(self, keys):
            return {'values': self.table.lookup(keys), 'size': self.table.size()}

    table = Table()
    saving.module(table, table.call)
    saving.call(keys=np.array(['c', 'x', 'a'], object))


@model
def module_vocabulary_file(saving):
    class Vocabulary(tf.Module):
        def __init__(self, path):
            super().__init__()
            self.file = tf.saved_model.Asset(path)
            forward = tf.lookup.TextFileInitializer(self.file, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                                    tf.lookup.TextFileIndex.LINE_NUMBER)
            self.ids = tf.lookup.StaticVocabularyTable(forward, 2)
            back = tf.lookup.TextFileInitializer(self.file, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string,
                                                 tf.lookup.TextFileIndex.WHOLE_LINE)
            self.words = tf.lookup.StaticHashTable(back, '?')

        @tf.function(input_signature=[spec([None], tf.string, 'words')])
        def encode(self, words):
            return {'ids': self.ids.lookup(words)}

        @tf.function(input_signature=[spec([None], tf.int64, 'ids')])
        def decode(self, ids):
            return {'words': self.words.lookup(ids)}

    path = saving.folder / 'vocabulary.txt'
    path.write_text('the\ncat\nsat\n')
    vocabulary = Vocabulary(str(path))
    saving.module(vocabulary, {'encode': vocabulary.encode, 'decode': vocabulary.decode})
    saving.call('encode', words=np.array(['sat', 'dog', 'the', 'mouse'], object))
    saving.call('decode', ids=np.int64([1, 0, 9]))


@model
def module_mutable_table(saving):
    class Mutable(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
            self.table.insert(['one', 'two'], np.int64([1, 2]))

        @tf.function(input_signature=[spec([None], tf.string, 'keys'), spec([None], tf.int64, 'values')])
        def insert(self, keys, values):
            self.table.insert(keys, values)
            return {'size': self.table.size()}

        @tf.function(input_signature=[spec([None], tf.string, 'keys')])
        def lookup(self, keys):
            return {'values': self.table.lookup(keys)}

    mutable = Mutable()
    saving.module(mutable, {'insert': mutable.insert, 'lookup': mutable.lookup})
    saving.call('lookup', keys=np.array(['one', 'two', 'three'], object))
    saving.call('insert', keys=np.array(['three', 'one'], object), values=np.int64([3, 11]))
    saving.call('lookup', keys=np.array(['one', 'two', 'three'], object))


@model
def module_ragged(saving):
    class Ragged(tf.Module):
        def __init__(self):
            super().__init__()
            self.embedding = tf.Variable(floats(10, 3))

        @tf.function(input_signature=[spec([None], tf.int32, 'ids'), spec([None], tf.int64, 'splits')])
        def call(self, ids, splits):
            ragged = tf.RaggedTensor.from_row_splits(ids, splits)
            found = tf.gather(self.embedding, ragged)
            return {'sum': tf.reduce_sum(found, axis=1), 'mean': tf.reduce_mean(found, axis=1),
                    'max': tf.reduce_max(ragged, axis=1), 'dense': ragged.to_tensor(-1), 'rows': ragged.row_lengths()}

    ragged = Ragged()
    saving.module(ragged, ragged.call)
    saving.call(ids=np.int32([1, 2, 3, 4, 9]), splits=np.int64([0, 2, 3, 5]))


@model
def module_ragged_output(saving):
    class Ragged(tf.Module):
        @tf.function(input_signature=[spec([None], tf.string, 'text')])
        def call(self, text):
            return {'words': tf.strings.split(text, ',').to_sparse().values, 'sorted': tf.sort(tf.strings.length(text))}

    ragged = Ragged()
    saving.module(ragged, ragged.call)
    saving.call(text=np.array(['a,bc', 'd', 'e,f,g'], object))


@model
def module_sparse(saving):
    class Sparse(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(4, 2))

        @tf.function(input_signature=[spec([None, 2], tf.int64, 'indices'), spec([None], tf.float32, 'values'),
                                      spec([2], tf.int64, 'size')])
        def call(self, indices, values, size):
            sparse = tf.SparseTensor(indices, values, size)
            return {'product': tf.sparse.sparse_dense_matmul(sparse, self.w), 'dense': tf.sparse.to_dense(sparse),
                    'sum': tf.sparse.reduce_sum(sparse, axis=1), 'filled': tf.sparse.fill_empty_rows(sparse, 7.)[0].values}

    sparse = Sparse()
    saving.module(sparse, sparse.call)
    saving.call(indices=np.int64([[0, 1], [2, 3]]), values=np.float32([2, -3]), size=np.int64([3, 4]))


@model
def module_sparse_signature(saving):
    """The parts of a sparse input are inputs of the signature."""
    class Sparse(tf.Module):
        @tf.function(input_signature=[tf.SparseTensorSpec([None, 4], tf.float32)])
        def call(self, x):
            return {'dense': tf.sparse.to_dense(x) * 2.}

    sparse = Sparse()
    saving.module(sparse, {'serving_default': sparse.call})
    saving.call(x=np.int64([[0, 1], [2, 3]]), x_1=np.float32([2, -3]), x_2=np.int64([3, 4]))


@model
def module_safe_embedding(saving):
    class Bags(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.Variable(floats(6, 3))

        @tf.function(input_signature=[spec([None, 2], tf.int64, 'indices'), spec([None], tf.int64, 'ids'),
                                      spec([2], tf.int64, 'size')])
        def call(self, indices, ids, size):
            bags = tf.SparseTensor(indices, ids, size)
            return {combiner: tf.nn.safe_embedding_lookup_sparse(self.table, bags, combiner=combiner)
                    for combiner in ('sum', 'mean', 'sqrtn')}

    bags = Bags()
    saving.module(bags, bags.call)
    saving.call(indices=np.int64([[0, 0], [0, 1], [2, 0]]), ids=np.int64([1, 4, 5]), size=np.int64([3, 2]))


@model
def module_conv_gradients(saving):
    class Conv(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3, 3, 2, 4) / 3)

        @tf.function(input_signature=[spec([None, None, None, 2], tf.float32, 'image')])
        def saliency(self, image):
            with tf.GradientTape() as tape:
                tape.watch(image)
                y = tf.nn.relu(tf.nn.conv2d(image, self.w, 2, 'SAME'))
                score = tf.reduce_max(tf.nn.max_pool2d(y, 2, 1, 'VALID'))
            return {'score': score, 'slope': tape.gradient(score, image)}

    conv = Conv()
    saving.module(conv, conv.saliency)
    saving.call(image=floats(1, 6, 7, 2))


@model
def module_math(saving):
    class Math(tf.Module):
        @tf.function(input_signature=[spec([None, 4], tf.float32, 'x')])
        def call(self, x):
            y = tf.abs(x) + .5
            return {'lgamma': tf.math.lgamma(y), 'digamma': tf.math.digamma(y), 'erf': tf.math.erf(x),
                    'betainc': tf.math.betainc(y, y + 1., tf.sigmoid(x)), 'igamma': tf.math.igamma(y, y * 2.),
                    'xlogy': tf.math.xlogy(x, y), 'log1p': tf.math.log1p(y), 'expm1': tf.math.expm1(x),
                    'top': tf.math.top_k(x, 2)[0], 'order': tf.argsort(x), 'sorted': tf.sort(x, direction='DESCENDING'),
                    'variance': tf.math.reduce_variance(x, 1), 'logsumexp': tf.reduce_logsumexp(x, -1),
                    'norm': tf.linalg.norm(x, axis=1), 'atan2': tf.atan2(x, y), 'floor': x // y, 'mod': x % y}

    math = Math()
    saving.module(math, math.call)
    saving.call(x=floats(3, 4))


@model
def module_linalg(saving):
    class Linalg(tf.Module):
        @tf.function(input_signature=[spec([None, 3, 3], tf.float32, 'x')])
        def call(self, x):
            symmetric = x @ tf.linalg.matrix_transpose(x) + 3. * tf.eye(3)
            return {'inverse': tf.linalg.inv(symmetric), 'cholesky': tf.linalg.cholesky(symmetric),
                    'solution': tf.linalg.solve(symmetric, x), 'determinant': tf.linalg.det(x),
                    'eigenvalues': tf.linalg.eigvalsh(symmetric), 'diagonal': tf.linalg.diag_part(x),
                    'band': tf.linalg.band_part(x, 1, 0)}

    linalg = Linalg()
    saving.module(linalg, linalg.call)
    saving.call(x=floats(2, 3, 3))


@model
def module_shapes(saving):
    class Shapes(tf.Module):
        @tf.function(input_signature=[spec([None, None, 3], tf.float32, 'x')])
        def call(self, x):
            return {'patches': tf.reshape(x, [tf.shape(x)[0], -1]), 'turned': tf.transpose(x, [2, 0, 1]),
                    'padded': tf.pad(x, [[0, 0], [1, 2], [0, 1]], 'REFLECT'), 'tiled': tf.tile(x, [1, 2, 1]),
                    'strided': x[:, ::-1, 1:], 'last': x[..., -1], 'new': x[:, tf.newaxis, 0],
                    'one_hot': tf.one_hot(tf.argmax(x, -1), 3), 'split': tf.split(x, 3, -1)[1],
                    'rolled': tf.roll(x, [1, 2], [1, 2]), 'flipped': tf.reverse(x, [1]),
                    'gathered': tf.gather(x, [1, 0], axis=2), 'where': tf.where(x > 0, x, -x),
                    'batched': tf.gather(x, tf.argsort(x[..., 0]), batch_dims=1), 'meshed': tf.meshgrid(x[0, 0], x[0, 1])[0]}

    shapes = Shapes()
    saving.module(shapes, shapes.call)
    saving.call(x=floats(2, 4, 3))


@model
def module_scatter(saving):
    class Scatter(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.Variable(floats(5, 2))

        @tf.function(input_signature=[spec([None], tf.int32, 'ids'), spec([None, 2], tf.float32, 'rows')])
        def update(self, ids, rows):
            self.table.scatter_add(tf.IndexedSlices(rows, ids))
            self.table.scatter_nd_update([[0]], [[9., 9.]])
            added = tf.tensor_scatter_nd_add(self.table, ids[:, None], rows)
            return {'table': self.table.read_value(), 'added': added,
                    'segments': tf.math.unsorted_segment_sum(rows, ids, 5), 'unique': tf.unique(ids)[0],
                    'nd': tf.scatter_nd(ids[:, None], rows, [5, 2])}

    scatter = Scatter()
    saving.module(scatter, scatter.update)
    saving.call(ids=np.int32([3, 1, 3]), rows=floats(3, 2, seed=3))
    saving.call(ids=np.int32([0, 0]), rows=floats(2, 2, seed=4))


@model
def module_image_processing(saving):
    class Image(tf.Module):
        @tf.function(input_signature=[spec([None, None, None, 3], tf.uint8, 'image')])
        def call(self, image):
            x = tf.image.convert_image_dtype(image, tf.float32)
            x = tf.image.resize(x, [6, 5])
            return {'resized': x, 'nearest': tf.image.resize(image, [3, 3], 'nearest'),
                    'flipped': tf.image.flip_left_right(x), 'cropped': tf.image.central_crop(x, .5),
                    'gray': tf.image.rgb_to_grayscale(x), 'standard': tf.image.per_image_standardization(x),
                    'bright': tf.image.adjust_brightness(x, .1), 'contrast': tf.image.adjust_contrast(x, 2.),
                    'padded': tf.image.pad_to_bounding_box(x, 1, 1, 8, 8)}

    image = Image()
    saving.module(image, image.call)
    saving.call(image=integers(256, 1, 4, 4, 3, dtype='uint8'))


@model
def module_detection(saving):
    class Detection(tf.Module):
        @tf.function(input_signature=[spec([None, 4], tf.float32, 'boxes'), spec([None], tf.float32, 'scores')])
        def call(self, boxes, scores):
            chosen = tf.image.non_max_suppression(boxes, scores, 3, .5)
            combined = tf.image.combined_non_max_suppression(boxes[None, :, None], scores[None, :, None], 3, 3)
            return {'chosen': chosen, 'boxes': tf.gather(boxes, chosen), 'combined': combined.nmsed_boxes,
                    'valid': combined.valid_detections}

    detection = Detection()
    saving.module(detection, detection.call)
    boxes = np.float32([[0, 0, 1, 1], [0, .1, 1, 1.1], [0, 2, 1, 3], [0, 0, .5, .5], [.1, .1, .9, .9]])
    saving.call(boxes=boxes, scores=np.float32([.9, .8, .7, .6, .5]))


@model
def module_spectrogram(saving):
    class Audio(tf.Module):
        @tf.function(input_signature=[spec([None, 64], tf.float32, 'wave')])
        def call(self, wave):
            power = tf.abs(tf.signal.stft(wave, 16, 8)) ** 2
            mel = power @ tf.signal.linear_to_mel_weight_matrix(5, 9, 8000, 100., 3500.)
            return {'power': power, 'coefficients': tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1e-3))}

    audio = Audio()
    saving.module(audio, audio.call)
    saving.call(wave=floats(2, 64))


@model
def module_assertions(saving):
    class Checked(tf.Module):
        @tf.function(input_signature=[spec([None], tf.float32, 'x')])
        def call(self, x):
            tf.debugging.assert_non_negative(x)
            tf.debugging.assert_greater(tf.size(x), 1)
            with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(x < 100.), [x])]):
                return tf.sqrt(tf.ensure_shape(x, [None]))

    checked = Checked()
    saving.module(checked, checked.call)
    saving.call(x=np.float32([1, 4, 9]))


@model
def module_dtypes(saving):
    class Types(tf.Module):
        def __init__(self):
            super().__init__()
            self.half = tf.Variable(floats(3).astype('float16'))
            self.double = tf.Variable(floats(3).astype('float64'))
            self.small = tf.Variable(np.int8([1, -2, 3]))
            self.flag = tf.Variable(np.array([True, False, True]))
            self.text = tf.Variable(['a', 'b', 'c'])
            self.brain = tf.Variable(tf.cast(floats(3), tf.bfloat16))

        @tf.function(input_signature=[spec([3], tf.float32, 'x')])
        def call(self, x):
            return {'half': self.half * tf.cast(x, tf.float16), 'double': self.double + tf.cast(x, tf.float64),
                    'small': self.small + 1, 'flag': tf.logical_not(self.flag), 'text': self.text + '!',
                    'brain': tf.cast(self.brain, tf.float32), 'complex': tf.math.conj(tf.complex(x, x + 1.)),
                    'bits': tf.bitwise.bitwise_xor(tf.cast(x, tf.int32), 5)}

    types = Types()
    saving.module(types, types.call)
    saving.call(x=np.float32([1, 2, 3]))


@model
def module_default_argument(saving):
    class Defaults(tf.Module):
        def __init__(self):
            super().__init__()
            self.children = {'a': tf.Variable(1.), 'b': [tf.Variable(2.), tf.Variable(3.)]}

        @tf.function(input_signature=[spec([], tf.float32, 'x')])
        def call(self, x):
            return [x * self.children['a'], {'deep': x * self.children['b'][0]}, (x * self.children['b'][1],)]

    defaults = Defaults()
    function = tf.function(lambda x: dict(enumerate_outputs(defaults.call(x))),
                           input_signature=[spec([], tf.float32, 'x')])
    saving.module(defaults, function)
    saving.call(x=np.float32(3))


def enumerate_outputs(structure):
    return {f'output_{i}': value for i, value in enumerate(tf.nest.flatten(structure))}


@model
def module_optional_cond_none(saving):
    class Optional(tf.Module):
        def __init__(self):
            super().__init__()
            self.made = tf.Variable(False)
            self.value = tf.Variable(tf.zeros([2]))

        @tf.function(input_signature=[spec([2], tf.float32, 'x')])
        def call(self, x):
            if not self.made:
                self.value.assign(x)
                self.made.assign(True)
            else:
                self.value.assign(self.value * .5 + x * .5)
            return {'value': self.value.read_value()}

    optional = Optional()
    saving.module(optional, optional.call)
    for seed in range(3):
        saving.call(x=floats(2, seed=seed))


@model
def module_lstm_by_hand(saving):
    class Cell(tf.Module):
        def __init__(self):
            super().__init__()
            self.kernel = tf.Variable(floats(5, 12) / 2)
            self.bias = tf.Variable(tf.zeros([12]))

        @tf.function(input_signature=[spec([None, None, 2], tf.float32, 'x'), spec([None], tf.int32, 'lengths')])
        def call(self, x, lengths):
            h = c = tf.zeros([tf.shape(x)[0], 3])
            outputs = tf.TensorArray(tf.float32, tf.shape(x)[1])
            for t in tf.range(tf.shape(x)[1]):
                i, f, g, o = tf.split(tf.concat([x[:, t], h], 1) @ self.kernel + self.bias, 4, 1)
                new = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
                alive = (t < lengths)[:, None]
                c = tf.where(alive, new, c)
                h = tf.where(alive, tf.sigmoid(o) * tf.tanh(new), h)
                outputs = outputs.write(t, h)
            return {'outputs': tf.transpose(outputs.stack(), [1, 0, 2]), 'state': c}

    cell = Cell()
    saving.module(cell, cell.call)
    saving.call(x=floats(2, 4, 2), lengths=np.int32([4, 2]))


@model
def module_beam_search(saving):
    class Beam(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.Variable(floats(5, 5))

        @tf.function(input_signature=[spec([], tf.int32, 'start'), spec([], tf.int32, 'steps')])
        def call(self, start, steps):
            scores = tf.constant([0., -1e9, -1e9])
            beams = tf.fill([3, 1], start)
            for _ in tf.range(steps):
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(beams, tf.TensorShape([3, None])), (scores, tf.TensorShape([3]))])
                logits = tf.nn.log_softmax(tf.gather(self.table, beams[:, -1]))
                scores, at = tf.math.top_k(tf.reshape(scores[:, None] + logits, [-1]), 3)
                beams = tf.concat([tf.gather(beams, at // 5), (at % 5)[:, None]], 1)
                beams = tf.ensure_shape(beams, [3, None])
                scores = tf.ensure_shape(scores, [3])
            return {'beams': beams, 'scores': scores}

    beam = Beam()
    saving.module(beam, beam.call)
    saving.call(start=np.int32(2), steps=np.int32(4))


@model
def module_greedy_decoding(saving):
    class Greedy(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.Variable(floats(6, 6))

        @tf.function(input_signature=[spec([None, None], tf.int32, 'prompt'), spec([], tf.int32, 'count')])
        def call(self, prompt, count):
            def step(tokens):
                logits = tf.gather(self.table, tokens[:, -1])
                return [tf.concat([tokens, tf.argmax(logits, -1, tf.int32)[:, None]], 1)]

            wanted = tf.shape(prompt)[1] + count
            return tf.while_loop(lambda tokens: tf.shape(tokens)[1] < wanted, step, [prompt],
                                 [tf.TensorShape([None, None])])[0]

    greedy = Greedy()
    saving.module(greedy, greedy.call)
    saving.call(prompt=np.int32([[1, 2], [3, 0]]), count=np.int32(5))


@model
def module_parse_example(saving):
    class Parsing(tf.Module):
        @tf.function(input_signature=[spec([None], tf.string, 'examples')])
        def call(self, examples):
            parsed = tf.io.parse_example(examples, {
                'x': tf.io.FixedLenFeature([2], tf.float32), 'id': tf.io.FixedLenFeature([], tf.int64, 7),
                'tags': tf.io.VarLenFeature(tf.string)})
            return {'x': parsed['x'], 'id': parsed['id'], 'tags': tf.sparse.to_dense(parsed['tags'], '')}

    def example(x, tags, number=None):
        feature = {'x': tf.train.Feature(float_list=tf.train.FloatList(value=x)),
                   'tags': tf.train.Feature(bytes_list=tf.train.BytesList(value=tags))}
        if number is not None:
            feature['id'] = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    parsing = Parsing()
    saving.module(parsing, parsing.call)
    saving.call(examples=np.array([example([1, 2], [b'a', b'b'], 5), example([3, 4], [])], object))


@model
def module_decode_image(saving):
    class Decoding(tf.Module):
        @tf.function(input_signature=[spec([None], tf.string, 'files')])
        def call(self, files):
            decode = lambda file: tf.cast(tf.ensure_shape(tf.io.decode_png(file, 3), [4, 5, 3]), tf.float32) / 255.
            return tf.map_fn(decode, files, fn_output_signature=tf.float32)

    decoding = Decoding()
    saving.module(decoding, decoding.call)
    files = [tf.io.encode_png(integers(256, 4, 5, 3, seed=i, dtype='uint8')).numpy() for i in range(2)]
    saving.call(files=np.array(files, object))


# --- Keras 3 ---


def exported(saving, made, *calls):
    """Calls are values of the only input, or dictionaries."""
    made.export(saving.path, verbose=False)
    for values in calls:
        saving.call('serving_default', **values) if isinstance(values, dict) else saving.call('serving_default', values)


@model
def keras_dense(saving):
    exported(saving, keras.Sequential([L.Input((4,)), L.Dense(8, activation='relu'), L.BatchNormalization(),
                                       L.Dropout(.3), L.Dense(3, activation='softmax')]), floats(2, 4))


@model
def keras_saved_by_tensorflow(saving):
    made = keras.Sequential([L.Input((4,)), L.Dense(8, activation='gelu'), L.Dense(2)])
    tf.saved_model.save(made, saving.path)
    saving.call('serving_default', floats(2, 4))


@model
def keras_branches(saving):
    a, b = L.Input((3,), name='a'), L.Input((4,), name='b')
    x = L.Concatenate()([L.Dense(4, activation='tanh')(a), L.Dense(4, activation='sigmoid')(b)])
    exported(saving, keras.Model([a, b], [L.Dense(1, name='score')(x), L.Multiply(name='both')([x, x])]),
             {'a': floats(2, 3), 'b': floats(2, 4)})


@model
def keras_convolutions(saving):
    exported(saving, keras.Sequential([
        L.Input((12, 12, 3)), L.Conv2D(4, 3, padding='same', activation='relu'), L.MaxPooling2D(),
        L.DepthwiseConv2D(3, padding='same'), L.SeparableConv2D(6, 3, dilation_rate=2), L.AveragePooling2D(2),
        L.Flatten(), L.Dense(5)]), floats(2, 12, 12, 3))


@model
def keras_convolutions_1d_3d(saving):
    x, y = L.Input((8, 3), name='x'), L.Input((4, 5, 6, 2), name='y')
    a = L.GlobalMaxPooling1D()(L.Conv1D(4, 3, strides=2, padding='causal')(x))
    b = L.GlobalAveragePooling3D()(L.MaxPooling3D(2)(L.Conv3D(4, 2, activation='relu')(y)))
    exported(saving, keras.Model([x, y], L.Add()([a, b])), {'x': floats(2, 8, 3), 'y': floats(2, 4, 5, 6, 2)})


@model
def keras_unet(saving):
    x = L.Input((None, None, 2))
    a = L.Conv2D(4, 3, padding='same', activation='relu')(x)
    b = L.Conv2D(8, 3, strides=2, padding='same', activation='relu')(a)
    c = L.Conv2DTranspose(4, 3, strides=2, padding='same')(b)
    d = L.UpSampling2D(2)(b)
    exported(saving, keras.Model(x, L.Conv2D(1, 1, activation='sigmoid')(L.Concatenate()([a, c, d]))),
             floats(1, 8, 8, 2))


@model
def keras_residual_group_norm(saving):
    x = L.Input((6, 6, 4))
    y = L.GroupNormalization(2)(x)
    y = L.Conv2D(4, 3, padding='same', kernel_regularizer='l2')(L.Activation('swish')(y))
    y = L.UnitNormalization()(L.LayerNormalization()(L.Add()([x, y])))
    exported(saving, keras.Model(x, L.GlobalAveragePooling2D(keepdims=True)(y)), floats(2, 6, 6, 4))


@model
def keras_lstm(saving):
    exported(saving, keras.Sequential([L.Input((None, 3)), L.LSTM(4, return_sequences=True), L.LSTM(2)]),
             floats(2, 5, 3))


@model
def keras_gru_masked(saving):
    exported(saving, keras.Sequential([L.Input((None,), dtype='int32'), L.Embedding(10, 4, mask_zero=True),
                                       L.Bidirectional(L.GRU(3, return_sequences=True)), L.GRU(2), L.Dense(1)]),
             np.int32([[1, 2, 3, 0], [4, 0, 0, 0]]))


@model
def keras_rnn_states(saving):
    x = L.Input((5, 2), name='x')
    y, h, c = L.LSTM(3, return_sequences=True, return_state=True)(x)
    z = L.RNN(L.StackedRNNCells([L.GRUCell(3), L.SimpleRNNCell(2)]))(y, initial_state=None)
    exported(saving, keras.Model(x, {'y': y, 'h': h, 'c': c, 'z': z}), floats(2, 5, 2))


@model
def keras_conv_lstm(saving):
    exported(saving, keras.Sequential([L.Input((3, 5, 5, 1)), L.ConvLSTM2D(2, 3, padding='same')]),
             floats(2, 3, 5, 5, 1))


@model
def keras_attention(saving):
    x = L.Input((None, 8), name='x')
    y = L.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    y = L.LayerNormalization(epsilon=1e-6)(L.Add()([x, y]))
    z = L.Dense(8)(L.Dense(16, activation='gelu')(y))
    exported(saving, keras.Model(x, L.GlobalAveragePooling1D()(L.Add()([y, z]))), floats(2, 5, 8))


@model
def keras_grouped_attention(saving):
    x = L.Input((4, 8), name='x')
    y = L.GroupQueryAttention(4, 4, 2)(x, x)
    exported(saving, keras.Model(x, L.AdditiveAttention()([y, L.Attention(score_mode='concat')([x, y])])),
             floats(2, 4, 8))


@model
def keras_einsum_dense(saving):
    exported(saving, keras.Sequential([L.Input((3, 4)), L.EinsumDense('abc,cde->abde', (None, 2, 5), bias_axes='de'),
                                       L.Reshape((3, 10)), L.Permute((2, 1)), L.ZeroPadding1D(1), L.Cropping1D(1)]),
             floats(2, 3, 4))


@model
def keras_text_vectorization(saving):
    texts = ['the cat sat', 'on the mat', 'the dog']
    layer = L.TextVectorization(output_sequence_length=5)
    layer.adapt(texts)
    exported(saving, keras.Sequential([L.Input((), dtype='string'), layer, L.Embedding(20, 3),
                                       L.GlobalAveragePooling1D(), L.Dense(2)]),
             np.array(['The cat, the DOG!', 'unknown mat'], object))


@model
def keras_text_features(saving):
    texts = ['the cat sat', 'on the mat', 'the dog']
    counted = L.TextVectorization(output_mode='tf_idf', ngrams=2)
    counted.adapt(texts)
    multi = L.TextVectorization(output_mode='multi_hot', split='character', standardize='strip_punctuation')
    multi.adapt(texts)
    x = L.Input((), dtype='string', name='text')
    exported(saving, keras.Model(x, {'idf': counted(x), 'hot': multi(x)}), np.array(['the cat the', 'dog'], object))


@model
def keras_string_lookup(saving):
    x, y = L.Input((3,), dtype='string', name='x'), L.Input((2,), dtype='int64', name='y')
    exported(saving, keras.Model([x, y], {
        'ids': L.StringLookup(vocabulary=['a', 'b', 'c'])(x),
        'hot': L.StringLookup(vocabulary=['a', 'b', 'c'], output_mode='multi_hot', num_oov_indices=2)(x),
        'numbers': L.IntegerLookup(vocabulary=[12, 36, 1138])(y),
        'counts': L.IntegerLookup(vocabulary=[12, 36], output_mode='count')(y)}),
             {'x': np.array([['a', 'z', 'c'], ['b', 'b', 'y']], object), 'y': np.int64([[12, 5], [36, 36]])})


@model
def keras_inverse_lookup(saving):
    x = L.Input((3,), dtype='int64', name='x')
    exported(saving, keras.Model(x, L.StringLookup(vocabulary=['a', 'b'], invert=True)(x)), np.int64([[0, 1, 2], [2, 2, 9]]))


@model
def keras_preprocessing(saving):
    x, n = L.Input((3,), name='x'), L.Input((1,), dtype='string', name='n')
    normalization = L.Normalization()
    normalization.adapt(floats(20, 3) * 3 + 1)
    crossed = L.HashedCrossing(8, output_mode='one_hot')((n, n))
    exported(saving, keras.Model([x, n], {
        'normal': normalization(x), 'bins': L.Discretization([-1., 0., 1.])(x),
        'hot': L.Discretization([-1., 0., 1.], output_mode='count')(x), 'hashed': L.Hashing(7)(n),
        'salted': L.Hashing(7, salt=[3, 4])(n), 'crossed': crossed}),
             {'x': floats(2, 3), 'n': np.array([['a'], ['bc']], object)})


@model
def keras_category_encoding(saving):
    x = L.Input((3,), dtype='int32', name='x')
    exported(saving, keras.Model(x, {mode: L.CategoryEncoding(5, output_mode=mode)(x) for mode in ('multi_hot', 'count')}),
             np.int32([[0, 1, 1], [4, 4, 2]]))


@model
def keras_image_preprocessing(saving):
    exported(saving, keras.Sequential([L.Input((None, None, 3)), L.Resizing(8, 8), L.Rescaling(1 / 127.5, -1),
                                       L.CenterCrop(6, 6), L.RandomFlip(), L.Conv2D(2, 3)]),
             integers(256, 1, 10, 12, 3).astype('float32'))


@model
def keras_ops(saving):
    x = L.Input((4, 3))
    y = keras.ops.softmax(keras.ops.matmul(x, keras.ops.transpose(x, (0, 2, 1))) / 2., axis=-1)
    y = keras.ops.concatenate([y, keras.ops.where(x > 0, x, keras.ops.square(x))], axis=-1)
    exported(saving, keras.Model(x, {'y': keras.ops.logsumexp(y, axis=1), 'norm': keras.ops.norm(y, axis=-1),
                                     'top': keras.ops.top_k(y, 2)[0], 'cumulated': keras.ops.cumsum(x, axis=1)}),
             floats(2, 4, 3))


@model
def keras_subclass(saving):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = L.Dense(4)
            self.norm = L.BatchNormalization()

        def call(self, x, training=False):
            for _ in range(3):
                x = x + self.norm(self.first(x), training=training)
            return x

    net = Net()
    net(floats(2, 4))
    exported(saving, net, floats(3, 4))


@model
def keras_export_archive(saving):
    made = keras.Sequential([L.Input((3,)), L.Dense(2)])
    archive = keras.export.ExportArchive()
    archive.track(made)
    archive.add_endpoint('score', lambda x: {'score': tf.nn.softmax(made(x))}, [spec([None, 3], tf.float32, 'x')])
    archive.add_endpoint('raw', lambda x: {'logits': made(x)}, [spec([None, 3], tf.float32, 'x')])
    archive.write_out(saving.path, verbose=False)
    saving.call('score', x=floats(2, 3))
    saving.call('raw', x=floats(2, 3))


@model
def keras_trained_before(saving):
    made = keras.Sequential([L.Input((3,)), L.Dense(4, activation='relu'), L.BatchNormalization(), L.Dense(1)])
    made.compile('adam', 'mse')
    made.fit(floats(32, 3), floats(32, 1), epochs=2, verbose=0)
    exported(saving, made, floats(2, 3))


@model
def keras_mixed_precision(saving):
    policy = keras.mixed_precision.Policy('mixed_bfloat16')
    exported(saving, keras.Sequential([L.Input((4,)), L.Dense(8, activation='relu', dtype=policy),
                                       L.Dense(2, dtype='float32')]), floats(2, 4))


@model
def keras_application(saving):
    exported(saving, keras.applications.MobileNetV2((32, 32, 3), .35, weights=None, classes=4), floats(1, 32, 32, 3))


@model
def keras_spectral_weight_norm(saving):
    exported(saving, keras.Sequential([L.Input((3,)), L.SpectralNormalization(L.Dense(4)), L.LeakyReLU(),
                                       L.Dense(2), L.PReLU(), L.ELU(), L.Softmax()]), floats(2, 3))


# --- Keras 2 ---

if tf_keras:
    L2 = tf_keras.layers

    def saved_keras2(saving, made, *calls, **options):
        made.save(saving.path, save_format='tf', **options)
        for values in calls:
            saving.call('serving_default', **values) if isinstance(values, dict) else saving.call('serving_default', values)

    @model
    def keras2_dense_compiled(saving):
        made = tf_keras.Sequential([L2.Dense(4, activation='relu', input_shape=(3,)), L2.Dropout(.5), L2.Dense(2)])
        made.compile('adam', 'mse')
        made.fit(floats(16, 3), floats(16, 2), verbose=0)
        saved_keras2(saving, made, floats(2, 3))

    @model
    def keras2_convolutions(saving):
        saved_keras2(saving, tf_keras.Sequential([
            L2.Conv2D(4, 3, input_shape=(8, 8, 2)), L2.BatchNormalization(), L2.ReLU(6.), L2.MaxPool2D(),
            L2.SeparableConv2D(3, 2), L2.GlobalAveragePooling2D(), L2.Dense(2, activation='softmax')]), floats(2, 8, 8, 2))

    @model
    def keras2_lstm_bidirectional(saving):
        saved_keras2(saving, tf_keras.Sequential([
            L2.Embedding(10, 4, mask_zero=True, input_shape=(None,)), L2.Bidirectional(L2.LSTM(3, return_sequences=True)),
            L2.LSTM(2)]), np.float32([[1, 2, 3, 0], [4, 0, 0, 0]]))

    @model
    def keras2_gru_stateful(saving):
        made = tf_keras.Sequential([L2.GRU(3, stateful=True, batch_input_shape=(2, 4, 2)), L2.Dense(1)])
        saved_keras2(saving, made, floats(2, 4, 2), floats(2, 4, 2, seed=2))

    @model
    def keras2_text_vectorization(saving):
        layer = L2.TextVectorization(output_sequence_length=4)
        layer.adapt(['the cat sat', 'on the mat'])
        saved_keras2(saving, tf_keras.Sequential([tf_keras.Input((1,), dtype='string'), layer, L2.Embedding(10, 2),
                                                  L2.GlobalAveragePooling1D(), L2.Dense(1)]),
                     np.array([['The cat'], ['a mat!']], object))

    @model
    def keras2_lookup_and_normalization(saving):
        normalization = L2.Normalization()
        normalization.adapt(floats(10, 2))
        a, b = tf_keras.Input((2,), name='a'), tf_keras.Input((1,), dtype='string', name='b')
        ids = L2.StringLookup(vocabulary=['x', 'y'], output_mode='one_hot')(b)
        saved_keras2(saving, tf_keras.Model([a, b], L2.Dense(2)(L2.concatenate([normalization(a), ids]))),
                     {'a': floats(2, 2), 'b': np.array([['y'], ['?']], object)})

    @model
    def keras2_attention(saving):
        x = tf_keras.Input((4, 6))
        y = L2.LayerNormalization()(x + L2.MultiHeadAttention(2, 3)(x, x))
        saved_keras2(saving, tf_keras.Model(x, L2.Conv1D(2, 2)(L2.Attention()([y, x]))), floats(2, 4, 6))

    @model
    def keras2_functional_ops(saving):
        x = tf_keras.Input((3,))
        y = tf.concat([tf.nn.relu(x), tf.sin(x)[:, :2]], -1)
        saved_keras2(saving, tf_keras.Model(x, L2.Lambda(lambda v: tf.reduce_sum(v, -1, keepdims=True) * 2.)(y)),
                     floats(2, 3))

    @model
    def keras2_custom_train_step(saving):
        class Trained(tf.Module):
            def __init__(self):
                super().__init__()
                self.model = tf_keras.Sequential([L2.Dense(3, activation='tanh', input_shape=(2,)), L2.Dense(1)])
                self.optimizer = tf_keras.optimizers.Adam(.05)
                self.optimizer.build(self.model.trainable_variables)
                self.loss = tf_keras.losses.BinaryCrossentropy(from_logits=True)

            @tf.function(input_signature=[spec([None, 2], tf.float32, 'x'), spec([None, 1], tf.float32, 't')])
            def train(self, x, t):
                with tf.GradientTape() as tape:
                    loss = self.loss(t, self.model(x, training=True))
                self.optimizer.minimize(loss, self.model.trainable_variables, tape)
                return {'loss': loss}

        trained = Trained()
        saving.module(trained, {'train': trained.train})
        for seed in range(3):
            saving.call('train', x=floats(4, 2, seed=seed), t=integers(2, 4, 1, seed=seed).astype('float32'))

    @model
    def keras2_legacy_optimizer(saving):
        class Trained(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(floats(2, 1))
                self.optimizer = tf_keras.optimizers.legacy.RMSprop(.05, momentum=.9)
                self.optimizer._create_all_weights([self.w])

            @tf.function(input_signature=[spec([None, 2], tf.float32, 'x')])
            def train(self, x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((x @ self.w - 1.) ** 2)
                self.optimizer.apply_gradients([(tape.gradient(loss, self.w), self.w)])
                return {'loss': loss}

        trained = Trained()
        saving.module(trained, {'train': trained.train})
        for seed in range(3):
            saving.call('train', x=floats(4, 2, seed=seed))


# --- TensorFlow 1 ---


class V1:
    """A graph and a session in which a model is made and saved."""

    def __init__(self, saving, resources=False):
        self.saving = saving
        self.graph = tf.Graph()
        self.resources = resources

    def __enter__(self):
        self.scope = self.graph.as_default()
        self.scope.__enter__()
        v1.set_random_seed(5)
        self.session = v1.Session()
        return self

    def __exit__(self, *error):
        self.session.close()
        self.scope.__exit__(*error)

    def save(self, signatures, main_op=None, as_text=False, **options):
        """`signatures` has inputs and outputs by the names of signatures."""
        self.session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        self.write(signatures, main_op, as_text, **options)

    def write(self, signatures, main_op=None, as_text=False, **options):
        builder = v1.saved_model.Builder(self.saving.path)
        made = {name: v1.saved_model.predict_signature_def(inputs, outputs) for name, (inputs, outputs) in signatures.items()}
        builder.add_meta_graph_and_variables(self.session, ['serve'], made, main_op=main_op, **options)
        builder.save(as_text)


@model
def v1_variables(saving):
    with V1(saving) as made:
        x = v1.placeholder(tf.float32, [None, 3], 'x')
        w = v1.get_variable('w', initializer=floats(3, 2), use_resource=False)
        b = v1.get_variable('b', initializer=floats(2), use_resource=True)
        made.save({'serving_default': ({'x': x}, {'y': tf.tanh(x @ w + b)})})
    saving.call(x=floats(2, 3))


@model
def v1_text_format(saving):
    with V1(saving) as made:
        x = v1.placeholder(tf.float32, [None, 3], 'x')
        w = v1.get_variable('w', initializer=floats(3, 2))
        made.save({'serving_default': ({'x': x}, {'y': x @ w})}, as_text=True)
    saving.call(x=floats(2, 3))


@model
def v1_training_signature(saving):
    with V1(saving) as made:
        x, t = v1.placeholder(tf.float32, [None, 3], 'x'), v1.placeholder(tf.float32, [None, 1], 't')
        hidden = tf.nn.relu(x @ v1.get_variable('w', initializer=floats(3, 4)) + v1.get_variable('b', [4]))
        y = hidden @ v1.get_variable('v', initializer=floats(4, 1))
        loss = tf.reduce_mean((y - t) ** 2)
        step = v1.train.get_or_create_global_step()
        rate = v1.train.exponential_decay(.05, step, 2, .5, staircase=True)
        with tf.control_dependencies([v1.train.AdamOptimizer(rate).minimize(loss, step)]):
            after = tf.identity(step)
        made.save({'serving_default': ({'x': x}, {'y': y}), 'train': ({'x': x, 't': t}, {'step': after})})
    saving.call(x=floats(2, 3))
    for seed in range(4):
        saving.call('train', x=floats(8, 3, seed=seed), t=floats(8, 1, seed=seed + 50))
    saving.call(x=floats(2, 3))


@model
def v1_layers(saving):
    with V1(saving) as made:
        x = v1.placeholder(tf.float32, [None, 8, 8, 1], 'x')
        w = v1.get_variable('conv', initializer=floats(3, 3, 1, 4) / 3)
        y = tf.nn.bias_add(tf.nn.conv2d(x, w, 1, 'SAME'), v1.get_variable('bias', [4]))
        scale, offset = v1.get_variable('gamma', [4]), v1.get_variable('beta', [4])
        y = v1.nn.fused_batch_norm(y, scale, offset, tf.zeros([4]), tf.ones([4]), is_training=False)[0]
        y = v1.nn.max_pool(tf.nn.relu(y), [1, 2, 2, 1], [1, 2, 2, 1], 'VALID')
        y = tf.reshape(y, [-1, 64]) @ v1.get_variable('dense', initializer=floats(64, 3) / 8)
        made.save({'serving_default': ({'image': x}, {'classes': tf.argmax(y, 1), 'probabilities': tf.nn.softmax(y)})})
    saving.call(image=floats(2, 8, 8, 1))


@model
def v1_table_with_asset(saving):
    path = saving.folder / 'labels.txt'
    path.write_text('cat\ndog\nbird\n')
    with V1(saving) as made:
        file = tf.constant(str(path))
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, file)
        init = tf.lookup.TextFileInitializer(file, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string,
                                             tf.lookup.TextFileIndex.WHOLE_LINE)
        table = tf.lookup.StaticHashTable(init, 'unknown')
        x = v1.placeholder(tf.float32, [None, 3], 'x')
        label = table.lookup(tf.argmax(x, 1))
        made.session.run(v1.tables_initializer())
        made.write({'serving_default': ({'x': x}, {'label': label})}, main_op=v1.tables_initializer(),
                   assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS))
    saving.call(x=floats(4, 3))


@model
def v1_control_flow(saving):
    with V1(saving) as made:
        v1.disable_control_flow_v2()
        x, n = v1.placeholder(tf.float32, [None], 'x'), v1.placeholder(tf.int32, [], 'n')
        w = v1.get_variable('w', initializer=floats(1)[0])
        y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, v1.cond(tf.reduce_sum(y) > 0, lambda: y * w, lambda: y + 1.)),
                          [0, x])[1]
        slope = tf.gradients(y, x)[0]
        made.save({'serving_default': ({'x': x, 'n': n}, {'y': y, 'slope': slope})})
        v1.enable_control_flow_v2()
    for n in (0, 3):
        saving.call(x=floats(3), n=np.int32(n))


@model
def v1_partitioned(saving):
    with V1(saving) as made:
        with v1.variable_scope('table', partitioner=v1.fixed_size_partitioner(3)):
            rows = lambda shape, dtype, partition_info: tf.constant(floats(7, 2)[partition_info.var_offset[0]:][:shape[0]])
            table = v1.get_variable('embedding', [7, 2], initializer=rows, use_resource=False)
        ids = v1.placeholder(tf.int64, [None], 'ids')
        made.save({'serving_default': ({'ids': ids}, {'rows': v1.nn.embedding_lookup(list(table), ids, partition_strategy='div')})})
    saving.call(ids=np.int64([0, 6, 3, 2]))


@model
def v1_local_init_op(saving):
    with V1(saving) as made:
        x = v1.placeholder(tf.float32, [None], 'x')
        calls = v1.get_variable('calls', initializer=10., collections=[v1.GraphKeys.LOCAL_VARIABLES], trainable=False,
                                use_resource=True)
        w = v1.get_variable('w', initializer=3.)
        with tf.control_dependencies([v1.assign_add(calls, 1.)]):
            y = x * w + calls.read_value()
        made.save({'serving_default': ({'x': x}, {'y': y})}, main_op=v1.local_variables_initializer())
    saving.call(x=floats(2))
    saving.call(x=floats(2))


@model
def v1_estimator_style(saving):
    """A classifier over feature columns made by hand: serialized examples in, classes and scores out."""
    with V1(saving) as made:
        examples = v1.placeholder(tf.string, [None], 'examples')
        parsed = v1.parse_example(examples, {'age': tf.io.FixedLenFeature([1], tf.float32),
                                             'job': tf.io.FixedLenFeature([1], tf.string, '')})
        table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], np.int64([0, 1])), 1)
        hot = tf.one_hot(table.lookup(parsed['job'][:, 0]), 3)
        logits = tf.concat([parsed['age'] / 50., hot], 1) @ v1.get_variable('w', initializer=floats(4, 2))
        classes = tf.tile(tf.constant([['no', 'yes']]), [tf.shape(logits)[0], 1])
        made.session.run(v1.tables_initializer())
        made.session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(saving.path)
        scores = tf.nn.softmax(logits)
        builder.add_meta_graph_and_variables(made.session, ['serve'], {
            'serving_default': v1.saved_model.classification_signature_def(examples, classes, scores),
            'regression': v1.saved_model.regression_signature_def(examples, scores[:, 0])}, main_op=v1.tables_initializer())
        builder.save()

    def example(age, job):
        return tf.train.Example(features=tf.train.Features(feature={
            'age': tf.train.Feature(float_list=tf.train.FloatList(value=[age])),
            'job': tf.train.Feature(bytes_list=tf.train.BytesList(value=[job]))})).SerializeToString()

    for signature in ('serving_default', 'regression'):
        saving.call(signature, np.array([example(20., b'b'), example(60., b'c')], object))


@model
def v1_several_meta_graphs(saving):
    with V1(saving) as made:
        x = v1.placeholder(tf.float32, [None], 'x')
        y = x * v1.get_variable('w', initializer=2.)
        made.session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(saving.path)
        signature = v1.saved_model.predict_signature_def({'x': x}, {'y': y})
        builder.add_meta_graph_and_variables(made.session, ['serve'], {'serving_default': signature})
        builder.add_meta_graph(['serve', 'gpu'], {'serving_default': signature})
        builder.save()
    saving.call(x=floats(3))


@model
def v1_resource_functions(saving):
    with V1(saving) as made:
        w = v1.get_variable('w', initializer=floats(2, 2), use_resource=True)
        inner = tf.function(lambda x: tf.tanh(x @ w))
        x = v1.placeholder(tf.float32, [None, 2], 'x')
        y = v1.cond(tf.reduce_sum(x) > 0, lambda: inner(x), lambda: inner(inner(x)))
        made.save({'serving_default': ({'x': x}, {'y': y})})
    saving.call(x=np.abs(floats(2, 2)))
    saving.call(x=-np.abs(floats(2, 2)))


if __name__ == '__main__':
    recorder.run('saved_models', MODELS, record)
