"""Between-graph replication: two clients with their own graphs and sessions train the same variables."""
import threading

import tensorflow.compat.v1 as tf
from report import show


def replica(target, number, done, ready, results):
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(ps_tasks=0)):
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable('weight', initializer=0.0, use_resource=number == 'any')
            x = tf.placeholder(tf.float32)
            loss = tf.square(w - x)
            train = tf.train.GradientDescentOptimizer(0.25).minimize(loss, global_step=step)
        scaffold = tf.train.Scaffold()
        if number == 0:
            creator = tf.train.ChiefSessionCreator(scaffold, master=target)
        else:
            ready.wait(30)
            creator = tf.train.WorkerSessionCreator(scaffold, master=target)
        with tf.train.MonitoredSession(creator) as session:
            ready.set()
            for _ in range(20):
                session.run(train, {x: 3.0})
            done.wait(30)
            results[number] = session.run([w, step])


def train_together(target):
    done, ready, results = threading.Barrier(2), threading.Event(), {}
    threads = [threading.Thread(target=replica, args=(target, i, done, ready, results)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    show('both see', results)


def turns(target):
    """Two graphs of different sizes, in turns."""
    graphs = [tf.Graph(), tf.Graph()]
    sessions, adds, reads = [], [], []
    for i, graph in enumerate(graphs):
        with graph.as_default():
            for j in range(i):
                tf.constant(j)
            v = tf.get_variable('common', initializer=tf.zeros([2]), use_resource=True)
            adds.append(v.assign_add([1.0 + i, 10.0]))
            reads.append(v.read_value())
            sessions.append(tf.Session(target))
    sessions[0].run(graphs[0].get_operation_by_name('common/Assign'))
    for i in (0, 1, 1, 0, 1):
        show(f'turn of {i}', [sessions[i].run(adds[i]), sessions[1 - i].run(reads[1 - i])])
    for session in sessions:
        session.close()


def main(target, folder):
    train_together(target)
    turns(target)
