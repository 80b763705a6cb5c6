"""Writes tests/data/oracle/messages.txt: samples of TensorFlow's messages with every field set, as bytes and as text.

Every line is the name of a message, its bytes in hexadecimal digits and its text on one line, separated by tabs. Each member of a oneof
is set in one of the samples.
"""
import os
import pathlib

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
from google.protobuf import text_format
from tensorflow.core.framework import (attr_value_pb2, function_pb2, graph_pb2, kernel_def_pb2, node_def_pb2, op_def_pb2, tensor_pb2,
                                       tensor_shape_pb2, versions_pb2)

MESSAGES = [graph_pb2.GraphDef, node_def_pb2.NodeDef, op_def_pb2.OpDef, op_def_pb2.OpList, attr_value_pb2.AttrValue, function_pb2.FunctionDef,
            function_pb2.FunctionDefLibrary, kernel_def_pb2.KernelDef, kernel_def_pb2.KernelList, tensor_pb2.TensorProto,
            tensor_shape_pb2.TensorShapeProto, versions_pb2.VersionDef]
SAMPLES = 10  # as many as AttrValue has kinds of values


class Filler:
    def __init__(self, sample, depth):
        self.sample, self.depth, self.count = sample, depth, 0

    def scalar(self, field):
        self.count += 1
        if field.type == field.TYPE_BOOL:
            return True
        if field.type == field.TYPE_STRING:
            return f'{field.name} {self.count} "ä"'
        if field.type == field.TYPE_BYTES:
            return b'\x00\xff\n%d' % self.count
        if field.type == field.TYPE_ENUM:
            values = field.enum_type.values
            return values[1 + (self.count + self.sample) % (len(values) - 1)].number
        if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
            return self.count + 0.1
        return self.count if self.count % 2 or 'UINT' in field_kind(field) or 'FIXED' in field_kind(field) else -self.count

    def map_entry(self, container, field, key, depth):
        value = field.message_type.fields_by_name['value']
        if value.message_type:
            self.fill(container[key], depth)
        else:
            container[key] = self.scalar(value)

    def field(self, message, field, depth):
        container = getattr(message, field.name)
        if field.message_type and field.message_type.GetOptions().map_entry:
            for _ in range(2):
                self.map_entry(container, field, self.scalar(field.message_type.fields_by_name['key']), depth + 1)
        elif field.message_type and field.is_repeated:
            for _ in range(2):
                self.fill(container.add(), depth + 1)
        elif field.message_type:
            container.SetInParent()
            self.fill(container, depth + 1)
        elif field.is_repeated:
            container.extend([self.scalar(field), self.scalar(field)])
        else:
            setattr(message, field.name, self.scalar(field))

    def fill(self, message, depth=0):
        if depth > self.depth:
            return
        for field in message.DESCRIPTOR.fields:
            oneof = field.containing_oneof
            if oneof and oneof.fields[self.sample % len(oneof.fields)] is not field:
                continue
            self.field(message, field, depth)


def field_kind(field):
    return next(name for name in dir(field) if name.startswith('TYPE_') and getattr(field, name) == field.type)


def main():
    path = pathlib.Path(__file__).resolve().parents[1] / 'data' / 'oracle' / 'messages.txt'
    with path.open('w', encoding='utf-8') as out:
        for kind in MESSAGES:
            for sample in range(SAMPLES):
                message = kind()
                # Deep enough for what a oneof of an AttrValue holds, and one level less for those that hold many of them.
                Filler(sample, 2 if kind in (graph_pb2.GraphDef, function_pb2.FunctionDefLibrary, function_pb2.FunctionDef) else 3).fill(message)
                out.write(f'{kind.DESCRIPTOR.name}\t{message.SerializeToString(deterministic=True).hex()}\t'
                          f'{text_format.MessageToString(message, as_one_line=True, as_utf8=sample % 2 == 1)}\n')
    print(path.stat().st_size, 'bytes')


if __name__ == '__main__':
    main()
