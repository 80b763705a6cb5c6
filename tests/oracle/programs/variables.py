"""Variables of both kinds, sessions that share them, containers and resets."""
import tensorflow.compat.v1 as tf
from report import fails, show


def kinds(target):
    for resource in False, True:
        with tf.Graph().as_default(), tf.Session(target) as session:
            w = tf.get_variable('w', initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=resource)
            n = tf.get_variable('n', initializer=5, dtype=tf.int32, use_resource=resource)
            fails('not initialised', session.run, w + 1)
            show('report', session.run(tf.report_uninitialized_variables()))
            session.run(tf.global_variables_initializer())
            show('initialised', session.run([tf.is_variable_initialized(w), w, n]))
            show('assigned', session.run([w.assign_add(tf.ones([2, 2])), n.assign_sub(2)]))
            show('scattered', session.run(tf.scatter_add(w, [1], [[10.0, 20.0]])))
            show('gathered', session.run(tf.gather(w, [1, 0])))
            show('counted', [session.run(n.assign_add(1)) for _ in range(3)])
            n.load(42, session)
            show('loaded', n.eval(session))


def sharing(target):
    graph = tf.Graph()
    with graph.as_default():
        v = tf.get_variable('shared', initializer=1.0, use_resource=True)
        r = tf.get_variable('reference', initializer=1.0, use_resource=False)
        r_next = r + 1.0
        more = tf.group(v.assign_add(1.0), r.assign_add(2.0))
    with tf.Session(target, graph=graph) as first, tf.Session(target, graph=graph) as second:
        first.run([v.initializer, r.initializer])
        show('second sees', second.run([v, r]))
        second.run(more)
        show('first sees', first.run([v, r]))
    third = tf.Session(target, graph=graph)
    show('third sees', third.run([v, r]))
    tf.Session.reset(target)
    fails('after reset', third.run, v)
    fails('nothing to close', third.close)
    with tf.Session(target, graph=graph) as fourth:
        fails('reset forgets', fourth.run, v)
        fails('reset forgets references', fourth.run, r_next)


def containers(target):
    graph = tf.Graph()
    with graph.as_default():
        with tf.container('one'):
            a = tf.get_variable('a', initializer=1.0, use_resource=True)
        with tf.container('two'):
            b = tf.get_variable('b', initializer=2.0, use_resource=False)
        b_next = b + 1.0
        c = tf.get_variable('c', initializer=3.0, use_resource=True)
        init = tf.global_variables_initializer()
    with tf.Session(target, graph=graph) as session:
        session.run(init)
    tf.Session.reset(target, ['one'])
    with tf.Session(target, graph=graph) as session:
        fails('one is reset', session.run, a)
        show('the others stay', session.run([b, c]))
    tf.Session.reset(target, ['two', 'unknown'])
    with tf.Session(target, graph=graph) as session:
        fails('two is reset', session.run, b_next)
        show('the default stays', session.run(c))


def defaults(target):
    """The container of variables that name none has the name of the job."""
    graph = tf.Graph()
    with graph.as_default():
        handles = [tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name='boxed', container=container)
                   for container in ('', 'worker', 'localhost')]
        assign = tf.raw_ops.AssignVariableOp(resource=handles[0], value=[1.0, 2.0])
        reads = [tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32) for handle in handles]
        unset = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name='unset')
        uses = [tf.raw_ops.ReadVariableOp(resource=unset, dtype=tf.float32),
                tf.raw_ops.ResourceGather(resource=unset, indices=[0], dtype=tf.float32),
                tf.raw_ops.AssignAddVariableOp(resource=unset, value=[1.0, 1.0]),
                tf.raw_ops.ResourceScatterAdd(resource=unset, indices=[0], updates=[1.0]),
                tf.raw_ops.ResourceApplyGradientDescent(var=unset, alpha=0.1, delta=[1.0, 1.0]),
                tf.raw_ops.VariableShape(input=unset)]
        reference = tf.get_variable('fetched', initializer=1.0, use_resource=False)
    for cleared in ['localhost'], ['worker'], []:
        with tf.Session(target, graph=graph) as session:
            session.run(assign)
            show('default', session.run(reads[:2]))
            fails('no default', session.run, reads[2])
            for use in uses:
                fails('without a value', session.run, use)
            fails('reference', session.run, reference)
        tf.Session.reset(target, cleared)
        with tf.Session(target, graph=graph) as session:
            fails(f'after a reset of {cleared}', session.run, reads[0])
            fails('and no value', session.run, uses[1])


def isolation(target):
    graph = tf.Graph()
    with graph.as_default():
        v = tf.get_variable('isolated', initializer=1.0, use_resource=True)
        r = tf.get_variable('isolated_ref', initializer=1.0, use_resource=False)
        r_next = r + 1.0
    alone = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(target, graph=graph, config=alone) as first, tf.Session(target, graph=graph) as second:
        first.run([v.initializer, r.initializer])
        fails('isolated', second.run, v)
        fails('isolated reference', second.run, r_next)
        second.run([v.assign(5.0), r.initializer])
        show('each its own', [first.run([v, r]), second.run([v, r])])


def main(target, folder):
    kinds(target)
    sharing(target)
    containers(target)
    defaults(target)
    isolation(target)
