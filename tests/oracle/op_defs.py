"""Writes tests/data/ops-2.pbtxt: TensorFlow 2.21's definitions of the ops that src/ops/ registers, without their documentation."""

import glob
import os
import re

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

from google.protobuf import text_format  # noqa: E402
from tensorflow.core.framework import op_def_pb2  # noqa: E402
from tensorflow.python.client import pywrap_tf_session  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def registered_here():
    names = set()
    for path in glob.glob(os.path.join(ROOT, "src", "ops", "**", "*.c"), recursive=True):
        with open(path, encoding="utf-8") as source:
            names.update(re.findall(r"^const OpRegistration kOp(\w+) =", source.read(), re.MULTILINE))
    return names


def main():
    theirs = op_def_pb2.OpList()
    theirs.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    wanted, kept = registered_here(), op_def_pb2.OpList()
    for op in sorted(theirs.op, key=lambda op: op.name):
        if op.name not in wanted:
            continue
        for part in [op, *op.input_arg, *op.output_arg, *op.attr]:
            part.ClearField("description")
        op.ClearField("summary")
        kept.op.append(op)
    with open(os.path.join(ROOT, "tests", "data", "ops-2.pbtxt"), "w", encoding="utf-8") as out:
        out.write(text_format.MessageToString(kept))
    print(f"{len(kept.op)} of {len(wanted)} ops")


if __name__ == "__main__":
    main()
