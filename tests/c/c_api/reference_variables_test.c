/* Reference variables in a session: the order of reads and updates. The results of their ops are in
 * tests/data/golden. */
#include "c_api_fixture.h"

typedef struct Variables {
  Fixture f;
  TF_Session *session;
  TF_Output v; /* float[2] */
} Variables;

static TF_Output reference(Fixture *f, const char *name) {
  static const int64_t kTwo = 2;
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "VariableV2", name);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", &kTwo, 1);
  return finish(f, desc);
}

static TF_Output pair(Fixture *f, const char *name, float a, float b) {
  return constant_of(f, name, float_vector(2, (float[]){a, b}));
}

/* An op that waits for another. */
static TF_Output after(Fixture *f, TF_Operation *first, const char *type, const char *name, int num_inputs,
                       const TF_Output *inputs) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, type, name);
  for (int i = 0; i < num_inputs; i++) TF_AddInput(desc, inputs[i]);
  if (first) TF_AddControlInput(desc, first);
  return finish(f, desc);
}

static bool begin_variables(Variables *v) {
  if (!begin(&v->f)) return false;
  v->v = reference(&v->f, "v");
  binary(&v->f, "Assign", "init", v->v, pair(&v->f, "initial", 1, 2));
  TF_SessionOptions *options = TF_NewSessionOptions();
  v->session = TF_NewSession(v->f.graph, options, v->f.status);
  TF_DeleteSessionOptions(options);
  return CHECK_TF_OK(v->f.status);
}

static void run_init(Variables *v) {
  run_target(&v->f, v->session, TF_GraphOperationByName(v->f.graph, "init"));
  CHECK_TF_OK(v->f.status);
}

static void end_variables(Variables *v) {
  TF_DeleteSession(v->session, v->f.status);
  end(&v->f);
}

static void gives(Variables *v, TF_Output output, float a, float b) {
  TF_Tensor *value = fetch(&v->f, v->session, kNone, NULL, output);
  if (CHECK_TF_OK(v->f.status) && CHECK_INT_EQ(TF_TensorType(value), TF_FLOAT) &&
      CHECK_INT_EQ(TF_TensorElementCount(value), 2)) {
    CHECK_NEAR(((float *)TF_TensorData(value))[0], a, 0);
    CHECK_NEAR(((float *)TF_TensorData(value))[1], b, 0);
  }
  TF_DeleteTensor(value);
}

TEST(a_reference_is_fetched_as_its_value) {
  Variables v;
  REQUIRE(begin_variables(&v));
  CHECK_INT_EQ(TF_OperationOutputType(v.v), 100 + TF_FLOAT);
  CHECK(!fetch(&v.f, v.session, kNone, NULL, v.v));
  CHECK_TF_ERROR(v.f.status, TF_FAILED_PRECONDITION, "Attempting to use uninitialized value v");
  TF_Output twice = binary(&v.f, "Add", "twice", v.v, v.v);
  CHECK(!fetch(&v.f, v.session, kNone, NULL, twice));
  CHECK_TF_ERROR(v.f.status, TF_FAILED_PRECONDITION, "Attempting to use uninitialized value v");
  run_init(&v);
  gives(&v, v.v, 1, 2);
  gives(&v, twice, 2, 4);
  end_variables(&v);
}

/* The results are TensorFlow's: a value that was read shares the memory of the variable. */
TEST(a_value_changes_with_the_variable_that_it_was_read_from) {
  static const char *const kOps[] = {"AssignAdd", "Assign"};
  static const float kValues[][2] = {{11, 22}, {10, 20}};
  for (int i = 0; i < 2; i++) {
    Variables v;
    REQUIRE(begin_variables(&v));
    Fixture *f = &v.f;
    TF_Output ten = pair(f, "ten", 10, 20), before = unary(f, "Identity", "before", v.v);
    TF_Output changed = after(f, before.oper, kOps[i], "changed", 2, (TF_Output[]){v.v, ten});
    TF_Output later = after(f, changed.oper, "Identity", "later", 1, &v.v);
    TF_Output difference = binary(f, "Sub", "difference", later, before);
    TF_Output negative = after(f, changed.oper, "Neg", "negative", 1, &before);
    run_init(&v);
    gives(&v, difference, 0, 0);
    run_init(&v);
    gives(&v, negative, -kValues[i][0], -kValues[i][1]);
    gives(&v, v.v, kValues[i][0], kValues[i][1]);
    end_variables(&v);
  }
}

/* Steps do not change what earlier ones gave. */
TEST(results_of_earlier_steps_stay_when_a_variable_changes) {
  Variables v;
  REQUIRE(begin_variables(&v));
  Fixture *f = &v.f;
  TF_Output read = unary(f, "Identity", "read", v.v);
  TF_Output added = after(f, read.oper, "AssignAdd", "added", 2, (TF_Output[]){v.v, pair(f, "ten", 10, 20)});
  TF_Output last = after(f, added.oper, "Identity", "last", 1, &read);
  run_init(&v);
  TF_Tensor *first = fetch(f, v.session, kNone, NULL, read), *second = fetch(f, v.session, kNone, NULL, v.v);
  TF_Tensor *third = fetch(f, v.session, kNone, NULL, last), *fourth = fetch(f, v.session, kNone, NULL, last);
  TF_Tensor *const values[] = {first, second, third, fourth};
  static const float kWants[] = {1, 1, 11, 21};
  for (int i = 0; i < 4; i++) {
    if (CHECK(values[i])) CHECK_NEAR(((float *)TF_TensorData(values[i]))[0], kWants[i], 0);
    TF_DeleteTensor(values[i]);
  }
  /* The constant that initialised the variable is not changed with it. */
  run_init(&v);
  gives(&v, v.v, 1, 2);
  end_variables(&v);
}

/* Two equal updates are not merged. */
TEST(equal_updates_are_not_merged) {
  Variables v;
  REQUIRE(begin_variables(&v));
  Fixture *f = &v.f;
  TF_Output one = pair(f, "one", 1, 1);
  TF_Output first = binary(f, "AssignAdd", "first", v.v, one),
            second = binary(f, "AssignAdd", "second", v.v, one);
  TF_Output both = after(f, first.oper, "Identity", "both", 1, &second);
  run_init(&v);
  gives(&v, both, 3, 4);
  end_variables(&v);
}

TEST(sessions_have_variables_of_their_own) {
  Variables v;
  REQUIRE(begin_variables(&v));
  run_init(&v);
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Session *first = v.session;
  v.session = TF_NewSession(v.f.graph, options, v.f.status);
  TF_DeleteSessionOptions(options);
  CHECK(!fetch(&v.f, v.session, kNone, NULL, v.v));
  CHECK_TF_ERROR(v.f.status, TF_FAILED_PRECONDITION, "uninitialized value v");
  run_init(&v);
  gives(&v, binary(&v.f, "AssignAdd", "more", v.v, pair(&v.f, "ten", 10, 20)), 11, 22);
  TF_DeleteSession(v.session, v.f.status);
  v.session = first;
  gives(&v, v.v, 1, 2);
  end_variables(&v);
}

TEST(a_reference_can_be_fed_where_its_value_is_wanted) {
  Variables v;
  REQUIRE(begin_variables(&v));
  Fixture *f = &v.f;
  TF_Output negative = unary(f, "Neg", "negative", v.v),
            added = binary(f, "AssignAdd", "added", v.v, pair(f, "one", 1, 1));
  TF_Tensor *fed = float_vector(2, (float[]){7, 8});
  TF_Tensor *value = fetch(f, v.session, v.v, fed, negative);
  if (CHECK_TF_OK(f->status)) CHECK_NEAR(((float *)TF_TensorData(value))[1], -8, 0);
  CHECK(!fetch(f, v.session, v.v, fed, added));
  CHECK_TF_ERROR(f->status, TF_INVALID_ARGUMENT,
                 "Input 0 of node added was passed float from v:0 incompatible with expected float_ref.");
  TF_DeleteTensor(fed);
  TF_DeleteTensor(value);
  end_variables(&v);
}

TEST(gradients_of_references_are_those_of_values) {
  Variables v;
  REQUIRE(begin_variables(&v));
  Fixture *f = &v.f;
  TF_Output same = unary(f, "RefIdentity", "same", v.v), y = unary(f, "Square", "y", same), dx[1];
  TF_AddGradients(f->graph, &y, 1, &v.v, 1, NULL, f->status, dx);
  REQUIRE(CHECK_TF_OK(f->status));
  CHECK_INT_EQ(TF_OperationOutputType(dx[0]), TF_FLOAT);
  run_init(&v);
  gives(&v, dx[0], 2, 4);
  /* A gradient descent step on it. */
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "ApplyGradientDescent", "step");
  TF_AddInput(desc, v.v);
  TF_AddInput(desc, constant(f, "rate", 0.25f));
  TF_AddInput(desc, dx[0]);
  gives(&v, finish(f, desc), 0.5f, 1);
  gives(&v, dx[0], 1, 2);
  end_variables(&v);
}
