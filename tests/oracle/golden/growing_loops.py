"""Loops without output_shapes whose body makes the values larger.

Inference says that such a loop keeps the shapes of its inputs. A run must not rely on that.
"""
import numpy as np
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2

from writer import tf1

GRAPH = '''
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } } }
node { name: "loop" op: "%s" input: "x" %s }
node { name: "negative" op: "Neg" input: "loop" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "shape" op: "Shape" input: "negative" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "size" op: "Size" input: "loop" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "flat" op: "Reshape" input: "loop" input: "shape" attr { key: "T" value { type: DT_FLOAT } } }
library {
  function { signature { name: "IsSmall" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "go" type: DT_BOOL } }
    node_def { name: "size" op: "Size" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "limit" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 10 } } } }
    node_def { name: "less" op: "Less" input: "size:output:0" input: "limit:output:0" attr { key: "T" value { type: DT_INT32 } } }
    ret { key: "go" value: "less:z:0" } }
  function { signature { name: "Repeat" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
    node_def { name: "axis" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
    node_def { name: "twice" op: "ConcatV2" input: "x" input: "x" input: "axis:output:0"
      attr { key: "T" value { type: DT_FLOAT } } attr { key: "N" value { i: 2 } } }
    ret { key: "y" value: "twice:output:0" } }
  function { signature { name: "Grown" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
    node_def { name: "loop" op: "StatelessWhile" input: "x" %s }
    ret { key: "y" value: "loop:output:0" } }
}
versions { producer: 1000 }
'''
LOOP = '''attr { key: "T" value { list { type: DT_FLOAT } } } attr { key: "cond" value { func { name: "IsSmall" } } }
  attr { key: "body" value { func { name: "Repeat" } } }'''
CALL = '''attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } }
  attr { key: "f" value { func { name: "Grown" } } }'''


def cases(golden):
    for op, attrs in (('While', LOOP), ('StatelessWhile', LOOP), ('PartitionedCall', CALL), ('StatefulPartitionedCall', CALL), ('Grown', '')):
        with golden.graph(f'{op} that grows') as case:
            graph_def = text_format.Parse(GRAPH % (op, attrs, LOOP), graph_pb2.GraphDef())
            tf1.import_graph_def(graph_def, name='')
            tensor = case.graph.get_tensor_by_name
            fetches = {name: tensor(name + ':0') for name in ('shape', 'size', 'flat')}
            case.step(fetches, {tensor('x:0'): np.float32([1, 2])})
            case.step({'shape': fetches['shape']}, {tensor('x:0'): np.float32([3, 4])})
            case.expect_success()
