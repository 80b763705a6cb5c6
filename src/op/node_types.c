/* The types of a node's inputs and outputs, from the args of its op and its attrs. */
#include <inttypes.h>

#include "op/node_def.h"

/* More tensors than a node of any real graph; limits the memory that a number attr can request. */
enum { MAX_TENSORS = 1 << 20 };

/* The tensors of one arg. */
typedef struct ArgTypes {
  int64_t count;
  int type;                  /* the type of all of them, or */
  const AttrListValue *list; /* the type of each */
} ArgTypes;

static bool fail_on_arg(const char *what, const ArgDef *arg, Status *status) {
  StrBuf text = {0};
  proto_print_text(arg, PROTO_TEXT_SHORT, &text);
  if (strbuf_ok(&text, status)) status_invalid(status, "%s%s", what, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool resolve_count(const NodeDef *node, const ArgDef *arg, int64_t *count, Status *status) {
  TRY(node_attr_int(node, arg->number_attr, count, status));
  if (*count > INT32_MAX || *count < INT32_MIN) {
    return status_invalid(status, "Number of outputs is too big: %" PRId64, *count);
  }
  if (*count < 0) return status_invalid(status, "Value for number_attr() %" PRId64 " < 0", *count);
  return true;
}

static bool resolve(const NodeDef *node, const ArgDef *arg, ArgTypes *types, Status *status) {
  *types = (ArgTypes){.count = 1, .type = (int)arg->type};
  bool repeated = arg->number_attr[0] != '\0';
  if (repeated) TRY(resolve_count(node, arg, &types->count, status));
  if (arg->type_attr[0]) {
    DataType type;
    TRY(node_attr_type(node, arg->type_attr, &type, status));
    types->type = type;
  } else if (arg->type_list_attr[0] && !repeated) {
    TRY(node_attr_list(node, arg->type_list_attr, ATTR_TYPE, &types->list, status));
    types->count = types->list ? (int64_t)types->list->n_type : 0;
    return true;
  }
  if (types->type == DT_INVALID) {
    return fail_on_arg(repeated ? "Missing type or type_attr field in " : "No type fields in ", arg, status);
  }
  if (arg->is_ref && dtype_is_ref(types->type)) {
    return fail_on_arg("Requested reference to a reference type: ", arg, status);
  }
  return true;
}

static bool count_tensors(const NodeDef *node, ArgDef *const *args, size_t num_args, int *total,
                          Status *status) {
  int64_t sum = 0;
  for (size_t i = 0; i < num_args; i++) {
    ArgTypes types;
    TRY(resolve(node, args[i], &types, status));
    sum += types.count;
    if (sum > MAX_TENSORS) return status_invalid(status, "Number of outputs is too big: %" PRId64, sum);
  }
  *total = (int)sum;
  return true;
}

static bool fill(const NodeDef *node, ArgDef *const *args, size_t num_args, DataType *out, Status *status) {
  for (size_t i = 0; i < num_args; i++) {
    ArgTypes types;
    TRY(resolve(node, args[i], &types, status));
    for (int64_t k = 0; k < types.count; k++) {
      int type = types.list ? (int)types.list->type[k] : types.type;
      *out++ = (DataType)(args[i]->is_ref ? dtype_ref(type) : type);
    }
  }
  return true;
}

bool node_def_types(const NodeDef *node, const OpDef *op_def, Arena *arena, DataType **input_types,
                    int *num_inputs, DataType **output_types, int *num_outputs, Status *status) {
  int inputs = 0, outputs = 0;
  TRY(count_tensors(node, op_def->input_arg, op_def->n_input_arg, &inputs, status));
  TRY(count_tensors(node, op_def->output_arg, op_def->n_output_arg, &outputs, status));
  DataType *types = arena_alloc(arena, ((int64_t)inputs + outputs) * (int64_t)sizeof *types);
  if (!types) return status_oom(status, "the types of a node");
  TRY(fill(node, op_def->input_arg, op_def->n_input_arg, types, status));
  TRY(fill(node, op_def->output_arg, op_def->n_output_arg, types + inputs, status));
  *input_types = types;
  *num_inputs = inputs;
  *output_types = types + inputs;
  *num_outputs = outputs;
  return true;
}

bool node_def_num_inputs(const NodeDef *node, const OpDef *op_def, int *num_inputs, Status *status) {
  return count_tensors(node, op_def->input_arg, op_def->n_input_arg, num_inputs, status);
}

/* The number of tensors of an arg. It does not need types: a node without its type attr has ranges too. */
static bool count_arg(const NodeDef *node, const ArgDef *arg, int64_t *count, Status *status) {
  *count = 1;
  if (arg->number_attr[0]) return resolve_count(node, arg, count, status);
  if (arg->type_list_attr[0]) {
    const AttrListValue *list;
    TRY(node_attr_list(node, arg->type_list_attr, ATTR_TYPE, &list, status));
    *count = list ? (int64_t)list->n_type : 0;
  } else if (!arg->type_attr[0] && (int)arg->type == DT_INVALID) {
    return fail_on_arg("No type fields in ", arg, status);
  }
  return true;
}

bool node_def_arg_ranges(const NodeDef *node, const OpDef *op_def, bool outputs, Arena *arena, int **starts,
                         Status *status) {
  ArgDef *const *args = outputs ? op_def->output_arg : op_def->input_arg;
  size_t num_args = outputs ? op_def->n_output_arg : op_def->n_input_arg;
  int *array = arena_alloc(arena, ((int64_t)num_args + 1) * (int64_t)sizeof *array);
  if (!array) return status_oom(status, "the arg ranges of a node");
  array[0] = 0;
  for (size_t i = 0; i < num_args; i++) {
    int64_t count;
    TRY(count_arg(node, args[i], &count, status));
    if (count > MAX_TENSORS - array[i]) {
      return status_invalid(status, "Number of outputs is too big: %" PRId64, array[i] + count);
    }
    array[i + 1] = array[i] + (int)count;
  }
  *starts = array;
  return true;
}
