/* The attrs of a call that follow from its inputs. */
#include <string.h>

#include "eager/eager.h"
#include "op/node_def.h"

typedef struct Inference {
  const EagerCall *call;
  const OpDef *op_def;
  Arena *arena;
  int next; /* the first input that no argument has yet */
  Status *status;
} Inference;

static bool set_attr(Inference *inference, const char *name, AttrValue *value) {
  if (!value) return status_oom(inference->status, "an attr");
  return node_def_set_attr(inference->call->def, inference->arena, name, value, inference->status);
}

static int inputs_left(const Inference *inference) { return inference->call->num_inputs - inference->next; }

/* The length of a list whose attr was not given. Without a known list, the list gets what the arguments after
 * it leave. */
static int length_of_list(const Inference *inference, size_t arg) {
  const int *lengths = inference->call->list_lengths;
  if (lengths && inputs_left(inference) > 0 && lengths[inference->next] > 0) return lengths[inference->next];
  int left = inputs_left(inference) - (int)(inference->op_def->n_input_arg - arg - 1);
  return left > 0 ? left : 0;
}

static bool check_left(const Inference *inference, int64_t count) {
  if (count >= 0 && count <= inputs_left(inference)) return true;
  return status_invalid(inference->status, "%s expects more inputs than the %d that it has",
                        inference->op_def->name, inference->call->num_inputs);
}

static bool infer_type_list(Inference *inference, const ArgDef *arg, size_t index) {
  const AttrValue *given = node_def_attr(inference->call->def, arg->type_list_attr);
  bool is_list = given && given->value_case == (int)ATTR_LIST;
  int64_t count = is_list ? (int64_t)given->list->n_type : length_of_list(inference, index);
  TRY(check_left(inference, count));
  int *types = arena_calloc(inference->arena, count, sizeof *types);
  if (!types) return status_oom(inference->status, "types");
  for (int64_t i = 0; i < count; i++) types[i] = (int)inference->call->inputs[inference->next + i]->dtype;
  inference->next += (int)count;
  return set_attr(inference, arg->type_list_attr,
                  attr_value_type_list(inference->arena, types, (size_t)count));
}

/* The first argument with a type attr determines it; the others are compared with it later. */
static bool is_first_of_type(const OpDef *op_def, size_t index) {
  for (size_t i = 0; i < index; i++) {
    if (strcmp(op_def->input_arg[i]->type_attr, op_def->input_arg[index]->type_attr) == 0) return false;
  }
  return true;
}

static bool infer_arg(Inference *inference, const ArgDef *arg, size_t index) {
  if (arg->type_list_attr[0]) return infer_type_list(inference, arg, index);
  int64_t count = 1;
  if (arg->number_attr[0]) {
    const AttrValue *given = node_def_attr(inference->call->def, arg->number_attr);
    bool is_given = given && given->value_case == (int)ATTR_INT;
    count = is_given ? given->i : length_of_list(inference, index);
    if (!is_given) TRY(set_attr(inference, arg->number_attr, attr_value_int(inference->arena, count)));
  }
  TRY(check_left(inference, count));
  if (arg->type_attr[0] && count > 0 && is_first_of_type(inference->op_def, index)) {
    int type = (int)inference->call->inputs[inference->next]->dtype;
    TRY(set_attr(inference, arg->type_attr, attr_value_type(inference->arena, type)));
  }
  inference->next += (int)count;
  return true;
}

bool eager_infer_attrs(const EagerCall *call, const OpDef *op_def, Arena *arena, Status *status) {
  Inference inference = {.call = call, .op_def = op_def, .arena = arena, .status = status};
  for (size_t i = 0; i < op_def->n_input_arg; i++) TRY(infer_arg(&inference, op_def->input_arg[i], i));
  if (inputs_left(&inference) > 0)
    return status_invalid(status, "%s has %d inputs, of which %d are too many", op_def->name,
                          call->num_inputs, inputs_left(&inference));
  return node_def_add_defaults(call->def, op_def, arena, status);
}
