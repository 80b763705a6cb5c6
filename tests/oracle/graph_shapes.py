"""Writes tests/data/oracle/graph_shapes.txt: what TensorFlow infers for nodes with random attrs and inputs of partly known shapes.

Run with any Python that has TensorFlow 2. A line is a GraphDef in hex, a tab, and the outputs of its node `node`, "S [2,?] ?", or "E" where
TensorFlow refuses the import. The ops are those of tests/data/ops.pbtxt that src/ops registers. Of each op the answers that tell most sizes
are kept, and some others: a shape function that gives up early gives answers without sizes. Those of CLOSER get more cases: their shapes
hang on values, or differed once. TensorFlow is asked in a process of its own for each op, as some nodes abort it.
"""
import glob
import os
import pickle
import random
import re
import struct

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2, node_def_pb2, op_def_pb2
from tensorflow.core.framework import types_pb2 as D
from tensorflow.python.framework import op_def_registry

tf1.disable_eager_execution()
TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
NUM = [D.DT_FLOAT, D.DT_INT32, D.DT_INT64, D.DT_DOUBLE]
CLOSER = {'MatrixSetDiag', 'SoftmaxCrossEntropyWithLogits', 'RestoreV2', 'MirrorPadGrad', 'Split', 'SplitV', 'SpaceToBatch', 'BatchToSpace',
          'Transpose', 'ConjugateTranspose', 'Roll', 'ResourceGather', 'TensorListPopBack', 'ScatterNd', 'ScatterNdAdd', 'ScatterNdSub',
          'ScatterNdUpdate', 'ResourceScatterNdAdd', 'ResourceScatterNdSub', 'ResourceScatterNdUpdate', 'TensorScatterAdd',
          'TensorScatterSub', 'TensorScatterUpdate', 'ScatterNdNonAliasingAdd', 'MaxPoolGradGradV2', 'InvGrad', 'RsqrtGrad',
          'TanhGrad', 'GatherV2', 'StridedSlice', 'Slice', 'ConcatV2', 'Pad', 'Reshape', 'Tile', 'Conv2D'}
# What is not TensorFlow 2.21's on purpose: shapes that are told more exactly, nodes refused earlier or, by a quirk of TensorFlow's, later;
# and attrs that other versions have.
OTHERWISE = {'OneHot', 'EnsureShape', 'EmptyTensorList', 'TensorListFromTensor', 'TensorListReserve', 'BatchToSpaceND', 'SpaceToBatchND',
             'Conv2DBackpropInput', 'DepthToSpace', 'SpaceToDepth', 'MaxPool', 'MaxPoolV2'}


def rshape(r,rank):
    if r.random()<.12: return None
    k=rank if r.random()<.75 else r.randint(0,5)
    return [None if r.random()<.3 else r.choice([2,2,2,4,4,1,3,0] if r.random()<.5 else [2,4]) for _ in range(k)]
def sp(shape,s):
    if shape is None: s.unknown_rank=True
    else:
        s.SetInParent()
        for d in shape: s.dim.add().size=-1 if d is None else d
def attrval(r,a,v,types):
    t=a.type
    if t=='type':
        al=list(a.allowed_values.list.type) or NUM
        pref=[x for x in al if x in NUM] or al
        x=r.choice(pref) if not a.HasField('default_value') or r.random()<.4 else a.default_value.type
        v.type=x; return x
    if t=='int':
        if a.HasField('default_value') and r.random()<.5: v.i=a.default_value.i; return v.i
        lo=a.minimum if a.has_minimum else -1
        v.i=r.randint(max(lo,-2),max(lo,-2)+3); return v.i
    if t=='bool': v.b=r.random()<.5; return v.b
    if t=='float': v.f=a.default_value.f if a.HasField('default_value') else .5; return v.f
    if t=='string':
        al=list(a.allowed_values.list.s)
        v.s=r.choice(al) if al else a.default_value.s; return v.s
    if t=='shape': sp(rshape(r,2),v.shape); return 0
    if t=='tensor':
        v.tensor.CopyFrom(tf.make_tensor_proto(np.zeros([2],np.float32))); return 0
    if t=='list(type)':
        n=r.randint(max(a.minimum,1 if a.has_minimum else 0),3); al=list(a.allowed_values.list.type) or [D.DT_FLOAT,D.DT_INT32]
        x=[r.choice(al) for _ in range(n)]; v.list.SetInParent(); v.list.type.extend(x); return x
    if t=='list(int)':
        if a.HasField('default_value') and r.random()<.4: v.list.CopyFrom(a.default_value.list); v.list.SetInParent(); return 0
        v.list.SetInParent()
        if a.name in('strides','ksize','dilations','ksizes','rates'):
            x=r.choice([[1,1,1,1],[1,2,2,1],[1,1,2,2],[1,3,3,1],[1,2,1,1]])
        else: x=[r.randint(0,3) for _ in range(r.randint(max(a.minimum,0),3))]
        v.list.i.extend(x); return 0
    if t=='list(shape)':
        v.list.SetInParent()
        for _ in range(r.randint(0,3)): sp(rshape(r,2),v.list.shape.add())
        return 0
    raise KeyError(t)
def const_value(r,dt,rank):
    if dt in (D.DT_INT32,D.DT_INT64):
        k=r.random(); npd=np.int32 if dt==D.DT_INT32 else np.int64
        if k<.35: return np.array(r.choice([0,1,2,-1,3,4,5]),npd)
        if k<.85:
            n=rank if r.random()<.7 else r.randint(0,4)
            pool=r.choice([[0,1,2,-1],[2,4],[1,2,4],[0,0,1],[-1,2,2,4]])
            return np.array([r.choice(pool) for _ in range(n)],npd)
        n=rank if r.random()<.8 else r.randint(0,4)
        return np.array([[r.randint(0,2),r.randint(0,2)] for _ in range(n)],npd).reshape(n,2)
    return None
def case(r,op):
    g=graph_pb2.GraphDef(); g.versions.producer=134; node=node_def_pb2.NodeDef(name='node',op=op.name)
    env={}
    for a in op.attr: env[a.name]=attrval(r,a,node.attr[a.name],env)
    rank=r.choice([1,2,2,3,4,4])
    same=r.random()<.4; base=rshape(r,rank); k=0
    for arg in op.input_arg:
        tys=[]
        if arg.type_list_attr: tys=list(env[arg.type_list_attr])
        else:
            t=arg.type or env[arg.type_attr]
            tys=[t]*(env[arg.number_attr] if arg.number_attr else 1)
        for t in tys:
            n=g.node.add(); n.name='in%d'%k; k+=1
            if arg.is_ref:
                n.op='VariableV2'; n.attr['dtype'].type=t; s=rshape(r,rank); sp(s,n.attr['shape'].shape)
            elif t==D.DT_RESOURCE:
                n.op='VarHandleOp'; n.attr['dtype'].type=env.get('dtype',env.get('T',D.DT_FLOAT)); sp(rshape(r,rank),n.attr['shape'].shape)
            else:
                cv=const_value(r,t,rank) if r.random()<.6 else None
                if cv is not None:
                    n.op='Const'; n.attr['dtype'].type=t; n.attr['value'].tensor.CopyFrom(tf.make_tensor_proto(cv))
                else:
                    n.op='Placeholder'; n.attr['dtype'].type=t
                    s=base if same and r.random()<.8 else rshape(r,rank)
                    sp(s,n.attr['shape'].shape)
            node.input.append(n.name)
    g.node.add().CopyFrom(node); return g
def oracle(g):
    with tf1.Graph().as_default() as G:
        try:
            tf1.import_graph_def(g,name='')
        except Exception as e: return 'E '+str(e).replace('\n',' ')[:300]
        o=G.get_operation_by_name('node'); s='S'
        for t in o.outputs:
            sh=t.shape
            s+=' ?' if sh.rank is None else ' ['+','.join('?' if d is None else str(d) for d in sh.as_list())+']'
        return s


def registered():
    names = set()
    for path in glob.glob(os.path.join(TESTS, '../src/ops/**/*.c'), recursive=True):
        names.update(re.findall(r'^const OpRegistration kOp(\w+) =', open(path).read(), re.M))
    # Of updates of resources TensorFlow does not hold all shapes against each other.
    return {name for name in names - OTHERWISE if not re.match('Resource(Sparse)?Apply', name)}


def ask(op, count):
    """(GraphDef, answer) of so many cases; fewer where TensorFlow aborts."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open('/dev/null', os.O_WRONLY), 2)
        r = random.Random(op.name)
        for _ in range(count):
            try:
                g = case(r, op)
            except (KeyError, TypeError, IndexError):
                continue
            record = pickle.dumps((g.SerializeToString(deterministic=True), oracle(g)))
            os.write(writing, struct.pack('<I', len(record)) + record)
        os._exit(0)
    os.close(writing)
    data = os.fdopen(reading, 'rb').read()
    os.waitpid(pid, 0)
    at = 0
    while at + 4 <= len(data):
        size = struct.unpack_from('<I', data, at)[0]
        if at + 4 + size > len(data):
            return
        yield pickle.loads(data[at + 4:at + 4 + size])
        at += 4 + size


def sizes_told(answer):
    return len([size for size in re.findall(r'\d+', answer) if int(size) > 1])


def chosen(cases, count):
    """Half of `count` are the cases whose answers tell most, half are the first of the others; no answer comes twice."""
    first = {}
    for case_and_answer in cases:
        first.setdefault(case_and_answer[1], case_and_answer)
    telling = sorted(first.values(), key=lambda case_and_answer: -sizes_told(case_and_answer[1]))[:count // 2]
    return telling + [each for each in first.values() if each not in telling][:count - len(telling)]


def main():
    ops, names = op_def_pb2.OpList(), registered()
    text_format.Parse(open(os.path.join(TESTS, 'data/ops.pbtxt')).read(), ops)
    unusual = {'func', 'list(func)', 'list(string)', 'list(attr)', 'list(tensor)', 'list(float)', 'list(bool)'}
    with open(os.path.join(TESTS, 'data/oracle/graph_shapes.txt'), 'w') as out:
        for op in ops.op:
            if op.name not in names or op_def_registry.get(op.name) is None or any(a.type in unusual for a in op.attr):
                continue
            cases = [(graph, answer) for graph, answer in ask(op, 160 if op.name in CLOSER else 60) if 'not in the list of allowed values' not in answer]
            refused = [(graph, 'E') for graph, answer in cases if answer[0] == 'E']
            kept = chosen([each for each in cases if each[1][0] == 'S'], 8 if op.name in CLOSER else 4)
            for graph, answer in kept + refused[:4 if op.name in CLOSER else 0]:
                out.write(graph.hex() + '\t' + answer + '\n')


if __name__ == '__main__':
    main()
