/* Steps that pause and are resumed, as JavaScript runs them. */
#include "wasm/wasm_session.h"

#include "c_api/endless_loop.h"
#include "wasm/wasm_callable.h"
#include "wasm/wasm_exports.h"

typedef struct Steps {
  Fixture f;
  TF_Output x, y;
  TF_Session *session;
} Steps;

static bool begin_steps(Steps *s) {
  if (!begin(&s->f) || !add_endless_function(&s->f)) return false;
  s->x = placeholder_of(&s->f, "x", TF_BOOL, 0, NULL);
  s->y = endless_loop(&s->f, s->x);
  TF_SessionOptions *options = TF_NewSessionOptions();
  s->session = TF_WasmNewSession(s->f.graph, options, NULL, s->f.status);
  TF_DeleteSessionOptions(options);
  return CHECK(s->session);
}

static void end_steps(Steps *s) {
  TF_DeleteSession(s->session, s->f.status);
  end(&s->f);
}

static TF_WasmStep *start(Steps *s, unsigned char go_on, TF_WasmStepOptions options, TF_Tensor **result) {
  TF_Tensor *value = tensor_of(TF_BOOL, 0, NULL, &go_on, 1);
  TF_WasmStep *paused =
      TF_WasmStartStep(s->session, &options, &s->x, &value, 1, &s->y, result, 1, NULL, 0, s->f.status);
  TF_DeleteTensor(value);
  return paused;
}

TEST(a_step_that_paused_goes_on_until_its_deadline) {
  Steps s;
  REQUIRE(begin_steps(&s));
  TF_Tensor *result = NULL;
  /* Long enough for three slices on a busy machine. */
  TF_WasmStep *step = start(&s, 1, (TF_WasmStepOptions){.timeout_ms = 1000, .slice_ms = 20}, &result);
  REQUIRE(step);
  CHECK_TF_OK(s.f.status);
  int slices = 1, paused = 1;
  while (paused && slices < 100) {
    paused = TF_WasmResumeStep(step, 20, &result, 1, s.f.status);
    CHECK(!result);
    slices++;
  }
  CHECK(slices > 2 && slices < 100);
  CHECK_TF_ERROR(s.f.status, TF_DEADLINE_EXCEEDED, "Timed out waiting for notification");
  end_steps(&s);
}

TEST(an_abandoned_step_leaves_nothing_behind) {
  Steps s;
  REQUIRE(begin_steps(&s));
  TF_Tensor *result = NULL;
  TF_WasmStep *step = start(&s, 1, (TF_WasmStepOptions){.slice_ms = 1}, &result);
  REQUIRE(step);
  /* Others run meanwhile. */
  CHECK(!start(&s, 0, (TF_WasmStepOptions){0}, &result));
  CHECK_TF_OK(s.f.status);
  REQUIRE(result);
  CHECK_INT_EQ(*(const unsigned char *)TF_TensorData(result), 0);
  TF_DeleteTensor(result);
  CHECK_INT_EQ(TF_WasmResumeStep(step, 1, &result, 1, s.f.status), 1);
  CHECK(!result);
  TF_WasmAbandonStep(step);
  end_steps(&s);
}

TEST(sessions_of_the_bindings_refuse_values_of_other_shapes) {
  Steps s;
  REQUIRE(begin_steps(&s));
  const int64_t two[] = {2};
  const unsigned char no[2] = {0, 0};
  const TF_WasmStepOptions options = {0};
  TF_Tensor *value = tensor_of(TF_BOOL, 1, two, no, 2), *result = NULL;
  CHECK(!TF_WasmStartStep(s.session, &options, &s.x, &value, 1, &s.y, &result, 1, NULL, 0, s.f.status));
  CHECK_TF_ERROR(s.f.status, TF_INVALID_ARGUMENT, "[2]");
  CHECK(!result);
  TF_DeleteTensor(value);
  end_steps(&s);
}

TEST(callables_and_steps_refuse_values_that_are_missing) {
  Steps s;
  REQUIRE(begin_steps(&s));
  TF_Tensor *missing = NULL, *result = NULL;
  TF_WasmStepOptions options = {0};
  TF_WasmCallable *callable = TF_WasmMakeCallable(s.session, &s.x, 1, &s.y, 1, NULL, 0, NULL, 0, s.f.status);
  REQUIRE(callable);
  CHECK(!TF_WasmStartCall(callable, &options, &missing, 1, &result, 1, s.f.status));
  CHECK_TF_ERROR(s.f.status, TF_INVALID_ARGUMENT, "The value of input 0 is null");
  CHECK(!TF_WasmStartStep(s.session, &options, &s.x, &missing, 1, &s.y, &result, 1, NULL, 0, s.f.status));
  CHECK_TF_ERROR(s.f.status, TF_INVALID_ARGUMENT, "The value of input 0 is null");
  CHECK(!result);
  TF_WasmReleaseCallable(callable);
  end_steps(&s);
}
