"""Random graphs with variables, checks that fail, calls of functions in every way and control edges in and out of them.

All effects of a graph, and of a function, are in one chain of control and data edges, so that there is one answer: what is fetched,
whether the step fails, and what the variables are afterwards.
"""
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import op_def_registry

from writer import tf1

GRAPHS = 80
FLOAT = tf.float32.as_datatype_enum
RESOURCE = tf.resource.as_datatype_enum


def cases(golden):
    for number in range(GRAPHS):
        random = np.random.default_rng([int(golden.random.integers(1 << 30)), number])
        graph_def, scope = _graph(random)
        with golden.graph(f'graph {number}') as case:
            tf1.import_graph_def(graph_def, name='')
            _steps(case, random, scope)


def _steps(case, random, scope):
    tensor, operation = case.graph.get_tensor_by_name, case.graph.get_operation_by_name
    x = tensor('x:0')
    case.step({}, targets=[operation('init0'), operation('init1')])
    case.expect_success()
    for _ in range(4):
        value = np.float32(np.nan if random.integers(4) == 0 else random.integers(5) / 2)
        names = {scope.graph_value(value) for value in random.choice(scope.values[1:], random.integers(4))} if len(scope.values) > 1 else set()
        targets = [operation(name) for name in random.choice(scope.nodes[-4:], 1 if not names else random.integers(2))]
        case.step({name: tensor(name) for name in sorted(names)}, {x: value}, targets=targets, message=_without_values)
        case.step({f'now{i}:0': tensor(f'now{i}:0') for i in range(2)})
        case.expect_success()


def _without_values(words):
    """Whether a NaN is written with a sign is the machine's."""
    return words.split('[')[0]


def _graph(random):
    graph_def = graph_pb2.GraphDef()
    graph_def.versions.producer = 134
    library = Library(random, graph_def)
    for _ in range(random.integers(1, 4)):
        library.add('P')
    for _ in range(random.integers(1, 4)):
        library.add('E')
    scope = Scope(random, library, graph_def.node, None, ['v0', 'v1'])
    scope.node('x', 'Placeholder', [], dtype=FLOAT, shape=tf.TensorShape([]).as_proto())
    scope.values.append(('x', '', 0))
    for i in range(2):
        scope.node(f'v{i}', 'VarHandleOp', [], dtype=FLOAT, shape=tf.TensorShape([]).as_proto(), shared_name=f'v{i}'.encode())
        scope.constant(f'start{i}', 1 + i)
        scope.node(f'init{i}', 'AssignVariableOp', [(f'v{i}', 'resource', 0), (f'start{i}', 'output', 0)], dtype=FLOAT)
        scope.node(f'now{i}', 'ReadVariableOp', [(f'v{i}', 'resource', 0)], dtype=FLOAT)
    scope.nodes.clear()
    scope.variables = [('v0', 'resource', 0), ('v1', 'resource', 0)]
    for _ in range(random.integers(3, 11)):
        scope.write(effect=random.integers(2) == 0)
    return graph_def, scope


class Library:
    """P0, P1, ... (x, y) compute and do no more; E0, E1, ... (v, w, x, y) have effects. All give (a, b)."""

    def __init__(self, random, graph_def):
        self.random, self.functions = random, graph_def.library.function
        self.names = {'P': [], 'E': []}
        self.stateful = set()

    def add(self, kind):
        function = self.functions.add()
        name = f'{kind}{len(self.names[kind])}'
        function.signature.name = name
        for arg in ['v', 'w', 'x', 'y'][0 if kind == 'E' else 2:]:
            function.signature.input_arg.add(name=arg, type=RESOURCE if arg in 'vw' else FLOAT)
        for ret in 'ab':
            function.signature.output_arg.add(name=ret, type=FLOAT)
        scope = Scope(self.random, self, function.node_def, function, [('v', '', 0), ('w', '', 0)])
        scope.values += [('x', '', 0), ('y', '', 0)]
        for i in range(self.random.integers(1, 5)):
            scope.write(effect=kind == 'E' and (i == 0 or self.random.integers(2) == 0))
        # TensorFlow optimises the functions of PartitionedCall whatever the session says: then only what results and control
        # results need is sure to run. tf.function makes effects control results, too.
        ends = {'end': scope.end} if kind == 'E' else {'last': scope.nodes[-1]} if self.random.integers(3) == 0 else {}
        for control_output, node in ends.items():
            function.signature.control_output.append(control_output)
            function.control_ret[control_output] = node
        for ret in 'ab':
            function.ret[ret] = scope.name(scope.any())
        function.signature.is_stateful = any(self.is_stateful(node.op) for node in function.node_def)
        if function.signature.is_stateful:
            self.stateful.add(name)
        self.names[kind].append(name)

    def is_stateful(self, op):
        return op in self.stateful if op[1:].isdigit() else op_def_registry.get(op).is_stateful


class Scope:
    """The nodes of a function (or of the graph: `function` is None). A value is (node, name of the output, index in it)."""

    def __init__(self, random, library, nodes, function, variables):
        self.random, self.library, self.into, self.function, self.variables = random, library, nodes, function, variables
        self.values, self.nodes = [], []
        self.end = self.end_value = None

    def one_in(self, count):
        return self.random.integers(count) == 0

    def any(self):
        return self.values[self.random.integers(len(self.values))]

    def name(self, value):
        node, output, index = value
        if self.function is None:
            return f'{node}:{self.output_index(output, index)}'
        return f'{node}:{output}:{index}' if output else node

    @staticmethod
    def output_index(output, index):
        return 1 if output == 'b' else index

    def graph_value(self, value):
        node, output, index = value
        return f'{node}:{self.output_index(str(output), int(index))}'

    def new(self, prefix):
        return f'{prefix}{len(self.into)}'

    def node(self, name, op, inputs, wait=None, **attrs):
        node = self.into.add(name=name, op=op)
        node.input.extend(self.name(value) for value in inputs)
        if wait:
            node.input.append(f'^{wait}')
        for key, value in attrs.items():
            attr = node.attr[key]
            if isinstance(value, bytes):
                attr.s = value
            elif isinstance(value, str):
                attr.func.name = value
            elif isinstance(value, list):
                attr.list.type.extend(value)
            elif hasattr(value, 'tensor_content'):
                attr.tensor.CopyFrom(value)
            elif hasattr(value, 'dim'):
                attr.shape.CopyFrom(value)
            else:
                attr.type = value
        self.nodes.append(name)
        return name

    def constant(self, name, value, wait=None):
        self.node(name, 'Const', [], wait, dtype=FLOAT, value=tf.make_tensor_proto(np.float32(value)))
        return (name, 'output', 0)

    def give(self, *values):
        self.values += values
        return values[-1]

    def write(self, effect):
        if effect:
            self.write_effect()
        else:
            self.write_pure(self.any(), None)

    def call(self, kind, inputs, wait):
        """One of the ways to call a function. Its results are the last two values."""
        names, random = self.library.names[kind], self.random
        types = [RESOURCE] * (len(inputs) - 2) + [FLOAT] * 2
        chosen = names[random.integers(len(names))]
        how = random.integers(4)
        if how == 0:
            name = self.node(self.new('call'), chosen, inputs, wait)
            self.give((name, 'b', 0), (name, 'a', 0))
            return name
        if how == 1:
            half = self.constant(self.new('half'), 0.5)
            less = self.node(self.new('less'), 'Less', [self.any(), half], T=FLOAT)
            op = 'StatelessIf' if kind == 'P' and self.one_in(2) else 'If'
            name = self.node(self.new('if'), op, [(less, 'z', 0), *inputs], wait, Tcond=tf.bool.as_datatype_enum, Tin=types, Tout=[FLOAT] * 2,
                             then_branch=chosen, else_branch=names[random.integers(len(names))])
        else:
            op = 'PartitionedCall' if how == 2 else 'StatefulPartitionedCall'
            name = self.node(self.new('part'), op, inputs, wait, Tin=types, Tout=[FLOAT] * 2, f=chosen)
        self.give((name, 'output', 1), (name, 'output', 0))
        return name

    def write_pure(self, x, wait):
        """Reads x, unless it is a constant. Returns its name; what it computes is the last value."""
        random = self.random
        if self.library.names['P'] and self.one_in(3):
            inputs = [x, self.any()]
            return self.call('P', inputs[::1 if self.one_in(2) else -1], wait)
        kind = random.integers(6)
        if kind == 0:
            size = self.node(self.new('shape'), 'Rank' if self.one_in(2) else 'Size', [x], wait, T=FLOAT)
            name = self.node(self.new('cast'), 'Cast', [(size, 'output', 0)], SrcT=tf.int32.as_datatype_enum, DstT=FLOAT)
            self.give((name, 'y', 0))
        elif kind == 1:
            name = self.give(self.constant(self.new('constant'), random.integers(-4, 5) / 4, wait))[0]
        elif kind < 4:
            name = self.node(self.new('n'), ['Add', 'Sub', 'Mul', 'Maximum'][random.integers(4)], [x, self.any()], wait, T=FLOAT)
            self.give((name, 'z', 0))
        else:
            name = self.node(self.new('n'), 'Neg' if kind == 4 else 'Identity', [x], wait, T=FLOAT)
            self.give((name, 'y' if kind == 4 else 'output', 0))
        return name

    def link(self):
        """What the next effect waits for, and what it reads: one of them follows from the last effect."""
        if self.end is None:
            return None, self.any()
        way, by_value = self.random.integers(4), self.end_value and self.one_in(2)
        if way == 0:
            return self.end, self.any()
        if way == 1 and self.end_value:
            return None, self.end_value
        name = self.write_pure(self.end_value, None) if by_value else self.write_pure(self.any(), self.end)
        if by_value and name.startswith('constant'):
            return self.end, self.any()
        return (None, self.values[-1]) if way == 2 else (name, self.any())

    def write_effect(self):
        random = self.random
        wait, reads = self.link()
        kind = random.integers(9 if self.library.names['E'] else 6)
        variable, value = self.variables[random.integers(2)], None
        if kind < 3:
            name = self.node(self.new('set'), 'AssignVariableOp' if kind == 2 else 'AssignAddVariableOp', [variable, reads], wait, dtype=FLOAT)
        elif kind == 3:
            wait = wait or self.node(self.new('wait'), 'Identity', [reads], T=FLOAT)
            name = self.node(self.new('read'), 'ReadVariableOp', [variable], wait, dtype=FLOAT)
            value = self.give((name, 'value', 0))
        elif kind == 4:
            name = self.new('check')
            self.node(name, 'CheckNumerics', [reads], wait, T=FLOAT, message=name.encode())
            value = self.give((name, 'output', 0))
        elif kind == 5:
            limit = self.constant(self.new('limit'), 20 * random.integers(5))
            below = self.node(self.new('below'), 'LessEqual', [reads, limit], T=FLOAT)
            name = self.node(self.new('assert'), 'Assert', [(below, 'z', 0), reads], wait, T=[FLOAT])
        else:
            pair = [reads, self.any()]
            name = self.call('E', [*self.variables, *pair[::1 if self.one_in(2) else -1]], wait)
            value = self.values[-1 - random.integers(2)]
        self.end, self.end_value = name, value
