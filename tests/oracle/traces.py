"""Writes tests/data/oracle/traces.jsonl: what TensorFlow records about the steps of some graphs (StepStats).

One case a line: the graph, the step, and the nodes that ran, sorted by name. Without optimizers, so that the graph
runs as it is. Nodes of control flow have no records in this library and are left out, as are values that depend on
the machine: times, addresses, and allocators. So are Identity nodes, which pass their input on without a kernel.
"""

import json
import os
import pathlib

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import tensorflow.compat.v1 as tf  # noqa: E402
from google.protobuf import text_format  # noqa: E402
from tensorflow.python.framework import function  # noqa: E402

OUTPUT = pathlib.Path(__file__).parent.parent / "data" / "oracle" / "traces.jsonl"
CONTROL_FLOW = {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "NoOp", "Identity"}


def products():
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    b = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="b")
    y = tf.nn.relu(tf.matmul(x, b, name="product"), name="y")
    return [tf.add(y, 1.0, name="more"), tf.transpose(y, name="turned")]


def outputs():
    values, indices = tf.nn.top_k(tf.constant([3.0, 1.0, 2.0], name="a"), 2, name="top")
    parts = tf.split(values, 2, name="parts")
    return [tf.subtract(parts[1], parts[0], name="difference"), tf.negative(indices, name="negated")]


def strings():
    return [tf.strings.join([tf.constant(["a", "b"], name="letters"), "x"], name="joined")]


def empty():
    return [tf.zeros([0, 3], name="zeros"), tf.fill([2, 0], 1.5, name="filled")]


def calls():
    @function.Defun(tf.float32, func_name="Square1")
    def square(x):
        return tf.multiply(x, x, name="product") + 1.0

    return [tf.negative(square(tf.constant(3.0, name="c"), name="call"), name="result")]


def controls():
    p = tf.placeholder_with_default(True, [], name="p")
    z = tf.constant(5.0, name="z")
    with tf.control_dependencies([p]):
        b = tf.negative(z, name="b")
        a = tf.constant(1.0, name="a")
    with tf.control_dependencies([b, p, z]):
        return [tf.subtract(z, a, name="c")]


def loop():
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: [i + 1, x * 2.0], [0, 1.0])


def branch():
    p = tf.placeholder_with_default(False, [], name="p")
    return [tf.cond(p, lambda: tf.constant(1.0) + 1.0, lambda: tf.constant(2.0) * 3.0)]


FEEDS = {"products": {"x:0": [[1.0, 2.0], [3.0, 4.0]]}}
CASES = [products, outputs, strings, empty, calls, controls, loop, branch]


def describe(output):
    tensor = output.tensor_description
    return {
        "slot": output.slot,
        "dtype": tensor.dtype,
        "shape": [dim.size for dim in tensor.shape.dim],
        "bytes": None if tensor.dtype == tf.string.as_datatype_enum else tensor.allocation_description.requested_bytes,
    }


def record(case):
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    metadata = tf.RunMetadata()
    with tf.Graph().as_default() as graph:
        fetches = case()
        feeds = FEEDS.get(case.__name__, {})
        with tf.Session(config=config) as session:
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            session.run(fetches, feeds, options=options, run_metadata=metadata)
    (device,) = metadata.step_stats.dev_stats
    nodes = [
        {
            "name": node.node_name,
            "label": node.timeline_label,
            "stats": node.HasField("memory_stats"),
            "outputs": [describe(output) for output in node.output],
        }
        for node in device.node_stats
        if node.timeline_label.split(" = ")[-1].split("(")[0] not in CONTROL_FLOW or node.node_name == "_SOURCE"
    ]
    return {
        "name": case.__name__,
        "graph": text_format.MessageToString(graph.as_graph_def(), as_one_line=True),
        "feeds": sorted(feeds),
        "fetches": [fetch.name for fetch in fetches],
        "device": device.device,
        "nodes": sorted(nodes, key=lambda node: node["name"]),
    }


def main():
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
    OUTPUT.write_text("".join(json.dumps(record(case)) + "\n" for case in CASES))


if __name__ == "__main__":
    main()
