"""Writes the SavedModels of tests/data/models/saved_models: small, and each with another way to be initialised."""
import pathlib
import shutil
import tempfile

import environment  # noqa: F401
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / 'tests/data/models/saved_models'
v1 = tf.compat.v1


def signature(x, y):
    return v1.saved_model.signature_def_utils.predict_signature_def({'x': x}, {'y': y})


def line(use_resource):
    """y = 2 x + 1 + counter, and the operation that sets the counter to 10."""
    x = v1.placeholder(tf.float32, [None], name='x')
    a = v1.get_variable('a', initializer=2.0, use_resource=use_resource)
    b = v1.get_variable('b', initializer=[1.0], use_resource=use_resource)
    counter = v1.get_variable('counter', initializer=0.0, use_resource=use_resource, collections=['counters'])
    y = tf.add(a * x + b, counter, name='y')
    return x, y, v1.assign(counter, 10.0, name='set_counter')


def export(name, build, as_text=False, more_tags=None):
    builder = v1.saved_model.Builder(str(MODELS / name))
    with tf.Graph().as_default(), v1.Session() as session:
        arguments = build()
        session.run(v1.global_variables_initializer())
        builder.add_meta_graph_and_variables(session, ['serve'], **arguments)
        if more_tags:
            builder.add_meta_graph(more_tags)
        builder.save(as_text=as_text)


def main_op():
    """Reference variables, an asset, and an initialising operation in the signatures."""
    x, y, init = line(use_resource=False)
    with tempfile.NamedTemporaryFile('w', prefix='words', delete=False) as file:
        words = pathlib.Path(file.name).with_name('words.txt')
        pathlib.Path(file.name).rename(words)
    words.write_text('one\ntwo\n')
    asset = tf.constant(str(words), name='asset')
    v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, asset)
    kept = v1.get_variable('asset_path', initializer='', use_resource=False, collections=['paths'])
    with tf.control_dependencies([v1.assign(kept, asset)]):
        both = tf.group(init, name='both')
    tf.identity(kept, name='path')
    return {'signature_def_map': {'serving_default': signature(x, y)}, 'main_op': both,
            'assets_collection': v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS)}


def legacy_init_op():
    """Resource variables, an old collection for the initialising operation, and nodes that no signature needs."""
    x, y, init = line(use_resource=True)
    reader = tf.raw_ops.WholeFileReaderV2()
    tf.raw_ops.ReaderNumRecordsProducedV2(reader_handle=reader, name='records_read')
    v1.add_to_collection('legacy_init_op', init)
    return {'signature_def_map': {'serving_default': signature(x, y)}}


def without_variables():
    x = v1.placeholder(tf.float32, [None], name='x')
    return {'signature_def_map': {'serving_default': signature(x, tf.multiply(x, 3.0, name='y'))}}


def export_without_variables():
    builder = v1.saved_model.Builder(str(MODELS / 'without_variables'))
    with tf.Graph().as_default(), v1.Session() as session:
        builder.add_meta_graph_and_variables(session, ['serve'], **without_variables())
        builder.save()


class Module(tf.Module):
    """A loop in a function, a variable of an object, and an asset."""

    def __init__(self, asset):
        super().__init__()
        self.weights = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        self.path = tf.saved_model.Asset(asset)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name='x')])
    def power(self, x):
        for _ in tf.range(3):
            x = tf.matmul(x, self.weights)
        return {'y': x, 'path': tf.identity(self.path.asset_path)}


def module():
    with tempfile.TemporaryDirectory() as folder:
        asset = pathlib.Path(folder) / 'words.txt'
        asset.write_text('one\ntwo\n')
        made = Module(str(asset))
        tf.saved_model.save(made, str(MODELS / 'module'), signatures={'serving_default': made.power})


if __name__ == '__main__':
    shutil.rmtree(MODELS, ignore_errors=True)
    v1.disable_resource_variables()
    export('main_op', main_op, more_tags=['serve', 'train'])
    export('legacy_init_op', legacy_init_op)
    export('text', legacy_init_op, as_text=True)
    export_without_variables()
    module()
    for path in MODELS.rglob('fingerprint.pb'):
        path.unlink()
