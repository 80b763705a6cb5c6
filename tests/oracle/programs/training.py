"""Optimizers, decays, batch normalization, dropout and random numbers with seeds."""
import numpy as np
import tensorflow.compat.v1 as tf
from report import show

OPTIMIZERS = {
    'sgd': lambda rate: tf.train.GradientDescentOptimizer(rate),
    'momentum': lambda rate: tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True),
    'adam': lambda rate: tf.train.AdamOptimizer(rate),
    'ftrl': lambda rate: tf.train.FtrlOptimizer(rate, l1_regularization_strength=0.01),
    'rmsprop': lambda rate: tf.train.RMSPropOptimizer(rate, momentum=0.5, centered=True),
    'adagrad': lambda rate: tf.train.AdagradOptimizer(rate),
    'adadelta': lambda rate: tf.train.AdadeltaOptimizer(rate * 10),
    'proximal': lambda rate: tf.train.ProximalAdagradOptimizer(rate, l2_regularization_strength=0.01),
}


def optimize(target, name, resource):
    tf.Session.reset(target)  # an average begins with the variable, if an earlier model has left one
    with tf.Graph().as_default(), tf.Session(target) as session:
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.1, step, 4, 0.5, staircase=True)
        w = tf.get_variable('w', initializer=tf.ones([3, 2]), use_resource=resource)
        table = tf.get_variable('table', initializer=tf.reshape(tf.range(8.0), [4, 2]), use_resource=resource)
        x = tf.constant([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]])
        rows = tf.nn.embedding_lookup(table, [1, 3, 1])
        loss = tf.reduce_mean(tf.square(x @ w - 1.0)) + tf.reduce_mean(tf.square(rows))
        optimizer = OPTIMIZERS[name](rate)
        pairs = optimizer.compute_gradients(loss)
        clipped, norm = tf.clip_by_global_norm([gradient for gradient, _ in pairs], 5.0)
        train = optimizer.apply_gradients(zip(clipped, [v for _, v in pairs]), global_step=step)
        average = tf.train.ExponentialMovingAverage(0.9, step)
        averaged = average.apply([w])
        session.run([w.initializer, table.initializer])  # averages begin with the value of w
        session.run(tf.global_variables_initializer())
        for _ in range(10):
            session.run(train)
            session.run(averaged)  # a step of its own: a reference is read before or after the other update
        show(f'{name} {resource}', session.run([w, table, loss, norm, rate, step, average.average(w)]))
        show(f'{name} slots', [list(np.shape(v)) for v in session.run(optimizer.variables())])


def normalize(target):
    with tf.Graph().as_default(), tf.Session(target) as session:
        x = tf.constant(np.linspace(-1, 2, 48).reshape(4, 2, 2, 3), tf.float32)
        training = tf.placeholder(tf.bool, [])
        scale = tf.get_variable('scale', initializer=tf.ones([3]))
        offset = tf.get_variable('offset', initializer=tf.zeros([3]))
        mean = tf.get_variable('mean', initializer=tf.zeros([3]), trainable=False)
        variance = tf.get_variable('variance', initializer=tf.ones([3]), trainable=False)
        batch = tf.nn.moments(x, [0, 1, 2])
        update = [mean.assign(mean * 0.9 + batch[0] * 0.1), variance.assign(variance * 0.9 + batch[1] * 0.1)]
        for op in update:
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, op)
        used = tf.cond(training, lambda: tuple(batch), lambda: (tf.identity(mean), tf.identity(variance)))
        y = tf.nn.batch_normalization(x, used[0], used[1], offset, scale, 1e-3)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y ** 3), var_list=[scale, offset])
        fused = tf.nn.fused_batch_norm(x, scale, offset)
        session.run(tf.global_variables_initializer())
        show('fused', session.run(fused))
        for _ in range(3):
            session.run(train, {training: True})
        show('variables', session.run([scale, offset, mean, variance]))
        show('inference', session.run(y[0, 0], {training: False}))


def random(target):
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        ops = {
            'uniform': tf.random.uniform([5], seed=1),
            'normal': tf.random.normal([5], seed=2),
            'truncated': tf.random.truncated_normal([5], seed=3),
            'integers': tf.random.uniform([5], 0, 1000, tf.int32, seed=4),
            'shuffled': tf.random.shuffle(tf.range(10), seed=5),
            'multinomial': tf.random.categorical([[0.0, 1.0, 2.0]], 8, seed=6),
            'stateless': tf.random.stateless_normal([4], [1, 2]),
            'dropout': tf.nn.dropout(tf.ones([12]), rate=0.5, seed=10),
            'graph seed': tf.random.uniform([3]),
        }
        for attempt in range(2):
            with tf.Session(target) as session:
                show('first', session.run(ops))
                show('second', session.run(ops))


def main(target, folder):
    for name in OPTIMIZERS:
        optimize(target, name, False)
        optimize(target, name, True)
    normalize(target)
    random(target)
