#include "function/function_def_builder.h"

#include <string.h>

#include "op/node_def.h"

typedef struct FunctionBuilder {
  const FunctionSpec *spec;
  const FunctionLibraryDefinition *library;
  Arena *arena;
  Status *status;
  FunctionDef *function;
  bool defines;
  StringMap values; /* function_define: from names of arguments and results to input texts; function_create:
                       the results */
} FunctionBuilder;

static bool oom(const FunctionBuilder *b) { return status_oom(b->status, "a function"); }

/* --- values --- */

AttrValue *function_attr_text(Arena *arena, const char *text) {
  if (text[0] == '$' && text[1] != 0) return attr_value_placeholder(arena, text + 1);
  return attr_value_string(arena, text, strlen(text));
}

AttrValue *function_attr_ref(Arena *arena, const char *name, const FunctionAttr *attrs, int num_attrs) {
  Status ignored;
  status_init(&ignored);
  AttrValue *value = attr_value_func(arena, name, NULL);
  for (int i = 0; value && i < num_attrs; i++) {
    FuncAttrEntry *entry = proto_new(&tensorflow__name_attr_list__attr_entry__descriptor, arena);
    if (!entry || !attrs[i].value) return NULL;
    entry->key = arena_strdup(arena, attrs[i].name);
    entry->value = proto_copy(attrs[i].value, arena);
    if (!entry->key || !entry->value ||
        !proto_append(arena, (void ***)&value->func->attr, &value->func->n_attr, entry, &ignored)) {
      return NULL;
    }
  }
  return value;
}

bool function_const_node(const char *name, const Tensor *value, Arena *arena, FunctionNode *node,
                         Status *status) {
  TensorProto *proto;
  TRY(tensor_to_proto(value, arena, &proto, status));
  FunctionAttr *attrs = arena_calloc(arena, 2, sizeof *attrs);
  const char **rets = arena_calloc(arena, 2, sizeof *rets);
  if (!attrs || !rets) return status_oom(status, "a function");
  attrs[0] = (FunctionAttr){"dtype", attr_value_type(arena, value->dtype)};
  attrs[1] = (FunctionAttr){"value", attr_value_tensor(arena, proto)};
  rets[0] = arena_strdup(arena, name);
  if (!attrs[0].value || !attrs[1].value || !rets[0]) return status_oom(status, "a function");
  *node = (FunctionNode){.rets = rets, .op = "Const", .attrs = attrs, .num_attrs = 2};
  return true;
}

/* --- signature --- */

static bool build_signature(FunctionBuilder *b) {
  const FunctionSpec *spec = b->spec;
  const char **controls = arena_calloc(b->arena, (int64_t)spec->num_control_returns + 1, sizeof *controls);
  if (!controls) return oom(b);
  for (int i = 0; i < spec->num_control_returns; i++) controls[i] = spec->control_returns[i].name;
  const OpDefSpec op = {.name = spec->name,
                        .inputs = spec->args,
                        .outputs = spec->rets,
                        .attrs = spec->attrs,
                        .control_outputs = controls,
                        .allow_attr_type_any = true};
  return op_def_build(&op, b->arena, &b->function->signature, b->status);
}

/* --- nodes --- */

static const char *name_of(const FunctionNode *node) {
  return node->rets && node->rets[0] ? node->rets[0] : "";
}

static bool set_input(FunctionBuilder *b, NodeDef *def, const char *input) {
  if (b->defines) {
    const char *value = string_map_find(&b->values, input);
    if (!value) {
      return status_invalid(b->status,
                            "Function '%s': node '%s' has no input named '%s': it is no argument, and no "
                            "result of a "
                            "node before",
                            b->spec->name, def->name, input);
    }
    input = value;
  }
  return node_def_add_input(def, b->arena, input, b->status);
}

static bool set_attrs(FunctionBuilder *b, NodeDef *def, const FunctionNode *node) {
  for (int i = 0; i < node->num_attrs; i++) {
    const FunctionAttr *attr = &node->attrs[i];
    AttrValue *value = !attr->value ? NULL : proto_copy(attr->value, b->arena);
    if (!value) return oom(b);
    TRY(node_def_set_attr(def, b->arena, attr->name, value, b->status));
  }
  return true;
}

/* Names the outputs of a node as the description says. */
static bool name_outputs(FunctionBuilder *b, const NodeDef *def, const FunctionNode *node, const OpDef *op) {
  int *starts, num_rets = 0;
  while (node->rets[num_rets]) num_rets++;
  if (!node_def_arg_ranges(def, op, true, b->arena, &starts, b->status)) {
    return status_append(b->status, "\n\twhile naming the outputs of node '%s' in function '%s'", def->name,
                         b->spec->name);
  }
  for (size_t arg = 0; arg < op->n_output_arg; arg++) {
    const char *output = op->output_arg[arg]->name;
    for (int i = starts[arg]; i < starts[arg + 1]; i++) {
      if (i >= num_rets) {
        return status_invalid(b->status,
                              "Function '%s': node '%s' has no name for its output '%s:%d', only for %d",
                              b->spec->name, def->name, output, i - starts[arg], num_rets);
      }
      char *value = arena_printf(b->arena, "%s:%s:%d", def->name, output, i - starts[arg]);
      if (!value) return oom(b);
      TRY(string_map_set(&b->values, node->rets[i], value, b->status));
    }
  }
  return true;
}

static bool add_node(FunctionBuilder *b, const FunctionNode *node) {
  Status unknown;
  status_init(&unknown);
  const Op *op = NULL;
  const char *name = name_of(node);
  if (name[0] == 0) {
    return status_invalid(b->status, "Function '%s': a node of op '%s' has no name", b->spec->name, node->op);
  }
  if (b->library) {
    if (!function_library_look_up(b->library, node->op, &op, &unknown)) op = NULL;
  } else if (!op_registry_look_up(op_registry_global(), node->op, &op, &unknown)) {
    op = NULL;
  }
  if (!op && (b->defines || unknown.code == CODE_RESOURCE_EXHAUSTED)) {
    status_set(b->status, unknown.code, "%s", unknown.message);
    return status_append(b->status, "\n\twhile adding node '%s' to function '%s'", name, b->spec->name);
  }
  if (!op || op->def->is_stateful) b->function->signature->is_stateful = true;
  NodeDef *def = node_def_new(b->arena, name, node->op);
  if (!def) return oom(b);
  TRY(set_attrs(b, def, node));
  for (const char *const *arg = node->args; arg && *arg; arg++) TRY(set_input(b, def, *arg));
  for (const char *const *dep = node->deps; dep && *dep; dep++) {
    const char *input = arena_printf(b->arena, "^%s", *dep);
    if (!input) return oom(b);
    TRY(node_def_add_input(def, b->arena, input, b->status));
  }
  if (node->device && node->device[0] != 0) {
    def->device = arena_strdup(b->arena, node->device);
    if (!def->device) return oom(b);
  }
  TRY(proto_append(b->arena, (void ***)&b->function->node_def, &b->function->n_node_def, def, b->status));
  return !b->defines || name_outputs(b, def, node, op->def);
}

/* --- results --- */

typedef Tensorflow__FunctionDef__RetEntry RetEntry;
typedef Tensorflow__FunctionDef__ControlRetEntry ControlRetEntry;

static bool add_return(FunctionBuilder *b, const char *name, const char *value) {
  FunctionDef *function = b->function;
  RetEntry *entry = proto_new(&tensorflow__function_def__ret_entry__descriptor, b->arena);
  if (!entry) return oom(b);
  entry->key = arena_strdup(b->arena, name);
  entry->value = arena_strdup(b->arena, value);
  if (!entry->key || !entry->value) return oom(b);
  return proto_append(b->arena, (void ***)&function->ret, &function->n_ret, entry, b->status);
}

static bool add_control_return(FunctionBuilder *b, const FunctionReturn *ret) {
  FunctionDef *function = b->function;
  ControlRetEntry *entry = proto_new(&tensorflow__function_def__control_ret_entry__descriptor, b->arena);
  if (!entry) return oom(b);
  entry->key = arena_strdup(b->arena, ret->name);
  entry->value = arena_strdup(b->arena, ret->value);
  char *key = arena_printf(b->arena, "^%s", ret->name); /* beside the results */
  if (!entry->key || !entry->value || !key) return oom(b);
  if (string_map_contains(&b->values, key))
    return status_invalid(b->status, "Function '%s': control result '%s' is given twice", b->spec->name,
                          ret->name);
  TRY(string_map_set(&b->values, key, b, b->status));
  return proto_append(b->arena, (void ***)&function->control_ret, &function->n_control_ret, entry, b->status);
}

static bool name_args(FunctionBuilder *b) {
  const OpDef *signature = b->function->signature;
  for (size_t i = 0; i < signature->n_input_arg; i++) {
    char *name = signature->input_arg[i]->name;
    TRY(string_map_set(&b->values, name, name, b->status));
  }
  return true;
}

static bool find_returns(FunctionBuilder *b) {
  const OpDef *signature = b->function->signature;
  for (size_t i = 0; i < signature->n_output_arg; i++) {
    const char *name = signature->output_arg[i]->name, *value = string_map_find(&b->values, name);
    if (!value) {
      return status_invalid(b->status, "Function '%s': result '%s' is no argument, and no result of a node",
                            b->spec->name, name);
    }
    TRY(add_return(b, name, value));
  }
  return true;
}

/* --- all of it --- */

static bool build(FunctionBuilder *b) {
  const FunctionSpec *spec = b->spec;
  b->function = proto_new(kFunctionDef, b->arena);
  if (!b->function) return oom(b);
  TRY(build_signature(b));
  if (b->defines) TRY(name_args(b));
  for (int i = 0; i < spec->num_nodes; i++) TRY(add_node(b, &spec->nodes[i]));
  if (b->defines) return find_returns(b);
  for (int i = 0; i < spec->num_returns; i++) {
    const FunctionReturn *ret = &spec->returns[i];
    if (string_map_contains(&b->values, ret->name))
      return status_invalid(b->status, "Function '%s': result '%s' is given twice", spec->name, ret->name);
    TRY(string_map_set(&b->values, ret->name, b, b->status));
    TRY(add_return(b, ret->name, ret->value));
  }
  for (int i = 0; i < spec->num_control_returns; i++) TRY(add_control_return(b, &spec->control_returns[i]));
  return true;
}

static bool run(const FunctionSpec *spec, bool defines, const FunctionLibraryDefinition *library,
                Arena *arena, FunctionDef **function, Status *status) {
  FunctionBuilder b = {.spec = spec,
                       .library = library,
                       .arena = arena,
                       .status = status,
                       .defines = defines};
  ArenaMark mark = arena_mark(arena);
  bool ok = build(&b);
  string_map_free(&b.values);
  if (ok) {
    *function = b.function;
  } else {
    arena_rollback(arena, mark);
  }
  return ok;
}

bool function_create(const FunctionSpec *spec, const FunctionLibraryDefinition *library, Arena *arena,
                     FunctionDef **function, Status *status) {
  return run(spec, false, library, arena, function, status);
}

bool function_define(const FunctionSpec *spec, const FunctionLibraryDefinition *library, Arena *arena,
                     FunctionDef **function, Status *status) {
  return run(spec, true, library, arena, function, status);
}
