"""Models as TensorFlow saves them, with what they compute: tests/data/models/saved.

Each folder is a model; saved.json lists calls of their signatures, and losses of training on.
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
ROOT = pathlib.Path(__file__).resolve().parent.parent / 'data/models/saved'
records = {}


def described(value):
    array = np.asarray(value)
    return dict(dtype='string' if array.dtype.kind == 'U' else array.dtype.name, shape=list(array.shape), values=array.ravel().tolist())


def note(model, signature, inputs, outputs):
    records.setdefault(model, dict(calls=[]))['calls'].append(
        dict(signature=signature,
             inputs={name: described(value) for name, value in inputs.items()},
             outputs={name: described(value) for name, value in outputs.items()}))


class Affine(tf.Module):
    """Variables, one of them not trained, and functions that call functions."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1., -2.], [.5, .25], [-1., .75]], name='w')
        self.b = tf.Variable([.5, -.5], name='b')
        self.calls = tf.Variable(0., trainable=False, name='calls')

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name='x')])
    def predict(self, x):
        self.calls.assign_add(1.)
        return {'y': tf.tanh(self.product(x)), 'calls': self.calls.read_value()}

    @tf.function
    def product(self, x):
        return x @ self.w + self.b

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name='x'),
                                  tf.TensorSpec([None, 2], tf.float32, name='t')])
    def loss(self, x, t):
        return {'loss': tf.reduce_mean((tf.tanh(self.product(x)) - t) ** 2)}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name='k')])
    def power(self, k):
        y = tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, y @ tf.transpose(self.w) @ self.w),
                          [0, tf.ones([1, 2])])[1]
        return {'y': tf.cond(k > 2, lambda: y, lambda: -y)}


def module(folder):
    model = Affine()
    x = np.array([[1, 2, 3], [-1, .5, 0]], np.float32)
    t = np.array([[.5, -.5], [0, 1]], np.float32)
    tf.saved_model.save(model, str(folder), signatures=dict(
        serving_default=model.predict, loss=model.loss, power=model.power))
    loaded = tf.saved_model.load(str(folder)).signatures
    note('module', None, dict(x=x), loaded['serving_default'](x=x))
    note('module', 'power', dict(k=np.int32(3)), loaded['power'](k=tf.constant(3)))
    note('module', 'power', dict(k=np.int32(1)), loaded['power'](k=tf.constant(1)))
    losses = []
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = model.loss(x, t)['loss']
        losses.append(float(loss))
        for variable, gradient in zip([model.w, model.b], tape.gradient(loss, [model.w, model.b])):
            variable.assign_sub(.5 * gradient)
    records['module']['training'] = dict(
        signature='loss', output='loss', rate=.5, inputs=dict(x=described(x), t=described(t)), losses=losses,
        trainable=['b', 'w'])


def keras_export(folder):
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([
        tf.keras.Input((6, 6, 1), name='image'),
        tf.keras.layers.Conv2D(3, 3, activation='relu'),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(4, activation='softmax'),
    ])
    model.compile('adam', 'sparse_categorical_crossentropy')
    x = np.random.RandomState(2).rand(8, 6, 6, 1).astype(np.float32)
    model.fit(x, np.arange(8) % 4, epochs=2, verbose=0)
    model.export(str(folder), verbose=False)
    note('keras', None, {'image': x[:2]}, {'output_0': model(x[:2])})


def keras_saved(folder):
    """tf.saved_model.save gives the restore operation copies of the variables of Keras 3's layers."""
    tf.keras.utils.set_random_seed(3)
    model = tf.keras.Sequential([tf.keras.Input((3,), name='x'), tf.keras.layers.Dense(2, activation='tanh')])
    tf.saved_model.save(model, str(folder))
    x = np.array([[1, 2, 3], [-1, .5, 0]], np.float32)
    note('layers', None, dict(inputs=x), {'output_0': model(x)})


def text_form(folder):
    """TensorFlow 1 also writes SavedModels as text."""
    os.chdir(folder)  # the graph has the path of the file
    words = pathlib.Path('words.txt')
    words.write_text('red\ngreen\n')
    with tf.Graph().as_default(), v1.Session() as session:
        path = tf.constant(str(words))
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, path)
        table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
        x = v1.placeholder(tf.string, [None], name='x')
        rows = tf.gather(v1.get_variable('w', initializer=[[1., 2.], [3., 4.], [5., 6.]]), table.lookup(x) + 1)
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        values = np.array(['green', 'blue', 'red'])
        builder = v1.saved_model.Builder('model')
        builder.add_meta_graph_and_variables(
            session, ['serve'], dict(serving_default=v1.saved_model.predict_signature_def(dict(x=x), dict(y=rows))),
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS), main_op=v1.tables_initializer())
        builder.save(as_text=True)
        note('text', None, dict(x=values), dict(y=session.run(rows, {x: values})))
    words.unlink()
    for part in pathlib.Path('model').iterdir():
        part.rename(part.name)
    pathlib.Path('model').rmdir()


def first_version(folder):
    """TensorFlow 1: reference and resource variables, an optimizer, two MetaGraphs, and a main op."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], name='x')
        w = v1.get_variable('w', shape=[3, 2], use_resource=False, initializer=v1.initializers.constant(.25))
        b = v1.get_variable('b', shape=[2], use_resource=True, initializer=v1.initializers.zeros())
        steps = v1.get_variable('steps', shape=[], dtype=tf.int64, trainable=False,
                                initializer=v1.initializers.zeros())
        y = tf.nn.sigmoid(x @ w + b, name='y')
        loss = tf.reduce_mean(y ** 2, name='loss')
        train = v1.train.AdamOptimizer(.1).minimize(loss, name='train', global_step=steps)
        session.run(v1.global_variables_initializer())
        ones = np.ones([2, 3], np.float32)
        for _ in range(3):
            session.run(train, {x: ones})
        values = np.array([[1, 2, 3]], np.float32)
        signature = v1.saved_model.predict_signature_def(dict(x=x), dict(y=y))
        builder = v1.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, ['serve'], signature_def_map=dict(serving_default=signature))
        builder.add_meta_graph(['train'], signature_def_map=dict(
            train=v1.saved_model.predict_signature_def(dict(x=x), dict(loss=loss))))
        builder.save()
        note('first', None, dict(x=values), dict(y=session.run(y, {x: values})))
        checkpoint = ROOT / 'checkpoint'
        shutil.rmtree(checkpoint, ignore_errors=True)
        checkpoint.mkdir()
        v1.train.Saver(save_relative_paths=True).save(session, str(checkpoint / 'model.ckpt'), global_step=steps)
        records['checkpoint'] = dict(calls=[dict(records['first']['calls'][0])], continued=dict(
            feed=described(ones), losses=[float(session.run([loss, train], {x: ones})[0]) for _ in range(4)]))


def main():
    """Writes all models, or that of the name that is given."""
    makers = dict(module=module, keras=keras_export, layers=keras_saved, text=text_form, first=first_version)
    chosen = sys.argv[1:] or list(makers)
    if sys.argv[1:]:
        records.update(json.loads((ROOT / 'saved.json').read_text()))
        for name in chosen:
            records.pop(name, None)
    for name in chosen:
        shutil.rmtree(ROOT / name, ignore_errors=True)
        (ROOT / name).mkdir(parents=True)
        makers[name](ROOT / name)
    for needless in ROOT.rglob('fingerprint.pb'):
        needless.unlink()
    (ROOT / 'saved.json').write_text(json.dumps(records, indent=1) + '\n')


main()
