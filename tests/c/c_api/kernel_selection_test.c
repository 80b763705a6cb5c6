/* The choice between several kernels of a node, and valid registrations. */
#include "c_api/foreign_ops.h"

/* ---- kernels of the library's own ops ---- */

static void compute_seven(void *kernel, TF_OpKernelContext *ctx) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  TF_Tensor *out = TF_AllocateOutput(ctx, 0, TF_FLOAT, NULL, 0, 4, status);
  CHECK_TF_OK(status);
  *(float *)TF_TensorData(out) = 7;
  TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

static void register_for_square(Fixture *f, const char *device, const char *label, int priority) {
  TF_KernelBuilder *builder = TF_NewKernelBuilder("Square", device, NULL, compute_seven, NULL);
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, f->status);
  if (label) TF_KernelBuilder_Label(builder, label);
  TF_KernelBuilder_Priority(builder, priority);
  TF_KernelBuilder_HostMemory(builder, "x");
  TF_RegisterKernelBuilder("SquareSeven", builder, f->status);
  CHECK_TF_OK(f->status);
}

static float run_square(Fixture *f, const char *label) {
  Fixture g = {0};
  if (!begin_lenient(&g)) return 0;
  TF_Output x = placeholder_of(&g, "x", TF_FLOAT, 0, NULL);
  TF_OperationDescription *desc = TF_NewOperation(g.graph, "Square", "y");
  TF_AddInput(desc, x);
  if (label) TF_SetAttrString(desc, "_kernel", label, strlen(label));
  TF_Output y = finish(&g, desc);
  TF_Session *session = session_on(&g);
  TF_Tensor *value = float_scalar(3), *result = fetch(&g, session, x, value, y);
  TF_SetStatus(f->status, TF_GetCode(g.status), TF_Message(g.status));
  float got = result ? *(float *)TF_TensorData(result) : -1;
  TF_DeleteTensor(result);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, g.status);
  end(&g);
  return got;
}

TEST(a_kernel_of_higher_priority_wins) {
  Fixture f = {.status = TF_NewStatus()};
  CHECK_NEAR(run_square(&f, NULL), 9, 0);
  register_for_square(&f, "CPU", NULL, -1);
  CHECK_NEAR(run_square(&f, NULL), 9, 0);
  register_for_square(&f, "GPU", NULL, 5);
  CHECK_NEAR(run_square(&f, NULL), 9, 0);
  register_for_square(&f, "DEFAULT", NULL, 5); /* used only if there is none for the CPU */
  CHECK_NEAR(run_square(&f, NULL), 9, 0);
  register_for_square(&f, "CPU", NULL, 1);
  CHECK_NEAR(run_square(&f, NULL), 7, 0);
  TF_DeleteStatus(f.status);
}

TEST(two_kernels_of_one_priority_are_an_error_of_the_node) {
  Fixture f = {.status = TF_NewStatus()};
  register_for_square(&f, "CPU", NULL, 0);
  run_square(&f, NULL);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                 "Multiple OpKernel registrations match NodeDef at the same priority '{{node y}}': 'op: "
                 "\"Square\" "
                 "device_type: \"CPU\" constraint { name: \"T\" allowed_values { list { type: DT_FLOAT } } "
                 "}' and 'op: \"Square\" "
                 "device_type: \"CPU\" constraint { name: \"T\" allowed_values { list { type: DT_FLOAT } } } "
                 "host_memory_arg: \"x\"'");
  TF_DeleteStatus(f.status);
}

TEST(a_node_chooses_its_label) {
  Fixture f = {.status = TF_NewStatus()};
  register_for_square(&f, "CPU", "seven", 0);
  CHECK_NEAR(run_square(&f, NULL), 9, 0);
  CHECK_NEAR(run_square(&f, "seven"), 7, 0);
  run_square(&f, "eight");
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND,
                 "No OpKernel was registered to support Op 'Square' used by {{node y}}");
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND, "\n  device='CPU'; label='seven'; T in [DT_FLOAT]\n");
  TF_DeleteStatus(f.status);
}

TEST(a_default_kernel_where_there_is_none_for_the_cpu) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  TF_OpDefinitionBuilder *op_builder = TF_NewOpDefinitionBuilder("Everywhere");
  TF_OpDefinitionBuilderAddOutput(op_builder, "y: float");
  TF_RegisterOpDefinition(op_builder, f.status);
  TF_Output y = op(&f, "Everywhere", "y", 0, NULL);
  TF_Session *session = session_on(&f);
  TF_RegisterKernelBuilder("G", TF_NewKernelBuilder("Everywhere", "GPU", NULL, compute_seven, NULL),
                           f.status);
  CHECK(!fetch(&f, session, kNone, NULL, y));
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND, "Registered kernels:\n  device='GPU'\n");
  TF_RegisterKernelBuilder("D", TF_NewKernelBuilder("Everywhere", "DEFAULT", NULL, compute_seven, NULL),
                           f.status);
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, y), 7, 0);
  TF_RegisterKernelBuilder("D", TF_NewKernelBuilder("Everywhere", "DEFAULT", NULL, compute_seven, NULL),
                           f.status);
  TF_DeleteSession(session, f.status);
  session = session_on(&f);
  CHECK(!fetch(&f, session, kNone, NULL, y));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                 "Multiple Default OpKernel registrations match NodeDef at the same priority '{{node y}}'");
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(an_own_op_gets_a_kernel_for_another_type) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  const int8_t value[4] = {3, 4, -5, 6};
  const int64_t four = 4;
  TF_Output x = placeholder_of(&f, "x", TF_QINT8, 1, &four), y = unary(&f, "Relu", "y", x);
  TF_Tensor *feed = tensor_of(TF_QINT8, 1, &four, value, sizeof value);
  TF_Session *session = session_on(&f);
  CHECK(!fetch(&f, session, x, feed, y));
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND, "No OpKernel was registered to support Op 'Relu'");
  register_kernel(&f, "Relu", TF_QINT8, NULL, compute_identity, NULL);
  TF_Tensor *result = fetch(&f, session, x, feed, y);
  if (CHECK_TF_OK(f.status)) CHECK_MEM_EQ(TF_TensorData(result), value, sizeof value);
  TF_DeleteTensor(result);
  TF_DeleteTensor(feed);
  TF_DeleteSession(session, f.status);
  end(&f);
}

/* ---- registration ---- */

TEST(wrong_registrations_of_kernels) {
  Fixture f = {.status = TF_NewStatus()};
  TF_KernelBuilder *builder = TF_NewKernelBuilder("Square", "CPU", NULL, compute_seven, NULL);
  TF_KernelBuilder_TypeConstraint(builder, "T", (TF_DataType)99, f.status);
  CHECK_TF_ERROR(f.status, TF_UNIMPLEMENTED, "Unexpected type 99");
  TF_DeleteKernelBuilder(builder);
  TF_DeleteKernelBuilder(NULL);
  TF_RegisterKernelBuilder("A", TF_NewKernelBuilder("Square", "CPU", NULL, NULL, NULL), f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "A kernel of op 'Square' has no compute function");
  TF_RegisterKernelBuilder("A", TF_NewKernelBuilder(NULL, "CPU", NULL, compute_seven, NULL), f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "A kernel must name its op");
  builder = TF_NewKernelBuilder("Square", "CPU", NULL, compute_seven, NULL);
  TF_RegisterKernelBuilderWithKernelDef("\x0a\x7f", "A", builder, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "KernelDef");
  TF_DeleteStatus(f.status);
}

/* A KernelDef of op "Own" for the CPU, label "l". */
TEST(a_kernel_under_a_kernel_def_of_its_own) {
  Fixture f = {.status = TF_NewStatus()};
  TF_KernelBuilder *builder = TF_NewKernelBuilder("Square", "GPU", NULL, compute_seven, NULL);
  TF_RegisterKernelBuilderWithKernelDef("\x0a\x03Own\x12\x03\x43PU\x2a\x01l", "A", builder, f.status);
  CHECK_TF_OK(f.status);
  TF_Buffer *list = TF_GetRegisteredKernelsForOp("Own", f.status);
  if (CHECK_TF_OK(f.status)) CHECK_INT_EQ(list->length, 2 + 5 + 5 + 3);
  if (list->length == 15) CHECK_MEM_EQ(list->data, "\x0a\x0d\x0a\x03Own\x12\x03\x43PU\x2a\x01l", 15);
  TF_DeleteBuffer(list);
  TF_DeleteStatus(f.status);
}

static KernelList *read_list(TF_Buffer *buffer, Arena *arena) {
  Status status;
  status_init(&status);
  void *list = NULL;
  CHECK_OK(proto_parse(kKernelList, buffer->data, buffer->length, arena, &list, &status), status);
  TF_DeleteBuffer(buffer);
  return list;
}

TEST(what_is_registered_can_be_listed) {
  Fixture f = {.status = TF_NewStatus()};
  Arena *arena = arena_new();
  KernelList *before = read_list(TF_GetAllRegisteredKernels(f.status), arena);
  CHECK(before->n_kernel > 300); /* the kernels of the tables */
  CHECK_INT_EQ(read_list(TF_GetRegisteredKernelsForOp("NoSuchOp", f.status), arena)->n_kernel, 0);
  CHECK_TF_OK(f.status);
  size_t num_square = read_list(TF_GetRegisteredKernelsForOp("Square", f.status), arena)->n_kernel;
  register_for_square(&f, "GPU", "l", 3);
  register_kernel(&f, "NoSuchOp", 0, NULL, compute_seven, NULL);
  KernelList *after = read_list(TF_GetAllRegisteredKernels(f.status), arena);
  CHECK_INT_EQ(after->n_kernel, before->n_kernel + 2);
  KernelList *none = read_list(TF_GetRegisteredKernelsForOp("NoSuchOp", f.status), arena);
  if (CHECK_INT_EQ(none->n_kernel, 1)) CHECK_STR_EQ(none->kernel[0]->op, "NoSuchOp");
  KernelList *square = read_list(TF_GetRegisteredKernelsForOp("Square", f.status), arena);
  if (CHECK_INT_EQ(square->n_kernel, num_square + 1)) {
    const KernelDef *def = square->kernel[num_square];
    CHECK_STR_EQ(def->device_type, "GPU");
    CHECK_STR_EQ(def->label, "l");
    CHECK_INT_EQ(def->priority, 3);
    CHECK_STR_EQ(def->constraint[0]->name, "T");
    CHECK_INT_EQ(def->constraint[0]->allowed_values->list->type[0], DT_FLOAT);
    CHECK_STR_EQ(def->host_memory_arg[0], "x");
    CHECK_STR_EQ(square->kernel[0]->device_type, "CPU");
    CHECK_INT_EQ(square->kernel[0]->n_constraint, 1);
  }
  arena_free(arena);
  TF_DeleteStatus(f.status);
}

/* Also those of control flow, which programs carry out without kernels. */
TEST(every_op_of_the_tables_has_a_kernel_in_the_list) {
  TF_Status *tf_status = TF_NewStatus();
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  TF_Buffer *buffer = TF_GetAllOpList();
  void *parsed = NULL;
  CHECK_OK(proto_parse(kOpList, buffer->data, buffer->length, arena, &parsed, &status), status);
  const OpList *ops = parsed;
  for (size_t i = 0; ops && i < ops->n_op; i++) {
    CHECK_CONTEXT("%s", ops->op[i]->name);
    CHECK(read_list(TF_GetRegisteredKernelsForOp(ops->op[i]->name, tf_status), arena)->n_kernel > 0);
  }
  TF_DeleteBuffer(buffer);
  arena_free(arena);
  TF_DeleteStatus(tf_status);
}
