"""Writes tests/data/oracle/window_ops.txt: what TensorFlow's convolutions and pooling give for a handful of settings.

Run with any Python that has TensorFlow 2 (package tensorflow-cpu). Each case is three lines: the op with its attrs, its inputs and its
output, as tests/c/op_runner.h reads them. Inputs are small dyadic numbers, so that sums are exact or nearly.
"""
import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'
import numpy as np
import tensorflow as tf

random = np.random.default_rng(5)


def numbers(*shape):
    return tf.constant(random.integers(-8, 9, shape) / 4.0, tf.float32)


def ints(*values):
    return tf.constant(values, tf.int32)


def text(tensor):
    array = tensor.numpy()
    shape = ','.join(str(size) for size in array.shape)
    return f'{tensor.dtype.name.replace("float32", "float")}[{shape}] ' + ' '.join(f'{value:.9g}' for value in array.ravel().tolist())


def case(op, inputs, **attrs):
    output = getattr(tf.raw_ops, op)(**inputs, **attrs)
    shown = ', '.join(f'{name}={value}' for name, value in attrs.items())
    return f'{op}[T=float, {shown}]\n' + '; '.join(text(value) for value in inputs.values()) + f'\n{text(output)}\n'


def convolutions():
    steps = dict(strides=[1, 1, 1, 1], padding='SAME')
    strided = dict(strides=[1, 2, 2, 1], padding='SAME')
    wide = dict(strides=[1, 1, 1, 1], padding='VALID', dilations=[1, 2, 2, 1])
    explicit = dict(strides=[1, 2, 1, 1], padding='EXPLICIT', explicit_paddings=[0, 0, 2, 1, 0, 3, 0, 0])
    for attrs in (steps, strided, wide, explicit):
        x, w = numbers(2, 5, 6, 3), numbers(3, 2, 3, 4)
        y = tf.raw_ops.Conv2D(input=x, filter=w, **attrs)
        dy = numbers(*y.shape)
        yield case('Conv2D', dict(input=x, filter=w), **attrs)
        if attrs is wide:
            continue  # TensorFlow's CPU kernels have no gradients of dilated windows
        yield case('Conv2DBackpropInput', dict(input_sizes=ints(*x.shape), filter=w, out_backprop=dy), **attrs)
        yield case('Conv2DBackpropFilter', dict(input=x, filter_sizes=ints(*w.shape), out_backprop=dy), **attrs)
    yield case('Conv2D', dict(input=numbers(1, 4, 4, 6), filter=numbers(2, 2, 3, 4)), **steps)


def depthwise():
    for attrs in (dict(strides=[1, 1, 1, 1], padding='SAME'), dict(strides=[1, 2, 2, 1], padding='VALID')):
        x, w = numbers(2, 5, 6, 3), numbers(3, 2, 3, 2)
        dy = numbers(*tf.raw_ops.DepthwiseConv2dNative(input=x, filter=w, **attrs).shape)
        yield case('DepthwiseConv2dNative', dict(input=x, filter=w), **attrs)
        yield case('DepthwiseConv2dNativeBackpropInput', dict(input_sizes=ints(*x.shape), filter=w, out_backprop=dy), **attrs)
        yield case('DepthwiseConv2dNativeBackpropFilter', dict(input=x, filter_sizes=ints(*w.shape), out_backprop=dy), **attrs)


def pooling():
    for attrs in (dict(ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding='SAME'), dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')):
        x = numbers(2, 5, 6, 3)  # with several equal maxima in many windows
        y = tf.raw_ops.MaxPool(input=x, **attrs)
        yield case('MaxPool', dict(input=x), **attrs)
        yield case('MaxPoolGrad', dict(orig_input=x, orig_output=y, grad=numbers(*y.shape)), **attrs)
        yield case('MaxPoolGradGrad', dict(orig_input=x, orig_output=y, grad=numbers(*x.shape)), **attrs)
        yield case('AvgPool', dict(value=x), **attrs)
        yield case('AvgPoolGrad', dict(orig_input_shape=ints(*x.shape), grad=numbers(*y.shape)), **attrs)


def normalisation():
    for attrs in (dict(depth_radius=2, bias=1.5, alpha=0.25, beta=0.75), dict(depth_radius=5, bias=1.0, alpha=1.0, beta=0.5)):
        x = numbers(1, 2, 2, 7)
        y = tf.raw_ops.LRN(input=x, **attrs)
        yield case('LRN', dict(input=x), **attrs)
        yield case('LRNGrad', dict(input_grads=numbers(*x.shape), input_image=x, output_image=y), **attrs)


def main():
    path = os.path.join(os.path.dirname(__file__), '..', 'data', 'oracle', 'window_ops.txt')
    with open(path, 'w') as file:
        for group in (convolutions, depthwise, pooling, normalisation):
            file.writelines(group())


main()
