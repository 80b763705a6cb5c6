"""Runs servers of TensorFlow for the tests of target 'grpc://', until its input ends.

    servers.py '{"worker": ["127.0.0.1:2222", "127.0.0.1:2223"]}' worker:0 worker:1

The servers of the named tasks of the cluster run in this process. It prints a line when they listen.
"""
import json
import os
import sys

os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import environment  # noqa: F401
import tensorflow as tf


def main():
    cluster, tasks = json.loads(sys.argv[1]), [task.split(':') for task in sys.argv[2:]]
    servers = [tf.distribute.Server(cluster, job_name=job, task_index=int(index), start=True) for job, index in tasks]
    print('serving', *(server.target for server in servers), flush=True)
    sys.stdin.read()
    os._exit(0)  # servers have no end


if __name__ == '__main__':
    main()
