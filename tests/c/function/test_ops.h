/* Ops for tests of functions and gradients: TensorFlow's specs, with kernels for double without
 * broadcasting. */
#ifndef TFCORE_TESTS_FUNCTION_TEST_OPS_H_
#define TFCORE_TESTS_FUNCTION_TEST_OPS_H_

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "harness.h"
#include "op/node_def.h"
#include "op/op_registry.h"

#define TEST_NUMBERS "T: {bfloat16, half, float, double, int32, int64, complex64}"

/* --- kernels --- */

#define ELEMENTWISE(name, expression)                                                         \
  static bool name(KernelContext *c, Status *status) {                                        \
    Tensor *out;                                                                              \
    TRY(kernel_forward_or_allocate(c, 0, 0, &c->inputs[0]->shape, &out, status));             \
    const double *x = tensor_f64(c->inputs[0]);                                               \
    const double *y = c->num_inputs > 1 ? tensor_f64(c->inputs[1]) : x;                       \
    (void)x, (void)y;                                                                         \
    for (int64_t i = 0; i < tensor_num_elements(out); i++) tensor_f64(out)[i] = (expression); \
    return true;                                                                              \
  }
ELEMENTWISE(test_add, x[i] + y[i])
ELEMENTWISE(test_sub, x[i] - y[i])
ELEMENTWISE(test_mul, x[i] * y[i])
ELEMENTWISE(test_square, x[i] * x[i])
ELEMENTWISE(test_tanh, tanh(x[i]))
ELEMENTWISE(test_neg, -x[i])
ELEMENTWISE(test_zeros, 0)
ELEMENTWISE(test_ones, 1)
ELEMENTWISE(test_identity, x[i])

static bool test_add_n(KernelContext *c, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output(c, 0, &c->inputs[0]->shape, &out, status));
  for (int64_t i = 0; i < tensor_num_elements(out); i++) {
    tensor_f64(out)[i] = 0;
    for (int k = 0; k < c->num_inputs; k++) tensor_f64(out)[i] += tensor_f64(c->inputs[k])[i];
  }
  return true;
}

/* sin and cos of the same input */
static bool test_sin_cos(KernelContext *c, Status *status) {
  Tensor *sine, *cosine;
  TRY(kernel_allocate_output(c, 0, &c->inputs[0]->shape, &sine, status));
  TRY(kernel_allocate_output(c, 1, &c->inputs[0]->shape, &cosine, status));
  for (int64_t i = 0; i < tensor_num_elements(sine); i++) {
    tensor_f64(sine)[i] = sin(tensor_f64(c->inputs[0])[i]);
    tensor_f64(cosine)[i] = cos(tensor_f64(c->inputs[0])[i]);
  }
  return true;
}

typedef struct TestConst {
  Tensor value;
} TestConst;
static bool test_const_construct(const KernelConstruction *construction, void *state, Status *status) {
  const TensorProto *proto;
  TRY(node_attr_tensor(construction->node, "value", &proto, status));
  return tensor_from_proto(proto, &((TestConst *)state)->value, status);
}
static void test_const_destroy(void *state) { tensor_clear(&((TestConst *)state)->value); }
static bool test_const(KernelContext *c, Status *status) {
  return kernel_set_output(c, 0, &((TestConst *)c->state)->value, NULL, status);
}

static bool test_const_shape(InferenceContext *c, Status *status) {
  (void)status;
  c->outputs[0] = shape_unknown(c);
  return true;
}

/* dy for each of the N inputs */
static bool test_add_n_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t n;
  TRY(node_attr_int(request->node, "N", &n, status));
  strbuf_append(text, "AddNGrad[N:int, T:type](x:N*T, dy:T) -> (");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sdx%d:T", i == 0 ? "" : ", ", (int)i);
  strbuf_append(text, ") {\n");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "  return dx%d = dy\n", (int)i);
  strbuf_append(text, "}");
  return true;
}

/* --- ops --- */

#define BINARY(Name, commutative, kernel, text)                    \
  const OpRegistration kOp##Name = {.name = #Name,                 \
                                    .inputs = {"x: T", "y: T"},    \
                                    .outputs = {"z: T"},           \
                                    .attrs = {TEST_NUMBERS},       \
                                    .shape = shape_unchanged,      \
                                    .is_commutative = commutative, \
                                    .gradient = text,              \
                                    .kernels = {{DT_DOUBLE, kernel}}};
#define UNARY(Name, kernel, text)                             \
  const OpRegistration kOp##Name = {.name = #Name,            \
                                    .inputs = {"x: T"},       \
                                    .outputs = {"y: T"},      \
                                    .attrs = {TEST_NUMBERS},  \
                                    .shape = shape_unchanged, \
                                    .gradient = text,         \
                                    .kernels = {{DT_DOUBLE, kernel}}};

BINARY(Add, false, test_add,
       "AddGrad[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n"
       "  dx = Identity[T=$T](dz)\n"
       "  dy = Identity[T=$T](dz)\n"
       "  return dx = dx:output:0\n  return dy = dy:output:0\n}")
BINARY(Sub, false, test_sub,
       "SubGrad[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n"
       "  dy = Neg[T=$T](dz)\n"
       "  return dx = dz\n  return dy = dy:y:0\n}")
BINARY(Mul, true, test_mul,
       "MulGrad[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n"
       "  gx = Mul[T=$T](dz, y)\n"
       "  gy = Mul[T=$T](x, dz)\n"
       "  return dx = gx:z:0\n  return dy = gy:z:0\n}")
UNARY(Neg, test_neg, "NegGrad[T:type](x:T, dy:T) -> (dx:T) {\n  dx = Neg[T=$T](dy)\n  return dx = dx:y:0\n}")
UNARY(Square, test_square,
      "SquareGrad[T:type](x:T, dy:T) -> (dx:T) {\n"
      "  x2 = Add[T=$T](x, x)\n"
      "  dx = Mul[T=$T](dy, x2:z:0)\n"
      "  return dx = dx:z:0\n}")
UNARY(Tanh, test_tanh,
      "TanhGrad[T:{half, float, double}](x:T, dy:T) -> (dx:T) {\n"
      "  y = Tanh[T=$T](x)\n"
      "  y2 = Square[T=$T](y:y:0) @ dy\n"
      "  one = OnesLike[T=$T](dy)\n"
      "  a = Sub[T=$T](one:y:0, y2:y:0)\n"
      "  dx = Mul[T=$T](dy, a:z:0)\n"
      "  return dx = dx:z:0\n}")
const OpRegistration kOpIdentity = {
    .name = "Identity",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
    .gradient = "IdentityGrad[T:type](x:T, dy:T) -> (dx:T) {\n  return dx = dy\n}",
    .kernels = {{DT_DOUBLE, test_identity}},
};
const OpRegistration kOpStopGradient = {
    .name = "StopGradient",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_DOUBLE, test_identity}},
};
const OpRegistration kOpZerosLike = {
    .name = "ZerosLike",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_DOUBLE, test_zeros}},
};
const OpRegistration kOpOnesLike = {
    .name = "OnesLike",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, int64, "
              "complex64, complex128, bool}"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_DOUBLE, test_ones}},
};
const OpRegistration kOpAddN = {
    .name = "AddN",
    .inputs = {"inputs: N * T"},
    .outputs = {"sum: T"},
    .attrs = {"N: int >= 1", "T: {numbertype, variant}"},
    .shape = shape_unchanged,
    .is_commutative = true,
    .is_aggregate = true,
    .gradient_fn = test_add_n_gradient,
    .kernels = {{DT_DOUBLE, test_add_n}},
};
const OpRegistration kOpPlaceholder = {
    .name = "Placeholder",
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "shape: shape = { unknown_rank: true }"},
    .shape = shape_explicit,
};
const OpRegistration kOpConst = {
    .name = "Const",
    .outputs = {"output: dtype"},
    .attrs = {"value: tensor", "dtype: type"},
    .shape = test_const_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(TestConst),
    .construct = test_const_construct,
    .destroy = test_const_destroy,
    .kernels = {{DT_INVALID, test_const}},
};
const OpRegistration kOpNoOp = {
    .name = "NoOp",
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
};
const OpRegistration kOpShape = {
    .name = "Shape",
    .inputs = {"input: T"},
    .outputs = {"output: out_type"},
    .attrs = {"T: type", "out_type: {int32, int64} = DT_INT32"},
    .shape = shape_unknown_outputs,
    .gradient = NO_GRADIENT,
};
const OpRegistration kOpCast = {
    .name = "Cast",
    .inputs = {"x: SrcT"},
    .outputs = {"y: DstT"},
    .attrs = {"SrcT: type", "DstT: type", "Truncate: bool = false"},
    .shape = shape_unchanged,
    .gradient =
        "CastGrad[SrcT:type, DstT:type](x:SrcT, dy:DstT) -> (dx:SrcT) {\n"
        "  dx = Cast[SrcT=$DstT, DstT=$SrcT](dy)\n  return dx = dx:y:0\n}",
};
const OpRegistration kOpSplit = {
    .name = "Split",
    .inputs = {"split_dim: int32", "value: T"},
    .outputs = {"output: num_split * T"},
    .attrs = {"num_split: int >= 1", "T: type"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOp_ListToArray = {
    .name = "_ListToArray",
    .inputs = {"input: Tin"},
    .outputs = {"output: N * T"},
    .attrs = {"Tin: list(type)", "T: type", "N: int >= 1"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpVarHandleOp = {
    .name = "VarHandleOp",
    .outputs = {"resource: resource"},
    .attrs = {"container: string = ''", "shared_name: string = ''", "dtype: type", "shape: shape"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    .gradient = NO_GRADIENT,
};
const OpRegistration kOpReadVariableOp = {
    .name = "ReadVariableOp",
    .inputs = {"resource: resource"},
    .outputs = {"value: dtype"},
    .attrs = {"dtype: type"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    .gradient = "ReadVariableGrad[dtype:type](x:resource, dy:dtype) -> (dx:dtype) {\n  return dx = dy\n}",
};
const OpRegistration kOpSinCos = {
    .name = "SinCos",
    .inputs = {"x: T"},
    .outputs = {"sine: T", "cosine: T"},
    .attrs = {TEST_NUMBERS},
    .shape = shape_unknown_outputs,
    .gradient =
        "SinCosGrad[T:type](x:T, ds:T, dc:T) -> (dx:T) {\n"
        "  y = SinCos[T=$T](x)\n"
        "  a = Mul[T=$T](ds, y:cosine:0)\n"
        "  b = Mul[T=$T](dc, y:sine:0)\n"
        "  dx = Sub[T=$T](a:z:0, b:z:0)\n"
        "  return dx = dx:z:0\n}",
    .kernels = {{DT_DOUBLE, test_sin_cos}},
};
const OpRegistration kOpNoGradientKnown = {
    .name = "NoGradientKnown",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};
const OpRegistration kOpPartitionedCall = {
    .name = "PartitionedCall",
    .inputs = {"args: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type) >= 0", "Tout: list(type) >= 0", "f: func", "config: string = ''",
              "config_proto: string = ''", "executor_type: string = ''"},
    .shape = shape_unknown_outputs,
};
/* The ops of TensorFlow's own tests of functions. */
const OpRegistration kOpOne = {
    .name = "One",
    .outputs = {"y: T"},
    .attrs = {"T: {float, double, int32, int64}"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpHasDefaultType = {
    .name = "HasDefaultType",
    .outputs = {"out: T"},
    .attrs = {"T: {float, double, int32, int64} = DT_FLOAT"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpMap = {
    .name = "Map",
    .inputs = {"x: N * T"},
    .outputs = {"y: N * U"},
    .attrs = {"T: type", "U: type", "N: int >= 1"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpCond = {
    .name = "Cond",
    .inputs = {"input: Tin"},
    .outputs = {"output: out_types"},
    .attrs = {"Tin: list(type)", "out_types: list(type)", "cond: func", "then_branch: func",
              "else_branch: func"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpMatMul = {
    .name = "MatMul",
    .inputs = {"a: T", "b: T"},
    .outputs = {"product: T"},
    .attrs = {"transpose_a: bool = false", "transpose_b: bool = false", "T: type"},
    .shape = shape_unknown_outputs,
};

/* Arguments and results of bodies. */
#define ARG(op)                                \
  const OpRegistration kOp##op = {             \
      .name = #op,                             \
      .outputs = {"output: T"},                \
      .attrs = {"T: type", "index: int >= 0"}, \
      .is_stateful = true,                     \
      .shape = shape_unknown_outputs,          \
  };
#define RETVAL(op)                             \
  const OpRegistration kOp##op = {             \
      .name = #op,                             \
      .inputs = {"input: T"},                  \
      .attrs = {"T: type", "index: int >= 0"}, \
      .is_stateful = true,                     \
      .shape = shape_no_outputs,               \
  };
ARG(_Arg)
ARG(_DeviceArg)
RETVAL(_Retval)
RETVAL(_DeviceRetval)

#define ROW(Name) \
  { #Name, &kOp##Name }
static const OpTableRow kTestOps[] = {ROW(Add),
                                      ROW(Sub),
                                      ROW(Mul),
                                      ROW(Neg),
                                      ROW(Square),
                                      ROW(Tanh),
                                      ROW(Identity),
                                      ROW(StopGradient),
                                      ROW(ZerosLike),
                                      ROW(OnesLike),
                                      ROW(AddN),
                                      ROW(Placeholder),
                                      ROW(Const),
                                      ROW(NoOp),
                                      ROW(Shape),
                                      ROW(Cast),
                                      ROW(Split),
                                      ROW(_ListToArray),
                                      ROW(VarHandleOp),
                                      ROW(ReadVariableOp),
                                      ROW(SinCos),
                                      ROW(NoGradientKnown),
                                      ROW(PartitionedCall),
                                      ROW(One),
                                      ROW(HasDefaultType),
                                      ROW(Map),
                                      ROW(Cond),
                                      ROW(MatMul),
                                      ROW(_Arg),
                                      ROW(_DeviceArg),
                                      ROW(_Retval),
                                      ROW(_DeviceRetval)};
#undef ROW

static inline void test_ops_register(void) {
  Status status;
  status_init(&status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kTestOps, sizeof kTestOps / sizeof kTestOps[0],
                                 &status),
           &status);
}

#endif
