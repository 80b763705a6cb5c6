"""Breaks the control flow of a GraphDef: edges, frames and ops change at random, and the types of inputs stay right."""

CONTROL_FLOW = ('Switch', 'Merge', 'Enter', 'Exit', 'NextIteration', 'LoopCond')


def break_graph(graph_def, types, random):
    """Changes it in one to three ways. `types` maps the name of a node to the types of its outputs."""
    for _ in range(random.randrange(1, 4)):
        random.choice(_MUTATIONS)(graph_def, types, random)


def _nodes(graph_def, *ops):
    return [node for node in graph_def.node if node.op in ops]


def _place_of(name):
    node, _, index = name.partition(':')
    return node, int(index or 0)


def _retarget(graph_def, types, random):
    """A data input comes from another output of the same type."""
    node = random.choice([node for node in graph_def.node if any(not name.startswith('^') for name in node.input)])
    at = random.choice([i for i, name in enumerate(node.input) if not name.startswith('^')])
    source, index = _place_of(node.input[at])
    wanted = types[source][index]
    others = [f'{name}:{i}' for name, outputs in types.items() for i, dtype in enumerate(outputs) if dtype == wanted]
    node.input[at] = random.choice(others)


def _retarget_flow(graph_def, types, random):
    """The same for an op of control flow, with an output of a near node."""
    nodes = _nodes(graph_def, *CONTROL_FLOW)
    if not nodes:
        return
    node = random.choice(nodes)
    source, index = _place_of(node.input[0])
    near = [name for other in nodes for name in other.input if not name.startswith('^')]
    same = [name for name in near if types[_place_of(name)[0]][_place_of(name)[1]] == types[source][index]]
    node.input[0] = random.choice(same)


def _bypass(graph_def, types, random):
    """The readers of an op of control flow read its input instead."""
    nodes = _nodes(graph_def, *CONTROL_FLOW)
    if not nodes:
        return
    gone = random.choice(nodes)
    for node in graph_def.node:
        for i, name in enumerate(node.input):
            if not name.startswith('^') and name.partition(':')[0] == gone.name and _place_of(name)[1] < len(types[gone.name]):
                if _same_type(types, name, gone.input[0]):
                    node.input[i] = gone.input[0]


def _same_type(types, a, b):
    return types[_place_of(a)[0]][_place_of(a)[1]] == types[_place_of(b)[0]][_place_of(b)[1]]


def _drop_control(graph_def, types, random):
    nodes = [node for node in graph_def.node if any(name.startswith('^') for name in node.input)]
    if nodes:
        node = random.choice(nodes)
        node.input.remove(random.choice([name for name in node.input if name.startswith('^')]))


def _add_control(graph_def, types, random):
    node, source = random.choice(graph_def.node), random.choice(graph_def.node)
    if f'^{source.name}' not in node.input:
        node.input.append(f'^{source.name}')


def _rename_frame(graph_def, types, random):
    enters = _nodes(graph_def, 'Enter')
    if enters:
        names = [node.attr['frame_name'].s for node in enters]
        random.choice(enters).attr['frame_name'].s = random.choice([*names, b'', b'other'])


def _join_frames(graph_def, types, random):
    """All Enters of a frame enter another one."""
    enters = _nodes(graph_def, 'Enter')
    if enters:
        old, new = (random.choice(enters).attr['frame_name'].s for _ in range(2))
        for node in enters:
            if node.attr['frame_name'].s == old:
                node.attr['frame_name'].s = new


def _change_op(graph_def, types, random):
    """An op with one input and one output becomes another one."""
    nodes = _nodes(graph_def, 'Enter', 'Exit', 'NextIteration')
    if nodes:
        node = random.choice(nodes)
        node.op = random.choice(['Exit', 'NextIteration', 'Identity'])
        for name in ('frame_name', 'is_constant', 'parallel_iterations'):
            node.attr.pop(name, None)


def _change_enter(graph_def, types, random):
    enters = _nodes(graph_def, 'Enter')
    if enters:
        node = random.choice(enters)
        node.attr['is_constant'].b = not node.attr['is_constant'].b
        node.attr['parallel_iterations'].i = random.choice([1, 2, 10])


def _drop_condition(graph_def, types, random):
    """The readers of a LoopCond read what it reads."""
    for node in _nodes(graph_def, 'LoopCond')[:1]:
        node.op = 'Identity'
        node.attr['T'].type = 10  # DT_BOOL


_MUTATIONS = [_retarget, _retarget, _retarget_flow, _retarget_flow, _bypass, _drop_control, _add_control, _rename_frame, _join_frames,
              _change_op, _change_enter, _drop_condition]
