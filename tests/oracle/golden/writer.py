"""Records what TensorFlow computes, as golden cases (tests/c/golden/golden.proto).

    golden = Golden('elementwise')
    golden.op('Add', [a, b])                                             exact
    golden.op('Exp', [a], tolerance=ELEMENTWISE, gradient=True)
    golden.op('Sum', [a, axes], {'keep_dims': True}, tolerance=SUMMED, gradient=True)
    golden.op('ConcatV2', [[a, b], axis])                                a list of tensors is one input
    golden.fails('Add', [a, c])                                          TensorFlow's code and words
    with golden.graph('adam, 5 steps') as case:                          whole graphs and several steps: see Case
        ...
    golden.write()

Inputs are numpy arrays; bfloat16 is tf.bfloat16.as_numpy_dtype, strings are arrays of bytes objects. `golden.random` is the
family's own generator, so that a family's file does not change when another one grows.
"""
import contextlib
import pathlib
import re
import zlib

import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import error_interpolation, op_def_library, op_def_registry

tf1 = tf.compat.v1
error_interpolation.interpolate_graph = lambda message, graph: message  # errors without Python's stack
TESTS = pathlib.Path(__file__).resolve().parents[2]


class Tolerance:
    """How near one has to come: see GoldenValue. What each dtype gets, by TensorFlow's name for it; others are exact."""

    def __init__(self, **by_dtype):
        self.by_dtype = by_dtype


EXACT = Tolerance()
ELEMENTWISE = Tolerance(float32=dict(ulps=4, relative=1e-6), float64=dict(ulps=4, relative=1e-14), half=dict(ulps=1), float16=dict(ulps=1),
                        bfloat16=dict(ulps=1), complex64=dict(relative=2e-6), complex128=dict(relative=4e-14))
# Sums of products: to the sum of their absolute values.
SUMMED = Tolerance(float32=dict(of_magnitude=1e-5), float64=dict(of_magnitude=1e-13), float16=dict(of_magnitude=2e-3),
                   bfloat16=dict(of_magnitude=1.6e-2), complex64=dict(of_magnitude=1e-5), complex128=dict(of_magnitude=1e-13))
# The same where no op gives that sum: to the largest element of the result.
TO_LARGEST = Tolerance(**{dtype: dict(to_largest=limits['of_magnitude']) for dtype, limits in SUMMED.by_dtype.items()})


ALL_DTYPES = ['float32', 'float64', 'float16', 'bfloat16', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'int64', 'uint32', 'uint64',
              'complex64', 'complex128', 'bool', 'string']


def _known_ops(file):
    ops = op_def_pb2.OpList()
    text_format.Parse((TESTS / 'data' / file).read_text(), ops)
    return {op.name: op for op in ops.op}


OPS = _known_ops('ops.pbtxt')
LATER_OPS = _known_ops('ops-2.pbtxt')  # this library's ops, as TensorFlow 2 defines them


def dtypes(op, attr='T', of=None):
    """The numpy types that the OpDef of TensorFlow 1.15 allows for an attr, quantized types left out; `of`: those of a list of kinds
    ('f' floating, 'i' signed and 'u' unsigned integers, 'b' bool, 'c' complex, 'S' strings)."""
    spec = next(a for a in OPS[op].attr if a.name == attr)
    allowed = spec.allowed_values.list.type or [tf.as_dtype(name).as_datatype_enum for name in ALL_DTYPES]
    found = [tf.as_dtype(number) for number in allowed]
    found = [t for t in found if t.name in ALL_DTYPES and (of is None or kind(t) in of)]
    return [np.dtype(object) if t == tf.string else np.dtype(t.as_numpy_dtype) for t in found]


def kind(dtype):
    dtype = tf.string if dtype == np.dtype(object) else tf.as_dtype(dtype)
    return ('S' if dtype == tf.string else 'b' if dtype == tf.bool else 'c' if dtype.is_complex else 'f' if dtype.is_floating
            else 'u' if dtype.is_unsigned else 'i')


def _varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _message(*fields):
    """The bytes of a message. A field is (number, value) or (number, values); None, 0 and '' are left out."""
    out = b''
    for number, values in fields:
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, str):
                value = value.encode()
            if isinstance(value, float):
                if value:
                    out += _varint(number << 3 | 5) + np.float32(value).tobytes()
            elif isinstance(value, int):
                if value:
                    out += _varint(number << 3) + _varint(value)
            elif value is not None and (value or isinstance(values, list)):
                out += _varint(number << 3 | 2) + _varint(len(value)) + value
    return out


def _serialized(proto):
    return proto.SerializeToString(deterministic=True)


def _tensor(value, dtype=None):
    proto = tf.make_tensor_proto(value, dtype=tf.string if dtype == tf.string else None)
    if dtype is not None and dtype.base_dtype.is_quantized:  # sessions give the integers
        proto.dtype = dtype.base_dtype.as_datatype_enum
    return _serialized(proto)


NOTES = ('grad_a', 'grad_b')  # which later versions keep of where a MatMul comes from


def _graph_def(graph, keep=()):
    """The graph without what TensorFlow 1.15 does not know and without attrs that have their default. `keep`: underscored attrs."""
    graph_def = graph.as_graph_def()
    nodes = list(graph_def.node) + [node for function in graph_def.library.function for node in function.node_def]
    for node in nodes:
        op_def = op_def_registry.get(node.op)
        if op_def is None:
            continue
        defaults = {attr.name: attr.default_value for attr in op_def.attr if attr.HasField('default_value')}
        for name in list(node.attr):
            if name in keep:
                continue
            if name.startswith('_') or name in NOTES or (name in defaults and node.attr[name] == defaults[name]):
                del node.attr[name]
            elif node.op in OPS and all(attr.name != name for attr in LATER_OPS.get(node.op, OPS[node.op]).attr):
                raise ValueError(f'{node.op} has an attr {name}={node.attr[name]} that the op does not have here')
    graph_def.versions.min_consumer = 0
    graph_def.versions.producer = min(134, graph_def.versions.producer)  # lower for ops that are deprecated since
    return graph_def


def _shorten(graph_def):
    """Numbers the scopes in the names of nodes, which are most of a graph with gradients of loops. Returns old name -> new name."""
    scopes, names = {}, {}
    for node in graph_def.node:
        scope, _, last = node.name.rpartition('/')
        names[node.name] = f'{scopes.setdefault(scope, len(scopes))}/{last}' if scope else last
    for node in graph_def.node:
        node.name = names[node.name]
        node.input[:] = [re.sub(r'[^^:]+', lambda found: names[found[0]], name, count=1) for name in node.input]
        places = node.attr['_class'].list.s if '_class' in node.attr else []
        places[:] = [re.sub(rb'(?<=@).*', lambda found: names[found[0].decode()].encode(), place) for place in places]
    return names


def _with_defaults(op, attrs):
    """All attrs that do not follow from the inputs."""
    op_def = op_def_registry.get(op)
    inferred = {name for arg in op_def.input_arg for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    missing = [attr for attr in op_def.attr if attr.name not in attrs and attr.name not in inferred and attr.HasField('default_value')]
    return attrs | {attr.name: _plain(attr.default_value) for attr in missing}


def _plain(value):
    """An AttrValue as Python has it."""
    kind = value.WhichOneof('value')
    if kind == 'list':
        lists = value.list
        return next(([*map(tf.as_dtype, items)] if name == 'type' else [*items] for name, items in
                     ((field.name, getattr(lists, field.name)) for field in lists.DESCRIPTOR.fields) if len(items)), [])
    plain = getattr(value, kind)
    return tf.as_dtype(plain) if kind == 'type' else tf.TensorShape(plain) if kind == 'shape' else plain


def _message_core(error):
    """The words of an error without the places it came through."""
    text = error.message.split('\n')[0]
    text = re.sub(r'^(\{\{(function_)?node [^}]*\}\}\s*)+', '', text)
    return re.sub(r'\s*\[\[\{\{node.*$', '', text).strip()


def _as_written(threads=0):
    """A session that runs graphs as they are written; `threads` of an op, when that is not left to TensorFlow."""
    config = tf1.ConfigProto(intra_op_parallelism_threads=threads)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
    return config


def golden_file(cases):
    return _message((1, cases))


class NoKernel(Exception):
    """TensorFlow has no kernel for the types of a case."""


@contextlib.contextmanager
def _kernels():
    """Errors that say so become NoKernel. (The OpDefs of TensorFlow 2 take fewer types than 1.15's in places.)"""
    try:
        yield
    except (tf.errors.OpError, TypeError) as error:
        if re.search('No OpKernel was registered|Could not find device|not in list of allowed values|does not match type|data type is not supported', str(error)):
            raise NoKernel from error
        raise


class Case:
    """A graph, its gradients, and steps. Inside `with golden.graph(name) as case` TensorFlow's default graph is the case's."""

    def __init__(self, name, threads=0):
        self.name, self.threads = name, threads
        self.shortens = False  # the names of nodes in the file
        self.short_names = {}
        self.gradients = self.training = None
        self.import_code = 0
        self.steps = []
        self.session = None
        self.graph = tf.Graph()

    def add_gradients(self, ys, xs, grad_ys):
        """Gradients that both sides add. Returns TensorFlow's, None where there is no path; `xs` keeps those with one."""
        with _kernels():
            found = tf.gradients(ys, xs, grad_ys=grad_ys)
        found = [None if dx is None else tf.convert_to_tensor(dx) for dx in found]
        reached = [(x, dx) for x, dx in zip(xs, found) if dx is not None]
        if reached:
            self.dx = [dx for _, dx in reached]
            names = [[f'{self.name_of(value.op)}:{value.value_index}' for value in values] for values in (ys, grad_ys or [], [x for x, _ in reached])]
            self.gradients = _message(*enumerate(names, 1))
        return found

    def freeze(self, keep=()):
        """The graph that goes into the file is the one of this moment; later nodes are TensorFlow's alone."""
        self.graph_def = _graph_def(self.graph, keep)
        if self.shortens:
            self.short_names = _shorten(self.graph_def)

    def name_of(self, operation):
        """What it is called in the file."""
        return self.short_names.get(operation.name, operation.name)

    def _fed_name(self, tensor):
        return self.name_of(tensor.op) + (f':{tensor.value_index}' if tensor.value_index else '')

    def run(self, fetches, feeds=None, timeout_ms=0):
        """The values of tensors, in the case's session. Nothing is recorded."""
        self.session = self.session or tf1.Session(graph=self.graph, config=_as_written(self.threads))
        with _kernels():
            return self.session.run(fetches, feeds, tf1.RunOptions(timeout_in_ms=timeout_ms))

    def step(self, fetches, feeds=None, targets=(), tolerance=EXACT, magnitudes=None, message=None):
        """Runs `fetches` (name in the file -> tensor) in this case's session and records what comes, or the failure;
        `message` replaces TensorFlow's message, or is a function that converts it."""
        if not hasattr(self, 'graph_def'):
            self.freeze()
        feeds = feeds or {}
        code, words, values = 0, '', []
        try:
            values = self.run([list(fetches.values()), list(targets)], feeds)[0]
        except tf.errors.OpError as error:
            core = _message_core(error)
            code, words = error.error_code, message(core) if callable(message) else message or core
        self.succeeded, self.words = code == 0, words
        fetched = []
        for i, (name, value) in enumerate(zip(fetches, values)):
            chosen = tolerance[i] if isinstance(tolerance, (list, tuple)) else tolerance
            value = np.asarray(value, object if fetches[name].dtype == tf.string else None)  # numpy's strings lose NULs at their end
            fetched.append(self._value(name, value, fetches[name].dtype, chosen, magnitudes and magnitudes[i]))
        if code:
            fetched = [_message((1, name)) for name in fetches]
        fed = [_message((1, self._fed_name(tensor)), (2, _tensor(value))) for tensor, value in feeds.items()]
        self.steps.append(_message((1, fed), (2, fetched), (3, [self.name_of(target) for target in targets]), (4, code), (5, words)))
        return values

    def expect_success(self):
        """Of the last step; else the family is wrong."""
        if not self.succeeded:
            raise ValueError(f'{self.name}: {self.words}')

    def train(self, loss, variables, optimizer, scalars):
        """The case is a training: see GoldenTraining. Its steps are recorded with `record`."""
        named = [_message((1, key), (2, float(value))) for key, value in scalars.items()]
        self.training = _message((1, loss), (2, list(variables)), (3, optimizer), (4, named))

    def record(self, feeds, fetches, tolerance=EXACT):
        """A step that was run elsewhere: names -> values."""
        fed = [_message((1, name), (2, _tensor(value))) for name, value in feeds.items()]
        fetched = [self._value(name, np.asarray(value), tf.as_dtype(np.asarray(value).dtype), tolerance, None) for name, value in fetches.items()]
        self.steps.append(_message((1, fed), (2, fetched)))

    def record_code(self, feeds, fetches, targets, code):
        """A step of which the code alone counts; None: how it ends is not known, but it does. All are names, `feeds` with values."""
        fed = [_message((1, name), (2, _tensor(value))) for name, value in feeds.items()]
        self.steps.append(_message((1, fed), (2, [_message((1, name)) for name in fetches]), (3, targets), (4, code),
                                   (6, 200), (7, int(code is None))))

    @staticmethod
    def _value(name, value, dtype, tolerance, magnitude):
        limits = tolerance.by_dtype.get(dtype.base_dtype.name, {}) if value.size else {}
        scale = limits.get('of_magnitude', 0)
        if 'to_largest' in limits or (scale and magnitude is None):
            scale = limits.get('to_largest', scale)
            finite = np.abs(value.astype(np.complex128)) if value.dtype.kind == 'c' else np.abs(value.astype(np.float64))
            finite = finite[np.isfinite(finite)]
            magnitude = np.float32(finite.max() if finite.size else 0)
        if scale:
            magnitude = np.abs(np.asarray(magnitude)).astype(np.float32)
        return _message((1, name), (2, _tensor(value, dtype)),
                        (3, float(limits.get('ulps', 0))), (4, float(limits.get('relative', 0))), (5, float(scale)),
                        (6, _tensor(magnitude) if scale else None))

    def message(self):
        return _message((1, self.name), (2, _serialized(self.graph_def)), (3, self.gradients), (4, self.steps), (5, self.training),
                        (6, self.import_code))


class Golden:
    def __init__(self, family):
        self.family = family
        self.random = np.random.default_rng(zlib.crc32(family.encode()))
        self.cases, self.wrong = [], []
        self.ops = set()

    @contextlib.contextmanager
    def graph(self, name, threads=0):
        case = Case(name, threads)
        with case.graph.as_default():
            yield case
        if case.session:
            case.session.close()
        self.cases.append(case.message())
        self.ops.update(node.op for node in case.graph_def.node)

    def op(self, op, inputs, attrs=None, *, name='', tolerance=EXACT, gradient=False, gradient_tolerance=None, differentiable=None, outputs=None):
        """One op, fed with `inputs`. With `gradient` also what TensorFlow's gradient gives for random gradients of its floating
        outputs (or those in `differentiable`), with regard to every floating input. `outputs`: those to compare, when not all.
        A case for which TensorFlow has no kernel is left out; one for whose gradient it has none goes without."""
        try:
            self._op(op, inputs, attrs, name, tolerance, gradient, gradient_tolerance, differentiable, outputs)
        except NoKernel:
            if gradient:
                self.op(op, inputs, attrs, name=name, tolerance=tolerance, outputs=outputs)

    def _op(self, op, inputs, attrs, name, tolerance, gradient, gradient_tolerance, differentiable, outputs):
        with self.graph(f'{op} {name or self._describe(inputs, attrs)}') as case:
            feeds, results = self._build(op, inputs, attrs)
            chosen = range(len(results)) if outputs is None else outputs
            fetches = {f'op:{i}': results[i] for i in chosen}
            tolerances, magnitudes = [tolerance] * len(fetches), self._magnitudes(op, inputs, attrs, tolerance, list(chosen))
            if gradient:
                ys = [y for i, y in enumerate(results) if self._has_gradient(y) and (differentiable is None or i in differentiable)]
                xs = [x for x in feeds if self._has_gradient(x)]
                values = case.run(ys, feeds)
                dys = [tf1.placeholder(y.dtype, value.shape, f'dy{i}') for i, (y, value) in enumerate(zip(ys, values))]
                for dy, value in zip(dys, values):
                    feeds[dy] = self._like(value)
                case.freeze()
                case.add_gradients(ys, xs, dys)
                if case.gradients is None:
                    raise ValueError(f'{op} has no gradient')
                fetches.update({f'dx:{i}': dx for i, dx in enumerate(case.dx)})
                tolerances += [gradient_tolerance or (tolerance if tolerance is not EXACT else ELEMENTWISE)] * len(case.dx)
                if magnitudes:
                    magnitudes += self._gradient_magnitudes(op, inputs, attrs, ys, feeds, dys)
            targets = [] if results else [case.graph.get_operation_by_name('op')]
            case.step(fetches, feeds, targets=targets, tolerance=tolerances, magnitudes=magnitudes)
            if not case.succeeded:
                self.wrong.append(f'{case.name}: {case.words}')

    def fails(self, op, inputs, attrs=None, *, name='', message=None):
        """A step that fails, with TensorFlow's code and message, or with `message` if TensorFlow's message is not required."""
        case = self._attempt(op, inputs, attrs, f'fails: {self._describe(inputs, attrs)} {name}', message)
        if case.succeeded:
            self.wrong.append(f'{case.name}: it did not fail')

    def either(self, op, inputs, attrs=None, *, name='', message=None):
        """A step that may succeed or fail, as it does in TensorFlow."""
        self._attempt(op, inputs, attrs, f'of {name}', message)

    def _attempt(self, op, inputs, attrs, name, message):
        with self.graph(f'{op} {name}') as case:
            feeds, results = self._build(op, inputs, attrs)
            operation = case.graph.get_operation_by_name('op')
            case.step({f'op:{i}': y for i, y in enumerate(results)}, feeds, targets=[] if results else [operation], message=message)
        return case

    @staticmethod
    def _describe(inputs, attrs):
        flat = [x for value in inputs for x in (value if isinstance(value, list) else [value])]
        shown = ', '.join(f'{tf.as_dtype(x.dtype).name if x.dtype.kind not in "OS" else "string"}{list(x.shape)}' for x in map(np.asarray, flat))
        more = ''.join(f' {key}={value.name if isinstance(value, tf.DType) else value}' for key, value in (attrs or {}).items())
        return shown + more

    @staticmethod
    def _build(op, inputs, attrs, static_shapes=False):
        """Placeholders x0, x1 ... of unknown shape and the node "op" on them. Returns {placeholder: value} and the outputs."""
        feeds = {}

        def placeholder(value):
            value = np.asarray(value)
            dtype = tf.string if value.dtype.kind in 'OS' else tf.as_dtype(value.dtype)
            made = tf1.placeholder(dtype, value.shape if static_shapes else None, f'x{len(feeds)}')
            feeds[made] = value
            return made

        given = {}
        for arg, value in zip(op_def_registry.get(op).input_arg, inputs):
            given[arg.name] = [placeholder(x) for x in value] if isinstance(value, list) else placeholder(value)
        with _kernels():
            op_def_library.apply_op(op, name='op', **given, **_with_defaults(op, attrs or {}))
        operation = tf1.get_default_graph().get_operation_by_name('op')
        return feeds, list(operation.outputs)

    @staticmethod
    def _has_gradient(tensor):
        return tensor.dtype.base_dtype.is_floating or tensor.dtype.base_dtype.is_complex

    def _like(self, value):
        value = np.asarray(value)
        made = self.random.standard_normal(value.shape)
        if value.dtype.kind == 'c':
            made = made + 1j * self.random.standard_normal(value.shape)
        return np.asarray(made).astype(value.dtype)

    def _magnitudes(self, op, inputs, attrs, tolerance, chosen):
        """The same op on absolute values, when the tolerance is about sums."""
        if tolerance is not SUMMED:
            return None
        with tf.Graph().as_default() as graph, tf1.Session(graph=graph, config=_as_written()) as session:
            feeds, results = self._build(op, [_absolute(value) for value in inputs], attrs)
            return session.run([results[i] for i in chosen], feeds)

    def _gradient_magnitudes(self, op, inputs, attrs, ys, feeds, dys):
        values = {dy.op.name: np.abs(feeds[dy]) for dy in dys}
        names = [y.name for y in ys]
        with tf.Graph().as_default() as graph, tf1.Session(graph=graph, config=_as_written()) as session:
            absolute, results = self._build(op, [_absolute(value) for value in inputs], attrs)
            ys = [y for y in results if y.name in names]
            xs = [x for x in absolute if self._has_gradient(x)]
            dys = [tf1.placeholder(y.dtype, None, name) for y, name in zip(ys, values)]
            found = [tf.convert_to_tensor(dx) for dx in tf.gradients(ys, xs, grad_ys=dys) if dx is not None]
            absolute.update(zip(dys, values.values()))
            return session.run(found, absolute)

    def write(self):
        if self.wrong:
            raise ValueError('these did not behave as the family says:\n  ' + '\n  '.join(self.wrong))
        path = TESTS / 'data' / 'golden' / f'{self.family}.pb'
        path.write_bytes(golden_file(self.cases))
        print(f'{self.family}: {len(self.cases)} cases of {len(self.ops - {"Placeholder"})} ops, {path.stat().st_size:,} bytes')


def _absolute(value):
    if isinstance(value, list):
        return [_absolute(x) for x in value]
    value = np.asarray(value)
    return np.abs(value).astype(value.dtype) if value.dtype.kind in 'fcV' else value
