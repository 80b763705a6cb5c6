"""Runs random graphs in TensorFlow and makes golden cases of the answers (tests/c/golden/golden.proto)."""
import contextlib
import random

import numpy as np
import tensorflow as tf

from control_flow import CLOSE, allow_all_fetches
from mutations import break_graph
from random_graphs import RandomGraph
from writer import EXACT, Case, golden_file, tf1

TIMEOUT_MS = 2000  # of a step of a broken graph in TensorFlow
REPEATS = 3
FETCHED = (tf.float32, tf.int32, tf.bool)


def cases(kind, seed):
    """Yields files with one case, each replacing the previous one: with fewer answers first, in case TensorFlow does not survive."""
    tf1.disable_control_flow_v2()
    for case in {'sound': _sound, 'broken': _broken}[kind](f'{kind} {seed}', random.Random(f'{kind} {seed}')):
        yield golden_file([case])


def _build(name, rng):
    case = Case(name)
    case.shortens = True
    with case.graph.as_default():
        made = RandomGraph(rng)
        case.freeze()
    allow_all_fetches(case.graph)
    return case, made


def _some_tensors(graph, rng, count):
    operations = [operation for operation in graph.get_operations() if operation.type != 'Placeholder']
    tensors = [tensor for operation in operations for tensor in operation.outputs if tensor.dtype in FETCHED and graph.is_feedable(tensor)]
    return rng.sample(tensors, min(count, len(tensors)))


def _may_be_dead(operation):
    """Whether the node is in a branch. A value that is fed there is alive, so that a Merge may take either of two."""
    if operation.type in ('Switch', '_SwitchN'):
        return True
    sources = [*(tensor.op for tensor in operation.inputs), *operation.control_inputs]
    return operation.type not in ('Merge', 'Exit') and any(map(_may_be_dead, sources))


def _sound(name, rng):
    case, made = _build(name, rng)
    tensors = _some_tensors(case.graph, rng, 4)
    with case.graph.as_default():
        alive = case.graph.get_tensor_by_name('alive:0')
        _add_gradients(case, made, rng)
        for _ in range(3):
            feeds = made.feed_values()
            for fetches in (made.outputs, [rng.choice(made.outputs)], [rng.choice(tensors)]):
                _step(case, made, fetches, feeds)
        if case.gradients:
            _step(case, made, [made.outputs[-1]], feeds, gradients=True)
        fed = rng.choice([tensor for tensor in tensors if not _may_be_dead(tensor.op)] or made.feeds)
        inside = {**feeds, fed: np.full(fed.shape, rng.randrange(2), fed.dtype.as_numpy_dtype)} if fed.shape.rank == 0 else feeds
        _step(case, made, [rng.choice([y for y in [*made.outputs, alive] if y is not fed])], inside)
        _step(case, made, [alive], {})
    yield case.message()


def _add_gradients(case, made, rng):
    # TensorFlow has no gradient of a function with control flow.
    if rng.random() < 0.4 and not made.functions and not made.nests_wired:
        try:
            case.add_gradients([made.outputs[-1]], made.feeds, None)
        except (ValueError, TypeError, LookupError, AttributeError):  # TensorFlow's Python has no gradient for it
            case.gradients = None


def _step(case, made, fetches, feeds, gradients=False):
    named = {f'{case.name_of(tensor.op)}:{tensor.value_index}': tensor for tensor in fetches}
    if gradients:
        named |= {f'dx:{i}': dx for i, dx in enumerate(case.dx)}
    if made.initializers:
        case.step({}, targets=made.initializers)
    case.step(named, feeds, tolerance=CLOSE if gradients else EXACT, message=lambda words: '')


def _broken(name, rng):
    sound, made = _build(name, rng)
    case = Case(name)
    case.graph_def = sound.graph_def
    types = {sound.name_of(operation): [tensor.dtype for tensor in operation.outputs] for operation in sound.graph.get_operations()}
    break_graph(case.graph_def, types, rng)
    outputs = [f'{sound.name_of(tensor.op)}:{tensor.value_index}' for tensor in made.outputs]
    feeds = {sound.name_of(tensor.op): value for tensor, value in made.feed_values().items()}
    steps = [(outputs, feeds), ([rng.choice(outputs)], feeds), (['alive:0'], {})]
    initializers = [sound.name_of(operation) for operation in made.initializers]
    answers = []
    yield _with_codes(case, steps, initializers, answers)
    try:
        with case.graph.as_default():
            tf1.import_graph_def(case.graph_def, name='')
    except ValueError:  # what the C API calls INVALID_ARGUMENT
        case.import_code, case.steps = tf.errors.INVALID_ARGUMENT, []
        yield case.message()
        return
    allow_all_fetches(case.graph)
    for step in steps:
        answers.append([_code_of(case, *step, initializers) for _ in range(REPEATS)])
        yield _with_codes(case, steps, initializers, answers)


def _code_of(case, fetches, feeds, initializers):
    case.session = None
    if initializers:
        with contextlib.suppress(tf.errors.OpError):  # a step of its own in the file
            case.run([[], [case.graph.get_operation_by_name(name) for name in initializers]], timeout_ms=TIMEOUT_MS)
    try:
        case.run([[case.graph.get_tensor_by_name(name) for name in fetches], []],
                 {case.graph.get_tensor_by_name(f'{name}:0'): value for name, value in feeds.items()}, TIMEOUT_MS)
    except tf.errors.OpError as error:
        return error.error_code
    return 0


def _with_codes(case, steps, initializers, answers):
    """The case with the codes of the first steps; the others may end in any way."""
    case.steps = []
    for i, (fetches, feeds) in enumerate(steps):
        if initializers:
            case.record_code({}, [], initializers, None)
        codes = set(answers[i]) if i < len(answers) else set()
        case.record_code(feeds, fetches, [], codes.pop() if len(codes) == 1 else None)
    return case.message()
