#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"
#include "op/shape_language.h"
#include "wasm/wasm_exports.h"

/* --- input values: shape functions rely on their declared types and shapes --- */

/* Attrs need not determine which of several types the input has; shape functions use the value's type. */
static bool takes_type(const OpDef *op, const ArgDef *arg, DataType type) {
  if (arg->type != TENSORFLOW__DATA_TYPE__DT_INVALID) return dtype_base((DataType)arg->type) == (int)type;
  const AttrDef *attr = op_def_attr(op, arg->type_attr[0] ? arg->type_attr : arg->type_list_attr);
  const AttrListValue *allowed = attr && attr->allowed_values ? attr->allowed_values->list : NULL;
  for (size_t i = 0; allowed && i < allowed->n_type; i++) {
    if ((int)allowed->type[i] == (int)type) return true;
  }
  return !allowed;
}

static bool check_type(const InferenceContext *c, int input, DataType type, Arena *arena, Status *status) {
  int *starts, arg = 0;
  TRY(node_def_arg_ranges(c->node, c->op_def, false, arena, &starts, status));
  while (starts[arg + 1] <= input) arg++;
  if (takes_type(c->op_def, c->op_def->input_arg[arg], type)) return true;
  return status_invalid(status, "Input %d of op %s cannot be %s", input, c->op_def->name, dtype_name(type));
}

/* Takes the value's shape where the given one is less specific. TensorFlow's own tests sometimes contradict
 * themselves; that is harmless as long as the number of elements agrees. */
static bool fit_shape(InferenceContext *c, ShapeHandle *shape, const Tensor *value, Status *status) {
  Status mismatch;
  status_init(&mismatch);
  ShapeHandle own, merged;
  TRY(shape_ok(shape_of_tensor_shape(c, &value->shape), &own, status));
  if (shape_merge(c, *shape, own, &merged, &mismatch)) {
    *shape = merged;
    return true;
  }
  DimHandle promised;
  TRY(dim_ok(shape_num_elements_of(c, *shape), &promised, status));
  if (dim_known(promised) && dim_value(promised) <= tensor_num_elements(value)) return true;
  return status_set(status, mismatch.code, "%s", mismatch.message);
}

static bool set_values(InferenceContext *c, const int *positions, TF_Tensor *const *tensors, int count,
                       Arena *arena, Status *status) {
  const Tensor **values = arena_calloc(arena, (int64_t)c->num_inputs + 1, sizeof *values);
  ShapeHandle *shapes = arena_calloc(arena, (int64_t)c->num_inputs + 1, sizeof *shapes);
  if (!values || !shapes) return status_oom(status, "shape inference");
  for (int i = 0; i < c->num_inputs; i++) shapes[i] = c->inputs[i];
  for (int i = 0; i < count; i++) {
    int input = positions[i];
    if (input < 0 || input >= c->num_inputs) {
      return status_invalid(status, "There is a value for input %d, but the node has %d inputs", input,
                            c->num_inputs);
    }
    const Tensor *value = &tensors[i]->tensor;
    TRY(check_type(c, input, value->dtype, arena, status));
    TRY(fit_shape(c, &shapes[input], value, status));
    values[input] = value;
  }
  c->inputs = shapes;
  c->input_tensors = values;
  return true;
}

static bool infer_shapes(NodeDef *node, const int *tensor_inputs, TF_Tensor *const *tensors, int num_tensors,
                         int version, const char *input_shapes, Arena *arena, TF_Buffer *text,
                         Status *status) {
  const Op *op;
  InferenceContext context;
  TRY(op_registry_look_up(op_registry_global(), node->op, &op, status));
  TRY(shape_trial_begin(&context, op, node, version < 0 ? GRAPH_DEF_PRODUCER : version, input_shapes, arena,
                        status));
  TRY(set_values(&context, tensor_inputs, tensors, num_tensors, arena, status));
  TRY(shape_trial_run(&context, op, status));
  StrBuf printed = {0};
  shape_language_print_outputs(&context, &printed);
  return fill_buffer(&printed, text, status);
}

void TF_WasmInferShapes(const void *node_def, size_t length, const int *tensor_inputs,
                        TF_Tensor *const *tensors, int num_tensors, int graph_def_version,
                        const char *input_shapes, TF_Buffer *text, TF_Status *status) {
  status_init(&status->status);
  Arena *arena = arena_new();
  void *node;
  if (!arena) {
    status_oom(&status->status, "shape inference");
  } else if (register_ops(&status->status) &&
             proto_parse(kNodeDef, node_def, length, arena, &node, &status->status)) {
    reported(infer_shapes(node, tensor_inputs, tensors, num_tensors, graph_def_version, input_shapes, arena,
                          text, &status->status));
  }
  arena_free(arena);
}
