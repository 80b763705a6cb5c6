"""Writes the model with which LiteRT.js computes its first result, a product of two by two: `python3 bench/first_product.py <file>`."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests' / 'oracle'))
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import environment  # noqa: E402, F401
import tensorflow as tf  # noqa: E402

matrix = tf.TensorSpec([2, 2], tf.float32)
product = tf.function(lambda a, b: tf.matmul(a, b), input_signature=[matrix, matrix])
converter = tf.lite.TFLiteConverter.from_concrete_functions([product.get_concrete_function()])
pathlib.Path(sys.argv[1]).write_bytes(converter.convert())
