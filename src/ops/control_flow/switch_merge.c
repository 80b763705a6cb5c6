/* Switch, Merge, Enter, Exit, NextIteration and related ops. They have no kernels: the program implements
 * them (runtime/program.h). */
#include "op/node_def.h"
#include "op/op_registry.h"

/* --- shapes --- */

static bool pass_handle(InferenceContext *c, int output, Status *status) {
  const HandleData *handle = c->input_handles ? c->input_handles[0] : NULL;
  return !handle || shape_set_output_handle(c, output, handle->entries, handle->count, status);
}

/* All outputs have the shape of the first input. The second input, a scalar, selects the output that is
 * alive. */
static bool switch_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &scalar, status));
  for (int i = 0; i < c->num_outputs; i++) {
    shape_set_output(c, i, shape_input(c, 0));
    TRY(pass_handle(c, i, status));
  }
  return true;
}

static bool common_dims(InferenceContext *c, ShapeHandle input, ShapeHandle *out, Status *status) {
  for (int d = 0; d < shape_rank(*out); d++) {
    if (dim_value(input->dims[d]) == dim_value((*out)->dims[d])) continue;
    DimHandle unknown;
    TRY(dim_ok(dim_unknown(c), &unknown, status));
    TRY(shape_replace_dim(c, *out, d, unknown, out, status));
  }
  return true;
}

/* The output has the dimensions that all input shapes share, because any input may become the value. */
static bool merge_shape(InferenceContext *c, Status *status) {
  ShapeHandle out = shape_input(c, 0), index;
  if (!shape_rank_known(out)) TRY(shape_ok(shape_unknown(c), &out, status));
  for (int i = 1; i < c->num_inputs && shape_rank_known(out); i++) {
    ShapeHandle input = shape_input(c, i);
    if (shape_rank_known(input) && shape_rank(input) == shape_rank(out)) {
      TRY(common_dims(c, input, &out, status));
    } else {
      TRY(shape_ok(shape_unknown(c), &out, status));
    }
  }
  TRY(shape_ok(shape_scalar(c), &index, status));
  shape_set_output(c, 0, out);
  shape_set_output(c, 1, index);
  return true;
}

/* A constant Enter has the same value in every iteration. Otherwise iterations may change the shape. */
static bool enter_shape(InferenceContext *c, Status *status) {
  bool is_constant;
  ShapeHandle out = shape_input(c, 0);
  TRY(node_attr_bool(c->node, "is_constant", &is_constant, status));
  if (!is_constant) TRY(shape_ok(shape_unknown(c), &out, status));
  shape_set_output(c, 0, out);
  return pass_handle(c, 0, status);
}

static bool loop_cond_shape(InferenceContext *c, Status *status) {
  return shape_unchanged_with_rank(c, shape_input(c, 0), 0, status);
}

/* --- ops --- */

const OpRegistration kOpSwitch = {
    .name = "Switch",
    .inputs = {"data: T", "pred: bool"},
    .outputs = {"output_false: T", "output_true: T"},
    .attrs = {"T: type"},
    .shape = switch_shape,
};

const OpRegistration kOp_SwitchN = {
    .name = "_SwitchN",
    .inputs = {"data: T", "output_index: int32"},
    .outputs = {"outputs: num_outs * T"},
    .attrs = {"num_outs: int >= 1", "T: type"},
    .shape = switch_shape,
};

const OpRegistration kOpMerge = {
    .name = "Merge",
    .inputs = {"inputs: N * T"},
    .outputs = {"output: T", "value_index: int32"},
    .attrs = {"T: type", "N: int >= 1"},
    .shape = merge_shape,
};

const OpRegistration kOpEnter = {
    .name = "Enter",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "frame_name: string", "is_constant: bool = false", "parallel_iterations: int = 10"},
    .shape = enter_shape,
};

const OpRegistration kOpExit = {
    .name = "Exit",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};

const OpRegistration kOpNextIteration = {
    .name = "NextIteration",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};

const OpRegistration kOpRefSwitch = {
    .name = "RefSwitch",
    .inputs = {"data: Ref(T)", "pred: bool"},
    .outputs = {"output_false: Ref(T)", "output_true: Ref(T)"},
    .attrs = {"T: type"},
    .allows_uninitialized_input = true,
    .shape = switch_shape,
};

const OpRegistration kOpRefMerge = {
    .name = "RefMerge",
    .inputs = {"inputs: Ref(N * T)"},
    .outputs = {"output: Ref(T)", "value_index: int32"},
    .attrs = {"T: type", "N: int >= 1"},
    .shape = merge_shape,
};

const OpRegistration kOpRefEnter = {
    .name = "RefEnter",
    .inputs = {"data: Ref(T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {"T: type", "frame_name: string", "is_constant: bool = false", "parallel_iterations: int = 10"},
    .shape = shape_unchanged,
};

const OpRegistration kOpRefExit = {
    .name = "RefExit",
    .inputs = {"data: Ref(T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};

const OpRegistration kOpRefNextIteration = {
    .name = "RefNextIteration",
    .inputs = {"data: Ref(T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};

const OpRegistration kOpLoopCond = {
    .name = "LoopCond",
    .inputs = {"input: bool"},
    .outputs = {"output: bool"},
    .shape = loop_cond_shape,
};

const OpRegistration kOpControlTrigger = {
    .name = "ControlTrigger",
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
};
