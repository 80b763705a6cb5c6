"""Models of Keras 2 without eager execution: the session of the server trains and evaluates them. Layers of Keras 3 in a graph."""
import os

import numpy as np
import tensorflow.compat.v1 as tf
from report import show

try:  # Keras 2 is a package of its own
    import tf_keras
    from tf_keras.src import backend
except ImportError:
    tf_keras = None


def digits(rng):
    return rng.normal(size=(12, 8, 8, 1)).astype(np.float32), rng.integers(0, 3, 12)


def classifier():
    layers, first = tf_keras.layers, tf_keras.initializers.GlorotUniform
    return tf_keras.Sequential([
        layers.Conv2D(4, 3, activation='relu', kernel_initializer=first(seed=1), input_shape=(8, 8, 1)),
        layers.BatchNormalization(),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(3, activation='softmax', kernel_initializer=first(seed=2)),
    ])


def trained(session, folder):
    """The same start for every server: weights that are set, batches in their order."""
    rng = np.random.default_rng(5)
    backend.set_session(session)
    images, labels = digits(rng)
    model = classifier()
    model.compile(tf_keras.optimizers.legacy.Adam(0.01), 'sparse_categorical_crossentropy', metrics=['accuracy'])
    model.set_weights([rng.normal(size=weight.shape) * 0.2 if i not in (4, 5) else weight
                       for i, weight in enumerate(model.get_weights())])
    history = model.fit(images, labels, batch_size=4, epochs=3, shuffle=False, verbose=0)
    show('losses', np.round(history.history['loss'], 3))
    show('evaluated', np.round(model.evaluate(images, labels, batch_size=4, verbose=0), 3))
    show('predicted', np.round(model.predict(images[:2], verbose=0), 3))
    path = os.path.join(folder, 'weights.h5')
    model.save_weights(path)
    before = model.predict(images[:2])
    model.set_weights([weight * 0 for weight in model.get_weights()])
    model.load_weights(path)
    show('loaded', bool(np.allclose(before, model.predict(images[:2]))))


def recurrent(session):
    rng = np.random.default_rng(7)
    backend.set_session(session)
    words = rng.integers(1, 9, (4, 6))
    tf.enable_control_flow_v2()
    model = tf_keras.Sequential([
        tf_keras.layers.Embedding(9, 5, mask_zero=True), tf_keras.layers.LSTM(4), tf_keras.layers.Dense(1)])
    model.compile('sgd', 'mse')
    model.build((None, 6))
    model.set_weights([rng.normal(size=weight.shape) * 0.3 for weight in model.get_weights()])
    tf.experimental.output_all_intermediates(True)  # for the gradient of the loop
    losses = [model.train_on_batch(words, np.ones((4, 1))) for _ in range(4)]
    tf.experimental.output_all_intermediates(None)
    tf.disable_control_flow_v2()
    show('recurrent', np.round(losses, 3))


def layers_of_keras_3(session):
    layers = tf.keras.layers
    x = tf.constant(np.random.default_rng(3).normal(size=(2, 6, 4)), tf.float32)
    attended = layers.MultiHeadAttention(2, 3)(x, x)
    y = layers.Dense(2, activation='gelu')(layers.LayerNormalization()(x + attended))
    variables = tf.global_variables()
    rng = np.random.default_rng(4)
    values = [rng.normal(size=variable.shape.as_list()) * 0.5 for variable in variables]
    places = [tf.placeholder(tf.float32, variable.shape) for variable in variables]
    session.run([variable.assign(place) for variable, place in zip(variables, places)], dict(zip(places, values)))
    result, *slopes = session.run([y, *tf.gradients(tf.reduce_sum(tf.square(y)), [x, *[v.handle for v in variables[:2]]])])
    show('Keras 3', np.round(result, 3))
    show('its gradients', [np.round(slope, 2) for slope in slopes])


def main(target, folder):
    parts = [lambda session: trained(session, folder), recurrent] if tf_keras else []
    for part in *parts, layers_of_keras_3:
        with tf.Graph().as_default(), tf.Session(target) as session:
            part(session)
        if tf_keras:
            backend.clear_session()
        tf.Session.reset(target)
