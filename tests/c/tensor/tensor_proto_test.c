#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "tensor/tensor.h"

static Arena *arena;
static Status status;

static TensorProto *parse(const char *text) {
  void *proto = NULL;
  status_init(&status);
  CHECK_OK(proto_parse_text(kTensorProto, str_of(text), arena, &proto, &status), status);
  return proto;
}

static const char *print_proto(const TensorProto *proto, int64_t max_entries) {
  StrBuf out = {0};
  tensor_proto_print(proto, max_entries, &out);
  const char *text = arena_strdup(arena, strbuf_text(&out));
  strbuf_free(&out);
  return text;
}

TEST(values_and_content_become_tensors) {
  static const struct {
    const char *proto, *tensor;
  } cases[] = {
      {"dtype: DT_FLOAT float_val: 2.5", "float shape: [] values: 2.5"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [1, 2]", "float shape: [2] values: 1 2"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 4 } } float_val: [1, 2]",
       "float shape: [4] values: 1 2 2 2"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: 7", "float shape: [3] values: 7 7 7"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 3 } }", "float shape: [3] values: 0 0 0"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [1, 2, 3]",
       "float shape: [2] values: 1 2"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 0 } } float_val: [1, 2, 3]", "float shape: [0] values: "},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 0 } } tensor_content: 'abc'", "float shape: [0] values: "},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: '\\0\\0\\200\\077\\0\\0\\0\\300' "
       "float_val: 9",
       "float shape: [2] values: 1 -2"},
      {"dtype: DT_DOUBLE tensor_shape { dim { size: 2 } } double_val: 0.1",
       "double shape: [2] values: 0.1 0.1"},
      {"dtype: DT_INT32 int_val: -3", "int32 shape: [] values: -3"},
      {"dtype: DT_INT8 int_val: -3", "int8 shape: [] values: -3"},
      {"dtype: DT_INT16 tensor_shape { dim { size: 2 } } int_val: -300",
       "int16 shape: [2] values: -300 -300"},
      {"dtype: DT_UINT8 int_val: 255", "uint8 shape: [] values: 255"},
      {"dtype: DT_UINT16 int_val: 65535", "uint16 shape: [] values: 65535"},
      {"dtype: DT_QINT8 int_val: -3", "qint8 shape: [] values: -3"},
      {"dtype: DT_QUINT8 int_val: 3", "quint8 shape: [] values: 3"},
      {"dtype: DT_QINT32 int_val: -3", "qint32 shape: [] values: ?"},
      {"dtype: DT_QINT16 int_val: -3", "qint16 shape: [] values: -3"},
      {"dtype: DT_QUINT16 int_val: 3", "quint16 shape: [] values: 3"},
      {"dtype: DT_INT64 int64_val: -9223372036854775808", "int64 shape: [] values: -9223372036854775808"},
      {"dtype: DT_UINT32 uint32_val: 4294967295", "uint32 shape: [] values: 4294967295"},
      {"dtype: DT_UINT64 uint64_val: 18446744073709551615", "uint64 shape: [] values: 18446744073709551615"},
      {"dtype: DT_BOOL tensor_shape { dim { size: 3 } } bool_val: [false, true]",
       "bool shape: [3] values: 0 1 1"},
      {"dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: '\\1\\0'",
       "bool shape: [2] values: 1 0"},
      {"dtype: DT_HALF half_val: 15360", "half shape: [] values: 1"},
      {"dtype: DT_BFLOAT16 tensor_shape { dim { size: 2 } } half_val: 16256",
       "bfloat16 shape: [2] values: 1 1"},
      {"dtype: DT_COMPLEX64 tensor_shape { dim { size: 2 } } scomplex_val: [1, -2]",
       "complex64 shape: [2] values: ? ?"},
      {"dtype: DT_COMPLEX64 tensor_shape { dim { size: 1 } } scomplex_val: [1]",
       "complex64 shape: [1] values: ?"},
      {"dtype: DT_COMPLEX128 dcomplex_val: [0.5, 1]", "complex128 shape: [] values: ?"},
      {"dtype: DT_STRING tensor_shape { dim { size: 3 } } string_val: ['a', 'b\\n']",
       "string shape: [3] values: a b\\n b\\n"},
      {"dtype: DT_STRING tensor_shape { dim { size: 2 } }", "string shape: [2] values:  "},
      {"dtype: DT_STRING tensor_shape { dim { size: 3 } } tensor_content: '\\1\\0\\2abc'",
       "string shape: [3] values: a  bc"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s", cases[i].proto);
    arena = arena_new();
    TensorProto *proto = parse(cases[i].proto), *again = NULL;
    const char *want = arena_printf(arena, "Tensor<type: %s>", cases[i].tensor);
    Tensor tensor = {0};
    StrBuf out = {0};
    CHECK_OK(tensor_proto_validate(proto, &status), status);
    if (CHECK_OK(tensor_from_proto(proto, &tensor, &status), status)) {
      tensor_print(&tensor, -1, &out);
      CHECK_STR_EQ(strbuf_text(&out), want);
      CHECK_STR_EQ(print_proto(proto, -1), want);
      REQUIRE_OK(tensor_to_proto(&tensor, arena, &again, &status), status);
      CHECK_STR_EQ(print_proto(again, -1), want);
      CHECK(tensor_proto_equal(proto, again) && tensor_proto_equal(again, proto));
      bool has_content = tensor_num_elements(&tensor) > 1 && tensor.dtype != DT_STRING;
      CHECK_INT_EQ(again->tensor_content.len, has_content ? tensor_bytes(&tensor) : 0);
    }
    strbuf_free(&out);
    tensor_clear(&tensor);
    arena_free(arena);
  }
}

TEST(single_elements_go_into_the_val_field) {
  arena = arena_new();
  TensorProto *proto = NULL;
  Tensor tensor = {0};
  StrBuf out = {0};
  REQUIRE_OK(tensor_allocate_dims(&tensor, DT_INT8, 1, (const int64_t[]){1}, NULL, &status), status);
  *(int8_t *)tensor.data = -5;
  REQUIRE_OK(tensor_to_proto(&tensor, arena, &proto, &status), status);
  proto_print_text(proto, PROTO_TEXT_SHORT, &out);
  CHECK_STR_EQ(strbuf_text(&out), "dtype: DT_INT8 tensor_shape { dim { size: 1 } } int_val: -5");
  REQUIRE_OK(tensor_allocate_dims(&tensor, DT_HALF, 0, NULL, NULL, &status), status);
  *(uint16_t *)tensor.data = 0xbc00;
  REQUIRE_OK(tensor_to_proto(&tensor, arena, &proto, &status), status);
  strbuf_clear(&out);
  proto_print_text(proto, PROTO_TEXT_SHORT, &out);
  CHECK_STR_EQ(strbuf_text(&out), "dtype: DT_HALF tensor_shape { } half_val: 48128");
  strbuf_free(&out);
  tensor_clear(&tensor);
  arena_free(arena);
}

TEST(what_is_no_tensor_is_refused) {
  static const struct {
    const char *proto, *error;
  } cases[] = {
      {"", "invalid dtype 0"},
      {"dtype: 101 float_val: 1", "invalid dtype 101"},
      {"dtype: 55", "invalid dtype 55"},
      {"dtype: DT_RESOURCE resource_handle_val { name: 'x' }", "elements of type resource"},
      {"dtype: DT_VARIANT variant_val { type_name: 'x' }", "elements of type variant"},
      {"dtype: DT_VARIANT tensor_content: '\\0'", "elements of type variant"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: -1 } }", "Shape [?] is not fully defined"},
      {"dtype: DT_FLOAT tensor_shape { unknown_rank: true }", "Shape <unknown> is not fully defined"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }", "is too large"},
      {"dtype: DT_INT16 tensor_shape { dim { size: 9223372036854775807 } }", "more than 2**63 - 1 bytes"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abcdefg'",
       "tensor_content has 7 bytes, but 2 elements of type float take 8"},
      {"dtype: DT_FLOAT tensor_content: 'abcde'",
       "tensor_content has 5 bytes, but 1 elements of type float take 4"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 500000000000000000 } } tensor_content: 'abcd'",
       "tensor_content has 4 bytes"},
      {"dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: '\\0\\2'", "neither 0 nor 1"},
      {"dtype: DT_STRING tensor_shape { dim { size: 3 } } tensor_content: '\\1\\0\\3abc'",
       "length of its strings"},
      {"dtype: DT_STRING tensor_shape { dim { size: 3 } } tensor_content: '\\1\\0\\1abc'",
       "length of its strings"},
      {"dtype: DT_STRING tensor_shape { dim { size: 3 } } tensor_content: '\\1\\0'",
       "lengths of the strings"},
      {"dtype: DT_STRING tensor_shape { dim { size: 1 } } tensor_content: '\\377\\377\\377\\377\\377\\377'",
       "lengths of the strings"},
      {"dtype: DT_STRING tensor_shape { dim { size: 384307168202282325 } } tensor_content: '\\1a'",
       "lengths of the strings"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s", cases[i].proto);
    arena = arena_new();
    TensorProto *proto = parse(cases[i].proto);
    Tensor tensor = {0};
    CHECK_ERROR(tensor_from_proto(proto, &tensor, &status), status, CODE_INVALID_ARGUMENT, cases[i].error);
    CHECK_ERROR(tensor_proto_validate(proto, &status), status, CODE_INVALID_ARGUMENT, cases[i].error);
    CHECK(tensor_is_empty(&tensor));
    CHECK(strncmp(print_proto(proto, 3), "<Invalid TensorProto: ", 21) == 0);
    arena_free(arena);
  }
  arena = arena_new();
  CHECK_STR_EQ(print_proto(parse("dtype: DT_FLOAT tensor_content: 'a'"), 3),
               "<Invalid TensorProto: dtype: DT_FLOAT tensor_content: \"a\">");
  Tensor tensor = {0};
  TensorProto *proto = NULL;
  CHECK_ERROR(tensor_to_proto(&tensor, arena, &proto, &status), status, CODE_INVALID_ARGUMENT,
              "cannot be put into a TensorProto");
  REQUIRE_OK(tensor_allocate_dims(&tensor, DT_VARIANT, 0, NULL, NULL, &status), status);
  static TensorObject object = {1, NULL};
  *(TensorObject **)tensor.data = &object;
  CHECK_ERROR(tensor_to_proto(&tensor, arena, &proto, &status), status, CODE_INVALID_ARGUMENT,
              "A tensor of type variant cannot be");
  *(TensorObject **)tensor.data = NULL;
  tensor_clear(&tensor);
  arena_free(arena);
}

/* Only uninitialised objects can be encoded. */
TEST(uninitialised_objects) {
  static const char *const protos[] = {"dtype: DT_RESOURCE tensor_shape { }",
                                       "dtype: DT_VARIANT tensor_shape { dim { size: 3 } }",
                                       "dtype: DT_RESOURCE tensor_shape { dim { } dim { size: 4 } }"};
  static const char *const texts[] = {"Tensor<type: resource shape: [] values: ?>",
                                      "Tensor<type: variant shape: [3] values: ? ? ?>",
                                      "Tensor<type: resource shape: [0,4] values: >"};
  arena = arena_new();
  for (int i = 0; i < 3; i++) {
    CHECK_CONTEXT("%s", protos[i]);
    Tensor tensor = {0};
    TensorProto *again = NULL, *proto = parse(protos[i]);
    StrBuf out = {0};
    REQUIRE_OK(tensor_from_proto(proto, &tensor, &status), status);
    for (int64_t n = 0; n < tensor_num_elements(&tensor); n++) CHECK(!((TensorObject **)tensor.data)[n]);
    CHECK_STR_EQ(print_proto(proto, -1), texts[i]);
    REQUIRE_OK(tensor_to_proto(&tensor, arena, &again, &status), status);
    CHECK(tensor_proto_equal(proto, again));
    proto_print_text(again, PROTO_TEXT_SHORT, &out);
    CHECK_STR_EQ(strbuf_text(&out), protos[i]);
    strbuf_free(&out);
    tensor_clear(&tensor);
  }
  arena_free(arena);
}

/* A thousand million bytes of strings, all of them the same. */
TEST(long_strings_that_repeat_share_their_bytes) {
  arena = arena_new();
  enum { LENGTH = 1 << 20, COUNT = 1000 };
  TensorProto *proto =
      parse("dtype: DT_STRING tensor_shape { dim { size: 1000 } } string_val: ['first', 'x']");
  uint8_t *bytes = arena_alloc(arena, LENGTH);
  memset(bytes, 'q', LENGTH);
  proto->string_val[1] = (ProtobufCBinaryData){LENGTH, bytes};
  Tensor tensor = {0}, copy = {0};
  int64_t before = mem_live_bytes();
  REQUIRE_OK(tensor_from_proto(proto, &tensor, &status), status);
  CHECK(mem_live_bytes() - before < 2 * LENGTH);
  REQUIRE_OK(tensor_copy(&copy, &tensor, NULL, &status), status);
  CHECK(mem_live_bytes() - before < 2 * LENGTH);
  tensor_clear(&tensor);
  TString *strings = tensor_strings(&copy);
  CHECK_STR_EQ(tstring_view(&strings[0]).data, "first");
  for (int i = 1; i < COUNT; i += 333) {
    CHECK_INT_EQ(tstring_view(&strings[i]).length, LENGTH);
    CHECK_MEM_EQ(tstring_view(&strings[i]).data, bytes, LENGTH);
  }
  REQUIRE_OK(tstring_set(&strings[1], "other", 5, &status), status);
  CHECK_MEM_EQ(tstring_view(&strings[999]).data, bytes, LENGTH);
  tensor_clear(&copy);
  arena_free(arena);
}

TEST(giant_splats_are_handled_without_expanding_them) {
  arena = arena_new();
  static const char giant[] = "dtype: DT_FLOAT tensor_shape { dim { size: 500000000000000000 } } float_val: ";
  TensorProto *ones = parse(arena_printf(arena, "%s[1, 2]", giant)),
              *same = parse(arena_printf(arena, "%s[1, 2, 2, 2]", giant));
  TensorProto *other = parse(arena_printf(arena, "%s[1, 2, 2, 3]", giant));
  TensorProto *zeros = parse(arena_printf(arena, "%s[]", giant)),
              *zero = parse(arena_printf(arena, "%s0", giant));
  int64_t before = mem_allocation_count();
  CHECK(tensor_proto_equal(ones, same) && tensor_proto_equal(same, ones));
  CHECK(!tensor_proto_equal(ones, other) && !tensor_proto_equal(other, ones));
  CHECK(tensor_proto_equal(zeros, zero) && tensor_proto_equal(zero, zeros));
  CHECK(!tensor_proto_equal(zeros, ones));
  CHECK_OK(tensor_proto_validate(ones, &status), status);
  CHECK_INT_EQ(mem_allocation_count(), before);
  Tensor tensor = {0};
  CHECK_ERROR(tensor_from_proto(ones, &tensor, &status), status, CODE_RESOURCE_EXHAUSTED,
              "OOM when allocating tensor with shape[500000000000000000] and type float");
  CHECK_STR_EQ(print_proto(ones, 3),
               "<TensorProto: dtype: DT_FLOAT tensor_shape { dim { size: 500000000000000000 } }>");
  /* Up to 32 MiB are printed; and only the printed elements are expanded. */
  before = mem_live_bytes();
  CHECK_STR_EQ(print_proto(parse("dtype: DT_INT8 tensor_shape { dim { size: 33554432 } } int_val: [4, 5]"),
                           3),
               "Tensor<type: int8 shape: [33554432] values: 4 5 5...>");
  CHECK(mem_live_bytes() - before < 1 << 20);
  CHECK_STR_EQ(print_proto(parse("dtype: DT_INT8 tensor_shape { dim { size: 33554433 } } int_val: 4"), 3),
               "<TensorProto: dtype: DT_INT8 tensor_shape { dim { size: 33554433 } }>");
  arena_free(arena);
}

TEST(equality_looks_through_the_encoding) {
  static const struct {
    const char *a, *b;
    bool equal;
  } cases[] = {
      {"dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: [1, 1]",
       "dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 1", true},
      {"dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 1",
       "dtype: DT_INT32 tensor_shape { dim { size: 2 } } tensor_content: '\\1\\0\\0\\0\\1\\0\\0\\0'", true},
      {"dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 1",
       "dtype: DT_INT32 tensor_shape { dim { size: 2 } } tensor_content: '\\1\\0\\0\\0\\2\\0\\0\\0'", false},
      {"dtype: DT_INT32 tensor_shape { } int_val: 1", "dtype: DT_INT32 int_val: 1", true},
      {"dtype: DT_INT32 int_val: 1", "dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 1", false},
      {"dtype: DT_INT32 int_val: 1", "dtype: DT_UINT8 int_val: 1", false},
      {"dtype: DT_UINT8 int_val: 1", "dtype: DT_UINT8 int_val: 257", true},
      {"dtype: DT_FLOAT float_val: 0", "dtype: DT_FLOAT float_val: -0.0", false},
      {"dtype: DT_FLOAT float_val: nan", "dtype: DT_FLOAT float_val: nan", true},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 0 } } float_val: 1",
       "dtype: DT_FLOAT tensor_shape { dim { size: 0 } }", true},
      {"dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: 'ab'",
       "dtype: DT_STRING tensor_shape { dim { size: 2 } } tensor_content: '\\2\\2abab'", true},
      {"dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: 'ab'",
       "dtype: DT_STRING tensor_shape { dim { size: 2 } } tensor_content: '\\2\\1aba'", false},
      {"dtype: DT_STRING string_val: 'text_line.0.txt'", "dtype: DT_STRING string_val: 'text_line.1.txt'",
       false},
      {"dtype: DT_RESOURCE", "dtype: DT_RESOURCE", true},
      {"dtype: DT_RESOURCE", "dtype: DT_FLOAT", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s | %s", cases[i].a, cases[i].b);
    arena = arena_new();
    const TensorProto *a = parse(cases[i].a), *b = parse(cases[i].b);
    CHECK(tensor_proto_equal(a, b) == cases[i].equal);
    CHECK(tensor_proto_equal(b, a) == cases[i].equal);
    CHECK(tensor_proto_equal(a, a));
    arena_free(arena);
  }
}

TEST(large_splats_fill_every_element) {
  arena = arena_new();
  Tensor tensor = {0};
  REQUIRE_OK(tensor_from_proto(parse("dtype: DT_COMPLEX128 tensor_shape { dim { size: 1001 } } dcomplex_val: "
                                     "[9, 9, 1.5, -2]"),
                               &tensor, &status),
             status);
  for (int i = 0; i < 1001; i++) {
    CHECK_NEAR(tensor_f64(&tensor)[2 * i], i == 0 ? 9 : 1.5, 0);
    CHECK_NEAR(tensor_f64(&tensor)[2 * i + 1], i == 0 ? 9 : -2, 0);
  }
  tensor_clear(&tensor);
  arena_free(arena);
}

TEST(conversions_survive_every_allocation_failure) {
  arena = arena_new();
  static const char *const protos[] =
      {"dtype: DT_STRING tensor_shape { dim { size: 3 } } string_val: ['a', 'longer than an element of a "
       "tensor']",
       "dtype: DT_FLOAT tensor_shape { dim { size: 1 } dim { size: 1 } dim { size: 1 } dim { size: 1 } dim { "
       "size: 1 } dim { size: 1 }"
       "  dim { size: 1 } dim { size: 1 } dim { size: 2 } } float_val: 1"};
  for (int i = 0; i < 2; i++) {
    const TensorProto *proto = parse(protos[i]);
    bool done = false;
    for (int n = 0; n < 100 && !done; n++) {
      Tensor tensor = {0};
      TensorProto *again = NULL;
      Arena *own = arena_new();
      StrBuf out = {0};
      status_init(&status);
      mem_fail_after(n);
      done = tensor_from_proto(proto, &tensor, &status) && tensor_to_proto(&tensor, own, &again, &status);
      tensor_proto_print(proto, 3, &out);
      mem_fail_after(-1);
      if (!done) {
        CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
        CHECK(out.failed);
      }
      strbuf_free(&out);
      tensor_clear(&tensor);
      arena_free(own);
    }
    CHECK(done);
  }
  arena_free(arena);
}

/* A float tensor whose content is long enough to be shared. */
static TensorProto *long_proto(int64_t count) {
  TensorProto *proto = NULL;
  Tensor values = {0};
  status_init(&status);
  if (CHECK_OK(tensor_allocate_dims(&values, DT_FLOAT, 1, &count, NULL, &status), status)) {
    for (int64_t i = 0; i < count; i++) tensor_f32(&values)[i] = (float)i;
    CHECK_OK(tensor_to_proto(&values, arena, &proto, &status), status);
  }
  tensor_clear(&values);
  return proto;
}

TEST(long_contents_are_shared_by_tensors_and_copies) {
  enum { COUNT = 2000 };
  arena = arena_new();
  Arena *other = arena_new();
  Tensor first = {0}, own = {0};
  TensorProto *proto = long_proto(COUNT);
  REQUIRE(proto && other);
  TensorProto *copy = proto_copy(proto, other), *again = NULL;
  REQUIRE(copy);
  CHECK(copy->tensor_content.data == proto->tensor_content.data);
  CHECK_OK(tensor_from_proto(proto, &first, &status), status);
  CHECK(first.data == proto->tensor_content.data);
  CHECK(!buffer_is_unshared(first.buffer)); /* no kernel writes to it */
  CHECK_OK(tensor_to_proto(&first, other, &again, &status), status);
  CHECK(again->tensor_content.data == proto->tensor_content.data && tensor_proto_equal(again, proto));
  CHECK_OK(tensor_copy_proto(proto, &own, &status), status);
  CHECK(own.data != first.data && memcmp(own.data, first.data, COUNT * sizeof(float)) == 0);
  arena_free(arena);
  arena_free(other);
  CHECK(tensor_f32(&first)[COUNT - 1] == COUNT - 1); /* outlives the protos */
  tensor_clear(&first);
  tensor_clear(&own);
}

TEST(memory_for_a_proto_becomes_its_content) {
  const int64_t kSizes[] = {1500, 3}; /* long enough, and not */
  arena = arena_new();
  for (int i = 0; i < 2; i++) {
    Tensor values = {0}, read = {0};
    Shape shape = {0};
    TensorProto *proto = NULL;
    status_init(&status);
    CHECK_OK(shape_set(&shape, 1, &kSizes[i], &status), status);
    REQUIRE_OK(tensor_allocate_shared(&values, DT_FLOAT, &shape, &status), status);
    const void *memory = values.data;
    for (int64_t k = 0; k < kSizes[i]; k++) tensor_f32(&values)[k] = (float)k;
    CHECK_OK(tensor_to_proto(&values, arena, &proto, &status), status);
    tensor_clear(&values);
    if (proto) CHECK_INT_EQ(proto->tensor_content.data == memory, i == 0);
    CHECK_OK(tensor_from_proto(proto, &read, &status), status);
    CHECK(tensor_f32(&read)[kSizes[i] - 1] == (float)(kSizes[i] - 1));
    tensor_clear(&read);
    shape_clear(&shape);
  }
  arena_free(arena);
}

TEST(shared_contents_say_that_memory_ran_out) {
  arena = arena_new();
  TensorProto *proto = long_proto(2000);
  int64_t bytes = mem_live_bytes();
  bool ok = false;
  for (int after = 0; !ok && after < 10; after++) {
    Tensor tensor = {0};
    status_init(&status);
    mem_fail_after(after);
    ok = tensor_from_proto(proto, &tensor, &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    tensor_clear(&tensor);
    CHECK_INT_EQ(mem_live_bytes(), bytes);
  }
  CHECK(ok);
  arena_free(arena);
}
