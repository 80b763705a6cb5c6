/* Ops that are described at run time through the C API: registration, shape functions, gradients. */
#include "c_api/c_api_fixture.h"
#include "c_api/foreign_ops.h"

/* ---- registration ---- */

static TF_Code register_op(Fixture *f, TF_OpDefinitionBuilder *builder) {
  TF_RegisterOpDefinition(builder, f->status);
  return TF_GetCode(f->status);
}

TEST(an_op_is_known_at_once) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("MyAdd");
  TF_OpDefinitionBuilderAddAttr(builder, "T: {float, double} = DT_FLOAT");
  TF_OpDefinitionBuilderAddInput(builder, "a: T");
  TF_OpDefinitionBuilderAddInput(builder, "b: T");
  TF_OpDefinitionBuilderAddOutput(builder, "sum: T");
  TF_OpDefinitionBuilderAddControlOutput(builder, "done");
  TF_OpDefinitionBuilderSetIsCommutative(builder, true);
  TF_OpDefinitionBuilderSetIsAggregate(builder, true);
  TF_OpDefinitionBuilderSetIsStateful(builder, true);
  TF_OpDefinitionBuilderSetAllowsUninitializedInput(builder, true);
  TF_OpDefinitionBuilderDeprecated(builder, 100000, "Use Add.");
  TF_OpDefinitionBuilderDoc(builder, "Adds.\n\na: The first.");
  register_op(&f, builder);
  CHECK_TF_OK(f.status);
  const OpDef *def = op_def_of("MyAdd");
  if (CHECK(def)) {
    CHECK_INT_EQ(def->n_input_arg, 2);
    CHECK_INT_EQ(def->n_output_arg, 1);
    CHECK_STR_EQ(def->control_output[0], "done");
    CHECK(def->is_commutative && def->is_aggregate && def->is_stateful && def->allows_uninitialized_input);
    CHECK_INT_EQ(def->deprecation->version, 100000);
    CHECK_STR_EQ(def->deprecation->explanation, "Use Add.");
    CHECK_STR_EQ(def->summary, "Adds.");
    CHECK_STR_EQ(def->input_arg[0]->description, "The first.");
  }
  TF_Output x = placeholder(&f, "x"), sum = binary(&f, "MyAdd", "sum", x, x);
  if (CHECK(sum.oper)) CHECK_INT_EQ(TF_OperationOutputType(sum), TF_FLOAT);
  TF_Buffer *ops = TF_GetAllOpList();
  Arena *arena = arena_new();
  void *list;
  Status status;
  status_init(&status);
  bool found = false;
  if (CHECK_OK(proto_parse(kOpList, ops->data, ops->length, arena, &list, &status), status)) {
    for (size_t i = 0; i < ((OpList *)list)->n_op; i++)
      found |= strcmp(((OpList *)list)->op[i]->name, "MyAdd") == 0;
  }
  CHECK(found);
  arena_free(arena);
  TF_DeleteBuffer(ops);
  end(&f);
}

TEST(what_is_not_said_is_false) {
  Fixture f;
  REQUIRE(begin_lenient(&f));
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("Plain");
  TF_OpDefinitionBuilderSetIsCommutative(builder, false);
  TF_OpDefinitionBuilderSetIsAggregate(builder, false);
  TF_OpDefinitionBuilderSetIsStateful(builder, false);
  TF_OpDefinitionBuilderSetAllowsUninitializedInput(builder, false);
  register_op(&f, builder);
  CHECK_TF_OK(f.status);
  const OpDef *def = op_def_of("Plain");
  if (CHECK(def)) {
    CHECK(!def->is_commutative && !def->is_aggregate && !def->is_stateful &&
          !def->allows_uninitialized_input);
    CHECK(!def->deprecation);
  }
  end(&f);
}

TEST(a_wrong_registration_is_a_status_and_leaves_nothing) {
  static const struct {
    const char *name, *attr, *input;
    TF_Code code;
    const char *message;
  } kCases[] = {
      {"Bad", "T: no_type", "x: T", TF_INVALID_ARGUMENT, "Attr(\"T: no_type\") for Op Bad"},
      {"Bad", "T: type", "x: U", TF_INVALID_ARGUMENT,
       "Reference to unknown attr 'U' from Input(\"x: U\") for Op Bad"},
      {"bad name", "T: type", "x: T", TF_INVALID_ARGUMENT, "Invalid name: bad name (Did you use CamelCase?)"},
      {"", "T: type", "x: T", TF_INVALID_ARGUMENT, "Invalid name: "},
      {"MatMul", "T: type", "x: T", TF_ALREADY_EXISTS, "Op with name MatMul"},
  };
  Fixture f = {.status = TF_NewStatus()};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder(kCases[i].name);
    TF_OpDefinitionBuilderAddAttr(builder, kCases[i].attr);
    TF_OpDefinitionBuilderAddInput(builder, kCases[i].input);
    TF_OpDefinitionBuilderAddOutput(builder, "y: T");
    register_op(&f, builder);
    CHECK_TF_ERROR(f.status, kCases[i].code, kCases[i].message);
    /* The name is still free. */
    if (kCases[i].code == TF_ALREADY_EXISTS || strcmp(kCases[i].name, "Bad") != 0) continue;
    CHECK(!op_def_of(kCases[i].name));
  }
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(register_op(&f, TF_NewOpDefinitionBuilder("Bad")), TF_OK);
  CHECK_INT_EQ(register_op(&f, TF_NewOpDefinitionBuilder("Bad")), TF_ALREADY_EXISTS);
  CHECK_STR_EQ(TF_Message(f.status), "Op with name Bad");
  TF_DeleteOpDefinitionBuilder(TF_NewOpDefinitionBuilder("Never"));
  TF_DeleteOpDefinitionBuilder(NULL);
  TF_DeleteStatus(f.status);
}

TEST(calling_twice_what_may_be_called_once) {
  Fixture f = {.status = TF_NewStatus()};
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("Twice");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, infer_same_shape);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, infer_same_shape);
  TF_OpDefinitionBuilderDoc(builder, "a");
  TF_OpDefinitionBuilderDoc(builder, "b");
  register_op(&f, builder);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                 "SetShapeFn called twice for Op Twice\nExtra call to Doc() for Op Twice");
  TF_DeleteStatus(f.status);
}

TEST(a_gradient_must_be_a_function) {
  Fixture f = {.status = TF_NewStatus()};
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("Odd");
  TF_OpDefinitionBuilderSetGradient(builder, "OddGrad(x:float) -> {");
  register_op(&f, builder);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "function text 1:");
  CHECK(!op_def_of("Odd"));
  TF_DeleteStatus(f.status);
}

/* ---- shape functions ---- */

/* The body of the shape function under test: every test sets its own. */
static void (*current_shape)(TF_ShapeInferenceContext *ctx, TF_Status *status);

static void infer_current(TF_ShapeInferenceContext *ctx, TF_Status *status) { current_shape(ctx, status); }

/* An op of two float inputs, and one of int32 shapes, with one output. */
static bool begin_shapes(Fixture *f, void (*shape)(TF_ShapeInferenceContext *ctx, TF_Status *status)) {
  if (!begin_lenient(f)) return false;
  current_shape = shape;
  TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("Shaped");
  TF_OpDefinitionBuilderAddAttr(builder, "Tout: type = DT_INT64");
  TF_OpDefinitionBuilderAddAttr(builder, "size: int = 5");
  TF_OpDefinitionBuilderAddInput(builder, "a: float");
  TF_OpDefinitionBuilderAddInput(builder, "b: float");
  TF_OpDefinitionBuilderAddInput(builder, "shape: int32");
  TF_OpDefinitionBuilderAddOutput(builder, "y: Tout");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, infer_current);
  TF_RegisterOpDefinition(builder, f->status);
  return CHECK_TF_OK(f->status);
}

static TF_Output shaped_as(Fixture *f, const char *name, TF_Output a, TF_Output b, TF_Output shape) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "Shaped", name);
  TF_AddInput(desc, a);
  TF_AddInput(desc, b);
  TF_AddInput(desc, shape);
  return (TF_Output){TF_FinishOperation(desc, f->status), 0};
}

static TF_Output shaped(Fixture *f, TF_Output a, TF_Output b, TF_Output shape) {
  return shaped_as(f, "y", a, b, shape);
}

static TF_Output ints(Fixture *f, const char *name, int64_t count, const int32_t *values) {
  return constant_of(f, name, tensor_of(TF_INT32, 1, &count, values, sizeof(int32_t) * (size_t)count));
}

static void check_shape(Fixture *f, TF_Output output, int rank, const int64_t *dims) {
  if (!CHECK(output.oper)) return;
  int64_t got[8] = {0};
  if (!CHECK_INT_EQ(TF_GraphGetTensorNumDims(f->graph, output, f->status), rank) || rank < 0) return;
  TF_GraphGetTensorShape(f->graph, output, got, rank, f->status);
  for (int i = 0; i < rank; i++) CHECK_INT_EQ(got[i], dims[i]);
}

static void ask_and_combine(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  CHECK_INT_EQ(TF_ShapeInferenceContextNumInputs(ctx), 3);
  CHECK_INT_EQ(TF_ShapeInferenceContextNumOutputs(ctx), 1);
  CHECK(TF_ShapeInferenceContextGraphDefVersion(ctx) > 0);
  TF_DataType type = 0;
  TF_ShapeInferenceContext_GetAttrType(ctx, "Tout", &type, status);
  CHECK_INT_EQ(type, TF_INT64);
  TF_ShapeInferenceContext_GetAttrType(ctx, "size", &type, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "AttrValue had value with type 'int' when 'type' expected");
  TF_ShapeInferenceContext_GetAttrType(ctx, "none", &type, status);
  CHECK_TF_ERROR(status, TF_NOT_FOUND, "No attr named 'none'");
  CHECK_INT_EQ(type, TF_INT64);

  TF_ShapeHandle *a = TF_NewShapeHandle(), *b = TF_NewShapeHandle(), *c = TF_NewShapeHandle();
  TF_DimensionHandle *d = TF_NewDimensionHandle();
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, a), -1);
  CHECK_INT_EQ(TF_ShapeInferenceContextRankKnown(ctx, a), 0);
  CHECK_INT_EQ(TF_DimensionHandleValue(d), -1);
  CHECK_INT_EQ(TF_DimensionHandleValueKnown(d), 0);
  for (int i = -1; i <= 3; i += 4) {
    TF_ShapeInferenceContextGetInput(ctx, i, a, status);
    CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "input index out of range");
  }
  TF_ShapeInferenceContextSetOutput(ctx, 1, a, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "output index out of range");

  TF_ShapeInferenceContextGetInput(ctx, 0, a, status); /* [2,?] */
  TF_ShapeInferenceContextGetInput(ctx, 1, b, status); /* ? */
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, a), 2);
  CHECK_INT_EQ(TF_ShapeInferenceContextRankKnown(ctx, a), 1);
  CHECK_INT_EQ(TF_ShapeInferenceContextRankKnown(ctx, b), 0);
  TF_ShapeInferenceContextDim(ctx, a, 0, d);
  CHECK_INT_EQ(TF_DimensionHandleValue(d), 2);
  CHECK_INT_EQ(TF_DimensionHandleValueKnown(d), 1);
  TF_ShapeInferenceContextDim(ctx, a, -1, d);
  CHECK_INT_EQ(TF_DimensionHandleValueKnown(d), 0);
  TF_ShapeInferenceContextDim(ctx, a, 7, d);
  CHECK_INT_EQ(TF_DimensionHandleValueKnown(d), 0);
  TF_ShapeInferenceContextDim(ctx, b, 3, d);
  CHECK_INT_EQ(TF_DimensionHandleValueKnown(d), 0);

  TF_ShapeInferenceContextWithRank(ctx, b, 3, c, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, c), 3);
  TF_ShapeInferenceContextWithRank(ctx, a, 3, c, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Shape must be rank 3 but is rank 2");
  TF_ShapeInferenceContextWithRankAtLeast(ctx, a, 3, c, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Shape must be at least rank 3 but is rank 2");
  TF_ShapeInferenceContextWithRankAtMost(ctx, a, 1, c, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Shape must be at most rank 1 but is rank 2");
  TF_ShapeInferenceContextWithRankAtMost(ctx, a, 2, c, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_ShapeHandleSame(a, c), 1);

  TF_ShapeHandle *scalar = TF_ShapeInferenceContextScalar(ctx),
                 *vector = TF_ShapeInferenceContextVectorFromSize(ctx, 4);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, scalar), 0);
  TF_ShapeInferenceContextConcatenateShapes(ctx, a, vector, c, status); /* [2,?,4] */
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, c), 3);
  TF_ShapeInferenceContextConcatenateShapes(ctx, c, scalar, c, status);
  TF_ShapeInferenceContextSubshape(ctx, c, 0, 1, a, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, a), 1);
  TF_ShapeInferenceContextSubshape(ctx, c, 3, 1, a, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Subshape must have computed start <= end, but is 3 and 1");
  TF_ShapeInferenceContextSubshape(ctx, c, -2, 100, c, status); /* [?,4] */
  CHECK_TF_OK(status);
  TF_ShapeInferenceContextSetOutput(ctx, 0, c, status);
  TF_DeleteShapeHandle(scalar);
  TF_DeleteShapeHandle(vector);
  TF_DeleteShapeHandle(a);
  TF_DeleteShapeHandle(b);
  TF_DeleteShapeHandle(c);
  TF_DeleteDimensionHandle(d);
}

TEST(a_shape_function_asks_and_combines) {
  Fixture f;
  REQUIRE(begin_shapes(&f, ask_and_combine));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 2, (int64_t[]){2, -1}), b = placeholder(&f, "b");
  TF_Output y = shaped(&f, a, b, ints(&f, "s", 1, (int32_t[]){1}));
  CHECK_TF_OK(f.status);
  check_shape(&f, y, 2, (int64_t[]){-1, 4});
  end(&f);
}

/* NULL handles, which a caller has when memory ran out. Empty handles are unknown. */
static void use_no_handles(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  TF_ShapeHandle *empty = TF_NewShapeHandle(), *a = TF_NewShapeHandle();
  TF_DimensionHandle *nothing = TF_NewDimensionHandle(), *d = TF_NewDimensionHandle();
  CHECK_INT_EQ(TF_DimensionHandleValueKnown(NULL), 0);
  CHECK_INT_EQ(TF_DimensionHandleValueKnown(nothing), 0);
  CHECK_INT_EQ(TF_DimensionHandleValue(NULL), -1);
  CHECK_INT_EQ(TF_DimensionHandleValue(nothing), -1);
  CHECK_INT_EQ(TF_ShapeHandleSame(NULL, empty) + TF_ShapeHandleSame(empty, NULL) +
                   TF_ShapeHandleSame(empty, empty),
               0);
  CHECK_INT_EQ(TF_DimensionHandleSame(NULL, d) + TF_DimensionHandleSame(d, NULL) +
                   TF_DimensionHandleSame(nothing, nothing),
               0);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, NULL), -1);
  CHECK_INT_EQ(TF_ShapeInferenceContextRankKnown(ctx, NULL), 0);
  CHECK_INT_EQ(TF_ShapeInferenceContextRankKnown(ctx, empty), 0);
  TF_ShapeInferenceContextDim(ctx, NULL, 0, d);
  TF_ShapeInferenceContextDim(ctx, empty, 0, NULL);
  CHECK_INT_EQ(TF_DimensionHandleValueKnown(d), 0);

  TF_ShapeInferenceContextGetInput(ctx, 0, NULL, status);
  CHECK_TF_ERROR(status, TF_RESOURCE_EXHAUSTED, "");
  TF_ShapeInferenceContextWithRank(ctx, NULL, 2, a, status);
  CHECK_TF_ERROR(status, TF_RESOURCE_EXHAUSTED, "");
  TF_ShapeInferenceContextNumElements(ctx, NULL, d, status);
  CHECK_TF_ERROR(status, TF_RESOURCE_EXHAUSTED, "");
  TF_ShapeInferenceContextGetInput(ctx, 0, a, status);
  TF_ShapeInferenceContextNumElements(ctx, a, NULL, status);
  CHECK_TF_ERROR(status, TF_RESOURCE_EXHAUSTED, "");
  TF_ShapeInferenceContextMakeShape(ctx, (TF_DimensionHandle *[]){NULL}, 1, a, status);
  CHECK_TF_ERROR(status, TF_RESOURCE_EXHAUSTED, "");
  TF_ShapeInferenceContextMakeShape(ctx, &nothing, -1, a, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "The number of dimensions must be between 0 and");
  TF_ShapeInferenceContextMakeShape(ctx, &nothing, 1000, a, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "The number of dimensions must be between 0 and");
  TF_ShapeInferenceContextMakeUnknownShape(ctx, -2, a, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Rank must be between -1 and");
  TF_ShapeInferenceContextMakeUnknownShape(ctx, 1000, a, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Rank must be between -1 and");
  TF_ShapeInferenceContextSetOutput(ctx, -1, a, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "output index out of range");
  TF_ShapeInferenceContextSetOutput(ctx, 0, NULL, status);
  CHECK_TF_ERROR(status, TF_RESOURCE_EXHAUSTED, "");
  TF_ShapeInferenceContextMakeShape(ctx, &nothing, 1, a, status); /* [?] */
  CHECK_TF_OK(status);
  TF_ShapeInferenceContextSetOutput(ctx, 0, a, status);
  TF_DeleteShapeHandle(empty);
  TF_DeleteShapeHandle(a);
  TF_DeleteDimensionHandle(nothing);
  TF_DeleteDimensionHandle(d);
}

TEST(shape_functions_are_told_of_handles_that_are_not_there) {
  Fixture f;
  REQUIRE(begin_shapes(&f, use_no_handles));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 2, (int64_t[]){2, 3});
  TF_Output y = shaped(&f, a, a, ints(&f, "s", 1, (int32_t[]){1}));
  CHECK_TF_OK(f.status);
  check_shape(&f, y, 1, (int64_t[]){-1});
  end(&f);
}

static void fail_to_infer(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  (void)ctx;
  TF_SetStatus(status, TF_INVALID_ARGUMENT, "these shapes are wrong");
}

TEST(an_error_of_a_shape_function_is_that_of_the_node) {
  Fixture f;
  REQUIRE(begin_shapes(&f, fail_to_infer));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 2, (int64_t[]){2, -1});
  TF_Output y = shaped(&f, a, a, ints(&f, "s", 1, (int32_t[]){1}));
  CHECK(!y.oper);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                 "these shapes are wrong for '{{node y}} = Shaped[Tout=DT_INT64, size=5](a, a, s)' with "
                 "input shapes: "
                 "[2,?], [2,?], [1].");
  CHECK_INT_EQ(num_operations(f.graph), 2);
  end(&f);
}

static void infer_unknown(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
}

TEST(unknown_shapes) {
  Fixture f;
  REQUIRE(begin_shapes(&f, infer_unknown));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 0, NULL);
  check_shape(&f, shaped(&f, a, a, ints(&f, "s", 1, (int32_t[]){1})), -1, NULL);
  end(&f);
}

static void use_values(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  TF_ShapeHandle *shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextMakeShapeFromShapeTensor(ctx, 2, shape, status);
  TF_Buffer *buffer = TF_NewBuffer();
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextGetAttrValueProto(ctx, "size", buffer, status);
  /* The field `i` of an AttrValue, a varint. */
  if (TF_GetCode(status) == TF_OK && CHECK_INT_EQ(buffer->length, 2))
    CHECK_MEM_EQ(buffer->data, "\x18\x05", 2);
  TF_DeleteBuffer(buffer);
  if (TF_GetCode(status) == TF_OK) {
    TF_Tensor *value = TF_ShapeInferenceContextInputTensor(ctx, 2, status);
    if (value) {
      CHECK_INT_EQ(TF_TensorType(value), TF_INT32);
      TF_DimensionHandle *last = TF_NewDimensionHandle();
      int64_t count = TF_TensorElementCount(value);
      TF_ShapeInferenceContextMakeDim(ctx, ((int32_t *)TF_TensorData(value))[count - 1] + 1, last, status);
      if (TF_GetCode(status) == TF_OK)
        TF_ShapeInferenceContextReplaceDim(ctx, shape, -1, last, shape, status);
      TF_DeleteDimensionHandle(last);
      TF_DeleteTensor(value);
    }
  }
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

TEST(values_of_inputs_become_shapes) {
  Fixture f;
  REQUIRE(begin_shapes(&f, use_values));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 0, NULL);
  check_shape(&f, shaped(&f, a, a, ints(&f, "s", 3, (int32_t[]){7, -1, 3})), 3, (int64_t[]){7, -1, 4});
  end(&f);
}

TEST(of_values_that_are_not_known_at_least_the_rank) {
  Fixture f;
  REQUIRE(begin_shapes(&f, use_values));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 0, NULL),
            s = placeholder_of(&f, "s", TF_INT32, 1, (int64_t[]){2});
  check_shape(&f, shaped(&f, a, a, s), 2, (int64_t[]){-1, -1});
  end(&f);
}

static void make_and_calculate(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  TF_DimensionHandle *d[5];
  TF_ShapeHandle *shape = TF_NewShapeHandle(), *other = TF_NewShapeHandle();
  for (int i = 0; i < 5; i++) d[i] = TF_NewDimensionHandle();
  TF_ShapeInferenceContextMakeDim(ctx, 6, d[0], status);
  TF_ShapeInferenceContextMakeDim(ctx, 4, d[1], status);
  TF_ShapeInferenceContextMakeDim(ctx, -1, d[2], status);
  CHECK_TF_OK(status);
  TF_ShapeInferenceContextMakeDim(ctx, -2, d[3], status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Dimension size must be >= -1 but is -2");

  TF_ShapeInferenceContextAddDims(ctx, d[0], d[1], d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), 10);
  TF_ShapeInferenceContextSubtractDims(ctx, d[0], d[1], d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), 2);
  TF_ShapeInferenceContextMultiplyDims(ctx, d[0], d[1], d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), 24);
  TF_ShapeInferenceContextDivideDim(ctx, d[0], 4, 0, d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), 1);
  TF_ShapeInferenceContextMinDims(ctx, d[0], d[1], d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), 4);
  TF_ShapeInferenceContextMaxDims(ctx, d[0], d[1], d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), 6);
  TF_ShapeInferenceContextMaxDims(ctx, d[0], d[2], d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), -1);
  TF_ShapeInferenceContextAddDims(ctx, d[0], d[4], d[3], status); /* nothing yet: unknown */
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), -1);
  TF_ShapeInferenceContextSubtractDims(ctx, d[1], d[0], d[3], status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Negative dimension size caused by subtracting 6 from 4");
  TF_ShapeInferenceContextDivideDim(ctx, d[0], 4, 1, d[3], status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Dimension size must be evenly divisible by 4 but is 6");
  TF_ShapeInferenceContextDivideDim(ctx, d[0], 0, 0, d[3], status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Divisor must be positive but is 0");

  TF_ShapeInferenceContextMergeDim(ctx, d[0], d[2], d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleSame(d[0], d[3]), 1);
  TF_ShapeInferenceContextMergeDim(ctx, d[0], d[1], d[3], status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Dimensions must be equal, but are 6 and 4");
  TF_ShapeInferenceContextWithValue(ctx, d[2], 9, d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), 9);
  TF_ShapeInferenceContextWithValue(ctx, d[0], 9, d[3], status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Dimension must be 9 but is 6");

  TF_ShapeInferenceContextMakeShape(ctx, d, 3, shape, status); /* [6,4,?] */
  CHECK_TF_OK(status);
  TF_ShapeInferenceContextNumElements(ctx, shape, d[3], status);
  CHECK_INT_EQ(TF_DimensionHandleValue(d[3]), -1);
  TF_ShapeInferenceContextDim(ctx, shape, 2, d[3]);
  CHECK_INT_EQ(TF_DimensionHandleSame(d[2], d[3]), 1);
  CHECK_INT_EQ(TF_DimensionHandleSame(d[1], d[3]), 0);
  CHECK_INT_EQ(TF_DimensionHandleSame(d[4], d[4]), 0);
  TF_ShapeInferenceContextMakeShape(ctx, d, -1, other, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "The number of dimensions must be between 0 and 254 but is -1");
  TF_ShapeInferenceContextMakeUnknownShape(ctx, 3, other, status);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, other), 3);
  TF_ShapeInferenceContextMerge(ctx, shape, other, other, status);
  CHECK_TF_OK(status);
  TF_ShapeInferenceContextNumElements(ctx, other, d[3], status);
  TF_ShapeInferenceContextMakeUnknownShape(ctx, -1, other, status);
  CHECK_INT_EQ(TF_ShapeInferenceContextRankKnown(ctx, other), 0);
  TF_ShapeInferenceContextMakeUnknownShape(ctx, -2, other, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Rank must be between -1 and 254 but is -2");
  TF_ShapeInferenceContextMakeShape(ctx, d, 2, other, status);
  TF_ShapeInferenceContextMerge(ctx, shape, other, other, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "Shapes must be equal rank, but are 3 and 2");
  CHECK_INT_EQ(TF_ShapeInferenceContextRankKnown(ctx, other), 0);
  TF_ShapeInferenceContextMakeShape(ctx, d + 2, 1, other, status); /* [?] broadcast with [6,4,?] */
  TF_ShapeInferenceContextBroadcast(ctx, shape, other, other, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, other), 3);
  TF_ShapeInferenceContextSubshapeWithStride(ctx, shape, 0, 3, 2, other, status); /* [6,?] */
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_ShapeInferenceContextRank(ctx, other), 2);
  TF_ShapeInferenceContextSubshapeWithStride(ctx, shape, 0, 3, 0, other, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "stride must not be 0");
  TF_ShapeInferenceContextMakeDimForScalarInput(ctx, 9, d[3], status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "input index out of range");
  TF_ShapeInferenceContextMakeDimForScalarInput(ctx, 2, d[3], status);
  CHECK_TF_OK(status);
  TF_ShapeInferenceContextReplaceDim(ctx, shape, 2, d[3], shape, status); /* [6,4,<input 2>] */
  TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
  for (int i = 0; i < 5; i++) TF_DeleteDimensionHandle(d[i]);
  TF_DeleteShapeHandle(shape);
  TF_DeleteShapeHandle(other);
}

TEST(shapes_and_dimensions_are_made) {
  Fixture f;
  REQUIRE(begin_shapes(&f, make_and_calculate));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 0, NULL);
  int32_t five = 5;
  TF_Output s = constant_of(&f, "s", tensor_of(TF_INT32, 0, NULL, &five, sizeof five));
  check_shape(&f, shaped(&f, a, a, s), 3, (int64_t[]){6, 4, 5});
  end(&f);
}

/* An unknown size that passes through two ops keeps its identity. */
static void merge_first_two(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  TF_ShapeHandle *a = TF_NewShapeHandle(), *b = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, a, status);
  TF_ShapeInferenceContextGetInput(ctx, 1, b, status);
  if (TF_ShapeHandleSame(a, b)) {
    TF_ShapeInferenceContextSetOutput(ctx, 0, a, status);
  } else {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "not the same");
  }
  TF_DeleteShapeHandle(a);
  TF_DeleteShapeHandle(b);
}

TEST(shapes_keep_their_identity) {
  Fixture f;
  REQUIRE(begin_shapes(&f, merge_first_two));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 1, (int64_t[]){-1}),
            b = placeholder_of(&f, "b", TF_FLOAT, 1, (int64_t[]){-1});
  TF_Output s = ints(&f, "s", 1, (int32_t[]){1}), same = unary(&f, "Identity", "same", a);
  check_shape(&f, shaped(&f, a, same, s), 1, (int64_t[]){-1});
  CHECK(!shaped_as(&f, "z", a, b, s).oper);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "not the same");
  end(&f);
}

static TF_Graph *inferred_graph;

static void add_a_node(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  TF_OperationDescription *desc = TF_NewOperation(inferred_graph, "Placeholder", "added");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  CHECK(!TF_FinishOperation(desc, status));
  CHECK_TF_ERROR(status, TF_FAILED_PRECONDITION, "The graph cannot be changed by a shape function");
  infer_unknown(ctx, status);
}

TEST(a_shape_function_cannot_change_the_graph) {
  Fixture f;
  REQUIRE(begin_shapes(&f, add_a_node));
  inferred_graph = f.graph;
  TF_Output a = placeholder(&f, "a"), y = shaped(&f, a, a, ints(&f, "s", 1, (int32_t[]){1}));
  CHECK_TF_OK(f.status);
  check_shape(&f, y, -1, NULL);
  CHECK_INT_EQ(num_operations(f.graph), 3);
  unary(&f, "Neg", "after", a); /* outside of the shape function it can */
  end(&f);
}
