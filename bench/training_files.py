"""Makes the ONNX graphs of the training steps of training.mjs: forward, loss, gradients and updated weights, all by hand.

`python3 bench/training_files.py` writes a file for each network of native_training.py into the user's cache folder,
tfcore-wasm/bench-training, and prints the paths as a JSON object by the names of the networks, in its last line.

A graph has the inputs `x` (images as [batch, channels, height, width]), `labels` (one-hot), and `w0`, `b0`, `w1`, ... of the layers;
its outputs are `loss` and the new `w0`, `b0`, ... as `new_w0`, ... Filters are [outputs, inputs, height, width]. The rows of a dense
layer after a convolution are in the order of its channels, then of its pixels.

The arrangement is the fastest of those that were measured in onnxruntime-web: gradients by the filter are one product of dy and
the pixels that each place of a window sees, which is faster than a convolution of transposed tensors; gradients by the image are
a convolution with the filter turned around, as fast as ConvTranspose; the update of a dense layer is part of the product.
"""
import json

from model_files import CACHE  # which installs onnx, too
from native_training import RATE, STEPS

import numpy as np  # noqa: E402
from onnx import TensorProto, checker, helper, numpy_helper  # noqa: E402

OPSET, IR_VERSION = 18, 10
WINDOW = {'kernel_shape': [2, 2], 'strides': [2, 2]}


class Steps:
    """The nodes of a graph, in order. Each method adds one and returns the name of its first output."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def add(self, op, *inputs, outputs=1, name=None, **attributes):
        names = [name or f'{op}_{len(self.nodes)}_{i}' for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value):
        name = f'constant_{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def floats(self, value):
        return self.constant(np.float32(value))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))


class Convolution:
    """A convolution with zeros around the image, a Relu, and a pooling of 2 x 2. Images and windows are square."""

    def __init__(self, steps, index, shape, size):
        self.steps, self.index, self.size = steps, index, size
        self.window, _, self.inputs, self.outputs = shape
        self.w, self.b, self.around = f'w{index}', f'b{index}', [self.window // 2] * 4

    def forward(self, x):
        s = self.steps
        self.x = x
        y = s.add('Relu', s.add('Conv', x, self.w, self.b, pads=self.around))
        self.y, self.places = s.add('MaxPool', y, outputs=2, **WINDOW)
        return self.y

    def backward(self, dy):
        """The Relu's gradient is taken after the pooling, where it is smaller: both keep what is positive."""
        s = self.steps
        passed = s.add('Where', s.add('Greater', self.y, s.floats(0)), dy, s.floats(0))
        dconv = s.add('MaxUnpool', passed, self.places, **WINDOW)
        descend(s, self.w, self.filter_gradient(dconv))
        descend(s, self.b, s.add('ReduceSum', passed, s.integers(0, 2, 3), keepdims=0))
        return None if self.index == 0 else self.image_gradient(dconv)

    def filter_gradient(self, dconv):
        """One product of dy and all pixels that the places of a window see, by channels."""
        s, (before, _, after, _) = self.steps, self.around
        by_channel = {'perm': [1, 0, 2, 3]}
        x = s.add('Pad', s.add('Transpose', self.x, **by_channel), s.integers(0, 0, before, before, 0, 0, after, after))
        seen = [s.add('Slice', x, s.integers(i, j), s.integers(i + self.size, j + self.size), s.integers(2, 3))
                for i in range(self.window) for j in range(self.window)]
        pixels = s.add('Reshape', s.add('Concat', *seen, axis=0), s.integers(len(seen) * self.inputs, -1))
        dy = s.add('Reshape', s.add('Transpose', dconv, **by_channel), s.integers(self.outputs, -1))
        dw = s.add('Reshape', s.add('Gemm', dy, pixels, transB=1), s.integers(self.outputs, -1, self.inputs))
        shape = s.integers(self.outputs, self.inputs, self.window, self.window)
        return s.add('Reshape', s.add('Transpose', dw, perm=[0, 2, 1]), shape)

    def image_gradient(self, dconv):
        """A convolution with the filter turned around."""
        s = self.steps
        last, end = s.integers(-1, -1), s.integers(-self.window - 1, -self.window - 1)
        turned = s.add('Slice', s.add('Transpose', self.w, perm=[1, 0, 2, 3]), last, end, s.integers(2, 3), last)
        return s.add('Conv', dconv, turned, pads=self.around)


class Dense:
    """A matrix product, and a Relu unless it is the last layer."""

    def __init__(self, steps, index, last):
        self.steps, self.index, self.last, self.w, self.b = steps, index, last, f'w{index}', f'b{index}'

    def forward(self, x):
        s = self.steps
        self.image = x
        self.x = s.add('Flatten', x)
        y = s.add('Gemm', self.x, self.w, self.b)
        self.y = y if self.last else s.add('Relu', y)
        return self.y

    def backward(self, dy):
        """The update of the weights is part of the product that is their gradient."""
        s = self.steps
        if not self.last:
            dy = s.add('Where', s.add('Greater', self.y, s.floats(0)), dy, s.floats(0))
        s.add('Gemm', self.x, dy, self.w, transA=1, alpha=-RATE, name=f'new_{self.w}')
        descend(s, self.b, s.add('ReduceSum', dy, s.integers(0), keepdims=0))
        if self.index == 0:
            return None
        dx = s.add('Gemm', dy, self.w, transB=1)
        return s.add('Reshape', dx, s.add('Shape', self.image))


def descend(s, weight, gradient):
    s.add('Sub', weight, s.add('Mul', gradient, s.floats(RATE)), name=f'new_{weight}')


def loss_and_gradient(s, logits, batch):
    log = s.add('LogSoftmax', logits, axis=1)
    s.add('Mul', s.add('ReduceSum', s.add('Mul', log, 'labels'), keepdims=0), s.floats(-1 / batch), name='loss')
    return s.add('Mul', s.add('Sub', s.add('Exp', log), 'labels'), s.floats(1 / batch))


def layers_of(s, shape, layers):
    size = shape[1]
    for i, (kind, weights) in enumerate(layers):
        if kind == 'convolution':
            yield Convolution(s, i, weights, size)
            size //= 2
        else:
            yield Dense(s, i, last=kind == 'last')


def values_of(shape, layers):
    """The shapes of the inputs by name."""
    values = {'x': [*shape[:1], *shape[-1:], *shape[1:-1]] if len(shape) > 2 else shape,
              'labels': [shape[0], layers[-1][1][-1]]}
    for i, (_, weights) in enumerate(layers):
        values[f'w{i}'] = weights if len(weights) == 2 else [weights[3], weights[2], *weights[:2]]
        values[f'b{i}'] = weights[-1:]
    return values


def graph_of(name, shape, layers):
    s, y = Steps(), 'x'
    made = list(layers_of(s, shape, layers))
    for layer in made:
        y = layer.forward(y)
    dy = loss_and_gradient(s, y, shape[0])
    for layer in reversed(made):
        dy = layer.backward(dy)
    values = values_of(shape, layers)
    info = {key: helper.make_tensor_value_info(key, TensorProto.FLOAT, dims) for key, dims in values.items()}
    outputs = [helper.make_tensor_value_info('loss', TensorProto.FLOAT, [])]
    outputs += [helper.make_tensor_value_info(f'new_{key}', TensorProto.FLOAT, dims)
                for key, dims in values.items() if key not in ('x', 'labels')]
    graph = helper.make_graph(s.nodes, name, list(info.values()), outputs, s.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=IR_VERSION)
    checker.check_model(model)
    return model


def main():
    folder = CACHE / 'bench-training'
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, (shape, layers) in STEPS.items():
        path = folder / f'{name.split()[0]}.onnx'
        path.write_bytes(graph_of(name, shape, layers).SerializeToString())
        files[name] = str(path)
    print(json.dumps(files))


if __name__ == '__main__':
    main()
