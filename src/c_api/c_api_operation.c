/* Construction of operations: TF_NewOperation ... TF_FinishOperation. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"

/* An operation under construction; everything is allocated in its own arena until TF_FinishOperation copies
 * it into the graph. */
struct TF_OperationDescription {
  TF_Graph *graph;
  Arena *arena;
  NodeDefBuilder *builder; /* NULL when the op is unknown */
  NodeOutput *inputs;
  int64_t num_inputs, input_capacity;
  Node **control_inputs;
  int64_t num_control_inputs, control_input_capacity;
  Str *colocations; /* "loc:@name" */
  int64_t num_colocations, colocation_capacity;
  Status status; /* the first error */
};

void free_description(TF_OperationDescription *desc) {
  if (!desc) return;
  mem_free(desc->inputs);
  mem_free(desc->control_inputs);
  mem_free(desc->colocations);
  arena_free(desc->arena);
  mem_free(desc);
}

static bool find_op(TF_Graph *graph, const char *type, const Op **op, Status *status) {
  lock_graph(graph);
  bool found = graph_look_up_op(graph->graph, type, op, status);
  unlock_graph(graph);
  return found;
}

TF_OperationDescription *TF_NewOperation(TF_Graph *graph, const char *op_type, const char *oper_name) {
  TF_OperationDescription *desc = mem_calloc(1, sizeof *desc);
  if (!desc) return NULL;
  desc->graph = graph;
  desc->arena = arena_new();
  if (!desc->arena) {
    mem_free(desc);
    return NULL;
  }
  status_init(&desc->status);
  const Op *op;
  if (!find_op(graph, op_type, &op, &desc->status)) {
    /* The caller gets INVALID_ARGUMENT, as for other errors in an operation. */
    if (desc->status.code == CODE_NOT_FOUND) desc->status.code = CODE_INVALID_ARGUMENT;
    return desc;
  }
  desc->builder = node_def_builder_new(desc->arena, oper_name, op->def);
  if (!desc->builder) status_oom(&desc->status, "an operation");
  return desc;
}

TF_OperationDescription *TF_NewOperationLocked(TF_Graph *graph, const char *op_type, const char *oper_name) {
  return TF_NewOperation(graph, op_type, oper_name);
}

/* False when an earlier call for the description failed. */
static bool usable(const TF_OperationDescription *desc) { return desc && desc->status.code == CODE_OK; }

void TF_SetDevice(TF_OperationDescription *desc, const char *device) {
  if (usable(desc)) node_def_builder_device(desc->builder, device);
}

/* Whether the operation belongs to the graph. */
static bool check_operation(TF_OperationDescription *desc, const TF_Operation *oper) {
  lock_graph(desc->graph);
  bool ok = graph_check_node(desc->graph->graph, operation_node(oper), &desc->status);
  unlock_graph(desc->graph);
  return ok;
}

static bool keep_input(TF_OperationDescription *desc, TF_Output input) {
  if (!check_output_index(input, &desc->status) || !check_operation(desc, input.oper)) return false;
  if (!mem_grow((void **)&desc->inputs, &desc->input_capacity, desc->num_inputs + 1, sizeof *desc->inputs)) {
    return status_oom(&desc->status, "an operation");
  }
  desc->inputs[desc->num_inputs++] = to_node_output(input);
  return true;
}

void TF_AddInput(TF_OperationDescription *desc, TF_Output input) {
  if (!usable(desc) || !keep_input(desc, input)) return;
  node_def_builder_input(desc->builder, operation_node(input.oper)->name, input.index,
                         node_output_type(to_node_output(input)));
}

void TF_AddInputList(TF_OperationDescription *desc, const TF_Output *inputs, int num_inputs) {
  if (!usable(desc)) return;
  const char **names = arena_calloc(desc->arena, num_inputs, sizeof *names);
  int *indexes = arena_calloc(desc->arena, num_inputs, sizeof *indexes);
  DataType *types = arena_calloc(desc->arena, num_inputs, sizeof *types);
  if (!names || !indexes || !types) {
    status_oom(&desc->status, "an operation");
    return;
  }
  for (int i = 0; i < num_inputs; i++) {
    if (!keep_input(desc, inputs[i])) return;
    names[i] = operation_node(inputs[i].oper)->name;
    indexes[i] = inputs[i].index;
    types[i] = node_output_type(to_node_output(inputs[i]));
  }
  node_def_builder_input_list(desc->builder, names, indexes, types, num_inputs);
}

void TF_AddControlInput(TF_OperationDescription *desc, TF_Operation *input) {
  if (!usable(desc) || !check_operation(desc, input)) return;
  if (!mem_grow((void **)&desc->control_inputs, &desc->control_input_capacity, desc->num_control_inputs + 1,
                sizeof(Node *))) {
    status_oom(&desc->status, "an operation");
    return;
  }
  desc->control_inputs[desc->num_control_inputs++] = operation_node(input);
}

void TF_ColocateWith(TF_OperationDescription *desc, TF_Operation *op) {
  if (!usable(desc)) return;
  char *location = arena_printf(desc->arena, "loc:@%s", operation_node(op)->name);
  if (!location || !mem_grow((void **)&desc->colocations, &desc->colocation_capacity,
                             desc->num_colocations + 1, sizeof(Str))) {
    status_oom(&desc->status, "an operation");
    return;
  }
  desc->colocations[desc->num_colocations++] = str_of(location);
}

/* ---- attrs ---- */

/* `value` is NULL when memory ran out. */
static void set_attr(TF_OperationDescription *desc, const char *name, const AttrValue *value) {
  if (!value) {
    status_oom(&desc->status, "an attr");
  } else if (strcmp(name, "_class") == 0 && value->value_case == (int)ATTR_LIST) {
    /* Replaces earlier calls of TF_ColocateWith, as in TensorFlow. */
    desc->num_colocations = 0;
    for (size_t i = 0; i < value->list->n_s; i++) {
      if (!mem_grow((void **)&desc->colocations, &desc->colocation_capacity, desc->num_colocations + 1,
                    sizeof(Str))) {
        status_oom(&desc->status, "an attr");
        return;
      }
      desc->colocations[desc->num_colocations++] =
          (Str){(const char *)value->list->s[i].data, value->list->s[i].len};
    }
  } else {
    node_def_builder_attr(desc->builder, name, value);
  }
}

void TF_SetAttrString(TF_OperationDescription *desc, const char *attr_name, const void *value,
                      size_t length) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_string(desc->arena, value, length));
}

void TF_SetAttrStringList(TF_OperationDescription *desc, const char *attr_name, const void *const *values,
                          const size_t *lengths, int num_values) {
  if (usable(desc)) set_attr(desc, attr_name, attr_of_strings(desc->arena, values, lengths, num_values));
}

void TF_SetAttrInt(TF_OperationDescription *desc, const char *attr_name, int64_t value) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_int(desc->arena, value));
}

void TF_SetAttrIntList(TF_OperationDescription *desc, const char *attr_name, const int64_t *values,
                       int num_values) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_int_list(desc->arena, values, (size_t)num_values));
}

void TF_SetAttrFloat(TF_OperationDescription *desc, const char *attr_name, float value) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_float(desc->arena, value));
}

void TF_SetAttrFloatList(TF_OperationDescription *desc, const char *attr_name, const float *values,
                         int num_values) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_float_list(desc->arena, values, (size_t)num_values));
}

void TF_SetAttrBool(TF_OperationDescription *desc, const char *attr_name, unsigned char value) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_bool(desc->arena, value != 0));
}

void TF_SetAttrBoolList(TF_OperationDescription *desc, const char *attr_name, const unsigned char *values,
                        int num_values) {
  if (usable(desc)) set_attr(desc, attr_name, attr_of_bools(desc->arena, values, num_values));
}

void TF_SetAttrType(TF_OperationDescription *desc, const char *attr_name, TF_DataType value) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_type(desc->arena, (int)value));
}

void TF_SetAttrTypeList(TF_OperationDescription *desc, const char *attr_name, const TF_DataType *values,
                        int num_values) {
  if (usable(desc)) set_attr(desc, attr_name, attr_of_types(desc->arena, values, num_values));
}

void TF_SetAttrPlaceholder(TF_OperationDescription *desc, const char *attr_name, const char *placeholder) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_placeholder(desc->arena, placeholder));
}

void TF_SetAttrFuncName(TF_OperationDescription *desc, const char *attr_name, const char *value,
                        size_t length) {
  if (!usable(desc)) return;
  char *name = arena_strndup(desc->arena, value, length);
  set_attr(desc, attr_name, name ? attr_value_func(desc->arena, name, NULL) : NULL);
}

void TF_SetAttrShape(TF_OperationDescription *desc, const char *attr_name, const int64_t *dims,
                     int num_dims) {
  if (usable(desc)) set_attr(desc, attr_name, attr_value_shape(desc->arena, num_dims, dims));
}

void TF_SetAttrShapeList(TF_OperationDescription *desc, const char *attr_name, const int64_t *const *dims,
                         const int *num_dims, int num_shapes) {
  if (usable(desc)) set_attr(desc, attr_name, attr_of_shapes(desc->arena, dims, num_dims, num_shapes));
}

void TF_SetAttrTensorShapeProto(TF_OperationDescription *desc, const char *attr_name, const void *proto,
                                size_t proto_len, TF_Status *status) {
  start_status(status);
  void *shape;
  if (!usable(desc) || !parse_given(kTensorShapeProto, proto, proto_len, "Unparseable TensorShapeProto",
                                    desc->arena, &shape, &status->status)) {
    return;
  }
  AttrValue *value = proto_new(kAttrValue, desc->arena);
  if (value) {
    value->value_case = (int)ATTR_SHAPE;
    value->shape = shape;
  }
  set_attr(desc, attr_name, value);
}

void TF_SetAttrTensorShapeProtoList(TF_OperationDescription *desc, const char *attr_name,
                                    const void *const *protos, const size_t *proto_lens, int num_shapes,
                                    TF_Status *status) {
  start_status(status);
  if (!usable(desc)) return;
  void **shapes = arena_calloc(desc->arena, num_shapes, sizeof *shapes);
  if (!shapes) {
    status_oom(&status->status, "an attr");
    return;
  }
  for (int i = 0; i < num_shapes; i++) {
    if (!parse_given(kTensorShapeProto, protos[i], proto_lens[i], "Unparseable TensorShapeProto", desc->arena,
                     &shapes[i], &status->status)) {
      return;
    }
  }
  set_attr(desc, attr_name,
           attr_value_shape_list(desc->arena, (const TensorShapeProto *const *)shapes, (size_t)num_shapes));
}

void TF_SetAttrTensorList(TF_OperationDescription *desc, const char *attr_name, TF_Tensor *const *values,
                          int num_values, TF_Status *status) {
  start_status(status);
  if (!usable(desc)) return;
  TensorProto **protos = arena_calloc(desc->arena, num_values, sizeof *protos);
  if (!protos) {
    status_oom(&status->status, "an attr");
    return;
  }
  for (int i = 0; i < num_values; i++) {
    if (!tensor_to_proto(&values[i]->tensor, desc->arena, &protos[i], &status->status)) return;
  }
  set_attr(desc, attr_name, attr_value_tensor_list(desc->arena, protos, (size_t)num_values));
}

void TF_SetAttrTensor(TF_OperationDescription *desc, const char *attr_name, TF_Tensor *value,
                      TF_Status *status) {
  start_status(status);
  TensorProto *proto;
  if (!usable(desc) || !tensor_to_proto(&value->tensor, desc->arena, &proto, &status->status)) return;
  set_attr(desc, attr_name, attr_value_tensor(desc->arena, proto));
}

void TF_SetAttrValueProto(TF_OperationDescription *desc, const char *attr_name, const void *proto,
                          size_t proto_len, TF_Status *status) {
  start_status(status);
  void *value;
  if (!usable(desc) || !parse_given(kAttrValue, proto, proto_len, "Unparseable AttrValue proto", desc->arena,
                                    &value, &status->status)) {
    return;
  }
  set_attr(desc, attr_name, value);
}

/* ---- the end ---- */

static int compare_strs(Str a, Str b) {
  size_t length = a.length < b.length ? a.length : b.length;
  int order = length > 0 ? memcmp(a.data, b.data, length) : 0;
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* The attr `_class`: the locations, sorted and without duplicates. */
static void set_colocations(TF_OperationDescription *desc) {
  Str *sorted = desc->colocations;
  int64_t count = 0;
  for (int64_t i = 0; i < desc->num_colocations; i++) {
    Str location = sorted[i];
    int64_t k = count;
    while (k > 0 && compare_strs(location, sorted[k - 1]) < 0) k--;
    if (k > 0 && str_equal(location, sorted[k - 1])) continue;
    memmove(&sorted[k + 1], &sorted[k], (size_t)(count - k) * sizeof *sorted);
    sorted[k] = location;
    count++;
  }
  if (count == 0) return;
  const AttrValue *value = attr_value_string_list(desc->arena, sorted, (size_t)count);
  if (value) {
    node_def_builder_attr(desc->builder, "_class", value);
  } else {
    status_oom(&desc->status, "an attr");
  }
}

static bool finish(TF_OperationDescription *desc, Node **node, Status *status) {
  if (usable(desc)) set_colocations(desc);
  if (!usable(desc)) {
    *status = desc->status;
    return false;
  }
  NodeDef *def;
  TRY(node_def_builder_finalize(desc->builder, &def, status));
  lock_graph(desc->graph);
  bool ok = graph_add_operation(desc->graph->graph, def, desc->inputs, (int)desc->num_inputs,
                                desc->control_inputs, (int)desc->num_control_inputs, node, status);
  unlock_graph(desc->graph);
  return ok;
}

TF_Operation *TF_FinishOperation(TF_OperationDescription *desc, TF_Status *status) {
  start_status(status);
  if (!desc) {
    status_oom(&status->status, "an operation");
    return NULL;
  }
  Node *node = NULL;
  bool ok = finish(desc, &node, &status->status);
  free_description(desc);
  return ok ? node_operation(node) : NULL;
}

TF_Operation *TF_FinishOperationLocked(TF_OperationDescription *desc, TF_Status *status) {
  return TF_FinishOperation(desc, status);
}
