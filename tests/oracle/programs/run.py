"""Runs programs of this folder on a server, one after the other:

    run.py grpc://127.0.0.1:2222 /tmp/folder fetches variables
    DEVICE=/job:ps/task:0 run.py grpc://127.0.0.1:2222 /tmp/folder

Each program has a `main(target, folder)` and uses TensorFlow's API only. The variables of all programs are on the
server, so that each begins with `Session.reset`. Without names it runs all programs. Nodes of the default graph that
ask for no device are placed on DEVICE.
"""
import importlib
import os
import pathlib
import sys
import time
import traceback

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
os.environ['TF_USE_LEGACY_KERAS'] = '0'
import environment  # noqa: F401
import tensorflow.compat.v1 as tf


def run(name, target, folder):
    print(f'=== {name}')
    tf.reset_default_graph()
    tf.Session.reset(target)
    start = time.monotonic()
    try:
        with tf.device(os.environ.get('DEVICE')):
            importlib.import_module(name).main(target, folder)
    except Exception:  # the next programs run all the same
        traceback.print_exc()
        print('did not end')
    print(f'{name}: {time.monotonic() - start:.1f} s', file=sys.stderr)
    sys.stdout.flush()


def main():
    target, folder, *names = sys.argv[1:]
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    for name in names or sorted(path.stem for path in HERE.glob('*.py') if path.stem not in ('run', 'report', 'restore')):
        run(name, target, folder)
    sys.stdout.flush()
    os._exit(0)  # threads that wait for a server do not end


if __name__ == '__main__':
    main()
