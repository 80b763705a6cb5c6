"""Builds tests/c/c_api/transcript.c with TensorFlow's own library and writes what it says to
tests/data/c_api_transcript.txt. With `check` nothing is written: the lines are compared with the file."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / 'tests/data/c_api_transcript.txt'


def transcript():
    spec = importlib.util.find_spec('tensorflow')
    if spec is None:
        sys.exit('this Python has no TensorFlow; run it with one that does (tests/oracle/requirements.txt)')
    library = pathlib.Path(spec.origin).parent
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / 'transcript'
        # The wheel has no libtensorflow.so: its C API is in these two.
        subprocess.run(['cc', '-std=gnu11', str(ROOT / 'tests/c/c_api/transcript.c'), f'-I{ROOT / "include"}', f'-L{library}',
                        '-l:libtensorflow_cc.so.2', '-l:libtensorflow_framework.so.2', f'-Wl,-rpath,{library}', '-o', str(program)],
                       check=True)
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES='', TF_CPP_MIN_LOG_LEVEL='3')
        return subprocess.run([str(program), '--print'], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment).stdout


if __name__ == '__main__':
    lines = transcript()
    if sys.argv[1:] == ['check']:
        sys.exit(0 if lines == RECORD.read_bytes() else f'TensorFlow says something else than {RECORD.relative_to(ROOT)}')
    RECORD.write_bytes(lines)
