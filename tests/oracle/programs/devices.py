"""Devices: their list, placement, and requests for devices that are not there."""
import tensorflow.compat.v1 as tf
from report import fails, show


def place(target, device, soft=False):
    config = tf.ConfigProto(allow_soft_placement=soft, log_device_placement=True)
    with tf.Graph().as_default(), tf.Session(target, config=config) as session:
        with tf.device(device):
            a = tf.constant(1.0, name='a')
            b = tf.add(a, 1.0, name='b')
        # Behind a GPU a build with CUDA says no more; this one says that it has none.
        fails(f'{device} {soft}', session.run, b, end=' Make sure the device')


def main(target, folder):
    with tf.Graph().as_default(), tf.Session(target) as session:
        show('devices', [(device.name, device.device_type) for device in session.list_devices()])
    for device in ('/cpu:0', '/job:worker/task:0', '/job:ps/task:0', '/device:GPU:0', '/job:worker/task:7/cpu:0',
                   '/job:worker/replica:0/task:0/device:CPU:0', '/device:CPU:9'):
        place(target, device)
        place(target, device, True)
    with tf.Graph().as_default(), tf.Session(target) as session:
        v = tf.get_variable('v', initializer=[1.0, 2.0], use_resource=True)
        with tf.colocate_with(v.handle):
            w = v * 2
        session.run(v.initializer)
        options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
        show('traced', session.run(tf.reduce_sum(w, name='sum'), options=options, run_metadata=metadata))
        stats = metadata.step_stats.dev_stats
        show('traced devices', sorted({device.device for device in stats}))
        nodes = {node.node_name for device in stats for node in device.node_stats}
        show('traced nodes', sorted(nodes & {'v', 'mul', 'sum', 'mul/ReadVariableOp', 'Const'}))
