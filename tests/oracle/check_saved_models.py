"""Opens SavedModels with TensorFlow and calls them: check_saved_models.py calls.json

The file lists { folder, signature, inputs: { name: { dtype, shape, values } } }. Prints, as JSON, a list of
{ outputs: { name: { dtype, shape, values } }, trainable: [names] or null }.
"""
import json
import sys

import environment  # noqa: F401: TensorFlow, or an environment that has it

import numpy as np
import tensorflow as tf


def described(value):
    array = value.numpy()
    return dict(dtype=array.dtype.name, shape=list(array.shape), values=array.ravel().tolist())


def called(folder, signature, inputs):
    model = tf.saved_model.load(folder, tags=['serve'])
    given = {name: tf.constant(np.array(value['values'], value['dtype']).reshape(value['shape']))
             for name, value in inputs.items()}
    outputs = model.signatures[signature](**given)
    variables = getattr(model, 'variables', None)  # TensorFlow 2's objects have names of their own for them
    trainable = variables and sorted(variable.name.split(':')[0] for variable in variables if variable.trainable)
    return dict(outputs={name: described(value) for name, value in outputs.items()}, trainable=trainable)


print(json.dumps([called(**call) for call in json.load(open(sys.argv[1]))]))
