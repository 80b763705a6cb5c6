"""Records of surveys: what TensorFlow computes, in the user's cache folder.

A survey is a script with functions that each make one model. `run` calls those whose record is missing or was
made by another version of the function, and writes FOLDER/NAME/record.json beside the model's files.

    python3 tests/oracle/surveys/saved_models.py [NAME ...]

The names choose models by the beginnings of their names. The tests read all records of the folder.
"""
import base64
import hashlib
import inspect
import json
import os
import pathlib
import shutil
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import environment  # noqa: F401, makes TensorFlow importable

os.environ['CUDA_VISIBLE_DEVICES'] = ''

import numpy as np
import tensorflow as tf

CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'tfcore-wasm/surveys'


def described(value):
    """A value as JSON: strings in base64, complex numbers as pairs, numbers that JSON lacks as strings."""
    array = np.asarray(value, object if isinstance(value, bytes) else None)  # an array of bytes would lose zeros
    kind = array.dtype.kind
    if kind in 'OSU':
        texts = [x if isinstance(x, bytes) else str(x).encode() for x in array.ravel()]
        return dict(dtype='string', shape=list(array.shape), values=[base64.b64encode(x).decode() for x in texts])
    if kind == 'c':
        flat = np.stack([array.real, array.imag], -1)
    else:
        flat = array
    if kind in 'iub':
        values = [int(x) for x in flat.ravel()]
    else:
        values = [float(f'{x:.9g}') if np.isfinite(x) else str(x) for x in flat.astype('float64').ravel()]
    return dict(dtype=array.dtype.name, shape=list(array.shape), values=values)


def named(values):
    return {name: described(value) for name, value in values.items()}


def fresh():
    """Nothing of the models before is left."""
    tf.compat.v1.reset_default_graph()
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(7)


def run(survey, models, record):
    """`record(make, folder)` makes a model in the folder, and returns its record.

    A function that is made in a loop says in its attribute `source` what distinguishes it.
    """
    root = CACHE / survey
    chosen = [(name, make) for name, make in models.items()
              if not sys.argv[1:] or any(name.startswith(wanted) for wanted in sys.argv[1:])]
    failed = []
    for name, make in chosen:
        folder = root / name
        text = getattr(make, 'source', None) or inspect.getsource(make)
        source = hashlib.sha256(text.encode()).hexdigest()[:16]
        try:
            if json.loads((folder / 'record.json').read_text())['source'] == source:
                continue
        except (OSError, ValueError):
            pass
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        fresh()
        try:
            made = record(make, folder)
        except Exception:  # the survey goes on, and names the model at its end
            traceback.print_exc()
            failed.append(name)
            shutil.rmtree(folder)
            continue
        (folder / 'record.json').write_text(json.dumps(dict(source=source, **made)))
        print(name, flush=True)
    if not sys.argv[1:] and root.exists():
        for folder in root.iterdir():
            if folder.name not in models:
                shutil.rmtree(folder)
    print(f'{len(chosen) - len(failed)} of {len(chosen)} are recorded in {root}', *[f'not: {name}' for name in failed])
    sys.exit(1 if failed else 0)
