/* A program as a user of TensorFlow's C library would write it, valid C and C++: it uses only the library's
 * headers and does not depend on who made the library. It also holds for TensorFlow's own library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_tstring.h"

static int checks, failures;

static int check(int holds, const char *what, int line) {
  checks++;
  if (holds) return 1;
  failures++;
  printf("user_program.c:%d: %s\n", line, what);
  return 0;
}

#define CHECK(condition) check((condition) ? 1 : 0, #condition, __LINE__)

static TF_Status *status;

static void check_status(TF_Code code, const char *part, int line) {
  if (!check(TF_GetCode(status) == code && strstr(TF_Message(status), part), "the status", line))
    printf("  is %d \"%s\", not %d \"%s\"\n", (int)TF_GetCode(status), TF_Message(status), (int)code, part);
  TF_SetStatus(status, TF_OK, ""); /* not every call of TensorFlow clears the status when it succeeds */
}

#define CHECK_OK() check_status(TF_OK, "", __LINE__)
#define CHECK_STATUS(code, part) check_status((code), (part), __LINE__)
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* ---- small helpers ---- */

static TF_Output output_of(TF_Operation *oper, int index) {
  TF_Output output;
  output.oper = oper;
  output.index = index;
  return output;
}

static TF_Tensor *floats(int rank, const int64_t *dims, const float *values) {
  size_t count = 1;
  for (int i = 0; i < rank; i++) count *= (size_t)dims[i];
  TF_Tensor *tensor = TF_AllocateTensor(TF_FLOAT, dims, rank, count * sizeof(float));
  memcpy(TF_TensorData(tensor), values, count * sizeof(float));
  return tensor;
}

static TF_Operation *placeholder(TF_Graph *graph, const char *name, TF_DataType type, const int64_t *dims,
                                 int rank) {
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", type);
  TF_SetAttrShape(desc, "shape", dims, rank);
  TF_Operation *oper = TF_FinishOperation(desc, status);
  CHECK_OK();
  return oper;
}

static TF_Operation *constant(TF_Graph *graph, const char *name, TF_Tensor *value) {
  TF_OperationDescription *desc = TF_NewOperation(graph, "Const", name);
  TF_SetAttrType(desc, "dtype", TF_TensorType(value));
  TF_SetAttrTensor(desc, "value", value, status);
  CHECK_OK();
  TF_Operation *oper = TF_FinishOperation(desc, status);
  CHECK_OK();
  TF_DeleteTensor(value);
  return oper;
}

static TF_Operation *binary(TF_Graph *graph, const char *op, const char *name, TF_Operation *a,
                            TF_Operation *b) {
  TF_OperationDescription *desc = TF_NewOperation(graph, op, name);
  TF_AddInput(desc, output_of(a, 0));
  if (b) TF_AddInput(desc, output_of(b, 0));
  TF_Operation *oper = TF_FinishOperation(desc, status);
  CHECK_OK();
  return oper;
}

static void free_data(void *data, size_t length) {
  (void)length;
  free(data);
}

/* Typical work with a .pb file. */
static TF_Buffer *read_file(FILE *file) {
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  fseek(file, 0, SEEK_SET);
  TF_Buffer *buffer = TF_NewBuffer();
  void *data = malloc(size);
  if (fread(data, 1, size, file) != size) failures++;
  buffer->data = data;
  buffer->length = size;
  buffer->data_deallocator = free_data;
  return buffer;
}

static void run_one(TF_Graph *graph, TF_Output feed, TF_Tensor *value, TF_Output fetch, TF_Tensor **result) {
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Session *session = TF_NewSession(graph, options, status);
  TF_DeleteSessionOptions(options);
  CHECK_OK();
  TF_SessionRun(session, NULL, &feed, &value, 1, &fetch, result, 1, NULL, 0, NULL, status);
  CHECK_OK();
  TF_CloseSession(session, status);
  CHECK_OK();
  TF_DeleteSession(session, status);
  CHECK_OK();
}

/* ---- a model from a file ---- */

static void load_and_run(void) {
  const int64_t dims[] = {2, 2}, any[] = {-1, 2};
  const float weights[] = {1, 2, 3, 4}, x[] = {1, 0, 0, 10};
  TF_Graph *graph = TF_NewGraph();
  TF_Operation *input = placeholder(graph, "x", TF_FLOAT, any, 2);
  binary(graph, "MatMul", "layer/product", input, constant(graph, "layer/weights", floats(2, dims, weights)));
  TF_Buffer *bytes = TF_NewBuffer();
  TF_GraphToGraphDef(graph, bytes, status);
  CHECK_OK();
  FILE *file = tmpfile();
  CHECK(file && fwrite(bytes->data, 1, bytes->length, file) == bytes->length);
  TF_DeleteBuffer(bytes);
  TF_DeleteGraph(graph);

  graph = TF_NewGraph();
  bytes = read_file(file);
  fclose(file);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "model");
  TF_GraphImportGraphDef(graph, bytes, options, status);
  CHECK_OK();
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(bytes);

  TF_Output in = output_of(TF_GraphOperationByName(graph, "model/x"), 0);
  TF_Output out = output_of(TF_GraphOperationByName(graph, "model/layer/product"), 0);
  CHECK(in.oper && out.oper);
  int64_t shape[2] = {0, 0};
  CHECK(TF_GraphGetTensorNumDims(graph, out, status) == 2);
  TF_GraphGetTensorShape(graph, out, shape, 2, status);
  CHECK(shape[0] == -1 && shape[1] == 2);
  TF_Tensor *value = floats(2, dims, x), *result = NULL;
  run_one(graph, in, value, out, &result);
  if (CHECK(result && TF_TensorType(result) == TF_FLOAT && TF_TensorByteSize(result) == 4 * sizeof(float))) {
    const float *got = (const float *)TF_TensorData(result);
    CHECK(got[0] == 1 && got[1] == 2 && got[2] == 30 && got[3] == 40);
  }
  TF_DeleteTensor(value);
  TF_DeleteTensor(result);
  TF_DeleteGraph(graph);
}

/* ---- an operation with an attr of every kind ---- */

static TF_Operation *all_attrs(TF_Graph *graph) {
  const int64_t dims[] = {2, -1}, ints[] = {5, -6, 7}, big[] = {3};
  const float values[] = {1, 2, 3}, list[] = {0.5f, -0.25f};
  const unsigned char bools[] = {1, 0, 1};
  const TF_DataType types[] = {TF_HALF, TF_QINT8};
  const void *strings[] = {"left", "", "right\0!"};
  const size_t lengths[] = {4, 0, 7};
  const int64_t *shapes[] = {dims, NULL, big};
  const int ranks[] = {2, -1, 1};
  /* TensorShapeProtos: [4], and an unknown rank. */
  const void *protos[] = {"\x12\x02\x08\x04", "\x18\x01"};
  const size_t proto_lengths[] = {4, 2};

  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", "all");
  TF_SetAttrString(desc, "_string", "some bytes", 10);
  TF_SetAttrStringList(desc, "_strings", strings, lengths, 3);
  TF_SetAttrInt(desc, "_int", -1234567890123);
  TF_SetAttrIntList(desc, "_ints", ints, 3);
  TF_SetAttrFloat(desc, "_float", 1.5f);
  TF_SetAttrFloatList(desc, "_floats", list, 2);
  TF_SetAttrBool(desc, "_bool", 1);
  TF_SetAttrBoolList(desc, "_bools", bools, 3);
  TF_SetAttrType(desc, "_type", TF_BFLOAT16);
  TF_SetAttrTypeList(desc, "_types", types, 2);
  TF_SetAttrShape(desc, "_shape", dims, 2);
  TF_SetAttrShape(desc, "_any_shape", NULL, -1);
  TF_SetAttrShapeList(desc, "_shapes", shapes, ranks, 3);
  TF_SetAttrTensorShapeProto(desc, "_shape_proto", "\x12\x02\x08\x04", 4, status);
  CHECK_OK();
  TF_SetAttrTensorShapeProtoList(desc, "_shape_protos", protos, proto_lengths, 2, status);
  CHECK_OK();
  TF_Tensor *tensors[2];
  tensors[0] = floats(1, big, values);
  tensors[1] = floats(0, NULL, values);
  TF_SetAttrTensor(desc, "_tensor", tensors[0], status);
  CHECK_OK();
  TF_SetAttrTensorList(desc, "_tensors", tensors, 2, status);
  CHECK_OK();
  TF_SetAttrFuncName(desc, "_func", "SomeFunction", 12);
  TF_SetAttrPlaceholder(desc, "_placeholder", "T");
  TF_SetAttrValueProto(desc, "_value", "\x18\x2a", 2, status);
  CHECK_OK();
  TF_SetAttrIntList(desc, "_nothing", NULL, 0);
  TF_SetAttrTensorShapeProto(desc, "_bad", "\xff\xff", 2, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Unparseable TensorShapeProto");
  TF_SetAttrTensorShapeProtoList(desc, "_bad", (const void *const *)strings, lengths, 1, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Unparseable TensorShapeProto");
  TF_SetAttrValueProto(desc, "_bad", "\xff\xff", 2, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Unparseable AttrValue proto");
  TF_DeleteTensor(tensors[0]);
  TF_DeleteTensor(tensors[1]);
  TF_Operation *oper = TF_FinishOperation(desc, status);
  CHECK_OK();
  return oper;
}

static void look_at_metadata(TF_Operation *oper) {
  static const struct {
    const char *name;
    int is_list, list_size;
    TF_AttrType type;
    int total_size;
  } kinds[] = {
      {"_string", 0, -1, TF_ATTR_STRING, 10}, {"_strings", 1, 3, TF_ATTR_STRING, 11},
      {"_int", 0, -1, TF_ATTR_INT, -1},       {"_ints", 1, 3, TF_ATTR_INT, -1},
      {"_float", 0, -1, TF_ATTR_FLOAT, -1},   {"_floats", 1, 2, TF_ATTR_FLOAT, -1},
      {"_bool", 0, -1, TF_ATTR_BOOL, -1},     {"_bools", 1, 3, TF_ATTR_BOOL, -1},
      {"_type", 0, -1, TF_ATTR_TYPE, -1},     {"_types", 1, 2, TF_ATTR_TYPE, -1},
      {"_shape", 0, -1, TF_ATTR_SHAPE, 2},    {"_any_shape", 0, -1, TF_ATTR_SHAPE, -1},
      {"_shapes", 1, 3, TF_ATTR_SHAPE, 3},    {"_shape_protos", 1, 2, TF_ATTR_SHAPE, 1},
      {"_tensor", 0, -1, TF_ATTR_TENSOR, -1}, {"_tensors", 1, 2, TF_ATTR_TENSOR, -1},
      {"_func", 0, -1, TF_ATTR_FUNC, -1},     {"_placeholder", 0, -1, TF_ATTR_PLACEHOLDER, -1},
      {"_value", 0, -1, TF_ATTR_INT, -1},
  };
  for (int i = 0; i < COUNT(kinds); i++) {
    TF_AttrMetadata metadata = TF_OperationGetAttrMetadata(oper, kinds[i].name, status);
    CHECK_OK();
    if (!CHECK(metadata.is_list == kinds[i].is_list && metadata.list_size == kinds[i].list_size &&
               metadata.type == kinds[i].type && metadata.total_size == kinds[i].total_size)) {
      printf("  %s: is_list %d, list_size %d, type %d, total_size %d\n", kinds[i].name, metadata.is_list,
             (int)metadata.list_size, (int)metadata.type, (int)metadata.total_size);
    }
  }
  TF_AttrMetadata nothing = TF_OperationGetAttrMetadata(oper, "_nothing", status);
  CHECK(nothing.is_list == 1 && nothing.list_size == 0);
  TF_OperationGetAttrMetadata(oper, "_missing", status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Operation 'all' has no attr named '_missing'.");
}

static void look_at_scalars(TF_Operation *oper) {
  char text[] = "................";
  int64_t i = 0, dims[3] = {9, 9, 9};
  float f = 0;
  unsigned char b = 0;
  TF_DataType type = TF_FLOAT;
  TF_OperationGetAttrString(oper, "_string", text, 16, status);
  CHECK_OK();
  CHECK(memcmp(text, "some bytes......", 16) == 0);
  TF_OperationGetAttrString(oper, "_string", text, 2, status);
  CHECK_OK();
  TF_OperationGetAttrString(oper, "_string", NULL, 0, status);
  CHECK_OK();
  TF_OperationGetAttrString(oper, "_int", text, 2, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Attribute '_int' is not a string");
  TF_OperationGetAttrInt(oper, "_int", &i, status);
  CHECK_OK();
  CHECK(i == -1234567890123);
  TF_OperationGetAttrInt(oper, "_value", &i, status);
  CHECK(i == 42);
  TF_OperationGetAttrInt(oper, "_float", &i, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "AttrValue had value with type 'float' when 'int' expected");
  TF_OperationGetAttrInt(oper, "_missing", &i, status);
  CHECK_STATUS(TF_NOT_FOUND, "No attr named '_missing' in NodeDef:");
  CHECK(i == 42);
  TF_OperationGetAttrFloat(oper, "_float", &f, status);
  CHECK_OK();
  CHECK(f == 1.5f);
  TF_OperationGetAttrFloat(oper, "_floats", &f, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "AttrValue had value with type 'list(float)' when 'float' expected");
  TF_OperationGetAttrBool(oper, "_bool", &b, status);
  CHECK_OK();
  CHECK(b == 1);
  TF_OperationGetAttrType(oper, "_type", &type, status);
  CHECK_OK();
  CHECK(type == TF_BFLOAT16);
  TF_OperationGetAttrShape(oper, "_shape", dims, 3, status);
  CHECK_OK();
  CHECK(dims[0] == 2 && dims[1] == -1 && dims[2] == 9);
  dims[1] = 9;
  TF_OperationGetAttrShape(oper, "_shape_proto", dims, 1, status);
  CHECK(dims[0] == 4 && dims[1] == 9);
  TF_OperationGetAttrShape(oper, "_any_shape", dims, 0, status);
  CHECK_OK();
  TF_OperationGetAttrShape(oper, "_bool", dims, 0, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "AttrValue had value with type 'bool' when 'shape' expected");

  TF_Tensor *tensor = NULL;
  TF_OperationGetAttrTensor(oper, "_tensor", &tensor, status);
  CHECK_OK();
  CHECK(tensor && TF_NumDims(tensor) == 1 && TF_Dim(tensor, 0) == 3 &&
        ((float *)TF_TensorData(tensor))[2] == 3);
  TF_DeleteTensor(tensor);
  TF_OperationGetAttrTensor(oper, "_string", &tensor, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "AttrValue had value with type 'string' when 'tensor' expected");
}

static void look_at_lists(TF_Operation *oper) {
  void *strings[3];
  size_t lengths[3];
  char storage[11];
  TF_OperationGetAttrStringList(oper, "_strings", strings, lengths, 3, storage, sizeof storage, status);
  CHECK_OK();
  CHECK(lengths[0] == 4 && lengths[1] == 0 && lengths[2] == 7);
  CHECK(memcmp(strings[0], "left", 4) == 0 && memcmp(strings[2], "right\0!", 7) == 0);
  TF_OperationGetAttrStringList(oper, "_strings", strings, lengths, 2, storage, 4, status);
  CHECK_OK();
  TF_OperationGetAttrStringList(oper, "_strings", strings, lengths, 3, storage, 10, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Not enough storage to hold the requested list of strings");
  TF_OperationGetAttrStringList(oper, "_string", strings, lengths, 3, storage, 10, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Value for '_string' is not a list");

  int64_t ints[4] = {1, 1, 1, 1};
  TF_OperationGetAttrIntList(oper, "_ints", ints, 4, status);
  CHECK_OK();
  CHECK(ints[0] == 5 && ints[1] == -6 && ints[2] == 7 && ints[3] == 1);
  ints[1] = 0;
  TF_OperationGetAttrIntList(oper, "_ints", ints, 1, status);
  CHECK(ints[1] == 0);
  TF_OperationGetAttrIntList(oper, "_int", ints, 1, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Value for '_int' is not a list.");
  TF_OperationGetAttrIntList(oper, "_missing", ints, 1, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Operation 'all' has no attr named '_missing'.");
  float f[2] = {0, 0};
  TF_OperationGetAttrFloatList(oper, "_floats", f, 2, status);
  CHECK_OK();
  CHECK(f[0] == 0.5f && f[1] == -0.25f);
  unsigned char b[3] = {9, 9, 9};
  TF_OperationGetAttrBoolList(oper, "_bools", b, 3, status);
  CHECK_OK();
  CHECK(b[0] == 1 && b[1] == 0 && b[2] == 1);
  TF_DataType types[2];
  TF_OperationGetAttrTypeList(oper, "_types", types, 2, status);
  CHECK_OK();
  CHECK(types[0] == TF_HALF && types[1] == TF_QINT8);

  int64_t *dims[3], sizes[3];
  int ranks[3];
  TF_OperationGetAttrShapeList(oper, "_shapes", dims, ranks, 3, sizes, 3, status);
  CHECK_OK();
  CHECK(ranks[0] == 2 && ranks[1] == -1 && ranks[2] == 1 && dims[0][0] == 2 && dims[0][1] == -1 &&
        dims[2][0] == 3);
  TF_OperationGetAttrShapeList(oper, "_shapes", dims, ranks, 2, sizes, 2, status);
  CHECK_OK();
  TF_OperationGetAttrShapeList(oper, "_shapes", dims, ranks, 3, sizes, 2, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Not enough storage to hold the requested list of shapes");

  TF_Buffer *buffers[2] = {NULL, NULL};
  TF_OperationGetAttrTensorShapeProtoList(oper, "_shape_protos", buffers, 2, status);
  CHECK_OK();
  CHECK(buffers[0]->length == 4 && memcmp(buffers[0]->data, "\x12\x02\x08\x04", 4) == 0);
  CHECK(buffers[1]->length == 2 && memcmp(buffers[1]->data, "\x18\x01", 2) == 0);
  TF_DeleteBuffer(buffers[0]);
  TF_DeleteBuffer(buffers[1]);
  TF_Buffer *one = TF_NewBuffer();
  TF_OperationGetAttrTensorShapeProto(oper, "_shape_proto", one, status);
  CHECK_OK();
  CHECK(one->length == 4 && memcmp(one->data, "\x12\x02\x08\x04", 4) == 0);
  TF_OperationGetAttrTensorShapeProto(oper, "_shape_proto", one, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
  TF_OperationGetAttrTensorShapeProto(oper, "_int", one, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Value for '_int' is not a shape.");
  TF_DeleteBuffer(one);

  TF_Tensor *tensors[2] = {NULL, NULL};
  TF_OperationGetAttrTensorList(oper, "_tensors", tensors, 2, status);
  CHECK_OK();
  CHECK(TF_NumDims(tensors[0]) == 1 && TF_NumDims(tensors[1]) == 0 &&
        *(float *)TF_TensorData(tensors[1]) == 1);
  TF_DeleteTensor(tensors[0]);
  TF_DeleteTensor(tensors[1]);
}

static void look_at_names(TF_Operation *oper) {
  int count = TF_OperationGetNumAttrs(oper), found = 0;
  CHECK(count == 21);
  for (int i = 0; i < count; i++) {
    char name[32] = {0};
    int length = TF_OperationGetAttrNameLength(oper, i);
    if (!CHECK(length > 0 && length < 32)) continue;
    TF_OperationGetAttrName(oper, i, name, status);
    CHECK_OK();
    CHECK((int)strlen(name) == length);
    found += strcmp(name, "_bool") == 0 || strcmp(name, "_shape_protos") == 0;
  }
  CHECK(found == 2);
  CHECK(TF_OperationGetAttrNameLength(oper, count) == -1);
  char none[32];
  TF_OperationGetAttrName(oper, count, none, status);
  CHECK_STATUS(TF_OUT_OF_RANGE, "Operation only has 21 attributes, can't get the 21th");
}

static void attrs_of_every_kind(void) {
  TF_Graph *graph = TF_NewGraph();
  TF_Operation *oper = all_attrs(graph);
  look_at_metadata(oper);
  look_at_scalars(oper);
  look_at_lists(oper);
  look_at_names(oper);
  TF_DeleteGraph(graph);
}

/* ---- strings ---- */

static void strings_flow(void) {
  const int64_t dims[] = {3};
  const char *longer = "a text that is too long to lie in the element itself";
  TF_Graph *graph = TF_NewGraph();
  TF_Tensor *value = TF_AllocateTensor(TF_STRING, dims, 1, 3 * sizeof(TF_TString));
  TF_TString *elements = (TF_TString *)TF_TensorData(value);
  for (int i = 0; i < 3; i++) TF_StringInit(&elements[i]);
  CHECK(TF_TensorByteSize(value) == 3 * sizeof(TF_TString) && TF_StringGetSize(&elements[2]) == 0);
  TF_StringCopy(&elements[0], "short", 5);
  TF_StringCopy(&elements[1], longer, strlen(longer));
  CHECK(TF_StringGetType(&elements[0]) == TF_TSTR_SMALL && TF_StringGetCapacity(&elements[0]) == 22);
  CHECK(TF_StringGetType(&elements[1]) == TF_TSTR_LARGE &&
        TF_StringGetCapacity(&elements[1]) >= strlen(longer));
  TF_StringAssignView(&elements[2], longer, 6);
  CHECK(TF_StringGetType(&elements[2]) == TF_TSTR_VIEW && TF_StringGetDataPointer(&elements[2]) == longer);
  CHECK(TF_StringGetSize(&elements[2]) == 6 && TF_StringGetCapacity(&elements[2]) == 0);

  TF_Operation *input = placeholder(graph, "s", TF_STRING, dims, 1);
  TF_Operation *same = binary(graph, "Identity", "same", input, NULL);
  TF_Tensor *result = NULL;
  run_one(graph, output_of(input, 0), value, output_of(same, 0), &result);
  if (CHECK(result && TF_TensorType(result) == TF_STRING && TF_TensorElementCount(result) == 3)) {
    const TF_TString *got = (const TF_TString *)TF_TensorData(result);
    CHECK(TF_StringGetSize(&got[1]) == strlen(longer) &&
          memcmp(TF_StringGetDataPointer(&got[1]), longer, strlen(longer)) == 0);
    CHECK(TF_StringGetSize(&got[2]) == 6 && memcmp(TF_StringGetDataPointer(&got[2]), "a text", 6) == 0);
  }
  TF_DeleteTensor(result);

  /* Through an attr and back; a constant's tensor outlives the original one. */
  TF_Operation *c = constant(graph, "c", value);
  TF_OperationGetAttrTensor(c, "value", &result, status);
  CHECK_OK();
  const TF_TString *got = (const TF_TString *)TF_TensorData(result);
  CHECK(TF_StringGetSize(&got[0]) == 5 && memcmp(TF_StringGetDataPointer(&got[0]), "short", 5) == 0);
  CHECK(TF_StringGetSize(&got[1]) == strlen(longer) &&
        memcmp(TF_StringGetDataPointer(&got[1]), longer, strlen(longer)) == 0);
  TF_DeleteTensor(result);

  TF_TString own;
  TF_StringInit(&own);
  CHECK(TF_StringGetSize(&own) == 0);
  TF_StringCopy(&own, longer, strlen(longer));
  TF_StringDealloc(&own);
  CHECK(TF_StringGetSize(&own) == 0);
  TF_DeleteGraph(graph);
}

/* ---- storage types ---- */

static void quantized_values_flow(void) {
  const int64_t dims[] = {4};
  const signed char values[] = {-128, -1, 0, 127};
  TF_Graph *graph = TF_NewGraph();
  TF_Tensor *value = TF_AllocateTensor(TF_QINT8, dims, 1, sizeof values);
  memcpy(TF_TensorData(value), values, sizeof values);
  TF_Operation *input = placeholder(graph, "q", TF_QINT8, dims, 1),
               *same = binary(graph, "Identity", "same", input, NULL);
  TF_Tensor *result = NULL;
  run_one(graph, output_of(input, 0), value, output_of(same, 0), &result);
  if (CHECK(result && TF_TensorType(result) == TF_QINT8 && TF_TensorByteSize(result) == sizeof values))
    CHECK(memcmp(TF_TensorData(result), values, sizeof values) == 0);
  TF_DeleteTensor(result);
  TF_OperationGetAttrTensor(constant(graph, "c", value), "value", &result, status);
  CHECK_OK();
  CHECK(TF_TensorType(result) == TF_QINT8 && memcmp(TF_TensorData(result), values, sizeof values) == 0);
  TF_DeleteTensor(result);
  TF_DeleteGraph(graph);
}

/* ---- tensors ---- */

static void views_of_tensors(void) {
  const int64_t dims[] = {2, 3}, flat[] = {6}, three[] = {3}, four[] = {4};
  const float values[] = {1, 2, 3, 4, 5, 6};
  TF_Tensor *tensor = floats(2, dims, values), *other = floats(0, NULL, values);
  CHECK(TF_TensorDefaultAlignment() == 64 && TF_TensorIsAligned(tensor));
  CHECK(TF_TensorMaybeMove(tensor) == tensor);
  TF_TensorBitcastFrom(tensor, TF_INT64, other, three, 1, status);
  CHECK_OK();
  CHECK(TF_TensorType(other) == TF_INT64 && TF_Dim(other, 0) == 3 &&
        TF_TensorData(other) == TF_TensorData(tensor));
  CHECK(!TF_TensorMaybeMove(tensor));
  TF_TensorBitcastFrom(tensor, TF_DOUBLE, other, four, 1, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "input and output shapes/data type sizes are not compatible");
  TF_TensorBitcastFrom(tensor, TF_STRING, other, three, 1, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "specified output type is zero-sized");
  CHECK(TF_TensorType(other) == TF_INT64);
  TF_SetShape(tensor, flat, 1);
  CHECK(TF_NumDims(tensor) == 1 && TF_Dim(tensor, 0) == 6 && ((float *)TF_TensorData(tensor))[5] == 6);
  /* dtype float, shape [2], float_val 1 */
  TF_Buffer *proto = TF_NewBufferFromString("\x08\x01\x12\x04\x12\x02\x08\x02\x2d\x00\x00\x80\x3f", 13);
  TF_TensorFromProto(proto, other, status);
  CHECK_OK();
  CHECK(TF_TensorType(other) == TF_FLOAT && TF_TensorByteSize(other) == 8 &&
        ((float *)TF_TensorData(other))[1] == 1);
  TF_DeleteBuffer(proto);
  proto = TF_NewBufferFromString("\xff\xff", 2);
  TF_TensorFromProto(proto, other, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Unparseable tensorflow.TensorProto proto");
  TF_DeleteBuffer(proto);
  TF_DeleteTensor(other);
  CHECK(TF_TensorMaybeMove(tensor) == tensor);
  TF_DeleteTensor(tensor);
}

/* ---- changing a graph ---- */

static void edits(void) {
  const int64_t two[] = {2}, three[] = {3};
  TF_Graph *graph = TF_NewGraph();
  TF_Operation *a = placeholder(graph, "a", TF_FLOAT, two, 1), *b = placeholder(graph, "b", TF_FLOAT, two, 1);
  TF_Operation *c = placeholder(graph, "c", TF_FLOAT, three, 1), *y = binary(graph, "Sub", "y", a, a);
  TF_Input second;
  second.oper = y;
  second.index = 1;
  TF_Output inputs[3];
  TF_UpdateEdge(graph, output_of(b, 0), second, status);
  CHECK_OK();
  TF_OperationAllInputs(y, inputs, 3);
  CHECK(inputs[0].oper == a && inputs[1].oper == b);
  TF_UpdateEdge(graph, output_of(c, 0), second, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Cannot update edge, incompatible shapes: [3] and [2].");
  TF_UpdateEdge(graph, output_of(a, 1), second, status);
  CHECK_STATUS(TF_OUT_OF_RANGE,
               "Cannot update edge. Output index [1] is greater than the number of total outputs [1].");
  second.index = 2;
  TF_UpdateEdge(graph, output_of(a, 0), second, status);
  CHECK_STATUS(TF_OUT_OF_RANGE,
               "Cannot update edge. Input index [2] is greater than the number of total inputs [2].");
  CHECK(TF_OperationOutputNumConsumers(output_of(a, 0)) == 1);

  CHECK(TF_OperationNumControlInputs(y) == 0);
  TF_AddOperationControlInput(graph, y, c);
  CHECK(TF_OperationNumControlInputs(y) == 1 && TF_OperationNumControlOutputs(c) == 1);
  TF_RemoveAllControlInputs(graph, y);
  CHECK(TF_OperationNumControlInputs(y) == 0 && TF_OperationNumControlOutputs(c) == 0);
  TF_SetRequestedDevice(graph, y, "/device:CPU:0");
  CHECK(strcmp(TF_OperationDevice(y), "/device:CPU:0") == 0);
  TF_Buffer *value = TF_NewBufferFromString("\x28\x01", 2); /* true */
  TF_SetAttr(graph, y, "_mark", value, status);
  CHECK_OK();
  unsigned char mark = 0;
  TF_OperationGetAttrBool(y, "_mark", &mark, status);
  CHECK_OK();
  CHECK(mark == 1);
  TF_ClearAttr(graph, y, "_mark", status);
  TF_OperationGetAttrBool(y, "_mark", &mark, status);
  CHECK_STATUS(TF_NOT_FOUND, "No attr named '_mark'");
  TF_DeleteBuffer(value);
  TF_AddWhileInputHack(graph, output_of(a, 0), y, status);
  CHECK_STATUS(TF_INTERNAL, "dst argument to AddWhileEdgeHack should be a While op, got: ");
  TF_DeleteGraph(graph);
}

/* ---- functions, op definitions, constants ---- */

static void functions(void) {
  const float two = 2, five = 5;
  TF_Graph *body = TF_NewGraph(), *graph = TF_NewGraph();
  TF_Operation *x = placeholder(body, "x", TF_FLOAT, NULL, 0);
  TF_Operation *y = binary(body, "Mul", "y", x, constant(body, "two", floats(0, NULL, &two)));
  TF_Output in = output_of(x, 0), out = output_of(y, 0);
  const char *names[] = {"twice"};
  const TF_Operation *controls[] = {y};
  TF_Function *function =
      TF_GraphToFunctionWithControlOutputs(body, "Twice", 0, -1, NULL, 1, &in, 1, &out, names, 1, controls,
                                           NULL, NULL, "two times x", status);
  CHECK_OK();
  CHECK(strcmp(TF_FunctionName(function), "Twice") == 0);
  TF_FunctionSetAttrValueProto(function, "_level", "\x18\x05", 2, status);
  CHECK_OK();
  TF_Buffer *value = TF_NewBuffer();
  TF_FunctionGetAttrValueProto(function, "_level", value, status);
  CHECK_OK();
  CHECK(value->length == 2 && memcmp(value->data, "\x18\x05", 2) == 0);
  TF_DeleteBuffer(value);
  TF_GraphCopyFunction(graph, function, NULL, status);
  CHECK_OK();
  TF_DeleteFunction(function);
  TF_DeleteGraph(body);
  CHECK(TF_GraphNumFunctions(graph) == 1);
  CHECK(TF_GraphGetFunctions(graph, &function, 1, status) == 1);
  TF_DeleteFunction(function);

  TF_Buffer *definition = TF_NewBuffer();
  TF_GraphGetOpDef(graph, "Twice", definition, status);
  CHECK_OK();
  CHECK(definition->length > 0);
  TF_DeleteBuffer(definition);
  definition = TF_NewBuffer();
  TF_GraphGetOpDef(graph, "NoSuchOp", definition, status);
  CHECK_STATUS(TF_NOT_FOUND, "Op type not registered 'NoSuchOp' in binary");
  TF_DeleteBuffer(definition);

  TF_Operation *input = placeholder(graph, "in", TF_FLOAT, NULL, 0);
  TF_Operation *call = binary(graph, "Twice", "call", binary(graph, "Twice", "first", input, NULL), NULL);
  TF_Tensor *fed = floats(0, NULL, &five), *result = NULL;
  run_one(graph, output_of(input, 0), fed, output_of(call, 0), &result);
  CHECK(result && *(float *)TF_TensorData(result) == 20);
  TF_DeleteTensor(result);

  TF_Operation *c = constant(graph, "c", fed), *sum = binary(graph, "Add", "sum", c, c);
  CHECK(TF_TryEvaluateConstant(graph, output_of(sum, 0), &result, status) == 1);
  CHECK_OK();
  CHECK(*(float *)TF_TensorData(result) == 10);
  TF_DeleteTensor(result);
  CHECK(TF_TryEvaluateConstant(graph, output_of(input, 0), &result, status) == 0);
  CHECK_OK();
  TF_DeleteGraph(graph);
}

/* ---- sessions ---- */

static void sessions(void) {
  const float one = 1;
  TF_Graph *graph = TF_NewGraph();
  TF_Output c = output_of(constant(graph, "c", floats(0, NULL, &one)), 0);
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_SetConfig(options, "\xff\xff", 2, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Unparseable ConfigProto");
  TF_SetConfig(options, "\x10\x01\x28\x01\x38\x01", 6, status); /* one thread each, soft placement */
  CHECK_OK();
  TF_Session *session = TF_NewSession(graph, options, status);
  CHECK_OK();
  TF_DeleteSessionOptions(options);

  TF_DeviceList *devices = TF_SessionListDevices(session, status);
  CHECK_OK();
  CHECK(TF_DeviceListCount(devices) >= 1);
  CHECK(strcmp(TF_DeviceListName(devices, 0, status), "/job:localhost/replica:0/task:0/device:CPU:0") == 0);
  CHECK(strcmp(TF_DeviceListType(devices, 0, status), "CPU") == 0);
  CHECK(TF_DeviceListMemoryBytes(devices, 0, status) > 0 &&
        TF_DeviceListIncarnation(devices, 0, status) != 0);
  CHECK_OK();
  CHECK(!TF_DeviceListName(devices, -1, status));
  CHECK_STATUS(TF_INVALID_ARGUMENT, "index out of bounds");
  CHECK(!TF_DeviceListType(devices, 1000, status) && TF_DeviceListMemoryBytes(devices, 1000, status) == -1);
  CHECK(TF_DeviceListIncarnation(devices, 1000, status) == 0);
  TF_DeleteDeviceList(devices);

  TF_Tensor *result = NULL;
  TF_Buffer *run_options = TF_NewBufferFromString("\xff\xff", 2);
  TF_SessionRun(session, run_options, NULL, NULL, 0, &c, &result, 1, NULL, 0, NULL, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Unparseable RunOptions proto");
  TF_DeleteBuffer(run_options);
  run_options = TF_NewBufferFromString("\x10\x00", 2);
  TF_Buffer *metadata = TF_NewBuffer();
  TF_SessionRun(session, run_options, NULL, NULL, 0, &c, &result, 1, NULL, 0, metadata, status);
  CHECK_OK();
  CHECK(result && *(float *)TF_TensorData(result) == 1);
  TF_DeleteTensor(result);
  TF_DeleteBuffer(run_options);
  TF_DeleteBuffer(metadata);
  metadata = TF_NewBufferFromString("x", 1);
  TF_SessionRun(session, NULL, NULL, NULL, 0, &c, &result, 1, NULL, 0, metadata, status);
  CHECK_STATUS(TF_INVALID_ARGUMENT, "Passing non-empty run_metadata is invalid.");
  TF_DeleteBuffer(metadata);
  TF_Operation *later = binary(graph, "Neg", "later", c.oper, NULL);
  TF_ExtendSession(session, status);
  CHECK_OK();
  c = output_of(later, 0);
  TF_SessionRun(session, NULL, NULL, NULL, 0, &c, &result, 1, NULL, 0, NULL, status);
  CHECK_OK();
  CHECK(*(float *)TF_TensorData(result) == -1);
  TF_DeleteTensor(result);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
}

/* ---- statuses ---- */

static void join(const char *key, const char *value, void *capture) {
  strcat(strcat(strcat(strcat((char *)capture, key), "="), value), ";");
}

static void statuses(void) {
  char all[64] = "";
  TF_SetStatus(status, TF_ABORTED, "no more");
  TF_SetPayload(status, "a", "1");
  TF_SetPayload(status, "b", "2");
  TF_SetPayload(status, "a", "3");
  TF_ForEachPayload(status, join, all);
  CHECK(strlen(all) == 8 && strstr(all, "a=3;") && strstr(all, "b=2;")); /* in any order */
  TF_SetStatus(status, TF_ABORTED, "again");
  all[0] = 0;
  TF_ForEachPayload(status, join, all);
  CHECK(all[0] == 0);
  TF_SetStatus(status, TF_OK, "");
  TF_SetPayload(status, "a", "1");
  TF_ForEachPayload(status, join, all);
  CHECK(all[0] == 0);
  FILE *file = fopen("no such folder/no such file", "rb");
  CHECK(!file);
  TF_SetStatusFromIOError(status, 2 /* ENOENT, but for WebAssembly */, "opening");
  CHECK(TF_GetCode(status) != TF_OK && strncmp(TF_Message(status), "opening; ", 9) == 0);
  TF_SetStatusFromIOError(status, 0, "nothing");
  CHECK_OK();
}

int main(void) {
  status = TF_NewStatus();
  printf("TF_Version: %s\n", TF_Version());
  load_and_run();
  attrs_of_every_kind();
  strings_flow();
  quantized_values_flow();
  views_of_tensors();
  edits();
  functions();
  sessions();
  statuses();
  TF_DeleteStatus(status);
  printf("%d passed, %d failed\n", checks - failures, failures);
  return failures == 0 ? 0 : 1;
}
