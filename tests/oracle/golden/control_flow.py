"""Code shared by the families of TensorFlow 1.x's control flow: graphs of Switch, Merge, Enter, Exit and NextIteration, as
TensorFlow's Python writes them, with the gradients that tf.gradients adds."""
import contextlib
import re

from writer import EXACT, Tolerance, tf1

CLOSE = Tolerance(float32=dict(relative=1e-5, to_largest=1e-6), float64=dict(relative=1e-13, to_largest=1e-14))
TRAINED = Tolerance(float32=dict(relative=1e-4, to_largest=1e-5))


@contextlib.contextmanager
def _first_control_flow():
    later = tf1.control_flow_v2_enabled()
    tf1.disable_control_flow_v2()
    yield
    if later:
        tf1.enable_control_flow_v2()


def record(golden, builders, shortens=False):
    """A case of each function: its documentation is the name, and it gets the case and the family's random numbers."""
    for build in builders:
        with _first_control_flow(), golden.graph(build.__doc__) as case:
            case.shortens = shortens
            build(case, golden.random)


def gives(case, tensors, feeds=None, targets=(), tolerance=EXACT):
    """A step that succeeds. Returns the values."""
    values = case.step(_named(case, tensors), feeds, targets, tolerance)
    case.expect_success()
    return values


def fails(case, tensors, feeds=None, targets=(), part=None):
    """A step that fails with TensorFlow's message, or the part `part` of it if given. The names of stacks and arrays contain
    numbers that depend on the process, so the recorded part begins after them."""
    def words(message):
        if part and part not in message:
            raise ValueError(f'{case.name}: {message}')
        return part or re.sub(r'^(TensorArray TensorArray|Stack\[)\w*', '', message)
    case.step(_named(case, tensors), feeds, targets, message=words)
    if case.succeeded:
        raise ValueError(f'{case.name}: it did not fail')


def _named(case, tensors):
    if not hasattr(case, 'graph_def'):
        case.freeze()
    tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
    return {f'{case.name_of(tensor.op)}:{tensor.value_index}': tensor for tensor in tensors}


def allow_all_fetches(graph):
    """Python refuses fetches and feeds inside conditionals and loops; a program that uses the C API may try them."""
    graph._unfetchable_ops.clear()
    graph._unfeedable_tensors.clear()
