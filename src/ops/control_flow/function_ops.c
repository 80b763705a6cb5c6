/* Arguments and results of functions, and conversions between lists of a single type and lists of mixed
 * types. */
#include "op/op_registry.h"

/* A call supplies the arguments and takes the results, so these nodes never run. */
static bool outside_of_calls(KernelContext *context, Status *status) {
  (void)context;
  return status_set(status, CODE_INTERNAL, "no call frame");
}

const OpRegistration kOp_Arg = {
    .name = "_Arg",
    .outputs = {"output: T"},
    .attrs = {"T: type", "index: int >= 0"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, outside_of_calls}},
};

const OpRegistration kOp_DeviceArg = {
    .name = "_DeviceArg",
    .outputs = {"output: T"},
    .attrs = {"T: type", "index: int >= 0"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, outside_of_calls}},
};

const OpRegistration kOp_Retval = {
    .name = "_Retval",
    .inputs = {"input: T"},
    .attrs = {"T: type", "index: int >= 0"},
    .is_stateful = true,
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, outside_of_calls}},
};

const OpRegistration kOp_DeviceRetval = {
    .name = "_DeviceRetval",
    .inputs = {"input: T"},
    .attrs = {"T: type", "index: int >= 0"},
    .is_stateful = true,
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, outside_of_calls}},
};

/* --- lists --- */

static bool pass_list(KernelContext *context, Status *status) {
  for (int i = 0; i < context->num_inputs; i++) {
    if (context->inputs[i]->dtype != (DataType)dtype_base((int)context->output_types[i])) {
      return status_invalid(status, "Element %d is %s, not %s", i, dtype_name((int)context->inputs[i]->dtype),
                            dtype_name((int)context->output_types[i]));
    }
    TRY(kernel_set_output(context, i, context->inputs[i], NULL, status));
  }
  return true;
}

static bool list_shape(InferenceContext *c, Status *status) {
  if (c->num_inputs != c->num_outputs)
    return status_invalid(status, "Expected %d outputs, not %d", c->num_inputs, c->num_outputs);
  for (int i = 0; i < c->num_inputs; i++) shape_set_output(c, i, shape_input(c, i));
  return true;
}

const OpRegistration kOp_ListToArray = {
    .name = "_ListToArray",
    .inputs = {"input: Tin"},
    .outputs = {"output: N * T"},
    .attrs = {"Tin: list(type)", "T: type", "N: int >= 1"},
    .shape = list_shape,
    .gradient =
        "ListToArrayGradient[Tin:list(type), T:type, N:int](input:Tin, dy:N*T) -> (dinput:Tin) {\n"
        "  d = _ArrayToList[T=$T, N=$N, out_types=$Tin](dy)\n"
        "  return dinput = d:output\n"
        "}\n",
    .kernels = {{DT_INVALID, pass_list}},
};

const OpRegistration kOp_ArrayToList = {
    .name = "_ArrayToList",
    .inputs = {"input: N * T"},
    .outputs = {"output: out_types"},
    .attrs = {"T: type", "N: int >= 1", "out_types: list(type)"},
    .shape = list_shape,
    .gradient =
        "ArrayToListGradient[T:type, N:int, out_types:list(type)](input:N*T, dy:out_types) -> (dinput:N*T) "
        "{\n"
        "  d = _ListToArray[Tin=$out_types, T=$T, N=$N](dy)\n"
        "  return dinput = d:output\n"
        "}\n",
    .kernels = {{DT_INVALID, pass_list}},
};
