"""MonitoredTrainingSession with hooks, SessionManager, Supervisor."""
import os
import threading

import tensorflow.compat.v1 as tf
from report import show


class Recorder(tf.train.SessionRunHook):
    def begin(self):
        self.log = ['begin']

    def after_create_session(self, session, coord):
        self.log.append('created')

    def before_run(self, context):
        return tf.train.SessionRunArgs(tf.train.get_global_step())

    def after_run(self, context, values):
        self.log.append('run')  # the step is read before or after it is counted

    def end(self, session):
        self.log.append('end')


def linear(x, y):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable('w', initializer=0.0, use_resource=True)
    loss = tf.reduce_mean(tf.square(w * x - y))
    return w, loss, tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)


def monitored(target, folder):
    checkpoints = os.path.join(folder, 'monitored')
    for attempt in range(2):
        tf.Session.reset(target)
        with tf.Graph().as_default():
            w, loss, train = linear(tf.constant([1.0, 2.0]), tf.constant([3.0, 6.0]))
            recorder = Recorder()
            hooks = [recorder, tf.train.StopAtStepHook(num_steps=5), tf.train.NanTensorHook(loss)]
            with tf.train.MonitoredTrainingSession(
                    target, True, checkpoints, hooks=hooks, save_checkpoint_steps=2, save_summaries_steps=2,
                    log_step_count_steps=None) as session:
                while not session.should_stop():
                    last = session.run([w, loss, train])
            show(f'training {attempt}', [last[:2], recorder.log])
    show('latest', os.path.basename(tf.train.latest_checkpoint(checkpoints)))


def managed(target):
    with tf.Graph().as_default():
        v = tf.get_variable('managed', initializer=1.5)
        ready = tf.report_uninitialized_variables()
        results = []

        def wait():
            manager = tf.train.SessionManager(graph=v.graph, ready_op=ready, recovery_wait_secs=1)
            with manager.wait_for_session(target, max_wait_secs=30) as session:
                results.append(session.run(v))

        init = tf.global_variables_initializer()
        thread = threading.Thread(target=wait)
        thread.start()
        manager = tf.train.SessionManager(graph=v.graph, ready_op=ready)
        with manager.prepare_session(target, init) as session:
            show('chief', session.run(v))
            thread.join()
        show('worker', results)
    with tf.Graph().as_default():
        tf.get_variable('supervised', initializer=2.5)
        supervisor = tf.train.Supervisor(logdir=None, init_op=tf.global_variables_initializer())
        with supervisor.managed_session(target) as session:
            show('supervised', session.run('supervised/Read/ReadVariableOp:0'))


def main(target, folder):
    monitored(target, folder)
    managed(target)
