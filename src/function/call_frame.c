#include "function/call_frame.h"

#include "base/alloc.h"

bool call_frame_init(FunctionCallFrame *frame, const DataType *arg_types, int num_args,
                     const DataType *ret_types, int num_rets, Status *status) {
  *frame = (FunctionCallFrame){.arg_types = arg_types,
                               .ret_types = ret_types,
                               .num_args = num_args,
                               .num_rets = num_rets};
  frame->args = mem_calloc((int64_t)num_args + num_rets, sizeof *frame->args);
  if (!frame->args) {
    *frame = (FunctionCallFrame){0};
    return status_oom(status, "the call of a function");
  }
  frame->rets = frame->args + num_args;
  return true;
}

void call_frame_clear_retvals(FunctionCallFrame *frame) {
  for (int i = 0; i < frame->num_rets; i++) tensor_clear(&frame->rets[i]);
}

void call_frame_reset(FunctionCallFrame *frame) {
  for (int i = 0; i < frame->num_args; i++) tensor_clear(&frame->args[i]);
  call_frame_clear_retvals(frame);
}

void call_frame_free(FunctionCallFrame *frame) {
  call_frame_reset(frame);
  mem_free(frame->args);
  *frame = (FunctionCallFrame){0};
}

/* --- arguments --- */

bool call_frame_check_num_args(int want, int num_args, Status *status) {
  return num_args == want ||
         status_invalid(status, "Expects %d arguments, but %d is provided", want, num_args);
}

bool call_frame_check_arg_type(int index, DataType want, DataType type, Status *status) {
  want = (DataType)dtype_base((int)want);
  return type == want || status_invalid(status, "Expects arg[%d] to be %s but %s is provided", index,
                                        dtype_name(want), dtype_name(type));
}

bool call_frame_set_args(FunctionCallFrame *frame, const Tensor *const *args, int num_args, Status *status) {
  TRY(call_frame_check_num_args(frame->num_args, num_args, status));
  for (int i = 0; i < num_args; i++)
    TRY(call_frame_check_arg_type(i, frame->arg_types[i], args[i]->dtype, status));
  for (int i = 0; i < num_args; i++) TRY(tensor_assign(&frame->args[i], args[i], status));
  return true;
}

bool call_frame_get_arg(const FunctionCallFrame *frame, int index, const Tensor **arg, Status *status) {
  if (index < 0 || index >= frame->num_args)
    return status_invalid(status, "GetArg %d is not within [0, %d)", index, frame->num_args);
  *arg = &frame->args[index];
  return true;
}

/* --- results --- */

bool call_frame_set_retval(FunctionCallFrame *frame, int index, const Tensor *value, Status *status) {
  if (index < 0 || index >= frame->num_rets)
    return status_invalid(status, "SetRetval %d is not within [0, %d)", index, frame->num_rets);
  if (value->dtype != frame->ret_types[index]) {
    return status_invalid(status, "Expects ret[%d] to be %s, but %s is provided.", index,
                          dtype_name(frame->ret_types[index]), dtype_name(value->dtype));
  }
  if (!tensor_is_empty(&frame->rets[index]))
    return status_set(status, CODE_INTERNAL, "Retval[%d] has already been set.", index);
  return tensor_assign(&frame->rets[index], value, status);
}

static bool check_rets(const FunctionCallFrame *frame, Status *status) {
  for (int i = 0; i < frame->num_rets; i++) {
    if (tensor_is_empty(&frame->rets[i]))
      return status_set(status, CODE_INTERNAL, "Retval[%d] does not have value", i);
  }
  return true;
}

bool call_frame_get_retvals(const FunctionCallFrame *frame, Tensor *rets, Status *status) {
  TRY(check_rets(frame, status));
  for (int i = 0; i < frame->num_rets; i++) TRY(tensor_assign(&rets[i], &frame->rets[i], status));
  return true;
}

bool call_frame_consume_retvals(FunctionCallFrame *frame, Tensor *rets, Status *status) {
  TRY(check_rets(frame, status));
  for (int i = 0; i < frame->num_rets; i++) tensor_move(&rets[i], &frame->rets[i]);
  return true;
}
