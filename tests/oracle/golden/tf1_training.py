"""Training graphs as users of tf.train in TensorFlow 1.x export them: reference variables, the optimiser's nodes, the gradients that
TensorFlow put into the graph, summaries, the initialisers and the nodes of a Saver. They are run as written: the initialisers, whose
random numbers are TensorFlow's, then 20 steps of training, among whose random numbers are those of dropout."""
import numpy as np

from writer import Tolerance, tf1

LOSS = Tolerance(float32=dict(relative=1e-4))
STEPS = 20


def cases(golden):
    tf1.disable_resource_variables()
    for name, build, feeds in [('MLP, gradient descent with a decaying rate', _mlp, _images(golden.random, 8, (6, 6))),
                               ('CNN with dropout, Adam', _cnn, _images(golden.random, 4, (8, 8, 1))),
                               ('char LSTM, clipped gradients, RMSProp', _lstm, _text(golden.random)),
                               ('rows of embeddings, Adagrad', _embeddings, _pairs(golden.random)),
                               ('regression with decaying weights, Momentum', _regression, _points(golden.random))]:
        _record(golden, name, build, feeds)


def _record(golden, name, build, make_feeds):
    with golden.graph(name) as case:
        tf1.set_random_seed(1234)
        global_step = tf1.train.get_or_create_global_step()
        loss, train = build(global_step)
        loss = tf1.identity(loss, 'loss')
        tf1.summary.scalar('loss_summary', loss)
        for variable in tf1.trainable_variables():
            tf1.summary.histogram(variable.op.name, variable)
        summaries = tf1.summary.merge_all()
        initialize = tf1.global_variables_initializer()
        missing = tf1.report_uninitialized_variables(name='missing')
        tf1.train.Saver()
        case.freeze(keep=['_class'])
        assert not any(node.op == 'VarHandleOp' for node in case.graph_def.node)
        case.step({missing.name: missing})
        case.step({}, targets=[initialize])
        case.expect_success()
        for i in range(STEPS):
            feeds = {case.graph.get_tensor_by_name(f'{key}:0'): value for key, value in make_feeds().items()}
            case.step({'loss:0': loss}, feeds, targets=[train, summaries.op] if i == 0 else [train], tolerance=LOSS)
            case.expect_success()
        case.step({missing.name: missing, 'global_step:0': global_step})


def _variable(name, shape, mean=0.0, stddev=0.1):
    return tf1.get_variable(name, shape, initializer=tf1.truncated_normal_initializer(mean, stddev))


def _dense(x, name, units, activation=None):
    with tf1.variable_scope(name):
        w = tf1.get_variable('weights', [int(x.shape[-1]), units])
        b = tf1.get_variable('biases', [units], initializer=tf1.zeros_initializer())
        y = tf1.nn.xw_plus_b(x, w, b)
        return activation(y) if activation else y


def _mlp(global_step):
    x, labels = tf1.placeholder(np.float32, [None, 6, 6], 'x'), tf1.placeholder(np.int64, [None], 'labels')
    logits = _dense(_dense(tf1.reshape(x, [-1, 36]), 'hidden', 12, tf1.nn.relu), 'logits', 5)
    truth = tf1.one_hot(labels, 5)
    loss = tf1.reduce_mean(tf1.nn.softmax_cross_entropy_with_logits_v2(labels=tf1.stop_gradient(truth), logits=logits))
    rate = tf1.train.exponential_decay(0.3, global_step, 5, 0.8, staircase=True)
    tf1.summary.scalar('rate', rate)
    return loss, tf1.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)


def _cnn(global_step):
    x, labels = tf1.placeholder(np.float32, [None, 8, 8, 1], 'x'), tf1.placeholder(np.int64, [None], 'labels')
    y = x
    for i, depth in enumerate([4, 6]):
        with tf1.variable_scope(f'conv{i}'):
            kernel = _variable('kernel', [3, 3, int(y.shape[-1]), depth], stddev=0.3)
            bias = tf1.get_variable('bias', [depth], initializer=tf1.constant_initializer(0.1))
            y = tf1.nn.relu(tf1.nn.bias_add(tf1.nn.conv2d(y, kernel, [1, 1, 1, 1], 'SAME'), bias))
            y = tf1.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
    y = tf1.nn.dropout(tf1.reshape(y, [-1, 24]), rate=0.25)
    logits = _dense(y, 'logits', 5)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    correct = tf1.reduce_mean(tf1.cast(tf1.equal(tf1.argmax(logits, 1), labels), np.float32))
    tf1.summary.scalar('accuracy', correct)
    return loss, tf1.train.AdamOptimizer(0.01).minimize(loss, global_step=global_step)


def _lstm(global_step):
    units, vocabulary, length = 8, 12, 5
    text, following = tf1.placeholder(np.int32, [4, length], 'text'), tf1.placeholder(np.int32, [4, length], 'following')
    embedding = tf1.get_variable('embedding', [vocabulary, 6], initializer=tf1.random_uniform_initializer(-0.5, 0.5))
    kernel = tf1.get_variable('kernel', [6 + units, 4 * units], initializer=tf1.random_normal_initializer(0, 0.3))
    bias = tf1.get_variable('bias', [4 * units], initializer=tf1.zeros_initializer())
    state = hidden = tf1.zeros([4, units])
    outputs = []
    for x in tf1.unstack(tf1.nn.embedding_lookup(embedding, text), axis=1):
        i, j, f, o = tf1.split(tf1.nn.bias_add(tf1.matmul(tf1.concat([x, hidden], 1), kernel), bias), 4, axis=1)
        state = state * tf1.sigmoid(f + 1.0) + tf1.sigmoid(i) * tf1.tanh(j)
        hidden = tf1.tanh(state) * tf1.sigmoid(o)
        outputs.append(hidden)
    logits = _dense(tf1.reshape(tf1.stack(outputs, 1), [-1, units]), 'softmax', vocabulary)
    loss = tf1.reduce_mean(tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=tf1.reshape(following, [-1]), logits=logits))
    variables = tf1.trainable_variables()
    gradients, norm = tf1.clip_by_global_norm(tf1.gradients(loss, variables), 0.5)
    tf1.summary.scalar('norm', norm)
    return loss, tf1.train.RMSPropOptimizer(0.02, 0.9, 0.5).apply_gradients(zip(gradients, variables), global_step)


def _embeddings(global_step):
    """Skip-gram with its negatives fed in: only some rows have gradients, and some have two."""
    centers, contexts = tf1.placeholder(np.int32, [None], 'centers'), tf1.placeholder(np.int32, [None, 3], 'contexts')
    rows = tf1.nn.embedding_lookup(_variable('embeddings', [15, 6], stddev=0.5), centers)
    others = tf1.nn.embedding_lookup(_variable('contexts_of', [15, 6], stddev=0.5), contexts)
    biases = tf1.gather(tf1.get_variable('biases', [15], initializer=tf1.zeros_initializer()), contexts)
    logits = tf1.reduce_sum(tf1.expand_dims(rows, 1) * others, 2) + biases
    truth = tf1.concat([tf1.ones_like(logits[:, :1]), tf1.zeros_like(logits[:, 1:])], 1)
    loss = tf1.reduce_mean(tf1.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=logits))
    return loss, tf1.train.AdagradOptimizer(0.3).minimize(loss, global_step=global_step)


def _regression(global_step):
    x, y = tf1.placeholder(np.float32, [None, 3], 'x'), tf1.placeholder(np.float32, [None, 1], 'y')
    prediction = _dense(_dense(x, 'hidden', 4, tf1.tanh), 'line', 1)
    weights = tf1.trainable_variables()
    loss = tf1.losses.mean_squared_error(y, prediction) + 1e-3 * tf1.add_n([tf1.nn.l2_loss(w) for w in weights])
    return loss, tf1.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True).minimize(loss, global_step=global_step)


def _images(random, batch, shape):
    def make():
        labels = random.integers(0, 5, batch)
        x = random.standard_normal((batch, *shape)) * 0.3
        for i, label in enumerate(labels):
            x[i, label, label] += 2
        return {'x': x.astype(np.float32), 'labels': labels.astype(np.int64)}
    return make


def _text(random):
    def make():
        x = (random.integers(0, 12, (4, 1)) + np.arange(6)) % 12
        return {'text': x[:, :-1].astype(np.int32), 'following': x[:, 1:].astype(np.int32)}
    return make


def _pairs(random):
    def make():
        centers = random.integers(0, 15, 6)
        contexts = np.concatenate([(centers[:, None] + 1) % 15, random.integers(0, 15, (6, 2))], 1)
        return {'centers': centers.astype(np.int32), 'contexts': contexts.astype(np.int32)}
    return make


def _points(random):
    def make():
        x = random.standard_normal((5, 3)).astype(np.float32)
        return {'x': x, 'y': (x @ np.float32([[1], [-2], [0.5]]) + 0.3).astype(np.float32)}
    return make
