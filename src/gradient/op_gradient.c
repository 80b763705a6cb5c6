/* Finds the gradient of an op or function call. */
#include <string.h>

#include "function/text/function_text.h"
#include "gradient/array_gradient.h"
#include "gradient/body_work.h"
#include "gradient/function_gradient.h"

bool gradient_library_init(GradientLibrary *library, Graph *functions, Status *status) {
  *library = (GradientLibrary){.functions = functions,
                               .arena = arena_new(),
                               .nodes_left = GRADIENT_MAX_FUNCTION_NODES};
  return library->arena || status_oom(status, "gradients");
}

bool gradient_library_remember(GradientLibrary *library, const char *helper, Status *status) {
  return proto_append(library->arena, (void ***)&library->helpers, &library->num_helpers, (void *)helper,
                      status);
}

void gradient_library_clear(GradientLibrary *library, bool keep) {
  Status ignored;
  status_init(&ignored);
  for (size_t i = library->num_helpers; !keep && i > 0; i--) {
    if (!function_library_remove_function(graph_function_library(library->functions), library->helpers[i - 1],
                                          &ignored))
      break;
  }
  for (int64_t i = 0; i < library->gradients.num_entries; i++)
    function_body_free(((GradientEntry *)library->gradients.entries[i].value)->body);
  string_map_free(&library->gradients);
  string_map_free(&library->texts);
  arena_free(library->arena);
  *library = (GradientLibrary){0};
}

/* Appends a text that differs for queries with different gradients. */
static bool gradient_key(const GradientQuery *query, StrBuf *key, Status *status) {
  NodeDef bare = *query->node;
  bare.name = bare.device = (char *)protobuf_c_empty_string;
  bare.n_input = 0;
  bare.experimental_debug_info = NULL;
  bare.experimental_type = NULL;
  TRY(proto_serialize(&bare, key, status));
  bool calls = gradient_is_branch(query->op) || gradient_is_loop(query->op) ||
               query->op->node_class == NODE_PARTITIONED_CALL || query->op->node_class == NODE_FUNCTION;
  if (calls) strbuf_append_char(key, query->keeps ? 'k' : 'r');
  /* Only a generated gradient can depend on the outputs at which gradients arrive. */
  bool written = (query->op->registration && query->op->registration->gradient_fn) || calls;
  for (int i = 0; written && i < query->num_outputs; i++)
    strbuf_append_char(key, !query->flows || query->flows[i] ? '1' : '0');
  if (query->array) strbuf_printf(key, ":%s", query->array);
  return strbuf_ok(key, status);
}

/* The function that a node calls: its op, or the function in its attr "f". */
typedef struct Callee {
  const char *name;
  const AttrEntry *const *attrs;
  int num_attrs;
} Callee;

static Callee callee_of(const NodeDef *node) {
  bool names_function = node_class_of_op(node->op) == NODE_PARTITIONED_CALL;
  const AttrValue *f = names_function ? node_def_attr(node, "f") : NULL;
  if (f && f->value_case == (int)ATTR_FUNC) {
    /* All map entries have the same layout: a key and a value. */
    return (Callee){f->func->name, (const AttrEntry *const *)f->func->attr, (int)f->func->n_attr};
  }
  return (Callee){node->op, (const AttrEntry *const *)node->attr, (int)node->n_attr};
}

static const char *custom_gradient(const GradientLibrary *library, const char *name) {
  return !library->functions ? NULL : graph_find_gradient_def(library->functions, name);
}

bool gradient_is_given(const GradientLibrary *library, const NodeDef *node) {
  if (!library->functions) return false;
  const char *name = callee_of(node).name;
  return custom_gradient(library, name) || graph_find_function(library->functions, name);
}

bool gradient_is_none(const GradientLibrary *library, const Op *op, const NodeDef *node) {
  if (gradient_is_given(library, node)) return false;
  return op->registration && op->registration->gradient == NO_GRADIENT;
}

bool gradient_not_defined(const NodeDef *node, Status *status) {
  status_set(status, CODE_NOT_FOUND,
             "No gradient defined for op: %s. Register one, give it to the graph as a GradientDef, or end "
             "the flow in front of it "
             "with StopGradient.",
             node->op);
  return node->name[0] == 0 ? false : node_attach(node->name, status);
}

static bool parse_gradient(const GradientLibrary *library, const GradientQuery *query, Str text,
                           FunctionDef **function, Status *status) {
  return function_parse(text, library->arena, function, status) &&
         array_gradient_rename(*function, library->source, query->array, library->arena, status);
}

/* Each text is parsed once, for all attrs. */
static bool parse_text(GradientLibrary *library, const GradientQuery *query, FunctionDef **function,
                       Status *status) {
  const OpRegistration *registration = query->op->registration;
  const char *key = !query->array ? registration->name
                                  : arena_printf(library->arena, "%s:%s", registration->name, query->array);
  if (!key) return status_oom(status, "gradients");
  *function = string_map_find(&library->texts, key);
  return *function || (parse_gradient(library, query, str_of(registration->gradient), function, status) &&
                       string_map_set(&library->texts, key, *function, status));
}

/* The text in the op's registration, or the text that its gradient_fn writes. */
static bool registered_gradient(GradientLibrary *library, const GradientQuery *query,
                                const FunctionDef **function, Status *status) {
  const NodeDef *node = query->node;
  const OpRegistration *registration = query->op->registration;
  if (!registration || registration->gradient == FUNCTIONAL_GRADIENT)
    return gradient_not_defined(node, status);
  if (registration->gradient == NO_GRADIENT) return true;
  FunctionDef *parsed = NULL;
  StrBuf text = {0};
  bool ok = false;
  if (registration->gradient) {
    ok = parse_text(library, query, &parsed, status);
  } else if (registration->gradient_fn) {
    GradientRequest request = {node, query->flows};
    ok = registration->gradient_fn(&request, &text, status) && strbuf_ok(&text, status);
    if (ok && text.length > 0)
      ok = parse_gradient(library, query, (Str){strbuf_text(&text), (size_t)text.length}, &parsed, status);
  } else {
    ok = gradient_not_defined(node, status);
  }
  strbuf_free(&text);
  *function = parsed;
  return ok || status_append(status, "\n\tin the gradient of op %s", node->op);
}

bool gradient_node_of(const Op *op, const NameAttrList *f, Arena *arena, NodeDef **node, Status *status) {
  *node = node_def_new(arena, "", f->name);
  if (!*node) return status_oom(status, "gradients");
  for (size_t i = 0; i < f->n_attr; i++)
    TRY(node_def_set_attr(*node, arena, f->attr[i]->key, f->attr[i]->value, status));
  return node_def_add_defaults(*node, op->def, arena, status);
}

/* The function or op that a SymbolicGradient node differentiates, as a node. */
static bool differentiated(GradientLibrary *library, const NodeDef *node, NodeDef **out, const Op **op,
                           Status *status) {
  const NameAttrList *f;
  TRY(gradient_called(node, "f", &f, status));
  TRY(graph_look_up_op(library->functions, f->name, op, status));
  return gradient_node_of(*op, f, library->arena, out, status);
}

/* --- functions with state --- */

typedef struct StateSearch {
  const Graph *functions;
  StringMap seen; /* the functions found; searched in the order of the entries */
  Status *status;
} StateSearch;

static bool find_callee(StateSearch *s, const char *name) {
  const FunctionDef *function = graph_find_function(s->functions, name);
  if (!function || string_map_contains(&s->seen, name)) return true;
  return string_map_set(&s->seen, function->signature->name, (void *)function, s->status);
}

/* A node that calls functions has state when they have state. */
static bool find_state(StateSearch *s, const NodeDef *node, bool *has_state) {
  bool calls = graph_find_function(s->functions, node->op) != NULL;
  TRY(find_callee(s, node->op));
  for (size_t i = 0; i < node->n_attr; i++) {
    const AttrValue *value = node->attr[i]->value;
    const AttrListValue *list = value && value->value_case == (int)ATTR_LIST ? value->list : NULL;
    bool is_function = value && value->value_case == (int)ATTR_FUNC;
    calls = calls || is_function || (list && list->n_func > 0);
    if (is_function) TRY(find_callee(s, value->func->name));
    for (size_t k = 0; list && k < list->n_func; k++) TRY(find_callee(s, list->func[k]->name));
  }
  if (calls) return true;
  const Op *op;
  Status unknown; /* an unknown op fails when it runs */
  status_init(&unknown);
  if (graph_look_up_op(s->functions, node->op, &op, &unknown)) *has_state = op->def->is_stateful;
  else if (unknown.code == CODE_RESOURCE_EXHAUSTED) return status_oom(s->status, "gradients");
  return true;
}

bool gradient_is_stateful_call(const GradientLibrary *library, const NodeDef *node, bool *stateful,
                               Status *status) {
  *stateful = false;
  if (!library->functions) return true;
  StateSearch s = {.functions = library->functions, .status = status};
  bool ok = find_callee(&s, callee_of(node).name);
  for (int64_t i = 0; ok && !*stateful && i < s.seen.num_entries; i++) {
    const FunctionDef *function = s.seen.entries[i].value;
    for (size_t k = 0; ok && !*stateful && k < function->n_node_def; k++)
      ok = find_state(&s, function->node_def[k], stateful);
  }
  string_map_free(&s.seen);
  return ok;
}

/* The gradient of a SymbolicGradient: the function that computes the first gradient is differentiated. */
static bool second_gradient(GradientLibrary *library, const NodeDef *node, GradientEntry *entry,
                            Status *status) {
  NodeDef *first;
  const Op *op;
  GradientEntry *gradient;
  FunctionDef *second;
  const bool *no_flow;
  if (!library->functions) return gradient_not_defined(node, status);
  TRY(differentiated(library, node, &first, &op, status));
  TRY(gradient_look_up(library, &(GradientQuery){.op = op, .node = first}, &gradient, status));
  if (!gradient->function) return status_invalid(status, "No gradient is defined for %s", first->op);
  TRY(gradient_of_function(library, gradient->function, gradient->attrs, gradient->num_attrs, NULL,
                           library->arena, &second, &no_flow, status));
  *entry = (GradientEntry){.function = second, .no_flow = no_flow};
  return true;
}

static bool find_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                          Status *status) {
  const NodeDef *node = query->node;
  Callee callee = callee_of(node);
  const char *custom = custom_gradient(library, callee.name);
  if (custom) {
    *entry = (GradientEntry){.function = graph_find_function(library->functions, custom),
                             .attrs = callee.attrs,
                             .num_attrs = callee.num_attrs};
    return entry->function ||
           status_set(status, CODE_NOT_FOUND, "The gradient function '%s' of '%s' is not defined.", custom,
                      callee.name);
  }
  const FunctionDef *called =
      !library->functions ? NULL : graph_find_function(library->functions, callee.name);
  bool stateful = false;
  if (called && query->keeps) TRY(gradient_is_stateful_call(library, node, &stateful, status));
  if (stateful) return branch_gradient(library, query, entry, status);
  if (called) {
    FunctionDef *gradient;
    const bool *no_flow;
    TRY(gradient_of_function(library, called, callee.attrs, callee.num_attrs, NULL, library->arena, &gradient,
                             &no_flow, status));
    *entry = (GradientEntry){.function = gradient, .no_flow = no_flow};
    return true;
  }
  const Op *op = query->op;
  if (op->node_class == NODE_SYMBOLIC_GRADIENT) return second_gradient(library, node, entry, status);
  if (gradient_is_map(op)) return map_gradient(library, query, entry, status);
  if ((gradient_is_branch(op) || gradient_is_loop(op)) && !query->keeps)
    return gradient_of_node(library, query, entry, status);
  if (gradient_is_branch(op)) return branch_gradient(library, query, entry, status);
  if (gradient_is_loop(op)) return loop_gradient(library, query, entry, status);
  if (op->node_class == NODE_PARTITIONED_CALL)
    return status_set(status, CODE_NOT_FOUND, "Failed to find definition for function \"%s\"", callee.name);
  *entry = (GradientEntry){.attrs = callee.attrs, .num_attrs = callee.num_attrs};
  return registered_gradient(library, query, &entry->function, status);
}

bool gradient_look_up(GradientLibrary *library, const GradientQuery *query, GradientEntry **entry,
                      Status *status) {
  StrBuf key = {0};
  bool ok = false;
  TRY_DONE(gradient_key(query, &key, status));
  GradientEntry *found = string_map_find_bytes(&library->gradients, strbuf_text(&key), (size_t)key.length);
  if (!found) {
    GradientEntry made;
    TRY_DONE(find_gradient(library, query, &made, status));
    /* The attrs must live as long as the library, even when the node belongs to a function's body. */
    NodeDef bare = *query->node;
    bare.n_input = 0;
    const NodeDef *kept = !made.attrs ? NULL : proto_copy(&bare, library->arena);
    char *kept_key = arena_strndup(library->arena, strbuf_text(&key), (size_t)key.length);
    found = arena_alloc(library->arena, (int64_t)sizeof *found);
    if (!found || !kept_key || (made.attrs && !kept)) {
      status_oom(status, "gradients");
      goto done;
    }
    *found = made;
    if (kept) found->attrs = callee_of(kept).attrs;
    TRY_DONE(string_map_set_bytes(&library->gradients, kept_key, (size_t)key.length, found, status));
  }
  *entry = found;
  ok = true;
done:
  strbuf_free(&key);
  return ok;
}

bool op_gradient(Graph *functions, const Op *op, const NodeDef *node, Arena *arena,
                 const FunctionDef **gradient, Status *status) {
  GradientLibrary library;
  GradientEntry *entry;
  TRY(gradient_library_init(&library, functions, status));
  GradientQuery query = {.op = op, .node = node};
  bool ok = gradient_look_up(&library, &query, &entry, status);
  if (ok) {
    *gradient = !entry->function ? NULL : proto_copy(entry->function, arena);
    ok = !entry->function || *gradient || status_oom(status, "gradients");
  }
  gradient_library_clear(&library, ok);
  return ok;
}
