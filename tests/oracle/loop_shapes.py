"""Writes tests/data/oracle/loop_shapes.txt: what TensorFlow infers for loops with output_shapes and without.

Run with any Python that has TensorFlow 2. The lines are those of graph_shapes.py.
"""
import os
import random

from graph_shapes import TESTS, oracle, rshape, sp
from google.protobuf import text_format
from tensorflow.core.framework import attr_value_pb2, graph_pb2, types_pb2 as D

FLOAT = attr_value_pb2.AttrValue(type=D.DT_FLOAT)
LIBRARY = '''
function { signature { name: "Never" %(inputs)s output_arg { name: "go" type: DT_BOOL } }
  node_def { name: "no" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
    attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: false } } } }
  ret { key: "go" value: "no:output:0" } }
function { signature { name: "Step" %(inputs)s %(outputs)s } %(rets)s }
'''


def library(count):
    text = LIBRARY % {
        'inputs': ' '.join('input_arg { name: "x%d" type: DT_FLOAT }' % i for i in range(count)),
        'outputs': ' '.join('output_arg { name: "y%d" type: DT_FLOAT }' % i for i in range(count)),
        'rets': ' '.join('ret { key: "y%d" value: "x%d" }' % (i, i) for i in range(count))}
    return text_format.Parse(text, graph_pb2.GraphDef().library)


def loop(r, node, count, inputs):
    node.op = r.choice(['While', 'StatelessWhile'])
    node.input.extend(inputs)
    node.attr['T'].list.type.extend([D.DT_FLOAT] * count)
    node.attr['cond'].func.name, node.attr['body'].func.name = 'Never', 'Step'
    kind = r.choice(['absent', 'absent', 'empty', 'given', 'given', 'wrong'])
    if kind == 'absent':
        return
    shapes = node.attr['output_shapes'].list
    shapes.SetInParent()
    for _ in range({'empty': 0, 'given': count, 'wrong': count + r.choice([1, 2])}[kind]):
        sp(rshape(r, 2), shapes.shape.add())


def case(r):
    """A loop, or a node that reads one."""
    g, count = graph_pb2.GraphDef(), r.randint(1, 3)
    g.versions.producer = 1000
    g.library.CopyFrom(library(count))
    names = ['in%d' % i for i in range(count)]
    for name in names:
        node = g.node.add(name=name, op='Placeholder')
        node.attr['dtype'].CopyFrom(FLOAT)
        sp(rshape(r, r.choice([0, 1, 2])), node.attr['shape'].shape)
    read = r.random() < .3
    loop(r, g.node.add(name='loop' if read else 'node'), count, names)
    if read:
        g.node.add(name='node', op='Neg', input=['loop:%d' % (count - 1)]).attr['T'].CopyFrom(FLOAT)
    return g


def main():
    r = random.Random('loops')
    with open(os.path.join(TESTS, 'data/oracle/loop_shapes.txt'), 'w') as out:
        for _ in range(60):
            g = case(r)
            answer = oracle(g)
            out.write(g.SerializeToString(deterministic=True).hex() + '\t' + (answer if answer[0] == 'S' else 'E') + '\n')


if __name__ == '__main__':
    main()
