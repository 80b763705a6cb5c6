#include "op/kernel_registry.h"

#include <stdatomic.h>
#include <string.h>

#include "base/string_map.h"
#include "base/sync.h"
#include "op/engine_parts.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"
#include "op/side_kernels.h"

typedef struct Registered {
  struct Registered *next; /* in the order of registration */
  struct Registered *next_of_op;
  KernelDef *def;
  KernelFunctions functions;
  void (*free_data)(const void *data);
} Registered;

/* Guarded by `lock`, except that `count` may be read without it. */
static struct {
  Mutex lock;
  atomic_int count;
  Arena *arena;
  StringMap by_op; /* name -> the first Registered */
  Registered *first, *last;
} registry = {.lock = MUTEX_INIT};

/* Most processes register no kernels; then look-ups need not lock. */
static bool has_none(void) { return atomic_load(&registry.count) == 0; }

/* --- registering --- */

static bool add(const KernelDef *def, const KernelFunctions *functions, void (*free_data)(const void *data),
                Status *status) {
  if (!def->op[0]) return status_invalid(status, "A kernel must name its op");
  if (!functions->compute)
    return status_invalid(status, "A kernel of op '%s' has no compute function", def->op);
  if (!registry.arena) registry.arena = arena_new();
  if (!registry.arena) return status_oom(status, "a kernel");
  ArenaMark mark = arena_mark(registry.arena);
  Registered *kernel = arena_calloc(registry.arena, 1, sizeof *kernel);
  KernelDef *copy = proto_copy(def, registry.arena);
  bool ok = (kernel && copy) || status_oom(status, "a kernel");
  Registered *same_op = ok ? string_map_find(&registry.by_op, copy->op) : NULL;
  if (ok && !same_op) ok = string_map_set(&registry.by_op, copy->op, kernel, status);
  if (!ok) {
    arena_rollback(registry.arena, mark);
    return false;
  }
  *kernel = (Registered){.def = copy, .functions = *functions, .free_data = free_data};
  while (same_op && same_op->next_of_op) same_op = same_op->next_of_op;
  if (same_op) same_op->next_of_op = kernel;
  *(registry.last ? &registry.last->next : &registry.first) = kernel;
  registry.last = kernel;
  atomic_fetch_add(&registry.count, 1);
  return true;
}

bool kernel_registry_add(const KernelDef *def, const KernelFunctions *functions,
                         void (*free_data)(const void *data), Status *status) {
  mutex_lock(&registry.lock);
  bool ok = add(def, functions, free_data, status);
  mutex_unlock(&registry.lock);
  if (!ok && free_data) free_data(functions->data);
  return ok;
}

void kernel_registry_clear(void) {
  mutex_lock(&registry.lock);
  for (Registered *kernel = registry.first; kernel; kernel = kernel->next) {
    if (kernel->free_data) kernel->free_data(kernel->functions.data);
  }
  string_map_free(&registry.by_op);
  registry.by_op = (StringMap){0};
  arena_free(registry.arena);
  registry.arena = NULL;
  registry.first = registry.last = NULL;
  atomic_store(&registry.count, 0);
  mutex_unlock(&registry.lock);
}

/* --- kernels of tables --- */

static const AttrDef *first_type_attr(const OpDef *op_def) {
  for (size_t i = 0; i < op_def->n_attr; i++) {
    if (str_equal_text(str_of(op_def->attr[i]->type), "type")) return op_def->attr[i];
  }
  return NULL;
}

static int num_entries(const Op *op) {
  const KernelEntry *kernels = op->registration->kernels;
  int count = 0;
  while (count < OP_MAX_KERNELS && kernels[count].compute) count++;
  return count;
}

/* The entry for the node's type, else the one for any type, or NULL. */
static bool find_entry(const Op *op, const NodeDef *node, const KernelEntry **entry, Status *status) {
  *entry = NULL;
  int count = num_entries(op);
  if (count == 0) return true;
  const AttrDef *type_attr = first_type_attr(op->def);
  DataType type = DT_INVALID;
  if (type_attr) TRY(node_attr_type(node, type_attr->name, &type, status));
  const KernelEntry *kernels = op->registration->kernels;
  for (int i = 0; i < count; i++) {
    if (kernels[i].type == type || (kernels[i].type == DT_INVALID && !*entry)) *entry = &kernels[i];
    if (kernels[i].type == type) return true;
  }
  return true;
}

static bool allow_type(KernelDef *def, const char *attr, DataType type, Arena *arena, Status *status) {
  KernelConstraint *constraint = proto_new(kKernelConstraint, arena);
  if (!constraint) return status_oom(status, "a KernelDef");
  constraint->name = arena_strdup(arena, attr);
  constraint->allowed_values = attr_value_type_list(arena, (int[]){(int)type}, 1);
  if (!constraint->name || !constraint->allowed_values) return status_oom(status, "a KernelDef");
  return proto_append(arena, (void ***)&def->constraint, &def->n_constraint, constraint, status);
}

static bool describe_entry(const Op *op, const KernelEntry *entry, Arena *arena, KernelDef **out,
                           Status *status) {
  KernelDef *def = proto_new(kKernelDef, arena);
  if (!def) return status_oom(status, "a KernelDef");
  def->op = arena_strdup(arena, op->def->name);
  def->device_type = arena_strdup(arena, KERNEL_DEVICE_TYPE);
  if (!def->op || !def->device_type) return status_oom(status, "a KernelDef");
  const AttrDef *type_attr = first_type_attr(op->def);
  *out = def;
  return !type_attr || entry->type == DT_INVALID ||
         allow_type(def, type_attr->name, entry->type, arena, status);
}

/* --- constraints --- */

static bool complain(const char *what, const KernelDef *def, const KernelConstraint *constraint,
                     const AttrValue *value, const NodeDef *node, Status *status) {
  StrBuf kernel = {0}, summary = {0}, given = {0};
  proto_print_text(def, PROTO_TEXT_SHORT, &kernel);
  node_def_summarize(node, &summary);
  if (value) {
    attr_value_summarize(value, &given);
    if (strbuf_ok(&kernel, status) && strbuf_ok(&given, status) && strbuf_ok(&summary, status)) {
      status_invalid(status,
                     "KernelDef '%s' has constraint on attr '%s' that has value '%s' that does not have %s "
                     "in NodeDef '%s'",
                     strbuf_text(&kernel), constraint->name, strbuf_text(&given), what,
                     strbuf_text(&summary));
    }
  } else {
    if (strbuf_ok(&summary, status) && strbuf_ok(&kernel, status)) {
      status_invalid(status, "OpKernel '%s' has constraint on attr '%s' not in NodeDef '%s', KernelDef: '%s'",
                     def->op, constraint->name, strbuf_text(&summary), strbuf_text(&kernel));
    }
  }
  strbuf_free(&kernel);
  strbuf_free(&summary);
  strbuf_free(&given);
  return false;
}

static bool refuse_constraint(const char *what, Code code, const KernelDef *def,
                              const KernelConstraint *constraint, Status *status) {
  StrBuf kernel = {0}, allowed = {0};
  proto_print_text(def, PROTO_TEXT_SHORT, &kernel);
  if (constraint->allowed_values) attr_value_summarize(constraint->allowed_values, &allowed);
  if (strbuf_ok(&kernel, status) && strbuf_ok(&allowed, status)) {
    status_set(status, code, "KernelDef '%s has constraint on attr '%s' with %s: %s", strbuf_text(&kernel),
               constraint->name, what, strbuf_text(&allowed));
  }
  strbuf_free(&kernel);
  strbuf_free(&allowed);
  return false;
}

static bool allows_type(const AttrListValue *allowed, int type) {
  for (size_t i = 0; i < allowed->n_type; i++) {
    if ((int)allowed->type[i] == type) return true;
  }
  return false;
}

static bool allows_value(const AttrListValue *allowed, const AttrValue *value) {
  bool found = false;
  for (size_t i = 0; i < allowed->n_s; i++) {
    const ProtobufCBinaryData *s = &allowed->s[i];
    found |= s->len == value->s.len && (s->len == 0 || memcmp(s->data, value->s.data, s->len) == 0);
  }
  for (size_t i = 0; i < allowed->n_i; i++) found |= allowed->i[i] == value->i;
  for (size_t i = 0; i < allowed->n_b; i++) found |= !allowed->b[i] == !value->b;
  return found;
}

/* Whether all types in an attr of type `type` or `list(type)` are allowed. */
static bool types_match(const AttrListValue *allowed, const AttrValue *value, bool *match) {
  if (value->value_case == (int)ATTR_TYPE) {
    *match = allows_type(allowed, (int)value->type);
    return true;
  }
  if (value->value_case != (int)ATTR_LIST) return false;
  *match = true;
  for (size_t i = 0; i < value->list->n_type; i++) *match &= allows_type(allowed, (int)value->list->type[i]);
  return true;
}

static bool constraint_matches(const KernelDef *def, const KernelConstraint *constraint, const NodeDef *node,
                               bool *match, Status *status) {
  static const AttrListValue kEmpty;
  const AttrValue *values = constraint->allowed_values;
  const AttrListValue *allowed = values && values->value_case == (int)ATTR_LIST ? values->list : &kEmpty;
  int kinds = (allowed->n_type > 0) + (allowed->n_s > 0) + (allowed->n_i > 0) + (allowed->n_b > 0);
  if (kinds == 0) return refuse_constraint("unsupported type", CODE_UNIMPLEMENTED, def, constraint, status);
  if (kinds > 1)
    return refuse_constraint("more than one value type", CODE_INVALID_ARGUMENT, def, constraint, status);
  const AttrValue *value = node_def_attr(node, constraint->name);
  if (!value) return complain(NULL, def, constraint, NULL, node, status);
  if (allowed->n_type > 0) {
    return types_match(allowed, value, match) ||
           complain("type 'type' or 'list(type)'", def, constraint, value, node, status);
  }
  AttrKind kind = allowed->n_s > 0 ? ATTR_STRING : allowed->n_i > 0 ? ATTR_INT : ATTR_BOOL;
  if ((AttrKind)value->value_case != kind)
    return complain("the same type", def, constraint, value, node, status);
  *match = allows_value(allowed, value);
  return true;
}

static bool kernel_matches(const KernelDef *def, const NodeDef *node, bool *match, Status *status) {
  *match = true;
  for (size_t i = 0; i < def->n_constraint && *match; i++) {
    TRY(constraint_matches(def, def->constraint[i], node, match, status));
  }
  return true;
}

/* --- choosing --- */

/* The best kernel so far, from the table or registered at run time. */
typedef struct Choice {
  const KernelEntry *entry;
  const Registered *registered;
} Choice;

static int priority_of(const Choice *choice) {
  return choice->registered ? choice->registered->def->priority : 0;
}

static bool print_choice(const Op *op, const Choice *choice, StrBuf *text, Status *status) {
  if (choice->registered) {
    proto_print_text(choice->registered->def, PROTO_TEXT_SHORT, text);
    return true;
  }
  Arena *arena = arena_new();
  KernelDef *def;
  bool ok =
      (arena || status_oom(status, "a KernelDef")) && describe_entry(op, choice->entry, arena, &def, status);
  if (ok) proto_print_text(def, PROTO_TEXT_SHORT, text);
  arena_free(arena);
  return ok;
}

static bool refuse_both(const Op *op, const NodeDef *node, const char *device, const Choice *a,
                        const Choice *b, Status *status) {
  StrBuf first = {0}, second = {0}, name = {0};
  node_def_format_for_error(node, &name);
  if (print_choice(op, a, &first, status) && print_choice(op, b, &second, status)) {
    if (strbuf_ok(&name, status) && strbuf_ok(&first, status) && strbuf_ok(&second, status)) {
      status_invalid(status,
                     "Multiple %sOpKernel registrations match NodeDef at the same priority '%s': '%s' and "
                     "'%s'",
                     strcmp(device, "DEFAULT") == 0 ? "Default " : "", strbuf_text(&name),
                     strbuf_text(&first), strbuf_text(&second));
    }
  }
  strbuf_free(&first);
  strbuf_free(&second);
  strbuf_free(&name);
  return false;
}

static Str label_of(const NodeDef *node) {
  const AttrValue *value = node_def_attr(node, "_kernel");
  if (!value || value->value_case != (int)ATTR_STRING || value->s.len == 0) return str_of("");
  return (Str){(const char *)value->s.data, value->s.len};
}

/* Considers the kernels of one device. */
static bool choose(const Op *op, const NodeDef *node, const char *device, const KernelEntry *entry,
                   Choice *best, Status *status) {
  *best = (Choice){.entry = entry};
  Str label = label_of(node);
  for (const Registered *kernel = string_map_find(&registry.by_op, op->def->name); kernel;
       kernel = kernel->next_of_op) {
    if (strcmp(kernel->def->device_type, device) != 0 || !str_equal_text(label, kernel->def->label)) continue;
    bool match;
    TRY(kernel_matches(kernel->def, node, &match, status));
    if (!match) continue;
    Choice other = {.registered = kernel};
    if ((best->entry || best->registered) && priority_of(best) >= priority_of(&other)) {
      if (priority_of(best) == priority_of(&other))
        return refuse_both(op, node, device, best, &other, status);
      continue;
    }
    *best = other;
  }
  return true;
}

static void append_attrs(const NodeDef *node, StrBuf *out) {
  bool any = false;
  for (size_t i = 0; i < node->n_attr; i++) {
    if (!node->attr[i]->value) continue;
    strbuf_printf(out, "%s%s=", any ? ", " : "", node->attr[i]->key);
    attr_value_summarize(node->attr[i]->value, out);
    any = true;
  }
}

static void append_kernel(const KernelDef *def, StrBuf *out) {
  strbuf_printf(out, "  device='%s'", def->device_type);
  if (def->label[0]) strbuf_printf(out, "; label='%s'", def->label);
  for (size_t i = 0; i < def->n_constraint; i++) {
    strbuf_printf(out, "; %s in ", def->constraint[i]->name);
    if (def->constraint[i]->allowed_values) attr_value_summarize(def->constraint[i]->allowed_values, out);
  }
  strbuf_append_char(out, '\n');
}

static bool list_op(const Op *op, const char *op_name, Arena *arena, KernelList *list, Status *status);

static void append_kernels(const KernelList *list, StrBuf *out) {
  for (size_t i = 0; i < list->n_kernel; i++) append_kernel(list->kernel[i], out);
  if (list->n_kernel == 0) strbuf_append(out, "  <no registered kernels>\n");
}

static bool refuse_all(const Op *op, const NodeDef *node, Status *status) {
  Arena *arena = arena_new();
  KernelList *list = arena ? proto_new(kKernelList, arena) : NULL;
  if (!list) {
    arena_free(arena);
    return status_oom(status, "the kernels of an op");
  }
  StrBuf text = {0};
  bool ok = list_op(op, op->def->name, arena, list, status);
  if (ok) {
    strbuf_printf(&text, "No OpKernel was registered to support Op '%s' used by ", op->def->name);
    node_def_format_for_error(node, &text);
    strbuf_append(&text, " with these attrs: [");
    append_attrs(node, &text);
    strbuf_append(&text, "]\nRegistered devices: [" KERNEL_DEVICE_TYPE "]\nRegistered kernels:\n");
    append_kernels(list, &text);
    if (strbuf_ok(&text, status)) status_set(status, CODE_NOT_FOUND, "%s", strbuf_text(&text));
  }
  strbuf_free(&text);
  arena_free(arena);
  return false;
}

static bool select_locked(const Op *op, const NodeDef *node, const KernelEntry *entry, Choice *best,
                          Status *status) {
  TRY(choose(op, node, KERNEL_DEVICE_TYPE, entry, best, status));
  if (best->entry || best->registered) return true;
  TRY(choose(op, node, "DEFAULT", NULL, best, status));
  return best->registered || refuse_all(op, node, status);
}

bool kernel_registry_select(const Op *op, const NodeDef *node, KernelFunctions *functions, Status *status) {
  const KernelEntry *entry = NULL;
  if (label_of(node).length == 0)
    TRY(find_entry(op, node, &entry, status)); /* kernels of tables have no label */
  Choice choice = {.entry = entry};
  if (!entry || !has_none()) {
    mutex_lock(&registry.lock);
    bool ok = select_locked(op, node, entry, &choice, status);
    if (ok && choice.registered) *functions = choice.registered->functions;
    mutex_unlock(&registry.lock);
    if (!ok || choice.registered) return ok;
  }
  const OpRegistration *registration = op->registration;
  *functions = (KernelFunctions){registration->construct, choice.entry->compute,
                                 registration->destroy,   registration->state_size,
                                 choice.entry->data,      op_kernel_missing(op, choice.entry->type)};
  return true;
}

void kernel_registry_mention(const Op *op, const NodeDef *node) {
  const KernelEntry *entry = NULL;
  Status ignored;
  status_init(&ignored);
  if (!engine_part_missing(PART_SIDE)) return;
  bool found = find_entry(op, node, &entry, &ignored) && entry;
  if (op_kernel_missing(op, found ? entry->type : DT_INVALID)) side_kernels_want();
}

/* --- lookup --- */

static bool list_entry(const Op *op, const KernelEntry *entry, Arena *arena, KernelList *list,
                       Status *status) {
  KernelDef *def;
  TRY(describe_entry(op, entry, arena, &def, status));
  return proto_append(arena, (void ***)&list->kernel, &list->n_kernel, def, status);
}

/* Appends the kernels of one op, which need not exist. Control flow, which runs without kernels, is listed as
 * if it had one for all types, as in TensorFlow. */
static bool list_op(const Op *op, const char *op_name, Arena *arena, KernelList *list, Status *status) {
  static const KernelEntry kAnyType = {DT_INVALID};
  int count = op ? num_entries(op) : 0;
  for (int i = 0; i < count; i++) TRY(list_entry(op, &op->registration->kernels[i], arena, list, status));
  if (count == 0 && op && node_class_has_no_kernel(op->node_class))
    TRY(list_entry(op, &kAnyType, arena, list, status));
  for (const Registered *kernel = string_map_find(&registry.by_op, op_name); kernel;
       kernel = kernel->next_of_op) {
    KernelDef *def = proto_copy(kernel->def, arena);
    if (!def) return status_oom(status, "the kernels of an op");
    TRY(proto_append(arena, (void ***)&list->kernel, &list->n_kernel, def, status));
  }
  return true;
}

/* NULL if there is no such op, or its registration failed, which its look-up reports. */
static bool find_op(OpRegistry *ops, const char *name, const Op **op, Status *status) {
  *op = NULL;
  if (op_registry_look_up(ops, name, op, status)) return true;
  if (status->code == CODE_RESOURCE_EXHAUSTED) return false;
  status_init(status);
  return true;
}

/* The tables first, then every other name in the order of its first kernel. */
static bool list_all(OpRegistry *ops, Arena *arena, KernelList *list, Status *status) {
  int num_ops = op_registry_count(ops);
  for (int i = 0; i < num_ops; i++) {
    const char *name = op_registry_name(ops, i);
    const Op *op;
    TRY(find_op(ops, name, &op, status));
    mutex_lock(&registry.lock);
    bool ok = list_op(op, name, arena, list, status);
    mutex_unlock(&registry.lock);
    TRY(ok);
  }
  bool ok = true;
  mutex_lock(&registry.lock);
  for (int64_t i = 0; ok && i < registry.by_op.num_entries; i++) {
    const char *name = registry.by_op.entries[i].key;
    const Op *op;
    ok = find_op(ops, name, &op, status) && (op || list_op(NULL, name, arena, list, status));
  }
  mutex_unlock(&registry.lock);
  return ok;
}

bool kernel_registry_list(OpRegistry *ops, const char *op_name, Arena *arena, KernelList **list,
                          Status *status) {
  KernelList *made = proto_new(kKernelList, arena);
  if (!made) return status_oom(status, "the list of kernels");
  *list = made;
  if (!op_name) return list_all(ops, arena, made, status);
  const Op *op;
  TRY(find_op(ops, op_name, &op, status));
  mutex_lock(&registry.lock);
  bool ok = list_op(op, op_name, arena, made, status);
  mutex_unlock(&registry.lock);
  return ok;
}

static bool refuse_device(const NodeDef *node, const char *device_type, const KernelList *list,
                          bool other_attrs, Status *status) {
  StrBuf text = {0};
  strbuf_printf(&text, "No registered '%s' OpKernel for %s devices compatible with node ", node->op,
                device_type);
  node_def_format_for_error(node, &text);
  if (other_attrs) {
    strbuf_append(&text, "\n\t (OpKernel was found, but attributes didn't match) Requested Attributes: ");
    append_attrs(node, &text);
  }
  strbuf_append(&text, "\n\t.  Registered:");
  append_kernels(list, &text);
  if (strbuf_ok(&text, status)) status_set(status, CODE_NOT_FOUND, "%s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

bool kernel_registry_check(OpRegistry *ops, const NodeDef *node, const char *device_type, Arena *arena,
                           Status *status) {
  KernelList *list;
  bool match, other_attrs = false;
  TRY(kernel_registry_list(ops, node->op, arena, &list, status));
  for (size_t i = 0; i < list->n_kernel; i++) {
    const KernelDef *def = list->kernel[i];
    if (strcmp(def->device_type, device_type) != 0 || !str_equal_text(label_of(node), def->label)) continue;
    TRY(kernel_matches(def, node, &match, status));
    if (match) return true;
    other_attrs = true;
  }
  return refuse_device(node, device_type, list, other_attrs, status);
}

static bool may_compute(const KernelDef *def, const AttrDef *type_attr, DataType type) {
  if (strcmp(def->device_type, KERNEL_DEVICE_TYPE) != 0 && strcmp(def->device_type, "DEFAULT") != 0)
    return false;
  if (type == DT_INVALID || !type_attr) return true;
  for (size_t i = 0; i < def->n_constraint; i++) {
    const AttrValue *allowed = def->constraint[i]->allowed_values;
    if (strcmp(def->constraint[i]->name, type_attr->name) != 0 || !allowed ||
        allowed->value_case != (int)ATTR_LIST)
      continue;
    if (!allows_type(allowed->list, (int)type)) return false;
  }
  return true;
}

bool op_has_kernel(const Op *op, DataType type) {
  const KernelEntry *kernels = op->registration->kernels;
  for (int i = 0; i < OP_MAX_KERNELS && kernels[i].compute; i++) {
    if (type == DT_INVALID || kernels[i].type == DT_INVALID || kernels[i].type == type) return true;
  }
  if (has_none()) return false;
  bool found = false;
  const AttrDef *type_attr = first_type_attr(op->def);
  mutex_lock(&registry.lock);
  for (const Registered *kernel = string_map_find(&registry.by_op, op->def->name); kernel;
       kernel = kernel->next_of_op) {
    found |= may_compute(kernel->def, type_attr, type);
  }
  mutex_unlock(&registry.lock);
  return found;
}
