"""Writes tests/data/oracle/placement.jsonl: where TensorFlow's sessions put the nodes of graphs, and what they send between devices.

Every line is a case: the GraphDef as text, what is fed and fetched, the number of CPU devices, whether placement is soft, and either
`partitions`, the nodes that each device runs with their ops, inputs and (of _Send and _Recv) attrs, or `code` and `error`.
TensorFlow's optimizers are off, so that the nodes are those of the graph. Run with a Python that has TensorFlow.
"""
import json
import os
import pathlib

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.python.framework import error_interpolation

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.disable_control_flow_v2()
tf1.disable_resource_variables()
error_interpolation.interpolate_graph = lambda message, graph: message  # the library's own words
OUT = pathlib.Path(__file__).parents[2] / 'data/oracle/placement.jsonl'
CASES = []


def case(devices=2, soft=False):
    """The function builds a graph and returns fetches, targets and fed tensors, of which those left out are empty."""
    def add(build):
        CASES.append((build.__name__, build, devices, soft))
        return build
    return add


def both(build):
    """Once as it is and once with soft placement."""
    CASES.append((build.__name__, build, 2, False))
    CASES.append((build.__name__ + '_softly', build, 2, True))
    return build


def raw(op, name, inputs=(), device='', types=(), **attrs):
    """A node by its op and attrs; `locations` are the names of nodes that it is colocated with."""
    locations = attrs.pop('locations', [])
    values = {}
    for key, value in attrs.items():
        proto = tf1.AttrValue()
        if isinstance(value, tf.DType):
            proto.type = value.as_datatype_enum
        elif isinstance(value, bool):
            proto.b = value
        elif isinstance(value, int):
            proto.i = value
        elif isinstance(value, str):
            proto.s = value.encode()
        elif isinstance(value, tf.TensorShape):
            proto.shape.CopyFrom(value.as_proto())
        values[key] = proto
    if locations:
        proto = tf1.AttrValue()
        proto.list.s.extend(b'loc:@' + text.encode() for text in locations)
        values['_class'] = proto
    with tf.device(None), tf1.get_default_graph().colocate_with(None, ignore_existing=True):
        node = tf1.get_default_graph().create_op(op, list(inputs), list(types), name=name, attrs=values, compute_device=False)
    node._set_device(device)
    return node


def const(name, device='', value=1., **more):
    with tf.device(device or None):
        return tf.constant(value, name=name) if not more else colocated(name, value, **more)


def colocated(name, value, locations):
    op = tf.constant(value, name=name).op
    proto = tf1.AttrValue()
    proto.list.s.extend(b'loc:@' + text.encode() for text in locations)
    op._set_attr('_class', proto)
    return op.outputs[0]


# --- what a node asks for ---

def asking(text):
    name = 'device ' + text
    for soft in (False, True):
        CASES.append((name + (' softly' if soft else ''),
                      lambda: ([], [raw('NoOp', 'a', device=text)], []), 2, soft))


for text in ['/cpu:1', '/cpu:2', '/CPU:01', '/gpu:0', '/job:foo', '/job:localhost', '/replica:1', '/replica:0/cpu:1', '/task:0/cpu:1', '/task:3',
             '/device:FOO:0', '/cpu:*', '/device:CPU', '/device:cpu:0', '/job:localhost/replica:0/task:0/device:CPU:7',
             '/job:localhost/replica:0/task:0/cpu:1', '/', '//', 'some dev', 'CPU:1', '/cpu', '/device:*:1', '/job:foo/cpu:1', '/cpu:1/job:localhost']:
    asking(text)


@case(devices=1)
def one_device():
    return [const('a', '/cpu:0') + 1.],


@case(devices=1)
def one_device_and_another():
    return [const('a', '/cpu:1') + 1.],


@case(devices=11)
def eleven_devices():
    return [const('a', '/cpu:10') + const('b', '/cpu:2')],


@case(devices=11)
def none_of_eleven_devices():
    return [const('a', '/cpu:11')],


@both
def a_bad_device_that_is_not_needed():
    const('b', '/cpu:9')
    return [const('a') + 1.],


@both
def a_bad_device_of_an_arithmetic_node():
    with tf.device('/cpu:5'):
        y = tf.add(const('a'), const('b'), name='y')
    return [y],


# --- colocation ---

@both
def colocated_with_one():
    const('a', '/cpu:1')
    return [const('b', locations=['a'])],


@both
def colocated_both_ways():
    a, b = const('a', locations=['b']), const('b', '/cpu:1')
    return [a, b],


@both
def colocated_in_a_chain():
    a, b, c = const('a', '/cpu:1'), const('b', locations=['a']), const('c', locations=['b'])
    return [tf.negative(a), tf.negative(b), tf.negative(c)],


@both
def colocated_with_two_that_differ():
    const('a', '/cpu:0')
    const('b', '/cpu:1')
    return [const('c', locations=['a', 'b'])],


@both
def colocated_and_asking_for_another():
    const('a', '/cpu:0')
    return [const('b', '/cpu:1', locations=['a'])],


@both
def colocated_with_different_types():
    const('a', '/cpu:0')
    return [const('b', '/gpu:0', locations=['a'])],


@both
def colocated_with_different_jobs():
    const('a', '/job:localhost')
    return [const('b', '/job:other', locations=['a'])],


@both
def colocated_and_partly_asking():
    const('a', '/task:0')
    const('b', '/cpu:1', locations=['a'])
    return [const('c', '/job:localhost', locations=['b'])],


@both
def colocated_and_asking_for_what_is_not_there():
    const('a')
    return [const('b', '/cpu:5', locations=['a'])],


@both
def a_chain_that_breaks_at_its_end():
    const('a', '/cpu:0')
    const('b', locations=['a'])
    const('c', locations=['b'])
    return [const('d', '/cpu:1', locations=['c'])],


@both
def two_groups_that_are_joined():
    const('a', '/cpu:1')
    const('b', locations=['a'])
    const('c', '/task:0')
    const('d', locations=['c'])
    return [const('e', locations=['b', 'd']), const('f', locations=['d'])],


@both
def colocated_with_an_unknown_node():
    return [const('a', locations=['missing'])],


@both
def colocated_with_itself():
    return [const('a', '/cpu:1', locations=['a'])],


# --- references and resources ---

@both
def a_reference_variable():
    with tf.device('/cpu:1'):
        v = tf1.Variable(1., name='v')
    return [v.read_value()], [v.initializer, tf1.assign_add(v, 2.).op]


@both
def a_reference_and_an_assignment_elsewhere():
    with tf.device('/cpu:1'):
        v = tf1.Variable(1., name='v')
    ref = v._ref() if hasattr(v, '_ref') else v
    step = raw('AssignAdd', 'step', [ref, const('x')], '/cpu:0', [tf.float32._as_ref], T=tf.float32)
    return [], [step]


@both
def a_reference_read_elsewhere():
    with tf.device('/cpu:1'):
        v = tf1.Variable(1., name='v')
    with tf.device('/cpu:0'):
        return [tf.negative(v, name='y')],


@both
def a_reference_handed_on():
    with tf.device('/cpu:1'):
        v = tf1.Variable(1., name='v')
    same = raw('RefIdentity', 'same', [v._ref()], '', [tf.float32._as_ref], T=tf.float32)
    step = raw('AssignAdd', 'step', [same.outputs[0], const('x')], '', [tf.float32._as_ref], T=tf.float32)
    return [], [step]


def handle(name, device):
    return raw('VarHandleOp', name, device=device, types=[tf.resource], dtype=tf.float32, shape=tf.TensorShape([]), shared_name=name,
               container='').outputs[0]


def assign(name, h, device=''):
    return raw('AssignVariableOp', name, [h, const(name + '_value')], device, dtype=tf.float32)


@both
def a_resource():
    h = handle('h', '/cpu:1')
    read = raw('ReadVariableOp', 'read', [h], '', [tf.float32], dtype=tf.float32)
    return [], [assign('set', h), read]


@both
def a_resource_used_elsewhere():
    return [], [assign('set', handle('h', '/cpu:1'), '/cpu:0')]


@both
def a_resource_with_an_identity_elsewhere():
    h = handle('h', '/cpu:1')
    same = raw('Identity', 'same', [h], '/cpu:0', [tf.resource], T=tf.resource)
    return [], [assign('set', same.outputs[0])]


@both
def a_resource_whose_user_chooses():
    return [], [assign('set', handle('h', ''), '/cpu:1')]


@both
def resources_of_two_devices_in_one_node():
    a, b = handle('a', '/cpu:0'), handle('b', '/cpu:1')
    pack = raw('Pack', 'pack', [a, b], '', [tf.resource], T=tf.resource, N=2, axis=0)
    return [], [pack]


@both
def a_resource_and_colocation():
    const('x', '/cpu:1')
    h = raw('VarHandleOp', 'h', types=[tf.resource], dtype=tf.float32, shape=tf.TensorShape([]), shared_name='h', container='', locations=['x'])
    return [], [assign('set', h.outputs[0])]


@both
def a_resource_whose_users_differ():
    h = handle('h', '')
    return [], [assign('set', h, '/cpu:1'), raw('VarIsInitializedOp', 'is', [h], '/cpu:0', [tf.bool])]


@both
def a_resource_whose_users_are_joined_by_colocation():
    h = handle('h', '')
    const('c', '/cpu:1', locations=['h'])
    return [], [assign('set', h, '/cpu:0')]


@both
def a_resource_on_a_device_that_is_not_there():
    return [], [assign('set', handle('h', '/cpu:5'), '/cpu:0')]


@both
def a_resource_on_a_device_that_is_not_there_and_a_user_that_asks_for_nothing():
    return [], [assign('set', handle('h', '/cpu:5'))]


@both
def a_reference_on_another_type():
    with tf.device('/gpu:1'):
        v = tf1.Variable(1., name='v')
    with tf.device('/cpu:1'):
        step = raw('AssignAdd', 'step', [v._ref(), const('x')], '/cpu:1', [tf.float32._as_ref], T=tf.float32)
    return [], [step]


@both
def colocated_with_a_resource_elsewhere():
    h = handle('h', '/cpu:1')
    const('c', '/cpu:0', locations=['h'])
    return [], [assign('set', h)]


@both
def an_open_request_in_a_group_that_cannot_be_placed():
    const('a', '/job:localhost')
    const('b', '/cpu:7', locations=['a'])
    return [tf.negative(const('c', '/task:0', locations=['b']), name='y')],


@both
def two_bad_requests():
    with tf.device('/cpu:8'):
        a = tf.no_op('a')
    with tf.device('/cpu:9'):
        b = tf.negative(const('c'), name='b')
    return [b], [a]


# --- where nodes go that ask for nothing ---

@case()
def a_generator_goes_to_its_consumer():
    with tf.device('/cpu:1'):
        return [tf.negative(const_free('a'), name='y')],


def const_free(name, value=1.):
    with tf.device(None):
        return tf.constant(value, name=name)


@case()
def a_generator_with_consumers_on_one_device():
    a = const_free('a')
    with tf.device('/cpu:1'):
        return [tf.negative(a, name='y'), tf.abs(a, name='z')],


@case()
def a_generator_with_a_control_edge():
    a = const_free('a')
    with tf.device('/cpu:1'):
        y = tf.negative(a, name='y')
    with tf1.control_dependencies([a]):
        z = tf.no_op('z')
    return [y], [z]


@case()
def a_generator_of_a_generator():
    a = const_free('a')
    with tf1.control_dependencies([a]):
        b = const_free('b')
    with tf.device('/cpu:1'):
        return [tf.negative(b, name='y')],


@case()
def metadata_follow_their_input():
    with tf.device('/cpu:1'):
        x = tf1.random_uniform([2, 3], name='x')
    return [raw('Shape', 'shape', [x], '', [tf.int32], T=tf.float32, out_type=tf.int32).outputs[0],
            raw('Rank', 'rank', [x], '', [tf.int32], T=tf.float32).outputs[0],
            raw('Size', 'size', [x], '', [tf.int32], T=tf.float32, out_type=tf.int32).outputs[0],
            raw('Identity', 'same', [x], '', [tf.float32], T=tf.float32).outputs[0]],


@case()
def metadata_of_metadata():
    with tf.device('/cpu:1'):
        x = tf1.random_uniform([2, 3], name='x')
    shape = raw('Shape', 'shape', [x], '', [tf.int32], T=tf.float32, out_type=tf.int32).outputs[0]
    return [raw('Shape', 'shape2', [shape], '', [tf.int32], T=tf.int32, out_type=tf.int32).outputs[0]],


@case()
def a_node_of_several_inputs():
    return [tf.add(const('a', '/cpu:1'), const('b', '/cpu:1'), name='y')],


# --- edges between devices ---

def source(name, device):
    """A value that is no constant: TensorFlow 2 copies small constants to every device that reads them, which 1.15 does not."""
    with tf.device(device):
        return tf.abs(tf.constant(1., name=name + '_value'), name=name)


@case()
def one_value():
    return [tf.negative(const('a', '/cpu:1'), name='y')],


@case()
def one_value_for_two_consumers():
    a = source('a', '/cpu:1')
    with tf.device('/cpu:0'):
        return [tf.negative(a, name='y'), tf.abs(a, name='z'), tf.add(a, a, name='w')],


@case(devices=3)
def one_value_for_two_devices():
    a = source('a', '/cpu:1')
    with tf.device('/cpu:0'):
        y = tf.negative(a, name='y')
    with tf.device('/cpu:2'):
        z = tf.abs(a, name='z')
    return [y, z],


@case()
def two_outputs_of_a_node():
    with tf.device('/cpu:1'):
        a, b = tf.split(const('x', '/cpu:1', [1., 2.]), 2, name='split')
    with tf.device('/cpu:0'):
        return [tf.add(b, a, name='y')],


@case()
def there_and_back():
    a = const('a', '/cpu:0')
    with tf.device('/cpu:1'):
        b = tf.negative(a, name='b')
    with tf.device('/cpu:0'):
        return [tf.abs(b, name='c')],


@case()
def a_control_edge():
    with tf.device('/cpu:1'):
        a = tf.no_op('a')
    with tf.device('/cpu:0'), tf1.control_dependencies([a]):
        return [], [tf.no_op('b')]


@case()
def a_control_edge_for_two_nodes():
    with tf.device('/cpu:1'):
        a = tf.no_op('a')
    with tf.device('/cpu:0'), tf1.control_dependencies([a]):
        return [], [tf.no_op('b'), tf.no_op('c')]


@case()
def a_control_edge_and_a_value():
    a = const('a', '/cpu:1')
    with tf.device('/cpu:0'), tf1.control_dependencies([a]):
        return [tf.negative(a, name='y')],


@case(devices=3)
def control_edges_from_two_devices():
    with tf.device('/cpu:1'):
        a = tf.no_op('a')
    with tf.device('/cpu:2'):
        b = tf.no_op('b')
    with tf.device('/cpu:0'), tf1.control_dependencies([a, b]):
        return [], [tf.no_op('c')]


@case()
def a_feed_and_a_fetch_on_the_other_device():
    with tf.device('/cpu:1'):
        x = tf1.placeholder(tf.float32, name='x')
        y = tf.negative(x, name='y')
    return [y], [], [x]


@case()
def a_feed_for_both():
    x = tf1.placeholder(tf.float32, name='x')
    with tf.device('/cpu:1'):
        y = tf.negative(x, name='y')
    with tf.device('/cpu:0'):
        return [y, tf.abs(x, name='z')], [], [x]


@case()
def a_reference_value_is_sent():
    with tf.device('/cpu:1'):
        v = tf1.Variable(1., name='v')
    with tf.device('/cpu:0'), tf1.control_dependencies([v.initializer]):
        return [tf.negative(v._ref(), name='y')],


@case()
def types_of_what_is_sent():
    a, b, c = const('a', '/cpu:1', 'text'), const('b', '/cpu:1', 5), const('c', '/cpu:1', True)
    with tf.device('/cpu:0'):
        return [tf.identity(a, name='x'), tf.identity(b, name='y'), tf.identity(c, name='z')],


# --- control flow ---

@case()
def a_branch():
    p = tf1.placeholder(tf.bool, [], name='p')
    with tf.device('/cpu:0'):
        x = tf.constant(2., name='x')

        def then():
            with tf.device('/cpu:1'):
                return tf.negative(x, name='then')
        y = tf1.cond(p, then, lambda: tf.abs(x, name='otherwise'), name='cond')
    return [y], [], [p]


@case()
def a_branch_elsewhere():
    p = tf1.placeholder(tf.bool, [], name='p')
    x = const('x', '/cpu:0', 2.)
    with tf.device('/cpu:1'):
        y = tf1.cond(p, lambda: tf.negative(x, name='then'), lambda: tf.abs(x, name='otherwise'), name='cond')
    with tf.device('/cpu:0'):
        return [tf.negative(y, name='y')], [], [p]


def loop(n, body, start=0., device='/cpu:0', name='loop', shapes=None):
    with tf.device(device):
        return tf1.while_loop(lambda i, *_: tf.less(i, n, name='less'), body, [tf.constant(0, name='zero'), start], name=name,
                              parallel_iterations=10)


@case()
def a_loop_with_a_body_elsewhere():
    def body(i, x):
        with tf.device('/cpu:1'):
            y = tf.add(x, 1., name='more')
        return i + 1, y
    return [loop(5, body)[1]],


@case()
def a_loop_with_an_invariant_elsewhere():
    c = const('c', '/cpu:1', 3.)
    return [loop(5, lambda i, x: (i + 1, x + c))[1]],


@case()
def a_loop_on_the_other_device():
    r = loop(5, lambda i, x: (i + 1, x + 2.), device='/cpu:1')
    with tf.device('/cpu:0'):
        return [tf.negative(r[1], name='y')],


@case(devices=3)
def a_loop_over_three_devices():
    def body(i, x):
        with tf.device('/cpu:1'):
            y = tf.add(x, 1., name='more')
        with tf.device('/cpu:2'):
            z = tf.multiply(y, 2., name='twice')
        return i + 1, z
    return [loop(5, body)[1]],


@case()
def a_loop_with_a_control_edge_to_the_other_device():
    def body(i, x):
        with tf.device('/cpu:1'):
            note = tf.no_op('note')
        with tf1.control_dependencies([note]):
            return i + 1, tf.add(x, 1., name='more')
    return [loop(5, body)[1]],


@case()
def a_constant_in_a_loop_elsewhere():
    def body(i, x):
        with tf.device('/cpu:1'):
            y = tf.constant(2., name='two')
        return i + 1, tf.add(x, y, name='more')
    return [loop(5, body)[1]],


@case()
def nested_loops():
    def body(i, x):
        def inner(j, y):
            with tf.device('/cpu:1'):
                z = tf.add(y, 1., name='more')
            return j + 1, z
        return i + 1, loop(3, inner, x, name='inner')[1]
    return [loop(5, body)[1]],


@case()
def a_nested_loop_on_the_other_device():
    def body(i, x):
        return i + 1, loop(3, lambda j, y: (j + 1, y * 2.), x, device='/cpu:1', name='inner')[1]
    return [loop(5, body, 1.)[1]],


@case()
def a_branch_in_a_loop():
    def body(i, x):
        def then():
            with tf.device('/cpu:1'):
                return tf.negative(x, name='then')
        return i + 1, tf1.cond(tf.less(i, 2, name='early'), then, lambda: tf.abs(x, name='otherwise'))
    return [loop(5, body)[1]],


@case()
def two_loops():
    def body(i, x):
        with tf.device('/cpu:1'):
            y = tf.add(x, 1., name='more')
        return i + 1, y
    return [loop(5, body)[1] + loop(4, body, name='again')[1]],


# --- the file ---

def partitions(metadata):
    result = {}
    for graph in metadata.partition_graphs:
        device = next((node.device for node in graph.node if node.device), '')
        nodes = []
        for node in graph.node:
            entry = {'name': node.name, 'op': node.op, 'inputs': list(node.input)}
            if node.op in ('_Send', '_Recv', '_HostSend', '_HostRecv'):
                entry['tensor_name'] = node.attr['tensor_name'].s.decode()
                entry['send_device'] = node.attr['send_device'].s.decode()
                entry['recv_device'] = node.attr['recv_device'].s.decode()
                entry['client_terminated'] = node.attr['client_terminated'].b
                entry['type'] = tf.as_dtype((node.attr['T'] if node.op.endswith('Send') else node.attr['tensor_type']).type).name
            nodes.append(entry)
        result[device] = nodes
    return result


def answer(name, build, devices, soft):
    graph = tf.Graph()
    with graph.as_default():
        fetches, targets, fed = (list(build()) + [[], []])[:3]
    config = tf1.ConfigProto(device_count={'CPU': devices}, allow_soft_placement=soft)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
    result = {'name': name, 'devices': devices, 'soft': soft, 'graph': text_format.MessageToString(graph.as_graph_def(), as_one_line=True),
              'fetches': [t.name for t in fetches], 'targets': [o.name for o in targets], 'feeds': [t.name for t in fed]}
    values = {t: {'float32': 2.5, 'bool': True}.get(t.dtype.name) for t in fed}
    with tf1.Session(graph=graph, config=config) as session:
        metadata = tf1.RunMetadata()
        first = [op for op in graph.get_operations() if op.name in ('v/Assign', 'set')]
        try:
            session.run(first)
            session.run([fetches, targets], values, options=tf1.RunOptions(output_partition_graphs=True), run_metadata=metadata)
        except tf.errors.OpError as error:
            return {**result, 'code': error.error_code, 'error': error.message}
        assert not any('/replicate/' in node.name for graph in metadata.partition_graphs for node in graph.node), name
        return {**result, 'partitions': partitions(metadata)}


if __name__ == '__main__':
    with open(OUT, 'w') as out:
        for one in CASES:
            out.write(json.dumps(answer(*one)) + '\n')
