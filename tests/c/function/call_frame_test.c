/* Call frames: types, order and ownership of arguments and results. */
#include "function/call_frame.h"

#include "base/alloc.h"
#include "harness.h"

static Tensor scalar(DataType dtype) {
  Status status;
  status_init(&status);
  Tensor tensor = {0};
  CHECK_OK(tensor_allocate_dims(&tensor, dtype, 0, NULL, NULL, &status), &status);
  if (dtype == DT_FLOAT) tensor_f32(&tensor)[0] = 1.5f;
  if (dtype == DT_INT64) tensor_i64(&tensor)[0] = 7;
  return tensor;
}

#define CHECK_FAILS(call, wanted_code, wanted) \
  do {                                         \
    status_init(&status);                      \
    CHECK(!(call));                            \
    CHECK_INT_EQ(status.code, wanted_code);    \
    CHECK_STR_EQ(status.message, wanted);      \
    status_init(&status);                      \
  } while (0)

TEST(a_frame_takes_arguments_of_its_types) {
  static const DataType kArgs[] = {DT_FLOAT, DT_INT64};
  Status status;
  status_init(&status);
  FunctionCallFrame frame;
  REQUIRE_OK(call_frame_init(&frame, kArgs, 2, NULL, 0, &status), &status);
  Tensor args[] = {scalar(DT_FLOAT), scalar(DT_INT64)};
  const Tensor *in_order[] = {&args[0], &args[1]}, *swapped[] = {&args[1], &args[0]}, *arg = NULL;
  CHECK_FAILS(call_frame_set_args(&frame, NULL, 0, &status), CODE_INVALID_ARGUMENT,
              "Expects 2 arguments, but 0 is provided");
  CHECK_FAILS(call_frame_set_args(&frame, in_order, 1, &status), CODE_INVALID_ARGUMENT,
              "Expects 2 arguments, but 1 is provided");
  CHECK_FAILS(call_frame_set_args(&frame, swapped, 2, &status), CODE_INVALID_ARGUMENT,
              "Expects arg[0] to be float but int64 is provided");
  CHECK_OK(call_frame_set_args(&frame, in_order, 2, &status), &status);
  CHECK_OK(call_frame_get_arg(&frame, 1, &arg, &status), &status);
  CHECK(arg->data == args[1].data); /* shared */
  CHECK_FAILS(call_frame_get_arg(&frame, 2, &arg, &status), CODE_INVALID_ARGUMENT,
              "GetArg 2 is not within [0, 2)");
  CHECK_FAILS(call_frame_get_arg(&frame, -1, &arg, &status), CODE_INVALID_ARGUMENT,
              "GetArg -1 is not within [0, 2)");
  CHECK_FAILS(call_frame_set_args(&frame, swapped, 2, &status), CODE_INVALID_ARGUMENT,
              "Expects arg[0] to be float but int64 is provided");
  CHECK_OK(call_frame_get_arg(&frame, 0, &arg, &status), &status);
  CHECK(arg->data == args[0].data); /* unchanged */
  tensor_clear(&args[0]);
  tensor_clear(&args[1]);
  call_frame_free(&frame);
  call_frame_free(&frame);
}

TEST(what_a_reference_refers_to_is_an_argument) {
  static const DataType kArgs[] = {(DataType)(DT_FLOAT + DT_REF)};
  Status status;
  status_init(&status);
  FunctionCallFrame frame;
  REQUIRE_OK(call_frame_init(&frame, kArgs, 1, NULL, 0, &status), &status);
  Tensor x = scalar(DT_FLOAT), n = scalar(DT_INT64);
  CHECK_OK(call_frame_set_args(&frame, &(const Tensor *){&x}, 1, &status), &status);
  CHECK_FAILS(call_frame_set_args(&frame, &(const Tensor *){&n}, 1, &status), CODE_INVALID_ARGUMENT,
              "Expects arg[0] to be float but int64 is provided");
  tensor_clear(&x);
  tensor_clear(&n);
  call_frame_free(&frame);
}

TEST(a_frame_takes_every_result_once) {
  static const DataType kRets[] = {DT_FLOAT, DT_INT64};
  Status status;
  status_init(&status);
  FunctionCallFrame frame;
  REQUIRE_OK(call_frame_init(&frame, NULL, 0, kRets, 2, &status), &status);
  Tensor x = scalar(DT_FLOAT), n = scalar(DT_INT64), rets[2] = {{0}};
  CHECK_FAILS(call_frame_get_retvals(&frame, rets, &status), CODE_INTERNAL, "Retval[0] does not have value");
  CHECK_FAILS(call_frame_set_retval(&frame, 2, &x, &status), CODE_INVALID_ARGUMENT,
              "SetRetval 2 is not within [0, 2)");
  CHECK_FAILS(call_frame_set_retval(&frame, 0, &n, &status), CODE_INVALID_ARGUMENT,
              "Expects ret[0] to be float, but int64 is provided.");
  CHECK_OK(call_frame_set_retval(&frame, 0, &x, &status), &status);
  CHECK_FAILS(call_frame_set_retval(&frame, 0, &x, &status), CODE_INTERNAL,
              "Retval[0] has already been set.");
  CHECK_FAILS(call_frame_consume_retvals(&frame, rets, &status), CODE_INTERNAL,
              "Retval[1] does not have value");
  CHECK(tensor_is_empty(&rets[0]));
  CHECK_OK(call_frame_set_retval(&frame, 1, &n, &status), &status);
  CHECK_OK(call_frame_get_retvals(&frame, rets, &status), &status);
  CHECK(rets[0].data == x.data && rets[1].data == n.data);
  CHECK_OK(call_frame_consume_retvals(&frame, rets, &status), &status);
  CHECK(rets[0].data == x.data && rets[1].data == n.data);
  CHECK_FAILS(call_frame_get_retvals(&frame, rets, &status), CODE_INTERNAL, "Retval[0] does not have value");
  for (int i = 0; i < 2; i++) tensor_clear(&rets[i]);
  tensor_clear(&x);
  tensor_clear(&n);
  call_frame_free(&frame);
}

TEST(calls_through_one_frame_allocate_nothing) {
  static const DataType kTypes[] = {DT_FLOAT, DT_FLOAT};
  Status status;
  status_init(&status);
  FunctionCallFrame frame;
  REQUIRE_OK(call_frame_init(&frame, kTypes, 2, kTypes, 2, &status), &status);
  Tensor args[] = {scalar(DT_FLOAT), scalar(DT_FLOAT)}, rets[2] = {{0}};
  const Tensor *in_order[] = {&args[0], &args[1]};
  int64_t before = mem_allocation_count();
  for (int call = 0; call < 1000; call++) {
    CHECK_OK(call_frame_set_args(&frame, in_order, 2, &status), &status);
    for (int i = 0; i < 2; i++) {
      const Tensor *arg = NULL;
      CHECK_OK(call_frame_get_arg(&frame, i, &arg, &status), &status);
      CHECK_OK(call_frame_set_retval(&frame, 1 - i, arg, &status), &status);
    }
    CHECK_OK(call_frame_consume_retvals(&frame, rets, &status), &status);
    CHECK(rets[0].data == args[1].data && rets[1].data == args[0].data);
    call_frame_reset(&frame);
  }
  CHECK_INT_EQ(mem_allocation_count(), before);
  for (int i = 0; i < 2; i++) {
    tensor_clear(&args[i]);
    tensor_clear(&rets[i]);
  }
  call_frame_free(&frame);
}

TEST(a_frame_needs_memory) {
  static const DataType kTypes[] = {DT_FLOAT};
  Status status;
  status_init(&status);
  FunctionCallFrame frame;
  mem_fail_after(0);
  CHECK(!call_frame_init(&frame, kTypes, 1, kTypes, 1, &status));
  mem_fail_after(-1);
  CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
  call_frame_free(&frame);
}
