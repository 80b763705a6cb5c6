"""Writes tests/data/oracle/device_scopes.jsonl: which device a node has within nested `with tf.device(...)`.

null is tf.device(None). Run with a Python that has TensorFlow.
"""
import contextlib
import json
import os
import pathlib

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / 'data/oracle/device_scopes.jsonl'
SCOPES = [['/cpu:0'], ['/cpu:0', '/cpu:1'], ['/job:w', '/cpu:1'], ['/job:w/task:1', '/gpu:0'], ['/gpu:1', '/cpu:*'], ['/job:a/cpu:0', '/job:b'],
          ['/job:a', None], ['/job:a', None, '/cpu:1'], ['/cpu:1', ''], ['/job:a/replica:1/task:2/device:GPU:3', '/task:0', '/cpu:1'],
          ['/cpu:1', '/job:*'], ['CPU:1'], ['/device:*:1'], ['/device:*:1', '/device:GPU:*'], ['cpu:1'], ['Gpu:1'], ['/device:cpu:0'],
          ['/gpu:0/job:x'], ['/cpu:01'], ['/task:3', '/replica:2', '/job:j', '/gpu:1'], ['/job:a', '/job:b', '/job:c'], [None], ['', '/cpu:0', '']]

if __name__ == '__main__':
    with open(OUT, 'w') as out:
        for scopes in SCOPES:
            with tf.Graph().as_default(), contextlib.ExitStack() as stack:
                for scope in scopes:
                    stack.enter_context(tf.device(scope))
                out.write(json.dumps({'scopes': scopes, 'device': tf.no_op().device}) + '\n')
