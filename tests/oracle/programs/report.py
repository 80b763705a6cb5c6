"""How the programs of this folder print results: the same line for every server that computes correctly."""
import os
import re

import numpy as np
import tensorflow.compat.v1 as tf


# What a master adds to the words of an error on another task. What it adds, and how often it repeats the words,
# depends on which of its calls to the task ended first.
ADDED = re.compile(r"""
    ([A-Z_]+:[ ])? From[ ]/job:.*: | [A-Z_]+:[ ] | =+ | Additional[ ]GRPC[ ]error[ ]information.* | :UNKNOWN:.*
    | \t[ ]\[\[\w+_S\d+\]\] |
""", re.VERBOSE)
# Of functions one server names the calls in the graph, the other one the nodes of the bodies.
NODES = '\n\t [['


def text(value):
    """Floats have five significant digits and six decimals, which the kernels of both servers guarantee."""
    if isinstance(value, (list, tuple)):
        items = ', '.join(text(item) for item in value)
        name = type(value).__name__ if hasattr(value, '_fields') or isinstance(value, tf.SparseTensorValue) else ''
        return f'{name}({items})' if isinstance(value, tuple) else f'[{items}]'
    if isinstance(value, dict):
        return '{' + ', '.join(f'{key}: {text(item)}' for key, item in sorted(value.items())) + '}'
    if isinstance(value, np.ndarray):
        items = ' '.join(text(item) for item in value.ravel().tolist())
        return f'{value.dtype}{list(value.shape)} {items}'
    if isinstance(value, np.generic):
        return f'{value.dtype} {text(value.item())}'
    if isinstance(value, float):
        return f'{round(value, 6) + 0.0:.5g}'
    if isinstance(value, complex):
        return f'{value.real:.5g}{value.imag:+.5g}j'
    return repr(value)


def show(label, value):
    print(f'{label}: {text(value)}')


def words(message):
    """The lines of an error's message, without what a master adds if the nodes are on another task."""
    if 'DEVICE' not in os.environ:
        return message
    lines = dict.fromkeys(line for line in message.split('\n') if not ADDED.fullmatch(line))
    return '\n'.join(lines)


def fails(label, function, *args, end=None, wording=True, **options):
    """
    Prints the error of a call: its class, and the words that the server sent. They end before
    `end`, if the servers have reasons to differ there. Without `wording` only the class is printed.
    """
    try:
        result = function(*args, **options)
    except tf.errors.OpError as error:
        if not wording:
            print(f'{label}: {type(error).__name__}')
            return
        sent = error.__context__ if isinstance(error.__context__, tf.errors.OpError) else error
        message = words(sent.message)
        print(f'{label}: {type(error).__name__}: {message.split(end)[0] if end else message}')
    except Exception as error:
        print(f'{label}: {type(error).__name__}')
    else:
        print(f'{label}: no error: {text(result)}')
