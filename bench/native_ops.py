"""Single ops in native TensorFlow: `python bench/native_ops.py FOLDER [words]` writes a graph, its inputs and the time of each op on one
thread. native-ops.mjs runs the same in this engine."""

import json
import os
import pathlib
import re
import statistics
import sys
import time

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

ops = tf.raw_ops
random = np.random.RandomState(0)
MILLION, SECONDS, LEAST_ROUNDS = 1_000_000, 0.25, 5
cases = {}


def case(name, function, *inputs):
    """`function` of placeholders with the shapes and types of `inputs`."""
    cases[name] = function, inputs


def normal(*shape):
    return random.randn(*shape).astype(np.float32)


def uniform(*shape):
    return random.rand(*shape).astype(np.float32)


def integers(limit, *shape, dtype=np.int32):
    return random.randint(0, limit, shape).astype(dtype)


def long_integers(limit, *shape):
    return integers(limit, *shape, dtype=np.int64)


def booleans(*shape):
    return random.rand(*shape) < 0.5


def complexes(*shape):
    return (normal(*shape) + 1j * normal(*shape)).astype(np.complex64)


def strings(values):
    return np.array([str(value).encode() for value in values], object)


def positive_definite(*shape):
    x = normal(*shape)
    return x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1], dtype=np.float32)


def named(op, *names, **attrs):
    """The op with its inputs in this order."""
    return lambda *values: getattr(ops, op)(**dict(zip(names, values)), **attrs)


def functions_of_one():
    below_one = uniform(MILLION) * 0.9 + 0.05
    for op in (
        "Abs Acos Asin Asinh Atan Atanh BesselI0e BesselI1e Ceil Cos Cosh Digamma Erf Erfc Erfinv Exp Expm1 Floor Inv IsFinite IsInf "
        "IsNan Lgamma Log Log1p Ndtri Neg Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh"
    ).split():
        case(op, named(op, "x"), below_one)
    case("Acosh", named("Acosh", "x"), below_one + 1)
    for op in ["Elu", "Relu", "Relu6", "Selu", "Softplus", "Softsign"]:
        case(op, named(op, "features"), normal(MILLION))
    for op in ["Exp", "Tanh"]:
        case(f"{op} of double", named(op, "x"), random.rand(MILLION))
    some = complexes(200_000)
    for op in ["Exp", "Log", "Sqrt", "Tanh", "Sin", "ComplexAbs"]:
        case(f"{op} of complex64", named(op, "x"), some)
    for op in ["Angle", "Conj", "Real"]:
        case(f"{op} of complex64", named(op, "input"), some)


def functions_of_two():
    x, y = uniform(MILLION) * 3 + 0.1, uniform(MILLION) * 2 + 0.1
    for op in (
        "AddV2 Div DivNoNan Equal FloorDiv FloorMod Greater Maximum Mod Mul MulNoNan NextAfter Pow RealDiv SquaredDifference Sub Xdivy "
        "Xlogy Xlog1py"
    ).split():
        case(op, named(op, *(("x1", "x2") if op == "NextAfter" else "xy")), x, y)
    case("Atan2", named("Atan2", "y", "x"), x, y)
    case("Zeta", named("Zeta", "x", "q"), x + 1.1, y)
    case("Igamma", named("Igamma", "a", "x"), x, y)
    case("Igammac", named("Igammac", "a", "x"), x, y)
    case("Polygamma", named("Polygamma", "a", "x"), integers(3, 100_000).astype(np.float32) + 1, x[:100_000])
    case("Betainc", named("Betainc", "a", "b", "x"), x[:100_000], y[:100_000], uniform(100_000))
    for dtype in [np.int32, np.int64]:
        a, b = integers(30, MILLION, dtype=dtype) + dtype(1), integers(30, MILLION, dtype=dtype) + dtype(1)
        for op in ["AddV2", "BitwiseAnd", "FloorDiv", "FloorMod", "LeftShift", "Less", "Maximum", "Mul", "TruncateDiv"]:
            case(f"{op} of {dtype.__name__}", named(op, "x", "y"), a, b)
    for op in ["AddV2", "Mul", "RealDiv", "Pow"]:
        case(f"{op} of double", named(op, "x", "y"), random.rand(MILLION), random.rand(MILLION))
    for op in ["Mul", "Div", "Pow"]:
        case(f"{op} of complex64", named(op, "x", "y"), complexes(200_000), complexes(200_000))
    for op in ["SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "InvGrad"]:
        case(op, named(op, "y", "dy"), below_two(), normal(MILLION))
    for op in ["ReluGrad", "Relu6Grad", "SoftplusGrad", "LeakyReluGrad"]:
        case(op, named(op, "gradients", "features"), normal(MILLION), normal(MILLION))
    for op in ["EluGrad", "SeluGrad"]:
        case(op, named(op, "gradients", "outputs"), normal(MILLION), normal(MILLION))
    case("ClipByValue", named("ClipByValue", "t", clip_value_min=-1.0, clip_value_max=1.0), normal(MILLION))
    case("Select", named("Select", "condition", "x", "y"), booleans(MILLION), normal(MILLION), normal(MILLION))
    case("SelectV2, broadcast", named("SelectV2", "condition", "t", "e"), booleans(1000, 1), normal(1000, 1000), normal(1))
    case("AddN", lambda *x: ops.AddN(inputs=x), *[normal(MILLION) for _ in range(3)])
    for a, b in [((1, 3), (66_666, 1)), ((1562, 1, 2), (1562, 64, 1)), ((64, 16, 1, 4), (7, 1)), ((128, 7, 1), (128, 1, 3))]:
        case(f"Mul of {a} and {b}", named("Mul", "x", "y"), normal(*a), normal(*b))


def below_two():
    return uniform(MILLION) + 0.1


def casts():
    numbers = uniform(MILLION) * 100
    pairs = [
        *[("float32", to) for to in ["float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool"]],
        *[(of, "float32") for of in ["float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool"]],
        *[("int64", "int32"), ("float64", "int64")],
    ]
    for of, to in pairs:
        case(f"Cast of {of} to {to}", named("Cast", "x", DstT=tf.as_dtype(to)), tf.cast(numbers, of).numpy())
    case("QuantizeV2", named("QuantizeV2", "input", min_range=-3.0, max_range=3.0, T=tf.quint8), normal(MILLION))
    case("FakeQuantWithMinMaxArgs", named("FakeQuantWithMinMaxArgs", "inputs"), normal(MILLION))
    case("Bitcast", named("Bitcast", "input", type=tf.int32), normal(MILLION))


def reductions():
    layouts = [([1], (1000, 1000)), ([0], (1000, 1000)), ([0, 1], (1000, 1000)), ([1], (100, 100, 100)), ([1], (140_000, 7)), ([0], (140_000, 7))]
    for axes, shape in layouts:
        for op in ["Sum", "Mean", "Max", "Prod"]:
            case(f"{op} of {shape} over {axes}", named(op, "input", axis=axes), normal(*shape))
    case("All of rows", named("All", "input", axis=[1]), booleans(1000, 1000))
    case("Any of columns", named("Any", "input", axis=[0]), booleans(1000, 1000))
    case("Sum of half", named("Sum", "input", axis=[1]), normal(1000, 1000).astype(np.float16))
    case("Sum of int32", named("Sum", "input", axis=[1]), integers(9, 1000, 1000))
    case("L2Loss", named("L2Loss", "t"), normal(MILLION))
    for axis in [0, 1]:
        case(f"ArgMax, axis {axis}", named("ArgMax", "input", dimension=axis), normal(1000, 1000))
        case(f"Cumsum, axis {axis}", named("Cumsum", "x", axis=axis), normal(1000, 1000))
        case(f"Cumprod, axis {axis}", named("Cumprod", "x", axis=axis), uniform(1000, 1000) + 0.5)
    rows, ids = normal(20_000, 64), integers(1000, 20_000)
    case("UnsortedSegmentSum", named("UnsortedSegmentSum", "data", "segment_ids", num_segments=1000), rows, ids)
    case("UnsortedSegmentMax", named("UnsortedSegmentMax", "data", "segment_ids", num_segments=1000), rows, ids)
    for op in ["SegmentSum", "SegmentMean", "SegmentMax"]:
        case(op, named(op, "data", "segment_ids"), rows, np.sort(ids))
    sparse = integers(20_000, 50_000), np.sort(integers(1000, 50_000))
    for op in ["SparseSegmentSum", "SparseSegmentMean"]:
        case(op, named(op, "data", "indices", "segment_ids"), rows, *sparse)
    none = np.zeros(0, np.float32)
    case("Bincount", lambda x: ops.Bincount(arr=x, size=1000, weights=none), integers(1000, MILLION))
    case("DenseBincount", lambda x: ops.DenseBincount(input=x, size=100, weights=none), integers(100, 1000, 1000))
    case("HistogramFixedWidth", named("HistogramFixedWidth", "values", value_range=[-3.0, 3.0], nbins=100), normal(MILLION))


def moves():
    square = normal(1000, 1000)
    permutations = [
        ([1, 0], (1000, 1000)),
        ([0, 2, 1, 3], (8, 128, 8, 64)),
        ([0, 3, 1, 2], (4, 64, 64, 64)),
        ([0, 2, 3, 1], (4, 64, 64, 64)),
        ([2, 1, 0], (100, 100, 100)),
        ([0, 2, 1], (100, 100, 100)),
    ]
    for permutation, shape in permutations:
        case(f"Transpose {permutation}", named("Transpose", "x", perm=permutation), normal(*shape))
    for axis in [0, 1]:
        case(f"Concat, axis {axis}", lambda x, y, axis=axis: ops.ConcatV2(values=[x, y], axis=axis), square, square)
        case(f"Split, axis {axis}", lambda x, axis=axis: ops.Split(axis=axis, value=x, num_split=4), square)
        case(f"Pack, axis {axis}", lambda x, y, axis=axis: ops.Pack(values=[x, y], axis=axis), square, square)
        case(f"Unpack, axis {axis}", named("Unpack", "value", num=10, axis=axis), normal(10, 10, 10_000))
        case(f"Gather, axis {axis}", named("GatherV2", "params", "indices", axis=axis), square, integers(1000, 1000))
        case(f"Reverse, axis {axis}", named("ReverseV2", "tensor", axis=[axis]), square)
        case(f"Roll, axis {axis}", named("Roll", "input", shift=17, axis=axis), square)
    case("Tile", named("Tile", "input", multiples=[4, 4]), normal(500, 500))
    case("BroadcastTo", named("BroadcastTo", "input", shape=[1000, 1000]), normal(1000, 1))
    case("Pad", named("Pad", "input", paddings=[[0, 0], [1, 1], [1, 1], [0, 0]]), normal(4, 112, 112, 32))
    case("MirrorPad", named("MirrorPad", "input", paddings=[[0, 0], [3, 3], [3, 3], [0, 0]], mode="REFLECT"), normal(4, 224, 224, 3))
    case("Slice", named("Slice", "input", begin=[5, 5], size=[900, 900]), square)
    case("StridedSlice by 2", lambda x: x[::2, ::2], normal(2000, 2000))
    case("StridedSlice backward", lambda x: x[::-1, ::-1], square)
    case("Where", named("Where", "condition"), booleans(1000, 1000))
    case("boolean_mask", tf.boolean_mask, normal(MILLION), booleans(MILLION))
    places, rows = integers(1000, 200_000, 2), integers(10_000, 20_000, 1)
    case("GatherNd", named("GatherNd", "params", "indices"), square, places)
    case("GatherNd of rows", named("GatherNd", "params", "indices"), normal(10_000, 64), rows)
    case("ScatterNd", named("ScatterNd", "indices", "updates", shape=[1000, 1000]), places, normal(200_000))
    case("ScatterNd of rows", named("ScatterNd", "indices", "updates", shape=[10_000, 64]), rows, normal(20_000, 64))
    case("Gather of embeddings", named("GatherV2", "params", "indices", axis=0), normal(50_000, 64), integers(50_000, 20_000))
    case("OneHot", named("OneHot", "indices", depth=1000, on_value=1.0, off_value=0.0), integers(1000, 1000))
    case("ReverseSequence", named("ReverseSequence", "input", "seq_lengths", seq_dim=1, batch_dim=0), normal(100, 100, 100), long_integers(100, 100))
    case("InvertPermutation", named("InvertPermutation", "x"), random.permutation(MILLION).astype(np.int32))
    case("DynamicPartition", named("DynamicPartition", "data", "partitions", num_partitions=4), normal(20_000, 64), integers(4, 20_000))


def searches():
    case("Unique", named("Unique", "x"), integers(10_000, MILLION))
    case("Unique of many", named("Unique", "x"), long_integers(10**9, 200_000))
    case("UniqueWithCounts", named("UniqueWithCounts", "x"), integers(10_000, MILLION))
    case("TopK of rows", named("TopKV2", "input", k=10), normal(1000, 1000))
    case("TopK of all", named("TopKV2", "input", k=100_000), normal(100_000))
    case("sort", tf.sort, normal(200_000))
    case("UpperBound", named("UpperBound", "sorted_inputs", "values"), np.sort(normal(1, 10_000), axis=1), normal(1, 200_000))
    case("Bucketize", named("Bucketize", "input", boundaries=[-1.0, -0.5, 0.0, 0.5, 1.0]), normal(MILLION))
    case("ListDiff", named("ListDiff", "x", "y"), integers(10**6, 100_000), integers(10**6, 100_000))
    places = np.unique(np.stack([long_integers(1000, 20_000), long_integers(1000, 20_000)], 1), axis=0)
    values = normal(len(places))
    shape = {"output_shape": [1000, 1000], "default_value": 0.0}
    case("SparseToDense", named("SparseToDense", "sparse_indices", "sparse_values", **shape), places, values)
    matrix = {"a_shape": [1000, 1000]}
    case("SparseTensorDenseMatMul", named("SparseTensorDenseMatMul", "a_indices", "a_values", "b", **matrix), places, values, normal(1000, 64))
    case("SparseReorder", named("SparseReorder", "input_indices", "input_values", input_shape=[1000, 1000]), places[::-1].copy(), values)


def products():
    case("MatMul 512", named("MatMul", "a", "b"), normal(512, 512), normal(512, 512))
    case("MatMul 512 of double", named("MatMul", "a", "b"), random.rand(512, 512), random.rand(512, 512))
    case("MatMul 256 of half", named("MatMul", "a", "b"), normal(256, 256).astype(np.float16), normal(256, 256).astype(np.float16))
    case("MatMul 256 of complex64", named("MatMul", "a", "b"), complexes(256, 256), complexes(256, 256))
    for m, k, n in [(10_000, 256, 1), (10_000, 256, 3), (100_000, 3, 64), (1000, 1, 1000), (1, MILLION, 1), (1, 2048, 10)]:
        case(f"MatMul {m}x{k}x{n}", named("MatMul", "a", "b"), normal(m, k), normal(k, n))
    for count, m, k, n in [(256, 32, 32, 32), (50_000, 3, 3, 3), (50_000, 4, 4, 1), (5000, 8, 8, 8)]:
        case(f"BatchMatMul {count}x{m}x{k}x{n}", named("BatchMatMulV2", "x", "y"), normal(count, m, k), normal(count, k, n))
    for equation, a, b in [("bhid,bhjd->bhij", (4, 8, 128, 32), (4, 8, 128, 32)), ("bihd,bjhd->bhij", (4, 128, 8, 32), (4, 128, 8, 32))]:
        case(f"Einsum {equation}", lambda x, y, e=equation: ops.Einsum(inputs=[x, y], equation=e), normal(*a), normal(*b))
    for name, x in [("100", positive_definite(100, 100)), ("1000 of 8", positive_definite(1000, 8, 8))]:
        for op in ["MatrixInverse", "Cholesky", "MatrixDeterminant", "SelfAdjointEigV2"]:
            case(f"{op} {name}", named(op, "input"), x)
    case("Qr 200x100", named("Qr", "input"), normal(200, 100))
    case("Svd 100x60", named("Svd", "input"), normal(100, 60))
    case("MatrixSolve 100x10", named("MatrixSolve", "matrix", "rhs"), positive_definite(100, 100), normal(100, 10))
    case("FFT 200 of 1024", named("FFT", "input"), complexes(200, 1024))
    case("FFT 200 of 1000", named("FFT", "input"), complexes(200, 1000))
    case("RFFT 500 of 512", named("RFFT", "input", fft_length=[512]), normal(500, 512))
    case("FFT2D 256", named("FFT2D", "input"), complexes(256, 256))


def layers():
    steps, image = {"strides": [1, 1, 1, 1], "padding": "SAME"}, normal(8, 56, 56, 32)
    for size, stride, outputs in [(3, 1, 64), (5, 2, 64), (1, 2, 64), (3, 1, 1), (9, 1, 3)]:
        name, attrs = f"{size}x{size}/{stride} to {outputs}", {"strides": [1, stride, stride, 1], "padding": "SAME"}
        filters, dy = normal(size, size, 32, outputs), normal(8, 56 // stride, 56 // stride, outputs)
        case(f"Conv2D {name}", named("Conv2D", "input", "filter", **attrs), image, filters)
        by_image = named("Conv2DBackpropInput", "filter", "out_backprop", input_sizes=image.shape, **attrs)
        case(f"Conv2DBackpropInput {name}", by_image, filters, dy)
        by_filter = named("Conv2DBackpropFilter", "input", "out_backprop", filter_sizes=filters.shape, **attrs)
        case(f"Conv2DBackpropFilter {name}", by_filter, image, dy)
    for channels, size, multiplier in [(32, 3, 1), (32, 3, 2), (3, 3, 1), (3, 11, 1)]:
        depthwise = named("DepthwiseConv2dNative", "input", "filter", **steps)
        case(f"depthwise {size}x{size} of {channels}, x{multiplier}", depthwise, normal(8, 56, 56, channels), normal(size, size, channels, multiplier))
    volume, filters = normal(1, 16, 32, 32, 16), normal(3, 3, 3, 16, 32)
    case("Conv3D", named("Conv3D", "input", "filter", strides=[1] * 5, padding="SAME"), volume, filters)
    for channels in [1, 3, 32]:
        for size, stride in [(2, 2), (3, 1)]:
            window = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1], "padding": "SAME"}
            x = normal(8, 56, 56, channels)
            case(f"MaxPool {size}x{size}/{stride} of {channels}", named("MaxPool", "input", **window), x)
            case(f"AvgPool {size}x{size}/{stride} of {channels}", named("AvgPool", "value", **window), x)
    case("LRN", named("LRN", "input"), image)
    case("BiasAdd", named("BiasAdd", "value", "bias"), image, normal(32))
    case("BiasAddGrad", named("BiasAddGrad", "out_backprop"), image)
    for columns in [2, 10, 49, 1000]:
        logits = normal(MILLION // columns, columns)
        case(f"Softmax of {columns}", named("Softmax", "logits"), logits)
        case(f"LogSoftmax of {columns}", named("LogSoftmax", "logits"), logits)
        loss = named("SparseSoftmaxCrossEntropyWithLogits", "features", "labels")
        case(f"sparse cross entropy of {columns}", loss, logits, integers(columns, MILLION // columns))


def images():
    photos, pixels = uniform(4, 224, 224, 3), normal(8, 56, 56, 32)
    for op in ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"]:
        for size in [100, 448]:
            case(f"{op} to {size}", named(op, "images", size=[size, size]), photos)
    case("CropAndResize", named("CropAndResize", "image", "boxes", "box_ind", crop_size=[14, 14]), pixels, boxes(100), integers(8, 100))
    case("AdjustContrastv2", named("AdjustContrastv2", "images", contrast_factor=1.5), photos)
    case("AdjustHue", named("AdjustHue", "images", delta=0.1), photos)
    case("RGBToHSV", named("RGBToHSV", "images"), photos)
    for op in ["DepthToSpace", "SpaceToDepth"]:
        case(op, named(op, "input", block_size=2), pixels)
    patches = {"ksizes": [1, 3, 3, 1], "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
    case("ExtractImagePatches", named("ExtractImagePatches", "images", **patches), pixels)
    limits = {"max_output_size": 100, "iou_threshold": 0.5, "score_threshold": 0.1}
    case("NonMaxSuppressionV3", named("NonMaxSuppressionV3", "boxes", "scores", **limits), boxes(1000), uniform(1000))
    case("ssim", lambda x, y: tf.image.ssim(x, y, 1.0), uniform(2, 128, 128, 3), uniform(2, 128, 128, 3))


def boxes(count):
    corners = np.sort(uniform(count, 2, 2), axis=1)
    return corners.reshape(count, 4)


def texts():
    case("StringToNumber", named("StringToNumber", "string_tensor"), strings(f"{x:.6f}" for x in normal(20_000)))
    case("AsString", named("AsString", "input"), normal(20_000))
    columns = {"record_defaults": [[0.0], [0.0], [0]]}
    case("DecodeCSV", named("DecodeCSV", "records", **columns), strings(f"{x:.6f},{x:.6f},3" for x in normal(5000)))


def draws():
    for op in ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"]:
        case(op, named(op, shape=[MILLION], dtype=tf.float32))
    case("RandomUniformInt", named("RandomUniformInt", shape=[MILLION], minval=0, maxval=100))
    case("RandomShuffle", named("RandomShuffle", "value"), normal(100_000))
    case("Multinomial", named("Multinomial", "logits", num_samples=100), normal(100, 1000))


def milliseconds(call):
    """The median of the runs."""
    call()
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < LEAST_ROUNDS:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1000


def magnitude(value):
    """The sum of the absolute values; None for strings and halves, which JavaScript has as bits, and where it is no number."""
    if value.dtype in (object, np.float16, tf.bfloat16.as_numpy_dtype):
        return None
    total = float(np.abs(value.astype(np.complex128)).sum())
    return total if np.isfinite(total) else None


def write(folder, number, name):
    function, inputs = cases[name]
    inputs = [np.asarray(value) for value in inputs]
    values = [tf.constant(x) for x in inputs]
    specs = [tf.TensorSpec(x.shape, x.dtype, f"in{i}") for i, x in enumerate(values)]
    step = tf.function(function, autograph=False).get_concrete_function(*specs)
    results = tf.nest.flatten(step(*values))
    native = milliseconds(lambda: step(*values))
    graph = step.graph
    (folder / f"{number}.pb").write_bytes(graph.as_graph_def().SerializeToString())
    described = []
    for i, x in enumerate(inputs):
        text = x.dtype == object
        (folder / f"{number}.{i}").write_bytes(b"\n".join(x.reshape(-1)) if text else np.ascontiguousarray(x).tobytes())
        described.append({"dtype": "string" if text else x.dtype.name, "shape": x.shape})
    drawn = any(op.op_def.is_stateful and op.type != "Placeholder" for op in graph.get_operations())
    return {
        "name": name,
        "number": number,
        "native": native,
        "inputs": described,
        "outputs": [output.name for output in step.outputs],
        "magnitudes": [None if drawn else magnitude(result.numpy()) for result in results],
    }


def main(folder, words):
    folder = pathlib.Path(folder)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    for family in [functions_of_one, functions_of_two, casts, reductions, moves, searches, products, layers, images, texts, draws]:
        family()
    pattern = re.compile("|".join(map(re.escape, words)))
    names = [name for name in cases if pattern.search(name)]
    described = [write(folder, number, name) for number, name in enumerate(names)]
    (folder / "cases.json").write_text(json.dumps(described))


main(sys.argv[1], sys.argv[2:])
