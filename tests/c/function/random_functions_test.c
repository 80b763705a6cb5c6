/* Random FunctionDefs: their full text is lossless, and damage to texts and bytes is reported without
 * harm. */
#include <math.h>

#include "function/function_def_builder.h"
#include "function/text/function_text.h"
#include "function/function_body.h"
#include "proto/random_message.h"
#include "tensor/tensor.h"

static char *pick_text(Random *r, const char *const *texts, uint64_t count) {
  return arena_strdup(r->arena, texts[random_below(r, count)]);
}

/* --- realistic functions, with all kinds of attr values --- */

static char *pick_name(Random *r) {
  static const char *const kNames[] = {"x",        "y2",   "a/b",  "scope/n_1", "return",    "device",
                                       "T",        "inf",  "nan",  "true",      "two w.",    "n-1",
                                       "_priv",    "a.b",  "Attr", "Tensor",    "Shape",     "`",
                                       "\xc3\xa9", "a\nb", "",     "@def",      "list(int)", "0"};
  return random_below(r, 4) > 0 ? arena_printf(r->arena, "n%d", (int)random_below(r, 30))
                                : pick_text(r, kNames, sizeof kNames / sizeof *kNames);
}

static char *pick_input(Random *r) {
  switch (random_below(r, 8)) {
    case 0: return arena_printf(r->arena, "^%s", pick_name(r));
    case 1: return pick_name(r);
    case 2: return arena_printf(r->arena, "%s:%s", pick_name(r), pick_name(r));
    default: return arena_printf(r->arena, "%s:out:%d", pick_name(r), (int)random_below(r, 4));
  }
}

static float pick_float(Random *r) {
  static const float kCorners[] = {0, -0.0f, 1, 0.1f, 1e-45f, 3.4028235e38f, -1.17549435e-38f, 16777216};
  union {
    uint32_t bits;
    float f;
  } any = {.bits = (uint32_t)random_next(r)};
  if (random_below(r, 2) == 0) return kCorners[random_below(r, 8)];
  return any.f == any.f ? any.f : INFINITY;
}

static TensorShapeProto *pick_shape(Random *r) {
  TensorShapeProto *shape = proto_new(kTensorShapeProto, r->arena);
  Status status;
  status_init(&status);
  shape->unknown_rank = random_below(r, 6) == 0;
  for (uint64_t i = shape->unknown_rank ? 0 : random_below(r, 4); i > 0; i--) {
    TensorShapeDim *dim = proto_new(&tensorflow__tensor_shape_proto__dim__descriptor, r->arena);
    dim->size = (int64_t)random_below(r, 7) - 1;
    if (random_below(r, 10) == 0) dim->name = pick_name(r);
    CHECK_OK(proto_append(r->arena, (void ***)&shape->dim, &shape->n_dim, dim, &status), &status);
  }
  return shape;
}

/* A tensor of any dtype with elements, in the engine's encoding or another one. */
static TensorProto *pick_tensor(Random *r) {
  Status status;
  status_init(&status);
  Tensor tensor = {0};
  TensorProto *proto = NULL;
  int64_t dims[2] = {(int64_t)random_below(r, 4), (int64_t)random_below(r, 12)};
  DataType dtype = (DataType)(1 + random_below(r, 23));
  if (!dtype_is_valid(dtype) || dtype == DT_RESOURCE || dtype == DT_VARIANT || dtype == DT_BOOL)
    dtype = DT_FLOAT;
  CHECK_OK(tensor_allocate_dims(&tensor, dtype, (int)random_below(r, 3), dims, NULL, &status), &status);
  for (int64_t i = 0; i < tensor_num_elements(&tensor); i++) {
    if (dtype == DT_STRING) {
      const char *text = random_text(r);
      CHECK_OK(tstring_set(&tensor_strings(&tensor)[i], text, strlen(text), &status), &status);
    } else if (dtype == DT_FLOAT) {
      tensor_f32(&tensor)[i] = pick_float(r);
    } else {
      uint64_t bits[2] = {random_next(r), random_next(r)};
      size_t size = dtype_size(dtype);
      /* No NaN: their bits are not kept. */
      if (dtype == DT_DOUBLE || dtype == DT_COMPLEX64 || dtype == DT_COMPLEX128)
        memset(bits, 1 + (int)(i % 50), 16);
      memcpy((char *)tensor.data + (size_t)i * size, bits, size);
    }
  }
  CHECK_OK(tensor_to_proto(&tensor, r->arena, &proto, &status), &status);
  tensor_clear(&tensor);
  if (random_below(r, 8) == 0) proto->version_number = 1;
  return proto;
}

static AttrValue *pick_value(Random *r, int depth);

static void add_func_attrs(Random *r, NameAttrList *func, int depth) {
  Status status;
  status_init(&status);
  for (uint64_t i = random_below(r, 3); i > 0; i--) {
    FuncAttrEntry *entry = proto_new(&tensorflow__name_attr_list__attr_entry__descriptor, r->arena);
    entry->key = arena_printf(r->arena, "%s%d", pick_name(r), (int)i);
    entry->value = pick_value(r, depth + 1);
    CHECK_OK(proto_append(r->arena, (void ***)&func->attr, &func->n_attr, entry, &status), &status);
  }
}

static AttrValue *pick_list(Random *r, int depth) {
  int64_t ints[40];
  float floats[40];
  bool bools[40];
  int types[40];
  Str strings[40];
  const TensorShapeProto *shapes[40];
  TensorProto *tensors[40];
  size_t count = (size_t)random_below(r, random_below(r, 6) == 0 ? 40 : 4);
  for (size_t i = 0; i < count; i++) {
    ints[i] = (int64_t)random_bits(r);
    floats[i] = pick_float(r);
    bools[i] = random_below(r, 2) == 0;
    types[i] = (int)random_below(r, 130);
    strings[i] = str_of(random_text(r));
    shapes[i] = pick_shape(r);
    tensors[i] = count < 5 ? pick_tensor(r) : NULL;
  }
  switch (random_below(r, 8)) {
    case 0: return attr_value_int_list(r->arena, ints, count);
    case 1: return attr_value_float_list(r->arena, floats, count);
    case 2: return attr_value_bool_list(r->arena, bools, count);
    case 3: return attr_value_type_list(r->arena, types, count);
    case 4: return attr_value_string_list(r->arena, strings, count);
    case 5: return attr_value_shape_list(r->arena, shapes, count);
    case 6:
      if (count < 5) return attr_value_tensor_list(r->arena, tensors, count);
      return attr_value_int_list(r->arena, ints, count);
    default: break;
  }
  Status status;
  status_init(&status);
  AttrValue *value = attr_value_int_list(r->arena, ints, 0);
  for (size_t i = 0; i < count && i < 3; i++) {
    NameAttrList *func = proto_new(&tensorflow__name_attr_list__descriptor, r->arena);
    func->name = pick_name(r);
    if (depth < 4) add_func_attrs(r, func, depth);
    CHECK_OK(proto_append(r->arena, (void ***)&value->list->func, &value->list->n_func, func, &status),
             &status);
  }
  return value;
}

static AttrValue *pick_value(Random *r, int depth) {
  switch (random_below(r, 11)) {
    case 0: {
      const char *text = random_text(r);
      return attr_value_string(r->arena, text, strlen(text));
    }
    case 1: return attr_value_int(r->arena, (int64_t)random_bits(r));
    case 2: return attr_value_float(r->arena, pick_float(r));
    case 3: return attr_value_bool(r->arena, random_below(r, 2) == 0);
    case 4: return attr_value_type(r->arena, (int)random_below(r, 130));
    case 5: {
      AttrValue *value = proto_new(kAttrValue, r->arena);
      value->value_case = TENSORFLOW__ATTR_VALUE__VALUE_SHAPE;
      value->shape = pick_shape(r);
      return value;
    }
    case 6: return attr_value_tensor(r->arena, pick_tensor(r));
    case 7: return attr_value_placeholder(r->arena, pick_name(r));
    case 8: {
      AttrValue *value = attr_value_func(r->arena, pick_name(r), NULL);
      if (depth < 4) add_func_attrs(r, value->func, depth);
      return value;
    }
    case 9: return pick_list(r, depth);
    default: return proto_new(kAttrValue, r->arena);
  }
}

static NodeDef *pick_node(Random *r, int number) {
  static const char *const kOps[] = {"Add", "Const", "Const", "NoOp", "Op", "two words", "return"};
  static const char *const kDevices[] = {"", "", "", "/device:CPU:0", "/job:a/task:1", "a, b]", "x y"};
  Status status;
  status_init(&status);
  NodeDef *node = node_def_new(r->arena, arena_printf(r->arena, "%s%d", pick_name(r), number),
                               pick_text(r, kOps, sizeof kOps / sizeof *kOps));
  node->device = pick_text(r, kDevices, sizeof kDevices / sizeof *kDevices);
  for (uint64_t i = random_below(r, 4); i > 0; i--)
    CHECK_OK(node_def_add_input(node, r->arena, pick_input(r), &status), &status);
  for (uint64_t i = random_below(r, 5); i > 0; i--)
    CHECK_OK(node_def_set_attr(node, r->arena, pick_name(r), pick_value(r, 0), &status), &status);
  return node;
}

static ArgDef *pick_arg(Random *r, int number) {
  ArgDef *arg = proto_new(&tensorflow__op_def__arg_def__descriptor, r->arena);
  arg->name = arena_printf(r->arena, "%s%d", pick_name(r), number);
  switch (random_below(r, 5)) {
    case 0: arg->type_attr = pick_name(r); break;
    case 1: arg->type_list_attr = pick_name(r); break;
    case 2:
      arg->number_attr = (char *)"N";
      arg->type_attr = (char *)"T";
      break;
    default: arg->type = (Tensorflow__DataType)random_below(r, 30);
  }
  arg->is_ref = random_below(r, 6) == 0;
  if (random_below(r, 8) == 0) arg->description = random_text(r);
  return arg;
}

static AttrDef *pick_attr_def(Random *r, int number) {
  static const char *const kTypes[] = {"type",   "int",  "float",      "bool",      "string", "shape",
                                       "tensor", "func", "list(type)", "list(int)", "any",    "nonsense"};
  AttrDef *attr = proto_new(&tensorflow__op_def__attr_def__descriptor, r->arena);
  attr->name = arena_printf(r->arena, "%s%d", pick_name(r), number);
  attr->type = pick_text(r, kTypes, sizeof kTypes / sizeof *kTypes);
  if (random_below(r, 3) == 0) attr->default_value = pick_value(r, 2);
  if (random_below(r, 3) == 0) attr->allowed_values = pick_list(r, 2);
  attr->has_minimum = random_below(r, 4) == 0;
  if (attr->has_minimum) attr->minimum = (int64_t)random_below(r, 5) - 1;
  return attr;
}

/* A function of a few nodes; the rare fields come from a random message. */
static FunctionDef *pick_function(Random *r) {
  Status status;
  status_init(&status);
  FunctionDef *function = proto_new(kFunctionDef, r->arena);
  OpDef *signature = function->signature = proto_new(kOpDef, r->arena);
  if (random_below(r, 6) == 0) {
    const FunctionDef *other = (const FunctionDef *)(const void *)random_message(r, kFunctionDef, 3);
    function->n_arg_attr = other->n_arg_attr, function->arg_attr = other->arg_attr;
    function->n_resource_arg_unique_id = other->n_resource_arg_unique_id;
    function->resource_arg_unique_id = other->resource_arg_unique_id;
  }
  signature->name = pick_name(r);
  signature->is_stateful = random_below(r, 4) == 0;
  if (random_below(r, 8) == 0) signature->description = random_text(r);
  for (int i = (int)random_below(r, 3); i > 0; i--) {
    CHECK_OK(proto_append(r->arena, (void ***)&signature->attr, &signature->n_attr, pick_attr_def(r, i),
                          &status),
             &status);
    CHECK_OK(proto_append(r->arena, (void ***)&signature->input_arg, &signature->n_input_arg, pick_arg(r, i),
                          &status),
             &status);
    ArgDef *output = pick_arg(r, i);
    CHECK_OK(proto_append(r->arena, (void ***)&signature->output_arg, &signature->n_output_arg, output,
                          &status),
             &status);
    if (random_below(r, 8) == 0) continue;
    Tensorflow__FunctionDef__RetEntry *ret =
        proto_new(&tensorflow__function_def__ret_entry__descriptor, r->arena);
    ret->key = output->name;
    ret->value = pick_input(r);
    CHECK_OK(proto_append(r->arena, (void ***)&function->ret, &function->n_ret, ret, &status), &status);
  }
  for (int i = (int)random_below(r, 4); i > 0; i--)
    CHECK_OK(proto_append(r->arena, (void ***)&function->node_def, &function->n_node_def, pick_node(r, i),
                          &status),
             &status);
  for (int i = (int)random_below(r, 3); i > 0; i--) {
    Tensorflow__FunctionDef__ControlRetEntry *ret =
        proto_new(&tensorflow__function_def__control_ret_entry__descriptor, r->arena);
    ret->key = arena_printf(r->arena, "%s%d", pick_name(r), i);
    ret->value = pick_name(r);
    CHECK_OK(proto_append(r->arena, (void ***)&function->control_ret, &function->n_control_ret, ret, &status),
             &status);
    char *name = ret->key;
    if (random_below(r, 4) > 0)
      CHECK_OK(proto_append(r->arena, (void ***)&signature->control_output, &signature->n_control_output,
                            name, &status),
               &status);
    Tensorflow__FunctionDef__AttrEntry *attr =
        proto_new(&tensorflow__function_def__attr_entry__descriptor, r->arena);
    attr->key = arena_printf(r->arena, "%s%d", pick_name(r), i);
    attr->value = pick_value(r, 0);
    CHECK_OK(proto_append(r->arena, (void ***)&function->attr, &function->n_attr, attr, &status), &status);
  }
  return function;
}

/* --- parse(full text of f) equals f --- */

static bool reads_back(const FunctionDef *function, Arena *arena, int64_t *lines, int64_t *escapes) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  FunctionDef *back = NULL;
  bool same = CHECK_OK(function_print_full(function, &text, &status), &status) &&
              CHECK_OK(function_parse(str_of(strbuf_text(&text)), arena, &back, &status), &status) &&
              CHECK(proto_equal(back, function));
  if (!same) printf("%s\n", strbuf_text(&text));
  *lines += (int64_t)function->n_node_def;
  for (const char *at = strbuf_text(&text); (at = strstr(at, "\n  @node <")); at++) ++*escapes;
  strbuf_free(&text);
  return same;
}

TEST(full_text_says_all_of_a_function) {
  int64_t nodes = 0, escapes = 0;
  for (int round = 1; round <= 4000; round++) {
    CHECK_CONTEXT("round %d", round);
    Random r = {.state = (uint64_t)round * 0x9e3779b97f4a7c15u, .arena = arena_new()};
    bool ok = reads_back(pick_function(&r), r.arena, &nodes, &escapes);
    arena_free(r.arena);
    if (!ok) return;
  }
  CHECK_CONTEXT("%s", "");
  /* Mostly written in the language, not as protobuf text. */
  CHECK(nodes > 4000);
  CHECK(escapes < nodes / 2);
}

TEST(full_text_says_all_of_any_message) {
  int64_t nodes = 0, escapes = 0;
  for (int round = 1; round <= 1500; round++) {
    CHECK_CONTEXT("round %d", round);
    Status status;
    status_init(&status);
    Random r = {.state = (uint64_t)round * 0xd1342543de82ef95u, .arena = arena_new()};
    StrBuf bytes = {0};
    void *function = NULL;
    /* As the parser returns it. */
    bool ok = CHECK_OK(proto_serialize(random_message(&r, kFunctionDef, 0), &bytes, &status), &status) &&
              CHECK_OK(proto_parse(kFunctionDef, strbuf_text(&bytes), (size_t)bytes.length, r.arena,
                                   &function, &status),
                       &status) &&
              reads_back(function, r.arena, &nodes, &escapes);
    strbuf_free(&bytes);
    arena_free(r.arena);
    if (!ok) return;
  }
  CHECK_CONTEXT("%s", "");
}

/* --- damage --- */

static void damage(Random *r, char *bytes, int64_t *length) {
  for (uint64_t i = 1 + random_below(r, 4); i > 0 && *length > 0; i--) {
    int64_t at = (int64_t)random_below(r, (uint64_t)*length);
    static const char kBytes[] = "<>[]{}()\"'`$#@=:,.\\-9z\n^ \x80\xff";
    switch (random_below(r, 4)) {
      case 0: bytes[at] = (char)random_next(r); break;
      case 1: bytes[at] = kBytes[random_below(r, sizeof kBytes - 1)]; break;
      case 2: /* remove a piece */
        memmove(bytes + at, bytes + at + (*length - at) / 8, (size_t)(*length - at - (*length - at) / 8));
        *length -= (*length - at) / 8;
        break;
      default:
        if (random_below(r, 8) == 0) *length = at;
    }
  }
}

/* Everything that takes a function must handle this one. */
static void use_function(FunctionDef *function) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  FunctionBody *result = NULL;
  bool equal = false;
  function_print(function, &text);
  CHECK(text.length > 0);
  CHECK_OK(function_defs_equal(function, function, &equal, &status), &status);
  CHECK(equal);
  strbuf_clear(&text);
  if (function_body_new(NULL, function, NULL, 0, &result, &status))
    CHECK_OK(function_body_print(result, &text, &status), &status);
  function_body_free(result);
  if (status.code != CODE_OK) CHECK(status.message[0] != 0);
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL), *reachable = NULL;
  status_init(&status);
  if (function_library_add_function(library, function, &status)) {
    CHECK_INT_EQ(function_library_num_functions(library), 1);
    CHECK_OK(function_library_add_function(library, function, &status), &status);
    CHECK_OK(function_library_remove_function(library, function->signature->name, &status), &status);
  } else {
    CHECK(status.message[0] != 0);
  }
  status_init(&status);
  CHECK_OK(function_library_reachable_from_function(library, function, &reachable, &status), &status);
  function_library_free(reachable);
  function_library_free(library);
  strbuf_free(&text);
}

TEST(damaged_texts_are_refused_or_are_other_functions) {
  int parsed = 0, refused = 0;
  for (int round = 1; round <= 3000; round++) {
    CHECK_CONTEXT("round %d", round);
    Status status;
    status_init(&status);
    Random r = {.state = (uint64_t)round * 0xa0761d6478bd642fu, .arena = arena_new()};
    StrBuf text = {0};
    FunctionDef *function = NULL;
    int64_t nodes = 0, escapes = 0;
    CHECK_OK(function_print_full(pick_function(&r), &text, &status), &status);
    int64_t length = text.length;
    damage(&r, text.data, &length);
    if (function_parse((Str){text.data, (size_t)length}, r.arena, &function, &status)) {
      parsed++;
      use_function(function);
      reads_back(function, r.arena, &nodes, &escapes);
    } else {
      refused++;
      CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
      CHECK(strncmp(status.message, "function text ", 14) == 0);
    }
    strbuf_free(&text);
    arena_free(r.arena);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(parsed > 100 && refused > 100);
}

TEST(damaged_bytes_are_refused_or_are_other_functions) {
  int parsed = 0, refused = 0;
  for (int round = 1; round <= 3000; round++) {
    CHECK_CONTEXT("round %d", round);
    Status status;
    status_init(&status);
    Random r = {.state = (uint64_t)round * 0x2545f4914f6cdd1du, .arena = arena_new()};
    StrBuf bytes = {0};
    void *function = NULL;
    CHECK_OK(proto_serialize(pick_function(&r), &bytes, &status), &status);
    int64_t length = bytes.length;
    if (length > 0) damage(&r, bytes.data, &length);
    if (proto_parse(kFunctionDef, strbuf_text(&bytes), (size_t)length, r.arena, &function, &status)) {
      parsed++;
      use_function(function);
    } else {
      refused++;
      CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
    }
    strbuf_free(&bytes);
    arena_free(r.arena);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(parsed > 100 && refused > 100);
}

/* --- descriptions --- */

/* Up to three texts and the NULL that ends them. */
static const char *const *pick_texts(Random *r, const char *const *texts, uint64_t count) {
  const char **list = arena_calloc(r->arena, 4, sizeof *list);
  for (uint64_t i = random_below(r, 4); i > 0; i--) list[i - 1] = texts[random_below(r, count)];
  return random_below(r, 20) == 0 ? NULL : list;
}

#define PICK(texts) pick_texts(r, texts, sizeof(texts) / sizeof *(texts))

static FunctionNode pick_description(Random *r) {
  static const char *const kOps[] = {"AddN",  "Split", "SinCos", "NoOp",        "Unknown",
                                     "Const", "Map",   "Cond",   "VarHandleOp", ""};
  static const char *const kNames[] = {"x", "y", "z", "n", "n", "", "a b", "^x", "n:sum:0"};
  static const char *const kAttrs[] = {"T", "N", "num_split", "Tin", "out_types", "dtype", "value", "odd"};
  FunctionAttr *attrs = arena_calloc(r->arena, 5, sizeof *attrs);
  int num_attrs = (int)random_below(r, 5);
  for (int i = 0; i < num_attrs; i++) {
    attrs[i] = (FunctionAttr){kAttrs[random_below(r, 8)], pick_value(r, 2)};
    if (random_below(r, 3) == 0) attrs[i] = (FunctionAttr){"T", attr_value_type(r->arena, DT_FLOAT)};
    if (random_below(r, 4) == 0)
      attrs[i] = (FunctionAttr){"N", attr_value_int(r->arena, (int64_t)random_bits(r))};
    if (random_below(r, 6) == 0) attrs[i] = (FunctionAttr){"num_split", attr_value_int(r->arena, 2)};
  }
  return (FunctionNode){.rets = PICK(kNames),
                        .op = kOps[random_below(r, 10)],
                        .args = PICK(kNames),
                        .attrs = attrs,
                        .num_attrs = num_attrs,
                        .deps = PICK(kNames),
                        .device = random_below(r, 4) == 0 ? "/device:CPU:0" : NULL};
}

TEST(random_descriptions_are_refused_or_make_functions) {
  static const char *const kArgs[] = {"x: float", "y: T", "z: N*T", "n: Tin", "y: Ref(float)",
                                      "x:int32",  "bad",  ": bad",  "",       "x: nonsense"};
  static const char *const kAttrs[] =
      {"T: type",    "T: {float, double}", "N: int >= 1",          "Tin: list(type)",
       "N: int = 2", "T: type = DT_FLOAT", "T: type = DT_NOTHING", "q"};
  int made = 0, refused = 0;
  for (int round = 1; round <= 4000; round++) {
    CHECK_CONTEXT("round %d", round);
    Status status;
    status_init(&status);
    Random random = {.state = (uint64_t)round * 0x9fb21c651e98df25u, .arena = arena_new()}, *r = &random;
    FunctionNode nodes[3] = {pick_description(r), pick_description(r), pick_description(r)};
    const FunctionReturn returns[] = {{"x", "x"},
                                      {"y", "n:sum:0"},
                                      {random_below(r, 2) ? "z" : "x", "nothing"}};
    const FunctionSpec spec = {.name = "F",
                               .args = PICK(kArgs),
                               .rets = random_below(r, 2) == 0 ? NULL : PICK(kArgs),
                               .attrs = PICK(kAttrs),
                               .nodes = nodes,
                               .num_nodes = (int)random_below(r, 4),
                               .returns = returns,
                               .num_returns = (int)random_below(r, 4),
                               .control_returns = returns,
                               .num_control_returns = (int)random_below(r, 3)};
    FunctionDef *function = NULL;
    int64_t lines = 0, escapes = 0;
    bool ok = random_below(r, 2) == 0 ? function_create(&spec, NULL, r->arena, &function, &status)
                                      : function_define(&spec, NULL, r->arena, &function, &status);
    CHECK_INT_EQ(ok, function != NULL);
    if (ok) {
      made++;
      use_function(function);
      reads_back(function, r->arena, &lines, &escapes);
    } else {
      refused++;
      CHECK(status.code == CODE_INVALID_ARGUMENT || status.code == CODE_NOT_FOUND);
      CHECK(status.message[0] != 0);
    }
    arena_free(r->arena);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(made > 200 && refused > 200);
}
