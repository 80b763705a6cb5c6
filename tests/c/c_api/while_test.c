/* Loops that are built with TF_NewWhile, and their gradients, against closed forms. That the nodes and the
 * messages are TensorFlow's: transcript_loops.h. */
#include <math.h>

#include "c_api/c_api_fixture.h"
#include "shortage.h"

/* while (i < n) { i = i + 1; x = x * x; } with x_n = x^(2^n) */
typedef struct Squaring {
  Fixture f;
  TF_Output starts[2], outputs[2];
} Squaring;

static TF_Output int_constant(Fixture *f, const char *name, int value) {
  return constant_of(f, name, tensor_of(TF_INT32, 0, NULL, &value, sizeof value));
}

static void fill(Fixture *parent, TF_WhileParams *params, int n) {
  Fixture cond = {params->cond_graph, parent->status}, body = {params->body_graph, parent->status};
  params->name = "loop";
  params->cond_output = binary(&cond, "Less", "less", params->cond_inputs[0], int_constant(&cond, "n", n));
  params->body_outputs[0] =
      binary(&body, "Add", "next", params->body_inputs[0], int_constant(&body, "one", 1));
  params->body_outputs[1] = binary(&body, "Mul", "square", params->body_inputs[1], params->body_inputs[1]);
}

static bool begin_squaring(Squaring *s) {
  if (!begin(&s->f)) return false;
  s->starts[0] = int_constant(&s->f, "zero", 0);
  s->starts[1] = placeholder_of(&s->f, "x", TF_FLOAT, 0, NULL);
  return true;
}

static bool build(Squaring *s, int n) {
  if (!begin_squaring(s)) return false;
  TF_WhileParams params = TF_NewWhile(s->f.graph, s->starts, 2, s->f.status);
  if (!CHECK_TF_OK(s->f.status)) return false;
  fill(&s->f, &params, n);
  TF_FinishWhile(&params, s->f.status, s->outputs);
  return CHECK_TF_OK(s->f.status);
}

static float value_at(Squaring *s, TF_Output output, float x) {
  TF_Session *session = TF_NewSession(s->f.graph, NULL, s->f.status);
  TF_Tensor *value = float_scalar(x);
  float result = fetch_float(&s->f, session, s->starts[1], value, output);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, s->f.status);
  return result;
}

static TF_Output derivative(Squaring *s, TF_Output y) {
  TF_Output dx = kNone;
  TF_AddGradients(s->f.graph, &y, 1, &s->starts[1], 1, NULL, s->f.status, &dx);
  CHECK_TF_OK(s->f.status);
  return dx;
}

TEST(a_loop_and_its_derivatives_are_the_power_that_it_computes) {
  for (int n = 0; n < 4; n++) {
    Squaring s = {0};
    CHECK_CONTEXT("%d rounds", n);
    REQUIRE(build(&s, n));
    double p = 1 << n, x = 1.25;
    TF_Output first = derivative(&s, s.outputs[1]), second = derivative(&s, first);
    CHECK_NEAR(value_at(&s, s.outputs[1], (float)x), pow(x, p), 1e-5);
    CHECK_NEAR(value_at(&s, first, (float)x), p * pow(x, p - 1), 1e-4);
    if (n > 0) CHECK_NEAR(value_at(&s, second, (float)x), p * (p - 1) * pow(x, p - 2), 1e-3);
    end(&s.f);
  }
}

TEST(a_loop_that_is_given_up_leaves_its_graph_alone) {
  Squaring s = {0};
  REQUIRE(begin_squaring(&s));
  TF_WhileParams params = TF_NewWhile(s.f.graph, s.starts, 2, s.f.status);
  fill(&s.f, &params, 3);
  CHECK_INT_EQ(num_operations(s.f.graph), 2);
  TF_AbortWhile(&params);
  CHECK_INT_EQ(num_operations(s.f.graph), 2);
  end(&s.f);
}

TEST(a_loop_outlives_the_callers_graph) {
  Squaring s = {0};
  REQUIRE(begin_squaring(&s));
  TF_WhileParams params = TF_NewWhile(s.f.graph, s.starts, 2, s.f.status);
  fill(&s.f, &params, 3);
  TF_DeleteGraph(s.f.graph);
  s.f.graph = NULL;
  TF_FinishWhile(&params, s.f.status, s.outputs);
  CHECK_TF_OK(s.f.status);
  TF_DeleteStatus(s.f.status);
}

/* A loop that is refused: what `spoil` does to it, and what is said. */
static void check_refused(void (*spoil)(TF_WhileParams *), const char *message) {
  Squaring s = {0};
  REQUIRE(begin_squaring(&s));
  TF_WhileParams params = TF_NewWhile(s.f.graph, s.starts, 2, s.f.status);
  fill(&s.f, &params, 3);
  spoil(&params);
  TF_FinishWhile(&params, s.f.status, s.outputs);
  CHECK_TF_ERROR(s.f.status, TF_INVALID_ARGUMENT, message);
  CHECK_INT_EQ(num_operations(s.f.graph), 2);
  CHECK(!s.outputs[0].oper);
  /* The name is still free. */
  TF_WhileParams again = TF_NewWhile(s.f.graph, s.starts, 2, s.f.status);
  fill(&s.f, &again, 3);
  TF_FinishWhile(&again, s.f.status, s.outputs);
  CHECK_TF_OK(s.f.status);
  CHECK_NEAR(value_at(&s, s.outputs[1], 1.25f), pow(1.25, 8), 1e-5);
  end(&s.f);
}

static void no_condition(TF_WhileParams *params) { params->cond_output.oper = NULL; }
static void no_bool(TF_WhileParams *params) { params->cond_output = params->cond_inputs[1]; }
static void other_type(TF_WhileParams *params) { params->body_outputs[1] = params->body_inputs[0]; }
static void other_graph(TF_WhileParams *params) { params->body_outputs[1] = params->cond_inputs[1]; }

TEST(a_loop_that_is_refused_leaves_no_nodes) {
  check_refused(no_condition, "TF_WhileParams `cond_output` field isn't set");
  check_refused(no_bool, "BuildWhileLoop: 'cond' argument must return a boolean output, got float");
  check_refused(other_type,
                "Input 1 of node loop/Merge_1 was passed int32 from loop/NextIteration_1:0 "
                "incompatible with expected float");
  check_refused(other_graph, "Requested return tensor 'cond_input1:0' not found in graph def");
}

TEST(a_frame_name_that_is_taken_leaves_no_nodes) {
  Squaring s = {0};
  REQUIRE(build(&s, 3));
  int before = num_operations(s.f.graph);
  TF_WhileParams params = TF_NewWhile(s.f.graph, s.outputs, 2, s.f.status);
  fill(&s.f, &params, 3);
  TF_FinishWhile(&params, s.f.status, s.outputs);
  CHECK_TF_ERROR(s.f.status, TF_INVALID_ARGUMENT, "WhileContext with frame name 'loop' already exists");
  CHECK_INT_EQ(num_operations(s.f.graph), before);
  end(&s.f);
}

TEST(inputs_of_a_loop_must_be_values_of_the_graph) {
  Squaring s = {0}, other = {0};
  REQUIRE(begin_squaring(&s) && begin_squaring(&other));
  TF_WhileParams params = TF_NewWhile(s.f.graph, other.starts, 2, s.f.status);
  CHECK(TF_GetCode(s.f.status) == TF_INVALID_ARGUMENT && !params.cond_graph);
  TF_Output none[] = {kNone};
  (void)TF_NewWhile(s.f.graph, none, 1, s.f.status);
  CHECK_TF_ERROR(s.f.status, TF_INVALID_ARGUMENT, "Node is null");
  (void)TF_NewWhile(s.f.graph, none, -1, s.f.status);
  CHECK_TF_ERROR(s.f.status, TF_INVALID_ARGUMENT, "TF_NewWhile() must be passed at least one input");
  end(&s.f);
  end(&other.f);
}

/* The status is made without the shortage: it is the caller's. */
TEST(loops_that_are_begun_or_built_short_of_memory_leave_no_trace) {
  for (int finishing = 0; finishing < 2; finishing++) {
    Shortage shortage = {.what = finishing ? "building a loop" : "beginning a loop"};
    do {
      Squaring s = {0};
      REQUIRE(begin_squaring(&s));
      if (!finishing) shortage_begin(&shortage);
      TF_WhileParams params = TF_NewWhile(s.f.graph, s.starts, 2, s.f.status);
      if (!finishing) {
        shortage_end(&shortage, TF_GetCode(s.f.status) == TF_OK, (Code)TF_GetCode(s.f.status));
        if (TF_GetCode(s.f.status) == TF_OK) TF_AbortWhile(&params);
      } else {
        fill(&s.f, &params, 3);
        shortage_begin(&shortage);
        TF_FinishWhile(&params, s.f.status, s.outputs);
        shortage_end(&shortage, TF_GetCode(s.f.status) == TF_OK, (Code)TF_GetCode(s.f.status));
      }
      CHECK_INT_EQ(num_operations(s.f.graph), s.outputs[0].oper ? 18 : 2);
      end(&s.f);
    } while (shortage_next(&shortage));
  }
}
