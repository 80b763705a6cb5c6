"""Writes tests/data/oracle/tensor_protos.txt: what TensorFlow makes of TensorProtos, how it prints tensors, and 16-bit floats.

Run with any Python that has TensorFlow 2 (package tensorflow-cpu). Every line is a record of fields separated by tabs:

  parse  <proto in hex> <elements in hex>     the memory of the tensor; the bytes of strings are separated by commas
  parse  <proto in hex> refused               TensorFlow makes no tensor of it
  write  <proto in hex> <proto in hex>        the tensor of the first is written as the second (tensor_content)
  print  <limit> <proto in hex> <text>        Tensor::SummarizeValue, as the op Assert shows it
  to_float <type> <block> <hash>              the floats of the 16-bit patterns block * 4096 to block * 4096 + 4095
  to_float <type> <count> <hash>              those of the patterns of 8 or 4 bits
  from_float <type> <block> <hash>            the 16 bits of the floats with these patterns as high half, each of LOW as low half

Hashes are FNV-1a over little-endian bytes, where every NaN has all bits set.
"""
import os
import random

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2, types_pb2

LOW = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x1FFF, 0x3000, 0x5000, 0x7000, 0x7FFF, 0x8000, 0x8001, 0xB000, 0xFFFF]
TYPES = {name: number for name, number in types_pb2.DataType.items() if 0 < number < 100}
FIELDS = {'FLOAT': 'float_val', 'DOUBLE': 'double_val', 'INT64': 'int64_val', 'BOOL': 'bool_val', 'STRING': 'string_val',
          'COMPLEX64': 'scomplex_val', 'COMPLEX128': 'dcomplex_val', 'UINT32': 'uint32_val', 'UINT64': 'uint64_val',
          'HALF': 'half_val', 'BFLOAT16': 'half_val'}
SERIALIZABLE = (tf.float32, tf.float64, tf.int32, tf.uint8, tf.int16, tf.int8, tf.complex64, tf.int64, tf.bool, tf.bfloat16,
                tf.uint16, tf.complex128, tf.half, tf.uint32, tf.uint64)
SHAPES = [[], [1], [5], [2, 3], [0], [2, 0, 3], [2, 1, 2, 1]]
WORDS = [b'', b'a', b'twenty-two bytes, small', b'three and twenty bytes!', b'\x00\xff\n"', b'longer than that: ' + b'z' * 40]


def field_of(name):
    short = name[3:]
    return FIELDS.get(short, 'float8_val' if short.startswith('FLOAT8') or short.startswith('FLOAT4') else 'int_val')


def values_of(name, count, dice):
    """Values of the *_val field for `count` elements: ordinary ones, limits, and some that do not fit the type."""
    field = field_of(name)
    if field in ('float_val', 'double_val', 'scomplex_val', 'dcomplex_val'):
        pool = [0.0, -0.0, 1.0, 0.1, -2.5, 1e30, float('inf'), float('nan'), 1e-40]
        return [dice.choice(pool) for _ in range(count * (2 if 'complex' in field else 1))]
    if field == 'bool_val':
        return [dice.random() < 0.5 for _ in range(count)]
    if field == 'string_val':
        return [dice.choice(WORDS) for _ in range(count)]
    if field == 'float8_val':
        limit = 16 if '4_' in name else 256
        return bytes(dice.randrange(limit) for _ in range(count))
    bits, signed = {'int64_val': (64, 1), 'uint32_val': (32, 0), 'uint64_val': (64, 0), 'half_val': (17, 0)}.get(field, (32, 1))
    if name[3:] in ('INT4', 'UINT4', 'INT2', 'UINT2') and dice.random() < 0.5:
        bits, signed = int(name[-1]), int(not name.startswith('DT_U'))
    low = -(1 << (bits - 1)) if signed else 0
    high = low + (1 << bits)
    pool = [0, 1, low, high - 1, dice.randrange(low, high), dice.randrange(low, high)]
    return [dice.choice(pool) for _ in range(count)]


def proto(dtype, shape, values=None, field=None, content=None):
    made = tensor_pb2.TensorProto(dtype=dtype)
    made.tensor_shape.SetInParent()
    for size in shape:
        made.tensor_shape.dim.add().size = size
    if content is not None:
        made.tensor_content = content
    if isinstance(values, bytes):
        made.float8_val = values
    elif values:
        getattr(made, field).extend(values)
    return made


def parse(made):
    """The tensor, or None when TensorFlow refuses."""
    try:
        return tf.raw_ops.ParseTensor(serialized=made.SerializeToString(), out_type=made.dtype)
    except (tf.errors.InvalidArgumentError, TypeError):
        return None


def memory(tensor):
    if len(tensor.shape) > 60:  # more than NumPy has
        tensor = tf.reshape(tensor, [-1])
    if tensor.dtype == tf.string:
        return ','.join(word.hex() for word in np.array(tensor.numpy(), object).reshape(-1))
    return np.ascontiguousarray(tensor.numpy()).tobytes().hex()


class Records:
    def __init__(self):
        self.lines = []

    def add(self, *fields):
        line = '\t'.join(str(field) for field in fields)
        if line not in self.lines:
            self.lines.append(line)

    def add_parse(self, made):
        tensor = parse(made)
        self.add('parse', made.SerializeToString().hex(), 'refused' if tensor is None else memory(tensor))
        return tensor

    def add_print(self, made, limit):
        try:
            tf.raw_ops.Assert(condition=False, data=[parse(made)], summarize=limit)
        except tf.errors.InvalidArgumentError as error:
            text = str(error).split('assertion failed: [', 1)[1].rsplit('] [Op:Assert]', 1)[0]
            text = text.replace('-nan', 'nan')  # the sign of a NaN depends on the machine; we do not print it
            self.add('print', limit, made.SerializeToString().hex(), text)


def add_type(records, name, dice):
    dtype, field = TYPES[name], field_of(name)
    size = tf.dtypes.as_dtype(dtype).size
    for shape in SHAPES:
        count = int(np.prod(shape))
        whole = proto(dtype, shape, values_of(name, count, dice), field)
        tensor = records.add_parse(whole)
        if tensor is not None and name != 'DT_STRING':
            bits = bytes.fromhex(memory(tensor))
            records.add_parse(proto(dtype, shape, content=bits))
            if count > 1 and tensor.dtype in SERIALIZABLE:
                records.add('write', whole.SerializeToString().hex(), tf.io.serialize_tensor(tensor).numpy().hex())
        # Splats: one value, two of them, none; too many.
        for stored in (0, 1, 2, count + 2):
            records.add_parse(proto(dtype, shape, values_of(name, stored, dice), field))
    # Content of the wrong length, content and values, values in the field of another type.
    for length in (2 * size - 1, 2 * size + 1, 3 * size, 1):
        records.add_parse(proto(dtype, [2], content=b'\x01' * length))
    records.add_parse(proto(dtype, [2], values_of(name, 1, dice), field, content=b'\x01' * 2 * size))
    records.add_parse(proto(dtype, [2], [1, 0], 'int_val' if field != 'int_val' else 'int64_val'))
    if 'complex' in field:
        for stored in (1, 3, 5):
            records.add_parse(proto(dtype, [2], values_of(name, 4, dice)[:stored], field))


def add_damage(records):
    f, s, b = (types_pb2.DT_FLOAT, types_pb2.DT_STRING, types_pb2.DT_BOOL)
    for shape in ([-1], [2, -1], [-5], [1 << 62, 4], [1 << 40, 1 << 40], [1 << 40, 0], [0, 1 << 40], [1] * 254, [1] * 255):
        records.add_parse(proto(f, shape, [1.5], 'float_val'))
    for dtype in (34, 77, 99, 101, 107):
        records.add_parse(proto(dtype, [1], [1.0], 'float_val'))
    for content in (b'\0\2', b'\1\1', b'\0', b'\0\0\0'):
        records.add_parse(proto(b, [2], content=content))
    for content in (b'\1\0\2abc', b'\1\0\3abc', b'\1\0\1abc', b'\1\0', b'\x80', b'\xff\xff\xff\xff\xff\xff',
                    b'\x83\0\0\0abc', b'\0\0\0'):
        records.add_parse(proto(s, [3], content=content))


def is_subnormal(bits):
    """True for a bfloat16 that TensorFlow's threads take for 0."""
    return 0 < (bits & 0x7FFF) < 0x0080


def add_prints(records, dice):
    for name, dtype in TYPES.items():
        if name in ('DT_RESOURCE', 'DT_VARIANT'):
            continue
        field = field_of(name)
        values = values_of(name, 6, dice)
        if name == 'DT_STRING':
            values = [b'a', b'', b'tab\t"\'\\', b'\x01\x7f\n\r', 'gr\u00fc\u00df'.encode(), b'z']
        if name == 'DT_BFLOAT16':
            values = [0 if is_subnormal(value) else value for value in values]
        for shape, limit in (([6], 3), ([6], -1), ([2, 3], 4), ([3, 2], 6)):
            records.add_print(proto(dtype, shape, values, field), limit)
        if field == 'float8_val':
            count = 16 if '4_' in name else 256
            records.add_print(proto(dtype, [count], bytes(range(count)), field), -1)
    numbers = list(range(1, 25))
    for shape in ([], [1], [4], [2, 2], [1, 4], [4, 1], [2, 3, 2], [2, 1, 1, 3], [0], [0, 3], [3, 0], [2, 0, 2]):
        for limit in (-1, 0, 1, 2, 3, 4, 5, 6, 11, 12, 20):
            records.add_print(proto(types_pb2.DT_INT32, shape, numbers[:int(np.prod(shape))], 'int_val'), limit)
    floats = [0.1, 1 / 3, 1e10, 1e-10, 16777216., 123456.789, 3e38, 1.17549435e-38, 100000., 1e6, 999999.9, 1e-4, 1e-5]
    doubles = floats + [1e15, 1e17, 123456789012345678., 1e16, 0.30000000000000004, 1.7976931348623157e308]
    records.add_print(proto(types_pb2.DT_FLOAT, [len(floats)], floats, 'float_val'), -1)
    records.add_print(proto(types_pb2.DT_DOUBLE, [len(doubles)], doubles, 'double_val'), -1)


def fnv(data):
    hashed = 0xCBF29CE484222325
    for byte in data:
        hashed = (hashed ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return '%016x' % hashed


def add_conversions(records):
    for name, dtype in (('half', np.float16), ('bfloat16', ml_dtypes.bfloat16)):
        for block in range(16):
            high = np.arange(block * 4096, (block + 1) * 4096, dtype=np.uint32)
            floats = high.astype(np.uint16).view(dtype).astype(np.float32)
            bits = np.where(np.isnan(floats), np.uint32(0xFFFFFFFF), floats.view(np.uint32))
            records.add('to_float', name, block, fnv(bits.astype('<u4').tobytes()))
            floats = (high[:, None] << 16 | np.array(LOW, np.uint32)).reshape(-1).view(np.float32)
            with np.errstate(over='ignore', invalid='ignore'):
                bits = floats.astype(dtype).view(np.uint16)
            bits = np.where(np.isnan(floats), np.uint16(0xFFFF), bits)
            records.add('from_float', name, block, fnv(bits.astype('<u2').tobytes()))


def add_small_floats(records):
    for number in (24, 25, 26, 27, 28, 33):
        dtype = tf.dtypes.as_dtype(number)
        bits = np.arange(16 if dtype.name.startswith('float4') else 256, dtype=np.uint8)
        floats = bits.view(dtype.as_numpy_dtype).astype(np.float32)
        values = np.where(np.isnan(floats), np.uint32(0xFFFFFFFF), floats.view(np.uint32))
        records.add('to_float', dtype.name, len(bits), fnv(values.astype('<u4').tobytes()))


def main():
    dice = random.Random(17)
    records = Records()
    for name in TYPES:
        if name not in ('DT_RESOURCE', 'DT_VARIANT'):
            add_type(records, name, dice)
    add_damage(records)
    add_prints(records, dice)
    add_conversions(records)
    add_small_floats(records)
    path = os.path.join(os.path.dirname(__file__), '..', 'data', 'oracle', 'tensor_protos.txt')
    with open(path, 'w') as file:
        file.write('\n'.join(records.lines) + '\n')


if __name__ == '__main__':
    main()
