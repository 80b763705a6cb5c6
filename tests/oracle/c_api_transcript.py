"""Builds the programs below with TensorFlow's own library and writes what they say to tests/data/. With `check` nothing
is written: the lines are compared with the files."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDS = {
    'c_api/transcript.c': 'c_api_transcript.txt',
    'native/saved_model_transcript.c': 'saved_model_transcript.txt',
    'native/clients_transcript.c': 'clients_transcript.txt',
    'native/eager_transcript.c': 'eager_transcript.txt',
    'native/api_defs_transcript.c': 'api_defs_transcript.txt',
    'native/experimental_transcript.c': 'experimental_transcript.txt',
    'native/eager_experimental_transcript.c': 'eager_experimental_transcript.txt',
}


def transcript(source):
    spec = importlib.util.find_spec('tensorflow')
    if spec is None:
        sys.exit('this Python has no TensorFlow; run it with one that does (tests/oracle/requirements.txt)')
    library = pathlib.Path(spec.origin).parent
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / 'transcript'
        # The wheel has no libtensorflow.so: its C API is in these two.
        subprocess.run(['cc', '-std=gnu11', str(ROOT / 'tests/c' / source), f'-I{ROOT / "include"}', f'-I{ROOT / "tests/c"}',
                        f'-DTFCORE_SOURCE_DIR="{ROOT}"', f'-L{library}', '-l:libtensorflow_cc.so.2',
                        '-l:libtensorflow_framework.so.2', f'-Wl,-rpath,{library}', '-o', str(program)], check=True)
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES='', TF_CPP_MIN_LOG_LEVEL='3')
        return subprocess.run([str(program), '--print'], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment).stdout

if __name__ == '__main__':
    wrong = []
    for source, name in RECORDS.items():
        lines, record = transcript(source), ROOT / 'tests/data' / name
        if sys.argv[1:] != ['check']:
            record.write_bytes(lines)
        elif lines != record.read_bytes():
            wrong.append(name)
    if wrong:
        sys.exit(f'TensorFlow says something else than {", ".join(wrong)}')
