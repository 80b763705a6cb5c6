/* Callables whose values and results are in a frame, as JavaScript calls them. */
#include "wasm/wasm_callable.h"

#include "c_api/c_api_fixture.h"
#include "shortage.h"
#include "wasm/wasm_exports.h"

/* y = x + x, and an assignment of x to the variable v. */
typedef struct Calls {
  Fixture f;
  TF_Output x, y, v;
  TF_Operation *assign;
  TF_Session *session;
} Calls;

static bool begin_calls(Calls *c) {
  if (!begin(&c->f)) return false;
  c->x = placeholder(&c->f, "x");
  c->y = binary(&c->f, "AddV2", "y", c->x, c->x);
  c->v = variable(&c->f, "v", -1, NULL);
  TF_OperationDescription *desc = TF_NewOperation(c->f.graph, "AssignVariableOp", "assign");
  TF_AddInput(desc, c->v);
  TF_AddInput(desc, c->x);
  c->assign = finish(&c->f, desc).oper;
  TF_SessionOptions *options = TF_NewSessionOptions();
  c->session = TF_WasmNewSession(c->f.graph, options, NULL, c->f.status);
  TF_DeleteSessionOptions(options);
  return CHECK(c->session);
}

static void end_calls(Calls *c) {
  TF_DeleteSession(c->session, c->f.status);
  end(&c->f);
}

static TF_WasmCallable *callable_of_y(Calls *c) {
  return TF_WasmMakeCallable(c->session, &c->x, 1, &c->y, 1, NULL, 0, NULL, 0, c->f.status);
}

static bool call(Calls *c, TF_WasmCallable *callable) {
  return CHECK_INT_EQ(TF_WasmRunCall(callable, 0, c->f.status), TF_WASM_CALL_ENDED) &&
         CHECK_TF_OK(c->f.status);
}

static float first(const TF_WasmResult *result) { return *(const float *)result->data; }

TEST(small_values_and_results_have_the_same_memory_in_each_call) {
  Calls c;
  REQUIRE(begin_calls(&c));
  TF_WasmCallable *callable = callable_of_y(&c);
  REQUIRE(callable);
  TF_WasmCallFrame *frame = TF_WasmFrameOfCallable(callable);
  TF_Tensor *x = frame->input_values[0] = float_vector(2, (float[]){1, 2});
  if (call(&c, callable)) {
    const TF_WasmResult *y = &frame->results[0];
    const TF_Tensor *handle = y->tensor;
    CHECK_INT_EQ(y->dtype, TF_FLOAT);
    CHECK_INT_EQ(y->num_dims, 1);
    CHECK_INT_EQ(TF_Dim(y->tensor, 0), 2);
    CHECK(y->data == TF_TensorData(y->tensor));
    CHECK(first(y) == 2);
    CHECK(frame->input_values[0] == x);
    *(float *)TF_TensorData(x) = 5;
    if (call(&c, callable)) CHECK(first(y) == 10);
    CHECK(y->tensor == handle);
  }
  TF_WasmReleaseCallable(callable);
  end_calls(&c);
}

TEST(values_that_a_variable_keeps_are_not_written_for_the_next_call) {
  Calls c;
  REQUIRE(begin_calls(&c));
  const TF_Operation *assign = c.assign;
  TF_WasmCallable *callable =
      TF_WasmMakeCallable(c.session, &c.x, 1, NULL, 0, &assign, 1, NULL, 0, c.f.status);
  REQUIRE(callable);
  TF_WasmCallFrame *frame = TF_WasmFrameOfCallable(callable);
  frame->input_values[0] = float_scalar(3);
  if (call(&c, callable)) CHECK(!frame->input_values[0]);
  TF_WasmReleaseCallable(callable);
  CHECK(fetch_float(&c.f, c.session, kNone, NULL, read_variable(&c.f, "read", c.v)) == 3);
  end_calls(&c);
}

TEST(large_values_and_strings_are_not_kept_for_the_next_call) {
  Calls c;
  REQUIRE(begin_calls(&c));
  TF_Output text = placeholder_of(&c.f, "text", TF_STRING, 0, NULL);
  const TF_Output feeds[] = {c.x, text}, fetches[] = {c.y, unary(&c.f, "Identity", "same", text)};
  TF_WasmCallable *callable =
      TF_WasmMakeCallable(c.session, feeds, 2, fetches, 2, NULL, 0, NULL, 0, c.f.status);
  REQUIRE(callable);
  const int64_t large = 2000;
  TF_WasmCallFrame *frame = TF_WasmFrameOfCallable(callable);
  frame->input_values[0] = TF_AllocateTensor(TF_FLOAT, &large, 1, 8000);
  memset(TF_TensorData(frame->input_values[0]), 0, 8000);
  frame->input_values[1] = TF_AllocateTensor(TF_STRING, NULL, 0, sizeof(TF_TString));
  if (call(&c, callable)) CHECK(!frame->input_values[0] && !frame->input_values[1]);
  TF_WasmReleaseCallable(callable);
  end_calls(&c);
}

TEST(a_result_that_was_taken_outlives_the_callable_and_the_session) {
  Calls c;
  REQUIRE(begin_calls(&c));
  TF_WasmCallable *callable = callable_of_y(&c);
  REQUIRE(callable);
  TF_WasmCallFrame *frame = TF_WasmFrameOfCallable(callable);
  TF_Tensor *x = frame->input_values[0] = float_scalar(4), *taken = NULL;
  if (call(&c, callable)) {
    taken = frame->results[0].tensor;
    frame->results[0].tensor = NULL;
    *(float *)TF_TensorData(x) = 5;
    if (call(&c, callable)) CHECK(first(&frame->results[0]) == 10);
  }
  TF_WasmReleaseCallable(callable);
  end_calls(&c);
  if (taken) CHECK(*(float *)TF_TensorData(taken) == 8);
  TF_DeleteTensor(taken);
}

TEST(a_call_says_what_is_wrong_with_its_values) {
  Calls c;
  REQUIRE(begin_calls(&c));
  TF_WasmCallable *callable = callable_of_y(&c);
  REQUIRE(callable);
  TF_WasmCallFrame *frame = TF_WasmFrameOfCallable(callable);
  CHECK_INT_EQ(TF_WasmRunCall(callable, 0, c.f.status), TF_WASM_CALL_FAILED);
  CHECK_TF_ERROR(c.f.status, TF_INVALID_ARGUMENT, "The value of input 0 is null");
  const int32_t one = 1;
  TF_Tensor *wrong = frame->input_values[0] = tensor_of(TF_INT32, 0, NULL, &one, sizeof one);
  CHECK_INT_EQ(TF_WasmRunCall(callable, 0, c.f.status), TF_WASM_CALL_FAILED);
  CHECK_TF_ERROR(c.f.status, TF_INVALID_ARGUMENT, "Expects arg[0] to be float but int32 is provided");
  CHECK(frame->input_values[0] == wrong);
  TF_DeleteTensor(wrong);
  frame->input_values[0] = float_scalar(1);
  if (call(&c, callable)) CHECK(first(&frame->results[0]) == 2);
  TF_WasmReleaseCallable(callable);
  end_calls(&c);
}

TEST(a_callable_and_its_calls_say_that_memory_ran_out) {
  Shortage shortage = {.what = "a callable"};
  do {
    Calls c;
    REQUIRE(begin_calls(&c));
    TF_Tensor *x = float_scalar(4);
    TF_WasmCallState state = TF_WASM_CALL_FAILED;
    shortage_begin(&shortage);
    TF_WasmCallable *callable = callable_of_y(&c);
    if (callable) {
      TF_WasmFrameOfCallable(callable)->input_values[0] = x;
      x = NULL;
      state = TF_WasmRunCall(callable, 0, c.f.status);
    }
    shortage_end(&shortage, state == TF_WASM_CALL_ENDED, (Code)TF_GetCode(c.f.status));
    if (state == TF_WASM_CALL_ENDED) CHECK(first(&TF_WasmFrameOfCallable(callable)->results[0]) == 8);
    if (callable) TF_WasmReleaseCallable(callable);
    TF_DeleteTensor(x);
    end_calls(&c);
  } while (shortage_next(&shortage));
}
