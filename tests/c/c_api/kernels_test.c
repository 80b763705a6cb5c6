/* Registered kernels in sessions: how they are made, run and deleted, and their possible mistakes. */
#include <stdio.h>
#include <stdlib.h>

#include "c_api/foreign_ops.h"
#include "op/kernel_registry.h"
#include "runtime/thread_pool.h"
#include "shortage.h"

/* ---- an op y = scale * x + shift ---- */

typedef struct Affine {
  float scale, shift;
} Affine;

static int num_created, num_computed, num_deleted, last_forwarded;
static TF_Status *affine_status; /* of its kernels, which also run when memory is short */

static void *affine_create(TF_OpKernelConstruction *ctx) {
  TF_Status *status = affine_status;
  Affine *affine = malloc(sizeof *affine);
  *affine = (Affine){0};
  num_created++;
  TF_OpKernelConstruction_GetAttrFloat(ctx, "scale", &affine->scale, status);
  if (TF_GetCode(status) == TF_OK) TF_OpKernelConstruction_GetAttrFloat(ctx, "shift", &affine->shift, status);
  if (TF_GetCode(status) == TF_OK && affine->scale == 0)
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "scale must not be 0");
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  return affine;
}

static void affine_delete(void *kernel) {
  num_deleted++;
  free(kernel);
}

static int64_t count_of(const TF_Tensor *tensor, int64_t *dims) {
  int rank = TF_NumDims(tensor);
  for (int i = 0; i < rank; i++) dims[i] = TF_Dim(tensor, i);
  return TF_TensorElementCount(tensor);
}

static void affine_compute(void *kernel, TF_OpKernelContext *ctx) {
  const Affine *affine = kernel;
  TF_Status *status = affine_status;
  TF_Tensor *x = NULL, *y = NULL;
  int64_t dims[8];
  num_computed++;
  TF_GetInput(ctx, 0, &x, status);
  if (TF_GetCode(status) == TF_OK) {
    int64_t count = count_of(x, dims);
    int rank = TF_NumDims(x);
    TF_DataType type = TF_TensorType(x);
    const void *from = TF_TensorData(x);
    TF_DeleteTensor(x); /* otherwise its memory could not be used for the output */
    y = TF_ForwardInputOrAllocateOutput(ctx, (int[]){0}, 1, 0, dims, rank, &last_forwarded, status);
    for (int64_t i = 0; y && i < count; i++) {
      if (type == TF_FLOAT) {
        ((float *)TF_TensorData(y))[i] = affine->scale * ((const float *)from)[i] + affine->shift;
      } else {
        ((double *)TF_TensorData(y))[i] =
            (double)affine->scale * ((const double *)from)[i] + (double)affine->shift;
      }
    }
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteTensor(y);
}

static const char kAffineGradient[] =
    "AffineGrad[T:{float, double}, scale:float, shift:float](x:T, dy:T) -> (dx:T) {\n"
    "  dx = Affine[T=$T, scale=$scale, shift=0.0](dy)\n"
    "  return dx = dx:y:0\n"
    "}";

static TF_OpDefinitionBuilder *describe_affine(void) {
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("Affine");
  if (!builder) return NULL;
  TF_OpDefinitionBuilderAddAttr(builder, "T: {float, double}");
  TF_OpDefinitionBuilderAddAttr(builder, "scale: float = 2.0");
  TF_OpDefinitionBuilderAddAttr(builder, "shift: float = 0.0");
  TF_OpDefinitionBuilderAddInput(builder, "x: T");
  TF_OpDefinitionBuilderAddOutput(builder, "y: T");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, infer_same_shape);
  TF_OpDefinitionBuilderSetGradient(builder, kAffineGradient);
  return builder;
}

static bool begin_affine(Fixture *f) {
  if (!begin_lenient(f)) return false;
  affine_status = TF_NewStatus();
  num_created = num_computed = num_deleted = 0;
  TF_RegisterOpDefinition(describe_affine(), f->status);
  if (!CHECK_TF_OK(f->status)) return false;
  register_kernel(f, "Affine", TF_FLOAT, affine_create, affine_compute, affine_delete);
  return true;
}

static void end_affine(Fixture *f) {
  TF_DeleteStatus(affine_status);
  end(f);
}

static TF_Output affine(Fixture *f, const char *name, TF_Output x, float scale, float shift) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "Affine", name);
  TF_AddInput(desc, x);
  TF_SetAttrFloat(desc, "scale", scale);
  TF_SetAttrFloat(desc, "shift", shift);
  return finish(f, desc);
}

static float run_float(Fixture *f, TF_Session *session, TF_Output x, float at, TF_Output y) {
  TF_Tensor *value = float_scalar(at);
  float result = fetch_float(f, session, x, value, y);
  TF_DeleteTensor(value);
  return result;
}

/* ---- life of a kernel ---- */

TEST(kernels_of_one_op_have_attrs_of_their_own) {
  Fixture f;
  REQUIRE(begin_affine(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
  TF_Output a = affine(&f, "a", x, 3, 1), b = affine(&f, "b", a, -2, 0.5f);
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, b, f.status), 0);
  TF_Session *session = session_on(&f);
  for (int i = 0; i < 3; i++) CHECK_NEAR(run_float(&f, session, x, (float)i, b), -2 * (3 * i + 1) + 0.5, 0);
  CHECK_INT_EQ(num_created, 2);
  CHECK_INT_EQ(num_computed, 6);
  CHECK_INT_EQ(num_deleted, 0);
  CHECK_INT_EQ(last_forwarded, 0); /* a has no other readers */
  TF_DeleteSession(session, f.status);
  CHECK_INT_EQ(num_deleted, 2);
  end_affine(&f);
}

TEST(an_input_that_somebody_else_reads_is_not_overwritten) {
  Fixture f;
  REQUIRE(begin_affine(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL), a = unary(&f, "Neg", "a", x),
            b = affine(&f, "b", a, 10, 0);
  TF_Output sum = binary(&f, "Add", "sum", a, b);
  TF_Session *session = session_on(&f);
  CHECK_NEAR(run_float(&f, session, x, 2, sum), -2 - 20, 0);
  CHECK_INT_EQ(last_forwarded, -1);
  TF_DeleteSession(session, f.status);
  end_affine(&f);
}

TEST(a_type_without_a_kernel_can_be_given_one_later) {
  Fixture f;
  REQUIRE(begin_affine(&f));
  double four = 4;
  TF_Output x = placeholder_of(&f, "x", TF_DOUBLE, 0, NULL), y = affine(&f, "y", x, 3, 1);
  TF_Session *session = session_on(&f);
  TF_Tensor *value = tensor_of(TF_DOUBLE, 0, NULL, &four, sizeof four);
  CHECK(!fetch(&f, session, x, value, y));
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND,
                 "No OpKernel was registered to support Op 'Affine' used by {{node y}} with these attrs: [");
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND, "Registered kernels:\n  device='CPU'; T in [DT_FLOAT]\n");
  register_kernel(&f, "Affine", TF_DOUBLE, affine_create, affine_compute, affine_delete);
  TF_Tensor *result = fetch(&f, session, x, value, y);
  if (CHECK_TF_OK(f.status)) CHECK_NEAR(*(double *)TF_TensorData(result), 13, 0);
  TF_DeleteTensor(result);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, f.status);
  CHECK_INT_EQ(num_created, num_deleted);
  end_affine(&f);
}

/* The op is registered after its kernel. */
TEST(a_kernel_may_come_before_its_op) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  affine_status = TF_NewStatus();
  num_created = num_deleted = 0;
  register_kernel(&f, "Affine", 0, affine_create, affine_compute, affine_delete);
  TF_RegisterOpDefinition(describe_affine(), f.status);
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL), y = affine(&f, "y", x, 3, 1);
  TF_Session *session = session_on(&f);
  CHECK_NEAR(run_float(&f, session, x, 2, y), 7, 0);
  TF_DeleteSession(session, f.status);
  CHECK_INT_EQ(num_created, 1);
  CHECK_INT_EQ(num_deleted, 1);
  end_affine(&f);
}

TEST(what_depends_on_constants_is_computed_once) {
  Fixture f;
  REQUIRE(begin_affine(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL), c = constant(&f, "c", 5);
  TF_Output y = binary(&f, "Add", "y", x, affine(&f, "a", c, 2, 1));
  TF_Session *session = session_on(&f);
  for (int i = 0; i < 3; i++) CHECK_NEAR(run_float(&f, session, x, (float)i, y), 11 + i, 0);
  CHECK_INT_EQ(num_computed, 1);
  TF_DeleteSession(session, f.status);
  CHECK_INT_EQ(num_created, num_deleted);
  end_affine(&f);
}

/* A registered kernel computes a shape while the graph is built. */
TEST(shape_inference_computes_with_it) {
  Fixture f;
  REQUIRE(begin_affine(&f));
  TF_Output size = affine(&f, "size", constant(&f, "c", 2), 2, 1);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Cast", "as_int");
  TF_AddInput(desc, size);
  TF_SetAttrType(desc, "DstT", TF_INT32);
  TF_Output as_int = finish(&f, desc);
  desc = TF_NewOperation(f.graph, "Pack", "shape");
  TF_AddInputList(desc, (TF_Output[]){as_int, as_int}, 2);
  TF_Output filled = binary(&f, "Fill", "filled", finish(&f, desc), constant(&f, "one", 1));
  int64_t dims[2];
  TF_GraphGetTensorShape(f.graph, filled, dims, 2, f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(dims[0], 5);
  CHECK_INT_EQ(dims[1], 5);
  end_affine(&f);
}

TEST(a_registered_op_in_an_imported_graph) {
  Fixture f = {0}, g = {0};
  REQUIRE(begin_affine(&f));
  affine(&f, "y", placeholder_of(&f, "x", TF_FLOAT, 0, NULL), 4, -1);
  TF_Buffer *bytes = graph_bytes(&f, f.graph);
  end(&f);
  REQUIRE(begin_lenient(&g));
  TF_GraphImportGraphDef(g.graph, bytes, NULL, g.status);
  CHECK_TF_OK(g.status);
  TF_DeleteBuffer(bytes);
  TF_Output x = {TF_GraphOperationByName(g.graph, "x"), 0}, y = {TF_GraphOperationByName(g.graph, "y"), 0};
  REQUIRE(x.oper && y.oper);
  TF_Session *session = session_on(&g);
  CHECK_NEAR(run_float(&g, session, x, 3, y), 11, 0);
  TF_DeleteSession(session, g.status);
  TF_DeleteStatus(affine_status);
  end(&g);
}

/* d(scale * x + shift)/dx = scale; through two of them and a square: 2 (3x + 1) * 3 * -2 */
TEST(gradients_of_registered_ops) {
  Fixture f;
  REQUIRE(begin_affine(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
  TF_Output y = affine(&f, "b", unary(&f, "Square", "s", affine(&f, "a", x, 3, 1)), -2, 7), dx = kNone;
  TF_AddGradients(f.graph, &y, 1, &x, 1, NULL, f.status, &dx);
  REQUIRE(CHECK_TF_OK(f.status));
  TF_Session *session = session_on(&f);
  CHECK_NEAR(run_float(&f, session, x, 2, dx), 2 * 7 * 3 * -2, 0);
  TF_DeleteSession(session, f.status);
  end_affine(&f);
}

/* Registers an op of float inputs and outputs, and its kernel. */
static void simple_op(Fixture *f, const char *name, const char *outputs, bool stateful, const char *gradient,
                      void (*compute)(void *, TF_OpKernelContext *)) {
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(builder, "x: float");
  TF_OpDefinitionBuilderAddOutput(builder, outputs);
  TF_OpDefinitionBuilderSetIsStateful(builder, stateful);
  TF_OpDefinitionBuilderSetGradient(builder, gradient);
  TF_RegisterOpDefinition(builder, f->status);
  CHECK_TF_OK(f->status);
  register_kernel(f, name, 0, NULL, compute, NULL);
}

TEST(no_gradient_and_none_known) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  simple_op(&f, "Stops", "y: float", false, "none", compute_identity);
  simple_op(&f, "Unknown", "y: float", false, NULL, compute_identity);
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL), y = unary(&f, "Unknown", "y", x), dx = kNone;
  TF_AddGradients(f.graph, &y, 1, &x, 1, NULL, f.status, &dx);
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND, "No gradient defined for op: Unknown");
  y = binary(&f, "Add", "z", x, unary(&f, "Stops", "s", unary(&f, "Square", "q", x)));
  TF_AddGradients(f.graph, &y, 1, &x, 1, NULL, f.status, &dx);
  CHECK_TF_OK(f.status);
  TF_Session *session = session_on(&f);
  CHECK_NEAR(run_float(&f, session, x, 3, dx), 1, 0);
  TF_DeleteSession(session, f.status);
  end(&f);
}

/* ---- several inputs and outputs ---- */

/* sums: every output k is the sum of all first inputs plus k times the second. */
static void compute_sums(void *kernel, TF_OpKernelContext *ctx) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  TF_InputRange_Args range = {.struct_size = TF_InputRange_Args_STRUCT_SIZE, .status = status};
  TF_InputRange(ctx, "none", &range);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Unknown input name: none");
  TF_InputRange(ctx, "step", &range);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(range.stop - range.start, 1);
  int step_at = range.start;
  TF_InputRange(ctx, "values", &range);
  CHECK_INT_EQ(range.start, 0);
  CHECK_INT_EQ(range.stop, step_at);
  CHECK_INT_EQ(TF_NumInputs(ctx), range.stop + 1);
  CHECK_INT_EQ(TF_InputDatatype(ctx, 0), TF_FLOAT);
  CHECK_INT_EQ(TF_InputDatatype(ctx, -1), 0);
  CHECK_INT_EQ(TF_InputDatatype(ctx, TF_NumInputs(ctx)), 0);
  CHECK_INT_EQ(TF_ExpectedOutputDataType(ctx, 0), TF_FLOAT);
  CHECK_INT_EQ(TF_ExpectedOutputDataType(ctx, TF_NumOutputs(ctx)), 0);
  float sum = 0, step = 0;
  for (int i = 0; i <= range.stop; i++) {
    TF_Tensor *x = NULL;
    TF_GetInput(ctx, i, &x, status);
    if (!CHECK_TF_OK(status)) continue;
    *(i < range.stop ? &sum : &step) += *(float *)TF_TensorData(x);
    TF_DeleteTensor(x);
  }
  TF_Tensor *temp = TF_AllocateTemp(ctx, TF_FLOAT, NULL, 0, NULL, status);
  CHECK_TF_OK(status);
  *(float *)TF_TensorData(temp) = sum;
  for (int k = 0; k < TF_NumOutputs(ctx); k++) {
    CHECK(!TF_GetMutableOutput(ctx, k, status));
    CHECK_TF_ERROR(status, TF_FAILED_PRECONDITION, "was not set yet");
    TF_DeleteTensor(TF_AllocateOutput(ctx, k, TF_FLOAT, NULL, 0, sizeof(float), status));
    TF_Tensor *out = TF_GetMutableOutput(ctx, k, status);
    if (CHECK_TF_OK(status)) *(float *)TF_TensorData(out) = *(float *)TF_TensorData(temp) + (float)k * step;
    TF_DeleteTensor(out);
  }
  TF_DeleteTensor(temp);
  TF_DeleteStatus(status);
}

TEST(lists_of_inputs_and_several_outputs) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("Sums");
  TF_OpDefinitionBuilderAddAttr(builder, "N: int >= 1");
  TF_OpDefinitionBuilderAddAttr(builder, "M: int >= 1");
  TF_OpDefinitionBuilderAddAttr(builder, "T: type");
  TF_OpDefinitionBuilderAddInput(builder, "values: N * T");
  TF_OpDefinitionBuilderAddInput(builder, "step: T");
  TF_OpDefinitionBuilderAddOutput(builder, "first: T");
  TF_OpDefinitionBuilderAddOutput(builder, "rest: M * T");
  TF_RegisterOpDefinition(builder, f.status);
  CHECK_TF_OK(f.status);
  register_kernel(&f, "Sums", TF_FLOAT, NULL, compute_sums, NULL);
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Sums", "sums");
  TF_AddInputList(desc, (TF_Output[]){x, constant(&f, "a", 10), x, x}, 4);
  TF_AddInput(desc, constant(&f, "step", 100));
  TF_SetAttrInt(desc, "M", 3);
  TF_Output sums = finish(&f, desc);
  REQUIRE(sums.oper);
  CHECK_INT_EQ(TF_OperationNumOutputs(sums.oper), 4);
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, sums, f.status), -1);
  TF_Session *session = session_on(&f);
  for (int k = 0; k < 4; k++)
    CHECK_NEAR(run_float(&f, session, x, 2, (TF_Output){sums.oper, k}), 16 + 100 * k, 0);
  TF_DeleteSession(session, f.status);
  end(&f);
}

/* ---- state ---- */

typedef struct Counter {
  float count;
  int64_t last_step;
} Counter;

static void *counter_create(TF_OpKernelConstruction *ctx) {
  TF_StringView name = TF_OpKernelConstruction_GetName(ctx);
  CHECK(name.len == strlen("counter") && memcmp(name.data, "counter", name.len) == 0);
  return calloc(1, sizeof(Counter));
}

static void counter_compute(void *kernel, TF_OpKernelContext *ctx) {
  Counter *counter = kernel;
  TF_Status *status = TF_NewStatus();
  CHECK(TF_StepId(ctx) > counter->last_step);
  CHECK_INT_EQ(TF_GetStepId(ctx), TF_StepId(ctx));
  CHECK_INT_EQ(TF_GetFrameId(ctx), 0);
  CHECK_INT_EQ(TF_GetIterId(ctx), 0);
  TF_StringView name = TF_GetOpKernelName(ctx);
  CHECK(name.len == strlen("counter") && memcmp(name.data, "counter", name.len) == 0);
  counter->last_step = TF_StepId(ctx);
  TF_Tensor *out = TF_AllocateOutput(ctx, 0, TF_FLOAT, NULL, 0, sizeof(float), status);
  CHECK_TF_OK(status);
  *(float *)TF_TensorData(out) = ++counter->count;
  TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

TEST(a_stateful_op_keeps_its_kernel_through_all_plans) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("Counter");
  TF_OpDefinitionBuilderAddOutput(builder, "count: float");
  TF_OpDefinitionBuilderSetIsStateful(builder, true);
  TF_RegisterOpDefinition(builder, f.status);
  num_deleted = 0;
  register_kernel(&f, "Counter", 0, counter_create, counter_compute, affine_delete);
  TF_Output counter = op(&f, "Counter", "counter", 0, NULL), negative = unary(&f, "Neg", "negative", counter);
  TF_Session *session = session_on(&f), *other = session_on(&f);
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, counter), 1, 0);
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, negative), -2, 0);
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, counter), 3, 0);
  CHECK_NEAR(fetch_float(&f, other, kNone, NULL, counter), 1, 0);
  TF_DeleteSession(session, f.status);
  CHECK_INT_EQ(num_deleted, 1);
  TF_CloseSession(other, f.status);
  CHECK_INT_EQ(num_deleted, 2);
  TF_DeleteSession(other, f.status);
  CHECK_INT_EQ(num_deleted, 2);
  end(&f);
}

/* ---- mistakes of kernels ---- */

static void check_run_error(Fixture *f, TF_Output x, TF_Output y, TF_Code code, const char *message) {
  TF_Session *session = session_on(f);
  TF_Tensor *value = float_scalar(1);
  for (int i = 0; i < 2; i++) { /* the session still works */
    CHECK(!fetch(f, session, x, value, y));
    CHECK_TF_ERROR(f->status, code, message);
  }
  CHECK_NEAR(fetch_float(f, session, x, value, unary(f, "Neg", "good", x)), -1, 0);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, f->status);
}

TEST(a_kernel_that_cannot_be_made) {
  Fixture f;
  REQUIRE(begin_affine(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
  check_run_error(&f, x, affine(&f, "y", x, 0, 0), TF_INVALID_ARGUMENT,
                  "scale must not be 0\n\t [[{{node y}}]]");
  CHECK_INT_EQ(num_created, 2);
  CHECK_INT_EQ(num_deleted, 2); /* the result of create is deleted */
  CHECK_INT_EQ(num_computed, 0);
  end_affine(&f);
}

static void *create_nothing(TF_OpKernelConstruction *ctx) {
  TF_Status *status = TF_NewStatus();
  TF_SetStatus(status, TF_UNIMPLEMENTED, "cannot be made");
  TF_OpKernelConstruction_Failure(ctx, status);
  TF_SetStatus(status, TF_INTERNAL, "a later failure");
  TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return NULL;
}

TEST(a_kernel_of_which_nothing_was_made) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  simple_op(&f, "Nothing", "y: float", false, NULL, compute_identity);
  kernel_registry_clear();
  num_deleted = 0;
  register_kernel(&f, "Nothing", 0, create_nothing, compute_identity, affine_delete);
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
  check_run_error(&f, x, unary(&f, "Nothing", "y", x), TF_UNIMPLEMENTED, "cannot be made\n\t [[{{node y}}]]");
  CHECK_INT_EQ(num_deleted, 0);
  end(&f);
}

static void compute_failure(void *kernel, TF_OpKernelContext *ctx) {
  CHECK(!kernel);
  TF_Status *status = TF_NewStatus();
  TF_DeleteTensor(TF_AllocateOutput(ctx, 0, TF_FLOAT, NULL, 0, sizeof(float), status));
  TF_SetStatus(status, TF_OK, "");
  TF_OpKernelContext_Failure(ctx, status); /* not a failure */
  TF_SetStatus(status, TF_DATA_LOSS, "the first failure");
  TF_OpKernelContext_Failure(ctx, status);
  TF_SetStatus(status, TF_INTERNAL, "a later failure");
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static void compute_nothing(void *kernel, TF_OpKernelContext *ctx) {
  (void)kernel;
  (void)ctx;
}

static void compute_wrong_type(void *kernel, TF_OpKernelContext *ctx) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  TF_Tensor *out = TF_AllocateTemp(ctx, TF_INT32, (int64_t[]){2}, 1, NULL, status);
  TF_SetOutput(ctx, 0, out, status);
  CHECK_TF_OK(status);
  TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

TEST(a_kernel_that_fails_or_gives_nothing_or_something_else) {
  static const struct {
    void (*compute)(void *, TF_OpKernelContext *);
    TF_Code code;
    const char *message;
  } kCases[] = {
      {compute_failure, TF_DATA_LOSS, "the first failure\n\t [[{{node y}}]]"},
      {compute_nothing, TF_INTERNAL, "Missing 0-th output from {{node y}}"},
      {compute_wrong_type, TF_INTERNAL,
       "Output 0 of type int32 does not match declared output type float for node {{node y}}"},
  };
  for (int i = 0; i < 6; i++) {
    CHECK_CONTEXT("case %d", i);
    Fixture f;
    REQUIRE(begin_lenient(&f));
    char name[24];
    snprintf(name, sizeof name, "Wrong%d", i);
    simple_op(&f, name, "y: float", i >= 3, NULL, kCases[i % 3].compute);
    TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
    check_run_error(&f, x, unary(&f, name, "y", x), kCases[i % 3].code, kCases[i % 3].message);
    end(&f);
  }
}

static void compute_with_wrong_arguments(void *kernel, TF_OpKernelContext *ctx) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  TF_Tensor *x = NULL;
  for (int i = -1; i <= 1; i += 2) {
    TF_GetInput(ctx, i, &x, status);
    CHECK_TF_ERROR(status, TF_OUT_OF_RANGE, "input index out of range");
    CHECK(!x);
    CHECK(!TF_GetMutableOutput(ctx, i, status));
    CHECK_TF_ERROR(status, TF_OUT_OF_RANGE, "output index out of range");
    CHECK(!TF_AllocateOutput(ctx, i, TF_FLOAT, NULL, 0, 4, status));
    CHECK_TF_ERROR(status, TF_INTERNAL,
                   i < 0 ? "allocate_output with bad index=-1 kernel=y"
                         : "allocate_output with bad index=1 num_outputs=1 kernel=y");
    CHECK(!TF_ForwardInputOrAllocateOutput(ctx, (int[]){0}, 1, i, NULL, 0, NULL, status));
    CHECK_TF_ERROR(status, TF_INTERNAL, "allocate_output with bad index=");
  }
  CHECK(!TF_AllocateOutput(ctx, 0, TF_DOUBLE, NULL, 0, 8, status));
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT,
                 "Output 0 of y is declared as float and cannot be allocated as double");
  CHECK(!TF_AllocateOutput(ctx, 0, TF_FLOAT, (int64_t[]){-5}, 1, 4, status));
  CHECK(TF_GetCode(status) != TF_OK);
  CHECK(!TF_AllocateOutput(ctx, 0, TF_FLOAT, (int64_t[]){INT64_MAX, INT64_MAX}, 2, 4, status));
  CHECK(TF_GetCode(status) != TF_OK);
  CHECK(!TF_AllocateTemp(ctx, (TF_DataType)99, NULL, 0, NULL, status));
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "99 is no type of tensors");
  CHECK(!TF_AllocateTemp(ctx, TF_FLOAT, (int64_t[]){-5}, 1, NULL, status));
  CHECK(TF_GetCode(status) != TF_OK);
  int forwarded = 7;
  TF_Tensor *out =
      TF_ForwardInputOrAllocateOutput(ctx, (int[]){-1, 5}, 2, 0, (int64_t[]){2}, 1, &forwarded, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(forwarded, -1);
  TF_SetOutput(ctx, 1, out, status);
  CHECK_TF_ERROR(status, TF_OUT_OF_RANGE, "output index out of range");
  TF_DeleteTensor(out);
  TF_GetInput(ctx, 0, &x, status);
  TF_SetOutput(ctx, 0, x, status); /* replaces the allocated output */
  CHECK_TF_OK(status);
  TF_DeleteTensor(x);
  TF_DeleteStatus(status);
}

TEST(wrong_arguments_are_errors) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  simple_op(&f, "Careless", "y: float", false, NULL, compute_with_wrong_arguments);
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL), y = unary(&f, "Careless", "y", x);
  TF_Session *session = session_on(&f);
  CHECK_NEAR(run_float(&f, session, x, 3, y), 3, 0);
  TF_DeleteSession(session, f.status);
  end(&f);
}

/* ---- without memory ---- */

static bool exhausted(Fixture *f) {
  TF_SetStatus(f->status, TF_RESOURCE_EXHAUSTED, "NULL was given");
  return false;
}

static bool register_affine(Fixture *f) {
  TF_OpDefinitionBuilder *op_builder = describe_affine();
  if (!op_builder) return exhausted(f);
  TF_RegisterOpDefinition(op_builder, f->status);
  if (TF_GetCode(f->status) != TF_OK) return false;
  TF_KernelBuilder *builder =
      TF_NewKernelBuilder("Affine", "CPU", affine_create, affine_compute, affine_delete);
  if (!builder) return exhausted(f);
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, f->status);
  TF_KernelBuilder_HostMemory(builder, "x");
  TF_RegisterKernelBuilder("Affine", builder, f->status);
  return TF_GetCode(f->status) == TF_OK;
}

/* y = affine(x) in the graph, and its derivative. */
static bool build_affine(Fixture *f, TF_Output *x, TF_Output outputs[2]) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  *x = (TF_Output){TF_FinishOperation(desc, f->status), 0};
  if (!x->oper) return false;
  desc = TF_NewOperation(f->graph, "Affine", "y");
  TF_AddInput(desc, *x);
  outputs[0] = (TF_Output){TF_FinishOperation(desc, f->status), 0};
  if (!outputs[0].oper) return false;
  TF_AddGradients(f->graph, outputs, 1, x, 1, NULL, f->status, &outputs[1]);
  return TF_GetCode(f->status) == TF_OK;
}

static bool run_affine(Fixture *f, TF_Session *session, TF_Output x, const TF_Output *outputs) {
  TF_Tensor *value = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof(float)), *results[2] = {NULL, NULL};
  if (!value) return exhausted(f);
  *(float *)TF_TensorData(value) = 3;
  TF_SessionRun(session, NULL, &x, &value, 1, outputs, results, 2, NULL, 0, NULL, f->status);
  TF_DeleteTensor(value);
  if (TF_GetCode(f->status) != TF_OK) return false;
  CHECK_NEAR(*(float *)TF_TensorData(results[0]), 6, 0);
  CHECK_NEAR(*(float *)TF_TensorData(results[1]), 2, 0);
  for (int i = 0; i < 2; i++) TF_DeleteTensor(results[i]);
  return true;
}

static bool list_affine(Fixture *f) {
  TF_Buffer *list = TF_GetRegisteredKernelsForOp("Affine", f->status);
  TF_DeleteBuffer(list);
  return list != NULL;
}

static bool live(Fixture *f) {
  Fixture g = {TF_NewGraph(), f->status};
  if (!g.graph) return exhausted(f);
  TF_Output x, outputs[2];
  TF_Session *session = NULL;
  bool ok = register_affine(f) && build_affine(&g, &x, outputs) && list_affine(f) &&
            (session = TF_NewSession(g.graph, NULL, f->status)) && run_affine(&g, session, x, outputs);
  TF_DeleteSession(session, affine_status);
  TF_DeleteGraph(g.graph);
  return ok;
}

TEST(registering_and_running_without_memory) {
  thread_pool_default(); /* outlives a session */
  Fixture f = {.status = TF_NewStatus()};
  affine_status = TF_NewStatus();
  num_created = num_deleted = 0;
  bool done = false;
  int failures = 0;
  for (int64_t successes = 0; !done && successes < 100000; successes += shortage_stride(successes)) {
    TF_SetStatus(f.status, TF_OK, "");
    mem_fail_after(successes);
    done = live(&f);
    mem_fail_after(-1);
    kernel_registry_clear();
    op_registry_clear(op_registry_global());
    CHECK_INT_EQ(num_created, num_deleted);
    if (done) break;
    failures++;
    CHECK_CONTEXT("after %d allocations", (int)successes);
    if (!CHECK_INT_EQ(TF_GetCode(f.status), TF_RESOURCE_EXHAUSTED)) CHECK_STR_EQ(TF_Message(f.status), "");
  }
  CHECK_CONTEXT("%s", "");
  CHECK(done);
  CHECK(failures > 50);
  TF_DeleteStatus(affine_status);
  TF_DeleteStatus(f.status);
}

/* ---- kernels that use the library ---- */

static TF_Session *kernel_session;
static TF_Output kernel_output;

/* Its output comes from a session. */
static void compute_by_session(void *kernel, TF_OpKernelContext *ctx) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  TF_Tensor *result = NULL;
  TF_SessionRun(kernel_session, NULL, NULL, NULL, 0, &kernel_output, &result, 1, NULL, 0, NULL, status);
  if (TF_GetCode(status) == TF_OK) TF_SetOutput(ctx, 0, result, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteTensor(result);
  TF_DeleteStatus(status);
}

TEST(a_kernel_may_run_other_sessions_but_not_its_own) {
  Fixture f = {0}, g = {0};
  REQUIRE(begin_lenient(&f) && begin(&g));
  simple_op(&f, "Runs", "y: float", true, NULL, compute_by_session);
  TF_Output y = unary(&f, "Runs", "y", constant(&f, "c", 1)), other = constant(&g, "c", 42);
  TF_Session *session = session_on(&f), *inner = session_on(&g);
  kernel_session = inner;
  kernel_output = other;
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, y), 42, 0);
  kernel_session = session;
  kernel_output = y;
  CHECK(!fetch(&f, session, kNone, NULL, y));
  CHECK_TF_ERROR(f.status, TF_FAILED_PRECONDITION, "A kernel cannot run the session in which it runs.");
  kernel_session = inner;
  kernel_output = other;
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, y), 42, 0);
  TF_DeleteSession(session, f.status);
  TF_DeleteSession(inner, f.status);
  end(&f);
  end(&g);
}
