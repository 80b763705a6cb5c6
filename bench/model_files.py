"""Makes the files of whole-models.mjs: the networks of networks.py, as each engine reads them, and TensorFlow's answers.

`python3 bench/model_files.py [words]` makes the models whose names contain one of the words; all by default. Each has a folder
in the user's cache folder, tfcore-wasm/bench-models, which is made again when these scripts change:

    graph.pb        the frozen graph
    model.tflite    by TensorFlow's converter: float32, TFLite's own ops
    model.onnx      by tf2onnx
    tfjs/           by tensorflowjs_converter
    data.bin        the inputs, then the outputs that TensorFlow computes
    model.json      names, shapes and places of these, and why a file is missing

The last line of the output is a list of these folders, as JSON.
"""
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests' / 'oracle'))
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import environment  # noqa: E402, F401

CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'tfcore-wasm'
PACKAGES = ['onnx==1.23.2', 'tensorflowjs==4.22.0', 'tf2onnx==1.17.0', 'tf_keras==2.21.0']
OPSET = 18


def import_packages():
    """Converters and Keras 2, without what they require: it includes other versions of TensorFlow."""
    folder = CACHE / 'bench-packages'
    stamp = folder / 'installed.txt'
    if not stamp.exists() or stamp.read_text() != str(PACKAGES):
        shutil.rmtree(folder, ignore_errors=True)
        pip = [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps', '--target', str(folder)]
        subprocess.run([*pip, *PACKAGES], check=True)
        stamp.write_text(str(PACKAGES))
    sys.path.append(str(folder))


def stand_in_for_packages():
    """Modules that converters import for models that are not made here."""
    for name in ['tensorflow_decision_forests', 'tensorflow_hub', 'jax', 'jax.experimental', 'jax.experimental.jax2tf']:
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules['jax.experimental'].jax2tf = sys.modules['jax.experimental.jax2tf']


import_packages()
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from networks import MODELS, begin  # noqa: E402
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402


def write_tflite(folder, function, concrete, **_):
    model = tf.Module()
    model.function, model.kept = function, list(concrete.graph.variables)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], model)
    (folder / 'model.tflite').write_bytes(converter.convert())


def write_onnx(folder, with_functions, inputs, outputs, **_):
    import tf2onnx
    model, _ = tf2onnx.convert.from_graph_def(
        with_functions, input_names=[f'{name}:0' for name in inputs], output_names=outputs, opset=OPSET)
    (folder / 'model.onnx').write_bytes(model.SerializeToString())


def flatten_biases(graph):
    """Keras 3 writes batch norms as products and sums with constants [1, 1, 1, n]; tfjs fuses a bias [n] only."""
    constants = {node.name: node for node in graph.node if node.op == 'Const'}
    for node in graph.node:
        if node.op in ['_FusedConv2D', '_FusedMatMul'] and node.input[2] in constants:
            del constants[node.input[2]].attr['value'].tensor.tensor_shape.dim[:-1]


def write_tfjs(folder, graph, outputs, **_):
    from tensorflowjs.converters import tf_saved_model_conversion_v2 as converter
    names = ','.join(name.split(':')[0] for name in outputs)
    has_loops = any(node.op == 'Enter' for node in graph.node)
    optimize = converter._run_grappler

    def optimize_for_tfjs(config, *arguments):
        rewrites = config.graph_options.rewrite_options
        if has_loops:  # there 'remap' fuses sums of products into one, which tfjs refuses
            rewrites.optimizers[:] = [name for name in rewrites.optimizers if name != 'remap']
        optimized = optimize(config, *arguments)
        flatten_biases(optimized)
        return optimized

    converter._run_grappler = optimize_for_tfjs
    try:
        converter.convert_tf_frozen_model(
            str(folder / 'graph.pb'), names, str(folder / 'tfjs'), weight_shard_size_bytes=2 ** 31)
    finally:
        converter._run_grappler = optimize


FORMATS = {'tflite': write_tflite, 'onnx': write_onnx, 'tfjs': write_tfjs}


def describe(data, name, value, stays):
    """Appends an array to the data; its entry in model.json. A value that stays is one that engines may keep in their memory."""
    place = data.tell()
    data.write(np.ascontiguousarray(value).tobytes())
    return {'name': name, 'dtype': str(value.dtype), 'shape': list(value.shape), 'offset': place, 'stays': stays}


def make(name, folder):
    """Writes the files of a model."""
    seed = int.from_bytes(hashlib.sha256(name.split(',')[0].encode()).digest()[:4], 'little')
    begin(seed)
    compute, inputs = MODELS[name]()
    signature = [tf.TensorSpec(value.shape, value.dtype, key) for key, value in inputs.items()]
    function = tf.function(compute, input_signature=signature)
    concrete = function.get_concrete_function()
    answers = [np.asarray(value) for value in tf.nest.flatten(function(*map(tf.constant, inputs.values())))]
    frozen = {lower: convert_variables_to_constants_v2(concrete, lower_control_flow=lower) for lower in [False, True]}
    outputs = [tensor.name for tensor in frozen[True].outputs]
    graph = frozen[not name.endswith('While')].graph.as_graph_def()
    (folder / 'graph.pb').write_bytes(graph.SerializeToString())
    data = io.BytesIO()
    stays = name.endswith('stays')
    about = {
        'name': name,
        'inputs': [describe(data, key, value, stays and key == 'cache') for key, value in inputs.items()],
        'outputs': [describe(data, key, value, stays and i > 0) for i, (key, value) in enumerate(zip(outputs, answers))],
        'missing': {},
    }
    (folder / 'data.bin').write_bytes(data.getvalue())
    made = {'function': function, 'concrete': concrete, 'inputs': inputs, 'outputs': outputs, 'graph': graph,
            'with_functions': frozen[False].graph.as_graph_def()}
    for kind, write in FORMATS.items():
        try:
            write(folder, **made)
        except Exception as error:  # a converter's own failure is a result
            about['missing'][kind] = ' '.join(f'{type(error).__name__}: {error}'.split())[:200]
    (folder / 'model.json').write_text(json.dumps(about, indent=1))
    return about


def main(words):
    stand_in_for_packages()
    scripts = [pathlib.Path(__file__), pathlib.Path(__file__).with_name('networks.py')]
    stamp = hashlib.sha256(b''.join(script.read_bytes() for script in scripts)).hexdigest()
    names = [name for name in MODELS if not words or any(word in name for word in words)]
    folders = ['-'.join(re.findall('[A-Za-z0-9]+', name)) for name in names]
    for name, folder in zip(names, folders):
        place = CACHE / 'bench-models' / folder
        made = place / 'made-by.txt'
        if made.exists() and made.read_text() == stamp:
            continue
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        about = make(name, place)
        made.write_text(stamp)
        print(f'{name}: made', *(f'; no {kind}: {why}' for kind, why in about['missing'].items()), flush=True)
    print(json.dumps([{'name': name, 'folder': folder} for name, folder in zip(names, folders)]))


if __name__ == '__main__':
    main(sys.argv[1:])
