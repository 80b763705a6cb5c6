/* FunctionCallFrame: the arguments and results of one call of a function. The function runtime runs
 * functions through it (function_runtime_run_frame). */
#ifndef TFCORE_FUNCTION_CALL_FRAME_H_
#define TFCORE_FUNCTION_CALL_FRAME_H_

#include "tensor/tensor.h"

/* Made once for a function and reused for many calls, with call_frame_reset between them. Calls that take
 * values move or share them; nothing is allocated. Different threads may set different rets at the same
 * time. */
typedef struct FunctionCallFrame {
  const DataType *arg_types, *ret_types; /* borrowed */
  int num_args, num_rets;
  Tensor *args;
  Tensor *rets; /* empty: not set */
} FunctionCallFrame;

/* The types must outlive the frame. Free with call_frame_free. */
MUST_CHECK bool call_frame_init(FunctionCallFrame *frame, const DataType *arg_types, int num_args,
                                const DataType *ret_types, int num_rets, Status *status);
/* Drops the results; the second drops arguments and results. */
void call_frame_clear_retvals(FunctionCallFrame *frame);
void call_frame_reset(FunctionCallFrame *frame);
/* A zeroed frame is valid. */
void call_frame_free(FunctionCallFrame *frame);

/* Check the number of arguments, and the type of argument `index` (for a reference, the type that it
 * refers to). INVALID_ARGUMENT "Expects 2 arguments, but 0 is provided", "Expects arg[1] to be float but
 * int64 is provided". */
MUST_CHECK bool call_frame_check_num_args(int want, int num_args, Status *status);
MUST_CHECK bool call_frame_check_arg_type(int index, DataType want, DataType type, Status *status);

/* Shares the values. INVALID_ARGUMENT as above; the frame is then unchanged. */
MUST_CHECK bool call_frame_set_args(FunctionCallFrame *frame, const Tensor *const *args, int num_args,
                                    Status *status);
/* Borrowed from the frame. INVALID_ARGUMENT "GetArg 2 is not within [0, 2)". */
MUST_CHECK bool call_frame_get_arg(const FunctionCallFrame *frame, int index, const Tensor **arg,
                                   Status *status);

/* Shares the value. INVALID_ARGUMENT "SetRetval 1 is not within [0, 1)", "Expects ret[0] to be float, but
 * int64 is provided."; INTERNAL "Retval[0] has already been set." */
MUST_CHECK bool call_frame_set_retval(FunctionCallFrame *frame, int index, const Tensor *value,
                                      Status *status);
/* `rets` are frame->num_rets tensors; the first shares the results, the second moves them out. INTERNAL
 * "Retval[0] does not have value"; then no result is given. */
MUST_CHECK bool call_frame_get_retvals(const FunctionCallFrame *frame, Tensor *rets, Status *status);
MUST_CHECK bool call_frame_consume_retvals(FunctionCallFrame *frame, Tensor *rets, Status *status);

#endif
