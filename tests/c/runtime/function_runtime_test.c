/* The function runtime: handles, bodies of the caller, calls through frames. */
#include "runtime/function_fixture.h"

static const char kLibrary[] =
    "Plus(x:float, y:float) -> (z:float) {\n"
    "  z = Add[T=float](x, y)\n"
    "  return z = z:z:0\n"
    "}\n"
    "TwiceTheSum(x:float, y:float) -> (z:float) {\n"
    "  s = Plus(x, y)\n"
    "  z = Add[T=float](s:z:0, s:z:0)\n"
    "  return z = z:z:0\n"
    "}\n"
    "Dice(n:int32) -> (y:float) {\n"
    "  s = Pack[N=1, T=int32, axis=0](n)\n"
    "  y = RandomUniform[T=int32, dtype=float, seed=3, seed2=4](s:output:0)\n"
    "  return y = y:output:0\n"
    "}\n";

static int64_t instantiate(Functions *f, const char *name, const char *state) {
  const FunctionInstantiateOptions options = {.state_handle = state};
  int64_t handle = -1;
  CHECK_OK(function_runtime_instantiate(f->runtime, name, NULL, 0, &options, &handle, &f->status), f->status);
  return handle;
}

TEST(a_frame_is_used_for_call_after_call) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    FunctionCallFrame frame = {0};
    Tensor x = {0}, y = {0};
    int count;
    int64_t handle = instantiate(&f, "TwiceTheSum", NULL);
    CHECK_OK(tensors_parse("float[2] 1 2", &x, 1, &count, &f.status), f.status);
    CHECK_OK(tensors_parse("float[2] 10 20", &y, 1, &count, &f.status), f.status);
    if (CHECK_OK(function_runtime_new_frame(f.runtime, handle, &frame, &f.status), f.status)) {
      const Tensor *args[] = {&x, &y};
      CHECK_ERROR(function_runtime_run_frame(f.runtime, handle, NULL, &frame, &f.status), f.status,
                  CODE_INVALID_ARGUMENT, "Expects arg[0] to be float but invalid is provided");
      status_init(&f.status);
      for (int i = 0; i < 3; i++) {
        CHECK_OK(call_frame_set_args(&frame, args, 2, &f.status), f.status);
        if (!CHECK_OK(function_runtime_run_frame(f.runtime, handle, NULL, &frame, &f.status), f.status))
          break;
        CHECK(tensor_is_empty(&frame.args[0]) && tensor_is_empty(&frame.args[1]));
        CHECK_NEAR(tensor_f32(&frame.rets[0])[0], 22, 0);
        CHECK_NEAR(tensor_f32(&frame.rets[0])[1], 44, 0);
      }
      /* Arguments that the caller holds are not overwritten. */
      CHECK_NEAR(tensor_f32(&x)[0], 1, 0);
      CHECK_NEAR(tensor_f32(&y)[1], 20, 0);
    }
    call_frame_free(&frame);
    tensor_clear(&x);
    tensor_clear(&y);
    CHECK_ERROR(function_runtime_new_frame(f.runtime, 99, &frame, &f.status), f.status, CODE_NOT_FOUND,
                "Handle 99 not found.");
  }
  functions_end(&f);
}

TEST(a_body_that_was_added_is_the_runtimes_own) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    FunctionBody *body = NULL;
    const FunctionBody *held = NULL;
    int64_t handle = -1;
    Tensor x = {0}, y = {0};
    int count;
    const FunctionDef *function = graph_find_function(f.library, "TwiceTheSum");
    CHECK_OK(function_body_new(f.library, function, NULL, 0, &body, &f.status), f.status);
    mem_fail_after(0); /* after an error the caller keeps it */
    CHECK(!function_runtime_add_body(f.runtime, body, &handle, &f.status));
    mem_fail_after(-1);
    CHECK_INT_EQ(f.status.code, CODE_RESOURCE_EXHAUSTED);
    status_init(&f.status);
    if (CHECK_OK(function_runtime_add_body(f.runtime, body, &handle, &f.status), f.status)) {
      CHECK_OK(function_runtime_body(f.runtime, handle, &held, &f.status), f.status);
      CHECK(held == body);
      CHECK_INT_EQ(handle == instantiate(&f, "TwiceTheSum", NULL), false);
      CHECK_OK(tensors_parse("float[] 3", &x, 1, &count, &f.status), f.status);
      const Tensor *args[] = {&x, &x};
      CHECK_OK(function_runtime_run(f.runtime, handle, NULL, args, 2, &y, 1, &f.status), f.status);
      CHECK_NEAR(tensor_f32(&y)[0], 12, 0);
      CHECK_OK(function_runtime_release(f.runtime, handle, &f.status), f.status); /* frees the body */
      CHECK(!function_runtime_body(f.runtime, handle, &held, &f.status));
      CHECK_INT_EQ(f.status.code, CODE_NOT_FOUND);
    } else {
      function_body_free(body);
    }
    tensor_clear(&x);
    tensor_clear(&y);
  }
  functions_end(&f);
}

/* The first random number of an instance. */
static float throw(Functions * f, int64_t handle) {
  Tensor n = {0}, y = {0};
  int count;
  CHECK_OK(tensors_parse("int32[] 1", &n, 1, &count, &f->status), f->status);
  bool ok = function_runtime_run(f->runtime, handle, NULL, &(const Tensor *){&n}, 1, &y, 1, &f->status);
  float value = CHECK_OK(ok, f->status) ? tensor_f32(&y)[0] : -1;
  tensor_clear(&n);
  tensor_clear(&y);
  return value;
}

TEST(instances_with_another_state_handle_have_state_of_their_own) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    int64_t common = instantiate(&f, "Dice", NULL), other = instantiate(&f, "Dice", "other");
    CHECK_INT_EQ(instantiate(&f, "Dice", ""), common);
    CHECK_INT_EQ(instantiate(&f, "Dice", "other"), other);
    CHECK(common != other);
    float first = throw(&f, common), second = throw(&f, common);
    CHECK(first != second);
    CHECK_NEAR(throw(&f, other), first, 0); /* the same seeds, from the beginning */
    CHECK_NEAR(throw(&f, other), second, 0);
  }
  functions_end(&f);
}

TEST(a_handle_is_released_as_often_as_it_was_asked_for) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    const FunctionBody *body;
    int64_t handle = instantiate(&f, "Plus", NULL);
    CHECK_INT_EQ(instantiate(&f, "Plus", NULL), handle);
    CHECK_OK(function_runtime_release(f.runtime, handle, &f.status), f.status);
    CHECK_OK(function_runtime_body(f.runtime, handle, &body, &f.status), f.status);
    CHECK_OK(function_runtime_release(f.runtime, handle, &f.status), f.status);
    CHECK(!function_runtime_release(f.runtime, handle, &f.status));
    CHECK_INT_EQ(f.status.code, CODE_NOT_FOUND);
  }
  functions_end(&f);
}

/* The attrs of a body's nodes are known only now: kernels rely on the OpDef's allowed values. */
TEST(a_body_with_an_attr_that_its_op_does_not_allow_is_not_run) {
  Functions f;
  if (functions_begin(&f,
                      "Halves[U:type](x:float) -> (y:U) {\n  y = Complex[T=float, Tout=$U](x, x)\n  return y "
                      "= y:out:0\n}\n"
                      "F(x:float) -> (y:float) {\n  y = Halves[U=float](x)\n  return y = y:y:0\n}\n")) {
    Tensor result = {0};
    CHECK_ERROR(functions_run(&f, "F", "float[70] 1", &result, 1), f.status, CODE_INVALID_ARGUMENT,
                "Value for attr 'Tout' of float is not in the list of allowed values: complex64, complex128");
    tensor_clear(&result);
  }
  functions_end(&f);
}
