/* The context of eager execution: callables for the ops that were run. */
#include "eager/eager.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"

/* An op in the graph, ready to run. */
typedef struct EagerKernel {
  SessionCallable *callable;
  const Node *node;
  struct EagerKernel *next;
  char *key;
} EagerKernel;

struct EagerContext {
  Graph *graph;
  Session *session;
  const DeviceSet *devices;
  StringMap kernels; /* by the bytes of the completed NodeDef; guarded by the graph's lock */
  EagerKernel *all;
};

EagerContext *eager_context_new(Graph *graph, Session *session, const DeviceSet *devices, Status *status) {
  EagerContext *context = mem_calloc(1, sizeof *context);
  if (!context) {
    status_oom(status, "a context");
    return NULL;
  }
  *context = (EagerContext){.graph = graph, .session = session, .devices = devices};
  return context;
}

void eager_context_clear(EagerContext *context) {
  graph_lock(context->graph);
  string_map_free(&context->kernels);
  context->kernels = (StringMap){0};
  EagerKernel *next = context->all;
  context->all = NULL;
  graph_unlock(context->graph);
  while (next) {
    EagerKernel *kernel = next;
    next = kernel->next;
    session_release_callable(kernel->callable);
    mem_free(kernel->key);
    mem_free(kernel);
  }
}

void eager_context_free(EagerContext *context) {
  if (!context) return;
  eager_context_clear(context);
  mem_free(context);
}

bool eager_look_up(EagerContext *context, const char *name, const Op **op, Status *status) {
  static const char known[] = " in binary running on ";
  graph_lock(context->graph);
  bool ok = graph_look_up_op(context->graph, name, op, status);
  graph_unlock(context->graph);
  if (ok || status->code != CODE_NOT_FOUND) return ok;
  const char *host = strstr(status->message, known);
  char place[256] = "this machine";
  if (host) {
    host += strlen(known);
    snprintf(place, sizeof place, "%.*s", (int)strcspn(host, "."), host);
  }
  return status_set(status, CODE_NOT_FOUND,
                    "'%s' is neither a type of a primitive operation nor a name of a function registered in "
                    "binary running on %s. Make sure the operation or function is registered in the binary "
                    "running in this process.",
                    name, place);
}

const Device *eager_find_device(const EagerContext *context, const char *name) {
  DeviceName pattern;
  return device_name_parse_any(str_of(name), &pattern) ? device_set_match(context->devices, &pattern) : NULL;
}

/* --- making kernels --- */

static bool check_inputs(const EagerCall *call, const OpDef *op_def, Arena *arena, Status *status) {
  DataType *inputs, *outputs;
  int num_inputs, num_outputs;
  TRY(node_def_types(call->def, op_def, arena, &inputs, &num_inputs, &outputs, &num_outputs, status));
  for (int i = 0; i < num_inputs && i < call->num_inputs; i++) {
    DataType wanted = (DataType)dtype_base((int)inputs[i]), got = call->inputs[i]->dtype;
    if (wanted != got)
      return status_invalid(status,
                            "cannot compute %s as input #%d(zero-based) was expected to be a %s tensor but "
                            "is a %s tensor",
                            call->def->op, i, dtype_name((int)wanted), dtype_name((int)got));
  }
  return true;
}

/* Checks the attrs before the node has a place in the graph, so that messages name the op. */
static bool check_attrs(const EagerCall *call, const OpDef *op_def, Arena *arena, Status *status) {
  NodeDef def = *call->def;
  def.input = arena_calloc(arena, call->num_inputs, sizeof *def.input);
  if (!def.input) return status_oom(status, "inputs");
  for (int i = 0; i < call->num_inputs; i++) def.input[i] = "input";
  def.n_input = (size_t)call->num_inputs;
  return node_def_validate(&def, op_def, status);
}

static bool add_placeholder(EagerContext *context, DataType type, Arena *arena, NodeOutput *output,
                            Status *status) {
  const char *name = graph_new_free_name(context->graph, "input");
  NodeDef *def = name ? node_def_new(arena, name, "Placeholder") : NULL;
  AttrValue *dtype = attr_value_type(arena, (int)type);
  if (!def || !dtype) return status_oom(status, "an input");
  TRY(node_def_set_attr(def, arena, "dtype", dtype, status));
  *output = (NodeOutput){NULL, 0};
  return graph_add_operation(context->graph, def, NULL, 0, NULL, 0, &output->node, status);
}

static bool add_node(EagerContext *context, const EagerCall *call, Arena *arena, NodeOutput *inputs,
                     Node **node, Status *status) {
  for (int i = 0; i < call->num_inputs; i++)
    TRY(add_placeholder(context, call->inputs[i]->dtype, arena, &inputs[i], status));
  NodeDef def = *call->def;
  def.name = (char *)graph_unique_name(context->graph, call->def->op);
  if (!def.name) return status_oom(status, "an op");
  return graph_add_operation(context->graph, &def, inputs, call->num_inputs, NULL, 0, node, status);
}

static bool make_callable(EagerContext *context, const EagerCall *call, Arena *arena, EagerKernel *kernel,
                          Status *status) {
  NodeOutput *inputs = arena_calloc(arena, call->num_inputs, sizeof *inputs);
  Node *node;
  if (!inputs) return status_oom(status, "an op");
  graph_lock(context->graph);
  bool ok = add_node(context, call, arena, inputs, &node, status);
  graph_unlock(context->graph);
  TRY(ok);
  NodeOutput *outputs = arena_calloc(arena, node->num_outputs, sizeof *outputs);
  if (!outputs) return status_oom(status, "an op");
  for (int i = 0; i < node->num_outputs; i++) outputs[i] = (NodeOutput){node, i};
  StepSignature signature = {.feeds = inputs,
                             .num_feeds = call->num_inputs,
                             .fetches = outputs,
                             .num_fetches = node->num_outputs,
                             .targets = &node,
                             .num_targets = 1};
  kernel->node = node;
  return session_make_callable(context->session, &signature, &kernel->callable, status);
}

static bool keep_kernel(EagerContext *context, EagerKernel *kernel, const StrBuf *key, Status *status) {
  kernel->key = mem_strdup(strbuf_text(key), (size_t)key->length);
  if (!kernel->key) return status_oom(status, "an op");
  graph_lock(context->graph);
  bool ok = string_map_set_bytes(&context->kernels, kernel->key, (size_t)key->length, kernel, status);
  if (ok) {
    kernel->next = context->all;
    context->all = kernel;
  }
  graph_unlock(context->graph);
  return ok;
}

static bool make_kernel(EagerContext *context, const EagerCall *call, const StrBuf *key, Arena *arena,
                        EagerKernel **made, Status *status) {
  EagerKernel *kernel = mem_calloc(1, sizeof *kernel);
  if (!kernel) return status_oom(status, "an op");
  if (make_callable(context, call, arena, kernel, status) && keep_kernel(context, kernel, key, status)) {
    *made = kernel;
    return true;
  }
  session_release_callable(kernel->callable);
  mem_free(kernel->key);
  mem_free(kernel);
  return false;
}

static bool find_kernel(EagerContext *context, const EagerCall *call, Arena *arena, EagerKernel **kernel,
                        Status *status) {
  StrBuf key = {0};
  bool ok = proto_serialize(call->def, &key, status);
  if (ok) {
    graph_lock(context->graph);
    *kernel = string_map_find_bytes(&context->kernels, strbuf_text(&key), (size_t)key.length);
    graph_unlock(context->graph);
    ok = *kernel || make_kernel(context, call, &key, arena, kernel, status);
  }
  strbuf_free(&key);
  return ok;
}

/* --- running --- */

/* The caller knows the op by its call: the node's name, which a step adds to a message, is left out. */
static bool without_node(const Node *node, Status *status) {
  char *place = strstr(status->message, "\n\t [[");
  for (char *later = place; later; later = strstr(later + 1, "\n\t [[")) place = later;
  if (!place) return false;
  const char *name = place + strlen("\n\t [[");
  if (text_starts_with(name, "{{node ")) name += strlen("{{node ");
  size_t length = strlen(node->name);
  if (strncmp(name, node->name, length) == 0 && (name[length] == '}' || name[length] == ']')) *place = '\0';
  return false;
}

bool eager_execute(EagerContext *context, const EagerCall *call, Arena *arena, Tensor *results,
                   int *num_results, Status *status) {
  const Op *op;
  EagerKernel *kernel;
  SessionStep *step;
  TRY(eager_look_up(context, call->def->op, &op, status));
  TRY(eager_infer_attrs(call, op->def, arena, status));
  TRY(check_attrs(call, op->def, arena, status));
  TRY(check_inputs(call, op->def, arena, status));
  TRY(find_kernel(context, call, arena, &kernel, status));
  int needed = kernel->node->num_outputs;
  if (*num_results < needed)
    return status_invalid(status, "Expecting %d outputs, but *num_retvals is %d", needed, *num_results);
  *num_results = needed;
  return (session_begin_call(kernel->callable, NULL, call->inputs, call->num_inputs, &step, status) &&
          session_finish(step, results, status)) ||
         without_node(kernel->node, status);
}
