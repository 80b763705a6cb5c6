/* The attrs of operations: cases that are not in tests/c/c_api/user_program.c, which also holds for
 * TensorFlow's own library. */
#include <stdio.h>

#include "c_api/c_api_fixture.h"
#include "op/op_registry.h"
#include "proto/proto.h"
#include "tensorflow/c/ops.h"

static TF_Operation *imported_operation(Fixture *f, const char *nodes, const char *name) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *message;
  StrBuf bytes = {0};
  if (CHECK_OK(proto_parse_text(kGraphDef, str_of(nodes), arena, &message, &status), status) &&
      CHECK_OK(proto_serialize(message, &bytes, &status), status)) {
    TF_Buffer *buffer = TF_NewBufferFromString(strbuf_text(&bytes), (size_t)bytes.length);
    TF_GraphImportGraphDef(f->graph, buffer, NULL, f->status);
    CHECK_TF_OK(f->status);
    TF_DeleteBuffer(buffer);
  }
  strbuf_free(&bytes);
  arena_free(arena);
  return TF_GraphOperationByName(f->graph, name);
}

TEST(the_op_tells_what_an_empty_list_is_of) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "IdentityN", "none");
  TF_SetAttrTypeList(desc, "T", NULL, 0);
  TF_AddInputList(desc, NULL, 0);
  TF_FinishOperation(desc, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Length for attr 'T' of 0 must be at least minimum 1");

  TF_Operation *squeeze = imported_operation(
      &f,
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }"
      "node { name: 'squeeze' op: 'Squeeze' input: 'x' attr { key: 'T' value { type: DT_FLOAT } }"
      "  attr { key: 'squeeze_dims' value { list { } } } attr { key: '_empty' value { list { } } }"
      "  attr { key: '_funcs' value { list { func { name: 'F' } func { name: 'G' } } } } attr { key: "
      "'_unset' value { } } }",
      "squeeze");
  REQUIRE(squeeze);
  TF_AttrMetadata metadata = TF_OperationGetAttrMetadata(squeeze, "squeeze_dims", f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(metadata.is_list, 1);
  CHECK_INT_EQ(metadata.list_size, 0);
  CHECK_INT_EQ(metadata.type, TF_ATTR_INT);
  CHECK_INT_EQ(metadata.total_size, -1);
  /* The op does not declare it. */
  metadata = TF_OperationGetAttrMetadata(squeeze, "_empty", f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(metadata.is_list, 1);
  CHECK_INT_EQ(metadata.list_size, 0);
  metadata = TF_OperationGetAttrMetadata(squeeze, "_funcs", f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(metadata.list_size, 2);
  CHECK_INT_EQ(metadata.type, TF_ATTR_FUNC);
  TF_OperationGetAttrMetadata(squeeze, "_unset", f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Attribute '_unset' has no value set");
  /* An empty list is valid for any kind, and is not written. */
  TF_OperationGetAttrStringList(squeeze, "_empty", NULL, NULL, 5, NULL, 0, f.status);
  CHECK_TF_OK(f.status);
  TF_OperationGetAttrTensorList(squeeze, "_empty", NULL, 5, f.status);
  CHECK_TF_OK(f.status);
  TF_OperationGetAttrShapeList(squeeze, "_empty", NULL, NULL, 5, NULL, 0, f.status);
  CHECK_TF_OK(f.status);
  end(&f);
}

TEST(room_for_less_than_nothing_is_room_for_nothing) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "NoOp", "n");
  TF_SetAttrIntList(desc, "_i", (int64_t[]){1, 2}, 2);
  TF_SetAttrShape(desc, "_s", (int64_t[]){1, 2}, 2);
  TF_SetAttrShapeList(desc, "_l", (const int64_t *[]){(int64_t[]){1, 2}}, (int[]){2}, 1);
  TF_Operation *n = finish(&f, desc).oper;
  TF_OperationGetAttrIntList(n, "_i", NULL, -3, f.status);
  CHECK_TF_OK(f.status);
  TF_OperationGetAttrShape(n, "_s", NULL, -3, f.status);
  CHECK_TF_OK(f.status);
  TF_OperationGetAttrShapeList(n, "_l", NULL, NULL, -3, NULL, -3, f.status);
  CHECK_TF_OK(f.status);
  int64_t *dims[1];
  int ranks[1];
  TF_OperationGetAttrShapeList(n, "_l", dims, ranks, 1, NULL, -3, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Not enough storage");
  char name[2];
  CHECK_INT_EQ(TF_OperationGetAttrNameLength(n, -1), -1);
  TF_OperationGetAttrName(n, -1, name, f.status);
  CHECK_TF_ERROR(f.status, TF_OUT_OF_RANGE, "Operation only has 3 attributes, can't get the -1th");
  end(&f);
}

TEST(a_tensor_that_is_too_large_is_an_error) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Operation *c = imported_operation(
      &f,
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value "
      "{"
      " tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4398046511104 } } float_val: 1 } } }"
      " attr { key: '_list' value { list { tensor { dtype: DT_FLOAT tensor_shape { } }"
      " tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4398046511104 } } float_val: 1 } } } } }",
      "c");
  REQUIRE(c);
  TF_Tensor *values[2] = {NULL, NULL};
  TF_OperationGetAttrTensor(c, "value", values, f.status);
  CHECK_TF_ERROR(f.status, TF_RESOURCE_EXHAUSTED, "OOM when allocating tensor");
  CHECK(!values[0]);
  TF_OperationGetAttrTensorList(c, "_list", values, 2, f.status);
  CHECK_TF_ERROR(f.status, TF_RESOURCE_EXHAUSTED, "OOM when allocating tensor");
  CHECK(!values[0] && !values[1]);
  end(&f);
}

/* Constants share long values (base/shared_bytes.h), but not with the program. */
TEST(a_program_may_write_to_the_tensor_of_an_attr) {
  enum { COUNT = 3000 };
  static float numbers[COUNT];
  Fixture f;
  REQUIRE(begin(&f));
  TF_Tensor *value = float_vector(COUNT, numbers);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Const", "c");
  TF_SetAttrTensor(desc, "value", value, f.status);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_Operation *c = finish(&f, desc).oper;
  TF_DeleteTensor(value);
  for (int i = 0; i < 2; i++) {
    TF_OperationGetAttrTensor(c, "value", &value, f.status);
    if (!CHECK_TF_OK(f.status)) break;
    float *data = TF_TensorData(value);
    CHECK(data[COUNT - 1] == 0);
    data[COUNT - 1] = 1;
    TF_DeleteTensor(value);
  }
  end(&f);
}

static bool read_attrs(Fixture *f, TF_Operation *n) {
  TF_Tensor *tensors[2] = {NULL, NULL};
  TF_Buffer *shapes[2] = {NULL, NULL}, *shape = NULL, *value = NULL;
  TF_OperationGetAttrTensorList(n, "_tensors", tensors, 2, f->status);
  if (TF_GetCode(f->status) == TF_OK)
    TF_OperationGetAttrTensorShapeProtoList(n, "_shapes", shapes, 2, f->status);
  if (TF_GetCode(f->status) == TF_OK && (shape = TF_NewBuffer()))
    TF_OperationGetAttrTensorShapeProto(n, "_shape", shape, f->status);
  if (TF_GetCode(f->status) == TF_OK && (value = TF_NewBuffer()))
    TF_OperationGetAttrValueProto(n, "_shapes", value, f->status);
  bool ok = TF_GetCode(f->status) == TF_OK && value;
  for (int i = 0; i < 2; i++) {
    TF_DeleteTensor(tensors[i]);
    TF_DeleteBuffer(shapes[i]);
  }
  TF_DeleteBuffer(shape);
  TF_DeleteBuffer(value);
  return ok;
}

TEST(reading_attrs_without_memory) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Tensor *tensors[] = {float_scalar(1), float_vector(3, (float[]){1, 2, 3})};
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "NoOp", "n");
  TF_SetAttrTensorList(desc, "_tensors", tensors, 2, f.status);
  TF_SetAttrShape(desc, "_shape", (int64_t[]){1, 2}, 2);
  TF_SetAttrShapeList(desc, "_shapes", (const int64_t *[]){(int64_t[]){1, 2}, (int64_t[]){3}}, (int[]){2, 1},
                      2);
  TF_Operation *n = finish(&f, desc).oper;
  bool done = false;
  int failures = 0;
  for (; !done && failures < 1000; failures++) {
    TF_SetStatus(f.status, TF_OK, "");
    mem_fail_after(failures);
    done = read_attrs(&f, n);
    mem_fail_after(-1);
    if (!done && TF_GetCode(f.status) != TF_OK) CHECK_INT_EQ(TF_GetCode(f.status), TF_RESOURCE_EXHAUSTED);
  }
  CHECK(done && failures > 8);
  TF_DeleteTensor(tensors[0]);
  TF_DeleteTensor(tensors[1]);
  end(&f);
}

/* ---- changing them ---- */

static bool attr_is(Fixture *f, TF_Operation *oper, const char *name, int64_t want) {
  int64_t value = -1;
  TF_OperationGetAttrInt(oper, name, &value, f->status);
  return CHECK_TF_OK(f->status) && CHECK_INT_EQ(value, want);
}

/* Nodes of an imported graph may share the memory of attrs. */
TEST(setting_an_attr_changes_one_operation_alone) {
  Fixture f;
  REQUIRE(begin(&f));
  StrBuf text = {0};
  for (int i = 0; i < 100; i++)
    strbuf_printf(&text,
                  "node { name: 'n%d' op: 'NoOp' attr { key: '_level' value { i: 7 } } attr { key: '_more' "
                  "value { i: 8 } } }\n",
                  i);
  imported_operation(&f, strbuf_text(&text), "n0");
  strbuf_free(&text);
  TF_Operation *n5 = TF_GraphOperationByName(f.graph, "n5"), *n6 = TF_GraphOperationByName(f.graph, "n6");
  TF_Buffer *five = TF_NewBufferFromString("\x18\x05", 2), *garbage = TF_NewBufferFromString("\xff\xff", 2);
  TF_SetAttr(f.graph, n5, "_level", five, f.status);
  CHECK_TF_OK(f.status);
  TF_ClearAttr(f.graph, n6, "_level", f.status);
  CHECK_TF_OK(f.status);
  TF_ClearAttr(f.graph, n6, "_never_there", f.status);
  CHECK_TF_OK(f.status);
  TF_SetAttr(f.graph, n6, "_more", garbage, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Unparseable AttrValue proto");
  attr_is(&f, n5, "_level", 5);
  attr_is(&f, n5, "_more", 8);
  attr_is(&f, n6, "_more", 8);
  CHECK_INT_EQ(TF_OperationGetNumAttrs(n6), 1);
  attr_is(&f, TF_GraphOperationByName(f.graph, "n4"), "_level", 7);
  attr_is(&f, TF_GraphOperationByName(f.graph, "n99"), "_level", 7);
  /* The new value is exported. */
  Fixture copy;
  REQUIRE(begin(&copy));
  TF_Buffer *bytes = graph_bytes(&f, f.graph);
  TF_GraphImportGraphDef(copy.graph, bytes, NULL, copy.status);
  CHECK_TF_OK(copy.status);
  attr_is(&copy, TF_GraphOperationByName(copy.graph, "n5"), "_level", 5);
  TF_DeleteBuffer(bytes);
  TF_DeleteBuffer(five);
  TF_DeleteBuffer(garbage);
  end(&copy);
  end(&f);
}

/* An operation whose changed attrs imply other inputs or outputs cannot be run, nor computed during shape
 * inference. */
TEST(operations_whose_types_were_changed_by_an_attr_are_not_run) {
  Fixture f;
  REQUIRE(begin(&f));
  const int64_t four = 4;
  TF_Output axis = constant_of(&f, "axis", tensor_of(TF_INT32, 0, NULL, (int32_t[]){0}, 4));
  TF_Output value = constant_of(&f, "value", tensor_of(TF_FLOAT, 1, &four, (float[]){1, 2, 3, 4}, 16));
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Split", "split");
  TF_AddInput(desc, axis);
  TF_AddInput(desc, value);
  TF_SetAttrInt(desc, "num_split", 1);
  TF_Output split = finish(&f, desc), sum = binary(&f, "Add", "sum", value, value);
  TF_Buffer *outputs = TF_NewBufferFromString("\x18\x04", 2), *type = TF_NewBufferFromString("\x30\x02", 2);
  TF_SetAttr(f.graph, split.oper, "num_split", outputs, f.status);
  CHECK_TF_OK(f.status);
  TF_SetAttr(f.graph, sum.oper, "T", type, f.status);
  CHECK_TF_OK(f.status);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  CHECK(!fetch(&f, session, kNone, NULL, split));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "were changed");
  CHECK(!fetch(&f, session, kNone, NULL, sum));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "were changed");
  TF_Tensor *result = NULL;
  CHECK_INT_EQ(TF_TryEvaluateConstant(f.graph, split, &result, f.status), 0);
  CHECK_INT_EQ(TF_TryEvaluateConstant(f.graph, sum, &result, f.status), 0);
  CHECK(!result);
  unary(&f, "Shape", "shape", split);
  TF_DeleteSession(session, f.status);
  TF_DeleteBuffer(outputs);
  TF_DeleteBuffer(type);
  end(&f);
}

TEST(operations_of_other_graphs_are_left_alone) {
  Fixture f = {0}, other = {0};
  REQUIRE(begin(&f) && begin(&other));
  TF_Output x = placeholder(&f, "x"), y = unary(&f, "Neg", "y", x), foreign = placeholder(&other, "x");
  TF_Buffer *five = TF_NewBufferFromString("\x18\x05", 2);
  TF_SetAttr(f.graph, foreign.oper, "_a", five, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  TF_ClearAttr(f.graph, foreign.oper, "dtype", f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  TF_UpdateEdge(f.graph, foreign, (TF_Input){y.oper, 0}, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  TF_UpdateEdge(f.graph, x, (TF_Input){foreign.oper, 0}, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  TF_UpdateEdge(f.graph, kNone, (TF_Input){y.oper, 0}, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Node is null");
  TF_UpdateEdge(f.graph, (TF_Output){x.oper, -1}, (TF_Input){y.oper, 0}, f.status);
  CHECK_TF_ERROR(f.status, TF_OUT_OF_RANGE, "Output index [-1]");
  TF_UpdateEdge(f.graph, x, (TF_Input){y.oper, -1}, f.status);
  CHECK_TF_ERROR(f.status, TF_OUT_OF_RANGE, "Input index [-1]");
  TF_AddOperationControlInput(f.graph, y.oper, foreign.oper);
  TF_AddOperationControlInput(f.graph, foreign.oper, y.oper);
  TF_RemoveAllControlInputs(f.graph, foreign.oper);
  TF_SetRequestedDevice(f.graph, foreign.oper, "/cpu:0");
  CHECK_INT_EQ(TF_OperationNumControlInputs(y.oper), 0);
  CHECK_STR_EQ(TF_OperationDevice(foreign.oper), "");
  CHECK_INT_EQ(TF_OperationGetNumAttrs(foreign.oper), 2);
  TF_Tensor *result;
  CHECK_INT_EQ(TF_TryEvaluateConstant(f.graph, foreign, &result, f.status), 0);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  TF_DeleteBuffer(five);
  end(&other);
  end(&f);
}

TEST(a_session_runs_the_graph_as_it_was_changed) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output one = constant(&f, "one", 1), ten = constant(&f, "ten", 10), y = unary(&f, "Neg", "y", one);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, y), -1, 0);
  TF_UpdateEdge(f.graph, ten, (TF_Input){y.oper, 0}, f.status);
  CHECK_TF_OK(f.status);
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, y), -10, 0);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Placeholder", "int");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_UpdateEdge(f.graph, finish(&f, desc), (TF_Input){y.oper, 0}, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  CHECK_NEAR(fetch_float(&f, session, kNone, NULL, y), -10, 0);
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(ops_without_a_shape_function_can_be_allowed) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("Shapeless");
  TF_OpDefinitionBuilderAddOutput(builder, "y: float");
  TF_RegisterOpDefinition(builder, f.status);
  CHECK_TF_OK(f.status);
  CHECK(!TF_FinishOperation(TF_NewOperation(f.graph, "Shapeless", "a"), f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "No shape inference function exists for op 'Shapeless'");
  TF_SetRequireShapeInferenceFns(f.graph, false);
  TF_Output a = op(&f, "Shapeless", "a", 0, NULL);
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, a, f.status), -1);
  TF_SetRequireShapeInferenceFns(f.graph, true);
  CHECK(!TF_FinishOperation(TF_NewOperation(f.graph, "Shapeless", "b"), f.status));
  end(&f);
  op_registry_clear(op_registry_global());
}

/* Shapes inferred from the old source are dropped. */
TEST(shapes_follow_an_input_that_was_changed) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output known = placeholder_of(&f, "known", TF_FLOAT, 1, (int64_t[]){2}),
            any = placeholder_of(&f, "any", TF_FLOAT, 1, (int64_t[]){-1});
  TF_Output y = unary(&f, "Neg", "y", known), z = unary(&f, "Exp", "z", y),
            shape = unary(&f, "Shape", "shape", z);
  TF_UpdateEdge(f.graph, any, (TF_Input){y.oper, 0}, f.status);
  CHECK_TF_OK(f.status);
  int64_t dim = 0;
  TF_GraphGetTensorShape(f.graph, z, &dim, 1, f.status);
  CHECK_INT_EQ(dim, -1);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  TF_Tensor *value = float_vector(3, (float[]){1, 2, 3}), *result = fetch(&f, session, any, value, shape);
  if (CHECK_TF_OK(f.status)) CHECK_INT_EQ(*(int32_t *)TF_TensorData(result), 3);
  TF_DeleteTensor(value);
  TF_DeleteTensor(result);
  TF_DeleteSession(session, f.status);

  /* A consumer of the changed operation that does not accept the new shape. */
  TF_Output matrix = placeholder_of(&f, "matrix", TF_FLOAT, -1, NULL),
            open = unary(&f, "Neg", "open", matrix);
  TF_Output product = binary(&f, "MatMul", "product", open, open);
  TF_UpdateEdge(f.graph, any, (TF_Input){open.oper, 0}, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Shape must be rank 2 but is rank 1");
  CHECK(TF_OperationInput((TF_Input){open.oper, 0}).oper == matrix.oper);
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, open, f.status), -1);
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, product, f.status), 2);
  end(&f);
}

static void change(Fixture *f, int what, TF_Output from, TF_Output to, TF_Buffer *value) {
  if (what == 0) TF_UpdateEdge(f->graph, from, (TF_Input){to.oper, 0}, f->status);
  if (what == 1) TF_SetAttr(f->graph, to.oper, "_a", value, f->status);
  if (what == 2) TF_SetAttr(f->graph, to.oper, "_b", value, f->status);
}

TEST(changes_without_memory_are_none) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 1, (int64_t[]){2}),
            x2 = placeholder_of(&f, "x2", TF_FLOAT, 1, (int64_t[]){2});
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Neg", "y");
  TF_AddInput(desc, x);
  TF_SetAttrInt(desc, "_b", 1);
  TF_Output y = finish(&f, desc);
  for (int i = 0; i < 20; i++) {
    char name[20];
    snprintf(name, sizeof name, "z%d", i);
    unary(&f, "Exp", name, y);
  }
  TF_Buffer *value = TF_NewBufferFromString("\x0a\x05\x12\x03\x61\x62\x63", 7); /* a list of one string */
  for (int what = 0; what < 3; what++) {
    bool done = false;
    int failures = 0;
    for (; !done && failures < 1000; failures++) {
      CHECK_CONTEXT("change %d after %d allocations", what, failures);
      TF_Buffer *before = graph_bytes(&f, f.graph);
      mem_fail_after(failures);
      change(&f, what, x2, y, value);
      mem_fail_after(-1);
      done = TF_GetCode(f.status) == TF_OK;
      if (!done) {
        CHECK_INT_EQ(TF_GetCode(f.status), TF_RESOURCE_EXHAUSTED);
        TF_Buffer *after = graph_bytes(&f, f.graph);
        if (CHECK_INT_EQ(after->length, before->length))
          CHECK_MEM_EQ(after->data, before->data, before->length);
        TF_DeleteBuffer(after);
      }
      TF_DeleteBuffer(before);
    }
    CHECK(done);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(TF_OperationInput((TF_Input){y.oper, 0}).oper == x2.oper);
  TF_DeleteBuffer(value);
  end(&f);
}

/* ---- constants ---- */

static TF_Tensor *constant_value(Fixture *f, TF_Output output) {
  TF_Tensor *result = NULL;
  unsigned char known = TF_TryEvaluateConstant(f->graph, output, &result, f->status);
  CHECK_INT_EQ(known, result != NULL);
  CHECK_TF_OK(f->status);
  return result;
}

TEST(constants_are_found_through_any_number_of_operations) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output one = constant(&f, "one", 1), sum = one;
  for (int i = 0; i < 3000; i++) {
    char name[20];
    snprintf(name, sizeof name, "sum%d", i);
    sum = binary(&f, "Add", name, sum, one);
  }
  TF_Tensor *value = constant_value(&f, sum);
  if (CHECK(value)) CHECK_NEAR(*(float *)TF_TensorData(value), 3001, 0);
  TF_DeleteTensor(value);
  end(&f);
}

TEST(only_constants_are_constant) {
  Fixture f;
  REQUIRE(begin(&f));
  /* Too large for shape inference. */
  float many[5000];
  for (int i = 0; i < 5000; i++) many[i] = (float)i;
  TF_Output big = constant_of(&f, "big", float_vector(5000, many)), two = constant(&f, "two", 2);
  TF_Output doubled = binary(&f, "Mul", "doubled", big, two);
  TF_Tensor *value = constant_value(&f, doubled);
  if (CHECK(value) && CHECK_INT_EQ(TF_TensorElementCount(value), 5000))
    CHECK_NEAR(((float *)TF_TensorData(value))[4999], 9998, 0);
  TF_DeleteTensor(value);
  /* The shape is known although the value is not. */
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 2, (int64_t[]){3, 4});
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Shape", "shape");
  TF_AddInput(desc, x);
  value = constant_value(&f, finish(&f, desc));
  if (CHECK(value)) CHECK_INT_EQ(((int32_t *)TF_TensorData(value))[1], 4);
  TF_DeleteTensor(value);
  CHECK(!constant_value(&f, x));
  CHECK(!constant_value(&f, binary(&f, "Add", "open", x, two)));
  CHECK(!constant_value(&f, variable(&f, "v", 0, NULL)));
  CHECK(!constant_value(&f, read_variable(&f, "r",
                                          TF_GraphOperationByName(f.graph, "v")
                                              ? (TF_Output){TF_GraphOperationByName(f.graph, "v"), 0}
                                              : kNone)));
  /* A value that cannot be computed is unknown. */
  TF_Output three = constant_of(&f, "three", float_vector(3, many)), unknown = placeholder(&f, "unknown");
  CHECK(!constant_value(&f, binary(&f, "Add", "mixed", three, unknown)));
  TF_Tensor *result;
  CHECK_INT_EQ(TF_TryEvaluateConstant(f.graph, (TF_Output){two.oper, 1}, &result, f.status), 0);
  CHECK_TF_ERROR(f.status, TF_OUT_OF_RANGE, "does not have output 1");
  CHECK_INT_EQ(TF_TryEvaluateConstant(f.graph, kNone, &result, f.status), 0);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Node is null");
  end(&f);
}

TEST(constants_without_memory) {
  Fixture f;
  REQUIRE(begin(&f));
  float many[400] = {3};
  TF_Output a = constant_of(&f, "a", float_vector(400, many));
  TF_Output y = binary(&f, "Mul", "y", unary(&f, "Neg", "n", a), a);
  TF_Tensor *result = NULL;
  int failures = 0;
  for (; !result && failures < 1000; failures++) {
    mem_fail_after(failures);
    unsigned char known = TF_TryEvaluateConstant(f.graph, y, &result, f.status);
    mem_fail_after(-1);
    CHECK_INT_EQ(known, result != NULL);
    if (!known) CHECK_INT_EQ(TF_GetCode(f.status), TF_RESOURCE_EXHAUSTED);
  }
  CHECK(failures > 5);
  if (CHECK(result)) CHECK_NEAR(*(float *)TF_TensorData(result), -9, 0);
  TF_DeleteTensor(result);
  end(&f);
}
