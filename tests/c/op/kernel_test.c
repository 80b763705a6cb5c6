/* Kernels of the test's own ops: the choice by op_kernel_new, the checks of a run, and reuse of memory. */
#include "op/kernel.h"

#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "op/node_def.h"
#include "op/op_registry.h"

/* --- the ops --- */

static int num_destroyed;

typedef struct ScaleState {
  Tensor kept; /* so that a failing construct leaves something to free */
  float factor;
  int num_constants;
} ScaleState;

static bool scale_construct(const KernelConstruction *construction, void *state, Status *status) {
  ScaleState *scale = state;
  TRY(tensor_allocate_dims(&scale->kept, DT_FLOAT, 0, NULL, NULL, status));
  for (int i = 0; construction->constant_inputs && i < construction->num_inputs; i++) {
    scale->num_constants += construction->constant_inputs[i] != NULL;
  }
  TRY(node_attr_float(construction->node, "factor", &scale->factor, status));
  return scale->factor > 0 ||
         status_invalid(status, "factor must be positive, got %g", (double)scale->factor);
}

static void scale_destroy(void *state) {
  tensor_clear(&((ScaleState *)state)->kept);
  num_destroyed++;
}

static bool scale_f32(KernelContext *context, Status *status) {
  const ScaleState *scale = context->state;
  const Tensor *x = context->inputs[0];
  Tensor *y;
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &y, status));
  for (int64_t i = 0; i < tensor_num_elements(x); i++) tensor_f32(y)[i] = tensor_f32(x)[i] * scale->factor;
  return true;
}

static bool scale_i32(KernelContext *context, Status *status) {
  const ScaleState *scale = context->state;
  const Tensor *x = context->inputs[0];
  Tensor *y;
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  for (int64_t i = 0; i < tensor_num_elements(x); i++)
    tensor_i32(y)[i] = tensor_i32(x)[i] * (int)scale->factor;
  return true;
}

static const OpRegistration kOpTestScale = {
    .name = "TestScale",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"factor: float = 2.0", "T: {float, int32, half}"},
    .shape = shape_unchanged,
    .state_size = sizeof(ScaleState),
    .construct = scale_construct,
    .destroy = scale_destroy,
    .kernels = {{DT_FLOAT, scale_f32}, {DT_INT32, scale_i32}},
};

static bool pass_on(KernelContext *context, Status *status) {
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

static bool flatten(KernelContext *context, Status *status) {
  Shape shape = {0};
  int64_t count = tensor_num_elements(context->inputs[0]);
  TRY(shape_set(&shape, 1, &count, status));
  bool ok = kernel_set_output(context, 0, context->inputs[0], &shape, status);
  shape_clear(&shape);
  return ok;
}

/* Any type, and another kernel for double. */
static const OpRegistration kOpTestPass = {
    .name = "TestPass",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
    .kernels = {{DT_INVALID, pass_on}, {DT_DOUBLE, flatten}},
};

/* One function for three types; it writes the data of its entry if construct saw the same. */
static const int kSeven = 7, kNine = 9;
static bool keep_data(const KernelConstruction *construction, void *state, Status *status) {
  (void)status;
  *(const int **)state = construction->data;
  return true;
}
static bool write_data(KernelContext *context, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  const int *data = context->data;
  *tensor_i32(out) = data && *(const int **)context->state == data ? *data : -1;
  return true;
}
static const OpRegistration kOpTestData = {
    .name = "TestData",
    .inputs = {"x: T"},
    .outputs = {"y: int32"},
    .attrs = {"T: {float, double, int32}"},
    .shape = shape_unknown_outputs,
    .state_size = sizeof(const int *),
    .construct = keep_data,
    .kernels = {{DT_FLOAT, write_data, &kSeven}, {DT_DOUBLE, write_data, &kNine}, {DT_INT32, write_data}},
};

static bool set_no_output(KernelContext *context, Status *status) {
  Tensor *out;
  return kernel_allocate_output_dims(context, 1, 0, NULL, &out, status);
}

static const OpRegistration kOpTestMissing = {
    .name = "TestMissing",
    .outputs = {"a: float", "b: float"},
    .shape = shape_unknown_outputs,
    .kernels = {{DT_INVALID, set_no_output}},
};

static const OpRegistration kOpTestWrongType = {
    .name = "TestWrongType",
    .inputs = {"x: float"},
    .outputs = {"y: int32"},
    .shape = shape_unknown_outputs,
    .kernels = {{DT_INVALID, pass_on}},
};

static bool set_third_output(KernelContext *context, Status *status) {
  Tensor *out;
  return kernel_allocate_output_dims(context, 2, 0, NULL, &out, status);
}

static const OpRegistration kOpTestBeyond = {
    .name = "TestBeyond",
    .outputs = {"a: float"},
    .shape = shape_unknown_outputs,
    .kernels = {{DT_INVALID, set_third_output}},
};

static bool reinterpret(KernelContext *context, Status *status) {
  Tensor *out;
  return kernel_forward_or_allocate(context, 0, 0, &context->inputs[0]->shape, &out, status);
}

static const OpRegistration kOpTestBits = {
    .name = "TestBits",
    .inputs = {"x: float"},
    .outputs = {"y: To"},
    .attrs = {"To: {int32, double}"},
    .shape = shape_unchanged,
    .kernels = {{DT_INVALID, reinterpret}},
};

static const OpRegistration kOpTestNone = {
    .name = "TestNone",
    .outputs = {"y: float"},
    .shape = shape_unknown_outputs,
};

static const OpRegistration kOpTestStateful = {
    .name = "TestStateful",
    .outputs = {"y: float"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    .kernels = {{DT_INVALID, set_third_output}},
};

/* --- the environment of a run --- */

typedef struct Bench {
  Arena *arena;
  const Op *op;
  NodeDef *node;
  Tensor input, outputs[2];
  const Tensor *inputs[1];
  Status status;
} Bench;

static bool bench_begin(Bench *b, const OpRegistration *registration) {
  *b = (Bench){.arena = arena_new()};
  b->inputs[0] = &b->input;
  num_destroyed = 0;
  if (!CHECK_OK(op_registry_add(op_registry_global(), registration, &b->status), b->status)) return false;
  b->op = op_registry_find(op_registry_global(), registration->name);
  b->node = node_def_new(b->arena, "n", registration->name);
  return CHECK(b->op && b->node);
}

static void bench_attr(Bench *b, const char *name, AttrValue *value) {
  CHECK_OK(node_def_set_attr(b->node, b->arena, name, value, &b->status), b->status);
}

static void bench_type(Bench *b, const char *name, DataType type) {
  bench_attr(b, name, attr_value_type(b->arena, type));
}

static void bench_floats(Bench *b, int64_t count) {
  if (!CHECK_OK(tensor_allocate_dims(&b->input, DT_FLOAT, 1, &count, NULL, &b->status), b->status)) return;
  for (int64_t i = 0; i < count; i++) tensor_f32(&b->input)[i] = (float)i + 0.5f;
}

static void bench_end(Bench *b) {
  tensor_clear(&b->input);
  for (int i = 0; i < 2; i++) tensor_clear(&b->outputs[i]);
  arena_free(b->arena);
  op_registry_clear(op_registry_global());
}

static OpKernel *bench_kernel(Bench *b) {
  OpKernel *kernel = NULL;
  CHECK_OK(op_kernel_new(b->op, b->node, NULL, NULL, &kernel, &b->status), b->status);
  return kernel;
}

/* --- choosing a kernel --- */

TEST(kernel_is_chosen_by_type_and_runs) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_FLOAT);
  bench_floats(&b, 3);
  OpKernel *kernel = bench_kernel(&b);
  REQUIRE(kernel);
  CHECK_INT_EQ(kernel->num_inputs, 1);
  CHECK_INT_EQ(kernel->output_types[0], DT_FLOAT);
  KernelContext context = {.inputs = b.inputs, .outputs = b.outputs};
  CHECK_OK(op_kernel_run(kernel, &context, &b.status), b.status);
  CHECK_STR_EQ(context.node_name, "n");
  CHECK_STR_EQ(context.op_name, "TestScale");
  for (int i = 0; i < 3; i++)
    CHECK_NEAR(tensor_f32(&b.outputs[0])[i], 2 * i + 1, 0); /* the default factor is 2 */
  op_kernel_free(kernel);
  CHECK_INT_EQ(num_destroyed, 1);
  bench_end(&b);
}

TEST(kernel_of_another_type) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_INT32);
  bench_attr(&b, "factor", attr_value_float(b.arena, 5));
  CHECK_OK(tensor_allocate_dims(&b.input, DT_INT32, 0, NULL, NULL, &b.status), b.status);
  *tensor_i32(&b.input) = -7;
  CHECK_OK(op_evaluate(b.op, b.node, b.inputs, b.outputs, &b.status), b.status);
  CHECK_INT_EQ(b.outputs[0].dtype, DT_INT32);
  CHECK_INT_EQ(*tensor_i32(&b.outputs[0]), -35);
  bench_end(&b);
}

TEST(kernels_of_one_function_differ_in_their_data) {
  static const struct {
    DataType type;
    int written;
  } kCases[] = {{DT_FLOAT, 7}, {DT_DOUBLE, 9}, {DT_INT32, -1}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Bench b;
    REQUIRE(bench_begin(&b, &kOpTestData));
    bench_type(&b, "T", kCases[i].type);
    CHECK_OK(tensor_allocate_dims(&b.input, kCases[i].type, 0, NULL, NULL, &b.status), b.status);
    CHECK_OK(op_evaluate(b.op, b.node, b.inputs, b.outputs, &b.status), b.status);
    CHECK_INT_EQ(*tensor_i32(&b.outputs[0]), kCases[i].written);
    bench_end(&b);
  }
}

TEST(type_without_kernel) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_HALF);
  OpKernel *kernel;
  CHECK_ERROR(op_kernel_new(b.op, b.node, NULL, NULL, &kernel, &b.status), b.status, CODE_NOT_FOUND,
              "No OpKernel was registered to support Op 'TestScale' used by {{node n}} with these attrs: ["
              "T=DT_HALF, factor=2]\n"
              "Registered devices: [CPU]\nRegistered kernels:\n"
              "  device='CPU'; T in [DT_FLOAT]\n  device='CPU'; T in [DT_INT32]\n");
  CHECK(!kernel);
  CHECK_INT_EQ(num_destroyed, 0);
  bench_end(&b);
}

TEST(op_without_kernels) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestNone));
  OpKernel *kernel;
  CHECK_ERROR(op_kernel_new(b.op, b.node, NULL, NULL, &kernel, &b.status), b.status, CODE_NOT_FOUND,
              "Op 'TestNone' used by {{node n}} with these attrs: []\n"
              "Registered devices: [CPU]\nRegistered kernels:\n  <no registered kernels>\n");
  bench_end(&b);
}

TEST(kernel_for_any_type_yields_to_an_exact_one) {
  for (int i = 0; i < 2; i++) {
    Bench b;
    DataType type = i == 0 ? DT_DOUBLE : DT_BOOL;
    REQUIRE(bench_begin(&b, &kOpTestPass));
    bench_type(&b, "T", type);
    CHECK_OK(tensor_allocate_dims(&b.input, type, 2, (int64_t[]){2, 3}, NULL, &b.status), b.status);
    CHECK_OK(op_evaluate(b.op, b.node, b.inputs, b.outputs, &b.status), b.status);
    CHECK_INT_EQ(b.outputs[0].dtype, type);
    CHECK_INT_EQ(b.outputs[0].shape.rank, type == DT_DOUBLE ? 1 : 2); /* the one for double flattens */
    CHECK(b.outputs[0].data == b.input.data);
    bench_end(&b);
  }
}

TEST(node_without_its_type_attr) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestPass));
  OpKernel *kernel;
  CHECK_ERROR(op_kernel_new(b.op, b.node, NULL, NULL, &kernel, &b.status), b.status, CODE_NOT_FOUND,
              "No attr named 'T' in NodeDef:");
  bench_end(&b);
}

/* --- state --- */

TEST(construct_that_fails_is_cleaned_up) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_FLOAT);
  bench_attr(&b, "factor", attr_value_float(b.arena, -1));
  OpKernel *kernel;
  CHECK_ERROR(op_kernel_new(b.op, b.node, NULL, NULL, &kernel, &b.status), b.status, CODE_INVALID_ARGUMENT,
              "factor must be positive, got -1\n\t [[{{node n}}]]");
  CHECK(!kernel);
  CHECK_INT_EQ(num_destroyed, 1);
  bench_end(&b);
}

TEST(construct_sees_constant_inputs) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_FLOAT);
  bench_floats(&b, 1);
  OpKernel *kernel;
  REQUIRE_OK(op_kernel_new(b.op, b.node, b.inputs, NULL, &kernel, &b.status), b.status);
  CHECK_INT_EQ(((ScaleState *)kernel->state)->num_constants, 1);
  op_kernel_free(kernel);
  op_kernel_free(NULL);
  bench_end(&b);
}

TEST(node_itself_stays_as_it_was) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_FLOAT);
  OpKernel *kernel = bench_kernel(&b);
  REQUIRE(kernel);
  CHECK_INT_EQ(b.node->n_attr, 1);
  CHECK(node_def_attr(kernel->node, "factor"));
  op_kernel_free(kernel);
  bench_attr(&b, "factor", attr_value_float(b.arena, 3));
  kernel = bench_kernel(&b);
  REQUIRE(kernel);
  CHECK(kernel->node == b.node); /* nothing to add, so it is not copied */
  op_kernel_free(kernel);
  bench_end(&b);
}

/* --- checks of a run --- */

TEST(missing_output) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestMissing));
  CHECK_ERROR(op_evaluate(b.op, b.node, NULL, b.outputs, &b.status), b.status, CODE_INTERNAL,
              "Missing 0-th output from {{node n}}");
  CHECK(tensor_is_empty(&b.outputs[1])); /* it had been set */
  bench_end(&b);
}

TEST(output_of_another_type) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestWrongType));
  bench_floats(&b, 2);
  CHECK_ERROR(op_evaluate(b.op, b.node, b.inputs, b.outputs, &b.status), b.status, CODE_INTERNAL,
              "Output 0 of type float does not match declared output type int32 for node {{node n}}");
  CHECK(tensor_is_empty(&b.outputs[0]));
  bench_end(&b);
}

TEST(output_that_is_not_there) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestBeyond));
  CHECK_ERROR(op_evaluate(b.op, b.node, NULL, b.outputs, &b.status), b.status, CODE_INTERNAL,
              "\n\t [[{{node n}}]]");
  bench_end(&b);
}

TEST(evaluation_refuses_stateful_ops_and_wrong_inputs) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestStateful));
  CHECK_ERROR(op_evaluate(b.op, b.node, NULL, b.outputs, &b.status), b.status, CODE_INVALID_ARGUMENT,
              "stateful");
  bench_end(&b);
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_INT32);
  bench_floats(&b, 2);
  CHECK_ERROR(op_evaluate(b.op, b.node, b.inputs, b.outputs, &b.status), b.status, CODE_INVALID_ARGUMENT,
              "0-th input of {{node n}} expects type int32 but it has type float");
  bench_end(&b);
}

/* --- forwarding --- */

/* Runs TestScale on three floats; true when the output took over the input's memory. */
static bool forwards(Bench *b, const bool *last_use, bool shared) {
  bool same = false;
  if (!bench_begin(b, &kOpTestScale)) return false;
  bench_type(b, "T", DT_FLOAT);
  bench_floats(b, 3);
  if (shared) CHECK_OK(tensor_assign(&b->outputs[1], &b->input, &b->status), b->status);
  OpKernel *kernel = bench_kernel(b);
  if (kernel) {
    KernelContext context = {.inputs = b->inputs, .outputs = b->outputs, .last_use = last_use};
    CHECK_OK(op_kernel_run(kernel, &context, &b->status), b->status);
    same = b->outputs[0].data == b->input.data;
    CHECK_NEAR(tensor_f32(&b->outputs[0])[2], 5, 0);
    if (!same) CHECK_NEAR(tensor_f32(&b->input)[2], 2.5, 0);
  }
  op_kernel_free(kernel);
  bench_end(b);
  return same;
}

TEST(outputs_take_over_inputs_only_at_their_last_use_and_unshared) {
  Bench b;
  const bool yes = true, no = false;
  CHECK(forwards(&b, &yes, false));
  CHECK(!forwards(&b, &no, false));
  CHECK(!forwards(&b, NULL, false));
  CHECK(!forwards(&b, &yes, true));
}

TEST(outputs_take_over_inputs_of_another_type_of_equal_size) {
  for (int i = 0; i < 2; i++) {
    Bench b;
    const bool yes = true;
    DataType type = i == 0 ? DT_INT32 : DT_DOUBLE;
    REQUIRE(bench_begin(&b, &kOpTestBits));
    bench_type(&b, "To", type);
    bench_floats(&b, 4);
    OpKernel *kernel = bench_kernel(&b);
    REQUIRE(kernel);
    KernelContext context = {.inputs = b.inputs, .outputs = b.outputs, .last_use = &yes};
    CHECK_OK(op_kernel_run(kernel, &context, &b.status), b.status);
    CHECK_INT_EQ(b.outputs[0].dtype, type);
    CHECK_INT_EQ(b.outputs[0].data == b.input.data, type == DT_INT32);
    op_kernel_free(kernel);
    bench_end(&b);
  }
}

TEST(outputs_do_not_take_over_inputs_of_another_number_of_elements) {
  Bench b;
  const bool yes = true;
  const DataType type = DT_FLOAT;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_floats(&b, 3);
  KernelContext context = {.inputs = b.inputs,
                           .outputs = b.outputs,
                           .output_types = &type,
                           .num_inputs = 1,
                           .num_outputs = 1,
                           .last_use = &yes};
  Shape shape = {0};
  Tensor *out;
  CHECK_OK(shape_set(&shape, 1, (int64_t[]){2}, &b.status), b.status);
  CHECK_OK(kernel_forward_or_allocate(&context, 0, 0, &shape, &out, &b.status), b.status);
  CHECK(out->data != b.input.data);
  CHECK_OK(shape_set(&shape, 2, (int64_t[]){3, 1}, &b.status), b.status);
  CHECK_OK(kernel_forward_or_allocate(&context, 0, 0, &shape, &out, &b.status), b.status);
  CHECK(out->data == b.input.data);
  CHECK_INT_EQ(out->shape.rank, 2);
  CHECK_OK(kernel_forward_or_allocate(&context, 1, 0, &shape, &out, &b.status), b.status); /* no such input */
  CHECK(out->data != b.input.data);
  shape_clear(&shape);
  bench_end(&b);
}

/* --- memory --- */

TEST(scratch_comes_from_the_pool) {
  Status status;
  status_init(&status);
  KernelContext context = {.pool = buffer_pool_new()};
  Buffer *scratch = kernel_scratch(&context, 1000, &status);
  REQUIRE(scratch);
  CHECK_INT_EQ((uintptr_t)scratch->data % 64, 0);
  memset(scratch->data, 1, 1000);
  void *data = scratch->data;
  buffer_unref(scratch);
  scratch = kernel_scratch(&context, 1000, &status);
  CHECK(scratch && scratch->data == data);
  buffer_unref(scratch);
  mem_fail_after(0);
  Buffer *none = kernel_scratch(&context, 1 << 20, &status);
  mem_fail_after(-1);
  CHECK(!none);
  CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
  buffer_pool_release(context.pool);
}

TEST(second_run_allocates_nothing) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_FLOAT);
  bench_floats(&b, 100);
  OpKernel *kernel = bench_kernel(&b);
  REQUIRE(kernel);
  KernelContext context = {.inputs = b.inputs, .outputs = b.outputs, .pool = buffer_pool_new()};
  CHECK_OK(op_kernel_run(kernel, &context, &b.status), b.status);
  tensor_clear(&b.outputs[0]);
  int64_t before = mem_allocation_count();
  CHECK_OK(op_kernel_run(kernel, &context, &b.status), b.status);
  CHECK_INT_EQ(mem_allocation_count() - before, 0);
  tensor_clear(&b.outputs[0]);
  buffer_pool_release(context.pool);
  op_kernel_free(kernel);
  bench_end(&b);
}

TEST(kernels_survive_want_of_memory) {
  Bench b;
  REQUIRE(bench_begin(&b, &kOpTestScale));
  bench_type(&b, "T", DT_FLOAT);
  bench_floats(&b, 100);
  /* The copy of the node, which gets the missing attr, is larger than an arena's first block. */
  static const char kLong[2000];
  bench_attr(&b, "_note", attr_value_string(b.arena, kLong, sizeof kLong));
  int failures = 0;
  for (int64_t successes = 0;; successes++) {
    CHECK_CONTEXT("after %d allocations", (int)successes);
    mem_fail_after(successes);
    bool ok = op_evaluate(b.op, b.node, b.inputs, b.outputs, &b.status);
    mem_fail_after(-1);
    if (ok || !CHECK(successes < 1000)) break;
    CHECK_INT_EQ(b.status.code, CODE_RESOURCE_EXHAUSTED);
    CHECK(tensor_is_empty(&b.outputs[0]));
    failures++;
  }
  CHECK(failures > 0);
  bench_end(&b);
}

TEST(a_kernel_that_is_not_there_is_freed_all_the_same) { op_kernel_free(NULL); }
