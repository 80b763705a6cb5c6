"""Trains a network with parameter servers, and in one process, from the same seeds:

    parameter_servers.py '{"ps": ["127.0.0.1:2222"], "worker": ["127.0.0.1:2223", "127.0.0.1:2224", "127.0.0.1:2225"]}'

The servers of the cluster run already. It prints the weights of each way of training as a line of JSON: in one process,
with a tower on each worker that one client runs together, and with a client for each worker that trains in its turn.
"""
import json
import os
import sys

os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import environment  # noqa: F401
import numpy as np
import tensorflow.compat.v1 as tf

STEPS, BATCH = 30, 16


def batches(count):
    """Points, and the class of each: whether it is inside a circle."""
    random = np.random.RandomState(5)
    for _ in range(count):
        x = random.uniform(-1, 1, [BATCH, 2]).astype(np.float32)
        yield x, (np.square(x).sum(1) < 0.6).astype(np.int32)


def network(x, labels):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
        init = tf.glorot_uniform_initializer(seed=3)
        w1 = tf.get_variable('w1', [2, 8], initializer=init)
        b1 = tf.get_variable('b1', [8], initializer=tf.zeros_initializer())
        w2 = tf.get_variable('w2', [8, 2], initializer=init, use_resource=True)
        logits = tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def placed(worker):
    """Variables on the parameter server, the rest on a worker."""
    return tf.train.replica_device_setter(ps_tasks=1, worker_device=f'/job:worker/task:{worker}')


def towers(devices):
    """A step that applies the mean of the towers' gradients: the feeds, the step and the weights."""
    optimizer = tf.train.MomentumOptimizer(0.2, 0.9)
    feeds, gradients = [], []
    for device in devices:
        with tf.device(device):
            x, labels = tf.placeholder(tf.float32, [BATCH, 2]), tf.placeholder(tf.int32, [BATCH])
            feeds.append((x, labels))
            gradients.append(optimizer.compute_gradients(network(x, labels)))
    with tf.device(devices[0]):
        mean = [(sum(g for g, _ in column) / len(devices), column[0][1]) for column in zip(*gradients)]
        step = optimizer.apply_gradients(mean)
    return feeds, step, tf.trainable_variables()


def train_together(target, devices):
    with tf.Graph().as_default():
        feeds, step, weights = towers(devices)
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            data = batches(STEPS * len(feeds))
            for _ in range(STEPS):
                session.run(step, {place: value for pair in feeds for place, value in zip(pair, next(data))})
            return session.run(weights)


def train_in_turns(targets, device_of):
    clients = []
    for i, target in enumerate(targets):
        with tf.Graph().as_default() as graph:
            feeds, step, weights = towers([device_of(i)])
            session = tf.Session(target)
            if i == 0:
                session.run(tf.global_variables_initializer())
            clients.append((session, feeds[0], step, weights))
    for i, (x, labels) in enumerate(batches(STEPS * 3)):
        session, feeds, step, _ = clients[i % len(clients)]
        session.run(step, dict(zip(feeds, (x, labels))))
    session, _, _, weights = clients[-1]
    return session.run(weights)


def show(name, weights):
    print(json.dumps({'name': name, 'weights': [value.ravel().tolist() for value in weights]}), flush=True)


def main():
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    cluster = json.loads(sys.argv[1])
    targets = [f'grpc://{address}' for address in cluster['worker']]
    here = [''] * len(targets)
    show('together, one process', train_together('', [None for _ in targets]))
    for i, target in enumerate(targets):
        tf.Session.reset(target)
        show(f'together, master {i}', train_together(target, [placed(k) for k in range(len(targets))]))
    show('in turns, one process', train_in_turns(here[:1], lambda _: None))
    tf.Session.reset(targets[0])
    show('in turns, cluster', train_in_turns(targets, placed))
    os._exit(0)


if __name__ == '__main__':
    main()
