/* The attrs that a registered kernel reads while it is made. */
#include "c_api/foreign_ops.h"

static const char *const kAttrs[] = {"type: type",
                                     "an_int: int",
                                     "a_float: float",
                                     "a_bool: bool",
                                     "a_string: string",
                                     "shape: shape",
                                     "any_rank: shape",
                                     "tensor: tensor",
                                     "func: func",
                                     "types: list(type)",
                                     "ints: list(int)",
                                     "wide: list(int)",
                                     "floats: list(float)",
                                     "bools: list(bool)",
                                     "strings: list(string)",
                                     "shapes: list(shape)",
                                     "tensors: list(tensor)",
                                     "none: list(int)",
                                     "big: int",
                                     "size: int = 17"};

static void check_sizes(TF_OpKernelConstruction *ctx, TF_Status *status) {
  static const struct {
    const char *attr;
    int32_t list_size, total_size;
  } kCases[] = {{"type", -1, -1},    {"an_int", -1, -1}, {"a_float", -1, -1},  {"a_bool", -1, -1},
                {"a_string", -1, 5}, {"shape", -1, 3},   {"any_rank", -1, -1}, {"tensor", -1, -1},
                {"func", -1, -1},    {"types", 2, -1},   {"ints", 3, -1},      {"floats", 2, -1},
                {"bools", 4, -1},    {"strings", 3, 6},  {"shapes", 3, 3},     {"tensors", 2, -1},
                {"none", 0, -1},     {"size", -1, -1}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("%s", kCases[i].attr);
    int32_t list_size = 99, total_size = 99;
    TF_OpKernelConstruction_GetAttrSize(ctx, kCases[i].attr, &list_size, &total_size, status);
    CHECK_TF_OK(status);
    CHECK_INT_EQ(list_size, kCases[i].list_size);
    CHECK_INT_EQ(total_size, kCases[i].total_size);
    CHECK(TF_OpKernelConstruction_HasAttr(ctx, kCases[i].attr, status));
    CHECK_TF_OK(status);
  }
  CHECK_CONTEXT("%s", "");
  int32_t list_size = 99, total_size = 99;
  TF_OpKernelConstruction_GetAttrSize(ctx, "no_attr", &list_size, &total_size, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Operation 'n' has no attr named 'no_attr'.");
  CHECK_INT_EQ(list_size, -1);
  CHECK_INT_EQ(total_size, -1);
  CHECK(!TF_OpKernelConstruction_HasAttr(ctx, "no_attr", status));
  CHECK_TF_OK(status);
}

static void check_single_values(TF_OpKernelConstruction *ctx, TF_Status *status) {
  TF_DataType type = 0;
  TF_OpKernelConstruction_GetAttrType(ctx, "type", &type, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(type, TF_INT16);
  int32_t narrow = 0;
  TF_OpKernelConstruction_GetAttrInt32(ctx, "an_int", &narrow, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(narrow, -7);
  TF_OpKernelConstruction_GetAttrInt32(ctx, "size", &narrow, status);
  CHECK_INT_EQ(narrow, 17);
  TF_OpKernelConstruction_GetAttrInt32(ctx, "big", &narrow, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Attr big has value 5000000000 out of range for an int32");
  CHECK_INT_EQ(narrow, 17);
  int64_t wide = 0;
  TF_OpKernelConstruction_GetAttrInt64(ctx, "big", &wide, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(wide, 5000000000);
  float number = 0;
  TF_OpKernelConstruction_GetAttrFloat(ctx, "a_float", &number, status);
  CHECK_TF_OK(status);
  CHECK_NEAR(number, 1.5, 0);
  TF_Bool yes = 0;
  TF_OpKernelConstruction_GetAttrBool(ctx, "a_bool", &yes, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(yes, 1);
  char text[8] = "#######";
  TF_OpKernelConstruction_GetAttrString(ctx, "a_string", text, 5, status);
  CHECK_TF_OK(status);
  CHECK_MEM_EQ(text, "he\0lo##", 8);
  TF_OpKernelConstruction_GetAttrString(ctx, "a_string", text + 5, 1, status);
  CHECK_MEM_EQ(text, "he\0loh#", 8);
  TF_OpKernelConstruction_GetAttrString(ctx, "a_string", NULL, 0, status);
  CHECK_TF_OK(status);
  TF_Tensor *tensor = NULL;
  TF_OpKernelConstruction_GetAttrTensor(ctx, "tensor", &tensor, status);
  if (CHECK_TF_OK(status)) CHECK_NEAR(*(float *)TF_TensorData(tensor), 2.5, 0);
  TF_DeleteTensor(tensor);
  TF_Buffer *function = TF_OpKernelConstruction_GetAttrFunction(ctx, "func", status);
  /* A NameAttrList whose name is F. */
  if (CHECK_TF_OK(status) && CHECK_INT_EQ(function->length, 3))
    CHECK_MEM_EQ(function->data,
                 "\x0a\x01"
                 "F",
                 3);
  TF_DeleteBuffer(function);
}

static void check_lists(TF_OpKernelConstruction *ctx, TF_Status *status) {
  TF_DataType types[3] = {0};
  TF_OpKernelConstruction_GetAttrTypeList(ctx, "types", types, 3, status);
  CHECK_TF_OK(status);
  CHECK(types[0] == TF_FLOAT && types[1] == TF_STRING && types[2] == 0);
  int32_t narrow[4] = {9, 9, 9, 9};
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "ints", narrow, 2, status);
  CHECK_TF_OK(status);
  CHECK(narrow[0] == 1 && narrow[1] == -2 && narrow[2] == 9);
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "none", narrow, 2, status);
  CHECK_TF_OK(status);
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "ints", narrow, -1, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(narrow[0], 1);
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "wide", narrow, 4, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Attr wide has value -5000000000 out of range for an int32");
  int64_t wide[4] = {0};
  TF_OpKernelConstruction_GetAttrInt64List(ctx, "wide", wide, 4, status);
  CHECK_TF_OK(status);
  CHECK(wide[0] == 1 && wide[1] == -5000000000);
  float numbers[2] = {0};
  TF_OpKernelConstruction_GetAttrFloatList(ctx, "floats", numbers, 2, status);
  CHECK_TF_OK(status);
  CHECK(numbers[0] == 0.5f && numbers[1] == -1);
  TF_Bool bools[4] = {9, 9, 9, 9};
  TF_OpKernelConstruction_GetAttrBoolList(ctx, "bools", bools, 4, status);
  CHECK_TF_OK(status);
  CHECK_MEM_EQ(bools, ((TF_Bool[]){1, 0, 0, 1}), 4);
  TF_Tensor *tensors[3] = {NULL, NULL, NULL};
  TF_OpKernelConstruction_GetAttrTensorList(ctx, "tensors", tensors, 3, status);
  if (CHECK_TF_OK(status)) {
    CHECK_NEAR(*(float *)TF_TensorData(tensors[0]), 3, 0);
    CHECK_NEAR(*(float *)TF_TensorData(tensors[1]), 4, 0);
    CHECK(!tensors[2]);
  }
  for (int i = 0; i < 3; i++) TF_DeleteTensor(tensors[i]);
}

static void check_strings(TF_OpKernelConstruction *ctx, TF_Status *status) {
  char *values[3], storage[6];
  size_t lengths[3];
  TF_OpKernelConstruction_GetAttrStringList(ctx, "strings", values, lengths, 3, storage, sizeof storage,
                                            status);
  CHECK_TF_OK(status);
  CHECK_MEM_EQ(storage, "abcdef", 6);
  CHECK(lengths[0] == 3 && lengths[1] == 0 && lengths[2] == 3);
  CHECK(values[0] == storage && values[2] == storage + 3);
  memset(storage, '#', sizeof storage);
  TF_OpKernelConstruction_GetAttrStringList(ctx, "strings", values, lengths, 1, storage, 3, status);
  CHECK_TF_OK(status);
  CHECK_MEM_EQ(storage, "abc###", 6);
  TF_OpKernelConstruction_GetAttrStringList(ctx, "strings", values, lengths, 3, storage, 5, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Not enough storage to hold the requested list of strings");
  TF_OpKernelConstruction_GetAttrStringList(ctx, "strings", values, lengths, 3, NULL, 0, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Not enough storage to hold the requested list of strings");
}

/* Every getter for a missing attr, and for one of another kind; its results stay unchanged. */
static void check_wrong(TF_OpKernelConstruction *ctx, const char *attr, TF_Code code, const char *message,
                        TF_Status *status) {
  TF_DataType type = 9;
  int32_t narrow = 9;
  int64_t wide = 9;
  float number = 9;
  TF_Bool yes = 9;
  char text = '9', *string = &text;
  size_t length = 9;
  TF_Tensor *tensor = NULL;
#define CHECK_WRONG(call)                  \
  do {                                     \
    TF_SetStatus(status, TF_OK, "");       \
    call;                                  \
    CHECK_TF_ERROR(status, code, message); \
  } while (0)
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrType(ctx, attr, &type, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrInt32(ctx, attr, &narrow, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrInt64(ctx, attr, &wide, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrFloat(ctx, attr, &number, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrBool(ctx, attr, &yes, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrString(ctx, attr, &text, 1, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrTensor(ctx, attr, &tensor, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrTypeList(ctx, attr, &type, 1, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrInt32List(ctx, attr, &narrow, 1, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrInt64List(ctx, attr, &wide, 1, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrFloatList(ctx, attr, &number, 1, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrBoolList(ctx, attr, &yes, 1, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrStringList(ctx, attr, &string, &length, 1, &text, 1, status));
  CHECK_WRONG(TF_OpKernelConstruction_GetAttrTensorList(ctx, attr, &tensor, 1, status));
  CHECK_WRONG(CHECK(!TF_OpKernelConstruction_GetAttrFunction(ctx, attr, status)));
#undef CHECK_WRONG
  CHECK(type == 9 && narrow == 9 && wide == 9 && number == 9 && yes == 9 && text == '9' && length == 9 &&
        !tensor);
}

static void check_node_def(TF_OpKernelConstruction *ctx, TF_Status *status) {
  TF_Buffer *bytes = TF_OpKernelConstruction_GetNodeDef(ctx, status);
  if (!CHECK_TF_OK(status)) return;
  Arena *arena = arena_new();
  Status parsed;
  status_init(&parsed);
  void *node = NULL;
  if (CHECK_OK(proto_parse(kNodeDef, bytes->data, bytes->length, arena, &node, &parsed), parsed)) {
    CHECK_STR_EQ(((NodeDef *)node)->name, "n");
    CHECK_STR_EQ(((NodeDef *)node)->op, "AllAttrs");
    CHECK_INT_EQ(node_def_attr(node, "size")->i, 17);
  }
  arena_free(arena);
  TF_DeleteBuffer(bytes);
}

static int num_made;

static void *create(TF_OpKernelConstruction *ctx) {
  TF_Status *status = TF_NewStatus();
  check_sizes(ctx, status);
  check_single_values(ctx, status);
  check_lists(ctx, status);
  check_strings(ctx, status);
  check_wrong(ctx, "no_attr", TF_NOT_FOUND, "No attr named 'no_attr' in NodeDef:", status);
  check_wrong(ctx, "shape", TF_INVALID_ARGUMENT, "AttrValue had value with type 'shape' when '", status);
  check_node_def(ctx, status);
  TF_DeleteStatus(status);
  num_made++;
  return NULL;
}

static void compute(void *kernel, TF_OpKernelContext *ctx) {
  CHECK(!kernel);
  CHECK_INT_EQ(TF_NumInputs(ctx), 0);
  CHECK_INT_EQ(TF_NumOutputs(ctx), 0);
}

static void set_attrs(TF_OperationDescription *desc, TF_Status *status) {
  TF_Tensor *tensors[] = {float_scalar(2.5f), float_scalar(3), float_scalar(4)};
  TF_SetAttrType(desc, "type", TF_INT16);
  TF_SetAttrInt(desc, "an_int", -7);
  TF_SetAttrInt(desc, "big", 5000000000);
  TF_SetAttrFloat(desc, "a_float", 1.5f);
  TF_SetAttrBool(desc, "a_bool", 1);
  TF_SetAttrString(desc, "a_string", "he\0lo", 5);
  TF_SetAttrShape(desc, "shape", (int64_t[]){1, -1, 3}, 3);
  TF_SetAttrShape(desc, "any_rank", NULL, -1);
  TF_SetAttrTensor(desc, "tensor", tensors[0], status);
  TF_SetAttrFuncName(desc, "func", "F", 1);
  TF_SetAttrTypeList(desc, "types", (TF_DataType[]){TF_FLOAT, TF_STRING}, 2);
  TF_SetAttrIntList(desc, "ints", (int64_t[]){1, -2, 3}, 3);
  TF_SetAttrIntList(desc, "wide", (int64_t[]){1, -5000000000}, 2);
  TF_SetAttrIntList(desc, "none", NULL, 0);
  TF_SetAttrFloatList(desc, "floats", (float[]){0.5f, -1}, 2);
  TF_SetAttrBoolList(desc, "bools", (unsigned char[]){1, 0, 0, 1}, 4);
  TF_SetAttrStringList(desc, "strings", (const void *[]){"abc", "", "def"}, (size_t[]){3, 0, 3}, 3);
  TF_SetAttrShapeList(desc, "shapes", (const int64_t *[]){(int64_t[]){1, 2}, NULL, (int64_t[]){-1}},
                      (int[]){2, -1, 1}, 3);
  TF_SetAttrTensorList(desc, "tensors", tensors + 1, 2, status);
  for (int i = 0; i < 3; i++) TF_DeleteTensor(tensors[i]);
}

TEST(a_kernel_reads_the_attrs_of_its_node) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  num_made = 0;
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("AllAttrs");
  for (size_t i = 0; i < sizeof kAttrs / sizeof *kAttrs; i++)
    TF_OpDefinitionBuilderAddAttr(builder, kAttrs[i]);
  TF_OpDefinitionBuilderSetIsStateful(builder, true);
  TF_RegisterOpDefinition(builder, f.status);
  CHECK_TF_OK(f.status);
  TF_RegisterKernelBuilder("A", TF_NewKernelBuilder("AllAttrs", "CPU", create, compute, NULL), f.status);
  CHECK_TF_OK(f.status);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "AllAttrs", "n");
  set_attrs(desc, f.status);
  CHECK_TF_OK(f.status);
  TF_Output n = finish(&f, desc);
  REQUIRE(n.oper);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  run_target(&f, session, n.oper);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(num_made, 1);
  TF_DeleteSession(session, f.status);
  end(&f);
}
