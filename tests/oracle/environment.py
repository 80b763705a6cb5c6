"""Makes TensorFlow importable: `import environment` before `import tensorflow`.

When this Python has no TensorFlow, a virtual environment with the version of requirements.txt is made outside the tree, in the
user's cache folder (Debian: package python3-venv), and the script starts again in it. `python3 environment.py` makes that environment.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import venv

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'  # use TensorFlow's own kernels, not oneDNN's

if importlib.util.find_spec('tensorflow') is None:
    folder = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'tfcore-wasm' / 'oracle'
    python = folder / 'bin' / 'python'
    ready = folder / 'ready'
    if not ready.exists():
        venv.create(folder, with_pip=True, clear=True)
        requirements = pathlib.Path(__file__).parent / 'requirements.txt'
        subprocess.run([python, '-m', 'pip', 'install', '--quiet', '-r', requirements], check=True)
        ready.touch()
    os.execv(python, [str(python), *sys.orig_argv[1:]])
