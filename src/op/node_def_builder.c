/* Builds a NodeDef from inputs and attrs, and infers the attrs for types and numbers of inputs. */
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"

struct NodeDefBuilder {
  Arena *arena;
  const OpDef *op_def;
  NodeDef *node;
  size_t num_inputs_given; /* the number of calls, one per input_arg */
  char **control_inputs;   /* "^name" */
  size_t num_control_inputs;
  char **errors;
  size_t num_errors;
  bool out_of_memory;
};

NodeDefBuilder *node_def_builder_new(Arena *arena, const char *name, const OpDef *op_def) {
  NodeDefBuilder *builder = arena_calloc(arena, 1, sizeof *builder);
  NodeDef *node = node_def_new(arena, name, op_def->name);
  if (!builder || !node) return NULL;
  builder->arena = arena;
  builder->op_def = op_def;
  builder->node = node;
  return builder;
}

/* --- errors --- */

static void append_text(NodeDefBuilder *builder, char ***array, size_t *count, char *text) {
  Status ignored;
  status_init(&ignored);
  if (!text || !proto_append(builder->arena, (void ***)array, count, text, &ignored))
    builder->out_of_memory = true;
}

static void add_error(NodeDefBuilder *builder, char *text) {
  append_text(builder, &builder->errors, &builder->num_errors, text);
}

static void inconsistent(NodeDefBuilder *builder, const char *name, const AttrValue *old,
                         const AttrValue *new_value) {
  StrBuf a = {0}, b = {0};
  attr_value_summarize(old, &a);
  attr_value_summarize(new_value, &b);
  builder->out_of_memory |= a.failed || b.failed;
  add_error(builder, arena_printf(builder->arena, "Inconsistent values for attr '%s' %s vs. %s", name,
                                  strbuf_text(&a), strbuf_text(&b)));
  strbuf_free(&a);
  strbuf_free(&b);
}

/* --- attrs --- */

/* Consumes `value`; NULL when out of memory. */
static void set_attr(NodeDefBuilder *builder, const char *name, AttrValue *value) {
  if (!value) {
    builder->out_of_memory = true;
    return;
  }
  const AttrValue *old = node_def_attr(builder->node, name);
  if (old) {
    if (!attr_value_equal(old, value)) inconsistent(builder, name, old, value);
    return;
  }
  Status ignored;
  status_init(&ignored);
  if (!node_def_set_attr(builder->node, builder->arena, name, value, &ignored)) builder->out_of_memory = true;
}

void node_def_builder_attr(NodeDefBuilder *builder, const char *name, const AttrValue *value) {
  set_attr(builder, name, proto_copy(value, builder->arena));
}

/* --- inputs --- */

static const ArgDef *next_arg(NodeDefBuilder *builder) {
  const OpDef *op_def = builder->op_def;
  if (builder->num_inputs_given < op_def->n_input_arg) return op_def->input_arg[builder->num_inputs_given++];
  add_error(builder,
            arena_printf(builder->arena, "More Input() calls than the %zu input_args", op_def->n_input_arg));
  return NULL;
}

static void add_input(NodeDefBuilder *builder, const char *node, int index) {
  if (*node == '\0') {
    add_error(builder, arena_strdup(builder->arena, "Empty input node name"));
  } else if (*node == '^') {
    add_error(builder, arena_printf(builder->arena, "Non-control input starting with ^: %s", node));
  } else {
    char *text =
        index > 0 ? arena_printf(builder->arena, "%s:%d", node, index) : arena_strdup(builder->arena, node);
    append_text(builder, &builder->node->input, &builder->node->n_input, text);
  }
}

static void check_type(NodeDefBuilder *builder, const ArgDef *arg, int base, int got) {
  int want = arg->is_ref ? dtype_ref(base) : base;
  /* A reference is accepted where a value is expected. */
  if (got == want || dtype_base(got) == want) return;
  add_error(builder, arena_printf(builder->arena, "Input '%s' passed %s expected %s", arg->name,
                                  dtype_name(got), dtype_name(want)));
}

static void check_is_ref(NodeDefBuilder *builder, const ArgDef *arg, int got) {
  if (!arg->is_ref || dtype_is_ref(got)) return;
  add_error(builder, arena_printf(builder->arena, "Input '%s' passed %s expected ref type", arg->name,
                                  dtype_name(got)));
}

void node_def_builder_input(NodeDefBuilder *builder, const char *node, int index, DataType type) {
  const ArgDef *arg = next_arg(builder);
  if (!arg) return;
  add_input(builder, node, index);
  if (arg->number_attr[0] || arg->type_list_attr[0]) {
    add_error(builder,
              arena_printf(builder->arena, "Single tensor passed to '%s', expected list", arg->name));
  } else if ((int)arg->type != DT_INVALID) {
    check_type(builder, arg, (int)arg->type, type);
  } else {
    check_is_ref(builder, arg, type);
    set_attr(builder, arg->type_attr, attr_value_type(builder->arena, dtype_base(type)));
  }
}

/* `N * T`: N is the number of inputs, which all have type T. */
static void infer_repeated(NodeDefBuilder *builder, const ArgDef *arg, const DataType *types, int count) {
  set_attr(builder, arg->number_attr, attr_value_int(builder->arena, count));
  int base = (int)arg->type;
  if (base == DT_INVALID) {
    if (count == 0) return;
    base = dtype_base(types[0]);
    set_attr(builder, arg->type_attr, attr_value_type(builder->arena, base));
  }
  for (int i = 0; i < count; i++) check_type(builder, arg, base, types[i]);
}

/* The list of the inputs' types. */
static void infer_type_list(NodeDefBuilder *builder, const ArgDef *arg, const DataType *types, int count) {
  AttrValue *value = attr_value_type_list(builder->arena, (const int *)types, (size_t)count);
  for (int i = 0; value && i < count; i++) {
    check_is_ref(builder, arg, types[i]);
    value->list->type[i] = (Tensorflow__DataType)dtype_base(types[i]);
  }
  set_attr(builder, arg->type_list_attr, value);
}

void node_def_builder_input_list(NodeDefBuilder *builder, const char *const *nodes, const int *indexes,
                                 const DataType *types, int count) {
  const ArgDef *arg = next_arg(builder);
  if (!arg) return;
  for (int i = 0; i < count; i++) add_input(builder, nodes[i], indexes[i]);
  if (arg->number_attr[0]) {
    infer_repeated(builder, arg, types, count);
  } else if (arg->type_list_attr[0]) {
    infer_type_list(builder, arg, types, count);
  } else {
    add_error(builder, arena_printf(builder->arena, "List provided to input '%s' when single Tensor expected",
                                    arg->name));
  }
}

void node_def_builder_control_input(NodeDefBuilder *builder, const char *node) {
  append_text(builder, &builder->control_inputs, &builder->num_control_inputs,
              arena_printf(builder->arena, "^%s", node));
}

void node_def_builder_device(NodeDefBuilder *builder, const char *device) {
  char *copy = arena_strdup(builder->arena, device);
  if (copy) builder->node->device = copy;
  builder->out_of_memory |= !copy;
}

/* --- the end --- */

/* One error reads "<error> while building ..."; several follow on separate lines. */
static bool report(const NodeDefBuilder *builder, Status *status) {
  StrBuf op = {0};
  op_def_summarize(builder->op_def, &op);
  if (!strbuf_ok(&op, status)) {
    /* The text of the op would be truncated. */
  } else if (builder->num_errors == 1) {
    status_invalid(status, "%s while building NodeDef '%s' using %s", builder->errors[0], builder->node->name,
                   strbuf_text(&op));
  } else {
    status_invalid(status, "%zu errors while building NodeDef '%s' using %s:", builder->num_errors,
                   builder->node->name, strbuf_text(&op));
    for (size_t i = 0; i < builder->num_errors && strlen(status->message) + 1 < STATUS_MESSAGE_CAPACITY;
         i++) {
      status_append(status, "\n%s", builder->errors[i]);
    }
  }
  strbuf_free(&op);
  return false;
}

bool node_def_builder_finalize(NodeDefBuilder *builder, NodeDef **node, Status *status) {
  const OpDef *op_def = builder->op_def;
  if (builder->num_inputs_given < op_def->n_input_arg) {
    add_error(builder, arena_printf(builder->arena, "%zu inputs specified of %zu inputs in Op",
                                    builder->num_inputs_given, op_def->n_input_arg));
  }
  for (size_t i = 0; i < builder->num_control_inputs; i++) {
    append_text(builder, &builder->node->input, &builder->node->n_input, builder->control_inputs[i]);
  }
  if (builder->out_of_memory) return status_oom(status, "a NodeDef");
  if (builder->num_errors > 0) return report(builder, status);
  TRY(node_def_add_defaults(builder->node, op_def, builder->arena, status));
  *node = builder->node;
  return true;
}
