"""Writes tests/data/oracle/master_messages.txt: what TensorFlow's client and its gRPC master say to each other.

A proxy stands between a session of TensorFlow and a server of TensorFlow, and records every call of
/tensorflow.MasterService. Each line is the method, the request and the response in hexadecimal digits, and for a
call that failed the code and the message, separated by tabs. Python has no module of master.proto, so the messages
are those of the C++ client and server themselves.
"""
import concurrent.futures
import multiprocessing
import os
import pathlib

os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import environment  # noqa: F401
import grpc


class Recorder(grpc.GenericRpcHandler):
    def __init__(self, target):
        self.channel, self.lines = grpc.insecure_channel(target), []

    def service(self, details):
        def call(request, context):
            line = [details.method.rsplit('/', 1)[1], request.hex(), '', '', '']
            self.lines.append(line)
            try:
                response = self.channel.unary_unary(details.method)(request, timeout=60)
            except grpc.RpcError as error:
                line[3:] = [str(error.code().value[0]), error.details()]
                context.abort(error.code(), error.details())
            line[2] = response.hex()
            return response
        return grpc.unary_unary_rpc_method_handler(call)


def proxy(target, pipe):
    """In a process of its own, because TensorFlow holds Python's lock during some of its calls."""
    recorder = Recorder(target)
    front = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=[recorder])
    pipe.send(front.add_insecure_port('localhost:0'))
    front.start()
    pipe.recv()
    pipe.send(recorder.lines)


def scenario(tf, target):
    def attempt(work):
        try:
            work()
        except tf.errors.OpError as error:
            print(type(error).__name__, error.message)

    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 2], name='x')
        y = tf.square(x, name='y')
        config = tf.ConfigProto(device_count={'CPU': 2}, allow_soft_placement=True)
        session = tf.Session(target, graph=graph, config=config)
        session.run(y, {x: [[1, 2]]})
        z = tf.add(y, 1.0, name='z')
        v = tf.Variable([1.5, -2.0], name='v', use_resource=False)
        session.run(v.initializer)
        session.run([z, v, y], {x: [[3, 4], [5, 6]]}, tf.RunOptions(timeout_in_ms=5000))
        names = tf.constant([b'a', b'\xff\x00'], name='names')
        session.run([names, tf.constant([2**40, -1], tf.int64, name='longs')])
        attempt(lambda: session.run(z))
        a, b = (tf.placeholder(tf.float32, [], name=name) for name in 'ab')
        c = tf.add(a, b, name='c')
        d = tf.multiply(c, 2.0, name='d')
        handle = session.partial_run_setup([c, d], [a, b])
        attempt(lambda: session.partial_run(handle, c, {a: 1, b: 2}))
        attempt(lambda: session.partial_run(handle, d))
        session.list_devices()
        call = session.make_callable(d, [a, b])
        attempt(lambda: call(1, 2))
        del call
        session.close()
        attempt(lambda: tf.Session(target, graph=graph).run('d:0', {a: 1}))
    tf.Session.reset(target, ['box'])


def main():
    import tensorflow.compat.v1 as tf
    tf.disable_eager_execution()
    server = tf.distribute.Server({'local': ['localhost:0']}, job_name='local', start=True)
    spawn = multiprocessing.get_context('spawn')
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=proxy, args=(server.target.removeprefix('grpc://'), theirs), daemon=True)
    process.start()
    scenario(tf, f'grpc://localhost:{ours.recv()}')
    ours.send('end')
    lines = ours.recv()
    path = pathlib.Path(__file__).resolve().parents[1] / 'data' / 'oracle' / 'master_messages.txt'
    path.write_text(''.join('\t'.join(line).replace('\n', '\\n') + '\n' for line in lines), encoding='utf-8')
    print(path.stat().st_size, 'bytes', [line[0] for line in lines])
    os._exit(0)  # the server has no end


if __name__ == '__main__':
    main()
