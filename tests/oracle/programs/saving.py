"""Checkpoints, frozen graphs, summaries, in a folder that both servers may read."""
import os

import tensorflow.compat.v1 as tf
from report import fails, show


def build():
    w = tf.get_variable('w', initializer=[[1.0, 2.0], [3.0, 4.0]])
    r = tf.get_variable('r', initializer=['a', 'bc'], use_resource=True, dtype=tf.string)
    n = tf.get_variable('n', initializer=tf.constant(7, tf.int64), use_resource=True)
    return w, r, n


def main(target, folder):
    prefix = os.path.join(folder, 'model')
    with tf.Graph().as_default(), tf.Session(target) as session:
        variables = build()
        saver = tf.train.Saver(max_to_keep=2)
        session.run(tf.global_variables_initializer())
        for i in range(4):
            session.run(variables[0].assign_add([[1.0, 1.0], [1.0, 1.0]]))
            path = saver.save(session, prefix, global_step=i)
        show('path', os.path.basename(path))
        show('files', sorted(name for name in os.listdir(folder) if name.startswith('model')))
        session.run(variables[0].assign([[0.0, 0.0], [0.0, 0.0]]))
        saver.restore(session, path)
        show('restored', session.run(variables))
        reader = tf.train.load_checkpoint(path)
        show('shapes', reader.get_variable_to_shape_map())
        show('read here', reader.get_tensor('w'))
        out = tf.matmul(variables[0], variables[0], name='out')
        frozen = tf.graph_util.convert_variables_to_constants(session, session.graph_def, ['out'])
        show('frozen', sorted((node.name, node.op) for node in frozen.node))
        more = tf.get_variable('more', initializer=1.0)
        fails('not in it', tf.train.Saver([more]).restore, session, path)
    with tf.Graph().as_default(), tf.Session(target) as session:
        show('frozen result', session.run(tf.import_graph_def(frozen, return_elements=['out:0'])))
    tf.Session.reset(target)
    with tf.Graph().as_default(), tf.Session(target) as session:
        saver = tf.train.import_meta_graph(path + '.meta')
        saver.restore(session, path)
        show('imported', session.run(['w/Read/ReadVariableOp:0', 'n/Read/ReadVariableOp:0']))
        summary = tf.summary.merge([
            tf.summary.scalar('loss', tf.constant(2.5)), tf.summary.histogram('h', tf.constant([1.0, 2.0, 2.0])),
            tf.summary.text('t', tf.constant('words'))])
        parsed = tf.Summary.FromString(session.run(summary))
        show('summary', [(value.tag, value.simple_value, value.histo.num, value.histo.sum) for value in parsed.value])
