/* Every kind of attr, set through its TF_SetAttr* and read back as a proto. This library's ops such as Const
 * and Placeholder declare some kinds; attrs whose name begins with '_' may have any kind, so they are used
 * for the rest. */
#include <math.h>
#include <stdio.h>

#include "c_api/c_api_fixture.h"
#include "proto/proto.h"

typedef struct Reader {
  Fixture f;
  Arena *arena;
  TF_OperationDescription *desc;
  TF_Operation *oper;
} Reader;

static bool begin_attrs(Reader *r) {
  if (!begin(&r->f)) return false;
  r->arena = arena_new();
  r->desc = TF_NewOperation(r->f.graph, "NoOp", "node");
  return CHECK(r->arena && r->desc);
}

static void end_attrs(Reader *r) {
  arena_free(r->arena);
  end(&r->f);
}

/* The attr, or an empty value when it cannot be read. */
static const AttrValue *read_attr(Reader *r, const char *name) {
  static const AttrValue nothing = TENSORFLOW__ATTR_VALUE__INIT;
  Status status;
  status_init(&status);
  void *value;
  TF_Buffer *bytes = TF_NewBuffer();
  TF_OperationGetAttrValueProto(r->oper, name, bytes, r->f.status);
  bool ok = CHECK_TF_OK(r->f.status) &&
            CHECK_OK(proto_parse(kAttrValue, bytes->data, bytes->length, r->arena, &value, &status), status);
  TF_DeleteBuffer(bytes);
  return ok ? value : &nothing;
}

/* The attr as text format. */
static bool attr_is(Reader *r, const char *name, const char *want) {
  StrBuf text = {0};
  proto_print_text(read_attr(r, name), PROTO_TEXT_SHORT, &text);
  CHECK_CONTEXT("attr %s", name);
  bool same = CHECK_STR_EQ(strbuf_text(&text), want);
  CHECK_CONTEXT("%s", "");
  strbuf_free(&text);
  return same;
}

TEST(single_values) {
  Reader r;
  REQUIRE(begin_attrs(&r));
  char bytes[] = {'a', 0, 'b', (char)0xff};
  TF_SetAttrString(r.desc, "_s", bytes, sizeof bytes);
  TF_SetAttrString(r.desc, "_empty", NULL, 0);
  TF_SetAttrInt(r.desc, "_i", INT64_MIN);
  TF_SetAttrFloat(r.desc, "_f", 0.5f);
  TF_SetAttrBool(r.desc, "_b", 255);
  TF_SetAttrBool(r.desc, "_b0", 0);
  TF_SetAttrType(r.desc, "_t", TF_COMPLEX128);
  TF_SetAttrPlaceholder(r.desc, "_p", "T");
  TF_SetAttrFuncName(r.desc, "_func", "MyFunction", 2);
  TF_SetAttrShape(r.desc, "_unknown", NULL, -1);
  TF_SetAttrShape(r.desc, "_scalar", NULL, 0);
  TF_SetAttrShape(r.desc, "_shape", (int64_t[]){2, -1, 0}, 3);
  bytes[0] = 'x'; /* it was copied */
  r.oper = finish(&r.f, r.desc).oper;
  REQUIRE(r.oper);
  const AttrValue *s = read_attr(&r, "_s");
  if (CHECK_INT_EQ(s->value_case, ATTR_STRING) && CHECK_INT_EQ(s->s.len, 4))
    CHECK_MEM_EQ(s->s.data, "a\0b\xff", 4);
  attr_is(&r, "_empty", "s: \"\"");
  attr_is(&r, "_i", "i: -9223372036854775808");
  attr_is(&r, "_f", "f: 0.5");
  attr_is(&r, "_b", "b: true");
  attr_is(&r, "_b0", "b: false");
  attr_is(&r, "_t", "type: DT_COMPLEX128");
  attr_is(&r, "_p", "placeholder: \"T\"");
  attr_is(&r, "_func", "func { name: \"My\" }");
  attr_is(&r, "_unknown", "shape { unknown_rank: true }");
  attr_is(&r, "_scalar", "shape { }");
  attr_is(&r, "_shape", "shape { dim { size: 2 } dim { size: -1 } dim { } }");
  end_attrs(&r);
}

TEST(lists) {
  Reader r;
  REQUIRE(begin_attrs(&r));
  const int64_t a[] = {1, -1}, b[] = {5};
  TF_SetAttrStringList(r.desc, "_s", (const void *[]){"one", "", "three"}, (size_t[]){3, 0, 2}, 3);
  TF_SetAttrIntList(r.desc, "_i", (int64_t[]){1, INT64_MAX}, 2);
  TF_SetAttrFloatList(r.desc, "_f", (float[]){1.5f, INFINITY}, 2);
  TF_SetAttrBoolList(r.desc, "_b", (unsigned char[]){1, 0, 7}, 3);
  TF_SetAttrTypeList(r.desc, "_t", (TF_DataType[]){TF_FLOAT, TF_STRING}, 2);
  TF_SetAttrShapeList(r.desc, "_shapes", (const int64_t *[]){a, NULL, b}, (int[]){2, -1, 1}, 3);
  TF_SetAttrStringList(r.desc, "_s0", NULL, NULL, 0);
  TF_SetAttrIntList(r.desc, "_i0", NULL, 0);
  TF_SetAttrFloatList(r.desc, "_f0", NULL, 0);
  TF_SetAttrBoolList(r.desc, "_b0", NULL, 0);
  TF_SetAttrTypeList(r.desc, "_t0", NULL, 0);
  TF_SetAttrShapeList(r.desc, "_shapes0", NULL, NULL, 0);
  TF_SetAttrTensorList(r.desc, "_tensors0", NULL, 0, r.f.status);
  CHECK_TF_OK(r.f.status);
  r.oper = finish(&r.f, r.desc).oper;
  REQUIRE(r.oper);
  attr_is(&r, "_s", "list { s: \"one\" s: \"\" s: \"th\" }");
  attr_is(&r, "_i", "list { i: 1 i: 9223372036854775807 }");
  attr_is(&r, "_f", "list { f: 1.5 f: inf }");
  attr_is(&r, "_b", "list { b: true b: false b: true }");
  attr_is(&r, "_t", "list { type: DT_FLOAT type: DT_STRING }");
  attr_is(&r, "_shapes",
          "list { shape { dim { size: 1 } dim { size: -1 } } shape { unknown_rank: true } shape { dim { "
          "size: 5 } } }");
  static const char *const empty[] = {"_s0", "_i0", "_f0", "_b0", "_t0", "_shapes0", "_tensors0"};
  for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) attr_is(&r, empty[i], "list { }");
  end_attrs(&r);
}

TEST(tensors) {
  Reader r;
  REQUIRE(begin_attrs(&r));
  TF_Tensor *one = float_scalar(2), *two = float_vector(2, (float[]){1, 3});
  TF_SetAttrTensor(r.desc, "_tensor", one, r.f.status);
  CHECK_TF_OK(r.f.status);
  TF_SetAttrTensorList(r.desc, "_tensors", (TF_Tensor *[]){one, two}, 2, r.f.status);
  CHECK_TF_OK(r.f.status);
  *(float *)TF_TensorData(one) = 9; /* they were copied */
  TF_DeleteTensor(one);
  TF_DeleteTensor(two);
  r.oper = finish(&r.f, r.desc).oper;
  REQUIRE(r.oper);
  attr_is(&r, "_tensor", "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 }");
  const AttrValue *list = read_attr(&r, "_tensors");
  if (CHECK(list->value_case == (int)ATTR_LIST) && CHECK_INT_EQ(list->list->n_tensor, 2)) {
    CHECK_INT_EQ(list->list->tensor[1]->dtype, TF_FLOAT);
    CHECK_INT_EQ(list->list->tensor[1]->tensor_shape->dim[0]->size, 2);
    CHECK_MEM_EQ(list->list->tensor[1]->tensor_content.data, ((float[]){1, 3}), 8);
  }
  end_attrs(&r);
}

TEST(serialised_values) {
  Reader r;
  REQUIRE(begin_attrs(&r));
  Status status;
  status_init(&status);
  StrBuf bytes = {0};
  CHECK_OK(proto_serialize(attr_value_int_list(r.arena, (int64_t[]){4, 5}, 2), &bytes, &status), status);
  TF_SetAttrValueProto(r.desc, "_list", bytes.data, (size_t)bytes.length, r.f.status);
  CHECK_TF_OK(r.f.status);
  TF_SetAttrValueProto(r.desc, "_cut", bytes.data, (size_t)bytes.length - 1, r.f.status);
  CHECK_TF_ERROR(r.f.status, TF_INVALID_ARGUMENT, "AttrValue");
  TF_SetAttrValueProto(r.desc, "_nothing", NULL, 0, r.f.status);
  CHECK_TF_OK(r.f.status);
  strbuf_free(&bytes);
  r.oper = finish(&r.f, r.desc).oper;
  REQUIRE(r.oper);
  attr_is(&r, "_list", "list { i: 4 i: 5 }");
  attr_is(&r, "_nothing", "");
  TF_Buffer *none = TF_NewBuffer();
  TF_OperationGetAttrValueProto(r.oper, "_cut", none, r.f.status);
  CHECK_TF_ERROR(r.f.status, TF_INVALID_ARGUMENT, "Operation 'node' has no attr named '_cut'.");
  CHECK(!none->data);
  TF_DeleteBuffer(none);
  end_attrs(&r);
}

TEST(attrs_that_the_op_declares_are_checked_and_completed) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x");
  Reader r = {.f = f, .arena = arena_new()};
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "MatMul", "product");
  TF_AddInput(desc, x);
  TF_AddInput(desc, x);
  TF_SetAttrBool(desc, "transpose_b", 1);
  r.oper = finish(&f, desc).oper;
  attr_is(&r, "T", "type: DT_FLOAT");
  attr_is(&r, "transpose_a", "b: false");
  attr_is(&r, "transpose_b", "b: true");
  static const struct {
    const char *attr;
    TF_DataType value;
    const char *message;
  } cases[] = {
      {"DstT", TF_RESOURCE, NULL},
      {"DstT", (TF_DataType)0, "DstT"},
      {"DstT", (TF_DataType)1000, "DstT"},
      {"DstT", (TF_DataType)101, "DstT"},
      {"SrcT", TF_INT32, "Inconsistent values for attr 'SrcT' DT_FLOAT vs. DT_INT32"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    char name[16];
    snprintf(name, sizeof name, "cast%d", (int)i);
    desc = TF_NewOperation(f.graph, "Cast", name);
    TF_AddInput(desc, x);
    TF_SetAttrType(desc, cases[i].attr, cases[i].value);
    TF_Operation *cast = TF_FinishOperation(desc, f.status);
    if (cases[i].message) {
      CHECK(!cast);
      CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, cases[i].message);
    } else {
      CHECK(cast);
    }
  }
  CHECK_CONTEXT("%s", "");
  desc = TF_NewOperation(f.graph, "Cast", "lacking");
  TF_AddInput(desc, x);
  CHECK(!TF_FinishOperation(desc, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "NodeDef missing attr 'DstT' from Op<name=Cast;");
  desc = TF_NewOperation(f.graph, "Placeholder", "shaped");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", (int64_t[]){2, -2}, 2);
  CHECK(!TF_FinishOperation(desc, f.status));
  CHECK_INT_EQ(TF_GetCode(f.status), TF_INVALID_ARGUMENT);
  arena_free(r.arena);
  end(&f);
}

TEST(a_const_without_a_value_or_with_another_type_is_refused) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Const", "c");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  CHECK(!TF_FinishOperation(desc, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "NodeDef missing attr 'value'");
  /* An uninitialised resource is the only one that a TensorProto can represent. */
  TF_Tensor *handle = TF_AllocateTensor(TF_RESOURCE, NULL, 0, 8);
  desc = TF_NewOperation(f.graph, "Const", "c");
  TF_SetAttrType(desc, "dtype", TF_RESOURCE);
  TF_SetAttrTensor(desc, "value", handle, f.status);
  CHECK_INT_EQ(TF_GetCode(f.status), TF_OK);
  TF_SetAttrTensorList(desc, "_values", &handle, 1, f.status);
  CHECK_INT_EQ(TF_GetCode(f.status), TF_OK);
  CHECK(TF_FinishOperation(desc, f.status));
  TF_DeleteTensor(handle);
  end(&f);
}

/* ---- colocation ---- */

static void colocated_with(Fixture *f, TF_OperationDescription *desc, const char *want) {
  Reader r = {.f = *f, .arena = arena_new()};
  r.oper = finish(f, desc).oper;
  if (want) {
    attr_is(&r, "_class", want);
  } else {
    TF_Buffer *none = TF_NewBuffer();
    TF_OperationGetAttrValueProto(r.oper, "_class", none, f->status);
    CHECK_INT_EQ(TF_GetCode(f->status), TF_INVALID_ARGUMENT);
    TF_DeleteBuffer(none);
  }
  arena_free(r.arena);
}

TEST(colocations_are_sorted_and_kept_once) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output a = constant(&f, "a", 1), b = constant(&f, "b", 1);
  const char *strings[] = {"loc:@b", "loc:@a", "loc:@b"};
  const size_t lengths[] = {6, 6, 6};
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "NoOp", "by_call");
  TF_ColocateWith(desc, b.oper);
  TF_ColocateWith(desc, a.oper);
  TF_ColocateWith(desc, b.oper);
  colocated_with(&f, desc, "list { s: \"loc:@a\" s: \"loc:@b\" }");
  desc = TF_NewOperation(f.graph, "NoOp", "by_attr");
  TF_SetAttrStringList(desc, "_class", (const void *const *)strings, lengths, 3);
  colocated_with(&f, desc, "list { s: \"loc:@a\" s: \"loc:@b\" }");
  /* The attr replaces earlier settings, and later ones are added to it. */
  desc = TF_NewOperation(f.graph, "NoOp", "cleared");
  TF_ColocateWith(desc, a.oper);
  TF_SetAttrStringList(desc, "_class", NULL, NULL, 0);
  colocated_with(&f, desc, NULL);
  desc = TF_NewOperation(f.graph, "NoOp", "replaced");
  TF_ColocateWith(desc, a.oper);
  TF_SetAttrStringList(desc, "_class", (const void *const *)strings, lengths, 1);
  colocated_with(&f, desc, "list { s: \"loc:@b\" }");
  desc = TF_NewOperation(f.graph, "NoOp", "joined");
  TF_SetAttrStringList(desc, "_class", (const void *const *)strings, lengths, 1);
  TF_ColocateWith(desc, a.oper);
  colocated_with(&f, desc, "list { s: \"loc:@a\" s: \"loc:@b\" }");
  end(&f);
}
