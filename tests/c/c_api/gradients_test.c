/* TF_AddGradients, compared with derivatives computed by hand. */
#include <math.h>

#include "c_api/c_api_fixture.h"

/* The first element of d(sum of ys)/dx at scalar x = `at`. */
static float derivative(Fixture *f, TF_Output y, TF_Output x, float at) {
  TF_Output dx = kNone;
  TF_AddGradients(f->graph, &y, 1, &x, 1, NULL, f->status, &dx);
  if (!CHECK_TF_OK(f->status) || !CHECK(dx.oper)) return NAN;
  TF_Session *session = TF_NewSession(f->graph, NULL, f->status);
  TF_Tensor *value = float_scalar(at);
  float result = fetch_float(f, session, x, value, dx);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, f->status);
  return result;
}

TEST(closed_forms) {
  static const struct {
    const char *op;
    double x, want;
  } cases[] = {{"Neg", 2, -1},       {"Square", 3, 6},        {"Exp", 1, 2.718281828459045},
               {"Log", 4, 0.25},     {"Sqrt", 16, 0.125},     {"Tanh", 0.5, 0.78644773},
               {"Sigmoid", 0, 0.25}, {"Relu", 2, 1},          {"Relu", -2, 0},
               {"Identity", 5, 1},   {"Reciprocal", 2, -0.25}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s", cases[i].op);
    Fixture f;
    REQUIRE(begin(&f));
    TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
    TF_Output y = unary(&f, cases[i].op, "y", x);
    CHECK_NEAR(derivative(&f, y, x, (float)cases[i].x), cases[i].want, 1e-6);
    end(&f);
  }
}

TEST(the_chain_rule_sums_over_all_paths) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
  TF_Output square = unary(&f, "Square", "square", x), cube = binary(&f, "Mul", "cube", square, x);
  TF_Output y = binary(&f, "Add", "y", cube, square); /* x^3 + x^2 */
  CHECK_NEAR(derivative(&f, y, x, 2), 3 * 4 + 2 * 2, 0);
  CHECK_NEAR(derivative(&f, y, x, -1), 3 - 2, 0); /* a second gradient in the same graph */
  end(&f);
}

TEST(several_ys_add_up_and_a_dx_weighs_them) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL), z = placeholder_of(&f, "z", TF_FLOAT, 0, NULL);
  TF_Output ys[] = {unary(&f, "Square", "square", x), binary(&f, "Mul", "xz", x, z)}, xs[] = {x, z, x};
  TF_Output plain[3], weighed[3], weights[] = {constant(&f, "ten", 10), kNone};
  TF_AddGradients(f.graph, ys, 2, xs, 3, NULL, f.status, plain);
  CHECK_TF_OK(f.status);
  TF_AddGradients(f.graph, ys, 2, xs, 3, weights, f.status,
                  weighed); /* an entry without an operation: ones */
  CHECK_TF_OK(f.status);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  TF_Tensor *values[] = {float_scalar(3), float_scalar(5)}, *results[6];
  TF_Output outputs[] = {plain[0], plain[1], plain[2], weighed[0], weighed[1], weighed[2]};
  const float want[] = {2 * 3 + 5, 3, 2 * 3 + 5, 10 * 2 * 3 + 5, 3, 10 * 2 * 3 + 5};
  TF_SessionRun(session, NULL, xs, values, 2, outputs, results, 6, NULL, 0, NULL, f.status);
  if (CHECK_TF_OK(f.status)) {
    for (int i = 0; i < 6; i++) {
      CHECK_CONTEXT("result %d", i);
      CHECK_NEAR(*(float *)TF_TensorData(results[i]), want[i], 0);
      TF_DeleteTensor(results[i]);
    }
  }
  TF_DeleteTensor(values[0]);
  TF_DeleteTensor(values[1]);
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(matrices) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 2, (int64_t[]){-1, 2});
  const float weights[] = {1, 2, 3, 4, 5, 6};
  TF_Output w = constant_of(&f, "w", tensor_of(TF_FLOAT, 2, (int64_t[]){2, 3}, weights, sizeof weights));
  TF_Output y = binary(&f, "MatMul", "y", x, w), xs[] = {x, w}, dxs[2];
  TF_AddGradients(f.graph, &y, 1, xs, 2, NULL, f.status, dxs);
  CHECK_TF_OK(f.status);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  TF_Tensor *value = tensor_of(TF_FLOAT, 2, (int64_t[]){1, 2}, (float[]){10, 20}, 8), *results[2];
  TF_SessionRun(session, NULL, &x, &value, 1, dxs, results, 2, NULL, 0, NULL, f.status);
  if (CHECK_TF_OK(f.status)) {
    const float want_dx[] = {6, 15}, want_dw[] = {10, 10, 10, 20, 20, 20}; /* ones * w^T, x^T * ones */
    CHECK_INT_EQ(TF_TensorByteSize(results[0]), sizeof want_dx);
    CHECK_MEM_EQ(TF_TensorData(results[0]), want_dx, sizeof want_dx);
    CHECK_INT_EQ(TF_TensorByteSize(results[1]), sizeof want_dw);
    CHECK_MEM_EQ(TF_TensorData(results[1]), want_dw, sizeof want_dw);
    TF_DeleteTensor(results[0]);
    TF_DeleteTensor(results[1]);
  }
  TF_DeleteTensor(value);
  TF_DeleteSession(session, f.status);
  end(&f);
}

static bool all_names_start_with(TF_Graph *graph, size_t from, const char *prefix) {
  bool all = true;
  for (TF_Operation *operation; (operation = TF_GraphNextOperation(graph, &from));) {
    if (strncmp(TF_OperationName(operation), prefix, strlen(prefix)) != 0) {
      CHECK_STR_EQ(TF_OperationName(operation), prefix);
      all = false;
    }
  }
  return all;
}

TEST(new_operations_stand_under_a_prefix_of_their_own) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), y = unary(&f, "Exp", "y", x), dx;
  static const char *const want[] = {"gradients/", "gradients_1/", "gradients_2/"};
  for (int i = 0; i < 3; i++) {
    size_t before = 0;
    while (TF_GraphNextOperation(f.graph, &before)) continue;
    TF_AddGradients(f.graph, &y, 1, &x, 1, NULL, f.status, &dx);
    CHECK_TF_OK(f.status);
    CHECK(all_names_start_with(f.graph, before, want[i]));
  }
  size_t before = 0;
  while (TF_GraphNextOperation(f.graph, &before)) continue;
  TF_AddGradientsWithPrefix(f.graph, "mine", &y, 1, &x, 1, NULL, f.status, &dx);
  CHECK_TF_OK(f.status);
  CHECK(all_names_start_with(f.graph, before, "mine/"));
  int count = num_operations(f.graph);
  static const char *const used[] = {"mine", "gradients", "x"};
  for (int i = 0; i < 3; i++) {
    CHECK_CONTEXT("prefix %s", used[i]);
    TF_AddGradientsWithPrefix(f.graph, used[i], &y, 1, &x, 1, NULL, f.status, &dx);
    CHECK_INT_EQ(TF_GetCode(f.status), TF_INVALID_ARGUMENT);
    CHECK_INT_EQ(num_operations(f.graph), count);
  }
  end(&f);
}

TEST(what_has_no_gradient_is_refused_and_adds_nothing) {
  Fixture f = {0}, other = {0};
  REQUIRE(begin(&f) && begin(&other));
  TF_Output x = placeholder(&f, "x"), z = placeholder(&f, "z"), y = unary(&f, "Exp", "y", x);
  TF_Output foreign = placeholder(&other, "foreign"), n = placeholder_of(&f, "n", TF_INT32, 0, NULL);
  TF_Output missing = {x.oper, 1}, negative = {x.oper, -1};
  const struct {
    TF_Output y, x, dx;
    bool has_dx;
    TF_Code code;
    const char *message;
  } cases[] = {
      {y, z, kNone, false, TF_INVALID_ARGUMENT,
       "Cannot compute the partial derivative for node 'z' as it's unreachable from the output node(s)."},
      {x, y, kNone, false, TF_INVALID_ARGUMENT, "unreachable"},
      {kNone, x, kNone, false, TF_INVALID_ARGUMENT, "null"},
      {y, kNone, kNone, false, TF_INVALID_ARGUMENT, "null"},
      {missing, x, kNone, false, TF_OUT_OF_RANGE, "does not have output 1"},
      {y, negative, kNone, false, TF_OUT_OF_RANGE, "does not have output -1"},
      {foreign, x, kNone, false, TF_INVALID_ARGUMENT, "different graph"},
      {y, foreign, kNone, false, TF_INVALID_ARGUMENT, "different graph"},
      {y, x, foreign, true, TF_INVALID_ARGUMENT, "different graph"},
      {y, x, missing, true, TF_INVALID_ARGUMENT, "no output 1"},
      {y, x, negative, true, TF_INVALID_ARGUMENT, "no output -1"},
      {y, x, n, true, TF_INVALID_ARGUMENT, ""},
  };
  TF_Buffer *before = graph_bytes(&f, f.graph);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    TF_Output ys = cases[i].y, xs = cases[i].x, dxs = cases[i].dx, result = kNone;
    TF_AddGradients(f.graph, &ys, 1, &xs, 1, cases[i].has_dx ? &dxs : NULL, f.status, &result);
    CHECK_TF_ERROR(f.status, cases[i].code, cases[i].message);
    TF_Buffer *after = graph_bytes(&f, f.graph);
    CHECK_INT_EQ(after->length, before->length);
    TF_DeleteBuffer(after);
  }
  TF_DeleteBuffer(before);
  end(&f);
  end(&other);
}

TEST(an_x_of_a_derivative_may_be_inside_and_second_derivatives_work) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_FLOAT, 0, NULL);
  TF_Output square = unary(&f, "Square", "square", x), fourth = unary(&f, "Square", "fourth", square), inner,
            dx, ddx;
  TF_AddGradients(f.graph, &fourth, 1, &square, 1, NULL, f.status, &inner); /* d(s^2)/ds = 2s */
  CHECK_TF_OK(f.status);
  TF_AddGradients(f.graph, &fourth, 1, &x, 1, NULL, f.status, &dx); /* 4 x^3 */
  CHECK_TF_OK(f.status);
  TF_AddGradients(f.graph, &dx, 1, &x, 1, NULL, f.status, &ddx); /* 12 x^2 */
  CHECK_TF_OK(f.status);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  TF_Tensor *value = float_scalar(3);
  CHECK_NEAR(fetch_float(&f, session, x, value, inner), 18, 0);
  CHECK_NEAR(fetch_float(&f, session, x, value, dx), 108, 1e-4);
  CHECK_NEAR(fetch_float(&f, session, x, value, ddx), 108, 1e-4);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(gradients_of_nothing) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), y = unary(&f, "Exp", "y", x);
  TF_AddGradients(f.graph, &y, 1, NULL, 0, NULL, f.status, NULL);
  CHECK_TF_OK(f.status);
  TF_Output dx;
  TF_AddGradients(f.graph, NULL, 0, &x, 1, NULL, f.status, &dx);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "unreachable");
  end(&f);
}
