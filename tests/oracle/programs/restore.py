"""Restores what the program `saving` saved in the folder, on the same server or another."""
import os

import tensorflow.compat.v1 as tf
from report import show
from saving import build


def main(target, folder):
    with tf.Graph().as_default(), tf.Session(target) as session:
        variables = build()
        tf.train.Saver().restore(session, os.path.join(folder, 'model-3'))
        show('restored', session.run(variables))
