"""Writes tests/data/oracle/device_names.jsonl: what TensorFlow makes of names of devices and of rendezvous keys.

Compiles device_names.cc against the installed TensorFlow and runs it. Run with a Python that has TensorFlow, and with a C++ compiler.
"""
import os
import pathlib
import subprocess
import tempfile

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import tensorflow as tf

HERE = pathlib.Path(__file__).parent
OUT = HERE.parents[1] / 'data/oracle/device_names.jsonl'

if __name__ == '__main__':
    library = tf.sysconfig.get_lib()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / 'device_names'
        subprocess.run(['c++', '-std=c++17', '-w', f'-I{tf.sysconfig.get_include()}', '-o', program, HERE / 'device_names.cc',
                        f'-L{library}', '-l:libtensorflow_framework.so.2', '-l:libtensorflow_cc.so.2', f'-Wl,-rpath,{library}'], check=True)
        OUT.write_bytes(subprocess.run([program], check=True, capture_output=True).stdout)
